/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of a thread of execution, one after the other or many at once, to its call stack. */
#include "analysis/call_stack.h"

#include <trackway/disassembly.h>

enum {
    REPEATS_MOST =
        1 << 20 /* elements that a repeat is walked for; beyond, they are only counted */
};

static void count(struct tw_call_stack *stack, uint64_t instructions)
{
    stack->pending += instructions;
    stack->instructions += instructions;
}

/* Instructions of a range up to a boundary; where they have several sizes, the code tells. */
static uint32_t instructions_up_to(const struct tw_element *range, uint64_t boundary,
                                   const struct tw_code_place *place)
{
    uint64_t at = range->start;
    uint32_t number = 0;

    if (range->length == (uint64_t)range->count * 4)
        return (uint32_t)((boundary - at) / 4);
    if (range->length == (uint64_t)range->count * 2)
        return (uint32_t)((boundary - at) / 2);
    while (at < boundary && number < range->count) {
        uint8_t bytes[4] = { 0 };
        struct tw_code_bytes code = { .bytes = bytes, .address = at, .isa = range->isa };
        size_t size;

        if (place->image)
            code.size = tw_image_read(place->image, bytes, &place->view, at, sizeof bytes);
        size = tw_instruction_size(&code);
        if (!size)
            return number;
        at += size;
        number++;
    }
    return number;
}

/* A range that runs over the beginning of another function: a tail call without a branch. */
static void count_across(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_code_place *place)
{
    const uint64_t end = tw_element_end(range);
    uint64_t at = range->start;
    uint32_t done = 0;

    while (at < end) {
        uint64_t first, last;
        const uint32_t function =
            tw_flow_ranges_function(&machine->ranges, &first, &last, at, place);
        uint32_t upto;

        if (at != range->start && !tw_call_is_in_top(machine, stack, function)) {
            const struct tw_element here = { .index = range->index,
                                             .start = at,
                                             .type = TW_ELEMENT_INSTR_RANGE };

            stack->left.from = at;
            tw_call_tail(machine, stack, tw_call_named(machine, function, at), &here);
        }
        if (last <= at) /* no symbol: look for the next one */
            for (last = at + 2; last < end; last += 2) {
                uint64_t other, other_end;

                if (tw_flow_ranges_function(&machine->ranges, &other, &other_end, last,
                                            place) != TW_FUNCTION_ANY)
                    break;
            }
        at = last < end ? last : end;
        upto = at == end ? range->count : instructions_up_to(range, at, place);
        count(stack, upto - done);
        done = upto;
    }
}

static void leave_range(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *range, const struct tw_flow_range *to)
{
    stack->left.after = tw_element_end(range);
    stack->left.from = stack->left.after - to->last_size;
    stack->left.function = stack->frames[stack->count - 1].function;
    stack->left.transfer =
        range->flags & TW_RANGE_EXECUTED ? to->transfer : (uint8_t)TW_TRANSFER_NONE;
    stack->left.is_trap = to->is_trap;
    stack->left.is_known = true;
    if (machine->notice && stack->left.transfer == TW_TRANSFER_EXCEPTION_RETURN)
        machine->notice(machine->context, stack, range, TW_NOTICE_EXCEPTION_RETURN);
}

static void take_range(struct tw_call_machine *machine, struct tw_call_stack *stack,
                       const struct tw_element *range, const struct tw_code_place *place)
{
    const struct tw_flow_range *found = tw_flow_ranges_of(&machine->ranges, range, place);
    struct tw_flow_range to;
    size_t number;

    if (!found) {
        machine->is_out = true;
        return;
    }
    to = *found; /* what follows may move it */
    number = (size_t)(found - machine->ranges.items);
    if (machine->notice && (stack->exception.is_pending || stack->has_gap || !stack->count ||
                            !stack->left.is_known))
        machine->notice(machine->context, stack, range, TW_NOTICE_ARRIVAL);
    tw_call_arrive(machine, stack, range, &to);
    if (!stack->count)
        return; /* memory is out */
    if (to.function == to.last_function && machine->with_inlined && place->frames)
        tw_call_count_inlined(machine, stack, range, place, number);
    else if (to.function == to.last_function)
        count(stack, range->count);
    else
        count_across(machine, stack, range, place);
    leave_range(machine, stack, range, &to);
}

/* Whether what comes next can only be another range of the same function. */
static bool is_quiet(const struct tw_call_machine *machine, const struct tw_call_stack *stack)
{
    return !machine->with_inlined && stack->count && stack->left.is_known &&
           !stack->exception.is_pending && !stack->has_gap && !stack->lacks_code;
}

/* The function of the top frame as ranges in it have it: code without a symbol is one function. */
static uint32_t function_of_top(const struct tw_call_machine *machine,
                                const struct tw_call_stack *stack)
{
    const uint32_t function = stack->frames[stack->count - 1].function;

    return machine->functions->items[function].kind == TW_FUNCTION_UNNAMED ? TW_FUNCTION_ANY
                                                                           : function;
}

/* The plain cases of a call and of a return to where the top frame was called from, if `range` is one; the
   rest, and what events are wanted of, is tw_call_arrive's. */
static bool take_plainly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, uint32_t function,
                         const struct tw_departure *left)
{
    const struct tw_call_frame *top = &stack->frames[stack->count - 1];
    struct tw_call_frame frame = { .kind = TW_CALL_CALL,
                                   .has_return = true,
                                   .returns_to = left->after };

    if (left->transfer == TW_TRANSFER_RETURN) {
        if (!top->has_return || top->returns_to != range->start || stack->count < 2)
            return false;
        tw_call_flush(machine, stack);
        machine->stats.returns++;
        stack->count--;
        return true;
    }
    if (left->transfer != TW_TRANSFER_CALL || range->start == left->after)
        return false;
    frame.function = tw_call_named(machine, function, range->start);
    machine->stats.calls++;
    tw_call_push(machine, stack, &frame, top->function, range);
    return true;
}

/* As many ranges as there are plain ones: in the function of the top frame, called by it, or returned to;
   how many those are. */
static size_t take_quietly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *elements, size_t room,
                           const struct tw_code_place *place)
{
    const bool is_told = machine->event || machine->notice;
    uint32_t function = function_of_top(machine, stack);
    uint8_t transfer = stack->left.transfer;
    uint64_t instructions = 0;
    size_t done = 0;

    for (; done < room; done++) {
        const struct tw_element *range = &elements[done];
        const struct tw_flow_range *to;

        if (range->type != TW_ELEMENT_INSTR_RANGE || !range->count)
            break;
        to = tw_flow_ranges_of(&machine->ranges, range, place);
        if (!to || to->function != to->last_function)
            break;
        if (transfer > TW_TRANSFER_JUMP) {
            const struct tw_departure left = { .after = done ? tw_element_end(range - 1)
                                                             : stack->left.after,
                                               .transfer = transfer };

            if (is_told)
                break;
            count(stack, instructions);
            instructions = 0;
            if (!take_plainly(machine, stack, range, to->function, &left))
                break;
            function = function_of_top(machine, stack);
        } else if (to->function != function) {
            break;
        }
        instructions += range->count;
        transfer = range->flags & TW_RANGE_EXECUTED ? to->transfer : (uint8_t)TW_TRANSFER_NONE;
    }
    count(stack, instructions);
    if (done) {
        /* The last one may have been moved by a look at the next. */
        const struct tw_flow_range *last =
            tw_flow_ranges_of(&machine->ranges, &elements[done - 1], place);

        if (last)
            leave_range(machine, stack, &elements[done - 1], last);
    }
    return done;
}

/* Instructions that are counted, but not where: they stand on the stack as it is. */
static void take_untraced(struct tw_call_machine *machine, struct tw_call_stack *stack,
                          const struct tw_element *element)
{
    const uint32_t function =
        tw_functions_made(machine->functions, TW_FUNCTION_NOT_TRACED, 0, 0);
    const struct tw_call_frame frame = { .function = function, .kind = TW_CALL_CALL };
    const struct tw_element at = { .index = element->index, .start = element->first };

    if (!stack->count)
        tw_call_begin(machine, stack, function, false, &at);
    else
        tw_call_push(machine, stack, &frame, stack->frames[stack->count - 1].function, &at);
    if (stack->count)
        count(stack, element->count);
    tw_call_pop(machine, stack, stack->count ? stack->count - 1 : 0, TW_LEAVE_RETURN, &at);
    stack->left.is_known = false;
}

static void take_missing_code(struct tw_call_machine *machine, struct tw_call_stack *stack,
                              const struct tw_element *element)
{
    const struct tw_element at = { .index = element->index, .start = element->address };
    const bool is_call = stack->left.is_known && stack->left.transfer == TW_TRANSFER_CALL;
    const struct tw_call_frame frame = {
        .function =
            tw_functions_made(machine->functions, TW_FUNCTION_NO_CODE, 0, element->address),
        .kind = TW_CALL_CALL,
        .returns_to = stack->left.after,
        .has_return = is_call,
    };

    machine->stats.missing++;
    if (stack->lacks_code || !stack->count)
        return;
    machine->stats.calls += is_call;
    tw_call_push(machine, stack, &frame, stack->frames[stack->count - 1].function, &at);
    stack->lacks_code = true;
    stack->exception.is_pending = false;
}

/* Trace begins again.  After an exception or a system call whose handler is not traced the two ends
   of what is missing are known. */
static void take_trace_on(struct tw_call_stack *stack, const struct tw_element *element)
{
    if (stack->left.is_known && stack->left.is_trap && !stack->exception.is_pending)
        stack->exception = (struct tw_exception){ .address = stack->left.after,
                                                  .is_pending = true,
                                                  .has_address = true };
    if (stack->exception.is_pending && element->reason == TW_TRACE_ON_NORMAL)
        stack->exception.has_gap = true;
    else
        stack->has_gap = true;
}

static void take_one(struct tw_call_machine *machine, struct tw_call_stack *stack,
                     const struct tw_element *element, const struct tw_code_place *place)
{
    machine->current = element;
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        if (element->count)
            take_range(machine, stack, element, place);
        break;
    case TW_ELEMENT_EXCEPTION:
        if (element->flags & TW_EXCEPTION_HAS_RETURN)
            tw_call_reach(machine, stack, element->index, element->return_address, place);
        stack->exception = (struct tw_exception){
            .address = element->return_address,
            .is_pending = true,
            .has_address = (element->flags & TW_EXCEPTION_HAS_RETURN) != 0,
            .is_riscv = (element->flags & TW_EXCEPTION_RISCV) != 0,
        };
        break;
    case TW_ELEMENT_EXCEPTION_RET: /* M profile: a return by its opcode, not by what it does */
        if (stack->left.is_known)
            stack->left.transfer = TW_TRANSFER_EXCEPTION_RETURN;
        break;
    case TW_ELEMENT_TRACE_ON:
        machine->losses += element->reason == TW_TRACE_ON_OVERFLOW;
        take_trace_on(stack, element);
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_ERROR:
        machine->losses++;
        stack->has_gap = true;
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        take_untraced(machine, stack, element);
        break;
    case TW_ELEMENT_ADDR_NACC:
        take_missing_code(machine, stack, element);
        break;
    default:
        break;
    }
    if (machine->notice && element->type != TW_ELEMENT_INSTR_RANGE)
        machine->notice(machine->context, stack, element, TW_NOTICE_ELEMENT);
}

/* A loop that a packet tells of as a number: inside one function it is counted at once, else walked,
   up to a limit. */
static void take_repeat(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t at,
                        const struct tw_code_place *place)
{
    const size_t reach = tw_repeat_reach(elements, at);
    const struct tw_element *first = elements + at - reach;
    const uint32_t function = stack->count ? function_of_top(machine, stack) : 0;
    uint64_t times = elements[at].times, instructions = 0;
    bool is_quiet_loop = is_quiet(machine, stack);

    for (size_t i = 0; i < reach; i++) {
        const struct tw_flow_range *to =
            first[i].type == TW_ELEMENT_INSTR_RANGE
                ? tw_flow_ranges_of(&machine->ranges, &first[i], place)
                : NULL;

        instructions += to ? first[i].count : 0;
        is_quiet_loop &=
            to && to->function == function && to->last_function == function &&
            (to->transfer <= TW_TRANSFER_JUMP || !(first[i].flags & TW_RANGE_EXECUTED));
    }
    if (is_quiet_loop) {
        count(stack, times * instructions);
        return;
    }
    for (; times && times * reach <= REPEATS_MOST; times--)
        for (size_t i = 0; i < reach; i++)
            take_one(machine, stack, &first[i], place);
    if (stack->count)
        count(stack, times * instructions);
}

void tw_call_stack_take(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t number,
                        const struct tw_code_place *place)
{
    size_t i = 0;

    machine->base = stack->instructions;
    while (i < number) {
        const size_t done = is_quiet(machine, stack)
                                ? take_quietly(machine, stack, elements + i, number - i, place)
                                : 0;

        i += done;
        if (i < number && elements[i].type == TW_ELEMENT_REPEAT)
            take_repeat(machine, stack, elements, i++, place);
        else if (i < number)
            take_one(machine, stack, &elements[i++], place);
    }
}
