/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of a thread of execution, one after the other or many at once, to its call stack. */
#include "analysis/call_log.h"

#include <trackway/disassembly.h>

#include "base/memory.h"

enum {
    REPEATS_MOST =
        1 << 20 /* elements that a repeat is walked for; beyond, they are only counted */
};

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

/* Where a range runs over the beginning of another function: the stretches of it.  False: no memory. */
static bool cut_range(struct tw_call_machine *machine, struct tw_call_step *step,
                      struct tw_call_pieces *pieces, const struct tw_element *range,
                      const struct tw_code_place *place)
{
    const uint64_t end = tw_element_end(range);
    uint64_t at = range->start;
    uint32_t done = 0;

    step->first_piece = (uint32_t)pieces->count;
    while (at < end) {
        uint64_t first, last;
        struct tw_call_piece piece = { .at = at };
        uint32_t upto;

        piece.function = tw_flow_ranges_function(&machine->ranges, &first, &last, at, place);
        if (last <= at) /* no symbol: look for the next one */
            for (last = at + 2; last < end; last += 2) {
                uint64_t other, other_end;

                if (tw_flow_ranges_function(&machine->ranges, &other, &other_end, last,
                                            place) != TW_FUNCTION_ANY)
                    break;
            }
        at = last < end ? last : end;
        upto = at == end ? range->count : instructions_up_to(range, at, place);
        piece.count = upto - done;
        done = upto;
        if (!TW_GROW(machine->allocator, &pieces->items, &pieces->room, pieces->count + 1))
            return false;
        pieces->items[pieces->count++] = piece;
    }
    step->pieces = (uint32_t)(pieces->count - step->first_piece);
    return true;
}

/* A range that runs over the beginning of another function: a tail call without a branch. */
static void count_across(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_call_step *step, const struct tw_call_piece *pieces)
{
    for (size_t i = 0; i < step->pieces; i++) {
        const struct tw_call_piece *piece = &pieces[i];

        if (i && !tw_call_is_in_top(machine, stack, piece->function)) {
            const struct tw_element here = { .index = step->element.index,
                                             .start = piece->at,
                                             .type = TW_ELEMENT_INSTR_RANGE };

            stack->left.from = piece->at;
            tw_call_tail(machine, stack, tw_call_named(machine, piece->function, piece->at),
                         &here);
        }
        tw_call_count(stack, piece->count);
    }
}

void tw_call_leave_range(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_flow_range *to)
{
    stack->left.after = tw_element_end(range);
    stack->left.from = stack->left.after - to->last_size;
    stack->left.function = stack->frames[stack->count - 1].function;
    stack->left.transfer =
        range->flags & TW_RANGE_EXECUTED ? to->transfer : (uint8_t)TW_TRANSFER_NONE;
    stack->left.leap = to->leap;
    stack->left.is_trap = to->is_trap;
    stack->left.is_known = true;
    if (machine->notice && stack->left.transfer == TW_TRANSFER_EXCEPTION_RETURN)
        machine->notice(machine->context, stack, range, TW_NOTICE_EXCEPTION_RETURN);
}

static void take_range(struct tw_call_machine *machine, struct tw_call_stack *stack,
                       const struct tw_call_step *step, const struct tw_call_pieces *pieces,
                       const struct tw_code_place *place)
{
    /* Who is told of elements knows them by where they lie. */
    const struct tw_element *range = machine->notice ? machine->current : &step->element;

    if (machine->notice && (stack->exception.is_pending || stack->has_gap || !stack->count ||
                            !stack->left.is_known))
        machine->notice(machine->context, stack, range, TW_NOTICE_ARRIVAL);
    tw_call_arrive(machine, stack, range, &step->to);
    if (!stack->count)
        return; /* memory is out */
    if (step->pieces)
        count_across(machine, stack, step, pieces->items + step->first_piece);
    else if (machine->with_inlined && place && place->frames)
        tw_call_count_inlined(machine, stack, range, place, step->first_piece);
    else
        tw_call_count(stack, range->count);
    tw_call_leave_range(machine, stack, range, &step->to);
}

/* What is known of a range, in *step. */
static bool resolve_range(struct tw_call_machine *machine, struct tw_call_step *step,
                          struct tw_call_pieces *pieces, const struct tw_code_place *place)
{
    const struct tw_flow_range *found =
        tw_flow_ranges_of(&machine->ranges, &step->element, place);

    if (!found)
        return false;
    tw_flow_ranges_look_before(&machine->ranges, found, &step->element, place);
    step->to = *found; /* what follows may move it */
    step->first_piece = (uint32_t)(found - machine->ranges.items);
    return step->to.function == step->to.last_function ||
           cut_range(machine, step, pieces, &step->element, place);
}

bool tw_call_resolve(struct tw_call_machine *machine, struct tw_call_step *step,
                     struct tw_call_pieces *pieces, const struct tw_element *element,
                     const struct tw_code_place *place)
{
    uint64_t first = 0, end;

    *step = (struct tw_call_step){ .kind = TW_CALL_STEP_ELEMENT, .element = *element };
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        return resolve_range(machine, step, pieces, place);
    if (element->type == TW_ELEMENT_EXCEPTION && element->flags & TW_EXCEPTION_HAS_RETURN) {
        step->to.start = element->return_address;
        step->to.function = step->to.last_function = tw_flow_ranges_function(
            &machine->ranges, &first, &end, element->return_address, place);
        step->to.is_entry =
            step->to.function != TW_FUNCTION_ANY && element->return_address == first;
    }
    return true;
}

/* Whether what comes next can only be another range of the same function. */
static bool is_quiet(const struct tw_call_machine *machine, const struct tw_call_stack *stack)
{
    return !machine->with_inlined && stack->count && stack->left.is_known &&
           !stack->exception.is_pending && !stack->has_gap && !stack->lacks_code;
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
        tw_call_count(stack, element->count);
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
    /* N-Trace tells of a system call that is not traced as of debug mode. */
    const bool is_kept = element->reason == TW_TRACE_ON_NORMAL ||
                         (element->reason == TW_TRACE_ON_DEBUG_EXIT && stack->left.is_trap);

    if (stack->left.is_known && stack->left.is_trap && !stack->exception.is_pending)
        stack->exception = (struct tw_exception){ .address = stack->left.after,
                                                  .is_pending = true,
                                                  .has_address = true };
    if (stack->exception.is_pending && is_kept)
        stack->exception.has_gap = true;
    else
        stack->has_gap = true;
}

bool tw_call_matters(const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        return element->count != 0;
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_EXCEPTION_RET:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_ERROR:
    case TW_ELEMENT_I_RANGE_NOPATH:
    case TW_ELEMENT_ADDR_NACC:
        return true;
    default:
        return false;
    }
}

/* An exception comes; where it returns to was reached before. */
static void take_exception(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_call_step *step)
{
    const struct tw_element *element = &step->element;

    if (element->flags & TW_EXCEPTION_HAS_RETURN)
        tw_call_reach(machine, stack, element->index, &step->to);
    stack->exception = (struct tw_exception){
        .address = element->return_address,
        .is_pending = true,
        .has_address = (element->flags & TW_EXCEPTION_HAS_RETURN) != 0,
        .is_riscv = (element->flags & TW_EXCEPTION_RISCV) != 0,
        .is_chained = (element->flags & TW_EXCEPTION_TAIL_CHAIN) != 0,
    };
}

static void take_element(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_call_step *step, const struct tw_call_pieces *pieces,
                         const struct tw_code_place *place)
{
    const struct tw_element *element = &step->element;

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        take_range(machine, stack, step, pieces, place);
        break;
    case TW_ELEMENT_EXCEPTION:
        take_exception(machine, stack, step);
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
}

static void take_one(struct tw_call_machine *machine, struct tw_call_stack *stack,
                     const struct tw_element *element, const struct tw_code_place *place)
{
    struct tw_call_step step;

    machine->current = element;
    machine->pieces.count = 0;
    if (tw_call_matters(element) &&
        !tw_call_resolve(machine, &step, &machine->pieces, element, place))
        machine->is_out = true;
    else if (tw_call_matters(element))
        take_element(machine, stack, &step, &machine->pieces, place);
    if (machine->notice && element->type != TW_ELEMENT_INSTR_RANGE)
        machine->notice(machine->context, stack, element, TW_NOTICE_ELEMENT);
}

bool tw_call_count_loop(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_call_step *body, size_t reach, uint64_t times)
{
    const uint32_t function = stack->count ? tw_call_function_of_top(machine, stack) : 0;
    uint64_t instructions = 0;

    if (!is_quiet(machine, stack))
        return false;
    for (size_t i = 0; i < reach; i++) {
        const struct tw_flow_range *to = &body[i].to;

        if (body[i].element.type != TW_ELEMENT_INSTR_RANGE || to->function != function ||
            to->last_function != function ||
            (to->transfer > TW_TRANSFER_JUMP && body[i].element.flags & TW_RANGE_EXECUTED))
            return false;
        instructions += body[i].element.count;
    }
    tw_call_count(stack, times * instructions);
    return true;
}

bool tw_call_resolve_loop(struct tw_call_machine *machine, struct tw_call_step *steps,
                          struct tw_call_pieces *pieces, const struct tw_element *first,
                          size_t reach, const struct tw_code_place *place)
{
    for (size_t i = 0; i < reach; i++) {
        if (!tw_call_matters(&first[i]))
            steps[i] = (struct tw_call_step){ .element = first[i] };
        else if (!tw_call_resolve(machine, &steps[i], pieces, &first[i], place))
            return false;
    }
    return true;
}

static uint64_t instructions_in(const struct tw_call_step *body, size_t reach)
{
    uint64_t instructions = 0;

    for (size_t i = 0; i < reach; i++)
        if (body[i].element.type == TW_ELEMENT_INSTR_RANGE)
            instructions += body[i].element.count;
    return instructions;
}

/* A loop that a packet tells of as a number: inside one function it is counted at once, else walked,
   up to a limit. */
static void take_repeat(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t at,
                        const struct tw_code_place *place)
{
    const size_t reach = tw_repeat_reach(elements, at);
    const struct tw_element *first = elements + at - reach;
    uint64_t times = elements[at].times, instructions;

    machine->pieces.count = 0;
    if (!TW_GROW(machine->allocator, &machine->steps, &machine->step_room, reach + 1) ||
        !tw_call_resolve_loop(machine, machine->steps, &machine->pieces, first, reach, place)) {
        machine->is_out = true;
        return;
    }
    if (tw_call_count_loop(machine, stack, machine->steps, reach, times))
        return;
    instructions = instructions_in(machine->steps, reach);
    for (; times && times * reach <= REPEATS_MOST; times--)
        for (size_t i = 0; i < reach; i++)
            take_one(machine, stack, &first[i], place);
    if (stack->count)
        tw_call_count(stack, times * instructions);
}

/* The same of steps. */
static void apply_repeat(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_call_step *steps, const struct tw_call_pieces *pieces)
{
    const struct tw_call_step *body = steps + 1;
    const size_t reach = steps->pieces;
    uint64_t times = steps->element.times;

    if (tw_call_count_loop(machine, stack, body, reach, times))
        return;
    for (; times && times * reach <= REPEATS_MOST; times--)
        for (size_t i = 0; i < reach; i++)
            if (tw_call_matters(&body[i].element))
                take_element(machine, stack, &body[i], pieces, NULL);
    if (stack->count)
        tw_call_count(stack, times * instructions_in(body, reach));
}

size_t tw_call_apply(struct tw_call_machine *machine, struct tw_call_stack *stack,
                     const struct tw_call_step *steps, const struct tw_call_pieces *pieces)
{
    switch (steps->kind) {
    case TW_CALL_STEP_ELEMENT:
        take_element(machine, stack, steps, pieces, NULL);
        return 1;
    case TW_CALL_STEP_REPEAT:
        apply_repeat(machine, stack, steps, pieces);
        return 1 + (size_t)steps->pieces;
    case TW_CALL_STEP_RESUMED:
        if (!stack->exception.is_pending)
            stack->left.is_known = false;
        return 1;
    case TW_CALL_STEP_GAP:
        stack->has_gap |= stack->count != 0;
        return 1;
    default:
        return 1;
    }
}

void tw_call_stack_take(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t number,
                        const struct tw_code_place *place)
{
    size_t i = 0;

    if (stack->log) {
        tw_call_log_take(machine, stack, elements, number, place);
        return;
    }
    machine->base = stack->instructions;
    while (i < number) {
        const size_t done =
            is_quiet(machine, stack)
                ? tw_call_take_quietly(machine, stack, elements + i, number - i, place)
                : 0;

        i += done;
        if (i < number && elements[i].type == TW_ELEMENT_REPEAT)
            take_repeat(machine, stack, elements, i++, place);
        else if (i < number)
            take_one(machine, stack, &elements[i++], place);
    }
}
