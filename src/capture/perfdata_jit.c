/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that was made while the program ran: jit-PID.dump files, as mappings with a time. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    MAGIC = 0x4a695444,
    JIT_LOAD = 0,
    JIT_MOVE = 1,
    HEAD_SIZE = 40,
    FLAG_COUNTER = 1, /* times are values of the machine's counter */
    RECORD_HEAD = 16,
    LOAD_FIXED = RECORD_HEAD + 40,
    MOVE_SIZE = RECORD_HEAD + 48
};

/* "…/jit-123.dump" */
static bool is_jitdump(const char *name)
{
    const char *last = strrchr(name, '/');
    const size_t size = strlen(name);

    last = last ? last + 1 : name;
    return strncmp(last, "jit-", 4) == 0 && size > 5 && strcmp(name + size - 5, ".dump") == 0;
}

static struct perf_event *add_event(struct tw_perf *perf)
{
    if (perf->event_count >= UINT32_MAX || !TW_GROW(perf->capture->allocator, &perf->events,
                                                    &perf->event_room, perf->event_count + 1)) {
        (void)tw_capture_no_memory(perf->capture);
        return NULL;
    }
    return &perf->events[perf->event_count];
}

/* Where in the dump the code of this index is; 0: it was not loaded. */
static uint64_t *code_place(struct tw_map *codes, uint64_t index)
{
    return tw_map_put(codes, index);
}

static enum tw_status take_record(struct tw_perf *perf, const struct perf_view *record,
                                  uint64_t offset, uint32_t file, struct tw_map *codes,
                                  bool is_counter)
{
    const uint32_t id = perf_u32(record, 0);
    const bool is_load = id == JIT_LOAD;
    const uint64_t size = perf_u64(record, is_load ? 40 : 48);
    const uint64_t time = perf_u64(record, 8);
    struct perf_event event = { .time = is_counter ? tw_perf_convert(perf, time) : time,
                                .order = (uint32_t)perf->event_count,
                                .type = PERF_MMAP,
                                .pid = perf_u32(record, 16),
                                .tid = perf_u32(record, 16),
                                .address = perf_u64(record, is_load ? 32 : 40),
                                .length = size,
                                .file = file,
                                .is_exec = true,
                                .record = offset };
    uint64_t *place;
    struct perf_event *made;

    if (record->size < (is_load ? LOAD_FIXED : MOVE_SIZE) || !size ||
        size > UINT64_MAX - event.address || event.pid == 0 || event.pid == TW_NONE)
        return TW_OK;
    place = code_place(codes, perf_u64(record, is_load ? 48 : 56));
    if (!place)
        return tw_capture_no_memory(perf->capture);
    if (is_load) {
        const char *name = tw_perf_text(record, LOAD_FIXED);
        const size_t code = name ? LOAD_FIXED + strlen(name) + 1 : record->size;

        if (size > record->size - code)
            return TW_OK;
        *place = offset + code;
    }
    event.offset = *place;
    if (!*place)
        return TW_OK;
    made = add_event(perf);
    if (!made)
        return TW_E_MEMORY;
    *made = event;
    perf->event_count++;
    return TW_OK;
}

static enum tw_status read_dump(struct tw_perf *perf, uint32_t file)
{
    const struct capture_file *loaded = perf->found[file];
    struct tw_map codes = { .allocator = perf->capture->allocator };
    struct perf_view view;
    enum tw_status status = TW_OK;
    bool is_counter;
    uint64_t at;

    view = (struct perf_view){ loaded->bytes, loaded->size, false };
    if (perf_u32(&view, 0) != MAGIC)
        view.is_big = true;
    at = perf_u32(&view, 8);
    is_counter = perf->has_conversion && (perf_u64(&view, 32) & FLAG_COUNTER);
    if (perf_u32(&view, 0) != MAGIC || at < HEAD_SIZE)
        return TW_OK;
    while (status == TW_OK && at <= view.size && view.size - at >= RECORD_HEAD) {
        const uint32_t id = perf_u32(&view, (size_t)at);
        const uint32_t size = perf_u32(&view, (size_t)at + 4);
        const struct perf_view record = { view.bytes + at, size, view.is_big };

        if (size < RECORD_HEAD || size > view.size - at)
            break;
        if (id == JIT_LOAD || id == JIT_MOVE)
            status = take_record(perf, &record, at, file, &codes, is_counter);
        at += size;
    }
    tw_map_free(&codes);
    return status;
}

/* The dump lies where the program left it, or has come along with the recording. */
static enum tw_status find_beside(struct tw_perf *perf, struct tw_perf_file *file)
{
    const char *path = perf->capture->path, *slash = strrchr(path, '/');
    const char *last = strrchr(file->name, '/');
    const struct capture_file *loaded;
    const char *beside =
        tw_capture_format(perf->capture, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
                          last ? last + 1 : file->name);

    if (!beside)
        return TW_E_MEMORY;
    TW_TRY(tw_capture_load(perf->capture, &loaded, beside));
    if (!loaded->bytes)
        return TW_OK;
    file->path = loaded->path;
    file->state = TW_PERF_FILE_FOUND;
    perf->found[file - perf->files] = loaded;
    return TW_OK;
}

enum tw_status tw_perf_read_jitdumps(struct tw_perf *perf)
{
    const size_t count = perf->file_count;

    for (size_t i = 0; i < count; i++) {
        if (perf->files[i].state == TW_PERF_FILE_UNUSED || !is_jitdump(perf->files[i].name))
            continue;
        if (perf->files[i].state != TW_PERF_FILE_FOUND)
            TW_TRY(find_beside(perf, &perf->files[i]));
        if (perf->files[i].state == TW_PERF_FILE_FOUND)
            TW_TRY(read_dump(perf, (uint32_t)i));
    }
    return TW_OK;
}
