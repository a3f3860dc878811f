/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions of a timeline, added up. */
#include <trackway/interrupts.h>

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sized.h"

enum { NEST_MOST = 512 };

struct row {
    struct tw_interrupt about;
    struct tw_map functions; /* interrupted: function + 1 to its count */
    uint64_t last;           /* estimate of its last entry */
    bool has_last;
};

/* An exception that a source is in. */
struct nested {
    struct tw_timeline_event begin;
    uint32_t track;
    uint64_t inside; /* time of those inside it */
    bool is_preempted;
};

struct interrupt_source {
    uint32_t stream;
    bool is_dwt;
    struct nested *nested;
    size_t count, room;
};

struct tw_interrupts {
    struct tw_interrupts_config config;
    struct row *rows;
    size_t count, room;
    struct tw_map by_track; /* to a row + 1 */
    struct interrupt_source *sources;
    size_t source_count, source_room;
    struct tw_interrupted *listed;
    size_t listed_room;
    /* With room for all rows, as `listed` has for what a row interrupted: results ask for no memory. */
    uint32_t *sorted;
    size_t sorted_room;
    bool is_sorted;
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

enum tw_status tw_interrupts_new(struct tw_interrupts **interrupts,
                                 const struct tw_interrupts_config *given,
                                 struct tw_fault *fault)
{
    struct tw_interrupts_config config;
    struct tw_interrupts *made;

    *interrupts = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_interrupts_config", fault));
    if (!config.timeline)
        return tw_fail(fault, TW_E_ARGUMENT, "interrupts need a timeline");
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for interrupts");
    made->config = config;
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by_track.allocator = made->allocator;
    *interrupts = made;
    return TW_OK;
}

void tw_interrupts_free(struct tw_interrupts *interrupts)
{
    struct tw_allocator allocator;

    if (!interrupts)
        return;
    for (size_t i = 0; i < interrupts->count; i++)
        tw_map_free(&interrupts->rows[i].functions);
    for (size_t i = 0; i < interrupts->source_count; i++)
        tw_give(interrupts->allocator, interrupts->sources[i].nested);
    tw_give(interrupts->allocator, interrupts->rows);
    tw_give(interrupts->allocator, interrupts->sources);
    tw_give(interrupts->allocator, interrupts->listed);
    tw_give(interrupts->allocator, interrupts->sorted);
    tw_map_free(&interrupts->by_track);
    allocator = interrupts->allocator_copy;
    tw_give(interrupts->allocator ? &allocator : NULL, interrupts);
}

static struct row *row_of(struct tw_interrupts *interrupts, uint32_t track)
{
    uint64_t *number = tw_map_put(&interrupts->by_track, track);
    struct row *row;

    if (number && *number)
        return &interrupts->rows[*number - 1];
    if (!number ||
        !TW_GROW(interrupts->allocator, &interrupts->rows, &interrupts->room,
                 interrupts->count + 1) ||
        !TW_GROW(interrupts->allocator, &interrupts->sorted, &interrupts->sorted_room,
                 interrupts->count + 1))
        return NULL;
    row = &interrupts->rows[interrupts->count++];
    *row = (struct row){
        .about = { .size = sizeof row->about,
                   .track = track,
                   .number = tw_timeline_track(interrupts->config.timeline, track)->number },
        .functions.allocator = interrupts->allocator
    };
    *number = interrupts->count;
    return row;
}

static struct interrupt_source *source_of(struct tw_interrupts *interrupts, uint32_t track)
{
    const struct tw_track *about = tw_timeline_track(interrupts->config.timeline, track);

    for (size_t i = 0; i < interrupts->source_count; i++)
        if (interrupts->sources[i].stream == about->stream &&
            interrupts->sources[i].is_dwt == about->is_dwt)
            return &interrupts->sources[i];
    if (!TW_GROW(interrupts->allocator, &interrupts->sources, &interrupts->source_room,
                 interrupts->source_count + 1))
        return NULL;
    interrupts->sources[interrupts->source_count] =
        (struct interrupt_source){ .stream = about->stream, .is_dwt = about->is_dwt };
    return &interrupts->sources[interrupts->source_count++];
}

static void add_length(struct tw_interrupt_lengths *lengths, uint64_t length)
{
    unsigned bucket = 0;

    for (uint64_t left = length; left; left >>= 1)
        bucket++;
    if (!lengths->count || length < lengths->least)
        lengths->least = length;
    if (length > lengths->most)
        lengths->most = length;
    lengths->count++;
    lengths->sum += length;
    lengths->buckets[bucket]++;
}

/* An event of which neither end is known stands where the order of the bytes has it: that is no time. */
static bool is_timed(const struct tw_times *times)
{
    return times->estimate != TW_TIME_UNKNOWN &&
           (times->low != TW_TIME_UNKNOWN || times->high != TW_TIME_UNKNOWN);
}

static bool take_begin(struct tw_interrupts *interrupts, struct interrupt_source *source,
                       struct row *row, const struct tw_timeline_event *event)
{
    struct tw_interrupt *about = &row->about;
    const uint64_t now = event->times.estimate;
    uint64_t *count;

    if (source->count == NEST_MOST ||
        !TW_GROW(interrupts->allocator, &source->nested, &source->room, source->count + 1))
        return source->count == NEST_MOST;
    about->count++;
    about->chained += event->how == TW_EXCEPTION_CHAINED;
    about->nested += source->count != 0;
    if (source->count)
        source->nested[source->count - 1].is_preempted = true;
    if (event->depth > about->depth)
        about->depth = event->depth;
    if (event->how != TW_EXCEPTION_FOUND && is_timed(&event->times)) {
        if (row->has_last && now >= row->last)
            add_length(&about->period, now - row->last);
        row->has_last = true;
        row->last = now;
    }
    source->nested[source->count++] = (struct nested){ .begin = *event, .track = event->track };
    /* First the room in the list: it has one for all that are in the map, whatever becomes of this one. */
    if (!TW_GROW(interrupts->allocator, &interrupts->listed, &interrupts->listed_room,
                 row->functions.count + 1))
        return false;
    count = tw_map_put(&row->functions, event->what);
    if (count)
        ++*count;
    return count != NULL;
}

static bool is_whole(const struct tw_timeline_event *begin, const struct tw_timeline_event *end)
{
    return begin->how != TW_EXCEPTION_FOUND && end->how == TW_EXCEPTION_RETURNED;
}

static bool is_exact(const struct tw_times *times)
{
    return times->low == times->high;
}

static void add_up(struct tw_interrupt *about, const struct nested *nested,
                   const struct tw_timeline_event *end, uint64_t gross, uint64_t net)
{
    add_length(&about->gross, gross);
    add_length(&about->net, net);
    about->estimated += !is_exact(&nested->begin.times) || !is_exact(&end->times);
    if (end->instructions > nested->begin.instructions)
        add_length(&about->instructions, end->instructions - nested->begin.instructions);
}

static void take_end(struct tw_interrupts *interrupts, struct interrupt_source *source,
                     struct row *row, const struct tw_timeline_event *event)
{
    size_t at = source->count;
    struct nested nested;
    struct tw_interrupt_event told = { .size = sizeof told,
                                       .track = event->track,
                                       .number = row->about.number,
                                       .under = TW_NONE };
    bool has_times;

    while (at && source->nested[at - 1].track != event->track)
        at--;
    if (!at)
        return;
    nested = source->nested[--at];
    source->count--;
    memmove(source->nested + at, source->nested + at + 1,
            (source->count - at) * sizeof *source->nested);
    has_times = is_timed(&nested.begin.times) && is_timed(&event->times) &&
                event->times.estimate >= nested.begin.times.estimate;
    if (has_times) {
        told.gross = event->times.estimate - nested.begin.times.estimate;
        told.net = told.gross > nested.inside ? told.gross - nested.inside : 0;
    }
    if (at && has_times)
        source->nested[at - 1].inside += told.gross;
    row->about.preempted += nested.is_preempted;
    told.has_lengths = has_times && is_whole(&nested.begin, event);
    if (told.has_lengths)
        add_up(&row->about, &nested, event, told.gross, told.net);
    else
        row->about.open++;
    if (!interrupts->config.event)
        return;
    told.begin = &nested.begin;
    told.end = event;
    told.interrupted = nested.begin.what;
    if (at && nested.begin.how != TW_EXCEPTION_FOUND)
        told.under = source->nested[at - 1].track;
    interrupts->config.event(interrupts->config.context, &told);
}

enum tw_status tw_interrupts_take(struct tw_interrupts *interrupts,
                                  const struct tw_timeline_event *event)
{
    struct interrupt_source *source;
    struct row *row;

    if (event->kind > TW_TIMELINE_END || event->span != TW_SPAN_EXCEPTION)
        return TW_OK;
    interrupts->is_sorted = false;
    row = row_of(interrupts, event->track);
    source = source_of(interrupts, event->track);
    if (!row || !source)
        return TW_E_MEMORY;
    if (event->kind == TW_TIMELINE_BEGIN)
        return take_begin(interrupts, source, row, event) ? TW_OK : TW_E_MEMORY;
    take_end(interrupts, source, row, event);
    return TW_OK;
}

/* ---- results ---- */

static bool is_less(const struct tw_interrupts *interrupts, uint32_t a, uint32_t b)
{
    const struct tw_interrupt *one = &interrupts->rows[a].about;
    const struct tw_interrupt *other = &interrupts->rows[b].about;
    const struct tw_track *from = tw_timeline_track(interrupts->config.timeline, one->track);
    const struct tw_track *to = tw_timeline_track(interrupts->config.timeline, other->track);

    if (from->stream != to->stream)
        return from->stream < to->stream;
    return from->is_dwt != to->is_dwt ? to->is_dwt : one->number < other->number;
}

/* There are few: by insertion. */
static void sort(struct tw_interrupts *interrupts)
{
    uint32_t *sorted = interrupts->sorted;

    if (interrupts->is_sorted)
        return;
    for (uint32_t i = 0; i < interrupts->count; i++) {
        uint32_t at = i;

        for (; at && is_less(interrupts, i, sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = i;
    }
    interrupts->is_sorted = true;
}

static int by_count(const void *a, const void *b)
{
    const struct tw_interrupted *one = a, *other = b;

    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return (one->function > other->function) - (one->function < other->function);
}

const struct tw_interrupt *tw_interrupts_get(struct tw_interrupts *interrupts, size_t number)
{
    struct row *row;
    uint64_t key, *count;
    size_t at = 0;

    if (number >= interrupts->count)
        return NULL;
    sort(interrupts);
    row = &interrupts->rows[interrupts->sorted[number]];
    row->about.interrupted_count = 0;
    while (tw_map_next(&row->functions, &at, &key, &count))
        interrupts->listed[row->about.interrupted_count++] =
            (struct tw_interrupted){ (uint32_t)key, *count };
    if (row->about.interrupted_count)
        qsort(interrupts->listed, row->about.interrupted_count, sizeof *interrupts->listed,
              by_count);
    row->about.interrupted = interrupts->listed;
    return &row->about;
}
