/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions and interrupts, added up: how often, how long, how regularly, what they interrupted.
   From a timeline: program flow (ETM, E-Trace ...), exception trace of the DWT (tw_track.is_dwt), or both, each source for
   itself.  Experimental. */
#ifndef TRACKWAY_INTERRUPTS_H
#define TRACKWAY_INTERRUPTS_H

#include <trackway/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TW_INTERRUPT_BUCKETS = 65 };

/* Lengths, in what the timeline counts. */
struct tw_interrupt_lengths {
    uint64_t count, sum;
    uint64_t least, most;                   /* 0 where there is none */
    uint64_t buckets[TW_INTERRUPT_BUCKETS]; /* n: those from 2^(n-1) to before 2^n; 0: zeros */
};

/* What was interrupted. */
struct tw_interrupted {
    uint32_t function; /* of the timeline's functions; TW_NONE: not known */
    uint64_t count;
};

/* One exception of one source. */
struct tw_interrupt {
    size_t size;    /* sizeof(struct tw_interrupt) of the library */
    uint32_t track; /* of the timeline: number, name and source are its */
    uint32_t number;
    uint64_t count; /* entries, and those that were active already when they were first seen */
    uint64_t chained;   /* of these: right after another one, without a return between */
    uint64_t nested;    /* ... that interrupted another exception */
    uint64_t preempted; /* ... that were interrupted by another one */
    uint64_t open;      /* ... whose beginning or end is not known: they are in no length */
    uint32_t depth;     /* greatest: how many stood below it */
    struct tw_interrupt_lengths gross;        /* from entry to exit */
    struct tw_interrupt_lengths net;          /* ... without the exceptions inside */
    struct tw_interrupt_lengths period;       /* from one entry to the next */
    struct tw_interrupt_lengths instructions; /* executed from entry to exit; flow alone */
    uint64_t estimated; /* lengths with an end that is not known to the unit */
    const struct tw_interrupted *interrupted; /* most first */
    size_t interrupted_count;
};

/* One exception from its entry to its exit; valid during the call. */
struct tw_interrupt_event {
    size_t size; /* sizeof(struct tw_interrupt_event) of the library */
    uint32_t track, number;
    const struct tw_timeline_event *begin, *end;
    bool has_lengths;
    uint64_t gross, net;
    uint32_t interrupted; /* function, or TW_NONE */
    uint32_t under;       /* track of the exception that it interrupted; TW_NONE: none */
};

struct tw_interrupts;

struct tw_interrupts_config {
    size_t size; /* sizeof(struct tw_interrupts_config) */
    struct tw_timeline *timeline;
    void (*event)(void *context, const struct tw_interrupt_event *event); /* NULL: not wanted */
    void *context;
    const struct tw_allocator *allocator;
};

TW_API TW_MUST_USE enum tw_status tw_interrupts_new(struct tw_interrupts **interrupts,
                                                    const struct tw_interrupts_config *config,
                                                    struct tw_fault *fault);
TW_API void tw_interrupts_free(struct tw_interrupts *interrupts);
/* An event of the timeline; what is no exception changes nothing. */
TW_API TW_MUST_USE enum tw_status tw_interrupts_take(struct tw_interrupts *interrupts,
                                                     const struct tw_timeline_event *event);
/* By source, then number; NULL: there is no such one.  Lasts until the next take. */
TW_API const struct tw_interrupt *tw_interrupts_get(struct tw_interrupts *interrupts,
                                                    size_t number);

#ifdef __cplusplus
}
#endif

#endif
