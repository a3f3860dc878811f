/* SPDX-License-Identifier: BSD-2-Clause */
/* What place.c and walk.c share: the block that the program is in, and its outcomes. */
#ifndef ETRACE_PLACE_H
#define ETRACE_PLACE_H

#include "etrace/decode.h"

TW_INLINE const struct tw_block *tw_etrace_block(const struct tw_stage *stage)
{
    return &stage->follow->blocks->blocks[tw_etrace_of(stage)->place.at & ~TW_BLOCK_BROKEN];
}

TW_INLINE struct tw_block_more *tw_etrace_more(const struct tw_stage *stage)
{
    return &stage->follow->blocks->more[tw_etrace_of(stage)->place.at & ~TW_BLOCK_BROKEN];
}

TW_INLINE uint64_t tw_etrace_block_end(const struct tw_block *block)
{
    return block->start + block->length;
}

TW_INLINE unsigned tw_etrace_last_size(const struct tw_block *block)
{
    struct tw_element shape;

    shape.last = block->last;
    return 2u * shape.last_size;
}

/* Of a block's last instruction. */
TW_INLINE uint64_t tw_etrace_last_pc(const struct tw_block *block)
{
    return tw_etrace_block_end(block) - tw_etrace_last_size(block);
}

TW_INLINE bool tw_etrace_is_conditional(const struct tw_block *block)
{
    return block->flags & TW_RANGE_CONDITIONAL;
}

/* 3.2.6: the upper bit of the two is the prediction, the lower one the last outcome. */
TW_INLINE uint8_t *tw_etrace_prediction(struct tw_etrace_decoder *decoder, uint64_t address)
{
    const uint32_t mask = (1u << decoder->codec.shape.bpred_size) - 1;

    return &decoder->predictor[(uint32_t)(address >> decoder->codec.shape.lsb) & mask];
}

/* What becomes of one. */
TW_INLINE uint8_t tw_etrace_learnt(uint8_t before, unsigned is_taken)
{
    static const uint8_t next[4][2] = { { 0, 1 }, { 0, 3 }, { 0, 3 }, { 2, 3 } };

    return next[before & 3][is_taken];
}

TW_INLINE void tw_etrace_learn(struct tw_etrace_decoder *decoder, uint64_t address,
                               unsigned is_taken)
{
    uint8_t *state = tw_etrace_prediction(decoder, address);
    const uint8_t before = *state;

    *state = tw_etrace_learnt(before, is_taken);
    decoder->learned += *state != before;
}

/* Blocks left since the last outcome, which these ranges may tell. */
TW_INLINE uint32_t tw_etrace_hops_after(uint32_t hops, const struct tw_element *first,
                                        const struct tw_element *end)
{
    const struct tw_element *at = end;

    while (at > first && !(at[-1].flags & TW_RANGE_CONDITIONAL))
        at--;
    return (uint32_t)(end - at) + (at == first ? hops : 0);
}

/* The goal's address can only be this return's target: no outcome is left but that of a branch
   there.  On the way to a second visit the outcomes are those of the next packet. */
static inline bool tw_etrace_is_last_return(struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    const uint64_t left = tw_etrace_outcomes(decoder);

    return decoder->phase == TW_ETRACE_SECOND_VISIT || left == 0 ||
           (left == 1 && tw_etrace_is_branch(stage, decoder->goal.address));
}

/* The depth that a packet gives is the current one (chapter 11).  A full counter, which does not fit
   its field, is never given: the depth is told only where a return has made it less. */
TW_INLINE bool tw_etrace_is_at_depth(const struct tw_etrace_decoder *decoder)
{
    return decoder->goal.irdepth == decoder->return_depth;
}

TW_INLINE bool tw_etrace_is_implicit_return(struct tw_stage *stage,
                                            const struct tw_block_more *more)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;

    if (!more->is_return || !(decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN) ||
        decoder->return_depth == 0)
        return false;
    return !(decoder->goal.has_irdepth && !decoder->goal.is_notify &&
             tw_etrace_is_at_depth(decoder) && tw_etrace_is_last_return(stage));
}

TW_INLINE bool tw_etrace_is_sequential(const struct tw_etrace_decoder *decoder,
                                       const struct tw_block_more *more)
{
    return more->is_sequential && (decoder->codec.options & TW_ETRACE_SIJUMP);
}

TW_INLINE void tw_etrace_enter(struct tw_stage *stage, uint32_t at, uint64_t address)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;

    place->at = at;
    place->start = place->from = place->done = address;
    place->from_count = place->done_count = 0;
    place->is_first = false;
}

TW_INLINE void tw_etrace_run_to_end(struct tw_stage *stage)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;
    const struct tw_block *block = tw_etrace_block(stage);

    place->done = tw_etrace_block_end(block);
    place->done_count = block->count;
    place->is_first = false;
    place->pc = place->done - tw_etrace_last_size(block);
}

TW_INLINE bool tw_etrace_is_at_end(const struct tw_stage *stage)
{
    return tw_etrace_of(stage)->place.done_count == tw_etrace_block(stage)->count;
}

/* Bytes of the instruction at an address; 0: it is not there. */
unsigned tw_etrace_size_at(struct tw_stage *stage, uint64_t address);

/* Which way the branch at `address` goes; there must be an outcome.  take uses it up. */
bool tw_etrace_peek_outcome(struct tw_etrace_decoder *decoder, uint64_t address);
bool tw_etrace_take_outcome(struct tw_etrace_decoder *decoder, uint64_t address);

enum {
    TW_ETRACE_WAY = 256
}; /* blocks that are passed at once; jumps alone could go on for ever */
/* Blocks up to the last outcome, of which there is more than one, as far as they are known; all but the last are as
   predicted.  All of the block at the place was executed, and none of it told. */
void tw_etrace_pass_predicted(struct tw_stage *stage);

void tw_etrace_push_return(struct tw_etrace_decoder *decoder, uint64_t address);
uint64_t tw_etrace_pop_return(struct tw_etrace_decoder *decoder);

/* The block at an address; 0: memory is out. */
uint32_t tw_etrace_find(struct tw_stage *stage, uint64_t address);
/* The first instruction of the block that was entered is executed ... */
void tw_etrace_execute_first(struct tw_stage *stage);
/* ... and counted, now that it matters. */
void tw_etrace_settle(struct tw_stage *stage);
/* The same, where some of the block was told before, or loads and stores belong to it. */
void tw_etrace_emit_other_rest(struct tw_stage *stage, bool is_taken);

/* Says what is left of the block, all of which was executed. */
TW_INLINE void tw_etrace_emit_rest(struct tw_stage *stage, bool is_taken)
{
    struct tw_etrace_place *place = &tw_etrace_of(stage)->place;
    const struct tw_block *block = tw_etrace_block(stage);

    if (TW_UNLIKELY(place->from_count || !block->count || tw_etrace_of(stage)->tie.is_on)) {
        tw_etrace_emit_other_rest(stage, is_taken);
        return;
    }
    tw_follow_emit(stage->out++, block, is_taken, stage->index);
    place->from = tw_etrace_block_end(block);
    place->from_count = block->count;
}
void tw_etrace_emit_missing(struct tw_stage *stage, uint64_t address);

#endif
