/* SPDX-License-Identifier: BSD-2-Clause */
/* Building an index: the capture goes by once, block after block. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "frame/unframer.h"
#include "index/index.h"
#include "tree/custom.h"

/* Events of a block that are kept: damage may bring any number of them. */
enum { EVENT_SPACING = 32, SLACK = 64 };

uint64_t tw_index_block_of(const struct tw_index *index, uint64_t offset)
{
    return (offset - index->about.base) / index->about.block_bytes;
}

void tw_index_free(struct tw_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->line_count; i++)
        tw_index_line_free(index, &index->lines[i]);
    tw_unframer_free(index->unframer);
    tw_custom_free(index->customs, index->allocator);
    tw_give(index->allocator, index->lines);
    tw_give(index->allocator, index->blocks.own);
    tw_give(index->allocator, index->events.own);
    tw_give(index->allocator, index->parts.own);
    tw_give(index->allocator, index->buffered);
    tw_give(index->allocator, index);
}

static bool is_good_block(uint32_t bytes)
{
    return bytes >= TW_INDEX_BLOCK_LEAST && bytes <= TW_INDEX_BLOCK_MOST &&
           (bytes & (bytes - 1)) == 0;
}

static enum tw_status make_unframer(struct tw_index *index)
{
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = index->about.framing,
                                         .no_barrier = index->about.no_barrier,
                                         .assume_id = index->about.assume_id,
                                         .base = index->about.base,
                                         .sync_events = true,
                                         .allocator = index->allocator };

    if (index->about.framing == TW_FRAMING_NONE)
        return TW_OK;
    for (size_t i = 0; i < index->line_count; i++)
        config.wanted[index->lines[i].id / 64] |= (uint64_t)1 << index->lines[i].id % 64;
    return tw_unframer_new(&index->unframer, &config, NULL);
}

static enum tw_status set_up(struct tw_index *index, const struct tw_index_capture *capture,
                             const struct tw_index_config *config, struct tw_fault *fault)
{
    struct tw_index_about *about = &index->about;

    about->framing = capture->framing;
    about->no_barrier = capture->no_barrier;
    about->assume_id = capture->assume_id;
    about->base = capture->base;
    about->bytes = capture->bytes;
    about->detail = config->detail;
    about->block_bytes = config->block_bytes ? config->block_bytes : TW_INDEX_BLOCK_DEFAULT;
    if (config->name)
        for (size_t i = 0; i < TW_INDEX_NAME - 1 && config->name[i]; i++)
            index->name[i] = config->name[i];
    index->blocks.record = TW_INDEX_BLOCK_RECORD;
    index->events.record = TW_INDEX_EVENT_RECORD;
    index->parts.record = TW_INDEX_PART_RECORD;
    index->at = index->part_from = about->base;
    index->place.capture = about->base;
    if (!is_good_block(about->block_bytes))
        return tw_fail(fault, TW_E_ARGUMENT,
                       "blocks of %" PRIu32
                       " bytes: a power of two from 512 to 1073741824 is wanted",
                       about->block_bytes);
    if (about->base > TW_INDEX_OFFSET || about->bytes > TW_INDEX_OFFSET - about->base)
        return tw_fail(fault, TW_E_ARGUMENT, "the capture is too large");
    for (size_t i = 0; i < capture->protocol_count; i++)
        TW_TRY(tw_custom_add(&index->customs, capture->protocols[i], index->allocator, fault));
    for (size_t i = 0; about->detail != TW_INDEX_SOURCE && i < capture->source_count; i++) {
        struct tw_tree_source source;

        TW_TRY(tw_index_capture_source(capture, &source, i, fault));
        TW_TRY(tw_index_line_add(index, &source, fault));
    }
    if (make_unframer(index) != TW_OK)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    return TW_OK;
}

enum tw_status tw_index_new(struct tw_index **index, const struct tw_index_capture *capture,
                            const struct tw_index_config *config, struct tw_fault *fault)
{
    struct tw_index_capture of;
    struct tw_index_config how;
    struct tw_index *made;
    enum tw_status status;

    *index = NULL;
    TW_TRY(tw_index_capture_take(&of, capture, fault));
    TW_TRY(TW_SIZED_TAKE(&how, config, "tw_index_config", fault));
    made = tw_take(of.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an index");
    made->allocator = of.allocator;
    status = set_up(made, &of, &how, fault);
    if (status != TW_OK) {
        tw_index_free(made);
        return status;
    }
    tw_index_tell(made);
    *index = made;
    return TW_OK;
}

/* Where unpacking may begin for the block that begins now. */
static void note_frame(struct tw_index *index, uint8_t *block)
{
    const struct tw_unframer *unframer = index->unframer;
    uint64_t frame = index->at;
    uint8_t id = TW_ID_UNKNOWN;

    if (unframer && index->about.framing != TW_FRAMING_DSTREAM) {
        if (!unframer->is_muted)
            id = unframer->id;
        if (unframer->fill + unframer->buffered)
            frame = unframer->frame_at[0];
        if (index->about.framing != TW_FRAMING_MEMORY && !unframer->is_synced)
            frame = TW_INDEX_NOWHERE;
    }
    tw_store_le64(block + BLOCK_FRAME, frame);
    block[BLOCK_ID] = id;
}

static void open_block(struct tw_index *index)
{
    memset(index->block, 0, sizeof index->block);
    note_frame(index, index->block);
    tw_store_le64(index->block + BLOCK_EVENT, index->events.count);
    if (index->unframer)
        memcpy(index->block_stats, tw_unframer_stats(index->unframer)->bytes_by_id,
               sizeof index->block_stats);
    tw_hash_begin(&index->hash);
    index->is_open = true;
}

static void store_le32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* What the unframer met since the last time. */
static enum tw_status take_events(struct tw_index *index)
{
    const uint32_t most = index->about.block_bytes / EVENT_SPACING;
    uint32_t kept = tw_load_le32(index->block + BLOCK_EVENTS);
    uint32_t syncs = tw_load_le32(index->block + BLOCK_SYNCS);
    const struct tw_frame_event *events;
    size_t count;

    if (!index->unframer)
        return TW_OK;
    events = tw_unframer_events(index->unframer, &count);
    for (size_t i = 0; i < count; i++) {
        uint8_t *record;

        if (events[i].kind == TW_FRAME_FSYNC || events[i].kind == TW_FRAME_HSYNC) {
            syncs++;
            continue;
        }
        if (kept == most) {
            index->block[BLOCK_FLAGS] |= BLOCK_IS_CAPPED;
            continue;
        }
        record = tw_index_table_add(index->allocator, &index->events);
        if (!record)
            return TW_E_MEMORY;
        tw_store_le64(record,
                      (events[i].offset & TW_INDEX_OFFSET) | (uint64_t)events[i].kind << 56);
        store_le32(record + 8, events[i].length);
        record[12] = events[i].value;
        kept++;
    }
    store_le32(index->block + BLOCK_EVENTS, kept);
    store_le32(index->block + BLOCK_SYNCS, syncs);
    tw_unframer_clear_events(index->unframer);
    return TW_OK;
}

static enum tw_status close_block(struct tw_index *index)
{
    uint64_t ids[2] = { 0, 0 };
    uint8_t *record;

    if (!index->is_open)
        return TW_OK;
    index->is_open = false;
    if (index->unframer) {
        const uint64_t *now = tw_unframer_stats(index->unframer)->bytes_by_id;

        for (unsigned id = 0; id < TW_ID_UNKNOWN; id++)
            ids[id / 64] |= (uint64_t)(now[id] != index->block_stats[id]) << id % 64;
        if (now[TW_ID_UNKNOWN] != index->block_stats[TW_ID_UNKNOWN])
            index->block[BLOCK_FLAGS] |= BLOCK_HAS_UNKNOWN;
    }
    tw_store_le64(index->block + BLOCK_IDS, ids[0]);
    tw_store_le64(index->block + BLOCK_IDS + 8, ids[1]);
    store_le32(index->block + BLOCK_BYTES, (uint32_t)index->hash.size);
    tw_store_le64(index->block + BLOCK_HASH, tw_hash_end(&index->hash));
    record = tw_index_table_add(index->allocator, &index->blocks);
    if (!record)
        return TW_E_MEMORY;
    memcpy(record, index->block, sizeof index->block);
    return TW_OK;
}

static enum tw_status hold(struct tw_index *index, const uint8_t *data, size_t size)
{
    if (index->line_count == 0)
        return TW_OK;
    if (!TW_GROW(index->allocator, &index->buffered, &index->buffered_room,
                 index->buffered_size + size + SLACK))
        return TW_E_MEMORY;
    memcpy(index->buffered + index->buffered_size, data, size);
    index->buffered_size += size;
    memset(index->buffered + index->buffered_size, 0, SLACK);
    return TW_OK;
}

/* Bytes of one block. */
static enum tw_status take_piece(struct tw_index *index, const uint8_t *data, size_t size)
{
    if (!index->is_open)
        open_block(index);
    tw_hash_add(&index->hash, data, size);
    TW_TRY(index->unframer ? tw_unframer_feed(index->unframer, data, size)
                           : hold(index, data, size));
    index->at += size;
    for (size_t i = 0; i < index->line_count; i++)
        TW_TRY(tw_index_line_read(index, &index->lines[i], false));
    TW_TRY(take_events(index));
    if ((index->at - index->about.base) % index->about.block_bytes == 0)
        return close_block(index);
    return TW_OK;
}

enum tw_status tw_index_feed(struct tw_index *index, const uint8_t *data, size_t size)
{
    if (index->is_finished)
        return TW_E_ARGUMENT;
    if (index->broken == TW_OK && size > index->about.base + index->about.bytes - index->at)
        return TW_E_ARGUMENT; /* more than the capture was said to hold */
    while (size && index->broken == TW_OK) {
        const uint64_t into = (index->at - index->about.base) % index->about.block_bytes;
        size_t piece = (size_t)(index->about.block_bytes - into);

        if (piece > size)
            piece = size;
        if (piece > TW_INDEX_HOLD)
            piece = TW_INDEX_HOLD;
        index->broken = take_piece(index, data, piece);
        data += piece;
        size -= piece;
    }
    tw_index_tell(index);
    return index->broken;
}

static void add_stats(struct tw_frame_stats *to, const struct tw_frame_stats *from)
{
    to->bytes += from->bytes;
    to->frames += from->frames;
    to->sync_bytes += from->sync_bytes;
    to->skipped_bytes += from->skipped_bytes;
    to->footer_bytes += from->footer_bytes;
    for (unsigned i = 0; i < TW_ID_COUNT; i++)
        to->bytes_by_id[i] += from->bytes_by_id[i];
}

/* Nothing follows on what was fed last. */
static enum tw_status end_part(struct tw_index *index)
{
    const bool is_end = index->at - index->about.base == index->about.bytes && !index->goes_on;
    uint8_t *record;

    if (index->at == index->part_from)
        return TW_OK;
    if (index->unframer)
        TW_TRY(tw_unframer_finish(index->unframer));
    /* A packet that goes on behind the part is not broken: it is of neither. */
    for (size_t i = 0; i < index->line_count; i++)
        TW_TRY(tw_index_line_read(index, &index->lines[i], is_end));
    if (!index->is_open && index->unframer) {
        size_t count;

        /* What the end brought belongs to the block before. */
        (void)tw_unframer_events(index->unframer, &count);
        if (count)
            memcpy(index->block,
                   index->blocks.own + (index->blocks.count - 1) * index->blocks.record,
                   sizeof index->block);
        TW_TRY(take_events(index));
        if (count)
            memcpy(index->blocks.own + (index->blocks.count - 1) * index->blocks.record,
                   index->block, sizeof index->block);
    } else {
        TW_TRY(take_events(index));
        TW_TRY(close_block(index));
    }
    if (index->unframer)
        add_stats(&index->about.frames, tw_unframer_stats(index->unframer));
    record = tw_index_table_add(index->allocator, &index->parts);
    if (!record)
        return TW_E_MEMORY;
    tw_store_le64(record, index->part_from);
    tw_store_le64(record + 8, index->at);
    index->about.indexed += index->at - index->part_from;
    return TW_OK;
}

static void begin_part(struct tw_index *index, uint64_t offset)
{
    index->at = index->part_from = offset;
    index->buffered_size = 0;
    index->buffered_offset = 0;
    index->place = (struct tw_place){ .capture = offset };
    if (index->unframer)
        tw_unframer_reset(index->unframer, offset);
    for (size_t i = 0; i < index->line_count; i++) {
        struct tw_index_line *line = &index->lines[i];

        line->protocol->reader_init(line->reader, line->config);
        tw_index_line_lose(line);
        /* What came before is not known. */
        line->state[TW_INDEX_KEPT - 1] = line->state[TW_INDEX_WORDS - 1] = 1;
        line->handled_gap = 0;
        line->is_mute = (line->protocol->flags & TW_PROTOCOL_UNMARKED) != 0;
    }
}

enum tw_status tw_index_skip(struct tw_index *index, uint64_t offset)
{
    const uint64_t base = index->about.base;

    if (index->is_finished || offset < index->at || offset - base > index->about.bytes ||
        (offset - base) % index->about.block_bytes)
        return TW_E_ARGUMENT;
    if (index->broken == TW_OK && offset != index->at) {
        index->broken = end_part(index);
        while (index->broken == TW_OK &&
               index->blocks.count < tw_index_block_of(index, offset)) {
            uint8_t *record = tw_index_table_add(index->allocator, &index->blocks);

            if (!record) {
                index->broken = TW_E_MEMORY;
                break;
            }
            tw_store_le64(record + BLOCK_EVENT, index->events.count);
            tw_store_le64(record + BLOCK_FRAME, TW_INDEX_NOWHERE);
            record[BLOCK_ID] = TW_ID_UNKNOWN;
        }
        begin_part(index, offset);
        tw_index_tell(index);
    }
    return index->broken;
}

enum tw_status tw_index_finish(struct tw_index *index)
{
    if (index->is_finished)
        return index->broken;
    index->is_finished = true;
    if (index->broken == TW_OK)
        index->broken = end_part(index);
    for (size_t i = 0; i < index->line_count && index->broken == TW_OK; i++)
        index->broken = tw_index_line_close(index, &index->lines[i], index->blocks.count);
    index->about.is_complete = index->about.indexed == index->about.bytes;
    tw_index_tell(index);
    return index->broken;
}

/* Feeds what lies up to an offset. */
static enum tw_status feed_to(struct tw_index *index, const struct tw_index_capture *capture,
                              uint64_t to)
{
    while (index->at < to) {
        const uint8_t *bytes = NULL;
        size_t size = 0;
        const enum tw_status status =
            capture->read(capture->read_context, &bytes, &size, index->at);

        if (status != TW_OK)
            return status == TW_END ? TW_E_FILE : status;
        if (size == 0)
            return TW_E_FILE;
        if (size > to - index->at)
            size = (size_t)(to - index->at);
        TW_TRY(tw_index_feed(index, bytes, size));
    }
    return TW_OK;
}

/* One part, from the block that holds `from`; what was fed already is not fed again. */
static enum tw_status feed_part(struct tw_index *index, const struct tw_index_capture *capture,
                                uint64_t from, uint64_t to)
{
    const uint64_t end = capture->base + capture->bytes;

    if (from < capture->base)
        from = capture->base;
    if (from > end)
        from = end;
    if (to > end)
        to = end;
    from -= (from - capture->base) % index->about.block_bytes;
    if (from > index->at)
        TW_TRY(tw_index_skip(index, from));
    return feed_to(index, capture, to);
}

/* The new part and those that are known, in the order of the capture. */
static enum tw_status feed_parts(struct tw_index *index, const struct tw_index *known,
                                 const struct tw_index_capture *capture, uint64_t from,
                                 uint64_t to)
{
    uint64_t first, end;
    bool is_fed = false;

    for (uint64_t i = 0; known && tw_index_part(known, &first, &end, i) == TW_OK; i++) {
        if (!is_fed && from < first) {
            is_fed = true;
            TW_TRY(feed_part(index, capture, from, to));
        }
        TW_TRY(feed_part(index, capture, first, end));
    }
    if (!is_fed)
        TW_TRY(feed_part(index, capture, from, to));
    return tw_index_finish(index);
}

enum tw_status tw_index_extend(struct tw_index **index, const struct tw_index *known,
                               const struct tw_index_capture *capture,
                               const struct tw_index_config *config, uint64_t from, uint64_t to,
                               struct tw_fault *fault)
{
    struct tw_index_capture of;
    enum tw_status status;

    *index = NULL;
    TW_TRY(tw_index_capture_take(&of, capture, fault));
    if (known)
        TW_TRY(tw_index_matches(known, &of, false, fault));
    TW_TRY(tw_index_new(index, &of, config, fault));
    status = feed_parts(*index, known, &of, from, to);
    if (status == TW_OK)
        return TW_OK;
    tw_index_free(*index);
    *index = NULL;
    return tw_fail(fault, status,
                   status == TW_E_MEMORY ? "no memory for an index"
                                         : "the capture could not be read whole");
}

enum tw_status tw_index_build_part(struct tw_index **index,
                                   const struct tw_index_capture *capture,
                                   const struct tw_index_config *config, uint64_t from,
                                   uint64_t to, struct tw_fault *fault)
{
    return tw_index_extend(index, NULL, capture, config, from, to, fault);
}

enum tw_status tw_index_window(struct tw_index **index, const struct tw_index_capture *capture,
                               uint64_t from, uint64_t to)
{
    const struct tw_index_config config = { .size = sizeof config, .detail = TW_INDEX_FULL };
    const uint64_t end = capture->base + capture->bytes;
    struct tw_index_capture part = *capture;
    enum tw_status status;

    to = to < end ? to : end;
    from = from < to ? from : to;
    part.base = from - (from - capture->base) % TW_INDEX_BLOCK_DEFAULT;
    part.bytes = to - part.base;
    TW_TRY(tw_index_new(index, &part, &config, NULL));
    (*index)->goes_on = to < end;
    if (part.base != capture->base)
        begin_part(*index, part.base);
    status = feed_to(*index, &part, to);
    if (status == TW_OK)
        status = tw_index_finish(*index);
    if (status != TW_OK) {
        tw_index_free(*index);
        *index = NULL;
    }
    return status;
}

enum tw_status tw_index_build(struct tw_index **index, const struct tw_index_capture *capture,
                              const struct tw_index_config *config, struct tw_fault *fault)
{
    return tw_index_build_part(index, capture, config, 0, UINT64_MAX, fault);
}
