/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the program is: the return stack, and what was executed. */
#include "etrace/place.h"

/* Bytes of the instruction at an address; 0: it is not there. */
unsigned tw_etrace_size_at(struct tw_stage *stage, uint64_t address)
{
    uint32_t opcode;
    uint8_t size;

    return tw_code_opcode(stage->follow->blocks, &opcode, &size, address,
                          tw_etrace_of(stage)->isa)
               ? size
               : 0;
}

/* Calls and returns. */

void tw_etrace_push_return(struct tw_etrace_decoder *decoder, uint64_t address)
{
    if (!decoder->returns_max)
        return;
    decoder->return_top = (decoder->return_top + 1) & (decoder->returns_max - 1);
    decoder->returns[decoder->return_top] = address;
    if (decoder->return_depth < decoder->returns_max)
        decoder->return_depth++;
    else
        decoder->loop.has_lost = true; /* the oldest */
}

uint64_t tw_etrace_pop_return(struct tw_etrace_decoder *decoder)
{
    const uint64_t address = decoder->returns[decoder->return_top];

    decoder->return_top = (decoder->return_top - 1) & (decoder->returns_max - 1);
    decoder->return_depth--;
    if (decoder->return_depth < decoder->loop.least_depth)
        decoder->loop.least_depth = decoder->return_depth;
    return address;
}

/* Places. */

/* The first instruction of the block that was entered is executed. */
void tw_etrace_execute_first(struct tw_stage *stage)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;

    if (tw_etrace_block(stage)->count == 1) {
        tw_etrace_run_to_end(stage);
        return;
    }
    place->is_first = true;
    place->pc = place->start;
}

/* Counts the first instruction, now that it matters. */
void tw_etrace_settle(struct tw_stage *stage)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;

    if (!place->is_first)
        return;
    place->is_first = false;
    place->done += tw_etrace_size_at(stage, place->done);
    place->done_count++;
}

static struct tw_element *emit_part(struct tw_stage *stage, uint64_t until, uint32_t count)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;
    struct tw_element *out = stage->out++;

    *out = (struct tw_element){ .index = stage->index,
                                .type = TW_ELEMENT_INSTR_RANGE,
                                .isa = tw_etrace_of(stage)->isa,
                                .flags = TW_RANGE_EXECUTED,
                                .start = place->from,
                                .length = (uint32_t)(until - place->from),
                                .count = count - place->from_count };
    place->from = until;
    place->from_count = count;
    if (TW_UNLIKELY(tw_etrace_of(stage)->tie.is_on))
        tw_etrace_tie_range(stage, out);
    return out;
}

void tw_etrace_emit_other_rest(struct tw_stage *stage, bool is_taken)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;
    const struct tw_block *block = tw_etrace_block(stage);
    struct tw_element *out;

    if (block->count == 0)
        return;
    if (place->from_count == 0) {
        tw_follow_emit(stage->out++, block, is_taken, stage->index);
        tw_etrace_tie_range(stage, stage->out - 1);
        place->from = tw_etrace_block_end(block);
        place->from_count = block->count;
    } else if (place->from_count < block->count) {
        out = emit_part(stage, tw_etrace_block_end(block), block->count);
        out->last = block->last;
        out->flags = (uint8_t)(block->flags | (is_taken ? TW_RANGE_EXECUTED : 0));
    }
}

void tw_etrace_flush(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_place *place = &decoder->place;

    if (!place->at)
        return;
    tw_etrace_settle(stage);
    if (place->done_count == place->from_count)
        return;
    if (tw_etrace_is_at_end(stage)) {
        const bool is_known = tw_etrace_outcomes(decoder) > 0;

        tw_etrace_emit_rest(stage,
                            !tw_etrace_is_conditional(tw_etrace_block(stage)) ||
                                (is_known && tw_etrace_peek_outcome(decoder, place->pc)));
    } else {
        emit_part(stage, place->done, place->done_count)->last_size =
            (unsigned)(place->done - place->pc) / 2 & 3u;
    }
}

void tw_etrace_flush_before(struct tw_stage *stage)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;
    struct tw_block_place found;

    if (!place->at || place->from == place->pc)
        return;
    tw_etrace_settle(stage);
    (void)tw_block_locate(stage->follow->blocks, place->at, place->pc, &found);
    emit_part(stage, place->pc, place->done_count - 1)->last_size =
        (unsigned)(place->pc - found.before) / 2 & 3u;
}

void tw_etrace_skip(struct tw_stage *stage)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;

    tw_etrace_settle(stage);
    place->from = place->done;
    place->from_count = place->done_count;
}

/* The block at an address; 0: memory is out. */
uint32_t tw_etrace_find(struct tw_stage *stage, uint64_t address)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const uint32_t at = tw_blocks_find(stage->follow->blocks, address, decoder->isa, 0);

    if (TW_UNLIKELY(decoder->epoch != stage->follow->code->epoch)) { /* there were too many */
        decoder->epoch = stage->follow->code->epoch;
        if (decoder->place.at)
            decoder->place.at =
                tw_blocks_find(stage->follow->blocks, decoder->place.start, decoder->isa, 0);
        if (decoder->sure.start == decoder->place.start)
            decoder->sure.at = decoder->place.at;
    }
    return at;
}

void tw_etrace_emit_missing(struct tw_stage *stage, uint64_t address)
{
    *stage->out++ = (struct tw_element){ .index = stage->index,
                                         .type = TW_ELEMENT_ADDR_NACC,
                                         .address = address,
                                         .space = TW_SPACE_ANY };
    tw_etrace_of(stage)->place.at = 0;
    tw_etrace_untie(stage->decoder);
}

bool tw_etrace_place_at(struct tw_stage *stage, uint64_t address)
{
    const uint32_t at = tw_etrace_find(stage, address);

    tw_etrace_of(stage)->hops = 0;
    if (!at) {
        tw_etrace_of(stage)->place.at = 0;
        return false;
    }
    tw_etrace_enter(stage, at, address);
    if (tw_etrace_block(stage)->count == 0) {
        tw_etrace_emit_missing(stage, address);
        return false;
    }
    tw_etrace_execute_first(stage);
    return true;
}

bool tw_etrace_is_branch(struct tw_stage *stage, uint64_t address)
{
    const uint32_t at = tw_etrace_find(stage, address);
    const struct tw_block *block = &stage->follow->blocks->blocks[at & ~TW_BLOCK_BROKEN];

    return tw_block_is_plain(at) && block->count == 1 && tw_etrace_is_conditional(block);
}

bool tw_etrace_successor(struct tw_stage *stage, uint64_t *address)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_block *block;
    const struct tw_block_more *more;

    if (!decoder->place.at)
        return false;
    tw_etrace_settle(stage);
    block = tw_etrace_block(stage);
    more = tw_etrace_more(stage);
    *address = decoder->place.done;
    if (!tw_etrace_is_at_end(stage))
        return true;
    if (decoder->place.at & TW_BLOCK_BROKEN)
        return more->end == TW_BLOCK_UNREADABLE;
    if (tw_etrace_is_conditional(block)) {
        if (tw_etrace_outcomes(decoder) == 0)
            return false;
        if (tw_etrace_peek_outcome(decoder, decoder->place.pc))
            *address = more->target;
        return true;
    }
    if (!more->is_indirect || tw_etrace_is_sequential(decoder, more)) {
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

bool tw_etrace_raised(struct tw_stage *stage, uint64_t cause)
{
    uint32_t opcode;
    uint8_t size;

    if (!tw_etrace_of(stage)->place.at ||
        !tw_code_opcode(stage->follow->blocks, &opcode, &size, tw_etrace_of(stage)->place.pc,
                        tw_etrace_of(stage)->isa))
        return false;
    if (opcode == 0x00000073) /* ecall, from any privilege */
        return cause >= 8 && cause <= 11;
    return cause == 3 && (opcode == 0x00100073 || opcode == 0x9002);
}
