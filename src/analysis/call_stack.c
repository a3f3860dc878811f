/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules by which taken branches become calls and returns. */
#include "analysis/call_log.h"

#include "base/memory.h"

enum {
    MERGE_FROM = 4096 /* nodes from which on a stack's tree is merged at a gap */
};

bool tw_call_stack_init(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        uint32_t thread)
{
    *stack = (struct tw_call_stack){ .thread = thread };
    if (!tw_call_tree_init(&stack->tree, machine->allocator))
        return false;
    stack->tree.is_off = machine->tree.is_off;
    return true;
}

void tw_call_stack_release(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    tw_call_log_free(stack->log, machine->allocator);
    tw_call_drop_parked(machine, stack);
    tw_give(machine->allocator, stack->parked);
    tw_give(machine->allocator, stack->frames);
    tw_call_tree_release(&stack->tree);
    *stack = (struct tw_call_stack){ 0 };
}

void tw_call_stack_merge(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    tw_call_flush(machine, stack);
    machine->is_out |= stack->tree.is_out;
    tw_call_tree_move(&machine->tree, &stack->tree);
    machine->is_out |= machine->tree.is_out;
}

void tw_call_stack_gap(struct tw_call_machine *machine, struct tw_call_stack *stack,
                       uint64_t index, enum tw_leave_kind why)
{
    const struct tw_element at = { .index = index };

    tw_call_pop(machine, stack, 0, why, &at);
    tw_call_drop_parked(machine, stack);
    stack->left = (struct tw_departure){ .is_known = false };
    stack->exception.is_pending = false;
    stack->lacks_code = false;
    if (stack->tree.count >= MERGE_FROM)
        tw_call_stack_merge(machine, stack);
}

static const struct tw_function *about(const struct tw_call_machine *machine, uint32_t function)
{
    return &machine->functions->items[function];
}

uint32_t tw_call_name(struct tw_call_machine *machine, uint64_t address)
{
    struct tw_unnamed_code *recent = tw_call_unnamed(machine, address);

    recent->address = address;
    recent->function = tw_functions_made(machine->functions, TW_FUNCTION_UNNAMED, 0, address);
    return recent->function;
}

bool tw_call_is_in_top(const struct tw_call_machine *machine, const struct tw_call_stack *stack,
                       uint32_t function)
{
    const uint32_t top = stack->frames[stack->count - 1].function;

    return function == TW_FUNCTION_ANY ? about(machine, top)->kind == TW_FUNCTION_UNNAMED
                                       : function == top;
}

size_t tw_call_below_return(const struct tw_call_stack *stack, const struct tw_flow_range *to,
                            bool is_jump)
{
    if (is_jump && to->lacks_call_before)
        return SIZE_MAX;
    for (size_t i = stack->count; i--;) {
        const struct tw_call_frame *frame = &stack->frames[i];

        if (frame->has_return && frame->returns_to == to->start &&
            (!is_jump || frame->kind == TW_CALL_CALL))
            return i;
    }
    return SIZE_MAX;
}

/* The nearest frame of a function below the top.  An exception that unwinding goes on with leaves
   the frame that caught it to clean up, too. */
static size_t live_frame(const struct tw_call_machine *machine,
                         const struct tw_call_stack *stack, uint32_t function)
{
    size_t end = stack->count - 1;

    if (function == TW_FUNCTION_ANY)
        return SIZE_MAX;
    for (size_t i = stack->count; i--;) {
        if (about(machine, stack->frames[i].function)->is_resume) {
            end = i ? i - 1 : 0;
            break;
        }
    }
    for (size_t i = end; i--;)
        if (stack->frames[i].function == function)
            return i;
    return SIZE_MAX;
}

static bool return_to_frame(struct tw_call_machine *machine, struct tw_call_stack *stack,
                            const struct tw_element *range, const struct tw_flow_range *to,
                            bool is_jump)
{
    const size_t below = tw_call_below_return(stack, to, is_jump);

    if (below == SIZE_MAX)
        return false;
    machine->stats.returns++;
    machine->stats.over += below + 1 < stack->count;
    tw_call_pop(machine, stack, below, TW_LEAVE_RETURN, range);
    return true;
}

/* A return that fits no frame. */
static void take_unknown_return(struct tw_call_machine *machine, struct tw_call_stack *stack,
                                const struct tw_element *range, const struct tw_flow_range *to)
{
    struct tw_call_frame *top = &stack->frames[stack->count - 1];
    const uint32_t function = tw_call_named(machine, to->function, range->start);

    if (top->kind == TW_CALL_SIGNAL) { /* the handler's return goes through a trampoline */
        tw_call_tail(machine, stack, function, range);
        return;
    }
    machine->stats.unknown++;
    if (stack->count == 1 && !top->has_return) {
        tw_call_outer(machine, stack, function, range);
        return;
    }
    tw_call_park(machine, stack, stack->count, top->has_return ? top->returns_to : 0, false);
    if (tw_call_resume(machine, stack, range->start, false))
        tw_call_pop(machine, stack, stack->count - 1, TW_LEAVE_RETURN, range);
    if (!stack->count)
        tw_call_begin(machine, stack, function, to->is_entry, range);
}

/* Leads out of the function of the top frame, and back to none that waits for it. */
static void take_jump(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_element *range, const struct tw_flow_range *to,
                      bool is_return)
{
    size_t frame;

    if (to->is_entry && !is_return) {
        tw_call_tail(machine, stack, to->function, range);
        return;
    }
    frame = live_frame(machine, stack, to->function);
    if (frame != SIZE_MAX) {
        machine->stats.unwound++;
        tw_call_pop(machine, stack, frame + 1, TW_LEAVE_UNWOUND, range);
    } else if (is_return) {
        take_unknown_return(machine, stack, range, to);
    } else {
        tw_call_tail(machine, stack, tw_call_named(machine, to->function, range->start), range);
    }
}

static void take_call(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_element *range, const struct tw_flow_range *to)
{
    const uint64_t callee = tw_call_callee(&stack->left, range);
    const struct tw_call_frame frame = { .function =
                                             tw_call_named(machine, to->function, callee),
                                         .kind = TW_CALL_CALL,
                                         .returns_to = stack->left.after,
                                         .has_return = true };

    if (callee == stack->left.after)
        return; /* asks for its own address */
    machine->stats.calls++;
    tw_call_push(machine, stack, &frame, stack->left.function, range);
}

/* The nearest frame of an exception, SIZE_MAX: there is none. */
static size_t exception_frame(const struct tw_call_stack *stack)
{
    for (size_t i = stack->count; i--;)
        if (stack->frames[i].kind == TW_CALL_EXCEPTION)
            return i;
    return SIZE_MAX;
}

/* Whether a handler steps over the call that led to what trapped: to code that cannot be executed. */
static bool is_over_call(const struct tw_call_stack *stack, size_t exception, uint64_t to)
{
    const struct tw_call_frame *called = exception > 1 ? &stack->frames[exception - 1] : NULL;

    return called && called->kind == TW_CALL_CALL && called->has_return &&
           to - called->returns_to <= 4;
}

/* An exception return to another place than the exception came from: a handler that steps over or
   mends what trapped, or a scheduler that goes on with another task. */
static void take_changed_return(struct tw_call_machine *machine, struct tw_call_stack *stack,
                                const struct tw_element *range, const struct tw_flow_range *to)
{
    const size_t at = exception_frame(stack);
    uint64_t address;

    if (at == SIZE_MAX) { /* control was inside the handler when the trace began */
        machine->stats.unknown++;
        tw_call_outer(machine, stack, tw_call_named(machine, to->function, range->start),
                      range);
        return;
    }
    address = stack->frames[at].has_return ? stack->frames[at].returns_to : 0;
    if (at && (range->start - address <= 4 || stack->frames[at - 1].function == to->function)) {
        machine->stats.returns++;
        tw_call_pop(machine, stack, at, TW_LEAVE_RETURN, range);
        return;
    }
    if (is_over_call(stack, at, range->start)) {
        machine->stats.returns++;
        tw_call_pop(machine, stack, at - 1, TW_LEAVE_UNWOUND, range);
        return;
    }
    tw_call_park(machine, stack, at, address, true);
    if (!tw_call_resume(machine, stack, range->start, true))
        tw_call_begin(machine, stack, tw_call_named(machine, to->function, range->start),
                      to->is_entry, range);
}

static void take_transfer(struct tw_call_machine *machine, struct tw_call_stack *stack,
                          const struct tw_element *range, const struct tw_flow_range *to)
{
    const bool is_jump = stack->left.transfer == TW_TRANSFER_INDIRECT;

    switch (stack->left.transfer) {
    case TW_TRANSFER_CALL:
        take_call(machine, stack, range, to);
        return;
    case TW_TRANSFER_SWAP:
        (void)return_to_frame(machine, stack, range, to, false);
        if (!stack->count)
            tw_call_begin(machine, stack, tw_call_named(machine, to->function, range->start),
                          false, range);
        take_call(machine, stack, range, to);
        return;
    case TW_TRANSFER_EXCEPTION_RETURN:
        if (!return_to_frame(machine, stack, range, to, false))
            take_changed_return(machine, stack, range, to);
        break;
    case TW_TRANSFER_RETURN:
    case TW_TRANSFER_INDIRECT:
        /* A jump to the entry of a function is a tail call, wherever that function lies. */
        if (!(to->is_entry && is_jump) && return_to_frame(machine, stack, range, to, is_jump))
            break;
        if (!is_jump && stack->count == 1 && !stack->frames[0].has_return)
            take_unknown_return(machine, stack, range, to);
        else if (!tw_call_is_in_top(machine, stack, to->function))
            take_jump(machine, stack, range, to, !is_jump);
        break;
    default:
        if (!tw_call_is_in_top(machine, stack, to->function))
            take_jump(machine, stack, range, to, false);
        break;
    }
    if (!stack->count)
        tw_call_begin(machine, stack, tw_call_named(machine, to->function, range->start),
                      to->is_entry, range);
}

/* After an exception whose handler was not traced: back where it came from, a signal's handler, the
   end of one, or no one knows where. */
static void take_after_kernel(struct tw_call_machine *machine, struct tw_call_stack *stack,
                              const struct tw_element *range, const struct tw_flow_range *to)
{
    const struct tw_exception *exception = &stack->exception;
    struct tw_call_frame frame = { .kind = TW_CALL_SIGNAL,
                                   .returns_to = exception->address,
                                   .has_return = exception->has_address };

    if (exception->has_address && range->start == exception->address)
        return;
    for (size_t i = stack->count; i--;) {
        if (stack->frames[i].kind == TW_CALL_SIGNAL && stack->frames[i].has_return &&
            stack->frames[i].returns_to == range->start) {
            machine->stats.returns++;
            tw_call_pop(machine, stack, i, TW_LEAVE_RETURN, range);
            return;
        }
    }
    if (to->is_entry && stack->count) {
        frame.function = to->function;
        machine->stats.calls++;
        tw_call_push(machine, stack, &frame, stack->frames[stack->count - 1].function, range);
        return;
    }
    machine->stats.gaps++;
    tw_call_stack_gap(machine, stack, range->index, TW_LEAVE_GAP);
}

/* M profile: the handler that ended makes room for the next one, which returns where that one would have. */
static void chain(struct tw_call_machine *machine, struct tw_call_stack *stack,
                  const struct tw_element *range)
{
    const size_t at = exception_frame(stack);

    if (at != SIZE_MAX) {
        stack->exception.address = stack->frames[at].returns_to;
        stack->exception.has_address = stack->frames[at].has_return;
    }
    /* No frame: control was inside the handler when the trace began, and what it interrupted is not known. */
    tw_call_pop(machine, stack, at == SIZE_MAX ? 0 : at, TW_LEAVE_RETURN, range);
}

static void take_exception(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *range, const struct tw_flow_range *to)
{
    struct tw_call_frame frame = { .kind = TW_CALL_EXCEPTION };

    if (stack->exception.is_chained)
        chain(machine, stack, range);
    frame.function = tw_call_named(machine, to->function, range->start);
    frame.returns_to = stack->exception.address;
    frame.has_return = stack->exception.has_address;
    if (stack->exception.has_gap)
        take_after_kernel(machine, stack, range, to);
    else if (stack->count)
        tw_call_push(machine, stack, &frame, stack->frames[stack->count - 1].function, range);
    stack->exception.is_pending = false;
}

/* Code came back that is known, after code that was not. */
static void take_known_code(struct tw_call_machine *machine, struct tw_call_stack *stack,
                            const struct tw_element *range, const struct tw_flow_range *to)
{
    stack->lacks_code = false;
    if (return_to_frame(machine, stack, range, to, false))
        return;
    tw_call_pop(machine, stack, stack->count - 1, TW_LEAVE_RETURN, range);
    if (stack->count && tw_call_is_in_top(machine, stack, to->function))
        return;
    tw_call_stack_gap(machine, stack, range->index, TW_LEAVE_GAP);
}

void tw_call_reach(struct tw_call_machine *machine, struct tw_call_stack *stack, uint64_t index,
                   const struct tw_flow_range *to)
{
    const struct tw_element range = { .type = TW_ELEMENT_INSTR_RANGE,
                                      .index = index,
                                      .start = to->start };

    if (!stack->count || stack->has_gap || stack->lacks_code)
        return;
    /* A chained handler that is interrupted at once.  Of others it cannot be told whether they are traced. */
    if (stack->exception.is_pending && stack->exception.is_chained &&
        !stack->exception.has_gap) {
        take_exception(machine, stack, &range, to);
        stack->left.transfer = TW_TRANSFER_NONE;
        return;
    }
    if (!stack->left.is_known || stack->exception.is_pending ||
        stack->left.transfer == TW_TRANSFER_NONE)
        return;
    /* Nothing was executed there yet.  A return that leads to no frame, and to no function either, went astray:
       what returned is what the exception came from. */
    if ((stack->left.transfer == TW_TRANSFER_EXCEPTION_RETURN ||
         (stack->left.transfer == TW_TRANSFER_RETURN && to->function == TW_FUNCTION_ANY &&
          stack->count > 1)) &&
        tw_call_below_return(stack, to, false) == SIZE_MAX)
        return;
    take_transfer(machine, stack, &range, to);
    stack->left.transfer = TW_TRANSFER_NONE;
}

void tw_call_arrive(struct tw_call_machine *machine, struct tw_call_stack *stack,
                    const struct tw_element *range, const struct tw_flow_range *to)
{
    if (stack->has_gap) {
        if (stack->count) {
            machine->stats.gaps++;
            tw_call_stack_gap(machine, stack, range->index, TW_LEAVE_GAP);
        }
        stack->has_gap = false;
    }
    if (stack->count && stack->lacks_code)
        take_known_code(machine, stack, range, to);
    else if (stack->count && stack->exception.is_pending)
        take_exception(machine, stack, range, to);
    else if (stack->count && stack->left.is_known)
        take_transfer(machine, stack, range, to);
    else if (stack->count && !tw_call_is_in_top(machine, stack, to->function)) {
        machine->stats.gaps++;
        tw_call_stack_gap(machine, stack, range->index, TW_LEAVE_GAP);
    }
    stack->exception.is_pending = false;
    if (!stack->count)
        tw_call_begin(machine, stack, tw_call_named(machine, to->function, range->start),
                      to->is_entry, range);
    /* Whatever led here, the function on top is the one that is executed. */
    else if (!tw_call_is_in_top(machine, stack, to->function))
        take_jump(machine, stack, range, to, false);
}
