/* SPDX-License-Identifier: BSD-2-Clause */
/* What data packets mean: accesses with their addresses and values. */
#include "etrace/decode.h"

static struct tw_element *add(const struct tw_stage *stage, struct tw_etrace_waiting *access,
                              unsigned type, unsigned flags, unsigned size)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_element *out = &access->elements[access->count++];

    *out = (struct tw_element){ .index = stage->index, .type = (uint8_t)type };
    out->flags = (uint8_t)flags;
    out->kind = (uint8_t)tw_etraced_kind(&decoder->codec.data_shape, &decoder->packet);
    out->data_address = flags & TW_DATA_HAS_ADDRESS ? decoder->packet.address : 0;
    out->size = (uint8_t)size;
    return out;
}

/* A value, of more than 8 bytes as two. */
static void add_value(const struct tw_stage *stage, struct tw_etrace_waiting *access,
                      unsigned flags, uint64_t value, uint64_t high)
{
    const bool is_lost = tw_etrace_of(stage)->packet.has & TW_ETRACE_LOST_VALUE;
    const unsigned size = 1u << access->size;

    flags |= is_lost ? 0u : TW_DATA_HAS_VALUE;
    add(stage, access, TW_ELEMENT_DATA_VALUE, flags, size > 8 ? 8 : size)->data_value =
        is_lost ? 0 : value;
    if (size > 8) {
        struct tw_element *out = add(stage, access, TW_ELEMENT_DATA_VALUE, flags, 8);

        out->data_value = is_lost ? 0 : high;
        if (flags & TW_DATA_HAS_ADDRESS)
            out->data_address += 8;
    }
}

void tw_etrace_take_data(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;
    const bool is_response =
        type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA;
    struct tw_etrace_waiting access = { .is_response = is_response,
                                        .is_split = type == TW_ETRACE_SPLIT_LOAD_ADDR ||
                                                    type == TW_ETRACE_SPLIT_ATOMIC_ADDR,
                                        .lrid = packet->lrid };
    unsigned flags;

    packet->address = 0;
    tw_etraced_resolve(&decoder->codec.data_shape, &decoder->codec.history, packet);
    access.size = packet->data_size;
    flags = (packet->has & TW_ETRACE_HAS_ADDRESS) || (is_response && packet->address)
                ? TW_DATA_HAS_ADDRESS
                : 0;
    if (packet->has & TW_ETRACE_LOST_ADDRESS)
        flags = 0;
    if (packet->has & TW_ETRACE_HAS_ADDRESS)
        (void)add(stage, &access, TW_ELEMENT_DATA_ADDR, flags, 1u << packet->data_size);
    if (packet->has & TW_ETRACE_HAS_DATA)
        add_value(stage, &access, flags, packet->value, packet->value_high);
    if (packet->has & TW_ETRACE_HAS_OPERAND)
        add_value(stage, &access, flags | TW_DATA_OPERAND, packet->operand_value,
                  packet->operand_value_high);
    if (access.count)
        tw_etrace_tie_access(stage, &access);
}
