/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions that a core is in: entered, left, chained.  They nest on a core, whatever task goes on
   afterwards. */
#include <string.h>

#include "analysis/timeline.h"

static struct tw_moment moment_of(const struct tw_timeline *timeline,
                                  const struct tw_timeline_stream *stream, uint64_t index,
                                  const struct tw_active_exception *active)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, index);

    moment.track = active->track;
    moment.span = TW_SPAN_EXCEPTION;
    moment.what = active->interrupted;
    moment.depth = (uint32_t)stream->active_count;
    return moment;
}

void tw_timeline_leave(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       uint64_t index, enum tw_exception_how how, bool is_late)
{
    struct tw_moment moment;

    if (!stream->active_count)
        return;
    stream->active_count--;
    stream->interrupted = stream->active[stream->active_count].interrupted;
    moment = moment_of(timeline, stream, index, &stream->active[stream->active_count]);
    moment.kind = TW_TIMELINE_END;
    moment.how = (uint8_t)how;
    moment.is_late = is_late;
    tw_timeline_moment(timeline, stream, &moment);
}

void tw_timeline_leave_all(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                           uint64_t index, enum tw_exception_how how)
{
    while (stream->active_count)
        tw_timeline_leave(timeline, stream, index, how, false);
}

/* The outermost one is forgotten: its end will not be known. */
static void make_room(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                      uint64_t index)
{
    struct tw_moment moment;

    if (stream->active_count < TW_ACTIVE_MOST)
        return;
    moment = moment_of(timeline, stream, index, &stream->active[0]);
    moment.kind = TW_TIMELINE_END;
    moment.how = TW_EXCEPTION_LOST;
    tw_timeline_moment(timeline, stream, &moment);
    stream->active_count--;
    memmove(stream->active, stream->active + 1, stream->active_count * sizeof *stream->active);
}

/* ETMv3 cannot tell a chain from a return with an entry at once: neither has an address to return to,
   and nothing was executed between the two. */
static bool is_chained(const struct tw_timeline_stream *stream,
                       const struct tw_element *exception)
{
    if (exception->flags & TW_EXCEPTION_TAIL_CHAIN)
        return true;
    return stream->form == TW_FORM_ARMV7_M && stream->returned_at == stream->instructions &&
           !(exception->flags & TW_EXCEPTION_HAS_RETURN);
}

void tw_timeline_enter(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       const struct tw_element *exception, uint32_t interrupted)
{
    const uint32_t number = tw_exception_number(stream->form, exception);
    struct tw_active_exception *active;
    struct tw_moment moment;

    make_room(timeline, stream, exception->index);
    active = &stream->active[stream->active_count];
    *active = (struct tw_active_exception){
        .track = tw_timeline_what_track(timeline, stream, TW_TRACK_EXCEPTION, 0, number),
        .number = number,
        /* right after another one: what that one had interrupted */
        .interrupted =
            stream->returned_at == stream->instructions ? stream->interrupted : interrupted,
        .instructions = stream->instructions,
    };
    moment = moment_of(timeline, stream, exception->index, active);
    moment.kind = TW_TIMELINE_BEGIN;
    moment.how = is_chained(stream, exception) ? (uint8_t)TW_EXCEPTION_CHAINED
                                               : (uint8_t)TW_EXCEPTION_ENTERED;
    if (exception->flags & TW_EXCEPTION_HAS_RETURN) {
        moment.value = exception->return_address;
        moment.has_address = true;
    }
    stream->active_count++;
    stream->returned_at = UINT64_MAX;
    tw_timeline_moment(timeline, stream, &moment);
}
