/* SPDX-License-Identifier: BSD-2-Clause */
/* Tallies: what a counter of the caller's fills. */
#include "tree/tally.h"

#include <string.h>

#include "base/memory.h"

struct tw_tally *tw_tally_new(const struct tw_tree *tree)
{
    return tw_take(tree->config.allocator,
                   sizeof(struct tw_tally) + tree->config.counter->tally_size);
}

void tw_tally_free(const struct tw_tree *tree, struct tw_tally *tally)
{
    const struct tw_counter *counter = tree->config.counter;

    if (tally && counter->release)
        counter->release(counter->context, &tally->first);
    tw_give(tree->config.allocator, tally);
}

void tw_tally_count(const struct tw_tree *tree, struct tw_tally *tally,
                    const struct tw_batch *batch)
{
    const struct tw_counter *counter = tree->config.counter;

    tally->is_used = true;
    counter->count(counter->context, &tally->first, batch);
}

enum tw_status tw_tally_sum(const struct tw_tree *tree, struct tw_tally *tally,
                            struct tw_stats *stats, struct tw_follow *follow,
                            const struct tw_batch *whose)
{
    const struct tw_counter *counter = tree->config.counter;
    struct tw_range_sum sums[64];
    size_t count;

    if (!follow->sums)
        return TW_OK;
    while ((count = tw_sums_next(follow->code, sums, TW_LENGTH(sums))) != 0) {
        tally->is_used = true;
        if (tree->config.counts_elements)
            tw_stats_sum(stats, sums, count);
        counter->sum(counter->context, &tally->first, sums, count, whose);
    }
    return follow->code->out_of_memory ? TW_E_MEMORY : TW_OK;
}

void tw_tally_clear(const struct tw_tree *tree, struct tw_tally *tally)
{
    const struct tw_counter *counter = tree->config.counter;

    if (!tally->is_used)
        return;
    tally->is_used = false;
    if (counter->clear)
        counter->clear(counter->context, &tally->first);
    else
        memset(&tally->first, 0, counter->tally_size);
}

/* Whether more sources than one share a stream: what of it is held is not known by source. */
static bool has_shared(const struct tw_tree *tree)
{
    for (size_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i]->shared)
            return true;
    return false;
}

bool tw_tree_counts(struct tw_tree *tree, bool is_wished)
{
    const bool is_counting =
        is_wished && tree->config.counter && tree->config.threads <= 1 && !has_shared(tree);

    for (size_t i = 0; i < tree->branch_count && is_counting; i++) {
        struct tw_branch *branch = tree->branches[i];

        branch->is_apart = false;
        branch->apart_until = branch->stream.size > branch->used
                                  ? branch->stream.offset + branch->stream.size
                                  : 0;
        /* contexts that came as elements were not noted: the next one ends what is summed */
        branch->follow.context = (struct tw_element){ .type = TW_ELEMENT_NO_SYNC };
    }
    tree->is_counting = is_counting;
    return is_counting == is_wished;
}

void tw_tally_merge(const struct tw_branch *whose, struct tw_tally *tally)
{
    const struct tw_tree *tree = whose->tree;
    const struct tw_counter *counter = tree->config.counter;
    const struct tw_batch batch = { .size = sizeof batch,
                                    .user = whose->user,
                                    .source = whose->source,
                                    .src = whose->src,
                                    .id = whose->id };

    if (!tally->is_used)
        return;
    counter->merge(counter->context, &tally->first, &batch);
    tw_tally_clear(tree, tally);
}

enum tw_status tw_tally_bytes(struct tw_tree *tree, struct tw_sum_bytes *bytes)
{
    tree->sum_bytes = bytes;
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_code *code = tree->branches[i]->code;

        if (code && code->sums && !tw_sums_set_bytes(code, bytes))
            return TW_E_MEMORY;
    }
    return TW_OK;
}
