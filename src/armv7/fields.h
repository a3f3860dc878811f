/* SPDX-License-Identifier: BSD-2-Clause */
/* Number formats that the trace units of Armv7 cores share (ETMv3 and PTM): instruction addresses
   compressed against the last one, timestamps in Gray code, A-sync. */
#ifndef ARMV7_FIELDS_H
#define ARMV7_FIELDS_H

#include <trackway/types.h>

#include "base/bytes.h"

enum {
    TW_ARMV7_ADDRESS_MAX = 5, /* bytes of a compressed address */
    TW_ARMV7_ASYNC_ZEROS = 5, /* at least so many before the 80 */
    TW_ARMV7_ASYNC_LONGEST = 64
};

/* The next A-sync at or after `at` (its last five zeros and the 80); `size`: there is none. */
static inline size_t tw_armv7_next_async(const uint8_t *data, size_t size, size_t at)
{
    return tw_find_zeros_80(data, size, at, TW_ARMV7_ASYNC_ZEROS);
}

/* An instruction address as bytes carry it. */
struct tw_armv7_address {
    uint32_t address; /* whole: what was not sent comes from the base */
    uint8_t isa;      /* enum tw_isa; as before unless the fifth byte came */
    uint8_t bits;     /* carried, from bit 0 on */
    uint8_t size;     /* bytes */
    uint8_t last;     /* the last byte */
    bool is_bad;      /* the fifth byte has no meaning */
};

/* Bits below the lowest that addresses of an instruction set carry. */
static inline unsigned tw_armv7_shift(uint8_t isa)
{
    return isa == TW_ISA_A32 ? 2 : isa == TW_ISA_JAZELLE ? 0 : 1;
}

/* The fifth byte: fills in the instruction set, gives the address bits. */
static inline uint32_t tw_armv7_fifth(struct tw_armv7_address *out, uint8_t byte)
{
    if (byte & 0x20) {
        out->isa = TW_ISA_JAZELLE;
        return byte & 0x1f;
    }
    if (byte & 0x10) {
        out->isa = TW_ISA_T32;
        return byte & 0x0f;
    }
    out->isa = TW_ISA_A32;
    out->is_bad = !(byte & 0x08);
    return byte & 0x07;
}

/* The bits of an address in its first four bytes, whether or not they are there. */
static inline uint32_t tw_armv7_payload(uint32_t bytes)
{
    return (bytes >> 1 & 0x3f) | (bytes >> 2 & 0x1fc0) | (bytes >> 3 & 0xfe000) |
           (bytes >> 4 & 0x7f00000);
}

/* Reads 1 to 5 bytes.  `short_ends`: the last of 2 to 4 bytes carries six bits, its bit 6 tells
   whether more follows the address (PTM, and the alternative encoding of ETMv3); else seven. */
static inline void tw_armv7_get_address(struct tw_bytes *in, struct tw_armv7_address *out,
                                        uint32_t base, uint8_t isa, bool short_ends)
{
    uint8_t byte = tw_bytes_u8(in);
    uint64_t value = (byte >> 1) & 0x3f;
    unsigned bits = 6, size = 1;

    *out = (struct tw_armv7_address){ .isa = isa };
    while ((byte & 0x80) && size < TW_ARMV7_ADDRESS_MAX - 1) {
        byte = tw_bytes_u8(in);
        size++;
        if (short_ends && !(byte & 0x80)) {
            value |= (uint64_t)(byte & 0x3f) << bits;
            bits += 6;
        } else {
            value |= (uint64_t)(byte & 0x7f) << bits;
            bits += 7;
        }
    }
    if (byte & 0x80) {
        byte = tw_bytes_u8(in);
        size++;
        if ((byte & 0x80) && !short_ends) { /* deprecated: A32 with an exception */
            out->isa = TW_ISA_A32;
            value |= (uint64_t)(byte & 7) << bits;
        } else {
            value |= (uint64_t)tw_armv7_fifth(out, byte) << bits;
        }
        bits = 32;
    }
    value <<= tw_armv7_shift(out->isa);
    bits += bits == 32 ? 0 : tw_armv7_shift(out->isa);
    out->address = (uint32_t)tw_replace_low(base, value, bits);
    out->bits = (uint8_t)bits;
    out->size = (uint8_t)size;
    out->last = byte;
}

/* The fewest bytes that make `address` out of `base`; 5 when the instruction set changes.  The first
   carries six bits, the others seven, the last of several six where `short_ends`. */
static inline unsigned tw_armv7_address_size(uint32_t address, uint32_t base, uint8_t isa,
                                             uint8_t base_isa, bool short_ends)
{
    const uint32_t change = (address ^ base) >> tw_armv7_shift(isa);
    const unsigned bits = tw_highest_bit(change | 1) + 1;

    if (isa != base_isa)
        return TW_ARMV7_ADDRESS_MAX;
    return bits <= 6 ? 1 : (bits + 7 + short_ends) / 7;
}

/* Its bytes, the first lowest; of those behind `size` nothing is said.  `more` is put into bit 6 of the last one where
   that has a meaning. */
static inline uint64_t tw_armv7_address_bytes(uint32_t address, uint8_t isa, unsigned size,
                                              bool short_ends, bool more)
{
    const uint32_t value = address >> tw_armv7_shift(isa);
    const unsigned mark = isa == TW_ISA_A32 ? 0x08 : isa == TW_ISA_JAZELLE ? 0x20 : 0x10;
    const uint64_t flag = (uint64_t)0x40 << 8 * (size - 1);
    const bool has_flag = size == TW_ARMV7_ADDRESS_MAX || (short_ends && size > 1);
    const uint64_t bytes = (value << 1 & 0x7e) | 1 | (value << 2 & 0x7f00) |
                           (value << 3 & 0x7f0000) | (value << 4 & 0x7f000000) |
                           (0x80808080 & (((uint64_t)1 << 8 * (size - 1)) - 1)) |
                           (uint64_t)(mark | value >> 27) << 32;

    return has_flag ? (bytes & ~flag) | (more ? flag : 0) : bytes;
}

/* Writes `size` bytes. */
static inline void tw_armv7_put_address(struct tw_writer *out, uint32_t address, uint8_t isa,
                                        unsigned size, bool short_ends, bool more)
{
    tw_write_le(out, tw_armv7_address_bytes(address, isa, size, short_ends, more), size);
}

/* A whole branch address packet that tells nothing else; there is room for eight bytes.  Returns how many it has. */
static inline unsigned tw_armv7_write_branch(uint8_t *out, uint32_t address, uint32_t base,
                                             uint8_t isa, uint8_t base_isa, bool short_ends)
{
    const unsigned size = tw_armv7_address_size(address, base, isa, base_isa, short_ends);

    tw_store_le64(out, tw_armv7_address_bytes(address, isa, size, short_ends, false));
    return size;
}

/* A timestamp's payload: 7 bits a byte; of 48 bits the seventh byte carries six, of 64 the ninth
   eight.  Returns the whole value, in *carried how many bits came. */
static inline uint64_t tw_armv7_get_time(struct tw_bytes *in, uint64_t last, unsigned width,
                                         unsigned *carried)
{
    const unsigned bytes_max = width == 48 ? 7 : 9;
    uint64_t value = tw_bytes_uleb(in, bytes_max, carried);

    if (*carried > width)
        *carried = width;
    return tw_replace_low(last, value, *carried);
}

static inline void tw_armv7_put_time(struct tw_writer *out, uint64_t value, unsigned bits,
                                     unsigned width)
{
    const unsigned bytes_max = width == 48 ? 7 : 9;

    if (width == 48)
        value &= ((uint64_t)1 << 48) - 1;
    tw_write_uleb_bits(out, value, bits, bytes_max);
}

/* The payload of a timestamp packet; 0 bits: as few as tell what is new since `last`.  False: it cannot be
   written so. */
static inline bool tw_armv7_put_timestamp(struct tw_writer *out, uint8_t head, uint64_t value,
                                          uint64_t last, unsigned bits, unsigned width)
{
    if (bits > width || (width == 48 && value >> 48) ||
        (bits && bits < 64 && (value ^ last) >> bits))
        return false;
    if (!bits)
        for (bits = 1; bits < 64 && (value ^ last) >> bits;)
            bits++;
    tw_write_u8(out, head);
    tw_armv7_put_time(out, value, bits, width);
    return true;
}

static inline uint64_t tw_gray_to_binary(uint64_t gray)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        gray ^= gray >> shift;
    return gray;
}

static inline uint64_t tw_binary_to_gray(uint64_t value)
{
    return value ^ value >> 1;
}

/* Where the next synchronization of at least five zeros and 80 begins, and its size, which is 0
   when there is none: then the zeros at the end, which may be its beginning, stay out unless
   nothing follows. */
static inline size_t tw_armv7_find_async(const uint8_t *data, size_t size, bool is_last,
                                         size_t *found)
{
    const size_t at = tw_armv7_next_async(data, size, 0);
    const size_t zeros = TW_ARMV7_ASYNC_LONGEST - 1 - (at < size ? TW_ARMV7_ASYNC_ZEROS : 0);
    size_t first = at;

    *found = 0;
    if (at == size && is_last)
        return size;
    while (first > 0 && data[first - 1] == 0 && at - first < zeros)
        first--;
    if (at < size)
        *found = at - first + TW_ARMV7_ASYNC_ZEROS + 1;
    return first;
}

/* What follows the first byte of an A-sync, up to its 80, as far as it is there.  False: it is none. */
static inline bool tw_armv7_get_async(struct tw_bytes *in, uint8_t head)
{
    unsigned zeros = 0;
    uint8_t byte = head;

    while (byte == 0 && zeros < TW_ARMV7_ASYNC_LONGEST - 1) {
        zeros++;
        byte = tw_bytes_u8(in);
        if (in->short_read)
            return true;
    }
    if (byte == 0) /* more zeros than a packet may have: their end may still be an A-sync */
        in->at -= TW_ARMV7_ASYNC_ZEROS;
    return byte == 0x80 && zeros >= TW_ARMV7_ASYNC_ZEROS;
}

/* Whether a number needs no more than so many bytes. */
static inline bool tw_armv7_fits(uint32_t value, unsigned bytes)
{
    return bytes >= 4 || !(value >> 8 * bytes);
}

/* An A-sync of `size` bytes; 0: the shortest.  False: there is none of that size. */
static inline bool tw_armv7_put_async(struct tw_writer *out, uint32_t size)
{
    const uint32_t least = TW_ARMV7_ASYNC_ZEROS + 1;

    if (size == 0)
        size = least;
    if (size < least || size > TW_ARMV7_ASYNC_LONGEST)
        return false;
    for (uint32_t i = 1; i < size; i++)
        tw_write_u8(out, 0);
    tw_write_u8(out, 0x80);
    return true;
}

#endif
