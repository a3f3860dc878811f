/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: code that is in no file, such as the return from a signal or what a program made
   itself, in the form that run-time compilers leave for perf. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/record.h"

enum { JIT_MAGIC = 0x4a695444, JIT_HEAD = 40, JIT_LOAD_FIXED = 56 };

/* What a program that makes code says of it in /tmp/perf-PID.map: lines of address, size and name. */
struct names {
    struct name {
        uint64_t address, size;
        bool is_written; /* all of it, as one piece */
        bool is_split;   /* its code changed: piece by piece */
        char text[200];
    } * list;
    size_t count, room;
    size_t joined; /* that were looked through as one piece: each looks at all code */
};

static void read_names(struct names *names, uint32_t pid)
{
    char path[64], line[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "/tmp/perf-%u.map", (unsigned)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        struct name name = { .address = 0 };

        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %199[^\n]", &name.address, &name.size,
                   name.text) != 3)
            continue;
        if (names->count == names->room) {
            const size_t room = names->room ? 2 * names->room : 64;
            struct name *more = realloc(names->list, room * sizeof *more);

            if (!more)
                break;
            names->list = more;
            names->room = room;
        }
        names->list[names->count++] = name;
    }
    if (file)
        (void)fclose(file);
}

/* The last that was said of an address is what holds; NULL: nothing was. */
static struct name *name_of(const struct names *names, uint64_t address)
{
    for (size_t i = names->count; i--;)
        if (address - names->list[i].address < names->list[i].size)
            return &names->list[i];
    return NULL;
}

/* A stretch of code, as it was translated or all that is known of a function. */
struct code {
    uint64_t address, size;
    const uint8_t *bytes;
};

static void put(FILE *file, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        (void)fputc((int)(value >> 8 * i & 0xff), file);
}

static void put_head(FILE *file, const struct record_event *event, unsigned machine)
{
    put(file, JIT_MAGIC, 4);
    put(file, 1, 4);
    put(file, JIT_HEAD, 4);
    put(file, machine, 4);
    put(file, 0, 4);
    put(file, event->head.pid, 4);
    put(file, event->head.time, 8);
    put(file, 0, 8); /* flags: times are those of the records */
}

static void put_load(FILE *file, const struct record_event *event, const struct code *code,
                     const char *name, uint64_t index)
{
    put(file, 0, 4);
    put(file, JIT_LOAD_FIXED + strlen(name) + 1 + code->size, 4);
    put(file, event->head.time, 8);
    put(file, event->head.pid, 4);
    put(file, event->head.tid, 4);
    put(file, code->address, 8);
    put(file, code->address, 8);
    put(file, code->size, 8);
    put(file, index, 8);
    (void)fwrite(name, 1, strlen(name) + 1, file);
    (void)fwrite(code->bytes, 1, (size_t)code->size, file);
}

static bool is_code(const struct record_event *event)
{
    return event->head.kind == SPOOL_CODE && event->head.size > 8;
}

/* The address as eight bytes, then the code. */
static struct code code_of(const struct record_event *event)
{
    struct code code = { .size = event->head.size - 8, .bytes = event->payload + 8 };

    memcpy(&code.address, event->payload, sizeof code.address);
    return code;
}

static bool is_of(const struct record_event *event, uint32_t pid)
{
    return is_code(event) && event->head.pid == pid;
}

/* All that ran of a function from event `first` on, with zeros between; false: it was not always the same code, or
   there is no memory.  To be freed. */
static bool join(const struct record *record, size_t first, const struct name *name,
                 struct code *whole)
{
    uint8_t *bytes = calloc(1, 2 * (size_t)name->size), *is_there = bytes + name->size;
    bool is_same = bytes != NULL;

    for (size_t i = first; is_same && i < record->event_count; i++) {
        struct code part;
        uint64_t at;

        if (!is_of(&record->events[i], record->events[first].head.pid))
            continue;
        part = code_of(&record->events[i]);
        at = part.address - name->address;
        if (at >= name->size)
            continue;
        is_same = part.size <= name->size - at;
        for (uint64_t k = 0; is_same && k < part.size; k++) {
            is_same = !is_there[at + k] || bytes[at + k] == part.bytes[k];
            bytes[at + k] = part.bytes[k];
            is_there[at + k] = 1;
        }
    }
    *whole = (struct code){ .address = name->address, .size = name->size, .bytes = bytes };
    if (!is_same)
        free(bytes);
    return is_same;
}

/* The code of an event: its function, where that has a name and is not written yet. */
static void put_code(FILE *file, const struct record *record, size_t event, struct names *names,
                     uint64_t *index)
{
    enum { FUNCTION_MOST = 1 << 22, JOINED_MOST = 4096 };
    const struct record_event *about = &record->events[event];
    struct code code = code_of(about), whole;
    struct name *name = name_of(names, code.address);

    if (name && name->is_written)
        return;
    if (name && !name->is_split && name->size <= FUNCTION_MOST && names->joined < JOINED_MOST) {
        names->joined++;
        name->is_written = join(record, event, name, &whole);
        name->is_split = !name->is_written;
    }
    if (name && name->is_written) {
        put_load(file, about, &whole, name->text, (*index)++);
        free((void *)(uintptr_t)whole.bytes);
        return;
    }
    put_load(file, about, &code, name ? name->text : "", (*index)++);
}

/* All code of the process whose first code this is. */
static bool write_dump(const struct record *record, size_t first, const char *path)
{
    const uint32_t pid = record->events[first].head.pid;
    FILE *file = fopen(path, "wb");
    struct names names = { .list = NULL };
    uint64_t index = 0;

    read_names(&names, pid);
    if (file) {
        put_head(file, &record->events[first], record->elf_machine);
        for (size_t i = first; i < record->event_count; i++)
            if (is_of(&record->events[i], pid))
                put_code(file, record, i, &names, &index);
    }
    free(names.list);
    if (!file || ferror(file) || fclose(file) != 0) {
        say("record: cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* The mapping of a dump names it as programs see it. */
static char *full_path(struct record *record, const char *output)
{
    char *real = NULL, *path = NULL;
    const char *slash = strrchr(output, '/');
    const size_t size = slash ? (size_t)(slash - output) + 1 : 0;
    char *folder = arena_room(&record->arena, size + 2);

    if (folder) {
        (void)snprintf(folder, size + 2, "%.*s", (int)(size ? size : 1), size ? output : ".");
        real = realpath(folder, NULL);
    }
    if (real)
        path = arena_room(&record->arena, strlen(real) + strlen(output) + 64);
    if (path)
        (void)snprintf(path, strlen(real) + strlen(output) + 64, "%s/%s.code", real,
                       slash ? slash + 1 : output);
    free(real);
    return path;
}

static bool add_dump(struct record *record, size_t event, const char *folder,
                     struct record_dump *dump)
{
    const size_t room = strlen(folder) + 32;
    char *path = arena_room(&record->arena, room);

    if (!path)
        return false;
    (void)snprintf(path, room, "%s/jit-%u.dump", folder,
                   (unsigned)record->events[event].head.pid);
    *dump = (struct record_dump){ &record->events[event], path };
    return write_dump(record, event, path);
}

bool record_write_dumps(struct record *record, const char *output, struct record_dump **dumps,
                        size_t *count)
{
    const char *folder = NULL;

    *count = 0;
    *dumps = NULL;
    for (size_t i = 0; i < record->event_count; i++) {
        struct record_dump *more;
        size_t known = 0;

        if (!is_code(&record->events[i]))
            continue;
        while (known < *count && (*dumps)[known].first->head.pid != record->events[i].head.pid)
            known++;
        if (known < *count)
            continue;
        more = realloc(*dumps, (*count + 1) * sizeof *more);
        if (more)
            *dumps = more;
        if (!folder)
            folder = full_path(record, output);
        if (!more || !folder || (mkdir(folder, 0777) != 0 && errno != EEXIST)) {
            say("record: cannot make a folder for code beside %s: %s", output, strerror(errno));
            return false;
        }
        if (!add_dump(record, i, folder, &(*dumps)[*count]))
            return false;
        (*count)++;
    }
    return true;
}
