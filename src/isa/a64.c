/* SPDX-License-Identifier: BSD-2-Clause */
/* A64: which instructions are branches, barriers or waits, and where direct branches go. */
#include "isa/isa.h"
#include "isa/row.h"

enum form { NO_TARGET, IMM26, IMM19, IMM14, IMM9 };

#define BR      TW_FLOW_BRANCH
#define IBR     TW_FLOW_INDIRECT
#define ISB     TW_FLOW_ISB
#define BARRIER TW_FLOW_DSB_DMB
#define WFX     TW_FLOW_WFX
#define TSTART  TW_FLOW_TSTART
#define COND    TW_ROW_COND
#define LINK    TW_ROW_LINK
#define RET     TW_ROW_RETURN
#define ERET    TW_ROW_ERET
#define TIMED   TW_ROW_TIMED
#define ALL     0, 0                   /* no exception to mask and value */
#define CC_4_5  0x00c00000, 0x00800000 /* CB<cc>: these two conditions are not allocated */
#define RM_31   0x0000001f, 0x0000001f /* RETAA and RETAB stand there */

/* clang-format off */
static const struct tw_isa_row immediate[] = {
    { 0xfc000000, 0x14000000, ALL, BR, IMM26, 0,    "B" },
};

static const struct tw_isa_row immediate_link[] = {
    { 0xfc000000, 0x94000000, ALL, BR, IMM26, LINK, "BL" },
};

static const struct tw_isa_row compare_zero[] = {
    { 0x7e000000, 0x34000000, ALL, BR, IMM19, COND, "CBZ, CBNZ" },
};

static const struct tw_isa_row test_bit[] = {
    { 0x7e000000, 0x36000000, ALL, BR, IMM14, COND, "TBZ, TBNZ" },
};

static const struct tw_isa_row conditional[] = {
    { 0xff000010, 0x54000000, ALL, BR,  IMM19,     COND, "B.cond" },
    { 0xff000010, 0x54000010, ALL, BR,  IMM19,     COND, "BC.cond" },
};

static const struct tw_isa_row return_relative[] = {
    { 0xffc0001f, 0x5500001f, ALL, IBR, NO_TARGET, RET,  "RETAASPPC, RETABSPPC" },
};

static const struct tw_isa_row compare_register[] = {
    { 0x7f00c000, 0x74000000, CC_4_5, BR, IMM9, COND, "CB<cc> register" },
    { 0xff00c000, 0x74008000, CC_4_5, BR, IMM9, COND, "CBB<cc>" },
    { 0xff00c000, 0x7400c000, CC_4_5, BR, IMM9, COND, "CBH<cc>" },
};

static const struct tw_isa_row compare_immediate[] = {
    { 0x7f004000, 0x75000000, CC_4_5, BR, IMM9, COND, "CB<cc> immediate" },
};

static const struct tw_isa_row of_system[] = {
    { 0xfffff0ff, 0xd50330df, ALL,   ISB,     NO_TARGET, 0,     "ISB" },
    { 0xffffffff, 0xd503205f, ALL,   WFX,     NO_TARGET, 0,     "WFE" },
    { 0xffffffff, 0xd503207f, ALL,   WFX,     NO_TARGET, 0,     "WFI" },
    { 0xffffffe0, 0xd5031000, ALL,   WFX,     NO_TARGET, TIMED, "WFET" },
    { 0xffffffe0, 0xd5031020, ALL,   WFX,     NO_TARGET, TIMED, "WFIT" },
    { 0xffffffe0, 0xd5233060, ALL,   TSTART,  NO_TARGET, 0,     "TSTART" },
    { 0xfffff0ff, 0xd503309f, ALL,   BARRIER, NO_TARGET, 0,     "DSB" },
    { 0xfffff3ff, 0xd503323f, ALL,   BARRIER, NO_TARGET, 0,     "DSB nXS" },
    { 0xfffff0ff, 0xd50330bf, ALL,   BARRIER, NO_TARGET, 0,     "DMB" },
};

static const struct tw_isa_row to_register[] = {
    { 0xfffffc1f, 0xd65f0000, ALL,   IBR,     NO_TARGET, RET,   "RET" },
    { 0xfffffc1f, 0xd61f0000, ALL,   IBR,     NO_TARGET, 0,     "BR" },
    { 0xfffffc1f, 0xd63f0000, ALL,   IBR,     NO_TARGET, LINK,  "BLR" },
    { 0xfffff81f, 0xd61f081f, ALL,   IBR,     NO_TARGET, 0,     "BRAAZ, BRABZ" },
    { 0xfffff81f, 0xd63f081f, ALL,   IBR,     NO_TARGET, LINK,  "BLRAAZ, BLRABZ" },
    { 0xfffffbff, 0xd65f0bff, ALL,   IBR,     NO_TARGET, RET,   "RETAA, RETAB" },
    { 0xfffffbe0, 0xd65f0be0, RM_31, IBR,     NO_TARGET, RET,   "RETAASPPCR, RETABSPPCR" },
    { 0xffffffff, 0xd69f03e0, ALL,   IBR,     NO_TARGET, ERET,  "ERET" },
    { 0xfffffbff, 0xd69f0bff, ALL,   IBR,     NO_TARGET, ERET,  "ERETAA, ERETAB" },
    { 0xfffffbff, 0xd6ff03e0, ALL,   IBR,     NO_TARGET, ERET,  "TEXIT" },
};

static const struct tw_isa_row to_register_checked[] = {
    { 0xfffff800, 0xd71f0800, ALL,   IBR,     NO_TARGET, 0,     "BRAA, BRAB" },
    { 0xfffff800, 0xd73f0800, ALL,   IBR,     NO_TARGET, LINK,  "BLRAA, BLRAB" },
};

/* By bits 31:29 and 25:24 of an opcode whose bits 28:26 are 101; no other opcode changes the flow. */
const struct tw_isa_group tw_a64_groups[TW_A64_GROUPS] = {
    [0] = TW_ISA_GROUP(immediate),         [1] = TW_ISA_GROUP(immediate),
    [2] = TW_ISA_GROUP(immediate),         [3] = TW_ISA_GROUP(immediate),
    [4] = TW_ISA_GROUP(compare_zero),      [5] = TW_ISA_GROUP(compare_zero),
    [6] = TW_ISA_GROUP(test_bit),          [7] = TW_ISA_GROUP(test_bit),
    [8] = TW_ISA_GROUP(conditional),       [9] = TW_ISA_GROUP(return_relative),
    [12] = TW_ISA_GROUP(compare_register), [13] = TW_ISA_GROUP(compare_immediate),
    [16] = TW_ISA_GROUP(immediate_link),   [17] = TW_ISA_GROUP(immediate_link),
    [18] = TW_ISA_GROUP(immediate_link),   [19] = TW_ISA_GROUP(immediate_link),
    [20] = TW_ISA_GROUP(compare_zero),     [21] = TW_ISA_GROUP(compare_zero),
    [22] = TW_ISA_GROUP(test_bit),         [23] = TW_ISA_GROUP(test_bit),
    [25] = TW_ISA_GROUP(of_system),        [26] = TW_ISA_GROUP(to_register),
    [27] = TW_ISA_GROUP(to_register_checked),
    [28] = TW_ISA_GROUP(compare_register), [29] = TW_ISA_GROUP(compare_immediate),
};
/* clang-format on */

const struct tw_a64_field tw_a64_fields[] = {
    [IMM26] = { 25, 0 }, [IMM19] = { 23, 5 }, [IMM14] = { 18, 5 }, [IMM9] = { 13, 5 }
};

static const struct tw_isa_row *find_row(uint32_t opcode)
{
    return tw_a64_is_of_interest(opcode) ? tw_a64_row(opcode) : NULL;
}

uint32_t tw_a64_distance_bits(uint32_t opcode)
{
    const struct tw_isa_row *row = find_row(opcode);
    struct tw_a64_field field;

    if (row == NULL || row->form == NO_TARGET)
        return 0;
    field = tw_a64_fields[row->form];
    return ((2u << (field.high - field.low)) - 1) << field.low;
}

void tw_a64_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options)
{
    const struct tw_isa_row *row = find_row(opcode);

    *out = (struct tw_instruction){ .size = 4, .target_isa = TW_ISA_A64 };
    if (row == NULL)
        return;
    tw_isa_apply(out, row, options);
    if (out->is_return)
        out->sub = TW_SUB_V8_RET;
    if (out->is_exception_return)
        out->sub = TW_SUB_V8_ERET;
    if (out->kind == TW_FLOW_BRANCH)
        out->target = tw_a64_target(row, opcode, address);
}
