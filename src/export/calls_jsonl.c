/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls as JSON lines. */
#include <inttypes.h>

#include "export/export.h"
#include "export/graph.h"

static void put_function(struct tw_sink *sink, const struct tw_graph_function *function)
{
    const struct tw_call_totals *totals = &function->totals;

    tw_sink_text(sink, "{\"t\":\"FUNCTION\",\"name\":");
    tw_sink_json(sink, function->name);
    tw_sink_format(sink, ",\"addr\":\"0x%" PRIx64 "\"", function->about->address);
    if (function->has_line) {
        tw_sink_text(sink, ",\"file\":");
        tw_sink_json(sink, function->line.file);
        tw_sink_format(sink, ",\"line\":%" PRIu32, function->line.line);
    }
    tw_sink_format(
        sink, ",\"entries\":%" PRIu64 ",\"self\":%" PRIu64 ",\"inclusive\":%" PRIu64 "%s}\n",
        totals->entries, totals->self, totals->inclusive,
        function->about->kind == TW_FUNCTION_INLINED ? ",\"inlined\":true" : "");
}

static void put_edge(struct tw_sink *sink, const struct tw_graph_edge *edge)
{
    tw_sink_text(sink, "{\"t\":\"CALL\",\"from\":");
    tw_sink_json(sink, tw_subject_name(edge->subject, edge->from));
    tw_sink_text(sink, ",\"to\":");
    tw_sink_json(sink, tw_subject_name(edge->subject, edge->to));
    tw_sink_format(sink, ",\"kind\":\"%s\",\"count\":%" PRIu64 ",\"inclusive\":%" PRIu64 "}\n",
                   edge->kind, edge->about->count, edge->about->inclusive);
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
    static const struct tw_graph_lines lines = { put_function, put_edge };
    const struct tw_calls_stats stats = tw_calls_stats(subject->calls);

    tw_graph_write(sink, subject, &lines);
    if (sink->lacks_memory)
        return;
    if (subject->with_stacks) {
        struct stacks stacks = { sink, subject };

        if (tw_calls_paths(subject->calls, put_stack, &stacks) != TW_OK)
            sink->lacks_memory = true;
    }
    put_stats(sink, &stats);
}
