/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacks 16-byte frames: a fast way for frames that lie together, whose cost is per frame and per
   ID byte rather than per byte, and a general way for all others. */
#include <string.h>

#include "frame/halves.h"

#define BARRIER_HALF ((uint64_t)FSYNC << 32 | FSYNC)

/* What a batch may give to one ID, and a little more. */
static const size_t BATCH_BYTES = (size_t)FRAME_BATCH * FRAME_SIZE;

/* Where the fast way stands.  What was written since `begin` is made known by leave(). */
struct cursor {
    struct tw_frame_stream *stream;
    uint8_t *begin, *out;
    uint8_t id, kind;
    bool has_gap;
};

/* For each auxiliary byte: its bits as bit 0 of the even bytes of a frame. */
/* clang-format off */
#define ROW_1(n)  { (n) & 1, 0, (n) >> 1 & 1, 0, (n) >> 2 & 1, 0, (n) >> 3 & 1, 0,               \
                    (n) >> 4 & 1, 0, (n) >> 5 & 1, 0, (n) >> 6 & 1, 0, (n) >> 7 & 1, 0 }
#define ROW_4(n)  ROW_1(n), ROW_1((n) + 1), ROW_1((n) + 2), ROW_1((n) + 3)
#define ROW_16(n) ROW_4(n), ROW_4((n) + 4), ROW_4((n) + 8), ROW_4((n) + 12)
#define ROW_64(n) ROW_16(n), ROW_16((n) + 16), ROW_16((n) + 32), ROW_16((n) + 48)
static const _Alignas(FRAME_SIZE) uint8_t auxiliary[256][FRAME_SIZE] = {
    ROW_64(0), ROW_64(64), ROW_64(128), ROW_64(192)
};
/* clang-format on */

/* Puts the auxiliary bits where they belong. */
TW_INLINE struct tw_halves complete(struct tw_halves frame)
{
    const struct tw_halves bits = tw_halves_load(auxiliary[frame.high >> 56]);

    return (struct tw_halves){ frame.low | bits.low, frame.high | bits.high };
}

/* The same, written out without the first byte. */
TW_INLINE void store_rest(uint8_t *out, const uint8_t *frame)
{
    const uint8_t *bits = auxiliary[frame[FRAME_AUX]];

    tw_store_le64(out, tw_load_le64(frame + 1) | tw_load_le64(bits + 1));
    tw_store_le64(out + 7, tw_load_le64(frame + 8) | tw_load_le64(bits + 8));
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
static void take_cut(struct tw_unframer *unframer, const struct tw_cut *cut,
                     const uint8_t *frame, const uint64_t *offsets)
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
    const unsigned ids = tw_slots_of(tw_halves_ids(tw_halves_load(in)));
    uint8_t frame[FRAME_SIZE];
    struct tw_cut cuts[TW_FRAME_CUTS];
    uint8_t id = unframer->id;
    unsigned count;

    tw_halves_store(frame, complete(tw_halves_load(in)));
    count = tw_cut_frame(cuts, &id, frame, ids, !unframer->is_muted);
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

TW_INLINE bool enter(struct tw_unframer *unframer, struct cursor *cursor, uint8_t id)
{
    struct tw_frame_stream *stream = unframer->by_id[id];

    cursor->stream = stream;
    cursor->id = id;
    cursor->kind = stream->kind;
    if (cursor->kind != STREAM_KEEP)
        return true;
    if (TW_UNLIKELY(!tw_frame_stream_reserve(unframer, stream, BATCH_BYTES))) {
        cursor->kind = STREAM_DROP; /* so that leave() counts nothing */
        return false;
    }
    cursor->begin = cursor->out = stream->bytes + stream->size;
    return true;
}

TW_INLINE void leave(struct tw_unframer *unframer, struct cursor *cursor)
{
    size_t size;

    if (cursor->kind != STREAM_KEEP)
        return;
    size = (size_t)(cursor->out - cursor->begin);
    cursor->stream->size += size;
    unframer->stats.bytes_by_id[cursor->id] += size;
}

TW_INLINE bool change(struct tw_unframer *unframer, struct cursor *cursor, uint8_t id)
{
    leave(unframer, cursor);
    unframer->is_reported = false;
    return enter(unframer, cursor, id);
}

/* Bytes of a marker or reserved ID. */
static TW_NOINLINE bool give_reported(struct tw_unframer *unframer, uint8_t id,
                                      const struct tw_place *place, struct tw_halves bytes,
                                      size_t size)
{
    struct tw_frame_stream *stream = &unframer->streams[id];
    uint8_t copy[FRAME_SIZE];

    tw_halves_store(copy, bytes);
    unframer->stats.bytes_by_id[id] += size;
    report(unframer, id, place->capture, copy, size);
    /* is_discontinuity: there is a gap before these bytes. */
    if (stream->is_wanted)
        tw_frame_stream_append(unframer, stream, place->is_discontinuity ? place : NULL, copy,
                               size);
    return unframer->status == TW_OK;
}

/* Gives `size` bytes of a frame, from byte `at` on, to the current ID. */
TW_INLINE bool give(struct tw_unframer *unframer, struct cursor *cursor, struct tw_halves frame,
                    unsigned at, unsigned size, uint64_t capture)
{
    const bool has_gap = at || cursor->has_gap;

    if (TW_LIKELY(cursor->kind == STREAM_KEEP)) {
        if (has_gap && !tw_frame_stream_place(unframer, cursor->stream, cursor->out,
                                              capture + at, FRAME_AUX - at))
            return false;
        tw_halves_store(cursor->out, tw_halves_skip(frame, at));
        cursor->out += size;
    } else if (cursor->kind == STREAM_DROP) {
        unframer->stats.bytes_by_id[cursor->id] += size;
    } else {
        const struct tw_place place = { .capture = capture + at,
                                        .first = FRAME_AUX - at,
                                        .is_discontinuity = has_gap };

        return give_reported(unframer, cursor->id, &place, tw_halves_skip(frame, at), size);
    }
    return true;
}

/* A frame with one ID byte, which names another ID: what comes before it, and after it. */
TW_INLINE bool split_once(struct tw_unframer *unframer, struct cursor *cursor,
                          const uint8_t *in, unsigned slot, uint64_t capture)
{
    const struct tw_halves data = complete(tw_halves_load(in));
    unsigned at = 2 * slot;
    const uint8_t next = in[at] >> 1;

    if (at && !give(unframer, cursor, data, 0, at, capture))
        return false;
    at++;
    if (in[FRAME_AUX] >> slot & 1 && slot < 7) { /* one byte later */
        if (!give(unframer, cursor, data, at, 1, capture))
            return false;
        at++;
    }
    if (!change(unframer, cursor, next))
        return false;
    cursor->has_gap = slot == 7;
    return slot == 7 || give(unframer, cursor, data, at, FRAME_AUX - at, capture);
}

/* A frame with any number of ID bytes; none of them 7F. */
static TW_NOINLINE bool split_frame(struct tw_unframer *unframer, struct cursor *cursor,
                                    const uint8_t *in, uint64_t capture)
{
    const struct tw_halves data = complete(tw_halves_load(in));
    const unsigned ids = tw_slots_of(tw_halves_ids(tw_halves_load(in)));
    struct tw_cut cuts[TW_FRAME_CUTS];
    uint8_t id = cursor->id;
    unsigned count;

    count = tw_cut_frame(cuts, &id, in, ids, true);
    for (unsigned i = 0; i < count; i++) {
        if (cuts[i].id != cursor->id && !change(unframer, cursor, cuts[i].id))
            return false;
        if (!give(unframer, cursor, data, cuts[i].at, cuts[i].size, capture))
            return false;
    }
    cursor->has_gap = ids >> 7;
    return id == cursor->id || change(unframer, cursor, id);
}

/* A copy is given away, so that compilers keep the cursor itself in registers. */
TW_INLINE bool split_apart(struct tw_unframer *unframer, struct cursor *cursor,
                           const uint8_t *in, uint64_t capture)
{
    struct cursor copy = *cursor;
    const bool is_done = split_frame(unframer, &copy, in, capture);

    *cursor = copy;
    return is_done;
}

/* A frame whose one ID byte names the ID that is kept already. */
TW_INLINE bool give_renamed(struct tw_unframer *unframer, struct cursor *cursor,
                            struct tw_halves frame, unsigned slot, uint64_t capture)
{
    const unsigned at = 2 * slot;
    const bool is_last = slot == 7;

    if (slot && cursor->has_gap &&
        !tw_frame_stream_place(unframer, cursor->stream, cursor->out, capture, FRAME_AUX))
        return false;
    if (!is_last && !tw_frame_stream_place(unframer, cursor->stream, cursor->out + at,
                                           capture + at + 1, FRAME_AUX - at - 1))
        return false;
    tw_halves_store(cursor->out, tw_halves_squeeze(complete(frame), slot));
    cursor->out += FRAME_AUX - 1;
    cursor->has_gap = is_last;
    return true;
}

/* Frames without ID bytes to the current ID, which is kept or dropped; there is one at least. */
TW_INLINE const uint8_t *pass_frames(struct tw_unframer *unframer, struct cursor *cursor,
                                     const uint8_t *in, const uint8_t *end, uint64_t capture)
{
    const uint8_t *const start = in;
    uint8_t *out = cursor->out;

    if (cursor->kind != STREAM_KEEP) {
        do
            in += FRAME_SIZE;
        while (in != end && tw_halves_are_data(tw_halves_load(in)));
        unframer->stats.bytes_by_id[cursor->id] +=
            (uint64_t)(in - start) / FRAME_SIZE * FRAME_AUX;
        return in;
    }
    if (cursor->has_gap) {
        if (!tw_frame_stream_place(unframer, cursor->stream, out, capture, FRAME_AUX))
            return NULL;
        cursor->has_gap = false;
    }
    do {
        const struct tw_halves frame = tw_halves_load(in);

        if (!tw_halves_are_data(frame))
            break;
        tw_halves_store(out, complete(frame));
        out += FRAME_AUX;
        in += FRAME_SIZE;
    } while (in != end);
    cursor->out = out;
    return in;
}

/* One frame with ID bytes, or of an ID that is reported.  False: it names 7F, or memory is out. */
TW_INLINE bool take_frame(struct tw_unframer *unframer, struct cursor *cursor,
                          const uint8_t *in, uint64_t capture)
{
    const struct tw_halves frame = tw_halves_load(in);
    const uint64_t ids = tw_halves_ids(frame);
    const uint8_t first = (uint8_t)frame.low >> 1;

    /* The common kinds: one ID byte, which changes the ID for the whole frame, or repeats it. */
    if (ids == 1 && first != cursor->id && !(frame.high >> 56 & 1) && first != 0x7f) {
        if (!change(unframer, cursor, first))
            return false;
        cursor->has_gap = false;
        if (cursor->kind != STREAM_KEEP)
            return give(unframer, cursor, complete(frame), 1, FRAME_AUX - 1, capture);
        if (!tw_frame_stream_place(unframer, cursor->stream, cursor->out, capture + 1,
                                   FRAME_AUX - 1))
            return false;
        store_rest(cursor->out, in);
        cursor->out += FRAME_AUX - 1;
        return true;
    }
    if (ids && (ids & (ids - 1)) == 0 && cursor->kind == STREAM_KEEP) {
        const unsigned slot = tw_slot_of(ids);
        const uint8_t next = in[(size_t)2 * slot] >> 1;

        if (next == cursor->id)
            return give_renamed(unframer, cursor, frame, slot, capture);
        if (next != 0x7f)
            return split_once(unframer, cursor, in, slot, capture);
    }
    return !tw_halves_name_7f(frame) && split_apart(unframer, cursor, in, capture);
}

/* Returns the number of frames done: all, or those before one that names ID 7F, or before memory
   ran out. */
static size_t unpack(struct tw_unframer *unframer, const uint8_t *frames, size_t count,
                     uint64_t capture)
{
    const uint8_t *in = frames, *const end = frames + count * FRAME_SIZE;
    struct cursor cursor = { .has_gap = unframer->has_gap || unframer->frame_end != capture };

    if (!enter(unframer, &cursor, unframer->id))
        return 0;
    while (in != end) {
        const uint64_t at = capture + (uint64_t)(in - frames);

        if (cursor.kind != STREAM_REPORT && tw_halves_are_data(tw_halves_load(in))) {
            const uint8_t *next = pass_frames(unframer, &cursor, in, end, at);

            if (!next)
                break;
            in = next;
            continue;
        }
        if (!take_frame(unframer, &cursor, in, at))
            break;
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

/* ---- one frame alone ---- */

unsigned tw_frame_split(struct tw_frame_cut cuts[TW_FRAME_CUTS], uint8_t bytes[TW_FRAME_SIZE],
                        uint8_t *id, const uint8_t frame[TW_FRAME_SIZE])
{
    const struct tw_halves halves = tw_halves_load(frame);
    const unsigned ids = tw_slots_of(tw_halves_ids(halves));
    struct tw_cut found[TW_FRAME_CUTS];
    unsigned count;

    tw_halves_store(bytes, complete(halves));
    if (!ids) {
        cuts[0] = (struct tw_frame_cut){ 0, FRAME_AUX, *id };
        return 1;
    }
    count = tw_cut_frame(found, id, frame, ids, true);
    for (unsigned i = 0; i < count; i++)
        cuts[i] = (struct tw_frame_cut){ found[i].at, found[i].size, found[i].id };
    return count;
}

/* ---- both ---- */

/* The first frame of several, by the general way if it needs that. */
static bool take_special(struct tw_unframer *unframer, const uint8_t *frame, uint64_t capture)
{
    const struct tw_halves halves = tw_halves_load(frame);

    if (tw_halves_name_7f(halves)) {
        if (halves.low == BARRIER_HALF && halves.high == BARRIER_HALF &&
            !unframer->config.no_barrier)
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

        unframer->coming = count * FRAME_AUX;
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
