/* SPDX-License-Identifier: BSD-2-Clause */
/* What the unframer holds for its caller: the bytes and places of each ID, and the events. */
#include <string.h>

#include "base/memory.h"
#include "frame/unframer.h"

void tw_unframer_fail(struct tw_unframer *unframer)
{
    unframer->status = TW_E_MEMORY;
}

static uint32_t clip(uint64_t length)
{
    return length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

void tw_unframer_event(struct tw_unframer *unframer, enum tw_frame_event_kind kind,
                       uint64_t offset, uint64_t length, uint8_t value)
{
    if (!TW_GROW(unframer->config.allocator, &unframer->events, &unframer->event_room,
                 unframer->event_count + 1)) {
        tw_unframer_fail(unframer);
        return;
    }
    unframer->events[unframer->event_count++] = (struct tw_frame_event){
        .offset = offset, .length = clip(length), .kind = (uint8_t)kind, .value = value
    };
}

bool tw_unframer_event_extend(struct tw_unframer *unframer, enum tw_frame_event_kind kind,
                              uint64_t offset, uint32_t length)
{
    struct tw_frame_event *last;

    if (unframer->event_count == 0)
        return false;
    last = &unframer->events[unframer->event_count - 1];
    if (last->kind != kind || last->offset + last->length != offset)
        return false;
    last->length = clip((uint64_t)last->length + length);
    return true;
}

const struct tw_frame_event *tw_unframer_events(const struct tw_unframer *unframer,
                                                size_t *count)
{
    *count = unframer->event_count;
    return unframer->events;
}

void tw_unframer_clear_events(struct tw_unframer *unframer)
{
    unframer->event_count = 0;
}

const struct tw_frame_stats *tw_unframer_stats(const struct tw_unframer *unframer)
{
    return &unframer->stats;
}

uint8_t tw_unframer_first_id(const struct tw_unframer *unframer)
{
    if (unframer->config.framing == TW_FRAMING_NONE || unframer->config.assume_id)
        return unframer->config.assume_id;
    return TW_ID_UNKNOWN;
}

/* Shows the pending discontinuity after the last place. */
static void show_pending(struct tw_frame_stream *stream)
{
    if (stream->is_pending && stream->places)
        stream->places[stream->place_count] = stream->pending;
}

void tw_unframer_discontinue(struct tw_unframer *unframer, uint64_t capture)
{
    for (unsigned i = 0; i < unframer->wanted_count; i++) {
        struct tw_frame_stream *stream = &unframer->streams[unframer->wanted_ids[i]];

        if (stream->is_pending)
            continue;
        stream->is_pending = true;
        stream->pending = (struct tw_place){ .stream = stream->origin + stream->size,
                                             .capture = capture,
                                             .is_discontinuity = 1 };
        show_pending(stream);
    }
    unframer->has_gap = true;
}

bool tw_frame_stream_make_room(struct tw_unframer *unframer, struct tw_frame_stream *stream,
                               size_t size)
{
    const size_t live = stream->size - stream->head;

    /* Moving costs no more than what was consumed since the last move. */
    if (stream->head && stream->head >= live) {
        memmove(stream->bytes, stream->bytes + stream->head, live);
        stream->origin += stream->head;
        stream->head = 0;
        stream->size = live;
    }
    if (unframer->wanted_count == 1 && size < unframer->coming)
        size = unframer->coming; /* most of it is this ID's: so it need not grow step by step */
    if (size > SIZE_MAX - FRAME_TAIL - stream->size ||
        !TW_GROW(unframer->config.allocator, &stream->bytes, &stream->room,
                 stream->size + size + FRAME_TAIL)) {
        tw_unframer_fail(unframer);
        return false;
    }
    return true;
}

bool tw_frame_stream_make_place(struct tw_unframer *unframer, struct tw_frame_stream *stream)
{
    const size_t live = stream->place_count - stream->place_head;

    if (stream->place_head && stream->place_head >= live) {
        memmove(stream->places, stream->places + stream->place_head,
                live * sizeof *stream->places);
        stream->place_head = 0;
        stream->place_count = live;
    }
    if (!TW_GROW(unframer->config.allocator, &stream->places, &stream->place_room,
                 stream->place_count + 2)) {
        show_pending(stream);
        tw_unframer_fail(unframer);
        return false;
    }
    show_pending(stream);
    return true;
}

void tw_frame_stream_append(struct tw_unframer *unframer, struct tw_frame_stream *stream,
                            const struct tw_place *place, const uint8_t *bytes, size_t size)
{
    if (!tw_frame_stream_reserve(unframer, stream, size))
        return;
    if (place && !tw_frame_stream_place(unframer, stream, stream->bytes + stream->size,
                                        place->capture, place->first))
        return;
    memcpy(stream->bytes + stream->size, bytes, size);
    stream->size += size;
}

void tw_frame_stream_reset(struct tw_frame_stream *stream)
{
    stream->head = stream->size = 0;
    stream->origin = 0;
    stream->place_head = stream->place_count = 0;
    stream->is_pending = false;
}

struct tw_stream tw_unframer_stream(const struct tw_unframer *unframer, uint8_t id)
{
    struct tw_stream out = { .bytes = unframer->empty };
    const struct tw_frame_stream *stream;

    if (id >= TW_ID_COUNT)
        return out;
    stream = &unframer->streams[id];
    out.offset = stream->origin + stream->head;
    out.size = stream->size - stream->head;
    if (stream->bytes)
        out.bytes = stream->bytes + stream->head;
    if (out.size == 0) {
        out.places = stream->is_pending ? &stream->pending : NULL;
        out.place_count = stream->is_pending;
    } else {
        out.places = stream->places + stream->place_head;
        out.place_count = stream->place_count - stream->place_head + stream->is_pending;
    }
    return out;
}

void tw_unframer_consume(struct tw_unframer *unframer, uint8_t id, size_t size)
{
    struct tw_frame_stream *stream;

    if (id >= TW_ID_COUNT)
        return;
    stream = &unframer->streams[id];
    if (size < stream->size - stream->head) {
        const uint64_t offset = stream->origin + stream->head + size;

        stream->head += size;
        while (stream->place_head + 1 < stream->place_count &&
               stream->places[stream->place_head + 1].stream <= offset)
            stream->place_head++;
        return;
    }
    stream->origin += stream->size;
    stream->head = stream->size = 0;
    if (stream->place_count) {
        /* The last place goes on to hold for bytes that follow on. */
        stream->places[0] = stream->places[stream->place_count - 1];
        stream->place_head = 0;
        stream->place_count = 1;
        show_pending(stream);
    }
}
