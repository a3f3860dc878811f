/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: the decoders, code and memory of one worker. */
#include <string.h>

#include "base/memory.h"
#include "image/image.h"
#include "path/state.h"
#include "tree/parallel.h"

/* The worker's code for a branch: shared with another one where the branches share theirs. */
static bool set_up_code(struct tw_worker *worker, const struct tw_segment_list *list)
{
    const struct tw_branch *branch = list->branch;
    const struct tw_tree *tree = branch->tree;
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_engine *engine = &worker->engines[list->number];

    for (size_t i = 0; i < tree->branch_count; i++)
        if (i != list->number && worker->engines[i].code &&
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
        if (tw_code_new(&engine->code, engine->image, &branch->code_config) != TW_OK ||
            (tw_counts_ranges(tree) && !tw_sums_begin(engine->code)) ||
            (branch->code->quiet && !tw_quiet_begin(engine->code, branch->code->quiet)))
            return false;
    }
    engine->own = list->follow;
    engine->own.code = engine->code;
    if (branch->view_size) {
        engine->view_context = tw_take(allocator, branch->view_size);
        if (!engine->view_context)
            return false;
        memcpy(engine->view_context, list->view_context, branch->view_size);
        engine->own.look_context = engine->view_context;
    }
    tw_follow_reset(&engine->own);
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

struct tw_engine *tw_engine_of(struct tw_worker *worker, const struct tw_segment_list *list)
{
    const struct tw_branch *branch = list->branch;
    struct tw_engine *engine = &worker->engines[list->number];

    if (!engine->decoder) {
        engine->decoder =
            tw_take(branch->tree->config.allocator, branch->protocol->decoder_size);
        if (!engine->decoder)
            return NULL;
        engine->follow = &engine->own;
        branch->protocol->decoder_init(engine->decoder, branch->config);
        if (branch->code && !set_up_code(worker, list)) {
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

void tw_segment_list_visit(const struct tw_segment_list *list, void *decoder,
                           struct tw_follow *follow, struct tw_state *state)
{
    const struct tw_branch *branch = list->branch;

    branch->protocol->state(decoder, follow, state);
    if (branch->view_size)
        tw_state_bytes(state, follow->look_context, branch->view_size);
}

/* Nothing that the engine did before has an effect on what it does next. */
static void clear(struct tw_job *job, uint64_t from)
{
    const struct tw_branch *branch = job->list->branch;
    struct tw_engine *engine = job->engine;

    branch->protocol->decoder_reset(engine->decoder);
    if (engine->view_context)
        memcpy(engine->view_context, job->list->view_context, branch->view_size);
    if (branch->code)
        tw_follow_reset(engine->follow);
    job->in = (struct tw_input){ .data = branch->stream.bytes,
                                 .used = (size_t)(from - branch->stream.offset),
                                 .offset = branch->stream.offset,
                                 .places = branch->stream.places,
                                 .has_gaps = branch->has_gaps,
                                 .ahead = &job->ahead };
}

bool tw_job_load(struct tw_job *job)
{
    struct tw_state *state = &job->segment->state;

    clear(job, state->offset);
    tw_state_load(state);
    tw_segment_list_visit(job->list, job->engine->decoder, job->engine->follow, state);
    return !state->failed;
}

bool tw_job_guess(struct tw_job *job)
{
    const struct tw_branch *branch = job->list->branch;
    struct tw_segment *segment = job->segment;

    if (!branch->protocol->resume)
        clear(job, segment->start);
    else if (!tw_job_load(job))
        return false;
    else
        branch->protocol->resume(job->engine->decoder, job->engine->follow);
    if (branch->code)
        job->engine->follow->lost_atoms = TW_LOST_GUESS;
    job->in.used = (size_t)(segment->start - job->in.offset);
    return true;
}

uint64_t tw_job_place(const struct tw_job *job)
{
    return job->in.offset + job->in.used;
}

void tw_job_save(struct tw_job *job, struct tw_state *state)
{
    tw_state_save(state, tw_job_place(job));
    tw_segment_list_visit(job->list, job->engine->decoder, job->engine->follow, state);
}

/* The places before this stream offset: a gap right there is not met yet. */
static size_t places_before(const struct tw_stream *stream, uint64_t offset)
{
    size_t low = 0, high = stream->place_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (stream->places[middle].stream < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low : stream->place_count;
}

void tw_job_limit(struct tw_job *job, uint64_t end, bool is_last)
{
    const struct tw_branch *branch = job->list->branch;
    const struct tw_stream *stream = &branch->stream;

    job->in.size = (size_t)(end - stream->offset);
    job->in.place_count = is_last ? stream->place_count : places_before(stream, end);
    job->in.is_last = is_last && branch->tree->is_finished;
    job->ahead.is_known = false; /* among other places */
}

/* Whether a total that was guessed may still be told of.  That of lost atoms is told of once. */
static bool has_guess(const struct tw_job *job)
{
    const struct tw_branch *branch = job->list->branch;

    return branch->protocol->rebase ||
           (branch->code && job->engine->follow->lost_atoms >= TW_LOST_GUESS);
}

enum tw_status tw_job_decode(struct tw_job *job, struct tw_chunk *chunk, bool is_merged)
{
    struct tw_branch *branch = job->list->branch;
    struct tw_batch batch = { .size = sizeof batch,
                              .elements = chunk->elements,
                              .room = branch->tree->config.batch_room,
                              .src = branch->src,
                              .id = branch->id };
    struct tw_output output = { .batch = &batch };
    const bool is_guess = has_guess(job);
    enum tw_status status;

    tw_prefetch(job->in.data + job->in.used, job->in.size - job->in.used);
    if (is_merged) {
        output.marks.marks = chunk->marks;
        output.marks.room = branch->tree->config.batch_room;
    }
    status =
        branch->protocol->decode(job->engine->decoder, job->engine->follow, &output, &job->in);
    chunk->count = batch.count;
    chunk->mark_count = output.marks.count;
    chunk->unsynced = output.unsynced;
    chunk->is_guess = is_guess && (branch->protocol->rebase || !has_guess(job));
    return status;
}
