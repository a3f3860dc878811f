/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiles, merged level by level. */
#include "analysis/pyramid.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum { PYRAMID_BLOCK = 1 << 16 };

enum tw_status tw_pyramid_make(struct tw_pyramid **pyramid,
                               const struct tw_pyramid_config *config, struct tw_fault *fault)
{
    struct tw_pyramid *made = tw_take(config->allocator, sizeof *made);

    *pyramid = NULL;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a pyramid");
    made->allocator = config->allocator;
    made->by_name.allocator = made->by_address.allocator = config->allocator;
    made->bytes = config->bytes;
    made->identity = config->identity;
    made->block = config->block ? config->block : PYRAMID_BLOCK;
    while (made->bytes / made->block >= TW_PYRAMID_TILES)
        made->block *= 2;
    made->counts[0] = (size_t)(made->bytes / made->block) + (made->bytes % made->block != 0);
    made->level_count = 1;
    made->tile = SIZE_MAX;
    made->levels[0] = tw_take(made->allocator, (made->counts[0] + 1) * sizeof *made->levels[0]);
    if (!made->levels[0]) {
        tw_pyramid_free(made);
        return tw_fail(fault, TW_E_MEMORY, "no memory for a pyramid");
    }
    *pyramid = made;
    return TW_OK;
}

enum tw_status tw_pyramid_new(struct tw_pyramid **pyramid,
                              const struct tw_pyramid_config *config, struct tw_fault *fault)
{
    struct tw_pyramid_config ours;

    *pyramid = NULL;
    TW_TRY(TW_SIZED_TAKE(&ours, config, "struct tw_pyramid_config", fault));
    return tw_pyramid_make(pyramid, &ours, fault);
}

void tw_pyramid_free(struct tw_pyramid *pyramid)
{
    if (!pyramid)
        return;
    for (size_t i = 0; i < TW_PYRAMID_LEVELS; i++)
        tw_give(pyramid->allocator, pyramid->levels[i]);
    for (size_t i = 0; i < pyramid->name_count; i++)
        tw_give(pyramid->allocator, pyramid->names[i]);
    tw_give(pyramid->allocator, pyramid->names);
    tw_map_free(&pyramid->by_name);
    tw_map_free(&pyramid->by_address);
    tw_give(pyramid->allocator, pyramid->selves);
    tw_give(pyramid->allocator, pyramid->touched);
    tw_give(pyramid->allocator, pyramid);
}

/* ---- functions ---- */

static uint64_t name_hash(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

uint32_t tw_pyramid_function(struct tw_pyramid *pyramid, const char *name)
{
    uint64_t hash = name_hash(name);
    uint64_t *number;

    while ((number = tw_map_put(&pyramid->by_name, hash)) != NULL && *number) {
        if (strcmp(pyramid->names[*number - 1], name) == 0)
            return (uint32_t)(*number - 1);
        hash++;
    }
    if (!number || pyramid->name_count >= TW_PYRAMID_FUNCTIONS ||
        !TW_GROW(pyramid->allocator, &pyramid->names, &pyramid->name_room,
                 pyramid->name_count + 1))
        return UINT32_MAX;
    pyramid->names[pyramid->name_count] = tw_copy_text(pyramid->allocator, name);
    if (!pyramid->names[pyramid->name_count])
        return UINT32_MAX;
    *number = ++pyramid->name_count;
    return (uint32_t)(pyramid->name_count - 1);
}

/* ---- the functions of a tile ---- */

/* Whether one is told before another: by its instructions, then by its name, so that nothing depends on numbers. */
static bool is_before(const struct tw_pyramid *pyramid, const struct tw_tile_function *one,
                      const struct tw_tile_function *other)
{
    if (one->self != other->self)
        return one->self > other->self;
    return strcmp(pyramid->names[one->function], pyramid->names[other->function]) < 0;
}

void tw_pyramid_sort(const struct tw_pyramid *pyramid, struct tw_tile_sums *tile)
{
    for (size_t i = 1; i < tile->function_count; i++) {
        const struct tw_tile_function one = tile->functions[i];
        size_t at = i;

        for (; at && is_before(pyramid, &one, &tile->functions[at - 1]); at--)
            tile->functions[at] = tile->functions[at - 1];
        tile->functions[at] = one;
    }
}

void tw_pyramid_add_function(const struct tw_pyramid *pyramid, struct tw_tile_sums *tile,
                             struct tw_tile_function function)
{
    struct tw_tile_function *least = NULL;

    for (size_t i = 0; i < tile->function_count; i++) {
        struct tw_tile_function *one = &tile->functions[i];

        if (one->function == function.function) {
            one->self += function.self;
            return;
        }
        if (!least || is_before(pyramid, least, one))
            least = one;
    }
    if (tile->function_count < TW_TILE_FUNCTIONS)
        tile->functions[tile->function_count++] = function;
    else if (is_before(pyramid, &function, least))
        *least = function;
}

/* ---- levels ---- */

static void merge_tile(const struct tw_pyramid *pyramid, struct tw_tile_sums *into,
                       const struct tw_tile_sums *tile)
{
    if (!tile->is_seen)
        return;
    if (!into->is_seen) {
        *into = *tile;
        return;
    }
    if (tile->first <= tile->last) {
        tw_tile_take_time(into, tile->first);
        tw_tile_take_time(into, tile->last);
    }
    into->instructions += tile->instructions;
    into->calls += tile->calls;
    into->exceptions += tile->exceptions;
    into->overflows += tile->overflows;
    into->discards += tile->discards;
    into->errors += tile->errors;
    into->gaps += tile->gaps;
    into->missing_code += tile->missing_code;
    for (size_t i = 0; i < tile->function_count; i++)
        tw_pyramid_add_function(pyramid, into, tile->functions[i]);
}

enum tw_status tw_pyramid_finish(struct tw_pyramid *pyramid)
{
    size_t level = 0;

    tw_pyramid_close_tile(pyramid);
    for (; pyramid->counts[level] > 1 && level + 1 < TW_PYRAMID_LEVELS; level++) {
        const size_t count = (pyramid->counts[level] + TW_TILE_MERGES - 1) / TW_TILE_MERGES;
        struct tw_tile_sums *tiles = tw_take(pyramid->allocator, count * sizeof *tiles);

        if (!tiles)
            return TW_E_MEMORY;
        for (size_t i = 0; i < pyramid->counts[level]; i++)
            merge_tile(pyramid, &tiles[i / TW_TILE_MERGES], &pyramid->levels[level][i]);
        for (size_t i = 0; i < count; i++)
            tw_pyramid_sort(pyramid, &tiles[i]);
        tw_give(pyramid->allocator, pyramid->levels[level + 1]);
        pyramid->levels[level + 1] = tiles;
        pyramid->counts[level + 1] = count;
    }
    pyramid->level_count = level + 1;
    return pyramid->is_out ? TW_E_MEMORY : TW_OK;
}

/* ---- from one to another ---- */

static bool give_tile(struct tw_pyramid *into, const struct tw_pyramid *from, size_t number)
{
    const struct tw_tile_sums *tile = &from->levels[0][number];
    struct tw_tile_sums copy = *tile;

    for (size_t i = 0; i < copy.function_count; i++) {
        copy.functions[i].function =
            tw_pyramid_function(into, from->names[tile->functions[i].function]);
        if (copy.functions[i].function == UINT32_MAX)
            return false;
    }
    into->levels[0][number] = copy;
    return true;
}

enum tw_status tw_pyramid_give(struct tw_pyramid *into, struct tw_pyramid *from)
{
    if (into->bytes != from->bytes || into->block != from->block)
        return TW_E_ARGUMENT;
    tw_pyramid_close_tile(from);
    for (size_t i = from->first_seen; i < from->end_seen; i++) {
        if (from->levels[0][i].is_seen && !give_tile(into, from, i))
            return TW_E_MEMORY;
        from->levels[0][i] = (struct tw_tile_sums){ .is_seen = false };
    }
    from->first_seen = from->end_seen = 0;
    return from->is_out ? TW_E_MEMORY : TW_OK;
}

/* ---- results ---- */

bool tw_pyramid_is_of(const struct tw_pyramid *pyramid, uint64_t bytes, uint64_t identity)
{
    return pyramid->bytes == bytes && pyramid->identity == identity;
}

size_t tw_pyramid_levels(const struct tw_pyramid *pyramid)
{
    return pyramid->level_count;
}

size_t tw_pyramid_tiles(const struct tw_pyramid *pyramid, size_t level)
{
    return level < pyramid->level_count ? pyramid->counts[level] : 0;
}

bool tw_pyramid_tile(const struct tw_pyramid *pyramid, struct tw_tile *tile, size_t level,
                     size_t number)
{
    uint64_t size = pyramid->block;
    const struct tw_tile_sums *sums;
    struct tw_tile ours;

    if (number >= tw_pyramid_tiles(pyramid, level))
        return false;
    for (size_t i = 0; i < level; i++)
        size *= TW_TILE_MERGES;
    sums = &pyramid->levels[level][number];
    ours = (struct tw_tile){ .from = number * size,
                             .to = (number + 1) * size,
                             .is_seen = sums->is_seen,
                             .has_time = sums->is_seen && sums->first <= sums->last,
                             .instructions = sums->instructions,
                             .calls = sums->calls,
                             .exceptions = sums->exceptions,
                             .overflows = sums->overflows,
                             .discards = sums->discards,
                             .errors = sums->errors,
                             .gaps = sums->gaps,
                             .missing_code = sums->missing_code,
                             .function_count = sums->function_count };
    if (ours.to > pyramid->bytes)
        ours.to = pyramid->bytes;
    if (ours.has_time) {
        ours.first = sums->first;
        ours.last = sums->last;
    }
    memcpy(ours.functions, sums->functions, sizeof ours.functions);
    return TW_SIZED_GIVE(tile, &ours);
}

const char *tw_pyramid_name(const struct tw_pyramid *pyramid, uint32_t function)
{
    return function < pyramid->name_count ? pyramid->names[function] : NULL;
}
