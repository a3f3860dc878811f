/* SPDX-License-Identifier: BSD-2-Clause */
/* Where to begin so that decoding gives the same as from the beginning. */
#include "base/fault.h"
#include "base/memory.h"
#include "index/index.h"
#include "tree/resume.h"

enum {
    LOOK_BACK = 1 << 18,    /* bytes before the place that are looked at first */
    SILENT_AFTER = 1 << 22, /* without an index: an ID not seen in so many has not begun */
};

/* ---- the beginning ---- */

/* Whether a stream has bytes in the blocks from one to before another. */
static enum tw_status has_bytes(const struct tw_index *index, const struct tw_index_line *line,
                                bool *answer, uint64_t from, uint64_t until)
{
    *answer = false;
    if (index->about.framing == TW_FRAMING_NONE) {
        *answer = until > from;
        return TW_OK;
    }
    for (uint64_t i = from; i < until && !*answer; i++) {
        struct tw_index_block block = { .size = sizeof block };
        const enum tw_status status = tw_index_block(index, &block, i);

        if (status == TW_END)
            break;
        TW_TRY(status);
        *answer = block.ids[line->id / 64] >> line->id % 64 & 1;
    }
    return TW_OK;
}

/* Where a stream's decoder has to begin for what lies at `offset`: at the sync point before which
   `back` others lie.  TW_END: there are not so many. */
static enum tw_status line_start(const struct tw_index *index, size_t stream, uint64_t *start,
                                 uint64_t offset, unsigned back)
{
    struct tw_index_entry entry;

    *start = offset;
    for (unsigned found = 0; found < back;) {
        TW_TRY(tw_index_find_before(index, &entry, stream, TW_INDEX_SYNC, *start));
        *start = entry.offset;
        found += entry.value == 1;
        if (entry.value != 1 && found)
            found = 0; /* what comes after it cannot be told from before */
    }
    return TW_OK;
}

/* The same for a stream that has too few of them. */
static enum tw_status poor_start(const struct tw_index *index, size_t stream, uint64_t *start,
                                 uint64_t offset)
{
    const struct tw_index_line *line = &index->lines[stream];
    const struct tw_protocol *protocol =
        line->protocol ? line->protocol : tw_protocol_by_name(line->protocol_name);
    const uint64_t last = tw_index_block_of(index, offset);
    struct tw_index_entry entry;
    enum tw_status status;
    bool is_there;

    *start = index->about.base;
    if (!protocol || protocol->flags & (TW_PROTOCOL_UNMARKED | TW_PROTOCOL_SUMS))
        return has_bytes(index, line, &is_there, 0, last + 1);
    status = tw_index_find_before(index, &entry, stream, TW_INDEX_SYNC, offset);
    if (status != TW_END)
        return status;
    /* It was never in sync: no more is needed than to see that it has begun. */
    *start = index->about.base + last * index->about.block_bytes;
    for (uint64_t block = last; block-- > 0;) {
        TW_TRY(has_bytes(index, line, &is_there, block, block + 1));
        if (is_there) {
            *start = index->about.base + block * index->about.block_bytes;
            return TW_OK;
        }
    }
    return TW_OK;
}

/* The earliest that any stream needs. */
static enum tw_status all_start(const struct tw_index *index, uint64_t *start, uint64_t offset,
                                unsigned back)
{
    *start = offset;
    for (size_t i = 0; i < index->line_count; i++) {
        uint64_t of_line;
        enum tw_status status = line_start(index, i, &of_line, offset, back);

        if (status == TW_END)
            status = poor_start(index, i, &of_line, offset);
        TW_TRY(status);
        if (of_line < *start)
            *start = of_line;
    }
    return TW_OK;
}

/* The words noted after a sync entry. */
static enum tw_status read_words(const struct tw_index *index, size_t stream, uint64_t offset,
                                 uint64_t *words)
{
    struct tw_index_entry entry;
    uint64_t number;
    unsigned count = 0;

    TW_TRY(tw_index_find_offset(index, &number, stream, offset));
    for (; count < TW_INDEX_WORDS; number++) {
        const enum tw_status status = tw_index_entry(index, &entry, stream, number);

        if (status == TW_END)
            break;
        TW_TRY(status);
        if (entry.offset != offset)
            break;
        if (entry.kind == TW_INDEX_STATE)
            words[count++] = entry.value;
    }
    return TW_OK;
}

/* Gives every decoder what the first sync point that it will meet does not tell. */
static enum tw_status restore_all(const struct tw_index *index, struct tw_tree *tree,
                                  uint64_t from)
{
    for (size_t i = 0; i < index->line_count; i++) {
        uint64_t words[TW_INDEX_WORDS] = { 0 };
        struct tw_index_entry entry;
        const enum tw_status status = tw_index_find_next(index, &entry, i, TW_INDEX_SYNC, from);

        if (status == TW_END || (status == TW_OK && entry.value != 1))
            continue;
        TW_TRY(status);
        TW_TRY(read_words(index, i, entry.offset, words));
        tw_tree_restore(tree, index->lines[i].id, words);
    }
    return TW_OK;
}

/* A place at or before `start` where frames may be unpacked from. */
static enum tw_status frame_before(const struct tw_index *index, uint64_t *from, uint8_t *id,
                                   uint64_t start)
{
    uint64_t number = tw_index_block_of(index, start);

    *id = TW_ID_UNKNOWN;
    *from = start;
    if (index->about.framing == TW_FRAMING_NONE)
        return TW_OK;
    for (;; number--) {
        struct tw_index_block block = { .size = sizeof block };

        TW_TRY(tw_index_block(index, &block, number));
        /* DSTREAM: its frames have to be found first. */
        if (block.bytes && block.frame <= start && block.frame >= index->about.base &&
            (index->about.framing != TW_FRAMING_DSTREAM ||
             start - block.frame >= TW_INDEX_BLOCK_LEAST * 8)) {
            *from = block.frame;
            *id = block.id;
            return TW_OK;
        }
        if (number == 0)
            break;
    }
    *from = index->about.base;
    return TW_OK;
}

/* `base`: of the whole capture. */
static enum tw_status seek_in(const struct tw_index *index, struct tw_tree *tree,
                              uint64_t *from, uint64_t start, uint64_t base)
{
    uint8_t id;

    TW_TRY(frame_before(index, from, &id, start));
    if (*from <= base) {
        *from = base;
        tw_tree_begin(tree, base);
        return TW_OK;
    }
    TW_TRY(tw_tree_resume(tree, *from, id));
    return restore_all(index, tree, *from);
}

/* ---- without a full index ---- */

/* How many bytes before the place hold what is needed, as far as a sparse index tells. */
static enum tw_status sparse_start(const struct tw_index *index, uint64_t *start,
                                   uint64_t offset, unsigned back)
{
    const uint64_t last = tw_index_block_of(index, offset);

    *start = offset;
    for (size_t i = 0; i < index->line_count; i++) {
        uint64_t syncs = 0, number = last;

        while (number-- > 0 && syncs < back) {
            struct tw_index_stream_block block = { .size = sizeof block };
            const enum tw_status status = tw_index_stream_block(index, &block, i, number);

            TW_TRY(status == TW_END ? TW_E_FILE : status);
            if (block.first_sync != TW_INDEX_NOWHERE)
                syncs += block.counts[TW_INDEX_SYNC];
            if (block.offset < *start)
                *start = block.offset;
        }
    }
    return TW_OK;
}

/* Whether the part holds enough for every stream that it has bytes of. */
static enum tw_status is_enough(const struct tw_index *part, bool *answer, uint64_t first,
                                uint64_t offset, unsigned back)
{
    *answer = true;
    for (size_t i = 0; i < part->line_count; i++) {
        uint64_t start;
        const enum tw_status status = line_start(part, i, &start, offset, back);
        bool is_there = true;

        if (status == TW_END && offset - first >= SILENT_AFTER)
            TW_TRY(has_bytes(part, &part->lines[i], &is_there, 0, part->blocks.count));
        else if (status != TW_END)
            TW_TRY(status);
        *answer &= status == TW_OK || !is_there;
    }
    return TW_OK;
}

/* Indexes ever more of what lies before the place, until that is enough. */
static enum tw_status seek_back(const struct tw_index_capture *capture,
                                const struct tw_index *index, struct tw_tree *tree,
                                uint64_t *from, uint64_t offset, unsigned back)
{
    uint64_t look = LOOK_BACK;

    if (index && index->about.detail == TW_INDEX_SPARSE && index->about.is_complete) {
        uint64_t start;

        TW_TRY(sparse_start(index, &start, offset, back));
        look += offset - start;
    }
    for (;; look *= 2) {
        const uint64_t first = tw_index_adds_up(capture) || look >= offset - capture->base
                                   ? capture->base
                                   : offset - look;
        struct tw_index *part;
        uint64_t start = capture->base;
        bool is_done = first == capture->base;
        enum tw_status status;

        TW_TRY(tw_index_window(&part, capture, first, offset));
        status = is_done ? TW_OK : is_enough(part, &is_done, first, offset, back);
        if (status == TW_OK && is_done) {
            status = all_start(part, &start, offset, back);
            if (status == TW_OK)
                status = seek_in(part, tree, from, start, capture->base);
        }
        tw_index_free(part);
        if (status != TW_OK || is_done)
            return status;
    }
}

/* Whether all from the beginning up to `offset` is indexed. */
static bool reaches(const struct tw_index *index, uint64_t offset)
{
    uint64_t from, to;

    return index->about.is_complete || (tw_index_part(index, &from, &to, 0) == TW_OK &&
                                        from == index->about.base && to >= offset);
}

enum tw_status tw_index_seek(const struct tw_index_capture *capture,
                             const struct tw_index *index, struct tw_tree *tree, uint64_t *from,
                             uint64_t offset, unsigned back)
{
    struct tw_index_capture of;
    uint64_t start, end;

    TW_TRY(tw_index_capture_take(&of, capture, NULL));
    capture = &of;
    end = of.base + of.bytes;
    if (offset > end)
        offset = end;
    if (offset <= capture->base) {
        *from = capture->base;
        tw_tree_begin(tree, capture->base);
        return TW_OK;
    }
    if (!index || index->about.detail != TW_INDEX_FULL || !reaches(index, offset))
        return seek_back(capture, index, tree, from, offset, back);
    TW_TRY(all_start(index, &start, offset, back));
    return seek_in(index, tree, from, start, capture->base);
}
