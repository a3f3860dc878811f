/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: what was mapped at an address before something else took its place.  Hostile recordings map over
   the same places without end, so that each look-up has to be quick: a segment tree over addresses, in each
   of whose nodes are the maps that span all of it, one after the other in time. */
#include <stdlib.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

/* An address in a space, where some map begins, or the first behind its end. */
struct edge {
    uint64_t address;
    uint32_t space;
};

struct perf_history {
    struct edge *edges; /* sorted; stretch n goes from edge n to edge n + 1 */
    size_t edge_count;
    /* Node 1 is the root, those below node n are 2n and 2n + 1, stretch n is node edge_count + n.  Of each
       node where its maps begin in `maps`; one more at the end. */
    size_t *begin;
    uint32_t *maps; /* numbers in perf->past */
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *left = a, *right = b;

    if (left->space != right->space)
        return left->space < right->space ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

static struct edge begin_of(const struct tw_perf_map *map)
{
    return (struct edge){ map->address, map->space };
}

static struct edge end_of(const struct tw_perf_map *map)
{
    const uint64_t end = map->address + map->length;

    /* The end of memory is the beginning of the next space. */
    return end ? (struct edge){ end, map->space } : (struct edge){ 0, map->space + 1 };
}

/* The last edge that is not behind this place; edge_count: there is none. */
static size_t find_edge(const struct perf_history *history, struct edge place)
{
    size_t low = 0, high = history->edge_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_edges(&history->edges[middle], &place) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : history->edge_count;
}

/* Puts the map into each node that it spans, or only counts it there. */
static void put_map(struct perf_history *history, const struct tw_perf_map *map,
                    uint32_t number, bool fill)
{
    size_t left = find_edge(history, begin_of(map)) + history->edge_count;
    size_t right = find_edge(history, end_of(map)) + history->edge_count;

    for (; left < right; left /= 2, right /= 2) {
        size_t nodes[2], count = 0;

        if (left & 1)
            nodes[count++] = left++;
        if (right & 1)
            nodes[count++] = --right;
        while (count--) {
            if (fill)
                history->maps[history->begin[nodes[count]]++] = number;
            else
                history->begin[nodes[count]]++;
        }
    }
}

/* A map's number by the time it came; maps of one node are never there at the same time. */
struct arrival {
    uint64_t from;
    uint32_t number;
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *left = a, *right = b;

    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static void find_edges(struct perf_history *history, const struct tw_perf *perf)
{
    size_t kept = 0;

    for (size_t i = 0; i < perf->past_count; i++) {
        history->edges[2 * i] = begin_of(&perf->past[i]);
        history->edges[2 * i + 1] = end_of(&perf->past[i]);
    }
    qsort(history->edges, 2 * perf->past_count, sizeof *history->edges, compare_edges);
    for (size_t i = 0; i < 2 * perf->past_count; i++)
        if (!kept || compare_edges(&history->edges[kept - 1], &history->edges[i]) != 0)
            history->edges[kept++] = history->edges[i];
    history->edge_count = kept;
}

/* Sorts the maps into the nodes: counts, then places them. */
static bool fill_nodes(struct perf_history *history, const struct tw_perf *perf,
                       const struct arrival *arrivals)
{
    const struct tw_allocator *allocator = perf->capture->allocator;
    const size_t nodes = 2 * history->edge_count;
    size_t total = 0;

    for (size_t i = 0; i < perf->past_count; i++)
        put_map(history, &perf->past[i], (uint32_t)i, false);
    for (size_t i = 0; i <= nodes; i++) {
        const size_t count = history->begin[i];

        history->begin[i] = total;
        total += count;
    }
    if (total >= SIZE_MAX / sizeof *history->maps)
        return false;
    history->maps = tw_take(allocator, (total + 1) * sizeof *history->maps);
    if (!history->maps)
        return false;
    for (size_t i = 0; i < perf->past_count; i++)
        put_map(history, &perf->past[arrivals[i].number], arrivals[i].number, true);
    for (size_t i = nodes; i; i--) /* each has moved on to where the next begins */
        history->begin[i] = history->begin[i - 1];
    history->begin[0] = 0;
    return true;
}

enum tw_status tw_perf_history_new(struct tw_perf *perf)
{
    const struct tw_allocator *allocator = perf->capture->allocator;
    struct perf_history *history;
    struct arrival *arrivals = NULL;
    bool is_good = false;

    if (!perf->past_count)
        return TW_OK;
    history = perf->history = tw_take(allocator, sizeof *history);
    if (history)
        history->edges = tw_take(allocator, 2 * perf->past_count * sizeof *history->edges);
    if (history && history->edges) {
        find_edges(history, perf);
        history->begin =
            tw_take(allocator, (2 * history->edge_count + 1) * sizeof *history->begin);
        arrivals = tw_take(allocator, perf->past_count * sizeof *arrivals);
    }
    if (arrivals && history->begin) {
        for (size_t i = 0; i < perf->past_count; i++)
            arrivals[i] = (struct arrival){ perf->past[i].from, (uint32_t)i };
        qsort(arrivals, perf->past_count, sizeof *arrivals, compare_arrivals);
        is_good = fill_nodes(history, perf, arrivals);
    }
    tw_give(allocator, arrivals);
    return is_good ? TW_OK : tw_capture_no_memory(perf->capture);
}

void tw_perf_history_free(struct tw_perf *perf)
{
    const struct tw_allocator *allocator = perf->capture->allocator;

    if (!perf->history)
        return;
    tw_give(allocator, perf->history->edges);
    tw_give(allocator, perf->history->begin);
    tw_give(allocator, perf->history->maps);
    tw_give(allocator, perf->history);
    perf->history = NULL;
}

/* The map of this node that was there at this time. */
static const struct tw_perf_map *find_in_node(const struct tw_perf *perf, size_t node,
                                              uint64_t time)
{
    const struct perf_history *history = perf->history;
    const size_t first = history->begin[node];
    size_t low = first, high = history->begin[node + 1];
    const struct tw_perf_map *map;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (perf->past[history->maps[middle]].from <= time)
            low = middle + 1;
        else
            high = middle;
    }
    map = low > first ? &perf->past[history->maps[low - 1]] : NULL;
    return map && time < map->until ? map : NULL;
}

const struct tw_perf_map *tw_perf_past(const struct tw_perf *perf, uint32_t space,
                                       uint64_t address, uint64_t time)
{
    const struct perf_history *history = perf->history;
    const struct tw_perf_map *map = NULL;
    size_t edge;

    if (!history)
        return NULL;
    edge = find_edge(history, (struct edge){ address, space });
    if (edge == history->edge_count)
        return NULL;
    for (size_t node = edge + history->edge_count; node && !map; node /= 2)
        map = find_in_node(perf, node, time);
    return map;
}
