/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash map from 64-bit keys to 64-bit values. */
#include "base/map.h"

#include <string.h>

#include "base/memory.h"

/* Free where the key is 0, so that a slot is two words; key 0 itself has a slot of its own, behind the others. */
struct tw_map_slot {
    uint64_t key, value;
};

static struct tw_map_slot *slot_of(const struct tw_map *map, uint64_t key)
{
    size_t at = (size_t)tw_hash64(key) & (map->room - 1);

    if (!key)
        return &map->slots[map->room];
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->slots[at];
}

/* Whether what slot_of found holds its key: that of key 0 has another in use. */
static bool is_used(const struct tw_map *map, const struct tw_map_slot *slot)
{
    return slot == &map->slots[map->room] ? map->has_zero : slot->key != 0;
}

static bool make_room(struct tw_map *map)
{
    struct tw_map larger = { .allocator = map->allocator,
                             .count = map->count,
                             .has_zero = map->has_zero };

    if (map->room && map->count < map->room / 2)
        return true;
    larger.room = map->room ? map->room * 2 : 32;
    if (larger.room >= SIZE_MAX / sizeof *larger.slots)
        return false;
    larger.slots = tw_take(map->allocator, (larger.room + 1) * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].key)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    if (map->has_zero)
        larger.slots[larger.room] = map->slots[map->room];
    tw_give(map->allocator, map->slots);
    *map = larger;
    return true;
}

void tw_map_free(struct tw_map *map)
{
    tw_give(map->allocator, map->slots);
    map->slots = NULL;
    map->room = map->count = 0;
    map->has_zero = false;
}

void tw_map_clear(struct tw_map *map)
{
    if (map->room)
        memset(map->slots, 0, (map->room + 1) * sizeof *map->slots);
    map->count = 0;
    map->has_zero = false;
}

uint64_t *tw_map_find(const struct tw_map *map, uint64_t key)
{
    struct tw_map_slot *slot;

    if (!map->count)
        return NULL;
    slot = slot_of(map, key);
    return is_used(map, slot) ? &slot->value : NULL;
}

uint64_t *tw_map_put(struct tw_map *map, uint64_t key)
{
    struct tw_map_slot *slot;

    if (!make_room(map))
        return NULL;
    slot = slot_of(map, key);
    if (!is_used(map, slot)) {
        *slot = (struct tw_map_slot){ .key = key };
        map->has_zero |= !key;
        map->count++;
    }
    return &slot->value;
}

bool tw_map_next(const struct tw_map *map, size_t *at, uint64_t *key, uint64_t **value)
{
    while (*at < map->room + map->has_zero) {
        struct tw_map_slot *slot = &map->slots[(*at)++];

        if (!is_used(map, slot))
            continue;
        *key = slot->key;
        *value = &slot->value;
        return true;
    }
    return false;
}
