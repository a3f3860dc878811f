/* SPDX-License-Identifier: BSD-2-Clause */
/* A pyramid: its sums are the run's, on every level, whatever came first; files are whole or refused. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/version.h>

enum { BLOCK = 128 };

static struct tw_capture *open_demo(void)
{
    struct tw_capture *capture;
    struct tw_fault fault;

    CHECK_EQ(tw_capture_open(&capture, TW_SOURCE_DIR "/tests/captures/demo", NULL, &fault),
             TW_OK);
    return capture;
}

/* Elements from one offset to before another. */
static void take_window(struct tw_pyramid *pyramid, struct tw_capture *capture, uint64_t from,
                        uint64_t to)
{
    const struct tw_filter filter = {
        .size = sizeof filter, .has_from = true, .from = from, .has_to = true, .to = to
    };
    const struct tw_run_config config = { .size = sizeof config,
                                          .filter = &filter,
                                          .loads_names = true };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        CHECK_EQ(tw_pyramid_take(pyramid, run, &part), TW_OK);
    tw_run_free(run);
}

static struct tw_pyramid *pyramid_of(struct tw_capture *capture, bool is_backwards)
{
    const struct tw_pyramid_config config = { .size = sizeof config,
                                              .bytes = tw_capture_buffer(capture, 0)->size,
                                              .block = BLOCK };
    struct tw_pyramid *pyramid;

    CHECK_EQ(tw_pyramid_new(&pyramid, &config, NULL), TW_OK);
    if (!is_backwards) {
        take_window(pyramid, capture, 0, config.bytes);
    } else {
        for (uint64_t at = (config.bytes - 1) / BLOCK + 1; at-- > 0;)
            take_window(pyramid, capture, at * BLOCK, (at + 1) * BLOCK);
    }
    CHECK_EQ(tw_pyramid_finish(pyramid), TW_OK);
    return pyramid;
}

static struct tw_tile sum_of(const struct tw_pyramid *pyramid, size_t level)
{
    struct tw_tile sum = { .from = 0 }, tile = { .size = sizeof tile };

    for (size_t i = 0; tw_pyramid_tile(pyramid, &tile, level, i); i++) {
        CHECK_EQ(tile.from, sum.to);
        sum.to = tile.to;
        sum.instructions += tile.instructions;
        sum.calls += tile.calls;
        sum.exceptions += tile.exceptions;
        sum.errors += tile.errors;
        for (size_t k = 1; k < tile.function_count; k++)
            CHECK(tile.functions[k - 1].self >= tile.functions[k].self);
    }
    return sum;
}

static void sums_are_the_same_on_every_level(void **state)
{
    struct tw_capture *capture = open_demo();
    struct tw_pyramid *pyramid = pyramid_of(capture, false);
    struct tw_tile top = { .size = sizeof top };
    const struct tw_tile lowest = sum_of(pyramid, 0);

    (void)state;
    CHECK_EQ(lowest.instructions, 51431);
    CHECK_EQ(lowest.exceptions, 3);
    CHECK_EQ(lowest.errors, 0);
    CHECK(lowest.calls > 100);
    CHECK_EQ(lowest.to, tw_capture_buffer(capture, 0)->size);
    CHECK(tw_pyramid_levels(pyramid) > 2);
    for (size_t level = 1; level < tw_pyramid_levels(pyramid); level++) {
        const struct tw_tile sum = sum_of(pyramid, level);

        CHECK(tw_pyramid_tiles(pyramid, level - 1) >
              1); /* of what is one tile there is no more */
        CHECK_EQ(sum.instructions, lowest.instructions);
        CHECK_EQ(sum.calls, lowest.calls);
        CHECK_EQ(sum.exceptions, lowest.exceptions);
    }
    CHECK_EQ(tw_pyramid_tiles(pyramid, tw_pyramid_levels(pyramid) - 1), 1);
    CHECK(tw_pyramid_tile(pyramid, &top, tw_pyramid_levels(pyramid) - 1, 0));
    if (strstr(tw_features(), "elf")) { /* else there are no symbols, and all is one function */
        CHECK_TEXT(tw_pyramid_name(pyramid, top.functions[0].function), "memset");
        CHECK_EQ(top.functions[0].self, 36869);
    } else {
        CHECK_TEXT(tw_pyramid_name(pyramid, top.functions[0].function), "[no symbol]");
        CHECK_EQ(top.functions[0].self, lowest.instructions);
    }
    CHECK(!tw_pyramid_tile(pyramid, &top, 0, tw_pyramid_tiles(pyramid, 0)));
    CHECK(!tw_pyramid_name(pyramid, UINT32_MAX));
    tw_pyramid_free(pyramid);
    tw_capture_free(capture);
}

static void same_tiles(const struct tw_pyramid *one, const struct tw_pyramid *other)
{
    CHECK_EQ(tw_pyramid_levels(one), tw_pyramid_levels(other));
    for (size_t level = 0; level < tw_pyramid_levels(one); level++) {
        struct tw_tile a = { .size = sizeof a }, b = { .size = sizeof b };

        CHECK_EQ(tw_pyramid_tiles(one, level), tw_pyramid_tiles(other, level));
        for (size_t i = 0; tw_pyramid_tile(one, &a, level, i); i++) {
            CHECK(tw_pyramid_tile(other, &b, level, i));
            CHECK_EQ(a.instructions, b.instructions);
            CHECK_EQ(a.calls, b.calls);
            CHECK_EQ(a.is_seen, b.is_seen);
            CHECK_EQ(a.function_count, b.function_count);
            for (size_t k = 0; k < a.function_count; k++)
                CHECK_EQ(a.functions[k].self, b.functions[k].self);
        }
    }
}

static void same_file(const struct tw_pyramid *one, const struct tw_pyramid *other)
{
    char bytes[2][1 << 16];
    size_t sizes[2];

    for (int i = 0; i < 2; i++) {
        FILE *file;

        CHECK_EQ(tw_pyramid_save(i ? other : one, "same.twp", NULL), TW_OK);
        file = fopen("same.twp", "rb");
        CHECK(file);
        sizes[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        (void)fclose(file);
    }
    (void)remove("same.twp");
    CHECK(sizes[0] > 100 && sizes[0] < sizeof bytes[0]);
    CHECK_EQ(sizes[0], sizes[1]);
    CHECK(memcmp(bytes[0], bytes[1], sizes[0]) == 0);
}

/* Threads fill one each, stretch by stretch, and give it away: the file is the same, whoever was first. */
static void several_make_one(void **state)
{
    struct tw_capture *capture = open_demo();
    struct tw_pyramid *whole = pyramid_of(capture, false), *into, *from[2];
    struct tw_pyramid_config config = { .size = sizeof config,
                                        .bytes = tw_capture_buffer(capture, 0)->size,
                                        .block = BLOCK };

    (void)state;
    CHECK_EQ(tw_pyramid_new(&into, &config, NULL), TW_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(tw_pyramid_new(&from[i], &config, NULL), TW_OK);
    for (uint64_t at = (config.bytes - 1) / BLOCK + 1; at-- > 0;) {
        take_window(from[at % 2], capture, at * BLOCK, (at + 1) * BLOCK);
        CHECK_EQ(tw_pyramid_give(into, from[at % 2]), TW_OK);
    }
    CHECK_EQ(tw_pyramid_finish(into), TW_OK);
    same_tiles(whole, into);
    CHECK_EQ(tw_pyramid_give(into, from[0]), TW_OK); /* has nothing left */
    same_tiles(whole, into);
    tw_pyramid_free(whole);
    whole = pyramid_of(capture, true);
    same_file(whole, into);
    tw_pyramid_free(from[1]);
    config.block *= 2;
    CHECK_EQ(tw_pyramid_new(&from[1], &config, NULL), TW_OK);
    CHECK_EQ(tw_pyramid_give(into, from[1]), TW_E_ARGUMENT); /* tiles of another size */
    for (int i = 0; i < 2; i++)
        tw_pyramid_free(from[i]);
    tw_pyramid_free(into);
    tw_pyramid_free(whole);
    tw_capture_free(capture);
}

/* Stretches that come first, for a coarse picture, change nothing in the end. */
static void the_order_does_not_matter(void **state)
{
    struct tw_capture *capture = open_demo();
    struct tw_pyramid *forwards = pyramid_of(capture, false);
    struct tw_pyramid *backwards = pyramid_of(capture, true);

    (void)state;
    CHECK_EQ(sum_of(backwards, 0).instructions, 51431);
    same_tiles(forwards, backwards);
    tw_pyramid_free(forwards);
    tw_pyramid_free(backwards);
    tw_capture_free(capture);
}

static void files_are_whole_or_refused(void **state)
{
    static const char path[] = "test_pyramid.twp";
    struct tw_capture *capture = open_demo();
    struct tw_pyramid *pyramid = pyramid_of(capture, false), *loaded;
    struct tw_fault fault;
    static unsigned char bytes[1 << 16];
    size_t size;
    FILE *file;

    (void)state;
    CHECK_EQ(tw_pyramid_save(pyramid, path, &fault), TW_OK);
    CHECK_EQ(tw_pyramid_load(&loaded, path, NULL, &fault), TW_OK);
    same_tiles(pyramid, loaded);
    tw_pyramid_free(loaded);
    file = fopen(path, "rb");
    size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    for (size_t at = 0; at < size; at += 37) {
        bytes[at] ^= 0x10;
        file = fopen(path, "wb");
        CHECK_EQ(fwrite(bytes, 1, size, file), size);
        (void)fclose(file);
        CHECK(tw_pyramid_load(&loaded, path, NULL, &fault) != TW_OK);
        CHECK(!loaded);
        bytes[at] ^= 0x10;
    }
    (void)remove(path);
    tw_pyramid_free(pyramid);
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_same_on_every_level),
        cmocka_unit_test(the_order_does_not_matter),
        cmocka_unit_test(several_make_one),
        cmocka_unit_test(files_are_whole_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
