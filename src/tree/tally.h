/* SPDX-License-Identifier: BSD-2-Clause */
/* What counts elements where they are made: tallies, see struct tw_counter. */
#ifndef TREE_TALLY_H
#define TREE_TALLY_H

#include "tree/branch.h"

/* A caller's tally follows. */
struct tw_tally {
    struct tw_tally *next;
    bool is_used; /* there may be something in it */
    max_align_t first;
};

/* An empty one; NULL: no memory. */
struct tw_tally *tw_tally_new(const struct tw_tree *tree);
void tw_tally_free(const struct tw_tree *tree, struct tw_tally *tally);
void tw_tally_count(const struct tw_tree *tree, struct tw_tally *tally,
                    const struct tw_batch *batch);
/* The same for what the decoder counted itself, before the elements of the batch; `stats` counts it, too. */
enum tw_status tw_tally_sum(const struct tw_tree *tree, struct tw_tally *tally,
                            struct tw_stats *stats, struct tw_follow *follow,
                            const struct tw_batch *whose);
/* Empties it. */
void tw_tally_clear(const struct tw_tree *tree, struct tw_tally *tally);
/* Adds it to the whole, and empties it. */
void tw_tally_merge(const struct tw_branch *whose, struct tw_tally *tally);

/* What decoders count goes into these bytes; edges and elements as ever.  For a tree with one thread. */
enum tw_status tw_tally_bytes(struct tw_tree *tree, struct tw_sum_bytes *bytes);
/* From now on the counter gets elements, or tw_tree_next gives them; asked for where all that is held was given.  Packets that have
   begun by then are not among the sums that come: what these tell of was told by packets that begin behind.  True: it is as wished;
   else elements come from tw_tree_next. */
bool tw_tree_counts(struct tw_tree *tree, bool is_wished);

/* Workers count too, and their elements go nowhere else: no error log waits for them. */
static inline bool tw_counts_apart(const struct tw_tree *tree)
{
    return tree->config.counter && !tree->config.errors;
}

/* Decoders count ranges: nobody wants to see each. */
static inline bool tw_counts_ranges(const struct tw_tree *tree)
{
    return tw_counts_apart(tree) && tree->config.counter->sum;
}

#endif
