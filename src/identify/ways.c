/* SPDX-License-Identifier: BSD-2-Clause */
/* All ways to look at a file are tried: the best is the one that explains most of it. */
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "identify/identify.h"

enum {
    LEAST_SHARE = 2000, /* an ID with less than this part of the bytes is no source */
    LEAST_BYTES = 4,
    LEAST_READ = 16, /* fewer show no protocol */
    IDS_FEW = 4,
    PATTERN_SEEN = 4096,
    PATTERN_MOST = 128,
    VALUES_LEAST = 24
};

/* Unlike protocols, which add up, ETE and ETMv4 are told apart only by the few packets that one has. */
#define UNDECIDED 0.9

static bool is_either(const struct tw_trial *trial)
{
    return strcmp(trial->suspect->protocol, "etmv4") == 0 ||
           strcmp(trial->suspect->protocol, "ete") == 0;
}

/* A few values, or a short pattern again and again: a grammar that lets one piece pass lets all of it pass,
   and so it says little. */
static bool is_monotonous(const struct tw_sampled *stream)
{
    const size_t size = stream->size < PATTERN_SEEN ? stream->size : PATTERN_SEEN;
    bool seen[256] = { false };
    unsigned values = 0;

    for (size_t i = 0; i < size; i++) {
        values += !seen[stream->bytes[i]];
        seen[stream->bytes[i]] = true;
    }
    if (values < VALUES_LEAST)
        return true;
    for (size_t period = 1; period <= PATTERN_MOST && period * 4 <= size; period++) {
        size_t unequal = 0;

        for (size_t i = period; i < size && unequal * 50 <= size; i++)
            unequal += stream->bytes[i] != stream->bytes[i - period];
        if (unequal * 50 <= size)
            return true;
    }
    return false;
}

static enum tw_status judge_stream(struct tw_inquiry *inquiry, struct tw_verdict *verdict,
                                   const struct tw_sampled *stream)
{
    const size_t n = verdict->count;
    struct tw_trial *trial = &verdict->trials[n];

    *trial = (struct tw_trial){ 0 };
    if (stream->size >= LEAST_READ || verdict->way.framing == TW_FRAMING_NONE)
        TW_TRY(tw_judge(trial, &(struct tw_search){ .sampled = stream,
                                                    .image = inquiry->options->image,
                                                    .allocator = inquiry->allocator,
                                                    .budget = &inquiry->share,
                                                    .work = inquiry->options->work,
                                                    .bench = &inquiry->bench }));
    verdict->ids[n] = stream->id;
    verdict->bytes[n] = stream->size;
    verdict->confidences[n] = trial->suspect ? tw_trial_confidence(trial) : 0;
    if (trial->suspect && verdict->confidences[n] > UNDECIDED &&
        ((is_either(trial) && trial->is_alike) || is_monotonous(stream)))
        verdict->confidences[n] = UNDECIDED;
    verdict->count++;
    return TW_OK;
}

static bool is_scattered(const struct tw_excerpts *samples)
{
    size_t ids = 0, bytes = 0;

    for (unsigned id = 1; id < 0x70; id++) {
        ids += samples->streams[id].size > 0;
        bytes += samples->streams[id].size;
    }
    return ids > IDS_FEW && bytes < ids * LEAST_READ * 2;
}

/* Reads the samples in one way. */
static enum tw_status judge_way(struct tw_inquiry *inquiry, struct tw_verdict *verdict,
                                const struct tw_aspect *way)
{
    struct tw_excerpts samples = { .file = inquiry->file,
                                   .size = inquiry->size,
                                   .allocator = inquiry->allocator };
    enum tw_status status = tw_excerpts_take(&samples, way);
    double explained = 0;

    verdict->way = *way;
    verdict->count = 0;
    verdict->frames = samples.frames.frames;
    verdict->skipped = samples.frames.skipped_bytes;
    verdict->total = verdict->skipped;
    /* Many IDs with a few bytes each are no sources, but chance. */
    if (status == TW_OK && way->framing != TW_FRAMING_NONE && is_scattered(&samples)) {
        verdict->confidence = 0;
        tw_excerpts_free(&samples);
        return TW_OK;
    }
    /* ID 0 is padding; 0x7d and 0x7b are markers; what comes before the first ID is nobody's. */
    for (unsigned id = way->framing == TW_FRAMING_NONE ? 0 : 1; id < 0x7b; id++)
        verdict->total += samples.streams[id].size;
    for (unsigned id = way->framing == TW_FRAMING_NONE ? 0 : 1;
         status == TW_OK && id < 0x70 && verdict->count < TW_SOURCES_MOST; id++) {
        const struct tw_sampled *stream = &samples.streams[id];

        if (stream->size >= LEAST_BYTES && stream->size >= verdict->total / LEAST_SHARE)
            status = judge_stream(inquiry, verdict, stream);
    }
    for (size_t i = 0; i < verdict->count; i++)
        explained += verdict->confidences[i] * (double)verdict->bytes[i];
    verdict->confidence = verdict->total ? explained / (double)verdict->total : 0;
    /* Reserved IDs, and more sources than there are in a system, are chance. */
    if (way->framing != TW_FRAMING_NONE && verdict->frames)
        verdict->confidence *=
            1 - (double)(samples.strange + samples.lost) /
                    (double)(verdict->frames + samples.strange + samples.lost);
    if (way->limit)
        verdict->confidence *= 0.8;
    tw_excerpts_free(&samples);
    return status;
}

/* Not even one more reader can be tried. */
static bool is_spent(const struct tw_inquiry *inquiry)
{
    return inquiry->budget.left < TW_TRIAL_COST;
}

static enum tw_status try_way(struct tw_inquiry *inquiry, struct tw_verdict *other,
                              const struct tw_aspect *way)
{
    const struct tw_identify_options *options = inquiry->options;

    if ((options->has_framing && options->framing != way->framing) || is_spent(inquiry))
        return TW_OK;
    /* None uses up what others need. */
    inquiry->share.left = inquiry->budget.left / 8;
    if (inquiry->share.left < inquiry->least_share)
        inquiry->share.left = inquiry->budget.left < inquiry->least_share
                                  ? inquiry->budget.left
                                  : inquiry->least_share;
    inquiry->budget.left -= inquiry->share.left;
    TW_TRY(judge_way(inquiry, other, way));
    inquiry->budget.left += inquiry->share.left;
    if (other->confidence > inquiry->best.confidence + 0.01) {
        const struct tw_verdict old = inquiry->best;

        inquiry->best = *other;
        *other = old;
    }
    return TW_OK;
}

/* A buffer that was not filled: behind the trace lies what was there before. */
static enum tw_status try_beginning(struct tw_inquiry *inquiry, struct tw_verdict *other,
                                    unsigned swap)
{
    const struct tw_excerpts samples = { .file = inquiry->file, .size = inquiry->size };

    for (size_t limit = inquiry->size / 2; limit >= (size_t)16 * TW_FRAME_SIZE; limit /= 2) {
        const struct tw_aspect way = { TW_FRAMING_MEMORY, swap, 0, limit };

        if (tw_excerpts_aligned(&samples, &way) > 0.97)
            return try_way(inquiry, other, &way);
    }
    return TW_OK;
}

/* Frames that begin somewhere in the first 16 bytes: the places where it looks most like it. */
static enum tw_status try_frames(struct tw_inquiry *inquiry, struct tw_verdict *other,
                                 unsigned swap)
{
    const struct tw_excerpts samples = { .file = inquiry->file, .size = inquiry->size };
    double likely[TW_FRAME_SIZE];

    if (inquiry->options->has_framing && inquiry->options->framing != TW_FRAMING_MEMORY)
        return TW_OK;
    for (unsigned offset = 0; offset < TW_FRAME_SIZE; offset++)
        likely[offset] = tw_excerpts_aligned(
            &samples, &(struct tw_aspect){ TW_FRAMING_MEMORY, swap, offset, 0 });
    if (likely[0] < 0.75)
        TW_TRY(try_beginning(inquiry, other, swap));
    /* Frames that begin an even number of bytes elsewhere look alike: reading them tells. */
    for (unsigned pick = 0; pick < 8 && inquiry->best.confidence < 0.9; pick++) {
        unsigned best = 0;

        for (unsigned offset = 1; offset < TW_FRAME_SIZE; offset++)
            if (likely[offset] > likely[best])
                best = offset;
        if (likely[best] < 0.75)
            break;
        likely[best] = 0;
        TW_TRY(
            try_way(inquiry, other, &(struct tw_aspect){ TW_FRAMING_MEMORY, swap, best, 0 }));
    }
    return TW_OK;
}

enum tw_status tw_ways_try(struct tw_inquiry *inquiry, struct tw_verdict *other)
{
    static const unsigned swaps[] = { 1, 4, 2, 8, 16 };
    const struct tw_excerpts samples = { .file = inquiry->file, .size = inquiry->size };

    for (size_t i = 0; i < TW_LENGTH(swaps); i++) {
        const unsigned swap = swaps[i];

        TW_TRY(try_way(inquiry, other, &(struct tw_aspect){ TW_FRAMING_NONE, swap, 0, 0 }));
        if (inquiry->best.confidence < 0.94)
            TW_TRY(try_frames(inquiry, other, swap));
        if (inquiry->best.confidence < 0.94 && tw_excerpts_has_fsync(&samples, swap))
            for (unsigned framing = TW_FRAMING_TPIU; framing <= TW_FRAMING_DSTREAM; framing++)
                TW_TRY(try_way(inquiry, other,
                               &(struct tw_aspect){ (enum tw_framing)framing, swap, 0, 0 }));
        if (inquiry->best.confidence > 0.5 || is_spent(inquiry))
            break;
    }
    return TW_OK;
}
