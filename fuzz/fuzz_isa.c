/* SPDX-License-Identifier: BSD-2-Clause */
/* Any opcode of every instruction set: what it is to the flow of control, and what it transfers.  Input: instruction set and
   choices, then opcodes of four bytes. */
#include <stdlib.h>

#include <trackway/disassembly.h>
#include <trackway/instruction.h>
#include <trackway/log.h>

#include "isa/data.h"
#include "isa/isa.h"

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_opcode(uint8_t isa, unsigned choice, const uint8_t *bytes)
{
    const struct tw_instruction_query query = { .size = sizeof query,
                                                .address = 0x1000,
                                                .bytes = bytes,
                                                .count = 4,
                                                .isa = isa,
                                                .profile = choice & 3,
                                                .it_open = choice >> 2 & 7,
                                                .wfx_is_waypoint = choice & 0x20,
                                                .dsb_dmb_is_waypoint = choice & 0x40,
                                                .tstart_is_waypoint = choice & 0x80 };
    struct tw_instruction_answer answer = { .size = sizeof answer };
    const struct tw_code_bytes code = { bytes, 4, 0x1000, isa };
    struct tw_retired retired = { .address = 0x1000, .isa = isa };
    uint8_t open = choice >> 2 & 7;
    struct tw_data_access access = { .count = 0 };

    if (tw_instruction_classify(&answer, &query) == TW_OK)
        require(answer.info.size == 2 || answer.info.size == 4);
    (void)tw_instruction_size(&code);
    retired.opcode = tw_instruction_opcode(&code);
    tw_retired_classify(&retired, &open);
    require(retired.size <= 4);
    tw_retired_classify_m(&retired, &open);
    if (isa == TW_ISA_A32)
        tw_a32_data(&access, retired.opcode);
    if (isa == TW_ISA_T32)
        tw_t32_data(&access, retired.opcode);
    require(access.size <= 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t sets[] = { TW_ISA_A64, TW_ISA_A32, TW_ISA_T32, TW_ISA_RV32,
                                    TW_ISA_RV64 };

    if (size < 2)
        return 0;
    for (size_t at = 2; at + 4 <= size; at += 4)
        try_opcode(sets[data[0] % sizeof sets], data[1], data + at);
    return 0;
}
