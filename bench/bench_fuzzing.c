/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge maps for fuzzing: a thousand captures of 3 KiB, one after the other through one decoder, on one core;
   and beside that, `trackway stats` started a thousand times, which is what there is without such a call.  The captures
   are cut out of a longer trace with a synchronization point every 256 bytes: what comes before the first is
   lost. */
#include "subject.h"

#include <inttypes.h>

enum { CAPTURES = 1000, SIZE = 3 << 10 };

/* Captures a second. */
static double map_all(const struct subject *subject)
{
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .sources = subject->sources,
                                               .source_count = 1,
                                               .framing = subject->framing };
    struct tw_edge_map *map;
    struct tw_fault fault;
    struct bench_times times;
    uint64_t edges = 0, instructions = 0;
    uint8_t *bytes;

    if (tw_edge_map_new(&map, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    bytes = bench_allocate(tw_edge_map_size(map));
    for (unsigned i = 0; i < bench_passes(); i++) {
        const uint64_t begin = bench_now();

        edges = instructions = 0;
        for (size_t k = 0; k < CAPTURES; k++) {
            struct tw_edge_map_result result = { .size = sizeof result };

            bench_need(tw_edge_map_take(map, bytes, subject->data + k * SIZE, SIZE, &result),
                       "edge map");
            edges += result.edges;
            instructions += result.instructions;
        }
        times.all[i] = bench_now() - begin;
    }
    if (!edges || instructions < 1000 * CAPTURES)
        bench_stop("the captures hold nothing");
    (void)printf("# %s: %" PRIu64 " instructions and %" PRIu64 " edges in a capture\n",
                 subject->name, instructions / CAPTURES, edges / CAPTURES);
    bench_sort(&times);
    free(bytes);
    tw_edge_map_free(map);
    return CAPTURES * 1e9 / bench_best(&times);
}

/* The same by starts of the tool: captures a second. */
static double start_all(const struct subject *subject, char *tool)
{
    const unsigned starts = bench_is_quick() ? 20 : CAPTURES;
    char folder[600], snapshot[700];
    char *words[] = { tool, "stats", snapshot, "-q", NULL };
    struct subject one = *subject;
    uint64_t all = 0;

    one.size = SIZE;
    bench_make_folder(folder, sizeof folder);
    (void)snprintf(snapshot, sizeof snapshot, "%s/snapshot", folder);
    subject_write(&one, snapshot);
    for (unsigned i = 0; i < starts; i++) {
        const struct bench_run run = bench_run(words, "/dev/null", 1);

        if (!run.is_there)
            bench_stop("trackway stats");
        all += run.cpu;
    }
    bench_remove_folder(folder);
    return starts * 1e9 / (double)all;
}

static void measure(const char *what, const char *name, char *tool)
{
    char result[100];
    struct subject subject;
    double maps, starts;

    if (!subject_open(&subject, what))
        return;
    if (subject.size < (size_t)CAPTURES * SIZE)
        bench_stop("%s is too short", what);
    maps = map_all(&subject);
    starts = start_all(&subject, tool);
    (void)snprintf(result, sizeof result, "fuzzing/%s", name);
    bench_result(result, maps, "  captures of 3 KiB a second, one core");
    (void)snprintf(result, sizeof result, "fuzzing/%s/of-starts", name);
    bench_result(result, maps / starts, "  times trackway stats, %.0f a second", starts);
    subject_free(&subject);
}

int main(int count, char **words)
{
    static char tool[700];

    (void)count;
    bench_pin();
    bench_find_tool(tool, sizeof tool, words[0]);
    measure("made/etmv4,kib=3000,sync=256", "etmv4", tool);
    measure("made/etrace,kib=3000,sync=256", "etrace", tool);
    (void)puts("# AFL's qemu mode: skipped, no package of Debian has afl-qemu-trace");
    return 0;
}
