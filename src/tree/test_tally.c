/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of counting where elements are made: the sum is that of the elements handed out, in their
   order, on any number of threads. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "tree/parallel.h"
#include "tree/test_stream.h"

/* A sum that knows the order of what was added, and can be put together of parts. */
struct sum {
    uint64_t elements, hash, power; /* power: of BASE, by the number of elements; 0: 1 */
    uint64_t lost;                  /* atoms, as elements tell of them */
    char *memory;                   /* a tally's own, to see that it is given back */
};

#define BASE 0x9e3779b97f4a7c15u

static void add_element(struct sum *sum, const struct tw_element *element)
{
    uint64_t words[2] = { element->index, element->type };

    if (element->type == TW_ELEMENT_INSTR_RANGE)
        words[1] |= element->start << 8 ^ (uint64_t)element->count << 40;
    if (element->type == TW_ELEMENT_ADDR_NACC) {
        words[1] |= (uint64_t)element->count << 8;
        sum->lost += element->count;
    }
    if (!sum->power)
        sum->power = 1;
    sum->hash = sum->hash * BASE + (words[0] * 31 + words[1]);
    sum->power *= BASE;
    sum->elements++;
}

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    struct sum *sum = tally;

    (void)context;
    if (!sum->memory)
        sum->memory = calloc(1, 100);
    CHECK(sum->memory != NULL);
    CHECK(batch->count > 0);
    for (size_t i = 0; i < batch->count; i++)
        add_element(sum, &batch->elements[i]);
}

static void merge(void *context, void *tally, const struct tw_batch *whose)
{
    struct sum *whole = (struct sum *)context + (whose->id & 0x7f);
    const struct sum *sum = tally;

    CHECK_EQ(whose->src, TW_NO_SRC);
    CHECK(sum->elements > 0);
    whole->elements += sum->elements;
    whole->lost += sum->lost;
    whole->hash = whole->hash * sum->power + sum->hash;
}

static void clear(void *context, void *tally)
{
    struct sum *sum = tally;

    (void)context;
    *sum = (struct sum){ .memory = sum->memory };
}

static void release(void *context, void *tally)
{
    struct sum *sum = tally;

    (void)context;
    free(sum->memory);
}

static struct tw_counter counter_of(struct sum *sums)
{
    return (struct tw_counter){ .size = sizeof(struct tw_counter),
                                .tally_size = sizeof(struct sum),
                                .context = sums,
                                .count = count,
                                .merge = merge,
                                .clear = clear,
                                .release = release };
}

/* Takes what was fed; with a counter, nothing is handed out. */
static void drain(struct tw_tree *tree, struct sum *sums, enum tw_status until)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK) {
        CHECK(!tree->config.counter);
        for (size_t i = 0; i < batch.count; i++)
            add_element(&sums[batch.id & 0x7f], &batch.elements[i]);
    }
    CHECK_EQ(status, until);
}

static void check_same(const struct sum *got, const struct sum *want)
{
    for (size_t id = 0; id < 128; id++) {
        CHECK_EQ(got[id].elements, want[id].elements);
        CHECK_EQ(got[id].lost, want[id].lost);
        CHECK(got[id].hash == want[id].hash);
    }
}

static void count_made(struct sum *sums, const struct made_stream *made,
                       const struct tw_tree_config *config, bool guesses)
{
    struct tw_tree *tree;

    memset(sums, 0, 128 * sizeof *sums);
    CHECK_EQ(tw_tree_new(&tree, config, NULL), TW_OK);
    tree->guesses = guesses;
    made_stream_add(made, tree);
    for (size_t at = 0; at < made->size; at += 100000) {
        const size_t left = made->size - at;

        CHECK_EQ(tw_tree_feed(tree, made->bytes + at, left < 100000 ? left : 100000), TW_OK);
        drain(tree, sums, TW_MORE);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    drain(tree, sums, TW_END);
    tw_tree_free(tree);
}

static void the_sum_is_that_of_what_is_handed_out(void **state)
{
    static const uint32_t threads[] = { 0, 2, 3, 8 };
    static struct made_stream made;
    static struct sum want[128], got[128];
    const struct tw_counter counter = counter_of(got);
    const struct tw_errors_config quiet = { .size = sizeof quiet };
    struct tw_errors *errors;

    (void)state;
    CHECK_EQ(tw_errors_new(&errors, &quiet, NULL), TW_OK);
    for (uint64_t seed = 1; seed <= check_scale(20); seed++) {
        struct tw_tree_config config = { .size = sizeof config };

        made_stream_make(&made, seed);
        count_made(want, &made, &config, false);
        CHECK(want[0x10].elements > 10000);
        config.counter = &counter;
        config.segment_size = 600;
        for (size_t i = 0; i < 4 * LENGTH(threads); i++) {
            config.threads = threads[i / 4];
            config.errors = i % 4 == 3 ? errors : NULL; /* then elements go by the caller */
            count_made(got, &made, &config, i % 2);
            check_same(got, want);
        }
        made_stream_free(&made);
    }
    tw_errors_free(errors);
}

static void nothing_is_merged_after_cancelling(void **state)
{
    static struct made_stream made;
    static struct sum want[128], sums[128];
    const struct tw_counter counter = counter_of(sums);
    const struct tw_tree_config config = {
        .size = sizeof config, .threads = 4, .segment_size = 600, .counter = &counter
    };
    const struct tw_tree_config plain = { .size = sizeof plain };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };

    (void)state;
    made_stream_make(&made, 5);
    count_made(want, &made, &plain, false);
    memset(sums, 0, sizeof sums);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    tree->guesses = true;
    made_stream_add(&made, tree);
    CHECK_EQ(tw_tree_feed(tree, made.bytes, made.size), TW_OK);
    tw_tree_cancel(tree);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_E_CANCELLED);
    CHECK_EQ(sums[0x10].elements, 0);
    tw_tree_reset(tree, 0);
    CHECK_EQ(tw_tree_feed(tree, made.bytes, made.size), TW_OK);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_MORE);
    CHECK(sums[0x10].elements > 10000);
    tw_tree_free(tree);
    count_made(sums, &made, &config, true); /* freed with tallies in use, too */
    check_same(sums, want);
    made_stream_free(&made);
}

static void a_counter_that_lacks_something(void **state)
{
    struct tw_counter counter = counter_of(NULL);
    const struct tw_tree_config config = { .size = sizeof config, .counter = &counter };
    struct tw_fault fault;
    struct tw_tree *tree;

    (void)state;
    counter.merge = NULL;
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_E_ARGUMENT);
    counter = counter_of(NULL);
    counter.size = 1;
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_E_ARGUMENT);
    CHECK(tree == NULL);
}

/* A snapshot's first buffer, in pieces as a tool reads it. */
static void count_capture(struct sum *sums, const struct tw_capture *capture,
                          const struct tw_tree_config *config)
{
    struct tw_tree *tree;
    uint64_t at = 0;
    const uint8_t *bytes;
    size_t size;

    memset(sums, 0, 128 * sizeof *sums);
    CHECK_EQ(tw_capture_tree(&tree, capture, 0, config, NULL), TW_OK);
    tree->guesses = true;
    while (tw_capture_read(capture, &bytes, &size, 0, at) == TW_OK) {
        size = size < 50000 ? size : 50000;
        CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
        drain(tree, sums, TW_MORE);
        at += size;
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    drain(tree, sums, TW_END);
    tw_tree_free(tree);
}

/* Several IDs, missing code, software's own trace. */
static void snapshots_of_the_corpus(void **state)
{
    static const char *const names[] = { "juno_r1_1", "TC2",          "bugfix-exact-match-part",
                                         "stm_only",  "itm_only_raw", "a55-test-tpiu-part" };
    static struct sum want[128], got[128];
    const struct tw_counter counter = counter_of(got);
    const struct tw_tree_config plain = { .size = sizeof plain };
    uint64_t lost = 0;

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct tw_capture *capture;
        char path[400], relative[200];

        (void)snprintf(relative, sizeof relative, "coresight/snapshots/%s", names[i]);
        check_corpus(path, sizeof path, relative);
        CHECK_CASE(names[i]);
        CHECK_EQ(tw_capture_open(&capture, path, NULL, NULL), TW_OK);
        count_capture(want, capture, &plain);
        for (uint32_t threads = 1; threads <= 8; threads = threads * 2 + (threads == 1)) {
            const struct tw_tree_config config = { .size = sizeof config,
                                                   .counter = &counter,
                                                   .threads = threads,
                                                   .segment_size = 1500 };

            count_capture(got, capture, &config);
            check_same(got, want);
        }
        for (size_t id = 0; id < 128; id++)
            lost += want[id].lost;
        tw_capture_free(capture);
    }
    CHECK(lost > 0); /* totals that a guess does not know */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_that_of_what_is_handed_out),
        cmocka_unit_test(nothing_is_merged_after_cancelling),
        cmocka_unit_test(a_counter_that_lacks_something),
        cmocka_unit_test(snapshots_of_the_corpus),
    };

    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
