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
    found.count = place->done_count; /* mostly it is the next instruction */
    if (goal->address != place->done &&
        (goal->address < place->done ||
         !tw_block_locate(stage->follow->blocks, place->at, goal->address, &found)))
        return false;
    place->pc = goal->address;
    place->done = place->pc + (place->pc == last ? tw_etrace_last_size(block)
                                                 : tw_etrace_size_at(stage, place->pc));
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

/* Follows a jump for the first time.  Both its links are set: see plain.c. */
static uint32_t link_jump(struct tw_stage *stage, uint32_t from)
{
    struct tw_blocks *blocks = stage->follow->blocks;
    const uint64_t epoch = stage->follow->code->epoch;
    const uint32_t next = tw_blocks_link(blocks, from, 1);

    if (epoch == stage->follow->code->epoch)
        blocks->links[2 * from] = next;
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
        next = stage->follow->blocks->links[2 * from + 1];
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
        next = stage->follow->blocks->links[2 * from + is_taken];
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

/* On the way to a second visit a return is not what the calls before tell (tw_etrace_is_last_return). */
static bool is_plain_sailing(const struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;

    return decoder->count > 1 && decoder->place.from_count == 0 && !decoder->predicted &&
           decoder->phase != TW_ETRACE_SECOND_VISIT && tw_block_is_plain(decoder->place.at) &&
           !(stage->follow->sums && /* what is counted learns nothing */
             (decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION));
}

/* The same where branches go as predicted, and ranges are written. */
static bool is_predicted_sailing(const struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;

    return decoder->predicted && !decoder->count && tw_etrace_outcomes(decoder) > 1 &&
           decoder->place.from_count == 0 && tw_block_is_plain(decoder->place.at) &&
           !decoder->loop.is_wanted && !decoder->tie.is_on && !stage->follow->sums;
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
            tw_etrace_pass_outcomes(stage);
            if (decoder->count <= 1 || place->done_count < tw_etrace_block(stage)->count)
                continue;
        } else if (is_predicted_sailing(stage)) {
            tw_etrace_pass_predicted(stage);
            if (place->done_count < tw_etrace_block(stage)->count)
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
    uint32_t next;

    if (tw_etrace_is_conditional(block)) {
        taken = !(decoder->map & 1);
        decoder->map >>= 1;
        decoder->count--;
    } else if (more->is_indirect ||
               (more->is_link && (decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN))) {
        return 0;
    }
    next = stage->follow->blocks->links[2 * from + taken];
    if (next >= TW_BLOCK_FIRST)
        return next;
    if (next != TW_NEXT_UNKNOWN)
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
