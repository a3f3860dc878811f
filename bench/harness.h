/* SPDX-License-Identifier: BSD-2-Clause */
/* What the benchmarks share: CPU time of this thread, best and median, a pinned core, host
   instructions counted by callgrind. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_PASSES = 21 };

struct bench_times {
    uint64_t all[BENCH_PASSES];
};

static inline void bench_stop(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static inline uint64_t bench_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static inline void bench_sort(struct bench_times *times)
{
    qsort(times->all, BENCH_PASSES, sizeof times->all[0], bench_compare);
}

/* After bench_sort. */
static inline double bench_best(const struct bench_times *times)
{
    return (double)times->all[0];
}

static inline double bench_median(const struct bench_times *times)
{
    return (double)times->all[BENCH_PASSES / 2];
}

static inline void bench_pin(void)
{
    cpu_set_t set;
    const int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* Host instructions that `function` takes when this program is run with `arguments`; 0: callgrind
   is not there. */
static inline double bench_instructions(const char *program, const char *function,
                                        const char *arguments)
{
    char command[1024], line[256];
    double count = 0;
    FILE *pipe;

    (void)snprintf(command, sizeof command,
                   "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
                   "--toggle-collect=%s '%s' %s 2>&1",
                   function, program, arguments);
    pipe = popen(command, "r");
    if (!pipe)
        return 0;
    while (fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, "Collected : ");

        if (at)
            count = strtod(at + strlen("Collected : "), NULL);
    }
    (void)pclose(pipe);
    return count;
}

/* Where the corpus's snapshots are, or NULL. */
static inline const char *bench_snapshot(char *path, size_t room, const char *name)
{
    const char *corpus = getenv("TRACKWAY_CORPUS");
    FILE *file;

    (void)snprintf(path, room, "%s/coresight/snapshots/%s/snapshot.ini",
                   corpus ? corpus : "../shared/corpus", name);
    file = fopen(path, "r");
    if (!file)
        return NULL;
    (void)fclose(file);
    path[strlen(path) - strlen("/snapshot.ini")] = 0;
    return path;
}

#endif
