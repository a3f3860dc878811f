/* SPDX-License-Identifier: BSD-2-Clause */
/* Decode on several threads beside one: 16 MiB made of a real capture, wall-clock time of whole
   passes in alternation, and the CPU time of all threads together.  What comes out must be the same
   before a ratio is printed. */
#define _GNU_SOURCE /* sched_getaffinity */

#include "harness.h"

#include <inttypes.h>

#include <trackway/trackway.h>

enum { TOTAL = 16 << 20, WINDOW = 4 << 20, PASSES = 7 };

struct job {
    const char *snapshot;
    bool is_held; /* bench/promises holds its ratio */
};

static const struct job jobs[] = {
    { "bugfix-exact-match-part", true },
    { "tc2-ptm-rstk-t32-part", false },
    { "TC2", false },
    { "stm_only", false },
};

struct input {
    struct tw_capture *capture;
    uint8_t *data;
    size_t size;
};

struct outcome {
    uint64_t elements, ranges, instructions, hash;
    uint64_t wall, cpu;
};

static uint64_t clock_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The capture again and again; frames that reset all IDs stand between. */
static bool open_input(struct input *input, const char *snapshot)
{
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    struct tw_fault fault;
    char path[600];
    const uint8_t *bytes;
    size_t size;

    if (!bench_snapshot(path, sizeof path, snapshot))
        return false;
    if (tw_capture_open(&input->capture, path, NULL, &fault) != TW_OK)
        bench_stop(fault.text);
    if (tw_capture_read(input->capture, 0, 0, &bytes, &size) != TW_OK)
        bench_stop("the capture is empty");
    input->data = malloc(TOTAL + size + sizeof barrier);
    if (!input->data)
        bench_stop("no memory");
    for (input->size = 0; input->size < TOTAL; input->size += size) {
        if (tw_capture_buffer(input->capture, 0)->framing != TW_FRAMING_NONE) {
            memcpy(input->data + input->size, barrier, sizeof barrier);
            input->size += sizeof barrier;
        }
        memcpy(input->data + input->size, bytes, size);
    }
    return true;
}

static struct tw_tree *make_tree(const struct input *input, unsigned threads)
{
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(input->capture, 0)->framing,
        .threads = threads,
    };
    struct tw_tree *tree;
    struct tw_fault fault;

    if (tw_tree_new(&tree, &config, &fault) != TW_OK)
        bench_stop(fault.text);
    for (size_t i = 0; i < tw_capture_source_count(input->capture); i++) {
        const struct tw_source *from = tw_capture_source(input->capture, i);
        const struct tw_tree_source source = {
            .size = sizeof source,
            .protocol = from->protocol,
            .registers = from->registers,
            .register_count = from->register_count,
            .type = from->type,
            .core_type = from->core_type,
            .text = from->text,
            .id = from->id,
            .image =
                from->image == TW_NONE ? NULL : tw_capture_image(input->capture, from->image),
        };

        if (from->protocol && tw_capture_source_is_in(input->capture, i, 0, 0) &&
            tw_tree_add_source(tree, NULL, &source) != TW_OK)
            bench_stop(tw_tree_fault(tree));
    }
    return tree;
}

static void take(struct tw_tree *tree, struct outcome *outcome)
{
    struct tw_batch batch;

    while (tw_tree_next(tree, &batch) == TW_OK) {
        outcome->elements += batch.count;
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
                outcome->ranges++;
                outcome->instructions += batch.elements[i].count;
                outcome->hash = outcome->hash * 3 + batch.elements[i].start;
            }
    }
}

static void decode(struct tw_tree *tree, const struct input *input, struct outcome *outcome)
{
    *outcome = (struct outcome){ .wall = clock_of(CLOCK_MONOTONIC),
                                 .cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) };
    tw_tree_reset(tree, 0);
    for (size_t at = 0; at < input->size; at += WINDOW) {
        const size_t left = input->size - at;

        if (tw_tree_feed(tree, input->data + at, left < WINDOW ? left : WINDOW) != TW_OK)
            bench_stop(tw_tree_fault(tree));
        take(tree, outcome);
    }
    if (tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    take(tree, outcome);
    outcome->wall = clock_of(CLOCK_MONOTONIC) - outcome->wall;
    outcome->cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - outcome->cpu;
}

static void keep_best(struct outcome *best, const struct outcome *one)
{
    const uint64_t wall = one->wall < best->wall ? one->wall : best->wall;
    const uint64_t cpu = one->cpu < best->cpu ? one->cpu : best->cpu;
    const bool is_first = best->wall == 0;

    *best = *one;
    if (!is_first) {
        best->wall = wall;
        best->cpu = cpu;
    }
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    if (a->elements != b->elements || a->hash != b->hash || a->instructions != b->instructions)
        bench_stop("several threads make something else than one");
}

static void run(const struct job *job)
{
    static const unsigned threads[] = { 1, 2, 3, 4 };
    enum { WAYS = sizeof threads / sizeof threads[0] };
    struct tw_tree *trees[WAYS];
    struct outcome best[WAYS] = { { 0 } };
    struct input input;

    if (!open_input(&input, job->snapshot))
        return;
    for (unsigned i = 0; i < WAYS; i++)
        trees[i] = make_tree(&input, threads[i]);
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (unsigned i = 0; i < WAYS; i++) {
            struct outcome one;

            decode(trees[i], &input, &one);
            keep_best(&best[i], &one);
            check_same(&one, &best[0]);
        }
    for (unsigned i = 0; i < WAYS; i++)
        printf("threads %-24s %u: %7.1f ms, %6.1f MB/s, %7.1f ms of CPU, %.2f times one\n",
               job->snapshot, threads[i], (double)best[i].wall / 1e6,
               (double)input.size * 1e3 / (double)best[i].wall, (double)best[i].cpu / 1e6,
               (double)best[0].wall / (double)best[i].wall);
    if (job->is_held)
        printf("ratio threads/two %.2f\n", (double)best[0].wall / (double)best[1].wall);
    for (unsigned i = 0; i < WAYS; i++)
        tw_tree_free(trees[i]);
    tw_capture_free(input.capture);
    free(input.data);
}

int main(void)
{
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        run(&jobs[i]);
    return 0;
}
