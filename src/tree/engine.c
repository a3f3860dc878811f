/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: the decoders, code and memory of one worker. */
#include <string.h>

#include "base/memory.h"
#include "image/image.h"
#include "tree/parallel.h"

/* The worker's code for a branch: shared with another one where the branches share theirs. */
static bool set_up_code(struct tw_worker *worker, const struct tw_strand *strand)
{
    const struct tw_branch *branch = strand->branch;
    const struct tw_tree *tree = branch->tree;
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_engine *engine = &worker->engines[strand->number];

    for (size_t i = 0; i < tree->branch_count; i++)
        if (i != strand->number && worker->engines[i].code &&
            tree->branches[i]->code == branch->code) {
            engine->code = worker->engines[i].code;
            engine->image = worker->engines[i].image;
        }
    if (!engine->code) {
        if (branch->code->image) {
            engine->image = tw_image_alias_new(branch->code->image, allocator);
            if (!engine->image)
                return false;
        }
        engine->owns_code = true;
        if (tw_code_new(&engine->code, engine->image, &branch->code_config) != TW_OK)
            return false;
    }
    engine->follow = branch->follow;
    engine->follow.code = engine->code;
    if (branch->view_size) {
        engine->view_context = tw_take(allocator, branch->view_size);
        if (!engine->view_context)
            return false;
        memcpy(engine->view_context, branch->follow.look_context, branch->view_size);
        engine->follow.look_context = engine->view_context;
    }
    tw_follow_reset(&engine->follow);
    return true;
}

void tw_engine_free(struct tw_engine *engine, const struct tw_branch *branch)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    if (engine->decoder && branch->protocol->decoder_free)
        branch->protocol->decoder_free(engine->decoder);
    tw_give(allocator, engine->decoder);
    tw_give(allocator, engine->view_context);
    if (engine->owns_code) {
        tw_code_free(engine->code);
        tw_image_alias_free(engine->image);
    }
    *engine = (struct tw_engine){ .decoder = NULL };
}

struct tw_engine *tw_engine_of(struct tw_worker *worker, const struct tw_strand *strand)
{
    const struct tw_branch *branch = strand->branch;
    struct tw_engine *engine = &worker->engines[strand->number];

    if (!engine->decoder) {
        engine->decoder =
            tw_take(branch->tree->config.allocator, branch->protocol->decoder_size);
        if (!engine->decoder)
            return NULL;
        branch->protocol->decoder_init(engine->decoder, branch->config);
        if (branch->code && !set_up_code(worker, strand)) {
            tw_engine_free(engine, branch);
            return NULL;
        }
    }
    if (engine->image)
        tw_image_alias_refresh(engine->image);
    if (engine->code)
        engine->code->out_of_memory = false;
    return engine;
}

void tw_engine_clear(struct tw_engine *engine, const struct tw_branch *branch)
{
    branch->protocol->decoder_reset(engine->decoder);
    if (branch->view_size)
        memcpy(engine->view_context, branch->follow.look_context, branch->view_size);
    if (engine->code)
        tw_follow_reset(&engine->follow);
}
