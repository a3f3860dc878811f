/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores of T32. */
#include <stddef.h>

#include "isa/data.h"

static bool bit(uint32_t opcode, unsigned number)
{
    return (opcode >> number) & 1;
}

/* clang-format off */
static const struct { uint16_t mask, value; bool is_load; uint8_t size; } narrow_rows[] = {
    { 0xf800, 0x4800, true,  4 }, /* LDR literal */
    { 0xfe00, 0x5000, false, 4 },
    { 0xfe00, 0x5200, false, 2 },
    { 0xfe00, 0x5400, false, 1 },
    { 0xfe00, 0x5600, true,  1 }, /* LDRSB */
    { 0xfe00, 0x5800, true,  4 },
    { 0xfe00, 0x5a00, true,  2 },
    { 0xfe00, 0x5c00, true,  1 },
    { 0xfe00, 0x5e00, true,  2 }, /* LDRSH */
    { 0xf800, 0x6000, false, 4 },
    { 0xf800, 0x6800, true,  4 },
    { 0xf800, 0x7000, false, 1 },
    { 0xf800, 0x7800, true,  1 },
    { 0xf800, 0x8000, false, 2 },
    { 0xf800, 0x8800, true,  2 },
    { 0xf800, 0x9000, false, 4 }, /* sp-relative */
    { 0xf800, 0x9800, true,  4 },
};
/* clang-format on */

static void narrow(struct tw_data_access *out, uint32_t opcode)
{
    if ((opcode & 0xf600) == 0xb400) { /* PUSH, POP: bit 8 is lr, or pc */
        tw_data_set(out, bit(opcode, 11), 4, tw_data_registers(opcode & 0x1ff));
        out->has_pc = out->is_load && bit(opcode, 8);
        return;
    }
    if ((opcode & 0xf000) == 0xc000) { /* STM, LDM */
        tw_data_set(out, bit(opcode, 11), 4, tw_data_registers(opcode & 0xff));
        return;
    }
    for (size_t i = 0; i < sizeof narrow_rows / sizeof narrow_rows[0]; i++) {
        if ((opcode & narrow_rows[i].mask) == narrow_rows[i].value) {
            tw_data_set(out, narrow_rows[i].is_load, narrow_rows[i].size, 1);
            return;
        }
    }
}

static void multiple(struct tw_data_access *out, uint32_t opcode)
{
    const unsigned mode = (opcode >> 23) & 3;

    if (mode == 0 || mode == 3) { /* SRS, RFE */
        tw_data_set(out, bit(opcode, 20), 4, 2);
    } else if ((opcode & 0xffff0000) != 0xe89f0000) { /* CLRM */
        tw_data_set(out, bit(opcode, 20), 4, tw_data_registers(opcode & 0xffff));
        out->has_pc = out->is_load && bit(opcode, 15);
    }
}

/* First halfword e8c0 or e8d0: the second one's bits 7:4 tell exclusive, acquire and release, and
   table branches. */
static void exclusive(struct tw_data_access *out, uint32_t opcode)
{
    static const uint8_t sizes[4] = { 1, 2, 4, 4 };
    const unsigned kind = (opcode >> 4) & 15;
    const bool is_load = bit(opcode, 20);

    if (kind < 2 && is_load) /* TBB, TBH */
        tw_data_set(out, true, kind + 1, 1);
    else if (kind == 7 || kind == 15) /* doublewords */
        tw_data_set(out, is_load, 4, 2);
    else if (kind == 4 || kind == 5 || kind >= 8)
        tw_data_set(out, is_load, sizes[kind & 3], 1);
}

static void dual_or_exclusive(struct tw_data_access *out, uint32_t opcode)
{
    if ((opcode & 0x01200000) != 0) { /* LDRD, STRD; one of their codes is SG of Armv8-M */
        if (opcode != 0xe97fe97f)
            tw_data_set(out, bit(opcode, 20), 4, 2);
    } else if (bit(opcode, 23)) {
        exclusive(out, opcode);
    } else if (bit(opcode, 20) ||
               (opcode & 0xf03f) != 0xf000) { /* LDREX, STREX; TT of Armv8-M */
        tw_data_set(out, bit(opcode, 20), 4, 1);
    }
}

static void single(struct tw_data_access *out, uint32_t opcode)
{
    const unsigned log2_size = (opcode >> 21) & 3;
    const bool is_load = bit(opcode, 20);

    if (bit(opcode, 24) && !is_load)
        tw_arm_data_elements(out, opcode);
    else if (log2_size < 3 &&
             !(is_load && log2_size < 2 && (opcode & 0xf000) == 0xf000)) /* PLD */
        tw_data_set(out, is_load, 1u << log2_size, 1);
}

void tw_t32_data(struct tw_data_access *out, uint32_t opcode)
{
    *out = (struct tw_data_access){ .count = 0 };
    if (opcode <= 0xffff)
        narrow(out, opcode);
    else if ((opcode & 0xfe400000) == 0xe8000000)
        multiple(out, opcode);
    else if ((opcode & 0xfe400000) == 0xe8400000)
        dual_or_exclusive(out, opcode);
    else if ((opcode & 0xfe000000) == 0xf8000000)
        single(out, opcode);
    else if ((opcode & 0xec000000) == 0xec000000 && (opcode & 0xffbf0f00) != 0xec9f0a00 &&
             (opcode & 0xffbf0f00) != 0xec9f0b00) /* VSCCLRM */
        tw_arm_data_coprocessor(out, opcode);
}
