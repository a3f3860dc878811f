/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf.data file of the corpus (p06) beside Debian's perf in the same run: decoding alone, and
   printing every branch.  Opening the file and finding the program count on both sides; the number
   of instructions must be right before anything is timed. */
#define _GNU_SOURCE /* sched_setaffinity, wait4, popen */

#include "harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trackway/perfdata.h>
#include <trackway/tree.h>

enum { RUNS = 5, WINDOW = 1 << 20, INSTRUCTIONS = 7581461 };

static char perf_file[600], perf_root[600];

static bool find_corpus(void)
{
    const char *named = getenv("TRACKWAY_CORPUS");
    const char *corpus = named ? named : "../shared/corpus";

    (void)snprintf(perf_file, sizeof perf_file, "%s/perf/p06-cc1-perthread-etmv4-v1.perf.data",
                   corpus);
    (void)snprintf(perf_root, sizeof perf_root, "%s/perf/root", corpus);
    return access(perf_file, R_OK) == 0;
}

static struct tw_tree *new_tree(const struct tw_capture *capture, struct tw_perf_lane *lanes)
{
    const struct tw_buffer *buffer = tw_capture_buffer(capture, 0);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = buffer->framing,
                                           .base = buffer->offset };
    struct tw_tree *tree;

    if (tw_tree_new(&tree, &config, NULL) != TW_OK)
        bench_stop("no tree");
    for (uint32_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_tree_source add = { .size = sizeof add,
                                            .protocol = source->protocol,
                                            .registers = source->registers,
                                            .register_count = source->register_count,
                                            .id = source->id,
                                            .image = tw_capture_image(capture, source->image),
                                            .view = tw_perf_look,
                                            .view_context = &lanes[i] };

        lanes[i] = (struct tw_perf_lane){ .perf = tw_capture_perf(capture), .source = i };
        if (tw_tree_add_source(tree, NULL, &add) != TW_OK)
            bench_stop(tw_tree_fault(tree));
    }
    return tree;
}

/* Opens the file and decodes it; the number of instructions. */
static uint64_t decode(void)
{
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = perf_root };
    struct tw_perf_lane lanes[64];
    struct tw_capture *capture;
    struct tw_fault fault;
    struct tw_tree *tree;
    struct tw_batch batch;
    uint64_t count = 0, fed = 0;
    enum tw_status status = TW_MORE;

    if (tw_capture_open(&capture, perf_file, &options, &fault) != TW_OK)
        bench_stop(fault.text);
    tree = new_tree(capture, lanes);
    while (status != TW_END) {
        const uint8_t *bytes;
        size_t size;

        status = tw_capture_read(capture, 0, fed, &bytes, &size);
        size = size < WINDOW ? size : WINDOW;
        fed += size;
        if ((status == TW_END ? tw_tree_finish(tree) : tw_tree_feed(tree, bytes, size)) !=
            TW_OK)
            bench_stop("decoding failed");
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count; i++)
                if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                    count += batch.elements[i].count;
    }
    tw_tree_free(tree);
    tw_capture_free(capture);
    return count;
}

/* CPU time of a program with its output thrown away, in ns; the best of some runs; 0: it failed. */
static double time_of(char *const words[])
{
    double best = 0;

    for (int run = 0; run < RUNS; run++) {
        struct rusage used;
        double time;
        int status;
        const pid_t child = fork();

        if (child == 0) {
            const int null = open("/dev/null", O_RDWR);

            (void)dup2(null, 0);
            (void)dup2(null, 1);
            (void)dup2(null, 2);
            (void)execvp(words[0], words);
            _exit(127);
        }
        if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) > 1)
            return 0;
        time = 1e9 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
        if (run == 0 || time < best)
            best = time;
    }
    return best;
}

/* The tool is built one folder up. */
static void find_tool(char *path, size_t room, const char *program)
{
    const char *slash = strrchr(program, '/');

    (void)snprintf(path, room, "%.*s../trackway", slash ? (int)(slash + 1 - program) : 0,
                   program);
}

static double time_ours(void)
{
    struct bench_times times;

    for (int i = 0; i < BENCH_PASSES; i++) {
        const uint64_t begin = bench_now();

        if (decode() != INSTRUCTIONS)
            bench_stop("p06 has another number of instructions");
        times.all[i] = bench_now() - begin;
    }
    bench_sort(&times);
    return bench_median(&times);
}

int main(int count, char **arguments)
{
    char tool[700];
    char *decode_words[] = { "perf",    "script",  "--itrace=b", "-i",     perf_file,
                             "--symfs", perf_root, "--comms",    "nobody", NULL };
    char *print_words[] = { "perf",    "script",  "--itrace=b",
                            "-i",      perf_file, "--symfs",
                            perf_root, "-F",      "comm,pid,tid,cpu,ip,addr,flags",
                            NULL };
    char *tool_words[] = { tool, "branches", perf_file, "--sysroot", perf_root, "-q", NULL };
    double ours, print, peer, peer_print;

    (void)count;
    if (!find_corpus()) {
        (void)puts("skipped: no corpus");
        return 0;
    }
    find_tool(tool, sizeof tool, arguments[0]);
    bench_pin();
    ours = time_ours();
    print = time_of(tool_words);
    (void)printf("perf/decode    p06 opened and decoded %.2f ms, %.0f million instructions/s\n",
                 ours / 1e6, INSTRUCTIONS / ours * 1e3);
    (void)printf("perf/branches  trackway branches %.2f ms\n", print / 1e6);
    peer = time_of(decode_words);
    peer_print = time_of(print_words);
    if (!peer || !peer_print || !print) {
        (void)puts("no perf to compare with");
        return 0;
    }
    (void)printf("perf script    without output %.2f ms, printing %.2f ms\n", peer / 1e6,
                 peer_print / 1e6);
    (void)printf("ratio perf/decode %.2f\nratio perf/branches %.2f\n", peer / ours,
                 peer_print / print);
    return 0;
}
