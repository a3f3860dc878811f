/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of unframed trees: bytes that lie anywhere in the capture, going back to a mark, batches that
   end at a context. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "tree/test_stream.h"

enum { LIST_MAX = 200000, STREAM_PART = 40000 };

/* Elements as they come. */
struct list {
    struct tw_element *elements;
    size_t count;
};

static struct tw_tree *make_tree(const struct made_stream *made, bool stops)
{
    const struct tw_tree_config config = { .size = sizeof config, .stops_at_context = stops };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    made_stream_add(made, tree);
    return tree;
}

/* One batch; false: there is none now. */
static bool take(struct tw_tree *tree, struct list *list, enum tw_status until)
{
    struct tw_batch batch = { .size = sizeof batch };
    const enum tw_status status = tw_tree_next(tree, &batch);

    if (status != TW_OK) {
        CHECK_EQ(status, until);
        return false;
    }
    CHECK(list->count + batch.count <= LIST_MAX);
    memcpy(list->elements + list->count, batch.elements, batch.count * sizeof *batch.elements);
    list->count += batch.count;
    return true;
}

static void start(struct list *list)
{
    list->elements = calloc(LIST_MAX, sizeof *list->elements);
    CHECK(list->elements != NULL);
    list->count = 0;
}

static void decode_all(const struct made_stream *made, struct list *list)
{
    struct tw_tree *tree = make_tree(made, false);

    start(list);
    CHECK_EQ(tw_tree_feed(tree, made->bytes, STREAM_PART), TW_OK);
    while (take(tree, list, TW_MORE)) {
    }
    CHECK_EQ(tw_tree_done(tree), STREAM_PART);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (take(tree, list, TW_END)) {
    }
    tw_tree_free(tree);
}

/* Where byte n of the stream lies in the scattered capture. */
static uint64_t scattered(uint64_t n)
{
    return 100 + n + n / 13 * 7;
}

static void check_same(const struct list *got, const struct list *want, bool is_scattered)
{
    CHECK_EQ(got->count, want->count);
    for (size_t i = 0; i < got->count; i++) {
        char a[512], b[512];
        struct tw_element expected = want->elements[i];

        if (is_scattered)
            expected.index = scattered(expected.index);
        (void)tw_element_json(a, sizeof a, &got->elements[i], 0x10);
        (void)tw_element_json(b, sizeof b, &expected, 0x10);
        CHECK_TEXT(a, b);
    }
}

/* Up to the next place where the capture goes on elsewhere. */
static size_t piece_at(size_t at, size_t limit)
{
    const size_t left = 13 - at % 13;

    return left < limit - at ? left : limit - at;
}

/* [CSD 2.1.4/1] [CSD 3.1.3] */
static void elements_tell_where_the_bytes_lie(void **state)
{
    struct made_stream made;
    struct list want, got;
    struct tw_tree *tree;

    (void)state;
    made_stream_make(&made, 1);
    decode_all(&made, &want);
    for (unsigned way = 0; way < 2; way++) { /* taken piece by piece, and all at the end */
        tree = make_tree(&made, false);
        start(&got);
        for (size_t at = 0; at < STREAM_PART; at += piece_at(at, STREAM_PART)) {
            const struct tw_place place = { .stream = at, .capture = scattered(at) };
            const struct tw_stream stream = { .bytes = made.bytes + at,
                                              .size = piece_at(at, STREAM_PART),
                                              .offset = at,
                                              .places = &place,
                                              .place_count = 1 };

            CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_OK);
            while (way == 0 && take(tree, &got, TW_MORE)) {
            }
        }
        CHECK_EQ(tw_tree_finish(tree), TW_OK);
        while (take(tree, &got, TW_END)) {
        }
        check_same(&got, &want, true);
        free(got.elements);
        tw_tree_free(tree);
    }
    free(want.elements);
    made_stream_free(&made);
}

static void going_back_changes_nothing(void **state)
{
    struct check_random random = check_random_start(7);
    struct made_stream made;
    struct list want, got;
    struct tw_tree *tree;
    size_t at = 0;

    (void)state;
    made_stream_make(&made, 2);
    decode_all(&made, &want);
    tree = make_tree(&made, false);
    start(&got);
    while (at < STREAM_PART) {
        const size_t room = STREAM_PART - at;
        const size_t size = 1 + check_random_below(&random, room < 300 ? room : 300);
        const bool goes_back = check_random_below(&random, 3) == 0;
        struct list lost = got;

        CHECK_EQ(tw_tree_mark(tree), TW_OK);
        if (goes_back) { /* something else, and back */
            const size_t done = (size_t)tw_tree_done(tree);

            CHECK_EQ(tw_tree_feed(tree, made.bytes + check_random_below(&random, 1000), size),
                     TW_OK);
            while (take(tree, &lost, TW_MORE)) {
            }
            if (check_random_below(&random, 2)) {
                CHECK_EQ(tw_tree_finish(tree), TW_OK);
                while (take(tree, &lost, TW_END)) {
                }
            }
            CHECK_EQ(tw_tree_return(tree), TW_OK);
            CHECK_EQ(tw_tree_done(tree), done);
            at = done;
            continue;
        }
        CHECK_EQ(tw_tree_feed(tree, made.bytes + at, size), TW_OK);
        at += size;
        while (take(tree, &got, TW_MORE)) {
        }
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (take(tree, &got, TW_END)) {
    }
    check_same(&got, &want, false);
    tw_tree_free(tree);
    free(got.elements);
    free(want.elements);
    made_stream_free(&made);
}

/* Damage is told of at once, and its error comes when its end is known. */
static void damage_is_known_before_its_end(void **state)
{
    struct made_stream made;
    struct list want, got;
    struct tw_tree *tree;
    size_t damaged = 0;

    (void)state;
    made_stream_make(&made, 4);
    decode_all(&made, &want);
    tree = make_tree(&made, false);
    start(&got);
    for (size_t at = 0; at < STREAM_PART; at++) {
        size_t next;

        CHECK_EQ(tw_tree_feed(tree, made.bytes + at, 1), TW_OK);
        while (take(tree, &got, TW_MORE)) {
        }
        for (next = got.count; next < want.count; next++)
            if (want.elements[next].type == TW_ELEMENT_ERROR)
                break;
        CHECK_EQ(tw_tree_is_damaged(tree),
                 next < want.count && want.elements[next].index < tw_tree_done(tree));
        damaged += tw_tree_is_damaged(tree);
    }
    CHECK(damaged > 0);
    tw_tree_free(tree);
    free(got.elements);
    free(want.elements);
    made_stream_free(&made);
}

static void batches_end_at_a_context(void **state)
{
    struct made_stream made;
    struct list want, got;
    struct tw_tree *tree;
    size_t from = 0, contexts = 0;

    (void)state;
    made_stream_make(&made, 3);
    decode_all(&made, &want);
    tree = make_tree(&made, true);
    start(&got);
    CHECK_EQ(tw_tree_feed(tree, made.bytes, STREAM_PART), TW_OK);
    while (take(tree, &got, TW_MORE)) {
        for (size_t i = from; i + 1 < got.count; i++)
            CHECK(got.elements[i].type != TW_ELEMENT_PE_CONTEXT);
        contexts += got.elements[got.count - 1].type == TW_ELEMENT_PE_CONTEXT;
        from = got.count;
    }
    CHECK(contexts > 10);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (take(tree, &got, TW_END)) {
    }
    check_same(&got, &want, false);
    tw_tree_free(tree);
    free(got.elements);
    free(want.elements);
    made_stream_free(&made);
}

static void what_cannot_go_back_says_so(void **state)
{
    struct tw_tree_config config = { .size = sizeof config, .framing = TW_FRAMING_MEMORY };
    struct made_stream made;
    struct tw_tree *tree;
    const uint8_t byte = 0;
    struct tw_place places[2] = { { .stream = 7 }, { .stream = 7 } };
    struct tw_stream stream = {
        .bytes = &byte, .size = 1, .offset = 7, .places = places, .place_count = 1
    };

    (void)state;
    made_stream_make(&made, 4);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    made_stream_add(&made, tree);
    CHECK_EQ(tw_tree_mark(tree), TW_E_UNSUPPORTED);
    CHECK_EQ(tw_tree_return(tree), TW_E_UNSUPPORTED);
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    tw_tree_free(tree);
    tree = make_tree(&made, false);
    CHECK_EQ(tw_tree_feed_stream(tree, NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_feed_stream(NULL, &stream), TW_E_ARGUMENT);
    stream.place_count = 0; /* nowhere */
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    stream.place_count = 2; /* in no order, ... */
    places[1].stream = 6;
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    places[1].stream = 7;
    places[0].stream = 8; /* ... behind the first byte, or of a stream out of frames */
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    places[0] = (struct tw_place){ .stream = 7, .first = 15 };
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    places[0] = (struct tw_place){ .stream = 7, .is_discontinuity = 1 };
    CHECK_EQ(tw_tree_feed_stream(tree, &stream), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_return(tree), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_mark(tree), TW_OK);
    tw_tree_reset(tree, 0);
    CHECK_EQ(tw_tree_return(tree), TW_E_ARGUMENT);
    tw_tree_free(tree);
    made_stream_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_tell_where_the_bytes_lie),
        cmocka_unit_test(going_back_changes_nothing),
        cmocka_unit_test(damage_is_known_before_its_end),
        cmocka_unit_test(batches_end_at_a_context),
        cmocka_unit_test(what_cannot_go_back_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
