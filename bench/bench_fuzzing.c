/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge maps for fuzzing: a thousand captures of 3 KiB, one after the other through one decoder, on one core;
   and beside that, `trackway stats` started a thousand times, which is what there is without such a call.  The captures
   are cut out of a longer trace with a synchronization point every 256 bytes: what comes before the first is
   lost. */
#include "subject.h"

#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"

enum { CAPTURES = 1000, SIZE = 3 << 10 };

/* A map, and the bytes that it writes. */
struct maps {
    struct tw_edge_map *map;
    uint8_t *bytes;
    uint64_t edges, instructions; /* of all captures */
};

static struct maps begin(const struct subject *subject)
{
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .sources = subject->sources,
                                               .source_count = 1,
                                               .framing = subject->framing };
    struct maps maps = { .edges = 0 };
    struct tw_fault fault;

    if (tw_edge_map_new(&maps.map, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    maps.bytes = bench_allocate(tw_edge_map_size(maps.map));
    return maps;
}

static void end(struct maps *maps)
{
    free(maps->bytes);
    tw_edge_map_free(maps->map);
}

static void take_all(struct maps *maps, const struct subject *subject)
{
    maps->edges = maps->instructions = 0;
    for (size_t k = 0; k < CAPTURES; k++) {
        struct tw_edge_map_result result = { .size = sizeof result };

        bench_need(
            tw_edge_map_take(maps->map, maps->bytes, subject->data + k * SIZE, SIZE, &result),
            "edge map");
        maps->edges += result.edges;
        maps->instructions += result.instructions;
    }
    if (!maps->edges || maps->instructions < 1000 * CAPTURES)
        bench_stop("the captures hold nothing");
}

/* An instruction counter looks at this function alone. */
void bench_counted(struct maps *maps, const struct subject *subject);
TW_NOINLINE void bench_counted(struct maps *maps, const struct subject *subject)
{
    take_all(maps, subject);
}

/* Captures a second. */
static double map_all(const struct subject *subject)
{
    struct maps maps = begin(subject);
    struct bench_times times;

    for (unsigned i = 0; i < bench_passes(); i++) {
        const uint64_t begun = bench_now();

        take_all(&maps, subject);
        times.all[i] = bench_now() - begun;
    }
    (void)printf("# %s: %" PRIu64 " instructions and %" PRIu64 " edges in a capture\n",
                 subject->name, maps.instructions / CAPTURES, maps.edges / CAPTURES);
    bench_sort(&times);
    end(&maps);
    return CAPTURES * 1e9 / bench_best(&times);
}

/* Processes of this command line a second, by their CPU time. */
static double starts_of(char **words)
{
    const unsigned starts = bench_is_quick() ? 20 : CAPTURES;
    uint64_t all = 0;

    for (unsigned i = 0; i < starts; i++) {
        const struct bench_run run = bench_run(words, "/dev/null", 1);

        if (!run.is_there)
            bench_stop("%s", words[0]);
        all += run.cpu;
    }
    return starts * 1e9 / (double)all;
}

/* The same by starts of the tool: captures a second. */
static double start_all(const struct subject *subject, char *tool)
{
    char folder[600], snapshot[700];
    char *words[] = { tool, "stats", snapshot, "-q", NULL };
    struct subject one = *subject;
    double starts;

    one.size = SIZE;
    bench_make_folder(folder, sizeof folder);
    (void)snprintf(snapshot, sizeof snapshot, "%s/snapshot", folder);
    subject_write(&one, snapshot);
    starts = starts_of(words);
    bench_remove_folder(folder);
    return starts;
}

static void measure(const char *what, const char *name, char *tool)
{
    char result[100];
    char *nothing[] = { "true", NULL };
    struct subject subject;
    double maps, starts, nothings;

    if (!subject_open(&subject, what))
        return;
    if (subject.size < (size_t)CAPTURES * SIZE)
        bench_stop("%s is too short", what);
    maps = map_all(&subject);
    starts = start_all(&subject, tool);
    nothings = starts_of(nothing);
    (void)snprintf(result, sizeof result, "fuzzing/%s", name);
    bench_result(result, maps, "  captures of 3 KiB a second, one core");
    (void)snprintf(result, sizeof result, "fuzzing/%s/of-starts", name);
    bench_result(result, maps / starts, "  times trackway stats, %.0f a second", starts);
    (void)snprintf(result, sizeof result, "fuzzing/%s/of-nothing", name);
    bench_result(result, maps / nothings, "  times a process that does nothing, %.0f a second",
                 nothings);
    subject_free(&subject);
}

/* For an instruction counter: one pass with all blocks known; prints captures and traced instructions. */
static void count_once(const char *what)
{
    struct subject subject;
    struct maps maps;

    if (!subject_open(&subject, what))
        return;
    maps = begin(&subject);
    take_all(&maps, &subject);
    bench_counted(&maps, &subject);
    (void)printf("%d %" PRIu64 "\n", CAPTURES, maps.instructions);
    end(&maps);
    subject_free(&subject);
}

int main(int count, char **words)
{
    static char tool[700];

    bench_pin();
    if (count == 3 && strcmp(words[1], "--once") == 0) {
        count_once(words[2]);
        return 0;
    }
    bench_find_tool(tool, sizeof tool, words[0]);
    measure("made/etmv4,kib=3000,sync=256", "etmv4", tool);
    measure("made/etrace,kib=3000,sync=256", "etrace", tool);
    (void)puts("# AFL's qemu mode: skipped, no package of Debian has afl-qemu-trace");
    return 0;
}
