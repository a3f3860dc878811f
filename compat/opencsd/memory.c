/* SPDX-License-Identifier: BSD-2-Clause */
/* The program memory of a decode tree. */
#include "opencsd/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/types.h>

#include "opencsd/files.h"
#include "opencsd/settings.h"
#include "opencsd/text.h"

enum kind { KIND_FILE, KIND_BUFFER, KIND_CALLBACK };

enum { SPACES_1_3 = 0x1f }; /* all that 1.3.3 knows: its clients mean any */

struct oc_accessor {
    struct oc_accessor *next;
    enum kind kind;
    uint8_t spaces;
    struct oc_callback range; /* buffers and callbacks */
    const uint8_t *bytes;     /* KIND_BUFFER */
    struct oc_file *file;     /* KIND_FILE */
};

/* The space as a client of the version knows it. */
static uint8_t space_of(uint32_t space)
{
    if (oc_settings()->is_1_7)
        return (uint8_t)space;
    switch (space) {
    case TW_SPACE_ROOT:
        return OCSD_MEM_SPACE_EL3;
    case TW_SPACE_EL1R:
        return OCSD_MEM_SPACE_EL1N;
    case TW_SPACE_EL2R:
        return OCSD_MEM_SPACE_EL2;
    case TW_SPACE_ANY:
        return SPACES_1_3;
    default:
        return (uint8_t)space;
    }
}

static uint8_t spaces_of(ocsd_mem_space_acc_t space)
{
    return ((unsigned)space & SPACES_1_3) == SPACES_1_3 ? 0xff : (uint8_t)space;
}

/* ---- Ranges */

static size_t range_count(const struct oc_accessor *accessor)
{
    return accessor->kind == KIND_FILE ? accessor->file->range_count : 1;
}

static struct oc_range range_at(const struct oc_accessor *accessor, size_t number)
{
    if (accessor->kind == KIND_FILE)
        return accessor->file->ranges[number];
    return (struct oc_range){ accessor->range.first, accessor->range.last, 0 };
}

static bool is_valid(const struct oc_accessor *accessor)
{
    for (size_t i = 0; i < range_count(accessor); i++) {
        const struct oc_range range = range_at(accessor, i);

        if (range.first & 1 || !(range.last & 1) || range.first >= range.last)
            return false;
    }
    return true;
}

/* Whether an end of the first range of `added` lies in a range of `accessor`: that and no more is
   looked at. */
static bool overlaps(const struct oc_accessor *accessor, const struct oc_accessor *added)
{
    const struct oc_range new = range_at(added, 0);

    for (size_t i = 0; i < range_count(accessor); i++) {
        const struct oc_range range = range_at(accessor, i);

        if ((new.first >= range.first &&new.first <= range.last) ||
            (new.last >= range.first &&new.last <= range.last))
            return true;
    }
    return false;
}

static void free_accessor(struct oc_accessor *accessor)
{
    if (accessor->kind == KIND_FILE)
        oc_file_release(accessor->file);
    free(accessor);
}

static ocsd_err_t add(struct oc_memory *memory, struct oc_accessor *accessor)
{
    struct oc_accessor **end = &memory->first;
    ocsd_err_t result = is_valid(accessor) ? OCSD_OK : OCSD_ERR_MEM_ACC_RANGE_INVALID;

    for (; *end && result == OCSD_OK; end = &(*end)->next)
        if ((*end)->spaces & accessor->spaces && overlaps(*end, accessor))
            result = OCSD_ERR_MEM_ACC_OVERLAP;
    if (result != OCSD_OK) {
        free_accessor(accessor);
        return result;
    }
    *end = accessor;
    memory->generation++;
    return OCSD_OK;
}

static struct oc_accessor *make(struct oc_memory *memory, enum kind kind,
                                ocsd_mem_space_acc_t space)
{
    struct oc_accessor *accessor = calloc(1, sizeof *accessor);

    memory->is_used = true;
    if (!accessor)
        return NULL;
    accessor->kind = kind;
    accessor->spaces = spaces_of(space);
    return accessor;
}

/* ---- Adding and removing */

ocsd_err_t oc_memory_add_file(struct oc_memory *memory, const ocsd_file_mem_region_t *regions,
                              int count, ocsd_mem_space_acc_t space, const char *path)
{
    struct oc_accessor *accessor;
    struct oc_file *file;
    ocsd_err_t result;

    memory->is_used = true;
    if (!regions || count < 1 || !path || !*path)
        return OCSD_ERR_INVALID_PARAM_VAL;
    result = oc_file_open(&file, path, regions, (size_t)count);
    if (result != OCSD_OK)
        return result;
    accessor = make(memory, KIND_FILE, space);
    if (!accessor) {
        oc_file_release(file);
        return OCSD_ERR_MEM;
    }
    accessor->file = file;
    return add(memory, accessor);
}

ocsd_err_t oc_memory_add_buffer(struct oc_memory *memory, ocsd_vaddr_t address,
                                ocsd_mem_space_acc_t space, const uint8_t *bytes, uint32_t size)
{
    struct oc_accessor *accessor;

    memory->is_used = true;
    if (!bytes || size < 4)
        return OCSD_ERR_INVALID_PARAM_VAL;
    accessor = make(memory, KIND_BUFFER, space);
    if (!accessor)
        return OCSD_ERR_MEM;
    accessor->range.first = address;
    accessor->range.last = address + size - 1;
    accessor->bytes = bytes;
    return add(memory, accessor);
}

ocsd_err_t oc_memory_add_callback(struct oc_memory *memory, const struct oc_callback *callback,
                                  ocsd_mem_space_acc_t space)
{
    struct oc_accessor *accessor;

    memory->is_used = true;
    if (!callback->read && !callback->read_by_id)
        return OCSD_ERR_INVALID_PARAM_VAL;
    accessor = make(memory, KIND_CALLBACK, space);
    if (!accessor)
        return OCSD_ERR_MEM;
    accessor->range = *callback;
    return add(memory, accessor);
}

static const struct oc_accessor *find(const struct oc_memory *memory, ocsd_vaddr_t address,
                                      uint8_t spaces, struct oc_range *range)
{
    for (const struct oc_accessor *at = memory->first; at; at = at->next) {
        if (!(at->spaces & spaces))
            continue;
        for (size_t i = 0; i < range_count(at); i++) {
            *range = range_at(at, i);
            if (address >= range->first && address <= range->last)
                return at;
        }
    }
    return NULL;
}

ocsd_err_t oc_memory_remove(struct oc_memory *memory, ocsd_vaddr_t address,
                            ocsd_mem_space_acc_t space)
{
    struct oc_range range;
    const struct oc_accessor *found = find(memory, address, spaces_of(space), &range);

    if (!memory->is_used)
        return OCSD_ERR_NOT_INIT;
    for (struct oc_accessor **at = &memory->first; found && *at; at = &(*at)->next)
        if (*at == found) {
            struct oc_accessor *removed = *at;

            *at = removed->next;
            free_accessor(removed);
            memory->generation++;
            return OCSD_OK;
        }
    return OCSD_ERR_INVALID_PARAM_VAL;
}

void oc_memory_free(struct oc_memory *memory)
{
    while (memory->first) {
        struct oc_accessor *accessor = memory->first;

        memory->first = accessor->next;
        free_accessor(accessor);
    }
}

ocsd_err_t oc_memory_set_cache(struct oc_memory *memory, bool is_on, unsigned page_size,
                               int pages)
{
    enum { SIZE_LEAST = 64, SIZE_MOST = 16384, PAGES_LEAST = 4, PAGES_MOST = 256 };

    if (!memory->is_used)
        return OCSD_ERR_NOT_INIT;
    if (is_on && (page_size < SIZE_LEAST || page_size > SIZE_MOST || pages < PAGES_LEAST ||
                  pages > PAGES_MOST))
        return OCSD_ERR_INVALID_PARAM_VAL;
    memory->is_uncached = !is_on;
    memory->generation++;
    return OCSD_OK;
}

/* ---- Reading */

static uint32_t ask(const struct oc_memory *memory, const struct oc_callback *callback,
                    const struct oc_reader *reader, ocsd_vaddr_t address, uint32_t size,
                    uint8_t *out)
{
    const ocsd_mem_space_acc_t space = (ocsd_mem_space_acc_t)space_of(reader->space);
    const uint32_t got =
        callback->read_by_id
            ? callback->read_by_id(callback->context, address, space, reader->id, size, out)
            : callback->read(callback->context, address, space, size, out);

    if (got <= size)
        return got;
    oc_log_error(&memory->log, &(struct oc_error){ .severity = OCSD_ERR_SEV_WARN,
                                                   .code = OCSD_ERR_MEM_ACC_BAD_LEN,
                                                   .index = OCSD_BAD_TRC_INDEX,
                                                   .id = OCSD_BAD_CS_SRC_ID,
                                                   .message = "Mem Acc: Cache access error" });
    return 0;
}

uint32_t oc_memory_read(struct oc_memory *memory, const struct oc_reader *reader,
                        ocsd_vaddr_t address, uint32_t size, uint8_t *out)
{
    struct oc_range range;
    const struct oc_accessor *found = find(memory, address, space_of(reader->space), &range);

    if (!found)
        return 0;
    if (range.last - address < size - 1)
        size = (uint32_t)(range.last - address + 1);
    switch (found->kind) {
    case KIND_BUFFER:
        memcpy(out, found->bytes + (address - range.first), size);
        return size;
    case KIND_FILE:
        return oc_file_read(found->file, out, address - range.first + range.offset, size);
    default:
        memory->asked++;
        return ask(memory, &found->range, reader, address, size, out);
    }
}

/* ---- What there is, as text */

static void describe(struct oc_text *text, const struct oc_accessor *accessor)
{
    static const char *const kinds[] = { "FileAcc", "BuffAcc", "CB  Acc" };

    for (size_t i = 0; i < range_count(accessor); i++) {
        const struct oc_range range = range_at(accessor, i);

        oc_text_add(text,
                    "%s%s; Range::0x%02" PRIx64 ":%" PRIx64 "; Mem Space::", i ? "\n" : "",
                    kinds[accessor->kind], range.first, range.last);
        oc_text_spaces(text, i && accessor->kind == KIND_FILE ? 0xff : accessor->spaces);
    }
    if (accessor->kind == KIND_FILE)
        oc_text_add(text, "\nFilename=%s", accessor->file->path);
    oc_text_add(text, "\n");
}

void oc_memory_log(const struct oc_memory *memory)
{
    struct oc_source info = memory->log;

    if (!memory->is_used)
        return;
    memcpy(info.name, "Gen_Info", sizeof "Gen_Info");
    oc_log_message(&info, OCSD_ERR_SEV_INFO, "Mapped Memory Accessors\n");
    for (const struct oc_accessor *at = memory->first; at; at = at->next) {
        struct oc_text text;

        oc_text_start(&text);
        describe(&text, at);
        oc_log_message(&info, OCSD_ERR_SEV_INFO, text.text);
    }
    oc_log_message(&info, OCSD_ERR_SEV_INFO, "========================\n");
}
