/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls added up: who called whom, and what was executed under each path of calls. */
#ifndef ANALYSIS_CALL_TREE_H
#define ANALYSIS_CALL_TREE_H

#include <trackway/calls.h>

#include "base/map.h"

/* A path of calls: the callee of `edge` under `parent`.  Node 0 is none. */
struct tw_call_node {
    uint32_t parent;
    uint32_t edge;
    uint32_t recent; /* the child that was last asked for */
    /* entries that took up a frame again which stood there: a chain of tail calls came back to it */
    uint32_t returned;
    uint64_t self; /* instructions executed with just this stack */
    uint64_t entries;
    uint64_t cycles; /* of them, where the trace counts cycles */
};

struct tw_call_tree {
    struct tw_call_node *nodes;
    size_t count, room;
    size_t most;            /* nodes: beyond, paths are folded into "too deep" */
    struct tw_map children; /* parent and edge to node */
    bool is_moved;          /* `children` has old numbers */
    bool is_off;            /* nobody asks for paths: all of them are node 0 */
    bool is_out;
    const struct tw_allocator *allocator;
};

/* The first two edges are none: where control began, and callers that are not known. */
enum { TW_CALL_NO_EDGES = 2 };

struct tw_call_edges {
    struct tw_call_edge *items; /* number 0: control began here */
    size_t count, room;
    struct tw_map by_ends;
    bool is_moved; /* `by_ends` has old numbers */
    bool is_off;   /* nobody asks for them: all are number 0 */
    bool is_out;
    const struct tw_allocator *allocator;
};

bool tw_call_tree_init(struct tw_call_tree *tree, const struct tw_allocator *allocator);
void tw_call_tree_release(struct tw_call_tree *tree);
/* Forgets all nodes, keeps the memory. */
void tw_call_tree_clear(struct tw_call_tree *tree);
/* A node without a parent yet. */
uint32_t tw_call_tree_root(struct tw_call_tree *tree, uint32_t edge);
/* The callee of `edge` under `parent`, made when it is new; `parent` itself when memory is out or the
   tree is full. */
uint32_t tw_call_tree_child(struct tw_call_tree *tree, uint32_t parent, uint32_t edge);
/* Adds all of `from` below the roots of `to`; `edges`: the numbers that its edges have there, NULL: the
   same. */
void tw_call_tree_add(struct tw_call_tree *to, const struct tw_call_tree *from,
                      const uint32_t *edges);
/* The same, and `from` is empty then: its nodes are taken over as they are where that is the same. */
void tw_call_tree_move(struct tw_call_tree *to, struct tw_call_tree *from);

bool tw_call_edges_init(struct tw_call_edges *edges, const struct tw_allocator *allocator);
void tw_call_edges_release(struct tw_call_edges *edges);
/* The number of an edge, made when it is new; 0 when memory is out. */
uint32_t tw_call_edges_number(struct tw_call_edges *edges, uint32_t from, uint32_t to,
                              enum tw_call_kind kind);

#endif
