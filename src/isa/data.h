/* SPDX-License-Identifier: BSD-2-Clause */
/* What A32 and T32 instructions load and store: for data trace, and for loads and stores as P0. */
#ifndef TW_ISA_DATA_H
#define TW_ISA_DATA_H

#include <stdbool.h>
#include <stdint.h>

/* Transfers as ETMv3 counts them: each of 32 bits or less, in ascending order of address and of
   register number.  Preloads have none. */
struct tw_data_access {
    uint8_t count;
    uint8_t size;        /* of each transfer in bytes: 1, 2 or 4 */
    bool is_load;        /* both: SWP, which loads first and then stores */
    bool is_store;       /* ... or, with is_coprocessor, to the coprocessor */
    bool is_coprocessor; /* MCR, MRC, MCRR, MRRC: registers only, there is no address */
    bool has_pc; /* an LDM whose list has pc: some units trace pc first (ETMIDR bit 16) */
};

void tw_a32_data(struct tw_data_access *out, uint32_t opcode);

/* `opcode` as for tw_t32_classify. */
void tw_t32_data(struct tw_data_access *out, uint32_t opcode);

/* Opcodes that both sets have, in the layout of A32 with any condition field: bits 27:25 are 110, or
   27:24 are 1110 with bit 4 set. */
void tw_arm_data_coprocessor(struct tw_data_access *out, uint32_t opcode);

/* VLD1 to VLD4 and VST1 to VST4, by bits 23, 21 and 11:0, which are the same in both sets. */
void tw_arm_data_elements(struct tw_data_access *out, uint32_t opcode);

static inline void tw_data_set(struct tw_data_access *out, bool is_load, unsigned size,
                               unsigned count)
{
    out->is_load = is_load;
    out->is_store = !is_load;
    out->size = (uint8_t)size;
    out->count = (uint8_t)count;
}

static inline unsigned tw_data_registers(uint32_t list)
{
    unsigned count = 0;

    for (; list != 0; list &= list - 1)
        count++;
    return count;
}

#endif
