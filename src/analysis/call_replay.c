/* SPDX-License-Identifier: BSD-2-Clause */
/* What a log of calls holds, on the stack that was there when it began. */
#include <string.h>

#include "analysis/call_log.h"
#include "base/memory.h"

/* Where nodes of an epoch are in the stack's tree. */
struct moved_node {
    uint32_t node;
    uint32_t depth; /* above the frame that the epoch began on */
};

struct call_replay {
    struct tw_call_machine *machine;
    struct tw_call_stack *stack;
    const struct tw_call_log *log;
    struct moved_node *moved; /* by number in the epoch */
    size_t room;
};

/* How often frames were pushed to come to a node: not by tail calls that take a frame's place. */
static uint64_t pushes_of(const struct tw_call_machine *machine,
                          const struct tw_call_node *node)
{
    if (!machine->is_logical && machine->edges.items[node->edge].kind == TW_CALL_TAIL)
        return 0;
    return node->entries - node->returned;
}

/* The edge of a node; of the first calls of an epoch it is known only now who called. */
static uint32_t edge_of(struct call_replay *replay, const struct tw_call_node *node,
                        uint32_t top)
{
    struct tw_call_edges *edges = &replay->machine->edges;
    const struct tw_call_edge about = edges->items[node->edge];
    const uint64_t calls = node->entries - node->returned;
    uint32_t edge;

    if (about.from != TW_FUNCTION_NONE)
        return node->edge;
    edge = tw_call_edges_number(edges, top, about.to, (enum tw_call_kind)about.kind);
    edges->items[node->edge].count -= calls;
    edges->items[edge].count += calls;
    return edge;
}

/* Adds a node of an epoch to the stack's tree. */
static void move_node(struct call_replay *replay, const struct tw_call_epoch *epoch,
                      uint32_t number)
{
    struct tw_call_stack *stack = replay->stack;
    const struct tw_call_node *node = &replay->log->nodes[number];
    const struct moved_node *parent = &replay->moved[node->parent - epoch->root];
    struct moved_node *moved = &replay->moved[number - epoch->root];
    const uint32_t top = stack->frames[stack->count - 1].function;
    const uint32_t edge = edge_of(replay, node, top);

    moved->depth = parent->depth + 1;
    if (stack->count + moved->depth > TW_CALL_DEPTH_MOST) {
        replay->machine->stats.too_deep += pushes_of(replay->machine, node);
        moved->node = parent->node;
    } else {
        moved->node = tw_call_tree_child(&stack->tree, parent->node, edge);
    }
    stack->tree.nodes[moved->node].self += node->self;
    stack->tree.nodes[moved->node].entries += node->entries;
    stack->instructions += node->self;
}

static void replay_epoch(struct call_replay *replay, const struct tw_call_epoch *epoch,
                         uint32_t end)
{
    struct tw_call_machine *machine = replay->machine;
    struct tw_call_stack *stack = replay->stack;
    const uint32_t base = (uint32_t)stack->count - 1;
    uint32_t deepest = 0;

    tw_call_flush(machine, stack);
    if (!TW_GROW(machine->allocator, &replay->moved, &replay->room, end - epoch->root)) {
        machine->is_out = true;
        return;
    }
    replay->moved[0] = (struct moved_node){ .node = stack->frames[base].node };
    stack->tree.nodes[stack->frames[base].node].self += replay->log->nodes[epoch->root].self;
    stack->instructions += replay->log->nodes[epoch->root].self;
    for (uint32_t i = epoch->root + 1; i < end; i++) {
        const uint32_t depth =
            (move_node(replay, epoch, i), replay->moved[i - epoch->root].depth);

        deepest = depth > deepest ? depth : deepest;
    }
    stack->left = epoch->left;
    if (stack->left.function == TW_FUNCTION_NONE)
        stack->left.function = stack->frames[base].function;
    if (stack->count + deepest > TW_CALL_FRAMES_MOST)
        tw_call_forget_oldest(stack);
    if (!TW_GROW(machine->allocator, &stack->frames, &stack->room,
                 stack->count + epoch->frames)) {
        machine->is_out = true;
        return;
    }
    for (uint32_t i = 0; i < epoch->frames; i++) {
        const struct tw_call_frame *frame = &replay->log->frames[epoch->first_frame + i];
        struct tw_call_frame *made = &stack->frames[stack->count++];

        *made = *frame;
        made->node = replay->moved[frame->node - epoch->root].node;
        made->parent = replay->moved[frame->parent - epoch->root].node;
    }
}

void tw_call_log_replay(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_call_log *log, uint64_t losses)
{
    struct call_replay replay = { .machine = machine, .stack = stack, .log = log };
    size_t epoch = 0;

    for (size_t i = 0; i < log->step_count && !machine->is_out;) {
        const struct tw_call_step *step = &log->steps[i];

        if (step->kind == TW_CALL_STEP_FIRST_PART) {
            stack->has_gap |= stack->count && stack->gaps != losses + step->losses;
            stack->gaps = losses + step->losses;
        }
        i += tw_call_apply(machine, stack, step, &log->pieces);
        if (step->epoch && stack->count) {
            const bool is_last = epoch + 1 == log->epoch_count;

            replay_epoch(&replay, &log->epochs[epoch],
                         is_last ? (uint32_t)log->node_count : log->epochs[epoch + 1].root);
            epoch++;
        }
    }
    stack->gaps = losses + log->losses;
    tw_give(machine->allocator, replay.moved);
}
