/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: data and local timestamps, one packet or many at a time. */
#include "itm/packet.h"

/* What is written at once lies in a row. */
_Static_assert(offsetof(struct tw_packet, spare_bits) == offsetof(struct tw_packet, type) + 3,
               "from the type to spare_bits");
_Static_assert(offsetof(struct tw_itm_packet, freq_change) ==
                   offsetof(struct tw_itm_packet, size) + 3,
               "from the size to freq_change");

/* Data and local timestamps, up to `end` and as long as no question arises.  There are TW_ITM_AHEAD
   bytes at least.  Returns where the next packet goes; `in` and the reader move on.  A function of
   its own, so that all it works with stays in registers. */
static TW_NOINLINE struct tw_itm_packet *read_frequent(struct tw_itm_reader *reader,
                                                       struct tw_itm_packet *packet,
                                                       const struct tw_itm_packet *end,
                                                       struct tw_bytes *in)
{
    const uint8_t *at = in->at, *const last = in->end - TW_ITM_AHEAD;
    uint64_t index = reader->offset;

    for (; at <= last && packet != end; packet++) {
        const struct tw_itm_frequent *frequent = &reader->frequent[*at];
        unsigned size = frequent->size;

        memcpy((char *)packet + offsetof(struct tw_itm_packet, size), frequent->fields, 4);
        if (TW_LIKELY(size)) {
            if (TW_UNLIKELY(tw_load_le16(at + size - 1) == 0))
                break; /* zeros that may be synchronization */
            packet->value = tw_load_le32(at + 1) & frequent->mask;
        } else {
            uint32_t delta;

            size = frequent->is_local ? tw_itm_local(at, &delta) : 0;
            if (TW_UNLIKELY(!size))
                break;
            packet->value = delta;
            packet->size = (uint8_t)(size > 1 ? size - 1 : 1);
        }
        packet->base.index = packet->base.offset = index;
        packet->base.size = size;
        memcpy((char *)packet + offsetof(struct tw_packet, type), frequent->head, 4);
        packet->wrap = false;
        at += size;
        index += size;
    }
    in->at = at;
    reader->offset = index;
    return packet;
}

static bool may_be_frequent(const struct tw_itm_reader *reader, size_t size)
{
    return reader->is_synced && !reader->is_start && size >= TW_ITM_AHEAD;
}

enum tw_status tw_itm_read(struct tw_itm_reader *reader, struct tw_itm_packet *packet,
                           const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };

    if (TW_LIKELY(may_be_frequent(reader, size)) &&
        read_frequent(reader, packet, packet + 1, &in) != packet)
        return TW_OK;
    return tw_itm_read_any(reader, packet, data, size, is_last);
}

size_t tw_itm_read_batch(struct tw_itm_reader *reader, struct tw_itm_packet *packets,
                         size_t room, size_t *used, const uint8_t *data, size_t size)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    struct tw_itm_packet *packet = packets, *const end = packets + room;

    while (packet != end) {
        if (TW_LIKELY(may_be_frequent(reader, tw_bytes_left(&in)))) {
            packet = read_frequent(reader, packet, end, &in);
            if (packet == end)
                break;
        }
        if (tw_itm_read_any(reader, packet, in.at, tw_bytes_left(&in), false) != TW_OK)
            break;
        in.at += packet->base.size;
        packet++;
    }
    *used = (size_t)(in.at - data);
    return (size_t)(packet - packets);
}
