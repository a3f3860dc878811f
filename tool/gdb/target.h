/* SPDX-License-Identifier: BSD-2-Clause */
/* What the server of the remote protocol asks of whatever it serves. */
#ifndef GDB_TARGET_H
#define GDB_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdb/text.h"

/* Why a thread stands still. */
struct gdb_stop {
    uint32_t thread;
    bool is_begin, is_end; /* no trace before it, or behind it */
    bool is_breakpoint;
    bool is_interrupted;
    bool is_loss;  /* trace or code is missing before it: `why` says it */
    char why[256]; /* for the client's console; "" */
};

/* Where to go.  A step is one instruction; [first, end): steps while the pc is in there. */
struct gdb_move {
    uint32_t thread;
    bool is_back;
    bool is_step;
    bool has_range;
    uint64_t first, end;
    const uint64_t *breakpoints;
    size_t breakpoint_count;
    const uint64_t *removed; /* breakpoints taken away, and not set again */
    size_t removed_count;
    bool is_alone; /* the client moves this thread and no other */
};

struct gdb_target {
    void *context;
    /* Threads are numbered from 0. */
    uint32_t (*thread_count)(void *context);
    uint32_t (*first_thread)(void *context); /* the one that is looked at in the beginning */
    void (*thread_name)(void *context, struct gdb_text *out, uint32_t thread);
    void (*thread_about)(void *context, struct gdb_text *out, uint32_t thread);
    /* The description of the machine, XML; lasts as long as the target. */
    const char *(*description)(void *context);
    /* One register by number, or all: two digits for each byte, "xx" where it is not known.  False: no such
       register. */
    bool (*registers)(void *context, struct gdb_text *out, uint32_t thread, uint32_t number);
    /* All registers that are known, "NUMBER:VALUE;" each. */
    void (*known)(void *context, struct gdb_text *out, uint32_t thread);
    /* Memory: how many bytes there are; 0: none. */
    size_t (*memory)(void *context, uint8_t *out, uint32_t thread, uint64_t address,
                     size_t size);
    /* Goes on; false: it could not be done, stop->why says why. */
    bool (*move)(void *context, struct gdb_stop *stop, const struct gdb_move *move);
    /* A command of the user; what is said goes to `out`. */
    void (*monitor)(void *context, struct gdb_text *out, uint32_t *thread, const char *line);
};

#define GDB_ALL_REGISTERS UINT32_MAX /* a number for `registers` */

#endif
