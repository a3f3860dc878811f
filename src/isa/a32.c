/* SPDX-License-Identifier: BSD-2-Clause */
/* A32: which instructions are branches, barriers or waits, and where direct branches go. */
#include "isa/data.h"
#include "isa/isa.h"
#include "isa/row.h"

enum form { NO_TARGET, IMM24, IMM24_H };

#define BR      TW_FLOW_BRANCH
#define IBR     TW_FLOW_INDIRECT
#define ISB     TW_FLOW_ISB
#define BARRIER TW_FLOW_DSB_DMB
#define WFX     TW_FLOW_WFX
#define LINK    TW_ROW_LINK
#define ERET    TW_ROW_ERET
#define SWAP    TW_ROW_SWAP
#define ALL     0, 0                   /* no exception to mask and value */
#define COMPARE 0x01800000, 0x01000000 /* TST, TEQ, CMP, CMN and the miscellaneous space */

/* Data processing with Rd = pc comes in three shapes, which leave out multiplies and extra loads and
   stores (bits 7 and 4 set); with S it restores the PSR. */
/* clang-format off */
static const struct tw_isa_row miscellaneous[] = {
    { 0x0ffffff0, 0x012fff10, ALL,     IBR, NO_TARGET, 0,    "BX" },
    { 0x0ffffff0, 0x012fff20, ALL,     IBR, NO_TARGET, 0,    "BXJ" },
    { 0x0ffffff0, 0x012fff30, ALL,     IBR, NO_TARGET, LINK, "BLX register" },
    { 0x0fffffff, 0x0160006e, ALL,     IBR, NO_TARGET, ERET, "ERET" },
};

static const struct tw_isa_row register_data[] = {
    { 0x0e10f010, 0x0000f000, COMPARE, IBR, NO_TARGET, 0,    "data processing to pc" },
    { 0x0e10f010, 0x0010f000, COMPARE, IBR, NO_TARGET, ERET, "data processing to pc, S" },
    { 0x0e10f090, 0x0000f010, COMPARE, IBR, NO_TARGET, 0,    "data processing to pc, shift by register" },
    { 0x0e10f090, 0x0010f010, COMPARE, IBR, NO_TARGET, ERET, "data processing to pc, shift by register, S" },
};

static const struct tw_isa_row immediate_data[] = {
    { 0x0e10f000, 0x0200f000, COMPARE, IBR, NO_TARGET, 0,    "data processing to pc, immediate" },
    { 0x0e10f000, 0x0210f000, COMPARE, IBR, NO_TARGET, ERET, "data processing to pc, immediate, S" },
    { 0x0fffffff, 0x0320f002, ALL,     WFX, NO_TARGET, 0,    "WFE" },
    { 0x0fffffff, 0x0320f003, ALL,     WFX, NO_TARGET, 0,    "WFI" },
};

static const struct tw_isa_row load_immediate[] = {
    { 0x0e50f000, 0x0410f000, ALL, IBR, NO_TARGET, 0, "LDR pc, immediate" },
};

static const struct tw_isa_row load_register[] = {
    { 0x0e50f010, 0x0610f000, ALL, IBR, NO_TARGET, 0, "LDR pc, register" },
};

static const struct tw_isa_row load_multiple[] = {
    { 0x0e508000, 0x08108000, ALL, IBR, NO_TARGET, 0,    "LDM with pc" },
    { 0x0e508000, 0x08508000, ALL, IBR, NO_TARGET, ERET, "LDM ^ with pc" },
};

static const struct tw_isa_row branch[] = {
    { 0x0f000000, 0x0a000000, ALL, BR, IMM24, 0,    "B" },
    { 0x0f000000, 0x0b000000, ALL, BR, IMM24, LINK, "BL" },
};

static const struct tw_isa_row coprocessor[] = {
    { 0x0fff0fff, 0x0e070f95, ALL, ISB,     NO_TARGET, 0, "CP15 ISB" },
    { 0x0fff0fff, 0x0e070f9a, ALL, BARRIER, NO_TARGET, 0, "CP15 DSB" },
    { 0x0fff0fff, 0x0e070fba, ALL, BARRIER, NO_TARGET, 0, "CP15 DMB" },
};

static const struct tw_isa_row unconditional[] = {
    { 0xfe000000, 0xfa000000, ALL, BR,      IMM24_H,   LINK | SWAP, "BLX immediate" },
    { 0xfe50ffff, 0xf8100a00, ALL, IBR,     NO_TARGET, ERET,        "RFE" },
    { 0xfffffff0, 0xf57ff060, ALL, ISB,     NO_TARGET, 0,           "ISB" },
    { 0xfffffff0, 0xf57ff040, ALL, BARRIER, NO_TARGET, 0,           "DSB" },
    { 0xfffffff0, 0xf57ff050, ALL, BARRIER, NO_TARGET, 0,           "DMB" },
};

/* By bits 27:25; the last two are for opcodes whose condition field is 1111, and for those of the first that
   compare without setting flags. */
enum { UNCONDITIONAL = 8, MISCELLANEOUS = 9 };
const struct tw_isa_group tw_a32_groups[TW_A32_GROUPS] = {
    [0] = TW_ISA_GROUP_OF(register_data, 0x0000f000, 0x0000f000),
    [1] = TW_ISA_GROUP_OF(immediate_data, 0x0000f000, 0x0000f000),
    [2] = TW_ISA_GROUP(load_immediate),
    [3] = TW_ISA_GROUP(load_register),
    [4] = TW_ISA_GROUP_OF(load_multiple, 0x00108000, 0x00108000),
    [5] = TW_ISA_GROUP(branch),
    [7] = TW_ISA_GROUP_OF(coprocessor, 0x0fff0f00, 0x0e070f00),
    [UNCONDITIONAL] = TW_ISA_GROUP(unconditional),
    [MISCELLANEOUS] = TW_ISA_GROUP(miscellaneous),
};

/* Returns by habit only: the name changes nothing for the decoder. */
static const struct { uint32_t mask, value; } implied_returns[] = {
    { 0x0fffffff, 0x012fff1e }, /* BX lr */
    { 0x0fffffff, 0x01a0f00e }, /* MOV pc, lr */
    { 0x0fffa000, 0x08bd8000 }, /* LDM sp!, {.., pc} without sp */
    { 0x0ffff000, 0x049df000 }, /* LDR pc, [sp], #imm */
};
/* clang-format on */

static bool is_implied_return(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof implied_returns / sizeof implied_returns[0]; i++) {
        if ((opcode & implied_returns[i].mask) == implied_returns[i].value)
            return true;
    }
    return false;
}

static const struct tw_isa_row *find_row(uint32_t opcode)
{
    uint32_t group = (opcode >> 25) & 7;

    if (opcode >> 28 == 15)
        group = UNCONDITIONAL;
    else if ((opcode & 0x0f900000) == 0x01000000)
        group = MISCELLANEOUS;
    return tw_isa_search(&tw_a32_groups[group], opcode);
}

void tw_a32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options)
{
    const uint32_t condition = opcode >> 28;
    const struct tw_isa_row *row = find_row(opcode);

    *out = (struct tw_instruction){ .size = 4, .target_isa = TW_ISA_A32 };
    out->is_conditional = condition < 14;
    if (row != NULL)
        tw_isa_apply(out, row, options);
    if (out->kind == TW_FLOW_BRANCH) {
        out->target = address + 8 + 4 * (uint64_t)tw_isa_signed(opcode, 23, 0);
        if (row->form == IMM24_H)
            out->target += (opcode >> 23) & 2;
        out->target &= UINT32_MAX;
        if (row->flags & SWAP)
            out->target_isa = TW_ISA_T32;
    } else if (out->kind == TW_FLOW_INDIRECT && is_implied_return(opcode)) {
        out->is_return = true;
        out->sub = TW_SUB_V7_IMPLIED_RET;
    }
    if (!out->is_waypoint && (options->load_is_p0 || options->store_is_p0)) {
        struct tw_data_access access;

        tw_a32_data(&access, opcode);
        out->is_waypoint = tw_isa_access_is_p0(&access, options);
    }
}
