/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway calls --function: who calls it, and whom it calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/calls.h"

static int compare(const void *left, const void *right)
{
    const struct tw_call_edge *a = *(const struct tw_call_edge *const *)left;
    const struct tw_call_edge *b = *(const struct tw_call_edge *const *)right;

    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->from != b->from ? (a->from < b->from ? -1 : 1)
                              : (a->to < b->to ? -1 : a->to > b->to);
}

/* Edges that lead to a function, or come from it. */
static bool print_edges(struct output *out, const struct tw_calls *calls, struct names *names,
                        uint32_t function, bool is_from)
{
    const struct tw_functions *functions = tw_calls_functions(calls);
    const size_t all = tw_calls_edge_count(calls);
    const struct tw_call_edge **edges = malloc((all + 1) * sizeof *edges);
    size_t count = 0;

    for (size_t i = 0; edges && i < all; i++) {
        const struct tw_call_edge *edge = tw_calls_edge(calls, i);

        if (edge->count && edge->from && (is_from ? edge->from : edge->to) == function)
            edges[count++] = edge;
    }
    if (edges && count)
        qsort(edges, count, sizeof *edges, compare);
    for (size_t i = 0; i < count; i++) {
        const uint32_t other = is_from ? edges[i]->to : edges[i]->from;

        output_format(out, "%12" PRIu64 " %10" PRIu64 "  %-10s %s\n", edges[i]->inclusive,
                      edges[i]->count, tw_call_kind_name(edges[i]->kind),
                      names_show(names, tw_functions_get(functions, other)->name));
    }
    if (edges && !count)
        output_text(out, "                           none that the trace shows\n");
    free(edges);
    return edges != NULL;
}

/* False: no memory. */
static bool print_one(struct output *out, const struct tw_calls *calls, struct names *names,
                      uint32_t number)
{
    const struct tw_function *function = tw_functions_get(tw_calls_functions(calls), number);
    const struct tw_call_totals totals = tw_calls_totals(calls, number);
    struct tw_source_line line = { NULL, 0 };

    output_color(out, BOLD);
    output_name(out, names_show(names, function->name));
    output_color(out, PLAIN);
    if (tw_function_line(function, &line))
        output_format(out, " at %s:%" PRIu32, line.file, line.line);
    output_format(out,
                  ": entered %" PRIu64 " times, %" PRIu64 " instructions in it, %" PRIu64
                  " with what it called\n",
                  totals.entries, totals.self, totals.inclusive);
    output_text(out, "called by\n       total      count  how        function\n");
    if (!print_edges(out, calls, names, number, false))
        return false;
    output_text(out, "calls\n       total      count  how        function\n");
    return print_edges(out, calls, names, number, true);
}

int calls_print_function(struct output *out, const struct tw_calls *calls, struct names *names,
                         const char *wanted)
{
    const struct tw_functions *functions = tw_calls_functions(calls);
    bool is_any = false;

    for (uint32_t i = 1; i < tw_functions_count(functions); i++) {
        const struct tw_function *function = tw_functions_get(functions, i);

        if (strcmp(function->name, wanted) != 0 &&
            strcmp(names_show(names, function->name), wanted) != 0)
            continue;
        if (!tw_calls_totals(calls, i).inclusive && !tw_calls_totals(calls, i).entries)
            continue;
        if (is_any)
            output_text(out, "\n");
        is_any = true;
        if (!print_one(out, calls, names, i)) {
            say("out of memory");
            return NOT_DONE;
        }
    }
    if (!is_any)
        say("%s was not executed, or has no symbol of that name", wanted);
    return is_any ? DONE : NOT_DONE;
}
