/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind: costs of functions, and of the calls that they make. */
#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "export/graph.h"

/* The format knows no quotes: only the end of a line ends a name. */
static void put_name(struct tw_sink *sink, const char *key, const char *name)
{
    tw_sink_text(sink, key);
    tw_sink_name(sink, name, '\n');
    tw_sink_text(sink, "\n");
}

/* Where a function begins in the sources; what has no file that is known is in one called "?", line 0. */
static struct tw_source_line source_of(const struct tw_function *function)
{
    struct tw_source_line line;

    return tw_function_line(function, &line) ? line : (struct tw_source_line){ .file = "?" };
}

static void put_cost(struct tw_sink *sink, const struct tw_function *function, uint32_t line,
                     uint64_t cost)
{
    tw_sink_format(sink, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", function->address, line,
                   cost);
}

static void put_function(struct tw_sink *sink, const struct tw_subject *subject,
                         const struct tw_graph *graph, uint32_t number)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);
    const struct tw_function *function = tw_functions_get(functions, number);
    const struct tw_call_totals totals = tw_calls_totals(subject->calls, number);
    const struct tw_source_line own = source_of(function);

    put_name(sink, "fl=", own.file);
    put_name(sink, "fn=", tw_subject_name(subject, function->name));
    put_cost(sink, function, own.line, totals.self);
    for (size_t i = graph->first[number]; i < graph->first[number + 1]; i++) {
        const struct tw_call_edge *edge = tw_calls_edge(subject->calls, graph->edges[i]);
        const struct tw_function *callee = tw_functions_get(functions, edge->to);
        const struct tw_source_line other = source_of(callee);

        if (!edge->count)
            continue;
        if (strcmp(other.file, own.file) != 0)
            put_name(sink, "cfi=", other.file);
        put_name(sink, "cfn=", tw_subject_name(subject, callee->name));
        tw_sink_format(sink, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n", edge->count,
                       callee->address, other.line);
        put_cost(sink, function, own.line, edge->inclusive);
    }
    tw_sink_text(sink, "\n");
}

void tw_write_callgrind(struct tw_sink *sink, const struct tw_subject *subject)
{
    const uint64_t total = tw_calls_stats(subject->calls).instructions;
    struct tw_graph graph;

    if (!tw_graph_open(&graph, subject)) {
        sink->lacks_memory = true;
        return;
    }
    tw_sink_text(sink, "# callgrind format\nversion: 1\n");
    put_name(sink, "creator: ", subject->creator ? subject->creator : "trackway");
    put_name(sink, "cmd: ", subject->title ? subject->title : "");
    tw_sink_format(
        sink, "positions: instr line\nevents: Instructions\nsummary: %" PRIu64 "\n\n", total);
    for (size_t i = 0; i < graph.function_count && !sink->is_over; i++)
        put_function(sink, subject, &graph, graph.functions[i]);
    tw_sink_format(sink, "totals: %" PRIu64 "\n", total);
    tw_graph_close(&graph);
}
