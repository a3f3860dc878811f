/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode on several threads beside one: wall-clock time of whole passes in turn, and the CPU
   time of all threads together.  What comes out must be the same before anything is printed. */
#include "ours.h"

#include "tree/branch.h"
#include "tree/parallel.h"

enum { TOTAL = 16 << 20, PASSES = 7, WAYS = 4 };

static const struct {
    const char *subject;
    const char *result; /* its name for two threads, or NULL */
} cases[] = {
    { "bugfix-exact-match-part", "threads/two" },
    { "made/etmv4,mib=16", "threads/two-made" },
    { "tc2-ptm-rstk-t32-part", NULL },
    { "TC2", NULL },
    { "stm_only", NULL },
    { "made/etrace,mib=16", NULL },
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
    struct outcome best[WAYS] = { { 0, 0 } };
    struct ours *ours[WAYS];
    struct subject subject;

    if (!subject_open(&subject, what)) {
        (void)printf("# %s: skipped, no corpus\n", what);
        return;
    }
    if (subject.size < TOTAL)
        subject_repeat(&subject, TOTAL);
    for (unsigned i = 0; i < WAYS; i++)
        ours[i] = ours_new(&subject, BENCH_WARM, threads[i]);
    check_same(ours, what);
    for (unsigned pass = 0; pass < (bench_is_quick() ? 1 : PASSES); pass++)
        for (unsigned i = 0; i < WAYS; i++)
            decode(ours[i], &best[i]);
    for (unsigned i = 0; i < WAYS; i++) {
        char name[160];

        (void)snprintf(name, sizeof name, "threads/%s/%s/%u", subject.protocol, subject.name,
                       threads[i]);
        bench_result(name, (double)best[0].wall / (double)best[i].wall,
                     " %8.1f MB/s %9.1f ms %9.1f ms of CPU: %.2f if no one else ran",
                     (double)subject.size * 1e3 / (double)best[i].wall,
                     (double)best[i].wall / 1e6, (double)best[i].cpu / 1e6,
                     threads[i] * (double)best[0].cpu / (double)best[i].cpu);
        ours_free(ours[i]);
    }
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
    enum { WINDOW = 4 << 20 };
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

int main(void)
{
    (void)puts("# threads: wall clock of one thread by that of so many");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        measure(cases[i].subject, cases[i].result);
    measure_counting(cases[0].subject, "threads/two-counted");
    measure_counting("made/ntrace,mib=16", "threads/two-ntrace");
    return 0;
}
