/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches, and samples of instructions with the branches before them, made of a run of
   perf.data by the rules of Linux perf.  Experimental. */
#ifndef TRACKWAY_SAMPLES_H
#define TRACKWAY_SAMPLES_H

#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* perf's flags of a sample. */
enum {
    TW_SAMPLE_BRANCH = 0x1,
    TW_SAMPLE_CALL = 0x2,
    TW_SAMPLE_RETURN = 0x4,
    TW_SAMPLE_CONDITIONAL = 0x8,
    TW_SAMPLE_SYSCALL = 0x10,
    TW_SAMPLE_ASYNC = 0x20,
    TW_SAMPLE_INTERRUPT = 0x40,
    TW_SAMPLE_TRACE_BEGIN = 0x100,
    TW_SAMPLE_TRACE_END = 0x200
};

struct tw_branch_step {
    uint64_t from, to;
};

/* A branch that was taken, or one instruction of many.  Valid during the call. */
struct tw_sample {
    size_t size;       /* sizeof(struct tw_sample) of the library */
    uint32_t cpu;      /* of the source */
    uint32_t pid, tid; /* as perf has them: UINT32_MAX is -1 */
    const char *comm;
    unsigned flags;  /* branches */
    uint64_t ip, to; /* branches: 0 where trace begins or ends */
    /* Samples: the last branches are in a ring of stack_room: stack_count of them, the newest at
       stack_newest, the one before it at the place before that. */
    const struct tw_branch_step *stack;
    size_t stack_count, stack_newest, stack_room;
};

struct tw_samples_config {
    size_t size;       /* sizeof(struct tw_samples_config) */
    bool is_perf_6_1;  /* as perf 6.1 does, not the newest */
    uint64_t period;   /* a sample after so many instructions; 0: each branch instead */
    size_t stack_room; /* branches that a sample tells; 0: none */
    void (*report)(void *context, const struct tw_sample *sample);
    void *context;
    const struct tw_allocator *allocator;
};

struct tw_samples;

/* For a run of this capture, a perf.data file, in time order. */
TW_API TW_MUST_USE enum tw_status tw_samples_new(struct tw_samples **samples,
                                                 const struct tw_capture *capture,
                                                 const struct tw_samples_config *config,
                                                 struct tw_fault *fault);
TW_API void tw_samples_free(struct tw_samples *samples);
/* Every part of the run, in order; reports what it brings about. */
TW_API TW_MUST_USE enum tw_status tw_samples_take(struct tw_samples *samples,
                                                  const struct tw_part *part);

/* "call", "jcc" ... as perf names the flags, without beginning and end of trace; "" for none. */
TW_API const char *tw_sample_flags_name(unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
