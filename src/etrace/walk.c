/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves along the program from packet to packet, block by block (E-Trace chapter 11). */
#include "etrace/place.h"

static enum tw_etrace_walk wrong(struct tw_stage *stage, uint8_t code)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    decoder->walk_error = code;
    decoder->walk_error_detail = decoder->place.pc;
    return TW_ETRACE_WALK_ERROR;
}

/* The walk may end at the goal's address in what is left of this block. */
static bool stops_here(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_goal *goal = &decoder->goal;
    const struct tw_block *block = tw_etrace_block(stage);
    const uint64_t last = tw_etrace_block_end(block) - tw_etrace_last_size(block);
    const bool is_branch = goal->address == last && tw_etrace_is_conditional(block);
    struct tw_block_place found;

    if (tw_etrace_outcomes(decoder) != (is_branch ? 1 : 0) || goal->report_only)
        return false;
    if (goal->has_irdepth && !tw_etrace_is_at_depth(decoder))
        return false;
    if (goal->is_sync && decoder->packet.privilege != decoder->privilege)
        return false; /* only a trap return leads there, and that reports its target */
    tw_etrace_settle(stage);
    if (goal->address < place->done ||
        !tw_block_locate(stage->follow->blocks, place->at, goal->address, &found))
        return false;
    place->pc = goal->address;
    place->done = place->pc + tw_etrace_size_at(stage, place->pc);
    place->done_count = found.count + 1;
    return true;
}

static enum tw_etrace_walk go_missing(struct tw_stage *stage)
{
    const struct tw_block_more *more = tw_etrace_more(stage);
    const uint64_t address = tw_etrace_block_end(tw_etrace_block(stage));

    if (more->end != TW_BLOCK_UNREADABLE)
        return wrong(stage, more->end == TW_BLOCK_RUNAWAY ? TW_ERROR_RANGE_LIMIT
                                                          : TW_ERROR_BAD_OPCODE);
    tw_etrace_emit_rest(stage, true);
    tw_etrace_emit_missing(stage, address);
    return TW_ETRACE_WALK_MISSING;
}

/* Where an indirect jump was reported to go; the block remembers the last such place. */
static uint32_t find_reported(struct tw_stage *stage, uint64_t address)
{
    struct tw_block_more *more = tw_etrace_more(stage);
    const uint64_t epoch = stage->follow->code->epoch;
    uint32_t found = more->taken;

    if (found && stage->follow->blocks->blocks[found & ~TW_BLOCK_BROKEN].start == address)
        return found;
    found = tw_etrace_find(stage, address);
    if (found && epoch == stage->follow->code->epoch && !tw_etrace_more(stage)->is_sequential)
        tw_etrace_more(stage)->taken = found;
    return found;
}

/* Follows a jump for the first time.  Both its links are set: see leave_plain. */
static uint32_t link_jump(struct tw_stage *stage, uint32_t from)
{
    struct tw_blocks *blocks = stage->follow->blocks;
    const uint64_t epoch = stage->follow->code->epoch;
    const uint32_t next = tw_blocks_link(blocks, from, 1);

    if (epoch == stage->follow->code->epoch)
        blocks->blocks[from].next[0] = next;
    return next;
}

/* Where an unconditional jump goes. */
static uint32_t jump_target(struct tw_stage *stage, bool *is_reported)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block *block = tw_etrace_block(stage);
    const struct tw_block_more *more = tw_etrace_more(stage);
    const bool links = more->is_link && (decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN);
    const uint64_t link = tw_etrace_block_end(block);
    const uint32_t from = decoder->place.at;
    uint32_t next;

    *is_reported = false;
    if (!more->is_indirect) {
        next = block->next[1];
        if (next == TW_NEXT_UNKNOWN)
            next = link_jump(stage, from);
        else if (next < TW_BLOCK_FIRST)
            next = tw_blocks_target(stage->follow->blocks, from);
    } else if (tw_etrace_is_sequential(decoder, more)) {
        next = tw_blocks_target(stage->follow->blocks, from);
    } else if (tw_etrace_is_implicit_return(stage, more)) {
        next = tw_etrace_find(stage, tw_etrace_pop_return(decoder));
    } else {
        *is_reported = true;
        decoder->hops = 0;
        next = find_reported(stage, decoder->goal.address);
    }
    if (links)
        tw_etrace_push_return(decoder, link);
    return next;
}

/* The jump goes where only a packet with an address could tell. */
static bool is_unexpected(struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block_more *more = tw_etrace_more(stage);

    return decoder->goal.to_branch && more->is_indirect &&
           !tw_etrace_is_sequential(decoder, more) &&
           !tw_etrace_is_implicit_return(stage, more);
}

/* Goes from the end of a block to the next one. */
static enum tw_etrace_walk leave(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block *block = tw_etrace_block(stage);
    const uint32_t from = decoder->place.at;
    bool is_taken = true, is_reported = false;
    uint32_t next;

    if (from & TW_BLOCK_BROKEN)
        return go_missing(stage);
    if (++decoder->steps > decoder->steps_max)
        return wrong(stage, TW_ERROR_PACKET_LIMIT);
    if (tw_etrace_is_conditional(block)) {
        if (tw_etrace_outcomes(decoder) == 0)
            return wrong(stage, TW_ERROR_IMAGE_MISMATCH);
        is_taken = tw_etrace_take_outcome(decoder, decoder->place.pc);
        decoder->hops = 0;
    } else if (++decoder->hops > decoder->hops_max) {
        return wrong(stage, TW_ERROR_RANGE_LIMIT);
    } else if (is_unexpected(stage)) {
        return wrong(stage,
                     TW_ERROR_IMAGE_MISMATCH); /* before it is said to have gone anywhere */
    }
    tw_etrace_emit_rest(stage, is_taken);
    if (tw_etrace_is_conditional(block)) {
        next = block->next[is_taken];
        if (next < TW_BLOCK_FIRST)
            next = tw_blocks_link(stage->follow->blocks, from, is_taken);
    } else {
        next = jump_target(stage, &is_reported);
    }
    decoder->epoch = stage->follow->code->epoch;
    decoder->has_left = true;
    if (!next)
        return wrong(stage, TW_ERROR_UNSUPPORTED); /* memory is out: the caller sees it */
    tw_etrace_enter(stage, next, stage->follow->blocks->blocks[next & ~TW_BLOCK_BROKEN].start);
    if (!is_reported)
        return TW_ETRACE_WALK_ON;
    if (tw_etrace_block(stage)->count == 0) {
        tw_etrace_emit_missing(stage, decoder->goal.address);
        return TW_ETRACE_WALK_MISSING;
    }
    tw_etrace_execute_first(stage);
    return TW_ETRACE_WALK_REPORTED;
}

enum { STRETCH = 256 }; /* blocks between two looks at whether outcomes are used at all */

/* Blocks left since the last outcome, which these ranges may tell. */
static uint32_t hops_after(uint32_t hops, const struct tw_element *first,
                           const struct tw_element *end)
{
    const struct tw_element *at = end;

    while (at > first && !(at[-1].flags & TW_RANGE_CONDITIONAL))
        at--;
    return (uint32_t)(end - at) + (at == first ? hops : 0);
}

/* Most of all steps: plain blocks, one outcome or none for each, nothing to compare with, for more
   than one outcome is left. */
static void leave_plain(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block *const blocks = stage->follow->blocks->blocks;
    struct tw_element *out = stage->out;
    struct tw_element *const end =
        stage->limit - out > TW_ETRACE_MOST ? stage->limit - TW_ETRACE_MOST : out;
    const uint64_t index = stage->index;
    uint64_t map = decoder->map;
    uint32_t count = decoder->count, at = decoder->place.at;
    bool goes_on = true;

    while (goes_on && count > 1 && out < end && decoder->hops < decoder->hops_max) {
        const uint32_t hops = decoder->hops_max - decoder->hops;
        const ptrdiff_t most = hops < STRETCH ? (ptrdiff_t)hops : STRETCH;
        struct tw_element *const limit = end - out > most ? out + most : end;
        const struct tw_element *const first = out;

        while (count > 1 && out < limit) {
            const struct tw_block *block = &blocks[at];
            const uint32_t branches = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
            /* A jump's two links are the same: where to go does not wait for the flags. */
            const uint32_t next = block->next[~map & 1];
            const uint32_t taken = (~(uint32_t)map & 1) | (branches ^ 1);

            if (TW_UNLIKELY(!tw_block_is_plain(next))) {
                goes_on = false;
                break;
            }
            tw_follow_emit(out++, block, taken, index);
            map >>= branches;
            count -= branches;
            at = next;
        }
        decoder->hops = hops_after(decoder->hops, first, out);
    }
    if (out == stage->out)
        return;
    if (TW_UNLIKELY(decoder->tie.is_on))
        for (const struct tw_element *range = stage->out; range != out; range++)
            tw_etrace_tie_range(stage, range);
    decoder->steps += (uint32_t)(out - stage->out);
    stage->out = out;
    decoder->map = map;
    decoder->count = count;
    decoder->has_left = true;
    tw_etrace_enter(stage, at, blocks[at].start);
    if (count > 1)
        tw_etrace_run_to_end(stage);
}

/* Whole steps that are known, while outcomes are left for another one; how many blocks were passed. */
TW_INLINE uint32_t count_steps(struct tw_blocks *blocks, uint32_t *at, uint64_t *map,
                               uint32_t *count)
{
    struct tw_step_sum *const steps = blocks->steps;
    const size_t room = blocks->step_room;
    uint64_t outcomes = *map;
    uint32_t here = *at, left = *count, passed = 0;

    do {
        const uint32_t number =
            tw_step_number(here, tw_step_word(~outcomes, TW_STEP_DECISIONS));
        uint32_t to;

        if (TW_UNLIKELY(number >= room))
            break;
        to = steps[number].to;
        if (TW_UNLIKELY(to < TW_BLOCK_FIRST))
            break;
        if (TW_UNLIKELY(++steps[number].times <= 1))
            tw_sums_list_step(blocks, number);
        here = tw_step_block(to);
        passed += tw_step_passed(to);
        outcomes >>= TW_STEP_DECISIONS;
        left -= TW_STEP_DECISIONS;
    } while (left > TW_STEP_DECISIONS);
    *at = here;
    *map = outcomes;
    *count = left;
    return passed;
}

/* The same, counted.  The first block is written: it may be where a jump led that was written too. */
static void count_plain(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_blocks *const blocks = stage->follow->blocks;
    const struct tw_block *block = &blocks->blocks[decoder->place.at];
    const uint32_t branches = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
    const uint32_t taken = (~(uint32_t)decoder->map & 1) | (branches ^ 1);
    uint32_t at = block->next[taken], hops = branches ? 0 : decoder->hops + 1;
    uint32_t count = decoder->count - branches, steps = 1;
    uint64_t map = decoder->map >> branches;

    if (!tw_block_is_plain(at) || hops > decoder->hops_max)
        return;
    stage->follow->sums->jumps_are_free = true;
    tw_follow_emit(stage->out++, block, taken, stage->index);
    while (count > 1 && hops + TW_STEP_BLOCKS < decoder->hops_max) {
        const uint32_t passed =
            count > TW_STEP_DECISIONS ? count_steps(blocks, &at, &map, &count) : 0;
        uint32_t to;
        unsigned now;

        if (TW_LIKELY(passed)) {
            steps += passed;
            hops = 0;
            continue;
        }
        now = count > TW_STEP_DECISIONS ? TW_STEP_DECISIONS : count - 1;
        to = tw_sums_step(blocks, tw_step_number(at, tw_step_word(~map, now)));
        if (to >= TW_BLOCK_FIRST) {
            at = tw_step_block(to);
            map >>= now;
            count -= now;
            steps += tw_step_passed(to);
            hops = 0;
        } else {
            const uint32_t decides = blocks->blocks[at].flags >> 1 & 1;
            const uint32_t way = (~(uint32_t)map & 1) | (decides ^ 1);
            const uint32_t next = blocks->blocks[at].next[way];

            if (!tw_block_is_plain(next))
                break;
            tw_sums_go(blocks, at * 2 + way);
            at = next;
            map >>= decides;
            count -= decides;
            steps++;
            hops = decides ? 0 : hops + 1;
        }
    }
    decoder->hops = hops;
    decoder->steps += steps;
    decoder->map = map;
    decoder->count = count;
    decoder->has_left = true;
    tw_etrace_enter(stage, at, blocks->blocks[at].start);
    if (count > 1)
        tw_etrace_run_to_end(stage);
}

static bool is_plain_sailing(const struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;

    return decoder->count > 1 && decoder->place.from_count == 0 && !decoder->predicted &&
           tw_block_is_plain(decoder->place.at) &&
           !(decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION);
}

enum tw_etrace_walk tw_etrace_walk(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_goal *goal = &decoder->goal;
    enum tw_etrace_walk how;

    if (decoder->loop.is_due && !tw_etrace_look_for_loop(stage))
        return TW_ETRACE_WALK_FULL;
    for (;;) {
        const struct tw_block *block = tw_etrace_block(stage);

        if (place->done_count < block->count) {
            if (goal->address - place->done < tw_etrace_block_end(block) - place->done &&
                !goal->to_branch && stops_here(stage))
                return TW_ETRACE_WALK_ADDRESS;
            tw_etrace_run_to_end(stage);
            if (goal->to_branch && tw_etrace_is_conditional(block) &&
                tw_etrace_outcomes(decoder) == 1 && tw_block_is_plain(place->at))
                return TW_ETRACE_WALK_BRANCH;
        }
        if (is_plain_sailing(stage)) {
            if (stage->follow->sums && stage->limit - stage->out > TW_ETRACE_MOST)
                count_plain(stage);
            else
                leave_plain(stage);
            if (decoder->count <= 1 || place->done_count < tw_etrace_block(stage)->count)
                continue;
        }
        if (stage->limit - stage->out < TW_ETRACE_MOST)
            return TW_ETRACE_WALK_FULL;
        how = leave(stage);
        if (how != TW_ETRACE_WALK_ON)
            return how;
        if (TW_UNLIKELY(decoder->loop.is_wanted) && !tw_etrace_look_for_loop(stage))
            return TW_ETRACE_WALK_FULL;
    }
}

/* The block after this one, as far as it needs no address and no return stack; 0: it does. */
static uint32_t look_ahead(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block *block = tw_etrace_block(stage);
    const struct tw_block_more *more = tw_etrace_more(stage);
    const uint32_t from = decoder->place.at;
    unsigned taken = 1;

    if (tw_etrace_is_conditional(block)) {
        taken = !(decoder->map & 1);
        decoder->map >>= 1;
        decoder->count--;
    } else if (more->is_indirect ||
               (more->is_link && (decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN))) {
        return 0;
    }
    if (block->next[taken] >= TW_BLOCK_FIRST)
        return block->next[taken];
    if (block->next[taken] != TW_NEXT_UNKNOWN)
        return tw_blocks_target(stage->follow->blocks, from);
    return tw_etrace_is_conditional(block) ? tw_blocks_link(stage->follow->blocks, from, taken)
                                           : link_jump(stage, from);
}

enum { HOPS_AHEAD = 4096 }; /* without returns */

bool tw_etrace_reaches(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_place saved = *place;
    const uint64_t map = decoder->map, address = decoder->goal.address;
    const uint32_t count = decoder->count;
    uint32_t hops = 0;
    bool may_reach = true;

    for (;; hops++) {
        const struct tw_block *block = tw_etrace_block(stage);
        uint32_t next;

        if (place->done_count < block->count) {
            if (address - place->done < tw_etrace_block_end(block) - place->done &&
                stops_here(stage))
                break;
            tw_etrace_run_to_end(stage);
        }
        if (place->at & TW_BLOCK_BROKEN)
            break;
        if ((tw_etrace_is_conditional(block) && decoder->count == 0) || hops > HOPS_AHEAD) {
            may_reach = false;
            break;
        }
        next = look_ahead(stage);
        if (!next)
            break;
        tw_etrace_enter(stage, next,
                        stage->follow->blocks->blocks[next & ~TW_BLOCK_BROKEN].start);
    }
    decoder->map = map;
    decoder->count = count;
    *place = saved;
    if (decoder->epoch != stage->follow->code->epoch) {
        decoder->epoch = stage->follow->code->epoch;
        place->at = decoder->sure.at =
            tw_blocks_find(stage->follow->blocks, place->start, decoder->isa, 0);
    }
    return may_reach;
}
