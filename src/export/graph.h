/* SPDX-License-Identifier: BSD-2-Clause */
/* The call graph as writers want it: functions in the order of names, each with its calls. */
#ifndef EXPORT_GRAPH_H
#define EXPORT_GRAPH_H

#include <trackway/formats.h>

#include "export/sink.h"

struct tw_graph {
    const struct tw_allocator *allocator;
    uint32_t *functions; /* that were executed or entered, in the order of names */
    size_t function_count;
    size_t *first;   /* by function number: where its edges begin; one more at the end */
    uint32_t *edges; /* numbers for tw_calls_edge, by the function they come from */
    size_t edge_count;
};

/* A function and an edge, as lines of it show them. */
struct tw_graph_function {
    const struct tw_function *about;
    const char *name; /* as it is to be shown */
    struct tw_call_totals totals;
    bool has_line;
    struct tw_source_line line;
};

struct tw_graph_edge {
    const struct tw_call_edge *about;
    const struct tw_subject *subject; /* for tw_subject_name, one at a time */
    const char *from, *to, *kind;
};

struct tw_graph_lines {
    void (*function)(struct tw_sink *sink, const struct tw_graph_function *function);
    void (*edge)(struct tw_sink *sink, const struct tw_graph_edge *edge);
};

/* All that the subject asks for, functions first. */
void tw_graph_write(struct tw_sink *sink, const struct tw_subject *subject,
                    const struct tw_graph_lines *lines);
/* False: no memory; there is nothing to close then. */
bool tw_graph_open(struct tw_graph *graph, const struct tw_subject *subject);
void tw_graph_close(struct tw_graph *graph);

#endif
