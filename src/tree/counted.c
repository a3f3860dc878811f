/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: segments that count their elements where they are made, into tallies of their own. */
#include "tree/parallel.h"

void tw_segment_take_tally(struct tw_pool *pool, struct tw_segment *segment)
{
    if (!tw_counts_apart(pool->tree) || segment->is_handed || segment->tally)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    segment->tally = pool->tallies;
    if (segment->tally)
        pool->tallies = segment->tally->next;
    (void)pthread_mutex_unlock(&pool->lock);
    if (!segment->tally)
        segment->tally = tw_tally_new(pool->tree);
}

void tw_job_set_sums(const struct tw_job *job)
{
    const struct tw_segment *segment = job->segment;
    struct tw_follow *follow = job->engine->follow;

    follow->sums =
        follow->code && segment->tally && !segment->is_handed ? follow->code->sums : NULL;
}

/* Elements that tell of a guess are put right once it is known, and those behind them wait, too: their order is kept.
   A protocol with a way of its own to put them right has guessed nothing but local time. */
static bool is_to_wait(const struct tw_pool *pool, const struct tw_job *job,
                       const struct tw_chunk *chunk)
{
    return chunk->is_guess && !(pool->tree->config.counter->ignores_local_time &&
                                job->list->branch->protocol->rebase);
}

enum tw_status tw_job_count(struct tw_pool *pool, struct tw_job *job, struct tw_chunk *chunk)
{
    enum tw_status status = TW_OK;
    struct tw_segment *segment = job->segment;
    struct tw_batch batch = tw_branch_batch(job->list->branch);

    batch.elements = chunk->elements;
    batch.count = batch.room = chunk->count;
    if (job->engine->follow->sums)
        status = tw_tally_sum(pool->tree, segment->tally, &segment->stats, job->engine->follow,
                              &batch);
    segment->is_handed |= is_to_wait(pool, job, chunk) || !segment->tally;
    if (segment->is_handed)
        return status;
    if (batch.count)
        tw_tally_count(pool->tree, segment->tally, &batch);
    chunk->count = 0;
    return status;
}
