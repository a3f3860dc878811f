/* SPDX-License-Identifier: BSD-2-Clause */
#include "between.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "harness.h"

/* A batch of 2,048 elements is 64 KiB. */
enum { LINE_WORDS = 8, BATCH_LINES = 1024, BATCHES = 8, ROUNDS = 1024, TRIES = 5 };

struct passage {
    uint64_t *words;
    _Alignas(64) atomic_size_t written; /* batches */
    _Alignas(64) atomic_size_t read;
    uint64_t sum;
};

static uint64_t *batch_of(const struct passage *passage, size_t number)
{
    return passage->words + number % BATCHES * BATCH_LINES * LINE_WORDS;
}

static void *write_batches(void *context)
{
    struct passage *passage = context;

    for (size_t i = 0; i < ROUNDS; i++) {
        uint64_t *words = batch_of(passage, i);

        while (i - atomic_load_explicit(&passage->read, memory_order_acquire) >= BATCHES)
            (void)sched_yield();
        for (size_t line = 0; line < BATCH_LINES; line++)
            words[line * LINE_WORDS] = i;
        atomic_store_explicit(&passage->written, i + 1, memory_order_release);
    }
    return NULL;
}

static void read_batches(struct passage *passage)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        const uint64_t *words = batch_of(passage, i);

        while (atomic_load_explicit(&passage->written, memory_order_acquire) <= i)
            (void)sched_yield();
        for (size_t line = 0; line < BATCH_LINES; line++)
            passage->sum += words[line * LINE_WORDS];
        atomic_store_explicit(&passage->read, i + 1, memory_order_release);
    }
}

double bench_line_ns(void)
{
    struct passage passage = { .words = bench_allocate((size_t)BATCHES * BATCH_LINES *
                                                       LINE_WORDS * sizeof(uint64_t)) };
    const uint64_t all = (uint64_t)BATCH_LINES * ROUNDS * (ROUNDS - 1) / 2;
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < TRIES; i++) {
        const uint64_t begin = bench_wall();
        pthread_t thread;

        atomic_store(&passage.written, 0);
        atomic_store(&passage.read, 0);
        passage.sum = 0;
        if (pthread_create(&thread, NULL, write_batches, &passage) != 0)
            bench_stop("no thread");
        read_batches(&passage);
        (void)pthread_join(thread, NULL);
        if (passage.sum != all)
            bench_stop("a line was read before it was written");
        if (bench_wall() - begin < best)
            best = bench_wall() - begin;
    }
    free(passage.words);
    return (double)best / BATCH_LINES / ROUNDS;
}
