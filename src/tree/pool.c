/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: what workers do. */
#include <string.h>

#include "base/memory.h"
#include "tree/parallel.h"

enum {
    MISSES_MAX = 4,    /* then only those segments are begun whose true state is known */
    SILENT_CHUNKS = 64 /* that a guess may take: damaged trace can tell of very much */
};

static void drop_chunks(struct tw_pool *pool, struct tw_segment *segment)
{
    tw_chunks_append(&pool->free, &segment->chunks);
    segment->is_handed = false;
    if (segment->tally) {
        tw_tally_clear(pool->tree, segment->tally);
        segment->tally->next = pool->tallies;
        pool->tallies = segment->tally;
        segment->tally = NULL;
    }
    memset(&segment->stats, 0, sizeof segment->stats);
}

/* The true state at the segment's beginning is known now: nothing else counts. */
static void begin_truly(struct tw_segment *segment, const struct tw_segment *before)
{
    segment->is_trusted = segment->has_state = true;
    segment->is_void = segment->has_begun = false;
    segment->from = UINT64_MAX;
    segment->by = 0;
    segment->phase = TW_SEGMENT_WAITING;
    segment->status = TW_OK;
    if (!tw_state_copy(&segment->state, &before->state)) {
        segment->status = TW_E_MEMORY;
        segment->phase = TW_SEGMENT_DONE;
    }
}

void tw_segment_settle(struct tw_segment *segment)
{
    if (segment->by && tw_state_is_guess(segment->state.total))
        segment->state.total += segment->by;
}

/* Whether the guess came to where the decoder before did. */
static bool is_right(struct tw_segment *segment, const struct tw_segment *before)
{
    const uint64_t by = before->state.total - segment->begin.total;

    if (!tw_state_is_same(&before->state, &segment->begin) ||
        (by && !tw_state_is_guess(segment->begin.total)))
        return false;
    segment->by = by;
    if (segment->phase == TW_SEGMENT_DONE)
        tw_segment_settle(segment);
    return true;
}

/* Segment `number` or the one before has come further: is it true?  And those behind it? */
static void verify(struct tw_pool *pool, struct tw_segment_list *list, size_t number)
{
    for (; number < list->count; number++) {
        const struct tw_segment *before = &list->segments[number - 1];
        struct tw_segment *segment = &list->segments[number];

        if (!before->is_trusted || before->phase != TW_SEGMENT_DONE ||
            before->status != TW_OK || segment->is_trusted)
            return;
        if (segment->phase == TW_SEGMENT_WAITING && pool->tree->guesses) {
            return;
        } else if (segment->phase == TW_SEGMENT_WAITING) {
            begin_truly(segment, before);
            pool->given++;
        } else if (!segment->has_begun) {
            return; /* it will ask itself */
        } else if (is_right(segment, before)) {
            segment->is_trusted = true;
            list->misses = 0;
            pool->matched++;
            pool->in_vain += segment->until - segment->start;
        } else if (segment->phase == TW_SEGMENT_RUNNING) {
            segment->is_void = true; /* its worker sees to the rest */
            return;
        } else {
            drop_chunks(pool, segment);
            begin_truly(segment, before);
            tw_pool_note_miss(pool, list, segment);
        }
        (void)pthread_cond_broadcast(&pool->work);
        (void)pthread_cond_signal(&pool->ready);
        if (segment->phase != TW_SEGMENT_DONE)
            return;
    }
}

/* Begins knowing nothing, and decodes without a word up to where the segment speaks up. */
static enum tw_status begin_silently(struct tw_pool *pool, struct tw_job *job)
{
    struct tw_chunk *chunk = tw_desk_begin(pool->tree, job->desk, false);
    enum tw_status status = TW_OK;
    unsigned left = SILENT_CHUNKS;

    if (!chunk)
        return TW_E_MEMORY;
    if (job->engine->follow)
        job->engine->follow->sums = NULL; /* all is written, and none kept */
    if (!tw_job_guess(job))
        status = TW_E_MEMORY;
    tw_job_limit(job, job->segment->until, false);
    while (status == TW_OK && left--)
        status = tw_job_decode(job, chunk, false);
    chunk->count = 0;
    tw_desk_end(job->desk, chunk);
    if (status < 0)
        return status;
    tw_job_save(job, &job->segment->begin);
    if (job->segment->begin.failed)
        return TW_E_MEMORY;
    job->segment->begin.failed = status == TW_OK; /* too much: then it is wrong */
    return TW_OK;
}

void tw_pool_leave(struct tw_pool *pool, struct tw_job *job, enum tw_status status)
{
    struct tw_segment *segment = job->segment;

    segment->status = status;
    segment->phase = TW_SEGMENT_DONE;
    pool->handed += segment->is_handed;
    if (segment->is_trusted)
        tw_segment_settle(segment);
    verify(pool, job->list, job->number + 1);
    (void)pthread_cond_signal(&pool->ready);
}

/* With the lock: it could not even be begun. */
static void give_up(struct tw_pool *pool, struct tw_job *job, enum tw_status status)
{
    struct tw_segment *segment = job->segment;

    tw_pool_leave(pool, job, status);
    if (segment->is_trusted)
        return;
    segment->begin.failed = segment->has_begun = true; /* like no other: it is tried again */
    segment->is_void = false;
    verify(pool, job->list, job->number);
}

/* With the lock: whether what was done so far was in vain; then the segment is begun again. */
static bool is_in_vain(struct tw_pool *pool, struct tw_job *job)
{
    struct tw_segment *segment = job->segment;

    if (!segment->is_void)
        return false;
    drop_chunks(pool, segment);
    begin_truly(segment, &job->list->segments[job->number - 1]);
    tw_pool_note_miss(pool, job->list, segment);
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_cond_signal(&pool->ready);
    return true;
}

/* Begins or goes on, up to where elements come.  True: they do. */
static bool begin(struct tw_pool *pool, struct tw_job *job)
{
    struct tw_segment *segment = job->segment;
    enum tw_status status;
    bool goes_on;

    if (segment->has_state)
        status = tw_job_load(job) ? TW_OK : TW_E_MEMORY;
    else
        status = begin_silently(pool, job);
    (void)pthread_mutex_lock(&pool->lock);
    if (segment->from == UINT64_MAX)
        segment->from = tw_job_place(job);
    if (status != TW_OK) {
        give_up(pool, job, status);
    } else if (!segment->has_state) {
        segment->has_begun = true;
        verify(pool, job->list, job->number);
    }
    goes_on = status == TW_OK && !is_in_vain(pool, job);
    (void)pthread_mutex_unlock(&pool->lock);
    return goes_on;
}

/* Adds what is made to what the segment made.  True: go on; else *status says how it stands, TW_END
   when the segment was begun again. */
static bool deliver(struct tw_pool *pool, struct tw_job *job, enum tw_status *status)
{
    struct tw_segment *segment = job->segment;
    bool goes_on;

    tw_chunks_append(&segment->chunks, &job->desk->made);
    tw_chunks_move(&job->desk->spare, &pool->free, pool->share);
    if (is_in_vain(pool, job)) {
        *status = TW_END;
        return false;
    }
    goes_on = *status == TW_OK && segment->chunks.count < pool->quota && !pool->is_aborting &&
              !atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed);
    if (goes_on && segment->is_trusted && segment->chunks.count >= pool->share)
        (void)pthread_cond_signal(&pool->ready);
    return goes_on;
}

/* Makes a batch.  What is not counted here and now is put with what is handed over. */
static enum tw_status fill(struct tw_pool *pool, struct tw_job *job)
{
    const struct tw_tree *tree = pool->tree;
    struct tw_segment *segment = job->segment;
    struct tw_desk *desk = job->desk;
    const bool counts = tw_counts_apart(tree) && !segment->is_handed;
    struct tw_chunk *chunk = tw_desk_begin(tree, desk, tree->is_merged);
    enum tw_status status;

    if (!chunk)
        return TW_E_MEMORY;
    tw_job_set_sums(job);
    status = tw_job_decode(job, chunk, tree->is_merged);
    segment->stats.seen.unsynced_bytes += chunk->unsynced; /* nobody else looks at it now */
    if (tree->config.counts_elements)
        tw_stats_count(&segment->stats, chunk->elements, chunk->count);
    if (counts && status >= 0) {
        const enum tw_status counted = tw_job_count(pool, job, chunk);

        if (counted < 0)
            status = counted;
    }
    if (status < 0)
        chunk->count = 0;
    tw_desk_end(desk, chunk);
    return status;
}

static void run(struct tw_pool *pool, struct tw_job *job)
{
    struct tw_segment *segment = job->segment;
    enum tw_status status = TW_OK;
    bool goes_on = true;

    if (!begin(pool, job))
        return;
    tw_segment_take_tally(pool, segment);
    tw_job_limit(job, segment->end, segment->is_last);
    while (goes_on) {
        for (size_t i = 0; i < pool->share && status == TW_OK; i++)
            status = fill(pool, job);
        (void)pthread_mutex_lock(&pool->lock);
        goes_on = deliver(pool, job, &status);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    if (status == TW_END)
        return;
    tw_job_save(job, &segment->state);
    if (segment->state.failed && status >= 0)
        status = TW_E_MEMORY;
    (void)pthread_mutex_lock(&pool->lock);
    if (!is_in_vain(pool, job)) {
        segment->has_state = true;
        if (status == TW_OK)
            segment->phase = TW_SEGMENT_PAUSED;
        else
            tw_pool_leave(pool, job, status == TW_MORE ? TW_OK : status);
        (void)pthread_cond_signal(&pool->ready);
    }
    (void)pthread_mutex_unlock(&pool->lock);
}

/* The segment of this segment list to work on next, if there is one.  Where only one segment list is active,
   the first that nobody has begun is left to the caller's thread, which needs it next and decodes it
   straight into its batch; unless workers are far ahead.  The caller's thread itself works with the
   branch's own decoder, if that is free. */
static bool find_work(const struct tw_pool *pool, const struct tw_segment_list *list,
                      size_t *number, bool is_caller)
{
    const bool guesses = pool->tree->guesses;
    bool leaves_one = pool->leaves_one && !guesses && !is_caller;
    size_t ahead = 0;

    if (is_caller && (list->branch->view_size || !list->is_active ||
                      list->current >= list->count || list->segments[list->current].is_direct))
        return false;
    for (size_t i = list->current; list->is_active && i < list->count; i++) {
        const struct tw_segment *segment = &list->segments[i];
        const bool is_current = i == list->current;

        *number = i;
        if (segment->phase != TW_SEGMENT_WAITING) {
            if (is_current && segment->phase == TW_SEGMENT_PAUSED && segment->is_trusted &&
                segment->chunks.count && segment->chunks.count <= pool->quota / 2)
                return true;
            ahead++;
            continue;
        }
        if (is_current && !(leaves_one && segment->has_state))
            return true;
        if (pool->in_flight >= pool->in_flight_most ||
            (!segment->has_state && list->misses >= MISSES_MAX && !guesses))
            return false;
        if (!leaves_one ||
            (!is_current && (ahead > 2 * pool->worker_count || i + 1 == list->count)))
            return true;
        leaves_one = false;
    }
    return false;
}

/* The last state before the segment that is known to be true, for a guess. */
static void find_hint(const struct tw_segment_list *list, struct tw_job *job)
{
    const struct tw_state *hint = &list->state;

    for (size_t i = job->number; i-- > 0;) {
        const struct tw_segment *before = &list->segments[i];

        if (before->is_trusted && before->phase == TW_SEGMENT_DONE && before->status == TW_OK) {
            hint = &before->state;
            break;
        }
    }
    if (!tw_state_copy(&job->segment->state, hint))
        job->segment->state.size = 0; /* loading fails */
}

/* Of all segment lists what is taken first: what comes first in the capture, or, where IDs are not interleaved, what
   belongs to the first of them.  What is far from being taken would keep workers from beginning anything else. */
static bool pick(struct tw_pool *pool, struct tw_job *job)
{
    const bool is_caller = job->desk->is_callers;
    uint64_t earliest = UINT64_MAX;

    job->list = NULL;
    if (pool->is_aborting ||
        atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed))
        return false;
    for (size_t i = 0; i < pool->list_count; i++) {
        struct tw_segment_list *list = &pool->lists[i];
        struct tw_position position;
        uint64_t at;
        size_t number;

        if (!find_work(pool, list, &number, is_caller))
            continue;
        tw_position_init(&position, list->branch->stream.places,
                         list->branch->stream.place_count);
        at = tw_position_at(&position, list->segments[number].start);
        if (job->list && at >= earliest)
            continue;
        earliest = at;
        job->list = list;
        job->number = number;
        if (!pool->tree->is_merged)
            break;
    }
    if (!job->list)
        return false;
    job->segment = &job->list->segments[job->number];
    if (!job->segment->has_state && job->list->branch->protocol->resume)
        find_hint(job->list, job);
    pool->in_flight += job->segment->phase == TW_SEGMENT_WAITING;
    job->segment->phase = TW_SEGMENT_RUNNING;
    tw_chunks_move(&job->desk->spare, &pool->free, pool->share);
    return true;
}

bool tw_pool_help(struct tw_pool *pool)
{
    struct tw_job job = { .desk = &pool->desk };

    if (!pick(pool, &job))
        return false;
    (void)pthread_mutex_unlock(&pool->lock);
    job.engine = job.list->home;
    run(pool, &job);
    if (job.list->branch->code) /* the segment knows of it */
        job.list->branch->code->out_of_memory = false;
    (void)pthread_mutex_lock(&pool->lock);
    return true;
}

static void *work(void *context)
{
    struct tw_worker *worker = context;
    struct tw_pool *pool = worker->pool;

    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->is_ending) {
        struct tw_job job = { .desk = &worker->desk };

        if (!pick(pool, &job)) {
            tw_chunks_append(&pool->free, &worker->desk.spare); /* others have work */
            (void)pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        pool->running++;
        (void)pthread_mutex_unlock(&pool->lock);
        job.engine = tw_engine_of(worker, job.list);
        if (job.engine)
            run(pool, &job);
        (void)pthread_mutex_lock(&pool->lock);
        if (!job.engine)
            give_up(pool, &job, TW_E_MEMORY);
        pool->running--;
        if (pool->is_aborting)
            (void)pthread_cond_signal(&pool->ready);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

enum tw_status tw_pool_start(struct tw_pool *pool, size_t threads)
{
    const struct tw_allocator *allocator = pool->tree->config.allocator;

    pool->workers = tw_take(allocator, threads * sizeof *pool->workers);
    if (!pool->workers)
        return TW_E_MEMORY;
    while (pool->worker_count < threads) {
        struct tw_worker *worker = &pool->workers[pool->worker_count];

        worker->pool = pool;
        worker->engines = tw_take(allocator, pool->list_count * sizeof *worker->engines);
        if (!worker->engines)
            return TW_E_MEMORY;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            tw_give(allocator, worker->engines);
            return pool->worker_count ? TW_OK : TW_E_MEMORY; /* fewer do as well */
        }
        pool->worker_count++;
    }
    return TW_OK;
}

void tw_pool_abort(struct tw_pool *pool)
{
    pool->is_aborting = true;
    while (pool->running)
        (void)pthread_cond_wait(&pool->ready, &pool->lock);
    for (size_t i = 0; i < pool->list_count; i++) {
        struct tw_segment_list *list = &pool->lists[i];

        for (size_t n = 0; n < list->count; n++)
            drop_chunks(pool, &list->segments[n]);
        tw_chunks_append(&pool->free, &list->ready);
        tw_chunks_append(&pool->free, &list->used);
        list->count = list->current = 0;
        list->is_active = false;
    }
    pool->in_flight = 0;
    pool->is_aborting = false;
}

void tw_pool_stop(struct tw_pool *pool)
{
    struct tw_tree *tree = pool->tree;
    const struct tw_allocator *allocator = tree->config.allocator;

    (void)pthread_mutex_lock(&pool->lock);
    tw_pool_abort(pool);
    pool->is_ending = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->worker_count; i++) {
        struct tw_worker *worker = &pool->workers[i];

        (void)pthread_join(worker->thread, NULL);
        for (size_t n = 0; n < pool->list_count; n++)
            tw_engine_free(&worker->engines[n], pool->lists[n].branch);
        tw_give(allocator, worker->engines);
        tw_desk_free(tree, &worker->desk);
    }
    tw_desk_free(tree, &pool->desk);
    pool->worker_count = 0;
    while (pool->tallies) {
        struct tw_tally *tally = pool->tallies;

        pool->tallies = tally->next;
        tw_tally_free(tree, tally);
    }
    tw_give(allocator, pool->workers);
    tw_chunks_free(tree, &pool->free);
}
