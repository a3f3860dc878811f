/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores of A32, and what A32 and T32 share: VFP, coprocessors, element loads. */
#include "isa/data.h"

static bool bit(uint32_t opcode, unsigned number)
{
    return (opcode >> number) & 1;
}

/* Doublewords that "multiple structures" move, by bits 11:8; 0 where nothing is allocated. */
static const uint8_t structure_registers[16] = { 4, 4, 4, 4, 3, 3, 3, 1, 2, 2, 2 };

void tw_arm_data_elements(struct tw_data_access *out, uint32_t opcode)
{
    const bool is_load = bit(opcode, 21);
    unsigned log2_size = (opcode >> 10) & 3;

    if (!bit(opcode, 23)) {
        const unsigned registers = structure_registers[(opcode >> 8) & 15];

        if (registers != 0)
            tw_data_set(out, is_load, 4, 2 * registers);
        return;
    }
    if (log2_size == 3) /* one element to all lanes: its size is elsewhere */
        log2_size = (opcode >> 6) & 3;
    if (log2_size == 3) /* VLD4 of 32 bits with another alignment */
        log2_size = 2;
    tw_data_set(out, is_load, 1u << log2_size, ((opcode >> 8) & 3) + 1);
}

static void coprocessor_memory(struct tw_data_access *out, uint32_t opcode)
{
    const bool is_load = bit(opcode, 20);
    const unsigned coprocessor = (opcode >> 8) & 15;
    const bool is_single = bit(opcode, 24) && !bit(opcode, 21); /* VLDR rather than VLDM */
    const unsigned words = opcode & 0xff;

    if ((coprocessor & 14) != 10) {
        /* VLDR.16, else LDC: how much it moves is the coprocessor's affair; c14's is one word. */
        tw_data_set(out, is_load, coprocessor == 9 && is_single ? 2 : 4, 1);
    } else if (is_single) {
        tw_data_set(out, is_load, 4, coprocessor == 11 ? 2 : 1);
    } else {
        /* An odd number of words with doublewords is FLDMX, whose last word is not moved. */
        tw_data_set(out, is_load, 4, coprocessor == 11 ? words & 0xfe : words);
    }
}

void tw_arm_data_coprocessor(struct tw_data_access *out, uint32_t opcode)
{
    /* There is no LDC2 or MCR2 of coprocessors 8 to 13: vector arithmetic uses their codes. */
    if (opcode >> 28 == 15 && (opcode & 0xf00) >= 0x800 && (opcode & 0xf00) <= 0xd00)
        return;
    if ((opcode & 0x0f000010) == 0x0e000010) { /* MCR, MRC */
        tw_data_set(out, bit(opcode, 20), 4, 1);
        out->is_coprocessor = true;
    } else if ((opcode & 0x0fe00000) == 0x0c400000) { /* MCRR, MRRC */
        tw_data_set(out, bit(opcode, 20), 4, 2);
        out->is_coprocessor = true;
    } else if ((opcode & 0x0fe00000) != 0x0c000000 && (opcode & 0x0e000000) == 0x0c000000) {
        coprocessor_memory(out, opcode);
    }
}

/* Bits 7 and 4 set in the data processing space: multiplies, exclusives, halfwords, doublewords. */
static void extra(struct tw_data_access *out, uint32_t opcode)
{
    static const uint8_t exclusive_sizes[4] = { 4, 4, 1,
                                                2 }; /* by bits 22:21; 1 is a doubleword */
    const bool is_load = bit(opcode, 20);

    switch ((opcode >> 5) & 3) {
    case 0:
        if ((opcode & 0x0fb00ff0) == 0x01000090) { /* SWP, SWPB */
            tw_data_set(out, true, bit(opcode, 22) ? 1 : 4, 2);
            out->is_store = true;
        } else if ((opcode & 0x0f800090) == 0x01800090) { /* LDREX, LDA and kin */
            const unsigned kind = (opcode >> 21) & 3;

            tw_data_set(out, is_load, exclusive_sizes[kind], kind == 1 ? 2 : 1);
        }
        break;
    case 1: /* STRH, LDRH */
        tw_data_set(out, is_load, 2, 1);
        break;
    case 2: /* LDRD, LDRSB */
        tw_data_set(out, true, is_load ? 1 : 4, is_load ? 1 : 2);
        break;
    default: /* STRD, LDRSH */
        tw_data_set(out, is_load, is_load ? 2 : 4, is_load ? 1 : 2);
        break;
    }
}

static void unconditional(struct tw_data_access *out, uint32_t opcode)
{
    if ((opcode & 0x0e500000) == 0x08100000) /* RFE */
        tw_data_set(out, true, 4, 2);
    else if ((opcode & 0x0e500000) == 0x08400000) /* SRS */
        tw_data_set(out, false, 4, 2);
    else if ((opcode & 0x0f100000) == 0x04000000)
        tw_arm_data_elements(out, opcode);
    else
        tw_arm_data_coprocessor(out, opcode);
}

void tw_a32_data(struct tw_data_access *out, uint32_t opcode)
{
    *out = (struct tw_data_access){ .count = 0 };
    if (opcode >> 28 == 15) {
        unconditional(out, opcode);
        return;
    }
    switch ((opcode >> 25) & 7) {
    case 0:
        if ((opcode & 0x90) == 0x90)
            extra(out, opcode);
        break;
    case 2:
        tw_data_set(out, bit(opcode, 20), bit(opcode, 22) ? 1 : 4, 1);
        break;
    case 3:
        if (!bit(opcode, 4)) /* else the media instructions */
            tw_data_set(out, bit(opcode, 20), bit(opcode, 22) ? 1 : 4, 1);
        break;
    case 4:
        tw_data_set(out, bit(opcode, 20), 4, tw_data_registers(opcode & 0xffff));
        out->has_pc = out->is_load && bit(opcode, 15);
        break;
    case 6:
    case 7:
        tw_arm_data_coprocessor(out, opcode);
        break;
    default:
        break;
    }
}
