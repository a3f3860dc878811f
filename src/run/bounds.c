/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking ahead for the next timestamp: parts wait, as copies, until it is known when they were over,
   or so many elements have come that they wait no longer.  Both depend on the elements alone, not on
   how they were cut into batches. */
#include <string.h>

#include "base/fault.h"
#include "run/run.h"

enum { AHEAD = 1 << 18 }; /* elements, of all streams */

struct waiting {
    struct tw_part part; /* its elements are in `elements`, from `first` on */
    size_t first;
    uint64_t place; /* how many elements came before it, wanted or not */
    size_t next;    /* the next one of its stream that waits + 1; 0: none */
    bool is_known;  /* nothing more will be known of it */
};

struct tw_bounds {
    struct waiting *parts;
    size_t first, count, room; /* those from `first` on wait */
    size_t dropped;            /* parts before parts[0], in numbers */
    struct tw_element *elements;
    size_t element_first, element_count, element_room;
    uint64_t place;
    bool is_at_end;
    bool has_skipped; /* parts that were before or after the time asked for */
};

enum tw_status tw_bounds_new(struct tw_run *run)
{
    run->bounds = tw_take(run->allocator, sizeof *run->bounds);
    return run->bounds ? TW_OK : TW_E_MEMORY;
}

void tw_bounds_free(struct tw_run *run)
{
    if (!run->bounds)
        return;
    tw_give(run->allocator, run->bounds->parts);
    tw_give(run->allocator, run->bounds->elements);
    tw_give(run->allocator, run->bounds);
}

static struct waiting *part_at(struct tw_bounds *bounds, size_t number)
{
    return &bounds->parts[number - bounds->dropped];
}

/* The stream's parts that wait are over at this time, or it is not known. */
static void settle(struct tw_bounds *bounds, struct tw_run_stream *stream,
                   const struct tw_when *now)
{
    while (stream->waiting) {
        struct waiting *waiting = part_at(bounds, stream->waiting - 1);
        struct tw_when *when = &waiting->part.when;

        stream->waiting = waiting->next;
        if (!waiting->is_known && now && now->clock == when->clock &&
            now->not_before >= when->not_before && now->not_before < when->not_after &&
            bounds->place - waiting->place < AHEAD)
            when->not_after = now->not_before;
        waiting->is_known = true;
    }
    stream->newest = 0;
}

void tw_bounds_see(struct tw_run *run, struct tw_run_stream *stream, uint64_t before,
                   size_t count)
{
    if (stream->timestamp != before)
        settle(run->bounds, stream, &stream->when);
    run->bounds->place += count;
}

/* Moves what waits to the front of its memory when most of that is free. */
static void make_room(struct tw_bounds *bounds)
{
    if (bounds->first > bounds->count / 2) {
        bounds->count -= bounds->first;
        memmove(bounds->parts, bounds->parts + bounds->first,
                bounds->count * sizeof *bounds->parts);
        bounds->dropped += bounds->first;
        bounds->first = 0;
    }
    if (bounds->element_first > bounds->element_count / 2) {
        bounds->element_count -= bounds->element_first;
        memmove(bounds->elements, bounds->elements + bounds->element_first,
                bounds->element_count * sizeof *bounds->elements);
        for (size_t i = bounds->first; i < bounds->count; i++)
            bounds->parts[i].first -= bounds->element_first;
        bounds->element_first = 0;
    }
}

static enum tw_status add_part(struct tw_run *run, const struct tw_part *part)
{
    struct tw_bounds *bounds = run->bounds;
    const size_t count = part->kind == TW_PART_ELEMENTS ? part->batch.count : 0;
    struct waiting *waiting;

    make_room(bounds);
    if (!TW_GROW(run->allocator, &bounds->parts, &bounds->room, bounds->count + 1) ||
        !TW_GROW(run->allocator, &bounds->elements, &bounds->element_room,
                 bounds->element_count + count + 1))
        return TW_E_MEMORY;
    waiting = &bounds->parts[bounds->count++];
    *waiting = (struct waiting){ .part = *part,
                                 .first = bounds->element_count,
                                 .place = bounds->place,
                                 .is_known = !count };
    if (count) {
        struct tw_run_stream *stream = run->streams[part->stream];
        const size_t number = bounds->dropped + bounds->count;

        memcpy(bounds->elements + bounds->element_count, part->batch.elements,
               count * sizeof *bounds->elements);
        bounds->element_count += count;
        if (stream->newest)
            part_at(bounds, stream->newest - 1)->next = number;
        else
            stream->waiting = number;
        stream->newest = number;
    }
    /* A buffer at its end has no timestamp more. */
    for (size_t i = 0; part->kind == TW_PART_END && i < run->stream_count; i++)
        if (run->streams[i]->ring == part->ring && run->streams[i]->buffer == part->buffer)
            settle(bounds, run->streams[i], NULL);
    return TW_OK;
}

/* The oldest part goes out. */
static void give(struct tw_run *run, struct tw_part *part)
{
    struct tw_bounds *bounds = run->bounds;
    struct waiting *waiting = &bounds->parts[bounds->first++];
    struct tw_run_stream *stream;

    *part = waiting->part;
    if (part->kind != TW_PART_ELEMENTS)
        return;
    stream = run->streams[part->stream];
    part->batch.elements = bounds->elements + waiting->first;
    bounds->element_first = waiting->first + part->batch.count;
    if (stream->waiting == bounds->dropped + bounds->first) { /* it waits no longer */
        stream->waiting = waiting->next;
        if (!stream->waiting)
            stream->newest = 0;
    }
}

enum tw_status tw_bounds_next(struct tw_run *run, struct tw_part *part)
{
    struct tw_bounds *bounds = run->bounds;

    for (;;) {
        const struct waiting *oldest =
            bounds->first < bounds->count ? &bounds->parts[bounds->first] : NULL;
        enum tw_status status;

        if (oldest &&
            (oldest->is_known || bounds->is_at_end || bounds->place - oldest->place >= AHEAD)) {
            give(run, part);
            if (part->kind != TW_PART_ELEMENTS)
                return TW_OK;
            if (tw_filter_has_when(run, &part->when)) {
                part->has_skipped |= bounds->has_skipped;
                bounds->has_skipped = false;
                return TW_OK;
            }
            run->streams[part->stream]->is_resumed = true;
            bounds->has_skipped = true;
            continue;
        }
        if (bounds->is_at_end)
            return TW_END;
        status = tw_run_part(run, part);
        if (status == TW_OK)
            status = add_part(run, part);
        else if (status == TW_END) {
            bounds->is_at_end = true;
            continue;
        }
        if (status != TW_OK)
            return status;
    }
}
