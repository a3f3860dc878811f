/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge maps: ranges and edges, as they are counted, go straight to the bytes of the map. */
#include <string.h>

#include <trackway/edge_map.h>

#include "analysis/counted_code.h"
#include "analysis/range_counts.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "image/sums.h"
#include "tree/tally.h"

enum { BYTE_MOST = 255, PIECE = 1 << 20 };

#define USUAL_MEMORY ((size_t)64 << 20)
#define LEAST_MEMORY ((size_t)4 << 20)

struct tw_edge_map {
    struct tw_edge_map_config config;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
    struct tw_arena arena;
    struct tw_allocator inner; /* the arena's */
    struct tw_tree *tree;      /* NULL: to be made */
    struct tw_sum_bytes sums;  /* the map at work, and what it holds */
    bool is_out;               /* the counter of a run found no memory */
    struct tw_edge_map_result result;
};

/* ---- edges ---- */

static inline uint32_t place_of(const struct tw_edge_map *map, uint64_t from, uint64_t to)
{
    /* Both ends take part in all bits that are left. */
    const uint64_t mixed =
        (from * 0x9e3779b97f4a7c15u ^ (to + 0x7f4a7c15u) * 0xd6e8feb86659fd93u) *
        0xff51afd7ed558ccdu;

    return (uint32_t)(mixed >> (64 - map->config.bits));
}

static inline void add(struct tw_edge_map *map, uint32_t place, uint64_t times)
{
    uint8_t *byte = &map->sums.bytes[place];

    map->sums.count += *byte == 0;
    *byte = times < (uint64_t)(BYTE_MOST - *byte) ? (uint8_t)(*byte + times) : BYTE_MOST;
}

static inline void add_target(struct tw_edge_map *map, uint64_t branch, uint64_t to,
                              uint64_t times)
{
    add(map, place_of(map, branch * 2 + 1, to * 2 + 1), times);
}

static inline uint64_t branch_at(const struct tw_element *range)
{
    return tw_element_end(range) - (uint64_t)range->last_size * 2;
}

/* The byte of the branch that ends a range: where the program tells its targets, the way that it went will do for
   `to`.  TW_SUM_NO_BYTE: it has none, or it is an indirect branch's that was taken. */
static inline uint32_t place_of_range(const struct tw_edge_map *map,
                                      const struct tw_element *range)
{
    const bool is_taken = (range->flags & TW_RANGE_EXECUTED) != 0;

    if (range->last_kind == TW_LAST_BR || (range->last_kind == TW_LAST_IBR && !is_taken))
        return place_of(map, branch_at(range) * 2 + is_taken, 0);
    return TW_SUM_NO_BYTE;
}

/* A range without where its indirect branch led. */
static inline void add_range(struct tw_edge_map *map, const struct tw_element *range,
                             uint64_t times)
{
    const uint32_t place = place_of_range(map, range);

    map->sums.instructions += range->count * times;
    if (place != TW_SUM_NO_BYTE)
        add(map, place, times);
}

/* ---- the counter of the tree ---- */

/* Of a source: the indirect branch whose target comes next. */
struct open_edge {
    uint64_t from;
    bool is_open;
};

static void take_range(struct tw_edge_map *map, struct open_edge *open,
                       const struct tw_element *range, uint64_t times)
{
    if (!range->count)
        return;
    if (open->is_open)
        add_target(map, open->from, range->start, times);
    add_range(map, range, times);
    open->is_open = range->last_kind == TW_LAST_IBR && range->flags & TW_RANGE_EXECUTED;
    open->from = branch_at(range);
}

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    struct tw_edge_map *map = context;
    struct open_edge *open = tally;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (TW_LIKELY(element->type == TW_ELEMENT_INSTR_RANGE)) {
            take_range(map, open, element, 1);
            continue;
        }
        if (element->type == TW_ELEMENT_REPEAT)
            for (size_t k = i - tw_repeat_reach(batch->elements, i); k < i; k++)
                if (batch->elements[k].type == TW_ELEMENT_INSTR_RANGE)
                    take_range(map, open, &batch->elements[k], element->times);
        if (tw_breaks_flow(element))
            open->is_open = false;
        map->result.missing += element->type == TW_ELEMENT_ADDR_NACC;
        map->result.errors += element->type == TW_ELEMENT_ERROR;
        map->result.overflows +=
            element->type == TW_ELEMENT_TRACE_ON && element->reason == TW_TRACE_ON_OVERFLOW;
    }
}

static uint32_t find(void *context, const struct tw_element *range)
{
    return place_of_range(context, range);
}

static void sum(void *context, void *tally, const struct tw_range_sum *sums, size_t number,
                const struct tw_batch *whose)
{
    struct tw_edge_map *map = context;

    (void)tally;
    (void)whose;
    for (size_t i = 0; i < number; i++)
        if (sums[i].is_edge)
            add_target(map, branch_at(&sums[i].range), sums[i].to, sums[i].times);
        else
            add_range(map, &sums[i].range, sums[i].times);
}

/* All is in the map already: the tree has but one thread, which never decodes in vain. */
static void merge(void *context, void *tally, const struct tw_batch *whose)
{
    (void)context;
    (void)tally;
    (void)whose;
}

/* The edge stays open from one piece of the capture to the next. */
static void clear(void *context, void *tally)
{
    (void)context;
    (void)tally;
}

static enum tw_status make_tree(struct tw_edge_map *map, struct tw_fault *fault)
{
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = sizeof(struct open_edge),
                                        .context = map,
                                        .count = count,
                                        .merge = merge,
                                        .clear = clear,
                                        .sum = sum };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = map->config.framing,
                                           .no_barrier = map->config.no_barrier,
                                           .range_limit = map->config.range_limit,
                                           .counter = &counter,
                                           .allocator = &map->inner };
    const struct tw_edge_map_config *about = &map->config;

    tw_arena_clear(&map->arena);
    map->tree = NULL;
    if (about->capture) {
        TW_TRY(tw_capture_tree(&map->tree, about->capture, about->buffer, &config, fault));
        return tw_tally_bytes(map->tree, &map->sums);
    }
    TW_TRY(tw_tree_new(&map->tree, &config, fault));
    for (size_t i = 0; i < about->source_count; i++) {
        const enum tw_status status = tw_tree_add_source(map->tree, NULL, &about->sources[i]);

        if (status != TW_OK) {
            (void)tw_fail(fault, status, "%s", tw_tree_fault(map->tree));
            tw_tree_free(map->tree);
            map->tree = NULL;
            return status;
        }
    }
    return tw_tally_bytes(map->tree, &map->sums);
}

static void drop_tree(struct tw_edge_map *map)
{
    tw_tree_free(map->tree);
    map->tree = NULL;
}

/* ---- one capture after the other ---- */

static enum tw_status decode(struct tw_edge_map *map, const uint8_t *trace, size_t size)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status = TW_MORE;

    if (!map->tree)
        TW_TRY(make_tree(map, NULL));
    else
        tw_tree_reset(map->tree, 0);
    memset(map->sums.bytes, 0, tw_edge_map_size(map));
    map->sums.instructions = map->sums.count = 0;
    map->result = (struct tw_edge_map_result){ .size = sizeof map->result };
    for (size_t at = 0; at < size && status >= 0;) {
        const size_t piece = size - at < PIECE ? size - at : PIECE;

        TW_TRY(tw_tree_feed(map->tree, trace + at, piece));
        status = tw_tree_next(map->tree, &batch);
        at += piece;
    }
    if (status >= 0)
        status = tw_tree_finish(map->tree);
    if (status >= 0)
        status = tw_tree_next(map->tree, &batch);
    return status < 0 ? status : TW_OK;
}

enum tw_status tw_edge_map_take(struct tw_edge_map *map, uint8_t *bytes, const uint8_t *trace,
                                size_t size, struct tw_edge_map_result *result)
{
    enum tw_status status;

    if (!map || !bytes || (size && !trace) ||
        !(map->config.capture || map->config.source_count))
        return TW_E_ARGUMENT;
    map->sums.bytes = bytes;
    status = decode(map, trace, size);
    if (status == TW_E_MEMORY) { /* what is known of the program, or of this capture? */
        drop_tree(map);
        status = decode(map, trace, size);
    }
    if (status < 0)
        drop_tree(map);
    map->result.instructions = map->sums.instructions;
    map->result.edges = map->sums.count;
    if (result && !TW_SIZED_GIVE(result, &map->result))
        return TW_E_ARGUMENT;
    return status;
}

/* ---- the counter of a run ---- */

static void merge_run(void *context, void *tally, const struct tw_part *whose)
{
    struct tw_edge_map *map = context;
    struct tw_range_counts *counts = tally;

    (void)whose;
    tw_range_counts_settle(counts);
    map->is_out |= counts->is_out;
    for (size_t i = 1; i < counts->range_count; i++) {
        const struct tw_range_count *range = &counts->ranges[i];
        struct tw_element element = { .start = range->start };

        element.length = range->length;
        element.count = range->instructions;
        element.last = range->last;
        if (range->not_taken)
            add_range(map, &element, range->not_taken);
        element.flags = TW_RANGE_EXECUTED;
        if (range->taken)
            add_range(map, &element, range->taken);
    }
    for (size_t i = 1; i < counts->edge_count; i++)
        add_target(map, counts->edges[i].from, counts->edges[i].to, counts->edges[i].count);
}

struct tw_run_counter tw_edge_map_counter(struct tw_edge_map *map, uint8_t *bytes)
{
    struct tw_run_counter counter = tw_counted_code_counter();

    map->sums.bytes = bytes;
    map->is_out = false;
    counter.context = map;
    counter.merge = merge_run;
    return counter;
}

bool tw_edge_map_is_complete(const struct tw_edge_map *map)
{
    return !map->is_out;
}

/* ---- new and free ---- */

static bool is_good(const struct tw_edge_map_config *config)
{
    return config->bits >= TW_EDGE_MAP_LEAST_BITS && config->bits <= TW_EDGE_MAP_MOST_BITS &&
           !(config->capture && config->source_count) &&
           (config->sources || !config->source_count);
}

static enum tw_status set_up(struct tw_edge_map *map, struct tw_fault *fault)
{
    void *memory;

    if (!map->config.capture && !map->config.source_count)
        return TW_OK;
    memory = tw_take_raw(map->allocator, map->config.memory);
    if (!memory)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an edge map");
    tw_arena_init(&map->arena, memory, map->config.memory);
    map->inner = (struct tw_allocator){ .resize = tw_arena_resize, .context = &map->arena };
    return make_tree(map, fault);
}

enum tw_status tw_edge_map_new(struct tw_edge_map **map, const struct tw_edge_map_config *given,
                               struct tw_fault *fault)
{
    struct tw_edge_map_config config;
    struct tw_edge_map *made;
    enum tw_status status;

    *map = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_edge_map_config", fault));
    if (!config.bits)
        config.bits = TW_EDGE_MAP_BITS;
    if (!config.memory)
        config.memory = USUAL_MEMORY;
    if (config.memory < LEAST_MEMORY)
        config.memory = LEAST_MEMORY;
    if (!is_good(&config))
        return tw_fail(fault, TW_E_ARGUMENT,
                       "tw_edge_map_config: bits, or sources and capture");
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an edge map");
    made->config = config;
    made->sums = (struct tw_sum_bytes){ .find = find, .context = made };
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    status = set_up(made, fault);
    if (status == TW_OK)
        *map = made;
    else
        tw_edge_map_free(made);
    return status;
}

void tw_edge_map_free(struct tw_edge_map *map)
{
    struct tw_allocator allocator;

    if (!map)
        return;
    drop_tree(map);
    tw_give(map->allocator, map->arena.bytes);
    allocator = map->allocator_copy; /* the handle itself holds it */
    tw_give(map->allocator ? &allocator : NULL, map);
}

size_t tw_edge_map_size(const struct tw_edge_map *map)
{
    return (size_t)1 << map->config.bits;
}
