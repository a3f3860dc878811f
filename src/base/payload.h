/* SPDX-License-Identifier: BSD-2-Clause */
/* Bit fields of sign-compressed payloads (RISC-V E-Trace): bits beyond the end repeat the last
   one; a writer leaves away what a reader restores so. */
#ifndef BASE_PAYLOAD_H
#define BASE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

enum {
    TW_PAYLOAD_MAX = 40,  /* bytes in a stream */
    TW_PAYLOAD_FULL = 80, /* bytes that fields may fill */
};

struct tw_payload {
    uint8_t bytes[TW_PAYLOAD_FULL + 16];
    unsigned size_bits; /* transmitted */
    unsigned at;        /* next bit */
    bool is_whole;      /* written: nothing is left away at the end, and zeros pad */
};

/* `size` bytes, 1 to TW_PAYLOAD_MAX; `readable` is how many may be read from there. */
TW_INLINE void tw_payload_load(struct tw_payload *in, const uint8_t *bytes, unsigned size,
                               size_t readable)
{
    const uint8_t fill = bytes[size - 1] & 0x80 ? 0xff : 0;

    if (TW_LIKELY(readable >= TW_PAYLOAD_MAX))
        memcpy(in->bytes, bytes, TW_PAYLOAD_MAX);
    else
        memcpy(in->bytes, bytes, size);
    memset(in->bytes + size, fill, TW_PAYLOAD_FULL + 16 - TW_PAYLOAD_MAX);
    in->size_bits = 8 * size;
    in->at = 0;
}

/* The next field, at most 64 bits. */
TW_INLINE uint64_t tw_payload_take(struct tw_payload *in, unsigned count)
{
    const uint8_t *at = in->bytes + (in->at >> 3);
    const unsigned shift = in->at & 7;
    uint64_t value = tw_load_le64(at) >> shift;

    in->at += count;
    if (count >= 64) {
        if (shift)
            value |= (uint64_t)at[8] << (64 - shift);
        return value;
    }
    if (shift + count > 64)
        value |= (uint64_t)at[8] << (64 - shift);
    return value & (((uint64_t)1 << count) - 1);
}

/* All bits from `at` on are those of `fill`. */
TW_INLINE bool tw_payload_is_filled(const struct tw_payload *in, unsigned at, uint8_t fill)
{
    unsigned byte = at >> 3;

    if (at & 7) {
        if ((in->bytes[byte] ^ fill) >> (at & 7))
            return false;
        byte++;
    }
    for (; byte < in->size_bits / 8; byte++)
        if (in->bytes[byte] != fill)
            return false;
    return true;
}

/* True when the fields taken so far account for every bit that was transmitted: what is left of
   the last byte, or more of them, only repeats the last field's top bit, or is 0 as some encoders pad
   that do not extend the sign. */
TW_INLINE bool tw_payload_is_used_up(const struct tw_payload *in)
{
    const unsigned at = in->at;
    const unsigned top = at ? (unsigned)in->bytes[(at - 1) >> 3] >> ((at - 1) & 7) & 1 : 0;

    if (at >= in->size_bits || tw_payload_is_filled(in, at, top ? 0xff : 0))
        return true;
    return top && tw_payload_is_filled(in, at, 0);
}

/* A short payload in registers: 128 bits of it, the last ones repeated. */
enum { TW_PAYLOAD_WINDOW = 16 }; /* bytes of the longest one */

struct tw_payload_window {
    uint64_t low, high;
    uint64_t fill; /* the last bit in all places */
};

/* `size` bytes, 1 to TW_PAYLOAD_WINDOW; reads that many in any case. */
TW_INLINE struct tw_payload_window tw_payload_window(const uint8_t *bytes, unsigned size)
{
    uint64_t low = tw_load_le64(bytes), high = tw_load_le64(bytes + 8), fill;

    if (size > 8) {
        high = tw_sign_extend(high, 8 * (size - 8));
        fill = -(high >> 63);
    } else {
        low = tw_sign_extend(low, 8 * size);
        high = fill = -(low >> 63);
    }
    return (struct tw_payload_window){ .low = low, .high = high, .fill = fill };
}

/* 64 bits from bit `at` on, 1 to 127. */
TW_INLINE uint64_t tw_payload_bits(struct tw_payload_window in, unsigned at)
{
    return at < 64 ? in.low >> at | in.high << (64 - at)
                   : (in.high ^ in.fill) >> (at - 64) ^ in.fill;
}

/* tw_payload_is_used_up after the first `at` bits, 1 at least, of a payload of `size` bytes. */
TW_INLINE bool tw_payload_is_done(struct tw_payload_window in, unsigned size, unsigned at)
{
    if (at >= 8 * size)
        return true;
    return at <= 64 ? (in.low ^ in.fill) >> (at - 1) == 0 && in.high == in.fill
                    : (in.high ^ in.fill) >> (at - 65) == 0;
}

/* A payload that is being written: what its fields do not reach is not defined. */
TW_INLINE void tw_payload_begin(struct tw_payload *out, bool is_whole)
{
    out->size_bits = out->at = 0;
    out->is_whole = is_whole;
}

/* Adds a field.  Bits of a field beyond 64 are 0, fields beyond TW_PAYLOAD_FULL are dropped. */
static inline void tw_payload_put(struct tw_payload *out, uint64_t value, unsigned count)
{
    /* Always the same eight bytes: a processor waits for those that were stored in other parts. */
    uint8_t *at = out->bytes + 8 * (out->at >> 6);
    const unsigned shift = out->at & 63;

    if (count > 8 * TW_PAYLOAD_FULL - out->at)
        count = 8 * TW_PAYLOAD_FULL - out->at;
    if (count < 64)
        value &= ((uint64_t)1 << count) - 1;
    tw_store_le64(at, shift ? tw_load_le64(at) | value << shift : value);
    if (shift + count > 64)
        tw_store_le64(at + 8, shift ? value >> (64 - shift) : 0);
    for (unsigned bits = 128; TW_UNLIKELY(shift + count > bits); bits += 64)
        tw_store_le64(at + bits / 8, 0);
    out->at += count;
}

/* The bit written last. */
static inline unsigned tw_payload_top(const struct tw_payload *out)
{
    return out->at ? out->bytes[(out->at - 1) >> 3] >> ((out->at - 1) & 7) & 1u : 0;
}

/* Ends writing: drops the bytes that a reader restores.  Returns the size in bytes, at least 1. */
static inline unsigned tw_payload_finish(struct tw_payload *out)
{
    const uint64_t sign = tw_payload_top(out) ? UINT64_MAX : 0;

    if (out->is_whole)
        return out->at ? (out->at + 7) / 8 : 1;
    if (out->at & 63)
        tw_payload_put(out, sign, 64 - (out->at & 63));
    for (unsigned word = out->at / 64; word; word--) {
        const uint64_t other = tw_load_le64(out->bytes + 8 * (word - 1)) ^ sign;

        if (other) /* all bits above the highest of these are the sign, and one of them is there */
            return 8 * (word - 1) + (tw_highest_bit(other) + 1) / 8 + 1;
    }
    return 1;
}

#endif
