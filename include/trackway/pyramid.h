/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture from afar: what was executed and lost in each stretch of its bytes, in levels of detail, so that a
   picture of any part of it needs no decoding.  Kept in a file beside the capture.  Experimental. */
#ifndef TRACKWAY_PYRAMID_H
#define TRACKWAY_PYRAMID_H

#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TW_TILE_FUNCTIONS = 8, /* that are told of a tile */
    TW_TILE_MERGES = 8     /* tiles of a level make one of the next */
};

/* A function and the instructions executed in it. */
struct tw_tile_function {
    uint32_t function; /* for tw_pyramid_name */
    uint64_t self;
};

/* One stretch of the capture, of all its sources together. */
struct tw_tile {
    size_t size;          /* sizeof(struct tw_tile), set by the caller */
    uint64_t from, to;    /* offsets in the capture */
    bool is_seen;         /* elements of it were taken; else nothing is known of it */
    bool has_time;        /* timestamps of the trace: ... */
    uint64_t first, last; /* ... the least and the greatest */
    uint64_t instructions;
    uint64_t calls;      /* branches with link that were taken */
    uint64_t exceptions; /* taken */
    /* what was lost, as the elements tell it */
    uint64_t overflows, discards, errors, gaps, missing_code;
    /* those that executed most, the most first; above the lowest level a sum of such sums: at least */
    struct tw_tile_function functions[TW_TILE_FUNCTIONS];
    size_t function_count;
};

struct tw_pyramid_config {
    size_t size;    /* sizeof(struct tw_pyramid_config) */
    uint64_t bytes; /* of the capture's buffer */
    /* bytes of a tile of the lowest level; 0: 64 KiB, or more where that were too many */
    uint64_t block;
    uint64_t identity; /* the caller's: a hash of the capture; see tw_pyramid_is_of */
    const struct tw_allocator *allocator;
};

struct tw_pyramid;

TW_API TW_MUST_USE enum tw_status tw_pyramid_new(struct tw_pyramid **pyramid,
                                                 const struct tw_pyramid_config *config,
                                                 struct tw_fault *fault);
TW_API void tw_pyramid_free(struct tw_pyramid *pyramid);

/* A part of a run, in any order: some stretches may come first, for a coarse picture, and the rest later.
   None may come twice. */
TW_API TW_MUST_USE enum tw_status
tw_pyramid_take(struct tw_pyramid *pyramid, struct tw_run *run, const struct tw_part *part);
/* For tw_run_config.sums: the stretch of the capture from one offset to before another comes to the pyramid as sums of whole tiles, which takes
   less time than its elements; parts that the run gives are taken as ever.  Where a stretch ends inside of a tile: TW_E_ARGUMENT.
   One run at a time. */
TW_API TW_MUST_USE enum tw_status tw_pyramid_sums(struct tw_pyramid *pyramid,
                                                  struct tw_run_sums *sums, uint64_t from,
                                                  uint64_t to);
/* Gives what came to one to another of the same capture, which knows nothing of these stretches yet: so that several
   threads each fill one of their own.  The one that gives is empty then. */
TW_API TW_MUST_USE enum tw_status tw_pyramid_give(struct tw_pyramid *into,
                                                  struct tw_pyramid *from);
/* Makes the levels above of what came so far; more may come, and this be called again. */
TW_API TW_MUST_USE enum tw_status tw_pyramid_finish(struct tw_pyramid *pyramid);

/* Whether it is of a capture with so many bytes and this identity. */
TW_API bool tw_pyramid_is_of(const struct tw_pyramid *pyramid, uint64_t bytes,
                             uint64_t identity);

/* Level 0 is the lowest. */
TW_API size_t tw_pyramid_levels(const struct tw_pyramid *pyramid);
TW_API size_t tw_pyramid_tiles(const struct tw_pyramid *pyramid, size_t level);
/* False: there is no such tile, or the size cannot be. */
TW_API bool tw_pyramid_tile(const struct tw_pyramid *pyramid, struct tw_tile *tile,
                            size_t level, size_t number);
/* The name of a function in tiles; NULL: there is no such number. */
TW_API const char *tw_pyramid_name(const struct tw_pyramid *pyramid, uint32_t function);

/* A file: versioned, with a checksum, the lowest level alone.  A pyramid that was loaded is finished. */
TW_API TW_MUST_USE enum tw_status tw_pyramid_save(const struct tw_pyramid *pyramid,
                                                  const char *path, struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_pyramid_load(struct tw_pyramid **pyramid, const char *path,
                                                  const struct tw_allocator *allocator,
                                                  struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
