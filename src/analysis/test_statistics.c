/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted over a run is what each tree counts: two counts of every capture's packets. */
#include "check.h"

#include "all_runs.h"

#include <trackway/analysis.h>

/* All packets of a buffer through a tree of its own. */
static void list_packets(struct run_tree *to, const struct tw_capture *capture, size_t buffer)
{
    struct tw_packet_view view = { .size = sizeof view };
    const uint8_t *bytes;
    size_t size;

    CHECK_EQ(run_tree_new(to, capture, buffer, (struct tw_tree_config){ .packets_only = true }),
             TW_OK);
    for (uint64_t at = 0; tw_capture_read(capture, &bytes, &size, buffer, at) == TW_OK;
         at += size) {
        CHECK_EQ(tw_tree_feed(to->tree, bytes, size), TW_OK);
        while (tw_tree_next_packet(to->tree, &view) == TW_OK) {
        }
    }
    CHECK_EQ(tw_tree_finish(to->tree), TW_OK);
    while (tw_tree_next_packet(to->tree, &view) == TW_OK) {
    }
}

static struct tw_statistics *take_packets(struct tw_capture *capture)
{
    const struct tw_run_config config = { .size = sizeof config, .packets_only = true };
    struct tw_statistics *statistics;
    struct tw_run *run;

    CHECK_EQ(tw_statistics_new(&statistics, capture, NULL, NULL), TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    tw_statistics_begin_packets(statistics, run, false);
    CHECK_EQ(tw_statistics_end_packets(statistics), TW_OK);
    tw_run_free(run);
    return statistics;
}

static void check_capture(struct tw_capture *capture)
{
    struct tw_statistics *statistics = take_packets(capture);
    struct tw_source_statistics source = { .size = sizeof source };

    for (size_t i = 0; tw_statistics_source(statistics, &source, i); i++) {
        const struct tw_source_stats *stats;
        struct run_tree made;

        list_packets(&made, capture, source.buffer_number);
        stats = tw_tree_source_stats(made.tree, source.id);
        CHECK(stats != NULL);
        CHECK_EQ(source.syncs, stats->syncs);
        CHECK_EQ(source.packets, stats->packets);
        CHECK_EQ(source.bad, stats->bad_packets);
        tw_tree_free(made.tree);
    }
    tw_statistics_free(statistics);
}

static void a_run_counts_what_its_trees_count(void **state)
{
    struct runs runs = runs_find();

    (void)state;
    for (size_t i = 0; i < runs.count; i++) {
        const struct run *run = &runs.runs[i];
        struct tw_capture *capture;

        if (run->sysroot[0] || (run->protocol && strstr(run->protocol, "trace") && i % 32) ||
            run_open(&capture, run, NULL, NULL) != TW_OK)
            continue;
        CHECK_CASE(run->path);
        check_capture(capture);
        tw_capture_free(capture);
    }
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_counts_what_its_trees_count),
    };

    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
