/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of a segment to a log: epochs, and the steps between them. */
#include "analysis/call_log.h"

#include "base/memory.h"

struct tw_call_log *tw_call_log_new(const struct tw_allocator *allocator)
{
    return tw_take(allocator, sizeof(struct tw_call_log));
}

void tw_call_log_free(struct tw_call_log *log, const struct tw_allocator *allocator)
{
    if (!log)
        return;
    tw_give(allocator, log->steps);
    tw_give(allocator, log->pieces.items);
    tw_give(allocator, log->epochs);
    tw_give(allocator, log->frames);
    tw_give(allocator, log->nodes);
    tw_give(allocator, log);
}

bool tw_call_log_has_tail(const struct tw_call_machine *machine,
                          const struct tw_call_stack *stack, uint32_t function)
{
    size_t at = stack->count - 1;

    if (!machine->is_logical)
        return at > 0;
    while (at && stack->frames[at].kind == TW_CALL_TAIL &&
           stack->frames[at].function != function)
        at--;
    return at > 0 && stack->count < TW_LOG_DEPTH;
}

/* An epoch begins behind a range that was kept as a step. */
static void open_epoch(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    const uint32_t root = tw_call_tree_root(&stack->tree, 0);

    if (!root || !TW_GROW(machine->allocator, &stack->frames, &stack->room, 1)) {
        machine->is_out = true;
        return;
    }
    stack->frames[0] = (struct tw_call_frame){ .function = TW_FUNCTION_NONE,
                                               .node = root,
                                               .kind = TW_CALL_BEGIN };
    stack->count = 1;
    stack->log->is_open = true;
}

/* What the epoch changed, if anything, belongs to the last step. */
static void close_epoch(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    struct tw_call_log *log = stack->log;
    const size_t frames = stack->count - 1;
    struct tw_call_epoch *made;
    uint32_t root;

    if (!log->is_open)
        return;
    log->is_open = false;
    tw_call_flush(machine, stack);
    root = stack->frames[0].node;
    stack->count = 0;
    if ((size_t)root + 1 == stack->tree.count && !stack->tree.nodes[root].self) {
        stack->tree.count--; /* nothing came */
        return;
    }
    if (!TW_GROW(machine->allocator, &log->epochs, &log->epoch_room, log->epoch_count + 1) ||
        !TW_GROW(machine->allocator, &log->frames, &log->frame_room,
                 log->frame_count + frames)) {
        machine->is_out = true;
        return;
    }
    made = &log->epochs[log->epoch_count++];
    *made = (struct tw_call_epoch){ .root = root,
                                    .first_frame = (uint32_t)log->frame_count,
                                    .frames = (uint32_t)frames,
                                    .left = stack->left };
    for (size_t i = 0; i < frames; i++)
        log->frames[log->frame_count++] = stack->frames[i + 1];
    log->steps[log->step_count - 1].epoch = (uint32_t)log->epoch_count;
}

/* Room for more steps; NULL: no memory. */
static struct tw_call_step *steps_for(struct tw_call_machine *machine, struct tw_call_log *log,
                                      size_t more)
{
    if (TW_GROW(machine->allocator, &log->steps, &log->step_room, log->step_count + more))
        return &log->steps[log->step_count];
    machine->is_out = true;
    return NULL;
}

void tw_call_log_note(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_call_step *step)
{
    struct tw_call_step *made;

    close_epoch(machine, stack);
    made = steps_for(machine, stack->log, 1);
    if (!made)
        return;
    *made = *step;
    stack->log->step_count++;
}

static void keep_element(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *element, const struct tw_code_place *place)
{
    struct tw_call_log *log = stack->log;
    struct tw_call_step step;

    machine->losses +=
        element->type == TW_ELEMENT_NO_SYNC || element->type == TW_ELEMENT_ERROR ||
        (element->type == TW_ELEMENT_TRACE_ON && element->reason == TW_TRACE_ON_OVERFLOW);
    if (!tw_call_resolve(machine, &step, &log->pieces, element, place)) {
        machine->is_out = true;
        return;
    }
    tw_call_log_note(machine, stack, &step);
    if (element->type != TW_ELEMENT_INSTR_RANGE || machine->is_out)
        return;
    log->base_function = step.to.last_function; /* whatever was before */
    open_epoch(machine, stack);
    if (log->is_open)
        tw_call_leave_range(machine, stack, element, &step.to);
}

static void take_repeat(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t at,
                        const struct tw_code_place *place)
{
    const size_t reach = tw_repeat_reach(elements, at);
    struct tw_call_log *log = stack->log;
    struct tw_call_step *steps = steps_for(machine, log, reach + 1);

    if (!steps || !tw_call_resolve_loop(machine, steps + 1, &log->pieces, elements + at - reach,
                                        reach, place)) {
        machine->is_out = true;
        return;
    }
    if (log->is_open &&
        tw_call_count_loop(machine, stack, steps + 1, reach, elements[at].times))
        return;
    close_epoch(machine, stack);
    *steps = (struct tw_call_step){ .kind = TW_CALL_STEP_REPEAT,
                                    .element = elements[at],
                                    .pieces = (uint32_t)reach };
    log->step_count += reach + 1;
}

void tw_call_log_take(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_element *elements, size_t number,
                      const struct tw_code_place *place)
{
    size_t i = 0;

    while (i < number && !machine->is_out) {
        if (stack->log->is_open)
            i += tw_call_take_quietly(machine, stack, elements + i, number - i, place);
        if (i < number && elements[i].type == TW_ELEMENT_REPEAT)
            take_repeat(machine, stack, elements, i, place);
        else if (i < number && tw_call_matters(&elements[i]))
            keep_element(machine, stack, &elements[i], place);
        i++;
    }
}

struct tw_call_log *tw_call_log_close(struct tw_call_machine *machine,
                                      struct tw_call_stack *stack)
{
    struct tw_call_log *log = stack->log;

    close_epoch(machine, stack);
    machine->is_out |= stack->tree.is_out;
    log->nodes = stack->tree.nodes;
    log->node_count = stack->tree.count;
    stack->tree.nodes = NULL;
    tw_call_tree_release(&stack->tree);
    stack->log = NULL;
    return log;
}
