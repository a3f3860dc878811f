/* SPDX-License-Identifier: BSD-2-Clause */
/* The call graph for Graphviz: boxes by share, arrows by count. */
#include <inttypes.h>

#include "base/percent.h"
#include "export/export.h"
#include "export/graph.h"

static void put_label(struct tw_sink *sink, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            tw_sink_text(sink, "\\");
        tw_sink_bytes(sink, (unsigned char)*name < 0x20 ? "?" : name, 1);
    }
}

void tw_write_dot(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);
    const uint64_t total = tw_calls_stats(subject->calls).instructions;
    struct tw_graph graph;

    if (!tw_graph_open(&graph, subject)) {
        sink->lacks_memory = true;
        return;
    }
    tw_sink_text(sink, "digraph calls {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < graph.function_count; i++) {
        const uint32_t number = graph.functions[i];
        const struct tw_call_totals totals = tw_calls_totals(subject->calls, number);

        tw_sink_format(sink, "  f%" PRIu32 " [label=\"", number);
        put_label(sink, tw_subject_name(subject, tw_functions_get(functions, number)->name));
        tw_sink_format(sink, "\\n%s %% (%s %%)\"];\n",
                       tw_percent((double)totals.inclusive, (double)total, 1).text,
                       tw_percent((double)totals.self, (double)total, 1).text);
    }
    for (size_t i = 0; i < graph.edge_count; i++) {
        const struct tw_call_edge *edge = tw_calls_edge(subject->calls, graph.edges[i]);

        if (edge->count)
            tw_sink_format(sink, "  f%" PRIu32 " -> f%" PRIu32 " [label=\"%" PRIu64 "\"%s];\n",
                           edge->from, edge->to, edge->count,
                           edge->kind == TW_CALL_TAIL ? ", style=dashed" : "");
    }
    tw_sink_text(sink, "}\n");
    tw_graph_close(&graph);
}
