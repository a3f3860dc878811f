/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: what was traced as a perf.data file. */
#include <stdlib.h>
#include <string.h>

#include "commands/record.h"

struct perf_file {
    struct record *record;
    struct output out;
    uint64_t end; /* bytes written so far */
    struct tw_perf_writer *writer;
    struct list names;         /* of mapped files whose build ID is known */
    struct record_dump *dumps; /* of code that is in no file */
    size_t dump_count;
};

/* All but the header at the end comes one behind the other. */
static bool put(void *context, uint64_t offset, const void *bytes, size_t size)
{
    struct perf_file *file = context;

    if (offset != file->end) {
        output_flush(&file->out);
        if (fseeko(file->out.file, (off_t)offset, SEEK_SET) != 0)
            return false;
    }
    output_bytes(&file->out, bytes, size);
    file->end = offset + size;
    return !output_is_over(&file->out);
}

static bool told(const struct perf_file *file, enum tw_status status)
{
    if (status != TW_OK)
        say("record: %s", tw_perf_writer_fault(file->writer));
    return status == TW_OK;
}

static bool put_build_id(struct perf_file *file, const char *name)
{
    uint8_t id[20];
    size_t size;

    for (size_t i = 0; i < file->names.count; i++)
        if (strcmp(file->names.items[i], name) == 0)
            return true;
    size = tw_perf_build_id(id, name);
    return list_add(&file->names, name) &&
           (!size || told(file, tw_perf_writer_build_id(file->writer, name, id, size)));
}

static bool put_map(struct perf_file *file, const struct tw_perf_stamp *stamp,
                    const struct record_event *event)
{
    const char *name = (const char *)event->payload + sizeof(struct spool_map);
    struct spool_map map;
    struct tw_perf_mapping mapping;

    if (event->head.size <= sizeof map || event->payload[event->head.size - 1])
        return true;
    memcpy(&map, event->payload, sizeof map);
    mapping = (struct tw_perf_mapping){ .address = map.address,
                                        .length = map.length,
                                        .offset = map.offset,
                                        .major = map.major,
                                        .minor = map.minor,
                                        .inode = map.inode,
                                        .protection = map.protection,
                                        .flags = map.flags };
    return told(file, tw_perf_writer_map(file->writer, stamp, &mapping, name)) &&
           (name[0] != '/' || name[1] == '/' || put_build_id(file, name));
}

static bool put_trace(struct perf_file *file, const struct tw_perf_stamp *stamp,
                      const struct record_event *event)
{
    size_t size;
    const uint8_t *bytes;
    uint32_t flags = event->head.extra;
    bool is_good;

    if (!record_map_file(file->record, &bytes, &size, (const char *)event->payload))
        return false;
    if (file->record->table->is_full)
        flags |= TW_PERF_TRUNCATED;
    is_good =
        !bytes || told(file, tw_perf_writer_trace(file->writer, stamp, bytes, size, flags));
    record_unmap_file(bytes, size);
    return is_good && told(file, tw_perf_writer_switch(file->writer, stamp, true));
}

/* A process that made code has the dump of it mapped, as its run-time compiler would. */
static bool put_dump(struct perf_file *file, const struct tw_perf_stamp *stamp,
                     const struct record_event *event)
{
    const struct tw_perf_mapping mapping = {
        .address = 0x1000, .length = 0x1000, .protection = 5, .flags = 2
    };

    for (size_t i = 0; i < file->dump_count; i++)
        if (file->dumps[i].first == event)
            return told(file,
                        tw_perf_writer_map(file->writer, stamp, &mapping, file->dumps[i].path));
    return true;
}

static bool put_event(struct perf_file *file, const struct record_event *event)
{
    const struct spool_event *head = &event->head;
    const struct tw_perf_stamp stamp = { .time = head->time,
                                         .pid = head->pid,
                                         .tid = head->tid,
                                         .cpu = head->cpu < SPOOL_CPUS ? head->cpu : 0 };
    struct tw_perf_writer *writer = file->writer;
    const bool is_text = head->size && !event->payload[head->size - 1];

    switch (head->kind) {
    case SPOOL_COMM:
        return !is_text ||
               told(file, tw_perf_writer_comm(writer, &stamp, (const char *)event->payload,
                                              head->extra != 0));
    case SPOOL_FORK:
        return told(file, tw_perf_writer_fork(writer, &stamp, head->extra, head->more));
    case SPOOL_EXIT:
        return told(file, tw_perf_writer_exit(writer, &stamp));
    case SPOOL_MAP:
        return put_map(file, &stamp, event);
    case SPOOL_START:
        return told(file, tw_perf_writer_start(writer, &stamp)) &&
               told(file, tw_perf_writer_switch(writer, &stamp, false));
    case SPOOL_TRACE:
        return !is_text || put_trace(file, &stamp, event);
    case SPOOL_CODE:
        return put_dump(file, &stamp, event);
    default:
        return true;
    }
}

static bool write_all(struct perf_file *file, const struct tw_perf_writer_config *config)
{
    struct tw_fault fault = { TW_OK, "" };
    bool is_good = tw_perf_writer_new(&file->writer, config, &fault) == TW_OK;

    if (!is_good)
        say("record: %s", fault.text);
    for (size_t i = 0; is_good && i < file->record->event_count; i++)
        is_good = put_event(file, &file->record->events[i]);
    is_good = is_good && told(file, tw_perf_writer_finish(file->writer));
    tw_perf_writer_free(file->writer);
    return is_good;
}

/* A trace unit's registers: all are alike but for the trace ID, of which perf wants another for each CPU.
   There are 111; beyond that they are used again, which this tool reads, as no two units share a buffer. */
static const struct tw_register *registers_of(struct record *record, uint32_t cpu)
{
    enum { FIRST_ID = 0x10, IDS = 0x6f };
    const size_t size = record->register_count * sizeof *record->registers;
    struct tw_register *own = arena_room(&record->arena, size + 1);

    if (!own)
        return NULL;
    memcpy(own, record->registers, size);
    for (size_t i = 0; i < record->register_count; i++)
        if (strstr(own[i].name, "TRACEIDR"))
            own[i].value = (FIRST_ID - 1 + cpu) % IDS + 1;
    return own;
}

bool record_write_perf(struct record *record, const char *path)
{
    struct perf_file file = { .record = record };
    const uint32_t count = record->table->used ? record->table->used : 1;
    struct tw_perf_cpu *cpus = arena_room(&record->arena, count * sizeof *cpus);
    const struct tw_perf_writer_config config = {
        .size = sizeof config,
        .is_monotonic = true,
        .protocol = record->protocol,
        .cpus = cpus,
        .cpu_count = count,
        .is_snapshot = record->options->ring.is_given,
        .machine = record->machine,
        .command = record->options->arguments.items,
        .command_count = record->options->arguments.count,
        .time_mult = 1,
        .write = put,
        .write_context = &file,
    };
    bool is_good;

    for (uint32_t i = 0; cpus && i < count; i++) {
        cpus[i] = (struct tw_perf_cpu){ .number = i,
                                        .registers = registers_of(record, i),
                                        .register_count = record->register_count };
        if (!cpus[i].registers)
            return false;
    }
    if (!cpus || !output_open(&file.out, path, COLOR_NEVER))
        return false;
    is_good = record_write_dumps(record, path, &file.dumps, &file.dump_count) &&
              write_all(&file, &config);
    free(file.dumps);
    free(file.names.items);
    return output_close(&file.out, is_good) && is_good;
}
