/* SPDX-License-Identifier: BSD-2-Clause */
/* T32: sizes, IT blocks, branches, barriers, waits; the low-overhead loops of Armv8.1-M. */
#include "isa/data.h"
#include "isa/isa.h"
#include "isa/row.h"

enum form {
    NO_TARGET,
    T1,      /* B<c> */
    T2,      /* B */
    CBZ,     /* forward only */
    T3,      /* B<c>.W */
    T4,      /* B.W, BL */
    T4_A32,  /* BLX: from an aligned pc */
    FORWARD, /* WLS, WLSTP */
    BACKWARD /* LE, LETP */
};

#define BR         TW_FLOW_BRANCH
#define IBR        TW_FLOW_INDIRECT
#define ISB        TW_FLOW_ISB
#define BARRIER    TW_FLOW_DSB_DMB
#define WFX        TW_FLOW_WFX
#define COND       TW_ROW_COND
#define LINK       TW_ROW_LINK
#define ERET       TW_ROW_ERET
#define SWAP       TW_ROW_SWAP
#define NOT_M      TW_ROW_NOT_M
#define ALL        0, 0                   /* no exception to mask and value */
#define T1_COND_14 0x0e00, 0x0e00         /* UDF and SVC */
#define T3_COND_14 0x03800000, 0x03800000 /* hints, barriers, MSR and others */
#define RN_15      0x000f0000, 0x000f0000

/* clang-format off */
static const struct tw_isa_row narrow_4[] = {
    { 0xff87, 0x4700, ALL, IBR, NO_TARGET, 0,    "BX" },
    { 0xff87, 0x4780, ALL, IBR, NO_TARGET, LINK, "BLX register" },
    { 0xff87, 0x4704, ALL, IBR, NO_TARGET, 0,    "BXNS" },
    { 0xff87, 0x4784, ALL, IBR, NO_TARGET, LINK, "BLXNS" },
    { 0xff87, 0x4687, ALL, IBR, NO_TARGET, 0,    "MOV pc" },
    { 0xff87, 0x4487, ALL, IBR, NO_TARGET, 0,    "ADD pc" },
};

static const struct tw_isa_row narrow_b[] = {
    { 0xf500, 0xb100, ALL, BR,  CBZ,       COND, "CBZ, CBNZ" },
    { 0xff00, 0xbd00, ALL, IBR, NO_TARGET, 0,    "POP with pc" },
    { 0xffff, 0xbf20, ALL, WFX, NO_TARGET, 0,    "WFE" },
    { 0xffff, 0xbf30, ALL, WFX, NO_TARGET, 0,    "WFI" },
};

static const struct tw_isa_row narrow_d[] = {
    { 0xf000, 0xd000, T1_COND_14, BR, T1, COND, "B<c> T1" },
};

static const struct tw_isa_row narrow_e[] = {
    { 0xf800, 0xe000, ALL, BR, T2, 0, "B T2" },
};

/* By bits 15:12. */
const struct tw_isa_group tw_t32_narrow_groups[TW_T32_NARROW_GROUPS] = {
    [0x4] = TW_ISA_GROUP_OF(narrow_4, 0xfc00, 0x4400),
    [0xb] = TW_ISA_GROUP_OF(narrow_b, 0xf100, 0xb100),
    [0xd] = TW_ISA_GROUP(narrow_d),
    [0xe] = TW_ISA_GROUP(narrow_e),
};

/* First halfword 11101... */
static const struct tw_isa_row wide_1[] = {
    { 0xfff0fff0, 0xe8d0f000, ALL,   IBR,     NO_TARGET, 0,            "TBB" },
    { 0xfff0fff0, 0xe8d0f010, ALL,   IBR,     NO_TARGET, 0,            "TBH" },
    { 0xffd0ffff, 0xe810c000, ALL,   IBR,     NO_TARGET, ERET | NOT_M, "RFEDB" },
    { 0xffd0ffff, 0xe990c000, ALL,   IBR,     NO_TARGET, ERET | NOT_M, "RFEIA" },
    { 0xffd08000, 0xe8908000, RN_15, IBR,     NO_TARGET, 0,            "LDMIA with pc" }, /* Rn = 15: CLRM */
    { 0xffd08000, 0xe9108000, ALL,   IBR,     NO_TARGET, 0,            "LDMDB with pc" },
};

static const struct tw_isa_row wide_1_coprocessor[] = {
    { 0xffff0fff, 0xee070f95, ALL,   ISB,     NO_TARGET, NOT_M,        "CP15 ISB" },
    { 0xffff0fff, 0xee070f9a, ALL,   BARRIER, NO_TARGET, NOT_M,        "CP15 DSB" },
    { 0xffff0fff, 0xee070fba, ALL,   BARRIER, NO_TARGET, NOT_M,        "CP15 DMB" },
};

/* First halfword 11110... */
static const struct tw_isa_row wide_2[] = {
    { 0xf800d000, 0xf0008000, T3_COND_14, BR, T3,        COND,                "B<c> T3" },
    { 0xf800d000, 0xf0009000, ALL,   BR,      T4,        0,                   "B T4" },
    { 0xf800d000, 0xf000d000, ALL,   BR,      T4,        LINK,                "BL" },
    { 0xf800d001, 0xf000c000, ALL,   BR,      T4_A32,    LINK | SWAP | NOT_M, "BLX immediate" },
    { 0xfff0f001, 0xf040c001, RN_15, BR,      FORWARD,   COND,                "WLS" },
    { 0xffc0f001, 0xf000c001, RN_15, BR,      FORWARD,   COND,                "WLSTP" },
    { 0xfffff001, 0xf00fc001, ALL,   BR,      BACKWARD,  COND,                "LE lr" },
    { 0xfffff001, 0xf02fc001, ALL,   BR,      BACKWARD,  0,                   "LE" },
    { 0xfffff001, 0xf01fc001, ALL,   BR,      BACKWARD,  COND,                "LETP" },
    { 0xfff0ffff, 0xf3c08f00, ALL,   IBR,     NO_TARGET, NOT_M,               "BXJ" },
    { 0xffffff00, 0xf3de8f00, ALL,   IBR,     NO_TARGET, ERET | NOT_M,        "SUBS pc, lr; ERET" },
    { 0xfffffff0, 0xf3bf8f60, ALL,   ISB,     NO_TARGET, 0,                   "ISB" },
    { 0xfffffff0, 0xf3bf8f40, ALL,   BARRIER, NO_TARGET, 0,                   "DSB" },
    { 0xfffffff0, 0xf3bf8f50, ALL,   BARRIER, NO_TARGET, 0,                   "DMB" },
    { 0xffffffff, 0xf3af8002, ALL,   WFX,     NO_TARGET, 0,                   "WFE.W" },
    { 0xffffffff, 0xf3af8003, ALL,   WFX,     NO_TARGET, 0,                   "WFI.W" },
};

/* First halfword 11111... */
static const struct tw_isa_row wide_3[] = {
    { 0xff7ff000, 0xf85ff000, ALL,   IBR, NO_TARGET, 0, "LDR pc, literal" },
    { 0xfff0f000, 0xf8d0f000, RN_15, IBR, NO_TARGET, 0, "LDR pc, [Rn, #imm12]" },
    { 0xfff0f800, 0xf850f800, RN_15, IBR, NO_TARGET, 0, "LDR pc, [Rn], #imm8" },
    { 0xfff0ffc0, 0xf850f000, RN_15, IBR, NO_TARGET, 0, "LDR pc, [Rn, Rm]" },
    { 0xfff00ff0, 0xfb500f10, ALL,   IBR, NO_TARGET, 0, "BXAUT" }, /* elsewhere SMMLAR to pc: no code has it */
};

/* By bits 12:10 of the first halfword. */
const struct tw_isa_group tw_t32_wide_groups[TW_T32_WIDE_GROUPS] = {
    [2] = TW_ISA_GROUP_OF(wide_1, 0xfe108000, 0xe8108000),
    [3] = TW_ISA_GROUP_OF(wide_1_coprocessor, 0xffff0f00, 0xee070f00),
    [4] = TW_ISA_GROUP_OF(wide_2, 0x00008000, 0x00008000),
    [5] = TW_ISA_GROUP_OF(wide_2, 0x00008000, 0x00008000),
    [6] = TW_ISA_GROUP_OF(wide_3, 0x00500000, 0x00500000),
};

/* Returns by habit only: the name changes nothing for the decoder. */
static const struct { uint32_t mask, value; } implied_returns[] = {
    { 0xfffffffb, 0x00004770 }, /* BX lr, BXNS lr */
    { 0xffffff00, 0x0000bd00 }, /* POP {.., pc} */
    { 0xffffffff, 0x000046f7 }, /* MOV pc, lr */
    { 0xffffff00, 0xf85dfb00 }, /* LDR pc, [sp], #imm */
    { 0xffff8000, 0xe8bd8000 }, /* LDMIA sp!, {.., pc} */
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

/* S, then J2:J1 or I1:I2, then the immediates of both halfwords, as one signed number. */
static int64_t wide_distance(uint32_t opcode, uint8_t form)
{
    const uint32_t s = (opcode >> 26) & 1;
    const uint32_t j1 = (opcode >> 13) & 1;
    const uint32_t j2 = (opcode >> 11) & 1;
    const uint32_t low = opcode & 0x7ff;
    uint32_t all;

    if (form == T3) {
        all = s << 19 | j2 << 18 | j1 << 17 | ((opcode >> 16) & 0x3f) << 11 | low;
        return 2 * tw_isa_signed(all, 19, 0);
    }
    all = s << 23 | (j1 ^ s ^ 1) << 22 | (j2 ^ s ^ 1) << 21 | ((opcode >> 16) & 0x3ff) << 11 |
          low;
    return 2 * tw_isa_signed(all, 23, 0);
}

/* Bytes from pc + 4. */
static int64_t distance(uint32_t opcode, uint8_t form)
{
    const int64_t loop =
        4 * (int64_t)((opcode >> 1) & 0x3ff) + 2 * (int64_t)((opcode >> 11) & 1);

    switch (form) {
    case T1:
        return 2 * tw_isa_signed(opcode, 7, 0);
    case T2:
        return 2 * tw_isa_signed(opcode, 10, 0);
    case CBZ:
        return (int64_t)((opcode >> 3 & 0x40) | (opcode >> 2 & 0x3e));
    case T3:
    case T4:
    case T4_A32:
        return wide_distance(opcode, form);
    case FORWARD:
        return loop;
    case BACKWARD:
        return -loop;
    default:
        return 0;
    }
}

/* An IT instruction's mask ends at its lowest set bit; 0 when it is not an IT. */
static uint8_t it_count(uint32_t opcode)
{
    uint8_t count = 4;

    if ((opcode & 0xffffff00) != 0xbf00 || (opcode & 0xf) == 0)
        return 0;
    for (; !(opcode & 1); opcode >>= 1)
        count--;
    return count;
}

uint8_t tw_t32_size(uint16_t first_halfword)
{
    return first_halfword >= 0xe800 ? 4 : 2;
}

void tw_t32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     uint8_t it_open, const struct tw_isa_options *options)
{
    const bool is_wide = opcode > 0xffff;
    const struct tw_isa_group *group =
        is_wide ? &tw_t32_wide_groups[(opcode >> 26) & 7] : &tw_t32_narrow_groups[opcode >> 12];
    const struct tw_isa_row *row = tw_isa_search(group, opcode);

    *out = (struct tw_instruction){ .target_isa = TW_ISA_T32 };
    out->size = tw_t32_size((uint16_t)(is_wide ? opcode >> 16 : opcode));
    out->is_conditional = it_open > 0;
    out->it_remaining = it_count(opcode);
    if (out->it_remaining == 0 && it_open > 0)
        out->it_remaining = (uint8_t)(it_open - 1);
    if (row != NULL && !(row->flags & NOT_M && options->profile == TW_PROFILE_M))
        tw_isa_apply(out, row, options);
    if (out->kind == TW_FLOW_BRANCH) {
        out->target = (address + 4 + (uint64_t)distance(opcode, row->form)) & UINT32_MAX;
        if (row->flags & SWAP) {
            out->target &= ~UINT64_C(3);
            out->target_isa = TW_ISA_A32;
        }
    } else if (out->kind == TW_FLOW_INDIRECT && is_implied_return(opcode)) {
        out->is_return = true;
        out->sub = TW_SUB_V7_IMPLIED_RET;
    }
    if (!out->is_waypoint && (options->load_is_p0 || options->store_is_p0)) {
        struct tw_data_access access;

        tw_t32_data(&access, opcode);
        out->is_waypoint = tw_isa_access_is_p0(&access, options);
    }
}
