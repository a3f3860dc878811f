/* SPDX-License-Identifier: BSD-2-Clause */
/* CoreSight formatter frames: a capture to the byte stream of each trace ID, and back.
   Stable. */
#ifndef TRACKWAY_FRAME_H
#define TRACKWAY_FRAME_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_framing {
    TW_FRAMING_NONE,       /* one source's bytes as they are; they are given to assume_id */
    TW_FRAMING_MEMORY,     /* 16-byte frames at multiples of 16: ETB, ETF, ETR */
    TW_FRAMING_TPIU,       /* frames found by FSYNC */
    TW_FRAMING_TPIU_HSYNC, /* ... with HSYNC on any halfword boundary */
    TW_FRAMING_DSTREAM     /* TPIU inside blocks of 504 data and 8 footer bytes */
};

enum { TW_ID_UNKNOWN = 0x80, TW_ID_TRIGGER = 0x7d, TW_ID_FLUSH = 0x7b };
#define TW_ID_COUNT 129 /* IDs have 7 bits; and the unknown one */

enum tw_frame_event_kind {
    TW_FRAME_TRIGGER,
    TW_FRAME_FLUSH,
    TW_FRAME_FSYNC,
    TW_FRAME_HSYNC,
    TW_FRAME_BARRIER,
    TW_FRAME_LOST, /* frame sync lost, a frame cut or damaged: decoders get none of `length` bytes */
    TW_FRAME_RESERVED,   /* the first byte of a run of a reserved ID: `value` is the ID */
    TW_FRAME_INCOMPLETE, /* the capture ends inside a frame of `length` bytes */
    TW_FRAME_SKIPPED,    /* `length` bytes before the first FSYNC */
    TW_FRAME_BAD_BLOCK   /* DSTREAM: the footer counts `value` words, more than a block holds */
};

struct tw_frame_event {
    uint64_t offset; /* in the capture */
    uint32_t length;
    uint8_t kind;
    uint8_t value; /* data byte of a trigger or flush marker; reserved ID */
};

/* Where a stretch of a stream lies in the capture.  `first` bytes lie together from `capture` on,
   then one byte (the frame's auxiliary byte) is left out, then 15 lie together, one is left out,
   and so on until the next place begins.  first == 0: all lie together. */
struct tw_place {
    uint64_t stream;
    uint64_t capture;
    uint32_t first;
    uint32_t is_discontinuity; /* bytes are missing before it; a decoder must resynchronize */
};

/* What is held of one trace ID: bytes[0] is at stream offset `offset`.  At least 64 bytes after
   the last may be read.  places[0] covers bytes[0]; a discontinuity whose bytes are still to come
   stands as a place at offset + size. */
struct tw_stream {
    const uint8_t *bytes;
    size_t size;
    uint64_t offset;
    const struct tw_place *places;
    size_t place_count;
};

struct tw_frame_stats {
    uint64_t bytes; /* fed */
    uint64_t frames, sync_bytes, skipped_bytes, footer_bytes;
    uint64_t bytes_by_id[TW_ID_COUNT]; /* TW_ID_UNKNOWN: before the first ID byte */
};

/* A run of bytes of one ID that lie together in the capture; id may be TW_ID_UNKNOWN. */
typedef void tw_frame_run_fn(void *context, uint8_t id, uint64_t capture_offset,
                             uint64_t stream_offset, const uint8_t *bytes, size_t size);

struct tw_unframer_config {
    size_t size; /* sizeof(struct tw_unframer_config) */
    enum tw_framing framing;
    bool no_barrier;    /* do not take four FSYNCs as a reset (memory framing) */
    bool sync_events;   /* list each FSYNC and HSYNC as an event; they are counted anyway */
    uint8_t assume_id;  /* give bytes of unknown ID to this one; 0: drop them */
    uint64_t wanted[2]; /* bit n: keep the bytes of ID n */
    uint64_t base;      /* capture offset of the first byte fed */
    tw_frame_run_fn *on_run; /* optional: sees every run of every ID, in order */
    void *on_run_context;
    const struct tw_allocator *allocator;
};

struct tw_unframer;

TW_API TW_MUST_USE enum tw_status tw_unframer_new(struct tw_unframer **unframer,
                                                  const struct tw_unframer_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_unframer_free(struct tw_unframer *unframer);

/* Takes the next bytes of the capture, in pieces of any size. */
TW_API TW_MUST_USE enum tw_status tw_unframer_feed(struct tw_unframer *unframer,
                                                   const uint8_t *data, size_t size);
/* No more bytes come: reports what was left incomplete. */
TW_API TW_MUST_USE enum tw_status tw_unframer_finish(struct tw_unframer *unframer);
/* Back to the state after new, keeping memory; the next byte fed is at capture offset base. */
TW_API void tw_unframer_reset(struct tw_unframer *unframer, uint64_t base);

/* What is held of an ID now; valid until the next call that feeds, consumes or resets. */
TW_API struct tw_stream tw_unframer_stream(const struct tw_unframer *unframer, uint8_t id);
/* Drops the first `size` bytes held of an ID. */
TW_API void tw_unframer_consume(struct tw_unframer *unframer, uint8_t id, size_t size);

/* What was met since the last tw_unframer_clear_events, in order. */
TW_API const struct tw_frame_event *tw_unframer_events(const struct tw_unframer *unframer,
                                                       size_t *count);
TW_API void tw_unframer_clear_events(struct tw_unframer *unframer);
TW_API const struct tw_frame_stats *tw_unframer_stats(const struct tw_unframer *unframer);

/* A stretch of a frame's data bytes that lie together and are of one ID. */
struct tw_frame_cut {
    uint8_t at; /* in the frame */
    uint8_t size;
    uint8_t id;
};

/* Most cuts of a frame: seven delayed changes leave the byte after the ID and nothing else. */
enum { TW_FRAME_SIZE = 16, TW_FRAME_CUTS = 16 };

/* One frame by itself: `bytes` gets its data bytes, each at its place in the frame (what lies at the
   places of ID bytes and of the auxiliary byte means nothing), `cuts` gets whose they are, in order;
   returns how many cuts there are.  `*id` is the ID in force before the frame and, afterwards, behind
   it; TW_ID_UNKNOWN: none was named yet. */
TW_API unsigned tw_frame_split(struct tw_frame_cut cuts[TW_FRAME_CUTS],
                               uint8_t bytes[TW_FRAME_SIZE], uint8_t *id,
                               const uint8_t frame[TW_FRAME_SIZE]);

/* The other way: bytes of several sources into frames. */
struct tw_framer_config {
    size_t size;
    enum tw_framing framing; /* MEMORY, TPIU or TPIU_HSYNC */
    uint32_t repeat_frames;  /* name the current ID again after so many frames; 0: 8 */
    uint32_t fsync_frames;   /* TPIU: an FSYNC after so many frames; 0: 64 */
    uint32_t align; /* pad the end to a multiple of this many bytes, itself one of 16; 0: 16.
                       TPIU: with sync packets, a multiple of 4; 0: no padding */
    const struct tw_allocator *allocator;
};

struct tw_framer;

TW_API TW_MUST_USE enum tw_status tw_framer_new(struct tw_framer **framer,
                                                const struct tw_framer_config *config,
                                                struct tw_fault *fault);
TW_API void tw_framer_free(struct tw_framer *framer);
/* Appends bytes of one ID, 0x01 to 0x6f. */
TW_API TW_MUST_USE enum tw_status tw_framer_write(struct tw_framer *framer, uint8_t id,
                                                  const uint8_t *bytes, size_t size);
/* Puts a marker (TW_ID_TRIGGER or TW_ID_FLUSH) with its data byte in the stream. */
TW_API TW_MUST_USE enum tw_status tw_framer_mark(struct tw_framer *framer, uint8_t marker,
                                                 uint8_t value);
/* Completes the frame with padding, then writes a barrier frame (memory framing). */
TW_API TW_MUST_USE enum tw_status tw_framer_barrier(struct tw_framer *framer);
/* TPIU_HSYNC: the port is idle; an HSYNC goes out on the next halfword boundary. */
TW_API TW_MUST_USE enum tw_status tw_framer_idle(struct tw_framer *framer);
/* Completes the last frame and pads to `align`. */
TW_API TW_MUST_USE enum tw_status tw_framer_finish(struct tw_framer *framer);
/* Finished frames so far; valid until the next call.  tw_framer_take drops them. */
TW_API const uint8_t *tw_framer_output(const struct tw_framer *framer, size_t *size);
TW_API void tw_framer_take(struct tw_framer *framer);

#ifdef __cplusplus
}
#endif

#endif
