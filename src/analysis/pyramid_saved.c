/* SPDX-License-Identifier: BSD-2-Clause */
/* A pyramid as a file: names, then the tiles of the lowest level; those above follow from them. */
#include "analysis/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

static const struct tw_saved_kind pyramid_kind = { "tiles", 1 };

enum { TILE_LEAST = 8 }; /* bytes of a tile in a file at least */

/* Its counts in the order of the file. */
static void tile_counts(struct tw_tile_sums *tile, uint64_t *counts[10])
{
    counts[0] = &tile->first;
    counts[1] = &tile->last;
    counts[2] = &tile->instructions;
    counts[3] = &tile->calls;
    counts[4] = &tile->exceptions;
    counts[5] = &tile->overflows;
    counts[6] = &tile->discards;
    counts[7] = &tile->errors;
    counts[8] = &tile->gaps;
    counts[9] = &tile->missing_code;
}

static int by_name(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;

    return strcmp(*left, *right);
}

/* Names in their order, and the number that each function has in it: which came first depends on threads. */
struct name_order {
    char **sorted;
    uint32_t *number_of;
};

static bool order_names(const struct tw_pyramid *pyramid, struct name_order *order)
{
    const size_t count = pyramid->name_count;
    struct tw_map by_place = { .allocator = pyramid->allocator };
    bool is_good;

    order->sorted = tw_take(pyramid->allocator, (count + 1) * sizeof *order->sorted);
    order->number_of = tw_take(pyramid->allocator, (count + 1) * sizeof *order->number_of);
    is_good = order->sorted && order->number_of;
    for (size_t i = 0; is_good && i < count; i++)
        order->sorted[i] = pyramid->names[i];
    if (is_good)
        qsort(order->sorted, count, sizeof *order->sorted, by_name);
    for (size_t i = 0; is_good && i < count; i++) {
        uint64_t *place = tw_map_put(&by_place, (uintptr_t)order->sorted[i]);

        is_good = place != NULL;
        if (place)
            *place = i;
    }
    for (size_t i = 0; is_good && i < count; i++)
        order->number_of[i] = (uint32_t)*tw_map_find(&by_place, (uintptr_t)pyramid->names[i]);
    tw_map_free(&by_place);
    return is_good;
}

static void save_tile(struct tw_save *save, struct tw_tile_sums tile, const uint32_t *number_of)
{
    uint64_t *counts[10];

    tw_save_u64(save, tile.is_seen ? tile.function_count + 1u : 0);
    if (!tile.is_seen)
        return;
    tile_counts(&tile, counts);
    for (size_t i = 0; i < 10; i++)
        tw_save_u64(save, *counts[i]);
    for (size_t i = 0; i < tile.function_count; i++) {
        tw_save_u64(save, number_of[tile.functions[i].function]);
        tw_save_u64(save, tile.functions[i].self);
    }
}

enum tw_status tw_pyramid_save(const struct tw_pyramid *pyramid, const char *path,
                               struct tw_fault *fault)
{
    struct tw_save save = { .allocator = pyramid->allocator };
    struct name_order order;
    const bool is_good = order_names(pyramid, &order);

    tw_save_u64(&save, pyramid->bytes);
    tw_save_u64(&save, pyramid->block);
    tw_save_u64(&save, pyramid->identity);
    tw_save_u64(&save, pyramid->name_count);
    for (size_t i = 0; is_good && i < pyramid->name_count; i++)
        tw_save_text(&save, order.sorted[i]);
    tw_save_u64(&save, pyramid->counts[0]);
    for (size_t i = 0; is_good && i < pyramid->counts[0]; i++)
        save_tile(&save, pyramid->levels[0][i], order.number_of);
    save.has_failed |= !is_good;
    tw_give(pyramid->allocator, order.sorted);
    tw_give(pyramid->allocator, order.number_of);
    return tw_save_end(&save, &pyramid_kind, path, fault);
}

static void load_tile(struct tw_load *load, struct tw_tile_sums *tile, size_t names)
{
    const uint64_t state = tw_load_u64(load);
    uint64_t *counts[10];

    if (!state)
        return;
    if (state > TW_TILE_FUNCTIONS + 1) {
        load->is_wrong = true;
        return;
    }
    tile->is_seen = true;
    tile->function_count = (uint8_t)(state - 1);
    tile_counts(tile, counts);
    for (size_t i = 0; i < 10; i++)
        *counts[i] = tw_load_u64(load);
    for (size_t i = 0; i < tile->function_count; i++) {
        const uint64_t function = tw_load_u64(load);

        if (function >= names)
            load->is_wrong = true;
        else
            tile->functions[i].function = (uint32_t)function;
        tile->functions[i].self = tw_load_u64(load);
    }
}

static void load_names(struct tw_load *load, struct tw_pyramid *pyramid)
{
    const size_t count = tw_load_count(load, 1);

    if (count > TW_PYRAMID_FUNCTIONS)
        load->is_wrong = true;
    for (size_t i = 0; i < count && !load->is_wrong; i++) {
        bool is_there;
        char *name = tw_load_text(load, &is_there);
        const uint32_t number = name ? tw_pyramid_function(pyramid, name) : UINT32_MAX;

        tw_load_need(load, number != UINT32_MAX || !name);
        load->is_wrong |= number != i;
        tw_give(load->allocator, name);
    }
}

struct tw_pyramid *tw_pyramid_read(struct tw_load *load)
{
    struct tw_pyramid_config config = { .size = sizeof config, .allocator = load->allocator };
    struct tw_pyramid *pyramid = NULL;

    config.bytes = tw_load_u64(load);
    config.block = tw_load_u64(load);
    config.identity = tw_load_u64(load);
    /* a tile is told in bytes of the file: no more are believed than it can hold */
    if (load->is_wrong || !config.block || config.bytes / config.block >= TW_PYRAMID_TILES ||
        config.bytes / config.block > tw_bytes_left(&load->in) / TILE_LEAST) {
        load->is_wrong = true;
        return NULL;
    }
    tw_load_need(load, tw_pyramid_make(&pyramid, &config, NULL) == TW_OK);
    if (!pyramid)
        return NULL;
    load_names(load, pyramid);
    if (!load->is_wrong && tw_load_count(load, TILE_LEAST) != pyramid->counts[0])
        load->is_wrong = true;
    for (size_t i = 0; i < pyramid->counts[0] && !load->is_wrong; i++)
        load_tile(load, &pyramid->levels[0][i], pyramid->name_count);
    if (!load->is_wrong)
        tw_load_need(load, tw_pyramid_finish(pyramid) == TW_OK);
    return pyramid;
}

enum tw_status tw_pyramid_load(struct tw_pyramid **pyramid, const char *path,
                               const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_load load;
    struct tw_pyramid *made;
    enum tw_status status;

    *pyramid = NULL;
    TW_TRY(tw_load_begin(&load, &pyramid_kind, path, allocator, fault));
    made = tw_pyramid_read(&load);
    status = tw_load_end(&load, path, fault);
    if (status == TW_OK)
        *pyramid = made;
    else
        tw_pyramid_free(made);
    return status;
}
