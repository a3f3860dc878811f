/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of records, and what can be asked of an index. */
#include "index/file.h"

#include "base/memory.h"
#include "base/sized.h"
#include "index/index.h"

const uint8_t *tw_index_table_at(const struct tw_index_table *table, uint64_t number)
{
    const uint8_t *record = table->bytes + number * table->record;

    return !table->file || tw_index_file_is_good(table->file, record) ? record : NULL;
}

uint8_t *tw_index_table_add(const struct tw_allocator *allocator, struct tw_index_table *table)
{
    const size_t used = (size_t)table->count * table->record;

    if (!TW_GROW(allocator, &table->own, &table->room, used + table->record))
        return NULL;
    memset(table->own + used, 0, table->record);
    table->bytes = table->own;
    table->count++;
    return table->own + used;
}

void tw_index_tell(struct tw_index *index)
{
    index->about.name = index->name;
    index->about.blocks = index->blocks.count;
    index->about.parts = index->parts.count;
    index->about.events = index->events.count;
    index->about.streams = index->line_count;
}

const struct tw_index_about *tw_index_about(const struct tw_index *index)
{
    return &index->about;
}

enum tw_status tw_index_part(const struct tw_index *index, uint64_t *from, uint64_t *to,
                             uint64_t number)
{
    const uint8_t *record;

    if (number >= index->parts.count)
        return TW_END;
    record = tw_index_table_at(&index->parts, number);
    if (!record)
        return TW_E_FILE;
    *from = tw_load_le64(record);
    *to = tw_load_le64(record + 8);
    return TW_OK;
}

enum tw_status tw_index_block(const struct tw_index *index, struct tw_index_block *block,
                              uint64_t number)
{
    struct tw_index_block ours;
    const uint8_t *record;

    if (number >= index->blocks.count)
        return TW_END;
    record = tw_index_table_at(&index->blocks, number);
    if (!record)
        return TW_E_FILE;
    ours = (struct tw_index_block){
        .size = sizeof ours,
        .offset = index->about.base + number * index->about.block_bytes,
        .bytes = tw_load_le32(record + BLOCK_BYTES),
        .ids = { tw_load_le64(record + BLOCK_IDS), tw_load_le64(record + BLOCK_IDS + 8) },
        .has_unknown = (record[BLOCK_FLAGS] & BLOCK_HAS_UNKNOWN) != 0,
        .is_capped = (record[BLOCK_FLAGS] & BLOCK_IS_CAPPED) != 0,
        .frame_syncs = tw_load_le32(record + BLOCK_SYNCS),
        .first_event = tw_load_le64(record + BLOCK_EVENT),
        .events = tw_load_le32(record + BLOCK_EVENTS),
        .frame = tw_load_le64(record + BLOCK_FRAME),
        .id = record[BLOCK_ID] < TW_ID_UNKNOWN ? record[BLOCK_ID] : TW_ID_UNKNOWN,
    };
    return TW_SIZED_GIVE(block, &ours) ? TW_OK : TW_E_ARGUMENT;
}

enum tw_status tw_index_event(const struct tw_index *index, struct tw_frame_event *event,
                              uint64_t number)
{
    const uint8_t *record;

    if (number >= index->events.count)
        return TW_END;
    record = tw_index_table_at(&index->events, number);
    if (!record)
        return TW_E_FILE;
    *event = (struct tw_frame_event){ .offset = tw_load_le64(record) & TW_INDEX_OFFSET,
                                      .kind = record[7],
                                      .length = tw_load_le32(record + 8),
                                      .value = record[12] };
    return TW_OK;
}

enum tw_status tw_index_stream(const struct tw_index *index, struct tw_index_stream *stream,
                               size_t number)
{
    const struct tw_index_line *line;
    struct tw_index_stream ours;

    if (number >= index->line_count)
        return TW_END;
    line = &index->lines[number];
    ours = (struct tw_index_stream){ .size = sizeof ours,
                                     .id = line->id,
                                     .protocol = line->protocol_name,
                                     .first_time = line->first_time,
                                     .last_time = line->last_time };
    memcpy(ours.counts, line->counts, sizeof line->counts);
    return TW_SIZED_GIVE(stream, &ours) ? TW_OK : TW_E_ARGUMENT;
}

enum tw_status tw_index_stream_of(const struct tw_index *index, size_t *number, uint8_t id)
{
    for (size_t i = 0; i < index->line_count; i++)
        if (index->lines[i].id == id) {
            *number = i;
            return TW_OK;
        }
    return TW_END;
}

enum tw_status tw_index_stream_block(const struct tw_index *index,
                                     struct tw_index_stream_block *block, size_t stream,
                                     uint64_t number)
{
    const struct tw_index_line *line;
    const uint8_t *record, *next = NULL;
    struct tw_index_stream_block ours;

    if (stream >= index->line_count || number >= index->lines[stream].blocks.count)
        return TW_END;
    line = &index->lines[stream];
    record = tw_index_table_at(&line->blocks, number);
    if (number + 1 < line->blocks.count) {
        next = tw_index_table_at(&line->blocks, number + 1);
        if (!next)
            return TW_E_FILE;
    }
    if (!record)
        return TW_E_FILE;
    ours = (struct tw_index_stream_block){
        .size = sizeof ours,
        .offset = index->about.base + number * index->about.block_bytes,
        .first_time = tw_load_le64(record + STREAM_FIRST_TIME),
        .last_time = tw_load_le64(record + STREAM_LAST_TIME),
        .first_sync = tw_load_le64(record + STREAM_SYNC),
    };
    for (unsigned i = 0; i < TW_INDEX_KINDS; i++)
        ours.counts[i] =
            (next ? tw_load_le64(next + STREAM_COUNTS + (size_t)8 * i) : line->counts[i]) -
            tw_load_le64(record + STREAM_COUNTS + (size_t)8 * i);
    return TW_SIZED_GIVE(block, &ours) ? TW_OK : TW_E_ARGUMENT;
}

enum tw_status tw_index_entry(const struct tw_index *index, struct tw_index_entry *entry,
                              size_t stream, uint64_t number)
{
    const uint8_t *record;

    if (stream >= index->line_count || number >= index->lines[stream].entries.count)
        return TW_END;
    record = tw_index_table_at(&index->lines[stream].entries, number);
    if (!record)
        return TW_E_FILE;
    *entry = (struct tw_index_entry){ .offset = tw_load_le64(record) & TW_INDEX_OFFSET,
                                      .value = tw_load_le64(record + 8),
                                      .kind = record[7],
                                      .id = index->lines[stream].id };
    return TW_OK;
}

_Static_assert((int)TW_INDEX_KINDS <= TW_INDEX_COUNTS, "counts have room for every kind");

const char *tw_index_kind_name(unsigned kind)
{
    static const char *const names[TW_INDEX_KINDS] = {
        [TW_INDEX_SYNC] = "SYNC",         [TW_INDEX_TIME] = "TIME",
        [TW_INDEX_EVENT] = "EVENT",       [TW_INDEX_TRIGGER] = "TRIGGER",
        [TW_INDEX_TRACE_ON] = "TRACE_ON", [TW_INDEX_LOSS] = "LOSS",
        [TW_INDEX_BAD] = "BAD",           [TW_INDEX_CONTEXT] = "CONTEXT",
        [TW_INDEX_INFO] = "INFO",         [TW_INDEX_STATE] = "STATE",
    };

    return kind < TW_INDEX_KINDS ? names[kind] : "UNKNOWN";
}
