/* SPDX-License-Identifier: BSD-2-Clause */
/* Where packets begin and end in a stream of bytes: every encapsulation, and finding the next
   beginning after bytes were lost. */
#ifndef ETRACE_TRANSPORT_H
#define ETRACE_TRANSPORT_H

#include <trackway/etrace.h>

#include "base/payload.h"

enum tw_etrace_frame_kind {
    TW_ETRACE_FRAME_INST,
    TW_ETRACE_FRAME_DATA,
    TW_ETRACE_FRAME_NULL,  /* a run of null packets */
    TW_ETRACE_FRAME_OTHER, /* other source, other message type */
    TW_ETRACE_FRAME_BAD,   /* no header */
    TW_ETRACE_FRAME_HUNT   /* bytes passed over while looking for a beginning */
};

struct tw_etrace_frame {
    uint8_t kind;
    uint8_t flow;
    bool has_stamp;
    uint16_t source;
    uint8_t header_size;  /* whole bytes before the payload */
    uint8_t header_bits;  /* ... and bits of the first payload byte that are not payload */
    uint8_t payload_size; /* bytes, the one with header_bits included */
    bool is_reversed; /* the payload's bytes stand the last one first, from header_size on */
    uint32_t size;    /* in bytes */
    uint64_t stamp;
};

/* The longest look ahead, in bytes. */
enum { TW_ETRACE_LOOK_AHEAD = 640 };

/* True: these bytes may well be a packet's payload. */
typedef bool tw_etrace_plausible_fn(const void *context, const struct tw_etrace_frame *frame,
                                    const uint8_t *packet);

struct tw_etrace_transport {
    uint8_t encapsulation;
    uint8_t srcid_bits, type_bits, timestamp_bytes;
    bool is_data;
    bool has_srcid;
    bool comes_apart; /* every byte is in a packet: nothing is ever hunted for */
    uint16_t srcid, block_size;
    bool starts_inside;
    bool is_synced;
    /* not synced: what the next packet's place seemed to be may well be right */
    bool is_doubtful;
    uint32_t null_run; /* hunting: bytes before this one that could be null packets */
    uint64_t offset;   /* bytes consumed */
    tw_etrace_plausible_fn *is_plausible;
    const void *context;
};

void tw_etrace_transport_init(struct tw_etrace_transport *transport,
                              const struct tw_etrace_config *config);
void tw_etrace_transport_reset(struct tw_etrace_transport *transport);
/* The next byte need not begin a packet. */
void tw_etrace_transport_lose(struct tw_etrace_transport *transport);
/* A payload was no packet: the next byte begins one unless what follows says otherwise. */
void tw_etrace_transport_doubt(struct tw_etrace_transport *transport);

/* The next packet's place.  TW_MORE: it is cut (when is_last: by the end of the trace).  TW_OK:
   frame->size bytes, at least one, which the caller must report with tw_etrace_transport_pass. */
enum tw_status tw_etrace_transport_next(struct tw_etrace_transport *transport,
                                        struct tw_etrace_frame *frame, const uint8_t *data,
                                        size_t size, bool is_last);
/* A header as it stands, without regard to synchronization. */
enum tw_status tw_etrace_frame_read(const struct tw_etrace_transport *transport,
                                    struct tw_etrace_frame *frame, const uint8_t *data,
                                    size_t size);

/* A run of null packets that ends where the bytes do: those to come may belong to it. */
bool tw_etrace_frame_may_grow(const struct tw_etrace_transport *transport,
                              const struct tw_etrace_frame *frame, const uint8_t *data,
                              size_t size);

/* A frame that is whole and holds trace, where a packet is known to begin.  False: for tw_etrace_transport_next. */
TW_INLINE bool tw_etrace_frame_whole(const struct tw_etrace_transport *transport,
                                     struct tw_etrace_frame *frame, const uint8_t *data,
                                     size_t size)
{
    const uint8_t length = data[0] & 0x1f;

    if (transport->encapsulation != TW_ETRACE_ENCAP_LEN5_TYPE2)
        return tw_etrace_frame_read(transport, frame, data, size) == TW_OK &&
               frame->kind <= TW_ETRACE_FRAME_DATA;
    if (TW_UNLIKELY(length == 0 || (data[0] >> 6) != 1))
        return false;
    *frame = (struct tw_etrace_frame){
        .kind = data[0] & 0x20 ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST,
        .header_size = 1,
        .payload_size = length,
        .size = 1u + length,
    };
    return true;
}

static inline void tw_etrace_transport_pass(struct tw_etrace_transport *transport,
                                            const struct tw_etrace_frame *frame)
{
    transport->offset += frame->size;
}

enum { TW_ETRACE_RECORD = 40 }; /* bytes of TW_ETRACE_ENCAP_PULP */

/* Byte n of the payload. */
TW_INLINE uint8_t tw_etrace_frame_byte(const struct tw_etrace_frame *frame,
                                       const uint8_t *packet, unsigned n)
{
    return packet[frame->header_size + (frame->is_reversed ? frame->payload_size - 1u - n : n)];
}

void tw_etrace_frame_reverse(struct tw_payload *out, const struct tw_etrace_frame *frame,
                             const uint8_t *packet);

/* The payload, moved to a byte boundary when the header does not end on one. */
TW_INLINE void tw_etrace_frame_payload(struct tw_payload *out,
                                       const struct tw_etrace_frame *frame,
                                       const uint8_t *packet, size_t readable)
{
    if (TW_UNLIKELY(frame->is_reversed)) {
        tw_etrace_frame_reverse(out, frame, packet);
        return;
    }
    tw_payload_load(out, packet + frame->header_size, frame->payload_size,
                    readable - frame->header_size);
    if (TW_UNLIKELY(frame->header_bits))
        out->at = frame->header_bits;
}

/* Puts a header in front of a payload.  `frame` gives kind, flow, source and stamp.  *size is room
   in, bytes written out. */
enum tw_status tw_etrace_frame_write(const struct tw_etrace_transport *transport, uint8_t *out,
                                     size_t *size, const struct tw_etrace_frame *frame,
                                     struct tw_payload *payload);

#endif
