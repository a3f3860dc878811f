/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of a call stack: pushed, replaced, popped, parked. */
#include "analysis/call_stack.h"

#include <string.h>

#include "base/memory.h"

enum {
    PARKED_MOST = 256,
    UNKNOWN_ROOT = 1 /* number of the edge that stands for callers that are not known */
};

static void tell(struct tw_call_machine *machine, const struct tw_call_stack *stack,
                 const struct tw_element *at, struct tw_call_event event)
{
    if (!machine->event)
        return;
    event.index = at ? at->index : machine->current ? machine->current->index : 0;
    event.thread = stack->thread;
    event.instructions = stack->instructions;
    event.from = stack->left.from;
    machine->event(machine->context, &event);
}

static void tell_enter(struct tw_call_machine *machine, const struct tw_call_stack *stack,
                       const struct tw_call_frame *frame, const struct tw_element *at)
{
    if (!machine->event)
        return;
    tell(machine, stack, at,
         (struct tw_call_event){ .to = at ? at->start : 0,
                                 .function = frame->function,
                                 .depth = (uint32_t)stack->count,
                                 .kind = frame->kind });
}

void tw_call_forget_oldest(struct tw_call_stack *stack)
{
    const size_t half = TW_CALL_FRAMES_MOST / 2;

    memmove(stack->frames, stack->frames + half, (stack->count - half) * sizeof *stack->frames);
    stack->count -= half;
    stack->outer -= (int32_t)half;
    stack->frames[0].has_return = false;
}

static struct tw_call_frame *room_for_frame(struct tw_call_machine *machine,
                                            struct tw_call_stack *stack)
{
    if (stack->count >= TW_CALL_FRAMES_MOST)
        tw_call_forget_oldest(stack);
    if (stack->count == stack->room &&
        !TW_GROW(machine->allocator, &stack->frames, &stack->room, stack->count + 1)) {
        machine->is_out = true;
        return NULL;
    }
    return &stack->frames[stack->count++];
}

/* The edge to a function that is called from a node's: most often the same as the last time. */
static uint32_t edge_from(struct tw_call_machine *machine, const struct tw_call_stack *stack,
                          uint32_t parent, uint32_t from, const struct tw_call_frame *frame)
{
    const struct tw_call_node *nodes = stack->tree.nodes;
    const uint32_t recent = nodes[nodes[parent].recent].edge;
    const struct tw_call_edge *edge = &machine->edges.items[recent];
    uint32_t number;

    if (recent && edge->from == from && edge->to == frame->function &&
        edge->kind == frame->kind)
        return recent;
    number = tw_call_edges_number(&machine->edges, from, frame->function,
                                  (enum tw_call_kind)frame->kind);
    machine->is_out |= machine->edges.is_out;
    return number;
}

/* The node of a call from a node's function, and its edge. */
static uint32_t node_of_call(struct tw_call_machine *machine, struct tw_call_stack *stack,
                             uint32_t parent, uint32_t from, const struct tw_call_frame *frame)
{
    uint32_t edge, node = tw_call_node_again(machine, stack, parent, from, frame);

    if (node) {
        machine->edges.items[stack->tree.nodes[node].edge].count++;
        return node;
    }
    edge = edge_from(machine, stack, parent, from, frame);
    node = tw_call_tree_child(&stack->tree, parent, edge);
    machine->edges.items[edge].count++;
    *tw_call_recent(machine, parent, frame->function) = node;
    return node;
}

void tw_call_push(struct tw_call_machine *machine, struct tw_call_stack *stack,
                  const struct tw_call_frame *frame, uint32_t from, const struct tw_element *at)
{
    const uint32_t parent = stack->count ? stack->frames[stack->count - 1].node : stack->root;
    struct tw_call_frame *made;

    tw_call_flush(machine, stack);
    made = room_for_frame(machine, stack);
    if (!made)
        return;
    *made = *frame;
    made->parent = parent;
    if (stack->count > TW_CALL_DEPTH_MOST) {
        const uint32_t edge = edge_from(machine, stack, parent, from, frame);

        machine->stats.too_deep++;
        made->node = parent;
        machine->edges.items[edge].count++;
    } else {
        made->node = node_of_call(machine, stack, parent, from, frame);
    }
    stack->tree.nodes[made->node].entries++;
    tell_enter(machine, stack, made, at);
}

/* Logical form: the callee stands on its caller until both return; where it stands in the chain of
   tail calls already, the chain goes back to it (state machines would grow without end). */
static void tail_on_top(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        uint32_t function, const struct tw_element *at)
{
    const uint32_t from = stack->frames[stack->count - 1].function;
    size_t i = stack->count - 1;

    while (stack->frames[i].kind == TW_CALL_TAIL && stack->frames[i].function != function && i)
        i--;
    if (stack->frames[i].function == function) {
        const uint32_t edge =
            tw_call_edges_number(&machine->edges, from, function, TW_CALL_TAIL);

        tw_call_pop(machine, stack, i + 1, TW_LEAVE_TAIL, at);
        machine->edges.items[edge].count++;
        stack->tree.nodes[stack->frames[i].node].entries++;
        stack->tree.nodes[stack->frames[i].node].returned++;
        return;
    }
    tw_call_push(machine, stack,
                 &(struct tw_call_frame){ .function = function, .kind = TW_CALL_TAIL }, from,
                 at);
}

void tw_call_tail(struct tw_call_machine *machine, struct tw_call_stack *stack,
                  uint32_t function, const struct tw_element *at)
{
    struct tw_call_frame *top = &stack->frames[stack->count - 1];
    const uint32_t edge =
        tw_call_edges_number(&machine->edges, top->function, function, TW_CALL_TAIL);

    machine->stats.tails++;
    if (machine->is_logical) {
        tail_on_top(machine, stack, function, at);
        return;
    }
    tw_call_flush(machine, stack);
    tell(machine, stack, at,
         (struct tw_call_event){ .to = at->start,
                                 .function = top->function,
                                 .depth = (uint32_t)stack->count - 1,
                                 .kind = TW_LEAVE_TAIL,
                                 .is_leave = true });
    if (stack->count <= TW_CALL_DEPTH_MOST)
        top->node = tw_call_tree_child(&stack->tree, top->parent, edge);
    top->function = function;
    machine->edges.items[edge].count++;
    stack->tree.nodes[top->node].entries++;
    tell(machine, stack, at,
         (struct tw_call_event){ .to = at->start,
                                 .function = function,
                                 .depth = (uint32_t)stack->count,
                                 .kind = TW_CALL_TAIL });
}

void tw_call_pop(struct tw_call_machine *machine, struct tw_call_stack *stack, size_t count,
                 enum tw_leave_kind why, const struct tw_element *at)
{
    tw_call_flush(machine, stack);
    while (stack->count > count) {
        stack->count--;
        tell(machine, stack, at,
             (struct tw_call_event){ .to = at && at->type == TW_ELEMENT_INSTR_RANGE ? at->start
                                                                                    : 0,
                                     .function = stack->frames[stack->count].function,
                                     .depth = (uint32_t)stack->count,
                                     .kind = (uint8_t)why,
                                     .is_leave = true });
    }
}

void tw_call_begin(struct tw_call_machine *machine, struct tw_call_stack *stack,
                   uint32_t function, bool is_entry, const struct tw_element *at)
{
    const bool is_first = stack->instructions == 0 && is_entry && !stack->parked_count;
    const struct tw_call_frame frame = { .function = function, .kind = TW_CALL_BEGIN };
    struct tw_call_frame *made;

    stack->root = tw_call_tree_root(&stack->tree, is_first ? 0 : UNKNOWN_ROOT);
    made = room_for_frame(machine, stack);
    if (!made)
        return;
    *made = frame;
    made->parent = stack->root;
    made->node = tw_call_tree_child(
        &stack->tree, stack->root,
        tw_call_edges_number(&machine->edges, TW_FUNCTION_NONE, function, TW_CALL_BEGIN));
    stack->tree.nodes[made->node].entries += is_entry;
    tell_enter(machine, stack, made, at);
}

/* The bottom frame returned to a caller that was there before: the root gets its name, and stands on
   a new root. */
void tw_call_outer(struct tw_call_machine *machine, struct tw_call_stack *stack,
                   uint32_t function, const struct tw_element *at)
{
    const uint32_t edge =
        tw_call_edges_number(&machine->edges, TW_FUNCTION_NONE, function, TW_CALL_OUTER);
    const uint32_t node = stack->root;

    tw_call_pop(machine, stack, 0, TW_LEAVE_RETURN, at);
    stack->root = tw_call_tree_root(&stack->tree, UNKNOWN_ROOT);
    stack->tree.nodes[node].edge = edge;
    stack->tree.nodes[node].parent = stack->root;
    stack->frames[0] = (struct tw_call_frame){
        .function = function, .node = node, .parent = stack->root, .kind = TW_CALL_OUTER
    };
    stack->count = 1;
    stack->outer++;
    tell_enter(machine, stack, &stack->frames[0], at);
}

void tw_call_drop_parked(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    for (size_t i = 0; i < stack->parked_count; i++)
        tw_give(machine->allocator, stack->parked[i].frames);
    stack->parked_count = 0;
}

/* Keeps the first `count` frames for later; the stack is empty then. */
void tw_call_park(struct tw_call_machine *machine, struct tw_call_stack *stack, size_t count,
                  uint64_t address, bool is_task)
{
    struct tw_parked_stack *parked;
    struct tw_call_frame *copy = NULL;

    tw_call_flush(machine, stack);
    machine->stats.parked++;
    if (count)
        copy = tw_take_raw(machine->allocator, count * sizeof *copy);
    if (stack->parked_count == PARKED_MOST) {
        tw_give(machine->allocator, stack->parked[0].frames);
        memmove(stack->parked, stack->parked + 1,
                --stack->parked_count * sizeof *stack->parked);
    }
    if (copy && TW_GROW(machine->allocator, &stack->parked, &stack->parked_room,
                        stack->parked_count + 1)) {
        memcpy(copy, stack->frames, count * sizeof *copy);
        parked = &stack->parked[stack->parked_count++];
        *parked = (struct tw_parked_stack){ copy, count, stack->root, address, is_task };
    } else {
        machine->is_out |= count != 0;
        tw_give(machine->allocator, copy);
    }
    tw_call_pop(machine, stack, 0, TW_LEAVE_SWITCH, NULL);
}

bool tw_call_resume(struct tw_call_machine *machine, struct tw_call_stack *stack,
                    uint64_t address, bool is_task)
{
    size_t found = SIZE_MAX;
    struct tw_parked_stack taken;

    for (size_t i = 0; i < stack->parked_count; i++) {
        if (stack->parked[i].address != address || stack->parked[i].is_task != is_task)
            continue;
        if (found != SIZE_MAX)
            return false; /* several: they cannot be told apart */
        found = i;
    }
    if (found == SIZE_MAX)
        return false;
    taken = stack->parked[found];
    if (!TW_GROW(machine->allocator, &stack->frames, &stack->room, taken.count))
        return false;
    memmove(stack->parked + found, stack->parked + found + 1,
            (--stack->parked_count - found) * sizeof *stack->parked);
    memcpy(stack->frames, taken.frames, taken.count * sizeof *taken.frames);
    stack->count = taken.count;
    stack->root = taken.root;
    tw_give(machine->allocator, taken.frames);
    machine->stats.resumed++;
    for (size_t i = 0; machine->event && i < stack->count; i++)
        tell(machine, stack, NULL,
             (struct tw_call_event){ .function = stack->frames[i].function,
                                     .depth = (uint32_t)i + 1,
                                     .kind = TW_CALL_RESUMED });
    return true;
}
