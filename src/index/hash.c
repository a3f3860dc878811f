/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash of bytes that come in pieces; docs/formats.md has it in words. */
#include "index/hash.h"

#define FACTOR_IN  UINT64_C(0x9e3779b97f4a7c15)
#define FACTOR_OUT UINT64_C(0xd6e8feb86659fd93)

TW_INLINE uint64_t turn(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

TW_INLINE uint64_t take(uint64_t lane, uint64_t word)
{
    return turn(lane + word * FACTOR_IN, 29) * FACTOR_OUT;
}

void tw_hash_begin(struct tw_hash *hash)
{
    *hash = (struct tw_hash){ .lanes = { FACTOR_IN, FACTOR_OUT, ~FACTOR_IN, ~FACTOR_OUT } };
}

static size_t take_stripes(struct tw_hash *hash, const uint8_t *data, size_t size)
{
    uint64_t a = hash->lanes[0], b = hash->lanes[1], c = hash->lanes[2], d = hash->lanes[3];
    size_t at = 0;

    for (; size - at >= TW_HASH_STRIPE; at += TW_HASH_STRIPE) {
        a = take(a, tw_load_le64(data + at));
        b = take(b, tw_load_le64(data + at + 8));
        c = take(c, tw_load_le64(data + at + 16));
        d = take(d, tw_load_le64(data + at + 24));
    }
    hash->lanes[0] = a;
    hash->lanes[1] = b;
    hash->lanes[2] = c;
    hash->lanes[3] = d;
    return at;
}

void tw_hash_add(struct tw_hash *hash, const uint8_t *data, size_t size)
{
    size_t at = 0;

    if (size == 0)
        return;
    hash->size += size;
    if (hash->fill) {
        const size_t missing = TW_HASH_STRIPE - hash->fill;

        at = size < missing ? size : missing;
        memcpy(hash->tail + hash->fill, data, at);
        hash->fill += (unsigned)at;
        if (hash->fill < TW_HASH_STRIPE)
            return;
        hash->fill = 0;
        (void)take_stripes(hash, hash->tail, TW_HASH_STRIPE);
    }
    at += take_stripes(hash, data + at, size - at);
    hash->fill = (unsigned)(size - at);
    memcpy(hash->tail, data + at, size - at);
}

uint64_t tw_hash_end(struct tw_hash *hash)
{
    uint64_t value = hash->size;

    memset(hash->tail + hash->fill, 0, TW_HASH_STRIPE - hash->fill);
    if (hash->fill)
        (void)take_stripes(hash, hash->tail, TW_HASH_STRIPE);
    for (unsigned i = 0; i < TW_HASH_LANES; i++)
        value = take(value ^ value >> 32, hash->lanes[i] ^ hash->lanes[i] >> 31);
    return value ^ value >> 29;
}

uint64_t tw_hash_of(const uint8_t *data, size_t size)
{
    struct tw_hash hash;

    tw_hash_begin(&hash);
    tw_hash_add(&hash, data, size);
    return tw_hash_end(&hash);
}
