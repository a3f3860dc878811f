/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: packets as structs, written and read. */
#include "check.h"

#include <trackway/ptm.h>

#include "every_struct.h"

#define SAME(member, most)     STRUCT_SAME(struct tw_ptm_packet, member, most)
#define ASKED(member, most)    STRUCT_ASKED(struct tw_ptm_packet, member, most)
#define IF(member, most, told) STRUCT_IF(struct tw_ptm_packet, member, most, told)
#define CYCLES                 SAME(has_cycles, 1), IF(cycles, UINT32_MAX, has_cycles)

static struct struct_type types[] = {
    { TW_PTM_ASYNC, NULL, { ASKED(base.size, 70) }, 0 },
    { TW_PTM_ISYNC,
      NULL,
      { SAME(address, UINT32_MAX), SAME(isa, TW_ISA_UNKNOWN), SAME(reason, 4), SAME(ns, 1),
        SAME(hyp, 1), SAME(alt_isa, 1), SAME(context_id, UINT32_MAX), CYCLES },
      0 },
    { TW_PTM_ATOM, NULL, { SAME(atoms, 0xff), SAME(atom_count, 6), CYCLES }, 0 },
    { TW_PTM_BRANCH_ADDRESS,
      NULL,
      { SAME(address, UINT32_MAX), SAME(isa, TW_ISA_UNKNOWN), ASKED(address_size, 6),
        SAME(info_size, 3), SAME(has_info, 1), IF(exception, 0x3ff, has_info),
        IF(ns, 1, has_info), IF(alt_isa, 1, has_info), CYCLES },
      0 },
    { TW_PTM_WP_UPDATE,
      NULL,
      { SAME(address, UINT32_MAX), SAME(isa, TW_ISA_UNKNOWN), ASKED(address_size, 6),
        SAME(has_info, 1), IF(alt_isa, 1, has_info) },
      0 },
    { TW_PTM_TRIGGER, NULL, { { .bytes = 0 } }, 0 },
    { TW_PTM_CONTEXT_ID, NULL, { SAME(value, UINT32_MAX) }, 0 },
    { TW_PTM_VMID, NULL, { SAME(value, 0x1ff) }, 0 },
    { TW_PTM_TIMESTAMP,
      NULL,
      { SAME(timestamp, UINT64_MAX), ASKED(timestamp_bits, 70), SAME(freq_changed, 1), CYCLES },
      0 },
    { TW_PTM_EXCEPTION_RETURN, NULL, { { .bytes = 0 } }, 0 },
    { TW_PTM_IGNORE, NULL, { { .bytes = 0 } }, 0 },
};

static void structs_are_refused_or_read_as_they_were(void **state)
{
#define ROW .protocol = "ptm", .start = "0 0 0 0 0 80"
    static const struct every_setup setups[] = {
        { "plain", ROW, .registers = "ETMCR=0x0 ETMIDR=0x411cf300 ETMCCER=0x20000000" },
        { "context IDs of a byte", ROW,
          .registers = "ETMCR=0x4000 ETMIDR=0x411cf310 ETMCCER=0x20000000" },
        { "context IDs, cycle counts", ROW,
          .registers = "ETMCR=0xd000 ETMIDR=0x411cf311 ETMCCER=0x0" },
    };

    (void)state;
    struct_check_all(setups, LENGTH(setups), types, LENGTH(types), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("ptm structs", tests, NULL, NULL);
}
