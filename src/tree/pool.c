/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: what workers do. */
#include <string.h>

#include "base/memory.h"
#include "tree/parallel.h"

enum {
    MISSES_MAX = 4 /* then only those segments are begun whose true state is known */
};

void tw_strand_visit(const struct tw_strand *strand, void *decoder, struct tw_follow *follow,
                     struct tw_state *state)
{
    const struct tw_branch *branch = strand->branch;

    branch->protocol->state(decoder, follow, state);
    if (branch->view_size)
        tw_state_bytes(state, follow->look_context, branch->view_size);
}

static struct tw_chunk *take_chunk(struct tw_pool *pool, bool is_merged)
{
    const struct tw_allocator *allocator = pool->tree->config.allocator;
    struct tw_chunk *chunk;

    (void)pthread_mutex_lock(&pool->lock);
    chunk = pool->free;
    if (chunk)
        pool->free = chunk->next;
    (void)pthread_mutex_unlock(&pool->lock);
    if (!chunk)
        chunk = tw_take(allocator, sizeof *chunk);
    if (!chunk)
        return NULL;
    if (!chunk->elements)
        chunk->elements = tw_take_raw(allocator, TW_BRANCH_ELEMENTS * sizeof *chunk->elements);
    if (is_merged && !chunk->marks)
        chunk->marks = tw_take_raw(allocator, TW_BRANCH_ELEMENTS * sizeof *chunk->marks);
    chunk->next = NULL;
    chunk->count = chunk->mark_count = 0;
    if (chunk->elements && (chunk->marks || !is_merged))
        return chunk;
    (void)pthread_mutex_lock(&pool->lock);
    tw_pool_recycle(pool, chunk);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void tw_pool_recycle(struct tw_pool *pool, struct tw_chunk *chunk)
{
    chunk->next = pool->free;
    pool->free = chunk;
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
    segment->phase = TW_SEGMENT_WAITING;
    segment->status = TW_OK;
    if (!tw_state_copy(&segment->state, &before->state)) {
        segment->status = TW_E_MEMORY;
        segment->phase = TW_SEGMENT_DONE;
    }
}

/* Segment `number` or the one before has come further: is it true?  And those behind it? */
static void verify(struct tw_pool *pool, struct tw_strand *strand, size_t number)
{
    for (; number < strand->count; number++) {
        const struct tw_segment *before = &strand->segments[number - 1];
        struct tw_segment *segment = &strand->segments[number];

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
        } else if (tw_state_is_same(&before->state, &segment->begin)) {
            segment->is_trusted = true;
            strand->misses = 0;
            pool->matched++;
        } else if (segment->phase == TW_SEGMENT_RUNNING) {
            segment->is_void = true; /* its worker sees to the rest */
            return;
        } else {
            drop_chunks(pool, segment);
            begin_truly(segment, before);
            pool->in_flight--;
            strand->misses++;
            pool->redone++;
        }
        (void)pthread_cond_broadcast(&pool->work);
        (void)pthread_cond_signal(&pool->ready);
        if (segment->phase != TW_SEGMENT_DONE)
            return;
    }
}

/* What a worker has under way. */
struct job {
    struct tw_worker *worker;
    struct tw_strand *strand;
    struct tw_segment *segment;
    size_t number;
    struct tw_engine *engine;
    struct tw_input in;
};

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

/* Lets the decoder see the stream up to here. */
static void limit_input(struct job *job, uint64_t end, bool is_last)
{
    const struct tw_branch *branch = job->strand->branch;
    const struct tw_stream *stream = &branch->stream;

    job->in.size = (size_t)(end - stream->offset);
    job->in.place_count = is_last ? stream->place_count : places_before(stream, end);
    job->in.is_last = is_last && branch->tree->is_finished;
}

static void begin_input(struct job *job, uint64_t from)
{
    const struct tw_branch *branch = job->strand->branch;

    job->in = (struct tw_input){ .data = branch->stream.bytes,
                                 .used = (size_t)(from - branch->stream.offset),
                                 .offset = branch->stream.offset,
                                 .places = branch->stream.places,
                                 .has_gaps = branch->has_gaps };
}

static uint64_t here(const struct job *job)
{
    return job->in.offset + job->in.used;
}

static void save(struct job *job, struct tw_state *state)
{
    tw_state_save(state, here(job));
    tw_strand_visit(job->strand, job->engine->decoder, &job->engine->follow, state);
}

/* Goes on where the segment's state says.  False: no memory. */
static bool load(struct job *job)
{
    struct tw_state *state = &job->segment->state;

    tw_engine_clear(job->engine, job->strand->branch);
    tw_state_load(state);
    tw_strand_visit(job->strand, job->engine->decoder, &job->engine->follow, state);
    begin_input(job, state->offset);
    return !state->failed;
}

/* Begins knowing nothing, and decodes without a word up to where the segment speaks up. */
static enum tw_status begin_silently(struct job *job)
{
    const struct tw_branch *branch = job->strand->branch;
    struct tw_engine *engine = job->engine;
    struct tw_chunk *chunk = take_chunk(job->worker->pool, false);
    enum tw_status status = TW_OK;

    if (!chunk)
        return TW_E_MEMORY;
    tw_engine_clear(job->engine, job->strand->branch);
    begin_input(job, job->segment->start);
    limit_input(job, job->segment->until, false);
    while (status == TW_OK) {
        struct tw_batch batch = { .elements = chunk->elements,
                                  .room = TW_BRANCH_ELEMENTS,
                                  .id = branch->id };
        struct tw_output output = { .batch = &batch };

        status = branch->protocol->decode(engine->decoder, &engine->follow, &output, &job->in);
    }
    (void)pthread_mutex_lock(&job->worker->pool->lock);
    tw_pool_recycle(job->worker->pool, chunk);
    (void)pthread_mutex_unlock(&job->worker->pool->lock);
    if (status < 0)
        return status;
    save(job, &job->segment->begin);
    return job->segment->begin.failed ? TW_E_MEMORY : TW_OK;
}

/* One chunk of elements.  TW_OK: there is more to come; TW_MORE: that was all. */
static enum tw_status decode_chunk(struct job *job, struct tw_chunk *chunk,
                                   struct tw_source_stats *stats)
{
    struct tw_branch *branch = job->strand->branch;
    const struct tw_tree *tree = branch->tree;
    struct tw_batch batch = { .elements = chunk->elements,
                              .room = TW_BRANCH_ELEMENTS,
                              .id = branch->id };
    struct tw_output output = { .batch = &batch };
    enum tw_status status;

    if (tree->is_merged) {
        output.marks.marks = chunk->marks;
        output.marks.room = TW_BRANCH_ELEMENTS;
    }
    status =
        branch->protocol->decode(job->engine->decoder, &job->engine->follow, &output, &job->in);
    chunk->count = batch.count;
    chunk->mark_count = output.marks.count;
    memset(stats, 0, sizeof *stats);
    if (tree->config.counts_elements)
        tw_count_elements(stats, chunk->elements, chunk->count);
    return status;
}

/* With the lock: the segment is not worked on any more. */
static void leave(struct job *job, enum tw_status status)
{
    struct tw_pool *pool = job->worker->pool;
    struct tw_segment *segment = job->segment;

    segment->status = status;
    segment->phase = TW_SEGMENT_DONE;
    verify(pool, job->strand, job->number + 1);
    (void)pthread_cond_signal(&pool->ready);
}

/* With the lock: it could not even be begun. */
static void give_up(struct job *job, enum tw_status status)
{
    struct tw_segment *segment = job->segment;

    leave(job, status);
    if (segment->is_trusted)
        return;
    segment->begin.failed = segment->has_begun = true; /* like no other: it is tried again */
    segment->is_void = false;
    verify(job->worker->pool, job->strand, job->number);
}

/* With the lock: whether what was done so far was in vain; then the segment is begun again. */
static bool is_in_vain(struct job *job)
{
    struct tw_pool *pool = job->worker->pool;
    struct tw_segment *segment = job->segment;

    if (!segment->is_void)
        return false;
    drop_chunks(pool, segment);
    begin_truly(segment, &job->strand->segments[job->number - 1]);
    pool->in_flight--;
    pool->redone++;
    job->strand->misses++;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_cond_signal(&pool->ready);
    return true;
}

/* Begins or goes on, up to where elements come.  True: they do. */
static bool begin(struct job *job)
{
    struct tw_pool *pool = job->worker->pool;
    struct tw_segment *segment = job->segment;
    enum tw_status status;
    bool goes_on;

    if (segment->has_state)
        status = load(job) ? TW_OK : TW_E_MEMORY;
    else
        status = begin_silently(job);
    (void)pthread_mutex_lock(&pool->lock);
    if (segment->from == UINT64_MAX)
        segment->from = here(job);
    if (status != TW_OK) {
        give_up(job, status);
    } else if (!segment->has_state) {
        segment->has_begun = true;
        verify(pool, job->strand, job->number);
    }
    goes_on = status == TW_OK && !is_in_vain(job);
    (void)pthread_mutex_unlock(&pool->lock);
    return goes_on;
}

/* Adds a chunk to what the segment made.  True: go on; else *status says how it stands, TW_END
   when the segment was begun again. */
static bool deliver(struct job *job, struct tw_chunk *chunk, enum tw_status *status)
{
    struct tw_pool *pool = job->worker->pool;
    struct tw_segment *segment = job->segment;
    bool goes_on;

    if (chunk->count && *status >= 0)
        add_chunk(segment, chunk);
    else
        tw_pool_recycle(pool, chunk);
    if (is_in_vain(job)) {
        *status = TW_END;
        return false;
    }
    goes_on = *status == TW_OK && segment->chunk_count < pool->quota && !pool->is_aborting &&
              !atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed);
    if (goes_on && segment->is_trusted)
        (void)pthread_cond_signal(&pool->ready);
    return goes_on;
}

static void run(struct job *job)
{
    struct tw_pool *pool = job->worker->pool;
    struct tw_segment *segment = job->segment;
    enum tw_status status = TW_OK;
    bool goes_on = true;

    if (!begin(job))
        return;
    limit_input(job, segment->end, segment->is_last);
    while (goes_on) {
        struct tw_chunk *chunk = take_chunk(pool, pool->tree->is_merged);
        struct tw_source_stats stats;

        if (!chunk) {
            status = TW_E_MEMORY;
            break;
        }
        status = decode_chunk(job, chunk, &stats);
        (void)pthread_mutex_lock(&pool->lock);
        tw_stats_add(&segment->stats, &stats);
        goes_on = deliver(job, chunk, &status);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    if (status == TW_END)
        return;
    save(job, &segment->state);
    if (segment->state.failed && status >= 0)
        status = TW_E_MEMORY;
    (void)pthread_mutex_lock(&pool->lock);
    if (!is_in_vain(job)) {
        segment->has_state = true;
        if (status == TW_OK)
            segment->phase = TW_SEGMENT_PAUSED;
        else
            leave(job, status == TW_MORE ? TW_OK : status);
        (void)pthread_cond_signal(&pool->ready);
    }
    (void)pthread_mutex_unlock(&pool->lock);
}

/* The segment of this strand to work on next, if there is one. */
static bool find_work(const struct tw_pool *pool, const struct tw_strand *strand,
                      size_t *number)
{
    for (size_t i = strand->current; strand->is_active && i < strand->count; i++) {
        const struct tw_segment *segment = &strand->segments[i];

        *number = i;
        if (segment->phase == TW_SEGMENT_PAUSED && segment->is_trusted &&
            i == strand->current && segment->chunk_count <= pool->quota / 2)
            return true;
        if (segment->phase == TW_SEGMENT_WAITING)
            return i == strand->current ||
                   (pool->in_flight < pool->in_flight_most &&
                    (segment->has_state || strand->misses < MISSES_MAX || pool->tree->guesses));
    }
    return false;
}

/* Of all strands what comes first in the capture, as it is taken first. */
static bool pick(struct tw_pool *pool, struct job *job)
{
    uint64_t earliest = UINT64_MAX;

    job->strand = NULL;
    if (pool->is_aborting ||
        atomic_load_explicit(&pool->tree->is_cancelled, memory_order_relaxed))
        return false;
    for (size_t i = 0; i < pool->strand_count; i++) {
        struct tw_strand *strand = &pool->strands[i];
        struct tw_position position;
        uint64_t at;
        size_t number;

        if (!find_work(pool, strand, &number))
            continue;
        tw_position_init(&position, strand->branch->stream.places,
                         strand->branch->stream.place_count);
        at = tw_position_at(&position, strand->segments[number].start);
        if (job->strand && at >= earliest)
            continue;
        earliest = at;
        job->strand = strand;
        job->number = number;
    }
    if (!job->strand)
        return false;
    job->segment = &job->strand->segments[job->number];
    pool->in_flight += job->segment->phase == TW_SEGMENT_WAITING;
    job->segment->phase = TW_SEGMENT_RUNNING;
    return true;
}

static void *work(void *context)
{
    struct tw_worker *worker = context;
    struct tw_pool *pool = worker->pool;

    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->is_ending) {
        struct job job = { .worker = worker };

        if (!pick(pool, &job)) {
            (void)pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        pool->running++;
        (void)pthread_mutex_unlock(&pool->lock);
        job.engine = tw_engine_of(worker, job.strand);
        if (job.engine)
            run(&job);
        (void)pthread_mutex_lock(&pool->lock);
        if (!job.engine)
            give_up(&job, TW_E_MEMORY);
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
        worker->engines = tw_take(allocator, pool->strand_count * sizeof *worker->engines);
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
    for (size_t i = 0; i < pool->strand_count; i++) {
        struct tw_strand *strand = &pool->strands[i];

        for (size_t n = 0; n < strand->count; n++)
            drop_chunks(pool, &strand->segments[n]);
        strand->count = strand->current = 0;
        strand->is_active = false;
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
        for (size_t n = 0; n < pool->strand_count; n++)
            tw_engine_free(&worker->engines[n], pool->strands[n].branch);
        tw_give(allocator, worker->engines);
    }
    pool->worker_count = 0;
    tw_give(allocator, pool->workers);
    while (pool->free) {
        struct tw_chunk *chunk = pool->free;

        pool->free = chunk->next;
        tw_give(allocator, chunk->elements);
        tw_give(allocator, chunk->marks);
        tw_give(allocator, chunk);
    }
}
