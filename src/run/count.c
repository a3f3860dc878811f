/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting on the threads that decode.  A segment of a stream does not know whose it is until its first
   context and timestamp: it counts by what it knows, and the caller's thread, which adds up the
   segments in order, finds out the rest. */
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "run/run.h"

/* What was executed in one context, of a segment or of a whole buffer. */
struct entry {
    /* Segments: what is known of it. */
    bool has_context, has_time;
    struct tw_element context;
    uint64_t timestamp;
    const struct tw_perf_thread *thread; /* perf.data, with both */
    struct tw_view view;
    bool is_lead;   /* its first elements are the segment's first */
    size_t follows; /* entry + 1 that they directly follow; 0: none */
    uint32_t total; /* that it belongs to, once that is known */
    /* Whole buffers. */
    struct tw_who who;
    uint32_t stream;
    uint32_t next; /* entry + 1 with the same hash */

    bool is_used;
    struct tw_map missing,
        branches;       /* addresses of code that is not there: times, branches then */
    max_align_t *tally; /* the user's */
};

struct entries {
    struct entry **items;
    size_t count, room; /* those behind `count` keep their memory */
};

/* A segment: what tw_counter calls a tally. */
struct segment {
    struct entries entries;
    size_t last; /* entry that was counted into last, SIZE_MAX: none */
    bool has_context, has_time;
    struct tw_element context;
    uint64_t timestamp;
    uint64_t
        lead_branches; /* before the first missing address: of the one in the segment before */
    bool has_missing, is_failed, is_broken, is_resumed;
    uint64_t missing_address; /* the last */
    size_t missing_entry;
};

struct tw_run_count {
    struct tw_run *run;
    struct tw_counter counter;
    struct tw_reader *reader;
    struct entries totals; /* of the buffer at work */
    struct tw_map by_who;
    struct tw_run_missing *missing; /* as it was when the buffer began */
    bool is_apart;                  /* threads count */
    bool is_again;                  /* a transaction failed: this buffer is counted by parts */
    bool is_failed, is_broken;
};

/* ---- entries ---- */

static struct entry *new_entry(const struct tw_run *run, struct entries *entries)
{
    struct entry *made;

    if (entries->count < entries->room && entries->items[entries->count])
        return entries->items[entries->count++];
    if (entries->count == entries->room) {
        const size_t before = entries->room;

        if (!TW_GROW(run->allocator, &entries->items, &entries->room, entries->count + 1))
            return NULL;
        memset(entries->items + before, 0, (entries->room - before) * sizeof(struct entry *));
    }
    made = tw_take(run->allocator, sizeof *made);
    if (made)
        made->tally = tw_take(run->allocator, run->counter.tally_size + 1);
    if (!made || !made->tally) {
        tw_give(run->allocator, made);
        return NULL;
    }
    made->missing.allocator = made->branches.allocator = run->allocator;
    entries->items[entries->count++] = made;
    return made;
}

static void clear_entry(const struct tw_run *run, struct entry *entry)
{
    const struct tw_run_counter *counter = &run->counter;

    if (entry->is_used && counter->clear)
        counter->clear(counter->context, entry->tally);
    else if (entry->is_used)
        memset(entry->tally, 0, counter->tally_size);
    entry->is_used = entry->is_lead = false;
    entry->follows = 0;
    tw_map_clear(&entry->missing);
    tw_map_clear(&entry->branches);
}

static void clear_entries(const struct tw_run *run, struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        clear_entry(run, entries->items[i]);
    entries->count = 0;
}

static void free_entries(const struct tw_run *run, struct entries *entries)
{
    for (size_t i = 0; i < entries->room && entries->items[i]; i++) {
        struct entry *entry = entries->items[i];

        if (run->counter.release)
            run->counter.release(run->counter.context, entry->tally);
        tw_map_free(&entry->missing);
        tw_map_free(&entry->branches);
        tw_give(run->allocator, entry->tally);
        tw_give(run->allocator, entry);
    }
    tw_give(run->allocator, entries->items);
}

/* ---- on any thread: a segment ---- */

static bool is_same_context(const struct tw_element *a, const struct tw_element *b)
{
    return a->context_id == b->context_id && a->vmid == b->vmid && a->last == b->last &&
           ((a->flags ^ b->flags) & (uint8_t)~TW_FLAG_HAS_CYCLES) == 0;
}

/* Whether an entry is that of what the segment knows now. */
static bool is_now(const struct segment *segment, const struct entry *entry,
                   const struct entry *now)
{
    if (entry->has_context != segment->has_context || entry->has_time != now->has_time)
        return false;
    if (segment->has_context && !is_same_context(&entry->context, &segment->context))
        return false;
    if (now->thread || now->has_time)
        return entry->thread == now->thread && entry->view.context == now->view.context &&
               entry->view.time == now->view.time &&
               (now->has_context || entry->timestamp == now->timestamp);
    return true;
}

/* The entry of the segment for what it knows now; SIZE_MAX: no memory. */
static size_t entry_now(const struct tw_run_count *count, struct segment *segment,
                        uint32_t source)
{
    struct entry now = { .has_context = segment->has_context,
                         .has_time = segment->has_time && count->run->perf };
    struct entry *made;

    if (count->run->counter.is_anyones)
        now.has_context = now.has_time = false;
    now.timestamp = now.has_time ? segment->timestamp : 0;
    if (now.has_context && now.has_time) {
        struct tw_perf_lane lane = { .perf = count->run->perf,
                                     .source = source,
                                     .buffer = count->reader->buffer };

        tw_perf_look(&lane, &now.view, NULL);
        tw_perf_look(&lane, &now.view, &segment->context);
        tw_perf_look(&lane, &now.view,
                     &(struct tw_element){ .type = TW_ELEMENT_TIMESTAMP,
                                           .timestamp = segment->timestamp });
        now.thread = lane.thread;
    }
    if (segment->last != SIZE_MAX && segment->entries.count &&
        (count->run->counter.is_anyones ||
         is_now(segment, segment->entries.items[segment->last], &now)))
        return segment->last;
    for (size_t i = 0; i < segment->entries.count; i++)
        if (count->run->counter.is_anyones || is_now(segment, segment->entries.items[i], &now))
            return i;
    made = new_entry(count->run, &segment->entries);
    if (!made)
        return SIZE_MAX;
    made->has_context = now.has_context;
    made->has_time = now.has_time;
    made->context = segment->context;
    made->timestamp = now.timestamp;
    made->thread = now.thread;
    made->view = now.view;
    return segment->entries.count - 1;
}

static void note_missing(struct segment *segment, size_t entry,
                         const struct tw_element *element)
{
    uint64_t *branches = &segment->lead_branches, *times;

    if (segment->has_missing)
        branches = tw_map_put(&segment->entries.items[segment->missing_entry]->branches,
                              segment->missing_address);
    if (branches)
        *branches += element->count;
    if (element->type == TW_ELEMENT_EO_TRACE)
        return;
    times = tw_map_put(&segment->entries.items[entry]->missing, element->address);
    if (times)
        ++*times;
    segment->is_broken |= !times || !branches;
    segment->has_missing = true;
    segment->missing_address = element->address;
    segment->missing_entry = entry;
}

/* Up to where the elements belong to one entry and all or none are wanted.  *has_missing: some tell of
   code that is not there. */
static size_t end_of_stretch(const struct tw_run_count *count, const struct tw_batch *batch,
                             size_t from, bool *has_missing)
{
    static const uint32_t marks = 1u << TW_ELEMENT_PE_CONTEXT | 1u << TW_ELEMENT_TIMESTAMP;
    static const uint32_t missing = 1u << TW_ELEMENT_ADDR_NACC | 1u << TW_ELEMENT_EO_TRACE;
    const struct tw_run *run = count->run;
    const bool is_split = !run->counter.is_anyones, has_window = run->filter.has_element;
    const bool is_in = tw_filter_has_offset(run, batch->elements[from].index);
    uint32_t seen = 0;
    size_t end = from;

    for (; end < batch->count; end++) {
        const struct tw_element *element = &batch->elements[end];
        const uint32_t bit = 1u << (element->type & 31);

        if (end > from &&
            ((is_split && (bit & marks)) || element->type == TW_ELEMENT_MEMTRANS ||
             (has_window && tw_filter_has_offset(run, element->index) != is_in)))
            break;
        seen |= bit;
    }
    *has_missing = (seen & missing) != 0;
    return end;
}

static void see(struct segment *segment, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_PE_CONTEXT) {
        segment->has_context = true;
        segment->context = *element;
    } else if (element->type == TW_ELEMENT_TIMESTAMP && element->timestamp) {
        segment->has_time = true;
        segment->timestamp = element->timestamp;
    }
}

/* Elements of one context go to its entry. */
static void count_stretch(const struct tw_run_count *count, struct segment *segment,
                          struct tw_part *part, bool has_missing)
{
    const struct tw_run_counter *counter = &count->run->counter;
    const size_t number = entry_now(count, segment, part->source_number);
    const struct tw_element *elements = part->batch.elements;
    struct entry *entry;

    if (number == SIZE_MAX) {
        segment->is_broken = true;
        return;
    }
    for (size_t i = 0; has_missing && i < part->batch.count; i++)
        if (elements[i].type == TW_ELEMENT_ADDR_NACC || elements[i].type == TW_ELEMENT_EO_TRACE)
            note_missing(segment, number, &elements[i]);
    if (!tw_filter_has_offset(count->run, elements[0].index)) {
        segment->is_resumed = true;
        return;
    }
    entry = segment->entries.items[number];
    part->is_resumed = segment->is_resumed || number != segment->last;
    if (!entry->is_used && !segment->is_resumed) {
        entry->is_lead = segment->last == SIZE_MAX;
        entry->follows = segment->last + 1; /* of none: 0 */
    }
    entry->is_used = true;
    counter->count(counter->context, entry->tally, part);
    segment->last = number;
    segment->is_resumed = false;
}

static void count_batch(void *context, void *tally, const struct tw_batch *batch)
{
    const struct tw_run_count *count = context;
    const struct tw_run *run = count->run;
    struct segment *segment = tally;
    const uint32_t source = count->reader->owner_of[batch->id % TW_RUN_IDS];
    struct tw_part part = { .size = sizeof part,
                            .source_number = source,
                            .source = tw_capture_source(run->capture, source),
                            .buffer = count->reader->buffer };

    if (!segment->entries.count)
        segment->last = SIZE_MAX;
    if (part.source)
        part.image = tw_capture_image(run->capture, part.source->image);
    for (size_t from = 0, end; from < batch->count; from = end) {
        bool has_missing;

        if (batch->elements[from].type == TW_ELEMENT_MEMTRANS && !run->config.keeps_failed) {
            segment->is_failed |= batch->elements[from].kind == TW_TRANS_FAIL;
            end = from + 1;
            continue;
        }
        end = end_of_stretch(count, batch, from, &has_missing);
        see(segment, &batch->elements[from]);
        part.batch = *batch;
        part.batch.elements += from;
        part.batch.count = part.batch.room = end - from;
        count_stretch(count, segment, &part, has_missing);
    }
}

static void clear_segment(void *context, void *tally)
{
    const struct tw_run_count *count = context;
    struct segment *segment = tally;
    struct entries entries = segment->entries;

    clear_entries(count->run, &entries);
    *segment = (struct segment){ .entries = entries };
}

static void release_segment(void *context, void *tally)
{
    const struct tw_run_count *count = context;
    struct segment *segment = tally;

    free_entries(count->run, &segment->entries);
}

/* ---- on the caller's thread: segments in order ---- */

static bool is_same_who(const struct tw_who *a, const struct tw_who *b)
{
    return a->tid == b->tid && a->thread == b->thread && a->known == b->known &&
           a->level == b->level && a->security == b->security &&
           a->context_id == b->context_id && a->vmid == b->vmid &&
           a->view.space == b->view.space && a->view.context == b->view.context &&
           a->view.time == b->view.time;
}

static uint64_t hash_of(const struct tw_who *who, uint32_t stream)
{
    uint64_t hash = tw_hash64((uint64_t)who->tid << 32 | stream);

    hash = tw_hash64(hash ^ ((uint64_t)who->context_id << 32 | who->vmid));
    hash = tw_hash64(hash ^ who->view.time);
    return tw_hash64(hash ^ ((uint64_t)who->view.context << 24 | who->view.space << 8 |
                             who->known << 4 | who->level));
}

/* The total of a stream and context; TW_NONE: no memory. */
static uint32_t total_of(struct tw_run_count *count, const struct tw_who *who, uint32_t stream)
{
    struct entries *totals = &count->totals;
    const uint32_t last = count->run->streams[stream]->last_total;
    uint64_t *first;
    struct entry *made;

    if (last != TW_NONE &&
        (count->run->counter.is_anyones || is_same_who(&totals->items[last]->who, who)))
        return last;
    first = tw_map_put(&count->by_who,
                       count->run->counter.is_anyones ? stream : hash_of(who, stream));
    if (!first)
        return TW_NONE;
    for (uint64_t at = *first; at; at = totals->items[at - 1]->next) {
        const struct entry *total = totals->items[at - 1];

        if (total->stream == stream &&
            (count->run->counter.is_anyones || is_same_who(&total->who, who)))
            return (uint32_t)at - 1;
    }
    made = new_entry(count->run, totals);
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
                    const struct entry *entry)
{
    *as = *stream;
    if (entry->has_context)
        tw_who_see(as, &entry->context);
    if (entry->has_time)
        tw_who_see(as, &(struct tw_element){ .type = TW_ELEMENT_TIMESTAMP,
                                             .timestamp = entry->timestamp });
}

static void merge_missing(struct tw_run *run, const struct tw_run_stream *as,
                          const struct entry *entry)
{
    uint64_t address, *value;

    for (size_t at = 0; tw_map_next(&entry->missing, &at, &address, &value);)
        run->missing[tw_losses_file(run, as, address)].times += *value;
    for (size_t at = 0; tw_map_next(&entry->branches, &at, &address, &value);)
        run->missing[tw_losses_file(run, as, address)].branches += *value;
}

/* Whether an entry's elements directly follow what its total had last. */
static bool goes_on(const struct tw_run_stream *stream, const struct segment *segment,
                    const struct entry *entry)
{
    if (entry->is_lead)
        return stream->last_total == entry->total;
    return entry->follows && segment->entries.items[entry->follows - 1]->total == entry->total;
}

static void merge_entry(struct tw_run_count *count, struct tw_run_stream *stream,
                        const struct segment *segment, struct entry *entry)
{
    struct tw_run *run = count->run;
    struct tw_run_stream as;
    uint32_t total;

    resolve(&as, stream, entry);
    merge_missing(run, &as, entry);
    entry->total = TW_NONE;
    if (!entry->is_used || !tw_filter_has_stream(run, stream->id, stream->src) ||
        !tw_filter_has_who(run, &as.who))
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
    struct segment *segment = tally;
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
    count->counter = (struct tw_counter){ .size = sizeof count->counter,
                                          .tally_size = sizeof(struct segment),
                                          .context = count,
                                          .count = count_batch,
                                          .merge = merge_segment,
                                          .clear = clear_segment,
                                          .release = release_segment };
    /* Names and times are asked of parts, in order. */
    count->is_apart =
        !run->filter.has_code && !run->config.with_not_after && !run->filter.about.has_to_time;
    return TW_OK;
}

void tw_count_free(struct tw_run *run)
{
    struct tw_run_count *count = run->count;

    if (!count)
        return;
    free_entries(run, &count->totals);
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

    clear_entries(run, &count->totals);
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
        struct entry *total = count->totals.items[i];
        struct tw_part part = { .size = sizeof part };

        tw_part_of(&part, run->streams[total->stream]);
        part.who = total->who;
        run->counter.merge(run->counter.context, total->tally, &part);
    }
    forget(count);
    return TW_OK;
}
