/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readers of execution logs share. */
#ifndef LOG_LOG_H
#define LOG_LOG_H

#include <trackway/image.h>
#include <trackway/log.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/m_profile.h"
#include "base/memory.h"
#include "image/file.h"

/* A run of the exlog form: a straight line of instructions, met again and again. */
struct tw_log_run {
    uint64_t start;
    size_t first, count; /* in `pool` */
    uint8_t kind;
};

struct tw_log {
    struct tw_log_options options;
    struct tw_fault fault;
    enum tw_status (*next)(struct tw_log *log, struct tw_step *step);
    struct tw_file file;
    uint8_t *inflated;
    struct tw_bytes in;
    const uint8_t *begin;
    bool is_riscv, is_m, is_ended;
    char cpu[32];

    /* exlog */
    struct tw_log_run *runs;
    size_t run_count, run_room;
    struct tw_retired *pool;
    size_t pool_count, pool_room;
    uint64_t last_def; /* start of the last run defined */
    uint64_t end;      /* of the last run: where an exception returns to */
    uint64_t left;     /* how often the current run is still to be given */
    size_t run;        /* the current one */
    bool gap_is_due;   /* the kernel ran, which is not in the log */
    uint64_t repeated; /* instructions that repetitions have added */

    /* text */
    unsigned line;
    uint8_t isa, it_open;
    struct tw_step_context context;
    char name[64]; /* of a register */
};

/* What an instruction of this log is. */
void tw_log_classify(const struct tw_log *log, struct tw_retired *instruction,
                     uint8_t *it_open);
void tw_log_set_cpu(struct tw_log *log, const char *text, size_t size);

/* exlog.c, text.c: take the head of the log, or say that it is none of theirs. */
enum tw_status tw_exlog_begin(struct tw_log *log, bool *is_mine);
enum tw_status tw_textlog_begin(struct tw_log *log, bool *is_mine);

#endif
