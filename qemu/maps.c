/* SPDX-License-Identifier: BSD-2-Clause */
/* What is mapped where.  The program's memory is part of ours: when code from a place that was not yet
   spoken of is about to run, our own list of mappings says which file it is of.  That finds the program,
   its interpreter and libraries alike, however they came there. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "qemu/process.h"

enum { MAPS_MAX = 4096, LINE = SPOOL_NAME + 128 };

/* A mapping that was spoken of. */
struct known {
    uint64_t first, end, offset, inode;
    bool is_file;
    bool is_sure; /* nothing was mapped since it was looked at */
};

static struct known known[MAPS_MAX];
static size_t known_count;
static uint64_t said;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t maps_said(void)
{
    return __atomic_load_n(&said, __ATOMIC_RELAXED);
}

void maps_forked(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}

void maps_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < known_count; i++)
        known[i].is_sure = false;
    (void)pthread_mutex_unlock(&lock);
}

static struct known *look_up(uint64_t address)
{
    for (size_t i = 0; i < known_count; i++)
        if (address >= known[i].first && address < known[i].end)
            return &known[i];
    return NULL;
}

/* Those that a new mapping lies over are gone; false: there were none. */
static bool drop_overlapped(const struct known *by)
{
    const size_t count = known_count;
    size_t kept = 0;

    for (size_t i = 0; i < known_count; i++)
        if (known[i].end <= by->first || known[i].first >= by->end)
            known[kept++] = known[i];
    known_count = kept;
    return kept < count;
}

/* One line of /proc/self/maps. */
struct line {
    uint64_t first, end, offset, inode;
    unsigned major, minor;
    char name[SPOOL_NAME];
};

static bool parse(struct line *line, char *text)
{
    int at = 0;

    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %n",
               &line->first, &line->end, &line->offset, &line->major, &line->minor,
               &line->inode, &at) < 6)
        return false;
    text[strcspn(text, "\n")] = 0;
    (void)snprintf(line->name, sizeof line->name, "%s", at ? text + at : "");
    return true;
}

static bool find(struct line *line, uint64_t host)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char text[LINE];
    bool is_found = false;

    while (file && !is_found && fgets(text, sizeof text, file))
        is_found = parse(line, text) && host >= line->first && host < line->end;
    if (file)
        (void)fclose(file);
    return is_found;
}

/* is_first: nothing was there before. */
static void say(const struct line *line, uint64_t address, bool is_file, bool is_first)
{
    const char *name = is_file ? line->name : "//anon";
    const struct spool_map map = { .address = address,
                                   .length = line->end - line->first,
                                   .offset = is_file ? line->offset : 0,
                                   .inode = line->inode,
                                   .major = line->major,
                                   .minor = line->minor,
                                   .protection = PROT_READ | PROT_EXEC,
                                   .flags = MAP_PRIVATE };

    process_say(&(struct spool_event){ .kind = SPOOL_MAP,
                                       .size = sizeof map,
                                       .time = is_first ? process_start() : 0,
                                       .tid = (uint32_t)gettid() },
                &map, name, strlen(name) + 1);
}

/* "jit-PID.dump": a run-time compiler says by mapping it that it tells there of the code it makes. */
static bool is_dump(const char *name)
{
    const char *last = strrchr(name, '/');
    size_t digits;

    if (!last || strncmp(last, "/jit-", 5) != 0)
        return false;
    digits = strspn(last + 5, "0123456789");
    return digits && strcmp(last + 5 + digits, ".dump") == 0;
}

/* The dumps that are mapped and were not yet spoken of; `base` is where address 0 of the program would be. */
static void say_dumps(struct line *line, uint64_t base)
{
    static uint64_t told[16];
    static size_t count;
    FILE *file = fopen("/proc/self/maps", "re");
    char text[LINE];

    while (file && fgets(text, sizeof text, file)) {
        bool is_told = false;

        if (!parse(line, text) || !is_dump(line->name))
            continue;
        for (size_t i = 0; i < count; i++)
            is_told |= told[i] == line->inode;
        if (is_told || count == sizeof told / sizeof told[0])
            continue;
        told[count++] = line->inode;
        say(line, line->first - base, true, true);
    }
    if (file)
        (void)fclose(file);
}

/* The mapping of a place in our own memory that is this address of the program. */
static const struct known *discover(uint64_t address, uint64_t host)
{
    struct line *line = malloc(sizeof *line);
    struct known *found = look_up(address);

    if (line && find(line, host)) {
        const uint64_t first = address - (host - line->first);
        const struct known now = { .first = first,
                                   .end = first + (line->end - line->first),
                                   .offset = line->offset,
                                   .inode = line->inode,
                                   .is_file = line->inode && line->name[0] == '/',
                                   .is_sure = true };

        if (found && found->first == now.first && found->end == now.end &&
            found->offset == now.offset && found->inode == now.inode) {
            found->is_sure = true;
        } else {
            const bool is_first = !drop_overlapped(&now);

            if (known_count == MAPS_MAX)
                known_count = 0;
            found = &known[known_count++];
            *found = now;
            say(line, now.first, now.is_file, is_first);
            said++;
            if (!now.is_file)
                say_dumps(line, host - address);
        }
    }
    free(line);
    return found;
}

bool maps_note(uint64_t address, const void *host)
{
    const struct known *found;
    bool is_file;

    if (!host)
        return false;
    (void)pthread_mutex_lock(&lock);
    found = look_up(address);
    if (!found || !found->is_sure)
        found = discover(address, (uint64_t)(uintptr_t)host);
    is_file = found && found->is_file;
    (void)pthread_mutex_unlock(&lock);
    return is_file;
}

uint64_t maps_file(uint64_t *offset, uint64_t address)
{
    const struct known *found;
    uint64_t inode = 0;

    *offset = 0;
    (void)pthread_mutex_lock(&lock);
    found = look_up(address);
    if (found && found->is_file) {
        inode = found->inode;
        *offset = found->offset + (address - found->first);
    }
    (void)pthread_mutex_unlock(&lock);
    return inode;
}
