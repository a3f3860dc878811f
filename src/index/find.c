/* SPDX-License-Identifier: BSD-2-Clause */
/* Searching an index.  Files may lie: every number from one is bounded before use. */
#include "base/fault.h"
#include "index/index.h"

static enum tw_status line_of(const struct tw_index *index, const struct tw_index_line **line,
                              size_t stream)
{
    if (stream >= index->line_count)
        return TW_END;
    if (index->about.detail != TW_INDEX_FULL)
        return TW_E_UNSUPPORTED;
    *line = &index->lines[stream];
    return TW_OK;
}

enum tw_status tw_index_find_offset(const struct tw_index *index, uint64_t *number,
                                    size_t stream, uint64_t offset)
{
    const struct tw_index_line *line;
    uint64_t low = 0, high;

    TW_TRY(line_of(index, &line, stream));
    high = line->entries.count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint8_t *record = tw_index_table_at(&line->entries, middle);

        if (!record)
            return TW_E_FILE;
        if ((tw_load_le64(record) & TW_INDEX_OFFSET) < offset)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return low < line->entries.count ? TW_OK : TW_END;
}

/* Entries of a kind before a block; and of all kinds. */
static enum tw_status count_before(const struct tw_index_line *line, uint64_t *count,
                                   unsigned kind, uint64_t block)
{
    const uint8_t *record;

    if (block >= line->blocks.count) {
        *count = line->counts[kind];
        return TW_OK;
    }
    record = tw_index_table_at(&line->blocks, block);
    if (!record)
        return TW_E_FILE;
    *count = tw_load_le64(record + STREAM_COUNTS + (size_t)8 * kind);
    return TW_OK;
}

static enum tw_status entries_before(const struct tw_index_line *line, uint64_t *count,
                                     uint64_t block)
{
    *count = 0;
    for (unsigned kind = 0; kind < TW_INDEX_KINDS; kind++) {
        uint64_t of_kind;

        TW_TRY(count_before(line, &of_kind, kind, block));
        *count += of_kind;
    }
    if (*count > line->entries.count)
        *count = line->entries.count;
    return TW_OK;
}

/* The entry of a kind after `skip` others of it, from entry `number` on. */
static enum tw_status walk(const struct tw_index *index, struct tw_index_entry *entry,
                           size_t stream, unsigned kind, uint64_t number, uint64_t skip)
{
    enum tw_status status;

    while ((status = tw_index_entry(index, entry, stream, number)) == TW_OK) {
        if (entry->kind == kind && skip-- == 0)
            return TW_OK;
        number++;
    }
    return status;
}

enum tw_status tw_index_find_nth(const struct tw_index *index, struct tw_index_entry *entry,
                                 size_t stream, enum tw_index_kind kind, uint64_t nth)
{
    const struct tw_index_line *line;
    uint64_t low = 0, high, number, before;

    TW_TRY(line_of(index, &line, stream));
    if ((unsigned)kind >= TW_INDEX_KINDS || nth >= line->counts[kind])
        return TW_END;
    high = line->blocks.count;
    while (high - low > 1) { /* the last block that no more than nth are before */
        const uint64_t middle = low + (high - low) / 2;

        TW_TRY(count_before(line, &before, kind, middle));
        if (before <= nth)
            low = middle;
        else
            high = middle;
    }
    TW_TRY(count_before(line, &before, kind, low));
    TW_TRY(entries_before(line, &number, low));
    if (before > nth)
        return TW_E_FILE; /* its counts do not grow */
    return walk(index, entry, stream, kind, number, nth - before);
}

/* How many entries of a kind lie before an offset. */
static enum tw_status rank(const struct tw_index *index, const struct tw_index_line *line,
                           uint64_t *count, size_t stream, unsigned kind, uint64_t offset)
{
    uint64_t number, until = line->entries.count;
    const uint64_t block = offset < index->about.base ? 0 : tw_index_block_of(index, offset);
    struct tw_index_entry entry;

    TW_TRY(count_before(line, count, kind, block));
    TW_TRY(entries_before(line, &number, block));
    if (block >= line->blocks.count)
        return TW_OK;
    for (; number < until; number++) {
        TW_TRY(tw_index_entry(index, &entry, stream, number));
        if (entry.offset >= offset)
            break;
        *count += entry.kind == kind;
    }
    return TW_OK;
}

enum tw_status tw_index_find_next(const struct tw_index *index, struct tw_index_entry *entry,
                                  size_t stream, enum tw_index_kind kind, uint64_t offset)
{
    const struct tw_index_line *line;
    uint64_t count;

    TW_TRY(line_of(index, &line, stream));
    if ((unsigned)kind >= TW_INDEX_KINDS)
        return TW_END;
    TW_TRY(rank(index, line, &count, stream, kind, offset));
    TW_TRY(tw_index_find_nth(index, entry, stream, kind, count));
    return entry->offset >= offset ? TW_OK : TW_E_FILE;
}

enum tw_status tw_index_find_before(const struct tw_index *index, struct tw_index_entry *entry,
                                    size_t stream, enum tw_index_kind kind, uint64_t offset)
{
    const struct tw_index_line *line;
    uint64_t count;

    TW_TRY(line_of(index, &line, stream));
    if ((unsigned)kind >= TW_INDEX_KINDS)
        return TW_END;
    TW_TRY(rank(index, line, &count, stream, kind, offset));
    if (!count)
        return TW_END;
    TW_TRY(tw_index_find_nth(index, entry, stream, kind, count - 1));
    /* Who goes back from entry to entry arrives, whatever the file's counts say. */
    return entry->offset < offset ? TW_OK : TW_E_FILE;
}

enum tw_status tw_index_line_block_of_time(const struct tw_index_line *line, uint64_t *block,
                                           uint64_t time)
{
    uint64_t low = 0, high = line->blocks.count;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint8_t *record = tw_index_table_at(&line->blocks, middle);

        if (!record)
            return TW_E_FILE;
        if ((tw_load_le64(record + STREAM_FLAGS) & STREAM_HAD_TIME) == 0 ||
            tw_load_le64(record + STREAM_MOST_TIME) < time)
            low = middle + 1;
        else
            high = middle;
    }
    *block = low;
    return low < line->blocks.count ? TW_OK : TW_END;
}

enum tw_status tw_index_find_time(const struct tw_index *index, struct tw_index_entry *entry,
                                  size_t stream, uint64_t time)
{
    const struct tw_index_line *line;
    struct tw_index_entry before = { .offset = 0 };
    uint64_t block, nth, number;
    bool is_before = false;
    enum tw_status status;

    TW_TRY(line_of(index, &line, stream));
    if (line->counts[TW_INDEX_TIME] == 0)
        return TW_END;
    status = tw_index_line_block_of_time(line, &block, time);
    if (status == TW_END)
        return tw_index_find_nth(index, entry, stream, TW_INDEX_TIME,
                                 line->counts[TW_INDEX_TIME] - 1);
    if (status != TW_OK)
        return status;
    TW_TRY(count_before(line, &nth, TW_INDEX_TIME, block));
    TW_TRY(entries_before(line, &number, block));
    for (;; number++) {
        status = tw_index_entry(index, entry, stream, number);
        if (status == TW_END)
            return TW_E_FILE; /* the block promised one */
        if (status != TW_OK)
            return status;
        if (entry->kind != TW_INDEX_TIME)
            continue;
        if (entry->value >= time)
            break;
        before = *entry;
        is_before = true;
    }
    if (entry->value == time || (!is_before && nth == 0))
        return TW_OK;
    if (!is_before)
        return tw_index_find_nth(index, entry, stream, TW_INDEX_TIME, nth - 1);
    *entry = before;
    return TW_OK;
}

/* The first trigger of the frames from event `number` on, which moves behind it. */
static enum tw_status next_of_frames(const struct tw_index *index, uint64_t *number,
                                     struct tw_frame_event *event)
{
    enum tw_status status;

    while ((status = tw_index_event(index, event, *number)) == TW_OK) {
        ++*number;
        if (event->kind == TW_FRAME_TRIGGER)
            return TW_OK;
    }
    return status;
}

enum tw_status tw_index_find_trigger(const struct tw_index *index, struct tw_index_entry *entry,
                                     uint64_t nth)
{
    uint64_t taken[TW_ID_COUNT] = { 0 };
    uint64_t event_number = 0;
    struct tw_frame_event event;
    enum tw_status status = next_of_frames(index, &event_number, &event);

    for (;;) {
        size_t first = index->line_count;

        if (status < 0)
            return status;
        if (status == TW_OK)
            *entry = (struct tw_index_entry){ .offset = event.offset,
                                              .value = event.value,
                                              .kind = TW_INDEX_TRIGGER,
                                              .id = TW_ID_TRIGGER };
        for (size_t i = 0; index->about.detail == TW_INDEX_FULL && i < index->line_count; i++) {
            struct tw_index_entry other;
            const enum tw_status found =
                tw_index_find_nth(index, &other, i, TW_INDEX_TRIGGER, taken[i]);

            if (found < 0)
                return found;
            if (found == TW_OK && ((status == TW_END && first == index->line_count) ||
                                   other.offset < entry->offset)) {
                *entry = other;
                first = i;
            }
        }
        if (status == TW_END && first == index->line_count)
            return TW_END;
        if (nth-- == 0)
            return TW_OK;
        if (first < index->line_count)
            taken[first]++;
        else
            status = next_of_frames(index, &event_number, &event);
    }
}
