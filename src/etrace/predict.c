/* SPDX-License-Identifier: BSD-2-Clause */
/* Outcomes of branches: those of a map, and those that are as predicted, or not. */
#include "etrace/place.h"

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

/* The branch at `address` goes which way?  There must be an outcome. */
bool tw_etrace_peek_outcome(struct tw_etrace_decoder *decoder, uint64_t address)
{
    if (decoder->count)
        return !(decoder->map & 1);
    return (*tw_etrace_prediction(decoder, address) >> 1 & 1) == (decoder->predicted ? 1 : 0);
}

bool tw_etrace_take_outcome(struct tw_etrace_decoder *decoder, uint64_t address)
{
    const bool is_taken = tw_etrace_peek_outcome(decoder, address);

    if (decoder->count) {
        decoder->map >>= 1;
        decoder->count--;
    } else if (decoder->predicted) {
        decoder->predicted--;
    } else {
        decoder->is_missed = false;
    }
    if (decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION)
        tw_etrace_learn(decoder, address, is_taken);
    return is_taken;
}

void tw_etrace_settle_outcomes(struct tw_etrace_decoder *decoder)
{
    bool is_taken;

    if (decoder->count || tw_etrace_outcomes(decoder) != 1)
        return;
    is_taken = tw_etrace_peek_outcome(decoder, decoder->place.pc);
    tw_etrace_drop_outcomes(decoder);
    decoder->map = !is_taken;
    decoder->count = 1;
}

/* A way from block to block, with what it needs at hand. */
struct way {
    struct tw_element *out, *stop;
    uint64_t left; /* outcomes to pass */
    uint32_t at;
};

/* Blocks whose links are known, up to the last of these outcomes, all as predicted. */
static void pass(struct tw_stage *stage, struct way *way)
{
    struct tw_etrace_decoder *const decoder = stage->decoder;
    const struct tw_block *const blocks = stage->follow->blocks->blocks;
    const uint32_t *const links = stage->follow->blocks->links;

    while (way->left && way->out < way->stop) {
        const struct tw_block *block = &blocks[way->at];
        const bool is_branch = tw_etrace_is_conditional(block);
        const uint64_t pc = tw_etrace_last_pc(block);
        const bool is_taken = !is_branch || *tw_etrace_prediction(decoder, pc) & 2;
        const uint32_t next = links[2 * way->at + is_taken];

        if (TW_UNLIKELY(!tw_block_is_plain(next)))
            break;
        if (is_branch)
            tw_etrace_learn(decoder, pc, is_taken);
        tw_follow_emit(way->out++, block, is_taken, stage->index);
        way->left -= is_branch;
        way->at = next;
    }
}

void tw_etrace_pass_predicted(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_element *const first = stage->out;
    const ptrdiff_t room = stage->limit - stage->out - TW_ETRACE_MOST;
    const ptrdiff_t most = room < TW_ETRACE_WAY ? room : TW_ETRACE_WAY;
    /* The last outcome is left: what comes behind it depends on the packet. */
    const uint64_t all = decoder->predicted - (decoder->is_missed ? 0 : 1);
    struct way way = { .out = first,
                       .stop = first + (most > 0 ? most : 0),
                       .left = all,
                       .at = decoder->place.at };

    if (decoder->hops >= TW_ETRACE_WAY || decoder->steps_max - decoder->steps < TW_ETRACE_WAY)
        return;
    pass(stage, &way);
    if (way.out == first)
        return;
    decoder->predicted -= all - way.left;
    decoder->hops = tw_etrace_hops_after(decoder->hops, first, way.out);
    decoder->steps += (uint32_t)(way.out - first);
    decoder->has_left = true;
    stage->out = way.out;
    tw_etrace_enter(stage, way.at, stage->follow->blocks->blocks[way.at].start);
}
