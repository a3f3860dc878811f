/* SPDX-License-Identifier: BSD-2-Clause */
/* The pins of a PIB sink: less than 8 of them, and a message may begin at any clock edge.  Idle pins are ones. */
#include <string.h>

#include "ntrace/packet.h"

enum { ONES = 8 }; /* so many in a row are no part of a message, or its end */

static unsigned bit_at(const uint8_t *data, uint64_t at)
{
    return (unsigned)data[at / 8] >> (at % 8) & 1u;
}

static uint8_t byte_at(const uint8_t *data, uint64_t at)
{
    const unsigned shift = at % 8;

    if (!shift)
        return data[at / 8];
    return (uint8_t)((unsigned)data[at / 8] >> shift | (unsigned)data[at / 8 + 1]
                                                           << (8 - shift));
}

static uint64_t skip_ones(const uint8_t *data, uint64_t at, uint64_t end)
{
    while (at < end && bit_at(data, at))
        at += at % 8 == 0 && data[at / 8] == 0xff ? 8 : 1;
    return at;
}

/* The first edge from `at` on where a message must begin: behind enough ones, with two zeros. */
static uint64_t find_begin(const uint8_t *data, uint64_t at, uint64_t end, unsigned pins)
{
    while (at < end) {
        const uint64_t zero = skip_ones(data, at, end);

        if (zero - at >= ONES && zero + 1 < end && zero % pins == 0 && !bit_at(data, zero + 1))
            return zero;
        at = zero + 1;
    }
    return end;
}

void tw_ntrace_pib_align(uint8_t *out, const uint8_t *data, size_t size, unsigned pins,
                         bool starts_inside)
{
    const uint64_t end = (uint64_t)size * 8;
    uint64_t at = starts_inside ? find_begin(data, 0, end, pins) : 0;

    memset(out, 0xff, size);
    while (at < end) {
        unsigned mseo = TW_NTRACE_MSEO_MIDDLE;

        at = skip_ones(data, at, end);
        at -= at % pins;
        while (mseo != TW_NTRACE_MSEO_END && at + 8 <= end) {
            out[at / 8] = byte_at(data, at);
            mseo = out[at / 8] & 3;
            at += 8;
            if (mseo == TW_NTRACE_MSEO_RESERVED) { /* an edge was missed */
                at = find_begin(data, at, end, pins);
                break;
            }
        }
        if (at + 8 > end)
            break;
    }
}
