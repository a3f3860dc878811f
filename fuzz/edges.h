/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges of a capture: of a run, on one thread or several; of a buffer's bytes, whatever came before. */
#ifndef FUZZ_EDGES_H
#define FUZZ_EDGES_H

#include "analyses.h"

enum { EDGE_BITS = 10, EDGE_BYTES = 1 << EDGE_BITS };

static void count_edges(const struct subject *subject, uint8_t *bytes, uint32_t threads)
{
    const struct tw_edge_map_config about = { .size = sizeof about, .bits = EDGE_BITS };
    struct tw_run_config config = subject->config;
    struct tw_run_counter counter;
    struct tw_edge_map *map;
    struct tw_run *run;

    require(tw_edge_map_new(&map, &about, NULL) == TW_OK);
    memset(bytes, 0, EDGE_BYTES);
    counter = tw_edge_map_counter(map, bytes);
    config.counter = &counter;
    config.threads = threads;
    run = start(subject, &config);
    if (run)
        (void)!tw_run_all(run);
    require(tw_edge_map_is_complete(map));
    tw_run_free(run);
    tw_edge_map_free(map);
}

static void take_edges(const struct subject *subject)
{
    const struct tw_edge_map_config about = { .size = sizeof about,
                                              .bits = EDGE_BITS,
                                              .capture = subject->capture,
                                              .range_limit = RANGE_LIMIT,
                                              .memory = 8 << 20 };
    struct tw_edge_map_result first = { .size = sizeof first },
                              second = { .size = sizeof first };
    static uint8_t one[EDGE_BYTES], other[EDGE_BYTES];
    const uint8_t *bytes;
    struct tw_edge_map *map;
    size_t size;

    if (!tw_capture_buffer_count(subject->capture) ||
        tw_capture_read(subject->capture, &bytes, &size, 0, 0) != TW_OK ||
        tw_edge_map_new(&map, &about, NULL) != TW_OK)
        return;
    require(tw_edge_map_size(map) == EDGE_BYTES);
    if (tw_edge_map_take(map, one, bytes, size, &first) == TW_OK) {
        require(tw_edge_map_take(map, other, bytes, size / 2, NULL) == TW_OK);
        require(tw_edge_map_take(map, other, bytes, size, &second) == TW_OK);
        require(memcmp(one, other, EDGE_BYTES) == 0 && first.edges == second.edges &&
                first.instructions == second.instructions);
    }
    tw_edge_map_free(map);
}

static void do_edges(const struct subject *subject)
{
    static uint8_t one[EDGE_BYTES], several[EDGE_BYTES];

    count_edges(subject, one, 1);
    count_edges(subject, several, 3);
    require(memcmp(one, several, EDGE_BYTES) == 0);
    take_edges(subject);
}

#endif
