/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks through code where the trace tells an address or a count instead of atoms. */
#include "path/follow.h"

static bool is_halfword_isa(uint8_t isa)
{
    return isa == TW_ISA_T32 || isa == TW_ISA_TEE || isa == TW_ISA_CUSTOM;
}

/* No byte of trace stands for a branch that is passed on the way to an address, so each counts as so large
   a part of the range limit: what a packet costs stays in bounds, whatever the code is. */
enum { WAYPOINTS_MAX = 4096 };

/* The range being made: element fields, and the place behind it. */
struct stretch {
    struct tw_element range;
    uint64_t end;
    uint32_t passed; /* what waypoints on the way count more than their instructions */
    uint8_t it_open;
    bool ends_in_waypoint;
    bool passes_branches; /* an unconditional branch on the way contradicts the trace */
};

static void begin(struct stretch *stretch, const struct tw_follow *follow, uint64_t index)
{
    *stretch = (struct stretch){ .range = { .index = index,
                                            .type = TW_ELEMENT_INSTR_RANGE,
                                            .start = tw_follow_address(follow),
                                            .isa = tw_follow_isa(follow) } };
    stretch->end = stretch->range.start;
    if (follow->at == TW_NEXT_AT_ADDRESS)
        stretch->it_open = follow->it_open;
    else
        stretch->it_open = follow->blocks->more[follow->at & ~TW_BLOCK_BROKEN].it_open;
}

static void add_instruction(struct stretch *stretch, const struct tw_instruction *instruction)
{
    struct tw_element *range = &stretch->range;

    range->count++;
    tw_range_set_last(range, instruction);
    stretch->end += instruction->size;
    stretch->it_open = instruction->it_remaining;
    stretch->ends_in_waypoint = instruction->is_waypoint;
}

/* Adds the instructions of a block up to, not including, `stop`, which lies in it. */
static bool add_part(struct stretch *stretch, struct tw_follow *follow, uint64_t stop)
{
    struct tw_instruction instruction;
    const uint8_t isa = stretch->range.isa;

    if (!is_halfword_isa(isa) && stop - stretch->end > 4) {
        const uint32_t skip = (uint32_t)((stop - stretch->end - 1) / 4); /* all but the last */

        stretch->range.count += skip;
        stretch->end += 4 * (uint64_t)skip;
    }
    while (stretch->end < stop) {
        if (!tw_code_instruction(follow->blocks, &instruction, stretch->end, isa,
                                 stretch->it_open))
            return false;
        add_instruction(stretch, &instruction);
    }
    return true;
}

/* The trace contradicts the image. */
static void contradict(struct tw_follow *follow, uint64_t at)
{
    follow->error = TW_ERROR_IMAGE_MISMATCH;
    follow->error_detail = at;
}

/* Whether a range that goes on nowhere but at its target. */
static bool is_unconditional(const struct tw_element *range)
{
    return range->count && !(range->flags & TW_RANGE_CONDITIONAL) &&
           (range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR);
}

enum walk_end { WALK_REACHED, WALK_WAYPOINT, WALK_UNREADABLE, WALK_FAILED };

/* Adds blocks, their waypoints not taken, up to `stop` (WALK_REACHED: it is inside the last block
   or at its end).  With `split`, ends at the first waypoint before `stop`. */
static enum walk_end walk_to(struct stretch *stretch, struct tw_follow *follow, uint64_t stop,
                             bool split)
{
    struct tw_blocks *blocks = follow->blocks;
    const uint32_t limit = follow->code->config.range_limit;

    while (stretch->end < stop) {
        const uint32_t found =
            tw_blocks_find(blocks, stretch->end, stretch->range.isa, stretch->it_open);
        const uint32_t number = found & ~TW_BLOCK_BROKEN;
        const struct tw_block *block = &blocks->blocks[number];

        if (!found)
            return WALK_FAILED;
        if (stop <= block->start + block->length)
            return add_part(stretch, follow, stop) ? WALK_REACHED : WALK_UNREADABLE;
        if (block->count) {
            stretch->range.count += block->count;
            stretch->range.last = block->last;
            stretch->range.flags = block->flags;
            stretch->end += block->length;
            stretch->it_open = blocks->more[number].it_remaining;
            stretch->ends_in_waypoint = !(found & TW_BLOCK_BROKEN);
        }
        if (stretch->passes_branches && is_unconditional(&stretch->range)) {
            contradict(follow, stop);
            return WALK_FAILED;
        }
        if (blocks->more[number].end == TW_BLOCK_UNREADABLE)
            return WALK_UNREADABLE;
        stretch->passed += limit / WAYPOINTS_MAX;
        if ((uint64_t)stretch->range.count + stretch->passed + follow->walked > limit ||
            (found & TW_BLOCK_BROKEN)) {
            follow->error = blocks->more[number].end == TW_BLOCK_NO_CODE ? TW_ERROR_BAD_OPCODE
                                                                         : TW_ERROR_RANGE_LIMIT;
            follow->error_detail = stretch->end;
            return WALK_FAILED;
        }
        if (split) {
            follow->walked += stretch->range.count + stretch->passed;
            tw_follow_go(follow, stretch->end, stretch->range.isa, stretch->it_open);
            return WALK_WAYPOINT;
        }
    }
    return WALK_REACHED;
}

static struct tw_element *emit(struct tw_element *out, struct stretch *stretch, bool executed)
{
    if (!stretch->range.count)
        return out;
    stretch->range.length = (uint32_t)(stretch->end - stretch->range.start);
    if (executed)
        stretch->range.flags |= TW_RANGE_EXECUTED;
    *out++ = stretch->range;
    return out;
}

static struct tw_element *emit_unreadable(struct tw_element *out, struct tw_follow *follow,
                                          struct stretch *stretch)
{
    out = emit(out, stretch, true);
    return tw_follow_emit_missing(follow, out, stretch->end, stretch->range.index);
}

enum { TOP_BYTES = 4096 }; /* so far a walk may lead around the top of memory */

/* Whether the path leads over the top of memory to `stop`, which is below the place: from there on all
   is code, and no branch leads elsewhere [K10.5.5.6].  Or nothing was executed. */
static bool leads_over_the_top(struct tw_follow *follow, uint64_t stop)
{
    struct stretch stretch;
    struct tw_instruction instruction;
    const uint8_t isa = tw_follow_isa(follow);
    const uint64_t first = tw_follow_address(follow);

    if (tw_code_wrap(stop - first, isa) > TOP_BYTES || tw_code_wrap(~first, isa) > TOP_BYTES)
        return false;
    begin(&stretch, follow, 0);
    while (stretch.end != stop) {
        if (!tw_code_instruction(follow->blocks, &instruction, stretch.end, isa,
                                 stretch.it_open))
            return false;
        add_instruction(&stretch, &instruction);
        stretch.end = tw_code_wrap(stretch.end, isa);
        if (is_unconditional(&stretch.range) ||
            tw_code_wrap(stretch.end - first, isa) > tw_code_wrap(stop - first, isa))
            return false;
    }
    return true;
}

/* Two ranges: up to the top, and from the bottom on. */
static struct tw_element *walk_over_the_top(struct tw_follow *follow, struct tw_element *out,
                                            uint64_t stop, uint64_t index)
{
    const uint8_t isa = tw_follow_isa(follow);
    struct stretch stretch;
    struct tw_instruction instruction;

    begin(&stretch, follow, index);
    do {
        if (!tw_code_instruction(follow->blocks, &instruction, stretch.end, isa,
                                 stretch.it_open))
            break;
        add_instruction(&stretch, &instruction);
        if (tw_code_wrap(stretch.end, isa) == 0) {
            out = emit(out, &stretch, !stretch.ends_in_waypoint);
            stretch.range.count = 0;
            stretch.range.start = stretch.end = 0;
        }
    } while (stretch.end != stop);
    out = emit(out, &stretch, !stretch.ends_in_waypoint);
    tw_follow_go(follow, stop, isa, stretch.it_open);
    return out;
}

struct tw_element *tw_follow_to_exception(struct tw_follow *follow, struct tw_element *out,
                                          uint64_t stop, uint64_t index)
{
    struct stretch stretch;

    if (!tw_follow_is_placed(follow) && follow->missing == TW_MISSING_CODE &&
        follow->address < stop)
        return tw_follow_emit_missing(follow, out, follow->address, index);
    if (!tw_follow_is_placed(follow) || follow->error || !follow->blocks)
        return out;
    if (tw_follow_address(follow) >= stop) {
        if (tw_follow_address(follow) == stop || !leads_over_the_top(follow, stop))
            return out;
        return walk_over_the_top(follow, out, stop, index);
    }
    begin(&stretch, follow, index);
    switch (walk_to(&stretch, follow, stop, false)) {
    case WALK_UNREADABLE:
        return emit_unreadable(out, follow, &stretch);
    case WALK_FAILED:
        tw_follow_lose(follow);
        return out;
    default: /* a waypoint that ends it was not taken: the exception came instead */
        out = emit(out, &stretch, !stretch.ends_in_waypoint);
    }
    tw_follow_go(follow, stretch.end, stretch.range.isa, stretch.it_open);
    return out;
}

/* The instruction at the source address was taken: on from there. */
static struct tw_element *take_source(struct tw_follow *follow, struct tw_element *out,
                                      struct stretch *stretch, uint64_t stop)
{
    const uint8_t isa = stretch->range.isa;
    const uint64_t index = stretch->range.index;
    uint32_t block;

    if (!stretch->ends_in_waypoint) {
        contradict(follow, stop);
        tw_follow_lose(follow);
        return out;
    }
    out = emit(out, stretch, true);
    block = tw_blocks_find(follow->blocks, stop, isa, stretch->it_open);
    if (!tw_block_is_plain(block)) {
        tw_follow_lose(follow);
        return out;
    }
    follow->last_block = block;
    follow->last_taken = true;
    return tw_follow_after(follow, out, block, true, index);
}

struct tw_element *tw_follow_to_source(struct tw_follow *follow, struct tw_element *out,
                                       struct tw_element *end, uint64_t stop, bool split,
                                       uint64_t index, bool *done)
{
    struct tw_instruction instruction;
    struct stretch stretch;

    *done = false;
    if (!tw_follow_is_placed(follow)) {
        if (follow->error)
            return out;
        tw_follow_go(follow, stop, tw_follow_isa(follow), 0);
    }
    if (!follow->blocks)
        return out;
    if (tw_follow_address(follow) > stop) { /* nothing leads there [K10.5.5.7] */
        *done = true;
        contradict(follow, stop);
        tw_follow_lose(follow);
        return out;
    }
    for (;;) {
        enum walk_end how;

        if (end - out < TW_FOLLOW_MOST)
            return out;
        begin(&stretch, follow, index);
        stretch.passes_branches = true;
        how = walk_to(&stretch, follow, stop, split);
        /* Inside an instruction, or behind a branch that is always taken. */
        if (how == WALK_REACHED && (stretch.end != stop || is_unconditional(&stretch.range))) {
            contradict(follow, stop);
            how = WALK_FAILED;
        }
        if (how != WALK_WAYPOINT) {
            *done = true;
            follow->walked = 0;
            if (how == WALK_FAILED) {
                tw_follow_lose(follow);
                return out;
            }
            if (how == WALK_UNREADABLE ||
                !tw_code_instruction(follow->blocks, &instruction, stop, stretch.range.isa,
                                     stretch.it_open))
                return emit_unreadable(out, follow, &stretch);
            break;
        }
        out = emit(out, &stretch, false);
    }
    {
        const uint8_t it_open = stretch.it_open;

        add_instruction(&stretch, &instruction);
        if (stretch.ends_in_waypoint)
            stretch.it_open = it_open; /* the block of this instruction alone begins there */
    }
    return take_source(follow, out, &stretch, stop);
}

struct tw_element *tw_follow_to_update(struct tw_follow *follow, struct tw_element *out,
                                       uint64_t stop, uint64_t index)
{
    struct tw_instruction instruction;
    struct stretch stretch;
    const struct tw_block *block;
    uint32_t found;

    if (!tw_follow_is_placed(follow) || follow->error || !follow->blocks)
        return out;
    begin(&stretch, follow, index);
    found = tw_blocks_find(follow->blocks, stretch.end, stretch.range.isa, stretch.it_open);
    if (!found) {
        tw_follow_lose(follow);
        return out;
    }
    block = &follow->blocks->blocks[found & ~TW_BLOCK_BROKEN];
    if (stop - block->start < block->length && add_part(&stretch, follow, stop) &&
        stretch.end == stop &&
        tw_code_instruction(follow->blocks, &instruction, stop, stretch.range.isa,
                            stretch.it_open)) {
        add_instruction(&stretch, &instruction);
        out = emit(out, &stretch, true);
        tw_follow_lose(follow);
        tw_follow_jump(follow, stretch.end, stretch.range.isa);
        follow->it_open = stretch.it_open;
        return out;
    }
    if (stop >= block->start &&
        follow->blocks->more[found & ~TW_BLOCK_BROKEN].end == TW_BLOCK_UNREADABLE) {
        (void)add_part(&stretch, follow, block->start + block->length);
        return emit_unreadable(out, follow, &stretch);
    }
    tw_follow_lose(follow);
    follow->error = TW_ERROR_IMAGE_MISMATCH;
    follow->error_detail = stop;
    return out;
}
