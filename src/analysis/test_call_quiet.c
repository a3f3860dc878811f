/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of which decoders write only what changes a stack: the same bytes as of all elements. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/calls.h>

#include "base/platform.h"

enum { ROOM = 700 };

static char folder[] = "/tmp/trackway-quiet-XXXXXX";

struct way {
    bool is_alone;
    enum tw_order order;
    uint32_t threads;
    size_t batch_room;
    bool is_logical;
};

/* Elements that came; of a run that leaves some out fewer. */
static uint64_t save(const char *path, struct tw_capture *capture, const struct way *way)
{
    const struct tw_calls_config about = { .size = sizeof about,
                                           .is_logical = way->is_logical };
    const struct tw_run_config config = { .size = sizeof config,
                                          .order = way->order,
                                          .threads = way->threads,
                                          .batch_room = way->batch_room };
    struct tw_part part = { .size = sizeof part };
    struct tw_calls *calls;
    struct tw_run *run;
    struct tw_fault fault;
    uint64_t elements = 0;

    CHECK_EQ(tw_calls_new(&calls, &about, &fault), TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, &config, &fault), TW_OK);
    if (way->is_alone)
        tw_calls_take_alone(calls, run);
    while (tw_run_next(run, &part) == TW_OK) {
        elements += part.batch.count;
        CHECK_EQ(tw_calls_take(calls, run, &part), TW_OK);
    }
    CHECK(tw_calls_is_complete(calls));
    CHECK_EQ(tw_calls_finish(calls), TW_OK);
    CHECK_EQ(tw_calls_save(calls, path, &fault), TW_OK);
    tw_calls_free(calls);
    tw_run_free(run);
    return elements;
}

static void check_same_files(const char *one, const char *other)
{
    const char *const paths[2] = { one, other };
    uint8_t *bytes[2];
    size_t sizes[2];

    for (unsigned i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "rb");

        bytes[i] = malloc(1 << 22);
        assert_non_null(file);
        assert_non_null(bytes[i]);
        sizes[i] = fread(bytes[i], 1, 1 << 22, file);
        (void)fclose(file);
        CHECK(sizes[i] < 1 << 22);
    }
    CHECK_BYTES(bytes[0], sizes[0], bytes[1], sizes[1]);
    free(bytes[0]);
    free(bytes[1]);
}

/* Whether something was left out. */
static bool check_capture(const char *path, const char *sysroot)
{
    static const struct way ways[] = {
        { true, TW_ORDER_TIME, 1, 0, false },      { true, TW_ORDER_TIME, 3, 0, false },
        { true, TW_ORDER_CAPTURE, 2, 0, false },   { true, TW_ORDER_TIME, 1, 1 << 16, true },
        { true, TW_ORDER_TIME, 2, 1 << 16, true },
    };
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = sysroot };
    char all[ROOM], quiet[ROOM];
    struct tw_capture *capture;
    struct tw_fault fault;
    bool is_any = false;

    (void)snprintf(all, sizeof all, "%s/all.twr", folder);
    (void)snprintf(quiet, sizeof quiet, "%s/quiet.twr", folder);
    CHECK_EQ(tw_capture_open(&capture, path, &options, &fault), TW_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct way plain = ways[i];
        uint64_t elements;

        plain.is_alone = false;
        elements = save(all, capture, &plain);
        is_any |= save(quiet, capture, &ways[i]) < elements;
        check_same_files(quiet, all);
    }
    tw_capture_free(capture);
    return is_any;
}

static void what_changes_a_stack_is_all_that_calls_need(void **state)
{
    (void)state;
    CHECK(check_capture(TW_SOURCE_DIR "/tests/captures/demo", NULL));
}

static void of_captures_of_the_corpus_too(void **state)
{
    static const char *const snapshots[] = {
        "bugfix-exact-match-part", "001-ack_test",      "juno_r1_1",   "a55-test-tpiu-part",
        "trace_cov_a15",           "maxspec0_commopt1", "tme_tcancel", "ete_spec_1",
    };
    char path[ROOM], relative[ROOM];
    unsigned times = 0;

    (void)state;
    for (size_t i = 0; i < sizeof snapshots / sizeof snapshots[0]; i++) {
        (void)snprintf(relative, sizeof relative, "coresight/snapshots/%s", snapshots[i]);
        check_corpus(path, sizeof path, relative);
        times += check_capture(path, NULL);
    }
    CHECK(times >= 3);
}

static void of_perf_data_too(void **state)
{
    char path[ROOM], root[ROOM];

    (void)state;
    check_corpus(root, sizeof root, "perf/root");
    check_corpus(path, sizeof path, "perf/p06-cc1-perthread-etmv4-v1.perf.data");
    CHECK(check_capture(path, root));
    check_corpus(path, sizeof path, "perf/p03-juno-kernel-6cpu-etmv4-v1.perf.data");
    (void)check_capture(path, root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_a_stack_is_all_that_calls_need),
        cmocka_unit_test(of_captures_of_the_corpus_too),
        cmocka_unit_test(of_perf_data_too),
    };
    char command[ROOM];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests_name("call quiet", tests, NULL, NULL);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) < 0 ? 1 : failed;
}
