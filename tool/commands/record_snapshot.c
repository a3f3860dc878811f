/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: what was traced as a snapshot folder.  Each thread is a core with a trace unit and a
   buffer of its own, and sees the memory of its process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/capture.h>
#include <trackway/etrace.h>

#include "commands/record.h"
#include "shared/folder.h"

struct recorded {
    struct record *record;
    struct tw_snapshot_device *devices;
    struct tw_snapshot_buffer *buffers;
    size_t count; /* threads: two devices and one buffer each */
    const char *text;
};

static char *make_name(struct record *record, const char *stem, size_t number, const char *tail)
{
    const size_t room = strlen(stem) + strlen(tail) + 24;
    char *name = arena_room(&record->arena, room);

    if (name)
        (void)snprintf(name, room, "%s%zu%s", stem, number, tail);
    return name;
}

/* No two files of a snapshot have the same name. */
static char *code_name(struct record *record, const struct tw_snapshot_device *core,
                       size_t number)
{
    const size_t room = strlen(core->name) + 40;
    char *name = arena_room(&record->arena, room);

    if (name)
        (void)snprintf(name, room, "%s_code_%zu.bin", core->name, number);
    return name;
}

/* The last page of a mapping may reach beyond the file. */
static uint64_t length_in_file(const char *path, const struct spool_map *map)
{
    struct stat about;
    uint64_t left;

    if (stat(path, &about) != 0 || (uint64_t)about.st_size <= map->offset)
        return 0;
    left = (uint64_t)about.st_size - map->offset;
    return left < map->length ? left : map->length;
}

/* Memory of a process: files that it has mapped, and code that it has in none. */
static bool take_memory(struct record *record, struct tw_snapshot_device *core, uint32_t pid)
{
    struct tw_snapshot_dump *dumps =
        arena_room(&record->arena, (record->event_count + 1) * sizeof *dumps);

    core->dumps = dumps;
    for (size_t i = 0; dumps && i < record->event_count; i++) {
        const struct record_event *event = &record->events[i];
        struct tw_snapshot_dump *dump = &dumps[core->dump_count];
        struct spool_map map;

        if (event->head.pid != pid)
            continue;
        *dump = (struct tw_snapshot_dump){ .file = NULL };
        if (event->head.kind == SPOOL_CODE && event->head.size > 8) {
            memcpy(&dump->address, event->payload, 8);
            dump->bytes = event->payload + 8;
            dump->size = event->head.size - 8;
            dump->file = code_name(record, core, i);
        } else if (event->head.kind == SPOOL_MAP && event->head.size > sizeof map) {
            const char *name = (const char *)event->payload + sizeof map;
            const char *slash = strrchr(name, '/');

            memcpy(&map, event->payload, sizeof map);
            if (!slash || name[1] == '/')
                continue; /* in no file */
            dump->path = name;
            dump->file = slash + 1;
            dump->address = map.address;
            dump->offset = map.offset;
            dump->length = length_in_file(name, &map);
            if (!dump->length)
                continue;
        } else {
            continue;
        }
        if (!dump->file)
            return false;
        core->dump_count++;
    }
    return dumps != NULL;
}

/* Code that a machine ran and that is not in the program: what stands in a row is one stretch. */
struct stretch {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
};

static int compare(const void *a, const void *b)
{
    const struct stretch *left = a, *right = b;

    return left->address < right->address ? -1 : left->address > right->address;
}

static bool is_in_program(const struct record *record, const uint8_t *file, size_t file_size,
                          const struct stretch *code)
{
    const struct tw_perf_program *program = &record->program;

    for (uint32_t i = 0; i < program->segment_count; i++) {
        const uint64_t inside = code->address - program->segments[i].address;
        const uint64_t length = program->segments[i].length;
        const uint64_t at = program->segments[i].offset + inside;

        if (inside < length && code->size <= length - inside && at + code->size <= file_size &&
            memcmp(file + at, code->bytes, code->size) == 0)
            return true;
    }
    return false;
}

/* Stretches that touch become one; where two say something else of a byte, the later one is right. */
static bool add_code(struct record *record, struct tw_snapshot_device *core,
                     struct tw_snapshot_dump *dumps, const struct stretch *list, size_t count)
{
    for (size_t i = 0; i < count;) {
        uint64_t end = list[i].address + list[i].size;
        struct tw_snapshot_dump *dump = &dumps[core->dump_count];
        size_t last = i + 1;
        uint8_t *bytes;

        for (; last < count && list[last].address <= end; last++)
            if (list[last].address + list[last].size > end)
                end = list[last].address + list[last].size;
        bytes = arena_room(&record->arena, (size_t)(end - list[i].address));
        *dump = (struct tw_snapshot_dump){ .address = list[i].address,
                                           .bytes = bytes,
                                           .size = (size_t)(end - list[i].address),
                                           .file = code_name(record, core, i) };
        if (!bytes || !dump->file)
            return false;
        for (size_t k = i; k < last; k++)
            memcpy(bytes + (list[k].address - list[i].address), list[k].bytes, list[k].size);
        core->dump_count++;
        i = last;
    }
    return true;
}

/* Memory of a machine: the program, and what it ran besides. */
static bool take_machine(struct record *record, struct tw_snapshot_device *core)
{
    const struct tw_perf_program *program = &record->program;
    const char *path = record->options->arguments.items[0];
    struct tw_snapshot_dump *dumps =
        arena_room(&record->arena, (record->event_count + TW_PERF_SEGMENTS) * sizeof *dumps);
    struct stretch *list = arena_room(&record->arena, (record->event_count + 1) * sizeof *list);
    size_t count = 0, size = 0;
    const uint8_t *file = record_map_path(path, &size);

    core->dumps = dumps;
    if (!dumps || !list)
        return false;
    for (uint32_t i = 0; i < program->segment_count; i++)
        dumps[core->dump_count++] =
            (struct tw_snapshot_dump){ .path = path,
                                       .file =
                                           strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
                                       .address = program->segments[i].address,
                                       .offset = program->segments[i].offset,
                                       .length = program->segments[i].length };
    for (size_t i = 0; i < record->event_count; i++) {
        const struct record_event *event = &record->events[i];

        if (event->head.kind != SPOOL_CODE || event->head.size <= 8)
            continue;
        memcpy(&list[count].address, event->payload, 8);
        list[count].bytes = event->payload + 8;
        list[count].size = event->head.size - 8;
        count += !is_in_program(record, file, size, &list[count]);
    }
    record_unmap_file(file, size);
    qsort(list, count, sizeof *list, compare);
    return add_code(record, core, dumps, list, count);
}

/* Before E-Trace 2.0 packets had another layout. */
static bool is_seed(const char *text)
{
    struct tw_etrace_config config;
    struct tw_fault fault;

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    return text && tw_etrace_config_read(&config, text, &fault) == TW_OK &&
           config.layout == TW_ETRACE_LAYOUT_SEED;
}

static const char *device_type(const struct record *record, const char *text)
{
    static const char *const types[][2] = {
        { "ete", "ETE" },      { "etmv4", "ETM4.5" },     { "ptm", "PTM1.0" },
        { "etmv3", "ETM3.5" }, { "etrace", "ETRACE2.0" }, { "ntrace", "NTRACE1.0" }
    };

    if (strcmp(record->protocol, "etrace") == 0 && is_seed(text))
        return "ETRACE1.1";
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i][0], record->protocol) == 0)
            return types[i][1];
    return record->protocol;
}

/* The thread whose trace this event hands over. */
static bool add_thread(struct recorded *folder, const struct record_event *event)
{
    struct record *record = folder->record;
    const size_t n = folder->count;
    struct tw_snapshot_device *core = &folder->devices[2 * n], *unit = core + 1;
    struct tw_snapshot_buffer *buffer = &folder->buffers[n];
    const char **names = arena_room(&record->arena, sizeof *names);
    size_t size = 0;

    *core = (struct tw_snapshot_device){ .name = make_name(record, "cpu_", n, ""),
                                         .class_name = "core",
                                         .type = record->core_type };
    *unit = (struct tw_snapshot_device){ .name = make_name(record, "unit_", n, ""),
                                         .class_name = "trace_source",
                                         .type = device_type(record, folder->text),
                                         .registers = record->registers,
                                         .register_count = record->register_count,
                                         .core = core->name,
                                         .buffers = names,
                                         .buffer_count = 1,
                                         .text = folder->text };
    *buffer = (struct tw_snapshot_buffer){ .name = make_name(record, "trace_", n, ""),
                                           .format = "source_data" };
    if (!core->name || !unit->name || !buffer->name || !names)
        return false;
    names[0] = buffer->name;
    if (!record_map_file(record, &buffer->bytes, &size, (const char *)event->payload))
        return false;
    buffer->size = size;
    folder->count += buffer->bytes != NULL;
    if (!buffer->bytes)
        return true;
    return record->options->is_system ? take_machine(record, core)
                                      : take_memory(record, core, event->head.pid);
}

bool record_write_snapshot(struct record *record, const char *path)
{
    struct recorded folder = { .record = record };
    struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                    .description = record->options->arguments.items[0],
                                    .overwrite = record->options->force };
    struct tw_fault fault = { TW_OK, "" };
    bool is_good;

    folder.devices =
        arena_room(&record->arena, (2 * record->event_count + 2) * sizeof *folder.devices);
    folder.buffers =
        arena_room(&record->arena, (record->event_count + 1) * sizeof *folder.buffers);
    is_good = folder.devices && folder.buffers;
    for (size_t i = 0; i < record->event_count; i++)
        if (record->events[i].head.kind == SPOOL_CONFIG)
            folder.text = (const char *)record->events[i].payload;
    for (size_t i = 0; is_good && i < record->event_count; i++)
        if (record->events[i].head.kind == SPOOL_TRACE)
            is_good = add_thread(&folder, &record->events[i]);
    snapshot.devices = folder.devices;
    snapshot.device_count = 2 * folder.count;
    snapshot.buffers = folder.buffers;
    snapshot.buffer_count = folder.count;
    if (is_good && folder_snapshot(path, &snapshot, &fault) != TW_OK) {
        say("record: %s", fault.text);
        is_good = false;
    }
    for (size_t i = 0; i < folder.count; i++)
        record_unmap_file(folder.buffers[i].bytes, folder.buffers[i].size);
    return is_good;
}
