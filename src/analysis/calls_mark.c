/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of some threads as they were: for those who go back in a run. */
#include <string.h>

#include "analysis/calls.h"
#include "base/memory.h"

struct kept_stack {
    uint32_t number; /* of the stack */
    struct tw_call_stack stack;
};

struct tw_calls_mark {
    struct kept_stack *stacks;
    size_t count;
    uint32_t stream; /* that they ran in, and how many gaps it had */
    uint64_t gaps;
};

static void release_copy(const struct tw_calls *calls, struct tw_call_stack *stack)
{
    for (size_t i = 0; i < stack->parked_count; i++)
        tw_give(calls->allocator, stack->parked[i].frames);
    tw_give(calls->allocator, stack->parked);
    tw_give(calls->allocator, stack->frames);
}

static void *copy_of(const struct tw_calls *calls, const void *items, size_t count, size_t size,
                     bool *is_out)
{
    void *copy = count ? tw_take_raw(calls->allocator, count * size) : NULL;

    if (copy)
        memcpy(copy, items, count * size);
    *is_out |= count && !copy;
    return copy;
}

/* All of a stack but its tree, which has no paths where stacks are marked. */
static bool copy_stack(const struct tw_calls *calls, struct tw_call_stack *to,
                       const struct tw_call_stack *from)
{
    bool is_out = false;

    *to = *from;
    to->tree = (struct tw_call_tree){ .count = 0 };
    to->frames = copy_of(calls, from->frames, from->count, sizeof *from->frames, &is_out);
    to->room = from->count;
    to->parked =
        copy_of(calls, from->parked, from->parked_count, sizeof *from->parked, &is_out);
    to->parked_room = from->parked_count;
    if (!to->parked)
        to->parked_count = 0;
    for (size_t i = 0; i < to->parked_count; i++)
        to->parked[i].frames =
            is_out ? NULL
                   : copy_of(calls, from->parked[i].frames, from->parked[i].count,
                             sizeof *from->parked[i].frames, &is_out);
    if (is_out)
        release_copy(calls, to);
    return !is_out;
}

void tw_calls_mark_free(const struct tw_calls *calls, struct tw_calls_mark *mark)
{
    if (!mark)
        return;
    for (size_t i = 0; i < mark->count; i++)
        release_copy(calls, &mark->stacks[i].stack);
    tw_give(calls->allocator, mark->stacks);
    tw_give(calls->allocator, mark);
}

struct tw_calls_mark *tw_calls_mark(const struct tw_calls *calls, uint32_t stream)
{
    struct tw_calls_mark *mark = tw_take(calls->allocator, sizeof *mark);
    bool is_good = mark != NULL;

    if (is_good)
        mark->stacks = tw_take(calls->allocator, (calls->count + 1) * sizeof *mark->stacks);
    is_good = is_good && mark->stacks;
    for (size_t i = 0; is_good && i < calls->count; i++) {
        if (calls->stacks[i]->stream != stream)
            continue;
        is_good = copy_stack(calls, &mark->stacks[mark->count].stack, calls->stacks[i]);
        mark->stacks[mark->count].number = (uint32_t)i;
        mark->count += is_good;
    }
    if (!is_good) {
        tw_calls_mark_free(calls, mark);
        return NULL;
    }
    mark->stream = stream;
    mark->gaps = stream < calls->gap_room ? calls->gaps[stream] : 0;
    return mark;
}

static void empty_stack(struct tw_calls *calls, struct tw_call_stack *stack)
{
    tw_call_drop_parked(&calls->machine, stack);
    stack->count = 0;
    stack->outer = 0;
    stack->left = (struct tw_departure){ .is_known = false };
    stack->exception = (struct tw_exception){ .is_pending = false };
    stack->instructions = stack->pending = 0;
    stack->has_begun = stack->has_gap = stack->lacks_code = false;
    stack->gaps = 0;
}

/* The tree and the memory of `to` stay its own. */
static bool put_back(struct tw_calls *calls, struct tw_call_stack *to,
                     const struct tw_call_stack *from)
{
    struct tw_call_stack copy;
    const struct tw_call_tree tree = to->tree;

    if (!copy_stack(calls, &copy, from))
        return false;
    release_copy(calls, to);
    *to = copy;
    to->tree = tree;
    return true;
}

bool tw_calls_go_back(struct tw_calls *calls, uint32_t stream, const struct tw_calls_mark *mark)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->stacks[i]->stream == stream)
            empty_stack(calls, calls->stacks[i]);
    if (stream < calls->gap_room)
        calls->gaps[stream] = mark ? mark->gaps : 0;
    for (size_t i = 0; mark && i < mark->count; i++)
        if (!put_back(calls, calls->stacks[mark->stacks[i].number], &mark->stacks[i].stack))
            return false;
    return true;
}
