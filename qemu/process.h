/* SPDX-License-Identifier: BSD-2-Clause */
/* The traced process as a whole: its options, what it tells `trackway record`, its mappings. */
#ifndef QEMU_PROCESS_H
#define QEMU_PROCESS_H

#include <sys/types.h>

#include "qemu/spool.h"
#include "qemu/unit.h"

struct process_options {
    struct unit_options unit;
    uint64_t ring; /* only so many last bytes of each thread's trace are kept; 0: all */
    uint64_t most; /* bytes of trace in all; 0: no bound */
    uint64_t strobe_on,
        strobe_off;      /* instructions traced and not traced in turn; 0: all traced */
    size_t filter_count; /* 0: all is traced */
    uint64_t is_system;  /* a machine ... */
    uint64_t is_m;       /* ... of the M profile */
};

/* Reads the options in the folder and begins; false: it says why on standard error. */
bool process_begin(const char *folder);
const struct process_options *process_options(void);
struct spool_table *process_table(void);
uint64_t process_time(void);
/* When it began.  Timestamps in a trace are few: what is true from the first moment on is dated so, and holds
   wherever in the trace it is asked for. */
uint64_t process_start(void);

/* Whether this is the child of a fork that was not yet noticed; then it is a process of its own now. */
bool process_is_new(void);

/* Events of this process. */
void process_say(const struct spool_event *event, const void *payload, const void *more,
                 size_t more_size);
/* A CPU for a thread, or SPOOL_CPUS: none is free. */
uint32_t process_take_cpu(void);
void process_give_cpu(uint32_t cpu);
/* Appends to the trace file of a thread, whose name is made from these. */
bool process_write(uint32_t tid, uint32_t cpu, const uint8_t *bytes, size_t size);
void process_trace_name(char *name, size_t room, uint32_t tid, uint32_t cpu);

/* maps.c: code at this address of the program, which lies there in our own memory, is about to run.
   False: it is in no file. */
bool maps_note(uint64_t address, const void *host);
/* The file that code at this address is from, and where in it; 0: none. */
uint64_t maps_file(uint64_t *offset, uint64_t address);
/* How many mappings were spoken of so far. */
uint64_t maps_said(void);
/* This is the child of a fork: another thread may have been at it. */
void maps_forked(void);
/* Something was mapped, unmapped or protected: what was noted may be over. */
void maps_forget(void);

#endif
