/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: packets to text. */
#include <inttypes.h>

#include "skeleton/packet.h"

/* One list: what a type is called, and what it is to the rest of the library. */
const struct tw_packet_type tw_skeleton_types[TW_SKELETON_TYPES] = {
    [TW_SKELETON_NOT_SYNC] = { "NOTSYNC", TW_PACKET_NOT_SYNC },
    [TW_SKELETON_RESERVED] = { "RESERVED", TW_PACKET_BAD },
    [TW_SKELETON_INCOMPLETE] = { "INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_SKELETON_SYNC] = { "SYNC", TW_PACKET_SYNC },
    [TW_SKELETON_DATA] = { "DATA", TW_PACKET_DATA },
    [TW_SKELETON_TIMESTAMP] = { "TIMESTAMP", TW_PACKET_TIME },
    [TW_SKELETON_OVERFLOW] = { "OVERFLOW", TW_PACKET_OVERFLOW },
};

const char *tw_skeleton_type_name(unsigned type)
{
    return type < TW_SKELETON_TYPES ? tw_skeleton_types[type].name : "UNKNOWN";
}

void tw_skeleton_print(struct tw_text *out, const void *packet)
{
    const struct tw_skeleton_packet *from = packet;

    tw_text_add(out, tw_skeleton_type_name(from->base.type));
    switch (from->base.type) {
    case TW_SKELETON_RESERVED:
    case TW_SKELETON_INCOMPLETE:
        tw_text_format(out, " header 0x%02x", from->header);
        break;
    case TW_SKELETON_DATA:
        tw_text_format(out, " 0x%02x", from->data);
        break;
    case TW_SKELETON_TIMESTAMP:
        tw_text_format(out, " %" PRIu64, from->timestamp);
        break;
    default:
        break;
    }
}

void tw_skeleton_json(struct tw_text *out, const void *packet)
{
    const struct tw_skeleton_packet *from = packet;

    switch (from->base.type) {
    case TW_SKELETON_DATA:
        tw_json_hex(out, "value", from->data);
        break;
    case TW_SKELETON_TIMESTAMP:
        tw_json_u64(out, "ts", from->timestamp);
        break;
    default:
        break;
    }
}
