/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the command line, and the table that both programs print. */
#include "options.h"

#include <inttypes.h>

/* ns that a measurement takes at least: long enough for predictors to forget the other side's turn. */
enum { LEAST_TIME = 30000000 };

static const char *const usual[] = {
    "bugfix-exact-match-part",
    "juno-uname-001",
    "juno-uname-002",
    "juno_r1_1:ETB_0",
    "001-ack_test",
    "tc2-ptm-rstk-t32-part",
    "Snowball",
    "TC2#etmv3+ptm",
    "stm_only",
    "riscv/coremark-full-py-perf",
    "made/etmv4",
    "made/ete",
    "made/ptm",
    "made/etmv3",
    "made/stm",
    "made/itm",
    "made/etrace",
    "made/ntrace",
    "made/ntrace-btm",
};

static const char usage[] =
    "usage: bench_self|bench_peer [OPTION...] [SUBJECT...]\n"
    "\n"
    "SUBJECT: a snapshot of the corpus (NAME, NAME:BUFFER, NAME#PROTOCOL+PROTOCOL), "
    "riscv/CASE, or\n"
    "made/PROTOCOL[,KEY=VALUE...] with keys mib kib blocks locality indirect missing times "
    "sync seed.\n"
    "\n"
    "  --stage NAME   one-id, all-ids, packets, warm, counted or new; may be given again "
    "(default: "
    "all)\n"
    "  --mib N        the subject again and again, up to so many MiB\n"
    "  --ids N        cut into so many trace IDs, another with each frame (ETMv4, ETE)\n"
    "  --split        program memory in pieces of 4 KiB\n"
    "  --regions N    so many more regions of memory that are never executed\n"
    "  --threads N    full decode on so many threads (bench_self)\n"
    "  --once         one pass of one stage, in bench_counted, for an instruction counter\n"
    "  --write FOLDER the subject as a snapshot, and nothing measured\n";

static void set_value(struct options *options, const char *name, const char *value)
{
    const unsigned number = (unsigned)strtoul(value, NULL, 0);

    if (strcmp(name, "--stage") == 0)
        options->stages[bench_stage_by_name(value)] = true;
    else if (strcmp(name, "--mib") == 0)
        options->bytes = (size_t)number << 20;
    else if (strcmp(name, "--ids") == 0)
        options->ids = number;
    else if (strcmp(name, "--regions") == 0)
        options->regions = number;
    else if (strcmp(name, "--threads") == 0)
        options->threads = number;
    else if (strcmp(name, "--write") == 0)
        options->folder = value;
    else
        bench_stop("%s is not known\n%s", name, usage);
}

void options_read(struct options *options, int count, char **words)
{
    bool has_stage = false;

    *options = (struct options){ 0 };
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0) {
            (void)fputs(usage, stdout);
            exit(0);
        } else if (strcmp(words[i], "--split") == 0) {
            options->is_split = true;
        } else if (strcmp(words[i], "--once") == 0) {
            options->is_once = true;
        } else if (words[i][0] == '-') {
            if (i + 1 == count)
                bench_stop("%s wants a value", words[i]);
            set_value(options, words[i], words[i + 1]);
            i++;
        } else if (options->subject_count < OPTIONS_SUBJECTS) {
            options->subjects[options->subject_count++] = words[i];
        }
    }
    for (unsigned i = 0; i < BENCH_STAGES; i++)
        has_stage |= options->stages[i];
    for (unsigned i = 0; i < BENCH_STAGES; i++)
        options->stages[i] |= !has_stage;
    if (!options->subject_count) {
        memcpy(options->subjects, usual, sizeof usual);
        options->subject_count = sizeof usual / sizeof usual[0];
    }
}

bool options_open(const struct options *options, struct subject *subject, const char *what)
{
    if (!subject_open(subject, what))
        return false;
    if (options->ids)
        subject_spread(subject, options->ids);
    if (options->bytes)
        subject_repeat(subject, options->bytes);
    if (options->is_split)
        subject_split_code(subject);
    if (options->regions)
        subject_add_regions(subject, options->regions);
    return true;
}

bool options_fits(const struct subject *subject, enum bench_stage stage)
{
    const bool is_unframing = stage == BENCH_UNFRAME_ONE || stage == BENCH_UNFRAME_ALL;

    return !is_unframing || subject->framing == TW_FRAMING_MEMORY;
}

unsigned options_repeats(options_pass_fn *run, void *context)
{
    struct bench_counts counts;
    uint64_t start, taken;

    run(context, &counts); /* warms */
    start = bench_now();
    run(context, &counts);
    taken = bench_now() - start;
    return taken >= LEAST_TIME ? 1 : 1 + (unsigned)(LEAST_TIME / (taken + 1));
}

static void print_heads(void)
{
    static bool is_done;

    if (is_done)
        return;
    is_done = true;
    (void)printf("%-32s %10s %9s %9s %10s %9s %9s %8s %8s %8s\n", "# subject, stage", "bytes",
                 "packets", "ranges", "instr.", "best ms", "median", "MB/s", "M ins/s",
                 "ns/range");
}

void options_measure(const struct subject *subject, enum bench_stage stage,
                     options_pass_fn *run, void *context)
{
    const unsigned repeats = options_repeats(run, context);
    struct bench_counts counts = { 0 };
    struct bench_times times;
    char name[160];
    double best;

    for (unsigned i = 0; i < bench_passes(); i++) {
        const uint64_t start = bench_now();

        for (unsigned j = 0; j < repeats; j++)
            run(context, &counts);
        times.all[i] = (bench_now() - start) / repeats;
    }
    bench_sort(&times);
    best = bench_best(&times);
    print_heads();
    (void)snprintf(name, sizeof name, "%s/%s/%s", subject->protocol, subject->name,
                   bench_stage_name(stage));
    (void)printf("%-32s %10zu %9" PRIu64 " %9" PRIu64 " %10" PRIu64
                 " %9.3f %9.3f %8.1f %8.0f %8.2f\n",
                 name, subject->size, counts.packets, counts.ranges, counts.instructions,
                 best / 1e6, bench_median(&times) / 1e6, (double)subject->size * 1e3 / best,
                 (double)counts.instructions * 1e3 / best,
                 counts.ranges ? best / (double)counts.ranges : 0);
    (void)fflush(stdout);
}
