/* SPDX-License-Identifier: BSD-2-Clause */
/* What times count is known when the first timestamp comes, or when it is clear that none does.  Until
   then events, timestamps and cycle counts are held in their order. */
#include <string.h>

#include "analysis/timeline.h"
#include "base/memory.h"

enum { BUFFERED_MOST = 1 << 16 };

enum buffered_kind { BUFFERED_MOMENT, BUFFERED_TIME, BUFFERED_CYCLES, BUFFERED_TIMED };

struct tw_buffered_event {
    uint8_t kind; /* enum buffered_kind */
    uint8_t unit; /* BUFFERED_TIMED: enum tw_time_unit */
    struct tw_timeline_stream *stream;
    uint64_t ticks; /* BUFFERED_TIMED */
    union {
        struct tw_moment moment;
        struct tw_anchor anchor;
        struct tw_timeline_event event; /* its text is our copy */
    };
};

static bool is_decided(const struct tw_timeline *timeline)
{
    return timeline->unit > TW_UNIT_TIME;
}

/* Times of a moment where they need no timestamps. */
static bool is_exact(const struct tw_timeline *timeline)
{
    return timeline->unit == TW_UNIT_INSTRUCTIONS;
}

static void put_moment(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       const struct tw_moment *moment)
{
    struct tw_moment own;

    if (is_exact(timeline)) {
        const uint64_t at = moment->run_position;
        const struct tw_times times = { at, at, at };

        stream->clock.give(stream, moment, &times);
        return;
    }
    /* A thread that goes on elsewhere leaves nothing behind that would come out later. */
    if (timeline->tracks[moment->track].stream != stream->number) {
        const uint32_t last = timeline->tracks[moment->track].stream;

        if (last < timeline->stream_count && timeline->streams[last])
            tw_event_clock_flush(&timeline->streams[last]->clock);
        timeline->tracks[moment->track].stream = stream->number;
    }
    own = *moment;
    own.floor = timeline->tracks[moment->track].low;
    tw_event_clock_take(&stream->clock, &own);
}

static void put_anchor(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       const struct tw_anchor *anchor, bool is_cycles)
{
    if (is_exact(timeline) || is_cycles != (timeline->unit == TW_UNIT_CYCLES))
        return;
    if (stream->clock.anchor_count && anchor->time < stream->clock.last.time) {
        tw_event_clock_flush(
            &stream->clock); /* the clock begins again, and its tracks with it */
        for (size_t i = 0; i < timeline->track_count; i++)
            if (timeline->tracks[i].stream == stream->number)
                timeline->tracks[i].low = timeline->tracks[i].estimate = 0;
    }
    tw_event_clock_anchor(&stream->clock, anchor);
}

/* An event whose time counts something else is placed by the order of the bytes. */
static void put_timed(struct tw_timeline *timeline, struct tw_timeline_event *event,
                      enum tw_time_unit unit, uint64_t ticks)
{
    if (unit != timeline->unit || event->times.estimate == TW_TIME_UNKNOWN) {
        event->times.low = timeline->unit == TW_UNIT_TICKS ? ticks : TW_TIME_UNKNOWN;
        event->times.high = TW_TIME_UNKNOWN;
        event->times.estimate =
            event->times.low != TW_TIME_UNKNOWN ? event->times.low : timeline->latest;
        if (is_exact(timeline))
            event->times.estimate = timeline->instructions;
    }
    tw_timeline_give(timeline, event);
}

static void replay(struct tw_timeline *timeline)
{
    struct tw_buffered_event *buffered = timeline->buffered;
    const size_t count = timeline->buffered_count;

    timeline->buffered = NULL;
    timeline->buffered_count = timeline->buffered_room = 0;
    for (size_t i = 0; i < count; i++) {
        switch (buffered[i].kind) {
        case BUFFERED_MOMENT:
            put_moment(timeline, buffered[i].stream, &buffered[i].moment);
            break;
        case BUFFERED_TIMED:
            put_timed(timeline, &buffered[i].event, (enum tw_time_unit)buffered[i].unit,
                      buffered[i].ticks);
            tw_give(timeline->allocator, (void *)(uintptr_t)buffered[i].event.text);
            break;
        default:
            put_anchor(timeline, buffered[i].stream, &buffered[i].anchor,
                       buffered[i].kind == BUFFERED_CYCLES);
            break;
        }
    }
    tw_give(timeline->allocator, buffered);
}

void tw_timeline_decide(struct tw_timeline *timeline)
{
    if (is_decided(timeline))
        return;
    if (timeline->clock != TW_CLOCK_NONE)
        timeline->unit = timeline->clock == TW_CLOCK_RECORD ? TW_UNIT_NS : TW_UNIT_TICKS;
    else if (timeline->unit == TW_UNIT_TIME)
        timeline->unit =
            TW_UNIT_TICKS; /* asked for, and there are none: all times are unknown */
    else if (timeline->has_flow)
        timeline->unit = timeline->has_cycles ? TW_UNIT_CYCLES : TW_UNIT_INSTRUCTIONS;
    else
        timeline->unit = timeline->has_channel_time ? TW_UNIT_CYCLES : TW_UNIT_INSTRUCTIONS;
    replay(timeline);
}

void tw_timeline_drop_buffered(struct tw_timeline *timeline)
{
    for (size_t i = 0; i < timeline->buffered_count; i++)
        if (timeline->buffered[i].kind == BUFFERED_TIMED)
            tw_give(timeline->allocator, (void *)(uintptr_t)timeline->buffered[i].event.text);
    tw_give(timeline->allocator, timeline->buffered);
    timeline->buffered = NULL;
    timeline->buffered_count = timeline->buffered_room = 0;
}

static struct tw_buffered_event *add_buffered(struct tw_timeline *timeline)
{
    if (timeline->buffered_count < BUFFERED_MOST) {
        if (TW_GROW(timeline->allocator, &timeline->buffered, &timeline->buffered_room,
                    timeline->buffered_count + 1))
            return &timeline->buffered[timeline->buffered_count++];
        timeline->is_out = true;
    }
    tw_timeline_decide(timeline);
    return NULL;
}

void tw_timeline_moment(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                        const struct tw_moment *moment)
{
    struct tw_buffered_event *buffered;

    if (moment->track == TW_NONE)
        return; /* memory is out */
    buffered = is_decided(timeline) ? NULL : add_buffered(timeline);
    if (buffered)
        *buffered = (struct tw_buffered_event){ .kind = BUFFERED_MOMENT,
                                                .stream = stream,
                                                .moment = *moment };
    else
        put_moment(timeline, stream, moment);
}

void tw_timeline_anchor(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                        const struct tw_anchor *anchor, bool is_cycles)
{
    struct tw_buffered_event *buffered;

    if (!is_decided(timeline) && !is_cycles)
        tw_timeline_decide(timeline);
    buffered = is_decided(timeline) ? NULL : add_buffered(timeline);
    if (buffered)
        *buffered =
            (struct tw_buffered_event){ .kind = is_cycles ? BUFFERED_CYCLES : BUFFERED_TIME,
                                        .stream = stream,
                                        .anchor = *anchor };
    else
        put_anchor(timeline, stream, anchor, is_cycles);
}

void tw_timeline_timed(struct tw_timeline *timeline, const struct tw_timeline_event *event,
                       enum tw_time_unit unit, uint64_t ticks)
{
    struct tw_timeline_event own = *event;
    struct tw_buffered_event *buffered;
    char *text = NULL;

    if (event->track == TW_NONE)
        return; /* memory is out */
    buffered = is_decided(timeline) ? NULL : add_buffered(timeline);
    if (!buffered) {
        put_timed(timeline, &own, unit, ticks);
        return;
    }
    if (event->text) {
        text = tw_take_raw(timeline->allocator, event->text_size + 1);
        if (text)
            memcpy(text, event->text, event->text_size);
        timeline->is_out |= !text;
        own.text = text;
        own.text_size = text ? event->text_size : 0;
    }
    *buffered = (struct tw_buffered_event){
        .kind = BUFFERED_TIMED, .unit = (uint8_t)unit, .ticks = ticks, .event = own
    };
}

void tw_timeline_flush(struct tw_timeline *timeline, struct tw_timeline_stream *stream)
{
    if (is_decided(timeline))
        tw_event_clock_flush(&stream->clock);
}
