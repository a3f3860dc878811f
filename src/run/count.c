/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of segments, added up in order on the caller's thread, which finds out whose they are. */
#include "run/count.h"

#include <string.h>

/* ---- on the caller's thread: segments in order ---- */

static bool is_same_who(const struct tw_who *a, const struct tw_who *b)
{
    return a->tid == b->tid && a->thread == b->thread && a->known == b->known &&
           a->level == b->level && a->security == b->security &&
           a->context_id == b->context_id && a->vmid == b->vmid &&
           a->context_high == b->context_high && a->view.space == b->view.space &&
           a->view.context == b->view.context && a->view.time == b->view.time;
}

static uint64_t hash_of(const struct tw_who *who, uint32_t stream)
{
    uint64_t hash = tw_hash64((uint64_t)who->tid << 32 | stream);

    hash = tw_hash64(hash ^ ((uint64_t)who->context_id << 32 | who->vmid));
    hash = tw_hash64(hash ^ who->view.time);
    return tw_hash64(hash ^
                     ((uint64_t)who->view.context << 24 | (uint64_t)who->view.space << 8 |
                      (uint64_t)who->known << 4 | who->level));
}

/* The total of a stream and context; TW_NONE: no memory. */
static uint32_t total_of(struct tw_run_count *count, const struct tw_who *who, uint32_t stream)
{
    struct tw_count_entries *totals = &count->totals;
    const uint32_t last = count->run->streams[stream]->last_total;
    uint64_t *first;
    struct tw_count_entry *made;

    if (last != TW_NONE &&
        (count->run->counter.is_anyones || is_same_who(&totals->items[last]->who, who)))
        return last;
    first = tw_map_put(&count->by_who,
                       count->run->counter.is_anyones ? stream : hash_of(who, stream));
    if (!first)
        return TW_NONE;
    for (uint64_t at = *first; at; at = totals->items[at - 1]->next) {
        const struct tw_count_entry *total = totals->items[at - 1];

        if (total->stream == stream &&
            (count->run->counter.is_anyones || is_same_who(&total->who, who)))
            return (uint32_t)at - 1;
    }
    made = tw_count_entry(count->run, totals);
    if (!made)
        return TW_NONE;
    made->who = *who;
    made->stream = stream;
    made->next = (uint32_t)*first;
    *first = totals->count;
    return (uint32_t)totals->count - 1;
}

/* What the stream would be if it knew what the entry knows. */
static void resolve(struct tw_run_stream *as, const struct tw_run_stream *stream,
                    const struct tw_count_entry *entry)
{
    *as = *stream;
    if (entry->has_context)
        tw_who_see(as, &entry->context);
    if (entry->has_time)
        tw_who_see(as, &(struct tw_element){ .type = TW_ELEMENT_TIMESTAMP,
                                             .timestamp = entry->timestamp });
}

static void merge_missing(struct tw_run *run, const struct tw_run_stream *as,
                          const struct tw_count_entry *entry)
{
    uint64_t address, *value;

    for (size_t at = 0; tw_map_next(&entry->missing, &at, &address, &value);)
        run->missing[tw_losses_file(run, as, address)].times += *value;
    for (size_t at = 0; tw_map_next(&entry->branches, &at, &address, &value);)
        run->missing[tw_losses_file(run, as, address)].branches += *value;
}

/* Whether an entry's elements directly follow what its total had last. */
static bool goes_on(const struct tw_run_stream *stream, const struct tw_count_segment *segment,
                    const struct tw_count_entry *entry)
{
    if (entry->is_lead)
        return stream->last_total == entry->total;
    return entry->follows && segment->entries.items[entry->follows - 1]->total == entry->total;
}

static void merge_entry(struct tw_run_count *count, struct tw_run_stream *stream,
                        const struct tw_count_segment *segment, struct tw_count_entry *entry)
{
    struct tw_run *run = count->run;
    struct tw_run_stream as;
    uint32_t total;

    resolve(&as, stream, entry);
    merge_missing(run, &as, entry);
    entry->total = TW_NONE;
    if ((!entry->is_used && !entry->is_summed) ||
        !tw_filter_has_stream(run, stream->id, stream->src) || !tw_filter_has_who(run, &as.who))
        return;
    total = total_of(count, &as.who, stream->number);
    if (total == TW_NONE) {
        count->is_broken = true;
        return;
    }
    entry->total = total;
    count->totals.items[total]->is_used = true;
    run->counter.add(run->counter.context, count->totals.items[total]->tally, entry->tally,
                     !goes_on(stream, segment, entry));
}

static void merge_segment(void *context, void *tally, const struct tw_batch *whose)
{
    struct tw_run_count *count = context;
    struct tw_run *run = count->run;
    struct tw_count_segment *segment = tally;
    struct tw_run_stream *stream = tw_reader_stream(count->reader, whose->id, whose->src);

    count->is_failed |= segment->is_failed;
    if (segment->is_broken || !stream) {
        count->is_broken = true;
        return;
    }
    run->missing[stream->missing_file].branches += segment->lead_branches;
    for (size_t i = 0; i < segment->entries.count; i++)
        merge_entry(count, stream, segment, segment->entries.items[i]);
    if (segment->has_missing) {
        struct tw_run_stream as;

        resolve(&as, stream, segment->entries.items[segment->missing_entry]);
        stream->missing_file = tw_losses_file(run, &as, segment->missing_address);
    }
    if (segment->has_context)
        tw_who_see(stream, &segment->context);
    if (segment->has_time)
        tw_who_see(stream, &(struct tw_element){ .type = TW_ELEMENT_TIMESTAMP,
                                                 .timestamp = segment->timestamp });
    /* The segment that follows goes on where this one ended. */
    if (segment->is_resumed || segment->last == SIZE_MAX)
        stream->last_total = TW_NONE;
    else
        stream->last_total = segment->entries.items[segment->last]->total;
}

/* ---- for the run ---- */

static size_t missing_size(const struct tw_run *run)
{
    const size_t files = run->perf ? tw_perf_file_count(run->perf) : 0;

    return (files + 1) * sizeof *run->missing;
}

enum tw_status tw_count_new(struct tw_run *run)
{
    struct tw_run_count *count = tw_take(run->allocator, sizeof *count);

    run->count = count;
    if (!count)
        return TW_E_MEMORY;
    count->missing = tw_take(run->allocator, missing_size(run));
    if (!count->missing)
        return TW_E_MEMORY;
    count->run = run;
    count->by_who.allocator = run->allocator;
    count->counter =
        (struct tw_counter){ .size = sizeof count->counter,
                             .tally_size = sizeof(struct tw_count_segment),
                             .context = count,
                             .count = tw_segment_count,
                             .merge = merge_segment,
                             .clear = tw_segment_clear,
                             .release = tw_segment_release,
                             .ignores_local_time = run->counter.ignores_local_time };
    if (run->counter.sum && !run->filter.has_who && !run->filter.has_element)
        count->counter.sum = tw_segment_sum;
    /* Names and times are asked of parts, in order; and where an extent ends it is seen by parts. */
    /* Which instruction is the n-th is only known in order. */
    count->is_apart = !run->filter.has_code && !run->filter.has_count &&
                      !run->config.with_not_after && !run->filter.about.has_to_time &&
                      !run->extent.is_cut;
    return TW_OK;
}

void tw_count_free(struct tw_run *run)
{
    struct tw_run_count *count = run->count;

    if (!count)
        return;
    tw_count_release(run, &count->totals);
    tw_map_free(&count->by_who);
    tw_give(run->allocator, count->missing);
    tw_give(run->allocator, count);
}

const struct tw_counter *tw_count_counter(const struct tw_run *run)
{
    const struct tw_run_count *count = run->count;

    return count->is_apart && !count->is_again && !run->seek ? &count->counter : NULL;
}

static void forget(struct tw_run_count *count)
{
    const struct tw_run *run = count->run;

    tw_count_clear(run, &count->totals);
    tw_map_clear(&count->by_who);
    for (size_t i = 0; i < run->stream_count; i++)
        run->streams[i]->last_total = TW_NONE;
    count->is_failed = false;
}

void tw_count_begin(struct tw_run *run, struct tw_reader *reader)
{
    run->count->reader = reader;
    if (!run->count->is_again)
        memcpy(run->count->missing, run->missing, missing_size(run));
    forget(run->count);
}

enum tw_status tw_count_part(struct tw_run *run, const struct tw_part *part)
{
    struct tw_run_count *count = run->count;
    const uint32_t total = total_of(count, &part->who, part->stream);
    struct tw_part to_count = *part;

    if (total == TW_NONE)
        return TW_E_MEMORY;
    to_count.is_resumed |= run->streams[part->stream]->last_total != total;
    count->totals.items[total]->is_used = true;
    run->counter.count(run->counter.context, count->totals.items[total]->tally, &to_count);
    run->streams[part->stream]->last_total = total;
    return TW_OK;
}

enum tw_status tw_count_lead(struct tw_run *run, const struct tw_part *part)
{
    struct tw_run_count *count = run->count;
    struct tw_run_stream *stream = run->streams[part->stream];
    struct tw_part to_count = *part;
    uint32_t total;

    if (!run->counter.keep_end)
        return TW_OK;
    total = total_of(count, &part->who, part->stream);
    if (total == TW_NONE)
        return TW_E_MEMORY;
    to_count.is_resumed |= stream->last_total != total;
    run->counter.count(run->counter.context, count->totals.items[total]->tally, &to_count);
    run->counter.keep_end(run->counter.context, count->totals.items[total]->tally);
    count->totals.items[total]->is_summed = true; /* it is to be cleared */
    stream->last_total = total;
    return TW_OK;
}

/* Counts the buffer again, from its first byte. */
static enum tw_status count_again(struct tw_run *run)
{
    struct tw_run_count *count = run->count;
    struct tw_reader *reader = count->reader;
    enum tw_status status;

    memcpy(run->missing, count->missing, missing_size(run));
    tw_tree_free(reader->tree);
    reader->tree = NULL;
    count->is_again = true;
    status = tw_reader_open(reader, reader->buffer);
    return status == TW_OK ? TW_MORE : status;
}

enum tw_status tw_count_end(struct tw_run *run)
{
    struct tw_run_count *count = run->count;

    if (count->is_broken)
        return TW_E_MEMORY;
    if (count->is_failed && !run->config.keeps_failed && !count->is_again)
        return count_again(run);
    count->is_again = false;
    for (size_t i = 0; i < count->totals.count; i++) {
        struct tw_count_entry *total = count->totals.items[i];
        struct tw_part part = { .size = sizeof part };

        if (!total->is_used) /* it came before the extent alone */
            continue;
        tw_part_of(&part, run->streams[total->stream]);
        part.who = total->who;
        run->counter.merge(run->counter.context, total->tally, &part);
    }
    forget(count);
    return TW_OK;
}
