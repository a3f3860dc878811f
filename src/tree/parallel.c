/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: how streams are cut, and how what comes of it is put together again. */
#include "tree/parallel.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "path/state.h"

enum {
    SHARES = 16 /* in what a segment may fill: fewer shares, fewer turns at the lock */
};

/* Whether the branch's protocol can be decoded in parallel, and with its user's functions. */
static bool is_able(const struct tw_branch *branch)
{
    return branch->decoder && branch->protocol->state && branch->protocol->split &&
           !branch->code_config.classify && (!branch->follow.look || branch->view_size);
}

static size_t buffered(const struct tw_branch *branch)
{
    return branch->stream.size - branch->used;
}

/* Makes the pool, once all branches are there. */
static enum tw_status make_pool(struct tw_tree *tree)
{
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_pool *pool = tw_take(allocator, sizeof *pool);

    if (!pool)
        return TW_E_MEMORY;
    pool->tree = tree;
    pool->lists = tw_take(allocator, tree->branch_count * sizeof *pool->lists);
    if (!pool->lists || pthread_mutex_init(&pool->lock, NULL) != 0) {
        tw_give(allocator, pool->lists);
        tw_give(allocator, pool);
        return TW_E_MEMORY;
    }
    (void)pthread_cond_init(&pool->work, NULL);
    (void)pthread_cond_init(&pool->ready, NULL);
    pool->list_count = tree->branch_count;
    pool->desk.is_callers = true;
    tree->pool = pool;
    for (size_t i = 0; i < pool->list_count; i++) {
        struct tw_segment_list *list = &pool->lists[i];
        const struct tw_branch *branch = tree->branches[i];

        list->branch = tree->branches[i];
        list->number = i;
        list->state.allocator = allocator;
        list->is_able = is_able(branch);
        tree->branches[i]->list = list;
        list->home = tw_take(allocator, sizeof *list->home);
        list->view_context = tw_take(allocator, branch->view_size);
        if (!list->home || !list->view_context)
            return TW_E_MEMORY;
        list->follow = branch->follow;
        list->home->decoder = branch->decoder;
        list->home->follow = &tree->branches[i]->follow;
    }
    return tw_pool_start(pool, tree->config.threads - 1);
}

/* A new segment behind the others; NULL: no memory. */
static struct tw_segment *add_segment(struct tw_segment_list *list, uint64_t start,
                                      uint64_t until)
{
    const struct tw_allocator *allocator = list->state.allocator;
    const size_t before = list->room;
    struct tw_segment *segment;
    struct tw_state begin, state;

    if (!TW_GROW(allocator, &list->segments, &list->room, list->count + 1))
        return NULL;
    if (list->room > before)
        memset(list->segments + before, 0, (list->room - before) * sizeof *list->segments);
    segment = &list->segments[list->count++];
    begin = segment->begin; /* their memory is used again */
    state = segment->state;
    begin.allocator = state.allocator = allocator;
    *segment = (struct tw_segment){
        .start = start, .until = until, .from = UINT64_MAX, .begin = begin, .state = state
    };
    return segment;
}

/* Cuts what is held of a stream. */
static enum tw_status cut(struct tw_segment_list *list, size_t size)
{
    const struct tw_branch *branch = list->branch;
    const struct tw_stream *stream = &branch->stream;
    const uint64_t offset = stream->offset;
    struct tw_split split = { .at = branch->used, .wants_time = branch->view_size != 0 };
    struct tw_segment *segment;

    list->count = list->current = 0;
    list->misses = list->misses ? list->misses - 1 : 0; /* it may be better now */
    segment = add_segment(list, offset + branch->used, offset + branch->used);
    if (!segment || !tw_state_copy(&segment->state, &list->state))
        return TW_E_MEMORY;
    segment->has_state = segment->is_trusted = true;
    split.least = branch->used + size;
    while (split.least + size / 2 < stream->size &&
           branch->protocol->split(&split, branch->decoder, stream->bytes, stream->size)) {
        segment->end = offset + split.until;
        segment = add_segment(list, offset + split.start, offset + split.until);
        if (!segment)
            return TW_E_MEMORY;
        split.least = split.start + size > split.until ? split.start + size : split.until;
    }
    segment->end = offset + stream->size;
    segment->is_last = true;
    return TW_OK;
}

/* The true state leaves the branch's own decoder. */
static enum tw_status send_away(struct tw_segment_list *list)
{
    struct tw_branch *branch = list->branch;

    if (list->is_away)
        return TW_OK;
    tw_state_save(&list->state, branch->stream.offset + branch->used);
    tw_segment_list_visit(list, branch->decoder, &branch->follow, &list->state);
    list->is_away = !list->state.failed;
    return list->is_away ? TW_OK : TW_E_MEMORY;
}

/* Workers begin with the view as it is now; their own changes stay theirs. */
static void copy_view(struct tw_segment_list *list)
{
    const struct tw_branch *branch = list->branch;

    if (branch->view_size)
        memcpy(list->view_context, branch->follow.look_context, branch->view_size);
}

static enum tw_status bring_home(struct tw_segment_list *list)
{
    struct tw_branch *branch = list->branch;
    struct tw_state *state = &list->state;

    if (!list->is_away)
        return TW_OK;
    list->is_away = false;
    branch->protocol->decoder_reset(branch->decoder);
    if (branch->code)
        tw_follow_reset(&branch->follow);
    tw_state_load(state);
    tw_segment_list_visit(list, branch->decoder, &branch->follow, state);
    return state->failed ? TW_E_MEMORY : TW_OK;
}

static void set_limits(struct tw_pool *pool, size_t active)
{
    const size_t ahead = 1 + 3 * pool->worker_count;

    pool->leaves_one = active == 1;
    pool->in_flight_most = active + ahead;
    /* Larger chunks are fewer: memory stays the same. */
    pool->quota = TW_SEGMENT_CHUNKS * (1 + ahead) / (active + ahead) * TW_BRANCH_ELEMENTS /
                  pool->tree->config.batch_room;
    if (pool->quota < 2)
        pool->quota = 2;
    pool->share = 1 + pool->quota / SHARES;
}

/* How long segments are at first.  Elements that are handed over fill memory until someone takes them: then short
   ones are better.  Where elements are counted a long one costs fewer beginnings; and where decoders count by blocks
   of code each tally costs what the code in it is, not the trace. */
static size_t segment_size(const struct tw_tree *tree, size_t total)
{
    const size_t each = total / TW_SEGMENTS_EACH / tree->config.threads;
    const size_t most = !tw_counts_apart(tree)   ? TW_SEGMENT_SIZE
                        : tw_counts_ranges(tree) ? TW_SEGMENT_MOST
                                                 : TW_SEGMENT_COUNTED;

    if (tree->config.segment_size)
        return tree->config.segment_size;
    return each < TW_SEGMENT_SIZE ? TW_SEGMENT_SIZE : each < most ? each : most;
}

enum tw_status tw_parallel_plan(struct tw_tree *tree)
{
    enum tw_status status = TW_OK;
    struct tw_pool *pool;
    size_t total = 0, active = 0, size;

    if (tree->config.threads < 2 || tree->config.packets_only || !tree->branch_count)
        return TW_OK;
    for (size_t i = 0; i < tree->branch_count; i++)
        if (is_able(tree->branches[i]))
            total += buffered(tree->branches[i]);
    size = segment_size(tree, total);
    if (total < 2 * size) /* not worth it */
        return TW_OK;
    if (!tree->pool)
        TW_TRY(make_pool(tree));
    pool = tree->pool;
    (void)pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->list_count && status == TW_OK; i++) {
        struct tw_segment_list *list = &pool->lists[i];

        if (!list->is_able || !buffered(list->branch))
            continue;
        copy_view(list);
        status = send_away(list);
        if (status == TW_OK)
            status = cut(list, size);
        list->is_active = status == TW_OK;
        active++;
    }
    set_limits(pool, active);
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

bool tw_parallel_is_busy(const struct tw_tree *tree)
{
    for (size_t i = 0; tree->pool && i < tree->pool->list_count; i++)
        if (tree->pool->lists[i].is_active)
            return true;
    return false;
}

/* All elements of a segment are taken. */
static void pass_segment(struct tw_pool *pool, struct tw_segment_list *list,
                         struct tw_segment *segment)
{
    struct tw_stats *stats = &list->branch->stats;

    tw_stats_add(stats, &segment->stats);
    stats->seen.bytes += segment->state.offset - segment->from;
    pool->in_flight--;
    list->current++;
    (void)pthread_cond_broadcast(&pool->work);
}

/* What was handed out of a worker's memory goes back to the workers, and the branch has its own again: what one
   core writes all the time, another should not have to ask for. */
static void give_back(struct tw_pool *pool, struct tw_segment_list *list)
{
    struct tw_branch *branch = list->branch;
    struct tw_chunk *chunk = list->taken;

    if (!chunk)
        return;
    list->taken = NULL;
    chunk->elements = branch->elements; /* NULL: somebody keeps them */
    branch->elements = list->own_elements;
    if (list->own_marks) {
        chunk->marks = branch->marks;
        branch->marks = list->own_marks;
    }
    if (chunk->is_callers && pool->desk.spare.count < pool->share)
        tw_chunks_add(&pool->desk.spare, chunk);
    else
        tw_chunks_add(&list->used, chunk);
}

/* With the lock: the segment's next chunks become the caller's. */
static void take_chunks(struct tw_pool *pool, struct tw_segment_list *list,
                        struct tw_segment *segment)
{
    tw_chunks_move(&list->ready, &segment->chunks, pool->share);
    if (segment->phase == TW_SEGMENT_PAUSED && segment->chunks.count <= pool->quota / 2)
        (void)pthread_cond_signal(&pool->work);
}

/* The next chunk becomes the branch's batch. */
static void hand_out(struct tw_segment_list *list, bool is_merged)
{
    const struct tw_segment *segment = &list->segments[list->current];
    struct tw_branch *branch = list->branch;
    struct tw_chunk *chunk = tw_chunks_take(&list->ready);

    list->taken = chunk;
    list->own_elements = branch->elements;
    list->own_marks = NULL;
    branch->elements = chunk->elements;
    if (is_merged) {
        list->own_marks = branch->marks;
        branch->marks = chunk->marks;
    }
    tw_branch_renew(branch, chunk->count, chunk->mark_count);
    if (segment->by && chunk->is_guess && !branch->protocol->rebase)
        tw_follow_rebase(branch->elements, branch->count, segment->by);
    else if (segment->by && chunk->is_guess)
        branch->protocol->rebase(branch->decoder, branch->elements, branch->count, segment->by);
}

/* With the lock: all that is held is decoded.  Who needs memory next is open again. */
static enum tw_status end_list(struct tw_pool *pool, struct tw_segment_list *list)
{
    struct tw_branch *branch = list->branch;
    const struct tw_segment *last = &list->segments[list->count - 1];

    tw_chunks_append(&pool->free, &list->used);
    tw_chunks_append(&pool->free, &pool->desk.spare);
    branch->used = (size_t)(last->state.offset - branch->stream.offset);
    branch->is_idle = true;
    list->is_active = false;
    return tw_state_copy(&list->state, &last->state) ? TW_OK : TW_E_MEMORY;
}

/* With the lock: the branch's own decoder takes the segment over. */
static enum tw_status begin_direct(struct tw_pool *pool, struct tw_segment_list *list,
                                   struct tw_segment *segment)
{
    struct tw_job *job = &list->direct;
    enum tw_status status = TW_OK;

    pool->in_flight += segment->phase == TW_SEGMENT_WAITING;
    segment->phase = TW_SEGMENT_RUNNING;
    segment->is_direct = true;
    tw_segment_settle(segment); /* it paused on a worker */
    segment->by = 0;
    (void)pthread_mutex_unlock(&pool->lock);
    *job = (struct tw_job){
        .list = list, .number = list->current, .segment = segment, .engine = list->home
    };
    if (!tw_job_load(job))
        status = TW_E_MEMORY;
    tw_job_limit(job, segment->end, segment->is_last);
    if (segment->from == UINT64_MAX)
        segment->from = tw_job_place(job);
    (void)pthread_mutex_lock(&pool->lock);
    return status;
}

/* What the branch's own decoder counted itself; the status, if that went well. */
static enum tw_status sum(struct tw_branch *branch, enum tw_status status)
{
    const struct tw_batch whose = tw_branch_batch(branch);
    const enum tw_status summed =
        tw_tally_sum(branch->tree, branch->tally, &branch->stats, &branch->follow, &whose);

    return summed == TW_OK ? status : summed;
}

/* The next batch of a segment that the branch's own decoder is at. */
static enum tw_status decode_directly(struct tw_pool *pool, struct tw_segment_list *list,
                                      bool is_merged)
{
    struct tw_branch *branch = list->branch;
    struct tw_job *job = &list->direct;
    struct tw_chunk chunk = { .elements = branch->elements, .marks = branch->marks };
    enum tw_status status;

    job->engine->follow->sums = branch->code ? branch->code->sums : NULL;
    status = tw_job_decode(job, &chunk, is_merged);
    if (status >= 0 && job->engine->follow->sums)
        status = sum(branch, status);
    if (status == TW_MORE) {
        tw_job_save(job, &job->segment->state);
        if (job->segment->state.failed)
            status = TW_E_MEMORY;
    }
    tw_branch_renew(branch, chunk.count, chunk.mark_count);
    branch->stats.seen.unsynced_bytes += chunk.unsynced;
    if (pool->tree->config.counts_elements)
        tw_stats_count(&branch->stats, chunk.elements, chunk.count);
    if (status != TW_OK) {
        (void)pthread_mutex_lock(&pool->lock);
        job->segment->is_direct = false;
        tw_pool_leave(pool, job, status == TW_MORE ? TW_OK : status);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return status < 0 ? status : TW_OK;
}

static bool is_for_direct(const struct tw_segment *segment)
{
    return segment->is_trusted && segment->has_state && !segment->chunks.count &&
           (segment->phase == TW_SEGMENT_WAITING || segment->phase == TW_SEGMENT_PAUSED);
}

/* With the lock: what the segment counted is added to the whole, behind what came before it. */
static void merge_tally(struct tw_pool *pool, struct tw_branch *branch,
                        struct tw_segment *segment)
{
    struct tw_tally *tally = segment->tally;

    segment->tally = NULL;
    (void)pthread_mutex_unlock(&pool->lock);
    tw_tally_merge(branch, branch->tally);
    tw_tally_merge(branch, tally);
    (void)pthread_mutex_lock(&pool->lock);
    tally->next = pool->tallies;
    pool->tallies = tally;
}

/* With the lock: one step to the next elements. */
static enum tw_status go_on(struct tw_pool *pool, struct tw_segment_list *list)
{
    struct tw_segment *segment = &list->segments[list->current];

    tw_chunks_append(&pool->free, &list->used);
    if (segment->is_trusted &&
        (segment->chunks.count || segment->phase != TW_SEGMENT_RUNNING) && segment->tally)
        merge_tally(pool, list->branch, segment);
    if (is_for_direct(segment))
        return begin_direct(pool, list, segment);
    if (segment->is_trusted && segment->chunks.count) {
        take_chunks(pool, list, segment);
    } else if (segment->is_trusted && segment->phase == TW_SEGMENT_DONE) {
        if (segment->status != TW_OK)
            return segment->status;
        pass_segment(pool, list, segment);
    } else if (atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed)) {
        return TW_E_CANCELLED;
    } else if (!tw_pool_help(pool)) {
        (void)pthread_cond_wait(&pool->ready, &pool->lock);
    }
    return TW_OK;
}

static enum tw_status next_chunk(struct tw_pool *pool, struct tw_segment_list *list,
                                 bool is_merged)
{
    enum tw_status status = TW_OK;

    give_back(pool, list);
    while (!list->ready.count && list->current < list->count && status == TW_OK) {
        if (list->segments[list->current].is_direct) { /* nobody else has to do with it */
            status = decode_directly(pool, list, is_merged);
            if (list->branch->count)
                return status;
            continue;
        }
        (void)pthread_mutex_lock(&pool->lock);
        status = go_on(pool, list);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    if (status != TW_OK)
        return status;
    if (list->ready.count) {
        hand_out(list, is_merged);
        return TW_OK;
    }
    (void)pthread_mutex_lock(&pool->lock);
    status = end_list(pool, list);
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

bool tw_parallel_fill(struct tw_branch *branch, enum tw_status *status, bool is_merged)
{
    struct tw_segment_list *list = branch->list;
    struct tw_pool *pool = branch->tree->pool;

    *status = TW_OK;
    if (!list)
        return false;
    if (!list->is_active) {
        *status = bring_home(list);
        return *status != TW_OK;
    }
    *status = next_chunk(pool, list, is_merged);
    return true;
}

void tw_parallel_reset(struct tw_tree *tree)
{
    struct tw_pool *pool = tree->pool;

    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    tw_pool_abort(pool);
    for (size_t i = 0; i < pool->list_count; i++)
        pool->lists[i].is_away = false;
    (void)pthread_mutex_unlock(&pool->lock);
}

enum tw_status tw_parallel_end(struct tw_tree *tree)
{
    for (size_t i = 0; tree->pool && i < tree->pool->list_count; i++) {
        struct tw_segment_list *list = &tree->pool->lists[i];

        TW_TRY(bring_home(list));
        list->branch->list = NULL;
    }
    tw_parallel_free(tree);
    return TW_OK;
}

void tw_parallel_free(struct tw_tree *tree)
{
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_pool *pool = tree->pool;

    if (!pool)
        return;
    tw_pool_stop(pool);
    for (size_t i = 0; i < pool->list_count; i++) {
        struct tw_segment_list *list = &pool->lists[i];

        for (size_t n = 0; n < list->room; n++) {
            tw_state_free(&list->segments[n].begin);
            tw_state_free(&list->segments[n].state);
        }
        if (list->taken) { /* the branch keeps what it has: somebody may read it */
            tw_give(allocator, list->own_elements);
            tw_give(allocator, list->own_marks);
            tw_give(allocator, list->taken);
        }
        tw_give(allocator, list->segments);
        tw_give(allocator, list->home);
        tw_give(allocator, list->view_context);
        tw_state_free(&list->state);
    }
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_cond_destroy(&pool->ready);
    (void)pthread_mutex_destroy(&pool->lock);
    tw_give(allocator, pool->lists);
    tw_give(allocator, pool);
    tree->pool = NULL;
}
