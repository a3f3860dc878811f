/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode of PTM and ETMv3 captures beside OpenCSD, alternating in one process: with the block
   cache warm and with a new decoder for each pass.  The numbers of ranges and instructions must
   agree before a ratio is printed. */
#define _GNU_SOURCE /* sched_setaffinity, popen */

#include "peer.h"

#include <inttypes.h>

/* The captures are small: one measurement is so many passes. */
enum { REPEAT = 20 };

static const char *const snapshots[] = { "tc2-ptm-rstk-t32-part", "TC2", "Snowball" };

static struct peer_counts ours;

static struct tw_tree *make_tree(const struct tw_capture *capture)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = tw_capture_buffer(capture, 0)->framing };
    struct tw_tree *tree;
    struct tw_fault fault;

    if (tw_tree_new(&tree, &config, &fault) != TW_OK)
        bench_stop(fault.text);
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *from = tw_capture_source(capture, i);
        const struct tw_tree_source source = {
            .size = sizeof source,
            .protocol = from->protocol,
            .registers = from->registers,
            .register_count = from->register_count,
            .type = from->type,
            .core_type = from->core_type,
            .id = from->id,
            .image = from->image == TW_NONE ? NULL : tw_capture_image(capture, from->image),
        };

        /* The peer's package has no ITM; that source is empty in these captures. */
        if (from->protocol && strcmp(from->protocol, "itm") != 0 &&
            tw_capture_source_is_in(capture, i, 0, 0) &&
            tw_tree_add_source(tree, NULL, &source) != TW_OK)
            bench_stop(tw_tree_fault(tree));
    }
    return tree;
}

static void take(struct tw_tree *tree)
{
    struct tw_batch batch;

    while (tw_tree_next(tree, &batch) == TW_OK) {
        ours.elements += batch.count;
        for (size_t i = 0; i < batch.count; i++) {
            const uint64_t is_range = batch.elements[i].type == TW_ELEMENT_INSTR_RANGE;

            ours.ranges += is_range;
            ours.instructions += batch.elements[i].count & (0 - is_range);
        }
    }
}

static void decode_pass(struct tw_tree *tree, const uint8_t *data, size_t size)
{
    memset(&ours, 0, sizeof ours);
    tw_tree_reset(tree, 0);
    if (tw_tree_feed(tree, data, size) != TW_OK || tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    take(tree);
}

static void check_equal(const char *name, const struct peer *peer)
{
    if (!peer ||
        (peer->counts.ranges == ours.ranges && peer->counts.instructions == ours.instructions))
        return;
    (void)fprintf(stderr,
                  "bench: %s: ranges %" PRIu64 " and %" PRIu64 ", instructions %" PRIu64
                  " and %" PRIu64 "\n",
                  name, ours.ranges, peer->counts.ranges, ours.instructions,
                  peer->counts.instructions);
    exit(1);
}

static void report(const char *name, const char *mode, size_t size, struct bench_times *mine,
                   struct bench_times *theirs)
{
    bench_sort(mine);
    printf("%-5s %-22s %6zu bytes %6.1f MB/s %6.0f M instructions/s %5.2f ns/range", mode, name,
           size, (double)size * REPEAT * 1e3 / bench_best(mine),
           (double)ours.instructions * REPEAT * 1e3 / bench_best(mine),
           bench_best(mine) / (double)ours.ranges / REPEAT);
    if (theirs) {
        bench_sort(theirs);
        printf("; peer %5.1f MB/s: %.1fx best, %.1fx median\nratio ptm-etmv3/%s/%s %.2f",
               (double)size * REPEAT * 1e3 / bench_best(theirs),
               bench_best(theirs) / bench_best(mine), bench_median(theirs) / bench_median(mine),
               name, mode, bench_best(theirs) / bench_best(mine));
    }
    printf("\n");
}

static void run(const char *name, const struct tw_capture *capture, const uint8_t *data,
                size_t size, bool is_new)
{
    struct tw_tree *tree = make_tree(capture);
    struct peer *peer = peer_new(capture, 0, false);
    struct bench_times mine, theirs;

    decode_pass(tree, data, size);
    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();
        uint64_t middle;

        for (unsigned j = 0; j < REPEAT; j++) {
            if (is_new) {
                tw_tree_free(tree);
                tree = make_tree(capture);
            }
            decode_pass(tree, data, size);
        }
        middle = bench_now();
        mine.all[i] = middle - start;
        for (unsigned j = 0; peer && j < REPEAT; j++)
            peer_pass(peer, data, size);
        theirs.all[i] = bench_now() - middle;
        check_equal(name, peer);
    }
    report(name, is_new ? "new" : "warm", size, &mine, peer ? &theirs : NULL);
    peer_free(peer);
    tw_tree_free(tree);
}

int main(void)
{
    size_t count = 0;

    bench_pin();
    printf("peer: OpenCSD %s\n", peer_name());
    for (size_t i = 0; i < sizeof snapshots / sizeof snapshots[0]; i++) {
        struct tw_capture *capture;
        struct tw_fault fault;
        const uint8_t *data;
        char path[600];
        size_t size;

        if (!bench_snapshot(path, sizeof path, snapshots[i]))
            continue;
        if (tw_capture_open(&capture, path, NULL, &fault) != TW_OK)
            bench_stop(fault.text);
        if (tw_capture_read(capture, 0, 0, &data, &size) != TW_OK)
            bench_stop("the capture is empty");
        run(snapshots[i], capture, data, size, false);
        run(snapshots[i], capture, data, size, true);
        tw_capture_free(capture);
        count++;
    }
    if (!count)
        printf("skipped: no corpus\n");
    return 0;
}
