/* SPDX-License-Identifier: BSD-2-Clause */
/* When something happened that lies between two timestamps: an interval, and an estimate inside it
   that spreads the time by cycles or instructions.  Never a point that the trace does not tell. */
#ifndef ANALYSIS_CLOCK_H
#define ANALYSIS_CLOCK_H

#include <trackway/timeline.h>

#include "base/compiler.h"

/* Where the time is known: after so many instructions (and cycles) of the source it was `time`. */
struct tw_anchor {
    uint64_t instructions;
    uint64_t cycles;
    uint64_t time;
};

/* An event of a timeline on its way to its times. */
struct tw_moment {
    uint64_t index;
    uint64_t instructions; /* of the thread, as the event is to say */
    uint64_t position;     /* ... of the source: where it stands between timestamps */
    uint64_t run_position; /* ... of all sources, in the order of the run */
    uint64_t cycles;       /* of the source */
    uint64_t floor;        /* it is not before this: what came before it on its track was not */
    uint64_t value;        /* address of a function, bytes of a gap, value of a mark */
    uint32_t track;
    uint32_t what;
    uint32_t depth;
    uint8_t kind, span, how;
    bool is_late : 1; /* after the last timestamp, though nothing was executed since */
    bool has_gap : 1; /* trace is missing right after it */
    bool has_address : 1;
    bool has_value : 1;
};

struct tw_event_clock {
    struct tw_anchor before, last; /* `last` is the newest */
    uint64_t first; /* of the timestamps after which nothing was executed yet, the first one */
    uint8_t anchor_count;      /* 0, 1, 2: how many of the two are known */
    struct tw_moment *waiting; /* in order */
    size_t count, room;
    size_t gap_at;      /* of those that wait, the first one after missing trace */
    uint64_t estimate;  /* the last one given: they do not decrease */
    uint64_t backwards; /* timestamps less than the one before */
    void (*give)(void *context, const struct tw_moment *moment, const struct tw_times *times);
    void *context;
    const struct tw_allocator *allocator;
};

void tw_event_clock_init(struct tw_event_clock *clock, const struct tw_allocator *allocator);
void tw_event_clock_release(struct tw_event_clock *clock);
/* A timestamp. */
void tw_event_clock_anchor(struct tw_event_clock *clock, const struct tw_anchor *anchor);
/* Something happened after `moment->position`: given on with its times, now or when the next
   timestamp has come. */
void tw_event_clock_take(struct tw_event_clock *clock, const struct tw_moment *moment);
/* What waits goes out without a time that it is not after: no more timestamps come, or its thread
   goes on elsewhere. */
void tw_event_clock_flush(struct tw_event_clock *clock);

#endif
