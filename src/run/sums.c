/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges summed by blocks of the capture's bytes.  Bytes are fed so that none of two blocks are decoded together, and the tree's counter is
   on for most of a block: what it summed is of this block then.  The first bytes of each, and what comes before and behind, go the usual
   way: frames may reach over the edge, and packets that do are told apart by the tree. */
#include "run/run.h"
#include "tree/tally.h"

enum { EDGE = 512 }; /* bytes of the largest frame */

struct tw_run_summing {
    struct tw_run_sums wish;
    struct tw_counter counter;
    struct tw_run *run;
    struct tw_reader *reader;
    uint64_t block; /* offset of the one that is decoded */
    bool is_off;    /* for good: a transaction was seen, which may be undone */
    bool is_wrong;  /* what was summed did not happen so */
    bool is_broken; /* no memory */
};

/* Of the stream that the tree has just counted something of; NULL: no memory. */
static struct tw_run_stream *part_of_batch(struct tw_run_summing *summing, struct tw_part *part,
                                           const struct tw_batch *batch)
{
    struct tw_run_stream *stream = tw_reader_stream(summing->reader, batch->id, batch->src);

    *part = (struct tw_part){ .size = sizeof *part };
    if (stream)
        tw_part_of(part, stream);
    else
        summing->is_broken = true;
    return stream;
}

static void sum_ranges(void *context, void *tally, const struct tw_range_sum *sums,
                       size_t count, const struct tw_batch *whose)
{
    struct tw_run_summing *summing = context;
    struct tw_part part;

    (void)tally;
    if (part_of_batch(summing, &part, whose) && tw_filter_has_part(summing->run, &part))
        summing->wish.sum(summing->wish.context, summing->run, &part, summing->block, sums,
                          count);
}

/* Elements of one context; those that lie elsewhere were released late, and belong to another run. */
static void take_part(const struct tw_run_summing *summing, struct tw_part *part,
                      struct tw_element *elements, size_t count)
{
    const struct tw_run_sums *wish = &summing->wish;

    for (size_t i = 0, first; i < count; i++) {
        first = i;
        while (i < count && elements[i].index >= wish->from && elements[i].index < wish->to)
            i++;
        part->batch.elements = elements + first;
        part->batch.count = part->batch.room = i - first;
        if (i > first && tw_filter_has_part(summing->run, part))
            wish->take(wish->context, summing->run, part);
    }
}

static void take_elements(void *context, void *tally, const struct tw_batch *batch)
{
    struct tw_run_summing *summing = context;
    struct tw_part part;
    struct tw_run_stream *stream = part_of_batch(summing, &part, batch);
    bool has_missing;

    (void)tally;
    if (stream && !summing->run->config.keeps_failed &&
        !tw_rollback_is_idle(&stream->rollback, batch))
        summing->is_wrong = summing->is_off = true;
    if (summing->run->seek && tw_seek_doubts(summing->run, batch))
        summing->is_wrong = true;
    for (size_t i = 0, count; stream && i < batch->count && !summing->is_wrong; i += count) {
        count = tw_who_cut(stream, batch->elements + i, batch->count - i, &has_missing);
        tw_part_of(&part, stream);
        take_part(summing, &part, batch->elements + i, count);
    }
}

static void merge_nothing(void *context, void *tally, const struct tw_batch *whose)
{
    (void)context;
    (void)tally;
    (void)whose;
}

enum tw_status tw_summing_new(struct tw_run *run, const struct tw_run_sums *sums)
{
    const struct tw_run_filter *filter = &run->filter;
    struct tw_run_summing *made;

    if (run->perf || run->config.order != TW_ORDER_CAPTURE || run->config.threads != 1 ||
        run->config.packets_only || run->count || run->bounds || run->extent.is_given ||
        filter->has_code || filter->has_count || filter->has_element ||
        filter->about.has_from_time || filter->about.has_to_time)
        return TW_OK;
    made = tw_take(run->allocator, sizeof *made);
    if (!made)
        return TW_E_MEMORY;
    made->wish = *sums;
    made->run = run;
    made->counter = (struct tw_counter){ .size = sizeof made->counter,
                                         .tally_size = 1,
                                         .context = made,
                                         .count = take_elements,
                                         .merge = merge_nothing,
                                         .sum = sum_ranges };
    run->summing = made;
    return TW_OK;
}

void tw_summing_free(struct tw_run *run)
{
    tw_give(run->allocator, run->summing);
}

const struct tw_counter *tw_summing_counter(const struct tw_run *run)
{
    return run->summing ? &run->summing->counter : NULL;
}

/* A transaction may be open, of which it is not known what becomes of it. */
static bool has_open(const struct tw_reader *reader)
{
    for (size_t i = 0; i < reader->stream_count; i++)
        if (reader->streams[i]->rollback.is_open)
            return true;
    return false;
}

size_t tw_summing_feed(struct tw_run *run, struct tw_reader *reader, size_t size)
{
    struct tw_run_summing *summing = run->summing;
    const uint64_t at = tw_capture_buffer(run->capture, reader->buffer)->offset + reader->fed;
    uint64_t into, limit = UINT64_MAX;
    bool is_wished = false;

    if (!summing)
        return size;
    summing->reader = reader;
    into = at % summing->wish.block;
    if (size && at < summing->wish.from) {
        limit = summing->wish.from - at;
    } else if (size && at < summing->wish.to) {
        const uint64_t edge = EDGE < summing->wish.block ? EDGE : summing->wish.block;

        is_wished = into >= edge && !summing->is_off && !has_open(reader);
        limit = into < edge ? edge - into : summing->wish.block - into;
        if (limit > summing->wish.to - at)
            limit = summing->wish.to - at;
    }
    summing->block = at - into;
    (void)tw_tree_counts(reader->tree, is_wished); /* or elements come */
    return size < limit ? size : (size_t)limit;
}

enum tw_status tw_summing_check(struct tw_run *run, struct tw_reader *reader,
                                enum tw_status status)
{
    const struct tw_run_summing *summing = run->summing;

    if (!summing || status < 0)
        return status;
    if (summing->is_broken)
        return TW_E_MEMORY;
    return summing->is_wrong ? tw_seek_again(run, reader) : status;
}

void tw_summing_forget(struct tw_run *run)
{
    struct tw_run_summing *summing = run->summing;

    if (!summing)
        return;
    summing->is_wrong = false;
    summing->wish.forget(summing->wish.context);
}
