/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what callers are told of one instruction. */
#include "check.h"

#include <string.h>

#include <trackway/instruction.h>

#include "isa/row.h"

static struct tw_instruction_query query(uint8_t isa, const uint8_t *bytes, size_t count)
{
    return (struct tw_instruction_query){ .size = sizeof(struct tw_instruction_query),
                                          .address = 0x4000,
                                          .bytes = bytes,
                                          .count = count,
                                          .isa = isa };
}

/* [K10.5.6.2.3] [CSD 2.3.1.5] [CSD 3.1.5] */
static void tells_what_an_instruction_does(void **state)
{
    static const struct {
        uint8_t isa, bytes[4], size, kind, sub, target_isa;
        uint64_t target;
        bool is_conditional, is_link;
    } cases[] = {
        { TW_ISA_A64, { 0x1f, 0x20, 0x03, 0xd5 }, 4, TW_LAST_OTHER, 0, TW_ISA_A64, 0, 0, 0 },
        { TW_ISA_A64, { 0x40, 0, 0, 0xb4 }, 4, TW_LAST_BR, 0, TW_ISA_A64, 0x4008, 1, 0 },
        { TW_ISA_A64,
          { 0x02, 0, 0, 0x94 },
          4,
          TW_LAST_BR,
          TW_SUB_LINK,
          TW_ISA_A64,
          0x4008,
          0,
          1 },
        { TW_ISA_A64,
          { 0xc0, 0x03, 0x5f, 0xd6 },
          4,
          TW_LAST_IBR,
          TW_SUB_V8_RET,
          TW_ISA_A64,
          0,
          0,
          0 },
        { TW_ISA_A32, { 0xfe, 0xff, 0xff, 0x0a }, 4, TW_LAST_BR, 0, TW_ISA_A32, 0x4000, 1, 0 },
        { TW_ISA_A32, { 0, 0, 0, 0xfa }, 4, TW_LAST_BR, TW_SUB_LINK, TW_ISA_T32, 0x4008, 0, 1 },
        { TW_ISA_T32,
          { 0x00, 0xf0, 0x02, 0xe8 },
          4,
          TW_LAST_BR,
          TW_SUB_LINK,
          TW_ISA_A32,
          0x4008,
          0,
          1 },
        { TW_ISA_T32,
          { 0x70, 0x47, 0xff, 0xff },
          2,
          TW_LAST_IBR,
          TW_SUB_V7_IMPLIED_RET,
          TW_ISA_T32,
          0,
          0,
          0 },
        { TW_ISA_RV64, { 0x01, 0xa0, 0, 0 }, 2, TW_LAST_BR, 0, TW_ISA_RV64, 0x4000, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct tw_instruction_query asked = query(cases[i].isa, cases[i].bytes, 4);
        struct tw_instruction_answer got = { .size = sizeof got };

        CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
        CHECK_EQ(got.info.size, cases[i].size);
        CHECK_EQ(got.info.kind, cases[i].kind);
        CHECK_EQ(got.info.sub, cases[i].sub);
        CHECK_EQ(got.info.target, cases[i].target);
        CHECK_EQ(got.target_isa, cases[i].target_isa);
        CHECK_EQ(got.info.is_conditional, cases[i].is_conditional);
        CHECK_EQ(got.info.is_link, cases[i].is_link);
    }
}

/* [K10.5.6.2.3] */
static void the_trace_unit_decides_of_waypoints(void **state)
{
    static const uint8_t wfi[4] = { 0x7f, 0x20, 0x03, 0xd5 },
                         dsb[4] = { 0x9f, 0x3f, 0x03, 0xd5 };
    struct tw_instruction_query asked = query(TW_ISA_A64, wfi, 4);
    struct tw_instruction_answer got = { .size = sizeof got };

    (void)state;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK(!got.info.is_waypoint && got.info.kind == TW_LAST_OTHER);
    asked.wfx_is_waypoint = true;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK(got.info.is_waypoint && got.info.kind == TW_LAST_WFI_WFE);
    asked.bytes = dsb;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK(!got.info.is_waypoint);
    asked.dsb_dmb_is_waypoint = true;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK_EQ(got.info.kind, TW_LAST_DSB_DMB);
}

static void counts_conditions_of_it_blocks(void **state)
{
    static const uint8_t itt[2] = { 0x04, 0xbf }, nop[2] = { 0x00, 0xbf };
    struct tw_instruction_query asked = query(TW_ISA_T32, itt, 2);
    struct tw_instruction_answer got = { .size = sizeof got };

    (void)state;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK_EQ(got.it_open, 2);
    asked.bytes = nop;
    asked.it_open = got.it_open;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_OK);
    CHECK_EQ(got.it_open, 1);
}

static void refuses_what_is_not_there(void **state)
{
    static const uint8_t bytes[4] = { 0x00, 0xf0, 0x02, 0xe8 };
    struct tw_instruction_answer got = { .size = sizeof got };
    struct tw_instruction_query asked;

    (void)state;
    for (size_t count = 0; count < 4; count++) {
        asked = query(TW_ISA_T32, bytes, count);
        CHECK_EQ(tw_instruction_classify(&got, &asked), TW_E_ARGUMENT);
        asked = query(TW_ISA_A64, bytes, count);
        CHECK_EQ(tw_instruction_classify(&got, &asked), TW_E_ARGUMENT);
    }
    for (unsigned isa = TW_ISA_TEE; isa <= TW_ISA_UNKNOWN; isa++) {
        asked = query((uint8_t)isa, bytes, 4);
        CHECK_EQ(tw_instruction_classify(&got, &asked), TW_E_ARGUMENT);
    }
    asked = query(TW_ISA_A64, bytes, 4);
    asked.size = 0;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_E_ARGUMENT);
    asked.size = sizeof asked;
    got.size = 1;
    CHECK_EQ(tw_instruction_classify(&got, &asked), TW_E_ARGUMENT);
}

static void check_groups(const struct tw_isa_group *groups, size_t count)
{
    for (size_t g = 0; g < count; g++)
        for (size_t r = 0; r < groups[g].count; r++) {
            const struct tw_isa_row *row = &groups[g].rows[r];

            check_case("%s", row->name);
            CHECK_EQ(groups[g].mask & ~row->mask, 0);
            CHECK_EQ(row->value & groups[g].mask, groups[g].value);
        }
}

/* What a group passes over at once fits no row of it. */
static void groups_pass_over_no_row(void **state)
{
    (void)state;
    check_groups(tw_a64_groups, TW_A64_GROUPS);
    check_groups(tw_a32_groups, TW_A32_GROUPS);
    check_groups(tw_t32_narrow_groups, TW_T32_NARROW_GROUPS);
    check_groups(tw_t32_wide_groups, TW_T32_WIDE_GROUPS);
}

/* What tw_rv_may_be_upper lets go by is none. */
static void names_all_that_may_be_upper(void **state)
{
    static const struct tw_rv_options options = { .has_zcmp = true };
    uint32_t both = 0;

    (void)state;
    for (uint32_t opcode = 0; opcode <= 0xffff; opcode++)
        for (uint32_t high = 0; high < 3; high++) {
            const uint32_t whole =
                tw_rv_size((uint16_t)opcode) == 2 ? opcode : opcode | high << 24;
            struct tw_rv_instruction what;

            tw_rv_classify(&what, whole, 0x10000, TW_ISA_RV64, &options);
            both += what.is_upper;
            if (what.is_upper || (whole & 3) == 3)
                CHECK_EQ(tw_rv_may_be_upper(whole), what.is_upper);
        }
    CHECK(both > 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_an_instruction_does),
        cmocka_unit_test(the_trace_unit_decides_of_waypoints),
        cmocka_unit_test(counts_conditions_of_it_blocks),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(groups_pass_over_no_row),
        cmocka_unit_test(names_all_that_may_be_upper),
    };

    return cmocka_run_group_tests_name("isa_classify", tests, NULL, NULL);
}
