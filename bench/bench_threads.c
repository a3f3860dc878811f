/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode on several threads beside one: wall-clock time of whole passes in turn, and the CPU
   time of all threads together.  What comes out must be the same before anything is printed.  Then what is done more
   than once, and the memory that is taken, in a long trace: of 64 MiB, with the word "full" of 1 GiB.  With names of
   subjects only the first, of these. */
#include "ours.h"

#include <pthread.h>

#include "tree/branch.h"
#include "tree/parallel.h"

enum { TOTAL = 16 << 20, PASSES = 7, WAYS = 4, WINDOW = 4 << 20 };

static const struct {
    const char *subject;
    const char *result; /* its name for two threads, or NULL */
} cases[] = {
    { "bugfix-exact-match-part", "threads/two" },
    { "made/etmv4,mib=16", "threads/two-made" },
    { "tc2-ptm-rstk-t32-part", NULL },
    { "TC2", NULL },
    { "stm_only", NULL },
    { "made/stm,mib=16", "threads/two-stm" },
    { "made/itm,mib=16", "threads/two-itm" },
    { "made/etrace,mib=16", "threads/two-etrace" },
    { "made/ntrace,mib=16", NULL },
};

/* ns, the best of some passes. */
struct outcome {
    uint64_t wall, cpu;
};

static void decode(struct ours *ours, struct outcome *best)
{
    struct bench_counts counts;
    uint64_t wall = bench_wall(), cpu = bench_all_cpu();

    ours_pass(ours, &counts);
    wall = bench_wall() - wall;
    cpu = bench_all_cpu() - cpu;
    if (!best->wall || wall < best->wall)
        best->wall = wall;
    if (!best->cpu || cpu < best->cpu)
        best->cpu = cpu;
}

/* ---- what the machine has to give ---- */

/* A decoder of one thread that runs beside another. */
struct neighbour {
    struct ours *ours;
    pthread_barrier_t *start;
};

static void *decode_beside(void *context)
{
    const struct neighbour *neighbour = context;
    struct bench_counts counts;

    (void)pthread_barrier_wait(neighbour->start);
    ours_pass(neighbour->ours, &counts);
    return NULL;
}

/* Two decoders that share nothing, each with the whole: two threads that work together cannot be better
   than these.  Wall time until the later one is done. */
static void decode_apart(struct ours *const *ours, struct outcome *best)
{
    struct neighbour neighbours[2];
    pthread_barrier_t start;
    pthread_t thread;
    uint64_t wall, cpu;

    if (pthread_barrier_init(&start, NULL, 2) != 0)
        bench_stop("no barrier");
    for (unsigned i = 0; i < 2; i++)
        neighbours[i] = (struct neighbour){ ours[i], &start };
    if (pthread_create(&thread, NULL, decode_beside, &neighbours[1]) != 0)
        bench_stop("no thread");
    wall = bench_wall();
    cpu = bench_all_cpu();
    (void)decode_beside(&neighbours[0]);
    (void)pthread_join(thread, NULL);
    wall = bench_wall() - wall;
    cpu = bench_all_cpu() - cpu;
    (void)pthread_barrier_destroy(&start);
    if (!best->wall || wall < best->wall)
        best->wall = wall;
    if (!best->cpu || cpu < best->cpu)
        best->cpu = cpu;
}

/* ---- threads beside one ---- */

/* What comes out must not depend on the number of threads. */
static void check_same(struct ours **ours, const char *what)
{
    struct bench_counts one, other;

    ours_hashed_pass(ours[0], &one);
    for (unsigned i = 1; i < WAYS; i++) {
        ours_hashed_pass(ours[i], &other);
        if (memcmp(&one, &other, sizeof one) != 0)
            bench_stop("%s: several threads make something else than one", what);
    }
}

static void measure(const char *what, const char *result)
{
    static const unsigned threads[WAYS] = { 1, 2, 3, 4 };
    struct outcome best[WAYS] = { { 0, 0 } }, apart = { 0, 0 };
    struct ours *ours[WAYS], *two[2];
    struct subject subject;
    char name[160];

    if (!subject_open(&subject, what)) {
        (void)printf("# %s: skipped, no corpus\n", what);
        return;
    }
    if (subject.size < TOTAL)
        subject_repeat(&subject, TOTAL);
    for (unsigned i = 0; i < WAYS; i++)
        ours[i] = ours_new(&subject, BENCH_WARM, threads[i]);
    check_same(ours, what);
    two[0] = ours[0];
    two[1] = ours_new(&subject, BENCH_WARM, 1);
    for (unsigned pass = 0; pass < (bench_is_quick() ? 1 : PASSES); pass++) {
        for (unsigned i = 0; i < WAYS; i++)
            decode(ours[i], &best[i]);
        decode_apart(two, &apart);
    }
    for (unsigned i = 0; i < WAYS; i++) {
        (void)snprintf(name, sizeof name, "threads/%s/%s/%u", subject.protocol, subject.name,
                       threads[i]);
        bench_result(name, (double)best[0].wall / (double)best[i].wall,
                     " %8.1f MB/s %9.1f ms %9.1f ms of CPU: %.2f if no one else ran",
                     (double)subject.size * 1e3 / (double)best[i].wall,
                     (double)best[i].wall / 1e6, (double)best[i].cpu / 1e6,
                     threads[i] * (double)best[0].cpu / (double)best[i].cpu);
        ours_free(ours[i]);
    }
    ours_free(two[1]);
    (void)snprintf(name, sizeof name, "threads/%s/%s/apart", subject.protocol, subject.name);
    bench_result(name, 2 * (double)best[0].wall / (double)apart.wall,
                 "  two decoders that share nothing: what the machine has to give");
    if (result)
        bench_result(result, (double)best[0].wall / (double)best[1].wall,
                     "  two threads, times one, wall clock");
    subject_free(&subject);
}

/* ---- counted where they are made ---- */

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    struct bench_counts *counts = tally;

    (void)context;
    for (size_t i = 0; i < batch->count; i++) {
        const uint64_t is_range = batch->elements[i].type == TW_ELEMENT_INSTR_RANGE;

        counts->ranges += is_range;
        counts->instructions += batch->elements[i].count & (0 - is_range);
    }
    counts->elements += batch->count;
}

static void merge(void *context, void *tally, const struct tw_batch *whose)
{
    struct bench_counts *whole = context;
    const struct bench_counts *counts = tally;

    (void)whose;
    whole->elements += counts->elements;
    whole->ranges += counts->ranges;
    whole->instructions += counts->instructions;
}

static struct tw_tree *counting_tree(const struct subject *subject, unsigned threads,
                                     const struct tw_counter *counter)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->framing,
                                           .threads = threads,
                                           .counter = counter };
    struct tw_tree *tree;

    bench_need(tw_tree_new(&tree, &config, NULL), "tree");
    for (size_t i = 0; i < subject->source_count; i++)
        bench_need(tw_tree_add_source(tree, NULL, &subject->sources[i]), "source");
    return tree;
}

static void count_pass(struct tw_tree *tree, const struct subject *subject,
                       struct outcome *best)
{
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t wall = bench_wall(), cpu = bench_all_cpu();

    tw_tree_reset(tree, 0);
    for (size_t at = 0; at < subject->size; at += WINDOW) {
        const size_t left = subject->size - at;

        bench_need(tw_tree_feed(tree, subject->data + at, left < WINDOW ? left : WINDOW),
                   "bytes");
        while (tw_tree_next(tree, &batch) == TW_OK)
            bench_stop("a counted element was handed out");
    }
    bench_need(tw_tree_finish(tree), "end");
    while (tw_tree_next(tree, &batch) == TW_OK)
        bench_stop("a counted element was handed out");
    wall = bench_wall() - wall;
    cpu = bench_all_cpu() - cpu;
    if (!best->wall || wall < best->wall)
        best->wall = wall;
    if (!best->cpu || cpu < best->cpu)
        best->cpu = cpu;
}

static void measure_counting(const char *what, const char *result)
{
    struct bench_counts counts[2] = { { 0 } };
    struct outcome best[2] = { { 0, 0 } };
    struct tw_counter counters[2];
    struct tw_tree *trees[2];
    struct subject subject;

    if (!subject_open(&subject, what))
        return;
    if (subject.size < TOTAL)
        subject_repeat(&subject, TOTAL);
    for (unsigned i = 0; i < 2; i++) {
        counters[i] = (struct tw_counter){ .size = sizeof counters[i],
                                           .tally_size = sizeof counts[i],
                                           .context = &counts[i],
                                           .count = count,
                                           .merge = merge };
        trees[i] = counting_tree(&subject, i + 1, &counters[i]);
    }
    for (unsigned pass = 0; pass < (bench_is_quick() ? 1 : PASSES); pass++)
        for (unsigned i = 0; i < 2; i++)
            count_pass(trees[i], &subject, &best[i]);
    if (memcmp(&counts[0], &counts[1], sizeof counts[0]) != 0)
        bench_stop("%s: two threads count something else than one", what);
    bench_result(result, (double)best[0].wall / (double)best[1].wall,
                 "  the same where elements are only counted: %.2f if no one else ran, %.2f %% "
                 "of the bytes in vain",
                 2 * (double)best[0].cpu / (double)best[1].cpu,
                 100 * (double)(trees[1]->pool ? trees[1]->pool->in_vain : 0) /
                     (double)subject.size / (bench_is_quick() ? 1 : PASSES));
    for (unsigned i = 0; i < 2; i++)
        tw_tree_free(trees[i]);
    subject_free(&subject);
}

/* ---- a long trace ---- */

/* What a long trace came to. */
struct lengthy {
    double in_vain; /* part of its bytes that was decoded more than once */
    double memory;  /* the most that was held, by the most in its first part */
};

/* The subject again and again, a window at a time; no segment waits until its beginning is known, as where each thread has a
   core of its own. */
static struct lengthy decode_at_length(const struct subject *subject, unsigned threads,
                                       unsigned times)
{
    struct bench_held held = { 0, 0 };
    const struct tw_allocator allocator = { .resize = bench_resize, .context = &held };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->framing,
                                           .threads = threads,
                                           .allocator = &allocator };
    struct tw_batch batch = { .size = sizeof batch };
    struct lengthy lengthy = { 0, 0 };
    struct tw_tree *tree;
    size_t first = 0;

    bench_need(tw_tree_new(&tree, &config, NULL), "tree");
    for (size_t i = 0; i < subject->source_count; i++)
        bench_need(tw_tree_add_source(tree, NULL, &subject->sources[i]), "source");
    tree->guesses = true;
    for (unsigned time = 0; time < times; time++) {
        for (size_t at = 0; at < subject->size; at += WINDOW) {
            const size_t left = subject->size - at;

            bench_need(tw_tree_feed(tree, subject->data + at, left < WINDOW ? left : WINDOW),
                       "bytes");
            while (tw_tree_next(tree, &batch) == TW_OK) {
            }
        }
        if (time < 2) /* the seam between two of them, too */
            first = held.most;
    }
    if (tree->pool)
        lengthy.in_vain = (double)tree->pool->in_vain / (double)subject->size / (double)times;
    lengthy.memory = (double)held.most / (double)first;
    tw_tree_free(tree);
    return lengthy;
}

/* The worst of all protocols. */
static void measure_length(unsigned threads, size_t mib)
{
    static const char *const subjects[] = { "bugfix-exact-match-part",
                                            "tc2-ptm-rstk-t32-part",
                                            "TC2",
                                            "stm_only",
                                            "made/etmv4,mib=16",
                                            "made/ptm,mib=16",
                                            "made/stm,mib=16",
                                            "made/itm,mib=16",
                                            "made/etrace,mib=16",
                                            "made/ntrace,mib=16" };
    struct lengthy worst = { 0, 0 };
    char name[160];

    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        struct subject subject;
        struct lengthy lengthy;

        if (!subject_open(&subject, subjects[i]))
            continue;
        if (subject.size < TOTAL)
            subject_repeat(&subject, TOTAL);
        lengthy = decode_at_length(&subject, threads, (unsigned)((mib << 20) / TOTAL));
        (void)printf("# %s/%s, %zu MiB, %u threads: %.4f in vain, memory %.3f\n",
                     subject.protocol, subject.name, mib, threads, lengthy.in_vain,
                     lengthy.memory);
        if (lengthy.in_vain > worst.in_vain)
            worst.in_vain = lengthy.in_vain;
        if (lengthy.memory > worst.memory)
            worst.memory = lengthy.memory;
        subject_free(&subject);
    }
    (void)snprintf(name, sizeof name, "threads/vain-%u", threads);
    bench_result(name, worst.in_vain, "  part of %zu MiB that was decoded more than once", mib);
    (void)snprintf(name, sizeof name, "threads/memory-%u", threads);
    bench_result(name, worst.memory, "  most memory for %zu MiB by that for the first 32", mib);
}

int main(int word_count, char **words)
{
    const bool is_full = word_count > 1 && strcmp(words[1], "full") == 0;
    const size_t mib = bench_is_quick() ? 16 : is_full ? 1024 : 64;

    (void)puts("# threads: wall clock of one thread by that of so many");
    if (word_count > 1 && !is_full) {
        for (int i = 1; i < word_count; i++)
            measure(words[i], NULL);
        return 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        measure(cases[i].subject, cases[i].result);
    measure_counting(cases[0].subject, "threads/two-counted");
    measure_counting("made/ntrace,mib=16", "threads/two-ntrace");
    measure_length(4, mib);
    measure_length(16, mib);
    return 0;
}
