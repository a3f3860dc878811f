/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and calls as a table with commas: one set of columns, empty where a line has none. */
#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "export/graph.h"

static void put_function(struct tw_sink *sink, const struct tw_subject *subject,
                         uint32_t number)
{
    const struct tw_function *function =
        tw_functions_get(tw_calls_functions(subject->calls), number);
    const struct tw_call_totals totals = tw_calls_totals(subject->calls, number);
    struct tw_source_line line = { NULL, 0 };

    if (subject->function && strcmp(function->name, subject->function) != 0)
        return;
    tw_sink_text(sink, "FUNCTION,");
    tw_sink_csv(sink, tw_subject_name(subject, function->name));
    tw_sink_format(sink, ",0x%" PRIx64 ",", function->address);
    if (tw_function_line(function, &line)) {
        tw_sink_csv(sink, line.file);
        tw_sink_format(sink, ",%" PRIu32, line.line);
    } else {
        tw_sink_text(sink, ",");
    }
    tw_sink_format(sink, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,,\n", totals.entries,
                   totals.self, totals.inclusive);
}

static void put_edge(struct tw_sink *sink, const struct tw_subject *subject,
                     const struct tw_call_edge *edge)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);

    if (!edge->count || !tw_subject_has_edge(subject, edge))
        return;
    tw_sink_format(sink, "CALL,,,,,,,%" PRIu64 ",", edge->inclusive);
    tw_sink_csv(sink, tw_subject_name(subject, tw_functions_get(functions, edge->from)->name));
    tw_sink_text(sink, ",");
    tw_sink_csv(sink, tw_subject_name(subject, tw_functions_get(functions, edge->to)->name));
    tw_sink_format(sink, ",%s,%" PRIu64 "\n", tw_call_kind_name(edge->kind), edge->count);
}

void tw_write_calls_csv(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct tw_graph graph;

    if (!tw_graph_open(&graph, subject)) {
        sink->lacks_memory = true;
        return;
    }
    tw_sink_text(sink, "t,name,addr,file,line,entries,self,inclusive,from,to,kind,count\n");
    for (size_t i = 0; i < graph.function_count && !sink->is_over; i++)
        put_function(sink, subject, graph.functions[i]);
    for (size_t i = 0; i < graph.edge_count && !sink->is_over; i++)
        put_edge(sink, subject, tw_calls_edge(subject->calls, graph.edges[i]));
    tw_graph_close(&graph);
}
