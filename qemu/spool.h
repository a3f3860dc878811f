/* SPDX-License-Identifier: BSD-2-Clause */
/* What the plug-in hands to `trackway record`: a folder with the options, a table of CPUs that all
   processes share, a file of events for each process and a file of trace for each thread.  Nothing is kept
   open in between: a program may close every descriptor it finds. */
#ifndef QEMU_SPOOL_H
#define QEMU_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPOOL_CPUS = 500, SPOOL_PATH = 4096, SPOOL_NAME = 4096 };

#define SPOOL_OPTIONS "options"
#define SPOOL_TABLE   "table"
/* Of process, thread and CPU. */
#define SPOOL_TRACE_NAME "%u-%u-%u.trace"
#define SPOOL_EVENTS     ".events"
/* Of a whole machine: QEMU's own list of exceptions. */
#define SPOOL_EXCEPTIONS "exceptions.log"

/* The file "table", mapped by all. */
struct spool_table {
    uint32_t owners[SPOOL_CPUS]; /* process of the thread that has this CPU; 0: none */
    uint32_t used;         /* CPUs that were in use at any time: those below this number */
    uint32_t untraced;     /* threads that found no CPU */
    uint32_t failures;     /* errno of the first write that failed */
    uint32_t is_full;      /* --max-size is reached */
    uint64_t bytes;        /* of trace written */
    uint64_t instructions; /* recorded */
};

enum spool_kind {
    SPOOL_COMM,     /* name; extra: a program was begun */
    SPOOL_FORK,     /* extra: parent's pid; more: its tid */
    SPOOL_EXIT,     /* the thread ended */
    SPOOL_MAP,      /* struct spool_map, name */
    SPOOL_START,    /* the thread is traced on this CPU from here on */
    SPOOL_TRACE,    /* name of the file with its trace, now whole; extra: TW_PERF_... flags */
    SPOOL_REGISTER, /* NAME=VALUE of the trace unit */
    SPOOL_CONFIG,   /* RISC-V: lines of the encoder's configuration */
    SPOOL_CODE      /* u64 address, bytes: code that is in no file */
};

/* An event; `size` bytes of payload follow, filled up to a multiple of 8. */
struct spool_event {
    uint32_t kind, size;
    uint64_t time; /* in ns */
    uint32_t pid, tid, cpu;
    uint32_t extra, more, unused;
};

struct spool_map {
    uint64_t address, length, offset, inode;
    uint32_t major, minor, protection, flags;
};

#endif
