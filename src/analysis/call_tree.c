/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of paths of calls, and the table of edges. */
#include "analysis/call_tree.h"

#include <string.h>

#include "base/memory.h"

enum {
    NODES_MOST = 1 << 22,
    NODES_KEPT = 1 << 14, /* an empty tree has room for no more */
    EDGES_MOST = 1 << 26,
    FUNCTION_BITS = 29,
    KIND_BITS = 4
};

bool tw_call_tree_init(struct tw_call_tree *tree, const struct tw_allocator *allocator)
{
    *tree = (struct tw_call_tree){ .allocator = allocator,
                                   .children.allocator = allocator,
                                   .most = NODES_MOST };
    if (!TW_GROW(allocator, &tree->nodes, &tree->room, 1))
        return false;
    tree->nodes[0] = (struct tw_call_node){ 0 };
    tree->count = 1;
    return true;
}

void tw_call_tree_release(struct tw_call_tree *tree)
{
    tw_give(tree->allocator, tree->nodes);
    tw_map_free(&tree->children);
    *tree = (struct tw_call_tree){ 0 };
}

/* Memory of many paths goes back: they are held where they were added up. */
static void shrink(struct tw_call_tree *tree)
{
    struct tw_call_node *nodes =
        tree->room > NODES_KEPT ? tw_take(tree->allocator, sizeof *nodes) : NULL;

    if (!nodes)
        return;
    tw_give(tree->allocator, tree->nodes);
    tree->nodes = nodes;
    tree->room = 1;
    tw_map_free(&tree->children);
}

void tw_call_tree_clear(struct tw_call_tree *tree)
{
    shrink(tree);
    tw_map_clear(&tree->children);
    tree->is_moved = false;
    tree->nodes[0] = (struct tw_call_node){ 0 };
    tree->count = 1;
}

static uint32_t add_node(struct tw_call_tree *tree, uint32_t parent, uint32_t edge)
{
    if (tree->count >= tree->most ||
        !TW_GROW(tree->allocator, &tree->nodes, &tree->room, tree->count + 1)) {
        tree->is_out = true;
        return 0;
    }
    tree->nodes[tree->count] = (struct tw_call_node){ .parent = parent, .edge = edge };
    return (uint32_t)tree->count++;
}

uint32_t tw_call_tree_root(struct tw_call_tree *tree, uint32_t edge)
{
    return tree->is_off ? 0 : add_node(tree, 0, edge);
}

static uint64_t child_key(uint32_t parent, uint32_t edge)
{
    return (uint64_t)parent << 32 | edge;
}

static bool index_nodes(struct tw_call_tree *tree)
{
    tw_map_clear(&tree->children);
    for (size_t i = 1; i < tree->count; i++) {
        uint64_t *node =
            tw_map_put(&tree->children, child_key(tree->nodes[i].parent, tree->nodes[i].edge));

        if (!node)
            return false;
        *node = i;
    }
    tree->is_moved = false;
    return true;
}

/* Where the number of a child is, 0: it has none yet; NULL when memory is out. */
static uint64_t *place_of(struct tw_call_tree *tree, uint32_t parent, uint32_t edge)
{
    return tree->is_moved && !index_nodes(tree)
               ? NULL
               : tw_map_put(&tree->children, child_key(parent, edge));
}

uint32_t tw_call_tree_child(struct tw_call_tree *tree, uint32_t parent, uint32_t edge)
{
    const uint32_t recent = tree->nodes[parent].recent;
    uint64_t *node;

    if (tree->is_off)
        return 0;
    if (recent && tree->nodes[recent].edge == edge && tree->nodes[recent].parent == parent)
        return recent;
    node = place_of(tree, parent, edge);
    if (node && !*node)
        *node = add_node(tree, parent, edge);
    if (!node || !*node) {
        tree->is_out = true;
        return parent;
    }
    tree->nodes[parent].recent = (uint32_t)*node;
    return (uint32_t)*node;
}

/* Parents may stand behind their children: a caller becomes known when its callee returns. */
void tw_call_tree_add(struct tw_call_tree *to, const struct tw_call_tree *from,
                      const uint32_t *edges)
{
    uint32_t *there = tw_take(to->allocator, from->count * sizeof *there);
    uint32_t *path = tw_take(to->allocator, from->count * sizeof *path);

    if (!there || !path)
        to->is_out = true;
    for (uint32_t i = 1; there && path && i < from->count; i++) {
        size_t depth = 0;

        for (uint32_t at = i; at && !there[at]; at = from->nodes[at].parent)
            path[depth++] = at;
        while (depth--) {
            const struct tw_call_node *node = &from->nodes[path[depth]];
            const uint32_t parent = node->parent ? there[node->parent] : 0;
            const uint32_t made =
                tw_call_tree_child(to, parent, edges ? edges[node->edge] : node->edge);

            there[path[depth]] = made;
            to->nodes[made].self += node->self;
            to->nodes[made].entries += node->entries;
            to->nodes[made].cycles += node->cycles;
        }
    }
    tw_give(to->allocator, there);
    tw_give(to->allocator, path);
}

/* Whether adding a tree to an empty one would give the same nodes: callers stand before callees, and there is no root
   (whose edge is the first or second) twice. */
static bool is_in_order(const struct tw_call_tree *tree)
{
    bool has_root[2] = { false, false };

    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tw_call_node *node = &tree->nodes[i];

        if (node->parent >= i || (!node->parent && (node->edge > 1 || has_root[node->edge])))
            return false;
        if (!node->parent)
            has_root[node->edge] = true;
    }
    return true;
}

void tw_call_tree_move(struct tw_call_tree *to, struct tw_call_tree *from)
{
    if (to->count == 1 && to->most == from->most && !to->is_off && is_in_order(from)) {
        const struct tw_call_tree before = *to;

        *to = *from;
        *from = before;
        for (uint32_t i = 1; i < to->count; i++) {
            to->nodes[i].returned = 0;
            if (!to->nodes[i].parent) { /* it was not asked for as a child */
                uint64_t *node = place_of(to, 0, to->nodes[i].edge);

                if (node)
                    *node = i;
                to->is_out |= !node;
            }
        }
        to->is_out |= before.is_out;
        from->is_out = false;
    } else {
        tw_call_tree_add(to, from, NULL);
    }
    tw_call_tree_clear(from);
}

bool tw_call_edges_init(struct tw_call_edges *edges, const struct tw_allocator *allocator)
{
    *edges = (struct tw_call_edges){ .allocator = allocator, .by_ends.allocator = allocator };
    if (!TW_GROW(allocator, &edges->items, &edges->room, 1))
        return false;
    edges->items[0] = (struct tw_call_edge){ 0 };
    edges->count = 1;
    return true;
}

void tw_call_edges_release(struct tw_call_edges *edges)
{
    tw_give(edges->allocator, edges->items);
    tw_map_free(&edges->by_ends);
    *edges = (struct tw_call_edges){ 0 };
}

static uint64_t ends_key(uint32_t from, uint32_t to, unsigned kind)
{
    return ((uint64_t)from << FUNCTION_BITS | to) << KIND_BITS | kind;
}

static bool index_edges(struct tw_call_edges *edges)
{
    tw_map_clear(&edges->by_ends);
    for (size_t i = 1; i < edges->count; i++) {
        const struct tw_call_edge *edge = &edges->items[i];
        uint64_t *number =
            tw_map_put(&edges->by_ends, ends_key(edge->from, edge->to, edge->kind));

        if (!number)
            return false;
        *number = i;
    }
    edges->is_moved = false;
    return true;
}

uint32_t tw_call_edges_number(struct tw_call_edges *edges, uint32_t from, uint32_t to,
                              enum tw_call_kind kind)
{
    uint64_t *number = NULL;

    if (edges->is_off)
        return 0;
    if (!edges->is_moved || index_edges(edges))
        number = tw_map_put(&edges->by_ends, ends_key(from, to, kind));
    if (number && *number)
        return (uint32_t)*number;
    if (!number || edges->count >= EDGES_MOST ||
        !TW_GROW(edges->allocator, &edges->items, &edges->room, edges->count + 1)) {
        edges->is_out = true;
        return 0;
    }
    edges->items[edges->count] =
        (struct tw_call_edge){ .from = from, .to = to, .kind = (uint8_t)kind };
    *number = edges->count;
    return (uint32_t)edges->count++;
}
