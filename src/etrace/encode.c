/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to bytes: the inverse of packet.c. */
#include "etrace/packet.h"

/* irreport and irdepth behind a bit `before`; they have as many bits as irdepth_bits says. */
static uint64_t irdepth_of(const struct tw_etrace_packet *packet, unsigned before)
{
    const unsigned bit = before ^ (packet->irreport ? 1u : 0);
    uint64_t irdepth = packet->irdepth;

    /* 6.6.3: filler repeats the bit, and so is not sent; some encoders send something else */
    if (!packet->irreport && !(packet->has & TW_ETRACE_HAS_IRDEPTH))
        irdepth = bit ? UINT64_MAX : 0;
    return bit | irdepth << 1;
}

static unsigned irdepth_bits(const struct tw_etrace_shape *shape)
{
    return 1u + shape->irdepth;
}

/* The address alone is compressed: to the bytes that hold it with a sign, and one bit more. */
static void put_bytes(const struct tw_etrace_shape *shape, struct tw_payload *out,
                      uint64_t field, bool is_signed)
{
    const uint64_t value = is_signed && shape->address_bits < 64
                               ? tw_sign_extend(field, shape->address_bits)
                               : field;
    const uint64_t sign = is_signed && value >> 63 ? UINT64_MAX : 0;
    unsigned bytes = 1;

    while (bytes < 8 && (value ^ sign) >> (8 * bytes - 1))
        bytes++;
    tw_payload_put(out, value, 8 * bytes < 64 ? 8 * bytes : 64);
    tw_payload_put(out, sign, 1);
}

static void put_field(const struct tw_etrace_shape *shape, struct tw_payload *out,
                      uint64_t field, bool is_signed)
{
    if (shape->compresses_addresses)
        put_bytes(shape, out, field, is_signed);
    else
        tw_payload_put(out, field, shape->address_bits);
}

static void put_address(const struct tw_etrace_shape *shape, struct tw_payload *out,
                        const struct tw_etrace_packet *packet)
{
    const unsigned sign = (unsigned)(packet->address >> (shape->address_width - 1)) & 1;
    unsigned notify, updiscon;

    put_field(shape, out, packet->field, true);
    notify = shape->never_notifies ? sign : tw_payload_top(out) ^ (packet->notify ? 1u : 0);
    updiscon = notify ^ (packet->updiscon ? 1u : 0);
    tw_payload_put(out, notify | updiscon << 1 | irdepth_of(packet, updiscon) << 2,
                   2 + irdepth_bits(shape));
}

static bool build_f0(const struct tw_etrace_shape *shape, uint32_t options,
                     struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    const unsigned use = packet->base.type == TW_ETRACE_F0S1;
    const uint32_t needed = use ? TW_ETRACE_JUMP_TARGET_CACHE : TW_ETRACE_BRANCH_PREDICTION;
    const uint32_t other = use ? TW_ETRACE_BRANCH_PREDICTION : TW_ETRACE_JUMP_TARGET_CACHE;

    if (!shape->subformat && (!(options & needed) || (options & other)))
        return false;
    tw_payload_put(out, 0, 2);
    tw_payload_put(out, use, shape->subformat);
    if (use == 0) {
        tw_payload_put(out, packet->branch_count, 32);
        tw_payload_put(out, packet->branch_fmt, 2);
        if (packet->branch_fmt)
            put_address(shape, out, packet);
        return packet->branch_fmt != 1;
    }
    if (!shape->index || packet->branches > 31)
        return false;
    tw_payload_put(out, packet->index, shape->index);
    tw_payload_put(out, packet->branches, 5);
    tw_payload_put(out, packet->branch_map, tw_etrace_map_bits(packet->branches));
    tw_payload_put(out, irdepth_of(packet, tw_payload_top(out)), irdepth_bits(shape));
    return true;
}

static bool build_f1(const struct tw_etrace_shape *shape, struct tw_payload *out,
                     const struct tw_etrace_packet *packet)
{
    if (packet->branches > 31)
        return false;
    /* Behind the format their number, 0 for all that fit, and the map. */
    tw_payload_put(out,
                   1u | (uint32_t)packet->branches << 2 | (uint64_t)packet->branch_map << 7,
                   7 + (packet->branches ? tw_etrace_map_bits(packet->branches) : 31));
    if (packet->branches == 0)
        return true;
    put_address(shape, out, packet);
    return true;
}

static void put_support(const struct tw_etrace_shape *shape, struct tw_payload *out,
                        const struct tw_etrace_packet *packet)
{
    tw_payload_put(out, packet->ienable, 1);
    tw_payload_put(out, packet->encoder_mode, shape->encoder_mode);
    tw_payload_put(out, packet->qual_status, 2);
    tw_payload_put(out, packet->ioptions, shape->ioptions);
    if (shape->has_data_options) {
        tw_payload_put(out, packet->denable, 1);
        tw_payload_put(out, packet->dloss, 1);
        tw_payload_put(out, packet->doptions, shape->doptions);
    }
}

static void build_f3(const struct tw_etrace_shape *shape, uint32_t options,
                     struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    const unsigned subformat = (unsigned)packet->base.type - TW_ETRACE_F3S0;

    tw_payload_put(out, 3, 2);
    tw_payload_put(out, subformat, 2);
    if (subformat == 3) {
        put_support(shape, out, packet);
        return;
    }
    if (subformat != 2)
        tw_payload_put(out, packet->branch, 1);
    tw_payload_put(out, packet->privilege, shape->privilege);
    tw_payload_put(out, packet->time, shape->time);
    tw_payload_put(out, packet->context, shape->context);
    if (subformat == 1) {
        const bool is_inferred = options & TW_ETRACE_IMPLICIT_EXCEPTION;

        tw_payload_put(out, packet->ecause, shape->ecause);
        tw_payload_put(out, packet->interrupt, 1);
        if (shape->has_thaddr)
            tw_payload_put(out, packet->thaddr, 1);
        if (!is_inferred || (shape->has_thaddr && !packet->thaddr))
            put_field(shape, out, packet->field, false);
        if (shape->tval_of_interrupts || !packet->interrupt)
            tw_payload_put(out, packet->tval, shape->address_width);
    } else if (subformat == 0) {
        put_field(shape, out, packet->field, false);
    }
}

bool tw_etrace_build(const struct tw_etrace_shape *shape, uint32_t options,
                     struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    tw_payload_begin(out, shape->compresses_addresses);
    switch (packet->base.type) {
    case TW_ETRACE_F0S0:
    case TW_ETRACE_F0S1:
        return build_f0(shape, options, out, packet);
    case TW_ETRACE_F1:
        return build_f1(shape, out, packet);
    case TW_ETRACE_F2:
        tw_payload_put(out, 2, 2);
        put_address(shape, out, packet);
        return true;
    case TW_ETRACE_F3S0:
    case TW_ETRACE_F3S1:
    case TW_ETRACE_F3S2:
    case TW_ETRACE_F3S3:
        build_f3(shape, options, out, packet);
        return true;
    default:
        return false;
    }
}

enum tw_status tw_etrace_write(struct tw_etrace_reader *codec, uint8_t *out, size_t *size,
                               const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;
    const bool is_data = type >= TW_ETRACE_LOAD && type <= TW_ETRACE_CSR;
    const struct tw_etrace_frame frame = {
        .kind = type == TW_ETRACE_NULL ? TW_ETRACE_FRAME_NULL
                : is_data              ? TW_ETRACE_FRAME_DATA
                                       : TW_ETRACE_FRAME_INST,
        .size = type == TW_ETRACE_NULL ? packet->base.size : 0,
        .flow = packet->flow,
        .source = packet->source,
        .has_stamp = packet->has & TW_ETRACE_HAS_STAMP,
        .stamp = packet->stamp,
    };
    struct tw_payload payload = { .at = 0 };
    bool is_built = true;
    enum tw_status status;

    if (is_data)
        is_built = tw_etraced_build(&codec->data_shape, codec->options, &payload, packet);
    else if (type != TW_ETRACE_NULL)
        is_built = tw_etrace_build(&codec->shape, codec->options, &payload, packet);
    if (!is_built)
        return TW_E_ARGUMENT;
    status = tw_etrace_frame_write(&codec->transport, out, size, &frame, &payload);
    if (status == TW_OK && type == TW_ETRACE_F3S3)
        codec->options = tw_etrace_options(&codec->shape, codec->options, packet);
    return status;
}
