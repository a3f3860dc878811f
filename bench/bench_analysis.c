/* SPDX-License-Identifier: BSD-2-Clause */
/* Analyses beside plain decoding, of the same capture through the same run: a profile by function on one
   thread and on two, and calls; and the profile of a perf.data file beside perf's own report.  The
   number of instructions must be the same before anything is timed. */
#include "subject.h"

#include <unistd.h>

enum { RUNS = 15 };

#define STACKCOLLAPSE "/usr/lib/perf-core/scripts/python/stackcollapse.py"

enum what { PLAIN, SELF, CALLS, COUNTED_CALLS, WHATS };

/* What any program does that decodes: looks at every element. */
static uint64_t plain_pass(struct tw_run *run)
{
    struct tw_part part = { .size = sizeof part };
    uint64_t instructions = 0;

    while (tw_run_next(run, &part) == TW_OK)
        for (size_t i = 0; i < part.batch.count && part.kind == TW_PART_ELEMENTS; i++)
            if (part.batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                instructions += part.batch.elements[i].count;
    return instructions;
}

static uint64_t calls_pass(struct tw_run *run)
{
    const struct tw_calls_config config = { .size = sizeof config };
    struct tw_part part = { .size = sizeof part };
    struct tw_calls *calls;
    uint64_t instructions;

    bench_need(tw_calls_new(&calls, &config, NULL), "calls");
    tw_calls_take_alone(calls, run);
    while (tw_run_next(run, &part) == TW_OK)
        bench_need(tw_calls_take(calls, run, &part), "calls");
    tw_calls_finish(calls);
    instructions = tw_calls_stats(calls).instructions;
    tw_calls_free(calls);
    return instructions;
}

static uint64_t counted_calls_pass(struct tw_run *run, struct tw_calls *calls)
{
    tw_calls_run(calls, run);
    bench_need(tw_run_all(run), "calls");
    if (!tw_calls_is_complete(calls))
        bench_stop("no memory for calls");
    tw_calls_finish(calls);
    return tw_calls_stats(calls).instructions;
}

static uint64_t self_pass(struct tw_run *run, struct tw_profiler *profile)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    tw_profile_run(profile, run);
    bench_need(tw_run_all(run), "profile");
    bench_need(tw_profile_finish(profile), "profile");
    if (!tw_profile_totals(profile, &totals))
        bench_stop("totals");
    return totals.instructions;
}

static uint64_t pass(struct tw_capture *capture, enum what what, uint32_t threads)
{
    const struct tw_profile_config about = { .size = sizeof about };
    struct tw_run_config config = { .size = sizeof config, .threads = threads };
    const struct tw_calls_config about_calls = { .size = sizeof about_calls };
    struct tw_profiler *profile = NULL;
    struct tw_calls *calls = NULL;
    struct tw_run_counter counter;
    struct tw_run *run;
    struct tw_fault fault;
    uint64_t instructions;

    if (what == SELF) {
        bench_need(tw_profile_new(&profile, &about, NULL), "profile");
        counter = tw_profile_counter(profile);
        config.counter = &counter;
    } else if (what == COUNTED_CALLS) {
        bench_need(tw_calls_new(&calls, &about_calls, NULL), "calls");
        counter = tw_calls_counter(calls);
        config.counter = &counter;
    }
    if (tw_run_new(&run, capture, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    instructions = what == PLAIN   ? plain_pass(run)
                   : what == CALLS ? calls_pass(run)
                   : what == SELF  ? self_pass(run, profile)
                                   : counted_calls_pass(run, calls);
    tw_profile_free(profile);
    tw_calls_free(calls);
    tw_run_free(run);
    return instructions;
}

static double best(struct tw_capture *capture, enum what what, uint32_t threads, uint64_t want)
{
    struct bench_times times;

    for (unsigned i = 0; i < bench_passes(); i++) {
        const uint64_t begin = threads > 1 ? bench_wall() : bench_all_cpu();

        if (pass(capture, what, threads) != want)
            bench_stop("another number of instructions");
        times.all[i] = (threads > 1 ? bench_wall() : bench_all_cpu()) - begin;
    }
    bench_sort(&times);
    return bench_best(&times);
}

/* A large trace without timestamps, as a snapshot. */
struct large {
    char folder[600];
    struct tw_capture *capture;
};

static bool large_open(struct large *large, const char *name)
{
    struct tw_capture_options options = { .size = sizeof options };
    struct tw_fault fault;
    struct subject subject;
    char snapshot[700];

    if (!subject_open(&subject, name))
        return false;
    bench_make_folder(large->folder, sizeof large->folder);
    (void)snprintf(snapshot, sizeof snapshot, "%s/snapshot", large->folder);
    subject_write(&subject, snapshot);
    subject_free(&subject);
    if (tw_capture_open(&large->capture, snapshot, &options, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    return true;
}

static void large_close(struct large *large)
{
    tw_capture_free(large->capture);
    bench_remove_folder(large->folder);
}

static void measure_profile(void)
{
    struct large large;
    double plain, one, two;
    uint64_t want;

    if (!large_open(&large, "made/etmv4,mib=16"))
        return;
    want = pass(large.capture, PLAIN, 1);
    plain = best(large.capture, PLAIN, 1, want);
    one = best(large.capture, SELF, 1, want);
    two = best(large.capture, SELF, 2, want);
    bench_result("profile/of-decode", plain / one,
                 "  %.1f ms; decoding alone %.1f ms of CPU: by function, on one thread",
                 one / 1e6, plain / 1e6);
    bench_result("profile/two-16-mib", one / two, "  two threads, times one, wall clock");
    one = best(large.capture, CALLS, 1, want);
    two = best(large.capture, COUNTED_CALLS, 2, want);
    bench_result("calls/two", one / two, "  the tree of calls: two threads, times one");
    large_close(&large);
}

/* Each thread learns the code for itself, and adds up what it counted by window: the longer the trace, the less that is of it. */
static void measure_two(void)
{
    struct large large;
    uint64_t want;
    double one;

    if (!large_open(&large, "made/etmv4,mib=64"))
        return;
    want = pass(large.capture, SELF, 1);
    one = best(large.capture, SELF, 1, want);
    bench_result("profile/two", one / best(large.capture, SELF, 2, want),
                 "  the same of 64 MiB, %.1f ms on one thread", one / 1e6);
    large_close(&large);
}

static double time_program(char *const words[])
{
    return (double)bench_run(words, "/dev/null", bench_is_quick() ? 1 : RUNS).cpu;
}

/* The profile as the tool prints it, with what functions called and how often, and the exact stacks, beside what perf makes of samples.
   p06 has no symbols: functions are named by where control entered them, and --self, which does not follow calls, has two rows. */
static void measure_calls(char *tool)
{
    static char file[700], root[700];
    struct tw_capture_options options = { .size = sizeof options, .sysroot = root };
    char *ours[] = { tool, "profile", file, "--sysroot", root, "-q", NULL };
    char *self[] = { tool, "profile", file, "--self", "--sysroot", root, "-q", NULL };
    char *report[] = { "perf",    "report", "--stdio", "--itrace=i1000i", "-i", file,
                       "--symfs", root,     NULL };
    /* What "perf script report stackcollapse" runs, on the same samples. */
    char *collapse[] = { "perf", "script", "--itrace=i1000i", "-i", file, "--symfs",
                         root,   "-s",     STACKCOLLAPSE,     NULL };
    char *folded[] = { tool,     "profile",   file, "--by", "stack", "--format",
                       "folded", "--sysroot", root, "-q",   NULL };
    struct tw_capture *capture;
    struct tw_fault fault;
    double plain, calls, our_time, self_time, peer;
    uint64_t want;

    if (!bench_corpus(file, sizeof file, "perf/p06-cc1-perthread-etmv4-v1.perf.data")) {
        (void)puts("# p06: skipped, no corpus");
        return;
    }
    (void)bench_corpus(root, sizeof root, "perf/root");
    if (tw_capture_open(&capture, file, &options, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    want = pass(capture, PLAIN, 1);
    plain = best(capture, PLAIN, 1, want);
    calls = best(capture, CALLS, 1, want);
    bench_result("calls/of-decode", plain / calls,
                 "  %.1f ms; decoding alone %.1f ms of CPU: the tree of calls", calls / 1e6,
                 plain / 1e6);
    tw_capture_free(capture);
    our_time = time_program(ours);
    self_time = time_program(self);
    peer = time_program(report);
    if (self_time > 0 && peer > 0)
        bench_result("profile/self-perf-report", peer / self_time,
                     "  %.1f ms, perf report --itrace=i1000i %.1f ms of CPU", self_time / 1e6,
                     peer / 1e6);
    if (our_time > 0 && peer > 0)
        bench_result("profile/perf-report", peer / our_time,
                     "  %.1f ms, perf report --itrace=i1000i %.1f ms of CPU", our_time / 1e6,
                     peer / 1e6);
    peer = access(STACKCOLLAPSE, R_OK) == 0 ? time_program(collapse) : 0;
    if (our_time > 0 && peer > 0)
        bench_result("profile/stackcollapse", peer / our_time,
                     "  %.1f ms, perf script report stackcollapse %.1f ms of CPU",
                     our_time / 1e6, peer / 1e6);
    our_time = time_program(folded);
    if (our_time > 0 && peer > 0)
        bench_result("calls/stackcollapse", peer / our_time,
                     "  %.1f ms for the exact stacks, perf script report stackcollapse %.1f ms",
                     our_time / 1e6, peer / 1e6);
}

int main(int count, char **words)
{
    char tool[700];

    (void)count;
    bench_keep_memory();
    (void)puts("# analyses: CPU time beside decoding alone, and beside perf");
    bench_find_tool(tool, sizeof tool, words[0]);
    measure_profile();
    measure_two();
    measure_calls(tool);
    return 0;
}
