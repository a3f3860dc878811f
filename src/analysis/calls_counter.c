/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls rebuilt on the threads that decode: each keeps what a segment of a stream did as a log, and the caller's
   takes the logs up in the order of the stream. */
#include <string.h>

#include "analysis/calls.h"
#include "base/memory.h"
#include "image/image.h"

/* The context that an earlier segment ended in: no context ID with a VMID is as great. */
#define CONTEXT_BEFORE (UINT64_MAX - 1)

struct image_alias {
    const struct tw_image *of;
    struct tw_image *image; /* another thread may ask the one that it is of */
};

struct calls_tally {
    /* A segment.  Its functions and ranges stay when it is cleared: the next one executes the same code. */
    struct tw_calls *logs;
    struct image_alias *aliases;
    size_t alias_count, alias_room;
    struct tw_who who; /* as its last context has it ... */
    bool has_context;  /* ... if one came */
    uint64_t context;  /* of the stack that was last at work */
    /* A whole stream: its stacks, and how often trace went missing. */
    struct tw_calls *sum;
    uint64_t losses;
    bool is_out;
};

static struct tw_calls *handle_like(const struct tw_calls *calls)
{
    const struct tw_calls_config config = { .size = sizeof config,
                                            .key = calls->key,
                                            .is_logical = calls->machine.is_logical,
                                            .allocator = calls->allocator };
    struct tw_calls *made;

    return tw_calls_new(&made, &config, NULL) == TW_OK ? made : NULL;
}

/* ---- on any thread: a segment ---- */

/* The same image for this tally alone; NULL: no memory. */
static struct tw_image *alias_of(struct calls_tally *tally, struct tw_image *image)
{
    const struct tw_allocator *allocator = tally->logs->allocator;
    struct tw_image *made;

    for (size_t i = 0; i < tally->alias_count; i++)
        if (tally->aliases[i].of == image)
            return tally->aliases[i].image;
    if (!TW_GROW(allocator, &tally->aliases, &tally->alias_room, tally->alias_count + 1))
        return NULL;
    made = tw_image_alias_new(image, allocator);
    if (made)
        tally->aliases[tally->alias_count++] = (struct image_alias){ image, made };
    return made;
}

static bool begin_log(struct tw_calls *calls, struct calls_tally *tally)
{
    struct tw_call_segments *all;

    if (!tally->logs)
        tally->logs = handle_like(calls);
    if (!tally->logs)
        return false;
    tally->logs->places.lock = &calls->lock;
    all = &tally->logs->segments;
    if (!TW_GROW(calls->allocator, &all->items, &all->room, 1))
        return false;
    tally->logs->segment = all->items[0] = tw_call_segment_new(calls);
    all->count = tally->logs->segment != NULL;
    return all->count != 0;
}

/* Whose stack it is; of a segment that no context came in yet: as in the one before. */
static struct tw_call_thread thread_of(const struct calls_tally *tally,
                                       const struct tw_part *part)
{
    const struct tw_calls *logs = tally->logs;
    struct tw_call_thread thread = tw_calls_thread_of(logs, part);

    if (!tally->has_context &&
        (logs->key == TW_CALL_KEY_AUTO || logs->key == TW_CALL_KEY_CONTEXT))
        thread.context = CONTEXT_BEFORE;
    return thread;
}

static bool take_part(struct calls_tally *tally, struct tw_part *part,
                      const struct tw_code_place *place)
{
    const struct tw_batch all = part->batch;

    for (size_t from = 0, end; from < all.count; from = end) {
        struct tw_call_thread thread;

        if (all.elements[from].type == TW_ELEMENT_PE_CONTEXT) {
            tw_who_take_context(&part->who, &all.elements[from]);
            tally->has_context = true;
        }
        end = from + 1;
        while (end < all.count && all.elements[end].type != TW_ELEMENT_PE_CONTEXT)
            end += end + TW_TYPES_AT_ONCE <= all.count && tw_are_ranges(all.elements + end)
                       ? TW_TYPES_AT_ONCE
                       : 1;
        thread = thread_of(tally, part);
        tally->context = thread.context;
        part->batch.elements = all.elements + from;
        part->batch.count = part->batch.room = end - from;
        if (!tw_call_segment_take(tally->logs, &thread, part, place))
            return false;
        part->is_resumed = false;
    }
    return true;
}

static void count(void *context, void *given, const struct tw_part *part)
{
    struct tw_calls *calls = context;
    struct calls_tally *tally = given;
    const bool is_first = !tally->logs || !tally->logs->segment;
    struct tw_part own = *part;
    struct tw_code_place place;

    own.ring = part->buffer; /* of all captures but perf.data */
    own.stream = 0;
    own.who = is_first ? (struct tw_who){ .tid = TW_NONE } : tally->who;
    own.is_resumed &= !is_first; /* that is told when it is added */
    tally->is_out |= (is_first && !begin_log(calls, tally)) ||
                     !tw_code_places_of(&tally->logs->places, &place, calls->run, &own);
    if (tally->is_out)
        return;
    if (place.image)
        place.image = alias_of(tally, own.image);
    tally->is_out |= (own.image && !place.image) || !take_part(tally, &own, &place) ||
                     tally->logs->functions.is_out;
    tally->logs->places.part = NULL;
    tally->who = own.who;
}

/* ---- on the caller's thread ---- */

/* Takes up what a segment's logs hold on the stacks of its stream. */
static void replay(struct calls_tally *tally, struct tw_call_segment *segment, bool is_resumed)
{
    struct tw_calls *sum = tally->sum;

    for (size_t i = 0; i < segment->log_count && !sum->machine.is_out; i++) {
        struct tw_call_log *log = segment->logs[i];
        struct tw_call_stack *stack;

        if (log->thread.context == CONTEXT_BEFORE)
            log->thread.context = tally->context;
        stack = tw_calls_stack(sum, &log->thread);
        if (!stack) {
            sum->machine.is_out = true;
            return;
        }
        if (is_resumed && !i && !stack->exception.is_pending)
            stack->left.is_known = false;
        tw_call_log_replay(&sum->machine, stack, log, tally->losses);
    }
    for (size_t i = 0; i < segment->stream_count; i++)
        tally->losses += segment->streams[i].losses;
}

/* No function of a tally's is the caller's: names are those of symbols, or made again. */
static uint32_t number_in(struct tw_calls *to, const struct tw_function *function)
{
    struct tw_function about = *function;

    about.file = tw_code_places_file(&to->places, about.object);
    if (about.kind == TW_FUNCTION_SYMBOL || about.kind == TW_FUNCTION_INLINED)
        return tw_functions_number(&to->functions, &about);
    return tw_functions_made(&to->functions, (enum tw_function_kind)about.kind, about.file,
                             about.address);
}

/* The numbers that functions and edges of a handle have in another, which gets their counts: they begin anew. */
static bool move_edges(struct tw_calls *to, struct tw_calls *from, uint32_t *functions,
                       uint32_t *edges)
{
    struct tw_call_edges *all = &from->machine.edges;

    for (size_t i = 1; i < from->functions.count; i++) {
        functions[i] = number_in(to, &from->functions.items[i]);
        if (!functions[i])
            return false;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        edges[i] = i < TW_CALL_NO_EDGES
                       ? i
                       : tw_call_edges_number(&to->machine.edges, functions[all->items[i].from],
                                              functions[all->items[i].to],
                                              (enum tw_call_kind)all->items[i].kind);
        if (i >= TW_CALL_NO_EDGES && !edges[i])
            return false;
        to->machine.edges.items[edges[i]].count += all->items[i].count;
        all->items[i].count = 0;
    }
    tw_calls_stats_add(&to->machine.stats, &from->machine.stats);
    from->machine.stats = (struct tw_calls_stats){ 0 };
    return true;
}

/* What was counted in a handle goes to another: `segment` gets its numbers, and the paths are added. */
static bool move_counts(struct tw_calls *to, struct tw_calls *from,
                        struct tw_call_segment *segment)
{
    const struct tw_allocator *allocator = to->allocator;
    uint32_t *functions = tw_take(allocator, from->functions.count * sizeof *functions);
    uint32_t *edges = tw_take(allocator, from->machine.edges.count * sizeof *edges);
    const bool is_good = functions && edges && move_edges(to, from, functions, edges);

    if (is_good && segment)
        tw_call_segment_renumber(segment, functions, edges);
    else if (is_good)
        tw_call_tree_add(&to->machine.tree, &from->machine.tree, edges);
    tw_give(allocator, functions);
    tw_give(allocator, edges);
    return is_good && !to->machine.tree.is_out;
}

static void add(void *context, void *given, void *later, bool is_resumed)
{
    struct tw_calls *calls = context;
    struct calls_tally *tally = given;
    struct calls_tally *next = later;
    struct tw_call_segment *segment = next->logs ? next->logs->segment : NULL;

    if (!tally->sum) {
        tally->sum = handle_like(calls);
        tally->context = tally->sum ? UINT64_MAX : 0;
    }
    if (next->is_out || !tally->sum) {
        calls->machine.is_out = true;
        return;
    }
    if (!segment)
        return;
    tw_call_segment_end(next->logs);
    if (next->logs->machine.is_out || !move_counts(tally->sum, next->logs, segment)) {
        calls->machine.is_out = true;
        return;
    }
    replay(tally, segment, is_resumed);
    if (next->has_context)
        tally->context = next->context;
    calls->machine.is_out |= tally->sum->machine.is_out;
}

/* The stream is at its end.  What was counted in parts, on the caller's thread, lies in the tally itself. */
static void merge(void *context, void *given, const struct tw_part *whose)
{
    struct tw_calls *calls = context;
    struct calls_tally *tally = given;

    (void)whose;
    if (tally->logs && tally->logs->segment) {
        struct calls_tally own = { .logs = tally->logs,
                                   .has_context = tally->has_context,
                                   .context = tally->context,
                                   .is_out = tally->is_out };

        add(context, tally, &own, false);
    }
    if (!tally->sum)
        return;
    tw_calls_end_stacks(tally->sum);
    if (tally->sum->machine.is_out || tally->sum->functions.is_out ||
        !move_counts(calls, tally->sum, NULL))
        calls->machine.is_out = true;
}

static void clear(void *context, void *given)
{
    struct calls_tally *tally = given;
    struct tw_calls *logs = tally->logs;

    (void)context;
    tw_calls_free(tally->sum);
    tally->sum = NULL;
    tally->losses = 0;
    tally->is_out = tally->has_context = false;
    if (!logs)
        return;
    tw_call_segment_drop(logs);
    for (size_t i = 0; i < logs->machine.edges.count; i++)
        logs->machine.edges.items[i].count = 0;
    logs->machine.stats = (struct tw_calls_stats){ 0 };
    logs->machine.is_out = false;
}

/* The caller's handle may be gone: all that is kept has its allocator from the tally's own. */
static void release(void *context, void *given)
{
    struct calls_tally *tally = given;

    (void)context;
    for (size_t i = 0; i < tally->alias_count; i++)
        tw_image_alias_free(tally->aliases[i].image);
    if (tally->logs)
        tw_give(tally->logs->allocator, tally->aliases);
    tw_calls_free(tally->logs);
    tw_calls_free(tally->sum);
}

struct tw_run_counter tw_calls_counter(struct tw_calls *calls)
{
    return (struct tw_run_counter){ .size = sizeof(struct tw_run_counter),
                                    .tally_size = sizeof(struct calls_tally),
                                    .context = calls,
                                    .is_anyones = true,
                                    .count = count,
                                    .add = add,
                                    .merge = merge,
                                    .clear = clear,
                                    .release = release,
                                    .ignores_local_time = true };
}

static bool leaves_streams_whole(const struct tw_run_config *config)
{
    const struct tw_filter *filter = config ? config->filter : NULL;

    if (config && (config->extent || config->is_joined))
        return false;
    return !filter || !(filter->cpu_count || filter->pid_count || filter->tid_count ||
                        filter->comm_count || filter->levels || filter->range_count ||
                        filter->function_count || filter->has_from || filter->has_to ||
                        filter->has_from_time || filter->has_to_time ||
                        filter->has_from_instruction || filter->has_to_instruction);
}

bool tw_calls_has_counter(struct tw_capture *capture, const struct tw_run_config *config)
{
    if (tw_capture_perf(capture) || !leaves_streams_whole(config))
        return false;
    for (size_t i = 0; i < tw_capture_image_count(capture); i++)
        if (tw_image_has_spaces(tw_capture_image(capture, (uint32_t)i)))
            return false;
    return true;
}
