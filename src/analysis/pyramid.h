/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiles of a capture, level by level. */
#ifndef ANALYSIS_PYRAMID_H
#define ANALYSIS_PYRAMID_H

#include <trackway/pyramid.h>

#include "analysis/saved.h"
#include "base/map.h"

enum {
    TW_PYRAMID_LEVELS = 24,
    TW_PYRAMID_TILES = 1 << 20, /* of the lowest level at most */
    TW_PYRAMID_FUNCTIONS = 1 << 20
};

/* A tile as it is held. */
struct tw_tile_sums {
    uint64_t first, last; /* timestamps; first above last: none */
    uint64_t instructions, calls, exceptions;
    uint64_t overflows, discards, errors, gaps, missing_code;
    struct tw_tile_function functions[TW_TILE_FUNCTIONS];
    uint8_t function_count;
    bool is_seen;
};

struct tw_pyramid {
    const struct tw_allocator *allocator;
    uint64_t bytes, block, identity;
    struct tw_tile_sums *levels[TW_PYRAMID_LEVELS];
    size_t counts[TW_PYRAMID_LEVELS];
    size_t level_count; /* once it is finished */
    char **names;
    size_t name_count, name_room;
    struct tw_map by_name;    /* hash of a name: number + 1 */
    struct tw_map by_address; /* of the run at work: address of a range to function + 1 */
    const struct tw_run *run; /* at work */
    struct tw_image *image;
    /* the tile at work: self by function, until another one comes */
    size_t tile;
    struct tw_map selves;
};

enum tw_status tw_pyramid_make(struct tw_pyramid **pyramid,
                               const struct tw_pyramid_config *config, struct tw_fault *fault);
/* The number of a name; UINT32_MAX: no memory. */
uint32_t tw_pyramid_function(struct tw_pyramid *pyramid, const char *name);
/* What a file holds, into a new one; load->is_wrong where it cannot be. */
struct tw_pyramid *tw_pyramid_read(struct tw_load *load);

#endif
