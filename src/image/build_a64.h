/* SPDX-License-Identifier: BSD-2-Clause */
/* What nearly all blocks of A64 are: a few instructions that lie together, then a waypoint.  Inline, as the
   store of blocks is all that builds them. */
#ifndef IMAGE_BUILD_A64_H
#define IMAGE_BUILD_A64_H

#include "base/bytes.h"
#include "image/build.h"
#include "isa/row.h"

/* What blocks have in common that end in this row.  Rows lie in arrays: their addresses tell most of them apart. */
TW_INLINE const struct tw_block_ending *
tw_block_ending(struct tw_code *code, const struct tw_isa_row *row, uint32_t opcode)
{
    struct tw_block_ending *ending =
        &code->endings[(uintptr_t)row / sizeof *row % TW_BLOCK_ENDINGS];

    if (TW_UNLIKELY(ending->row != row))
        tw_block_make_ending(ending, code, row, opcode);
    return ending;
}

/* Fills a block; its index, with TW_BLOCK_BROKEN where no memory is.  0, and nothing is done: it comes by a checkpoint,
   or memory ends on the way. */
TW_INLINE uint32_t tw_block_build_a64(struct tw_blocks *blocks, uint32_t number,
                                      uint64_t address)
{
    const uint64_t to_checkpoint = TW_CHECKPOINT_STEP - address % TW_CHECKPOINT_STEP;
    const struct tw_block_bytes here = tw_blocks_bytes(blocks, address);
    const size_t most = here.size < to_checkpoint ? here.size : (size_t)to_checkpoint;
    const uint8_t *end;
    struct tw_block_more more;

    if (TW_UNLIKELY(!here.size)) {
        blocks->blocks[number] = (struct tw_block){ .start = address,
                                                    .type = TW_ELEMENT_INSTR_RANGE,
                                                    .isa = TW_ISA_A64 };
        blocks->more[number] = (struct tw_block_more){ .end = TW_BLOCK_UNREADABLE };
        memset(&blocks->links[2 * (size_t)number], 0, 2 * sizeof *blocks->links);
        return number | TW_BLOCK_BROKEN;
    }
    end = here.bytes + most / 4 * 4;
    for (const uint8_t *at = here.bytes; at < end; at += 4) {
        const uint32_t opcode = tw_load_le32(at);
        const struct tw_block_ending *ending;
        const struct tw_isa_row *row;
        uint32_t before;

        if (TW_LIKELY(!tw_a64_is_of_interest(opcode)) || !(row = tw_a64_row(opcode)))
            continue;
        ending = tw_block_ending(blocks->code, row, opcode);
        if (TW_UNLIKELY(!ending->is_waypoint))
            continue;
        before = (uint32_t)(at - here.bytes);
        tw_block_fill(&blocks->blocks[number], &ending->block, address, before + 4,
                      before / 4 + 1);
        memcpy(&blocks->links[2 * (size_t)number], ending->links, sizeof ending->links);
        more = ending->more;
        more.target = ending->is_direct ? tw_a64_target(row, opcode, address + before) : 0;
        blocks->more[number] = more;
        return number;
    }
    return 0;
}

#endif
