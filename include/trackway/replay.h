/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture to go back and forth in, instruction by instruction: for debuggers and viewers.  What is looked
   at is decoded in windows, from synchronization points near it; nothing is decoded from the
   beginning.  Experimental. */
#ifndef TRACKWAY_REPLAY_H
#define TRACKWAY_REPLAY_H

#include <trackway/calls.h>
#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_replay;

struct tw_replay_config {
    size_t size; /* sizeof(struct tw_replay_config) */
    /* How the capture is decoded, and what of it: borrowed as long as the replay.  Order, counter, bounds by
       place and those by code are not looked at.  NULL: all, as is usual. */
    const struct tw_run_config *run;
    uint32_t window; /* bytes of trace that are decoded at once; 0: 131,072 */
    /* bytes that decoded windows may take, but for the one at work; 0: 192 MiB */
    uint64_t memory;
    enum tw_call_key key; /* what makes a call stack of its own */
    /* Asked now and then while something takes long: true ends it, with TW_E_CANCELLED.  May be NULL. */
    bool (*is_cancelled)(void *context);
    void *context;
    const struct tw_allocator *allocator;
    /* Long searches decode on run->threads threads, each with a handle of its own: opens the same capture once more,
       with the same options; NULL: there are no more.  The handles are the caller's, and outlive the replay.  Asked at
       the first long search, once for each thread but the first.  NULL: one thread. */
    struct tw_capture *(*open_again)(void *context);
};

TW_API TW_MUST_USE enum tw_status tw_replay_new(struct tw_replay **replay,
                                                struct tw_capture *capture,
                                                const struct tw_replay_config *config,
                                                struct tw_fault *fault);
TW_API void tw_replay_free(struct tw_replay *replay);
TW_API const char *tw_replay_fault(const struct tw_replay *replay);
/* A run of the capture that is asked for names alone (tw_run_name ...).  Belongs to the replay. */
TW_API struct tw_run *tw_replay_names(struct tw_replay *replay);

/* ---- threads of execution ---- */

/* A CPU, a hart, or a thread of perf.data. */
struct tw_replay_thread {
    size_t size;            /* sizeof(struct tw_replay_thread), set by the caller */
    const char *name;       /* lasts as long as the replay */
    uint32_t cpu, pid, tid; /* TW_NONE: not known */
    uint32_t source_number; /* for tw_capture_source: where it was first seen */
    uint32_t src;           /* as in tw_batch */
    uint8_t isa;            /* enum tw_isa of what was first seen of it */
    bool is_m;              /* M profile */
};

/* Those that were seen so far: of the first and the last window of each buffer from the beginning on, all
   others when a place near them is looked at. */
TW_API size_t tw_replay_thread_count(const struct tw_replay *replay);
/* False: there is no such number. */
TW_API bool tw_replay_thread(const struct tw_replay *replay, struct tw_replay_thread *thread,
                             size_t number);
/* Looks at all of the capture for threads. */
TW_API TW_MUST_USE enum tw_status tw_replay_find_threads(struct tw_replay *replay);

/* ---- places ---- */

/* Before an instruction of a thread is executed. */
struct tw_replay_place {
    uint32_t thread;
    uint32_t window;      /* of the capture */
    uint64_t instruction; /* of this thread in the window, from 0 */
    bool is_end; /* behind the last instruction of all: `instruction` is the last one's */
};

/* -1, 0, 1: which of two places of one thread is earlier. */
TW_API int tw_replay_compare(const struct tw_replay_place *a, const struct tw_replay_place *b);

/* The first instruction of a thread, the last one.  TW_END: it has none. */
TW_API TW_MUST_USE enum tw_status
tw_replay_first(struct tw_replay *replay, struct tw_replay_place *place, uint32_t thread);
TW_API TW_MUST_USE enum tw_status
tw_replay_last(struct tw_replay *replay, struct tw_replay_place *place, uint32_t thread);

/* What is known of a place. */
struct tw_replay_view {
    size_t size;             /* sizeof(struct tw_replay_view), set by the caller */
    uint64_t pc;             /* at is_end: where the program would go on */
    uint32_t pc_size;        /* bytes of the instruction; 0: at is_end */
    uint8_t isa;             /* enum tw_isa */
    struct tw_element range; /* that the instruction belongs to */
    struct tw_part part;     /* that it belongs to, with no elements: who, when, image */
};

TW_API TW_MUST_USE enum tw_status tw_replay_look(struct tw_replay *replay,
                                                 struct tw_replay_view *view,
                                                 const struct tw_replay_place *place);

enum tw_replay_loss_kind {
    TW_REPLAY_NO_LOSS,
    TW_REPLAY_LOST,     /* trace is missing */
    TW_REPLAY_NO_CODE,  /* code is missing */
    TW_REPLAY_UNTRACED, /* instructions that were counted, but not where */
    TW_REPLAY_RECORDER  /* the recorder lost trace */
};

/* What lies between two instructions that follow each other in the trace, but did not in time. */
struct tw_replay_loss {
    uint8_t kind;              /* enum tw_replay_loss_kind */
    struct tw_element element; /* that tells of it; index: where in the capture */
};

/* One line for people: what was lost and why. */
TW_API size_t tw_replay_loss_text(char *out, size_t room, const struct tw_replay_loss *loss);

/* To the next instruction (or the one before).  TW_END: there is none, the place stays; a forward step from the
   last instruction goes to is_end where it is known what comes then.  *loss: what was passed. */
TW_API TW_MUST_USE enum tw_status tw_replay_step(struct tw_replay *replay,
                                                 struct tw_replay_place *place, bool is_back,
                                                 struct tw_replay_loss *loss);

/* To the next place whose pc is one of `addresses`, or that lies behind a loss (*loss tells, unless NULL: then
   losses are passed over).  TW_END: there is none; the place is the thread's first or last then. */
TW_API TW_MUST_USE enum tw_status tw_replay_find(struct tw_replay *replay,
                                                 struct tw_replay_place *place, bool is_back,
                                                 const uint64_t *addresses, size_t count,
                                                 struct tw_replay_loss *loss);

/* A thread's first instruction whose packet lies at `offset` or later.  TW_END: there is none. */
TW_API TW_MUST_USE enum tw_status tw_replay_at_offset(struct tw_replay *replay,
                                                      struct tw_replay_place *place,
                                                      uint32_t thread, uint64_t offset);
/* A thread's place at a time (in the clock of its parts): the first instruction that is not before it. */
TW_API TW_MUST_USE enum tw_status tw_replay_at_time(struct tw_replay *replay,
                                                    struct tw_replay_place *place,
                                                    uint32_t thread, uint64_t time);
/* A thread's instruction with this number, from 0: all before it is decoded. */
TW_API TW_MUST_USE enum tw_status tw_replay_at_number(struct tw_replay *replay,
                                                      struct tw_replay_place *place,
                                                      uint32_t thread, uint64_t number);

/* The number of a place's instruction, from 0, as tw_replay_at_number has it: all before it is decoded. */
TW_API TW_MUST_USE enum tw_status tw_replay_number(struct tw_replay *replay, uint64_t *number,
                                                   const struct tw_replay_place *place);
/* How many bytes of the capture lie before a place, in windows that are gone through to count. */
TW_API uint64_t tw_replay_bytes_before(const struct tw_replay *replay,
                                       const struct tw_replay_place *place);

/* Elements of the thread between this instruction and the one before it (is_before), or the next one: data trace,
   exceptions, events.  Valid until the next call with this replay. */
TW_API const struct tw_element *tw_replay_elements(struct tw_replay *replay, size_t *count,
                                                   const struct tw_replay_place *place,
                                                   bool is_before);

/* ---- call stacks ---- */

struct tw_replay_frame {
    uint64_t pc;      /* of the innermost the place's, else where the inner one returns to */
    uint64_t entry;   /* the first address of its function; 0: not known */
    const char *name; /* of the function; lasts as long as the replay */
    uint8_t kind;     /* enum tw_call_kind: how control came to it */
    uint8_t isa;      /* enum tw_isa of the code at pc */
    /* the same for the same frame at all places where it lives; callers have less */
    int32_t level;
};

enum tw_replay_stack {
    TW_REPLAY_STACK_NEAR, /* what can be told from the trace nearby, or is known already */
    TW_REPLAY_STACK_WHOLE /* all that the trace tells, even if much has to be decoded for it */
};

/* The functions on the stack, the innermost first, at most `room`; *count: how many there are.  *is_whole: no more
   callers will be known by asking for the whole. */
TW_API TW_MUST_USE enum tw_status tw_replay_stack(struct tw_replay *replay,
                                                  struct tw_replay_frame *frames, size_t room,
                                                  size_t *count, bool *is_whole,
                                                  const struct tw_replay_place *place,
                                                  enum tw_replay_stack wish);

#ifdef __cplusplus
}
#endif

#endif
