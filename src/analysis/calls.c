/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks by thread of execution. */
#include "analysis/calls.h"

#include "base/memory.h"

enum tw_status tw_calls_make(struct tw_calls **calls, const struct tw_calls_config *config)
{
    struct tw_calls *made = tw_take(config->allocator, sizeof *made);

    *calls = made;
    if (!made)
        return TW_E_MEMORY;
    if (config->allocator) {
        made->allocator_copy = *config->allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by_key.allocator = made->allocator;
    made->machine = (struct tw_call_machine){ .functions = &made->functions,
                                              .is_logical = config->is_logical,
                                              .event = config->event,
                                              .context = config->context,
                                              .allocator = made->allocator };
    if (tw_functions_init(&made->functions, made->allocator) &&
        tw_stretches_init(&made->machine.stretches, &made->functions, made->allocator) &&
        tw_call_edges_init(&made->machine.edges, made->allocator) &&
        /* number 1: callers that are not known */
        tw_call_edges_number(&made->machine.edges, 0, 0, TW_CALL_OUTER) == 1 &&
        tw_call_tree_init(&made->machine.tree, made->allocator) &&
        tw_call_tree_init(&made->folded, made->allocator))
        return TW_OK;
    tw_calls_free(made);
    *calls = NULL;
    return TW_E_MEMORY;
}

void tw_calls_free(struct tw_calls *calls)
{
    struct tw_allocator allocator;

    if (!calls)
        return;
    for (size_t i = 0; i < calls->count; i++) {
        tw_call_stack_release(&calls->machine, calls->stacks[i]);
        tw_give(calls->allocator, calls->stacks[i]);
    }
    tw_give(calls->allocator, calls->stacks);
    tw_give(calls->allocator, calls->threads);
    tw_give(calls->allocator, calls->totals);
    tw_map_free(&calls->by_key);
    tw_call_tree_release(&calls->machine.tree);
    tw_call_tree_release(&calls->folded);
    tw_call_edges_release(&calls->machine.edges);
    tw_stretches_release(&calls->machine.stretches);
    tw_functions_release(&calls->functions);
    allocator = calls->allocator_copy; /* the handle itself holds it */
    tw_give(calls->allocator ? &allocator : NULL, calls);
}

static bool is_same(const struct tw_call_thread *a, const struct tw_call_thread *b)
{
    return a->source == b->source && a->tid == b->tid && a->context == b->context;
}

struct tw_call_stack *tw_calls_stack(struct tw_calls *calls,
                                     const struct tw_call_thread *thread)
{
    uint64_t key =
        tw_hash64(thread->source ^ tw_hash64(thread->tid + tw_hash64(thread->context)));
    struct tw_call_stack *stack;
    uint64_t *number;

    for (;; key++) { /* another thread of the same hash: the next place */
        number = tw_map_put(&calls->by_key, key);
        if (!number)
            return NULL;
        if (!*number)
            break;
        if (is_same(&calls->threads[*number - 1], thread))
            return calls->stacks[*number - 1];
    }
    stack = tw_take(calls->allocator, sizeof *stack);
    if (!stack || !TW_GROW(calls->allocator, &calls->stacks, &calls->room, calls->count + 1) ||
        !TW_GROW(calls->allocator, &calls->threads, &calls->thread_room, calls->count + 1) ||
        !tw_call_stack_init(&calls->machine, stack, (uint32_t)calls->count)) {
        tw_give(calls->allocator, stack);
        return NULL;
    }
    calls->threads[calls->count] = *thread;
    calls->stacks[calls->count++] = stack;
    *number = calls->count;
    return stack;
}

void tw_calls_finish(struct tw_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        tw_call_stack_gap(&calls->machine, calls->stacks[i], 0, TW_LEAVE_END);
        tw_call_stack_merge(&calls->machine, calls->stacks[i]);
    }
    if (!calls->is_finished && !tw_call_sums(calls))
        calls->machine.is_out = true;
    calls->is_finished = true;
}

const struct tw_functions *tw_calls_functions(const struct tw_calls *calls)
{
    return &calls->functions;
}

struct tw_call_totals tw_calls_totals(const struct tw_calls *calls, uint32_t function)
{
    if (function < calls->total_count)
        return calls->totals[function];
    return (struct tw_call_totals){ 0 };
}

/* The first two are no edges: where control began, and callers that are not known. */
enum { NO_EDGES = 2 };

size_t tw_calls_edge_count(const struct tw_calls *calls)
{
    return calls->machine.edges.count - NO_EDGES;
}

const struct tw_call_edge *tw_calls_edge(const struct tw_calls *calls, size_t number)
{
    return number < tw_calls_edge_count(calls) ? &calls->machine.edges.items[number + NO_EDGES]
                                               : NULL;
}

struct tw_calls_stats tw_calls_stats(const struct tw_calls *calls)
{
    return calls->machine.stats;
}

const struct tw_call_thread *tw_calls_thread(const struct tw_calls *calls, size_t number)
{
    return number < calls->count ? &calls->threads[number] : NULL;
}
