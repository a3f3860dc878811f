/* SPDX-License-Identifier: BSD-2-Clause */
/* What the benchmarks share: CPU time, best and median, a pinned core, programs run and timed. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/status.h>

enum { BENCH_PASSES = 21 };

struct bench_times {
    uint64_t all[BENCH_PASSES];
};

/* What a pass gave its consumer. */
struct bench_counts {
    uint64_t bytes, packets, elements, ranges, instructions;
    uint64_t hash; /* over the elements, in order; of our side alone */
};

/* What is done with a capture. */
enum bench_stage {
    BENCH_UNFRAME_ONE, /* the bytes of its first source */
    BENCH_UNFRAME_ALL,
    BENCH_PACKETS, /* ... and packets as records */
    BENCH_WARM,    /* full decode; what was learnt of the program's code stays */
    BENCH_NEW,     /* full decode with everything made anew */
    BENCH_COUNTED, /* ranges and edges counted, not written as elements */
    BENCH_STAGES
};

/* "one-id", "all-ids", "packets", "warm", "new", "counted". */
const char *bench_stage_name(enum bench_stage stage);
enum bench_stage bench_stage_by_name(const char *name);

_Noreturn void bench_stop(const char *format, ...);
void bench_need(enum tw_status status, const char *what);
void *bench_allocate(size_t size); /* zeros; never NULL */

uint64_t bench_now(void);     /* CPU time of this thread, ns */
uint64_t bench_wall(void);    /* ns */
uint64_t bench_all_cpu(void); /* CPU time of all threads, ns */
void bench_pin(void);         /* to the core that this thread is on */
/* What is given back stays with the process: what is made again meets memory that was there before. */
void bench_keep_memory(void);
bool bench_is_quick(void);   /* BENCH_QUICK is set: fewer passes, to see that all runs */
unsigned bench_passes(void); /* at most BENCH_PASSES */
void bench_sort(struct bench_times *times);
double bench_best(const struct bench_times *times); /* after bench_sort, like the next */
double bench_median(const struct bench_times *times);

/* A line of results: what is measured, then numbers.  The first of them is what bench/promises
   speaks of. */
void bench_result(const char *name, double value, const char *format, ...);

/* What running a program took. */
struct bench_run {
    uint64_t cpu;  /* ns */
    uint64_t peak; /* bytes of memory */
    bool is_there; /* it could be run, and ended with 0 or 1 */
};
/* Output goes to the file `out`; the best of so many runs.  The system takes what this process ever held for the least that
   its child did: who measures memory does what takes much of it in bench_apart. */
struct bench_run bench_run(char *const words[], const char *out, unsigned runs);
/* Does that in a process of its own, and waits for it. */
void bench_apart(void (*work)(void *context), void *context);
/* The trackway command is built one folder up from the benchmarks. */
void bench_find_tool(char *path, size_t room, const char *program);
/* A folder of our own for files, and its removal with all in it. */
void bench_make_folder(char *path, size_t room);
void bench_remove_folder(const char *path);
/* PATH in the corpus; false: it is not there. */
bool bench_corpus(char *out, size_t room, const char *format, ...);

/* Memory that an allocator with bench_resize gave out, on any thread: now, and the most at a time. */
struct bench_held {
    _Atomic size_t now, most;
};
void *bench_resize(void *held, void *memory, size_t size);

#endif
