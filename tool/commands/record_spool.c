/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: the folder in which the plug-in leaves what it traced. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/record.h"
#include "shared/settings.h"

static bool complain(const char *what, const char *name)
{
    say("record: cannot %s %s: %s", what, name, strerror(errno));
    return false;
}

static char *path_in(const struct record *record, const char *name)
{
    const size_t size = strlen(record->folder) + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        (void)snprintf(path, size, "%s/%s", record->folder, name);
    return path;
}

static bool put_settings(FILE *file, const char *word, struct record *record, const char *given)
{
    struct settings settings = { NULL, 0 };

    if (!settings_read(&settings, &record->arena, "record", given))
        return false;
    for (size_t i = 0; i < settings.count; i++)
        (void)fprintf(file, "%s %s=%s\n", word, settings.items[i].name,
                      settings.items[i].value);
    return true;
}

static void put_number(FILE *file, const char *word, const struct number *number)
{
    if (number->is_given)
        (void)fprintf(file, "%s %llu\n", word, (unsigned long long)number->value);
}

/* Functions are places in a file, which is known by its number. */
static void put_filters(FILE *file, const struct record *record)
{
    struct stat about;

    if (stat(record->options->arguments.items[0], &about) != 0)
        about.st_ino = 0;
    for (size_t i = 0; i < record->filter_count; i++)
        (void)fprintf(file, "filter %llu-%llu-%llu\n",
                      (unsigned long long)record->filters[i].first,
                      (unsigned long long)record->filters[i].end,
                      record->filters[i].is_function ? (unsigned long long)about.st_ino : 0);
}

static bool write_options(struct record *record)
{
    const struct options *options = record->options;
    char *path = path_in(record, SPOOL_OPTIONS);
    FILE *file = path ? fopen(path, "w") : NULL;
    bool is_good = file != NULL, is_understood = true;

    if (file) {
        (void)fprintf(file, "protocol %s\n", record->protocol);
        if (options->preset && tw_unit_is_riscv(record->protocol)) /* one of its parameters */
            (void)fprintf(file, "register preset=%s\n", options->preset);
        is_understood = put_settings(file, "register", record, options->config) &&
                        put_settings(file, "unit", record, options->unit);
        put_number(file, "ring", &options->ring);
        put_number(file, "most", &options->max_size);
        put_number(file, "on", &options->strobe_on);
        put_number(file, "off", &options->strobe_off);
        put_filters(file, record);
        if (options->is_system)
            (void)fprintf(file, "system 1\n");
        if (record->is_m)
            (void)fprintf(file, "m 1\n");
        is_good = fclose(file) == 0;
    }
    if (!is_good)
        (void)complain("write", path ? path : SPOOL_OPTIONS);
    free(path);
    return is_good && is_understood;
}

static bool make_table(struct record *record)
{
    char *path = path_in(record, SPOOL_TABLE);
    FILE *file = path ? fopen(path, "w+") : NULL;
    const bool is_good = file && ftruncate(fileno(file), sizeof *record->table) == 0;

    if (is_good)
        record->table = mmap(NULL, sizeof *record->table, PROT_READ | PROT_WRITE, MAP_SHARED,
                             fileno(file), 0);
    if (!is_good || record->table == MAP_FAILED) {
        record->table = NULL;
        (void)complain("make", path ? path : SPOOL_TABLE);
    }
    if (file)
        (void)fclose(file);
    free(path);
    return record->table != NULL;
}

/* The folder to be removed, open from the beginning: memory may run out anywhere, and that ends the process (out_of_memory). */
static struct {
    const struct record *record;
    DIR *listing;
    pid_t process; /* what it starts has nothing to remove */
} removed;

static void remove_at_exit(void)
{
    if (removed.record && removed.process == getpid())
        record_remove_folder(removed.record);
}

bool record_make_folder(struct record *record)
{
    static const char name[] = "trackway-record-XXXXXX";
    const char *parent = getenv("TMPDIR");

    parent = parent && *parent == '/' ? parent : "/tmp";
    record->folder = arena_room(&record->arena, strlen(parent) + sizeof name + 1);
    if (!record->folder)
        return false;
    (void)snprintf(record->folder, strlen(parent) + sizeof name + 1, "%s/%s", parent, name);
    if (!mkdtemp(record->folder)) {
        (void)complain("make a folder in", parent);
        record->folder = NULL;
        return false;
    }
    removed.listing = opendir(record->folder);
    if (!removed.listing) {
        (void)complain("open", record->folder);
        (void)rmdir(record->folder);
        record->folder = NULL;
        return false;
    }
    removed.record = record;
    removed.process = getpid();
    (void)atexit(remove_at_exit);
    return make_table(record) && write_options(record);
}

void record_remove_folder(const struct record *record)
{
    const struct dirent *entry;

    if (removed.record) {
        removed.record = NULL;
        rewinddir(removed.listing);
        while ((entry = readdir(removed.listing)) != NULL)
            if (entry->d_name[0] != '.')
                (void)unlinkat(dirfd(removed.listing), entry->d_name, 0);
        (void)closedir(removed.listing);
        (void)rmdir(record->folder);
    }
    if (record->table)
        (void)munmap(record->table, sizeof *record->table);
}

const uint8_t *record_map_path(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    void *bytes = MAP_FAILED;

    *size = 0;
    if (file && fstat(fileno(file), &about) == 0 && about.st_size > 0) {
        *size = (size_t)about.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    }
    if (file)
        (void)fclose(file);
    if (bytes == MAP_FAILED)
        *size = 0;
    return bytes == MAP_FAILED ? NULL : bytes;
}

bool record_map_file(const struct record *record, const uint8_t **bytes, size_t *size,
                     const char *name)
{
    char *path;
    bool is_good;

    errno = 0;
    *size = 0;
    path = path_in(record, name);
    *bytes = path ? record_map_path(path, size) : NULL;
    is_good = *bytes || !errno || errno == ENOENT || complain("read", name);
    free(path);
    return is_good;
}

void record_unmap_file(const uint8_t *bytes, size_t size)
{
    if (bytes)
        (void)munmap((void *)(uintptr_t)bytes, size);
}

static bool add_event(struct record *record, const struct record_event *event)
{
    if (record->event_count == record->event_room) {
        const size_t room = record->event_room ? 2 * record->event_room : 256;
        struct record_event *more = realloc(record->events, room * sizeof *more);

        if (!more) {
            say("record: out of memory");
            return false;
        }
        record->events = more;
        record->event_room = room;
    }
    record->events[record->event_count++] = *event;
    return true;
}

/* "NAME=VALUE": the unit of the first thread speaks for all. */
static bool take_register(struct record *record, const struct record_event *event)
{
    char *text = arena_copy(&record->arena, (const char *)event->payload);
    char *equals = text ? strchr(text, '=') : NULL;

    if (!equals || record->register_count == RECORD_REGISTERS)
        return text != NULL;
    *equals = 0;
    for (size_t i = 0; i < record->register_count; i++)
        if (strcmp(record->registers[i].name, text) == 0)
            return true;
    record->registers[record->register_count++] =
        (struct tw_register){ text, strtoull(equals + 1, NULL, 0) };
    return true;
}

/* The events of one process.  A process that was killed may leave the last one cut off. */
static bool read_events(struct record *record, const char *name)
{
    size_t size, at = 0;
    const uint8_t *bytes;
    bool is_good = record_map_file(record, &bytes, &size, name);

    while (is_good && size - at >= sizeof(struct spool_event)) {
        struct record_event event = { .order = record->event_count };

        memcpy(&event.head, bytes + at, sizeof event.head);
        at += sizeof event.head;
        if (event.head.size > size - at)
            break;
        event.payload = bytes + at;
        if (event.head.kind == SPOOL_REGISTER && event.head.size &&
            !event.payload[event.head.size - 1])
            is_good = take_register(record, &event);
        else
            is_good = add_event(record, &event);
        at += event.head.size;
        at += (8 - event.head.size % 8) % 8;
        if (at > size)
            break;
    }
    return is_good; /* the bytes stay mapped: events point into them */
}

/* When the process became another program (exec), which is the end of this trace; 0: it did not. */
static uint64_t next_program(const struct record *record, const struct spool_event *start,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct spool_event *at = &record->events[i].head;

        if (at->kind == SPOOL_COMM && at->extra && at->pid == start->pid &&
            at->time > start->time)
            return at->time;
    }
    return 0;
}

/* A process that was killed, or could not write any more, does not say that its trace is whole. */
static bool add_untold(struct record *record)
{
    const size_t count = record->event_count;

    for (size_t i = 0; i < count; i++) {
        const struct spool_event start = record->events[i].head;
        struct record_event made = { .head = start, .order = record->event_count };
        bool is_told = false;
        uint64_t become;
        char *name;

        if (start.kind != SPOOL_START)
            continue;
        for (size_t k = 0; k < count && !is_told; k++) {
            const struct spool_event *other = &record->events[k].head;

            is_told = other->kind == SPOOL_TRACE && other->pid == start.pid &&
                      other->tid == start.tid && other->cpu == start.cpu;
        }
        name = is_told ? NULL : arena_room(&record->arena, 64);
        if (!name)
            continue;
        made.head.kind = SPOOL_TRACE;
        made.head.size = (uint32_t)snprintf(name, 64, SPOOL_TRACE_NAME, (unsigned)start.pid,
                                            (unsigned)start.tid, (unsigned)start.cpu) +
                         1;
        become = next_program(record, &start, count);
        made.head.time = become ? become - 1 : record->events[count - 1].head.time + 1;
        made.head.extra = become ? 0 : TW_PERF_TRUNCATED;
        made.payload = (const uint8_t *)name;
        if (!add_event(record, &made))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct record_event *left = a, *right = b;

    if (left->head.time != right->head.time)
        return left->head.time < right->head.time ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

bool record_read(struct record *record)
{
    DIR *folder = opendir(record->folder);
    const struct dirent *entry;
    bool is_good = folder != NULL;

    while (is_good && (entry = readdir(folder)) != NULL) {
        const size_t size = strlen(entry->d_name), tail = sizeof SPOOL_EVENTS - 1;

        if (size > tail && strcmp(entry->d_name + size - tail, SPOOL_EVENTS) == 0)
            is_good = read_events(record, entry->d_name);
    }
    if (folder)
        (void)closedir(folder);
    if (record->event_count)
        qsort(record->events, record->event_count, sizeof *record->events, compare);
    is_good = is_good && add_untold(record);
    if (record->event_count)
        qsort(record->events, record->event_count, sizeof *record->events, compare);
    return is_good;
}
