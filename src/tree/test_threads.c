/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees are independent: 64 of them in 8 threads give what each gives alone.  Run it with the thread
   sanitizer (preset tsan). */
#include "check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "all_runs.h"

enum { THREADS = 8, TREES = 8, PIECE = 8192, SMALL = 1 << 20 };

static const struct tw_tree_config config = { .counts_elements = true };

/* What all threads share, and none changes. */
struct plan {
    struct runs runs;
    struct digest *want; /* of each run */
    size_t *chosen;
    size_t count;
};

/* One tree at work: a capture, and where it is in which buffer. */
struct job {
    size_t number; /* in plan->chosen; goes up by THREADS * TREES */
    struct tw_capture *capture;
    struct run_tree tree;
    size_t buffer;
    uint64_t at;
    struct digest got;
    bool is_done;
};

struct worker {
    const struct plan *plan;
    size_t number;
    struct job jobs[TREES];
    const char *failed; /* the run that came out different */
    size_t done;
};

static void fail_job(struct worker *worker, struct job *job, const char *path)
{
    worker->failed = path;
    job->is_done = true;
}

static void start(struct worker *worker, struct job *job)
{
    const struct plan *plan = worker->plan;
    const struct run *run = &plan->runs.runs[plan->chosen[job->number % plan->count]];

    job->got = (struct digest){ 0 };
    job->buffer = 0;
    job->at = 0;
    if (run_open(&job->capture, run, NULL, NULL) != TW_OK)
        fail_job(worker, job, run->path);
}

static void finish(struct worker *worker, struct job *job)
{
    const struct plan *plan = worker->plan;
    const size_t chosen = plan->chosen[job->number % plan->count];

    tw_capture_free(job->capture);
    job->capture = NULL;
    if (!digest_is_same(&job->got, &plan->want[chosen]))
        fail_job(worker, job, plan->runs.runs[chosen].path);
    worker->done++;
    job->number += THREADS * TREES;
    job->is_done |= job->number >= plan->count;
}

/* A little of one tree's work. */
static void step(struct worker *worker, struct job *job)
{
    enum tw_status status;
    const uint8_t *bytes;
    size_t size;

    if (!job->capture)
        start(worker, job);
    if (job->is_done)
        return;
    if (job->buffer == tw_capture_buffer_count(job->capture)) {
        finish(worker, job);
        return;
    }
    if (!job->tree.tree &&
        run_tree_new(&job->tree, job->capture, job->buffer, config) != TW_OK) {
        fail_job(worker, job, "no tree");
        return;
    }
    status = tw_capture_read(job->capture, &bytes, &size, job->buffer, job->at);
    if (status == TW_OK) {
        size = size < PIECE ? size : PIECE;
        job->at += size;
        status = tw_tree_feed(job->tree.tree, bytes, size);
    } else {
        status = tw_tree_finish(job->tree.tree);
    }
    if (status == TW_OK)
        status = run_take(job->tree.tree, &job->got, &config);
    if (status != TW_MORE) {
        tw_tree_free(job->tree.tree);
        job->tree.tree = NULL;
        job->buffer++;
        job->at = 0;
    }
    if (status < 0)
        fail_job(worker, job, "out of memory");
}

static void *work(void *context)
{
    struct worker *worker = context;
    bool is_any = true;

    for (size_t i = 0; i < TREES; i++)
        worker->jobs[i].number = worker->number * TREES + i;
    while (is_any) {
        is_any = false;
        for (size_t i = 0; i < TREES; i++)
            if (!worker->jobs[i].is_done) {
                step(worker, &worker->jobs[i]);
                is_any = true;
            }
    }
    for (size_t i = 0; i < TREES; i++) {
        tw_tree_free(worker->jobs[i].tree.tree);
        tw_capture_free(worker->jobs[i].capture);
    }
    return NULL;
}

/* One after the other; false: it cannot be opened, or is too large for a short test. */
static bool decode_alone(struct digest *want, const struct run *run)
{
    const bool is_full = check_scale(10) == 10;
    struct tw_capture *capture;
    struct run_tree tree;
    uint64_t bytes = 0;

    if (run_open(&capture, run, NULL, NULL) != TW_OK)
        return false;
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
        bytes += tw_capture_buffer(capture, i)->size;
    if (bytes > SMALL && !is_full) {
        tw_capture_free(capture);
        return false;
    }
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        CHECK_EQ(run_tree_new(&tree, capture, i, config), TW_OK);
        CHECK_EQ(run_pull(tree.tree, want, capture, i, &config), TW_END);
        tw_tree_free(tree.tree);
    }
    tw_capture_free(capture);
    return true;
}

static void make_plan(struct plan *plan)
{
    size_t step_size;

    plan->runs = runs_find();
    plan->want = calloc(plan->runs.count + 1, sizeof *plan->want);
    plan->chosen = calloc(plan->runs.count + 1, sizeof *plan->chosen);
    assert_non_null(plan->want);
    assert_non_null(plan->chosen);
    step_size = plan->runs.is_corpus ? plan->runs.count / check_scale(plan->runs.count) : 1;
    for (size_t i = 0; i < plan->runs.count; i += step_size) {
        check_case("%s", plan->runs.runs[i].path);
        if (decode_alone(&plan->want[i], &plan->runs.runs[i]))
            plan->chosen[plan->count++] = i;
    }
    CHECK(plan->count > 0);
}

static void trees_in_threads_give_what_they_give_alone(void **state)
{
    struct plan plan = { .count = 0 };
    struct worker *workers = calloc(THREADS, sizeof *workers);
    pthread_t threads[THREADS];
    uint64_t elements = 0;
    size_t done = 0;

    (void)state;
    assert_non_null(workers);
    make_plan(&plan);
    for (size_t i = 0; i < plan.count; i++)
        elements += plan.want[plan.chosen[i]].elements;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].plan = &plan;
        workers[i].number = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++) {
        check_case("thread %zu: %s", i, workers[i].failed ? workers[i].failed : "");
        CHECK(!workers[i].failed);
        done += workers[i].done;
    }
    print_message("%d threads, %d trees at a time, %zu runs of %zu captures, %" PRIu64
                  " elements\n",
                  THREADS, THREADS * TREES, done, plan.count, elements);
    CHECK(done >= THREADS * TREES);
    free(workers);
    free(plan.runs.runs);
    free(plan.want);
    free(plan.chosen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_in_threads_give_what_they_give_alone),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
