/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing perf.data: records of tasks, mappings and trace. */
#include <string.h>

#include "capture/perfdata_write.h"

enum { EVENT_TRACE, EVENT_TASKS };
enum {
    MISC_USER = 2,
    MISC_EXEC = 1 << 13,
    MISC_OUT = 1 << 13,
    MISC_BUILD_ID_SIZE = 1 << 15,
    TRAILING_SIZE = 32,
    RECORD_MAX = 65528,
    BUILD_ID_MAX = 20
};

enum tw_status perf_begin(struct tw_perf_writer *writer, uint32_t type, uint16_t misc,
                          size_t size)
{
    if (size > RECORD_MAX)
        return tw_fail(&writer->fault, TW_E_ARGUMENT, "perf.data: a record of %zu bytes", size);
    TW_TRY(perf_put(writer, type, 4));
    TW_TRY(perf_put(writer, misc, 2));
    return perf_put(writer, size, 2);
}

static enum tw_status end(struct tw_perf_writer *writer, const struct tw_perf_stamp *stamp,
                          unsigned event)
{
    TW_TRY(perf_put(writer, stamp->pid, 4));
    TW_TRY(perf_put(writer, stamp->tid, 4));
    TW_TRY(perf_put(writer, stamp->time, 8));
    TW_TRY(perf_put(writer, stamp->cpu, 8));
    return perf_put(writer, perf_event_id(event, stamp->cpu), 8);
}

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* A name at the end of a record, with what fills it up. */
static enum tw_status put_name(struct tw_perf_writer *writer, const char *name)
{
    const size_t size = strlen(name) + 1;

    TW_TRY(perf_put_bytes(writer, name, size));
    return perf_put_zeros(writer, padded(size) - size);
}

static size_t name_size(const char *name)
{
    return padded(strlen(name) + 1);
}

static enum tw_status put_task(struct tw_perf_writer *writer, uint32_t pid, uint32_t tid)
{
    TW_TRY(perf_put(writer, pid, 4));
    return perf_put(writer, tid, 4);
}

enum tw_status tw_perf_writer_comm(struct tw_perf_writer *writer,
                                   const struct tw_perf_stamp *stamp, const char *comm,
                                   bool is_exec)
{
    TW_TRY(perf_begin(writer, PERF_COMM, is_exec ? MISC_EXEC : 0,
                      16 + name_size(comm) + TRAILING_SIZE));
    TW_TRY(put_task(writer, stamp->pid, stamp->tid));
    TW_TRY(put_name(writer, comm));
    return end(writer, stamp, EVENT_TASKS);
}

static enum tw_status put_life(struct tw_perf_writer *writer, uint32_t type,
                               const struct tw_perf_stamp *stamp, uint32_t parent_pid,
                               uint32_t parent_tid)
{
    TW_TRY(perf_begin(writer, type, 0, 32 + TRAILING_SIZE));
    TW_TRY(perf_put(writer, stamp->pid, 4));
    TW_TRY(perf_put(writer, parent_pid, 4));
    TW_TRY(perf_put(writer, stamp->tid, 4));
    TW_TRY(perf_put(writer, parent_tid, 4));
    TW_TRY(perf_put(writer, stamp->time, 8));
    return end(writer, stamp, EVENT_TASKS);
}

enum tw_status tw_perf_writer_fork(struct tw_perf_writer *writer,
                                   const struct tw_perf_stamp *stamp, uint32_t parent_pid,
                                   uint32_t parent_tid)
{
    return put_life(writer, PERF_FORK, stamp, parent_pid, parent_tid);
}

enum tw_status tw_perf_writer_exit(struct tw_perf_writer *writer,
                                   const struct tw_perf_stamp *stamp)
{
    return put_life(writer, PERF_EXIT, stamp, stamp->pid, stamp->tid);
}

enum tw_status tw_perf_writer_map(struct tw_perf_writer *writer,
                                  const struct tw_perf_stamp *stamp,
                                  const struct tw_perf_mapping *mapping, const char *name)
{
    TW_TRY(perf_begin(writer, PERF_MMAP2, MISC_USER, 72 + name_size(name) + TRAILING_SIZE));
    TW_TRY(put_task(writer, stamp->pid, stamp->tid));
    TW_TRY(perf_put(writer, mapping->address, 8));
    TW_TRY(perf_put(writer, mapping->length, 8));
    TW_TRY(perf_put(writer, mapping->offset, 8));
    TW_TRY(perf_put(writer, mapping->major, 4));
    TW_TRY(perf_put(writer, mapping->minor, 4));
    TW_TRY(perf_put(writer, mapping->inode, 8));
    TW_TRY(perf_put(writer, mapping->generation, 8));
    TW_TRY(perf_put(writer, mapping->protection, 4));
    TW_TRY(perf_put(writer, mapping->flags, 4));
    TW_TRY(put_name(writer, name));
    return end(writer, stamp, EVENT_TASKS);
}

enum tw_status tw_perf_writer_start(struct tw_perf_writer *writer,
                                    const struct tw_perf_stamp *stamp)
{
    TW_TRY(perf_begin(writer, PERF_ITRACE_START, 0, 16 + TRAILING_SIZE));
    TW_TRY(put_task(writer, stamp->pid, stamp->tid));
    return end(writer, stamp, EVENT_TRACE);
}

enum tw_status tw_perf_writer_switch(struct tw_perf_writer *writer,
                                     const struct tw_perf_stamp *stamp, bool is_out)
{
    /* The other task is the idle one. */
    TW_TRY(perf_begin(writer, PERF_SWITCH_CPU_WIDE, is_out ? MISC_OUT : 0, 16 + TRAILING_SIZE));
    TW_TRY(put_task(writer, 0, 0));
    return end(writer, stamp, EVENT_TASKS);
}

/* The number of a CPU in the list; the count of CPUs: it is not there. */
static size_t find_cpu(const struct tw_perf_writer *writer, uint32_t number)
{
    size_t i = 0;

    while (i < writer->config.cpu_count && writer->config.cpus[i].number != number)
        i++;
    return i;
}

enum tw_status tw_perf_writer_trace(struct tw_perf_writer *writer,
                                    const struct tw_perf_stamp *stamp, const uint8_t *bytes,
                                    size_t size, uint32_t flags)
{
    const size_t cpu = find_cpu(writer, stamp->cpu);
    uint64_t offset;

    if (cpu == writer->config.cpu_count)
        return tw_fail(&writer->fault, TW_E_ARGUMENT, "perf.data: there is no CPU %u",
                       (unsigned)stamp->cpu);
    if (!TW_GROW(writer->config.allocator, &writer->traces, &writer->trace_room,
                 writer->trace_count + 1))
        return tw_fail(&writer->fault, TW_E_MEMORY, "no memory");
    offset = writer->lengths[cpu];
    writer->lengths[cpu] += padded(size);
    TW_TRY(perf_begin(writer, PERF_AUX, 0, 32 + TRAILING_SIZE));
    /* Of a snapshot the offset is that of the end. */
    TW_TRY(perf_put(writer, flags & TW_PERF_OVERWRITE ? offset + size : offset, 8));
    TW_TRY(perf_put(writer, size, 8));
    TW_TRY(perf_put(writer, flags | TW_PERF_RAW, 8));
    TW_TRY(end(writer, stamp, EVENT_TRACE));
    if (!size)
        return TW_OK;
    writer->traces[writer->trace_count++] = writer->position;
    TW_TRY(perf_begin(writer, PERF_AUXTRACE, 0, PERF_AUXTRACE_SIZE));
    TW_TRY(perf_put(writer, padded(size), 8));
    TW_TRY(perf_put(writer, offset, 8));
    TW_TRY(perf_put(writer, stamp->time, 8)); /* reference */
    TW_TRY(perf_put(writer, cpu, 4));
    TW_TRY(perf_put(writer, TW_NONE, 4));
    TW_TRY(perf_put(writer, stamp->cpu, 8));
    TW_TRY(perf_put_bytes(writer, bytes, size));
    return perf_put_zeros(writer, padded(size) - size);
}

enum tw_status tw_perf_writer_build_id(struct tw_perf_writer *writer, const char *name,
                                       const uint8_t *id, size_t size)
{
    const size_t length = 36 + name_size(name);
    const uint32_t pid = TW_NONE;
    uint8_t *at;

    if (size > BUILD_ID_MAX || length > RECORD_MAX)
        return tw_fail(&writer->fault, TW_E_ARGUMENT, "perf.data: a build ID of %zu bytes",
                       size);
    if (!TW_GROW(writer->config.allocator, &writer->build_ids, &writer->build_id_room,
                 writer->build_id_size + length))
        return tw_fail(&writer->fault, TW_E_MEMORY, "no memory");
    at = writer->build_ids + writer->build_id_size;
    writer->build_id_size += length;
    memset(at, 0, length);
    at[4] = MISC_USER;
    at[5] = MISC_BUILD_ID_SIZE >> 8;
    at[6] = (uint8_t)length;
    at[7] = (uint8_t)(length >> 8);
    memcpy(at + 8, &pid, 4); /* all ones: any process */
    memcpy(at + 12, id, size);
    at[32] = (uint8_t)size;
    memcpy(at + 36, name, strlen(name));
    return TW_OK;
}
