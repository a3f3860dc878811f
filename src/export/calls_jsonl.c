/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls as JSON lines. */
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
    tw_sink_text(sink, "{\"t\":\"FUNCTION\",\"name\":");
    tw_sink_json(sink, tw_subject_name(subject, function->name));
    tw_sink_format(sink, ",\"addr\":\"0x%" PRIx64 "\"", function->address);
    if (tw_function_line(function, &line)) {
        tw_sink_text(sink, ",\"file\":");
        tw_sink_json(sink, line.file);
        tw_sink_format(sink, ",\"line\":%" PRIu32, line.line);
    }
    tw_sink_format(
        sink, ",\"entries\":%" PRIu64 ",\"self\":%" PRIu64 ",\"inclusive\":%" PRIu64 "%s}\n",
        totals.entries, totals.self, totals.inclusive,
        function->kind == TW_FUNCTION_INLINED ? ",\"inlined\":true" : "");
}

static void put_edge(struct tw_sink *sink, const struct tw_subject *subject,
                     const struct tw_call_edge *edge)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);

    if (!edge->count || !tw_subject_has_edge(subject, edge))
        return;
    tw_sink_text(sink, "{\"t\":\"CALL\",\"from\":");
    tw_sink_json(sink, tw_subject_name(subject, tw_functions_get(functions, edge->from)->name));
    tw_sink_text(sink, ",\"to\":");
    tw_sink_json(sink, tw_subject_name(subject, tw_functions_get(functions, edge->to)->name));
    tw_sink_format(sink, ",\"kind\":\"%s\",\"count\":%" PRIu64 ",\"inclusive\":%" PRIu64 "}\n",
                   tw_call_kind_name(edge->kind), edge->count, edge->inclusive);
}

struct stacks {
    struct tw_sink *sink;
    const struct tw_subject *subject;
};

static void put_stack(void *context, const struct tw_call_path *path)
{
    const struct stacks *stacks = context;
    const struct tw_functions *functions = tw_calls_functions(stacks->subject->calls);

    if (!path->self || stacks->sink->is_over)
        return;
    tw_sink_text(stacks->sink, "{\"t\":\"STACK\",\"frames\":[");
    for (size_t i = 0; i < path->depth; i++) {
        if (i)
            tw_sink_text(stacks->sink, ",");
        tw_sink_json(stacks->sink,
                     tw_subject_name(stacks->subject,
                                     tw_functions_get(functions, path->functions[i])->name));
    }
    tw_sink_format(stacks->sink, "],\"count\":%" PRIu64 "}\n", path->self);
}

static void put_stats(struct tw_sink *sink, const struct tw_calls_stats *stats)
{
    const struct {
        const char *key;
        uint64_t value;
    } members[] = {
        { "calls", stats->calls },     { "returns", stats->returns },
        { "over", stats->over },       { "tails", stats->tails },
        { "unwound", stats->unwound }, { "unknown", stats->unknown },
        { "parked", stats->parked },   { "resumed", stats->resumed },
        { "gaps", stats->gaps },       { "instructions", stats->instructions },
        { "missing", stats->missing }, { "too_deep", stats->too_deep },
    };

    tw_sink_text(sink, "{\"t\":\"STATS\"");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        tw_sink_format(sink, ",\"%s\":%" PRIu64, members[i].key, members[i].value);
    tw_sink_text(sink, "}\n");
}

void tw_write_calls_jsonl(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_calls_stats stats = tw_calls_stats(subject->calls);
    struct tw_graph graph;

    if (!tw_graph_open(&graph, subject)) {
        sink->lacks_memory = true;
        return;
    }
    for (size_t i = 0; i < graph.function_count && !sink->is_over; i++)
        put_function(sink, subject, graph.functions[i]);
    for (size_t i = 0; i < graph.edge_count && !sink->is_over; i++)
        put_edge(sink, subject, tw_calls_edge(subject->calls, graph.edges[i]));
    if (subject->with_stacks) {
        struct stacks stacks = { sink, subject };

        tw_calls_paths(subject->calls, put_stack, &stacks);
    }
    put_stats(sink, &stats);
    tw_graph_close(&graph);
}
