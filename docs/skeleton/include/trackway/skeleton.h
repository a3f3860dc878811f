/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of the skeleton, a made-up protocol that shows where everything goes: configuration, bytes
   to packets and back.  Experimental. */
#ifndef TRACKWAY_SKELETON_H
#define TRACKWAY_SKELETON_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a debugger reads from the hardware, nothing else. */
struct tw_skeleton_config {
    size_t size;      /* sizeof(struct tw_skeleton_config) */
    uint32_t control; /* CONTROL: bits 6:0 trace ID, bit 8 timestamps */
};

enum tw_skeleton_type {
    TW_SKELETON_NOT_SYNC,   /* bytes before synchronization */
    TW_SKELETON_RESERVED,   /* no packet begins with this byte */
    TW_SKELETON_INCOMPLETE, /* the trace ends inside this packet */
    TW_SKELETON_SYNC,
    TW_SKELETON_DATA,
    TW_SKELETON_TIMESTAMP,
    TW_SKELETON_OVERFLOW,
    TW_SKELETON_TYPES
};

/* A plain value: nothing to free. */
struct tw_skeleton_packet {
    struct tw_packet base;
    TW_EXTENSION union {
        uint8_t data;       /* DATA */
        uint64_t timestamp; /* TIMESTAMP */
        uint8_t header;     /* RESERVED, INCOMPLETE */
    };
};

struct tw_skeleton_reader;

TW_API TW_MUST_USE enum tw_status
tw_skeleton_reader_new(struct tw_skeleton_reader **reader,
                       const struct tw_skeleton_config *config,
                       const struct tw_allocator *allocator, struct tw_fault *fault);
TW_API void tw_skeleton_reader_free(struct tw_skeleton_reader *reader);

/* The next packet of a stream.  TW_OK: packet->base.size bytes are done (at least 1).  TW_MORE: it
   is cut, nothing is done; give these bytes again with more behind them.  With is_last nothing
   follows, and a cut packet comes out as TW_SKELETON_INCOMPLETE.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_skeleton_read(struct tw_skeleton_reader *reader,
                                                   struct tw_skeleton_packet *packet,
                                                   const uint8_t *data, size_t size,
                                                   bool is_last);

/* Bytes are missing before the next one: waits for synchronization. */
TW_API void tw_skeleton_reader_lost(struct tw_skeleton_reader *reader);

/* A good packet as bytes, the inverse of reading.  *size: room in, bytes written out.
   TW_E_ARGUMENT: the packet cannot be written so.  TW_E_ROOM: it does not fit, *size is what it
   takes. */
TW_API TW_MUST_USE enum tw_status tw_skeleton_write(struct tw_skeleton_reader *writer,
                                                    uint8_t *out, size_t *size,
                                                    const struct tw_skeleton_packet *packet);

/* "DATA" ..., never NULL. */
TW_API const char *tw_skeleton_type_name(unsigned type);

#ifdef __cplusplus
}
#endif

#endif
