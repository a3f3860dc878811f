/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions, edges and paths in an order that does not depend on when they were met: equal results have
   equal numbers, however they came about. */
#include "analysis/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A function or edge on its way to its new number. */
struct ordered {
    const struct tw_function *function;
    struct tw_call_edge edge;
    uint32_t old;
};

static int by_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_function(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int order = strcmp(a->function->name, b->function->name);

    if (order)
        return order;
    if (a->function->address != b->function->address)
        return a->function->address < b->function->address ? -1 : 1;
    order = by_text(a->function->object, b->function->object);
    if (order)
        return order;
    return (int)a->function->kind - (int)b->function->kind;
}

static int by_edge(const void *left, const void *right)
{
    const struct tw_call_edge *a = &((const struct ordered *)left)->edge;
    const struct tw_call_edge *b = &((const struct ordered *)right)->edge;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* What all steps share: which are in use, and their new numbers. */
struct order {
    struct tw_calls *calls;
    bool *uses_edge;
    uint32_t *function_of; /* by old number */
    uint32_t *edge_of;
    uint32_t *node_of;
    struct ordered *items;
};

static bool order_open(struct order *order, struct tw_calls *calls)
{
    const size_t functions = calls->functions.count, edges = calls->machine.edges.count;
    const size_t nodes = calls->machine.tree.count;
    const struct tw_allocator *allocator = calls->allocator;

    *order = (struct order){ .calls = calls };
    order->uses_edge = tw_take(allocator, edges * sizeof *order->uses_edge);
    order->function_of = tw_take(allocator, functions * sizeof *order->function_of);
    order->edge_of = tw_take(allocator, edges * sizeof *order->edge_of);
    order->node_of = tw_take(allocator, nodes * sizeof *order->node_of);
    order->items =
        tw_take(allocator, (functions > edges ? functions : edges) * sizeof *order->items);
    return order->uses_edge && order->function_of && order->edge_of && order->node_of &&
           order->items;
}

static void order_close(struct order *order)
{
    const struct tw_allocator *allocator = order->calls->allocator;

    tw_give(allocator, order->uses_edge);
    tw_give(allocator, order->function_of);
    tw_give(allocator, order->edge_of);
    tw_give(allocator, order->node_of);
    tw_give(allocator, order->items);
}

static void find_edges(struct order *order)
{
    const struct tw_call_tree *tree = &order->calls->machine.tree;
    const struct tw_call_edges *edges = &order->calls->machine.edges;

    for (size_t i = 1; i < tree->count; i++)
        order->uses_edge[tree->nodes[i].edge] = true;
    for (size_t i = 0; i < edges->count; i++)
        order->uses_edge[i] |= i < TW_CALL_NO_EDGES || edges->items[i].count;
}

/* Functions that no edge speaks of are left out. */
static bool order_functions(struct order *order)
{
    struct tw_calls *calls = order->calls;
    struct tw_functions *functions = &calls->functions;
    const struct tw_call_edges *edges = &calls->machine.edges;
    struct tw_function *sorted =
        tw_take_raw(calls->allocator, functions->room * sizeof *sorted);
    uint32_t *old_of = tw_take(calls->allocator, functions->count * sizeof *old_of);
    size_t count = 0;

    for (size_t i = 0; i < edges->count; i++)
        if (order->uses_edge[i])
            order->function_of[edges->items[i].from] = order->function_of[edges->items[i].to] =
                1;
    for (uint32_t i = 1; i < functions->count; i++)
        if (order->function_of[i])
            order->items[count++] =
                (struct ordered){ .function = &functions->items[i], .old = i };
    order->function_of[0] = 0;
    if (!sorted || !old_of) {
        tw_give(calls->allocator, sorted);
        tw_give(calls->allocator, old_of);
        return false;
    }
    qsort(order->items, count, sizeof *order->items, by_function);
    sorted[0] = functions->items[0];
    for (size_t i = 0; i < count; i++) {
        sorted[i + 1] = *order->items[i].function;
        old_of[i + 1] = order->items[i].old;
        order->function_of[order->items[i].old] = (uint32_t)i + 1;
    }
    tw_give(calls->allocator, functions->items);
    tw_give(calls->allocator, calls->old_of);
    functions->items = sorted;
    functions->count = count + 1;
    calls->old_of = old_of;
    return tw_functions_index(functions);
}

static void order_edges(struct order *order)
{
    struct tw_call_edges *edges = &order->calls->machine.edges;
    size_t count = 0;

    for (uint32_t i = TW_CALL_NO_EDGES; i < edges->count; i++) {
        if (!order->uses_edge[i])
            continue;
        order->items[count] = (struct ordered){ .edge = edges->items[i], .old = i };
        order->items[count].edge.from = order->function_of[edges->items[i].from];
        order->items[count].edge.to = order->function_of[edges->items[i].to];
        order->items[count++].edge.inclusive = 0;
    }
    qsort(order->items, count, sizeof *order->items, by_edge);
    for (uint32_t i = 0; i < TW_CALL_NO_EDGES; i++)
        order->edge_of[i] = i;
    for (size_t i = 0; i < count; i++) {
        edges->items[i + TW_CALL_NO_EDGES] = order->items[i].edge;
        order->edge_of[order->items[i].old] = (uint32_t)(i + TW_CALL_NO_EDGES);
    }
    edges->count = count + TW_CALL_NO_EDGES;
    for (uint32_t i = 0; i < TW_CALL_NO_EDGES; i++)
        edges->items[i].inclusive = 0;
    edges->is_moved = true;
}

/* For qsort: children of one parent, in the order of their edges. */
struct placed {
    uint32_t edge, node;
};

static int by_place(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;

    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Children of one parent stand together: by parent those from first[parent] to before first[parent + 1]. */
static void place_nodes(const struct order *order, struct placed *placed, size_t *first)
{
    const struct tw_call_tree *tree = &order->calls->machine.tree;

    for (size_t i = 1; i < tree->count; i++)
        first[tree->nodes[i].parent + 2]++;
    for (size_t i = 2; i < tree->count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 1; i < tree->count; i++)
        placed[first[tree->nodes[i].parent + 1]++] =
            (struct placed){ order->edge_of[tree->nodes[i].edge], i };
    for (size_t i = 0; i < tree->count; i++)
        if (first[i + 1] - first[i] > 1)
            qsort(placed + first[i], first[i + 1] - first[i], sizeof *placed, by_place);
}

/* Level by level: a node's number is known before its children are asked for. */
static bool order_nodes(struct order *order)
{
    struct tw_call_tree *tree = &order->calls->machine.tree;
    const struct tw_allocator *allocator = tree->allocator;
    struct placed *placed = tw_take(allocator, tree->count * sizeof *placed);
    size_t *first = tw_take(allocator, (tree->count + 2) * sizeof *first);
    struct tw_call_node *sorted = tw_take_raw(allocator, tree->room * sizeof *sorted);
    uint32_t *queue = tw_take(allocator, tree->count * sizeof *queue);
    const bool is_good = placed && first && sorted && queue;
    size_t made = 1;

    if (is_good)
        place_nodes(order, placed, first);
    for (size_t at = 0; is_good && at < made; at++) {
        for (size_t i = first[queue[at]]; i < first[queue[at] + 1]; i++) {
            queue[made] = placed[i].node;
            sorted[made] = tree->nodes[placed[i].node];
            sorted[made].parent = (uint32_t)at;
            sorted[made].edge = placed[i].edge;
            sorted[made++].recent = 0;
        }
    }
    if (is_good) {
        sorted[0] = tree->nodes[0];
        sorted[0].recent = 0;
        tw_give(allocator, tree->nodes);
        tree->nodes = sorted;
        tree->count = made;
    } else {
        tw_give(allocator, sorted);
    }
    tw_give(allocator, placed);
    tw_give(allocator, first);
    tw_give(allocator, queue);
    tree->is_moved = true;
    return is_good;
}

bool tw_calls_order(struct tw_calls *calls)
{
    struct order order;
    bool is_good = order_open(&order, calls);

    if (is_good) {
        find_edges(&order);
        is_good = order_functions(&order);
        if (is_good) {
            order_edges(&order);
            is_good = order_nodes(&order);
        }
    }
    order_close(&order);
    return is_good;
}
