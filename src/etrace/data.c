/* SPDX-License-Identifier: BSD-2-Clause */
/* What data packets mean: accesses with their addresses and values. */
#include "etrace/decode.h"

static void emit_value(struct tw_stage *stage, unsigned flags, uint64_t address, uint64_t value,
                       unsigned size)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    struct tw_element *out = tw_stage_add(stage, TW_ELEMENT_DATA_VALUE, stage->index);

    out->flags =
        (uint8_t)(flags | (packet->has & TW_ETRACE_LOST_VALUE ? 0u : TW_DATA_HAS_VALUE));
    out->kind = (uint8_t)tw_etraced_kind(&decoder->codec.data_shape, packet);
    out->data_address = flags & TW_DATA_HAS_ADDRESS ? address : 0;
    out->data_value = packet->has & TW_ETRACE_LOST_VALUE ? 0 : value;
    out->size = (uint8_t)size;
}

void tw_etrace_take_data(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;
    const bool is_response =
        type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA;
    unsigned flags, size;

    packet->address = 0;
    tw_etraced_resolve(&decoder->codec.data_shape, &decoder->codec.history, packet);
    size = 1u << packet->data_size;
    flags = (packet->has & TW_ETRACE_HAS_ADDRESS) || (is_response && packet->address)
                ? TW_DATA_HAS_ADDRESS
                : 0;
    if (packet->has & TW_ETRACE_LOST_ADDRESS)
        flags = 0;
    if (packet->has & TW_ETRACE_HAS_ADDRESS) {
        struct tw_element *out = tw_stage_add(stage, TW_ELEMENT_DATA_ADDR, stage->index);

        out->flags = (uint8_t)flags;
        out->kind = (uint8_t)tw_etraced_kind(&decoder->codec.data_shape, packet);
        out->data_address = flags ? packet->address : 0;
        out->size = (uint8_t)size;
    }
    if (packet->has & TW_ETRACE_HAS_DATA) {
        emit_value(stage, flags, packet->address, packet->value, size > 8 ? 8 : size);
        if (size > 8)
            emit_value(stage, flags, packet->address + 8, packet->value_high, 8);
    }
    if (packet->has & TW_ETRACE_HAS_OPERAND) {
        flags |= TW_DATA_OPERAND;
        emit_value(stage, flags, packet->address, packet->operand_value, size > 8 ? 8 : size);
        if (size > 8)
            emit_value(stage, flags, packet->address + 8, packet->operand_value_high, 8);
    }
}
