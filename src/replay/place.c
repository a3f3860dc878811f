/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of a thread: the first and the last, what is there, one step from there. */
#include <trackway/instruction.h>

#include "base/fault.h"
#include "base/sized.h"
#include "replay/replay.h"

int tw_replay_compare(const struct tw_replay_place *a, const struct tw_replay_place *b)
{
    if (a->window != b->window)
        return a->window < b->window ? -1 : 1;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return (int)a->is_end - (int)b->is_end;
}

/* The track of a place; NULL and TW_OK: the thread is not in that window. */
static enum tw_status track_at(struct tw_replay *replay, struct tw_replay_track **track,
                               uint32_t window, uint32_t thread)
{
    struct tw_replay_data *data;

    *track = NULL;
    if (window >= replay->window_count)
        return tw_fail(&replay->fault, TW_E_ARGUMENT, "there is no such place");
    TW_TRY(tw_windows_load(replay, &data, window));
    *track = tw_windows_track(data, thread);
    return TW_OK;
}

/* The nearest window with instructions of a thread, from `window` on (or before it). */
static enum tw_status next_track(struct tw_replay *replay, struct tw_replay_track **track,
                                 uint32_t *window, uint32_t thread, bool is_back)
{
    for (;;) {
        TW_TRY(track_at(replay, track, *window, thread));
        if (*track && (*track)->instructions)
            return TW_OK;
        if (is_back ? *window == 0 : *window + 1 >= replay->window_count)
            return TW_END;
        *window = is_back ? *window - 1 : *window + 1;
    }
}

static enum tw_status end_of_thread(struct tw_replay *replay, struct tw_replay_place *place,
                                    uint32_t thread, bool is_last)
{
    struct tw_replay_track *track;
    uint32_t window = is_last ? (uint32_t)replay->window_count - 1 : 0;

    if (!replay->window_count || thread >= replay->thread_count)
        return TW_END;
    TW_TRY(next_track(replay, &track, &window, thread, is_last));
    *place = (struct tw_replay_place){ .thread = thread,
                                       .window = window,
                                       .instruction = is_last ? track->instructions - 1 : 0 };
    return TW_OK;
}

enum tw_status tw_replay_first(struct tw_replay *replay, struct tw_replay_place *place,
                               uint32_t thread)
{
    struct tw_replay_about *about =
        thread < replay->thread_count ? replay->threads[thread] : NULL;

    if (about && !about->has_first) {
        TW_TRY(end_of_thread(replay, &about->first, thread, false));
        about->has_first = true;
    }
    if (about)
        *place = about->first;
    return about ? TW_OK : TW_END;
}

enum tw_status tw_replay_last(struct tw_replay *replay, struct tw_replay_place *place,
                              uint32_t thread)
{
    struct tw_replay_about *about =
        thread < replay->thread_count ? replay->threads[thread] : NULL;

    if (about && !about->has_last) {
        TW_TRY(end_of_thread(replay, &about->last, thread, true));
        about->has_last = true;
    }
    if (about)
        *place = about->last;
    return about ? TW_OK : TW_END;
}

/* ---- what is there ---- */

/* Where the program goes on after a range; false: the trace does not tell. */
static bool next_address(const struct tw_part *part, const struct tw_element *range,
                         uint64_t *next, uint8_t *isa)
{
    uint8_t bytes[TW_INSTRUCTION_MAX] = { 0 };
    const uint32_t size = range->last_size * 2u;
    const uint64_t at = tw_element_end(range) - size;
    struct tw_instruction_query query = {
        .size = sizeof query, .address = at, .bytes = bytes, .isa = range->isa
    };
    struct tw_instruction_answer answer = { .size = sizeof answer };

    *next = tw_element_end(range);
    *isa = range->isa;
    if (range->last_kind != TW_LAST_BR && range->last_kind != TW_LAST_IBR)
        return true;
    if (!(range->flags & TW_RANGE_EXECUTED))
        return true;
    if (range->last_kind == TW_LAST_IBR || !part->image)
        return false;
    query.count = tw_image_read(part->image, bytes, &part->who.view, at, sizeof bytes);
    if (!query.count || tw_instruction_classify(&answer, &query) != TW_OK)
        return false;
    *next = answer.info.target;
    *isa = answer.target_isa;
    return answer.info.kind == TW_LAST_BR;
}

/* What follows the last instruction of a track. */
static bool is_end_known(const struct tw_replay_track *track, uint64_t *next, uint8_t *isa)
{
    struct tw_track_spot spot;

    if (!track->instructions || !tw_track_find(track, &spot, track->instructions - 1))
        return false;
    for (size_t i = spot.element + 1; i < track->count; i++)
        if (track->elements[i].type == TW_ELEMENT_EXCEPTION ||
            track->elements[i].type == TW_ELEMENT_EXCEPTION_RET ||
            tw_track_loss(NULL, &track->elements[i]))
            return false;
    return next_address(tw_track_part(track, spot.element), &track->elements[spot.range], next,
                        isa);
}

enum tw_status tw_replay_look(struct tw_replay *replay, struct tw_replay_view *view,
                              const struct tw_replay_place *place)
{
    struct tw_replay_view seen = { .size = sizeof seen };
    struct tw_replay_track *track;
    struct tw_track_spot spot;

    TW_TRY(track_at(replay, &track, place->window, place->thread));
    if (!track || !tw_track_find(track, &spot, place->instruction))
        return tw_fail(&replay->fault, TW_E_ARGUMENT, "there is no such place");
    seen.part = *tw_track_part(track, spot.element);
    seen.range = track->elements[spot.range];
    seen.isa = seen.range.isa;
    if (!place->is_end)
        seen.pc =
            tw_track_address(replay, &seen.part, &seen.range, spot.instruction, &seen.pc_size);
    else if (!is_end_known(track, &seen.pc, &seen.isa))
        return tw_fail(&replay->fault, TW_E_ARGUMENT, "there is no such place");
    if (!TW_SIZED_GIVE(view, &seen))
        return tw_fail(&replay->fault, TW_E_ARGUMENT,
                       "tw_replay_view has no size: set it to its sizeof");
    return TW_OK;
}

const struct tw_element *tw_replay_elements(struct tw_replay *replay, size_t *count,
                                            const struct tw_replay_place *place, bool is_before)
{
    struct tw_replay_track *track;
    struct tw_track_spot spot;
    size_t first, end;

    *count = 0;
    if (track_at(replay, &track, place->window, place->thread) != TW_OK || !track ||
        !tw_track_find(track, &spot, place->instruction))
        return NULL;
    if (is_before) {
        if (spot.instruction || spot.times)
            return NULL;
        first = end = spot.element;
        while (first && track->elements[first - 1].type != TW_ELEMENT_INSTR_RANGE)
            first--;
    } else {
        if (spot.instruction + 1 < track->elements[spot.range].count)
            return NULL;
        first = end = spot.element + 1;
        while (end < track->count && track->elements[end].type != TW_ELEMENT_INSTR_RANGE)
            end++;
    }
    *count = end - first;
    return track->elements + first;
}

/* ---- steps ---- */

/* The first loss among elements [first, end), or the last. */
static void see_losses(struct tw_replay_loss *loss, const struct tw_replay_track *track,
                       size_t first, size_t end)
{
    for (size_t i = first; i < end && loss->kind == TW_REPLAY_NO_LOSS; i++)
        (void)tw_track_loss(loss, &track->elements[i]);
}

static enum tw_status step_on(struct tw_replay *replay, struct tw_replay_place *place,
                              struct tw_replay_loss *loss)
{
    struct tw_replay_track *track;
    struct tw_track_spot here, there;
    uint32_t window = place->window;
    uint64_t next;
    uint8_t isa;

    TW_TRY(track_at(replay, &track, window, place->thread));
    if (!track || !tw_track_find(track, &here, place->instruction))
        return tw_fail(&replay->fault, TW_E_ARGUMENT, "there is no such place");
    if (tw_track_find(track, &there, place->instruction + 1)) {
        see_losses(loss, track, here.element + 1, there.element);
        place->instruction++;
        return TW_OK;
    }
    see_losses(loss, track, here.element + 1, track->count);
    while (++window < replay->window_count) {
        TW_TRY(track_at(replay, &track, window, place->thread));
        if (!track)
            continue;
        if (tw_track_find(track, &there, 0)) {
            see_losses(loss, track, 0, there.element);
            place->window = window;
            place->instruction = 0;
            return TW_OK;
        }
        see_losses(loss, track, 0, track->count);
    }
    *loss = (struct tw_replay_loss){ .kind = TW_REPLAY_NO_LOSS };
    TW_TRY(track_at(replay, &track, place->window, place->thread));
    if (!is_end_known(track, &next, &isa))
        return TW_END;
    place->is_end = true;
    return TW_OK;
}

static enum tw_status step_back(struct tw_replay *replay, struct tw_replay_place *place,
                                struct tw_replay_loss *loss)
{
    struct tw_replay_track *track;
    struct tw_track_spot here, there;
    uint32_t window = place->window;

    TW_TRY(track_at(replay, &track, window, place->thread));
    if (!track || !tw_track_find(track, &here, place->instruction))
        return tw_fail(&replay->fault, TW_E_ARGUMENT, "there is no such place");
    if (place->instruction && tw_track_find(track, &there, place->instruction - 1)) {
        see_losses(loss, track, there.element + 1, here.element);
        place->instruction--;
        return TW_OK;
    }
    see_losses(loss, track, 0, here.element);
    while (window--) {
        TW_TRY(track_at(replay, &track, window, place->thread));
        if (!track)
            continue;
        if (track->instructions && tw_track_find(track, &there, track->instructions - 1)) {
            see_losses(loss, track, there.element + 1, track->count);
            place->window = window;
            place->instruction = track->instructions - 1;
            return TW_OK;
        }
        see_losses(loss, track, 0, track->count);
    }
    *loss = (struct tw_replay_loss){ .kind = TW_REPLAY_NO_LOSS };
    return TW_END;
}

enum tw_status tw_replay_step(struct tw_replay *replay, struct tw_replay_place *place,
                              bool is_back, struct tw_replay_loss *loss)
{
    struct tw_replay_loss seen = { .kind = TW_REPLAY_NO_LOSS };
    enum tw_status status;

    if (place->is_end && is_back) {
        place->is_end = false;
        status = TW_OK;
    } else if (place->is_end) {
        status = TW_END;
    } else {
        status = is_back ? step_back(replay, place, &seen) : step_on(replay, place, &seen);
    }
    if (loss)
        *loss = seen;
    return status;
}
