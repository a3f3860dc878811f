/* SPDX-License-Identifier: BSD-2-Clause */
/* Data packets to payloads: the inverse of packet.c. */
#include "etraced/packet.h"

static void put_wide(struct tw_payload *out, uint64_t low, uint64_t high, unsigned bits)
{
    tw_payload_put(out, low, bits < 64 ? bits : 64);
    if (bits > 64)
        tw_payload_put(out, high, bits - 64);
}

static void put_data(struct tw_payload *out, const struct tw_etrace_packet *packet,
                     unsigned bits)
{
    put_wide(out, packet->data, packet->data_high, bits);
}

static void put_counted_data(struct tw_payload *out, const struct tw_etrace_packet *packet,
                             unsigned bits)
{
    tw_payload_put(out, packet->data_len, bits);
    put_data(out, packet, 8 * (packet->data_len + 1u));
}

static void put_operand(struct tw_payload *out, const struct tw_etrace_packet *packet,
                        unsigned bits)
{
    tw_payload_put(out, packet->op_len, bits);
    put_wide(out, packet->operand, packet->operand_high, 8 * (packet->op_len + 1u));
}

static void build_load_store(const struct tw_etraced_shape *shape, uint32_t options,
                             struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    tw_payload_put(out, packet->data_size, shape->size);
    if (packet->base.type == TW_ETRACE_SPLIT_LOAD_ADDR) {
        tw_payload_put(out, packet->lrid, shape->lrid);
        tw_payload_put(out, packet->diff, 1);
        tw_payload_put(out, packet->field, shape->address_width);
    } else if (options & TW_ETRACE_NO_DATA) {
        tw_payload_put(out, packet->diff, 1);
        tw_payload_put(out, packet->field, shape->address_width);
    } else if (options & TW_ETRACE_NO_ADDRESS) {
        tw_payload_put(out, packet->diff, shape->diff);
        put_data(out, packet, shape->data_width);
    } else {
        tw_payload_put(out, packet->diff, 2);
        put_counted_data(out, packet, packet->data_size);
        tw_payload_put(out, packet->field, shape->address_width);
    }
}

static void build_atomic(const struct tw_etraced_shape *shape, uint32_t options,
                         struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    const bool has_data = !(options & TW_ETRACE_NO_DATA);
    const bool has_address = !has_data || !(options & TW_ETRACE_NO_ADDRESS);

    tw_payload_put(out, packet->subtype, 3);
    tw_payload_put(out, packet->data_size - (shape->is_seed ? 2u : 0), shape->atomic_size);
    if (shape->is_split)
        tw_payload_put(out, packet->lrid, shape->lrid);
    tw_payload_put(out, packet->diff,
                   !has_data                         ? 1
                   : has_address && !shape->is_split ? 2
                                                     : shape->diff);
    if (has_data)
        put_operand(out, packet, packet->data_size);
    if (has_data && !shape->is_split) {
        if (has_address)
            put_counted_data(out, packet, packet->data_size);
        else
            put_data(out, packet, shape->data_width);
    }
    if (has_address)
        tw_payload_put(out, packet->field, shape->address_width);
}

static void build_split_data(const struct tw_etraced_shape *shape, struct tw_payload *out,
                             const struct tw_etrace_packet *packet)
{
    const bool is_load = packet->base.type == TW_ETRACE_SPLIT_LOAD_DATA;

    if (is_load)
        tw_payload_put(out, packet->data_size, shape->size);
    tw_payload_put(out, packet->lrid, shape->lrid);
    tw_payload_put(out, packet->resp, 2);
    if (packet->resp == 0)
        return;
    if (is_load)
        put_data(out, packet, shape->data_width);
    else
        put_counted_data(out, packet, packet->data_size);
}

static void build_csr(const struct tw_etraced_shape *shape, uint32_t options,
                      struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    const bool has_data = !(options & TW_ETRACE_NO_DATA);

    tw_payload_put(out, packet->subtype, shape->is_seed && !has_data ? 3 : 2);
    tw_payload_put(out, packet->diff, has_data ? shape->diff : shape->csr_diff);
    if (has_data)
        put_counted_data(out, packet, shape->csr_len);
    tw_payload_put(out, packet->field >> 6, 6);
    if (has_data && (packet->field >> 10 & 3) != 3)
        put_operand(out, packet, shape->csr_len);
    tw_payload_put(out, packet->field, 6);
}

bool tw_etraced_build(const struct tw_etraced_shape *shape, uint32_t options,
                      struct tw_payload *out, const struct tw_etrace_packet *packet)
{
    *out = (struct tw_payload){ .at = 0 };
    if (packet->data_len > 15 || packet->op_len > 15)
        return false;
    tw_payload_put(out, packet->format, shape->format);
    switch (packet->base.type) {
    case TW_ETRACE_LOAD:
    case TW_ETRACE_STORE:
    case TW_ETRACE_SPLIT_LOAD_ADDR:
        build_load_store(shape, options, out, packet);
        return true;
    case TW_ETRACE_ATOMIC:
    case TW_ETRACE_SPLIT_ATOMIC_ADDR:
        build_atomic(shape, options, out, packet);
        return true;
    case TW_ETRACE_SPLIT_LOAD_DATA:
    case TW_ETRACE_SPLIT_ATOMIC_DATA:
        build_split_data(shape, out, packet);
        return true;
    case TW_ETRACE_CSR:
        build_csr(shape, options, out, packet);
        return true;
    default:
        return false;
    }
}
