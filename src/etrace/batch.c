/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets out of a stream, one or many at a time. */
#include "etrace/packet.h"
#include "protocol.h"

/* A packet without anything in it: in pieces so small that compilers need no loop for them. */
TW_INLINE void clear(struct tw_etrace_packet *packet)
{
    const size_t piece = sizeof *packet / 4;
    char *at = (char *)packet;

    memset(at, 0, piece);
    memset(at + piece, 0, piece);
    memset(at + 2 * piece, 0, piece);
    memset(at + 3 * piece, 0, sizeof *packet - 3 * piece);
}

/* `readable` bytes of data, the frame's at least. */
static void read_payload(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet,
                         const struct tw_etrace_frame *frame, const uint8_t *data,
                         size_t readable)
{
    struct tw_payload payload;

    tw_etrace_frame_payload(&payload, frame, data, readable);
    if (frame->kind == TW_ETRACE_FRAME_DATA)
        packet->error = (uint8_t)tw_etraced_parse(&codec->data_shape, codec->options,
                                                  &codec->history, packet, &payload);
    else
        packet->error =
            (uint8_t)tw_etrace_parse(&codec->shape, codec->options, packet, &payload);
    if (packet->error) {
        packet->base.type = TW_ETRACE_BAD;
        tw_etrace_transport_doubt(&codec->transport);
        if (frame->kind == TW_ETRACE_FRAME_DATA)
            tw_etraced_lose(&codec->history);
    } else if (frame->kind == TW_ETRACE_FRAME_DATA) {
        tw_etraced_resolve(&codec->data_shape, &codec->history, packet);
    } else {
        tw_etrace_track(codec, packet);
    }
}

/* Formats 1 and 2: what tw_etrace_parse and tw_etrace_track do for them.  False: it is none of these,
   or has errors; nothing is done. */
TW_INLINE bool take_flow(struct tw_etrace_reader *codec, struct tw_etrace_packet *out,
                         const uint8_t *bytes, unsigned size)
{
    if (!tw_etrace_parse_flow(&codec->shape, out, bytes, size))
        return false;
    if (!(out->has & TW_ETRACE_HAS_ADDRESS))
        return true;
    out->address = tw_etrace_address(&codec->shape, codec->options, codec->address, out->field);
    tw_etrace_track_jump(codec, out->address);
    return true;
}

/* Packets that most of a trace is; false: for read_payload. */
TW_INLINE bool take_frequent(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet,
                             const struct tw_etrace_frame *frame, const uint8_t *bytes)
{
    if (frame->payload_size > TW_PAYLOAD_WINDOW || frame->header_bits)
        return false;
    if (TW_LIKELY(frame->kind == TW_ETRACE_FRAME_INST))
        return take_flow(codec, packet, bytes, frame->payload_size);
    if (!tw_etraced_parse_access(&codec->data_shape, codec->options, packet, bytes,
                                 frame->payload_size))
        return false;
    tw_etraced_resolve(&codec->data_shape, &codec->history, packet);
    return true;
}

static void take_frame(struct tw_etrace_packet *packet, const struct tw_etrace_frame *frame)
{
    packet->flow = frame->flow;
    packet->source = frame->source;
    packet->stamp = frame->stamp;
    packet->header_size = frame->header_size;
    packet->payload_size = frame->payload_size;
}

/* Fills in where the packet lies. */
TW_INLINE void place(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet,
                     const struct tw_etrace_frame *frame)
{
    packet->base.index = packet->base.offset = codec->transport.offset;
    packet->base.size = frame->size;
    packet->base.id = codec->config.id;
    tw_etrace_transport_pass(&codec->transport, frame);
}

enum { AHEAD = 64 }; /* bytes that read_frequent may look at */

/* Packets of trace, up to `end` and as long as they are whole.  There are AHEAD bytes at least, and
   the beginning of a packet is known.  Returns where the next packet goes; `in` and the codec move
   on. */
static TW_NOINLINE struct tw_etrace_packet *read_frequent(struct tw_etrace_reader *codec,
                                                          struct tw_etrace_packet *packet,
                                                          const struct tw_etrace_packet *end,
                                                          struct tw_bytes *in)
{
    const uint8_t *const last = in->end - AHEAD;

    while (in->at <= last && packet != end && codec->transport.is_synced) {
        const size_t left = tw_bytes_left(in);
        struct tw_etrace_frame frame;

        if (TW_UNLIKELY(!tw_etrace_frame_whole(&codec->transport, &frame, in->at, left)))
            break;
        clear(packet);
        take_frame(packet, &frame);
        if (!take_frequent(codec, packet, &frame, in->at + frame.header_size))
            read_payload(codec, packet, &frame, in->at, left);
        if (frame.has_stamp)
            packet->has |= TW_ETRACE_HAS_STAMP;
        place(codec, packet, &frame);
        in->at += frame.size;
        packet++;
    }
    return packet;
}

/* What few encoders do is left to tw_etrace_read_any, so that nothing asks for it at each packet. */
static bool may_be_frequent(const struct tw_etrace_reader *codec, size_t size)
{
    return codec->transport.is_synced && !codec->transport.block_size && size >= AHEAD &&
           codec->shape.has_usual_flow;
}

/* What is listed does not hang on the pieces that bytes come in. */
static enum tw_status next_frame(struct tw_etrace_transport *transport,
                                 struct tw_etrace_frame *frame, const uint8_t *data,
                                 size_t size, bool is_last)
{
    const enum tw_status status =
        tw_etrace_transport_next(transport, frame, data, size, is_last);

    if (status == TW_OK && !is_last && tw_etrace_frame_may_grow(transport, frame, data, size))
        return TW_MORE;
    return status;
}

enum tw_status tw_etrace_read_any(struct tw_etrace_reader *codec,
                                  struct tw_etrace_packet *packet, const uint8_t *data,
                                  size_t size, bool is_last)
{
    struct tw_etrace_frame frame;
    const enum tw_status status = next_frame(&codec->transport, &frame, data, size, is_last);

    if (status != TW_OK && (!is_last || size == 0))
        return TW_MORE;
    clear(packet);
    if (status != TW_OK) { /* cut by the end of the trace */
        frame = (struct tw_etrace_frame){ .kind = TW_ETRACE_FRAME_BAD, .size = (uint32_t)size };
        packet->base.type = TW_ETRACE_INCOMPLETE;
        packet->error = TW_ERROR_TRUNCATED;
    } else if (frame.kind == TW_ETRACE_FRAME_HUNT) {
        packet->base.type = TW_ETRACE_NOT_SYNC;
    } else if (frame.kind == TW_ETRACE_FRAME_BAD) {
        packet->base.type = TW_ETRACE_BAD;
        packet->error = TW_ERROR_RESERVED_HEADER;
    } else if (frame.kind == TW_ETRACE_FRAME_NULL || frame.kind == TW_ETRACE_FRAME_OTHER) {
        packet->base.type =
            frame.kind == TW_ETRACE_FRAME_NULL ? TW_ETRACE_NULL : TW_ETRACE_OTHER;
    } else {
        take_frame(packet, &frame);
        read_payload(codec, packet, &frame, data, size);
        if (frame.has_stamp)
            packet->has |= TW_ETRACE_HAS_STAMP;
    }
    place(codec, packet, &frame);
    return TW_OK;
}

/* Options that one source tells of are taken for those of all: they only help to tell whether bytes
   may be packets. */
static void look_for_options(struct tw_etrace_reader *codec,
                             const struct tw_etrace_frame *frame, const uint8_t *data,
                             size_t size)
{
    struct tw_etrace_packet packet;
    struct tw_payload payload;

    if (frame->kind != TW_ETRACE_FRAME_INST)
        return;
    tw_etrace_frame_payload(&payload, frame, data, size);
    if ((payload.bytes[payload.at >> 3] >> (payload.at & 7) & 3) != 3)
        return;
    if (tw_etrace_parse(&codec->shape, codec->options, &packet, &payload) == TW_ERROR_NONE &&
        packet.base.type == TW_ETRACE_F3S3)
        codec->options = tw_etrace_options(&codec->shape, codec->options, &packet);
}

enum tw_status tw_etrace_route(void *reader, struct tw_route *route, void *packet,
                               const uint8_t *data, size_t size, bool is_last)
{
    struct tw_etrace_reader *codec = reader;
    struct tw_etrace_frame frame;
    enum tw_status status = next_frame(&codec->transport, &frame, data, size, is_last);

    if (status != TW_OK && (!is_last || size == 0))
        return TW_MORE;
    *route = (struct tw_route){ .size = size, .src = TW_NO_SRC };
    if (status != TW_OK) { /* cut by the end of the trace */
        frame = (struct tw_etrace_frame){ .kind = TW_ETRACE_FRAME_BAD, .size = (uint32_t)size };
        route->error = TW_ERROR_TRUNCATED;
    } else if (frame.kind == TW_ETRACE_FRAME_BAD) {
        route->error = TW_ERROR_RESERVED_HEADER;
    } else if (frame.kind == TW_ETRACE_FRAME_HUNT) {
        route->is_hunt = true;
    } else if (frame.kind != TW_ETRACE_FRAME_NULL) {
        route->src = frame.source;
        look_for_options(codec, &frame, data, size);
    }
    route->size = frame.size;
    if (packet && route->src == TW_NO_SRC) {
        struct tw_etrace_packet *out = packet;

        clear(out);
        out->error = route->error;
        out->base.type = route->error == TW_ERROR_TRUNCATED ? TW_ETRACE_INCOMPLETE
                         : route->error                     ? TW_ETRACE_BAD
                         : route->is_hunt                   ? TW_ETRACE_NOT_SYNC
                                                            : TW_ETRACE_NULL;
        out->base.size = frame.size;
    }
    tw_etrace_transport_pass(&codec->transport, &frame);
    return TW_OK;
}

enum tw_status tw_etrace_read(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet,
                              const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };

    if (TW_LIKELY(may_be_frequent(codec, size)) &&
        read_frequent(codec, packet, packet + 1, &in) != packet)
        return TW_OK;
    return tw_etrace_read_any(codec, packet, data, size, is_last);
}

size_t tw_etrace_read_batch(struct tw_etrace_reader *codec, struct tw_etrace_packet *packets,
                            size_t room, size_t *used, const uint8_t *data, size_t size)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    struct tw_etrace_packet *packet = packets, *const end = packets + room;

    while (packet != end) {
        if (TW_LIKELY(may_be_frequent(codec, tw_bytes_left(&in)))) {
            packet = read_frequent(codec, packet, end, &in);
            if (packet == end)
                break;
        }
        if (tw_etrace_read_any(codec, packet, in.at, tw_bytes_left(&in), false) != TW_OK)
            break;
        in.at += packet->base.size;
        packet++;
    }
    *used = (size_t)(in.at - data);
    return (size_t)(packet - packets);
}
