/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks at a place: from the nearest mark on, elements are taken up to there.  Marks are set at the beginning of
   windows as they are gone through, and inside of the window that is looked at. */
#include <string.h>

#include "analysis/calls.h"
#include "base/fault.h"
#include "replay/replay.h"

enum {
    NEAR_WINDOWS = 128, /* so many are gone through for a stack, whatever was asked for */
    BEFORE = 8, /* windows before a place that are gone through where the rest is too far */
    TOGETHER = 64,
    EACH = 2048, /* elements between marks inside a window */
    INSIDE_MOST = 1024
};

void tw_replay_stacks_free(struct tw_replay *replay)
{
    for (size_t i = 0; i < replay->thread_count; i++) {
        struct tw_replay_about *about = replay->threads[i];

        for (size_t k = 0; k < about->mark_count; k++)
            tw_calls_mark_free(replay->calls, about->marks[k].stacks);
        tw_give(replay->allocator, about->marks);
        about->marks = NULL;
        about->mark_count = 0;
    }
}

/* The number of the first mark behind a place. */
static size_t mark_behind(const struct tw_replay_about *about, uint32_t window, size_t element)
{
    size_t low = 0, high = about->mark_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct tw_replay_mark *mark = &about->marks[middle];

        if (mark->window > window || (mark->window == window && mark->element > element))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Marks the stacks as they are now. */
static bool set_mark(struct tw_replay *replay, uint32_t thread, struct tw_replay_mark mark)
{
    struct tw_replay_about *about = replay->threads[thread];
    const size_t at = mark_behind(about, mark.window, mark.element);
    struct tw_replay_mark *before = at ? &about->marks[at - 1] : NULL;

    mark.stacks = tw_calls_mark(replay->calls, thread);
    if (!mark.stacks)
        return false;
    if (before && before->window == mark.window && before->element == mark.element) {
        tw_calls_mark_free(replay->calls, before->stacks);
        *before = mark;
        return true;
    }
    if (!TW_GROW(replay->allocator, &about->marks, &about->mark_room, about->mark_count + 1)) {
        tw_calls_mark_free(replay->calls, mark.stacks);
        return false;
    }
    memmove(&about->marks[at + 1], &about->marks[at],
            (about->mark_count - at) * sizeof *about->marks);
    about->marks[at] = mark;
    about->mark_count++;
    return true;
}

/* Marks inside windows go when there are many. */
static void drop_inside(struct tw_replay *replay, struct tw_replay_about *about)
{
    size_t kept = 0, inside = 0;

    for (size_t i = 0; i < about->mark_count; i++)
        inside += about->marks[i].element != 0;
    if (inside < INSIDE_MOST)
        return;
    for (size_t i = 0; i < about->mark_count; i++) {
        if (about->marks[i].element)
            tw_calls_mark_free(replay->calls, about->marks[i].stacks);
        else
            about->marks[kept++] = about->marks[i];
    }
    about->mark_count = kept;
}

/* ---- whole windows ---- */

struct walk_on {
    struct tw_replay *replay;
    uint32_t thread;
    uint32_t window; /* that the last element was in */
    uint32_t end;
    bool is_whole, is_out;
};

static bool take_part(void *context, uint32_t thread, const struct tw_part *part)
{
    struct walk_on *walk = context;
    struct tw_replay *replay = walk->replay;
    struct tw_part piece = *part;
    size_t first = 0;

    while (thread == walk->thread && first < part->batch.count && !walk->is_out) {
        const struct tw_element *elements = part->batch.elements;
        const uint32_t before = walk->window;
        size_t end = first;

        while (walk->window < walk->end &&
               elements[first].index >= replay->windows[walk->window].to)
            walk->window++;
        if (walk->window >= walk->end)
            return true;
        if (walk->window != before)
            walk->is_out |= !set_mark(
                replay, thread,
                (struct tw_replay_mark){ .window = walk->window, .is_whole = walk->is_whole });
        while (end < part->batch.count &&
               elements[end].index < replay->windows[walk->window].to)
            end++;
        if (end == first)
            end++;
        piece.batch.elements = part->batch.elements + first;
        piece.batch.count = piece.batch.room = end - first;
        walk->is_out |= tw_calls_take(replay->calls, replay->names, &piece) != TW_OK;
        first = end;
    }
    return !walk->is_out;
}

/* From the stacks as they are at the beginning of `from` to those at the beginning of `to`. */
static enum tw_status go_on(struct tw_replay *replay, uint32_t thread, uint32_t from,
                            uint32_t to, bool is_whole)
{
    for (uint32_t end; from < to; from = end) {
        struct walk_on walk = {
            .replay = replay, .thread = thread, .window = from, .is_whole = is_whole
        };

        end = tw_windows_together(replay, from, to - from < TOGETHER ? to - from : TOGETHER);
        walk.end = end;
        TW_TRY(tw_windows_scan(replay, from, end, take_part, &walk));
        if (walk.is_out ||
            !set_mark(replay, thread,
                      (struct tw_replay_mark){ .window = end, .is_whole = is_whole }))
            return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    }
    return TW_OK;
}

/* ---- inside a window ---- */

static enum tw_status take(struct tw_replay *replay, const struct tw_part *part,
                           struct tw_element *elements, size_t count)
{
    struct tw_part piece = *part;

    piece.batch.elements = elements;
    piece.batch.count = piece.batch.room = count;
    return count ? tw_calls_take(replay->calls, replay->names, &piece) : TW_OK;
}

/* Elements [from, to) of a track. */
static enum tw_status take_track(struct tw_replay *replay, const struct tw_replay_track *track,
                                 size_t from, size_t to)
{
    for (size_t i = 0; i < track->stretch_count && from < to; i++) {
        const size_t end =
            i + 1 < track->stretch_count ? track->stretches[i + 1].first : track->count;
        const size_t upto = end < to ? end : to;

        if (end <= from)
            continue;
        TW_TRY(take(replay, &track->stretches[i].part, track->elements + from, upto - from));
        from = upto;
    }
    return TW_OK;
}

/* Goes on from a mark to before an element, with marks on the way. */
static enum tw_status go_inside(struct tw_replay *replay, uint32_t thread,
                                const struct tw_replay_track *track, struct tw_replay_mark mark,
                                size_t element)
{
    while (mark.element < element) {
        const size_t next = element - mark.element > EACH ? mark.element + EACH : element;

        TW_TRY(take_track(replay, track, mark.element, next));
        mark.element = next;
        if (!set_mark(replay, thread, mark))
            return TW_E_MEMORY;
    }
    return TW_OK;
}

/* The instructions of a spot's element up to and with the one at the spot. */
static enum tw_status take_spot(struct tw_replay *replay, struct tw_replay_track *track,
                                const struct tw_track_spot *spot)
{
    const struct tw_part *part = tw_track_part(track, spot->element);
    struct tw_element cut = track->elements[spot->range];
    uint32_t size;
    const uint64_t last = tw_track_address(replay, part, &cut, spot->instruction, &size);

    if (spot->element != spot->range) { /* a REPEAT: so often, and then a part of it */
        const size_t reach = tw_repeat_reach(track->elements, spot->element);
        enum tw_status status = TW_OK;

        for (uint64_t i = 0; status == TW_OK && i < spot->times && i < EACH; i++)
            status = take(replay, part, track->elements + spot->element - reach, reach);
        if (status == TW_OK)
            status = take(replay, part, track->elements + spot->element - reach,
                          spot->range - (spot->element - reach));
        TW_TRY(status);
    }
    cut.count = spot->instruction + 1;
    cut.length = (uint32_t)(last + size - cut.start);
    if (cut.count < track->elements[spot->range].count) {
        cut.flags &= (uint8_t)~TW_RANGE_EXECUTED;
        cut.last_kind = TW_LAST_OTHER;
        cut.last_sub = TW_SUB_NONE;
        cut.last_size = size / 2 & 3;
    }
    return take(replay, part, &cut, 1);
}

/* ---- asking ---- */

/* Goes to the nearest mark at or before a place, or begins anew. */
static enum tw_status go_near(struct tw_replay *replay, uint32_t thread, uint32_t window,
                              size_t element, enum tw_replay_stack wish,
                              struct tw_replay_mark *at)
{
    struct tw_replay_about *about = replay->threads[thread];
    const size_t behind = mark_behind(about, window, element);
    struct tw_replay_mark begin = { .is_whole = true };
    const struct tw_replay_mark *mark = behind ? &about->marks[behind - 1] : NULL;
    size_t number = behind;

    if (wish == TW_REPLAY_STACK_WHOLE)
        while (number && !about->marks[number - 1].is_whole)
            number--;
    mark = number ? &about->marks[number - 1] : NULL;
    if (wish == TW_REPLAY_STACK_NEAR && window - (mark ? mark->window : 0) > NEAR_WINDOWS) {
        begin.window = window > BEFORE ? window - BEFORE : 0;
        begin.is_whole = begin.window == 0;
        mark = NULL;
    }
    *at = mark ? *mark : begin;
    if (!tw_calls_go_back(replay->calls, thread, at->stacks))
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    if (at->window < window) {
        struct tw_replay_data *data;
        struct tw_replay_track *track;

        if (at->element) { /* the rest of a window that was marked inside */
            TW_TRY(tw_windows_load(replay, &data, at->window));
            track = tw_windows_track(data, thread);
            if (track)
                TW_TRY(take_track(replay, track, at->element, track->count));
            at->window++;
        }
        TW_TRY(go_on(replay, thread, at->window, window, at->is_whole));
        at->window = window;
        at->element = 0;
    }
    return TW_OK;
}

/* The instruction set of code that was not looked at: as the program's file says, else as it was. */
static uint8_t isa_at(struct tw_symbols *symbols, uint64_t link, uint8_t isa)
{
    struct tw_code_stretch stretch;

    for (size_t i = 0; symbols && tw_symbols_code(symbols, &stretch, i); i++)
        if (link - stretch.first < stretch.end - stretch.first && stretch.isa != TW_ISA_UNKNOWN)
            return stretch.isa;
    return isa;
}

static void name_frame(struct tw_replay *replay, struct tw_replay_frame *frame,
                       const struct tw_part *part, const struct tw_function *function)
{
    uint64_t link = frame->pc;
    struct tw_symbols *symbols = tw_run_symbols(replay->names, &link, part, frame->pc);

    frame->name = function->name;
    frame->entry = 0;
    if (function->kind == TW_FUNCTION_SYMBOL)
        frame->entry = function->address + (frame->pc - link);
    else if (function->kind == TW_FUNCTION_UNNAMED || function->kind == TW_FUNCTION_NO_CODE)
        frame->entry = function->address;
    if (frame->isa == TW_ISA_A32 || frame->isa == TW_ISA_T32)
        frame->isa = isa_at(symbols, link, frame->isa);
}

enum tw_status tw_replay_stack(struct tw_replay *replay, struct tw_replay_frame *frames,
                               size_t room, size_t *count, bool *is_whole,
                               const struct tw_replay_place *place, enum tw_replay_stack wish)
{
    struct tw_replay_view view = { .size = sizeof view };
    struct tw_replay_data *data;
    struct tw_replay_track *track;
    struct tw_track_spot spot;
    struct tw_replay_mark mark;
    const struct tw_call_stack *stack;

    *count = 0;
    *is_whole = true;
    TW_TRY(tw_replay_look(replay, &view, place));
    drop_inside(replay, replay->threads[place->thread]);
    replay->calls->machine.tree.is_off = replay->calls->machine.edges.is_off = true;
    TW_TRY(tw_windows_load(replay, &data, place->window));
    track = tw_windows_track(data, place->thread);
    if (!track || !tw_track_find(track, &spot, place->instruction))
        return TW_OK;
    TW_TRY(go_near(replay, place->thread, place->window, spot.element, wish, &mark));
    TW_TRY(tw_windows_load(replay, &data, place->window)); /* it may be gone */
    track = tw_windows_track(data, place->thread);
    TW_TRY(go_inside(replay, place->thread, track, mark, spot.element));
    TW_TRY(take_spot(replay, track, &spot));
    view.part.stream = place->thread;
    stack = tw_calls_stack_of(replay->calls, &view.part);
    if (!stack || replay->names->broken == TW_E_MEMORY) /* names would be missing */
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    *count = stack->count;
    *is_whole = mark.is_whole;
    for (size_t i = 0; i < stack->count && i < room; i++) {
        const size_t at = stack->count - 1 - i;

        frames[i] = (struct tw_replay_frame){
            .pc = i ? stack->frames[at + 1].returns_to : view.pc,
            .isa = i ? frames[i - 1].isa : view.isa,
            .kind = stack->frames[at].kind,
            .level = (int32_t)at - stack->outer,
        };
        if (i && !stack->frames[at + 1].has_return)
            frames[i].pc = 0;
        name_frame(replay, &frames[i], &view.part,
                   &replay->calls->functions.items[stack->frames[at].function]);
    }
    return TW_OK;
}
