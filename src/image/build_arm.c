/* SPDX-License-Identifier: BSD-2-Clause */
/* What nearly all blocks of A32 and T32 are: a few instructions that lie together, then a waypoint. */
#include "base/bytes.h"
#include "image/build.h"

/* A block whose last instruction this is; the others before it take `length` bytes with it. */
static uint32_t finish(struct tw_blocks *blocks, uint32_t number, struct tw_block *block,
                       struct tw_block_more *more, const struct tw_instruction *last)
{
    tw_block_set_last(block, last);
    tw_block_set_end(more, last);
    tw_block_set_links(&blocks->links[2 * (size_t)number], block, more, &blocks->code->config);
    blocks->blocks[number] = *block;
    blocks->more[number] = *more;
    return number;
}

/* `isa` is a constant. */
TW_INLINE uint32_t build(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                         const uint8_t isa, uint8_t it_open)
{
    const struct tw_code_config *config = &blocks->code->config;
    const uint64_t to_checkpoint = TW_CHECKPOINT_STEP - address % TW_CHECKPOINT_STEP;
    const struct tw_block_bytes here = tw_blocks_bytes(blocks, address);
    const size_t most = here.size < to_checkpoint ? here.size : (size_t)to_checkpoint;
    struct tw_block block = { .start = address, .type = TW_ELEMENT_INSTR_RANGE, .isa = isa };
    struct tw_block_more more = { .it_open = it_open & 7u };
    struct tw_instruction instruction;

    while (most - block.length >= 4) { /* any instruction is all there */
        const uint8_t *at = here.bytes + block.length;
        uint32_t opcode = isa == TW_ISA_A32 ? tw_load_le32(at) : tw_load_le16(at);

        if (isa == TW_ISA_A32) {
            tw_a32_classify(&instruction, opcode, address + block.length, &config->isa);
        } else {
            if (tw_t32_size((uint16_t)opcode) == 4)
                opcode = opcode << 16 | tw_load_le16(at + 2);
            tw_t32_classify(&instruction, opcode, address + block.length, it_open,
                            &config->isa);
            if (config->ignores_it)
                instruction.it_remaining = 0;
            it_open = instruction.it_remaining;
        }
        block.length += instruction.size;
        block.count++;
        if (instruction.is_waypoint || config->single_steps) {
            if (config->has_transfers)
                tw_block_set_transfers(&more, isa, opcode);
            return finish(blocks, number, &block, &more, &instruction);
        }
    }
    return 0;
}

uint32_t tw_block_build_arm(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                            uint8_t isa, uint8_t it_open)
{
    return isa == TW_ISA_A32 ? build(blocks, number, address, TW_ISA_A32, it_open)
                             : build(blocks, number, address, TW_ISA_T32, it_open);
}
