/* SPDX-License-Identifier: BSD-2-Clause */
/* When something happened that lies between two timestamps: an interval, and an estimate inside it
   that spreads the time by cycles or instructions.  Never a point that the trace does not tell. */
#ifndef ANALYSIS_CLOCK_H
#define ANALYSIS_CLOCK_H

#include <trackway/timeline.h>

#include "base/compiler.h"

/* Where the time is known: after so many instructions (and cycles) of the thread it was `time`. */
struct tw_anchor {
    uint64_t instructions;
    uint64_t cycles;
    uint64_t time;
};

/* What waits for the timestamp after it. */
struct tw_waiting {
    struct tw_timed_event event;
    uint64_t cycles;
};

struct tw_event_clock {
    struct tw_anchor before, last; /* `last` is the newest */
    uint8_t anchor_count;          /* 0, 1, 2: how many of them are known */
    struct tw_waiting *waiting;    /* in order */
    size_t count, room;
    void (*give)(void *context, const struct tw_timed_event *event);
    void *context;
    const struct tw_allocator *allocator;
};

void tw_event_clock_release(struct tw_event_clock *clock);
/* A timestamp. */
void tw_event_clock_anchor(struct tw_event_clock *clock, const struct tw_anchor *anchor);
/* It is at least `time` now: the thread goes on after others ran. */
void tw_event_clock_not_before(struct tw_event_clock *clock, const struct tw_anchor *anchor);
/* Something happened after `event->instructions`: given on with its times, now or when the next
   timestamp has come. */
void tw_event_clock_take(struct tw_event_clock *clock, const struct tw_call_event *event,
                         uint64_t cycles);
/* No more timestamps come before a gap or the end. */
void tw_event_clock_flush(struct tw_event_clock *clock);

#endif
