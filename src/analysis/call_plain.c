/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that change a stack in the plain ways, which most do: many at once. */
#include "analysis/call_log.h"

/* The function of a frame as ranges in it have it. */
static uint32_t function_of(const struct tw_call_machine *machine,
                            const struct tw_call_stack *stack, size_t frame)
{
    const uint32_t function = stack->frames[frame].function;

    if (stack->log && !frame)
        return stack->log->base_function;
    return machine->functions->items[function].kind == TW_FUNCTION_UNNAMED ? TW_FUNCTION_ANY
                                                                           : function;
}

uint32_t tw_call_function_of_top(const struct tw_call_machine *machine,
                                 const struct tw_call_stack *stack)
{
    return function_of(machine, stack, stack->count - 1);
}

/* A tail call of the top frame, if it is one: to the entry of another function. */
static bool tail_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_flow_range *to,
                         uint32_t function)
{
    if (!to->is_entry)
        return false;
    if (to->function == function)
        return true;
    if (stack->log && !tw_call_log_has_tail(machine, stack, to->function))
        return false;
    tw_call_tail(machine, stack, to->function, range);
    return true;
}

static bool return_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *range, uint32_t function)
{
    const struct tw_call_frame *top = &stack->frames[stack->count - 1];
    size_t at = stack->count - 1;

    if (stack->count < 2)
        return false;
    if (top->has_return && top->returns_to == range->start &&
        function_of(machine, stack, at - 1) == function) {
        machine->stats.returns++;
        if (machine->event) {
            tw_call_pop(machine, stack, at, TW_LEAVE_RETURN, range);
            return true;
        }
        tw_call_flush(machine, stack);
        stack->count--;
        return true;
    }
    if (!stack->log)
        return false;
    while (at &&
           !(stack->frames[at].has_return && stack->frames[at].returns_to == range->start))
        at--;
    if (!at || function_of(machine, stack, at - 1) != function)
        return false;
    machine->stats.returns++;
    machine->stats.over++;
    tw_call_pop(machine, stack, at, TW_LEAVE_RETURN, range);
    return true;
}

/* A jump through a register, not to the entry of a function: in the function of the top frame, or it returns, which
   a segment can tell of its own frames. */
static bool jump_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_flow_range *to,
                         uint32_t function)
{
    if (stack->log && !to->lacks_call_before)
        return return_plainly(machine, stack, range, to->function);
    return to->function == function && tw_call_below_return(stack, to, true) == SIZE_MAX;
}

/* The plain cases of a call, of a tail call, and of a return to where the top frame was called from, if `range`
   is one; the rest is tw_call_arrive's. */
static bool take_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_flow_range *to,
                         uint32_t function)
{
    const struct tw_departure *left = &stack->left;
    struct tw_call_frame frame = { .kind = TW_CALL_CALL,
                                   .has_return = true,
                                   .returns_to = left->after };
    uint64_t callee;

    if (left->transfer == TW_TRANSFER_RETURN)
        return return_plainly(machine, stack, range, to->function);
    if (left->transfer == TW_TRANSFER_INDIRECT)
        return to->is_entry ? tail_plainly(machine, stack, range, to, function)
                            : jump_plainly(machine, stack, range, to, function);
    callee = tw_call_callee(left, range);
    if (left->transfer != TW_TRANSFER_CALL || callee == left->after ||
        (stack->log && stack->count >= TW_LOG_DEPTH))
        return false;
    frame.function = tw_call_named(machine, to->function, callee);
    machine->stats.calls++;
    tw_call_push(machine, stack, &frame, stack->frames[stack->count - 1].function, range);
    return true;
}

/* What ranges one after the other leave behind. */
struct passed {
    uint64_t instructions;
    int32_t leap; /* of the last one */
    uint8_t transfer, last_size;
    bool is_any; /* else the stack knows what was left last */
};

/* What was passed belongs to the frame on top, which does not stay there. */
static inline void settle(struct tw_call_machine *machine, struct tw_call_stack *stack,
                          struct passed *passed)
{
    tw_call_count(stack, passed->instructions);
    passed->instructions = 0;
    tw_call_flush(machine, stack);
}

/* One of the cases that a jump through a register leads to inside the function of the top frame, to which no frame returns. */
static inline bool is_case(const struct passed *passed, const struct tw_flow_range *to,
                           uint32_t function)
{
    return passed->transfer == TW_TRANSFER_INDIRECT && to->lacks_call_before && !to->is_entry &&
           to->function == function;
}

/* A return to where the top frame was called from, where nobody is told of it. */
static inline bool return_again(struct tw_call_machine *machine, struct tw_call_stack *stack,
                                const struct tw_element *range, const struct tw_flow_range *to,
                                struct passed *passed)
{
    const size_t top = stack->count - 1;

    if (!top || !stack->frames[top].has_return ||
        stack->frames[top].returns_to != range->start ||
        function_of(machine, stack, top - 1) != to->function)
        return false;
    settle(machine, stack, passed);
    machine->stats.returns++;
    stack->count = top;
    return true;
}

/* The same of a call that came by this path before. */
static inline bool call_again(struct tw_call_machine *machine, struct tw_call_stack *stack,
                              const struct tw_element *range, const struct tw_flow_range *to,
                              struct passed *passed)
{
    const struct tw_departure left = { .after = passed->is_any ? tw_element_end(range - 1)
                                                               : stack->left.after,
                                       .leap = passed->leap };
    const uint64_t callee = tw_call_callee(&left, range);
    const struct tw_call_frame *top = &stack->frames[stack->count - 1];
    const struct tw_call_frame frame = { .function =
                                             tw_call_named(machine, to->function, callee),
                                         .kind = TW_CALL_CALL,
                                         .has_return = true,
                                         .parent = top->node,
                                         .returns_to = left.after,
                                         .node = 0 };
    struct tw_call_node *node;
    uint32_t number;

    if (callee == left.after || stack->count == stack->room ||
        stack->count >= (stack->log ? (size_t)TW_LOG_DEPTH : (size_t)TW_CALL_DEPTH_MOST))
        return false;
    number = tw_call_node_again(machine, stack, top->node, top->function, &frame);
    if (!number)
        return false;
    settle(machine, stack, passed);
    node = &stack->tree.nodes[number];
    node->entries++;
    machine->edges.items[node->edge].count++;
    machine->stats.calls++;
    stack->frames[stack->count] = frame;
    stack->frames[stack->count++].node = number;
    return true;
}

/* Control comes to a range behind others that were passed, not by a plain branch inside the function of the top frame: plainly all the same, or it is
   tw_call_arrive's. */
static bool arrive_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *range, const struct tw_flow_range *to,
                           struct passed *passed, uint32_t function)
{
    if (passed->is_any) {
        stack->left.after = tw_element_end(range - 1);
        stack->left.from = stack->left.after - passed->last_size;
        stack->left.transfer = passed->transfer;
        stack->left.leap = passed->leap;
    }
    machine->current = range;
    tw_call_count(stack, passed->instructions);
    passed->instructions = 0;
    return passed->transfer > TW_TRANSFER_JUMP
               ? take_plainly(machine, stack, range, to, function)
               : tail_plainly(machine, stack, range, to, function);
}

size_t tw_call_take_quietly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                            const struct tw_element *elements, size_t room,
                            const struct tw_code_place *place)
{
    const bool is_told = machine->event != NULL;
    struct passed passed = { .transfer = stack->left.transfer, .leap = stack->left.leap };
    uint32_t function = tw_call_function_of_top(machine, stack);
    const struct tw_element *range = elements, *const end = elements + room;
    const struct tw_flow_range *to = NULL;

    for (; range < end && range->type == TW_ELEMENT_INSTR_RANGE && range->count; range++) {
        to = tw_flow_ranges_of(&machine->ranges, range, place);
        if (!to || to->function != to->last_function)
            break;
        if (passed.transfer > TW_TRANSFER_JUMP || to->function != function) {
            if (passed.transfer == TW_TRANSFER_INDIRECT && !to->knows_before)
                tw_flow_ranges_look_before(&machine->ranges, to, range, place);
            if (!is_case(&passed, to, function) &&
                !(passed.transfer == TW_TRANSFER_RETURN && !is_told &&
                  return_again(machine, stack, range, to, &passed)) &&
                !(passed.transfer == TW_TRANSFER_CALL && !is_told &&
                  call_again(machine, stack, range, to, &passed)) &&
                !arrive_plainly(machine, stack, range, to, &passed, function))
                break;
            function = to->function; /* it is that of the top frame now */
        }
        passed.is_any = true;
        passed.instructions += range->count;
        passed.leap = to->leap;
        passed.last_size = to->last_size;
        passed.transfer =
            range->flags & TW_RANGE_EXECUTED ? to->transfer : (uint8_t)TW_TRANSFER_NONE;
    }
    tw_call_count(stack, passed.instructions);
    if (range > elements) {
        /* The last one may have been moved by a look at the next. */
        const struct tw_flow_range *last =
            tw_flow_ranges_of(&machine->ranges, range - 1, place);

        if (last)
            tw_call_leave_range(machine, stack, range - 1, last);
    }
    return (size_t)(range - elements);
}
