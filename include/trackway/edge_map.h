/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge maps for fuzzers: one byte per edge of the program, as AFL has them, of one short capture after the
   other through the same decoder.  Experimental. */
#ifndef TRACKWAY_EDGE_MAP_H
#define TRACKWAY_EDGE_MAP_H

#include <trackway/capture.h>
#include <trackway/run.h>
#include <trackway/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A map has 1 << bits bytes; one byte per edge, by a fixed hash: how often the program went there, 255
   also for more.  An edge is a branch with the way that it went: taken or not, or of an indirect one
   where it led.  What interrupts the program (exceptions, trace that is switched off or lost) makes no
   edge; neither does a branch of which the trace does not tell where it led.  Code of transactions that
   failed was executed, and is there. */
struct tw_edge_map;

enum { TW_EDGE_MAP_BITS = 16, TW_EDGE_MAP_LEAST_BITS = 8, TW_EDGE_MAP_MOST_BITS = 24 };

struct tw_edge_map_config {
    size_t size;   /* sizeof(struct tw_edge_map_config) */
    unsigned bits; /* 0: TW_EDGE_MAP_BITS */
    /* What is traced: the sources, with their programs; or those of a capture's buffer, whose own bytes do
       not matter.  All of it is borrowed until the map is freed.  Neither: for tw_edge_map_counter alone. */
    const struct tw_tree_source *sources;
    size_t source_count;
    enum tw_framing framing;
    bool no_barrier;
    const struct tw_capture *capture;
    size_t buffer;
    uint32_t range_limit; /* as in struct tw_tree_config */
    /* Bytes for the decoder and what it knows of the program, taken once; 0: 64 MiB.  When they are
       used up, what it knows of the program is forgotten.  4 MiB at least are taken. */
    size_t memory;
    const struct tw_allocator *allocator;
};

/* What became of a capture. */
struct tw_edge_map_result {
    size_t size;           /* sizeof(struct tw_edge_map_result), set by the caller */
    uint64_t instructions; /* executed */
    uint64_t missing;      /* times that the program led where there is no code */
    uint64_t errors;       /* stretches of bad trace */
    uint64_t overflows;    /* times that the trace unit lost trace */
    uint32_t edges;        /* bytes of the map that are not 0 */
};

TW_API TW_MUST_USE enum tw_status tw_edge_map_new(struct tw_edge_map **map,
                                                  const struct tw_edge_map_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_edge_map_free(struct tw_edge_map *map);
TW_API size_t tw_edge_map_size(const struct tw_edge_map *map);

/* The map of one capture, from its first byte to its last, whatever came before: sets all of `bytes`,
   tw_edge_map_size of them.  `result` may be NULL.  Nothing is allocated.  Bad trace is no failure:
   TW_E_MEMORY, config.memory does not do for this capture; the map has what was found until then. */
TW_API TW_MUST_USE enum tw_status tw_edge_map_take(struct tw_edge_map *map, uint8_t *bytes,
                                                   const uint8_t *trace, size_t size,
                                                   struct tw_edge_map_result *result);

/* The same of a run, for captures of all kinds and with filters: the config's counter.  What the run
   executes is added to `bytes`, whose edges so far stay.  Code of transactions that failed is not there. */
TW_API struct tw_run_counter tw_edge_map_counter(struct tw_edge_map *map, uint8_t *bytes);
/* Whether memory sufficed for what was counted since tw_edge_map_counter; ask it after tw_run_all. */
TW_API bool tw_edge_map_is_complete(const struct tw_edge_map *map);

#ifdef __cplusplus
}
#endif

#endif
