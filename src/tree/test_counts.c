/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting that begins and ends between two pieces of the trace: what is summed was told by packets that begin in the piece. */
#include "check.h"

#include <trackway/trackway.h>

#include "tree/tally.h"
#include "tree/test_made.h"

enum { PIECES = 40 };

/* What was executed, by the piece that its packet begins in. */
struct pieces {
    size_t from[PIECES + 1], count; /* offsets of the pieces, and the end */
    uint64_t ranges[PIECES], instructions[PIECES];
    size_t at;       /* the piece that is fed */
    uint64_t summed; /* ranges of all */
};

static void add_range(struct pieces *pieces, size_t piece, const struct tw_element *range,
                      uint64_t times)
{
    pieces->ranges[piece] += times;
    pieces->instructions[piece] += times * range->count;
}

static void add_elements(struct pieces *pieces, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];
        size_t piece = 0;

        while (piece + 1 < pieces->count && element->index >= pieces->from[piece + 1])
            piece++;
        if (element->type == TW_ELEMENT_INSTR_RANGE)
            add_range(pieces, piece, element, 1);
        for (size_t k =
                 i -
                 (element->type == TW_ELEMENT_REPEAT ? tw_repeat_reach(batch->elements, i) : 0);
             k < i; k++)
            if (batch->elements[k].type == TW_ELEMENT_INSTR_RANGE)
                add_range(pieces, piece, &batch->elements[k], element->times);
    }
}

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    (void)tally;
    add_elements(context, batch);
}

static void sum(void *context, void *tally, const struct tw_range_sum *sums, size_t number,
                const struct tw_batch *whose)
{
    struct pieces *pieces = context;

    (void)tally;
    CHECK_EQ(whose->id, 0x10);
    for (size_t i = 0; i < number; i++)
        if (!sums[i].is_edge) {
            add_range(pieces, pieces->at, &sums[i].range, sums[i].times);
            pieces->summed += sums[i].times;
        }
}

static void merge(void *context, void *tally, const struct tw_batch *whose)
{
    (void)context;
    (void)tally;
    (void)whose;
}

static void drain(struct pieces *pieces, struct tw_tree *tree, enum tw_status until)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        add_elements(pieces, &batch);
    CHECK_EQ(status, until);
}

/* random: pieces are counted or not; NULL: none is. */
static void decode_pieces(struct pieces *pieces, const struct made_subject *subject,
                          const struct made_stream_of *stream, struct check_random *random)
{
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = 1,
                                        .context = pieces,
                                        .count = count,
                                        .merge = merge,
                                        .sum = sum };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .assume_id = 0x10,
                                           .counter = random ? &counter : NULL };
    struct tw_tree *tree;

    memset(pieces->ranges, 0, sizeof pieces->ranges);
    memset(pieces->instructions, 0, sizeof pieces->instructions);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    if (tw_tree_add_source(tree, NULL, &subject->source) != TW_OK)
        fail_msg("%s: %s", subject->setup.kind->name, tw_tree_fault(tree));
    for (pieces->at = 0; pieces->at < pieces->count; pieces->at++) {
        const size_t from = pieces->from[pieces->at];

        if (random) {
            const bool is_wished = check_random_below(random, 3) > 0;

            /* of a stream that several sources share it does not */
            CHECK_EQ(tw_tree_counts(tree, is_wished),
                     !is_wished || tree->branches[0]->shared == NULL);
        }
        CHECK_EQ(tw_tree_feed(tree, stream->bytes + from, pieces->from[pieces->at + 1] - from),
                 TW_OK);
        drain(pieces, tree, TW_MORE);
    }
    CHECK(tw_tree_counts(tree, false));
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    drain(pieces, tree, TW_END);
    tw_tree_free(tree);
}

static void cut(struct pieces *pieces, struct check_random *random, size_t size)
{
    pieces->count = 0;
    for (size_t at = 0; at < size && pieces->count < PIECES; pieces->count++) {
        pieces->from[pieces->count] = at;
        at += 1 + (size_t)check_random_below(random, size / 20);
    }
    pieces->from[pieces->count] = size;
}

static void sums_are_of_packets_that_begin_in_a_piece(void **state)
{
    static struct made_stream_of stream;
    static struct made_subject subject;
    struct check_random random = check_random_start(22);
    uint64_t summed = 0;

    (void)state;
    for (size_t kind = 0; kind < LENGTH(made_kinds); kind++) {
        CHECK_CASE(made_kinds[kind].name);
        made_subject_open(&subject, &made_kinds[kind], NULL);
        for (size_t i = 0; i < check_scale(200); i++) {
            static struct pieces want, got;

            if (!(subject.setup.protocol->flags & TW_PROTOCOL_FOLLOWS))
                break;
            made_stream(&stream, &subject.setup, &random,
                        300 + check_random_below(&random, 3000), i % 3 == 0);
            cut(&want, &random, stream.size);
            got = want;
            got.summed = 0;
            decode_pieces(&want, &subject, &stream, NULL);
            decode_pieces(&got, &subject, &stream, &random);
            summed += got.summed;
            for (size_t k = 0; k < want.count; k++) {
                CHECK_EQ(got.ranges[k], want.ranges[k]);
                CHECK_EQ(got.instructions[k], want.instructions[k]);
            }
        }
        made_subject_close(&subject);
    }
    CHECK(summed > 1000);
}

/* A tree that decodes on several threads counts from its begin to its end. */
static void threads_do_not_change_their_mind(void **state)
{
    struct pieces pieces = { .count = 0 };
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = 1,
                                        .context = &pieces,
                                        .count = count,
                                        .merge = merge };
    struct tw_tree_config config = { .size = sizeof config, .counter = &counter, .threads = 2 };
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK(!tw_tree_counts(tree, true));
    tw_tree_free(tree);
    config.threads = 1;
    config.counter = NULL;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK(!tw_tree_counts(tree, true));
    CHECK(tw_tree_counts(tree, false));
    tw_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_of_packets_that_begin_in_a_piece),
        cmocka_unit_test(threads_do_not_change_their_mind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
