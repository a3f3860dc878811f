/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that was made while the program ran: jit-PID.dump files, as mappings with a time. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"
#include "image/symbols.h"

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

/* The records of a dump, one after the other: `at` is 0 at first.  False: that was all. */
static bool next_record(const struct perf_view *dump, struct perf_view *record, uint64_t *at)
{
    if (*at == 0 && (*at = perf_u32(dump, 8)) < HEAD_SIZE)
        return false;
    while (*at <= dump->size && dump->size - *at >= RECORD_HEAD) {
        const uint32_t id = perf_u32(dump, (size_t)*at);
        const uint32_t size = perf_u32(dump, (size_t)*at + 4);

        if (size < RECORD_HEAD || size > dump->size - *at)
            return false;
        *record = (struct perf_view){ dump->bytes + *at, size, dump->is_big };
        *at += size;
        if (id == JIT_LOAD || id == JIT_MOVE)
            return true;
    }
    return false;
}

/* False: it is no dump. */
static bool open_dump(struct perf_view *dump, const struct capture_file *loaded)
{
    *dump = (struct perf_view){ loaded->bytes, loaded->size, false };
    if (perf_u32(dump, 0) != MAGIC)
        dump->is_big = true;
    return perf_u32(dump, 0) == MAGIC;
}

static enum tw_status read_dump(struct tw_perf *perf, uint32_t file)
{
    struct tw_map codes = { .allocator = perf->capture->allocator };
    struct perf_view view, record;
    enum tw_status status = TW_OK;
    bool is_counter;
    uint64_t at = 0;

    if (!open_dump(&view, perf->found[file]))
        return TW_OK;
    is_counter = perf->has_conversion && (perf_u64(&view, 32) & FLAG_COUNTER);
    while (status == TW_OK && next_record(&view, &record, &at))
        status = take_record(perf, &record, at - record.size, file, &codes, is_counter);
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

/* ---- names ---- */

bool tw_perf_is_jitdump(const struct tw_perf *perf, uint32_t file)
{
    struct perf_view view;

    return file < perf->file_count && perf->found[file] && is_jitdump(perf->files[file].name) &&
           open_dump(&view, perf->found[file]);
}

/* A name, and how late it was given. */
struct perf_jit_name {
    struct tw_symbol symbol;
    size_t order;
};

static int by_address(const void *left, const void *right)
{
    const struct perf_jit_name *a = left, *b = right;

    if (a->symbol.address != b->symbol.address)
        return a->symbol.address < b->symbol.address ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Of names that overlap the last one stays; returns how many there are then, as symbols. */
static size_t drop_replaced(struct perf_jit_name *list, size_t count, struct tw_symbol *symbols)
{
    size_t kept = 0;

    qsort(list, count, sizeof *list, by_address);
    for (size_t i = 0; i < count; i++) {
        const uint64_t start = list[i].symbol.address;
        bool is_replaced = false;

        while (kept && !is_replaced &&
               start - list[kept - 1].symbol.address < list[kept - 1].symbol.size) {
            struct perf_jit_name *before = &list[kept - 1];
            const uint64_t reach = start - before->symbol.address + list[i].symbol.size;

            is_replaced = before->order > list[i].order;
            if (strcmp(before->symbol.name, list[i].symbol.name) == 0) { /* parts of one */
                before->symbol.size = reach > before->symbol.size ? reach : before->symbol.size;
                is_replaced = true;
            }
            kept -= !is_replaced;
        }
        if (!is_replaced)
            list[kept++] = list[i];
    }
    for (size_t i = 0; i < kept; i++)
        symbols[i] = list[i].symbol;
    return kept;
}

/* What a record names, if it does; moved code keeps its name. */
static bool name_of(const struct perf_view *record, struct tw_map *names, uint64_t at,
                    const struct perf_view *dump, struct tw_symbol *symbol)
{
    const bool is_load = perf_u32(record, 0) == JIT_LOAD;
    uint64_t *place;

    if (record->size < (is_load ? LOAD_FIXED : MOVE_SIZE) ||
        !(place = tw_map_put(names, perf_u64(record, is_load ? 48 : 56))))
        return false;
    if (is_load && tw_perf_text(record, LOAD_FIXED))
        *place = at + LOAD_FIXED;
    *symbol = (struct tw_symbol){ .name = *place ? tw_perf_text(dump, (size_t)*place) : NULL,
                                  .address = perf_u64(record, is_load ? 32 : 40),
                                  .size = perf_u64(record, is_load ? 40 : 48) };
    return symbol->name && *symbol->name && symbol->size &&
           symbol->size <= UINT64_MAX - symbol->address;
}

enum tw_status tw_perf_jit_names(const struct tw_perf *perf, uint32_t file,
                                 struct tw_symbols *symbols)
{
    const struct tw_allocator *allocator = perf->capture->allocator;
    struct tw_map names = { .allocator = allocator };
    struct perf_jit_name *list = NULL;
    struct tw_symbol *kept, symbol;
    struct perf_view dump, record;
    enum tw_status status = TW_OK;
    size_t count = 0, room = 0;
    uint64_t at = 0;

    if (!open_dump(&dump, perf->found[file]))
        return TW_OK;
    while (status == TW_OK && next_record(&dump, &record, &at)) {
        if (!name_of(&record, &names, at - record.size, &dump, &symbol))
            continue;
        if (TW_GROW(allocator, &list, &room, count + 1))
            list[count] = (struct perf_jit_name){ symbol, count };
        else
            status = TW_E_MEMORY;
        count++;
    }
    kept = status == TW_OK && count ? tw_take(allocator, count * sizeof *kept) : NULL;
    if (kept)
        status = tw_symbols_add_list(symbols, perf->files[file].path, kept,
                                     drop_replaced(list, count, kept));
    else if (count)
        status = TW_E_MEMORY;
    tw_give(allocator, kept);
    tw_give(allocator, list);
    tw_map_free(&names);
    return status;
}
