/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and edges of a call graph, sorted so that equal results give equal files. */
#include "export/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct item {
    const char *name;
    uint64_t address;
    uint32_t from, file, number;
};

static int compare(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    order = strcmp(a->name, b->name);
    if (order)
        return order;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static struct item item_of(const struct tw_functions *functions, uint32_t function)
{
    const struct tw_function *about = tw_functions_get(functions, function);

    return (struct item){ .name = about->name, .address = about->address, .file = about->file };
}

static void sort_functions(struct tw_graph *graph, struct item *items,
                           const struct tw_calls *calls)
{
    const struct tw_functions *functions = tw_calls_functions(calls);

    for (uint32_t i = 1; i < tw_functions_count(functions); i++) {
        const struct tw_call_totals totals = tw_calls_totals(calls, i);

        if (!totals.entries && !totals.inclusive)
            continue;
        items[graph->function_count] = item_of(functions, i);
        items[graph->function_count++].number = i;
    }
    qsort(items, graph->function_count, sizeof *items, compare);
    for (size_t i = 0; i < graph->function_count; i++)
        graph->functions[i] = items[i].number;
}

/* Edges from nowhere (where control began) are left out. */
static void sort_edges(struct tw_graph *graph, struct item *items, const struct tw_calls *calls)
{
    const struct tw_functions *functions = tw_calls_functions(calls);
    const size_t count = tw_functions_count(functions);
    size_t at = 0;

    for (size_t i = 0; i < tw_calls_edge_count(calls); i++) {
        const struct tw_call_edge *edge = tw_calls_edge(calls, i);

        if (!edge->from)
            continue;
        items[graph->edge_count] = item_of(functions, edge->to);
        items[graph->edge_count].from = edge->from;
        items[graph->edge_count++].number = (uint32_t)i;
    }
    qsort(items, graph->edge_count, sizeof *items, compare);
    for (size_t i = 0; i <= count; i++) {
        graph->first[i] = at;
        while (at < graph->edge_count && items[at].from == i) {
            graph->edges[at] = items[at].number;
            at++;
        }
    }
}

bool tw_graph_open(struct tw_graph *graph, const struct tw_subject *subject)
{
    const struct tw_allocator *allocator = subject->allocator;
    const struct tw_calls *calls = subject->calls;
    const size_t functions = tw_functions_count(tw_calls_functions(calls));
    const size_t edges = tw_calls_edge_count(calls);
    struct item *items =
        tw_take(allocator, (functions > edges ? functions : edges + 1) * sizeof *items);

    *graph = (struct tw_graph){ .allocator = allocator };
    graph->functions = tw_take(allocator, functions * sizeof *graph->functions);
    graph->first = tw_take(allocator, (functions + 1) * sizeof *graph->first);
    graph->edges = tw_take(allocator, (edges + 1) * sizeof *graph->edges);
    if (!items || !graph->functions || !graph->first || !graph->edges) {
        tw_give(allocator, items);
        tw_graph_close(graph);
        return false;
    }
    sort_functions(graph, items, calls);
    sort_edges(graph, items, calls);
    tw_give(allocator, items);
    return true;
}

void tw_graph_close(struct tw_graph *graph)
{
    tw_give(graph->allocator, graph->functions);
    tw_give(graph->allocator, graph->first);
    tw_give(graph->allocator, graph->edges);
    *graph = (struct tw_graph){ 0 };
}

static void write_function(struct tw_sink *sink, const struct tw_subject *subject,
                           const struct tw_graph_lines *lines, uint32_t number)
{
    struct tw_graph_function function = {
        .about = tw_functions_get(tw_calls_functions(subject->calls), number),
        .totals = tw_calls_totals(subject->calls, number),
    };

    if (subject->function && strcmp(function.about->name, subject->function) != 0)
        return;
    function.name = tw_subject_name(subject, function.about->name);
    function.has_line = tw_function_line(function.about, &function.line);
    lines->function(sink, &function);
}

static void write_edge(struct tw_sink *sink, const struct tw_subject *subject,
                       const struct tw_graph_lines *lines, const struct tw_call_edge *about)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);
    const struct tw_graph_edge edge = { .about = about,
                                        .subject = subject,
                                        .from = tw_functions_get(functions, about->from)->name,
                                        .to = tw_functions_get(functions, about->to)->name,
                                        .kind = tw_call_kind_name(about->kind) };

    if (!about->count || !tw_subject_has_edge(subject, about))
        return;
    lines->edge(sink, &edge);
}

void tw_graph_write(struct tw_sink *sink, const struct tw_subject *subject,
                    const struct tw_graph_lines *lines)
{
    struct tw_graph graph;

    if (!tw_graph_open(&graph, subject)) {
        sink->lacks_memory = true;
        return;
    }
    for (size_t i = 0; i < graph.function_count && !sink->is_over; i++)
        write_function(sink, subject, lines, graph.functions[i]);
    for (size_t i = 0; i < graph.edge_count && !sink->is_over; i++)
        write_edge(sink, subject, lines, tw_calls_edge(subject->calls, graph.edges[i]));
    tw_graph_close(&graph);
}
