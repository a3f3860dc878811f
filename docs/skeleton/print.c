/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: packets to text. */
#include <inttypes.h>

#include "skeleton/packet.h"

/* One list: the name stands beside its number. */
static const char *const names[TW_SKELETON_TYPES] = {
    [TW_SKELETON_NOT_SYNC] = "NOTSYNC",
    [TW_SKELETON_RESERVED] = "RESERVED",
    [TW_SKELETON_INCOMPLETE] = "INCOMPLETE_EOT",
    [TW_SKELETON_SYNC] = "SYNC",
    [TW_SKELETON_DATA] = "DATA",
    [TW_SKELETON_TIMESTAMP] = "TIMESTAMP",
    [TW_SKELETON_OVERFLOW] = "OVERFLOW",
};

const char *tw_skeleton_type_name(unsigned type)
{
    return type < TW_SKELETON_TYPES ? names[type] : "UNKNOWN";
}

void tw_skeleton_print(struct tw_text *out, const void *packet)
{
    const struct tw_skeleton_packet *from = packet;

    tw_text_add(out, tw_skeleton_type_name(from->head.type));
    switch (from->head.type) {
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

    switch (from->head.type) {
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
