/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of all branches, in the order in which the packets that release them are complete. */
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tree/markers.h"
#include "tree/parallel.h"
#include "tree/report.h"
#include "tree/retained.h"
#include "tree/shared.h"
#include "tree/tally.h"

static void count_elements(struct tw_branch *branch, const struct tw_element *elements,
                           size_t count)
{
    if (branch->tree->config.counts_elements)
        tw_stats_count(&branch->stats, elements, count);
}

/* Most captures name sources that send nothing: room for elements is taken when some come. */
static bool has_room(struct tw_branch *branch, bool is_merged)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    tw_retained_leave(branch);
    if (!branch->elements)
        branch->elements =
            tw_take_raw(allocator, branch->tree->config.batch_room * sizeof *branch->elements);
    if (is_merged && !branch->marks)
        branch->marks = tw_take_raw(allocator, (branch->tree->config.batch_room + 1) *
                                                   sizeof *branch->marks);
    if (branch->tree->config.counter && !branch->tally) {
        branch->tally = tw_tally_new(branch->tree);
        if (!branch->tally)
            return false;
    }
    return branch->elements && (!is_merged || branch->marks);
}

/* What the decoder counted itself, before the elements that it made. */
static enum tw_status sum(struct tw_branch *branch)
{
    const struct tw_batch whose = tw_branch_batch(branch);

    branch->code->sums->owner = NULL;
    return tw_tally_sum(branch->tree, branch->tally, &branch->stats, &branch->follow, &whose);
}

/* The same, of all branches: none shares what it counts in with another. */
static enum tw_status sum_rest(struct tw_tree *tree)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        if (branch->code && branch->code->sums && branch->code->sums->owner == branch)
            TW_TRY(sum(branch));
    }
    return TW_OK;
}

/* What was counted stays where it is while the next batch is of the same context: it is taken less often. */
static enum tw_status sum_later(struct tw_branch *branch)
{
    struct tw_sums *sums = branch->follow.sums;

    if (!sums)
        return TW_OK;
    if (branch->follow.is_stopped || branch->tree->config.threads > 1)
        return sum(branch);
    sums->owner = branch;
    return TW_OK;
}

/* Damage of a stream that several sources share. */
static enum tw_status fill_shared(struct tw_branch *branch, bool is_merged)
{
    struct tw_batch batch = { .room = branch->tree->config.batch_room,
                              .id = branch->id,
                              .src = branch->src };
    struct tw_output output = { .batch = &batch };

    branch->is_idle = !tw_shared_has_errors(branch);
    if (branch->is_idle)
        return TW_OK;
    if (!has_room(branch, is_merged))
        return TW_E_MEMORY;
    batch.elements = branch->elements;
    if (is_merged)
        output.marks.marks = branch->marks;
    tw_shared_fill(branch, &output);
    tw_branch_renew(branch, batch.count, output.marks.count);
    count_elements(branch, batch.elements, batch.count);
    return TW_OK;
}

enum {
    APART = 256
}; /* bytes behind a packet's begin that are decoded with it: more than it has */

/* A packet that began before counting did is decoded by itself, so that sums are of what began behind. */
static bool begin_apart(struct tw_branch *branch, struct tw_input *in)
{
    branch->is_apart = in->offset + in->used < branch->apart_until ||
                       (branch->is_apart && branch->is_full); /* of a packet that is done */
    if (!branch->is_apart)
        return false;
    if (branch->apart_until - in->offset + APART < in->size)
        in->size = (size_t)(branch->apart_until - in->offset) + APART;
    return true;
}

/* Whether there is more than was decoded so.  Where that was not enough all is. */
static bool end_apart(struct tw_branch *branch, const struct tw_input *in)
{
    if (in->size == branch->stream.size)
        return false;
    if (in->used == branch->used)
        branch->apart_until = branch->stream.offset + branch->stream.size;
    return true;
}

/* Fills the branch's batch from what is held, or at the end of the trace from the decoder. */
static enum tw_status fill(struct tw_branch *branch, bool is_merged)
{
    struct tw_tree *tree = branch->tree;
    struct tw_batch batch = { .size = sizeof batch,
                              .room = branch->tree->config.batch_room,
                              .src = branch->src,
                              .id = branch->id };
    struct tw_output output = { .batch = &batch };
    struct tw_input in = { .data = branch->stream.bytes,
                           .size = branch->stream.size,
                           .used = branch->used,
                           .offset = branch->stream.offset,
                           .places = branch->stream.places,
                           .place_count = branch->stream.place_count,
                           .has_gaps = branch->has_gaps,
                           .is_last = tree->is_finished,
                           .ahead = &branch->ahead };
    bool is_apart = false;
    enum tw_status status;

    /* Of an ID that has sent nothing, the end of the trace tells nothing here either. */
    if (in.size == in.used && !in.has_gaps && !branch->is_full &&
        (!in.is_last || in.offset + in.size == 0)) {
        branch->is_idle = true;
        return TW_OK;
    }
    if (!has_room(branch, is_merged))
        return TW_E_MEMORY;
    if (tw_parallel_fill(branch, &status, is_merged))
        return status;
    tw_prefetch(in.data + in.used, in.size - in.used);
    batch.elements = branch->elements;
    if (is_merged) {
        output.marks.marks = branch->marks;
        output.marks.room = branch->tree->config.batch_room;
    }
    if (tree->is_counting)
        is_apart = begin_apart(branch, &in);
    branch->follow.sums =
        branch->code && tree->is_counting && !is_apart ? branch->code->sums : NULL;
    if (branch->follow.sums && branch->follow.sums->owner &&
        branch->follow.sums->owner != branch)
        TW_TRY(sum_rest(tree));
    status = branch->protocol->decode(branch->decoder, &branch->follow, &output, &in);
    if (status >= 0)
        TW_TRY(sum_later(branch));
    is_apart = is_apart && end_apart(branch, &in);
    branch->stats.seen.bytes += in.used - branch->used;
    branch->stats.seen.unsynced_bytes += output.unsynced;
    branch->used = in.used;
    tw_branch_renew(branch, batch.count, output.marks.count);
    branch->is_idle = status == TW_MORE && !is_apart;
    branch->is_full = status == TW_OK;
    count_elements(branch, batch.elements, batch.count);
    return status < 0 ? status : TW_OK;
}

TW_INLINE void show(struct tw_branch *branch, struct tw_batch *batch, size_t until)
{
    batch->elements = branch->elements + branch->given;
    batch->count = batch->room = until - branch->given;
    batch->user = branch->user;
    batch->source = branch->source;
    batch->src = branch->src;
    batch->id = branch->id;
    batch->src_is_id = branch->src_is_id;
    branch->given = until;
}

static void hand_out(struct tw_branch *branch, struct tw_batch *batch, size_t until)
{
    show(branch, batch, until);
    if (TW_UNLIKELY(branch->tree->config.errors))
        tw_report_elements(branch, batch);
    if (TW_UNLIKELY(branch->tree->is_counting))
        tw_tally_count(branch->tree, branch->tally, batch);
}

/* Where the elements of this branch end that were released no later than `limit`. */
TW_INLINE size_t released_until(struct tw_branch *branch, uint64_t limit)
{
    const struct tw_mark *mark = branch->mark;

    while (mark->released <= limit)
        mark++;
    branch->mark = mark;
    return mark->first > branch->given ? mark->first : branch->count;
}

static bool has_elements(const struct tw_branch *branch)
{
    return branch->given < branch->count;
}

/* What end of trace releases, branch after branch. */
static TW_NOINLINE enum tw_status next_of_end(struct tw_tree *tree, struct tw_batch *batch)
{
    TW_TRY(sum_rest(tree)); /* a context may come, too */
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];
        struct tw_batch made = { .size = sizeof made,
                                 .room = branch->tree->config.batch_room,
                                 .src = branch->src,
                                 .id = branch->id };
        struct tw_output output = { .batch = &made };
        enum tw_status status;

        if (branch->is_ended || branch->shared ||
            (branch->part && !tw_shared_has_begun(branch)))
            continue;
        if (!branch->elements && i > 0 &&
            !tree->branches[i - 1]
                 ->retained) { /* what the one before made is handed out: its room */
            branch->elements = tree->branches[i - 1]->elements;
            tree->branches[i - 1]->elements = NULL;
        }
        if (!has_room(branch, false))
            return TW_E_MEMORY;
        made.elements = branch->elements;
        if (tw_parallel_fill(branch, &status, false))
            return status;
        status = branch->protocol->end(branch->decoder, &branch->follow, &output);
        if (status < 0)
            return status;
        branch->is_ended = status == TW_END;
        if (made.count && made.elements[made.count - 1].type == TW_ELEMENT_EO_TRACE)
            made.elements[made.count - 1].count = branch->follow.lost_atoms;
        tw_branch_renew(branch, made.count, 0);
        count_elements(branch, made.elements, made.count);
        if (made.count) {
            hand_out(branch, batch, made.count);
            return TW_OK;
        }
    }
    return TW_END;
}

/* What was handed out is used up: more from what is held, if there is any. */
static TW_NOINLINE enum tw_status refill(struct tw_branch *branch)
{
    while (!has_elements(branch) && !branch->is_idle) {
        const bool is_merged = branch->tree->is_merged;
        const enum tw_status status =
            branch->shared ? fill_shared(branch, is_merged) : fill(branch, is_merged);

        if (status != TW_OK) {
            branch->tree->broken = status;
            return status;
        }
    }
    return TW_OK;
}

/* Elements for the branch, if there are any in what is held. */
TW_INLINE enum tw_status fill_up(struct tw_branch *branch)
{
    return TW_LIKELY(has_elements(branch)) ? TW_OK : refill(branch);
}

static enum tw_status next_in_turn(struct tw_tree *tree, struct tw_batch *batch)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];
        const enum tw_status status = fill_up(branch);

        if (status != TW_OK)
            return status;
        if (has_elements(branch)) {
            hand_out(branch, batch, branch->count);
            return TW_OK;
        }
    }
    return TW_MORE;
}

/* Where the branch's next element was released; ties go by ID and src. */
static uint64_t key_of(const struct tw_branch *branch)
{
    return branch->mark->released << TW_LIVE_ORDER_BITS | branch->order;
}

/* Adds a branch to the queue of those that have elements, from behind: IDs mostly take turns, so that
   it belongs there or nearly so.  Before the queue and behind it stands what comes first and last of all. */
TW_INLINE void join(struct tw_tree *tree, struct tw_branch *branch)
{
    const struct tw_live joining = { key_of(branch), branch };
    struct tw_live *at = tree->live_end++;

    at[1].key = UINT64_MAX;
    for (; at[-1].key > joining.key; at--)
        at[0] = at[-1];
    *at = joining;
}

/* The queue has reached the end of its memory: it moves to the front. */
static TW_NOINLINE void move_live(struct tw_tree *tree)
{
    const size_t count = (size_t)(tree->live_end - tree->live_first);

    memmove(tree->live + 1, tree->live_first, (count + 1) * sizeof *tree->live);
    tree->live_first = tree->live + 1;
    tree->live_end = tree->live_first + count;
}

/* All branches that have elements. */
static TW_NOINLINE enum tw_status find_live(struct tw_tree *tree)
{
    /* Twice the room that is needed, so that the queue seldom has to move to the front. */
    if (!TW_GROW(tree->config.allocator, &tree->live, &tree->live_room,
                 2 * tree->branch_count + 4))
        return tree->broken = TW_E_MEMORY;
    tree->live_limit = tree->live + tree->live_room - 1;
    tree->live_first = tree->live_end = tree->live + 1;
    tree->live[0].key = 0;
    for (size_t i = 0; i < tree->branch_count; i++) {
        const enum tw_status status = fill_up(tree->branches[i]);

        if (status != TW_OK)
            return status;
        if (has_elements(tree->branches[i]))
            join(tree, tree->branches[i]);
    }
    return TW_OK;
}

/* The branch that was handed out from last may be used up: only now may its batch be filled. */
TW_INLINE enum tw_status renew_first(struct tw_tree *tree)
{
    struct tw_branch *branch = tree->live_first->branch;
    const enum tw_status status = fill_up(branch);

    if (status != TW_OK)
        return status;
    if (TW_UNLIKELY(tree->live_end == tree->live_limit))
        move_live(tree);
    tree->live_first++->key = 0;
    if (TW_LIKELY(has_elements(branch)))
        join(tree, branch);
    return TW_OK;
}

/* Of the first branch up to `limit`, where triggers and flushes wait that may come first, or in between. */
static TW_NOINLINE void hand_out_marked(struct tw_tree *tree, struct tw_batch *batch,
                                        uint64_t limit)
{
    struct tw_branch *branch = tree->live_first->branch;
    const uint64_t own = branch->mark->released, marker = tw_markers_released(tree);

    if (marker < own)
        tw_markers_hand_out(tree, batch, own);
    else
        hand_out(branch, batch, released_until(branch, marker < limit ? marker : limit));
}

static enum tw_status next_merged(struct tw_tree *tree, struct tw_batch *batch)
{
    const enum tw_status status =
        tree->live_first != tree->live_end ? renew_first(tree) : find_live(tree);
    const struct tw_live *first = tree->live_first;
    const bool has_live = status == TW_OK && first != tree->live_end;
    uint64_t limit;

    tree->quick_limit = has_live && !tree->config.errors && !tw_markers_wait(tree)
                            ? tree->live_limit
                            : tree->live;
    if (status != TW_OK)
        return status;
    if (!has_live)
        return TW_MORE;
    /* Up to where the next branch has something to say. */
    limit = first[1].key >> TW_LIVE_ORDER_BITS;
    if (TW_UNLIKELY(tw_markers_wait(tree)))
        hand_out_marked(tree, batch, limit);
    else
        hand_out(first->branch, batch, released_until(first->branch, limit));
    return TW_OK;
}

static TW_NOINLINE enum tw_status next(struct tw_tree *tree, struct tw_batch *batch)
{
    enum tw_status status;

    if (tree->broken != TW_OK)
        return tree->broken;
    if (atomic_load_explicit(&tree->is_cancelled, memory_order_relaxed))
        return TW_E_CANCELLED;
    if (tree->config.packets_only)
        return TW_E_ARGUMENT;
    status = tree->is_merged ? next_merged(tree, batch) : next_in_turn(tree, batch);
    if (status == TW_MORE && TW_UNLIKELY(tw_markers_wait(tree))) {
        tw_markers_hand_out(tree, batch, UINT64_MAX);
        return TW_OK;
    }
    return status == TW_MORE && tree->is_finished ? next_of_end(tree, batch) : status;
}

/* Counting: all that there is goes to the counter, and nothing comes out. */
static enum tw_status next_counted(struct tw_tree *tree, struct tw_batch *batch)
{
    enum tw_status status = TW_OK;

    while (status == TW_OK)
        status = next(tree, batch);
    if (status >= 0)
        status = sum_rest(tree) == TW_OK ? status : TW_E_MEMORY;
    for (size_t i = 0; status >= 0 && i < tree->branch_count; i++)
        if (tree->branches[i]->tally)
            tw_tally_merge(tree->branches[i], tree->branches[i]->tally);
    batch->count = batch->room = 0;
    return status;
}

/* Into a batch of another size, or to a counter. */
static TW_NOINLINE enum tw_status next_sized(struct tw_tree *tree, struct tw_batch *batch)
{
    struct tw_batch ours = { .size = sizeof ours };
    enum tw_status status;

    if (!TW_SIZED_GIVE(batch, &ours))
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "tw_batch: set its size to its sizeof");
    status = tree->is_counting ? next_counted(tree, &ours) : next(tree, &ours);
    if (!TW_SIZED_GIVE(batch, &ours))
        return TW_E_ARGUMENT;
    return status;
}

/* The most frequent case of many branches by far: the one that was handed out from last has more, and nothing else is to be done. */
TW_INLINE bool next_in_queue(struct tw_tree *tree, struct tw_batch *batch)
{
    struct tw_live *first = tree->live_first;
    struct tw_branch *branch;

    if (tree->live_end >= tree->quick_limit ||
        atomic_load_explicit(&tree->is_cancelled, memory_order_relaxed))
        return false;
    branch = first->branch;
    if (!has_elements(branch))
        return false;
    first->key = 0;
    tree->live_first = ++first;
    join(tree, branch);
    branch = first->branch;
    show(branch, batch, released_until(branch, first[1].key >> TW_LIVE_ORDER_BITS));
    return true;
}

enum tw_status tw_tree_next(struct tw_tree *tree, struct tw_batch *batch)
{
    if (!tree || !batch)
        return TW_E_ARGUMENT;
    if (TW_UNLIKELY(batch->size != sizeof *batch))
        return next_sized(tree, batch);
    if (next_in_queue(tree, batch))
        return TW_OK;
    return tree->is_counting ? next_sized(tree, batch) : next(tree, batch);
}
