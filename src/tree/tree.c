/* SPDX-License-Identifier: BSD-2-Clause */
/* The decode tree: which source feeds what. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "tree/custom.h"
#include "tree/parallel.h"
#include "tree/report.h"
#include "tree/shared.h"
#include "tree/tally.h"

static void free_branch(struct tw_branch *branch)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    if (branch->decoder && branch->protocol->decoder_free)
        branch->protocol->decoder_free(branch->decoder);
    if (branch->owns_code)
        tw_code_free(branch->code);
    tw_image_free(branch->image);
    tw_give(allocator, branch->config);
    tw_give(allocator, branch->decoder);
    tw_give(allocator, branch->elements);
    tw_give(allocator, branch->marks);
    tw_tally_free(branch->tree, branch->tally);
    tw_shared_free(branch);
    tw_give(allocator, branch->reader);
    tw_give(allocator, branch->packet);
    tw_give(allocator, branch->run_bytes);
    tw_give(allocator, branch);
}

void tw_tree_free(struct tw_tree *tree)
{
    const struct tw_allocator *allocator;

    if (!tree)
        return;
    allocator = tree->config.allocator;
    tw_parallel_free(tree);
    for (size_t i = 0; i < tree->branch_count; i++)
        free_branch(tree->branches[i]);
    tw_unframer_free(tree->unframer);
    tw_custom_free(tree->customs, allocator);
    while (tree->kept) {
        struct tw_kept *kept = tree->kept;

        tree->kept = kept->next;
        tw_give(allocator, kept);
    }
    tw_give(allocator, tree->branches);
    tw_give(allocator, tree->live);
    tw_unframed_free(tree);
    tw_give(allocator, tree);
}

enum tw_status tw_tree_new(struct tw_tree **tree, const struct tw_tree_config *config,
                           struct tw_fault *fault)
{
    struct tw_tree *made;

    *tree = NULL;
    if (config->size != sizeof *config)
        return tw_fail(fault, TW_E_ARGUMENT, "tw_tree_config has the wrong size");
    if (config->counter && (config->counter->size != sizeof *config->counter ||
                            !config->counter->count || !config->counter->merge))
        return tw_fail(fault, TW_E_ARGUMENT, "tw_counter lacks a function, or its size");
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a decode tree");
    made->config = *config;
    made->place.capture = config->base;
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
    return tree->fault.text;
}

/* The branch of an ID; of a stream that several sources share: that of the stream. */
static struct tw_branch *branch_of(const struct tw_tree *tree, uint8_t id)
{
    for (size_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i]->id == id)
            return tree->branches[i];
    return NULL;
}

/* Code that another branch of the same image looks at in the same way. */
static struct tw_code *shared_code(const struct tw_tree *tree, const struct tw_image *image,
                                   const struct tw_code_config *config)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_code *code = tree->branches[i]->code;

        if (code && code->image == image &&
            memcmp(&tree->branches[i]->code_config, config, sizeof *config) == 0)
            return code;
    }
    return NULL;
}

static enum tw_status set_up_code(struct tw_branch *branch, const struct tw_tree_source *source)
{
    struct tw_image *image = source->image;
    struct tw_tree *tree = branch->tree;
    struct tw_code_config *config = &branch->code_config;

    if (!image && source->memory) {
        if (tw_image_new(&branch->image, tree->config.allocator) != TW_OK)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for an image");
        image = branch->image;
        TW_TRY(tw_image_set_callback(image, source->memory, source->memory_context));
    }
    memset(config, 0, sizeof *config);
    branch->protocol->code_config(config, branch->config);
    config->range_limit = tree->config.range_limit;
    config->check_opcodes = tree->config.check_opcodes;
    config->check_atoms = tree->config.check_atoms;
    config->classify = source->classify;
    config->classify_context = source->classify_context;
    config->allocator = tree->config.allocator;
    branch->code = shared_code(tree, image, config);
    if (!branch->code) {
        if (tw_code_new(&branch->code, image, config) != TW_OK)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for basic blocks");
        branch->owns_code = true;
    }
    tw_follow_init(&branch->follow, branch->code);
    branch->follow.has_return_stack = config->links_are_special;
    branch->follow.check_continuity = tree->config.check_continuity;
    branch->follow.splits_sources = tree->config.source_address_n;
    branch->follow.stops_at_context = tree->config.stops_at_context;
    branch->follow.look = source->view;
    branch->follow.look_context = source->view_context;
    branch->view_size = source->view ? source->view_size : 0;
    if (source->view)
        tw_follow_reset(&branch->follow);
    return TW_OK;
}

static enum tw_status set_up_decoder(struct tw_branch *branch,
                                     const struct tw_tree_source *source)
{
    const struct tw_protocol *protocol = branch->protocol;
    const struct tw_allocator *allocator = branch->tree->config.allocator;
    struct tw_fault *fault = &branch->tree->fault;

    if (!protocol->decode)
        return tw_fail(fault, TW_E_UNSUPPORTED, "%s can be listed as packets only",
                       protocol->title);
    branch->decoder = tw_take(allocator, protocol->decoder_size);
    if (!branch->decoder)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a decoder");
    protocol->decoder_init(branch->decoder, branch->config);
    if (protocol->flags & TW_PROTOCOL_FOLLOWS)
        return set_up_code(branch, source);
    return TW_OK;
}

static enum tw_status set_up_reader(struct tw_branch *branch)
{
    const struct tw_protocol *protocol = branch->protocol;
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    branch->reader = tw_take(allocator, protocol->reader_size);
    branch->packet = tw_take(allocator, protocol->packet_size);
    if (!branch->reader || !branch->packet)
        return tw_fail(&branch->tree->fault, TW_E_MEMORY, "no memory for a packet reader");
    protocol->reader_init(branch->reader, branch->config);
    return TW_OK;
}

/* What reads its packets, and what decodes them: not here if its stream is shared. */
static enum tw_status set_up_work(struct tw_branch *branch, const struct tw_tree_source *source)
{
    const struct tw_tree_config *config = &branch->tree->config;

    if (config->packets_only || config->with_packets)
        TW_TRY(set_up_reader(branch));
    return config->packets_only || branch->shared ? TW_OK : set_up_decoder(branch, source);
}

static enum tw_status set_up_branch(struct tw_branch *branch,
                                    const struct tw_tree_source *source)
{
    struct tw_tree *tree = branch->tree;
    const bool is_framed = tree->config.framing != TW_FRAMING_NONE;
    const struct tw_source_info info = { .registers = source->registers,
                                         .register_count = source->register_count,
                                         .type = source->type,
                                         .core_type = source->core_type,
                                         .text = source->text,
                                         .id = source->id,
                                         .is_framed = is_framed };

    branch->config = tw_take(tree->config.allocator, branch->protocol->config_size);
    if (!branch->config)
        return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for a source");
    if (branch->protocol->custom)
        tw_custom_prepare(branch->config, branch->protocol);
    TW_TRY(branch->protocol->configure(branch->config, &info, &tree->fault));
    branch->id = branch->protocol->trace_id(branch->config);
    if (!branch->id)
        branch->id = source->id;
    if (branch_of(tree, branch->id))
        return tw_fail(&tree->fault, TW_E_CONFIG, "two sources have trace ID 0x%02x",
                       (unsigned)branch->id);
    if (branch->protocol->is_shared && branch->protocol->is_shared(branch->config))
        TW_TRY(tw_shared_new(branch, source));
    return set_up_work(branch, source);
}

/* Puts it where it belongs. */
static void insert_branch(struct tw_tree *tree, struct tw_branch *branch)
{
    size_t at = tree->branch_count++;

    for (; at > 0 &&
           (tree->branches[at - 1]->id > branch->id ||
            (tree->branches[at - 1]->id == branch->id && branch->part &&
             tree->branches[at - 1]->part && tree->branches[at - 1]->src > branch->src));
         at--)
        tree->branches[at] = tree->branches[at - 1];
    tree->branches[at] = branch;
    for (; at < tree->branch_count; at++)
        tree->branches[at]->order = (uint32_t)at;
}

static struct tw_branch *new_branch(struct tw_tree *tree, const struct tw_protocol *protocol)
{
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_branch *branch = tw_take(allocator, sizeof *branch);

    if (!branch ||
        !TW_GROW(allocator, &tree->branches, &tree->branch_room, tree->branch_count + 1)) {
        tw_give(allocator, branch);
        (void)tw_fail(&tree->fault, TW_E_MEMORY, "no memory for a source");
        return NULL;
    }
    branch->tree = tree;
    branch->protocol = protocol;
    branch->src = TW_NO_SRC;
    return branch;
}

static enum tw_status set_up_src(struct tw_branch *branch, const struct tw_branch *trunk)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;
    struct tw_tree_source source = trunk->shared->about;

    branch->part = tw_take(allocator, sizeof *branch->part);
    branch->config = tw_take(allocator, branch->protocol->config_size);
    if (!branch->part || !branch->config)
        return tw_fail(&branch->tree->fault, TW_E_MEMORY, "no memory for a source");
    memcpy(branch->config, trunk->config, branch->protocol->config_size);
    branch->protocol->take_src(branch->config, branch->src);
    for (size_t i = 0; i < source.src_image_count; i++)
        if (source.src_images[i].src == branch->src)
            source.image = source.src_images[i].image;
    return set_up_work(branch, &source);
}

enum tw_status tw_tree_add_src(struct tw_branch *trunk, struct tw_branch **added, uint32_t src)
{
    struct tw_branch *branch = new_branch(trunk->tree, trunk->protocol);
    enum tw_status status;

    *added = NULL;
    if (!branch)
        return TW_E_MEMORY;
    branch->id = trunk->id;
    branch->src = src;
    status = set_up_src(branch, trunk);
    if (status == TW_OK)
        status =
            tw_parallel_end(trunk->tree); /* its threads know the branches that were there */
    if (status != TW_OK) {
        free_branch(branch);
        return status;
    }
    insert_branch(trunk->tree, branch);
    *added = branch;
    return TW_OK;
}

static enum tw_status add_branch(struct tw_tree *tree, struct tw_branch **added,
                                 const struct tw_protocol *protocol,
                                 const struct tw_tree_source *source)
{
    struct tw_branch *branch = new_branch(tree, protocol);
    enum tw_status status;

    if (!branch)
        return TW_E_MEMORY;
    status = set_up_branch(branch, source);
    if (status != TW_OK) {
        free_branch(branch);
        return status;
    }
    insert_branch(tree, branch);
    *added = branch;
    return TW_OK;
}

enum tw_status tw_tree_add_source(struct tw_tree *tree, uint8_t *id,
                                  const struct tw_tree_source *source)
{
    const bool is_framed = tree->config.framing != TW_FRAMING_NONE;
    const struct tw_protocol *protocol;
    struct tw_branch *branch, *companion;

    if (source->size != sizeof *source || tree->is_started)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "sources are added before the first byte");
    protocol = tw_protocol_by_name(source->protocol);
    if (!protocol)
        protocol = tw_custom_by_name(tree->customs, source->protocol);
    if (!protocol)
        return tw_fail(&tree->fault, TW_E_UNSUPPORTED, "protocol '%s' is not known",
                       source->protocol);
    if (!is_framed && tree->branch_count)
        return tw_fail(&tree->fault, TW_E_CONFIG,
                       "an unframed capture holds one source, and there is one already");
    TW_TRY(add_branch(tree, &branch, protocol, source));
    if (id)
        *id = branch->id;
    if (is_framed && protocol->companion && protocol->has_companion(branch->config) &&
        !branch_of(tree, (uint8_t)(branch->id + 1)))
        return add_branch(tree, &companion, protocol->companion, source);
    return TW_OK;
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
    return tw_unframer_new(&tree->unframer, &config);
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
    branch->has_gaps =
        tw_position_discontinuity(branch->stream.places, branch->stream.place_count, 0,
                                  UINT64_MAX) != UINT64_MAX;
    tw_position_init(&branch->position, branch->stream.places, branch->stream.place_count);
    branch->knows_gap = false;
    branch->is_idle = branch->is_read_idle = false;
}

/* Every branch sees what is held now; what several sources share goes to each. */
static enum tw_status refresh_all(struct tw_tree *tree, enum tw_status status)
{
    size_t live = 0;

    tree->live_count = 0;
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        tw_branch_refresh(branch);
        if (branch->shared && status == TW_OK) /* its branches come after it */
            status = tw_shared_route(branch);
        live += branch->shared ? tw_shared_has_errors(branch) : branch->stream.size > 0;
    }
    tree->is_merged = live > 1 && !tree->config.unmerged && !tree->config.counter;
    return status;
}

/* `index`: where the bytes of an unframed capture lie. */
static enum tw_status feed(struct tw_tree *tree, uint64_t index, const uint8_t *data,
                           size_t size)
{
    enum tw_status status = tree->broken;

    if (tree->is_finished)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the trace was finished already");
    for (size_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i]->has_packet)
            return tw_fail(&tree->fault, TW_E_ARGUMENT, "packets are waiting to be taken");
    if (tw_parallel_is_busy(tree))
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "elements are waiting to be taken");
    if (status == TW_OK && !tree->is_started)
        status = start(tree);
    for (size_t i = 0; i < tree->branch_count; i++)
        drop_used(tree->branches[i]);
    if (status == TW_OK && tree->unframer) {
        tw_unframer_clear_events(tree->unframer);
        status = tw_unframer_feed(tree->unframer, data, size);
    }
    if (status == TW_OK && !tree->unframer && tree->branch_count)
        status = tw_unframed_hold(tree, index, data, size);
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

enum tw_status tw_tree_feed(struct tw_tree *tree, const uint8_t *data, size_t size)
{
    return feed(tree, tw_unframed_next(tree), data, size);
}

enum tw_status tw_tree_feed_at(struct tw_tree *tree, uint64_t index, const uint8_t *data,
                               size_t size)
{
    if (tree->config.framing != TW_FRAMING_NONE)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "frames lie together in the capture");
    return feed(tree, index, data, size);
}

enum tw_status tw_tree_finish(struct tw_tree *tree)
{
    enum tw_status status = tree->broken;

    if (tree->is_finished)
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
    branch->used = branch->read_used = branch->count = branch->given = 0;
    branch->mark_count = branch->next_mark = 0;
    branch->stream.size = 0;
    branch->is_idle = branch->is_read_idle = branch->is_ended = false;
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
