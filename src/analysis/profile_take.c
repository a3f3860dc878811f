/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a run one by one: counts by who executed, calls, and time between its points. */
#include <string.h>

#include "analysis/profile.h"
#include "base/fault.h"
#include "base/memory.h"

void tw_profile_streams_release(struct tw_profiler *profile)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        tw_touched_release(&profile->streams[i].cycles, profile->allocator);
        tw_touched_release(&profile->streams[i].time, profile->allocator);
    }
    profile->stream_count = 0;
}

/* Streams are numbered by run: those of another one have nothing to do with them. */
static struct tw_profile_stream *stream_of(struct tw_profiler *profile, struct tw_run *run,
                                           uint32_t number)
{
    if (profile->run != run)
        tw_profile_streams_release(profile);
    profile->run = run;
    if (!TW_GROW(profile->allocator, &profile->streams, &profile->stream_room,
                 (size_t)number + 1))
        return NULL;
    for (; profile->stream_count <= number; profile->stream_count++)
        profile->streams[profile->stream_count] = (struct tw_profile_stream){ .cell = TW_NONE };
    return &profile->streams[number];
}

/* ---- counts by who executed ---- */

static bool is_same_who(const struct tw_profile_cell *cell, const struct tw_run *run,
                        const struct tw_part *part)
{
    const struct tw_who *a = &cell->part.who, *b = &part->who;

    return cell->run == run && cell->part.stream == part->stream &&
           cell->part.image == part->image && a->pid == b->pid && a->tid == b->tid &&
           a->comm == b->comm && a->known == b->known && a->context_id == b->context_id &&
           a->context_high == b->context_high && a->vmid == b->vmid &&
           a->view.space == b->view.space && a->view.context == b->view.context &&
           a->view.time == b->view.time;
}

static uint64_t who_key(const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    uint64_t key = tw_hash64((uint64_t)who->tid << 32 | part->stream);

    key = tw_hash64(key ^ ((uint64_t)who->context_id << 32 | who->vmid));
    return tw_hash64(key ^ who->view.time ^ (uint64_t)who->view.context << 16);
}

/* TW_NONE: no memory. */
static uint32_t cell_of(struct tw_profiler *profile, struct tw_run *run,
                        const struct tw_part *part)
{
    uint64_t *head = tw_map_put(&profile->cell_of, who_key(part));
    struct tw_profile_cell *made;
    uint32_t number = head ? (uint32_t)*head : 0;

    for (; number; number = profile->cells[number - 1]->next)
        if (is_same_who(profile->cells[number - 1], run, part))
            return number - 1;
    made = head ? tw_take(profile->allocator, sizeof *made) : NULL;
    if (!made || !TW_GROW(profile->allocator, &profile->cells, &profile->cell_room,
                          profile->cell_count + 1)) {
        tw_give(profile->allocator, made);
        return TW_NONE;
    }
    *made = (struct tw_profile_cell){ .run = run,
                                      .part = *part,
                                      .counts.allocator = profile->allocator,
                                      .next = (uint32_t)*head };
    if (profile->by > TW_PROFILE_ADDRESS)
        made->row = tw_profile_who(profile, run, part);
    made->part.batch.elements = NULL;
    made->part.batch.count = 0;
    profile->cells[profile->cell_count++] = made;
    *head = profile->cell_count;
    return made->row == UINT32_MAX ? TW_NONE : (uint32_t)profile->cell_count - 1;
}

static bool count_part(struct tw_profiler *profile, struct tw_profile_stream *stream,
                       struct tw_run *run, const struct tw_part *part)
{
    uint32_t cell = stream->cell;

    if (cell == TW_NONE || !is_same_who(profile->cells[cell], run, part))
        cell = cell_of(profile, run, part);
    if (cell == TW_NONE)
        return false;
    tw_range_counts_take(&profile->cells[cell]->counts, part->batch.elements, part->batch.count,
                         part->is_resumed || cell != stream->cell);
    stream->cell = cell;
    return true;
}

/* ---- time ---- */

/* Keeps where a range was executed first, to find its file by. */
static bool note_timed(struct tw_profiler *profile, size_t number, uint32_t cell,
                       const struct tw_element *range)
{
    const size_t before = profile->timed_count;

    if (number >= before) {
        if (!TW_GROW(profile->allocator, &profile->timed, &profile->timed_room, number + 1))
            return false;
        memset(profile->timed + before, 0, (number + 1 - before) * sizeof *profile->timed);
        profile->timed_count = number + 1;
    }
    if (!profile->timed[number].length)
        profile->timed[number] =
            (struct tw_timed_range){ cell, range->length, range->start, range->isa };
    return true;
}

/* What the time of a range goes to; UINT32_MAX: no memory. */
static uint32_t key_of(struct tw_profiler *profile, const struct tw_profile_stream *stream,
                       const struct tw_element *range, const struct tw_code_place *place)
{
    struct tw_flow_ranges *ranges =
        profile->by == TW_PROFILE_FUNCTION ? &profile->calls->machine.ranges : &profile->ranges;
    const struct tw_flow_range *found;
    size_t number;

    if (profile->by > TW_PROFILE_ADDRESS)
        return profile->cells[stream->cell]->row;
    found = tw_flow_ranges_of(ranges, range, place);
    if (!found)
        return UINT32_MAX;
    if (profile->by == TW_PROFILE_FUNCTION)
        return found->function == TW_FUNCTION_ANY ? TW_FUNCTION_NONE : found->function;
    number = (size_t)(found - ranges->items);
    return note_timed(profile, number, stream->cell, range) ? (uint32_t)number : UINT32_MAX;
}

static bool touch(struct tw_profiler *profile, struct tw_profile_stream *stream,
                  const struct tw_touched *more)
{
    return more->key != UINT32_MAX &&
           tw_touched_add(&stream->cycles, more, profile->allocator) &&
           tw_touched_add(&stream->time, more, profile->allocator);
}

/* So many cycles passed since they were told last. */
static bool take_cycles(struct tw_profiler *profile, struct tw_profile_stream *stream,
                        const struct tw_element *element)
{
    if (!(element->flags & TW_FLAG_HAS_CYCLES))
        return true;
    if (element->type == TW_ELEMENT_CYCLE_COUNT && element->flags & TW_CYCLES_UNKNOWN) {
        tw_touched_clear(&stream->cycles);
        stream->has_cycles = true;
        return true;
    }
    if (!stream->has_cycles) { /* what was executed before tracing of them began is not known */
        stream->has_cycles = true;
        stream->cycles.has_gap |= stream->cycles.count == 0;
    }
    return tw_shares_give(&profile->cycles, &stream->cycles, element->cycles, &stream->time,
                          profile->allocator);
}

static bool take_timestamp(struct tw_profiler *profile, struct tw_profile_stream *stream,
                           const struct tw_when *when)
{
    const uint64_t now = when->not_before;
    bool is_good = true;

    if (when->clock == TW_CLOCK_NONE)
        return true;
    if (!profile->time.is_there)
        profile->totals.clock = when->clock;
    if (profile->totals.clock != when->clock)
        stream->has_time = false;
    if (stream->has_time && now >= stream->last)
        is_good = tw_shares_give(&profile->time, &stream->time, now - stream->last, NULL,
                                 profile->allocator);
    tw_touched_clear(&stream->time);
    stream->has_time = profile->totals.clock == when->clock;
    stream->last = now;
    return is_good;
}

static bool take_repeat(struct tw_profiler *profile, struct tw_profile_stream *stream,
                        const struct tw_part *part, size_t at,
                        const struct tw_code_place *place)
{
    const struct tw_element *elements = part->batch.elements;

    for (size_t i = at - tw_repeat_reach(elements, at); i < at; i++)
        if (elements[i].type == TW_ELEMENT_INSTR_RANGE &&
            !touch(profile, stream,
                   &(struct tw_touched){ key_of(profile, stream, &elements[i], place),
                                         elements[i].count * elements[at].times, 0 }))
            return false;
    return true;
}

static bool time_part(struct tw_profiler *profile, struct tw_profile_stream *stream,
                      const struct tw_part *part, const struct tw_code_place *place)
{
    bool is_good = true;

    for (size_t i = 0; i < part->batch.count && is_good; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        switch (element->type) {
        case TW_ELEMENT_INSTR_RANGE:
            is_good = touch(profile, stream,
                            &(struct tw_touched){ key_of(profile, stream, element, place),
                                                  element->count, 0 }) &&
                      take_cycles(profile, stream, element);
            break;
        case TW_ELEMENT_REPEAT:
            is_good = take_repeat(profile, stream, part, i, place);
            break;
        case TW_ELEMENT_TIMESTAMP:
            is_good = take_cycles(profile, stream, element) &&
                      take_timestamp(profile, stream, &part->when);
            break;
        case TW_ELEMENT_NO_SYNC:
        case TW_ELEMENT_ERROR:
        case TW_ELEMENT_TRACE_ON:
            stream->cycles.has_gap = stream->time.has_gap = true;
            is_good = take_cycles(profile, stream, element);
            break;
        case TW_ELEMENT_CYCLE_COUNT:
        case TW_ELEMENT_EXCEPTION:
        case TW_ELEMENT_PE_CONTEXT:
            is_good = take_cycles(profile, stream, element);
            break;
        default:
            break;
        }
    }
    return is_good;
}

enum tw_status tw_profile_take(struct tw_profiler *profile, struct tw_run *run,
                               const struct tw_part *part)
{
    const bool is_called = profile->by == TW_PROFILE_FUNCTION && profile->calls;
    struct tw_code_place place;
    struct tw_profile_stream *stream;

    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    stream = stream_of(profile, run, part->stream);
    if (!stream)
        return TW_E_MEMORY;
    if (profile->calls)
        TW_TRY(tw_calls_take(profile->calls, run, part));
    /* Calls count what is in functions. */
    if (!is_called && !count_part(profile, stream, run, part))
        return TW_E_MEMORY;
    if (!profile->with_time)
        return TW_OK;
    if (!tw_code_places_of(is_called ? &profile->calls->places : &profile->places, &place, run,
                           part))
        return TW_E_MEMORY;
    if (!time_part(profile, stream, part, &place))
        return TW_E_MEMORY;
    profile->places.part = NULL;
    if (is_called)
        profile->calls->places.part = NULL;
    return TW_OK;
}
