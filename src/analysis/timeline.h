/* SPDX-License-Identifier: BSD-2-Clause */
/* What a timeline is made of.  Its events take this way: found (timeline.c, timeline_exceptions.c,
   timeline_channels.c), held until it is known what times count (timeline_hold.c), timed (clock.c),
   and merged where they are short (timeline_detail.c). */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include <trackway/channels.h>
#include <trackway/timeline.h>

#include "analysis/calls.h"
#include "analysis/clock.h"
#include "analysis/exceptions.h"

/* A span that is open on a track. */
struct tw_open_span {
    struct tw_timeline_event begin;
    uint64_t inside; /* spans inside it that the reader has not seen */
    /* spans inside it, one after the other, that were below the least length */
    uint64_t short_count;
    struct tw_timeline_event short_begin; /* of the first of them ... */
    struct tw_times short_end;            /* ... and the end of the last */
    uint64_t short_end_instructions;
};

struct tw_track_state {
    struct tw_track about;
    struct tw_open_span *open; /* the first stands for the track itself */
    size_t count, room;
    size_t given; /* of those that are open, the reader has seen the beginnings of so many */
    uint64_t skipped;       /* open spans beyond the greatest depth */
    uint32_t stream;        /* whose clock its last event went through */
    uint64_t low, estimate; /* of its last event: those that follow are not before */
    char *name;
};

/* An exception that a core is in. */
struct tw_active_exception {
    uint32_t track;
    uint32_t number;
    uint32_t interrupted;  /* function, or TW_NONE */
    uint64_t instructions; /* of the source when it was entered */
};

enum { TW_ACTIVE_MOST = 256 }; /* deeper, the outermost is forgotten */

/* What is known of a stream of the run: a source in a ring. */
struct tw_timeline_stream {
    struct tw_event_clock clock;
    bool is_known;
    uint8_t id;
    enum tw_exception_form form;
    uint64_t instructions, cycles;
    const struct tw_element *summed; /* cycles of elements before it are in `cycles` */
    uint32_t core_track, gap_track, event_track, running; /* TW_NONE: there is none yet */
    bool has_gap;                                         /* it is open */
    bool has_begun;                                       /* something was executed */
    bool has_ended;  /* the buffer: what comes next is of another one */
    bool has_exited; /* DWT: an exception was left, and what comes next is not known yet */
    bool in_kernel;  /* a handler that is not traced runs: "[kernel]" is open on kernel_track */
    uint32_t kernel_track;
    uint64_t returned_at; /* instructions when an exception was left last ... */
    uint32_t interrupted; /* ... and the function that it had interrupted */
    struct tw_active_exception active[TW_ACTIVE_MOST];
    size_t active_count;
    struct tw_channels *channels; /* NULL: no software trace */
    struct tw_timeline *timeline;
    uint32_t number;
    uint32_t run_stream;  /* as in struct tw_part */
    const char *protocol; /* of its source; "": it has none */
    const char *core, *source;
    uint32_t cpu;
};

struct tw_buffered_event;

struct tw_timeline {
    struct tw_timeline_config config;
    struct tw_calls *calls;
    struct tw_timeline_stream **streams;
    size_t stream_count, stream_room;
    struct tw_track_state *tracks;
    size_t track_count, track_room;
    struct tw_map by_thread; /* thread of calls to its track + 1 */
    struct tw_map by_what;   /* stream, kind, number to a track + 1 */
    enum tw_time_unit unit;  /* AUTO, TIME: not decided */
    uint8_t clock; /* enum tw_clock of the timestamps that were seen; NONE: none yet */
    struct tw_buffered_event *buffered; /* while it is not decided */
    size_t buffered_count, buffered_room;
    bool has_cycles, has_flow, has_channel_time;
    uint64_t instructions, cycles; /* of all sources */
    uint64_t latest;               /* estimate of any event given */
    struct tw_timeline_stats stats;
    struct tw_timeline_stream *at_work;
    uint32_t thread_track;          /* at work ... */
    uint64_t stream_base, run_base; /* ... and instructions before the part */
    bool is_out, is_finished;
    char scratch[64];
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

/* timeline_tracks.c: numbers of tracks, made when they are new; TW_NONE when memory is out. */
uint32_t tw_timeline_thread_track(struct tw_timeline *timeline, uint32_t thread,
                                  const struct tw_part *part);
/* The place of a part's stream in `streams`, made or not.  Captures may number streams alike that have nothing
   to do with each other: ETM in one, ITM in the other. */
size_t tw_timeline_find_stream(const struct tw_timeline *timeline, const struct tw_part *part);
/* `master` of what an ITM tells. */
enum { TW_ITM_MASTER = UINT16_MAX };
uint32_t tw_timeline_what_track(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                                enum tw_track_kind kind, uint16_t master, uint32_t number);

/* timeline_hold.c: an event of a stream, a timestamp or cycle count, an event that has its time. */
void tw_timeline_moment(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                        const struct tw_moment *moment);
void tw_timeline_anchor(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                        const struct tw_anchor *anchor, bool is_cycles);
/* `ticks`: where times count timestamps, it is not before this one; TW_TIME_UNKNOWN: nobody knows. */
void tw_timeline_timed(struct tw_timeline *timeline, const struct tw_timeline_event *event,
                       enum tw_time_unit unit, uint64_t ticks);
/* The clock of a stream: what waits goes out. */
void tw_timeline_flush(struct tw_timeline *timeline, struct tw_timeline_stream *stream);
/* No more timestamps come: it is decided by what there is. */
void tw_timeline_decide(struct tw_timeline *timeline);

/* ... or nobody wants to know. */
void tw_timeline_drop_buffered(struct tw_timeline *timeline);

/* timeline_detail.c: events with their times, in the order of their track. */
void tw_timeline_give(struct tw_timeline *timeline, const struct tw_timeline_event *event);
/* Ends what is open. */
void tw_timeline_close_tracks(struct tw_timeline *timeline);

/* timeline_exceptions.c */
void tw_timeline_enter(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       const struct tw_element *exception, uint32_t interrupted);
/* The innermost one ends. */
void tw_timeline_leave(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                       uint64_t index, enum tw_exception_how how, bool is_late);
void tw_timeline_leave_all(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                           uint64_t index, enum tw_exception_how how);

/* timeline_gaps.c: why trace is missing at an element; and where that begins and ends in a stream. */
enum tw_gap_reason tw_timeline_gap_reason(const struct tw_element *element);
void tw_timeline_begin_gap(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                           uint64_t index, enum tw_gap_reason reason, uint64_t bytes);
void tw_timeline_end_gap(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                         uint64_t index);
/* A handler that is not traced ends, if one runs. */
void tw_timeline_end_kernel(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                            uint64_t index, bool is_late);

/* timeline_channels.c */
bool tw_timeline_channels(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                          const struct tw_part *part);

/* A moment of a stream as it is now. */
struct tw_moment tw_timeline_now(const struct tw_timeline *timeline,
                                 const struct tw_timeline_stream *stream, uint64_t index);

#endif
