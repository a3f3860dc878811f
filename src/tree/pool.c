/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: what workers do. */
#include <string.h>

#include "base/memory.h"
#include "tree/parallel.h"

enum {
    MISSES_MAX = 4,     /* then only those segments are begun whose true state is known */
    SILENT_CHUNKS = 64, /* that a guess may take: damaged trace can tell of very much */
    WAKE_CHUNKS = 4 /* that make it worth to wake who waits for them; or the segment's end */
};

static struct tw_chunk *take_chunk(struct tw_pool *pool, bool is_merged)
{
    const struct tw_allocator *allocator = pool->tree->config.allocator;
    struct tw_chunk *chunk;

    (void)pthread_mutex_lock(&pool->lock);
    chunk = pool->free;
    if (chunk) {
        pool->free = chunk->next;
        if (!pool->free)
            pool->free_last = NULL;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (!chunk)
        chunk = tw_take(allocator, sizeof *chunk);
    if (!chunk)
        return NULL;
    if (!chunk->elements)
        chunk->elements =
            tw_take_raw(allocator, pool->tree->config.batch_room * sizeof *chunk->elements);
    if (is_merged && !chunk->marks)
        chunk->marks =
            tw_take_raw(allocator, (pool->tree->config.batch_room + 1) * sizeof *chunk->marks);
    chunk->next = NULL;
    chunk->count = chunk->mark_count = 0;
    if (chunk->elements && (chunk->marks || !is_merged))
        return chunk;
    (void)pthread_mutex_lock(&pool->lock);
    tw_pool_recycle(pool, chunk);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* First in, first out: what one core has read just now is dear to write for another. */
void tw_pool_recycle(struct tw_pool *pool, struct tw_chunk *chunk)
{
    chunk->next = NULL;
    if (pool->free_last)
        pool->free_last->next = chunk;
    else
        pool->free = chunk;
    pool->free_last = chunk;
}

static void drop_chunks(struct tw_pool *pool, struct tw_segment *segment)
{
    while (segment->first) {
        struct tw_chunk *chunk = segment->first;

        segment->first = chunk->next;
        tw_pool_recycle(pool, chunk);
    }
    segment->last = NULL;
    segment->chunk_count = 0;
    segment->is_handed = false;
    if (segment->tally) {
        tw_tally_clear(pool->tree, segment->tally);
        segment->tally->next = pool->tallies;
        pool->tallies = segment->tally;
        segment->tally = NULL;
    }
    memset(&segment->stats, 0, sizeof segment->stats);
}

static void add_chunk(struct tw_segment *segment, struct tw_chunk *chunk)
{
    if (segment->last)
        segment->last->next = chunk;
    else
        segment->first = chunk;
    segment->last = chunk;
    segment->chunk_count++;
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
    struct tw_chunk *chunk = take_chunk(pool, false);
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
    (void)pthread_mutex_lock(&pool->lock);
    tw_pool_recycle(pool, chunk);
    (void)pthread_mutex_unlock(&pool->lock);
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

/* Counts the chunk's elements here and now, where that is asked for.  From the first chunk on that
   tells of a guess the elements are handed over after all: their order is kept. */
static enum tw_status count(struct tw_pool *pool, struct tw_job *job, struct tw_chunk *chunk)
{
    enum tw_status status = TW_OK;
    struct tw_segment *segment = job->segment;
    const struct tw_branch *branch = job->list->branch;
    const struct tw_batch batch = { .size = sizeof batch,
                                    .elements = chunk->elements,
                                    .count = chunk->count,
                                    .room = chunk->count,
                                    .user = branch->user,
                                    .source = branch->source,
                                    .src = branch->src,
                                    .id = branch->id };

    if (job->engine->follow->sums)
        status = tw_tally_sum(pool->tree, segment->tally, &segment->stats, job->engine->follow,
                              &batch);
    segment->is_handed |= chunk->is_guess || !segment->tally;
    if (segment->is_handed)
        return status;
    if (batch.count)
        tw_tally_count(pool->tree, segment->tally, &batch);
    chunk->count = 0;
    return status;
}

/* Ranges are counted by the decoder as long as the segment has a tally, and elements do not have to keep
   their order with others that wait. */
static void set_sums(const struct tw_job *job)
{
    const struct tw_segment *segment = job->segment;
    struct tw_follow *follow = job->engine->follow;

    follow->sums =
        follow->code && segment->tally && !segment->is_handed ? follow->code->sums : NULL;
}

/* Where elements are counted the segment has a tally, unless memory is out. */
static void take_tally(struct tw_pool *pool, struct tw_segment *segment)
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

/* Adds a chunk to what the segment made.  True: go on; else *status says how it stands, TW_END
   when the segment was begun again. */
static bool deliver(struct tw_pool *pool, struct tw_job *job, struct tw_chunk **chunk,
                    enum tw_status *status)
{
    struct tw_segment *segment = job->segment;
    bool goes_on;

    if ((*chunk)->count && *status >= 0) {
        add_chunk(segment, *chunk);
        *chunk = NULL;
    }
    if (is_in_vain(pool, job)) {
        *status = TW_END;
        return false;
    }
    goes_on = *status == TW_OK && segment->chunk_count < pool->quota && !pool->is_aborting &&
              !atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed);
    if (goes_on && segment->is_trusted && segment->chunk_count >= WAKE_CHUNKS)
        (void)pthread_cond_signal(&pool->ready);
    return goes_on;
}

static void run(struct tw_pool *pool, struct tw_job *job)
{
    struct tw_segment *segment = job->segment;
    enum tw_status status = TW_OK;
    struct tw_chunk *chunk = NULL;
    bool goes_on = true;

    if (!begin(pool, job))
        return;
    take_tally(pool, segment);
    tw_job_limit(job, segment->end, segment->is_last);
    while (goes_on) {
        if (!chunk)
            chunk = take_chunk(pool, pool->tree->is_merged);
        if (!chunk) {
            status = TW_E_MEMORY;
            break;
        }
        set_sums(job);
        status = tw_job_decode(job, chunk, pool->tree->is_merged);
        segment->stats.seen.unsynced_bytes += chunk->unsynced; /* nobody else looks at it now */
        if (pool->tree->config.counts_elements)
            tw_stats_count(&segment->stats, chunk->elements, chunk->count);
        if (tw_counts_apart(pool->tree) && status >= 0) {
            const enum tw_status counted = count(pool, job, chunk);

            if (counted < 0)
                status = counted;
        }
        (void)pthread_mutex_lock(&pool->lock);
        goes_on = deliver(pool, job, &chunk, &status);
        if (chunk && !goes_on)
            tw_pool_recycle(pool, chunk);
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
                segment->chunk_count && segment->chunk_count <= pool->quota / 2)
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

/* Of all segment lists what comes first in the capture, as it is taken first. */
static bool pick(struct tw_pool *pool, struct tw_job *job, bool is_caller)
{
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
    }
    if (!job->list)
        return false;
    job->segment = &job->list->segments[job->number];
    if (!job->segment->has_state && job->list->branch->protocol->resume)
        find_hint(job->list, job);
    pool->in_flight += job->segment->phase == TW_SEGMENT_WAITING;
    job->segment->phase = TW_SEGMENT_RUNNING;
    return true;
}

bool tw_pool_help(struct tw_pool *pool)
{
    struct tw_job job = { .list = NULL };

    if (!pick(pool, &job, true))
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
        struct tw_job job = { .list = NULL };

        if (!pick(pool, &job, false)) {
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
    }
    pool->worker_count = 0;
    while (pool->tallies) {
        struct tw_tally *tally = pool->tallies;

        pool->tallies = tally->next;
        tw_tally_free(tree, tally);
    }
    tw_give(allocator, pool->workers);
    while (pool->free) {
        struct tw_chunk *chunk = pool->free;

        pool->free = chunk->next;
        tw_give(allocator, chunk->elements);
        tw_give(allocator, chunk->marks);
        tw_give(allocator, chunk);
    }
}
