/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame as two words, its ID bytes, and how they cut it. */
#ifndef FRAME_HALVES_H
#define FRAME_HALVES_H

#include "base/bytes.h"
#include "frame/unframer.h"

/* Bit 0 of each even byte of half a frame. */
#define FRAME_ID_BITS    UINT64_C(0x0001000100010001)
#define FRAME_EVEN_BYTES UINT64_C(0x00ff00ff00ff00ff)

/* A stretch of data bytes of one ID inside a frame. */
struct tw_cut {
    uint8_t at, size, id;
    bool is_known; /* that they are of this ID */
};

TW_INLINE bool tw_half_names_7f(uint64_t half)
{
    return (((half & FRAME_EVEN_BYTES) + FRAME_ID_BITS) & (FRAME_ID_BITS << 8)) != 0;
}

/* A frame as two words. */
struct tw_halves {
    uint64_t low, high;
};

TW_INLINE struct tw_halves tw_halves_load(const uint8_t *frame)
{
    return (struct tw_halves){ tw_load_le64(frame), tw_load_le64(frame + 8) };
}

TW_INLINE void tw_halves_store(uint8_t *out, struct tw_halves halves)
{
    tw_store_le64(out, halves.low);
    tw_store_le64(out + 8, halves.high);
}

/* Without the first `count` bytes, at most 15. */
TW_INLINE struct tw_halves tw_halves_skip(struct tw_halves frame, unsigned count)
{
    const unsigned bits = 8 * count;

    if (count == 0)
        return frame;
    if (count >= 8)
        return (struct tw_halves){ frame.high >> (bits - 64), 0 };
    return (struct tw_halves){ frame.low >> bits | frame.high << (64 - bits),
                               frame.high >> bits };
}

/* Without the even byte of a slot. */
TW_INLINE struct tw_halves tw_halves_squeeze(struct tw_halves frame, unsigned slot)
{
    /* The bytes before the slot. */
    static const struct tw_halves before[8] = {
        { 0x0000000000000000, 0x0000000000000000 }, { 0x000000000000ffff, 0x0000000000000000 },
        { 0x00000000ffffffff, 0x0000000000000000 }, { 0x0000ffffffffffff, 0x0000000000000000 },
        { 0xffffffffffffffff, 0x0000000000000000 }, { 0xffffffffffffffff, 0x000000000000ffff },
        { 0xffffffffffffffff, 0x00000000ffffffff }, { 0xffffffffffffffff, 0x0000ffffffffffff },
    };
    const struct tw_halves moved = tw_halves_skip(frame, 1), keep = before[slot];

    return (struct tw_halves){ (frame.low & keep.low) | (moved.low & ~keep.low),
                               (frame.high & keep.high) | (moved.high & ~keep.high) };
}

/* The ID bytes, a bit each: bit 16 n for slot n, bit 16 n + 4 for slot 4 + n. */
TW_INLINE uint64_t tw_halves_ids(struct tw_halves frame)
{
    return (frame.low & FRAME_ID_BITS) | (frame.high & FRAME_ID_BITS) << 4;
}

/* The slot of such a bit. */
TW_INLINE unsigned tw_slot_of(uint64_t id)
{
    const unsigned bit = tw_lowest_bit(id);

    return bit / 16 + (bit & 4);
}

/* The same, a bit for each slot. */
TW_INLINE unsigned tw_slots_of(uint64_t ids)
{
    ids |= ids >> 15;
    ids |= ids >> 30;
    return (unsigned)ids & 0xff;
}

TW_INLINE bool tw_halves_name_7f(struct tw_halves frame)
{
    return tw_half_names_7f(frame.low) || tw_half_names_7f(frame.high);
}

TW_INLINE bool tw_halves_are_data(struct tw_halves frame)
{
    return ((frame.low | frame.high) & FRAME_ID_BITS) == 0;
}

/* Cuts a frame at its ID bytes (a bit each in `ids`).  `*id` is the current ID before and after;
   `is_known` says whether to trust it. */
TW_INLINE unsigned tw_cut_frame(struct tw_cut cuts[TW_FRAME_CUTS], uint8_t *id,
                                const uint8_t *frame, unsigned ids, bool is_known)
{
    const unsigned delayed = frame[FRAME_AUX];
    unsigned count = 0;
    size_t at = 0;

    for (; ids; ids &= ids - 1) {
        const size_t slot = tw_lowest_bit(ids);
        const uint8_t next = frame[2 * slot] >> 1;

        if (2 * slot > at)
            cuts[count++] =
                (struct tw_cut){ (uint8_t)at, (uint8_t)(2 * slot - at), *id, is_known };
        at = 2 * slot + 1;
        /* The same ID again changes nothing; in the last slot there is no byte to delay for. */
        if (delayed >> slot & 1 && (next != *id || !is_known) && slot < 7) {
            cuts[count++] = (struct tw_cut){ (uint8_t)at, 1, *id, is_known };
            at++;
        }
        *id = next;
        is_known = true;
    }
    if (at < FRAME_AUX)
        cuts[count++] =
            (struct tw_cut){ (uint8_t)at, (uint8_t)(FRAME_AUX - at), *id, is_known };
    return count;
}

#endif
