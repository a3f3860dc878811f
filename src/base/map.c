/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash map from 64-bit keys to 64-bit values. */
#include "base/map.h"

#include <string.h>

#include "base/memory.h"

struct tw_map_slot {
    uint64_t key, value;
    bool is_used;
};

static struct tw_map_slot *slot_of(const struct tw_map *map, uint64_t key)
{
    size_t at = (size_t)tw_hash64(key) & (map->room - 1);

    while (map->slots[at].is_used && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->slots[at];
}

static bool make_room(struct tw_map *map)
{
    struct tw_map larger = { .allocator = map->allocator, .count = map->count };

    if (map->room && map->count < map->room / 2)
        return true;
    larger.room = map->room ? map->room * 2 : 32;
    if (larger.room > SIZE_MAX / sizeof *larger.slots)
        return false;
    larger.slots = tw_take(map->allocator, larger.room * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].is_used)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    tw_give(map->allocator, map->slots);
    *map = larger;
    return true;
}

void tw_map_free(struct tw_map *map)
{
    tw_give(map->allocator, map->slots);
    map->slots = NULL;
    map->room = map->count = 0;
}

void tw_map_clear(struct tw_map *map)
{
    if (map->room)
        memset(map->slots, 0, map->room * sizeof *map->slots);
    map->count = 0;
}

uint64_t *tw_map_find(const struct tw_map *map, uint64_t key)
{
    struct tw_map_slot *slot;

    if (!map->count)
        return NULL;
    slot = slot_of(map, key);
    return slot->is_used ? &slot->value : NULL;
}

uint64_t *tw_map_put(struct tw_map *map, uint64_t key)
{
    struct tw_map_slot *slot;

    if (!make_room(map))
        return NULL;
    slot = slot_of(map, key);
    if (!slot->is_used) {
        *slot = (struct tw_map_slot){ .key = key, .is_used = true };
        map->count++;
    }
    return &slot->value;
}

bool tw_map_next(const struct tw_map *map, size_t *at, uint64_t *key, uint64_t **value)
{
    while (*at < map->room) {
        struct tw_map_slot *slot = &map->slots[(*at)++];

        if (!slot->is_used)
            continue;
        *key = slot->key;
        *value = &slot->value;
        return true;
    }
    return false;
}
