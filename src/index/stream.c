/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of one trace ID: its packets read, what they tell noted. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "index/index.h"
#include "stage/position.h"
#include "tree/custom.h"

static void hash_text(struct tw_hash *hash, const char *text)
{
    const char *from = text ? text : "";

    tw_hash_add(hash, (const uint8_t *)from, strlen(from) + 1);
}

static void hash_number(struct tw_hash *hash, uint64_t number)
{
    uint8_t bytes[8];

    tw_store_le64(bytes, number);
    tw_hash_add(hash, bytes, sizeof bytes);
}

/* All that a protocol may make its configuration from. */
uint64_t tw_index_source_hash(const struct tw_tree_source *source)
{
    struct tw_hash hash;

    tw_hash_begin(&hash);
    hash_text(&hash, source->protocol);
    hash_text(&hash, source->type);
    hash_text(&hash, source->core_type);
    hash_text(&hash, source->text);
    hash_number(&hash, source->id);
    for (size_t i = 0; i < source->register_count; i++) {
        hash_text(&hash, source->registers[i].name);
        hash_number(&hash, source->registers[i].value);
    }
    return tw_hash_end(&hash);
}

void tw_index_line_free(struct tw_index *index, struct tw_index_line *line)
{
    tw_give(index->allocator, line->config);
    tw_give(index->allocator, line->reader);
    tw_give(index->allocator, line->packet);
    tw_give(index->allocator, line->blocks.own);
    tw_give(index->allocator, line->entries.own);
}

static enum tw_status set_up(struct tw_index *index, struct tw_index_line *line,
                             const struct tw_protocol *protocol,
                             const struct tw_tree_source *source, struct tw_fault *fault)
{
    const struct tw_source_info info = { .registers = source->registers,
                                         .register_count = source->register_count,
                                         .type = source->type,
                                         .core_type = source->core_type,
                                         .text = source->text,
                                         .id = source->id,
                                         .is_framed = index->about.framing != TW_FRAMING_NONE };

    line->protocol = protocol;
    line->protocol_name = protocol->name;
    line->description = tw_index_source_hash(source);
    line->blocks.record = TW_INDEX_STREAM_BLOCK_RECORD;
    line->entries.record = TW_INDEX_ENTRY_RECORD;
    line->block_sync = TW_INDEX_NOWHERE;
    line->config = tw_take(index->allocator, protocol->config_size);
    line->reader = tw_take(index->allocator, protocol->reader_size);
    line->packet = tw_take(index->allocator, protocol->packet_size);
    if (!line->config || !line->reader || !line->packet)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the index of a stream");
    if (protocol->custom)
        tw_custom_prepare(line->config, protocol);
    TW_TRY(protocol->configure(line->config, &info, fault));
    line->id = protocol->trace_id(line->config);
    if (!line->id)
        line->id = source->id;
    line->id &= 0x7f;
    protocol->reader_init(line->reader, line->config);
    return TW_OK;
}

static enum tw_status add_line(struct tw_index *index, struct tw_index_line **added,
                               const struct tw_protocol *protocol,
                               const struct tw_tree_source *source, struct tw_fault *fault)
{
    struct tw_index_line line = { .id = 0 };
    enum tw_status status;
    size_t at = index->line_count;
    size_t same = 0;

    if (!TW_GROW(index->allocator, &index->lines, &index->line_room, index->line_count + 1))
        return tw_fail(fault, TW_E_MEMORY, "no memory for the index of a stream");
    status = set_up(index, &line, protocol, source, fault);
    if (status == TW_OK && tw_index_stream_of(index, &same, line.id) == TW_OK)
        status =
            tw_fail(fault, TW_E_CONFIG, "two sources have trace ID 0x%02x", (unsigned)line.id);
    if (status != TW_OK) {
        tw_index_line_free(index, &line);
        return status;
    }
    for (; at > 0 && index->lines[at - 1].id > line.id; at--)
        index->lines[at] = index->lines[at - 1];
    index->lines[at] = line;
    index->line_count++;
    *added = &index->lines[at];
    return TW_OK;
}

/* As tw_tree_add_source does it: with the second stream of the unit, if it sends one. */
enum tw_status tw_index_line_add(struct tw_index *index, const struct tw_tree_source *source,
                                 struct tw_fault *fault)
{
    const struct tw_protocol *protocol =
        source->protocol ? tw_protocol_by_name(source->protocol) : NULL;
    const bool is_framed = index->about.framing != TW_FRAMING_NONE;
    struct tw_index_line *line;
    size_t number;

    if (!protocol && source->protocol)
        protocol = tw_custom_by_name(index->customs, source->protocol);
    if (!protocol)
        return tw_fail(fault, TW_E_UNSUPPORTED, "protocol '%s' is not known",
                       source->protocol ? source->protocol : "");
    if (!is_framed && index->line_count)
        return tw_fail(fault, TW_E_CONFIG,
                       "an unframed capture holds one source, and there is one already");
    TW_TRY(add_line(index, &line, protocol, source, fault));
    if (is_framed && protocol->companion && protocol->has_companion(line->config) &&
        tw_index_stream_of(index, &number, (uint8_t)(line->id + 1)) != TW_OK)
        return add_line(index, &line, protocol->companion, source, fault);
    return TW_OK;
}

/* Bytes are missing: as at the start, but for what only the start tells. */
void tw_index_line_lose(struct tw_index_line *line)
{
    line->protocol->reader_lost(line->reader);
    memset(line->state, 0, TW_INDEX_KEPT * sizeof *line->state);
}

/* Writes the open block's record and opens the next. */
static enum tw_status close_block(struct tw_index *index, struct tw_index_line *line)
{
    uint8_t *record = tw_index_table_add(index->allocator, &line->blocks);
    const bool had_time = line->counts[TW_INDEX_TIME] != 0;

    if (!record)
        return TW_E_MEMORY;
    for (unsigned i = 0; i < TW_INDEX_KINDS; i++)
        tw_store_le64(record + STREAM_COUNTS + (size_t)8 * i, line->block_counts[i]);
    tw_store_le64(record + STREAM_FIRST_TIME, line->block_first_time);
    tw_store_le64(record + STREAM_LAST_TIME, line->block_last_time);
    tw_store_le64(record + STREAM_MOST_TIME, line->most_time);
    tw_store_le64(record + STREAM_SYNC, line->block_sync);
    tw_store_le64(record + STREAM_FLAGS, (line->block_has_time ? STREAM_HAS_TIME : 0) |
                                             (had_time ? STREAM_HAD_TIME : 0));
    memcpy(line->block_counts, line->counts, sizeof line->block_counts);
    line->block_first_time = line->block_last_time = 0;
    line->block_has_time = false;
    line->block_sync = TW_INDEX_NOWHERE;
    return TW_OK;
}

enum tw_status tw_index_line_close(struct tw_index *index, struct tw_index_line *line,
                                   uint64_t number)
{
    while (line->blocks.count < number)
        TW_TRY(close_block(index, line));
    return TW_OK;
}

static void note_time(struct tw_index_line *line, uint64_t time)
{
    if (!line->block_has_time)
        line->block_first_time = time;
    line->block_has_time = true;
    line->block_last_time = time;
    if (!line->counts[TW_INDEX_TIME])
        line->first_time = line->most_time = time;
    if (time > line->most_time)
        line->most_time = time;
    line->last_time = time;
}

static enum tw_status add_note(struct tw_index *index, struct tw_index_line *line,
                               const struct tw_index_note *note, uint64_t offset)
{
    TW_TRY(tw_index_line_close(index, line, tw_index_block_of(index, offset)));
    if (note->kind == TW_INDEX_TIME)
        note_time(line, note->value);
    if (note->kind == TW_INDEX_SYNC && note->value && line->block_sync == TW_INDEX_NOWHERE)
        line->block_sync = offset;
    line->counts[note->kind]++;
    if (index->about.detail == TW_INDEX_FULL) {
        uint8_t *record = tw_index_table_add(index->allocator, &line->entries);

        if (!record)
            return TW_E_MEMORY;
        tw_store_le64(record, offset | (uint64_t)note->kind << 56);
        tw_store_le64(record + 8, note->value);
    }
    return TW_OK;
}

/* What a packet tells; `offset` is its place in the capture. */
static enum tw_status take_packet(struct tw_index *index, struct tw_index_line *line,
                                  struct tw_position *position, uint64_t from)
{
    const struct tw_protocol *protocol = line->protocol;
    const struct tw_packet *packet = line->packet;
    struct tw_index_note notes[TW_INDEX_NOTES];
    unsigned count = 0;

    if (protocol->notes)
        count = protocol->notes(line->state, notes, line->reader, packet);
    if (tw_kind_is_bad(tw_type_kind(protocol, packet->type)) && count < TW_INDEX_NOTES)
        count += tw_note(&notes[count], TW_INDEX_BAD, packet->type);
    if (count) {
        const uint64_t offset = tw_position_at(position, from);

        for (unsigned i = 0; i < count; i++) {
            TW_TRY(add_note(index, line, &notes[i], offset));
            if (notes[i].kind == TW_INDEX_CONTEXT)
                line->state[TW_INDEX_CONTEXT_AT] = offset;
        }
    }
    return TW_OK;
}

/* The packets of a stretch without a gap; *used: as far as they go. */
static enum tw_status read_stretch(struct tw_index *index, struct tw_index_line *line,
                                   const struct tw_stream *stream, size_t *used, size_t end,
                                   bool is_last)
{
    const struct tw_protocol *protocol = line->protocol;
    const struct tw_packet *packet = line->packet;
    struct tw_position position;

    tw_position_init(&position, stream->places, stream->place_count);
    while (*used < end) {
        const uint8_t *at = stream->bytes + *used;
        uint64_t from;

        if (protocol->pass) {
            const size_t passed = protocol->pass(line->reader, at, end - *used);

            at += passed;
            *used += passed;
            if (*used == end)
                break;
        }
        from = stream->offset + *used;
        if (protocol->read(line->reader, line->packet, at, end - *used, is_last) != TW_OK)
            break;
        *used += tw_packet_taken(packet);
        TW_TRY(take_packet(index, line, &position, from));
    }
    return TW_OK;
}

static enum tw_status read_buffered(struct tw_index *index, struct tw_index_line *line,
                                    const struct tw_stream *stream, size_t *used, bool is_last)
{
    struct tw_gap_ahead ahead = { .is_known = false };

    for (;;) {
        const uint64_t from = stream->offset + *used;
        const uint64_t gap = tw_gap_next(&ahead, stream->places, stream->place_count, from,
                                         line->handled_gap, stream->offset + stream->size);
        const size_t end = gap == UINT64_MAX ? stream->size : (size_t)(gap - stream->offset);

        TW_TRY(read_stretch(index, line, stream, used, end, is_last || gap != UINT64_MAX));
        if (gap == UINT64_MAX)
            return TW_OK;
        *used = end;
        tw_index_line_lose(line);
        line->handled_gap = gap + 1;
    }
}

enum tw_status tw_index_line_read(struct tw_index *index, struct tw_index_line *line,
                                  bool is_last)
{
    struct tw_stream stream = { .bytes = index->buffered,
                                .size = index->buffered_size,
                                .offset = index->buffered_offset,
                                .places = &index->place,
                                .place_count = 1 };
    size_t used = 0;

    if (index->unframer)
        stream = tw_unframer_stream(index->unframer, line->id);
    /* A gap is met with the byte behind it: only that one tells its place for good. */
    if (!is_last && stream.place_count &&
        stream.places[stream.place_count - 1].stream == stream.offset + stream.size)
        stream.place_count--;
    if (line->is_mute)
        used = stream.size;
    else if (stream.size)
        TW_TRY(read_buffered(index, line, &stream, &used, is_last));
    if (index->unframer) {
        tw_unframer_consume(index->unframer, line->id, used);
    } else if (used) {
        memmove(index->buffered, index->buffered + used, index->buffered_size - used);
        index->buffered_size -= used;
        index->buffered_offset += used;
    }
    return TW_OK;
}
