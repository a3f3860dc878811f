/* SPDX-License-Identifier: BSD-2-Clause */
/* The call graph as writers want it: functions in the order of names, each with its calls. */
#ifndef EXPORT_GRAPH_H
#define EXPORT_GRAPH_H

#include <trackway/formats.h>

struct tw_graph {
    const struct tw_allocator *allocator;
    uint32_t *functions; /* that were executed or entered, in the order of names */
    size_t function_count;
    size_t *first;   /* by function number: where its edges begin; one more at the end */
    uint32_t *edges; /* numbers for tw_calls_edge, by the function they come from */
    size_t edge_count;
};

/* False: no memory; there is nothing to close then. */
bool tw_graph_open(struct tw_graph *graph, const struct tw_subject *subject);
void tw_graph_close(struct tw_graph *graph);

#endif
