/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway stats: the sums over buffers. */
#ifndef COMMANDS_STATS_H
#define COMMANDS_STATS_H

#include <trackway/statistics.h>

/* What a trace ID has in all buffers. */
struct stats_total {
    struct tw_source_statistics sum; /* distances of syncs are those inside buffers */
    struct tw_packet_count *types;
    uint64_t buffers;
    uint64_t gaps, span; /* between syncs: how many, and all of them together */
};

struct stats_totals {
    struct stats_total *rows; /* by ID and protocol, as they come */
    size_t count;
};

/* False: out of memory. */
bool stats_totals_add(struct stats_totals *totals, const struct tw_source_statistics *source);
/* Types by weight, as those of a buffer are. */
void stats_totals_end(struct stats_totals *totals);
void stats_totals_free(struct stats_totals *totals);

#endif
