/* SPDX-License-Identifier: BSD-2-Clause */
/* What an AutoFDO profile is made of: counters of ranges and branches by file. */
#ifndef ANALYSIS_AUTOFDO_H
#define ANALYSIS_AUTOFDO_H

#include <trackway/autofdo.h>

#include "analysis/streams.h"
#include "base/map.h"

#define TW_AUTOFDO_NOWHERE UINT64_MAX /* a branch that led nobody knows where */

/* By offsets in the file while they are counted; by addresses once they are settled. */
struct tw_autofdo_entry {
    uint64_t from, to;
    uint64_t count;
    uint32_t file;
    uint32_t next; /* pair + 1 with the same hash */
    bool is_branch;
};

struct tw_autofdo_table {
    struct tw_autofdo_entry *items;
    size_t count, room;
    struct tw_map by_key;
};

/* A branch and the run that it led to, which mostly come together: pair + 1 in `live` of either. */
struct tw_autofdo_way {
    uint32_t branch, run;
};
enum { TW_AUTOFDO_WAY_BITS = 13 };

struct tw_autofdo_object {
    char *name;
    uint8_t build_id[20];
    uint8_t build_id_size;
    uint32_t same_hash; /* while profiles are added: file + 1 */
};

struct tw_autofdo {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    const struct tw_perf *perf;      /* NULL: nothing is taken */
    bool is_simpleperf;              /* as simpleperf makes it of its own recordings */
    struct tw_autofdo_object *files; /* those of perf.data first, in its order */
    size_t file_count, file_room;
    struct tw_autofdo_table live, settled;
    struct tw_streams streams;
    struct tw_autofdo_way *ways; /* each where its addresses put it; NULL: none */
    /* The map that held the last address: code does not often leave it. */
    const struct tw_perf_map *map;
    uint32_t space;
    uint64_t time;
    struct tw_autofdo_pair *results;
    size_t result_room;
};

/* Adds pair->count to the pair; returns its number + 1, or 0: no memory. */
uint32_t tw_autofdo_count(struct tw_autofdo *autofdo, struct tw_autofdo_table *pairs,
                          const struct tw_autofdo_entry *pair);
/* What was counted since the last time goes to `settled`; false: no memory. */
bool tw_autofdo_settle(struct tw_autofdo *autofdo);
bool tw_autofdo_add_file(struct tw_autofdo *autofdo, const char *name, const uint8_t *build_id,
                         uint8_t build_id_size);
/* What a file holds: *load tells whether it can be. */
struct tw_load;
void tw_autofdo_read(struct tw_autofdo *autofdo, struct tw_load *load);

#endif
