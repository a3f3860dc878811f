/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted of a source. */
#ifndef TREE_STATS_H
#define TREE_STATS_H

#include <trackway/tree.h>

struct tw_stats {
    struct tw_source_stats seen; /* by the caller, once tw_stats_show has set its pointers */
    uint64_t elements[TW_ELEMENT_TYPES];
    uint64_t errors[TW_ERROR_CODES];
    uint64_t packet_types[256];
};

void tw_stats_show(struct tw_stats *stats);
/* Adds elements of a batch: a REPEAT finds those that it repeats before it. */
void tw_stats_count(struct tw_stats *stats, const struct tw_element *elements, size_t count);
/* Adds ranges that the decoder counted itself. */
void tw_stats_sum(struct tw_stats *stats, const struct tw_range_sum *sums, size_t count);
/* Adds what was counted of elements. */
void tw_stats_add(struct tw_stats *to, const struct tw_stats *from);

#endif
