/* SPDX-License-Identifier: BSD-2-Clause */
/* Branch prediction (3.2.6): one packet may claim 2^32 branches that went as predicted.  Such a path
   repeats itself soon, and is said once with how often it was repeated. */
#include "etrace/place.h"

/* What a loop's beginning must find again at its end.  Of a deep return stack only what was touched can
   be another. */
static bool is_same(const struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_loop *loop = &decoder->loop;
    const bool is_deep = loop->depth > TW_ETRACE_LOOP_RETURNS;
    const uint32_t touched = is_deep ? loop->depth - loop->least_depth : loop->depth;

    if (decoder->learned != loop->learned || decoder->return_depth != loop->depth ||
        (is_deep && loop->has_lost) || touched > TW_ETRACE_LOOP_RETURNS)
        return false;
    for (uint32_t i = 0; i < touched; i++)
        if (decoder->returns[(decoder->return_top - i) & (decoder->returns_max - 1)] !=
            loop->returns[i])
            return false;
    return true;
}

/* A loop may begin here.  False: the batch has no room for it and its REPEAT; there will be in the
   next one. */
static bool begin(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_loop *loop = &decoder->loop;
    const bool is_empty = stage->out == stage->output->batch->elements;

    loop->has_begun = false;
    loop->is_due = stage->limit - stage->out < TW_REPEAT_MAX + TW_ETRACE_MOST;
    if (loop->is_due) {
        loop->is_wanted = loop->is_due = !is_empty; /* else no batch will have it */
        return is_empty;
    }
    loop->has_begun = true;
    loop->at = decoder->place.at;
    loop->epoch = decoder->epoch;
    loop->first = stage->out;
    loop->predicted = decoder->predicted;
    loop->learned = decoder->learned;
    loop->depth = loop->least_depth = decoder->return_depth;
    loop->has_lost = false;
    for (uint32_t i = 0; i < loop->depth && i < TW_ETRACE_LOOP_RETURNS; i++)
        loop->returns[i] =
            decoder->returns[(decoder->return_top - i) & (decoder->returns_max - 1)];
    return true;
}

/* The path is where the loop began, in the same state: it goes on alike. */
static void repeat(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_loop *loop = &decoder->loop;
    const uint64_t branches = loop->predicted - decoder->predicted;
    const uint64_t times = (decoder->predicted - 1) / branches; /* the end is walked */
    const uint32_t count = (uint32_t)(stage->out - loop->first);

    loop->is_wanted = false;
    if (!times)
        return;
    decoder->predicted -= times * branches;
    tw_etrace_untie(decoder); /* its accesses cannot be counted */
    *stage->out++ = (struct tw_element){
        .index = stage->index, .type = TW_ELEMENT_REPEAT, .times = times, .count = count
    };
}

bool tw_etrace_look_for_loop(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_loop *loop = &decoder->loop;

    if (decoder->count) /* outcomes of the map come first */
        return true;
    if (decoder->predicted <= 1) {
        loop->is_wanted = false;
        return true;
    }
    if (loop->is_due || !loop->has_begun || decoder->epoch != loop->epoch)
        return begin(stage);
    if (decoder->place.at == loop->at && loop->predicted != decoder->predicted) {
        if (!is_same(decoder)) /* it may be at the next turn */
            return begin(stage);
        repeat(stage);
    } else if ((size_t)(stage->out - loop->first) >=
               loop->most) { /* it begins later, or is longer */
        loop->most = loop->most < TW_REPEAT_MAX ? 2 * loop->most : TW_REPEAT_MAX;
        return begin(stage);
    }
    return true;
}
