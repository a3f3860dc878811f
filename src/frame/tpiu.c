/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the frames in the stream of a trace port: FSYNC, HSYNC, and DSTREAM's blocks. */
#include <string.h>

#include "base/bytes.h"
#include "frame/unframer.h"

#define EVEN_BYTES UINT64_C(0x00ff00ff00ff00ff)
#define EVEN_ONES  UINT64_C(0x0001000100010001)

/* FF in an even byte of half a frame: a sync, or damage. */
static bool has_even_ff(const uint8_t *half)
{
    return (((tw_load_le64(half) & EVEN_BYTES) + EVEN_ONES) & (EVEN_ONES << 8)) != 0;
}

static void take_sync(struct tw_unframer *unframer, enum tw_frame_event_kind kind,
                      uint64_t capture, unsigned size)
{
    unframer->stats.sync_bytes += size;
    if (unframer->config.sync_events)
        tw_unframer_event(unframer, kind, capture, size, 0);
}

/* Reports what was passed over between losing and finding synchronization. */
static void report_search(struct tw_unframer *unframer, uint64_t passed)
{
    unframer->stats.skipped_bytes += passed;
    if (unframer->is_lost)
        tw_unframer_event(unframer, TW_FRAME_LOST, unframer->search_offset, passed, 0);
    else if (passed)
        tw_unframer_event(unframer, TW_FRAME_SKIPPED, unframer->search_offset, passed, 0);
}

/* The search has read an FSYNC.  Its first byte may have been taken for the last auxiliary byte. */
static void end_search(struct tw_unframer *unframer)
{
    const unsigned own = unframer->search_bytes < 4 ? (unsigned)unframer->search_bytes : 4;

    report_search(unframer, unframer->search_bytes - own);
    take_sync(unframer, TW_FRAME_FSYNC, unframer->window_at[4 - own], own);
    unframer->is_synced = true;
    unframer->search_bytes = 0;
}

/* Frame synchronization is lost at `capture`, with what was collected of the frame. */
static void lose(struct tw_unframer *unframer, uint64_t capture)
{
    tw_unframer_discontinue(unframer, capture);
    unframer->id = tw_unframer_first_id(unframer);
    unframer->is_reported = false;
    unframer->is_synced = false;
    unframer->is_lost = true;
    unframer->search_offset = capture;
    unframer->search_bytes = unframer->fill + unframer->buffered;
    unframer->fill = unframer->buffered = 0;
}

static void take_frame(struct tw_unframer *unframer)
{
    const uint64_t *at = unframer->frame_at;

    unframer->fill = 0;
    if (at[FRAME_AUX] - at[0] == FRAME_AUX)
        tw_unframer_frames(unframer, unframer->frame, 1, at[0]);
    else
        tw_unframer_scattered(unframer, unframer->frame, at);
}

/* At an even place of the frame stands FF; `buffered` bytes from there on are known. */
static void take_buffered(struct tw_unframer *unframer, uint8_t newest)
{
    const bool has_hsync = unframer->config.framing != TW_FRAMING_TPIU;
    const uint64_t first = unframer->frame_at[unframer->fill];

    if (unframer->buffered == 1 || (newest == 0xff && unframer->buffered < 4))
        return;
    if (unframer->buffered == 2 && newest == 0x7f && has_hsync) {
        unframer->buffered = 0;
        take_sync(unframer, TW_FRAME_HSYNC, first, 2);
        return;
    }
    if (unframer->buffered == 4 && newest == 0x7f && unframer->fill == 0) {
        unframer->buffered = 0;
        take_sync(unframer, TW_FRAME_FSYNC, first, 4);
        return;
    }
    /* An FSYNC inside the frame, or ID 7F.  An FSYNC may also end here that began at an odd
       place. */
    lose(unframer, first);
    if (unframer->window == FSYNC)
        end_search(unframer);
}

static void slide_window(struct tw_unframer *unframer, uint8_t byte, uint64_t capture)
{
    unframer->window = unframer->window >> 8 | (uint32_t)byte << 24;
    memmove(unframer->window_at, unframer->window_at + 1, 3 * sizeof(uint64_t));
    unframer->window_at[3] = capture;
}

static void take_byte(struct tw_unframer *unframer, uint8_t byte, uint64_t capture)
{
    slide_window(unframer, byte, capture);
    if (!unframer->is_synced) {
        unframer->search_bytes++;
        if (unframer->window == FSYNC)
            end_search(unframer);
        return;
    }
    unframer->frame[unframer->fill + unframer->buffered] = byte;
    unframer->frame_at[unframer->fill + unframer->buffered] = capture;
    if (unframer->buffered || (byte == 0xff && unframer->fill % 2 == 0)) {
        unframer->buffered++;
        take_buffered(unframer, byte);
    } else if (++unframer->fill == FRAME_SIZE) {
        take_frame(unframer);
    }
}

/* Whole frames and FSYNCs at a frame start; returns the bytes taken. */
static size_t take_whole(struct tw_unframer *unframer, const uint8_t *data, size_t size,
                         uint64_t capture)
{
    size_t from = 0, at = 0;

    for (;;) {
        while (size - at >= FRAME_SIZE && !has_even_ff(data + at) &&
               !has_even_ff(data + at + 8))
            at += FRAME_SIZE;
        tw_unframer_frames(unframer, data + from, (at - from) / FRAME_SIZE, capture + from);
        if (size - at < 4 || tw_load_le32(data + at) != FSYNC)
            break;
        take_sync(unframer, TW_FRAME_FSYNC, capture + at, 4);
        at += 4;
        from = at;
    }
    if (at >= 4)
        for (size_t i = at - 4; i < at; i++)
            slide_window(unframer, data[i], capture + i);
    return at;
}

void tw_unframer_tpiu_feed(struct tw_unframer *unframer, const uint8_t *data, size_t size,
                           uint64_t capture)
{
    for (size_t at = 0; at < size && unframer->status == TW_OK;) {
        if (unframer->is_synced && unframer->fill == 0 && unframer->buffered == 0) {
            const size_t taken = take_whole(unframer, data + at, size - at, capture + at);

            at += taken;
            if (at == size)
                break;
        }
        take_byte(unframer, data[at], capture + at);
        at++;
    }
}

void tw_unframer_tpiu_finish(struct tw_unframer *unframer)
{
    const unsigned left = unframer->fill + unframer->buffered;

    if (!unframer->is_synced) {
        report_search(unframer, unframer->search_bytes);
    } else if (left) {
        tw_unframer_event(unframer, TW_FRAME_INCOMPLETE, unframer->frame_at[0], left, 0);
        unframer->stats.skipped_bytes += left;
    }
}

/* ---- DSTREAM: blocks of 504 bytes of a TPIU stream and 8 of footer ---- */

static void take_block(struct tw_unframer *unframer, const uint8_t *block, uint64_t capture)
{
    enum { FULL = DSTREAM_DATA / 4 };
    const uint8_t words = block[DSTREAM_DATA + 4];
    const size_t size = words < FULL ? words * 4u : DSTREAM_DATA;

    tw_unframer_tpiu_feed(unframer, block, size, capture);
    unframer->stats.footer_bytes += DSTREAM_BLOCK - size;
    if (words > FULL)
        tw_unframer_event(unframer, TW_FRAME_BAD_BLOCK, capture + DSTREAM_DATA + 4, 1, words);
}

void tw_unframer_dstream_feed(struct tw_unframer *unframer, const uint8_t *data, size_t size)
{
    uint64_t capture = unframer->capture - unframer->block_fill;

    while (size && unframer->status == TW_OK) {
        size_t part = DSTREAM_BLOCK - unframer->block_fill;

        if (part > size)
            part = size;
        if (part == DSTREAM_BLOCK) {
            take_block(unframer, data, capture);
            capture += DSTREAM_BLOCK;
        } else {
            memcpy(unframer->block + unframer->block_fill, data, part);
            unframer->block_fill += (unsigned)part;
            if (unframer->block_fill == DSTREAM_BLOCK) {
                unframer->block_fill = 0;
                take_block(unframer, unframer->block, capture);
                capture += DSTREAM_BLOCK;
            }
        }
        data += part;
        size -= part;
    }
}

void tw_unframer_dstream_finish(struct tw_unframer *unframer)
{
    /* The footer that would count them is missing: all bytes are taken for data. */
    const unsigned fill = unframer->block_fill;
    const unsigned data = fill < DSTREAM_DATA ? fill : DSTREAM_DATA;

    tw_unframer_tpiu_feed(unframer, unframer->block, data, unframer->capture - fill);
    unframer->stats.footer_bytes += fill - data;
    unframer->block_fill = 0;
    if (unframer->status == TW_OK)
        tw_unframer_tpiu_finish(unframer);
}
