/* SPDX-License-Identifier: BSD-2-Clause */
/* The decode tree: bytes in, to the branches of its sources. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tree/custom.h"
#include "tree/markers.h"
#include "tree/parallel.h"
#include "tree/report.h"
#include "tree/shared.h"
#include "tree/tally.h"

void tw_tree_free(struct tw_tree *tree)
{
    const struct tw_allocator *allocator;

    if (!tree)
        return;
    allocator = tree->config.allocator;
    tw_parallel_free(tree);
    for (size_t i = 0; i < tree->branch_count; i++)
        tw_branch_free(tree->branches[i]);
    tw_unframer_free(tree->unframer);
    tw_custom_free(tree->customs, allocator);
    while (tree->kept) {
        struct tw_kept *kept = tree->kept;

        tree->kept = kept->next;
        tw_give(allocator, kept);
    }
    tw_give(allocator, tree->branches);
    tw_give(allocator, tree->live);
    tw_give(allocator, tree->markers.items);
    tw_unframed_free(tree);
    tw_give(allocator, tree);
}

enum tw_status tw_tree_new(struct tw_tree **tree, const struct tw_tree_config *config,
                           struct tw_fault *fault)
{
    struct tw_counter counter = { .size = 0 };
    struct tw_tree_config copy;
    struct tw_tree *made;

    if (!tree)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no place for the tree");
    *tree = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_tree_config", fault));
    if (copy.counter) {
        TW_TRY(TW_SIZED_TAKE(&counter, copy.counter, "tw_counter", fault));
        if (!counter.count || !counter.merge)
            return tw_fail(fault, TW_E_ARGUMENT, "tw_counter lacks a function");
    }
    if ((unsigned)copy.framing > TW_FRAMING_DSTREAM)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no framing %u", (unsigned)copy.framing);
    if (!copy.batch_room)
        copy.batch_room = TW_BRANCH_ELEMENTS;
    if (copy.batch_room < TW_BRANCH_ELEMENTS_LEAST)
        copy.batch_room = TW_BRANCH_ELEMENTS_LEAST;
    if (copy.batch_room > TW_BRANCH_ELEMENTS_MAX)
        copy.batch_room = TW_BRANCH_ELEMENTS_MAX;
    if (copy.threads > TW_THREADS_MAX) /* what comes out is the same */
        copy.threads = TW_THREADS_MAX;
    made = tw_take(copy.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a decode tree");
    made->config = copy;
    made->counter = counter;
    if (copy.counter)
        made->config.counter = &made->counter;
    made->is_counting = copy.counter != NULL;
    made->place.capture = copy.base;
    *tree = made;
    return TW_OK;
}

void *tw_tree_keep(struct tw_tree *tree, size_t size)
{
    struct tw_kept *kept =
        tw_take(tree->config.allocator, offsetof(struct tw_kept, first) + size);

    if (!kept)
        return NULL;
    kept->next = tree->kept;
    tree->kept = kept;
    return &kept->first;
}

const char *tw_tree_fault(const struct tw_tree *tree)
{
    return tree ? tree->fault.text : "there is no tree";
}

static enum tw_status start(struct tw_tree *tree)
{
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = tree->config.framing,
                                         .no_barrier = tree->config.no_barrier,
                                         .assume_id = tree->config.assume_id,
                                         .base = tree->config.base,
                                         .sync_events = tree->on_run != NULL,
                                         .on_run = tree->on_run,
                                         .on_run_context = tree->on_run_context,
                                         .allocator = tree->config.allocator };

    tree->is_started = true;
    if (tree->config.framing == TW_FRAMING_NONE)
        return TW_OK;
    for (size_t i = 0; i < tree->branch_count; i++) {
        const uint8_t id = tree->branches[i]->id;

        config.wanted[id >> 6 & 1] |= (uint64_t)1 << (id & 63);
    }
    return tw_unframer_new(&tree->unframer, &config, NULL);
}

/* Bytes that neither the decoder nor the reader of packets needs any more. */
static size_t done_with(const struct tw_branch *branch)
{
    const bool is_used = branch->decoder || branch->shared;

    if (!branch->reader)
        return branch->used;
    return !is_used || branch->read_used < branch->used ? branch->read_used : branch->used;
}

static void drop_used(struct tw_branch *branch)
{
    struct tw_tree *tree = branch->tree;
    const size_t done = done_with(branch);

    if (branch->part) {
        tw_shared_consume(branch, done);
    } else if (tree->unframer) {
        tw_unframer_consume(tree->unframer, branch->id, done);
    } else if (done) {
        tw_unframed_drop(tree, done);
    }
    if (branch->decoder || branch->shared)
        branch->used -= done;
    if (branch->reader)
        branch->read_used -= done;
}

void tw_branch_refresh(struct tw_branch *branch)
{
    static const uint8_t nothing[TW_BRANCH_SLACK]; /* decoders add offsets to the pointer */
    struct tw_tree *tree = branch->tree;

    if (branch->part) {
        branch->stream = tw_shared_stream(branch);
    } else if (tree->unframer) {
        branch->stream = tw_unframer_stream(tree->unframer, branch->id);
    } else {
        branch->stream = (struct tw_stream){ .bytes = tree->bytes,
                                             .size = tree->size,
                                             .offset = tree->offset,
                                             .places = &tree->place,
                                             .place_count = 1 };
        if (tree->place_count) {
            branch->stream.places = tree->places;
            branch->stream.place_count = tree->place_count;
        }
    }
    /* A gap is met with the byte behind it: only that one tells its place for good. */
    if (!tree->is_finished && branch->stream.place_count &&
        branch->stream.places[branch->stream.place_count - 1].stream ==
            branch->stream.offset + branch->stream.size)
        branch->stream.place_count--;
    if (!branch->stream.bytes)
        branch->stream.bytes = nothing;
    branch->has_gaps = /* bytes without frames tell of none */
        (branch->part || tree->unframer || tree->has_gaps) &&
        tw_position_has_gap(branch->stream.places, branch->stream.place_count);
    tw_position_init(&branch->position, branch->stream.places, branch->stream.place_count);
    branch->ahead.is_known = branch->read_ahead.is_known = false;
    branch->is_idle = branch->is_read_idle = false;
}

bool tw_tree_holds(const struct tw_tree *tree, uint8_t id)
{
    struct tw_stream stream = { .size = 0 };

    if (tree->unframer && tw_branch_of(tree, id))
        stream = tw_unframer_stream(tree->unframer, id);
    return stream.size || tw_position_has_gap(stream.places, stream.place_count);
}

/* Every branch sees what is held now; what several sources share goes to each. */
static enum tw_status refresh_all(struct tw_tree *tree, enum tw_status status)
{
    size_t live = 0;

    tree->live_end = tree->live_first;
    tree->quick_limit = tree->live;
    tree->packets_from = NULL;
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        tw_branch_refresh(branch);
        if (branch->shared && status == TW_OK) /* its branches come after it */
            status = tw_shared_route(branch);
        live += branch->shared ? tw_shared_has_errors(branch) : branch->stream.size > 0;
    }
    if (status == TW_OK)
        status = tw_markers_take(tree);
    live += tw_markers_wait(tree);
    tree->is_merged = live > 1 && !tree->config.unmerged && !tree->config.counter;
    return status;
}

enum tw_status tw_tree_may_feed(struct tw_tree *tree)
{
    if (tree->is_finished)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the trace was finished already");
    for (size_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i]->has_packet)
            return tw_fail(&tree->fault, TW_E_ARGUMENT, "packets are waiting to be taken");
    if (tw_parallel_is_busy(tree))
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "elements are waiting to be taken");
    return TW_OK;
}

enum tw_status tw_tree_begin_feed(struct tw_tree *tree)
{
    enum tw_status status = tree->broken;

    if (status == TW_OK && !tree->is_started)
        status = start(tree);
    for (size_t i = 0; i < tree->branch_count; i++)
        drop_used(tree->branches[i]);
    return status;
}

enum tw_status tw_tree_end_feed(struct tw_tree *tree, enum tw_status status)
{
    status = refresh_all(tree, status);
    if (status == TW_OK)
        status = tw_parallel_plan(tree);
    tree->broken = status;
    tw_report_frames(tree);
    if (status != TW_OK)
        return tw_report_fault(
            tree, tw_fail(&tree->fault, status, "no memory for the capture's bytes"));
    return TW_OK;
}

static enum tw_status feed(struct tw_tree *tree, const struct tw_stream *stream)
{
    enum tw_status status;

    if (!tree)
        return TW_E_ARGUMENT;
    if (stream->size && !stream->bytes)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "there are no bytes, but a size");
    if (stream->size && tree->takes_packets)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "packets were fed already");
    TW_TRY(tw_tree_may_feed(tree));
    status = tw_tree_begin_feed(tree);
    if (status == TW_OK && tree->unframer) {
        tw_unframer_clear_events(tree->unframer);
        status = tw_unframer_feed(tree->unframer, stream->bytes, stream->size);
    }
    if (status == TW_OK && !tree->unframer && tree->branch_count)
        status = tw_unframed_hold(tree, stream);
    return tw_tree_end_feed(tree, status);
}

enum tw_status tw_tree_feed(struct tw_tree *tree, const uint8_t *data, size_t size)
{
    const struct tw_place place = { .capture = tree ? tw_unframed_next(tree) : 0 };

    return feed(tree, &(struct tw_stream){
                          .bytes = data, .size = size, .places = &place, .place_count = 1 });
}

/* Whether its places are what can be fed. */
static bool has_good_places(const struct tw_stream *stream)
{
    if (stream->size && (!stream->place_count || stream->places[0].stream > stream->offset))
        return false;
    for (size_t i = 0; i < stream->place_count; i++)
        if (stream->places[i].first || stream->places[i].is_discontinuity ||
            (i && stream->places[i].stream < stream->places[i - 1].stream))
            return false;
    return true;
}

enum tw_status tw_tree_feed_stream(struct tw_tree *tree, const struct tw_stream *stream)
{
    if (!tree || !stream)
        return TW_E_ARGUMENT;
    if (tree->config.framing != TW_FRAMING_NONE)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "frames lie together in the capture");
    if (!has_good_places(stream))
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the bytes have no place, or not in order");
    return feed(tree, stream);
}

enum tw_status tw_tree_finish(struct tw_tree *tree)
{
    enum tw_status status = tree ? tree->broken : TW_E_ARGUMENT;

    if (!tree || tree->is_finished)
        return status;
    if (tw_parallel_is_busy(tree))
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "elements are waiting to be taken");
    if (status == TW_OK && !tree->is_started)
        status = start(tree);
    for (size_t i = 0; i < tree->branch_count; i++)
        drop_used(tree->branches[i]);
    if (status == TW_OK && tree->unframer) {
        tw_unframer_clear_events(tree->unframer);
        status = tw_unframer_finish(tree->unframer);
    }
    tree->is_finished = true;
    status = refresh_all(tree, status);
    if (status == TW_OK)
        status = tw_parallel_plan(tree);
    tree->broken = status;
    tw_report_frames(tree);
    tw_report_others(tree);
    return tw_report_fault(tree, status);
}

static void reset_branch(struct tw_branch *branch)
{
    if (branch->code && branch->code->sums && branch->code->sums->owner) {
        tw_sums_forget(branch->code); /* of a pass that failed */
        branch->code->sums->owner = NULL;
    }
    branch->tree->packets_from = NULL;
    branch->used = branch->read_used = 0;
    tw_branch_renew(branch, 0, 0);
    branch->stream.size = 0;
    branch->is_idle = branch->is_full = branch->is_read_idle = branch->is_ended = false;
    branch->has_packet = branch->has_run = false;
    branch->handled_gap = 0;
    if (branch->tally)
        tw_tally_clear(branch->tree, branch->tally);
    tw_shared_reset(branch);
    if (branch->reader)
        branch->protocol->reader_init(branch->reader, branch->config);
    if (!branch->decoder)
        return;
    branch->protocol->decoder_reset(branch->decoder);
    if (branch->code) {
        branch->code->out_of_memory = false;
        tw_follow_reset(&branch->follow);
    }
}

void tw_tree_rebase(struct tw_tree *tree, uint64_t base)
{
    tree->config.base = base;
    tree->place = (struct tw_place){ .capture = base };
    tree->place_count = 0;
    if (tree->unframer)
        tw_unframer_reset(tree->unframer, base);
}

void tw_tree_cancel(struct tw_tree *tree)
{
    atomic_store_explicit(&tree->is_cancelled, true, memory_order_relaxed);
}

void tw_tree_reset(struct tw_tree *tree, uint64_t base)
{
    tw_parallel_reset(tree);
    atomic_store_explicit(&tree->is_cancelled, false, memory_order_relaxed);
    tw_tree_rebase(tree, base);
    tw_unframed_reset(tree);
    tree->markers.count = tree->markers.given = 0;
    tree->is_finished = false;
    tree->broken = TW_OK;
    tree->last = NULL;
    for (size_t i = 0; i < tree->branch_count; i++)
        reset_branch(tree->branches[i]);
}

const struct tw_frame_stats *tw_tree_frame_stats(const struct tw_tree *tree)
{
    return tree->unframer ? tw_unframer_stats(tree->unframer) : NULL;
}
