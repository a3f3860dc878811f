/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened when: functions, exceptions, gaps, switches and messages of each thread and source,
   in one clock, as a stream of events.  Times between two timestamps are intervals with an estimate
   inside, never a point that the trace does not tell.  Experimental. */
#ifndef TRACKWAY_TIMELINE_H
#define TRACKWAY_TIMELINE_H

#include <trackway/calls.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_TIME_UNKNOWN UINT64_MAX

/* When something happened: not before `low`, not after `high`; `estimate` lies between them, by the
   cycles or instructions executed since `low`.  TW_TIME_UNKNOWN: not known.  Where `low` and `high`
   are not known but `estimate` is, it is placed by the order of the bytes alone. */
struct tw_times {
    uint64_t low, high, estimate;
};

/* What times count. */
enum tw_time_unit {
    TW_UNIT_AUTO,  /* timestamps where there are any, else cycles, else instructions */
    TW_UNIT_TIME,  /* wanted: timestamps.  As a result: not decided yet */
    TW_UNIT_NS,    /* of the recorder's clock: perf.data */
    TW_UNIT_TICKS, /* of the timestamps in the trace */
    TW_UNIT_CYCLES,
    TW_UNIT_INSTRUCTIONS /* executed before, in the order of the run */
};

/* ---- tracks ---- */

/* What a track shows.  Spans of one track nest like brackets. */
enum tw_track_kind {
    TW_TRACK_THREAD,    /* functions of a thread of execution */
    TW_TRACK_CORE,      /* which thread runs on a core */
    TW_TRACK_EXCEPTION, /* one exception of a core: from its entry to its exit */
    TW_TRACK_GAPS,      /* where trace of a source is missing, and why */
    TW_TRACK_EVENTS,    /* triggers and events of a trace unit */
    TW_TRACK_PORT,      /* what software wrote to an ITM port or STM channel */
    TW_TRACK_DATA,      /* accesses that a comparator of the DWT watched */
    TW_TRACK_SAMPLES,   /* PC samples of the DWT */
    TW_TRACK_COUNTERS,  /* the rest of what the DWT tells, and errors of software trace */
    TW_TRACK_KINDS
};

struct tw_track {
    size_t size;     /* sizeof(struct tw_track) of the library */
    uint8_t kind;    /* enum tw_track_kind */
    uint8_t id;      /* trace ID of its source */
    uint16_t master; /* PORT of an STM */
    uint32_t number; /* EXCEPTION: its number; PORT, DATA: which; THREAD: for tw_calls_thread */
    uint32_t stream; /* of the run: tw_part.stream; THREAD: where it was first seen */
    uint32_t cpu;    /* TW_NONE: not known */
    uint32_t pid, tid;  /* TW_NONE: not known */
    uint64_t context;   /* as in struct tw_call_thread; UINT64_MAX: not known */
    const char *core;   /* as the capture names it; NULL: not known */
    const char *source; /* name of the source; NULL: not known */
    const char *comm;   /* name of the thread; "": not known */
    const char *name;   /* for people: "main (1234)", "cpu 2", "SysTick" ... */
    bool is_m_profile;  /* EXCEPTION: the number is that of an M-profile core */
    bool is_dwt;        /* EXCEPTION: the DWT told of it, not the program flow */
};

/* ---- events ---- */

enum tw_timeline_kind {
    TW_TIMELINE_BEGIN, /* a span begins on its track ... */
    TW_TIMELINE_END,   /* ... and ends: the one that began last of those still open */
    TW_TIMELINE_MARK,  /* something happened */
    TW_TIMELINE_VALUE  /* something has a value from now on */
};

enum tw_span_kind {
    TW_SPAN_FUNCTION,
    TW_SPAN_EXCEPTION,
    TW_SPAN_THREAD, /* `what` is the number of the thread's track */
    TW_SPAN_GAP,
    TW_SPAN_SHORT /* `value` spans below the least length, one after the other, as one */
};

/* Why trace is missing. */
enum tw_gap_reason {
    TW_GAP_OVERFLOW,   /* the trace unit lost trace */
    TW_GAP_DISCARD,    /* ... or gave up what it held back */
    TW_GAP_BAD_TRACE,  /* packets that fit no rule, until the next synchronization */
    TW_GAP_NO_SYNC,    /* synchronization was lost otherwise */
    TW_GAP_NOT_TRACED, /* tracing was off: a filter, or debug state */
    TW_GAP_RECORDER,   /* the recorder lost trace */
    TW_GAP_REASONS
};

/* How a span of an exception begins, and how it ends. */
enum tw_exception_how {
    TW_EXCEPTION_ENTERED,
    TW_EXCEPTION_CHAINED, /* right after another one, without a return between them (M profile) */
    TW_EXCEPTION_FOUND,   /* it was active already: a return to it shows that (DWT) */
    TW_EXCEPTION_RETURNED,
    TW_EXCEPTION_LOST, /* trace went missing: when it ended is not known */
    TW_EXCEPTION_OPEN  /* the trace ends first */
};

/* Something that happened; valid during the call. */
struct tw_timeline_event {
    size_t size; /* sizeof(struct tw_timeline_event) of the library */
    struct tw_times times;
    uint64_t index; /* offset in the capture */
    /* executed before it: of the thread on its track, else of the source */
    uint64_t instructions;
    uint64_t value;   /* MARK, VALUE: what was written; GAP: bytes passed over; SHORT: spans */
    uint64_t address; /* function entered or interrupted, data accessed, PC sampled */
    const char *text; /* MARK: what it says, not ended by a zero; NULL: nothing */
    size_t text_size;
    uint32_t track;
    /* functions: number; exceptions (BEGIN): the function that was interrupted, or TW_NONE;
       threads: their track; marks: number of the event */
    uint32_t what;
    uint32_t
        depth;    /* spans: how many stand below it, of exceptions on all tracks of the core */
    uint8_t kind; /* enum tw_timeline_kind */
    uint8_t span; /* enum tw_span_kind of BEGIN and END */
    uint8_t how;  /* functions: enum tw_call_kind (BEGIN), tw_leave_kind (END); exceptions:
                       enum tw_exception_how; gaps: enum tw_gap_reason */
    uint8_t value_size; /* in bytes; 0: there is no value */
    bool has_address;
    const struct tw_timeline_event *begin; /* END: of the same span */
};

struct tw_timeline_stats {
    size_t size; /* sizeof(struct tw_timeline_stats), set by the caller */
    uint64_t spans, marks;
    uint64_t merged;   /* spans that were below the least length */
    uint64_t too_deep; /* spans beyond the greatest depth */
    uint64_t gaps;
    uint64_t backwards;  /* timestamps less than the one before */
    uint64_t disordered; /* events of a thread that the clock of another core has before */
    uint64_t untimed;    /* events of which neither end of the interval is known */
    uint64_t instructions;
    uint64_t missing; /* times that code was not there */
};

struct tw_timeline;

struct tw_timeline_config {
    size_t size; /* sizeof(struct tw_timeline_config) */
    enum tw_call_key key;
    enum tw_time_unit unit;
    const char *core_type; /* of all traced cores; NULL: as the capture says.  Borrowed */
    bool is_logical;       /* tail calls: as in struct tw_calls_config */
    uint64_t least;        /* spans shorter than this are merged; in the unit of times */
    uint32_t depth_most;   /* functions deeper than this are left out; 0: 65536 */
    void (*event)(void *context, const struct tw_timeline_event *event);
    void *context;
    const struct tw_allocator *allocator;
    bool with_calls; /* what tw_timeline_calls gives has sums and paths */
};

TW_API TW_MUST_USE enum tw_status tw_timeline_new(struct tw_timeline **timeline,
                                                  const struct tw_timeline_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_timeline_free(struct tw_timeline *timeline);
/* The next part of a run.  Events of a track come in order; those of different tracks as their times
   become known. */
TW_API TW_MUST_USE enum tw_status
tw_timeline_take(struct tw_timeline *timeline, struct tw_run *run, const struct tw_part *part);
/* No more comes: what is open ends. */
TW_API TW_MUST_USE enum tw_status tw_timeline_finish(struct tw_timeline *timeline);

/* The calls that its spans are made of: with with_calls they are finished (tw_calls_finish, tw_profile_finish)
   and asked after the timeline, without a second look at the run.  Functions get other numbers then. */
TW_API struct tw_calls *tw_timeline_calls(struct tw_timeline *timeline);

/* Known from the first event on. */
TW_API enum tw_time_unit tw_timeline_unit(const struct tw_timeline *timeline);
TW_API const char *tw_time_unit_name(unsigned unit); /* "ns", "ticks", "cycles" ... */
TW_API size_t tw_timeline_track_count(const struct tw_timeline *timeline);
/* NULL: there is no such number.  Lasts until the next take. */
TW_API const struct tw_track *tw_timeline_track(const struct tw_timeline *timeline,
                                                size_t number);
TW_API const struct tw_functions *tw_timeline_functions(const struct tw_timeline *timeline);
/* False: the size cannot be. */
TW_API bool tw_timeline_stats(const struct tw_timeline *timeline,
                              struct tw_timeline_stats *stats);

/* What a span is called, raw: lasts as long as the timeline, or until the next call for those that
   have no name of their own. */
TW_API const char *tw_timeline_span_name(struct tw_timeline *timeline,
                                         const struct tw_timeline_event *event);
TW_API const char *tw_gap_reason_name(unsigned reason);

#ifdef __cplusplus
}
#endif

#endif
