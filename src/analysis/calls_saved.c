/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls added to each other, saved and loaded. */
#include <string.h>

#include "analysis/calls.h"
#include "base/fault.h"
#include "base/memory.h"
#include "image/symbols.h"

static const struct tw_saved_kind saved_kind = { "calls", 1 };

enum { FUNCTION_SIZE = 7 * 8, EDGE_SIZE = 4 * 8, NODE_SIZE = 4 * 8 };

/* The statistics, in the order of the file. */
static uint64_t *stat_at(struct tw_calls_stats *stats, size_t number)
{
    uint64_t *const all[] = { &stats->calls,   &stats->returns,  &stats->over,
                              &stats->tails,   &stats->unwound,  &stats->unknown,
                              &stats->parked,  &stats->resumed,  &stats->gaps,
                              &stats->missing, &stats->too_deep, &stats->instructions };

    return number < TW_LENGTH(all) ? all[number] : NULL;
}

void tw_calls_stats_add(struct tw_calls_stats *to, struct tw_calls_stats *from)
{
    for (size_t i = 0; stat_at(from, i); i++)
        *stat_at(to, i) += *stat_at(from, i);
}

/* ---- saving ---- */

/* The first function stands for none. */
static const char *file_of(const void *context, size_t number)
{
    const struct tw_calls *calls = context;

    return number ? calls->functions.items[number].object : NULL;
}

static bool note_builds(struct tw_calls *calls)
{
    return tw_builds_note(&calls->builds, calls->run, file_of, calls, calls->functions.count);
}

static void save_function(struct tw_save *save, const struct tw_function *function)
{
    struct tw_source_line line;
    const bool has_line = tw_function_line(function, &line);

    save->has_failed |= function->symbols && function->symbols->lacks_lines;
    tw_save_text(save, function->name);
    tw_save_u64(save, function->address);
    tw_save_u64(save, function->size);
    tw_save_text(save, function->object);
    tw_save_text(save, has_line ? line.file : NULL);
    tw_save_u64(save, has_line ? line.line : 0);
    tw_save_u64(save, (uint64_t)function->kind | (uint64_t)function->is_stub << 8 |
                          (uint64_t)function->is_resume << 9);
}

void tw_calls_write_saved(struct tw_calls *calls, struct tw_save *save)
{
    const struct tw_call_edges *edges = &calls->machine.edges;
    const struct tw_call_tree *tree = &calls->machine.tree;

    save->has_failed |= !note_builds(calls) || calls->machine.is_out;
    /* With segments: they follow the rest. */
    tw_save_u64(save, (uint64_t)calls->machine.is_logical |
                          (uint64_t)(calls->segments.count != 0) << 1);
    tw_builds_save(&calls->builds, save);
    tw_save_u64(save, calls->functions.count - 1);
    for (size_t i = 1; i < calls->functions.count; i++)
        save_function(save, &calls->functions.items[i]);
    tw_save_u64(save, edges->count - TW_CALL_NO_EDGES);
    for (size_t i = TW_CALL_NO_EDGES; i < edges->count; i++) {
        tw_save_u64(save, edges->items[i].from);
        tw_save_u64(save, edges->items[i].to);
        tw_save_u64(save, edges->items[i].kind);
        tw_save_u64(save, edges->items[i].count);
    }
    tw_save_u64(save, tree->count - 1);
    for (size_t i = 1; i < tree->count; i++) {
        tw_save_u64(save, (uint64_t)tree->nodes[i].parent << 32 | tree->nodes[i].edge);
        tw_save_u64(save, tree->nodes[i].self);
        tw_save_u64(save, tree->nodes[i].entries);
        tw_save_u64(save, tree->nodes[i].cycles);
    }
    for (size_t i = 0; stat_at(&calls->machine.stats, i); i++)
        tw_save_u64(save, *stat_at(&calls->machine.stats, i));
    if (calls->segments.count)
        tw_calls_write_segments(calls, save);
}

/* What can be known is: all, unless parts of a capture are missing. */
static void settle(struct tw_calls *calls)
{
    tw_call_segments_join(calls, false);
    if (!calls->segments.count)
        (void)tw_calls_finish(calls); /* what saves looks whether memory was there */
}

enum tw_status tw_calls_save(struct tw_calls *calls, const char *path, struct tw_fault *fault)
{
    struct tw_save save = { .allocator = calls->allocator };

    settle(calls);
    if (!calls->old_of && !calls->segments.count)
        return tw_fail(fault, TW_E_ARGUMENT,
                       "calls that were told of as events cannot be saved");
    tw_calls_write_saved(calls, &save);
    return tw_save_end(&save, &saved_kind, path, fault);
}

/* ---- loading ---- */

/* A text that lasts as long as the functions. */
static const char *load_kept(struct tw_load *load, struct tw_functions *functions, bool *has)
{
    char *text = tw_load_text(load, has);
    const char *kept = text ? tw_functions_keep(functions, text) : NULL;

    tw_load_need(load, kept || !text);
    tw_give(load->allocator, text);
    load->is_wrong |= *has && !kept;
    return kept;
}

static void load_function(struct tw_load *load, struct tw_calls *calls)
{
    struct tw_functions *functions = &calls->functions;
    struct tw_function made = { .address = 0 };
    bool has_name, has;
    uint64_t line, about;

    made.name = load_kept(load, functions, &has_name);
    made.address = tw_load_u64(load);
    made.size = tw_load_u64(load);
    made.object = load_kept(load, functions, &has);
    made.line.file = load_kept(load, functions, &has);
    line = tw_load_u64(load);
    about = tw_load_u64(load);
    load->is_wrong |= !has_name || line > UINT32_MAX || (uint8_t)about == TW_FUNCTION_UNKNOWN ||
                      (uint8_t)about > TW_FUNCTION_INLINED || about >> 10;
    if (load->is_wrong || load->in.short_read)
        return;
    made.line.line = (uint32_t)line;
    made.kind = (uint8_t)about;
    made.is_stub = about >> 8 & 1;
    made.is_resume = about >> 9 & 1;
    made.file = tw_code_places_file(&calls->places, made.object);
    load->is_wrong |=
        tw_functions_number(functions, &made) + 1 != functions->count; /* it came before */
}

static void load_edge(struct tw_load *load, struct tw_calls *calls)
{
    struct tw_call_edges *edges = &calls->machine.edges;
    const uint64_t from = tw_load_u64(load), to = tw_load_u64(load), kind = tw_load_u64(load);
    const uint64_t count = tw_load_u64(load);
    uint32_t number;

    load->is_wrong |= from >= calls->functions.count || to >= calls->functions.count ||
                      kind > TW_CALL_INLINED;
    if (load->is_wrong)
        return;
    number = tw_call_edges_number(edges, (uint32_t)from, (uint32_t)to, (enum tw_call_kind)kind);
    load->is_wrong |= number + 1 != edges->count || number < TW_CALL_NO_EDGES;
    if (!load->is_wrong)
        edges->items[number].count = count;
}

static void load_node(struct tw_load *load, struct tw_calls *calls)
{
    struct tw_call_tree *tree = &calls->machine.tree;
    const uint64_t place = tw_load_u64(load);
    const uint32_t parent = (uint32_t)(place >> 32), edge = (uint32_t)place;
    uint32_t number;

    load->is_wrong |= parent >= tree->count || edge >= calls->machine.edges.count;
    if (load->is_wrong)
        return;
    number = tw_call_tree_child(tree, parent, edge);
    load->is_wrong |= number + 1 != tree->count || !number;
    if (load->is_wrong)
        return;
    tree->nodes[number].self = tw_load_u64(load);
    tree->nodes[number].entries = tw_load_u64(load);
    tree->nodes[number].cycles = tw_load_u64(load);
}

void tw_calls_read_saved(struct tw_calls *calls, struct tw_load *load)
{
    const uint64_t about = tw_load_u64(load);
    struct tw_calls_stats *stats = &calls->machine.stats;
    size_t left;

    load->is_wrong |= about > 3;
    calls->machine.is_logical = about & 1;
    tw_builds_load(&calls->builds, load);
    for (left = tw_load_count(load, FUNCTION_SIZE); left && !load->is_wrong; left--)
        load_function(load, calls);
    for (left = tw_load_count(load, EDGE_SIZE); left && !load->is_wrong; left--)
        load_edge(load, calls);
    for (left = tw_load_count(load, NODE_SIZE); left && !load->is_wrong; left--)
        load_node(load, calls);
    for (size_t i = 0; stat_at(stats, i); i++)
        *stat_at(stats, i) = tw_load_u64(load);
    if (about & 2)
        tw_calls_read_segments(calls, load);
    if (!load->is_wrong && !load->in.short_read)
        settle(calls);
}

enum tw_status tw_calls_load(struct tw_calls **calls, const char *path,
                             const struct tw_allocator *allocator, struct tw_fault *fault)
{
    const struct tw_calls_config config = { .size = sizeof config, .allocator = allocator };
    struct tw_load load;
    struct tw_calls *made;
    enum tw_status status;

    *calls = NULL;
    TW_TRY(tw_load_begin(&load, &saved_kind, path, allocator, fault));
    if (tw_calls_new(&made, &config, fault) != TW_OK) {
        (void)tw_load_end(&load, path, NULL);
        return TW_E_MEMORY;
    }
    tw_calls_read_saved(made, &load);
    status = tw_load_end(&load, path, fault);
    if (made->machine.is_out || made->functions.is_out || made->machine.edges.is_out ||
        made->machine.tree.is_out)
        status = tw_fail(fault, TW_E_MEMORY, "no memory for %s", path);
    if (status != TW_OK)
        tw_calls_free(made);
    else
        *calls = made;
    return status;
}

/* ---- adding ---- */

/* The numbers that the other's functions and edges have here. */
static bool add_edges(struct tw_calls *calls, const struct tw_calls *other, uint32_t *functions,
                      uint32_t *edges)
{
    const struct tw_call_edges *from = &other->machine.edges;

    for (size_t i = 1; i < other->functions.count; i++) {
        struct tw_function about = other->functions.items[i];
        const size_t before = calls->functions.count;
        struct tw_source_line line;
        bool lacks_line;

        about.file = tw_code_places_file(&calls->places, about.object);
        functions[i] = tw_functions_number(&calls->functions, &about);
        if (!functions[i])
            return false;
        if (calls->functions.count == before)
            continue;
        /* The other may go before this one does. */
        if (!tw_function_line(&about, &line))
            line.file = NULL;
        lacks_line = about.symbols && about.symbols->lacks_lines;
        about.name = tw_functions_keep(&calls->functions, about.name);
        about.object = about.object ? tw_functions_keep(&calls->functions, about.object) : NULL;
        about.line = (struct tw_source_line){ NULL, 0 };
        if (line.file)
            about.line =
                (struct tw_source_line){ tw_functions_keep(&calls->functions, line.file),
                                         line.line };
        about.symbols = NULL;
        if (!about.name || (line.file && !about.line.file) || lacks_line)
            return false;
        calls->functions.items[functions[i]] = about;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        edges[i] =
            i < TW_CALL_NO_EDGES
                ? i
                : tw_call_edges_number(&calls->machine.edges, functions[from->items[i].from],
                                       functions[from->items[i].to],
                                       (enum tw_call_kind)from->items[i].kind);
        if (i >= TW_CALL_NO_EDGES && !edges[i])
            return false;
        calls->machine.edges.items[edges[i]].count += from->items[i].count;
    }
    return true;
}

static bool is_sum(const struct tw_calls *calls)
{
    return calls->old_of || calls->segments.count;
}

/* The other's segments wait here from now on. */
static bool add_segments(struct tw_calls *calls, struct tw_calls *other,
                         const uint32_t *functions, const uint32_t *edges)
{
    struct tw_call_segments *to = &calls->segments, *from = &other->segments;

    if (!TW_GROW(calls->allocator, &to->items, &to->room, to->count + from->count + 1))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        tw_call_segment_renumber(from->items[i], functions, edges);
        to->items[to->count++] = from->items[i];
    }
    from->count = 0;
    return true;
}

enum tw_status tw_calls_add(struct tw_calls *calls, struct tw_calls *other,
                            struct tw_fault *fault)
{
    uint32_t *functions, *edges;
    bool is_good;

    settle(calls);
    settle(other);
    if (calls == other || !is_sum(calls) || !is_sum(other))
        return tw_fail(fault, TW_E_ARGUMENT, "these calls cannot be added");
    if (calls->machine.is_logical != other->machine.is_logical)
        return tw_fail(fault, TW_E_ARGUMENT, "tail calls are counted in another way there");
    if (!note_builds(calls) || !note_builds(other))
        return tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
    TW_TRY(tw_builds_add(&calls->builds, &other->builds, fault));
    functions = tw_take(calls->allocator, other->functions.count * sizeof *functions);
    edges = tw_take(calls->allocator, other->machine.edges.count * sizeof *edges);
    is_good = functions && edges && add_edges(calls, other, functions, edges);
    if (is_good) {
        tw_call_tree_add(&calls->machine.tree, &other->machine.tree, edges);
        tw_calls_stats_add(&calls->machine.stats, &other->machine.stats);
        is_good = !calls->machine.tree.is_out && add_segments(calls, other, functions, edges);
    }
    if (is_good) {
        tw_call_segments_join(calls, false);
        calls->is_finished = !calls->segments.count;
        is_good = !calls->machine.is_out &&
                  (!calls->is_finished || (tw_calls_order(calls) && tw_call_sums(calls)));
    }
    tw_give(calls->allocator, functions);
    tw_give(calls->allocator, edges);
    return is_good ? TW_OK : tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
}
