/* SPDX-License-Identifier: BSD-2-Clause */
/* Results that begin with `size`, filled for callers who were built with an older or a newer header: no
   byte beyond what they have, zeros in what the library does not know.  scripts/check-interface holds
   the list against the headers. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

enum { SURPLUS = 64 };

static struct tw_capture *demo;

/* What the demo gives, taken once. */
static struct {
    struct tw_run *run;
    struct tw_part part;
    const struct tw_index *index;
    struct tw_statistics *statistics;
    struct tw_coverage *coverage;
    struct tw_profiler *profile;
    struct tw_timeline *timeline;
    struct tw_pc_samples *samples;
    struct tw_pyramid *pyramid;
} made;

static void drop_event(void *context, const struct tw_timeline_event *event)
{
    (void)context, (void)event;
}

static void take_demo(void)
{
    const struct tw_run_config config = { .size = sizeof config };
    const struct tw_coverage_config coverage = { .size = sizeof coverage };
    const struct tw_pyramid_config pyramid = { .size = sizeof pyramid, .bytes = 1 };
    const struct tw_profile_config profile = { .size = sizeof profile };
    const struct tw_timeline_config timeline = { .size = sizeof timeline, .event = drop_event };

    CHECK_EQ(tw_statistics_new(&made.statistics, demo, NULL, NULL), TW_OK);
    CHECK_EQ(tw_coverage_new(&made.coverage, &coverage, NULL), TW_OK);
    CHECK_EQ(tw_profile_new(&made.profile, &profile, NULL), TW_OK);
    CHECK_EQ(tw_timeline_new(&made.timeline, &timeline, NULL), TW_OK);
    CHECK_EQ(tw_pc_samples_new(&made.samples, NULL, NULL), TW_OK);
    CHECK_EQ(tw_pyramid_new(&made.pyramid, &pyramid, NULL), TW_OK);
    CHECK_EQ(tw_run_new(&made.run, demo, &config, NULL), TW_OK);
    made.part.size = sizeof made.part;
    while (tw_run_next(made.run, &made.part) == TW_OK) {
        CHECK_EQ(tw_statistics_take(made.statistics, &made.part), TW_OK);
        CHECK_EQ(tw_profile_take(made.profile, made.run, &made.part), TW_OK);
        CHECK_EQ(tw_timeline_take(made.timeline, made.run, &made.part), TW_OK);
    }
    CHECK_EQ(tw_profile_finish(made.profile), TW_OK);
    CHECK_EQ(tw_timeline_finish(made.timeline), TW_OK);
    made.index = tw_run_index_need(made.run, 0, false);
    CHECK(made.index != NULL);
}

static void free_demo(void)
{
    tw_run_free(made.run);
    tw_statistics_free(made.statistics);
    tw_coverage_free(made.coverage);
    tw_profile_free(made.profile);
    tw_timeline_free(made.timeline);
    tw_pc_samples_free(made.samples);
    tw_pyramid_free(made.pyramid);
}

/* Whether the struct, of which `size` is set, was filled. */
typedef bool fill_fn(void *result);

#define FILLS(type, call)                                                                      \
    static bool fill_##type(void *result)                                                      \
    {                                                                                          \
        struct type *it = result;                                                              \
                                                                                               \
        return call;                                                                           \
    }

FILLS(tw_index_block, tw_index_block(made.index, it, 0) == TW_OK)
FILLS(tw_index_stream, tw_index_stream(made.index, it, 0) == TW_OK)
FILLS(tw_index_stream_block, tw_index_stream_block(made.index, it, 0, 0) == TW_OK)
FILLS(tw_run_losses, tw_run_losses(made.run, it))
FILLS(tw_coverage_totals, tw_coverage_totals(made.coverage, it))
FILLS(tw_profile_totals, tw_profile_totals(made.profile, it))
FILLS(tw_timeline_stats, tw_timeline_stats(made.timeline, it))
FILLS(tw_source_statistics, tw_statistics_source(made.statistics, it, 0))
FILLS(tw_perf_program, tw_perf_program(it, "/proc/self/exe", NULL) == TW_OK)
FILLS(tw_ntrace_guess, tw_ntrace_guess(it, (const uint8_t *)"x", 1, NULL) == TW_OK)
FILLS(tw_pc_totals, tw_pc_samples_totals(made.samples, it))
FILLS(tw_tile, tw_pyramid_tile(made.pyramid, it, 0, 0))

static bool fill_tw_instruction_answer(void *result)
{
    static const uint8_t ret[] = { 0xc0, 0x03, 0x5f, 0xd6 };
    const struct tw_instruction_query query = {
        .size = sizeof query, .bytes = ret, .count = sizeof ret, .isa = TW_ISA_A64
    };

    return tw_instruction_classify(result, &query) == TW_OK;
}

/* Those that come one after the other: the first, of a tree of its own. */
static struct tw_tree *fed_tree(bool is_packets)
{
    static const uint8_t trace[] = { 0, 0, 0, 0, 0, 0x80, 0x03, 'a', 'b', 'c', 'd' };
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = is_packets };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "itm",
                                           .id = 0x10 };
    struct tw_tree *tree = NULL;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, trace, sizeof trace), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    return tree;
}

static bool fill_tw_batch(void *result)
{
    static struct tw_tree *last;

    tw_tree_free(last);
    last = result ? fed_tree(false) : NULL;
    return result && tw_tree_next(last, result) == TW_OK;
}

static bool fill_tw_packet_view(void *result)
{
    static struct tw_tree *last;

    tw_tree_free(last);
    last = result ? fed_tree(true) : NULL;
    return result && tw_tree_next_packet(last, result) == TW_OK;
}

static bool fill_tw_part(void *result)
{
    const struct tw_run_config config = { .size = sizeof config };
    static struct tw_run *last;

    tw_run_free(last);
    last = NULL;
    if (!result)
        return false;
    CHECK_EQ(tw_run_new(&last, demo, &config, NULL), TW_OK);
    return tw_run_next(last, result) == TW_OK;
}

#define RESULT(type)                                                                           \
    {                                                                                          \
#type, sizeof(struct type), fill_##type                                                \
    }

static const struct {
    const char *name;
    size_t size;
    fill_fn *fill;
} results[] = {
    RESULT(tw_batch),        RESULT(tw_coverage_totals),    RESULT(tw_index_block),
    RESULT(tw_index_stream), RESULT(tw_index_stream_block), RESULT(tw_instruction_answer),
    RESULT(tw_ntrace_guess), RESULT(tw_perf_program),       RESULT(tw_packet_view),
    RESULT(tw_part),         RESULT(tw_pc_totals),          RESULT(tw_profile_totals),
    RESULT(tw_run_losses),   RESULT(tw_source_statistics),  RESULT(tw_timeline_stats),
    RESULT(tw_tile),
};

/* A block of the size, which is set, with marks in all other bytes. */
static uint8_t *marked(size_t room, size_t size)
{
    uint8_t *block = malloc(room < sizeof size ? sizeof size : room);

    CHECK(block != NULL);
    memset(block, 0xa5, room < sizeof size ? sizeof size : room);
    memcpy(block, &size, sizeof size);
    return block;
}

static void what_is_filled_may_be_older_or_newer(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(results); i++) {
        const size_t size = results[i].size;
        uint8_t *newer = marked(size + SURPLUS, size + SURPLUS);

        CHECK_CASE(results[i].name);
        CHECK(results[i].fill(newer));
        for (size_t at = size; at < size + SURPLUS; at++)
            CHECK_EQ(newer[at], 0);
        for (size_t less = sizeof less; less < size; less += 8) {
            uint8_t *older = marked(less, less);

            CHECK(results[i].fill(older));
            CHECK_EQ(memcmp(older, &less, sizeof less), 0);
            free(older);
        }
        for (size_t wrong = 0; wrong < sizeof wrong; wrong += 7) {
            uint8_t *none = marked(size, wrong);

            CHECK(!results[i].fill(none));
            CHECK_EQ(none[size - 1], 0xa5);
            free(none);
        }
        free(newer);
    }
    (void)fill_tw_batch(NULL);
    (void)fill_tw_packet_view(NULL);
    (void)fill_tw_part(NULL);
}

static int set_up(void **state)
{
    (void)state;
    CHECK_EQ(tw_capture_open(&demo, TW_SOURCE_DIR "/tests/captures/demo", NULL, NULL), TW_OK);
    take_demo();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free_demo();
    tw_capture_free(demo);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_filled_may_be_older_or_newer),
    };

    return cmocka_run_group_tests_name("result sizes", tests, set_up, tear_down);
}
