/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether two packets are the same in all that their type has; for tests and fuzz targets. */
#ifndef PTM_TEST_SAME_H
#define PTM_TEST_SAME_H

#include <stddef.h>
#include <string.h>

#include "ptm/packet.h"

/* Bytes of the union that a type has; the frequent types have fewer than the others. */
static inline size_t tw_ptm_test_size(uint8_t type)
{
    return type == TW_PTM_ATOM ? 2
                               : offsetof(struct tw_ptm_packet, has_context_id) + 1 -
                                     offsetof(struct tw_ptm_packet, atoms);
}

static inline bool tw_ptm_is_same(const struct tw_ptm_packet *packet,
                                  const struct tw_ptm_packet *other)
{
    enum { AT = offsetof(struct tw_ptm_packet, atoms) };
    const size_t first = offsetof(struct tw_ptm_packet, has_reserved) + 1;

    return memcmp(packet, other, first) == 0 &&
           memcmp((const uint8_t *)packet + AT, (const uint8_t *)other + AT,
                  tw_ptm_test_size(packet->base.type)) == 0;
}

#endif
