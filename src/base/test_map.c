/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the hash map, and of positions in the capture, against slow oracles. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/position.h"
#include "failing.h"

/* The oracle: pairs in the order they came, then sorted by key. */
struct pair {
    uint64_t key, value;
    size_t order;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* Keys that collide and repeat: few bits differ, high or low. */
static uint64_t make_key(struct check_random *random)
{
    switch (check_random_below(random, 4)) {
    case 0:
        return check_random_below(random, 1000);
    case 1:
        return check_random_below(random, 30000) << 44;
    case 2:
        return UINT64_MAX - check_random_below(random, 5000) * 4096;
    default:
        return check_random_next(random);
    }
}

static void the_map_holds_what_was_put(void **state)
{
    struct check_random random = check_random_start(0x6d6170);
    const size_t count = check_scale(1000000); /* 10^5 in the usual run */
    struct pair *pairs = calloc(count, sizeof *pairs);
    struct tw_map map = { .slots = NULL };
    size_t different = 0;

    (void)state;
    assert_non_null(pairs);
    CHECK(tw_map_find(&map, 0) == NULL);
    for (size_t i = 0; i < count; i++) {
        uint64_t *value;

        pairs[i] = (struct pair){ make_key(&random), check_random_next(&random), i };
        value = tw_map_put(&map, pairs[i].key);
        assert_non_null(value);
        *value = pairs[i].value;
    }
    qsort(pairs, count, sizeof *pairs, by_key);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *value = tw_map_find(&map, pairs[i].key);
        const bool is_newest = i + 1 == count || pairs[i + 1].key != pairs[i].key;

        assert_non_null(value);
        if (is_newest) {
            CHECK_EQ(*value, pairs[i].value);
            different++;
            if (i + 1 == count || pairs[i].key + 1 < pairs[i + 1].key)
                CHECK(tw_map_find(&map, pairs[i].key + 1) == NULL ||
                      pairs[i].key == UINT64_MAX);
        }
    }
    CHECK_EQ(map.count, different);
    CHECK(map.count <= map.room / 2 + 1);
    tw_map_clear(&map);
    CHECK_EQ(map.count, 0);
    CHECK(tw_map_find(&map, pairs[0].key) == NULL);
    CHECK_EQ(*tw_map_put(&map, pairs[0].key), 0); /* a new key's value is 0 */
    tw_map_free(&map);
    CHECK(tw_map_find(&map, pairs[0].key) == NULL);
    free(pairs);
}

static void the_map_survives_want_of_memory(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 6; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_map map = { .allocator = &allocator };
        uint64_t key = 0;

        check_case("%zu requests", limit);
        for (; key < 1000; key++) {
            uint64_t *value = tw_map_put(&map, key * 0x9e37);

            if (!value)
                break;
            *value = key;
        }
        CHECK_EQ(key<1000, failing.asked> limit);
        for (uint64_t i = 0; i < key; i++)
            CHECK_EQ(*tw_map_find(&map, i * 0x9e37), i);
        CHECK_EQ(map.count, key);
        tw_map_free(&map);
        CHECK_EQ(failing.live, 0);
    }
}

enum { PLACES = 12, SPAN = 600 };

/* Where each stream byte lies, byte by byte, by the words of struct tw_place. */
static void spread(uint64_t *where, size_t size, uint64_t offset, const struct tw_place *places,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t until = i + 1 < count ? places[i + 1].stream : offset + size;
        uint64_t at = places[i].capture;
        uint32_t together = places[i].first;

        for (uint64_t byte = places[i].stream; byte < until; byte++) {
            if (places[i].first && together == 0) {
                at++; /* the auxiliary byte */
                together = 15;
            }
            if (byte >= offset)
                where[byte - offset] = at;
            at++;
            together--;
        }
    }
}

static void positions_agree_with_counting(void **state)
{
    struct check_random random = check_random_start(0x706f73);
    const size_t rounds = check_scale(3000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct tw_place places[PLACES];
        const size_t count = 1 + (size_t)check_random_below(&random, PLACES);
        const uint64_t offset = check_random_below(&random, 2) ? 0 : 0x123456789a;
        uint64_t where[SPAN];
        uint64_t stream = offset, capture = check_random_below(&random, 1000);
        struct tw_position position;

        for (size_t i = 0; i < count; i++) {
            const uint64_t step = 1 + check_random_below(&random, 40);

            places[i] = (struct tw_place){ .stream = stream, .capture = capture };
            places[i].first = (uint32_t)check_random_below(&random, 16);
            stream += step;
            capture += 2 * step + check_random_below(&random, 100);
        }
        spread(where, SPAN, offset, places, count);
        tw_position_init(&position, places, count);
        for (size_t i = 0; i < 2 * SPAN; i++) { /* in order, then anywhere */
            const size_t at = i < SPAN ? i : (size_t)check_random_below(&random, SPAN);

            check_case("round %zu, offset %zu", round, at);
            CHECK_EQ(tw_position_at(&position, offset + at), where[at]);
        }
    }
}

/* From one look at the stretch: the frames behind it lie one byte further each. */
static void stretches_reach_to_the_end_of_their_place(void **state)
{
    static const struct tw_place places[] = { { .stream = 0, .capture = 100, .first = 4 },
                                              { .stream = 50, .capture = 200 },
                                              { .stream = 60, .capture = 300, .first = 15 },
                                              { .stream = 61, .capture = 400, .first = 1 } };
    uint64_t where[SPAN];
    struct tw_position position;

    (void)state;
    spread(where, SPAN, 0, places, LENGTH(places));
    for (size_t at = 0; at < SPAN; at++) {
        struct tw_stretch stretch;

        tw_position_init(&position, places, LENGTH(places));
        stretch = tw_position_stretch(&position, at);
        CHECK(stretch.stop > at && stretch.stop <= stretch.end);
        for (uint64_t byte = at; byte < SPAN && byte < stretch.end; byte++) {
            const uint64_t frames = byte < stretch.stop ? 0 : 1 + (byte - stretch.stop) / 15;

            check_case("byte %llu from %zu", (unsigned long long)byte, at);
            CHECK_EQ(byte + stretch.delta + frames, where[byte]);
        }
    }
}

static void without_places_the_stream_is_the_capture(void **state)
{
    struct tw_position position;

    (void)state;
    tw_position_init(&position, NULL, 0);
    CHECK_EQ(tw_position_at(&position, 0), 0);
    CHECK_EQ(tw_position_at(&position, 12345678901), 12345678901);
    CHECK_EQ(tw_position_discontinuity(NULL, 0, 0, UINT64_MAX), UINT64_MAX);
}

static void discontinuities_are_found_in_order(void **state)
{
    static const struct tw_place places[] = {
        { .stream = 10 },
        { .stream = 20, .is_discontinuity = 1 },
        { .stream = 25 },
        { .stream = 30, .is_discontinuity = 1 },
        { .stream = 40, .is_discontinuity = 1 }, /* its bytes are still to come */
    };

    (void)state;
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 10, 40), 20);
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 20, 40), 20);
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 21, 40), 30);
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 31, 40), 40);
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 31, 39), UINT64_MAX);
    CHECK_EQ(tw_position_discontinuity(places, LENGTH(places), 41, 90), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_holds_what_was_put),
        cmocka_unit_test(the_map_survives_want_of_memory),
        cmocka_unit_test(positions_agree_with_counting),
        cmocka_unit_test(stretches_reach_to_the_end_of_their_place),
        cmocka_unit_test(without_places_the_stream_is_the_capture),
        cmocka_unit_test(discontinuities_are_found_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
