/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of captures: filled by parts of a run, joined when their neighbours are there. */
#include "analysis/call_segments.h"

#include <stdlib.h>

#include "analysis/calls.h"
#include "base/memory.h"

struct tw_call_segment *tw_call_segment_new(const struct tw_calls *calls)
{
    struct tw_call_segment *made = tw_take(calls->allocator, sizeof *made);

    if (made && calls->allocator) {
        made->allocator_copy = *calls->allocator;
        made->allocator = &made->allocator_copy;
    }
    return made;
}

static void free_segment(struct tw_call_segment *segment)
{
    const struct tw_allocator copy = segment->allocator_copy; /* it goes with the segment */
    const struct tw_allocator *allocator = segment->allocator ? &copy : NULL;

    for (size_t i = 0; i < segment->log_count; i++)
        tw_call_log_free(segment->logs[i], allocator);
    tw_give(allocator, segment->logs);
    tw_give(allocator, segment->streams);
    tw_give(allocator, segment);
}

void tw_call_segments_release(struct tw_calls *calls)
{
    for (size_t i = 0; i < calls->segments.count; i++)
        free_segment(calls->segments.items[i]);
    tw_give(calls->allocator, calls->segments.items);
    calls->segments = (struct tw_call_segments){ .items = NULL };
    calls->segment = NULL;
}

/* ---- filling ---- */

static void drop_stacks(struct tw_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        tw_call_stack_release(&calls->machine, calls->stacks[i]);
        tw_give(calls->allocator, calls->stacks[i]);
    }
    calls->count = 0;
    tw_map_clear(&calls->by_key);
}

void tw_call_segment_end(struct tw_calls *calls)
{
    struct tw_call_segment *segment = calls->segment;

    if (!segment)
        return;
    for (size_t i = 0; i < calls->count; i++) {
        struct tw_call_log *log = tw_call_log_close(&calls->machine, calls->stacks[i]);

        if (TW_GROW(calls->allocator, &segment->logs, &segment->log_room,
                    segment->log_count + 1)) {
            segment->logs[segment->log_count++] = log;
        } else {
            tw_call_log_free(log, calls->allocator);
            calls->machine.is_out = true;
        }
    }
    drop_stacks(calls);
    calls->segment = NULL;
}

void tw_call_segment_drop(struct tw_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        tw_call_log_free(calls->stacks[i]->log, calls->allocator);
        calls->stacks[i]->log = NULL;
    }
    drop_stacks(calls);
    tw_call_segments_release(calls);
}

bool tw_call_segment_begin(struct tw_calls *calls, struct tw_run *run)
{
    struct tw_call_segments *all = &calls->segments;
    struct tw_call_segment *made = tw_call_segment_new(calls);

    tw_call_segment_end(calls);
    tw_calls_end_stacks(calls);
    drop_stacks(calls);
    calls->run = run;
    if (!made || !TW_GROW(calls->allocator, &all->items, &all->room, all->count + 1)) {
        tw_give(calls->allocator, made);
        return false;
    }
    tw_run_stretch(run, &made->about);
    all->items[all->count++] = made;
    calls->segment = made;
    return true;
}

/* What is known of a stream of the run; NULL: no memory. */
static struct tw_segment_stream *stream_of(struct tw_calls *calls, const struct tw_part *part)
{
    struct tw_call_segment *segment = calls->segment;

    if (!TW_GROW(calls->allocator, &segment->streams, &segment->stream_room,
                 (size_t)part->stream + 1))
        return NULL;
    while (segment->stream_count <= part->stream)
        segment->streams[segment->stream_count++] = (struct tw_segment_stream){ 0, 0 };
    segment->streams[part->stream].stream = tw_calls_stream(part);
    return &segment->streams[part->stream];
}

bool tw_call_segment_take(struct tw_calls *calls, const struct tw_call_thread *thread,
                          const struct tw_part *part, const struct tw_code_place *place)
{
    struct tw_call_machine *machine = &calls->machine;
    struct tw_segment_stream *stream = stream_of(calls, part);
    struct tw_call_stack *stack = tw_calls_stack(calls, thread);
    struct tw_call_step step = { .kind = TW_CALL_STEP_GAP };

    if (!stream || !stack)
        return false;
    step.losses = stream->losses;
    if (!stack->log) {
        stack->log = tw_call_log_new(calls->allocator);
        if (!stack->log)
            return false;
        stack->log->thread = calls->threads[stack->thread];
        stack->log->stream = stream->stream;
        step.kind = TW_CALL_STEP_FIRST_PART;
        tw_call_log_note(machine, stack, &step);
    } else if (stack->log->losses != stream->losses) {
        tw_call_log_note(machine, stack, &step);
    }
    if (part->is_resumed)
        tw_call_log_note(machine, stack,
                         &(struct tw_call_step){ .kind = TW_CALL_STEP_RESUMED });
    machine->losses = 0;
    tw_call_stack_take(machine, stack, part->batch.elements, part->batch.count, place);
    stream->losses += machine->losses;
    stack->log->losses = stream->losses;
    return !machine->is_out;
}

/* ---- joining ---- */

static int by_place(const void *left, const void *right)
{
    const struct tw_run_stretch *a = &(*(struct tw_call_segment *const *)left)->about;
    const struct tw_run_stretch *b = &(*(struct tw_call_segment *const *)right)->about;

    if (a->capture != b->capture)
        return a->capture < b->capture ? -1 : 1;
    if (a->extent.buffer != b->extent.buffer)
        return a->extent.buffer < b->extent.buffer ? -1 : 1;
    if (a->extent.offset != b->extent.offset)
        return a->extent.offset < b->extent.offset ? -1 : 1;
    return (int)b->is_first - (int)a->is_first;
}

static bool follows(const struct tw_run_stretch *a, const struct tw_run_stretch *b)
{
    return a->capture == b->capture && a->extent.end_buffer == b->extent.buffer &&
           a->extent.end_offset == b->extent.offset && !b->is_first;
}

/* The segment that follows one, behind it in the list; the number of segments: none does. */
static size_t next_of(const struct tw_call_segments *all, size_t at)
{
    size_t next = at + 1;

    while (next < all->count && (all->items[next]->is_joined ||
                                 !follows(&all->items[at]->about, &all->items[next]->about)))
        next++;
    return next;
}

static void replay_segment(struct tw_calls *calls, const struct tw_call_segment *segment,
                           struct tw_map *losses)
{
    for (size_t i = 0; i < segment->log_count && !calls->machine.is_out; i++) {
        const struct tw_call_log *log = segment->logs[i];
        struct tw_call_stack *stack = tw_calls_stack(calls, &log->thread);
        const uint64_t *before = tw_map_find(losses, log->stream);

        if (stack)
            tw_call_log_replay(&calls->machine, stack, log, before ? *before : 0);
        else
            calls->machine.is_out = true;
    }
    for (size_t i = 0; i < segment->stream_count; i++) {
        uint64_t *sum = tw_map_put(losses, segment->streams[i].stream);

        if (sum)
            *sum += segment->streams[i].losses;
        calls->machine.is_out |= !sum;
    }
}

/* Takes a segment and those that follow it up to the end that was found. */
static void join_from(struct tw_calls *calls, size_t first)
{
    struct tw_call_segments *all = &calls->segments;
    struct tw_map losses = { .allocator = calls->allocator };

    for (size_t at = first; at < all->count; at = next_of(all, at)) {
        all->items[at]->is_joined = true;
        replay_segment(calls, all->items[at], &losses);
    }
    tw_map_free(&losses);
    tw_calls_end_stacks(calls);
    drop_stacks(calls);
}

static bool is_whole(const struct tw_call_segments *all, size_t first)
{
    size_t last = first;

    for (size_t at = first; at < all->count; at = next_of(all, at))
        last = at;
    return all->items[first]->about.is_first && all->items[last]->about.is_last;
}

/* Nothing lies in it. */
static bool is_empty(const struct tw_call_segment *segment)
{
    const struct tw_run_extent *extent = &segment->about.extent;

    return !segment->log_count && !(segment->about.is_first && segment->about.is_last) &&
           extent->buffer == extent->end_buffer && extent->offset == extent->end_offset;
}

void tw_call_segments_join(struct tw_calls *calls, bool all)
{
    struct tw_call_segments *segments = &calls->segments;
    size_t left = 0;

    if (!segments->count)
        return;
    tw_call_segment_end(calls);
    tw_calls_end_stacks(calls);
    drop_stacks(calls);
    qsort(segments->items, segments->count, sizeof *segments->items, by_place);
    for (size_t i = 0; i < segments->count; i++)
        segments->items[i]->is_joined = is_empty(segments->items[i]);
    for (size_t i = 0; i < segments->count; i++)
        if (!segments->items[i]->is_joined && (all || is_whole(segments, i)))
            join_from(calls, i);
    for (size_t i = 0; i < segments->count; i++) {
        if (segments->items[i]->is_joined)
            free_segment(segments->items[i]);
        else
            segments->items[left++] = segments->items[i];
    }
    segments->count = left;
}

static uint32_t renumbered(const uint32_t *numbers, uint32_t number)
{
    return number == TW_FUNCTION_ANY ? number : numbers[number];
}

static void renumber_log(struct tw_call_log *log, const uint32_t *functions,
                         const uint32_t *edges)
{
    for (size_t i = 0; i < log->step_count; i++) {
        log->steps[i].to.function = renumbered(functions, log->steps[i].to.function);
        log->steps[i].to.last_function = renumbered(functions, log->steps[i].to.last_function);
    }
    for (size_t i = 0; i < log->pieces.count; i++)
        log->pieces.items[i].function = renumbered(functions, log->pieces.items[i].function);
    for (size_t i = 0; i < log->frame_count; i++)
        log->frames[i].function = functions[log->frames[i].function];
    for (size_t i = 0; i < log->epoch_count; i++)
        log->epochs[i].left.function = functions[log->epochs[i].left.function];
    for (size_t i = 0; i < log->node_count; i++)
        log->nodes[i].edge = edges[log->nodes[i].edge];
}

void tw_call_segment_renumber(struct tw_call_segment *segment, const uint32_t *functions,
                              const uint32_t *edges)
{
    for (size_t i = 0; i < segment->log_count; i++)
        renumber_log(segment->logs[i], functions, edges);
}
