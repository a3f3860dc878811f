/* SPDX-License-Identifier: BSD-2-Clause */
/* Triggers and flushes that the formatter marks in its frames. */
#ifndef TREE_MARKERS_H
#define TREE_MARKERS_H

#include "tree/branch.h"

/* After a feed: those of the new bytes. */
enum tw_status tw_markers_take(struct tw_tree *tree);

static inline bool tw_markers_wait(const struct tw_tree *tree)
{
    return tree->markers.given < tree->markers.count;
}

/* The first byte behind the next one. */
static inline uint64_t tw_markers_released(const struct tw_tree *tree)
{
    return tree->markers.items[tree->markers.given].index + 1;
}

/* All that were released before this offset. */
void tw_markers_hand_out(struct tw_tree *tree, struct tw_batch *batch, uint64_t before);

#endif
