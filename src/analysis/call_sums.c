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

bool tw_call_sums(struct tw_calls *calls)
{
    struct sums sums;
    struct walk walk;
    uint32_t node = 0;
    const bool is_good = sums_open(&sums, calls) && walk_open(&walk, &calls->machine.tree);

    if (is_good) {
        while (walk_next(&walk, &node))
            (walk.is_back ? leave : enter)(&sums, node);
        walk_close(&walk);
    }
    tw_give(calls->allocator, sums.functions);
    tw_give(calls->allocator, sums.edges);
    tw_give(calls->allocator, sums.under);
    return is_good;
}

void tw_calls_paths(const struct tw_calls *calls, tw_call_path_fn *each, void *context)
{
    const struct tw_call_tree *tree = &calls->machine.tree;
    uint32_t *functions = tw_take(calls->allocator, tree->count * sizeof *functions);
    struct walk walk;
    uint32_t node = 0;

    if (walk_open(&walk, tree) && functions) {
        while (walk_next(&walk, &node)) {
            const bool is_unknown = tree->nodes[walk.path[0]].edge != 0;
            struct tw_call_path path = { .functions = functions,
                                         .depth = walk.depth - 1,
                                         .self = tree->nodes[node].self,
                                         .has_unknown_callers = is_unknown };

            if (walk.is_back || walk.depth < 2) /* the root is no function */
                continue;
            functions[walk.depth - 2] = calls->machine.edges.items[tree->nodes[node].edge].to;
            if (path.self)
                each(context, &path);
        }
    }
    walk_close(&walk);
    tw_give(calls->allocator, functions);
}
