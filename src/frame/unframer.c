/* SPDX-License-Identifier: BSD-2-Clause */
/* The unframer as its caller sees it: creation, feeding in any framing, end. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "frame/unframer.h"

static bool is_reserved(unsigned id)
{
    return id >= 0x70 && id <= 0x7f;
}

static void set_wanted(struct tw_unframer *unframer)
{
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        unframer->by_id[id] = &unframer->streams[id];
    for (unsigned id = 0; id < 128; id++) {
        struct tw_frame_stream *stream = &unframer->streams[id];

        stream->is_wanted = unframer->config.wanted[id / 64] >> id % 64 & 1;
        stream->kind = stream->is_wanted ? STREAM_KEEP : STREAM_DROP;
        if (is_reserved(id) && unframer->config.framing != TW_FRAMING_NONE)
            stream->kind = STREAM_REPORT;
        if (stream->is_wanted)
            unframer->wanted_ids[unframer->wanted_count++] = (uint8_t)id;
    }
}

enum tw_status tw_unframer_new(struct tw_unframer **unframer,
                               const struct tw_unframer_config *config, struct tw_fault *fault)
{
    struct tw_unframer_config copy;
    struct tw_unframer *made;

    *unframer = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_unframer_config", fault));
    config = &copy;
    if ((unsigned)config->framing > TW_FRAMING_DSTREAM || config->assume_id >= TW_ID_UNKNOWN)
        return tw_fail(fault, TW_E_CONFIG, "there is no such framing, or ID");
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an unframer");
    made->config = *config;
    set_wanted(made);
    tw_unframer_reset(made, config->base);
    *unframer = made;
    return TW_OK;
}

void tw_unframer_free(struct tw_unframer *unframer)
{
    const struct tw_allocator *allocator;

    if (!unframer)
        return;
    allocator = unframer->config.allocator;
    for (unsigned id = 0; id < TW_ID_COUNT; id++) {
        tw_give(allocator, unframer->streams[id].bytes);
        tw_give(allocator, unframer->streams[id].places);
    }
    tw_give(allocator, unframer->events);
    tw_give(allocator, unframer);
}

void tw_unframer_reset(struct tw_unframer *unframer, uint64_t base)
{
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        tw_frame_stream_reset(&unframer->streams[id]);
    unframer->status = TW_OK;
    unframer->is_finished = false;
    unframer->capture = base;
    unframer->id = tw_unframer_first_id(unframer);
    unframer->is_muted = false;
    unframer->has_gap = true;
    unframer->is_reported = false;
    unframer->frame_end = base;
    unframer->barrier_end = unframer->damage_end = 0;
    unframer->fill = unframer->buffered = 0;
    unframer->is_synced = unframer->is_lost = false;
    unframer->window = 0;
    unframer->search_offset = base;
    unframer->search_bytes = 0;
    unframer->block_fill = 0;
    unframer->event_count = 0;
    memset(&unframer->stats, 0, sizeof unframer->stats);
}

void tw_unframer_resume(struct tw_unframer *unframer, uint64_t base, uint8_t id)
{
    tw_unframer_reset(unframer, base);
    unframer->id = id;
    /* DSTREAM's blocks hide where a frame begins: there an FSYNC has to tell. */
    unframer->is_synced = unframer->config.framing == TW_FRAMING_TPIU ||
                          unframer->config.framing == TW_FRAMING_TPIU_HSYNC;
}

static void feed_memory(struct tw_unframer *unframer, const uint8_t *data, size_t size)
{
    uint64_t capture = unframer->capture;

    if (unframer->fill) {
        size_t part = FRAME_SIZE - unframer->fill;

        if (part > size)
            part = size;
        memcpy(unframer->frame + unframer->fill, data, part);
        unframer->fill += (unsigned)part;
        data += part;
        size -= part;
        capture += part;
        if (unframer->fill < FRAME_SIZE)
            return;
        unframer->fill = 0;
        tw_unframer_frames(unframer, unframer->frame, 1, capture - FRAME_SIZE);
    }
    tw_unframer_frames(unframer, data, size / FRAME_SIZE, capture);
    unframer->fill = (unsigned)(size % FRAME_SIZE);
    memcpy(unframer->frame, data + (size - unframer->fill), unframer->fill);
}

static void feed_plain(struct tw_unframer *unframer, const uint8_t *data, size_t size)
{
    struct tw_frame_stream *stream = &unframer->streams[unframer->id];
    const struct tw_place place = { .capture = unframer->capture };
    uint64_t *counted = &unframer->stats.bytes_by_id[unframer->id];

    if (stream->is_wanted)
        tw_frame_stream_append(unframer, stream, unframer->has_gap ? &place : NULL, data, size);
    unframer->has_gap = false;
    if (unframer->config.on_run)
        unframer->config.on_run(unframer->config.on_run_context, unframer->id,
                                unframer->capture, *counted, data, size);
    *counted += size;
}

enum tw_status tw_unframer_feed(struct tw_unframer *unframer, const uint8_t *data, size_t size)
{
    if (unframer->status != TW_OK)
        return unframer->status;
    if (unframer->is_finished)
        return TW_E_ARGUMENT;
    if (size == 0)
        return TW_OK;
    switch (unframer->config.framing) {
    case TW_FRAMING_NONE:
        feed_plain(unframer, data, size);
        break;
    case TW_FRAMING_MEMORY:
        feed_memory(unframer, data, size);
        break;
    case TW_FRAMING_TPIU:
    case TW_FRAMING_TPIU_HSYNC:
        tw_unframer_tpiu_feed(unframer, data, size, unframer->capture);
        break;
    case TW_FRAMING_DSTREAM:
        tw_unframer_dstream_feed(unframer, data, size);
        break;
    }
    unframer->capture += size;
    unframer->stats.bytes += size;
    return unframer->status;
}

enum tw_status tw_unframer_finish(struct tw_unframer *unframer)
{
    if (unframer->status != TW_OK || unframer->is_finished)
        return unframer->status;
    unframer->is_finished = true;
    switch (unframer->config.framing) {
    case TW_FRAMING_NONE:
        break;
    case TW_FRAMING_MEMORY:
        if (unframer->fill == 0)
            break;
        tw_unframer_event(unframer, TW_FRAME_INCOMPLETE, unframer->capture - unframer->fill,
                          unframer->fill, 0);
        unframer->stats.skipped_bytes += unframer->fill;
        break;
    case TW_FRAMING_TPIU:
    case TW_FRAMING_TPIU_HSYNC:
        tw_unframer_tpiu_finish(unframer);
        break;
    case TW_FRAMING_DSTREAM:
        tw_unframer_dstream_finish(unframer);
        break;
    }
    return unframer->status;
}
