/* SPDX-License-Identifier: BSD-2-Clause */
/* How a basic block comes to be. */
#ifndef IMAGE_BUILD_H
#define IMAGE_BUILD_H

#include "image/blocks.h"
#include "image/store.h"

enum { TW_CHECKPOINT_STEP = 1024 /* bytes: see build.c */ };

/* Bytes of program memory; none: `size` is 0. */
struct tw_block_bytes {
    const uint8_t *bytes;
    size_t size;
};

/* Fills both halves of a block from program memory.  Returns its index, with TW_BLOCK_BROKEN where it
   has no waypoint. */
uint32_t tw_block_build(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                        uint8_t isa, uint8_t it_open);
/* The same for A32 and T32, where that is simple; else returns 0, and nothing is done. */
uint32_t tw_block_build_arm(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                            uint8_t isa, uint8_t it_open);
/* What an instruction loads and stores. */
void tw_block_set_transfers(struct tw_block_more *more, uint8_t isa, uint32_t opcode);
/* What the image has at an address: tw_blocks_bytes knows it from then on. */
struct tw_block_bytes tw_blocks_look(struct tw_blocks *blocks, uint64_t address);
/* What blocks of A64 are that end in an instruction of this row, with this opcode for example. */
void tw_block_make_ending(struct tw_block_ending *ending, const struct tw_code *code,
                          const struct tw_isa_row *row, uint32_t opcode);

/* The readable bytes from an address on, as far as they lie together. */
TW_INLINE struct tw_block_bytes tw_blocks_bytes(struct tw_blocks *blocks, uint64_t address)
{
    const struct tw_window *window = &blocks->window;
    const uint64_t offset = address - window->low;

    if (TW_UNLIKELY(offset >= window->size ||
                    window->generation != blocks->code->image->generation))
        return tw_blocks_look(blocks, address);
    return (struct tw_block_bytes){ window->bytes + offset, (size_t)(window->size - offset) };
}

/* Whether the caller is asked what the instructions of this set do. */
TW_INLINE bool tw_code_asks(const struct tw_code *code, uint8_t isa)
{
    return code->config.classify_isas >> isa & 1;
}

/* Instruction sets whose blocks mostly are simple: short, and read from memory.  Bits 1 << enum tw_isa. */
TW_INLINE uint32_t tw_code_simple_isas(const struct tw_code *code)
{
    const struct tw_code_config *config = &code->config;
    uint32_t isas = 1u << TW_ISA_A32 | 1u << TW_ISA_T32;

    if (!code->image || config->range_limit < TW_CHECKPOINT_STEP)
        return 0;
    if (!config->check_opcodes && !config->single_steps)
        isas |= 1u << TW_ISA_A64;
    return isas & ~config->classify_isas;
}

/* What the range shows of its last instruction. */
TW_INLINE void tw_block_set_last(struct tw_block *block,
                                 const struct tw_instruction *instruction)
{
    struct tw_element shape = { .index = 0 };

    tw_range_set_last(&shape, instruction);
    block->last = shape.last;
    block->flags = shape.flags;
}

/* What the waypoint at the end of a block does. */
TW_INLINE void tw_block_set_end(struct tw_block_more *more,
                                const struct tw_instruction *instruction)
{
    more->end = TW_BLOCK_WAYPOINT;
    more->target = instruction->target;
    more->target_isa = instruction->target_isa & 15u;
    more->it_remaining = instruction->it_remaining & 7u;
    more->is_link = instruction->is_link;
    more->is_return = instruction->is_return;
    more->is_exception_return = instruction->is_exception_return;
    more->is_indirect = instruction->kind == TW_FLOW_INDIRECT;
}

/* The links of a block that is done, before any has been followed. */
TW_INLINE void tw_block_set_links(uint32_t *links, const struct tw_block *block,
                                  const struct tw_block_more *more,
                                  const struct tw_code_config *config)
{
    links[0] = links[1] = TW_NEXT_UNKNOWN;
    if (more->is_indirect)
        links[1] = TW_NEXT_NEEDED;
    if ((config->links_are_special && more->is_link) ||
        (config->exception_returns_are_special && more->is_exception_return))
        links[1] = TW_NEXT_SPECIAL;
    if (config->check_atoms && !(block->flags & TW_RANGE_CONDITIONAL) &&
        more->end == TW_BLOCK_WAYPOINT)
        links[0] = TW_NEXT_SPECIAL;
}

#endif
