/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton packets: what their lines say. */
#include "base/members.h"
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

enum { HEADER, DATA, TIMESTAMP, MEMBERS };

/* All that a line may say: the key in JSON and CSV, the kind of value, the words before it in text.  Rows
   that are only for text are TW_TOLD, those that text leaves out TW_LISTED. */
static const struct tw_member_type rows[MEMBERS] = {
    [HEADER] = TW_TOLD(TEXT, " header "),
    [DATA] = TW_SHOWN("value", HEX, " "),
    [TIMESTAMP] = TW_SHOWN("ts", DECIMAL, " "),
};

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *packet)
{
    const struct tw_skeleton_packet *from = packet;

    (void)protocol;
    switch (from->base.type) {
    case TW_SKELETON_RESERVED:
    case TW_SKELETON_INCOMPLETE:
        tw_put_format(out, HEADER, "0x%02x", from->header);
        break;
    case TW_SKELETON_DATA:
        tw_put(out, DATA, from->data);
        break;
    case TW_SKELETON_TIMESTAMP:
        tw_put(out, TIMESTAMP, from->timestamp);
        break;
    default:
        break;
    }
}

const struct tw_member_table tw_skeleton_members = { rows, MEMBERS, put_members, NULL };
