/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and calls as a table with commas: one set of columns, empty where a line has none. */
#include <inttypes.h>

#include "export/export.h"
#include "export/graph.h"

static void put_function(struct tw_sink *sink, const struct tw_graph_function *function)
{
    tw_sink_text(sink, "FUNCTION,");
    tw_sink_csv(sink, function->name);
    tw_sink_format(sink, ",0x%" PRIx64 ",", function->about->address);
    if (function->has_line) {
        tw_sink_csv(sink, function->line.file);
        tw_sink_format(sink, ",%" PRIu32, function->line.line);
    } else {
        tw_sink_text(sink, ",");
    }
    tw_sink_format(sink, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,,\n", function->totals.entries,
                   function->totals.self, function->totals.inclusive);
}

static void put_edge(struct tw_sink *sink, const struct tw_graph_edge *edge)
{
    tw_sink_format(sink, "CALL,,,,,,,%" PRIu64 ",", edge->about->inclusive);
    tw_sink_csv(sink, tw_subject_name(edge->subject, edge->from));
    tw_sink_text(sink, ",");
    tw_sink_csv(sink, tw_subject_name(edge->subject, edge->to));
    tw_sink_format(sink, ",%s,%" PRIu64 "\n", edge->kind, edge->about->count);
}

void tw_write_calls_csv(struct tw_sink *sink, const struct tw_subject *subject)
{
    static const struct tw_graph_lines lines = { put_function, put_edge };

    tw_sink_text(sink, "t,name,addr,file,line,entries,self,inclusive,from,to,kind,count\n");
    tw_graph_write(sink, subject, &lines);
}
