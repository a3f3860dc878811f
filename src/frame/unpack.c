/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacks 16-byte frames: a fast way for frames that lie together, whose cost is per frame and per
   ID byte rather than per byte, and a general way for all others. */
#include <string.h>

#include "base/bytes.h"
#include "frame/unframer.h"

/* Bit 0 of each even byte of half a frame. */
#define ID_BITS      UINT64_C(0x0001000100010001)
#define EVEN_BYTES   UINT64_C(0x00ff00ff00ff00ff)
#define BARRIER_HALF ((uint64_t)FSYNC << 32 | FSYNC)

/* A stretch of data bytes of one ID inside a frame. */
struct cut {
    uint8_t at, size, id;
    bool is_known; /* that they are of this ID */
};

/* Most cuts of a frame: seven delayed changes leave the byte after the ID and nothing else. */
enum { CUTS_MAX = 16 };

/* Where the fast way stands.  The stream's size is brought up to date by leave(). */
struct cursor {
    struct tw_frame_stream *stream;
    uint8_t *out;
    uint8_t id, kind;
    bool has_gap;
};

/* Auxiliary bits 0 to 3 to bit 0 of bytes 0, 2, 4, 6. */
TW_INLINE uint64_t spread(uint64_t bits)
{
    return (bits * UINT64_C(0x0000200040008001)) & ID_BITS;
}

/* The reverse. */
TW_INLINE unsigned gather(uint64_t half)
{
    return (unsigned)(((half & ID_BITS) * UINT64_C(0x0001000200040008)) >> 48) & 15;
}

TW_INLINE bool names_id_7f(uint64_t half)
{
    return (((half & EVEN_BYTES) + ID_BITS) & (ID_BITS << 8)) != 0;
}

TW_INLINE void store(uint8_t *out, uint64_t low, uint64_t high)
{
    for (unsigned i = 0; i < 8; i++)
        out[i] = (uint8_t)(low >> (8 * i));
    for (unsigned i = 0; i < 8; i++)
        out[8 + i] = (uint8_t)(high >> (8 * i));
}

/* Number of the lowest set bit of a non-zero byte. */
TW_INLINE unsigned lowest(unsigned bits)
{
    static const uint8_t number[8] = { 0, 1, 2, 4, 7, 3, 6, 5 };

    return number[((bits & (0u - bits)) * 0x17 & 0xff) >> 5];
}

/* Cuts a frame at its ID bytes (a bit each in `ids`).  `*id` is the current ID before and after;
   `is_known` says whether to trust it. */
TW_INLINE unsigned cut_frame(struct cut cuts[CUTS_MAX], uint8_t *id, const uint8_t *frame,
                             unsigned ids, bool is_known)
{
    const unsigned delayed = frame[FRAME_AUX];
    unsigned count = 0, at = 0;

    for (; ids; ids &= ids - 1) {
        const unsigned slot = lowest(ids);
        const uint8_t next = frame[2 * slot] >> 1;

        if (2 * slot > at)
            cuts[count++] =
                (struct cut){ (uint8_t)at, (uint8_t)(2 * slot - at), *id, is_known };
        at = 2 * slot + 1;
        /* The same ID again changes nothing; in the last slot there is no byte to delay for. */
        if (delayed >> slot & 1 && (next != *id || !is_known) && slot < 7) {
            cuts[count++] = (struct cut){ (uint8_t)at, 1, *id, is_known };
            at++;
        }
        *id = next;
        is_known = true;
    }
    if (at < FRAME_AUX)
        cuts[count++] = (struct cut){ (uint8_t)at, (uint8_t)(FRAME_AUX - at), *id, is_known };
    return count;
}

/* Events for bytes of the marker and reserved IDs. */
static void report(struct tw_unframer *unframer, uint8_t id, uint64_t capture,
                   const uint8_t *bytes, size_t size)
{
    if (id == TW_ID_TRIGGER || id == TW_ID_FLUSH) {
        for (size_t i = 0; i < size; i++)
            tw_unframer_event(unframer, id == TW_ID_TRIGGER ? TW_FRAME_TRIGGER : TW_FRAME_FLUSH,
                              capture + i, 1, bytes[i]);
        return;
    }
    if (!unframer->is_reported)
        tw_unframer_event(unframer, TW_FRAME_RESERVED, capture, 1, id);
    unframer->is_reported = true;
}

/* ---- the general way ---- */

/* Bytes of one ID that lie together; with `place`, they do not follow on the ID's last ones. */
static void take_run(struct tw_unframer *unframer, uint8_t id, uint64_t capture,
                     const struct tw_place *place, const uint8_t *bytes, size_t size)
{
    struct tw_frame_stream *stream = &unframer->streams[id];
    uint64_t *counted = &unframer->stats.bytes_by_id[id];

    if (!unframer->is_muted) {
        if (stream->kind == STREAM_REPORT)
            report(unframer, id, capture, bytes, size);
        if (stream->is_wanted)
            tw_frame_stream_append(unframer, stream, place, bytes, size);
    }
    if (unframer->config.on_run)
        unframer->config.on_run(unframer->config.on_run_context, id, capture, *counted, bytes,
                                size);
    *counted += size;
}

/* Gives out a cut, in as many parts as it has in the capture. */
static void take_cut(struct tw_unframer *unframer, const struct cut *cut, const uint8_t *frame,
                     const uint64_t *offsets)
{
    unsigned at = cut->at;
    const unsigned end = at + cut->size;
    bool has_gap = at ? true : unframer->has_gap;

    while (at < end) {
        const bool is_regular = offsets[FRAME_AUX] - offsets[at] == FRAME_AUX - at;
        const struct tw_place place = { .capture = offsets[at],
                                        .first = is_regular ? FRAME_AUX - at : 0 };
        unsigned next = at + 1;

        while (next < end && offsets[next] == offsets[next - 1] + 1)
            next++;
        take_run(unframer, cut->id, offsets[at], has_gap ? &place : NULL, frame + at,
                 next - at);
        has_gap = true;
        at = next;
    }
}

/* A frame that names ID 7F is unpacked for on_run, but decoders get nothing of it, and nothing
   after it until an ID byte says whose bytes follow. */
static void walk(struct tw_unframer *unframer, const uint8_t *in, const uint64_t *offsets,
                 bool is_damaged)
{
    const uint64_t low = tw_load_le64(in), high = tw_load_le64(in + 8);
    const unsigned ids = gather(low) | gather(high) << 4;
    uint8_t frame[FRAME_SIZE];
    struct cut cuts[CUTS_MAX];
    uint8_t id = unframer->id;
    unsigned count;

    store(frame, low | spread(high >> 56 & 15), high | spread(high >> 60));
    count = cut_frame(cuts, &id, frame, ids, !unframer->is_muted);
    if (offsets[0] != unframer->frame_end)
        unframer->has_gap = true;
    for (unsigned i = 0; i < count && unframer->status == TW_OK; i++) {
        unframer->is_muted = is_damaged || !cuts[i].is_known;
        if (cuts[i].id != unframer->id)
            unframer->is_reported = false;
        unframer->id = cuts[i].id;
        take_cut(unframer, &cuts[i], frame, offsets);
    }
    if (id != unframer->id)
        unframer->is_reported = false;
    unframer->id = id;
    unframer->is_muted = is_damaged || (unframer->is_muted && !ids);
    unframer->has_gap = ids >> 7 || offsets[FRAME_AUX] - offsets[0] != FRAME_AUX;
    unframer->frame_end = offsets[FRAME_AUX] + 1;
    unframer->stats.frames++;
}

static void walk_at(struct tw_unframer *unframer, const uint8_t *frame, uint64_t capture,
                    bool is_damaged)
{
    uint64_t offsets[FRAME_SIZE];

    for (unsigned i = 0; i < FRAME_SIZE; i++)
        offsets[i] = capture + i;
    walk(unframer, frame, offsets, is_damaged);
}

static void take_barrier(struct tw_unframer *unframer, uint64_t capture)
{
    if (unframer->barrier_end != capture || capture == 0) {
        tw_unframer_event(unframer, TW_FRAME_BARRIER, capture, FRAME_SIZE, 0);
        tw_unframer_discontinue(unframer, capture);
    } else {
        tw_unframer_event_extend(unframer, TW_FRAME_BARRIER, capture, FRAME_SIZE);
    }
    unframer->barrier_end = capture + FRAME_SIZE;
    unframer->id = tw_unframer_first_id(unframer);
    unframer->is_muted = unframer->is_reported = false;
    unframer->has_gap = true;
    unframer->frame_end = capture + FRAME_SIZE;
    unframer->stats.sync_bytes += FRAME_SIZE;
}

static void take_damaged(struct tw_unframer *unframer, const uint8_t *frame, uint64_t capture)
{
    if (unframer->damage_end != capture || capture == 0)
        tw_unframer_event(unframer, TW_FRAME_LOST, capture, FRAME_SIZE, 0x7f);
    else
        tw_unframer_event_extend(unframer, TW_FRAME_LOST, capture, FRAME_SIZE);
    unframer->damage_end = capture + FRAME_SIZE;
    tw_unframer_discontinue(unframer, capture);
    unframer->is_muted = true;
    walk_at(unframer, frame, capture, true);
    unframer->is_reported = false;
}

/* ---- the fast way ---- */

TW_INLINE bool enter(struct tw_unframer *unframer, struct cursor *cursor, uint8_t id,
                     size_t room)
{
    struct tw_frame_stream *stream = &unframer->streams[id];

    cursor->stream = stream;
    cursor->id = id;
    cursor->kind = stream->kind;
    if (cursor->kind != STREAM_KEEP)
        return true;
    if (TW_UNLIKELY(!tw_frame_stream_reserve(unframer, stream, room))) {
        cursor->kind = STREAM_DROP; /* so that leave() counts nothing */
        return false;
    }
    cursor->out = stream->bytes + stream->size;
    return true;
}

TW_INLINE void leave(struct tw_unframer *unframer, struct cursor *cursor)
{
    struct tw_frame_stream *stream = cursor->stream;
    size_t size;

    if (cursor->kind != STREAM_KEEP)
        return;
    size = (size_t)(cursor->out - stream->bytes) - stream->size;
    stream->size += size;
    unframer->stats.bytes_by_id[cursor->id] += size;
}

/* `room` is as much as may still come. */
TW_INLINE bool change(struct tw_unframer *unframer, struct cursor *cursor, uint8_t id,
                      size_t room)
{
    leave(unframer, cursor);
    unframer->is_reported = false;
    return enter(unframer, cursor, id, room);
}

/* Bytes of an ID that is not simply stored. */
static TW_NOINLINE bool take_other(struct tw_unframer *unframer, const struct cursor *cursor,
                                   const struct cut *cut, uint64_t capture,
                                   const uint8_t *frame)
{
    const struct tw_place place = { .capture = capture + cut->at,
                                    .first = (uint32_t)(FRAME_AUX - cut->at) };

    unframer->stats.bytes_by_id[cursor->id] += cut->size;
    if (cursor->kind == STREAM_DROP)
        return true;
    report(unframer, cursor->id, place.capture, frame + cut->at, cut->size);
    if (cursor->stream->is_wanted)
        tw_frame_stream_append(unframer, cursor->stream,
                               cut->at || cursor->has_gap ? &place : NULL, frame + cut->at,
                               cut->size);
    return unframer->status == TW_OK;
}

/* Frames without ID bytes, all to a stream that is kept; there is one at least. */
TW_INLINE const uint8_t *copy_frames(struct cursor *cursor, const uint8_t *in,
                                     const uint8_t *end)
{
    uint8_t *out = cursor->out;

    do {
        const uint64_t low = tw_load_le64(in), high = tw_load_le64(in + 8);

        if ((low | high) & ID_BITS)
            break;
        store(out, low | spread(high >> 56 & 15), high | spread(high >> 60));
        out += FRAME_AUX;
        in += FRAME_SIZE;
    } while (in != end);
    cursor->out = out;
    return in;
}

static const uint8_t *count_frames(struct tw_unframer *unframer, const struct cursor *cursor,
                                   const uint8_t *in, const uint8_t *end)
{
    const uint8_t *const start = in;

    do {
        if ((tw_load_le64(in) | tw_load_le64(in + 8)) & ID_BITS)
            break;
        in += FRAME_SIZE;
    } while (in != end);
    unframer->stats.bytes_by_id[cursor->id] += (uint64_t)(in - start) / FRAME_SIZE * FRAME_AUX;
    return in;
}

/* A frame with ID bytes anywhere; none of them 7F. */
static TW_NOINLINE bool split_frame(struct tw_unframer *unframer, struct cursor *cursor,
                                    const uint8_t *in, uint64_t capture, size_t room)
{
    const uint64_t low = tw_load_le64(in), high = tw_load_le64(in + 8);
    const unsigned ids = gather(low) | gather(high) << 4;
    uint8_t frame[2 * FRAME_SIZE]; /* stores of 16 bytes may begin at any byte of the frame */
    struct cut cuts[CUTS_MAX];
    uint8_t id = cursor->id;
    unsigned count;

    store(frame, low | spread(high >> 56 & 15), high | spread(high >> 60));
    store(frame + FRAME_SIZE, 0, 0);
    count = cut_frame(cuts, &id, frame, ids, true);
    for (unsigned i = 0; i < count; i++) {
        const struct cut *cut = &cuts[i];

        if (cut->id != cursor->id && !change(unframer, cursor, cut->id, room))
            return false;
        if (cursor->kind != STREAM_KEEP) {
            if (!take_other(unframer, cursor, cut, capture, frame))
                return false;
            continue;
        }
        if ((cut->at || cursor->has_gap) &&
            !tw_frame_stream_place(unframer, cursor->stream, cursor->out, capture + cut->at,
                                   FRAME_AUX - cut->at))
            return false;
        memcpy(cursor->out, frame + cut->at, FRAME_SIZE);
        cursor->out += cut->size;
    }
    cursor->has_gap = ids >> 7;
    return id == cursor->id || change(unframer, cursor, id, room);
}

/* A frame whose only ID byte is the first; false if it is another kind, or memory is out. */
TW_INLINE bool open_frame(struct tw_unframer *unframer, struct cursor *cursor,
                          const uint8_t *in, uint64_t capture, size_t room)
{
    const uint64_t low = tw_load_le64(in), high = tw_load_le64(in + 8);
    const uint8_t id = (uint8_t)low >> 1;

    if ((low & ID_BITS) != 1 || high & ID_BITS || id >= 0x70)
        return false;
    if (id != cursor->id) {
        if (high >> 56 & 1 || !change(unframer, cursor, id, room))
            return false;
    }
    if (cursor->kind == STREAM_KEEP) {
        const uint64_t top = high | spread(high >> 60);

        if (!tw_frame_stream_place(unframer, cursor->stream, cursor->out, capture + 1,
                                   FRAME_AUX - 1))
            return false;
        store(cursor->out, (low | spread(high >> 56 & 15)) >> 8 | top << 56, top >> 8);
        cursor->out += FRAME_AUX - 1;
    } else {
        unframer->stats.bytes_by_id[id] += FRAME_AUX - 1;
    }
    cursor->has_gap = false;
    return true;
}

/* Frames without ID bytes to the current stream, whatever its kind; NULL: memory is out. */
TW_INLINE const uint8_t *pass_frames(struct tw_unframer *unframer, struct cursor *cursor,
                                     const uint8_t *in, const uint8_t *end, uint64_t capture)
{
    if (cursor->kind == STREAM_KEEP) {
        if (cursor->has_gap &&
            !tw_frame_stream_place(unframer, cursor->stream, cursor->out, capture, FRAME_AUX))
            return NULL;
        in = copy_frames(cursor, in, end);
    } else if (cursor->kind == STREAM_DROP) {
        in = count_frames(unframer, cursor, in, end);
    } else {
        if (!split_frame(unframer, cursor, in, capture, (size_t)(end - in)))
            return NULL;
        in += FRAME_SIZE;
    }
    cursor->has_gap = false;
    return in;
}

/* Returns the number of frames done: all, or those before one that names ID 7F, or before memory
   ran out. */
static size_t unpack(struct tw_unframer *unframer, const uint8_t *frames, size_t count,
                     uint64_t capture)
{
    const uint8_t *in = frames, *const end = frames + count * FRAME_SIZE;
    struct cursor cursor = { .has_gap = unframer->has_gap || unframer->frame_end != capture };

    if (!enter(unframer, &cursor, unframer->id, (size_t)(end - in)))
        return 0;
    while (in != end) {
        const uint64_t low = tw_load_le64(in), high = tw_load_le64(in + 8);
        const uint64_t at = capture + (uint64_t)(in - frames);

        if (((low | high) & ID_BITS) == 0) {
            const uint8_t *next = pass_frames(unframer, &cursor, in, end, at);

            if (!next)
                break;
            in = next;
            continue;
        }
        if (!open_frame(unframer, &cursor, in, at, (size_t)(end - in))) {
            if (unframer->status != TW_OK || names_id_7f(low) || names_id_7f(high))
                break;
            if (!split_frame(unframer, &cursor, in, at, (size_t)(end - in)))
                break;
        }
        in += FRAME_SIZE;
    }
    leave(unframer, &cursor);
    unframer->id = cursor.id;
    unframer->has_gap = cursor.has_gap;
    count = (size_t)(in - frames) / FRAME_SIZE;
    unframer->frame_end = capture + count * FRAME_SIZE;
    unframer->stats.frames += count;
    return count;
}

/* ---- both ---- */

/* The first frame of several, by the general way if it needs that. */
static bool take_special(struct tw_unframer *unframer, const uint8_t *frame, uint64_t capture)
{
    const uint64_t low = tw_load_le64(frame), high = tw_load_le64(frame + 8);

    if (names_id_7f(low) || names_id_7f(high)) {
        if (low == BARRIER_HALF && high == BARRIER_HALF && !unframer->config.no_barrier)
            take_barrier(unframer, capture);
        else
            take_damaged(unframer, frame, capture);
        return true;
    }
    if (!unframer->config.on_run && !unframer->is_muted)
        return false;
    walk_at(unframer, frame, capture, false);
    return true;
}

void tw_unframer_frames(struct tw_unframer *unframer, const uint8_t *frames, size_t count,
                        uint64_t capture)
{
    while (count && unframer->status == TW_OK) {
        size_t done = 1;

        if (!take_special(unframer, frames, capture))
            done = unpack(unframer, frames, count < FRAME_BATCH ? count : FRAME_BATCH, capture);
        frames += done * FRAME_SIZE;
        capture += done * FRAME_SIZE;
        count -= done;
    }
}

void tw_unframer_scattered(struct tw_unframer *unframer, const uint8_t *frame,
                           const uint64_t *offsets)
{
    walk(unframer, frame, offsets, false);
}
