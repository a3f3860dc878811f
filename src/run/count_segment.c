/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting on the threads that decode.  A segment of a stream does not know whose it is until its first
   context and timestamp: it counts by what it knows. */
#include "run/count.h"

#include <string.h>

/* ---- entries ---- */

struct tw_count_entry *tw_count_entry(const struct tw_run *run,
                                      struct tw_count_entries *entries)
{
    struct tw_count_entry *made;

    if (entries->count < entries->room && entries->items[entries->count])
        return entries->items[entries->count++];
    if (entries->count == entries->room) {
        const size_t before = entries->room;

        if (!TW_GROW(run->allocator, &entries->items, &entries->room, entries->count + 1))
            return NULL;
        memset(entries->items + before, 0,
               (entries->room - before) * sizeof(struct tw_count_entry *));
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

static void clear_entry(const struct tw_run *run, struct tw_count_entry *entry)
{
    const struct tw_run_counter *counter = &run->counter;

    entry->is_used |= entry->is_summed;
    if (entry->is_used && counter->clear)
        counter->clear(counter->context, entry->tally);
    else if (entry->is_used)
        memset(entry->tally, 0, counter->tally_size);
    entry->is_used = entry->is_summed = entry->is_lead = false;
    entry->follows = 0;
    tw_map_clear(&entry->missing);
    tw_map_clear(&entry->branches);
}

void tw_count_clear(const struct tw_run *run, struct tw_count_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        clear_entry(run, entries->items[i]);
    entries->count = 0;
}

void tw_count_release(const struct tw_run *run, struct tw_count_entries *entries)
{
    for (size_t i = 0; i < entries->room && entries->items[i]; i++) {
        struct tw_count_entry *entry = entries->items[i];

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
    return a->context_id == b->context_id && a->vmid == b->vmid &&
           a->context_high == b->context_high && a->last == b->last &&
           ((a->flags ^ b->flags) & (uint8_t)~TW_FLAG_HAS_CYCLES) == 0;
}

/* Whether an entry is that of what the segment knows now. */
static bool is_now(const struct tw_count_segment *segment, const struct tw_count_entry *entry,
                   const struct tw_count_entry *now)
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
static size_t entry_now(const struct tw_run_count *count, struct tw_count_segment *segment,
                        uint32_t source)
{
    struct tw_count_entry now = { .has_context = segment->has_context,
                                  .has_time = segment->has_time && count->run->perf };
    struct tw_count_entry *made;

    now.timestamp = now.has_time ? segment->timestamp : 0;
    if (now.has_context && now.has_time) {
        struct tw_perf_cursor cursor = { .perf = count->run->perf,
                                         .source = source,
                                         .buffer = count->reader->buffer };

        tw_perf_look(&cursor, &now.view, NULL);
        tw_perf_look(&cursor, &now.view, &segment->context);
        tw_perf_look(&cursor, &now.view,
                     &(struct tw_element){ .type = TW_ELEMENT_TIMESTAMP,
                                           .timestamp = segment->timestamp });
        now.thread = cursor.thread;
    }
    if (segment->last != SIZE_MAX && segment->entries.count &&
        is_now(segment, segment->entries.items[segment->last], &now))
        return segment->last;
    for (size_t i = 0; i < segment->entries.count; i++)
        if (is_now(segment, segment->entries.items[i], &now))
            return i;
    made = tw_count_entry(count->run, &segment->entries);
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

/* Where elements go if it does not matter whose they are; SIZE_MAX: no memory. */
static size_t entry_of_anyone(const struct tw_run_count *count,
                              struct tw_count_segment *segment)
{
    struct tw_count_entry *made;

    if (segment->entries.count)
        return 0;
    made = tw_count_entry(count->run, &segment->entries);
    if (!made)
        return SIZE_MAX;
    made->has_context = made->has_time = false;
    return 0;
}

static void note_missing(struct tw_count_segment *segment, size_t entry,
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
    const uint32_t ends =
        1u << TW_ELEMENT_MEMTRANS | (!run->counter.is_anyones || run->perf ? marks : 0);
    const struct tw_element *const first = &batch->elements[from];
    const struct tw_element *const last = batch->elements + batch->count;
    const struct tw_element *element = first;
    uint32_t seen = 0;
    uint32_t bit = 1u << (element->type & 31); /* the first belongs to it whatever it is */

    do {
        seen |= bit;
        if (++element == last)
            break;
        bit = 1u << (element->type & 31);
    } while (!(bit & ends));
    if (run->filter.has_element) {
        const bool is_in = tw_filter_has_offset(run, first->index);

        for (const struct tw_element *end = element, *at = first + 1; at < end; at++)
            if (tw_filter_has_offset(run, at->index) != is_in) {
                element = at;
                break;
            }
    }
    *has_missing = (seen & missing) != 0;
    return from + (size_t)(element - first);
}

static void see(struct tw_count_segment *segment, const struct tw_element *element)
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
static void count_stretch(const struct tw_run_count *count, struct tw_count_segment *segment,
                          struct tw_part *part, bool has_missing)
{
    const struct tw_run_counter *counter = &count->run->counter;
    const size_t number = counter->is_anyones ? entry_of_anyone(count, segment)
                                              : entry_now(count, segment, part->source_number);
    const struct tw_element *elements = part->batch.elements;
    size_t whose = number;
    struct tw_count_entry *entry;

    /* Whose code is missing always matters. */
    if (has_missing && counter->is_anyones && count->run->perf && number != SIZE_MAX)
        whose = entry_now(count, segment, part->source_number);
    if (whose == SIZE_MAX) {
        segment->is_broken = true;
        return;
    }
    for (size_t i = 0; has_missing && i < part->batch.count; i++)
        if (elements[i].type == TW_ELEMENT_ADDR_NACC || elements[i].type == TW_ELEMENT_EO_TRACE)
            note_missing(segment, whose, &elements[i]);
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

void tw_segment_count(void *context, void *tally, const struct tw_batch *batch)
{
    const struct tw_run_count *count = context;
    const struct tw_run *run = count->run;
    struct tw_count_segment *segment = tally;
    const uint32_t source = count->reader->owner_of[batch->id % TW_RUN_IDS];
    struct tw_part part = { .size = sizeof part,
                            .source_number = source,
                            .source = tw_capture_source(run->capture, source),
                            .buffer = count->reader->buffer };

    if (!segment->entries.count)
        segment->last = SIZE_MAX;
    if (part.source)
        part.image = tw_capture_image(run->capture,
                                      tw_capture_image_of(run->capture, source, batch->src));
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

void tw_segment_sum(void *context, void *tally, const struct tw_range_sum *sums, size_t number,
                    const struct tw_batch *whose)
{
    const struct tw_run_count *count = context;
    const struct tw_run_counter *counter = &count->run->counter;
    struct tw_count_segment *segment = tally;
    size_t entry;

    if (!segment->entries.count)
        segment->last = SIZE_MAX;
    entry = counter->is_anyones
                ? entry_of_anyone(count, segment)
                : entry_now(count, segment, count->reader->owner_of[whose->id % TW_RUN_IDS]);
    if (entry == SIZE_MAX) {
        segment->is_broken = true;
        return;
    }
    segment->entries.items[entry]->is_summed = true;
    counter->sum(counter->context, segment->entries.items[entry]->tally, sums, number);
}

void tw_segment_clear(void *context, void *tally)
{
    const struct tw_run_count *count = context;
    struct tw_count_segment *segment = tally;
    struct tw_count_entries entries = segment->entries;

    tw_count_clear(count->run, &entries);
    *segment = (struct tw_count_segment){ .entries = entries };
}

void tw_segment_release(void *context, void *tally)
{
    const struct tw_run_count *count = context;
    struct tw_count_segment *segment = tally;

    tw_count_release(count->run, &segment->entries);
}
