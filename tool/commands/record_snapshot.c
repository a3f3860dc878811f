/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: what was traced as a snapshot folder.  Each thread is a core with a trace unit and a
   buffer of its own, and sees the memory of its process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/capture.h>

#include "commands/record.h"

struct folder {
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
            dump->file = make_name(record, "code_", i, ".bin");
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

static const char *device_type(const struct record *record)
{
    static const char *const types[][2] = {
        { "ete", "ETE" },      { "etmv4", "ETM4.5" },     { "ptm", "PTM1.0" },
        { "etmv3", "ETM3.5" }, { "etrace", "ETRACE2.0" }, { "ntrace", "NTRACE1.0" }
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i][0], record->protocol) == 0)
            return types[i][1];
    return record->protocol;
}

/* The thread whose trace this event hands over. */
static bool add_thread(struct folder *folder, const struct record_event *event)
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
                                         .type = device_type(record),
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
    buffer->bytes = record_map_file(record, (const char *)event->payload, &size);
    buffer->size = size;
    folder->count += buffer->bytes != NULL;
    return !buffer->bytes || take_memory(record, core, event->head.pid);
}

bool record_write_snapshot(struct record *record, const char *path)
{
    struct folder folder = { .record = record };
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
    if (is_good && tw_snapshot_write(path, &snapshot, &fault) != TW_OK) {
        say("record: %s", fault.text);
        is_good = false;
    }
    for (size_t i = 0; i < folder.count; i++)
        record_unmap_file(folder.buffers[i].bytes, folder.buffers[i].size);
    return is_good;
}
