/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding a time in a capture, and whether an index is of it. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "index/index.h"

enum {
    SAMPLES = 16,        /* blocks that are compared without is_thorough */
    FIRST_LOOK = 1 << 15 /* bytes in which a time is looked for first */
};

static bool is_wanted(const uint64_t *ids, uint8_t id)
{
    return !ids || ids[id / 64] >> id % 64 & 1;
}

/* ---- time, with a full index ---- */

static enum tw_status locate_in(const struct tw_index *index, uint64_t *offset,
                                const uint64_t *ids, uint64_t time)
{
    bool is_found = false;

    for (size_t i = 0; i < index->line_count; i++) {
        struct tw_index_entry entry;
        enum tw_status status = TW_END;

        if (is_wanted(ids, index->lines[i].id))
            status = tw_index_find_time(index, &entry, i, time);
        if (status < 0)
            return status;
        if (status == TW_OK && (!is_found || entry.offset < *offset)) {
            *offset = entry.offset;
            is_found = true;
        }
    }
    return is_found ? TW_OK : TW_END;
}

static enum tw_status locate_part(const struct tw_index_capture *capture, uint64_t *offset,
                                  const uint64_t *ids, uint64_t time, uint64_t from,
                                  uint64_t to)
{
    struct tw_index *part;
    enum tw_status status;

    TW_TRY(tw_index_window(&part, capture, from, to));
    status = locate_in(part, offset, ids, time);
    tw_index_free(part);
    return status;
}

/* ---- with a sparse one ---- */

/* Blocks that surely hold what decides: from one with the time before to one with the time. */
static enum tw_status sparse_range(const struct tw_index *index, size_t stream, uint64_t time,
                                   uint64_t *from, uint64_t *to)
{
    const struct tw_index_line *line = &index->lines[stream];
    uint64_t number;
    unsigned times = 0;
    const enum tw_status status = tw_index_line_block_of_time(line, &number, time);

    if (status < 0)
        return status;
    if (number >= line->blocks.count)
        number = line->blocks.count - 1; /* it is later than all */
    *to = number + 1;
    /* Back over a block with times to one in which the reader finds its feet. */
    do {
        struct tw_index_stream_block block = { .size = sizeof block };

        TW_TRY(tw_index_stream_block(index, &block, stream, number));
        times += block.counts[TW_INDEX_TIME] != 0;
        *from = number;
        if (times > 1 && block.first_sync != TW_INDEX_NOWHERE)
            break;
    } while (number-- > 0);
    *from -= *from > 0;
    return TW_OK;
}

static enum tw_status locate_sparse(const struct tw_index_capture *capture,
                                    const struct tw_index *index, uint64_t *offset,
                                    const uint64_t *ids, uint64_t time)
{
    const uint32_t block = index->about.block_bytes;
    bool is_found = false;

    for (size_t i = 0; i < index->line_count; i++) {
        const struct tw_index_line *line = &index->lines[i];
        const uint64_t one[2] = { line->id < 64 ? (uint64_t)1 << line->id : 0,
                                  line->id < 64 ? 0 : (uint64_t)1 << (line->id - 64) };
        uint64_t from, to, found = 0;
        enum tw_status status;

        if (!is_wanted(ids, line->id) || !line->counts[TW_INDEX_TIME] || !line->blocks.count)
            continue;
        TW_TRY(sparse_range(index, i, time, &from, &to));
        status = locate_part(capture, &found, one, time, capture->base + from * block,
                             capture->base + to * block);
        if (status < 0)
            return status;
        if (status == TW_OK && (!is_found || found < *offset)) {
            *offset = found;
            is_found = true;
        }
    }
    return is_found ? TW_OK : TW_END;
}

/* ---- with none: by halves ---- */

/* What a search by halves works on: one stream, since times need not be of one clock. */
struct halves {
    const struct tw_index_capture *capture;
    const uint64_t *ids;
    uint64_t time;
    /* blocks: times before `low` are earlier, from `high` on they are not */
    uint64_t low, high;
};

/* The first time of the stream from a block on; TW_END: there is none before `high`. */
static enum tw_status first_time(const struct halves *halves, uint64_t *time, uint64_t block)
{
    const uint64_t base = halves->capture->base;
    const uint64_t from = block * TW_INDEX_BLOCK_DEFAULT;
    uint64_t until = halves->high * TW_INDEX_BLOCK_DEFAULT;

    if (until > halves->capture->bytes)
        until = halves->capture->bytes;
    for (uint64_t look = FIRST_LOOK;; look *= 2) {
        const uint64_t to = look < until - from ? from + look : until;
        struct tw_index *part;
        bool is_found = false;

        TW_TRY(tw_index_window(&part, halves->capture, base + from, base + to));
        for (size_t i = 0; i < part->line_count; i++) {
            const struct tw_index_line *line = &part->lines[i];

            if (!is_wanted(halves->ids, line->id) || !line->counts[TW_INDEX_TIME])
                continue;
            *time = line->first_time;
            is_found = true;
        }
        tw_index_free(part);
        if (is_found)
            return TW_OK;
        if (to == until)
            return TW_END;
    }
}

static enum tw_status halve_at(struct halves *halves, uint64_t middle)
{
    uint64_t found = 0;
    enum tw_status status;

    if (middle <= halves->low || middle >= halves->high)
        return TW_OK;
    status = first_time(halves, &found, middle);
    if (status < 0)
        return status;
    if (status == TW_OK && found < halves->time)
        halves->low = middle;
    else
        halves->high = middle;
    return TW_OK;
}

/* `guess` is where another stream has the time: mostly it is there in this one too. */
static enum tw_status halve(struct halves *halves, uint64_t *offset, uint64_t *guess)
{
    const struct tw_index_capture *capture = halves->capture;
    const uint64_t block = TW_INDEX_BLOCK_DEFAULT;

    if (*guess != TW_INDEX_NOWHERE) {
        TW_TRY(halve_at(halves, *guess + 2));
        TW_TRY(halve_at(halves, *guess > 2 ? *guess - 2 : 0));
    }
    while (halves->high - halves->low > 1)
        TW_TRY(halve_at(halves, halves->low + (halves->high - halves->low) / 2));
    *guess = halves->low;
    for (uint64_t slack = 1;; slack *= 4) { /* until the time before is among them too */
        const uint64_t from = halves->low > slack ? halves->low - slack : 0;
        const uint64_t to = halves->high + slack;
        struct tw_index *part;
        bool is_sure = from == 0 && to * block >= capture->bytes;
        enum tw_status status;

        TW_TRY(tw_index_window(&part, capture, capture->base + from * block,
                               capture->base + to * block));
        for (size_t i = 0; i < part->line_count && !is_sure; i++) {
            const struct tw_index_line *line = &part->lines[i];

            is_sure = is_wanted(halves->ids, line->id) && line->counts[TW_INDEX_TIME] &&
                      (line->first_time <= halves->time || from == 0) &&
                      (line->most_time >= halves->time || to * block >= capture->bytes);
        }
        status = locate_in(part, offset, halves->ids, halves->time);
        tw_index_free(part);
        if (is_sure || status < 0)
            return status;
    }
}

static enum tw_status locate_halves(const struct tw_index_capture *capture, uint64_t *offset,
                                    const uint64_t *ids, uint64_t time)
{
    const struct tw_index_config config = { .size = sizeof config, .detail = TW_INDEX_FULL };
    enum tw_status status = TW_OK;
    struct tw_index *list; /* knows which IDs there are */
    uint64_t guess = TW_INDEX_NOWHERE;
    bool is_found = false;

    TW_TRY(tw_index_new(&list, capture, &config, NULL));
    for (size_t i = 0; i < list->line_count && status >= 0; i++) {
        const uint8_t id = list->lines[i].id;
        const uint64_t one[2] = { id < 64 ? (uint64_t)1 << id : 0,
                                  id < 64 ? 0 : (uint64_t)1 << (id - 64) };
        struct halves halves = { .capture = capture,
                                 .ids = one,
                                 .time = time,
                                 .high = (capture->bytes + TW_INDEX_BLOCK_DEFAULT - 1) /
                                         TW_INDEX_BLOCK_DEFAULT };
        uint64_t found = 0;

        if (!is_wanted(ids, id))
            continue;
        status = halve(&halves, &found, &guess);
        if (status == TW_OK && (!is_found || found < *offset)) {
            *offset = found;
            is_found = true;
        }
    }
    tw_index_free(list);
    return status < 0 ? status : is_found ? TW_OK : TW_END;
}

enum tw_status tw_index_locate(const struct tw_index_capture *capture,
                               const struct tw_index *index, uint64_t *offset,
                               const uint64_t *ids, uint64_t time)
{
    const bool is_whole = index && index->about.is_complete;
    struct tw_index_capture of;

    TW_TRY(tw_index_capture_take(&of, capture, NULL));
    capture = &of;
    if (is_whole && index->about.detail == TW_INDEX_FULL)
        return locate_in(index, offset, ids, time);
    if (tw_index_adds_up(capture))
        return locate_part(capture, offset, ids, time, capture->base,
                           capture->base + capture->bytes);
    if (is_whole && index->about.detail == TW_INDEX_SPARSE)
        return locate_sparse(capture, index, offset, ids, time);
    return locate_halves(capture, offset, ids, time);
}

/* ---- whose index it is ---- */

static enum tw_status hash_block(const struct tw_index_capture *capture, uint64_t *sum,
                                 uint64_t from, uint64_t size)
{
    struct tw_hash hash;

    tw_hash_begin(&hash);
    while (size) {
        const uint8_t *bytes = NULL;
        size_t piece = 0;

        TW_TRY(capture->read(capture->read_context, &bytes, &piece, from));
        if (piece == 0)
            return TW_E_FILE;
        if (piece > size)
            piece = (size_t)size;
        tw_hash_add(&hash, bytes, piece);
        from += piece;
        size -= piece;
    }
    *sum = tw_hash_end(&hash);
    return TW_OK;
}

static enum tw_status match_block(const struct tw_index *index,
                                  const struct tw_index_capture *capture, uint64_t number,
                                  struct tw_fault *fault)
{
    const uint8_t *record = tw_index_table_at(&index->blocks, number);
    const uint64_t from = number * index->about.block_bytes;
    uint64_t sum = 0;
    uint32_t bytes;

    if (!record)
        return tw_fail(fault, TW_E_FILE, "the index is damaged");
    bytes = tw_load_le32(record + BLOCK_BYTES);
    if (bytes == 0)
        return TW_OK;
    if (bytes > capture->bytes - from ||
        hash_block(capture, &sum, capture->base + from, bytes) != TW_OK ||
        sum != tw_load_le64(record + BLOCK_HASH))
        return tw_fail(fault, TW_E_CONFIG,
                       "the capture was changed, or is another: bytes from 0x%" PRIx64
                       " on are not those that were indexed",
                       capture->base + from);
    return TW_OK;
}

/* Every source was indexed as it is described now, and the index has no others. */
static enum tw_status match_sources(const struct tw_index *index,
                                    const struct tw_index_capture *capture,
                                    struct tw_fault *fault)
{
    for (size_t i = 0; i < index->line_count; i++) {
        bool is_there = false;

        for (size_t j = 0; j < capture->source_count && !is_there; j++) {
            struct tw_tree_source source;

            TW_TRY(tw_index_capture_source(capture, &source, j, fault));
            is_there = tw_index_source_hash(&source) == index->lines[i].description;
        }
        if (!is_there)
            return tw_fail(fault, TW_E_CONFIG,
                           "ID 0x%02x was indexed as another source than it is now",
                           (unsigned)index->lines[i].id);
    }
    for (size_t j = 0; index->about.detail != TW_INDEX_SOURCE && j < capture->source_count;
         j++) {
        struct tw_tree_source source;
        bool is_there = false;
        uint64_t hash;

        TW_TRY(tw_index_capture_source(capture, &source, j, fault));
        hash = tw_index_source_hash(&source);
        for (size_t i = 0; i < index->line_count && !is_there; i++)
            is_there = hash == index->lines[i].description;
        if (!is_there)
            return tw_fail(fault, TW_E_CONFIG, "source %u of the capture is not in the index",
                           (unsigned)j);
    }
    return TW_OK;
}

enum tw_status tw_index_matches(const struct tw_index *index,
                                const struct tw_index_capture *capture, bool is_thorough,
                                struct tw_fault *fault)
{
    const struct tw_index_about *about = &index->about;
    const uint64_t count = index->blocks.count;
    const uint64_t step = is_thorough || count <= SAMPLES ? 1 : count / SAMPLES;
    struct tw_index_capture of;

    TW_TRY(tw_index_capture_take(&of, capture, fault));
    capture = &of;
    if (about->bytes != capture->bytes || about->base != capture->base)
        return tw_fail(fault, TW_E_CONFIG,
                       "it is of another capture, of %" PRIu64 " bytes from %" PRIu64
                       " on, not %" PRIu64 " from %" PRIu64,
                       about->bytes, about->base, capture->bytes, capture->base);
    if (about->framing != capture->framing || about->no_barrier != capture->no_barrier ||
        about->assume_id != capture->assume_id)
        return tw_fail(fault, TW_E_CONFIG, "the capture's framing was another");
    TW_TRY(match_sources(index, capture, fault));
    for (uint64_t i = 0; i < count; i += step)
        TW_TRY(match_block(index, capture, i, fault));
    return count ? match_block(index, capture, count - 1, fault) : TW_OK;
}
