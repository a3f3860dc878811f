/* SPDX-License-Identifier: BSD-2-Clause */
/* Encapsulations: headers both ways, and finding a packet's beginning after a loss. */
#include "etrace/transport.h"

#include "base/bits.h"

enum {
    LENGTH_MASK = 0x1f,
    NULL_RUN = 256,       /* null packets that are listed as one, at most */
    CHAIN_LENGTH = 16,    /* packets in a row that make a beginning certain */
    CHAIN_LENGTH_END = 4, /* ... when the trace ends behind them */
    CHAIN_BAD = 4         /* of these that may be bad where packets were found before */
};

void tw_etrace_transport_init(struct tw_etrace_transport *transport,
                              const struct tw_etrace_config *config)
{
    *transport = (struct tw_etrace_transport){
        .encapsulation = config->encapsulation,
        .srcid_bits = config->srcid_bits,
        .type_bits = config->type_bits,
        .timestamp_bytes = config->timestamp_bytes,
        .is_data = config->is_data,
        .has_srcid = config->has_srcid,
        .comes_apart = config->comes_apart,
        .srcid = config->srcid,
        .block_size = config->block_size,
        .starts_inside = config->starts_inside,
    };
    tw_etrace_transport_reset(transport);
}

void tw_etrace_transport_reset(struct tw_etrace_transport *transport)
{
    transport->is_synced = !transport->starts_inside;
    transport->is_doubtful = false;
    transport->null_run = 0;
    transport->offset = 0;
}

void tw_etrace_transport_lose(struct tw_etrace_transport *transport)
{
    transport->is_synced = transport->comes_apart;
    transport->is_doubtful = false;
    transport->null_run = 0;
}

void tw_etrace_transport_doubt(struct tw_etrace_transport *transport)
{
    tw_etrace_transport_lose(transport);
    transport->is_doubtful = !transport->is_synced;
}

/* E-Trace leaves codes of 2 bits and more to the application; these are the reference flow's. */
static uint8_t kind_of_type(const struct tw_etrace_transport *transport, unsigned bits,
                            unsigned type)
{
    if (bits == 0)
        return transport->is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST;
    if (bits == 1)
        return type ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST;
    return type == 2   ? TW_ETRACE_FRAME_INST
           : type == 3 ? TW_ETRACE_FRAME_DATA
                       : TW_ETRACE_FRAME_OTHER;
}

static enum tw_status bad_header(struct tw_etrace_frame *frame)
{
    *frame = (struct tw_etrace_frame){ .kind = TW_ETRACE_FRAME_BAD, .size = 1 };
    return TW_OK;
}

static bool is_null(const struct tw_etrace_transport *transport, uint8_t byte)
{
    if (transport->encapsulation == TW_ETRACE_ENCAP_PULP)
        return false; /* its records begin with zeros */
    if (transport->encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 ||
        transport->encapsulation == TW_ETRACE_ENCAP_SIEMENS)
        return byte == 0;
    return (byte & LENGTH_MASK) == 0;
}

static enum tw_status null_run(const struct tw_etrace_transport *transport,
                               struct tw_etrace_frame *frame, const uint8_t *data, size_t size)
{
    size_t run = 1;

    while (run < size && run < NULL_RUN && is_null(transport, data[run]))
        run++;
    *frame = (struct tw_etrace_frame){ .kind = TW_ETRACE_FRAME_NULL,
                                       .header_size = 1,
                                       .size = (uint32_t)run };
    return TW_OK;
}

/* RISC-V encapsulation and the draft's UltraSoC example: fields of any number of bits. */
static enum tw_status read_packed(const struct tw_etrace_transport *transport,
                                  struct tw_etrace_frame *frame, const uint8_t *data,
                                  size_t size)
{
    const bool is_smi = transport->encapsulation == TW_ETRACE_ENCAP_SMI;
    const bool has_stamp = data[0] >> 7;
    const unsigned stamp_bytes = has_stamp ? transport->timestamp_bytes : 0;
    const unsigned start = 8u + transport->srcid_bits + 8 * stamp_bytes + transport->type_bits;
    const unsigned whole =
        1u + transport->srcid_bits / 8 + stamp_bytes + (data[0] & LENGTH_MASK);
    struct tw_bits in = { .bytes = data, .size_bits = 8 * (size_t)whole, .at = 8 };
    unsigned type = 0;

    if (start / 8 >= whole)
        return bad_header(frame);
    if (size < whole)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){
        .flow = data[0] >> 5 & 3,
        .has_stamp = has_stamp,
        .header_size = (uint8_t)(start / 8),
        .header_bits = start % 8,
        .payload_size = (uint8_t)(whole - start / 8),
        .size = whole,
    };
    frame->source = (uint16_t)tw_bits_get(&in, transport->srcid_bits);
    if (is_smi)
        type = (unsigned)tw_bits_get(&in, transport->type_bits);
    frame->stamp = tw_bits_get(&in, 8 * stamp_bytes);
    if (!is_smi)
        type = (unsigned)tw_bits_get(&in, transport->type_bits);
    frame->kind = kind_of_type(transport, transport->type_bits, type);
    if (transport->has_srcid && frame->source != transport->srcid)
        frame->kind = TW_ETRACE_FRAME_OTHER;
    return TW_OK;
}

/* The draft's ATB example: a length, a bit that says whether a timestamp follows. */
static enum tw_status read_atb(const struct tw_etrace_transport *transport,
                               struct tw_etrace_frame *frame, const uint8_t *data, size_t size)
{
    const bool has_stamp = data[0] >> 5 & 1;
    const unsigned header = has_stamp ? 1u + transport->timestamp_bytes : 1;
    const unsigned whole = header + (data[0] & LENGTH_MASK);
    struct tw_bits in = { .bytes = data, .size_bits = 8 * (size_t)whole, .at = 8 };

    if (data[0] >> 6)
        return bad_header(frame);
    if (size < whole)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){
        .kind = transport->is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST,
        .has_stamp = has_stamp,
        .header_size = (uint8_t)header,
        .payload_size = data[0] & LENGTH_MASK,
        .size = whole,
    };
    frame->stamp = tw_bits_get(&in, 8 * (header - 1));
    return TW_OK;
}

static enum tw_status read_esp32(const struct tw_etrace_transport *transport,
                                 struct tw_etrace_frame *frame, const uint8_t *data,
                                 size_t size)
{
    const unsigned whole = data[0];

    if (whole > LENGTH_MASK || whole < 4)
        return bad_header(frame);
    if (size < whole)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){
        .kind = transport->is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST,
        .source = tw_load_le16(data + 1),
        .header_size = 3,
        .payload_size = (uint8_t)(whole - 3),
        .size = whole,
    };
    return TW_OK;
}

static enum tw_status read_len5(const struct tw_etrace_transport *transport,
                                struct tw_etrace_frame *frame, const uint8_t *data, size_t size)
{
    const unsigned whole = 1u + (data[0] & LENGTH_MASK);
    const unsigned type = data[0] >> 5;

    if (type > 3 || type < 2 || whole == 1)
        return bad_header(frame);
    if (size < whole)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){
        .kind = kind_of_type(transport, 2, type),
        .header_size = 1,
        .payload_size = (uint8_t)(whole - 1),
        .size = whole,
    };
    return TW_OK;
}

/* What Siemens's messaging infrastructure makes of the reference flow's header. */
static enum tw_status read_siemens(const struct tw_etrace_transport *transport,
                                   struct tw_etrace_frame *frame, const uint8_t *data,
                                   size_t size)
{
    const bool has_stamp = data[0] >> 7;
    const unsigned type = data[0] >> 5 & 3;
    const unsigned stamp_bytes = has_stamp ? transport->timestamp_bytes : 0;
    const unsigned header = 1u + stamp_bytes + (transport->srcid_bits + 7u) / 8;
    const unsigned whole = header + (data[0] & LENGTH_MASK);
    struct tw_bits in = { .bytes = data, .size_bits = 8 * (size_t)header, .at = 8 };

    if (type < 2 || whole == header)
        return bad_header(frame);
    if (size < whole)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){
        .kind = kind_of_type(transport, 2, type),
        .has_stamp = has_stamp,
        .header_size = (uint8_t)header,
        .payload_size = data[0] & LENGTH_MASK,
        .size = whole,
    };
    frame->stamp = tw_bits_get(&in, 8 * stamp_bytes);
    frame->source = (uint16_t)tw_bits_get(&in, transport->srcid_bits);
    if (transport->has_srcid && frame->source != transport->srcid)
        frame->kind = TW_ETRACE_FRAME_OTHER;
    return TW_OK;
}

/* PULP: a record is one number of 320 bits, written with its top byte first: header, timestamp of 64
   bits if the header says so, payload, zeros. */
static enum tw_status read_pulp(const struct tw_etrace_transport *transport,
                                struct tw_etrace_frame *frame, const uint8_t *data, size_t size)
{
    const uint8_t *const last = data + TW_ETRACE_RECORD - 1;
    unsigned length, stamp_bytes;

    if (size < TW_ETRACE_RECORD)
        return TW_MORE;
    length = *last & LENGTH_MASK;
    stamp_bytes = *last >> 7 ? 8 : 0;
    *frame = (struct tw_etrace_frame){
        .kind = length == 0          ? TW_ETRACE_FRAME_NULL
                : transport->is_data ? TW_ETRACE_FRAME_DATA
                                     : TW_ETRACE_FRAME_INST,
        .flow = *last >> 5 & 3,
        .has_stamp = stamp_bytes != 0,
        .header_size = (uint8_t)(TW_ETRACE_RECORD - 1 - stamp_bytes - length),
        .payload_size = (uint8_t)length,
        .is_reversed = true,
        .size = TW_ETRACE_RECORD,
    };
    for (unsigned i = 0; i < stamp_bytes; i++)
        frame->stamp |= (uint64_t)last[-1 - (int)i] << 8 * i;
    return TW_OK;
}

void tw_etrace_frame_reverse(struct tw_payload *out, const struct tw_etrace_frame *frame,
                             const uint8_t *packet)
{
    uint8_t bytes[TW_PAYLOAD_MAX] = { 0 };

    for (unsigned i = 0; i < frame->payload_size; i++)
        bytes[i] = tw_etrace_frame_byte(frame, packet, i);
    tw_payload_load(out, bytes, frame->payload_size ? frame->payload_size : 1, sizeof bytes);
}

enum tw_status tw_etrace_frame_read(const struct tw_etrace_transport *transport,
                                    struct tw_etrace_frame *frame, const uint8_t *data,
                                    size_t size)
{
    if (size == 0)
        return TW_MORE;
    if (is_null(transport, data[0]))
        return null_run(transport, frame, data, size);
    switch (transport->encapsulation) {
    case TW_ETRACE_ENCAP_LEN5_TYPE2:
        return read_len5(transport, frame, data, size);
    case TW_ETRACE_ENCAP_ATB:
        return read_atb(transport, frame, data, size);
    case TW_ETRACE_ENCAP_ESP32:
        return read_esp32(transport, frame, data, size);
    case TW_ETRACE_ENCAP_SIEMENS:
        return read_siemens(transport, frame, data, size);
    case TW_ETRACE_ENCAP_PULP:
        return read_pulp(transport, frame, data, size);
    default:
        return read_packed(transport, frame, data, size);
    }
}

bool tw_etrace_frame_may_grow(const struct tw_etrace_transport *transport,
                              const struct tw_etrace_frame *frame, const uint8_t *data,
                              size_t size)
{
    const uint32_t block = transport->block_size;

    return frame->kind == TW_ETRACE_FRAME_NULL && frame->size == size && size < NULL_RUN &&
           is_null(transport, data[0]) && (!block || (transport->offset + size) % block);
}

/* True when what begins here reads as packet after packet. */
static bool is_chain(const struct tw_etrace_transport *transport, const uint8_t *data,
                     size_t size, bool is_last)
{
    unsigned count = 0;

    for (size_t at = 0; at < size && at < TW_ETRACE_LOOK_AHEAD;) {
        struct tw_etrace_frame frame;

        if (tw_etrace_frame_read(transport, &frame, data + at, size - at) != TW_OK)
            break; /* cut by the end */
        if (frame.kind > TW_ETRACE_FRAME_NULL)
            return false;
        if (frame.kind != TW_ETRACE_FRAME_NULL) {
            if (transport->is_plausible &&
                !transport->is_plausible(transport->context, &frame, data + at))
                return false;
            if (++count == CHAIN_LENGTH)
                return true;
        } else if (count == 0) {
            return false; /* a beginning is a packet, not the gap before it */
        }
        at += frame.size;
    }
    return count >= CHAIN_LENGTH_END && (is_last || size >= TW_ETRACE_LOOK_AHEAD);
}

/* Packets go on here, a few bad ones among them: only what was in the last one is lost. */
static bool is_intact(const struct tw_etrace_transport *transport, const uint8_t *data,
                      size_t size, bool is_last)
{
    unsigned count = 0, bad = 0;
    size_t at = 0;

    while (at < size && at < TW_ETRACE_LOOK_AHEAD && count < CHAIN_LENGTH) {
        struct tw_etrace_frame frame;

        if (tw_etrace_frame_read(transport, &frame, data + at, size - at) != TW_OK)
            break; /* cut by the end */
        if (frame.kind > TW_ETRACE_FRAME_NULL)
            return false;
        if (frame.kind != TW_ETRACE_FRAME_NULL) {
            count++;
            bad += transport->is_plausible &&
                   !transport->is_plausible(transport->context, &frame, data + at);
        }
        at += frame.size;
    }
    return bad <= CHAIN_BAD && 2 * bad <= count &&
           (count == CHAIN_LENGTH || at >= TW_ETRACE_LOOK_AHEAD || (is_last && at >= size));
}

/* E-Trace's encapsulation 1.0: more null bytes in a row than any packet can hold. */
static bool is_after_nulls(const struct tw_etrace_transport *transport)
{
    if (transport->encapsulation == TW_ETRACE_ENCAP_ESP32) /* packets of 13 bytes at most */
        return transport->null_run >= 14;
    return transport->null_run > 31u + transport->timestamp_bytes + transport->srcid_bits / 8u;
}

static bool begins_here(const struct tw_etrace_transport *transport, uint64_t offset,
                        const uint8_t *data, size_t size, bool is_last)
{
    if (is_null(transport, *data))
        return false;
    if (transport->encapsulation == TW_ETRACE_ENCAP_PULP)
        return offset % TW_ETRACE_RECORD == 0;
    if (transport->block_size)
        return offset % transport->block_size == 0;
    return is_after_nulls(transport) || is_chain(transport, data, size, is_last);
}

/* Passes over what is no beginning.  A frame of no bytes: one was found at once. */
static enum tw_status hunt(struct tw_etrace_transport *transport, struct tw_etrace_frame *frame,
                           const uint8_t *data, size_t size, bool is_last)
{
    size_t at = 0;

    for (; at < size; at++) {
        if (!is_last && size - at < TW_ETRACE_LOOK_AHEAD)
            break;
        if (begins_here(transport, transport->offset + at, data + at, size - at, is_last)) {
            transport->is_synced = true;
            break;
        }
        transport->null_run = is_null(transport, data[at]) ? transport->null_run + 1 : 0;
        if (at == UINT32_MAX / 2)
            break;
    }
    if (at == 0 && !transport->is_synced)
        return TW_MORE;
    *frame = (struct tw_etrace_frame){ .kind = TW_ETRACE_FRAME_HUNT, .size = (uint32_t)at };
    return TW_OK;
}

enum tw_status tw_etrace_transport_next(struct tw_etrace_transport *transport,
                                        struct tw_etrace_frame *frame, const uint8_t *data,
                                        size_t size, bool is_last)
{
    const uint32_t block = transport->block_size;

    if (size == 0)
        return TW_MORE;
    if (TW_UNLIKELY(transport->is_doubtful)) {
        if (!is_last && size < TW_ETRACE_LOOK_AHEAD)
            return TW_MORE; /* whatever the bytes come in, the answer is the same */
        transport->is_synced = is_intact(transport, data, size, is_last);
        transport->is_doubtful = false;
    }
    if (TW_UNLIKELY(!transport->is_synced)) {
        const enum tw_status status = hunt(transport, frame, data, size, is_last);

        if (status != TW_OK || frame->size)
            return status;
    }
    if (tw_etrace_frame_read(transport, frame, data, size) != TW_OK)
        return TW_MORE;
    if (TW_UNLIKELY(block)) {
        const uint32_t left = block - (uint32_t)(transport->offset % block);

        if (frame->kind == TW_ETRACE_FRAME_NULL && frame->size > left)
            frame->size = left;
        else if (frame->size > left)
            (void)bad_header(frame);
    }
    if (TW_UNLIKELY(frame->kind == TW_ETRACE_FRAME_BAD))
        tw_etrace_transport_lose(transport);
    return TW_OK;
}

/* Writing. */

static unsigned type_of_kind(unsigned bits, uint8_t kind)
{
    if (bits <= 1)
        return kind == TW_ETRACE_FRAME_DATA;
    return kind == TW_ETRACE_FRAME_DATA ? 3 : 2;
}

static enum tw_status write_whole(uint8_t *out, size_t *size, const uint8_t *header,
                                  unsigned header_size, const struct tw_payload *payload,
                                  unsigned payload_size)
{
    const size_t room = *size;

    if (payload_size > LENGTH_MASK)
        return TW_E_ARGUMENT;
    *size = header_size + payload_size;
    if (*size > room)
        return TW_E_ROOM;
    memcpy(out, header, header_size);
    memcpy(out + header_size, payload->bytes, payload_size);
    return TW_OK;
}

static enum tw_status write_packed(const struct tw_etrace_transport *transport, uint8_t *out,
                                   size_t *size, const struct tw_etrace_frame *frame,
                                   const struct tw_payload *payload)
{
    const bool is_smi = transport->encapsulation == TW_ETRACE_ENCAP_SMI;
    const unsigned type = type_of_kind(transport->type_bits, frame->kind);
    const unsigned stamp_bytes = frame->has_stamp ? transport->timestamp_bytes : 0;
    const unsigned free_bytes = transport->srcid_bits / 8u + stamp_bytes; /* not in `length` */
    struct tw_payload body = { .at = 0 };
    unsigned least, whole;

    tw_payload_put(&body, frame->source, transport->srcid_bits);
    if (is_smi)
        tw_payload_put(&body, type, transport->type_bits);
    tw_payload_put(&body, frame->stamp, 8 * stamp_bytes);
    if (!is_smi)
        tw_payload_put(&body, type, transport->type_bits);
    least = body.at / 8 + 1; /* one bit of the payload at least */
    for (unsigned i = 0; i < payload->at; i++)
        tw_payload_put(&body, (uint64_t)payload->bytes[i >> 3] >> (i & 7), 1);
    whole = tw_payload_finish(&body);
    if (whole < least)
        whole = least;
    if (whole - free_bytes > LENGTH_MASK)
        return TW_E_ARGUMENT;
    if (whole + 1 > *size) {
        *size = whole + 1;
        return TW_E_ROOM;
    }
    out[0] = (uint8_t)((whole - free_bytes) | (frame->flow & 3u) << 5 |
                       (frame->has_stamp ? 0x80u : 0));
    memcpy(out + 1, body.bytes, whole);
    *size = whole + 1;
    return TW_OK;
}

/* PULP's records, with no timestamp. */
static enum tw_status write_pulp(uint8_t *out, size_t *size, const struct tw_payload *payload,
                                 unsigned payload_size)
{
    if (payload_size > LENGTH_MASK || *size < TW_ETRACE_RECORD)
        return TW_E_ARGUMENT;
    memset(out, 0, TW_ETRACE_RECORD);
    out[TW_ETRACE_RECORD - 1] = (uint8_t)(payload_size | 0x80);
    for (unsigned i = 0; i < payload_size; i++)
        out[TW_ETRACE_RECORD - 10 - i] = payload->bytes[i];
    *size = TW_ETRACE_RECORD;
    return TW_OK;
}

/* Timestamp and index behind the reference flow's header; returns its size. */
static unsigned put_siemens(const struct tw_etrace_transport *transport, uint8_t *header,
                            const struct tw_etrace_frame *frame, unsigned payload_size)
{
    unsigned size = 1;

    header[0] = (uint8_t)(payload_size | type_of_kind(2, frame->kind) << 5 |
                          (frame->has_stamp ? 0x80u : 0));
    for (unsigned i = 0; frame->has_stamp && i < transport->timestamp_bytes; i++)
        header[size++] = (uint8_t)(frame->stamp >> 8 * i);
    for (unsigned i = 0; i < transport->srcid_bits; i += 8)
        header[size++] = (uint8_t)(frame->source >> i);
    return size;
}

enum tw_status tw_etrace_frame_write(const struct tw_etrace_transport *transport, uint8_t *out,
                                     size_t *size, const struct tw_etrace_frame *frame,
                                     struct tw_payload *payload)
{
    uint8_t header[12] = { 0 };
    unsigned payload_size, header_size = 1;

    if (frame->kind == TW_ETRACE_FRAME_NULL) {
        /* All of a run: where there are blocks, what comes next has its place in one. */
        const size_t run = frame->size ? frame->size : 1;
        const bool fits = *size >= run;

        if (fits)
            memset(out, 0, run);
        *size = run;
        return fits ? TW_OK : TW_E_ROOM;
    }
    if (transport->encapsulation == TW_ETRACE_ENCAP_RISCV ||
        transport->encapsulation == TW_ETRACE_ENCAP_SMI)
        return write_packed(transport, out, size, frame, payload);
    payload_size = tw_payload_finish(payload);
    if (transport->encapsulation == TW_ETRACE_ENCAP_PULP)
        return write_pulp(out, size, payload, payload_size);
    if (transport->encapsulation == TW_ETRACE_ENCAP_SIEMENS) {
        header_size = put_siemens(transport, header, frame, payload_size);
    } else if (transport->encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2) {
        header[0] = (uint8_t)(payload_size | type_of_kind(2, frame->kind) << 5);
    } else if (transport->encapsulation == TW_ETRACE_ENCAP_ATB) {
        header[0] = (uint8_t)(payload_size | (frame->has_stamp ? 0x20u : 0));
        if (frame->has_stamp)
            for (unsigned i = 0; i < transport->timestamp_bytes; i++)
                header[header_size++] = (uint8_t)(frame->stamp >> 8 * i);
    } else {
        header_size = 3;
        header[0] = (uint8_t)(payload_size + 3);
        header[1] = (uint8_t)frame->source;
        header[2] = (uint8_t)(frame->source >> 8);
        if (payload_size + 3 > LENGTH_MASK)
            return TW_E_ARGUMENT;
    }
    return write_whole(out, size, header, header_size, payload, payload_size);
}
