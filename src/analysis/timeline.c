/* SPDX-License-Identifier: BSD-2-Clause */
/* A run to a timeline: functions by way of the calls, and what else its elements tell. */
#include "analysis/timeline.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

/* ---- moments ---- */

struct tw_moment tw_timeline_now(const struct tw_timeline *timeline,
                                 const struct tw_timeline_stream *stream, uint64_t index)
{
    return (struct tw_moment){ .index = index,
                               .instructions = stream->instructions,
                               .position = stream->instructions,
                               .run_position = timeline->instructions,
                               .cycles = stream->cycles,
                               .what = TW_NONE };
}

/* What follows on a track is not before what was there.  Clocks of cores may disagree: then it is not
   known when it was at the latest. */
static struct tw_times in_order(struct tw_timeline *timeline, uint32_t number,
                                struct tw_times times)
{
    struct tw_track_state *track = &timeline->tracks[number];

    if (times.estimate == TW_TIME_UNKNOWN && !track->estimate)
        return times;
    if (times.estimate == TW_TIME_UNKNOWN)
        times.estimate = track->estimate;
    if (times.high != TW_TIME_UNKNOWN && times.high < track->low) {
        times.high = TW_TIME_UNKNOWN;
        timeline->stats.disordered++;
    }
    if (times.low == TW_TIME_UNKNOWN ? track->low != 0 : times.low < track->low)
        times.low = track->low;
    if (times.estimate < track->estimate &&
        (times.high == TW_TIME_UNKNOWN || times.high >= track->estimate))
        times.estimate = track->estimate;
    else if (times.estimate < track->estimate)
        times.estimate = times.high; /* as near as it can be */
    if (times.low != TW_TIME_UNKNOWN)
        track->low = times.low;
    track->estimate = times.estimate;
    return times;
}

static void give_moment(void *context, const struct tw_moment *moment,
                        const struct tw_times *times)
{
    const struct tw_timeline_stream *stream = context;
    const struct tw_timeline_event event = {
        .size = sizeof event,
        .times = in_order(stream->timeline, moment->track, *times),
        .index = moment->index,
        .instructions = moment->instructions,
        .value = moment->has_address ? 0 : moment->value,
        .address = moment->has_address ? moment->value : 0,
        .track = moment->track,
        .what = moment->what,
        .depth = moment->depth,
        .kind = moment->kind,
        .span = moment->span,
        .how = moment->how,
        .value_size = moment->has_value ? 8 : 0,
        .has_address = moment->has_address,
    };

    tw_timeline_give(stream->timeline, &event);
}

/* Brings the counts of the stream at work up to where the stack is. */
static void catch_up(struct tw_timeline *timeline, const struct tw_call_stack *stack)
{
    const uint64_t done = stack->instructions - timeline->calls->machine.base;

    timeline->at_work->instructions = timeline->stream_base + done;
    timeline->instructions = timeline->run_base + done;
}

/* Adds the cycles of elements up to before this one; each count is a place where they are known. */
static void add_cycles(struct tw_timeline *timeline, const struct tw_element *end,
                       uint64_t instructions)
{
    struct tw_timeline_stream *stream = timeline->at_work;
    const struct tw_element *at = stream->summed;
    uint64_t cycles = 0;

    for (; at && at < end; at++) {
        while (end - at >= 4 &&
               !((at[0].flags | at[1].flags | at[2].flags | at[3].flags) & TW_FLAG_HAS_CYCLES))
            at += 4; /* most captures have none */
        if (at < end && at->flags & TW_FLAG_HAS_CYCLES && at->type != TW_ELEMENT_ERROR)
            cycles += at->cycles;
    }
    stream->summed = end;
    if (!cycles)
        return;
    if (!timeline->has_cycles) /* they are counted from here on */
        tw_timeline_anchor(timeline, stream, &(struct tw_anchor){ 0 }, true);
    timeline->has_cycles = true;
    stream->cycles += cycles;
    timeline->cycles += cycles;
    tw_timeline_anchor(timeline, stream,
                       &(struct tw_anchor){ instructions, stream->cycles, timeline->cycles },
                       true);
}

static const struct tw_call_stack *stack_of(const struct tw_timeline *timeline, uint32_t thread)
{
    return timeline->calls->stacks[thread];
}

/* An event of a function where times count instructions: they are known at once, and never go back. */
static void give_exactly(struct tw_timeline *timeline, const struct tw_call_event *event)
{
    const uint64_t at = timeline->instructions;
    const struct tw_timeline_event given = {
        .size = sizeof given,
        .times = { at, at, at },
        .index = event->index,
        .instructions = event->instructions,
        .address = event->to,
        .track = timeline->thread_track,
        .what = event->function,
        .depth = event->is_leave ? event->depth : event->depth - 1,
        .kind = event->is_leave ? TW_TIMELINE_END : TW_TIMELINE_BEGIN,
        .span = TW_SPAN_FUNCTION,
        .how = event->kind,
        .has_address = event->to != 0,
    };
    struct tw_track_state *track = &timeline->tracks[timeline->thread_track];

    track->low = track->estimate = at;
    tw_timeline_give(timeline, &given);
}

static void take_call(void *context, const struct tw_call_event *event)
{
    struct tw_timeline *timeline = context;
    struct tw_timeline_stream *stream = timeline->at_work;
    const struct tw_call_stack *stack = stack_of(timeline, event->thread);
    struct tw_moment moment;

    if (timeline->is_finished) { /* what is open ends with the tracks */
        return;
    }
    catch_up(timeline, stack);
    if (timeline->calls->machine.current)
        add_cycles(timeline, timeline->calls->machine.current, stream->instructions);
    if (timeline->unit == TW_UNIT_INSTRUCTIONS) {
        give_exactly(timeline, event);
        return;
    }
    moment = tw_timeline_now(timeline, stream, event->index);
    moment.instructions = event->instructions;
    moment.track = timeline->thread_track;
    moment.what = event->function;
    moment.span = TW_SPAN_FUNCTION;
    moment.how = event->kind;
    moment.kind = event->is_leave ? TW_TIMELINE_END : TW_TIMELINE_BEGIN;
    moment.depth = event->is_leave ? event->depth : event->depth - 1;
    moment.value = event->to;
    moment.has_address = event->to != 0;
    moment.is_late = !event->is_leave && event->kind == TW_CALL_BEGIN;
    tw_timeline_moment(timeline, stream, &moment);
}

/* ---- elements that are no ranges ---- */

static void take_event(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       const struct tw_element *element)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, element->index);

    if (stream->event_track == TW_NONE)
        stream->event_track = tw_timeline_what_track(timeline, stream, TW_TRACK_EVENTS, 0, 0);
    moment.track = stream->event_track;
    moment.kind = TW_TIMELINE_MARK;
    moment.how = element->kind;
    moment.what = element->count;
    moment.value = element->value;
    tw_timeline_moment(timeline, stream, &moment);
}

/* A handler that is not traced: its exception and the place where trace goes on are known. */
static void begin_kernel(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                         const struct tw_call_stack *stack, const struct tw_element *element)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, element->index);

    if (stream->in_kernel || !stack->count)
        return;
    stream->in_kernel = true;
    stream->kernel_track = timeline->thread_track;
    moment.track = timeline->thread_track;
    moment.kind = TW_TIMELINE_BEGIN;
    moment.span = TW_SPAN_FUNCTION;
    moment.how = TW_CALL_EXCEPTION;
    moment.what = tw_functions_made(&timeline->calls->functions, TW_FUNCTION_KERNEL, 0, 0);
    moment.depth = (uint32_t)stack->count;
    moment.instructions = stack->instructions;
    moment.has_gap = true;
    tw_timeline_moment(timeline, stream, &moment);
}

/* Trace is missing: frames end here, not where trace goes on. */
static void lose(struct tw_timeline *timeline, struct tw_call_stack *stack,
                 const struct tw_element *element)
{
    struct tw_call_machine *machine = &timeline->calls->machine;
    struct tw_timeline_stream *stream = timeline->at_work;
    /* another buffer begins where one had ended: nothing of either was lost */
    const bool is_begun = stream->has_ended && element->type == TW_ELEMENT_NO_SYNC;

    stream->has_ended = false;
    tw_timeline_end_kernel(timeline, stream, element->index, false);
    if (stack->count)
        tw_call_stack_gap(machine, stack, element->index, TW_LEAVE_GAP);
    tw_timeline_begin_gap(timeline, stream, element->index,
                          is_begun ? TW_GAP_NOT_TRACED : tw_timeline_gap_reason(element),
                          element->type == TW_ELEMENT_ERROR ? element->skipped : 0);
}

static void take_element(struct tw_timeline *timeline, struct tw_call_stack *stack,
                         const struct tw_element *element)
{
    struct tw_timeline_stream *stream = timeline->at_work;

    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        tw_timeline_enter(timeline, stream, element,
                          stack->count ? stack->frames[stack->count - 1].function : TW_NONE);
        break;
    case TW_ELEMENT_EXCEPTION_RET:
        if (stream->returned_at != stream->instructions)
            tw_timeline_leave(timeline, stream, element->index, TW_EXCEPTION_RETURNED, false);
        stream->returned_at = stream->instructions;
        break;
    case TW_ELEMENT_TRACE_ON:
        if (stack->exception.is_pending && stack->exception.has_gap)
            begin_kernel(timeline, stream, stack, element);
        else if (stack->has_gap)
            lose(timeline, stack, element);
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_ERROR:
        lose(timeline, stack, element);
        break;
    case TW_ELEMENT_EO_TRACE:
        stream->has_ended = true;
        break;
    case TW_ELEMENT_EVENT:
        take_event(timeline, stream, element);
        break;
    default:
        break;
    }
}

/* Something is executed, after an exception, missing trace, or at the beginning. */
static void arrive(struct tw_timeline *timeline, const struct tw_element *range)
{
    struct tw_timeline_stream *stream = timeline->at_work;

    tw_timeline_end_gap(timeline, stream, range->index);
    if (!stream->in_kernel)
        return;
    tw_timeline_end_kernel(timeline, stream, range->index, true);
    if (stream->active_count &&
        stream->active[stream->active_count - 1].instructions == stream->instructions)
        tw_timeline_leave(timeline, stream, range->index, TW_EXCEPTION_RETURNED, true);
}

static void notice(void *context, struct tw_call_stack *stack, const struct tw_element *element,
                   enum tw_call_notice what)
{
    struct tw_timeline *timeline = context;
    struct tw_timeline_stream *stream = timeline->at_work;

    catch_up(timeline, stack);
    if (what != TW_NOTICE_EXCEPTION_RETURN)
        add_cycles(timeline, element, stream->instructions);
    if (what == TW_NOTICE_ELEMENT) {
        take_element(timeline, stack, element);
    } else if (what == TW_NOTICE_ARRIVAL) {
        arrive(timeline, element);
    } else {
        tw_timeline_leave(timeline, stream, element->index, TW_EXCEPTION_RETURNED, false);
        stream->returned_at = stream->instructions;
    }
}

/* ---- parts ---- */

static struct tw_timeline_stream *stream_of(struct tw_timeline *timeline,
                                            const struct tw_part *part)
{
    const size_t number = tw_timeline_find_stream(timeline, part),
                 before = timeline->stream_room;
    const struct tw_source *source = part->source;
    struct tw_timeline_stream *stream;

    if (!TW_GROW(timeline->allocator, &timeline->streams, &timeline->stream_room, number + 1))
        return NULL;
    if (timeline->stream_room > before)
        memset(timeline->streams + before, 0,
               (timeline->stream_room - before) * sizeof *timeline->streams);
    if (number >= timeline->stream_count)
        timeline->stream_count = number + 1;
    if (timeline->streams[number])
        return timeline->streams[number];
    stream = tw_take(timeline->allocator, sizeof *stream);
    if (!stream)
        return NULL;
    tw_event_clock_init(&stream->clock, timeline->allocator);
    stream->clock.give = give_moment;
    stream->clock.context = stream;
    stream->id = part->batch.id;
    stream->form =
        tw_exception_form(source, timeline->config.core_type ? timeline->config.core_type
                                  : source                   ? source->core_type
                                                             : NULL);
    stream->core_track = stream->gap_track = stream->event_track = stream->running = TW_NONE;
    stream->returned_at = UINT64_MAX;
    stream->interrupted = TW_NONE;
    stream->timeline = timeline;
    stream->number = (uint32_t)number;
    stream->run_stream = part->stream;
    stream->protocol = source ? source->protocol : "";
    stream->core = part->who.core;
    stream->source = source ? source->name : NULL;
    stream->cpu = part->who.cpu;
    timeline->streams[number] = stream;
    return stream;
}

/* The timestamp that a part may begin with. */
static void take_time(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                      const struct tw_part *part)
{
    const struct tw_anchor anchor = { stream->instructions, stream->cycles,
                                      part->when.not_before };
    size_t i = 0;

    while (i < part->batch.count && part->batch.elements[i].type == TW_ELEMENT_PE_CONTEXT)
        i++;
    if (i == part->batch.count || part->batch.elements[i].type != TW_ELEMENT_TIMESTAMP ||
        part->when.clock == TW_CLOCK_NONE || !part->when.not_before)
        return;
    if (timeline->clock == TW_CLOCK_NONE)
        timeline->clock = part->when.clock;
    if (timeline->clock == part->when.clock)
        tw_timeline_anchor(timeline, stream, &anchor, false);
}

/* Which thread runs on the core, where that is known. */
static void take_thread(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                        const struct tw_part *part)
{
    const struct tw_track *about = &timeline->tracks[timeline->thread_track].about;
    struct tw_moment moment = tw_timeline_now(timeline, stream, part->batch.elements[0].index);

    if (stream->running == timeline->thread_track ||
        (about->tid == TW_NONE && about->context == UINT64_MAX))
        return;
    if (stream->core_track == TW_NONE)
        stream->core_track = tw_timeline_what_track(timeline, stream, TW_TRACK_CORE, 0, 0);
    moment.track = stream->core_track;
    moment.span = TW_SPAN_THREAD;
    if (stream->running != TW_NONE) {
        moment.kind = TW_TIMELINE_END;
        tw_timeline_moment(timeline, stream, &moment);
    }
    moment.kind = TW_TIMELINE_BEGIN;
    moment.what = stream->running = timeline->thread_track;
    tw_timeline_moment(timeline, stream, &moment);
}

static bool has_range(const struct tw_part *part)
{
    for (size_t i = 0; i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
            return true;
    return false;
}

static enum tw_status take_flow(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                                struct tw_run *run, const struct tw_part *part)
{
    struct tw_call_stack *stack = tw_calls_stack_of(timeline->calls, part);
    enum tw_status status;

    if (!stack)
        return TW_E_MEMORY;
    timeline->has_flow = true;
    timeline->stream_base = stream->instructions;
    timeline->run_base = timeline->instructions;
    timeline->calls->machine.base = stack->instructions;
    timeline->calls->machine.current = NULL;
    stream->summed = part->batch.elements;
    timeline->thread_track = tw_timeline_thread_track(timeline, stack->thread, part);
    if (timeline->thread_track == TW_NONE)
        return TW_E_MEMORY;
    take_time(timeline, stream, part);
    if (has_range(part)) {
        if (stream->has_gap)
            tw_timeline_end_gap(timeline, stream, part->batch.elements[0].index);
        take_thread(timeline, stream, part);
    }
    status = tw_calls_take(timeline->calls, run, part);
    catch_up(timeline, stack);
    add_cycles(timeline, part->batch.elements + part->batch.count, stream->instructions);
    stream->summed = NULL;
    return status;
}

/* The recorder lost trace of a CPU, or of a thread. */
static void take_loss(struct tw_timeline *timeline, const struct tw_part *part)
{
    for (size_t i = 0; i < timeline->stream_count; i++) {
        struct tw_timeline_stream *stream = timeline->streams[i];

        if (!stream || (part->who.cpu != TW_NONE && stream->cpu != part->who.cpu))
            continue;
        timeline->at_work = stream;
        tw_timeline_begin_gap(timeline, stream, 0, TW_GAP_RECORDER, 0);
    }
}

enum tw_status tw_timeline_take(struct tw_timeline *timeline, struct tw_run *run,
                                const struct tw_part *part)
{
    struct tw_timeline_stream *stream;
    enum tw_status status;

    if (part->kind == TW_PART_LOSS)
        take_loss(timeline, part);
    if (part->kind != TW_PART_ELEMENTS)
        return timeline->is_out ? TW_E_MEMORY : TW_OK;
    stream = stream_of(timeline, part);
    if (!stream)
        return TW_E_MEMORY;
    timeline->at_work = stream;
    if (tw_timeline_channels(timeline, stream, part))
        return timeline->is_out ? TW_E_MEMORY : TW_OK;
    status = take_flow(timeline, stream, run, part);
    return timeline->is_out ? TW_E_MEMORY : status;
}

/* ---- beginning and end ---- */

enum tw_status tw_timeline_new(struct tw_timeline **timeline,
                               const struct tw_timeline_config *given, struct tw_fault *fault)
{
    struct tw_timeline_config config;
    struct tw_calls_config calls = { .size = sizeof calls };
    struct tw_timeline *made;
    enum tw_status status;

    *timeline = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_timeline_config", fault));
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the timeline");
    made->config = config;
    made->unit = config.unit;
    made->stats.size = sizeof made->stats;
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by_thread.allocator = made->by_what.allocator = made->allocator;
    calls.key = config.key;
    calls.is_logical = config.is_logical;
    calls.event = take_call;
    calls.context = made;
    calls.allocator = made->allocator;
    status = tw_calls_new(&made->calls, &calls, fault);
    if (status != TW_OK) {
        tw_timeline_free(made);
        return status;
    }
    made->calls->machine.notice = notice;
    made->calls->machine.tree.is_off = made->calls->machine.edges.is_off = !config.with_calls;
    *timeline = made;
    return TW_OK;
}

void tw_timeline_free(struct tw_timeline *timeline)
{
    struct tw_allocator allocator;

    if (!timeline)
        return;
    tw_timeline_drop_buffered(timeline);
    for (size_t i = 0; i < timeline->stream_count; i++) {
        struct tw_timeline_stream *stream = timeline->streams[i];

        if (!stream)
            continue;
        tw_event_clock_release(&stream->clock);
        tw_channels_free(stream->channels);
        tw_give(timeline->allocator, stream);
    }
    for (size_t i = 0; i < timeline->track_count; i++) {
        tw_give(timeline->allocator, timeline->tracks[i].open);
        tw_give(timeline->allocator, timeline->tracks[i].name);
    }
    tw_give(timeline->allocator, timeline->streams);
    tw_give(timeline->allocator, timeline->tracks);
    tw_map_free(&timeline->by_thread);
    tw_map_free(&timeline->by_what);
    tw_calls_free(timeline->calls);
    allocator = timeline->allocator_copy;
    tw_give(timeline->allocator ? &allocator : NULL, timeline);
}

enum tw_status tw_timeline_finish(struct tw_timeline *timeline)
{
    if (timeline->is_finished)
        return TW_OK;
    for (size_t i = 0; i < timeline->stream_count; i++)
        if (timeline->streams[i] && timeline->streams[i]->channels &&
            tw_channels_finish(timeline->streams[i]->channels) != TW_OK)
            timeline->is_out = true;
    tw_timeline_decide(timeline);
    for (size_t i = 0; i < timeline->stream_count; i++)
        if (timeline->streams[i]) {
            tw_timeline_flush(timeline, timeline->streams[i]);
            timeline->stats.backwards += timeline->streams[i]->clock.backwards;
        }
    if (timeline->unit == TW_UNIT_INSTRUCTIONS)
        timeline->latest = timeline->instructions;
    tw_timeline_close_tracks(timeline);
    timeline->is_finished = true;
    return timeline->is_out ? TW_E_MEMORY : TW_OK;
}

enum tw_time_unit tw_timeline_unit(const struct tw_timeline *timeline)
{
    return timeline->unit;
}

struct tw_calls *tw_timeline_calls(struct tw_timeline *timeline)
{
    return timeline->calls;
}

const struct tw_functions *tw_timeline_functions(const struct tw_timeline *timeline)
{
    return &timeline->calls->functions;
}
