/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: packets as structs, written and read. */
#include "check.h"

#include <trackway/itm.h>

#include "every_struct.h"

#define SAME(member, most)  STRUCT_SAME(struct tw_itm_packet, member, most)
#define ASKED(member, most) STRUCT_ASKED(struct tw_itm_packet, member, most)

static struct struct_type types[] = {
    { TW_ITM_PACKET_ASYNC, NULL, { ASKED(base.size, 400) }, 0 },
    { TW_ITM_PACKET_OVERFLOW, NULL, { { .bytes = 0 } }, 0 },
    { TW_ITM_PACKET_SWIT,
      NULL,
      { SAME(value, UINT32_MAX), SAME(size, 4), SAME(source, 31) },
      0 },
    { TW_ITM_PACKET_DWT,
      NULL,
      { SAME(value, UINT32_MAX), SAME(size, 4), SAME(source, 31) },
      0 },
    { TW_ITM_PACKET_TS_LOCAL,
      NULL,
      { SAME(value, UINT32_MAX), ASKED(size, 5), SAME(source, 3) },
      0 },
    { TW_ITM_PACKET_GTS_1,
      NULL,
      { SAME(value, UINT32_MAX), SAME(size, 5), SAME(freq_change, 1), SAME(wrap, 1) },
      0 },
    { TW_ITM_PACKET_GTS_2, NULL, { SAME(value, UINT64_MAX >> 24), SAME(size, 6) }, 0 },
    { TW_ITM_PACKET_EXTENSION,
      NULL,
      { SAME(value, UINT32_MAX), SAME(bits, 32), SAME(source, 1) },
      0 },
};

static void structs_are_refused_or_read_as_they_were(void **state)
{
    static const struct every_setup setups[] = {
        { "plain", .protocol = "itm", .start = "0 0 0 0 0 80", .registers = "ITMTCR=0x10000" },
    };

    (void)state;
    struct_check_all(setups, LENGTH(setups), types, LENGTH(types), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("itm structs", tests, NULL, NULL);
}
