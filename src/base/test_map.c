/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the hash map, against a slow oracle. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
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

static void all_of_a_map_comes_once(void **state)
{
    struct tw_map map = { .slots = NULL };
    uint64_t key, *value, keys = 0, values = 0;
    size_t at = 0, count = 0;

    (void)state;
    CHECK(!tw_map_next(&map, &at, &key, &value));
    for (uint64_t i = 0; i < 1000; i++) { /* key 0 among them */
        value = tw_map_put(&map, i << 40);
        assert_non_null(value);
        *value = i + 1;
    }
    while (tw_map_next(&map, &at, &key, &value)) {
        CHECK_EQ(key >> 40, *value - 1);
        keys += key >> 40;
        values += *value;
        count++;
    }
    CHECK_EQ(count, 1000);
    CHECK_EQ(keys, 499500);
    CHECK_EQ(values, 500500);
    tw_map_clear(&map);
    CHECK(tw_map_find(&map, 0) == NULL);
    at = 0;
    CHECK(!tw_map_next(&map, &at, &key, &value));
    CHECK_EQ(*tw_map_put(&map, 0), 0);
    CHECK_EQ(map.count, 1);
    tw_map_free(&map);
    CHECK(tw_map_find(&map, 0) == NULL);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_holds_what_was_put),
        cmocka_unit_test(all_of_a_map_comes_once),
        cmocka_unit_test(the_map_survives_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
