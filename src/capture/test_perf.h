/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of perf.data: writes small ones, and serves them with the programs they name. */
#ifndef CAPTURE_TEST_PERF_H
#define CAPTURE_TEST_PERF_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/perfdata.h>
#include <trackway/tree.h>

#include "capture/capture.h"

enum { ROOM = 1 << 14, SAMPLE_TYPE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16 };

enum { MISC_EXEC = 1 << 13, RAW = 0x100 };

/* A file that grows; the byte order is that of the machine that "records". */
struct writer {
    uint8_t bytes[ROOM];
    size_t size, record;
    bool is_big, is_pipe;
};

static inline void put(struct writer *writer, uint64_t value, unsigned size)
{
    CHECK(writer->size + size <= ROOM);
    for (unsigned i = 0; i < size; i++)
        writer->bytes[writer->size++] =
            (uint8_t)(value >> 8 * (writer->is_big ? size - 1 - i : i));
}

static inline void put_at(struct writer *writer, size_t at, uint64_t value, unsigned size)
{
    const size_t end = writer->size;

    writer->size = at;
    put(writer, value, size);
    writer->size = end;
}

static inline void put_bytes(struct writer *writer, const void *bytes, size_t size)
{
    CHECK(writer->size + size <= ROOM);
    memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static inline void put_text(struct writer *writer, const char *text)
{
    put_bytes(writer, text, strlen(text) + 1);
    while ((writer->size - writer->record) % 8)
        put(writer, 0, 1);
}

static inline void begin(struct writer *writer, uint32_t type, uint16_t misc)
{
    writer->record = writer->size;
    put(writer, type, 4);
    put(writer, misc, 2);
    put(writer, 0, 2);
}

static inline void end(struct writer *writer)
{
    put_at(writer, writer->record + 6, writer->size - writer->record, 2);
}

/* With the trailing id of SAMPLE_TYPE. */
static inline void end_with_id(struct writer *writer, uint32_t tid, uint64_t time, uint32_t cpu)
{
    put(writer, tid, 4);
    put(writer, tid, 4);
    put(writer, time, 8);
    put(writer, cpu, 4);
    put(writer, 0, 4);
    put(writer, 1, 8);
    end(writer);
}

static inline void put_attr(struct writer *writer)
{
    const size_t at = writer->size;
    const unsigned bit = 18; /* sample_id_all */

    put(writer, 8, 4);
    put(writer, 112, 4);
    put(writer, 0, 8);
    put(writer, 0, 8);
    put(writer, SAMPLE_TYPE, 8);
    put(writer, 0, 8);
    put(writer, writer->is_big ? (uint64_t)1 << (63 - bit) : (uint64_t)1 << bit, 8);
    while (writer->size < at + 112)
        put(writer, 0, 8);
}

/* Header and attribute, in the form asked for. */
static inline void start(struct writer *writer, bool is_big, bool is_pipe)
{
    memset(writer, 0, sizeof *writer);
    writer->is_big = is_big;
    writer->is_pipe = is_pipe;
    put(writer, 0x32454c4946524550, 8);
    put(writer, is_pipe ? 16 : 104, 8);
    if (is_pipe) {
        begin(writer, 64, 0);
        put_attr(writer);
        put(writer, 1, 8);
        end(writer);
        return;
    }
    put(writer, 112 + 16, 8);
    put(writer, 104, 8);
    put(writer, 112 + 16, 8);
    put(writer, 104 + 112 + 16 + 8, 8);
    while (writer->size < 104)
        put(writer, 0, 8);
    put_attr(writer);
    put(writer, 104 + 112 + 16, 8);
    put(writer, 8, 8);
    put(writer, 1, 8);
}

static inline void finish(struct writer *writer)
{
    if (!writer->is_pipe)
        put_at(writer, 48, writer->size - (104 + 112 + 16 + 8), 8);
}

/* Metadata of ETMv4 on CPUs 0 to count - 1. */
static inline void put_info(struct writer *writer, unsigned version, unsigned count,
                            uint64_t config)
{
    begin(writer, 70, 0);
    put(writer, 3, 4);
    put(writer, 0, 4);
    put(writer, version, 8);
    put(writer, count, 8);
    put(writer, 0, 8);
    for (unsigned cpu = 0; cpu < count; cpu++) {
        const uint64_t words[] = { config, 0x10 + 2 * cpu, 0x28000ea1, 0x4100f403, 0x00000488,
                                   0,      0xcc,           1 };

        put(writer, 0x4040404040404040, 8);
        put(writer, cpu, 8);
        if (version)
            put(writer, 8, 8);
        for (unsigned i = 0; i < (version ? 8 : 7); i++)
            put(writer, words[i], 8);
    }
    end(writer);
}

static inline void put_comm(struct writer *writer, uint32_t tid, const char *comm,
                            uint64_t time)
{
    begin(writer, 3, MISC_EXEC);
    put(writer, tid, 4);
    put(writer, tid, 4);
    put_text(writer, comm);
    end_with_id(writer, tid, time, 0);
}

static inline void put_map(struct writer *writer, uint32_t pid, uint64_t address, uint64_t size,
                           const char *name, uint64_t time)
{
    begin(writer, 10, 2);
    put(writer, pid, 4);
    put(writer, pid, 4);
    put(writer, address, 8);
    put(writer, size, 8);
    put(writer, 0, 8);
    put(writer, 8, 4);
    put(writer, 1, 4);
    put(writer, 700, 8);
    put(writer, 0, 8);
    put(writer, 5, 4);
    put(writer, 2, 4);
    put_text(writer, name);
    end_with_id(writer, pid, time, 0);
}

static inline void put_aux(struct writer *writer, uint64_t offset, uint64_t size,
                           uint64_t flags, uint64_t time, uint32_t cpu)
{
    begin(writer, 11, 0);
    put(writer, offset, 8);
    put(writer, size, 8);
    put(writer, flags, 8);
    end_with_id(writer, 1, time, cpu);
}

static inline void put_trace(struct writer *writer, const uint8_t *trace, size_t size,
                             uint64_t offset, uint32_t cpu, uint32_t tid)
{
    const size_t padded = (size + 7) / 8 * 8;

    begin(writer, 71, 0);
    put(writer, padded, 8);
    put(writer, offset, 8);
    put(writer, 0, 8);
    put(writer, cpu == TW_NONE ? 0 : cpu, 4);
    put(writer, tid, 4);
    put(writer, cpu, 4);
    put(writer, 0, 4);
    end(writer);
    put_bytes(writer, trace, size);
    for (size_t i = size; i < padded; i++)
        put(writer, 0, 1);
}

enum { TID_A = 100, TID_B = 200, CONFIG_CID = 0x41, CONFIG_VMID = 0x81 };

/* An instruction as it lies in memory, whatever the byte order of the machine that runs this. */
#define CODE(word)                                                                             \
    (uint8_t)((word)&0xff), (uint8_t)((word) >> 8 & 0xff), (uint8_t)((word) >> 16 & 0xff),     \
        (uint8_t)((word) >> 24 & 0xff)

/* At an address: nop; cbz to the last word; nop; b to the first. */
static const uint8_t code_a[] = { CODE(0xd503201f), CODE(0xb4000040), CODE(0xd503201f),
                                  CODE(0x17fffffd) };
/* b to the third word; nop; nop; b to the first. */
static const uint8_t code_b[] = { CODE(0x14000002), CODE(0xd503201f), CODE(0xd503201f),
                                  CODE(0x17fffffe) };

/* Synchronization, then trace on. */
static const uint8_t sync_bytes[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 4 };

struct trace {
    uint8_t bytes[256];
    size_t size;
};

static inline void add(struct trace *trace, const void *bytes, size_t size)
{
    memcpy(trace->bytes + trace->size, bytes, size);
    trace->size += size;
}

/* A long address, two taken branches. */
static inline void add_branches(struct trace *trace, uint64_t address)
{
    uint8_t bytes[] = { 0x9d,
                        (uint8_t)(address >> 2 & 0x7f),
                        (uint8_t)(address >> 9 & 0x7f),
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0xf7,
                        0xf7 };

    for (unsigned i = 0; i < 6; i++)
        bytes[3 + i] = (uint8_t)(address >> (16 + 8 * i));
    add(trace, bytes, sizeof bytes);
}

/* The thread `id` at 0x4000, two taken branches. */
static inline void add_visit(struct trace *trace, uint32_t id, bool is_vmid)
{
    /* A VMID has one byte, a context ID four. */
    const uint8_t context[] = { 0x81, is_vmid ? 0x70 : 0xb0, (uint8_t)id, (uint8_t)(id >> 8), 0,
                                0 };

    add(trace, context, is_vmid ? 3 : sizeof context);
    add_branches(trace, 0x4000);
}

static inline struct trace visit(uint32_t id)
{
    struct trace trace = { .size = 0 };

    add(&trace, sync_bytes, sizeof sync_bytes);
    add_visit(&trace, id, false);
    return trace;
}

/* Files by name. */
struct program {
    const char *path;
    const void *bytes;
    size_t size;
};

struct disk {
    const struct writer *perf;
    size_t perf_size;
    const struct program *programs;
    size_t count;
};

static inline enum tw_status serve(void *context, const uint8_t **bytes, size_t *size,
                                   const char *path, struct tw_fault *fault)
{
    const struct disk *disk = context;

    if (strcmp(path, "in/data") == 0) {
        *size = disk->perf_size;
        *bytes = check_copy(disk->perf->bytes, *size);
        return TW_OK;
    }
    for (size_t i = 0; i < disk->count; i++)
        if (strcmp(path, disk->programs[i].path) == 0) {
            *size = disk->programs[i].size;
            *bytes = check_copy(disk->programs[i].bytes, *size);
            return TW_OK;
        }
    (void)snprintf(fault->text, sizeof fault->text, "%s: not there", path);
    return TW_E_FILE;
}

static inline void drop(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)bytes);
}

static inline enum tw_status open_with(struct tw_capture **capture, const struct disk *disk,
                                       const struct tw_capture_options *options,
                                       struct tw_fault *fault)
{
    const struct tw_files files = { serve, drop, (void *)(uintptr_t)disk };

    return tw_capture_open_files(capture, "in", options, &files, fault);
}

static inline enum tw_status open_disk(struct tw_capture **capture, const struct disk *disk,
                                       const struct tw_allocator *allocator,
                                       struct tw_fault *fault)
{
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sysroot = "root",
                                                .allocator = allocator };

    return open_with(capture, disk, &options, fault);
}

/* What ran: addresses of ranges' first instructions, one buffer after the other. */
struct path {
    uint64_t starts[64];
    uint32_t tids[64];
    size_t count;
};

static inline void decode_buffer(struct path *path, const struct tw_capture *capture,
                                 uint32_t buffer)
{
    const struct tw_buffer *about = tw_capture_buffer(capture, buffer);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = about->framing,
                                           .base = about->offset };
    struct tw_perf_cursor ahead[4],
        cursor = { .perf = tw_capture_perf(capture), .buffer = buffer };
    struct tw_view view = { 0 };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    const uint8_t *bytes;
    size_t size;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    for (uint32_t i = 0; i < tw_capture_source_count(capture) && i < 4; i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_tree_source add = { .size = sizeof add,
                                            .protocol = source->protocol,
                                            .registers = source->registers,
                                            .register_count = source->register_count,
                                            .id = source->id,
                                            .image = tw_capture_image(capture, 0),
                                            .view = tw_perf_look,
                                            .view_context = &ahead[i] };

        ahead[i] =
            (struct tw_perf_cursor){ .perf = cursor.perf, .source = i, .buffer = buffer };
        if (!tw_capture_source_is_in(capture, i, 0, buffer))
            continue;
        cursor.source = i;
        CHECK_EQ(tw_tree_add_source(tree, NULL, &add), TW_OK);
    }
    tw_perf_look(&cursor, &view, NULL);
    CHECK_EQ(tw_capture_read(capture, &bytes, &size, buffer, 0), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            if (element->type == TW_ELEMENT_PE_CONTEXT || element->type == TW_ELEMENT_TIMESTAMP)
                tw_perf_look(&cursor, &view, element);
            if (element->type != TW_ELEMENT_INSTR_RANGE)
                continue;
            CHECK(path->count < LENGTH(path->starts));
            path->tids[path->count] = cursor.tid;
            path->starts[path->count++] = element->start;
        }
    tw_tree_free(tree);
}

#endif
