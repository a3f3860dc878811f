/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: packets to nibbles, the exact inverse of packet.c. */
#include "stm/packet.h"

/* Nibbles on their way into bytes, low half first. */
struct pen {
    struct tw_stm_half state;
    struct tw_writer to;
};

static void put(struct pen *pen, unsigned nibble)
{
    if (pen->state.is_open)
        tw_write_u8(&pen->to, (uint8_t)(pen->state.nibble | nibble << 4));
    else
        pen->state.nibble = (uint8_t)nibble;
    pen->state.is_open = !pen->state.is_open;
}

/* The low `count` nibbles, the highest of them first. */
static void put_value(struct pen *pen, uint64_t value, unsigned count)
{
    while (count--)
        put(pen, (unsigned)(value >> (4 * count)) & 0x0f);
}

static bool put_time(struct pen *pen, const struct tw_stm_packet *from)
{
    const unsigned nibbles = from->timestamp_bits / 4;
    const uint64_t time =
        pen->state.is_gray ? from->timestamp ^ from->timestamp >> 1 : from->timestamp;

    if (from->timestamp_bits % 4 || nibbles > 16 || nibbles == 13 || nibbles == 15)
        return false;
    put(pen, nibbles <= 12 ? nibbles : nibbles == 14 ? 0xd : 0xe);
    put_value(pen, time, nibbles);
    return true;
}

static bool put_packet(struct pen *pen, const struct tw_stm_packet *from)
{
    const struct tw_stm_rule *rule = tw_stm_rule_of(from->base.type);

    if (!rule || rule->type == TW_STM_RESERVED)
        return false;
    if (rule->type == TW_STM_ASYNC) {
        for (unsigned i = 0; i < TW_STM_ASYNC_RUN; i++)
            put(pen, 0x0f);
        put(pen, 0);
        return true;
    }
    if (rule->payload < 16 && from->value >> (4 * rule->payload))
        return false;
    if (rule->type == TW_STM_VERSION) {
        if (from->value != 3 && from->value != 4)
            return false;
        pen->state.is_gray = from->value == 4;
    }
    put_value(pen, rule->match >> (4 * (4 - rule->opcode)), rule->opcode);
    put_value(pen, from->value, rule->payload);
    return !rule->has_timestamp || put_time(pen, from);
}

enum tw_status tw_stm_put(struct tw_stm_half *half, uint8_t *out, size_t *size,
                          const struct tw_stm_packet *packet)
{
    struct pen pen = { .state = *half, .to = { .at = out, .end = out + *size } };

    if (!put_packet(&pen, packet))
        return TW_E_ARGUMENT;
    *size = (size_t)(pen.to.at - out) + pen.to.missing;
    if (pen.to.missing)
        return TW_E_ROOM;
    *half = pen.state;
    return TW_OK;
}

enum tw_status tw_stm_write(struct tw_stm_reader *writer, uint8_t *out, size_t *size,
                            const struct tw_stm_packet *packet)
{
    return tw_stm_put(&writer->half, out, size, packet);
}

enum tw_status tw_stm_write_flush(struct tw_stm_reader *writer, uint8_t *out, size_t *size)
{
    const struct tw_stm_packet null = { .base = { .type = TW_STM_NULL } };

    if (!writer->half.is_open) {
        *size = 0;
        return TW_OK;
    }
    return tw_stm_write(writer, out, size, &null);
}
