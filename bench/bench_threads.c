/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode on several threads beside one: wall-clock time of whole passes in turn, and the CPU
   time of all threads together.  Elements are handed over to the caller's thread, or counted by the thread that
   made them.  What comes out must be the same before anything is printed.  Then what is done more
   than once, and the memory that is taken, in a long trace: of 64 MiB, with the word "full" of 1 GiB.  With names of
   subjects only the first, of these. */
#include "between.h"
#include "ours.h"

#include <pthread.h>

#include "tree/branch.h"
#include "tree/parallel.h"

enum { TOTAL = 16 << 20, PASSES = 7, WAYS = 4, WINDOW = 4 << 20 };

/* The names for two threads that hand elements over, and for two that count them where they are made; or NULL. */
static const struct {
    const char *subject, *handed, *counted;
} cases[] = {
    { "bugfix-exact-match-part", "threads/two-etmv4", "threads/counted-etmv4" },
    { "made/etmv4,mib=16", "threads/two-etmv4-made", "threads/counted-etmv4-made" },
    { "tc2-ptm-rstk-t32-part", "threads/two-ptm", "threads/counted-ptm" },
    { "TC2", NULL, NULL },
    { "stm_only", "threads/two-stm", "threads/counted-stm" },
    { "made/stm,mib=16", "threads/two-stm-made", "threads/counted-stm-made" },
    { "made/itm,mib=16", "threads/two-itm", "threads/counted-itm" },
    { "made/etrace,mib=16", "threads/two-etrace", "threads/counted-etrace" },
    { "made/ntrace,mib=16", "threads/two-ntrace", "threads/counted-ntrace" },
};

/* ns, the best of some passes. */
struct outcome {
    uint64_t wall, cpu;
};

static struct outcome begin_pass(void)
{
    return (struct outcome){ bench_wall(), bench_all_cpu() };
}

static void end_pass(const struct outcome *begin, struct outcome *best)
{
    const uint64_t wall = bench_wall() - begin->wall, cpu = bench_all_cpu() - begin->cpu;

    if (!best->wall || wall < best->wall)
        best->wall = wall;
    if (!best->cpu || cpu < best->cpu)
        best->cpu = cpu;
}

static void decode(struct ours *ours, struct outcome *best)
{
    const struct outcome begin = begin_pass();
    struct bench_counts counts;

    ours_pass(ours, &counts);
    end_pass(&begin, best);
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
    struct outcome begin;
    pthread_t thread;

    if (pthread_barrier_init(&start, NULL, 2) != 0)
        bench_stop("no barrier");
    for (unsigned i = 0; i < 2; i++)
        neighbours[i] = (struct neighbour){ ours[i], &start };
    if (pthread_create(&thread, NULL, decode_beside, &neighbours[1]) != 0)
        bench_stop("no thread");
    begin = begin_pass();
    (void)decode_beside(&neighbours[0]);
    (void)pthread_join(thread, NULL);
    end_pass(&begin, best);
    (void)pthread_barrier_destroy(&start);
}

static void measure_between(void)
{
    bench_result("threads/line-ns", bench_line_ns(),
                 "  ns for 64 bytes that one core writes and another reads, two elements");
}

/* ---- counted where they are made ---- */

/* One thread, or two, and what they counted. */
struct counting {
    struct tw_tree *tree;
    struct tw_counter counter;
    struct bench_counts counts;
    struct outcome best;
};

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

static void counting_init(struct counting *counting, const struct subject *subject,
                          unsigned threads)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->framing,
                                           .threads = threads,
                                           .counter = &counting->counter };

    *counting = (struct counting){ .counter = { .size = sizeof counting->counter,
                                                .tally_size = sizeof counting->counts,
                                                .context = &counting->counts,
                                                .count = count,
                                                .merge = merge,
                                                .ignores_local_time = true } };
    bench_need(tw_tree_new(&counting->tree, &config, NULL), "tree");
    for (size_t i = 0; i < subject->source_count; i++)
        bench_need(tw_tree_add_source(counting->tree, NULL, &subject->sources[i]), "source");
}

static void count_pass(struct counting *counting, const struct subject *subject)
{
    const struct outcome begin = begin_pass();
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree = counting->tree;

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
    end_pass(&begin, &counting->best);
}

/* ---- threads beside one ---- */

/* A subject's passes, and the best of each. */
struct race {
    struct subject subject;
    struct ours *ours[WAYS], *beside;
    struct counting counting[2];
    struct outcome best[WAYS], apart;
};

/* What comes out must not depend on the number of threads. */
static void check_same(struct race *race)
{
    struct bench_counts one, other;

    ours_hashed_pass(race->ours[0], &one);
    for (unsigned i = 1; i < WAYS; i++) {
        ours_hashed_pass(race->ours[i], &other);
        if (memcmp(&one, &other, sizeof one) != 0)
            bench_stop("%s: several threads make something else than one", race->subject.name);
    }
}

static void check_counted(const struct race *race)
{
    const struct counting *counting = race->counting;

    if (memcmp(&counting[0].counts, &counting[1].counts, sizeof counting->counts) != 0)
        bench_stop("%s: two threads count something else than one", race->subject.name);
}

static void prepare(struct race *race)
{
    static const unsigned threads[WAYS] = { 1, 2, 3, 4 };

    if (race->subject.size < TOTAL)
        subject_repeat(&race->subject, TOTAL);
    for (unsigned i = 0; i < WAYS; i++)
        race->ours[i] = ours_new(&race->subject, BENCH_WARM, threads[i]);
    race->beside = ours_new(&race->subject, BENCH_WARM, 1);
    for (unsigned i = 0; i < 2; i++)
        counting_init(&race->counting[i], &race->subject, threads[i]);
}

static void run(struct race *race)
{
    struct ours *const two[2] = { race->ours[0], race->beside };

    for (unsigned pass = 0; pass < (bench_is_quick() ? 1 : PASSES); pass++) {
        for (unsigned i = 0; i < WAYS; i++)
            decode(race->ours[i], &race->best[i]);
        decode_apart(two, &race->apart);
        for (unsigned i = 0; i < 2; i++)
            count_pass(&race->counting[i], &race->subject);
    }
}

static void clean_up(struct race *race)
{
    for (unsigned i = 0; i < WAYS; i++)
        ours_free(race->ours[i]);
    ours_free(race->beside);
    for (unsigned i = 0; i < 2; i++)
        tw_tree_free(race->counting[i].tree);
    subject_free(&race->subject);
}

static void measure(const char *what, const char *handed, const char *counted)
{
    struct race race = { .apart = { 0, 0 } };
    const struct outcome *const one = &race.best[0], *const by_one = &race.counting[0].best,
                                *const by_two = &race.counting[1].best;
    char name[160];

    if (!subject_open(&race.subject, what)) {
        (void)printf("# %s: skipped, no corpus\n", what);
        return;
    }
    prepare(&race);
    check_same(&race);
    run(&race);
    check_counted(&race);
    for (unsigned i = 0; i < WAYS; i++) {
        (void)snprintf(name, sizeof name, "threads/%s/%s/%u", race.subject.protocol,
                       race.subject.name, i + 1);
        bench_result(name, (double)one->wall / (double)race.best[i].wall,
                     " %8.1f MB/s %9.1f ms %9.1f ms of CPU: %.2f if no one else ran",
                     (double)race.subject.size * 1e3 / (double)race.best[i].wall,
                     (double)race.best[i].wall / 1e6, (double)race.best[i].cpu / 1e6,
                     (i + 1) * (double)one->cpu / (double)race.best[i].cpu);
    }
    (void)snprintf(name, sizeof name, "threads/%s/%s/counted", race.subject.protocol,
                   race.subject.name);
    bench_result(name, (double)by_one->wall / (double)by_two->wall,
                 " %8.1f MB/s %9.1f ms %9.1f ms of CPU: %.2f if no one else ran",
                 (double)race.subject.size * 1e3 / (double)by_two->wall,
                 (double)by_two->wall / 1e6, (double)by_two->cpu / 1e6,
                 2 * (double)by_one->cpu / (double)by_two->cpu);
    (void)snprintf(name, sizeof name, "threads/%s/%s/apart", race.subject.protocol,
                   race.subject.name);
    bench_result(name, 2 * (double)one->wall / (double)race.apart.wall,
                 "  two decoders that share nothing: what the machine has to give");
    if (handed)
        bench_result(handed, (double)one->wall / (double)race.best[1].wall,
                     "  two threads, times one, wall clock");
    if (counted)
        bench_result(counted, (double)by_one->wall / (double)by_two->wall,
                     "  the same where elements are counted by who decodes them");
    clean_up(&race);
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
        measure_between();
        for (int i = 1; i < word_count; i++)
            measure(words[i], NULL, NULL);
        return 0;
    }
    measure_between();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        measure(cases[i].subject, cases[i].handed, cases[i].counted);
    measure_length(4, mib);
    measure_length(16, mib);
    return 0;
}
