/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: packets as structs, written and read. */
#include "check.h"

#include <trackway/etmv3.h>

#include "every_struct.h"

#define SAME(member, most)     STRUCT_SAME(struct tw_etmv3_packet, member, most)
#define ASKED(member, most)    STRUCT_ASKED(struct tw_etmv3_packet, member, most)
#define IF(member, most, told) STRUCT_IF(struct tw_etmv3_packet, member, most, told)
#define I_SYNC                                                                                 \
    IF(address, UINT32_MAX, has_address), SAME(context_id, UINT32_MAX),                        \
        IF(isa, TW_ISA_UNKNOWN, has_address), SAME(reason, 4), SAME(ns, 1), SAME(hyp, 1),      \
        SAME(alt_isa, 1), SAME(has_address, 1)
#define DATA                                                                                   \
    IF(data_address, UINT32_MAX, has_data_address), SAME(data_value, UINT32_MAX),              \
        SAME(value_size, 5), ASKED(data_size, 6), SAME(is_first, 1),                           \
        SAME(has_data_address, 1), SAME(has_value, 1)

static struct struct_type types[] = {
    { TW_ETMV3_A_SYNC, NULL, { ASKED(base.size, 70) }, 0 },
    { TW_ETMV3_I_SYNC,
      NULL,
      { I_SYNC, IF(next_address, UINT32_MAX, is_in_progress), SAME(is_in_progress, 1),
        ASKED(address_size, 6) },
      0 },
    { TW_ETMV3_I_SYNC_CYCLE,
      NULL,
      { I_SYNC, SAME(cycles, UINT32_MAX), ASKED(cycle_size, 6) },
      0 },
    { TW_ETMV3_BRANCH_ADDRESS,
      NULL,
      { SAME(address, UINT32_MAX), SAME(isa, TW_ISA_UNKNOWN), ASKED(address_size, 6) },
      0 },
    { TW_ETMV3_P_HDR,
      NULL,
      { SAME(atoms, 0x1ffff), SAME(atom_count, 17), SAME(format, 4), SAME(header_cycles, 16),
        ASKED(header, 0xff) },
      0 },
    { TW_ETMV3_CYCLE_COUNT, NULL, { SAME(count, UINT32_MAX), ASKED(count_size, 6) }, 0 },
    { TW_ETMV3_NORM_DATA, NULL, { DATA }, 0 },
    { TW_ETMV3_OOO_DATA, NULL, { DATA, SAME(tag, 4) }, 0 },
    { TW_ETMV3_OOO_ADDR_PLC, NULL, { DATA, SAME(tag, 4) }, 0 },
    { TW_ETMV3_VAL_NOT_TRACED, NULL, { DATA }, 0 },
    { TW_ETMV3_TIMESTAMP,
      NULL,
      { SAME(timestamp, UINT64_MAX), ASKED(timestamp_bits, 70), SAME(freq_changed, 1) },
      0 },
    { TW_ETMV3_CONTEXT_ID, NULL, { SAME(value, UINT32_MAX) }, 0 },
    { TW_ETMV3_VMID, NULL, { SAME(value, 0x1ff) }, 0 },
    { TW_ETMV3_TRIGGER, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV3_IGNORE, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV3_EXCEPTION_EXIT, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV3_STORE_FAIL, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV3_DATA_SUPPRESSED, NULL, { { .bytes = 0 } }, 0 },
};

static void structs_are_refused_or_read_as_they_were(void **state)
{
#define ROW .protocol = "etmv3", .start = "0 0 0 0 0 80"
    static const struct every_setup setups[] = {
        { "plain", ROW, .registers = "ETMCR=0x0 ETMIDR=0x410cf250 ETMCCER=0x18541800" },
        { "data, context IDs of two bytes", ROW,
          .registers = "ETMCR=0x800c ETMIDR=0x410cf250 ETMCCER=0x38541800" },
        { "data, cycle counts, context IDs", ROW,
          .registers = "ETMCR=0xd00c ETMIDR=0x410cf250 ETMCCER=0x18541800" },
    };

    (void)state;
    struct_check_all(setups, LENGTH(setups), types, LENGTH(types), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("etmv3 structs", tests, NULL, NULL);
}
