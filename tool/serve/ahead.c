/* SPDX-License-Identifier: BSD-2-Clause */
/* See ahead.h. */
#include "serve/ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <trackway/tree.h>

enum {
    PARTS = 32
}; /* that wait at most: the elements of some fit into the processor's cache */

struct ahead_part {
    struct tw_part part;
    bool is_inside;
    struct tw_retained *retained; /* NULL: it has no elements */
};

struct serve_ahead {
    struct tw_run *run;
    uint64_t to;
    struct tw_retained *given; /* elements of the part that was given last */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    struct ahead_part parts[PARTS]; /* a ring */
    size_t filled, taken;           /* parts, from the first on */
    enum tw_status status;          /* behind the last part; TW_OK: more come */
    bool is_over;                   /* no more is wanted */
    double took;                    /* by the thread, once it ended */
};

double serve_thread_time(void)
{
    struct timespec now = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

size_t serve_count_before(const struct tw_element *elements, size_t count, uint64_t to)
{
    size_t i = 0;

    while (i + 4 <= count && elements[i].index < to && elements[i + 1].index < to &&
           elements[i + 2].index < to && elements[i + 3].index < to)
        i += 4;
    while (i < count && elements[i].index < to)
        i++;
    return i;
}

/* The next part, kept; TW_OK, or why there is none. */
static enum tw_status decode(struct serve_ahead *ahead, struct ahead_part *to)
{
    enum tw_status status;

    *to = (struct ahead_part){ .part.size = sizeof to->part };
    status = tw_run_next(ahead->run, &to->part);
    if (status == TW_OK && to->part.kind == TW_PART_ELEMENTS)
        status = tw_run_retain(&to->retained, ahead->run, &to->part);
    if (status == TW_OK && to->part.kind == TW_PART_ELEMENTS)
        to->is_inside = serve_count_before(to->part.batch.elements, to->part.batch.count,
                                           ahead->to) == to->part.batch.count;
    return status;
}

static void *work(void *context)
{
    struct serve_ahead *ahead = context;
    enum tw_status status = TW_OK;

    (void)pthread_mutex_lock(&ahead->lock);
    while (!ahead->is_over && status == TW_OK) {
        struct ahead_part *to = &ahead->parts[ahead->filled % PARTS];

        if (ahead->filled - ahead->taken == PARTS) {
            (void)pthread_cond_wait(&ahead->change, &ahead->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&ahead->lock);
        status = decode(ahead, to);
        (void)pthread_mutex_lock(&ahead->lock);
        if (status == TW_OK)
            ahead->filled++;
        else
            ahead->status = status;
        (void)pthread_cond_signal(&ahead->change);
    }
    ahead->took = serve_thread_time();
    (void)pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct serve_ahead *serve_ahead_new(struct tw_run *run, uint64_t to)
{
    struct serve_ahead *ahead = calloc(1, sizeof *ahead);

    if (!ahead)
        return NULL;
    ahead->run = run;
    ahead->to = to;
    if (pthread_mutex_init(&ahead->lock, NULL) != 0) {
        free(ahead);
        return NULL;
    }
    if (pthread_cond_init(&ahead->change, NULL) == 0) {
        if (pthread_create(&ahead->thread, NULL, work, ahead) == 0)
            return ahead;
        (void)pthread_cond_destroy(&ahead->change);
    }
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return NULL;
}

enum tw_status serve_ahead_next(struct serve_ahead *ahead, struct tw_part *part,
                                bool *is_inside)
{
    enum tw_status status = TW_OK;

    tw_retained_free(ahead->given);
    ahead->given = NULL;
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->taken == ahead->filled && ahead->status == TW_OK)
        (void)pthread_cond_wait(&ahead->change, &ahead->lock);
    if (ahead->taken == ahead->filled) {
        status = ahead->status;
    } else {
        struct ahead_part *next = &ahead->parts[ahead->taken++ % PARTS];

        *part = next->part;
        *is_inside = next->is_inside;
        ahead->given = next->retained;
        next->retained = NULL;
        (void)pthread_cond_signal(&ahead->change);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return status;
}

double serve_ahead_end(struct serve_ahead *ahead)
{
    double took;

    if (!ahead)
        return 0;
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->is_over = true;
    (void)pthread_cond_signal(&ahead->change);
    (void)pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL);
    took = ahead->took;
    tw_retained_free(ahead->given);
    for (size_t i = 0; i < PARTS; i++)
        tw_retained_free(ahead->parts[i].retained);
    (void)pthread_cond_destroy(&ahead->change);
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return took;
}
