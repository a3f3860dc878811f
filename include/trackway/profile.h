/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the instructions and the time went: exact counts by function, line, address, thread, program or
   source.  Time lies between the points where the trace tells it, and is given as an interval with
   an estimate inside it.  Experimental. */
#ifndef TRACKWAY_PROFILE_H
#define TRACKWAY_PROFILE_H

#include <trackway/calls.h>
#include <trackway/coverage.h>
#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_profiler; /* types.h has an enum of the other name */

/* What a row is. */
enum tw_profile_by {
    TW_PROFILE_FUNCTION,
    TW_PROFILE_LINE,
    TW_PROFILE_ADDRESS,
    TW_PROFILE_THREAD,
    TW_PROFILE_PROGRAM, /* a process; where none is known, the file that the code is from */
    TW_PROFILE_SOURCE   /* of trace: a core, a hart */
};

struct tw_profile_config {
    size_t size; /* sizeof(struct tw_profile_config) */
    enum tw_profile_by by;
    /* Functions: entries and totals too, for which calls are followed.  The handle is the caller's, gets
       its parts from tw_profile_take and is finished by tw_profile_finish.  NULL: only what was
       executed in the function itself is known. */
    struct tw_calls *calls;
    /* Functions, without calls: code that was inlined counts for the function that it was written in, by
       the debug information; total: ... and for those that it was inlined into. */
    bool with_inlined;
    bool with_time; /* with tw_profile_take: cycles and time */
    const struct tw_allocator *allocator;
};

TW_API TW_MUST_USE enum tw_status tw_profile_new(struct tw_profiler **profile,
                                                 const struct tw_profile_config *config,
                                                 struct tw_fault *fault);
TW_API void tw_profile_free(struct tw_profiler *profile);

/* The fast way: instructions are counted on the threads that decode.  A run gets this as its config's
   counter; after tw_run_new tell which run it is; then tw_run_all.  Several runs may follow each
   other.  Captures and runs must outlive the results. */
TW_API struct tw_run_counter tw_profile_counter(struct tw_profiler *profile);
TW_API void tw_profile_run(struct tw_profiler *profile, struct tw_run *run);
/* The other way, with calls or time: the next part of a run. */
TW_API TW_MUST_USE enum tw_status
tw_profile_take(struct tw_profiler *profile, struct tw_run *run, const struct tw_part *part);
/* No more comes: works out the rows.  Call it before they are read. */
TW_API TW_MUST_USE enum tw_status tw_profile_finish(struct tw_profiler *profile);

/* Results that were finished, as files: saved, loaded, added.  The sum does not depend on the order.
   Refused: rows of another kind, and results of other builds of a program.  A row that came from a file
   has no `function`. */
TW_API TW_MUST_USE enum tw_status tw_profile_save(struct tw_profiler *profile, const char *path,
                                                  struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_profile_load(struct tw_profiler **profile,
                                                  const char *path,
                                                  const struct tw_allocator *allocator,
                                                  struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status
tw_profile_add(struct tw_profiler *profile, struct tw_profiler *other, struct tw_fault *fault);

/* Time or cycles.  The trace tells them at some points only: `estimate` shares what lies between two of
   them by cycles or instructions; `least` is what no other row can have had, `most` what it can have
   had at most. */
struct tw_spent {
    uint64_t estimate, least, most;
};

/* Bits of tw_profile_row.known. */
enum {
    TW_PROFILE_HAS_CALLS = 1,  /* entries by call, total */
    TW_PROFILE_HAS_CYCLES = 2, /* cycles */
    TW_PROFILE_HAS_TIME = 4,   /* time */
    TW_PROFILE_HAS_BOUNDS = 8, /* least and most of both; else they are 0 and all there is */
    TW_PROFILE_IS_KNOWN = 16,  /* the row has a name; else it stands for what has none */
    TW_PROFILE_IS_INLINED =
        32, /* ... of a function that was inlined: what code motion mixed stays mixed */
    TW_PROFILE_HAS_TOTAL = 64 /* total, by inlining alone */
};

/* Members that do not fit what a row is are NULL, 0 or TW_NONE. */
struct tw_profile_row {
    /* of the function, thread, program, source; of an address: its function */
    const char *name;
    const char *object; /* file that the code is from */
    const char *file;   /* of the source line ... */
    uint32_t line;      /* ... 0: not known */
    uint32_t pid, tid;
    uint64_t address;  /* as linked: first of the function, or the instruction's */
    uint64_t context;  /* context ID; UINT64_MAX: not known */
    uint32_t function; /* number for tw_calls_functions, with calls; else 0 */
    uint8_t known;     /* bits above */
    uint8_t isa;       /* enum tw_isa of an address */
    uint64_t entries;  /* times that the function was entered, or the instruction executed */
    uint64_t self;     /* instructions */
    uint64_t total;    /* ... and of what it called */
    struct tw_spent cycles, time;
};

/* In the order of `self`, the greatest first; NULL: there is no such number. */
TW_API const struct tw_profile_row *tw_profile_row(const struct tw_profiler *profile,
                                                   size_t number);

struct tw_profile_totals {
    size_t size;           /* sizeof(struct tw_profile_totals), set by the caller */
    uint64_t instructions; /* all that were executed: the sum of the rows */
    uint64_t unknown;      /* ... of those, in rows without a name */
    uint64_t untraced;     /* ... of those, executed where the trace does not say */
    uint64_t missing;      /* times that code was not there */
    uint64_t cycles, time; /* between the first and the last point where they are told ... */
    uint64_t lost_cycles, lost_time; /* ... of those, with trace missing between */
    uint8_t clock;                   /* enum tw_clock of `time` */
    bool has_cycles, has_time;
};

/* False: the size cannot be. */
TW_API TW_MUST_USE bool tw_profile_totals(const struct tw_profiler *profile,
                                          struct tw_profile_totals *totals);

/* How often a conditional branch that was executed went each way. */
struct tw_profile_branch {
    const char *object; /* file that the code is from; NULL: not known */
    uint64_t address;   /* as linked */
    uint64_t taken, not_taken;
};

/* Where an indirect jump or call led; returns are none. */
struct tw_profile_target {
    const char *object; /* of the branch */
    uint64_t from, to;
    uint64_t count;
    bool is_call;
};

/* By object and address, where rows are lines or addresses.  NULL: there is no such number. */
TW_API const struct tw_profile_branch *tw_profile_branch(const struct tw_profiler *profile,
                                                         size_t number);
TW_API const struct tw_profile_target *tw_profile_target(const struct tw_profiler *profile,
                                                         size_t number);

TW_API enum tw_profile_by tw_profile_what(const struct tw_profiler *profile);

#ifdef __cplusplus
}
#endif

#endif
