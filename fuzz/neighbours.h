/* SPDX-License-Identifier: BSD-2-Clause */
/* Inputs that differ from one in a byte or two: where libFuzzer takes longer to make an input, and to see which ways it
   went, than a target to run it.  The input alone says which, so that what is found is found again. */
#ifndef FUZZ_NEIGHBOURS_H
#define FUZZ_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef NEIGHBOURS
#define NEIGHBOURS 0 /* other builds say more: fuzz/CMakeLists.txt */
#endif

struct neighbours {
    const uint8_t *bytes;
    uint8_t *other; /* room for as many bytes: the neighbour */
    size_t size, one, two;
    uint64_t random;
};

static inline void neighbours_begin(struct neighbours *all, uint8_t *other,
                                    const uint8_t *bytes, size_t size, uint64_t seed)
{
    uint64_t random = 0xcbf29ce484222325 + seed;

    for (size_t i = 0; i < size; i++)
        random = (random ^ bytes[i]) * 0x100000001b3;
    memcpy(other, bytes, size);
    *all =
        (struct neighbours){ .bytes = bytes, .other = other, .size = size, .random = random };
}

/* The next one; there must be bytes.  Returns a byte to choose by. */
static inline uint8_t neighbours_next(struct neighbours *all)
{
    const uint64_t random = all->random * 6364136223846793005 + 1442695040888963407;

    all->other[all->one] = all->bytes[all->one];
    all->other[all->two] = all->bytes[all->two];
    all->random = random;
    all->one = (size_t)(random >> 48) % all->size;
    all->two = (size_t)(random >> 32 & 0xffff) % all->size;
    all->other[all->one] ^= (uint8_t)(random >> 24);
    if (random & 0x800000)
        all->other[all->two] ^= (uint8_t)(1u << (random >> 20 & 7));
    return (uint8_t)(random >> 12);
}

#endif
