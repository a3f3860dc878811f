/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls, from branches alone: who called whom, how often, and what was executed under each.
   What the trace does not tell is not made up: callers before the trace began, or lost in a
   gap, are "unknown" until a return shows them.  Experimental. */
#ifndef TRACKWAY_CALLS_H
#define TRACKWAY_CALLS_H

#include <trackway/functions.h>
#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How control came to a function. */
enum tw_call_kind {
    TW_CALL_BEGIN, /* the trace begins there */
    TW_CALL_CALL,
    TW_CALL_TAIL,
    TW_CALL_EXCEPTION, /* or interrupt, system call */
    TW_CALL_SIGNAL,
    TW_CALL_OUTER,   /* it was there before: a return showed it */
    TW_CALL_RESUMED, /* its stack was left for another one, and goes on (events alone) */
    TW_CALL_INLINED  /* not called: its code stands in its caller's; how often is not known */
};

/* How a frame was left. */
enum tw_leave_kind {
    TW_LEAVE_RETURN,
    TW_LEAVE_TAIL,
    TW_LEAVE_UNWOUND, /* longjmp, C++ exceptions */
    TW_LEAVE_SWITCH,  /* another stack goes on: a task, a coroutine */
    TW_LEAVE_GAP,     /* trace is missing */
    TW_LEAVE_END      /* still there at the end of the trace */
};

/* "call", "tail", "exception" ...; "return", "unwound", "gap" ...; never NULL. */
TW_API const char *tw_call_kind_name(unsigned kind);
TW_API const char *tw_leave_kind_name(unsigned kind);

/* Whose stack it is; members that are not known are UINT64_MAX. */
struct tw_call_thread {
    uint64_t source; /* core or trace ID */
    uint64_t tid;
    uint64_t context; /* security, VMID and context ID in one */
};

struct tw_call_event {
    uint64_t index;        /* offset in the capture of the packet that shows it */
    uint64_t instructions; /* executed before it on this stack's thread */
    uint64_t from, to;     /* addresses */
    uint32_t thread;       /* number for tw_calls_thread */
    uint32_t function;     /* that is entered or left */
    uint32_t depth;        /* after it */
    uint8_t kind;          /* enum tw_call_kind or tw_leave_kind */
    bool is_leave;
};

/* An edge of the call graph. */
struct tw_call_edge {
    uint32_t from, to; /* functions: the one that holds the branch, the one it leads to */
    uint8_t kind;      /* enum tw_call_kind */
    uint64_t count;
    uint64_t inclusive; /* instructions under its outermost activations */
};

/* What is known of a function. */
struct tw_call_totals {
    uint64_t entries; /* by call, tail call, exception; and where the trace begins with it */
    uint64_t self;
    uint64_t inclusive; /* executed while it stood on a stack at least once */
};

struct tw_calls_stats {
    uint64_t calls, returns;
    uint64_t over;            /* returns that passed over frames */
    uint64_t tails;           /* tail calls */
    uint64_t unwound;         /* times that frames were left for one further down */
    uint64_t unknown;         /* returns to a caller that is not known */
    uint64_t parked, resumed; /* stacks left for another one, and taken up again */
    uint64_t gaps;
    uint64_t instructions; /* all that was executed */
    uint64_t missing;      /* times that code was missing */
    uint64_t too_deep;     /* frames beyond the greatest depth */
};

struct tw_calls;

/* What makes a stack of its own. */
enum tw_call_key {
    TW_CALL_KEY_AUTO, /* the thread where it is known, else the context where one is traced, else
                           the core */
    TW_CALL_KEY_THREAD, /* perf.data's tid */
    TW_CALL_KEY_CONTEXT,
    TW_CALL_KEY_CORE
};

struct tw_calls_config {
    size_t size; /* sizeof(struct tw_calls_config) */
    enum tw_call_key key;
    bool is_logical; /* a tail call stands on its caller; else it takes its place */
    /* Functions that were inlined are frames, by the debug information: no events tell of them, and they have
       no entries. */
    bool with_inlined;
    void (*event)(void *context, const struct tw_call_event *event); /* NULL: not wanted */
    void *context;
    const struct tw_allocator *allocator;
    /* What is taken is a part of a capture: a run with an extent, in capture order.  What came before is not
       known: what depends on it is kept, saved and loaded with the rest, and known when tw_calls_add brings all parts
       together; then the sum is that of one handle that took all.  Neither events nor inlined functions. */
    bool is_part;
};

/* A path of calls, outermost function first, and what was executed with just that stack.  The first is
   number 0 where the callers are not known. */
struct tw_call_path {
    const uint32_t *functions;
    size_t depth;
    uint64_t self;
    uint64_t entries;
};

typedef void tw_call_path_fn(void *context, const struct tw_call_path *path);

TW_API TW_MUST_USE enum tw_status tw_calls_new(struct tw_calls **calls,
                                               const struct tw_calls_config *config,
                                               struct tw_fault *fault);
/* The next part of a run in time order, or of one buffer after the other.  The run must outlive the
   results: names are its symbols'. */
TW_API TW_MUST_USE enum tw_status tw_calls_take(struct tw_calls *calls, struct tw_run *run,
                                                const struct tw_part *part);
/* With is_part: which run comes next, if it may give no parts at all.  A part without anything in it is one, too.
   With tw_calls_counter: which run it is that counts. */
TW_API void tw_calls_run(struct tw_calls *calls, struct tw_run *run);
/* Before the first part of a run whose parts go to this handle alone: ranges that change no stack are left out of
   them, and the next one counts their instructions too.  Faster, and the results are the same.  Where there are events or
   inlined functions nothing is left out. */
TW_API void tw_calls_take_alone(struct tw_calls *calls, struct tw_run *run);
/* The fast way: calls are rebuilt on the threads that decode, and the results are the same.  A run gets this as its
   config's counter, in capture order; after tw_run_new tell which run it is; then tw_run_all.  Runs that have it,
   and neither events nor inlined functions nor is_part. */
TW_API struct tw_run_counter tw_calls_counter(struct tw_calls *calls);
/* Whether a capture has it: not perf.data, whose threads move between ring buffers, and no program that depends on
   the address space; and a run of this config (NULL: of all), which leaves out whole streams or nothing. */
TW_API bool tw_calls_has_counter(struct tw_capture *capture,
                                 const struct tw_run_config *config);
/* Whether memory sufficed; ask it after tw_run_all, and once more after source lines of functions
   were asked for. */
TW_API bool tw_calls_is_complete(const struct tw_calls *calls);
/* Whether parts of a capture are missing beside those that it holds (is_part): then they have to be added before
   tw_calls_finish, which takes it that there are none. */
TW_API bool tw_calls_is_part(const struct tw_calls *calls);
TW_API void tw_calls_free(struct tw_calls *calls);
/* No more comes: what is open ends.  Call it before the results are read.  TW_E_MEMORY: there were more. */
TW_API enum tw_status tw_calls_finish(struct tw_calls *calls);

/* Results that were finished, as files: saved, loaded (finished, without events), added.  The sum does not
   depend on the order, and gives the same files as one handle that took all.  Refused: results of other
   builds of a program, and of another form of tail calls. */
TW_API TW_MUST_USE enum tw_status tw_calls_save(struct tw_calls *calls, const char *path,
                                                struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_calls_load(struct tw_calls **calls, const char *path,
                                                const struct tw_allocator *allocator,
                                                struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_calls_add(struct tw_calls *calls, struct tw_calls *other,
                                               struct tw_fault *fault);

/* A function on a stack. */
struct tw_call_place {
    uint32_t function;
    uint8_t kind;        /* enum tw_call_kind: how control came to it */
    bool has_return;     /* it was called: where it returns to is known */
    uint64_t returns_to; /* address behind the call, in the function that stands below */
};

/* The number of the thread whose stack a part goes on with; UINT32_MAX: no memory. */
TW_API uint32_t tw_calls_thread_number(struct tw_calls *calls, const struct tw_part *part);
/* How many instructions a thread executed so far. */
TW_API uint64_t tw_calls_instructions(const struct tw_calls *calls, uint32_t thread);
/* The functions on a thread's stack now, the innermost first, at most `room`; returns how many there are.
   Also in the middle of an event: as it is after it. */
TW_API size_t tw_calls_stack_now(const struct tw_calls *calls, struct tw_call_place *places,
                                 size_t room, uint32_t thread);

TW_API const struct tw_functions *tw_calls_functions(const struct tw_calls *calls);
/* Of a function by its number. */
TW_API struct tw_call_totals tw_calls_totals(const struct tw_calls *calls, uint32_t function);
TW_API size_t tw_calls_edge_count(const struct tw_calls *calls);
TW_API const struct tw_call_edge *tw_calls_edge(const struct tw_calls *calls, size_t number);
/* Every path of calls, callers before callees, else in the order of names.  TW_E_MEMORY: none was told. */
TW_API enum tw_status tw_calls_paths(const struct tw_calls *calls, tw_call_path_fn *each,
                                     void *context);
TW_API struct tw_calls_stats tw_calls_stats(const struct tw_calls *calls);
TW_API const struct tw_call_thread *tw_calls_thread(const struct tw_calls *calls,
                                                    size_t number);

#ifdef __cplusplus
}
#endif

#endif
