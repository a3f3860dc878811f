/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: packets to bytes, the exact inverse of packet.c. */
#include "skeleton/packet.h"

#include "base/bytes.h"

enum tw_status tw_skeleton_write(struct tw_skeleton_reader *writer, uint8_t *out, size_t *size,
                                 const struct tw_skeleton_packet *packet)
{
    struct tw_writer to = { .at = out, .end = out + *size };

    (void)writer; /* no packet depends on the one before it */
    switch (packet->base.type) {
    case TW_SKELETON_SYNC:
        tw_write_le(&to, (uint64_t)0x80 << 56, 8);
        break;
    case TW_SKELETON_DATA:
        tw_write_u8(&to, 0x01);
        tw_write_u8(&to, packet->data);
        break;
    case TW_SKELETON_TIMESTAMP:
        tw_write_u8(&to, 0x02);
        tw_write_uleb(&to, packet->timestamp, 9);
        break;
    case TW_SKELETON_OVERFLOW:
        tw_write_u8(&to, 0x03);
        break;
    default:
        return TW_E_ARGUMENT;
    }
    *size = (size_t)(to.at - out) + to.missing;
    return to.missing ? TW_E_ROOM : TW_OK;
}
