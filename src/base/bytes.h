/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes bytes.  Neither ever leaves its buffer: a short read gives zeros and a sticky
   mark that the caller tests once, a write that does not fit is counted but not done. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

struct tw_bytes {
    const uint8_t *at, *end;
    bool short_read;
};

static inline size_t tw_bytes_left(const struct tw_bytes *in)
{
    return (size_t)(in->end - in->at);
}

static inline uint8_t tw_bytes_u8(struct tw_bytes *in)
{
    if (in->at == in->end) {
        in->short_read = true;
        return 0;
    }
    return *in->at++;
}

/* Little-endian, `size` bytes (at most 8). */
static inline uint64_t tw_bytes_le(struct tw_bytes *in, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)tw_bytes_u8(in) << (8 * i);
    return value;
}

static inline uint16_t tw_load_le16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t tw_load_le32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static inline uint64_t tw_load_le64(const uint8_t *at)
{
    if (TW_IS_LITTLE_ENDIAN) {
        uint64_t value;

        memcpy(&value, at, sizeof value);
        return value;
    }
    return (uint64_t)tw_load_le32(at) | (uint64_t)tw_load_le32(at + 4) << 32;
}

static inline void tw_store_le64(uint8_t *at, uint64_t value)
{
    if (TW_IS_LITTLE_ENDIAN) {
        memcpy(at, &value, sizeof value);
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* ULEB128 of at most `bytes_max` bytes.  The last possible byte has no continuation bit: all its
   eight bits count.  `bits`, if not NULL, gets the number of bits that the bytes carried. */
static inline uint64_t tw_bytes_uleb(struct tw_bytes *in, unsigned bytes_max, unsigned *bits)
{
    uint64_t value = 0;
    unsigned shift = 0;

    for (unsigned i = 0; i < bytes_max; i++) {
        const uint8_t byte = tw_bytes_u8(in);

        if (i + 1 == bytes_max) {
            if (shift < 64)
                value |= (uint64_t)byte << shift;
            shift += 8;
            break;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            break;
    }
    if (bits)
        *bits = shift < 64 ? shift : 64;
    return value;
}

/* The low `bits` bits of `value`, the rest of `old`: how trace compresses what changed little. */
static inline uint64_t tw_replace_low(uint64_t old, uint64_t value, unsigned bits)
{
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

    return (old & ~mask) | (value & mask);
}

/* The lowest 1 to 64 bits.  What C leaves to the compiler here all of them do alike: the sign moves in. */
static inline uint64_t tw_sign_extend(uint64_t value, unsigned bits)
{
    const unsigned others = 64 - bits;

    return (uint64_t)((int64_t)(value << others) >> others);
}

/* The next byte 80 with so many zeros before it, all at or after `at`: where the zeros begin, as many as are asked
   for; `size`: there is none.  Looks at one byte in zeros + 1 of what holds neither. */
TW_INLINE size_t tw_find_zeros_80(const uint8_t *data, size_t size, size_t at,
                                  const unsigned zeros)
{
    while (size > zeros && at < size - zeros) {
        const uint8_t last = data[at + zeros];
        unsigned left = zeros;

        if (last != 0x80) {
            at += last ? zeros + 1 : 1; /* no other byte is among them */
            continue;
        }
        while (left && data[at + left - 1] == 0)
            left--;
        if (!left)
            return at;
        at += zeros + 1;
    }
    return size;
}

struct tw_writer {
    uint8_t *at, *end;
    size_t missing; /* bytes that did not fit */
};

static inline void tw_write_u8(struct tw_writer *out, uint8_t byte)
{
    if (out->at == out->end)
        out->missing++;
    else
        *out->at++ = byte;
}

static inline void tw_write_le(struct tw_writer *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        tw_write_u8(out, (uint8_t)(value >> (8 * i)));
}

/* The shortest ULEB128 of at most `bytes_max` bytes (see tw_bytes_uleb). */
static inline void tw_write_uleb(struct tw_writer *out, uint64_t value, unsigned bytes_max)
{
    for (unsigned i = 0; i + 1 < bytes_max; i++) {
        const uint8_t low = value & 0x7f;

        value >>= 7;
        if (!value) {
            tw_write_u8(out, low);
            return;
        }
        tw_write_u8(out, low | 0x80);
    }
    tw_write_u8(out, (uint8_t)value);
}

/* ULEB128 that carries at least `bits` bits, padded with zero continuation bytes. */
static inline void tw_write_uleb_bits(struct tw_writer *out, uint64_t value, unsigned bits,
                                      unsigned bytes_max)
{
    unsigned carried = 0;

    for (unsigned i = 0; i + 1 < bytes_max; i++) {
        carried += 7;
        if (carried >= bits) {
            tw_write_u8(out, value & 0x7f);
            return;
        }
        tw_write_u8(out, (uint8_t)((value & 0x7f) | 0x80));
        value >>= 7;
    }
    tw_write_u8(out, (uint8_t)value);
}

#endif
