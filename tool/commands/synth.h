/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches and instruction samples made of the path by the rules of Linux perf. */
#ifndef SYNTH_H
#define SYNTH_H

#include "shared/merge.h"

/* perf's flags of a sample. */
enum {
    IP_BRANCH = 0x1,
    IP_CALL = 0x2,
    IP_RETURN = 0x4,
    IP_CONDITIONAL = 0x8,
    IP_SYSCALLRET = 0x10,
    IP_ASYNC = 0x20,
    IP_INTERRUPT = 0x40,
    IP_TRACE_BEGIN = 0x100,
    IP_TRACE_END = 0x200
};

enum { BRSTACK_MAX = 1024 };

struct branch {
    uint64_t from, to;
};

/* One thing to report. */
struct sample {
    const struct merge_lane *lane;
    uint32_t pid, tid;
    const char *comm;
    unsigned flags;                               /* branches */
    uint64_t ip, to;                              /* branches: 0 where trace begins or ends */
    const struct branch *stack;                   /* samples: the last branches in a ring ... */
    size_t stack_count, stack_newest, stack_room; /* ... newest first from stack_newest down */
};

struct synth {
    enum merge_share share;
    bool is_old;     /* as perf 6.1 does: the thread is that of the later range */
    uint64_t period; /* a sample after so many instructions; 0: branches */
    size_t stack_room;
    void (*report)(void *context, const struct sample *sample);
    void *context;
    const struct session *session;
};

/* Runs the capture through it; the exit status. */
int synth_run(struct session *session, const struct synth *synth);

#endif
