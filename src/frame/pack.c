/* SPDX-License-Identifier: BSD-2-Clause */
/* The framer: bytes of several sources into 16-byte frames, with as few ID bytes as can be. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

#include <trackway/frame.h>

enum {
    SIZE = 16,
    SLOTS = 8, /* pairs of bytes; the last one is an even byte and the auxiliary byte */
    REPEAT_DEFAULT = 8,
    FSYNC_DEFAULT = 64,
    SYNC_SIZE = 4,
    NULL_ID_BYTE = 0x01
};

static const uint8_t fsync[SYNC_SIZE] = { 0xff, 0xff, 0xff, 0x7f };
static const uint8_t hsync[2] = { 0xff, 0x7f };

/* A byte that waits for its slot. */
struct item {
    uint8_t id, byte;
};

struct tw_framer {
    struct tw_framer_config config;
    uint8_t *out;
    size_t out_size, out_room;
    uint64_t total; /* bytes ever written out, for the alignment of the end */

    uint8_t frame[SIZE];
    size_t slot;             /* the next one to fill */
    uint32_t hsyncs[SLOTS];  /* HSYNCs that go before each slot */
    uint32_t hsync_count;    /* ... in all */
    uint8_t id;              /* current */
    bool is_announced;       /* an ID byte named `id` for the item that is next */
    bool has_id;             /* the frame has an ID byte */
    uint32_t frames_without; /* complete frames since the last ID byte */
    uint32_t fsync_due;      /* frames until the next FSYNC */
    struct item queue[2];    /* at most one waits between calls */
    unsigned queued;
};

static bool has_syncs(const struct tw_framer *framer)
{
    return framer->config.framing != TW_FRAMING_MEMORY;
}

enum tw_status tw_framer_new(struct tw_framer **framer, const struct tw_framer_config *config,
                             struct tw_fault *fault)
{
    struct tw_framer_config copy;
    struct tw_framer *made;

    *framer = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_framer_config", fault));
    config = &copy;
    if (config->framing != TW_FRAMING_MEMORY && config->framing != TW_FRAMING_TPIU &&
        config->framing != TW_FRAMING_TPIU_HSYNC)
        return tw_fail(fault, TW_E_CONFIG, "frames are not packed for this framing");
    if (config->align % (config->framing == TW_FRAMING_MEMORY ? SIZE : SYNC_SIZE))
        return tw_fail(fault, TW_E_CONFIG, "frames do not end at multiples of %u bytes",
                       (unsigned)config->align);
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a framer");
    made->config = *config;
    if (!config->repeat_frames)
        made->config.repeat_frames = REPEAT_DEFAULT;
    if (!config->fsync_frames)
        made->config.fsync_frames = FSYNC_DEFAULT;
    made->id = TW_ID_UNKNOWN;
    *framer = made;
    return TW_OK;
}

void tw_framer_free(struct tw_framer *framer)
{
    const struct tw_allocator *allocator;

    if (!framer)
        return;
    allocator = framer->config.allocator;
    tw_give(allocator, framer->out);
    tw_give(allocator, framer);
}

/* Room for so many more frames, each with an FSYNC, for `extra` bytes, and for the HSYNCs that
   wait. */
static enum tw_status reserve(struct tw_framer *framer, size_t frames, size_t extra)
{
    const size_t fixed = framer->out_size + extra + (size_t)framer->hsync_count * sizeof hsync;

    if (frames > (SIZE_MAX - fixed) / (SIZE + SYNC_SIZE) ||
        !TW_GROW(framer->config.allocator, &framer->out, &framer->out_room,
                 fixed + frames * (SIZE + SYNC_SIZE)))
        return TW_E_MEMORY;
    return TW_OK;
}

/* The room was taken before. */
static void put(struct tw_framer *framer, const uint8_t *bytes, size_t size)
{
    memcpy(framer->out + framer->out_size, bytes, size);
    framer->out_size += size;
    framer->total += size;
}

static void put_hsyncs(struct tw_framer *framer, size_t slot)
{
    for (; framer->hsyncs[slot]; framer->hsyncs[slot]--, framer->hsync_count--)
        put(framer, hsync, sizeof hsync);
}

static void put_fsync(struct tw_framer *framer)
{
    put(framer, fsync, sizeof fsync);
    framer->fsync_due = framer->config.fsync_frames;
}

static void put_frame(struct tw_framer *framer)
{
    if (has_syncs(framer)) {
        if (framer->fsync_due == 0)
            put_fsync(framer);
        framer->fsync_due--;
    }
    if (framer->hsync_count) {
        for (size_t slot = 0; slot < SLOTS; slot++) {
            put_hsyncs(framer, slot);
            put(framer, framer->frame + 2 * slot, 2);
        }
    } else {
        put(framer, framer->frame, SIZE);
    }
    framer->frames_without = framer->has_id ? 0 : framer->frames_without + 1;
    framer->has_id = false;
    framer->slot = 0;
    memset(framer->frame, 0, SIZE);
}

static bool is_marker(uint8_t id)
{
    return id == TW_ID_TRIGGER || id == TW_ID_FLUSH;
}

static void drop_items(struct tw_framer *framer, unsigned count)
{
    framer->queued -= count;
    for (unsigned i = 0; i < framer->queued; i++)
        framer->queue[i] = framer->queue[i + count];
}

static void put_id(struct tw_framer *framer, uint8_t id)
{
    framer->frame[2 * framer->slot] = (uint8_t)(id << 1 | 1);
    framer->has_id = true;
    framer->id = id;
}

/* An ID byte for a later byte; the odd byte of the slot still belongs to the ID before. */
static void put_delayed(struct tw_framer *framer, uint8_t id)
{
    framer->frame[2 * framer->slot + 1] = framer->queue[0].byte;
    framer->frame[SIZE - 1] |= (uint8_t)(1u << framer->slot);
    put_id(framer, id);
    drop_items(framer, 1);
}

static void put_data(struct tw_framer *framer)
{
    const uint8_t byte = framer->queue[0].byte;

    framer->frame[2 * framer->slot] = byte & 0xfe;
    framer->frame[SIZE - 1] |= (uint8_t)((byte & 1u) << framer->slot);
    if (framer->slot < SLOTS - 1)
        framer->frame[2 * framer->slot + 1] = framer->queue[1].byte;
    drop_items(framer, framer->slot < SLOTS - 1 ? 2 : 1);
}

/* Fills one slot from the queue (with padding once `is_end`); false: it must wait for the byte
   after the next. */
static bool fill_slot(struct tw_framer *framer, bool is_end)
{
    const struct item *next = framer->queue, *after = framer->queue + 1;
    const bool is_last = framer->slot == SLOTS - 1;
    const bool is_repeat =
        framer->slot == 0 && framer->frames_without >= framer->config.repeat_frames;
    /* Each marker has an ID byte of its own. */
    const bool is_change = framer->queued && (next->id != framer->id ||
                                              (is_marker(next->id) && !framer->is_announced));

    if (framer->queued == 0) {
        if (framer->id != 0)
            put_id(framer, 0);
    } else if (is_change && is_last) {
        put_id(framer, next->id);
        framer->is_announced = true;
    } else if (is_change || is_repeat) {
        framer->frame[2 * framer->slot + 1] = next->byte;
        put_id(framer, next->id);
        drop_items(framer, 1);
        framer->is_announced = false;
    } else if (!is_last && framer->queued == 1) {
        if (!is_end)
            return false;
        put_delayed(framer, 0);
        framer->is_announced = false;
    } else if (!is_last && (after->id != next->id || is_marker(after->id))) {
        put_delayed(framer, after->id);
        framer->is_announced = true;
    } else {
        put_data(framer);
        framer->is_announced = false;
    }
    if (++framer->slot == SLOTS)
        put_frame(framer);
    return true;
}

static void push(struct tw_framer *framer, uint8_t id, uint8_t byte)
{
    framer->queue[framer->queued++] = (struct item){ id, byte };
    while (framer->queued && fill_slot(framer, false))
        continue;
}

/* Everything that waits goes out, and the frame is completed. */
static void drain(struct tw_framer *framer)
{
    while (framer->queued || framer->slot)
        (void)fill_slot(framer, true);
}

enum tw_status tw_framer_write(struct tw_framer *framer, uint8_t id, const uint8_t *bytes,
                               size_t size)
{
    if (id == 0 || id >= 0x70)
        return TW_E_ARGUMENT;
    /* All of one ID: at most one byte of a frame names it again. */
    TW_TRY(reserve(framer, size / (SIZE - 2) + 3, 0));
    for (size_t i = 0; i < size; i++)
        push(framer, id, bytes[i]);
    return TW_OK;
}

enum tw_status tw_framer_mark(struct tw_framer *framer, uint8_t marker, uint8_t value)
{
    if (!is_marker(marker))
        return TW_E_ARGUMENT;
    TW_TRY(reserve(framer, 3, 0));
    push(framer, marker, value);
    return TW_OK;
}

enum tw_status tw_framer_barrier(struct tw_framer *framer)
{
    if (has_syncs(framer))
        return TW_E_ARGUMENT;
    TW_TRY(reserve(framer, 4, 0));
    drain(framer);
    for (unsigned i = 0; i < SIZE / SYNC_SIZE; i++)
        put(framer, fsync, sizeof fsync);
    framer->id = TW_ID_UNKNOWN;
    framer->is_announced = false;
    framer->frames_without = 0;
    return TW_OK;
}

enum tw_status tw_framer_idle(struct tw_framer *framer)
{
    if (framer->config.framing != TW_FRAMING_TPIU_HSYNC)
        return TW_E_ARGUMENT;
    if (framer->hsync_count == UINT32_MAX)
        return TW_E_MEMORY;
    framer->hsyncs[framer->slot]++;
    framer->hsync_count++;
    return TW_OK;
}

/* Null frames after memory frames; sync packets after those of a port. */
static void pad(struct tw_framer *framer, uint64_t end)
{
    if (!has_syncs(framer)) {
        while (framer->total < end)
            do
                (void)fill_slot(framer, true);
            while (framer->slot);
        return;
    }
    if ((end - framer->total) % SYNC_SIZE)
        put(framer, hsync, sizeof hsync);
    while (framer->total < end)
        put(framer, fsync, sizeof fsync);
}

enum tw_status tw_framer_finish(struct tw_framer *framer)
{
    const uint32_t align =
        framer->config.align || has_syncs(framer) ? framer->config.align : SIZE;
    uint64_t end;

    TW_TRY(reserve(framer, 4, align));
    drain(framer);
    /* An HSYNC means something only after an FSYNC. */
    if (framer->hsyncs[0] && framer->total == 0)
        put_fsync(framer);
    put_hsyncs(framer, 0);
    if (!align || framer->total % align == 0)
        return TW_OK;
    end = framer->total - framer->total % align + align;
    pad(framer, end);
    return TW_OK;
}

const uint8_t *tw_framer_output(const struct tw_framer *framer, size_t *size)
{
    *size = framer->out_size;
    return framer->out;
}

void tw_framer_take(struct tw_framer *framer)
{
    framer->out_size = 0;
}
