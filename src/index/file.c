/* SPDX-License-Identifier: BSD-2-Clause */
/* Index files mapped for reading.  Nothing in one is believed before its checksum was seen. */
#include "index/file.h"

#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

enum { UNSEEN, GOOD, DAMAGED };

static const uint8_t *sum_at(const struct tw_index_file *file, uint64_t page)
{
    return file->bytes + tw_load_le64(file->bytes + HEADER_SUMS) + 8 * (page - 1);
}

static bool is_page_good(const struct tw_index_file *file, uint64_t page)
{
    if (file->seen[page] == UNSEEN) {
        const uint8_t *at = file->bytes + page * TW_INDEX_PAGE;

        file->seen[page] =
            tw_hash_of(at, TW_INDEX_PAGE) == tw_load_le64(sum_at(file, page)) ? GOOD : DAMAGED;
    }
    return file->seen[page] == GOOD;
}

bool tw_index_file_is_good(const struct tw_index_file *file, const uint8_t *at)
{
    return is_page_good(file, (uint64_t)(at - file->bytes) / TW_INDEX_PAGE);
}

static enum tw_status damaged(struct tw_fault *fault, const char *what)
{
    return tw_fail(fault, TW_E_FILE, "the index is damaged: %s", what);
}

static enum tw_status check_header(struct tw_index_file *file, struct tw_fault *fault)
{
    const uint8_t *bytes = file->bytes;
    uint64_t sums;

    if (file->size < TW_INDEX_PAGE || memcmp(bytes, TW_INDEX_MAGIC, 8) != 0)
        return tw_fail(fault, TW_E_FILE, "this is no index");
    if (tw_load_le32(bytes + HEADER_VERSION) != TW_INDEX_VERSION)
        return tw_fail(fault, TW_E_FILE, "the index is of version %" PRIu32 ", not %d",
                       tw_load_le32(bytes + HEADER_VERSION), TW_INDEX_VERSION);
    if (tw_hash_of(bytes, HEADER_SUM) != tw_load_le64(bytes + HEADER_SUM))
        return damaged(fault, "its header");
    if (tw_load_le64(bytes + HEADER_SIZE) != file->size)
        return tw_fail(fault, TW_E_FILE, "the index is cut: it has %zu bytes, and had %" PRIu64,
                       file->size, tw_load_le64(bytes + HEADER_SIZE));
    sums = tw_load_le64(bytes + HEADER_SUMS);
    file->pages = sums / TW_INDEX_PAGE;
    if (sums % TW_INDEX_PAGE || sums < TW_INDEX_PAGE || sums > file->size ||
        file->size - sums != 8 * (file->pages - 1))
        return damaged(fault, "its checksums");
    if (tw_hash_of(bytes + sums, file->size - (size_t)sums) !=
        tw_load_le64(bytes + HEADER_SUM_OF_SUMS))
        return damaged(fault, "its checksums");
    return TW_OK;
}

/* A table whose count and place are written at `at`. */
static enum tw_status take_table(const struct tw_index_file *file, struct tw_index_table *table,
                                 const uint8_t *at, uint32_t record, struct tw_fault *fault)
{
    const uint64_t count = tw_load_le64(at), offset = tw_load_le64(at + 8);
    const uint64_t end = file->pages * TW_INDEX_PAGE;

    if (offset < TW_INDEX_PAGE || offset > end || offset % TW_INDEX_PAGE ||
        count > (end - offset) / record)
        return damaged(fault, "a table lies outside");
    *table = (struct tw_index_table){
        .bytes = file->bytes + offset, .count = count, .record = record, .file = file
    };
    return TW_OK;
}

static enum tw_status take_stream(struct tw_index *index, struct tw_index_line *line,
                                  const uint8_t *at, struct tw_fault *fault)
{
    const struct tw_index_file *file = index->blocks.file;
    const bool is_full = index->about.detail == TW_INDEX_FULL;
    uint64_t sum = 0;

    line->id = at[STREAM_ID] & 0x7f;
    line->description = tw_load_le64(at + STREAM_DESCRIPTION);
    line->first_time = tw_load_le64(at + STREAM_FIRST);
    line->last_time = tw_load_le64(at + STREAM_LAST);
    line->most_time = tw_load_le64(at + STREAM_MOST);
    for (unsigned i = 0; i < TW_INDEX_KINDS; i++) {
        line->counts[i] = tw_load_le64(at + STREAM_TOTALS + (size_t)8 * i);
        sum += line->counts[i];
    }
    if (!memchr(at + STREAM_PROTOCOL, 0, STREAM_PROTOCOL_SIZE))
        return damaged(fault, "a name has no end");
    line->protocol_name = (const char *)at + STREAM_PROTOCOL;
    TW_TRY(take_table(file, &line->blocks, at + STREAM_BLOCKS, TW_INDEX_STREAM_BLOCK_RECORD,
                      fault));
    TW_TRY(take_table(file, &line->entries, at + STREAM_ENTRIES, TW_INDEX_ENTRY_RECORD, fault));
    if (line->blocks.count != index->blocks.count || (is_full && line->entries.count != sum))
        return damaged(fault, "its counts do not agree");
    return TW_OK;
}

static enum tw_status take_streams(struct tw_index *index, const uint8_t *at,
                                   struct tw_fault *fault)
{
    struct tw_index_table table;

    TW_TRY(take_table(index->blocks.file, &table, at + INDEX_STREAMS, STREAM_BYTES, fault));
    if (table.count > TW_ID_COUNT)
        return damaged(fault, "too many streams");
    index->lines = tw_take(index->allocator, (size_t)(table.count + 1) * sizeof *index->lines);
    if (!index->lines)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    for (; index->line_count < table.count; index->line_count++) {
        const uint8_t *record = tw_index_table_at(&table, index->line_count);

        if (!record)
            return damaged(fault, "its list of streams");
        TW_TRY(take_stream(index, &index->lines[index->line_count], record, fault));
    }
    return TW_OK;
}

static void take_stats(struct tw_frame_stats *stats, const uint8_t *at)
{
    stats->bytes = tw_load_le64(at + INDEX_FRAMES);
    stats->frames = tw_load_le64(at + INDEX_FRAMES + 8);
    stats->sync_bytes = tw_load_le64(at + INDEX_FRAMES + 16);
    stats->skipped_bytes = tw_load_le64(at + INDEX_FRAMES + 24);
    stats->footer_bytes = tw_load_le64(at + INDEX_FRAMES + 32);
    for (unsigned i = 0; i < TW_ID_COUNT; i++)
        stats->bytes_by_id[i] = tw_load_le64(at + INDEX_BY_ID + (size_t)8 * i);
}

static enum tw_status take_index(const struct tw_index_file *file, struct tw_index *index,
                                 const uint8_t *at, struct tw_fault *fault)
{
    struct tw_index_about *about = &index->about;

    if (at[INDEX_FRAMING] > TW_FRAMING_DSTREAM || at[INDEX_DETAIL] > TW_INDEX_FULL ||
        !memchr(at + INDEX_NAME_AT, 0, TW_INDEX_NAME))
        return damaged(fault, "its description");
    about->framing = (enum tw_framing)at[INDEX_FRAMING];
    about->detail = (enum tw_index_detail)at[INDEX_DETAIL];
    about->is_complete = (at[INDEX_FLAGS] & INDEX_IS_COMPLETE) != 0;
    about->no_barrier = (at[INDEX_FLAGS] & INDEX_NO_BARRIER) != 0;
    about->assume_id = at[INDEX_ASSUME_ID];
    about->block_bytes = tw_load_le32(at + INDEX_BLOCK_SIZE);
    about->base = tw_load_le64(at + INDEX_BASE);
    about->bytes = tw_load_le64(at + INDEX_SIZE);
    about->indexed = tw_load_le64(at + INDEX_INDEXED);
    memcpy(index->name, at + INDEX_NAME_AT, TW_INDEX_NAME);
    take_stats(&about->frames, at);
    TW_TRY(take_table(file, &index->blocks, at + INDEX_BLOCKS, TW_INDEX_BLOCK_RECORD, fault));
    TW_TRY(take_table(file, &index->events, at + INDEX_EVENTS, TW_INDEX_EVENT_RECORD, fault));
    TW_TRY(take_table(file, &index->parts, at + INDEX_PARTS, TW_INDEX_PART_RECORD, fault));
    if (about->block_bytes < TW_INDEX_BLOCK_LEAST || about->block_bytes > TW_INDEX_BLOCK_MOST ||
        (about->block_bytes & (about->block_bytes - 1)) || about->base > TW_INDEX_OFFSET ||
        about->bytes > TW_INDEX_OFFSET - about->base ||
        index->blocks.count > (about->bytes + about->block_bytes - 1) / about->block_bytes)
        return damaged(fault, "its sizes");
    return take_streams(index, at, fault);
}

static enum tw_status take_all(struct tw_index_file *file, struct tw_fault *fault)
{
    const uint64_t room = (file->pages - 1) * TW_INDEX_PAGE / INDEX_BYTES;
    const uint32_t count = tw_load_le32(file->bytes + HEADER_COUNT);

    if (count > room)
        return damaged(fault, "its count of buffers");
    file->indexes = tw_take(file->allocator, ((size_t)count + 1) * sizeof(struct tw_index *));
    if (!file->indexes)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    while (file->count < count) {
        const uint8_t *at = file->bytes + TW_INDEX_PAGE + file->count * INDEX_BYTES;
        struct tw_index *index;

        if (!tw_index_file_is_good(file, at))
            return damaged(fault, "its description");
        index = tw_take(file->allocator, sizeof *index);
        if (!index)
            return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
        index->allocator = file->allocator;
        index->is_finished = true;
        file->indexes[file->count++] = index;
        TW_TRY(take_index(file, index, at, fault));
        tw_index_tell(index);
    }
    return TW_OK;
}

static enum tw_status open_made(struct tw_index_file *file, struct tw_fault *fault)
{
    TW_TRY(check_header(file, fault));
    file->seen = tw_take(file->allocator, (size_t)file->pages);
    if (!file->seen)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    file->seen[0] = GOOD;
    return take_all(file, fault);
}

enum tw_status tw_index_open_bytes(struct tw_index_file **file, const uint8_t *bytes,
                                   size_t size, const struct tw_allocator *allocator,
                                   struct tw_fault *fault)
{
    struct tw_index_file *made = tw_take(allocator, sizeof *made);
    enum tw_status status;

    *file = NULL;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    made->allocator = allocator;
    made->bytes = bytes;
    made->size = size;
    status = open_made(made, fault);
    if (status == TW_OK)
        *file = made;
    else
        tw_index_close(made);
    return status;
}

enum tw_status tw_index_open(struct tw_index_file **file, const char *path,
                             const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_fault why = { TW_OK, "" };
    struct tw_file map;
    enum tw_status status;

    *file = NULL;
    TW_TRY(tw_file_map_replaceable(&map, allocator, path, fault)); /* a newer index */
    status = tw_index_open_bytes(file, map.bytes, map.size, allocator, &why);
    if (status != TW_OK) {
        tw_file_unmap(&map);
        return tw_fail(fault, status, "%s: %s", path, why.text);
    }
    (*file)->map = map;
    return TW_OK;
}

void tw_index_close(struct tw_index_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++)
        tw_index_free(file->indexes[i]);
    tw_file_unmap(&file->map);
    tw_give(file->allocator, file->indexes);
    tw_give(file->allocator, file->seen);
    tw_give(file->allocator, file);
}

size_t tw_index_file_count(const struct tw_index_file *file)
{
    return file->count;
}

const struct tw_index *tw_index_file_get(const struct tw_index_file *file, size_t number)
{
    return number < file->count ? file->indexes[number] : NULL;
}

enum tw_status tw_index_file_check(const struct tw_index_file *file, struct tw_fault *fault)
{
    for (uint64_t page = 1; page < file->pages; page++)
        if (!is_page_good(file, page))
            return tw_fail(fault, TW_E_FILE, "the index is damaged: page %" PRIu64, page);
    return TW_OK;
}
