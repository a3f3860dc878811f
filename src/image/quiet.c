/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways out of blocks that are not told of: asked once and then known. */
#include "image/quiet.h"

#include "base/memory.h"

bool tw_quiet_begin(struct tw_code *code, const struct tw_quiet *quiet)
{
    if (!code->quiet)
        code->quiet = tw_take(code->config.allocator, sizeof *code->quiet);
    if (!code->quiet)
        return false;
    *code->quiet = *quiet;
    code->quiet->whose.elements = code->quiet->ranges;
    code->quiet->whose.count = code->quiet->whose.room = TW_LENGTH(quiet->ranges);
    return true;
}

void tw_quiet_ask(struct tw_blocks *blocks, uint32_t way)
{
    struct tw_quiet *quiet = blocks->code->quiet;
    const struct tw_block *block = &blocks->blocks[way / 2];
    const uint32_t to = blocks->links[way];
    enum tw_quiet_kind kind = TW_QUIET_NOT;

    tw_block_range(&quiet->ranges[0], block, way & 1, 0);
    tw_block_range(&quiet->ranges[1], &blocks->blocks[to], 0, 0);
    blocks->quiet[way].count = block->count;
    if (block->count <= TW_QUIET_BLOCK_MOST)
        kind = quiet->ask(quiet->context, &quiet->whose, &blocks->view, blocks->code->image);
    blocks->quiet[way].to = kind == TW_QUIET ? to : (uint32_t)kind;
}
