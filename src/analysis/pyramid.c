/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiles: filled by elements, merged level by level. */
#include "analysis/pyramid.h"

#include <stdlib.h>
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
    made->by_name.allocator = made->by_address.allocator = made->selves.allocator =
        config->allocator;
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
    tw_map_free(&pyramid->selves);
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

/* Where a range begins tells its function; asked once for each address of a run. */
static uint32_t function_at(struct tw_pyramid *pyramid, struct tw_run *run,
                            const struct tw_part *part, uint64_t address)
{
    /* two processes may have different code at one address */
    const uint64_t who = (uint64_t)part->who.pid << 32 | part->who.context_id;
    const uint64_t key = address ^ tw_hash64(who);
    struct tw_name name = { .size = sizeof name };
    uint64_t *known;
    uint32_t number;

    if (pyramid->run != run || pyramid->image != part->image) {
        tw_map_clear(&pyramid->by_address);
        pyramid->run = run;
        pyramid->image = part->image;
    }
    known = tw_map_put(&pyramid->by_address, key);
    if (known && *known)
        return (uint32_t)(*known - 1);
    number = tw_pyramid_function(
        pyramid, tw_run_name(run, &name, part, address) && name.has_symbol ? name.symbol.name
                                                                           : "[no symbol]");
    known = tw_map_find(&pyramid->by_address, key);
    if (!known)
        return UINT32_MAX;
    if (number != UINT32_MAX)
        *known = (uint64_t)number + 1;
    return number;
}

/* ---- the functions of a tile ---- */

static int more_self(const void *a, const void *b)
{
    const struct tw_tile_function *left = a, *right = b;

    if (left->self != right->self)
        return left->self < right->self ? 1 : -1;
    return left->function < right->function ? -1 : left->function > right->function;
}

/* A function among those of a tile: the least one goes where there is no room. */
static void add_function(struct tw_tile_sums *tile, struct tw_tile_function function)
{
    struct tw_tile_function *least = NULL;

    for (size_t i = 0; i < tile->function_count; i++) {
        struct tw_tile_function *one = &tile->functions[i];

        if (one->function == function.function) {
            one->self += function.self;
            return;
        }
        if (!least || more_self(one, least) > 0)
            least = one;
    }
    if (tile->function_count < TW_TILE_FUNCTIONS)
        tile->functions[tile->function_count++] = function;
    else if (more_self(&function, least) < 0)
        *least = function;
}

static void close_tile(struct tw_pyramid *pyramid)
{
    struct tw_tile_sums *tile;
    uint64_t function, *self;
    size_t at = 0;

    if (pyramid->tile == SIZE_MAX)
        return;
    tile = &pyramid->levels[0][pyramid->tile];
    while (tw_map_next(&pyramid->selves, &at, &function, &self))
        add_function(tile, (struct tw_tile_function){ (uint32_t)function, *self });
    qsort(tile->functions, tile->function_count, sizeof tile->functions[0], more_self);
    tw_map_clear(&pyramid->selves);
    pyramid->tile = SIZE_MAX;
}

/* ---- elements ---- */

static void take_when(struct tw_tile_sums *tile, uint64_t time)
{
    if (!tile->is_seen || tile->first > tile->last) {
        tile->first = tile->last = time;
        return;
    }
    tile->first = time < tile->first ? time : tile->first;
    tile->last = time > tile->last ? time : tile->last;
}

/* A range that was executed so often. */
static bool take_pyramid_range(struct tw_pyramid *pyramid, struct tw_run *run,
                               const struct tw_part *part, const struct tw_element *element,
                               uint64_t times)
{
    struct tw_tile_sums *tile = &pyramid->levels[0][pyramid->tile];
    const uint32_t function = function_at(pyramid, run, part, element->start);
    uint64_t *self;

    if (function == UINT32_MAX)
        return false;
    self = tw_map_put(&pyramid->selves, function);
    if (!self)
        return false;
    *self += element->count * times;
    tile->instructions += element->count * times;
    if (element->last_sub == TW_SUB_LINK && element->flags & TW_RANGE_EXECUTED)
        tile->calls += times;
    return true;
}

static void take_loss(struct tw_tile_sums *tile, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        tile->exceptions++;
        break;
    case TW_ELEMENT_ADDR_NACC:
        tile->missing_code++;
        break;
    case TW_ELEMENT_ERROR:
        if (element->error == TW_ERROR_OVERFLOW)
            tile->overflows++;
        else if (element->error != TW_ERROR_UNSYNCED && element->error != TW_ERROR_UNPLACED)
            tile->errors++;
        break;
    case TW_ELEMENT_TRACE_ON:
        tile->overflows += element->reason == TW_TRACE_ON_OVERFLOW;
        break;
    case TW_ELEMENT_NO_SYNC:
        tile->discards += element->reason == TW_REASON_DISCARD;
        tile->overflows += element->reason == TW_REASON_OVERFLOW;
        tile->gaps += element->reason != TW_REASON_DISCARD &&
                      element->reason != TW_REASON_OVERFLOW &&
                      element->reason != TW_REASON_INIT;
        break;
    default:
        break;
    }
}

/* The tile that an element lies in becomes the one at work; false: it lies behind the end. */
static bool go_to_tile(struct tw_pyramid *pyramid, uint64_t index)
{
    const uint64_t number = index / pyramid->block;
    struct tw_tile_sums *tile;

    if (number == pyramid->tile)
        return true;
    if (number >= pyramid->counts[0])
        return false;
    close_tile(pyramid);
    pyramid->tile = (size_t)number;
    tile = &pyramid->levels[0][number];
    if (!tile->is_seen) {
        tile->first = UINT64_MAX;
        tile->is_seen = true;
    }
    return true;
}

static bool take_element(struct tw_pyramid *pyramid, struct tw_run *run,
                         const struct tw_part *part, size_t number)
{
    const struct tw_element *elements = part->batch.elements, *element = &elements[number];
    struct tw_tile_sums *tile = &pyramid->levels[0][pyramid->tile];

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        return take_pyramid_range(pyramid, run, part, element, 1);
    case TW_ELEMENT_REPEAT:
        for (size_t i = number - tw_repeat_reach(elements, number); i < number; i++)
            if (elements[i].type == TW_ELEMENT_INSTR_RANGE &&
                !take_pyramid_range(pyramid, run, part, &elements[i], element->times))
                return false;
        return true;
    case TW_ELEMENT_TIMESTAMP:
        take_when(tile, element->timestamp);
        return true;
    default:
        take_loss(tile, element);
        return true;
    }
}

enum tw_status tw_pyramid_take(struct tw_pyramid *pyramid, struct tw_run *run,
                               const struct tw_part *part)
{
    if (part->kind != TW_PART_ELEMENTS) {
        pyramid->run = NULL; /* another run may come, with the same address */
        return TW_OK;
    }
    for (size_t i = 0; i < part->batch.count; i++)
        if (go_to_tile(pyramid, part->batch.elements[i].index) &&
            !take_element(pyramid, run, part, i))
            return TW_E_MEMORY;
    return TW_OK;
}

/* ---- levels ---- */

static void merge_tile(struct tw_tile_sums *into, const struct tw_tile_sums *tile)
{
    if (!tile->is_seen)
        return;
    if (!into->is_seen) {
        *into = *tile;
        return;
    }
    if (tile->first <= tile->last) {
        take_when(into, tile->first);
        take_when(into, tile->last);
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
        add_function(into, tile->functions[i]);
}

enum tw_status tw_pyramid_finish(struct tw_pyramid *pyramid)
{
    size_t level = 0;

    close_tile(pyramid);
    for (; pyramid->counts[level] > 1 && level + 1 < TW_PYRAMID_LEVELS; level++) {
        const size_t count = (pyramid->counts[level] + TW_TILE_MERGES - 1) / TW_TILE_MERGES;
        struct tw_tile_sums *tiles = tw_take(pyramid->allocator, count * sizeof *tiles);

        if (!tiles)
            return TW_E_MEMORY;
        for (size_t i = 0; i < pyramid->counts[level]; i++)
            merge_tile(&tiles[i / TW_TILE_MERGES], &pyramid->levels[level][i]);
        for (size_t i = 0; i < count; i++)
            qsort(tiles[i].functions, tiles[i].function_count, sizeof tiles[i].functions[0],
                  more_self);
        tw_give(pyramid->allocator, pyramid->levels[level + 1]);
        pyramid->levels[level + 1] = tiles;
        pyramid->counts[level + 1] = count;
    }
    pyramid->level_count = level + 1;
    return TW_OK;
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
