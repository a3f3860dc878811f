/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether two packets are the same in all that their type has; for tests and fuzz targets. */
#ifndef ETMV3_TEST_SAME_H
#define ETMV3_TEST_SAME_H

#include <stddef.h>
#include <string.h>

#include "etmv3/packet.h"

/* Bytes of the union that a type has; the frequent types have fewer than the others. */
static inline size_t tw_etmv3_test_size(uint8_t type)
{
    const size_t at = offsetof(struct tw_etmv3_packet, atoms);

    switch (type) {
    case TW_ETMV3_P_HDR:
        return offsetof(struct tw_etmv3_packet, header) + 1 - at;
    case TW_ETMV3_NORM_DATA:
        return offsetof(struct tw_etmv3_packet, is_big_endian) + 1 - at;
    default:
        return offsetof(struct tw_etmv3_packet, is_in_progress) + 1 - at;
    }
}

static inline bool tw_etmv3_is_same(const struct tw_etmv3_packet *packet,
                                    const struct tw_etmv3_packet *other)
{
    enum { AT = offsetof(struct tw_etmv3_packet, atoms) };
    const size_t first = offsetof(struct tw_etmv3_packet, has_reserved) + 1;

    return memcmp(packet, other, first) == 0 &&
           memcmp((const uint8_t *)packet + AT, (const uint8_t *)other + AT,
                  tw_etmv3_test_size(packet->base.type)) == 0;
}

#endif
