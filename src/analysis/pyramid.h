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
    TW_PYRAMID_FUNCTIONS = 1 << 20,
    TW_PYRAMID_RECENT = 4096
};

/* A function that was found by an address, and what ranges that begin there executed in the tile at work. */
struct tw_tile_recent {
    uint64_t key;
    uint64_t self;
    uint32_t function;
    bool is_known;
    bool is_listed; /* among `listed`: it is known too */
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
    struct tw_tile_recent recent[TW_PYRAMID_RECENT]; /* ... and those that were found last */
    uint16_t listed[TW_PYRAMID_RECENT]; /* of `recent`: those of the tile at work */
    size_t listed_count;
    const struct tw_run *run; /* at work */
    struct tw_image *image;
    uint64_t who;                /* a hash of who executes the part at work */
    size_t first_seen, end_seen; /* tiles that were filled lie between */
    /* the tile at work: self by function, until another one comes */
    size_t tile;
    uint64_t tile_from, tile_to; /* offsets */
    uint64_t *selves;            /* by function */
    size_t self_room;
    uint32_t *touched; /* functions that have some */
    size_t touched_count, touched_room;
    uint64_t summed_from, summed_to; /* the stretch that comes as sums */
    bool is_out;                     /* of memory */
};

enum tw_status tw_pyramid_make(struct tw_pyramid **pyramid,
                               const struct tw_pyramid_config *config, struct tw_fault *fault);
/* The number of a name; UINT32_MAX: no memory. */
uint32_t tw_pyramid_function(struct tw_pyramid *pyramid, const char *name);
/* A function among those of a tile: the least one goes where there is no room. */
void tw_pyramid_add_function(const struct tw_pyramid *pyramid, struct tw_tile_sums *tile,
                             struct tw_tile_function function);
/* The most first. */
void tw_pyramid_sort(const struct tw_pyramid *pyramid, struct tw_tile_sums *tile);
/* pyramid_take.c: what was counted of the tile at work goes into it. */
void tw_pyramid_close_tile(struct tw_pyramid *pyramid);
void tw_tile_take_time(struct tw_tile_sums *tile, uint64_t time);
/* What a file holds, into a new one; load->is_wrong where it cannot be. */
struct tw_pyramid *tw_pyramid_read(struct tw_load *load);

#endif
