/* SPDX-License-Identifier: BSD-2-Clause */
/* What most of a message is: blocks that lead from one to the next by direct branches and jumps.  The rest is left to walk.c. */
#include "ntrace/decode.h"

enum { STEPS_MOST = 4096 }; /* that are counted at once: a message may claim very many */

/* The first three outcomes of HIST, the first in the highest bit, as decisions. */
static const uint8_t words[8] = { 8, 12, 10, 14, 9, 13, 11, 15 };

/* A walk over blocks that are counted. */
struct steps {
    uint64_t bits, left, walked;
    uint32_t at, count, hops, passed;
};

/* Three outcomes in one step, for as long as there are so many, and units. */
TW_INLINE void count_steps(struct tw_blocks *blocks, struct steps *walk, const bool by_count)
{
    while (walk->count >= TW_STEP_DECISIONS && walk->passed < STEPS_MOST &&
           (by_count ? walk->left : walk->hops < TW_NTRACE_HOPS_MAX - TW_STEP_BLOCKS)) {
        const uint32_t number = tw_step_number(walk->at, words[walk->bits >> 61]);
        const uint32_t to =
            tw_sums_step_within(blocks, number, by_count ? 2 * walk->left - 2 : UINT64_MAX);
        uint32_t units;

        if (!to)
            return;
        units = blocks->step_lengths[number] / 2;
        walk->at = tw_step_block(to);
        walk->passed += tw_step_passed(to);
        walk->bits <<= TW_STEP_DECISIONS;
        walk->count -= TW_STEP_DECISIONS;
        walk->walked += by_count ? 0 : units;
        walk->left -= by_count ? units : 0;
        walk->hops = by_count ? walk->hops : 0;
    }
}

/* Most of all steps: blocks that end in a direct branch or jump, one outcome or none for each. */
TW_INLINE void run_blocks(struct tw_stage *stage, const bool by_count, const bool counts)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_ntrace_way *way = &decoder->way;
    struct tw_blocks *const space = stage->follow->blocks;
    const struct tw_block *const blocks = space->blocks;
    const uint32_t *const links = space->links;
    const uint8_t *const decides = space->decides;
    struct tw_element *out = stage->out;
    struct tw_element *const limit =
        stage->limit - out > TW_NTRACE_MOST ? stage->limit - TW_NTRACE_MOST : out;
    const uint64_t index = stage->index;
    struct steps walk = { .bits = way->bits,
                          .left = way->left,
                          .at = decoder->at,
                          .count = way->count,
                          .hops = way->hops };

    if (counts)
        stage->follow->sums->jumps_are_free = stage->follow->sums->has_lengths = true;
    while (out < limit && (!counts || walk.passed < STEPS_MOST)) {
        const struct tw_block *block;
        uint32_t units, branches, bit, next;

        if (counts && walk.passed)
            count_steps(space, &walk, by_count);
        block = &blocks[walk.at];
        units = block->length / 2;
        branches = decides[walk.at];
        bit = (uint32_t)(walk.bits >> 63);
        /* A jump's two links are the same: where to go does not wait for the flags, which say that it is taken. */
        next = tw_block_next(links, walk.at, bit);
        if (by_count ? units >= walk.left : walk.count == 0 || walk.hops > TW_NTRACE_HOPS_MAX)
            break;
        if (TW_UNLIKELY(!tw_block_is_plain(next)))
            break;
        /* The first may be where a jump led that was written. */
        if (!counts || walk.passed == 0)
            tw_follow_emit(out++, block, bit, index);
        else
            tw_sums_go(space, walk.at * 2 + (bit | (branches ^ 1)));
        walk.passed += counts;
        walk.bits <<= branches;
        if (by_count) {
            walk.count -= branches & (walk.count != 0);
            walk.left -= units;
        } else {
            walk.count -= branches;
            walk.hops = (walk.hops + 1) & (branches - 1);
            walk.walked += units;
        }
        if (TW_UNLIKELY(tw_block_is_link(block)))
            tw_ntrace_push(decoder, tw_ntrace_block_end(block));
        walk.at = next;
    }
    if (out == stage->out)
        return;
    stage->out = out;
    way->walked += by_count ? way->left - walk.left : walk.walked;
    way->bits = walk.bits;
    way->left = walk.left;
    way->count = walk.count;
    way->hops = walk.hops;
    decoder->at = walk.at;
    decoder->pc = blocks[walk.at].start;
    decoder->last = 0;
}

void tw_ntrace_run(struct tw_stage *stage, bool by_count)
{
    const bool counts = stage->follow->sums != NULL;

    if (by_count && counts)
        run_blocks(stage, true, true);
    else if (by_count)
        run_blocks(stage, true, false);
    else if (counts)
        run_blocks(stage, false, true);
    else
        run_blocks(stage, false, false);
}

bool tw_ntrace_walk_direct(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_block *const blocks = stage->follow->blocks->blocks;
    const uint32_t *const links = stage->follow->blocks->links;
    struct tw_element *out = stage->out;
    struct tw_element *const limit =
        stage->limit - out > TW_NTRACE_MOST ? stage->limit - TW_NTRACE_MOST : out;
    const uint64_t index = stage->index;
    uint64_t left = decoder->packet.icnt;
    uint32_t at = decoder->at;

    while (tw_block_is_plain(at) && out < limit) {
        const struct tw_block *block = &blocks[at];
        const uint32_t units = block->length / 2;
        const uint32_t branches = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
        const bool is_last = units == left;
        const uint32_t next = links[2 * at + is_last];

        if (TW_UNLIKELY(units > left || !tw_block_is_plain(next)))
            break;
        tw_follow_emit(out++, block, is_last | (branches ^ 1), index);
        if (TW_UNLIKELY(tw_block_is_link(block)))
            tw_ntrace_push(decoder, tw_ntrace_block_end(block));
        left -= units;
        at = next;
        if (is_last)
            break;
    }
    stage->out = out;
    if (at != decoder->at) { /* else it is where it was, or in a loop of one block */
        decoder->at = at;
        decoder->pc = blocks[at].start;
    }
    if (TW_LIKELY(left == 0 && decoder->packet.icnt))
        return true;
    decoder->way = (struct tw_ntrace_way){ .left = left };
    return false;
}
