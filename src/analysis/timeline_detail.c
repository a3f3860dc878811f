/* SPDX-License-Identifier: BSD-2-Clause */
/* Level of detail: spans below a length are merged with their neighbours and counted.  A beginning is
   held back until the span is long enough; what is held is the path of open spans, nothing more. */
#include "analysis/timeline.h"
#include "base/memory.h"

enum { DEPTH_MOST = 1 << 16 };

static void output(struct tw_timeline *timeline, const struct tw_timeline_event *event)
{
    const struct tw_times *times = &event->times;

    if (times->estimate != TW_TIME_UNKNOWN && times->estimate > timeline->latest)
        timeline->latest = times->estimate;
    if (times->low == TW_TIME_UNKNOWN && times->high == TW_TIME_UNKNOWN)
        timeline->stats.untimed++;
    if (event->kind == TW_TIMELINE_BEGIN)
        timeline->stats.spans++;
    else if (event->kind != TW_TIMELINE_END)
        timeline->stats.marks++;
    if (timeline->config.event)
        timeline->config.event(timeline->config.context, event);
}

/* Room for one more open span; false: memory is out. */
static bool make_room(struct tw_timeline *timeline, struct tw_track_state *track)
{
    if (TW_GROW(timeline->allocator, &track->open, &track->room, track->count + 2)) {
        if (!track->count) {
            track->open[0] = (struct tw_open_span){ .inside = 0 };
            track->count = track->given = 1;
        }
        return true;
    }
    timeline->is_out = true;
    return false;
}

/* The short spans one after the other that stand in an open one, as one. */
static void give_short(struct tw_timeline *timeline, struct tw_open_span *in)
{
    struct tw_timeline_event begin = in->short_begin, end;

    if (!in->short_count)
        return;
    begin.span = TW_SPAN_SHORT;
    begin.value = in->short_count;
    begin.has_address = false;
    begin.how = 0;
    end = begin;
    end.kind = TW_TIMELINE_END;
    end.times = in->short_end;
    end.instructions = in->short_end_instructions;
    end.begin = &begin;
    in->short_count = 0;
    output(timeline, &begin);
    output(timeline, &end);
}

/* The reader is to see the beginnings of the first `count` open spans. */
static void give_begins(struct tw_timeline *timeline, struct tw_track_state *track,
                        size_t count)
{
    for (; track->given < count; track->given++) {
        give_short(timeline, &track->open[track->given - 1]);
        output(timeline, &track->open[track->given].begin);
    }
}

static bool is_long(const struct tw_timeline *timeline, const struct tw_times *begin,
                    const struct tw_times *end)
{
    if (begin->estimate == TW_TIME_UNKNOWN || end->estimate == TW_TIME_UNKNOWN)
        return true;
    return end->estimate >= begin->estimate &&
           end->estimate - begin->estimate >= timeline->config.least;
}

static void merge(struct tw_timeline *timeline, struct tw_track_state *track,
                  const struct tw_timeline_event *event)
{
    const struct tw_open_span *span = &track->open[track->count - 1];
    struct tw_open_span *in = &track->open[track->count - 2];

    if (!in->short_count)
        in->short_begin = span->begin;
    in->short_count += 1 + span->inside;
    in->inside += 1 + span->inside;
    in->short_end = event->times;
    in->short_end_instructions = event->instructions;
    timeline->stats.merged++;
    track->count--;
}

static void end_span(struct tw_timeline *timeline, struct tw_track_state *track,
                     const struct tw_timeline_event *event)
{
    struct tw_open_span *span = &track->open[track->count - 1];
    struct tw_timeline_event end = *event;

    if (track->given < track->count && !is_long(timeline, &span->begin.times, &event->times)) {
        merge(timeline, track, event);
        return;
    }
    give_begins(timeline, track, track->count);
    give_short(timeline, span);
    end.span = span->begin.span;
    end.what = span->begin.what;
    end.depth = span->begin.depth;
    end.begin = &span->begin;
    output(timeline, &end);
    track->count--;
    track->given--;
}

static void begin_span(struct tw_timeline *timeline, struct tw_track_state *track,
                       const struct tw_timeline_event *event)
{
    const uint32_t most =
        timeline->config.depth_most ? timeline->config.depth_most : DEPTH_MOST;
    struct tw_open_span *span;

    if (event->span == TW_SPAN_FUNCTION && event->depth >= most) {
        timeline->stats.too_deep++;
        track->skipped++;
        return;
    }
    if (!make_room(timeline, track))
        return;
    if (event->span == TW_SPAN_FUNCTION && !event->depth && track->count > 1) {
        struct tw_timeline_event end = *event; /* frames that the stack forgot */

        end.kind = TW_TIMELINE_END;
        end.how = TW_LEAVE_GAP;
        while (track->count > 1)
            end_span(timeline, track, &end);
    }
    span = &track->open[track->count++]; /* the rest is set with the first short one */
    span->begin = *event;
    span->inside = span->short_count = 0;
    if (!timeline->config.least)
        give_begins(timeline, track, track->count);
}

void tw_timeline_give(struct tw_timeline *timeline, const struct tw_timeline_event *event)
{
    struct tw_track_state *track = &timeline->tracks[event->track];

    while (track->given && track->given < track->count &&
           is_long(timeline, &track->open[track->given].begin.times, &event->times))
        give_begins(timeline, track, track->given + 1);
    if (event->kind == TW_TIMELINE_BEGIN) {
        begin_span(timeline, track, event);
    } else if (event->kind != TW_TIMELINE_END) {
        output(timeline, event);
    } else if (track->skipped) {
        track->skipped--;
    } else if (track->count > 1) {
        end_span(timeline, track, event);
    }
}

/* Instructions of a track's thread or source at the end. */
static uint64_t executed(const struct tw_timeline *timeline, const struct tw_track *track)
{
    if (track->kind == TW_TRACK_THREAD)
        return timeline->calls->stacks[track->number]->instructions;
    return timeline->streams[track->stream]->instructions;
}

/* When the trace ends, for what began at `begin`. */
static struct tw_times last_times(const struct tw_timeline *timeline,
                                  const struct tw_times *begin)
{
    const bool is_exact = timeline->unit == TW_UNIT_INSTRUCTIONS;
    uint64_t at = timeline->latest;

    if (begin->estimate != TW_TIME_UNKNOWN && begin->estimate > at)
        at = begin->estimate;
    return (struct tw_times){ at, is_exact ? at : TW_TIME_UNKNOWN, at };
}

void tw_timeline_close_tracks(struct tw_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        struct tw_track_state *track = &timeline->tracks[i];

        track->skipped = 0;
        while (track->count > 1) {
            struct tw_timeline_event end = track->open[track->count - 1].begin;

            end.kind = TW_TIMELINE_END;
            end.instructions = executed(timeline, &track->about);
            end.times = last_times(timeline, &end.times);
            end.how = end.span == TW_SPAN_FUNCTION    ? (uint8_t)TW_LEAVE_END
                      : end.span == TW_SPAN_EXCEPTION ? (uint8_t)TW_EXCEPTION_OPEN
                                                      : end.how;
            end_span(timeline, track, &end);
        }
        if (track->count)
            give_short(timeline, &track->open[0]);
    }
}
