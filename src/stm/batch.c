/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: the packets that streams are made of, one or many at a time. */
#include "stm/packet.h"

/* What is written at once lies in a row. */
_Static_assert(offsetof(struct tw_packet, id) == offsetof(struct tw_packet, type) + 1,
               "type and ID");
_Static_assert(offsetof(struct tw_stm_packet, channel) ==
                   offsetof(struct tw_stm_packet, master) + 2,
               "master and channel");

/* Master and channel as they lie in a packet. */
static uint32_t ids_of(const struct tw_stm_reader *reader)
{
    const uint16_t both[2] = { reader->master, reader->channel };
    uint32_t ids;

    memcpy(&ids, both, sizeof ids);
    return ids;
}

/* The packets that streams are made of, up to `end` and as long as no question arises: what is not
   for it comes before the next packet, or begins it.  FF is that, since a packet holds 16 nibbles
   F in a row at most, so that of an ASYNC which cuts it at least five follow.  There are
   TW_STM_AHEAD bytes at least.  Returns where the next packet goes; `in` and the reader move on. */
/* size: hot loop */
TW_INLINE struct tw_stm_packet *read_run(struct tw_stm_reader *reader,
                                         struct tw_stm_packet *packet,
                                         const struct tw_stm_packet *end, struct tw_bytes *in,
                                         const bool is_binary)
{
    const uint8_t *at = in->at, *const last = in->end - TW_STM_AHEAD;
    uint64_t index = reader->offset;
    unsigned skip = reader->is_high ? 4 : 0; /* bits; likewise the other sizes here */
    uint64_t window = tw_stm_window(at, skip);
    uint64_t time = reader->timestamp;
    uint32_t ids = ids_of(reader);

    for (; at <= last && packet != end; packet++) {
        const struct tw_stm_quick *quick = &reader->quick[window & 0xff];
        const uint64_t turned = tw_stm_turn(window);
        uint64_t value = turned >> quick->shift & quick->mask, new_time = time, stamp = 0;
        unsigned bits = quick->bits, time_bits = 0;

        if (TW_LIKELY(quick->kind == TW_STM_PLAIN)) {
            ; /* all is there */
        } else if (quick->kind == TW_STM_STAMPED &&
                   (time_bits = tw_stm_time_bits(quick, window, is_binary)) < quick->time_end) {
            stamp = new_time =
                tw_stm_binary(time, turned >> (quick->time_shift - time_bits), time_bits);
        } else if (quick->kind == TW_STM_WIDE) {
            value = tw_stm_nibbles_16(at, (skip + bits) / 4 - 16);
        } else if (quick->kind == TW_STM_LONG && is_binary &&
                   (tw_stm_window(at, skip + bits - 4) & 0x0f) <= 12) {
            const uint64_t field = tw_stm_window(at, skip + bits - 4);

            time_bits = (unsigned)field << 2 & 0x3c;
            value = tw_stm_nibbles_16(at, (skip + bits) / 4 - 17);
            stamp = new_time =
                tw_stm_binary(time, tw_stm_turn(field) >> (60 - time_bits), time_bits);
        } else if (quick->kind == TW_STM_SELECT) {
            if ((tw_stm_window(at, skip + bits) & 0xff) == 0xff)
                break;
            tw_stm_select(reader, quick->label[0], value);
            ids = ids_of(reader);
        } else {
            struct tw_stm_parsed parsed;
            uint64_t long_time = time; /* `time` itself stays in a register */

            if (quick->kind == TW_STM_SLOW ||
                !tw_stm_parse_long(reader, &parsed, &long_time, at, skip / 4))
                break;
            value = parsed.value;
            stamp = new_time = long_time;
            time_bits = 4 * parsed.time_nibbles;
        }
        bits += time_bits;
        packet->nibbles = bits / 4;
        bits += skip;
        window = tw_stm_window(at, bits);
        if (TW_UNLIKELY((window & 0xff) == 0xff))
            break;
        packet->base.index = packet->base.offset = index;
        packet->base.size = (bits + 7) / 8;
        memcpy((char *)packet + offsetof(struct tw_packet, type), quick->head, 2);
        packet->base.skip_bits = (uint8_t)skip;
        skip = bits & 4;
        packet->base.spare_bits = (uint8_t)skip;
        packet->value = value;
        packet->timestamp = stamp;
        memcpy((char *)packet + offsetof(struct tw_stm_packet, master), &ids, sizeof ids);
        packet->timestamp_bits = (uint8_t)time_bits;
        packet->has_timestamp = quick->has_time;
        packet->error = TW_ERROR_NONE;
        time = new_time;
        at += bits / 8;
        index += bits / 8;
    }
    in->at = at;
    reader->offset = index;
    reader->is_high = skip;
    reader->timestamp = time;
    return packet;
}

/* A function of its own, so that all it works with stays in registers. */
static TW_NOINLINE struct tw_stm_packet *read_frequent(struct tw_stm_reader *reader,
                                                       struct tw_stm_packet *packet,
                                                       const struct tw_stm_packet *end,
                                                       struct tw_bytes *in)
{
    return reader->version == 3 ? read_run(reader, packet, end, in, true)
                                : read_run(reader, packet, end, in, false);
}

enum tw_status tw_stm_read(struct tw_stm_reader *reader, struct tw_stm_packet *packet,
                           const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };

    if (TW_LIKELY(reader->is_synced && size > TW_STM_AHEAD) &&
        read_frequent(reader, packet, packet + 1, &in) != packet)
        return TW_OK;
    return tw_stm_read_any(reader, packet, data, size, is_last);
}

size_t tw_stm_read_batch(struct tw_stm_reader *reader, struct tw_stm_packet *packets,
                         size_t room, size_t *used, const uint8_t *data, size_t size)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    struct tw_stm_packet *packet = packets, *const end = packets + room;

    while (packet != end) {
        if (TW_LIKELY(reader->is_synced && tw_bytes_left(&in) > TW_STM_AHEAD)) {
            packet = read_frequent(reader, packet, end, &in);
            if (packet == end)
                break;
        }
        if (tw_stm_read_any(reader, packet, in.at, tw_bytes_left(&in), false) != TW_OK)
            break;
        in.at += packet->base.size - (packet->base.spare_bits != 0);
        packet++;
    }
    *used = (size_t)(in.at - data);
    return (size_t)(packet - packets);
}
