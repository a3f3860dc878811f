/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, statistics, and programs run as children. */
#define _GNU_SOURCE /* sched_setaffinity, wait4 */
#include "harness.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const stage_names[BENCH_STAGES] = { "one-id", "all-ids", "packets",
                                                       "warm",   "new",     "counted" };

const char *bench_stage_name(enum bench_stage stage)
{
    return stage_names[stage];
}

enum bench_stage bench_stage_by_name(const char *name)
{
    for (unsigned i = 0; i < BENCH_STAGES; i++)
        if (strcmp(stage_names[i], name) == 0)
            return (enum bench_stage)i;
    bench_stop("there is no stage %s", name);
}

void bench_stop(const char *format, ...)
{
    va_list list;

    (void)fflush(stdout);
    (void)fputs("bench: ", stderr);
    va_start(list, format);
    (void)vfprintf(stderr, format, list);
    va_end(list);
    (void)fputc('\n', stderr);
    exit(1);
}

void bench_need(enum tw_status status, const char *what)
{
    if (status != TW_OK)
        bench_stop("%s: %s", what, tw_status_name(status));
}

void *bench_allocate(size_t size)
{
    void *memory = calloc(1, size ? size : 1);

    if (!memory)
        bench_stop("no memory");
    return memory;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t bench_wall(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_all_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_pin(void)
{
    cpu_set_t set;
    const int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void bench_keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

bool bench_is_quick(void)
{
    return getenv("BENCH_QUICK") != NULL;
}

unsigned bench_passes(void)
{
    return bench_is_quick() ? 3 : BENCH_PASSES;
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

void bench_sort(struct bench_times *times)
{
    qsort(times->all, bench_passes(), sizeof times->all[0], compare);
}

double bench_best(const struct bench_times *times)
{
    return (double)times->all[0];
}

double bench_median(const struct bench_times *times)
{
    return (double)times->all[bench_passes() / 2];
}

void bench_result(const char *name, double value, const char *format, ...)
{
    va_list list;

    if (value > 0)
        (void)printf("%-42s %9.*f", name, value < 10 ? 3 : 2, value);
    else
        (void)printf("%-42s %9s", name, "-");
    va_start(list, format);
    (void)vprintf(format, list);
    va_end(list);
    (void)putchar('\n');
    (void)fflush(stdout);
}

/* Starts a program with its output in a file; 0: not so.  It is spawned, so that what this process has in memory is no cost of its child. */
static pid_t start(char *const words[], const char *out)
{
    posix_spawn_file_actions_t files;
    pid_t child = 0;

    if (posix_spawn_file_actions_init(&files) != 0)
        return 0;
    if (posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0644) !=
            0 ||
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawnp(&child, words[0], &files, NULL, words, environ) != 0)
        child = 0;
    (void)posix_spawn_file_actions_destroy(&files);
    return child;
}

static uint64_t nanoseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

struct bench_run bench_run(char *const words[], const char *out, unsigned runs)
{
    struct bench_run best = { .is_there = true };

    (void)fflush(NULL);
    for (unsigned run = 0; run < runs; run++) {
        const pid_t child = start(words, out);
        struct rusage used;
        uint64_t cpu;
        int status;

        if (!child || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) > 1)
            return (struct bench_run){ .is_there = false };
        cpu = nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime);
        if (run == 0 || cpu < best.cpu)
            best.cpu = cpu;
        if ((uint64_t)used.ru_maxrss * 1024 > best.peak)
            best.peak = (uint64_t)used.ru_maxrss * 1024;
    }
    return best;
}

void bench_apart(void (*work)(void *context), void *context)
{
    pid_t child;
    int status;

    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        work(context);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        bench_stop("a process of its own failed");
}

void bench_find_tool(char *path, size_t room, const char *program)
{
    const char *slash = strrchr(program, '/');

    (void)snprintf(path, room, "%.*s../trackway", slash ? (int)(slash + 1 - program) : 0,
                   program);
}

void bench_make_folder(char *path, size_t room)
{
    const char *where = getenv("TMPDIR");

    (void)snprintf(path, room, "%s/trackway-bench-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(path))
        bench_stop("no folder for files can be made: %s", path);
}

void bench_remove_folder(const char *path)
{
    char name[] = "rm", option[] = "-r", copy[600];
    char *const words[] = { name, option, copy, NULL };

    (void)snprintf(copy, sizeof copy, "%s", path);
    (void)bench_run(words, "/dev/null", 1);
}

bool bench_corpus(char *out, size_t room, const char *format, ...)
{
    const char *corpus = getenv("TRACKWAY_CORPUS");
    va_list list;
    int size = snprintf(out, room, "%s/", corpus ? corpus : "../shared/corpus");

    va_start(list, format);
    (void)vsnprintf(out + size, room - (size_t)size, format, list);
    va_end(list);
    return access(out, R_OK) == 0;
}

/* Each block has its size before it. */
void *bench_resize(void *context, void *memory, size_t size)
{
    enum { HEAD = sizeof(max_align_t) };
    struct bench_held *held = context;
    uint8_t *block = memory ? (uint8_t *)memory - HEAD : NULL;
    size_t before = 0, now, most;

    if (block)
        memcpy(&before, block, sizeof before);
    if (!size) {
        atomic_fetch_sub(&held->now, before);
        free(block);
        return NULL;
    }
    block = realloc(block, HEAD + size);
    if (!block)
        bench_stop("out of memory");
    memcpy(block, &size, sizeof size);
    now = atomic_fetch_add(&held->now, size - before) + size - before;
    most = atomic_load(&held->most);
    while (now > most && !atomic_compare_exchange_weak(&held->most, &most, now)) {
    }
    return block + HEAD;
}
