/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks by thread of execution. */
#include "analysis/calls.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

static bool init(struct tw_calls *calls)
{
    struct tw_call_machine *machine = &calls->machine;

    tw_code_places_init(&calls->places, calls->allocator);
    calls->builds.allocator = calls->allocator;
    return tw_functions_init(&calls->functions, calls->allocator) &&
           tw_flow_ranges_init(&machine->ranges, &calls->functions, calls->allocator) &&
           tw_call_edges_init(&machine->edges, calls->allocator) &&
           /* number 1: callers that are not known */
           tw_call_edges_number(&machine->edges, 0, 0, TW_CALL_OUTER) == 1 &&
           tw_call_tree_init(&machine->tree, calls->allocator);
}

enum tw_status tw_calls_new(struct tw_calls **calls, const struct tw_calls_config *given,
                            struct tw_fault *fault)
{
    struct tw_calls_config config;
    struct tw_calls *made;

    *calls = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_calls_config", fault));
    if (config.is_part && (config.event || config.with_inlined))
        return tw_fail(fault, TW_E_ARGUMENT,
                       "calls of a part have neither events nor inlined functions");
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the calls");
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    made->key = config.key;
    made->is_part = config.is_part;
    made->by_key.allocator = made->allocator;
    made->machine = (struct tw_call_machine){ .functions = &made->functions,
                                              .is_logical = config.is_logical,
                                              .with_inlined = config.with_inlined,
                                              .event = config.event,
                                              .context = config.context,
                                              .allocator = made->allocator };
    if (init(made)) {
        *calls = made;
        return TW_OK;
    }
    tw_calls_free(made);
    return tw_fail(fault, TW_E_MEMORY, "no memory for the calls");
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
    tw_give(calls->allocator, calls->old_of);
    tw_give(calls->allocator, calls->gaps);
    tw_call_segments_release(calls);
    tw_call_quiet_free(calls->quiet, calls->allocator);
    tw_give(calls->allocator, calls->machine.pieces.items);
    tw_give(calls->allocator, calls->machine.steps);
    tw_map_free(&calls->by_key);
    tw_code_places_release(&calls->places);
    tw_builds_release(&calls->builds);
    tw_call_tree_release(&calls->machine.tree);
    tw_call_edges_release(&calls->machine.edges);
    tw_call_inlined_release(&calls->machine);
    tw_flow_ranges_release(&calls->machine.ranges);
    tw_functions_release(&calls->functions);
    (void)pthread_mutex_destroy(&calls->lock);
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

uint64_t tw_calls_stream(const struct tw_part *part)
{
    return tw_hash64((uint64_t)part->ring << 8 | part->batch.id) ^ part->batch.src;
}

struct tw_call_thread tw_calls_thread_of(const struct tw_calls *calls,
                                         const struct tw_part *part)
{
    struct tw_call_thread thread = { calls->segment ? tw_calls_stream(part) : part->stream,
                                     UINT64_MAX, UINT64_MAX };
    const bool wants_tid = calls->key == TW_CALL_KEY_AUTO || calls->key == TW_CALL_KEY_THREAD;
    const bool wants_context =
        calls->key == TW_CALL_KEY_AUTO || calls->key == TW_CALL_KEY_CONTEXT;

    if (wants_tid && part->who.tid != TW_NONE) {
        thread.tid = part->who.tid;
        if (thread.tid) /* the idle task is one for each CPU */
            thread.source = UINT64_MAX;
    } else if (wants_context && part->who.known & TW_WHO_CONTEXT) {
        thread.context = (uint64_t)part->who.context_id |
                         (uint64_t)(part->who.known & TW_WHO_VMID ? part->who.vmid : 0) << 32;
    }
    return thread;
}

struct tw_call_stack *tw_calls_stack_of(struct tw_calls *calls, const struct tw_part *part)
{
    const struct tw_call_thread thread = tw_calls_thread_of(calls, part);

    return tw_calls_stack(calls, &thread);
}

/* How often trace of a stream went missing; NULL: no memory. */
static uint64_t *gaps_of(struct tw_calls *calls, uint32_t stream)
{
    const size_t before = calls->gap_room;

    if (stream >= before) {
        if (!TW_GROW(calls->allocator, &calls->gaps, &calls->gap_room, (size_t)stream + 1))
            return NULL;
        memset(calls->gaps + before, 0, (calls->gap_room - before) * sizeof *calls->gaps);
    }
    return &calls->gaps[stream];
}

/* A thread that did not run when trace went missing may have run then. */
static void note_gaps(struct tw_call_stack *stack, const struct tw_calls *calls,
                      uint32_t stream)
{
    const uint64_t was = stack->stream < calls->gap_room ? calls->gaps[stack->stream] : 0;

    if (stack->count && was != stack->gaps)
        stack->has_gap = true;
    stack->stream = stream;
    stack->gaps = calls->gaps[stream];
}

void tw_calls_end_stacks(struct tw_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        tw_call_stack_gap(&calls->machine, calls->stacks[i], 0, TW_LEAVE_END);
        tw_call_stack_merge(&calls->machine, calls->stacks[i]);
    }
}

/* Threads of another capture are others, whatever their numbers. */
static void begin_run(struct tw_calls *calls, struct tw_run *run)
{
    tw_call_segment_end(calls);
    if (calls->run)
        tw_calls_end_stacks(calls);
    if (calls->run && calls->gaps) {
        tw_map_clear(&calls->by_key);
        memset(calls->gaps, 0, calls->gap_room * sizeof *calls->gaps);
    }
    calls->run = run;
}

void tw_calls_run(struct tw_calls *calls, struct tw_run *run)
{
    if (run->count && calls->run != run) { /* on threads, which do not load names */
        begin_run(calls, run);
        tw_names_load(run);
        tw_calls_take_alone(calls, run);
    }
    if (calls->is_part && run->extent.is_given && (calls->run != run || !calls->segment) &&
        !tw_call_segment_begin(calls, run))
        calls->machine.is_out = true;
}

enum tw_status tw_calls_take(struct tw_calls *calls, struct tw_run *run,
                             const struct tw_part *part)
{
    struct tw_code_place place;
    struct tw_call_stack *stack;
    uint64_t *gaps;

    tw_calls_run(calls, run);
    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    if (calls->segment) {
        const struct tw_call_thread thread = tw_calls_thread_of(calls, part);

        if (!tw_code_places_of(&calls->places, &place, run, part) ||
            !tw_call_segment_take(calls, &thread, part, &place) || calls->functions.is_out)
            return TW_E_MEMORY;
        calls->places.part = NULL;
        return TW_OK;
    }
    if (calls->run != run && !calls->machine.notice)
        begin_run(calls, run);
    stack = tw_calls_stack_of(calls, part);
    gaps = gaps_of(calls, part->stream);
    if (!stack || !gaps || !tw_code_places_of(&calls->places, &place, run, part))
        return TW_E_MEMORY;
    note_gaps(stack, calls, part->stream);
    if (part->is_resumed && !stack->exception.is_pending)
        stack->left.is_known = false;
    calls->machine.losses = 0;
    tw_call_stack_take(&calls->machine, stack, part->batch.elements, part->batch.count, &place);
    *gaps += calls->machine.losses;
    stack->gaps = *gaps; /* its own it has seen */
    calls->places.part = NULL;
    return calls->machine.is_out || calls->functions.is_out ? TW_E_MEMORY : TW_OK;
}

const char *tw_call_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [TW_CALL_BEGIN] = "begin",     [TW_CALL_CALL] = "call",
        [TW_CALL_TAIL] = "tail",       [TW_CALL_EXCEPTION] = "exception",
        [TW_CALL_SIGNAL] = "signal",   [TW_CALL_OUTER] = "outer",
        [TW_CALL_RESUMED] = "resumed", [TW_CALL_INLINED] = "inlined",
    };

    return kind < TW_LENGTH(names) ? names[kind] : "unknown";
}

const char *tw_leave_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [TW_LEAVE_RETURN] = "return", [TW_LEAVE_TAIL] = "tail", [TW_LEAVE_UNWOUND] = "unwound",
        [TW_LEAVE_SWITCH] = "switch", [TW_LEAVE_GAP] = "gap",   [TW_LEAVE_END] = "end",
    };

    return kind < TW_LENGTH(names) ? names[kind] : "unknown";
}

uint32_t tw_calls_thread_number(struct tw_calls *calls, const struct tw_part *part)
{
    const struct tw_call_stack *stack = tw_calls_stack_of(calls, part);

    return stack ? stack->thread : UINT32_MAX;
}

uint64_t tw_calls_instructions(const struct tw_calls *calls, uint32_t thread)
{
    return thread < calls->count ? calls->stacks[thread]->instructions : 0;
}

size_t tw_calls_stack_now(const struct tw_calls *calls, struct tw_call_place *places,
                          size_t room, uint32_t thread)
{
    const struct tw_call_stack *stack = thread < calls->count ? calls->stacks[thread] : NULL;

    for (size_t i = 0; stack && i < stack->count && i < room; i++) {
        const struct tw_call_frame *frame = &stack->frames[stack->count - 1 - i];

        places[i] = (struct tw_call_place){ frame->function, frame->kind, frame->has_return,
                                            frame->returns_to };
    }
    return stack ? stack->count : 0;
}

enum tw_status tw_calls_finish(struct tw_calls *calls)
{
    tw_call_segments_join(calls, true);
    tw_calls_end_stacks(calls);
    /* Who was told of functions as they came knows them by their numbers. */
    if (!calls->is_finished && ((!calls->machine.event && !calls->machine.notice &&
                                 !calls->machine.is_out && !tw_calls_order(calls)) ||
                                !tw_call_sums(calls)))
        calls->machine.is_out = true;
    calls->is_finished = true;
    return calls->machine.is_out || calls->functions.is_out ? TW_E_MEMORY : TW_OK;
}

bool tw_calls_is_complete(const struct tw_calls *calls)
{
    return !calls->machine.is_out && tw_functions_are_whole(&calls->functions);
}

bool tw_calls_is_part(const struct tw_calls *calls)
{
    return calls->segments.count != 0;
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

size_t tw_calls_edge_count(const struct tw_calls *calls)
{
    return calls->machine.edges.count - TW_CALL_NO_EDGES;
}

const struct tw_call_edge *tw_calls_edge(const struct tw_calls *calls, size_t number)
{
    return number < tw_calls_edge_count(calls)
               ? &calls->machine.edges.items[number + TW_CALL_NO_EDGES]
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
