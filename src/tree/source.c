/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding sources to a tree: a branch for each, with its decoder, code and reader. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tree/custom.h"
#include "tree/parallel.h"
#include "tree/retained.h"
#include "tree/shared.h"
#include "tree/tally.h"

void tw_branch_free(struct tw_branch *branch)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    if (branch->decoder && branch->protocol->decoder_free)
        branch->protocol->decoder_free(branch->decoder);
    if (branch->owns_code)
        tw_code_free(branch->code);
    tw_image_free(branch->image);
    tw_give(allocator, branch->config);
    tw_give(allocator, branch->decoder);
    tw_retained_leave(branch);
    tw_give(allocator, branch->elements);
    tw_give(allocator, branch->marks);
    tw_tally_free(branch->tree, branch->tally);
    tw_shared_free(branch);
    tw_bits_free(branch);
    tw_give(allocator, branch->reader);
    tw_give(allocator, branch->packet);
    tw_give(allocator, branch->packet_tally);
    tw_give(allocator, branch->run);
    tw_give(allocator, branch->writer);
    tw_give(allocator, branch->written);
    tw_give(allocator, branch->run_bytes);
    tw_give(allocator, branch);
}

struct tw_branch *tw_branch_of(const struct tw_tree *tree, unsigned id)
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

/* Instruction sets that a caller may tell of. */
enum {
    CLASSIFIED = 1u << TW_ISA_A32 | 1u << TW_ISA_T32 | 1u << TW_ISA_A64 | 1u << TW_ISA_TEE |
                 1u << TW_ISA_CUSTOM
};

static void set_classify(struct tw_code_config *config, const struct tw_protocol *protocol,
                         const struct tw_tree_source *source)
{
    config->classify = source->classify;
    config->classify_context = source->classify_context;
    config->classify_isas = source->classify_isas;
    if (!config->classify && protocol->custom) {
        config->classify = protocol->custom->about.classify;
        config->classify_context = protocol->custom->about.classify_context;
        config->classify_isas = protocol->custom->about.classify_isas;
    }
    if (!config->classify)
        config->classify_isas = 0;
    else if (!config->classify_isas)
        config->classify_isas = 1u << TW_ISA_CUSTOM;
    config->classify_isas &= CLASSIFIED;
}

void tw_tree_leave_out(struct tw_tree *tree, tw_quiet_fn *quiet, void *context)
{
    tree->quiet = quiet;
    tree->quiet_context = context;
}

static bool begin_quiet(const struct tw_branch *branch)
{
    const struct tw_quiet quiet = { .ask = branch->tree->quiet,
                                    .context = branch->tree->quiet_context,
                                    .whose = tw_branch_batch(branch) };

    return !quiet.ask || tw_quiet_begin(branch->code, &quiet);
}

static enum tw_status set_up_code(struct tw_branch *branch, const struct tw_tree_source *source)
{
    struct tw_image *image = source->image;
    struct tw_tree *tree = branch->tree;
    struct tw_code_config *config = &branch->code_config;

    if (!image && source->memory) {
        if (tw_image_new(&branch->image, tree->config.allocator, NULL) != TW_OK)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for an image");
        image = branch->image;
        TW_TRY(tw_image_set_callback(image, source->memory, source->memory_context));
    }
    memset(config, 0, sizeof *config);
    branch->protocol->code_config(config, branch->config);
    config->range_limit = tree->config.range_limit;
    config->check_opcodes = tree->config.check_opcodes;
    config->check_atoms = tree->config.check_atoms;
    set_classify(config, branch->protocol, source);
    config->allocator = tree->config.allocator;
    branch->code = shared_code(tree, image, config);
    if (!branch->code) {
        if (tw_code_new(&branch->code, image, config) != TW_OK)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for basic blocks");
        branch->owns_code = true;
    }
    if ((tw_counts_ranges(tree) &&
         (!tw_sums_begin(branch->code) || !tw_sums_set_bytes(branch->code, tree->sum_bytes))) ||
        !begin_quiet(branch))
        return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for counts");
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
    branch->run = tw_take(allocator, protocol->packet_size);
    if (!branch->reader || !branch->packet || !branch->run)
        return tw_fail(&branch->tree->fault, TW_E_MEMORY, "no memory for a packet reader");
    if (tw_bits_new(branch) != TW_OK)
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
    if (tw_branch_of(tree, branch->id))
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
    tw_stats_show(&branch->stats);
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
    branch->src_is_id = !trunk->id && (trunk->protocol->flags & TW_PROTOCOL_SRC_IS_ID);
    branch->user = trunk->user;
    branch->source = trunk->source;
    branch->src = src;
    status = set_up_src(branch, trunk);
    if (status == TW_OK)
        status =
            tw_parallel_end(trunk->tree); /* its threads know the branches that were there */
    if (status != TW_OK) {
        tw_branch_free(branch);
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
    branch->user = source->user;
    branch->source = tree->source_count;
    status = set_up_branch(branch, source);
    if (status != TW_OK) {
        tw_branch_free(branch);
        return status;
    }
    insert_branch(tree, branch);
    *added = branch;
    return TW_OK;
}

/* Takes a branch out again. */
static void remove_branch(struct tw_branch *branch)
{
    struct tw_tree *tree = branch->tree;
    size_t at = 0;

    while (tree->branches[at] != branch)
        at++;
    tree->branch_count--;
    memmove(tree->branches + at, tree->branches + at + 1,
            (tree->branch_count - at) * sizeof *tree->branches);
    tw_branch_free(branch);
}

static enum tw_status find_protocol(struct tw_tree *tree, const struct tw_protocol **protocol,
                                    const struct tw_tree_source *source)
{
    if (!source->protocol)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the source names no protocol");
    if (source->register_count && !source->registers)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the source has no registers, but a count");
    for (size_t i = 0; i < source->register_count; i++)
        if (!source->registers[i].name)
            return tw_fail(&tree->fault, TW_E_ARGUMENT, "register %zu has no name", i);
    *protocol = tw_protocol_by_name(source->protocol);
    if (!*protocol)
        *protocol = tw_custom_by_name(tree->customs, source->protocol);
    if (!*protocol)
        return tw_fail(&tree->fault, TW_E_UNSUPPORTED, "protocol '%s' is not known",
                       source->protocol);
    return TW_OK;
}

enum tw_status tw_tree_add_source(struct tw_tree *tree, uint8_t *id,
                                  const struct tw_tree_source *source)
{
    const bool is_framed = tree && tree->config.framing != TW_FRAMING_NONE;
    const struct tw_protocol *protocol;
    struct tw_branch *branch, *companion;
    struct tw_tree_source copy;
    enum tw_status status = TW_OK;

    if (!tree)
        return TW_E_ARGUMENT;
    TW_TRY(TW_SIZED_TAKE(&copy, source, "tw_tree_source", &tree->fault));
    if (tree->is_started)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "sources are added before the first byte");
    TW_TRY(find_protocol(tree, &protocol, &copy));
    if (!is_framed && tree->branch_count)
        return tw_fail(&tree->fault, TW_E_CONFIG,
                       "an unframed capture holds one source, and there is one already");
    TW_TRY(add_branch(tree, &branch, protocol, &copy));
    if (is_framed && protocol->companion && protocol->has_companion(branch->config) &&
        !tw_branch_of(tree, (uint8_t)(branch->id + 1)))
        status = add_branch(tree, &companion, protocol->companion, &copy);
    if (status != TW_OK) {
        remove_branch(branch);
        return status;
    }
    tree->source_count++;
    if (id)
        *id = branch->id;
    return TW_OK;
}
