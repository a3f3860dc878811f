/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over the tree of calls: what was executed under functions and edges, each instruction once
   however often they stand on a path. */
#include "analysis/calls.h"

#include <string.h>

#include "base/memory.h"

/* A walk over the tree, callers before callees. */
struct walk {
    const struct tw_call_tree *tree;
    uint32_t *first;   /* by node: its first child, 0: none */
    uint32_t *sibling; /* by node */
    uint32_t *path;    /* nodes from the root to the one at work */
    size_t depth;
    bool is_back; /* the node at work was left */
};

static bool walk_open(struct walk *walk, const struct tw_call_tree *tree)
{
    const size_t count = tree->count;

    *walk = (struct walk){ .tree = tree };
    walk->first = tw_take(tree->allocator, count * sizeof *walk->first);
    walk->sibling = tw_take(tree->allocator, count * sizeof *walk->sibling);
    walk->path = tw_take(tree->allocator, count * sizeof *walk->path);
    if (!walk->first || !walk->sibling || !walk->path)
        return false;
    for (uint32_t i = (uint32_t)count; i-- > 1;) {
        const uint32_t parent = tree->nodes[i].parent;

        walk->sibling[i] = walk->first[parent];
        walk->first[parent] = i;
    }
    return true;
}

static void walk_close(struct walk *walk)
{
    tw_give(walk->tree->allocator, walk->first);
    tw_give(walk->tree->allocator, walk->sibling);
    tw_give(walk->tree->allocator, walk->path);
}

/* The next node entered, or (is_back) left; false: all were. */
static bool walk_next(struct walk *walk, uint32_t *node)
{
    uint32_t next;

    if (!walk->is_back) {
        next = walk->first[walk->depth ? walk->path[walk->depth - 1] : 0];
        if (next) {
            walk->path[walk->depth++] = *node = next;
            return true;
        }
        if (!walk->depth)
            return false;
        walk->is_back = true;
        *node = walk->path[walk->depth - 1];
        return true;
    }
    next = walk->sibling[walk->path[walk->depth - 1]];
    walk->depth--;
    if (next) {
        walk->is_back = false;
        walk->path[walk->depth++] = *node = next;
        return true;
    }
    if (!walk->depth)
        return false;
    *node = walk->path[walk->depth - 1];
    return true;
}

struct sums {
    struct tw_calls *calls;
    uint32_t *functions; /* how often each stands on the path at work */
    uint32_t *edges;
    uint64_t *under; /* by node: executed in it and below */
};

static bool sums_open(struct sums *sums, struct tw_calls *calls)
{
    const size_t functions = calls->functions.count;

    *sums = (struct sums){ .calls = calls };
    tw_give(calls->allocator, calls->totals);
    calls->total_count = 0;
    calls->totals = tw_take(calls->allocator, functions * sizeof *calls->totals);
    if (calls->totals)
        calls->total_count = functions;
    sums->functions = tw_take(calls->allocator, functions * sizeof *sums->functions);
    sums->edges = tw_take(calls->allocator, calls->machine.edges.count * sizeof *sums->edges);
    sums->under = tw_take(calls->allocator, calls->machine.tree.count * sizeof *sums->under);
    return calls->totals && sums->functions && sums->edges && sums->under;
}

static void enter(struct sums *sums, uint32_t node)
{
    const struct tw_call_node *about = &sums->calls->machine.tree.nodes[node];
    const struct tw_call_edge *edge = &sums->calls->machine.edges.items[about->edge];

    sums->functions[edge->to]++;
    sums->edges[about->edge]++;
    sums->under[node] = about->self;
    sums->calls->totals[edge->to].entries += about->entries;
    sums->calls->totals[edge->to].self += about->self;
}

static void leave(struct sums *sums, uint32_t node)
{
    const struct tw_call_node *about = &sums->calls->machine.tree.nodes[node];
    struct tw_call_edge *edge = &sums->calls->machine.edges.items[about->edge];

    if (--sums->functions[edge->to] == 0)
        sums->calls->totals[edge->to].inclusive += sums->under[node];
    if (--sums->edges[about->edge] == 0)
        edge->inclusive += sums->under[node];
    sums->under[about->parent] += sums->under[node];
}

static bool add_up(struct tw_calls *calls)
{
    struct sums sums;
    struct walk walk = { .tree = &calls->machine.tree };
    uint32_t node = 0;
    const bool is_good = sums_open(&sums, calls) && walk_open(&walk, &calls->machine.tree);

    while (is_good && walk_next(&walk, &node))
        (walk.is_back ? leave : enter)(&sums, node);
    walk_close(&walk);
    tw_give(calls->allocator, sums.functions);
    tw_give(calls->allocator, sums.edges);
    tw_give(calls->allocator, sums.under);
    return is_good;
}

bool tw_call_sums(struct tw_calls *calls)
{
    return add_up(calls);
}

/* The tree by functions alone, however control came to them; its `edge` is a function. */
static bool fold(struct tw_call_tree *to, const struct tw_calls *calls)
{
    const struct tw_call_tree *from = &calls->machine.tree;
    uint32_t *there = tw_take(calls->allocator, from->count * sizeof *there);
    struct walk walk;
    uint32_t node = 0;
    const bool is_good =
        walk_open(&walk, from) && there && tw_call_tree_init(to, calls->allocator);

    while (is_good && walk_next(&walk, &node)) {
        const struct tw_call_node *about = &from->nodes[node];
        uint32_t made;

        if (walk.is_back)
            continue;
        made = there[about->parent];
        if (about->edge) /* number 0: control began below it, no one called */
            made = tw_call_tree_child(to, made, calls->machine.edges.items[about->edge].to);
        there[node] = made;
        to->nodes[made].self += about->self;
        to->nodes[made].entries += about->entries;
    }
    walk_close(&walk);
    tw_give(calls->allocator, there);
    return is_good && !to->is_out;
}

static int compare_functions(const struct tw_functions *functions, uint32_t left,
                             uint32_t right)
{
    const struct tw_function *a = &functions->items[left], *b = &functions->items[right];
    const int order = strcmp(a->name, b->name);

    if (order)
        return order;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

/* Puts the children of each node in the order of their names: merges the lists of siblings from the
   bottom up, two neighbours at a time. */
static uint32_t sorted(const struct walk *walk, const struct tw_functions *functions,
                       uint32_t list)
{
    for (size_t size = 1;; size *= 2) {
        uint32_t rest = list, *end = &list;
        size_t merges = 0;

        list = 0;
        while (rest) {
            uint32_t a = rest, b = rest;
            size_t a_count = 0, b_count = size;

            merges++;
            while (b && a_count < size) {
                b = walk->sibling[b];
                a_count++;
            }
            while (a_count || (b_count && b)) {
                const bool takes_b =
                    !a_count || (b_count && b &&
                                 compare_functions(functions, walk->tree->nodes[b].edge,
                                                   walk->tree->nodes[a].edge) < 0);
                uint32_t *from = takes_b ? &b : &a;
                const uint32_t taken = *from;

                *from = walk->sibling[taken];
                if (takes_b)
                    b_count--;
                else
                    a_count--;
                *end = taken;
                end = &walk->sibling[taken];
            }
            *end = 0;
            rest = b;
        }
        if (merges <= 1)
            return list;
    }
}

enum tw_status tw_calls_paths(const struct tw_calls *calls, tw_call_path_fn *each,
                              void *context)
{
    struct tw_call_tree tree = { .allocator = calls->allocator };
    uint32_t *functions = NULL, node = 0;
    struct walk walk = { .tree = &tree };
    bool is_good = fold(&tree, calls) && walk_open(&walk, &tree);

    if (is_good)
        functions = tw_take(calls->allocator, tree.count * sizeof *functions);
    is_good &= functions != NULL;
    if (is_good) {
        for (size_t i = 0; i < tree.count; i++)
            if (walk.first[i])
                walk.first[i] = sorted(&walk, &calls->functions, walk.first[i]);
        while (walk_next(&walk, &node)) {
            const struct tw_call_path path = { .functions = functions,
                                               .depth = walk.depth,
                                               .self = tree.nodes[node].self,
                                               .entries = tree.nodes[node].entries };

            if (walk.is_back)
                continue;
            functions[walk.depth - 1] = tree.nodes[node].edge;
            each(context, &path);
        }
    }
    walk_close(&walk);
    tw_call_tree_release(&tree);
    tw_give(calls->allocator, functions);
    return is_good ? TW_OK : TW_E_MEMORY;
}
