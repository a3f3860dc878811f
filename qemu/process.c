/* SPDX-License-Identifier: BSD-2-Clause */
/* The traced process as a whole. */
#define _GNU_SOURCE
#include "qemu/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "qemu/blocks.h"

enum { SETTINGS_MAX = 512, LINE = 4096 };

static struct process {
    char folder[SPOOL_PATH];
    pid_t pid;
    uint64_t start;
    struct process_options options;
    const char *registers[SETTINGS_MAX], *choices[SETTINGS_MAX];
    struct spool_table *table;
    pthread_mutex_t lock;
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool complain(const char *what, const char *name)
{
    (void)fprintf(stderr, "trackway record: %s %s%s%s\n", what, name, errno ? ": " : "",
                  errno ? strerror(errno) : "");
    return false;
}

/* ---- options ---- */

/* One line: a word, a blank, a value. */
static bool take_option(const char *word, const char *value)
{
    struct process_options *options = &process.options;
    const struct {
        const char *word;
        uint64_t *number;
    } numbers[] = { { "ring", &options->ring },    { "most", &options->most },
                    { "on", &options->strobe_on }, { "off", &options->strobe_off },
                    { "m", &options->is_m },       { "system", &options->is_system } };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(word, numbers[i].word) == 0) {
            *numbers[i].number = strtoull(value, NULL, 0);
            return true;
        }
    if (strcmp(word, "filter") == 0) {
        char *at;
        const uint64_t first = strtoull(value, &at, 0),
                       end = strtoull(at + (*at == '-'), &at, 0);

        options->filter_count++;
        return blocks_filter(first, end, strtoull(at + (*at == '-'), NULL, 0));
    }
    if (strcmp(word, "protocol") == 0)
        return (options->unit.protocol = strdup(value)) != NULL;
    if (strcmp(word, "register") == 0 && options->unit.register_count < SETTINGS_MAX)
        return (process.registers[options->unit.register_count++] = strdup(value)) != NULL;
    if (strcmp(word, "unit") == 0 && options->unit.choice_count < SETTINGS_MAX)
        return (process.choices[options->unit.choice_count++] = strdup(value)) != NULL;
    return false;
}

static bool read_options(void)
{
    char path[SPOOL_PATH + 16], line[LINE];
    FILE *file;
    bool is_good = true;

    (void)snprintf(path, sizeof path, "%s/" SPOOL_OPTIONS, process.folder);
    file = fopen(path, "r");
    if (!file)
        return complain("cannot read", path);
    while (is_good && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' ');

        line[strcspn(line, "\n")] = 0;
        if (value)
            *value++ = 0;
        is_good = value && take_option(line, value);
    }
    (void)fclose(file);
    process.options.unit.registers = process.registers;
    process.options.unit.choices = process.choices;
    process.options.unit.is_64bit = blocks_is_64bit();
    process.options.unit.is_m = process.options.is_m;
    process.options.unit.is_system = process.options.is_system;
    errno = 0;
    return is_good && process.options.unit.protocol ? true : complain("not understood:", path);
}

static bool map_table(void)
{
    char path[SPOOL_PATH + 16];
    int file;

    (void)snprintf(path, sizeof path, "%s/" SPOOL_TABLE, process.folder);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return complain("cannot open", path);
    process.table =
        mmap(NULL, sizeof *process.table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    if (process.table == MAP_FAILED)
        return complain("cannot map", path);
    return true;
}

bool process_begin(const char *folder)
{
    (void)snprintf(process.folder, sizeof process.folder, "%s", folder);
    process.pid = getpid();
    process.start = process_time();
    if (!read_options() || !map_table())
        return false;
    return true;
}

const struct process_options *process_options(void)
{
    return &process.options;
}

struct spool_table *process_table(void)
{
    return process.table;
}

uint64_t process_time(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t process_start(void)
{
    return process.start;
}

bool process_is_new(void)
{
    const pid_t pid = getpid();

    if (pid == process.pid)
        return false;
    process.pid = pid;
    process.start = process_time();
    (void)pthread_mutex_init(&process.lock, NULL); /* another thread may have held it */
    return true;
}

/* ---- files ---- */

static void failed(void)
{
    uint32_t none = 0;

    (void)__atomic_compare_exchange_n(&process.table->failures, &none, (uint32_t)errno, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Where a limit on the size of files is reached, the signal that comes with it is none of the program's. */
static ssize_t write_quietly(int file, const struct iovec *parts, int count)
{
    const struct timespec now = { 0, 0 };
    sigset_t limit, before;
    ssize_t done;

    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    done = writev(file, parts, count);
    if (done < 0 && errno == EFBIG) {
        (void)sigtimedwait(&limit, NULL, &now);
        errno = EFBIG;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}

static bool append(const char *path, const struct iovec *parts, int count)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    size_t size = 0;
    ssize_t done = -1;

    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    if (file >= 0)
        done = write_quietly(file, parts, count);
    if (done >= 0 && (size_t)done < size)
        errno = ENOSPC; /* some of it was written, and is kept */
    if (done != (ssize_t)size)
        failed();
    if (file >= 0)
        (void)close(file);
    return done == (ssize_t)size;
}

void process_say(const struct spool_event *event, const void *payload, const void *more,
                 size_t more_size)
{
    static const uint8_t zeros[8];
    struct spool_event head = *event;
    char path[SPOOL_PATH + 32];
    const struct iovec parts[] = {
        { &head, sizeof head },
        { (void *)(uintptr_t)payload, event->size },
        { (void *)(uintptr_t)more, more_size },
        { (void *)(uintptr_t)zeros, (8 - (event->size + more_size) % 8) % 8 },
    };

    head.size = (uint32_t)(event->size + more_size);
    head.pid = (uint32_t)process.pid;
    if (!head.time)
        head.time = process_time();
    (void)snprintf(path, sizeof path, "%s/%d" SPOOL_EVENTS, process.folder, (int)process.pid);
    (void)pthread_mutex_lock(&process.lock);
    (void)append(path, parts, 4);
    (void)pthread_mutex_unlock(&process.lock);
}

void process_trace_name(char *name, size_t room, uint32_t tid, uint32_t cpu)
{
    (void)snprintf(name, room, SPOOL_TRACE_NAME, (unsigned)process.pid, tid, cpu);
}

bool process_write(uint32_t tid, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    char path[SPOOL_PATH + 64], name[64];
    const struct iovec part = { (void *)(uintptr_t)bytes, size };
    uint64_t total;

    if (process.table->is_full)
        return false;
    process_trace_name(name, sizeof name, tid, cpu);
    (void)snprintf(path, sizeof path, "%s/%s", process.folder, name);
    if (!append(path, &part, 1))
        return false;
    total = __atomic_add_fetch(&process.table->bytes, size, __ATOMIC_RELAXED);
    if (process.options.most && total >= process.options.most)
        process.table->is_full = 1;
    return true;
}

/* ---- CPUs ---- */

uint32_t process_take_cpu(void)
{
    for (uint32_t cpu = 0; cpu < SPOOL_CPUS; cpu++) {
        uint32_t none = 0, used = process.table->used;

        if (!__atomic_compare_exchange_n(&process.table->owners[cpu], &none,
                                         (uint32_t)process.pid, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        while (used <= cpu &&
               !__atomic_compare_exchange_n(&process.table->used, &used, cpu + 1, false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return cpu;
    }
    (void)__atomic_add_fetch(&process.table->untraced, 1, __ATOMIC_RELAXED);
    return SPOOL_CPUS;
}

void process_give_cpu(uint32_t cpu)
{
    if (cpu < SPOOL_CPUS)
        __atomic_store_n(&process.table->owners[cpu], 0, __ATOMIC_RELEASE);
}
