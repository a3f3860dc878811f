/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf.data file of the corpus (p06) beside Debian's perf: decoding alone, and printing every
   branch.  Opening the file and finding the program count on both sides; the number of instructions
   must be right before anything is timed. */
#include "harness.h"

#include <trackway/perfdata.h>
#include <trackway/tree.h>

enum { RUNS = 5, WINDOW = 1 << 20, INSTRUCTIONS = 7581461 };

static char perf_file[700], perf_root[700];

static struct tw_tree *new_tree(const struct tw_capture *capture,
                                struct tw_perf_cursor *cursors)
{
    const struct tw_buffer *buffer = tw_capture_buffer(capture, 0);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = buffer->framing,
                                           .base = buffer->offset };
    struct tw_tree *tree;

    bench_need(tw_tree_new(&tree, &config, NULL), "tree");
    for (uint32_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_tree_source add = { .size = sizeof add,
                                            .protocol = source->protocol,
                                            .registers = source->registers,
                                            .register_count = source->register_count,
                                            .id = source->id,
                                            .image = tw_capture_image(capture, source->image),
                                            .view = tw_perf_look,
                                            .view_context = &cursors[i] };

        cursors[i] = (struct tw_perf_cursor){ .perf = tw_capture_perf(capture), .source = i };
        if (tw_tree_add_source(tree, NULL, &add) != TW_OK)
            bench_stop("%s", tw_tree_fault(tree));
    }
    return tree;
}

/* Opens the file and decodes it; the number of instructions. */
static uint64_t decode(void)
{
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = perf_root };
    struct tw_perf_cursor cursors[64];
    struct tw_capture *capture;
    struct tw_fault fault;
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t count = 0, fed = 0;
    enum tw_status status = TW_MORE;

    if (tw_capture_open(&capture, perf_file, &options, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    tree = new_tree(capture, cursors);
    while (status != TW_END) {
        const uint8_t *bytes;
        size_t size;

        status = tw_capture_read(capture, &bytes, &size, 0, fed);
        size = size < WINDOW ? size : WINDOW;
        fed += size;
        bench_need(status == TW_END ? tw_tree_finish(tree) : tw_tree_feed(tree, bytes, size),
                   "decode");
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count; i++)
                if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                    count += batch.elements[i].count;
    }
    tw_tree_free(tree);
    tw_capture_free(capture);
    return count;
}

static double time_decode(void)
{
    struct bench_times times;

    for (unsigned i = 0; i < bench_passes(); i++) {
        const uint64_t begin = bench_now();

        if (decode() != INSTRUCTIONS)
            bench_stop("p06 has another number of instructions");
        times.all[i] = bench_now() - begin;
    }
    bench_sort(&times);
    return bench_median(&times);
}

static double time_program(char *const words[])
{
    return (double)bench_run(words, "/dev/null", bench_is_quick() ? 1 : RUNS).cpu;
}

int main(int count, char **words)
{
    char tool[700];
    char *peer_decode[] = { "perf",    "script",  "--itrace=b", "-i",     perf_file,
                            "--symfs", perf_root, "--comms",    "nobody", NULL };
    char *peer_print[] = { "perf",    "script",  "--itrace=b",
                           "-i",      perf_file, "--symfs",
                           perf_root, "-F",      "comm,pid,tid,cpu,ip,addr,flags",
                           NULL };
    char *our_print[] = { tool, "branches", perf_file, "--sysroot", perf_root, "-q", NULL };
    double decoded, printed, peer_decoded, peer_printed;

    (void)count;
    (void)puts("# perf: CPU time of perf script by ours");
    if (!bench_corpus(perf_file, sizeof perf_file,
                      "perf/p06-cc1-perthread-etmv4-v1.perf.data")) {
        (void)puts("# p06: skipped, no corpus");
        return 0;
    }
    (void)bench_corpus(perf_root, sizeof perf_root, "perf/root");
    bench_find_tool(tool, sizeof tool, words[0]);
    bench_pin();
    decoded = time_decode();
    printed = time_program(our_print);
    peer_decoded = time_program(peer_decode);
    peer_printed = time_program(peer_print);
    if (printed <= 0)
        bench_stop("trackway branches failed");
    bench_result("perf/decode", peer_decoded / decoded,
                 "  %.1f ms, perf script without output %.1f ms of CPU", decoded / 1e6,
                 peer_decoded / 1e6);
    bench_result("perf/branches", peer_printed / printed,
                 "  %.1f ms, perf script printing %.1f ms of CPU", printed / 1e6,
                 peer_printed / 1e6);
    return 0;
}
