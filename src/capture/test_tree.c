/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of trees made from a capture in one call. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "all_runs.h"
#include "failing.h"

static const struct tw_tree_config config = { .size = sizeof config };

/* [CSD 2.1.3/1] [CSD 2.3.3.5] */
static void gives_what_a_tree_built_by_hand_gives(void **state)
{
    struct check_random random = check_random_start(0x74726565);
    struct runs runs = runs_find();
    const size_t step = runs.is_corpus ? runs.count / check_scale(runs.count) : 1;
    size_t same = 0;

    (void)state;
    for (size_t i = check_random_below(&random, step); i < runs.count; i += step) {
        struct tw_capture *capture;

        check_case("%s", runs.runs[i].path);
        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        for (size_t buffer = 0; buffer < tw_capture_buffer_count(capture); buffer++) {
            struct digest got = { 0 }, want = { 0 };
            struct run_tree by_hand;
            struct tw_tree *tree;
            const enum tw_status status =
                tw_capture_tree(&tree, capture, buffer, buffer % 2 ? &config : NULL, NULL);

            CHECK_EQ(run_tree_new(&by_hand, capture, buffer, config), TW_OK);
            CHECK_EQ(status, by_hand.sources ? TW_OK : TW_E_CONFIG);
            if (tree) {
                CHECK_EQ(run_pull(tree, &got, capture, buffer, &config), TW_END);
                CHECK_EQ(run_pull(by_hand.tree, &want, capture, buffer, &config), TW_END);
                CHECK(digest_is_same(&got, &want));
                same++;
            }
            tw_tree_free(tree);
            tw_tree_free(by_hand.tree);
        }
        tw_capture_free(capture);
    }
    CHECK(same > 0);
    free(runs.runs);
}

static void says_what_is_wrong(void **state)
{
    const struct tw_capture_source_option source = { .id = 5, .protocol = "etmv4" };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1 };
    const struct tw_errors_config log = { .size = sizeof log };
    struct tw_tree_config own = config;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_capture *capture;
    struct tw_errors *errors;
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_errors_new(&errors, &log, NULL), TW_OK);
    CHECK_EQ(tw_capture_open(&capture, TW_SOURCE_DIR "/tests/captures/demo/ETB_0.bin", &options,
                             &fault),
             TW_OK);
    own.errors = errors;
    /* Its registers are missing. */
    CHECK_EQ(tw_capture_tree(&tree, capture, 0, &own, &fault), TW_E_CONFIG);
    CHECK(!tree && fault.text[0]);
    CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_WARNING), 1);
    CHECK(strstr(tw_errors_last(errors)->text, "is left out") != NULL);
    CHECK_EQ(tw_capture_tree(&tree, capture, 1, &own, &fault), TW_E_ARGUMENT);
    own.size = 1;
    CHECK_EQ(tw_capture_tree(&tree, capture, 0, &own, &fault), TW_E_ARGUMENT);
    tw_capture_free(capture);
    tw_errors_free(errors);
}

static void memory_may_run_out_at_any_time(void **state)
{
    struct run run = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    struct tw_capture *capture;
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    CHECK_EQ(run_open(&capture, &run, NULL, NULL), TW_OK);
    for (size_t limit = 0; status != TW_OK; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_tree_config own = config;
        struct tw_tree *tree;

        check_case("%zu requests", limit);
        own.allocator = &allocator;
        status = tw_capture_tree(&tree, capture, 0, &own, NULL);
        CHECK(status == TW_OK ? tree != NULL : status == TW_E_MEMORY && !tree);
        tw_tree_free(tree);
        CHECK_EQ(failing.live, 0);
    }
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_a_tree_built_by_hand_gives),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests_name("capture to tree", tests, NULL, NULL);
}
