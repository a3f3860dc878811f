/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes into a file. */
#include "index/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/beside.h"
#include "base/fault.h"
#include "base/memory.h"

/* Pages go out as they fill; their checksums come behind them. */
struct pages {
    FILE *file;
    const struct tw_allocator *allocator;
    uint64_t at; /* in the file */
    uint8_t page[TW_INDEX_PAGE];
    size_t fill;
    uint8_t *sums;
    size_t sum_size, sum_room;
    bool has_failed;
};

static void put_page(struct pages *pages)
{
    if (!TW_GROW(pages->allocator, &pages->sums, &pages->sum_room, pages->sum_size + 8)) {
        pages->has_failed = true;
        return;
    }
    tw_store_le64(pages->sums + pages->sum_size, tw_hash_of(pages->page, TW_INDEX_PAGE));
    pages->sum_size += 8;
    if (fwrite(pages->page, 1, TW_INDEX_PAGE, pages->file) != TW_INDEX_PAGE)
        pages->has_failed = true;
    pages->at += TW_INDEX_PAGE;
    pages->fill = 0;
}

static void put(struct pages *pages, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t piece = TW_INDEX_PAGE - pages->fill;

        if (piece > size)
            piece = size;
        memcpy(pages->page + pages->fill, bytes, piece);
        pages->fill += piece;
        bytes += piece;
        size -= piece;
        if (pages->fill == TW_INDEX_PAGE)
            put_page(pages);
    }
}

/* The next table begins on a page of its own. */
static void end_page(struct pages *pages)
{
    if (pages->fill == 0)
        return;
    memset(pages->page + pages->fill, 0, TW_INDEX_PAGE - pages->fill);
    put_page(pages);
}

static uint64_t round_up(uint64_t size)
{
    return (size + TW_INDEX_PAGE - 1) / TW_INDEX_PAGE * TW_INDEX_PAGE;
}

/* Says where a table will be. */
static void place_table(uint8_t *at, uint64_t count, uint32_t record, uint64_t *next)
{
    tw_store_le64(at, count);
    tw_store_le64(at + 8, *next);
    *next += round_up(count * record);
}

static void place_streams(const struct tw_index *index, uint8_t *streams, uint64_t *next)
{
    for (size_t i = 0; i < index->line_count; i++) {
        const struct tw_index_line *line = &index->lines[i];
        uint8_t *at = streams + i * STREAM_BYTES;
        const size_t name = strlen(line->protocol_name);

        memset(at, 0, STREAM_BYTES);
        at[STREAM_ID] = line->id;
        tw_store_le64(at + STREAM_DESCRIPTION, line->description);
        place_table(at + STREAM_BLOCKS, line->blocks.count, TW_INDEX_STREAM_BLOCK_RECORD, next);
        place_table(at + STREAM_ENTRIES, line->entries.count, TW_INDEX_ENTRY_RECORD, next);
        tw_store_le64(at + STREAM_FIRST, line->first_time);
        tw_store_le64(at + STREAM_LAST, line->last_time);
        tw_store_le64(at + STREAM_MOST, line->most_time);
        for (unsigned kind = 0; kind < TW_INDEX_KINDS; kind++)
            tw_store_le64(at + STREAM_TOTALS + (size_t)8 * kind, line->counts[kind]);
        memcpy(at + STREAM_PROTOCOL, line->protocol_name,
               name < STREAM_PROTOCOL_SIZE ? name : STREAM_PROTOCOL_SIZE - 1);
    }
}

static void place_index(const struct tw_index *index, uint8_t *at, uint64_t *next)
{
    const struct tw_index_about *about = &index->about;
    const struct tw_frame_stats *stats = &about->frames;

    memset(at, 0, INDEX_BYTES);
    at[INDEX_FRAMING] = (uint8_t)about->framing;
    at[INDEX_DETAIL] = (uint8_t)about->detail;
    at[INDEX_FLAGS] = (uint8_t)((about->is_complete ? INDEX_IS_COMPLETE : 0) |
                                (about->no_barrier ? INDEX_NO_BARRIER : 0));
    at[INDEX_ASSUME_ID] = about->assume_id;
    for (unsigned i = 0; i < 4; i++)
        at[INDEX_BLOCK_SIZE + i] = (uint8_t)(about->block_bytes >> (8 * i));
    tw_store_le64(at + INDEX_BASE, about->base);
    tw_store_le64(at + INDEX_SIZE, about->bytes);
    tw_store_le64(at + INDEX_INDEXED, about->indexed);
    place_table(at + INDEX_BLOCKS, index->blocks.count, TW_INDEX_BLOCK_RECORD, next);
    place_table(at + INDEX_EVENTS, index->events.count, TW_INDEX_EVENT_RECORD, next);
    place_table(at + INDEX_PARTS, index->parts.count, TW_INDEX_PART_RECORD, next);
    place_table(at + INDEX_STREAMS, index->line_count, STREAM_BYTES, next);
    tw_store_le64(at + INDEX_FRAMES, stats->bytes);
    tw_store_le64(at + INDEX_FRAMES + 8, stats->frames);
    tw_store_le64(at + INDEX_FRAMES + 16, stats->sync_bytes);
    tw_store_le64(at + INDEX_FRAMES + 24, stats->skipped_bytes);
    tw_store_le64(at + INDEX_FRAMES + 32, stats->footer_bytes);
    memcpy(at + INDEX_NAME_AT, index->name, TW_INDEX_NAME);
    for (unsigned i = 0; i < TW_ID_COUNT; i++)
        tw_store_le64(at + INDEX_BY_ID + (size_t)8 * i, stats->bytes_by_id[i]);
}

static void put_table(struct pages *pages, const struct tw_index_table *table)
{
    if (!table->file && table->count)
        put(pages, table->bytes, (size_t)table->count * table->record);
    for (uint64_t i = 0; table->file && i < table->count; i++) {
        const uint8_t *record = tw_index_table_at(table, i);

        if (!record) { /* of a damaged file */
            pages->has_failed = true;
            return;
        }
        put(pages, record, table->record);
    }
    end_page(pages);
}

/* What the head of each index says, in the order of place_index and place_streams. */
static void put_tables(struct pages *pages, const struct tw_index *index,
                       const uint8_t *streams)
{
    put_table(pages, &index->blocks);
    put_table(pages, &index->events);
    put_table(pages, &index->parts);
    put(pages, streams, index->line_count * STREAM_BYTES);
    end_page(pages);
    for (size_t i = 0; i < index->line_count; i++) {
        put_table(pages, &index->lines[i].blocks);
        put_table(pages, &index->lines[i].entries);
    }
}

static void put_header(struct pages *pages, size_t count)
{
    uint8_t header[HEADER_BYTES] = { 0 };

    memcpy(header, TW_INDEX_MAGIC, 8);
    header[HEADER_VERSION] = TW_INDEX_VERSION;
    for (unsigned i = 0; i < 4; i++)
        header[HEADER_COUNT + i] = (uint8_t)(count >> (8 * i));
    tw_store_le64(header + HEADER_SIZE, pages->at + pages->sum_size);
    tw_store_le64(header + HEADER_SUMS, pages->at);
    tw_store_le64(header + HEADER_SUM_OF_SUMS, tw_hash_of(pages->sums, pages->sum_size));
    tw_store_le64(header + HEADER_SUM, tw_hash_of(header, HEADER_SUM));
    if (fseek(pages->file, 0, SEEK_SET) != 0 ||
        fwrite(header, 1, sizeof header, pages->file) != sizeof header)
        pages->has_failed = true;
}

/* heads: count of INDEX_BYTES each, then the streams of all. */
static void put_all(struct pages *pages, const struct tw_index *const *indexes, size_t count,
                    uint8_t *heads)
{
    uint64_t next = TW_INDEX_PAGE + round_up((uint64_t)count * INDEX_BYTES);
    uint8_t *streams = heads + count * INDEX_BYTES;
    const uint8_t nothing[TW_INDEX_PAGE] = { 0 };

    if (fwrite(nothing, 1, sizeof nothing, pages->file) != sizeof nothing) /* the header's */
        pages->has_failed = true;
    pages->at = TW_INDEX_PAGE;
    for (size_t i = 0; i < count; i++) {
        place_index(indexes[i], heads + i * INDEX_BYTES, &next);
        place_streams(indexes[i], streams, &next);
        streams += indexes[i]->line_count * STREAM_BYTES;
    }
    put(pages, heads, count * INDEX_BYTES);
    end_page(pages);
    streams = heads + count * INDEX_BYTES;
    for (size_t i = 0; i < count && !pages->has_failed; i++) {
        put_tables(pages, indexes[i], streams);
        streams += indexes[i]->line_count * STREAM_BYTES;
    }
    if (!pages->has_failed && pages->sum_size &&
        fwrite(pages->sums, 1, pages->sum_size, pages->file) != pages->sum_size)
        pages->has_failed = true;
    if (!pages->has_failed)
        put_header(pages, count);
}

static bool write_pages(FILE *file, const struct tw_index *const *indexes, size_t count,
                        uint8_t *heads)
{
    struct pages *pages = tw_take(indexes[0]->allocator, sizeof *pages);
    bool is_done;

    if (!pages)
        return false;
    pages->file = file;
    pages->allocator = indexes[0]->allocator;
    put_all(pages, indexes, count, heads);
    is_done = !pages->has_failed;
    tw_give(pages->allocator, pages->sums);
    tw_give(pages->allocator, pages);
    return is_done;
}

bool tw_index_put(FILE *file, const struct tw_index *const *indexes, size_t count)
{
    const struct tw_allocator *allocator = indexes[0]->allocator;
    size_t streams = 1;
    uint8_t *heads;
    bool is_done;

    for (size_t i = 0; i < count; i++)
        streams += indexes[i]->line_count;
    heads = tw_take(allocator, count * INDEX_BYTES + streams * STREAM_BYTES);
    is_done = heads && write_pages(file, indexes, count, heads);
    tw_give(allocator, heads);
    return is_done;
}

static enum tw_status write_beside(const char *path, char *beside,
                                   const struct tw_index *const *indexes, size_t count,
                                   struct tw_fault *fault)
{
    FILE *file = tw_beside_open(beside, path);

    if (!file)
        return tw_fail(fault, TW_E_FILE, "%s: the index could not be written: %s", path,
                       strerror(errno));
    errno = 0;
    if (tw_index_put(file, indexes, count)) {
        if (tw_beside_keep(file, beside, path))
            return TW_OK;
    } else {
        const int why = errno;

        tw_beside_drop(file, beside);
        errno = why ? why : ENOMEM; /* what else could fail */
    }
    return tw_fail(fault, TW_E_FILE, "%s: the index could not be written: %s", path,
                   strerror(errno));
}

enum tw_status tw_index_write(const char *path, const struct tw_index *const *indexes,
                              size_t count, struct tw_fault *fault)
{
    char *beside;
    enum tw_status status;

    if (count == 0 || count > UINT32_MAX)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no index to write");
    for (size_t i = 0; i < count; i++)
        if (!indexes[i]->is_finished)
            return tw_fail(fault, TW_E_ARGUMENT, "the index is not finished");
    beside = tw_take(indexes[0]->allocator, strlen(path) + TW_BESIDE_SIZE);
    if (!beside)
        return tw_fail(fault, TW_E_MEMORY, "no memory to write an index");
    status = write_beside(path, beside, indexes, count, fault);
    tw_give(indexes[0]->allocator, beside);
    return status;
}
