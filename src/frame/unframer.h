/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the unframer: what is held per ID, and the state that its parts share. */
#ifndef FRAME_UNFRAMER_H
#define FRAME_UNFRAMER_H

#include <trackway/frame.h>

#include "base/compiler.h"

enum {
    FRAME_SIZE = 16,
    FRAME_AUX = 15,    /* position of the auxiliary byte */
    FRAME_TAIL = 64,   /* bytes after a stream's last one that may be read, and written to */
    FRAME_BATCH = 256, /* frames whose room is taken at once */
    DSTREAM_BLOCK = 512,
    DSTREAM_DATA = 504
};

#define FSYNC 0x7fffffffu /* FF FF FF 7F, read as a little-endian word */

/* What is done with the bytes of an ID. */
enum stream_kind {
    STREAM_DROP,  /* counted only */
    STREAM_KEEP,  /* counted and stored */
    STREAM_REPORT /* a marker or reserved ID: counted, listed as events, stored if wanted */
};

struct tw_frame_stream {
    uint8_t *bytes; /* held: bytes[head] up to bytes[size] */
    size_t head, size, room;
    uint64_t origin; /* stream offset of bytes[0] */
    /* Held: places[place_head] up to places[place_count]; there is always room for one more,
       where a pending discontinuity is shown. */
    struct tw_place *places;
    size_t place_head, place_count, place_room;
    struct tw_place pending;
    bool is_pending; /* a discontinuity whose bytes are still to come */
    bool is_wanted;
    uint8_t kind; /* enum stream_kind */
};

struct tw_unframer {
    struct tw_unframer_config config;
    enum tw_status status; /* a failure stays until reset */
    bool is_finished;

    uint64_t capture;     /* offset of the next byte fed */
    uint8_t id;           /* the current ID as a plain unpacking has it */
    bool is_muted;        /* after a damaged frame: decoders get nothing until an ID byte */
    bool has_gap;         /* the next byte of the current ID does not follow on the last one */
    bool is_reported;     /* this run of a reserved ID is in the events */
    uint64_t frame_end;   /* capture offset after the last frame */
    uint64_t barrier_end; /* ... after the last barrier; 0: none */
    uint64_t damage_end;  /* ... after the last damaged frame; 0: none */

    /* A frame that arrives in pieces, and up to four bytes that may turn out to be a sync. */
    uint8_t frame[FRAME_SIZE + 4];
    uint64_t frame_at[FRAME_SIZE + 4]; /* capture offset of each */
    unsigned fill;                     /* bytes of the frame */
    unsigned buffered;                 /* bytes after those that may be a sync */

    bool is_synced;
    bool is_lost;           /* synchronization was there before */
    uint32_t window;        /* the last four bytes, the newest on top ... */
    uint64_t window_at[4];  /* ... and where they are, the oldest first */
    uint64_t search_offset; /* what to report when the search ends: where it began ... */
    uint64_t search_bytes;  /* ... and how many bytes it passed over, those of the FSYNC too */

    uint8_t block[DSTREAM_BLOCK];
    unsigned block_fill;

    struct tw_frame_event *events;
    size_t event_count, event_room;
    struct tw_frame_stats stats;
    struct tw_frame_stream streams[TW_ID_COUNT];
    struct tw_frame_stream *by_id[TW_ID_COUNT]; /* quicker to find than a stream itself */
    uint8_t wanted_ids[TW_ID_COUNT];
    unsigned wanted_count;
    size_t coming; /* bytes at most that the frames at hand, and those behind them, give */
    uint8_t empty[FRAME_TAIL]; /* what a stream without memory shows */
};

/* Reset in the middle of a capture: a frame begins at `base`, and bytes before its first ID byte
   are of this ID (TW_ID_UNKNOWN: of no known one). */
void tw_unframer_resume(struct tw_unframer *unframer, uint64_t base, uint8_t id);

/* stream.c */

void tw_unframer_fail(struct tw_unframer *unframer);
void tw_unframer_event(struct tw_unframer *unframer, enum tw_frame_event_kind kind,
                       uint64_t offset, uint64_t length, uint8_t value);
/* True if the newest event is of this kind and reaches up to `offset`; then it was made longer. */
bool tw_unframer_event_extend(struct tw_unframer *unframer, enum tw_frame_event_kind kind,
                              uint64_t offset, uint32_t length);
/* Every wanted ID: bytes are missing here. */
void tw_unframer_discontinue(struct tw_unframer *unframer, uint64_t capture);
/* The ID that holds before the first ID byte. */
uint8_t tw_unframer_first_id(const struct tw_unframer *unframer);
/* Makes room for `size` more bytes and the tail. */
TW_NOINLINE bool tw_frame_stream_make_room(struct tw_unframer *unframer,
                                           struct tw_frame_stream *stream, size_t size);
TW_NOINLINE bool tw_frame_stream_make_place(struct tw_unframer *unframer,
                                            struct tw_frame_stream *stream);
/* Stores bytes; with `has_gap` they begin a place at `capture`, see struct tw_place. */
void tw_frame_stream_append(struct tw_unframer *unframer, struct tw_frame_stream *stream,
                            const struct tw_place *place, const uint8_t *bytes, size_t size);
void tw_frame_stream_reset(struct tw_frame_stream *stream);

TW_INLINE bool tw_frame_stream_reserve(struct tw_unframer *unframer,
                                       struct tw_frame_stream *stream, size_t size)
{
    return stream->room - stream->size >= size + FRAME_TAIL ||
           tw_frame_stream_make_room(unframer, stream, size);
}

TW_INLINE bool tw_frame_stream_place(struct tw_unframer *unframer,
                                     struct tw_frame_stream *stream, const uint8_t *at,
                                     uint64_t capture, unsigned first)
{
    struct tw_place *place;

    if (TW_UNLIKELY(stream->place_count + 2 > stream->place_room) &&
        !tw_frame_stream_make_place(unframer, stream))
        return false;
    place = &stream->places[stream->place_count++];
    place->stream = stream->origin + (uint64_t)(at - stream->bytes);
    place->capture = capture;
    place->first = first;
    place->is_discontinuity = stream->is_pending;
    stream->is_pending = false;
    return true;
}

/* unpack.c */

/* Unpacks frames that lie together in memory and in the capture.  May set `status`. */
void tw_unframer_frames(struct tw_unframer *unframer, const uint8_t *frames, size_t count,
                        uint64_t capture);
/* Unpacks one frame whose bytes lie at the given capture offsets. */
void tw_unframer_scattered(struct tw_unframer *unframer, const uint8_t *frame,
                           const uint64_t *offsets);

/* tpiu.c */

void tw_unframer_tpiu_feed(struct tw_unframer *unframer, const uint8_t *data, size_t size,
                           uint64_t capture);
void tw_unframer_tpiu_finish(struct tw_unframer *unframer);
void tw_unframer_dstream_feed(struct tw_unframer *unframer, const uint8_t *data, size_t size);
void tw_unframer_dstream_finish(struct tw_unframer *unframer);

#endif
