/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash map from 64-bit keys to 64-bit values: open addressing, at most half full. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

struct tw_map {
    struct tw_map_slot *slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
    bool has_zero; /* key 0 was put */
    const struct tw_allocator *allocator;
};

/* A zeroed struct is an empty map. */
void tw_map_free(struct tw_map *map);
void tw_map_clear(struct tw_map *map);
/* Where the key's value is, or NULL. */
uint64_t *tw_map_find(const struct tw_map *map, uint64_t key);
/* Where the key's value is; a new key's value is 0.  NULL when memory is out. */
uint64_t *tw_map_put(struct tw_map *map, uint64_t key);
/* Goes through the map, in no order that means anything: `*at` is 0 at first.  False: that was all.
   Values may be changed, nothing may be put meanwhile. */
bool tw_map_next(const struct tw_map *map, size_t *at, uint64_t *key, uint64_t **value);

/* Spreads the bits of a key over a word. */
static inline uint64_t tw_hash64(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

#endif
