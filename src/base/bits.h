/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads bit fields, least significant bit first, over bytes. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_bits {
    const uint8_t *bytes;
    size_t size_bits;
    size_t at; /* next bit */
    bool short_read;
};

/* `count` bits, at most 64; bits beyond the end read as zero and set short_read. */
static inline uint64_t tw_bits_get(struct tw_bits *in, unsigned count)
{
    uint64_t value = 0;

    for (unsigned done = 0; done < count;) {
        const unsigned shift = in->at & 7;
        unsigned take = 8 - shift;

        if (take > count - done)
            take = count - done;
        if (in->at + take > in->size_bits) {
            in->short_read = true;
            take = (unsigned)(in->size_bits - in->at);
            if (take == 0)
                break;
        }
        value |= (uint64_t)((uint32_t)in->bytes[in->at >> 3] >> shift & ((1u << take) - 1))
                 << done;
        in->at += take;
        done += take;
    }
    return value;
}

#endif
