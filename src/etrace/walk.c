/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves along the program from packet to packet, block by block (E-Trace chapter 11). */
#include "etrace/decode.h"

static const struct tw_block *block_of(const struct tw_etrace_run *run)
{
    return &run->follow->blocks->blocks[run->decoder->place.at & ~TW_BLOCK_BROKEN];
}

static struct tw_block_more *more_of(const struct tw_etrace_run *run)
{
    return &run->follow->blocks->more[run->decoder->place.at & ~TW_BLOCK_BROKEN];
}

static uint64_t end_of(const struct tw_block *block)
{
    return block->start + block->length;
}

static unsigned last_size(const struct tw_block *block)
{
    struct tw_element shape;

    shape.last = block->last;
    return 2u * shape.last_size;
}

static bool is_conditional(const struct tw_block *block)
{
    return block->flags & TW_RANGE_CONDITIONAL;
}

/* Bytes of the instruction at an address; 0: it is not there. */
static unsigned size_at(struct tw_etrace_run *run, uint64_t address)
{
    uint32_t opcode;
    uint8_t size;

    return tw_code_opcode(run->follow->blocks, &opcode, &size, address, run->decoder->isa)
               ? size
               : 0;
}

/* Outcomes. */

uint64_t tw_etrace_outcomes(const struct tw_etrace_decoder *decoder)
{
    return decoder->count + decoder->predicted + (decoder->is_missed ? 1 : 0);
}

void tw_etrace_drop_outcomes(struct tw_etrace_decoder *decoder)
{
    decoder->map = 0;
    decoder->count = 0;
    decoder->predicted = 0;
    decoder->is_missed = false;
}

void tw_etrace_reset_predictor(struct tw_etrace_decoder *decoder)
{
    memset(decoder->predictor, 1, (size_t)1 << decoder->codec.shape.bpred_size);
}

/* 3.2.6: the upper bit of the two is the prediction, the lower one the last outcome. */
static uint8_t *prediction(struct tw_etrace_decoder *decoder, uint64_t address)
{
    const uint64_t mask = ((uint64_t)1 << decoder->codec.shape.bpred_size) - 1;

    return &decoder->predictor[address >> decoder->codec.shape.lsb & mask];
}

static void learn(struct tw_etrace_decoder *decoder, uint64_t address, bool is_taken)
{
    static const uint8_t next[4][2] = { { 0, 1 }, { 0, 3 }, { 0, 3 }, { 2, 3 } };
    uint8_t *state = prediction(decoder, address);

    *state = next[*state & 3][is_taken];
}

/* The branch at `address` goes which way?  There must be an outcome. */
static bool peek_outcome(struct tw_etrace_decoder *decoder, uint64_t address)
{
    if (decoder->count)
        return !(decoder->map & 1);
    return (*prediction(decoder, address) >> 1 & 1) == (decoder->predicted ? 1 : 0);
}

static bool take_outcome(struct tw_etrace_decoder *decoder, uint64_t address)
{
    const bool is_taken = peek_outcome(decoder, address);

    if (decoder->count) {
        decoder->map >>= 1;
        decoder->count--;
    } else if (decoder->predicted) {
        decoder->predicted--;
    } else {
        decoder->is_missed = false;
    }
    if (decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION)
        learn(decoder, address, is_taken);
    return is_taken;
}

void tw_etrace_settle_outcomes(struct tw_etrace_decoder *decoder)
{
    bool is_taken;

    if (decoder->count || tw_etrace_outcomes(decoder) != 1)
        return;
    is_taken = peek_outcome(decoder, decoder->place.pc);
    tw_etrace_drop_outcomes(decoder);
    decoder->map = !is_taken;
    decoder->count = 1;
}

/* Calls and returns. */

static void push_return(struct tw_etrace_decoder *decoder, uint64_t address)
{
    if (!decoder->returns_max)
        return;
    decoder->return_top = (decoder->return_top + 1) & (decoder->returns_max - 1);
    decoder->returns[decoder->return_top] = address;
    if (decoder->return_depth < decoder->returns_max) /* else the oldest is gone */
        decoder->return_depth++;
}

static uint64_t pop_return(struct tw_etrace_decoder *decoder)
{
    const uint64_t address = decoder->returns[decoder->return_top];

    decoder->return_top = (decoder->return_top - 1) & (decoder->returns_max - 1);
    decoder->return_depth--;
    return address;
}

static bool is_implicit_return(const struct tw_etrace_decoder *decoder,
                               const struct tw_block_more *more)
{
    return more->is_return && (decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN) &&
           decoder->return_depth > 0 &&
           !(decoder->goal.has_irdepth && decoder->goal.irdepth == decoder->return_depth);
}

static bool is_sequential(const struct tw_etrace_decoder *decoder,
                          const struct tw_block_more *more)
{
    return more->is_sequential && (decoder->codec.options & TW_ETRACE_SIJUMP);
}

/* Places. */

static void enter(struct tw_etrace_run *run, uint32_t at, uint64_t address)
{
    struct tw_etrace_place *place = &run->decoder->place;

    place->at = at;
    place->start = place->from = place->done = address;
    place->from_count = place->done_count = 0;
    place->is_first = false;
}

static void run_to_end(struct tw_etrace_run *run)
{
    struct tw_etrace_place *place = &run->decoder->place;
    const struct tw_block *block = block_of(run);

    place->done = end_of(block);
    place->done_count = block->count;
    place->is_first = false;
    place->pc = place->done - last_size(block);
}

/* The first instruction of the block that was entered is executed. */
static void execute_first(struct tw_etrace_run *run)
{
    struct tw_etrace_place *place = &run->decoder->place;

    if (block_of(run)->count == 1) {
        run_to_end(run);
        return;
    }
    place->is_first = true;
    place->pc = place->start;
}

/* Counts the first instruction, now that it matters. */
static void settle(struct tw_etrace_run *run)
{
    struct tw_etrace_place *place = &run->decoder->place;

    if (!place->is_first)
        return;
    place->is_first = false;
    place->done += size_at(run, place->done);
    place->done_count++;
}

static bool is_at_end(const struct tw_etrace_run *run)
{
    return run->decoder->place.done_count == block_of(run)->count;
}

static struct tw_element *emit_part(struct tw_etrace_run *run, uint64_t until, uint32_t count)
{
    struct tw_etrace_place *place = &run->decoder->place;
    struct tw_element *out = run->out++;

    *out = (struct tw_element){ .index = run->index,
                                .type = TW_ELEMENT_INSTR_RANGE,
                                .isa = run->decoder->isa,
                                .flags = TW_RANGE_EXECUTED,
                                .start = place->from,
                                .length = (uint32_t)(until - place->from),
                                .count = count - place->from_count };
    place->from = until;
    place->from_count = count;
    return out;
}

/* What is left of the block, all of which was executed. */
static void emit_rest(struct tw_etrace_run *run, bool is_taken)
{
    struct tw_etrace_place *place = &run->decoder->place;
    const struct tw_block *block = block_of(run);
    struct tw_element *out;

    if (block->count == 0)
        return;
    if (place->from_count == 0) {
        tw_follow_emit(run->out++, block, is_taken, run->index);
        place->from = end_of(block);
        place->from_count = block->count;
    } else if (place->from_count < block->count) {
        out = emit_part(run, end_of(block), block->count);
        out->last = block->last;
        out->flags = (uint8_t)(block->flags | (is_taken ? TW_RANGE_EXECUTED : 0));
    }
}

void tw_etrace_flush(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    struct tw_etrace_place *place = &decoder->place;

    if (!place->at)
        return;
    settle(run);
    if (place->done_count == place->from_count)
        return;
    if (is_at_end(run)) {
        const bool is_known = tw_etrace_outcomes(decoder) > 0;

        emit_rest(run, !is_conditional(block_of(run)) ||
                           (is_known && peek_outcome(decoder, place->pc)));
    } else {
        emit_part(run, place->done, place->done_count)->last_size =
            (unsigned)(place->done - place->pc) / 2 & 3u;
    }
}

void tw_etrace_flush_before(struct tw_etrace_run *run)
{
    struct tw_etrace_place *place = &run->decoder->place;
    uint64_t last = place->from;

    if (!place->at || place->from == place->pc)
        return;
    settle(run);
    /* The last instruction of the part is not known: the walk came here by its sizes. */
    for (uint32_t i = place->from_count + 2; i < place->done_count; i++)
        last += size_at(run, last);
    emit_part(run, place->pc, place->done_count - 1)->last_size =
        (unsigned)(place->pc - last) / 2 & 3u;
}

void tw_etrace_skip(struct tw_etrace_run *run)
{
    struct tw_etrace_place *place = &run->decoder->place;

    settle(run);
    place->from = place->done;
    place->from_count = place->done_count;
}

/* The block at an address; 0: memory is out. */
static uint32_t find(struct tw_etrace_run *run, uint64_t address)
{
    const uint32_t at = tw_blocks_find(run->follow->blocks, address, run->decoder->isa, 0);

    run->decoder->epoch = run->follow->code->epoch;
    return at;
}

static void emit_missing(struct tw_etrace_run *run, uint64_t address)
{
    *run->out++ = (struct tw_element){ .index = run->index,
                                       .type = TW_ELEMENT_ADDR_NACC,
                                       .address = address,
                                       .space = TW_SPACE_ANY };
    run->decoder->place.at = 0;
}

bool tw_etrace_place_at(struct tw_etrace_run *run, uint64_t address)
{
    const uint32_t at = find(run, address);

    run->decoder->hops = 0;
    if (!at) {
        run->decoder->place.at = 0;
        return false;
    }
    enter(run, at, address);
    if (block_of(run)->count == 0) {
        emit_missing(run, address);
        return false;
    }
    execute_first(run);
    return true;
}

bool tw_etrace_is_branch(struct tw_etrace_run *run, uint64_t address)
{
    const uint32_t at = find(run, address);
    const struct tw_block *block = &run->follow->blocks->blocks[at & ~TW_BLOCK_BROKEN];

    return tw_block_is_plain(at) && block->count == 1 && is_conditional(block);
}

bool tw_etrace_successor(struct tw_etrace_run *run, uint64_t *address)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    const struct tw_block *block;
    const struct tw_block_more *more;

    if (!decoder->place.at)
        return false;
    settle(run);
    block = block_of(run);
    more = more_of(run);
    *address = decoder->place.done;
    if (!is_at_end(run))
        return true;
    if (decoder->place.at & TW_BLOCK_BROKEN)
        return more->end == TW_BLOCK_UNREADABLE;
    if (is_conditional(block)) {
        if (tw_etrace_outcomes(decoder) == 0)
            return false;
        if (peek_outcome(decoder, decoder->place.pc))
            *address = more->target;
        return true;
    }
    if (!more->is_indirect || is_sequential(decoder, more)) {
        *address = more->target;
        return true;
    }
    /* An irdepth of the last packet told how to get here, not where to go next. */
    if (!more->is_return || !(decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN) ||
        decoder->return_depth == 0)
        return false;
    *address = decoder->returns[decoder->return_top];
    return true;
}

bool tw_etrace_raised(struct tw_etrace_run *run, unsigned cause)
{
    uint32_t opcode;
    uint8_t size;

    if (!run->decoder->place.at || !tw_code_opcode(run->follow->blocks, &opcode, &size,
                                                   run->decoder->place.pc, run->decoder->isa))
        return false;
    if (opcode == 0x00000073) /* ecall, from any privilege */
        return cause >= 8 && cause <= 11;
    return cause == 3 && (opcode == 0x00100073 || opcode == 0x9002);
}

/* Walking. */

static enum tw_etrace_walk wrong(struct tw_etrace_run *run, uint8_t code)
{
    run->decoder->error = code;
    run->decoder->error_detail = run->decoder->place.pc;
    return TW_ETRACE_WALK_ERROR;
}

/* The walk may end at the goal's address in what is left of this block. */
static bool stops_here(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_goal *goal = &decoder->goal;
    const struct tw_block *block = block_of(run);
    const uint64_t last = end_of(block) - last_size(block);
    const bool is_branch = goal->address == last && is_conditional(block);
    uint64_t at;
    uint32_t count;

    if (tw_etrace_outcomes(decoder) != (is_branch ? 1 : 0) || goal->report_only)
        return false;
    if (goal->has_irdepth && !goal->is_notify && goal->irdepth != decoder->return_depth)
        return false;
    if (goal->is_sync && decoder->packet.privilege != decoder->privilege)
        return false; /* only a trap return leads there, and that reports its target */
    settle(run);
    if (goal->address < place->done)
        return false;
    for (at = place->done, count = place->done_count; at < goal->address; count++) {
        const unsigned size = size_at(run, at);

        if (!size)
            return false;
        at += size;
    }
    if (at != goal->address)
        return false;
    place->pc = at;
    place->done = at + size_at(run, at);
    place->done_count = count + 1;
    return true;
}

static enum tw_etrace_walk go_missing(struct tw_etrace_run *run)
{
    const struct tw_block_more *more = more_of(run);
    const uint64_t address = end_of(block_of(run));

    if (more->end != TW_BLOCK_UNREADABLE)
        return wrong(run, more->end == TW_BLOCK_RUNAWAY ? TW_ERROR_RANGE_LIMIT
                                                        : TW_ERROR_BAD_OPCODE);
    emit_rest(run, true);
    emit_missing(run, address);
    return TW_ETRACE_WALK_MISSING;
}

/* Where an indirect jump was reported to go; the block remembers the last such place. */
static uint32_t find_reported(struct tw_etrace_run *run, uint64_t address)
{
    struct tw_block_more *more = more_of(run);
    const uint64_t epoch = run->follow->code->epoch;
    uint32_t found = more->taken;

    if (found && run->follow->blocks->blocks[found & ~TW_BLOCK_BROKEN].start == address)
        return found;
    found = find(run, address);
    if (found && epoch == run->follow->code->epoch && !more_of(run)->is_sequential)
        more_of(run)->taken = found;
    return found;
}

/* Where an unconditional jump goes. */
static uint32_t jump_target(struct tw_etrace_run *run, bool *is_reported)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    const struct tw_block *block = block_of(run);
    const struct tw_block_more *more = more_of(run);
    const bool links = more->is_link && (decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN);
    const uint64_t link = end_of(block);
    const uint32_t from = decoder->place.at;
    uint32_t next;

    *is_reported = false;
    if (!more->is_indirect) {
        next = block->next[1] >= TW_BLOCK_FIRST ? block->next[1]
               : block->next[1] == TW_NEXT_UNKNOWN
                   ? tw_blocks_link(run->follow->blocks, from, 1)
                   : tw_blocks_target(run->follow->blocks, from);
    } else if (is_sequential(decoder, more)) {
        next = tw_blocks_target(run->follow->blocks, from);
    } else if (is_implicit_return(decoder, more)) {
        next = find(run, pop_return(decoder));
    } else {
        *is_reported = true;
        decoder->hops = 0;
        next = find_reported(run, decoder->goal.address);
    }
    if (links)
        push_return(decoder, link);
    return next;
}

/* Goes from the end of a block to the next one. */
static enum tw_etrace_walk leave(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    const struct tw_block *block = block_of(run);
    const uint32_t from = decoder->place.at;
    bool is_taken = true, is_reported = false;
    uint32_t next;

    if (from & TW_BLOCK_BROKEN)
        return go_missing(run);
    if (is_conditional(block)) {
        if (tw_etrace_outcomes(decoder) == 0)
            return wrong(run, TW_ERROR_IMAGE_MISMATCH);
        is_taken = take_outcome(decoder, decoder->place.pc);
        decoder->hops = 0;
    } else if (++decoder->hops > decoder->hops_max) {
        return wrong(run, TW_ERROR_RANGE_LIMIT);
    }
    emit_rest(run, is_taken);
    if (is_conditional(block)) {
        next = block->next[is_taken];
        if (next < TW_BLOCK_FIRST)
            next = tw_blocks_link(run->follow->blocks, from, is_taken);
    } else {
        if (decoder->goal.to_branch && more_of(run)->is_indirect &&
            !is_sequential(decoder, more_of(run)) && !is_implicit_return(decoder, more_of(run)))
            return wrong(run, TW_ERROR_IMAGE_MISMATCH);
        next = jump_target(run, &is_reported);
    }
    decoder->epoch = run->follow->code->epoch;
    decoder->has_moved = true;
    if (!next)
        return wrong(run, TW_ERROR_UNSUPPORTED); /* memory is out: the caller sees it */
    enter(run, next, run->follow->blocks->blocks[next & ~TW_BLOCK_BROKEN].start);
    if (!is_reported)
        return TW_ETRACE_WALK_ON;
    if (block_of(run)->count == 0) {
        emit_missing(run, decoder->goal.address);
        return TW_ETRACE_WALK_MISSING;
    }
    execute_first(run);
    return TW_ETRACE_WALK_REPORTED;
}

/* Most of all steps: plain blocks, one outcome or none for each, nothing to compare with, for more
   than one outcome is left. */
static void leave_plain(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    const struct tw_block *const blocks = run->follow->blocks->blocks;
    struct tw_element *out = run->out;
    struct tw_element *const end =
        run->end - out > TW_ETRACE_MOST ? run->end - TW_ETRACE_MOST : out;
    const uint64_t index = run->index;
    uint64_t map = decoder->map;
    uint32_t count = decoder->count, hops = decoder->hops, at = decoder->place.at;
    const uint32_t hops_max = decoder->hops_max;

    while (count > 1 && out < end) {
        const struct tw_block *block = &blocks[at];
        const uint32_t branches = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
        const uint32_t taken = (~(uint32_t)map & 1) | (branches ^ 1);
        const uint32_t next = block->next[taken];

        hops = (hops + 1) & (branches - 1);
        if (TW_UNLIKELY(!tw_block_is_plain(next) || hops > hops_max))
            break;
        tw_follow_emit(out++, block, taken, index);
        map >>= branches;
        count -= branches;
        at = next;
    }
    if (out == run->out)
        return;
    run->out = out;
    decoder->map = map;
    decoder->count = count;
    decoder->hops = hops;
    decoder->has_moved = true;
    enter(run, at, blocks[at].start);
    if (count > 1)
        run_to_end(run);
}

static bool is_plain_sailing(const struct tw_etrace_run *run)
{
    const struct tw_etrace_decoder *decoder = run->decoder;

    return decoder->count > 1 && decoder->place.from_count == 0 && !decoder->predicted &&
           tw_block_is_plain(decoder->place.at) &&
           !(decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION);
}

enum tw_etrace_walk tw_etrace_walk(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_goal *goal = &decoder->goal;
    enum tw_etrace_walk how;

    for (;;) {
        const struct tw_block *block = block_of(run);

        if (place->done_count < block->count) {
            if (goal->address - place->done < end_of(block) - place->done && !goal->to_branch &&
                stops_here(run)) {
                decoder->has_moved = true;
                return TW_ETRACE_WALK_ADDRESS;
            }
            run_to_end(run);
            if (goal->to_branch && is_conditional(block) && tw_etrace_outcomes(decoder) == 1 &&
                tw_block_is_plain(place->at)) {
                decoder->has_moved = true;
                return TW_ETRACE_WALK_BRANCH;
            }
        }
        if (is_plain_sailing(run)) {
            leave_plain(run);
            if (decoder->count <= 1 || place->done_count < block_of(run)->count)
                continue;
        }
        if (run->end - run->out < TW_ETRACE_MOST)
            return TW_ETRACE_WALK_FULL;
        how = leave(run);
        if (how != TW_ETRACE_WALK_ON)
            return how;
    }
}
