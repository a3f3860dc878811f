/* SPDX-License-Identifier: BSD-2-Clause */
/* Every protocol beside OpenCSD: passes of both in turn, in one process on one core.  The numbers of
   ranges and instructions must agree before a ratio is printed.  Without the peer, or for what it
   does not know, the ratio is left out. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <inttypes.h>
#include <unistd.h>

#include "options.h"
#include "ours.h"
#include "peer.h"

enum { FRAMES = 1, PACKETS = 2, FULL = 4, FIRST = 8, MOST = 2 };

static const struct {
    const char *subject;
    unsigned stages;
} cases[] = {
    { "bugfix-exact-match-part", FRAMES | PACKETS | FULL | FIRST },
    { "juno-uname-001", PACKETS | FULL },
    { "juno-uname-002", PACKETS | FULL },
    { "juno_r1_1:ETB_0", PACKETS | FULL },
    { "made/etmv4,kib=512", FRAMES | PACKETS | FULL },
    { "001-ack_test", PACKETS | FULL },
    { "made/ete,kib=256", PACKETS | FULL },
    { "tc2-ptm-rstk-t32-part", PACKETS | FULL },
    { "Snowball", PACKETS | FULL },
    { "made/ptm,kib=256", PACKETS | FULL },
    { "TC2#etmv3+ptm", PACKETS | FULL }, /* its ITM source is empty, and unknown to the peer */
    { "made/etmv3,kib=256", PACKETS | FULL },
    { "stm_only", PACKETS | FULL },
    { "made/stm", PACKETS | FULL },
    { "made/itm", PACKETS | FULL },
    { "riscv/coremark-full-py-perf", PACKETS | FULL },
    { "made/etrace,kib=512", PACKETS | FULL },
    { "made/ntrace,kib=512", PACKETS | FULL },
    { "made/ntrace-btm,kib=1024", PACKETS | FULL },
};

/* Traced instructions per second, full decode, warm, of the first capture (0) and the made subject
   (1) of a protocol. */
struct rates {
    double etmv4[2], etrace[2];
    double ntrace;         /* made, HTM: what E-Trace's maps of branches are */
    double ntrace_packets; /* MB/s, of the slower one of its modes */
};

static void run_ours(void *context, struct bench_counts *counts)
{
    ours_pass(context, counts);
}

static void run_peer(void *context, struct bench_counts *counts)
{
    peer_pass(context, counts);
}

static void check_equal(const struct subject *subject, const struct bench_counts *mine,
                        const struct bench_counts *theirs)
{
    if (mine->ranges != theirs->ranges || mine->instructions != theirs->instructions)
        bench_stop("%s: ranges %" PRIu64 " and %" PRIu64 ", instructions %" PRIu64
                   " and %" PRIu64,
                   subject->name, mine->ranges, theirs->ranges, mine->instructions,
                   theirs->instructions);
}

static uint64_t time_passes(options_pass_fn *run, void *context, struct bench_counts *counts,
                            unsigned repeats)
{
    const uint64_t start = bench_now();

    for (unsigned i = 0; i < repeats; i++)
        run(context, counts);
    return (bench_now() - start) / repeats;
}

static double print(const struct subject *subject, enum bench_stage stage,
                    struct bench_times *mine, struct bench_times *theirs,
                    const struct bench_counts *counts)
{
    char name[160];
    double best, rate;

    bench_sort(mine);
    best = bench_best(mine);
    rate = (double)counts->instructions * 1e3 / best;
    (void)snprintf(name, sizeof name, "%s/%s/%s", subject->protocol, subject->name,
                   bench_stage_name(stage));
    if (theirs) {
        bench_sort(theirs);
        bench_result(name, bench_best(theirs) / best, " %8.2f %9.1f %8.1f %8.0f %8.2f",
                     bench_median(theirs) / bench_median(mine),
                     (double)subject->size * 1e3 / best,
                     (double)subject->size * 1e3 / bench_best(theirs), rate,
                     counts->ranges ? best / (double)counts->ranges : 0);
    } else {
        bench_result(name, 0, " %8s %9.1f %8s %8.0f %8.2f", "-",
                     (double)subject->size * 1e3 / best, "-", rate,
                     counts->ranges ? best / (double)counts->ranges : 0);
    }
    return stage == BENCH_PACKETS ? (double)subject->size * 1e3 / best : rate;
}

/* The first decoder of a process, which meets memory that nobody has touched: the times of so many processes. */
static void measure_first(const struct subject *subject, const char *first,
                          const struct bench_times *theirs)
{
    struct bench_times times;
    char command[400], name[160];

    (void)snprintf(command, sizeof command, "/proc/%d/exe --first '%s'", (int)getpid(), first);
    for (unsigned i = 0; i < bench_passes(); i++) {
        FILE *child = popen(command, "r");
        unsigned long long taken = 0;

        if (!child || fscanf(child, "%llu", &taken) != 1 || pclose(child) != 0)
            bench_stop("%s: the first decoder of a process failed", first);
        times.all[i] = taken;
    }
    bench_sort(&times);
    (void)snprintf(name, sizeof name, "%s/%s/first", subject->protocol, subject->name);
    bench_result(name, bench_best(theirs) / bench_best(&times), " %8.2f %9.1f %8.1f",
                 bench_median(theirs) / bench_median(&times),
                 (double)subject->size * 1e3 / bench_best(&times),
                 (double)subject->size * 1e3 / bench_best(theirs));
}

/* That of this process: prints how many ns it took. */
static int be_first(const char *what)
{
    struct subject subject;
    struct bench_counts counts;
    struct ours *ours;
    uint64_t start;

    if (!subject_open(&subject, what))
        return 1;
    ours = ours_new(&subject, BENCH_NEW, 0);
    start = bench_now();
    ours_pass(ours, &counts);
    (void)printf("%llu\n", (unsigned long long)(bench_now() - start));
    ours_free(ours);
    subject_free(&subject);
    return 0;
}

/* Stages of ours that stand against one of the peer's; how many traced instructions a second the
   first of them does, or MB/s of packets.  `first`: what to open for the first decoder of a process; or NULL. */
static double measure(const struct subject *subject, const enum bench_stage *stages,
                      unsigned count, const char *first)
{
    const bool is_full = stages[0] == BENCH_WARM;
    struct peer *peer = peer_new(subject, stages[0]);
    const unsigned peer_repeats = peer ? options_repeats(run_peer, peer) : 0;
    struct ours *ours[MOST];
    unsigned repeats[MOST];
    struct bench_times times[MOST], peer_times;
    struct bench_counts counts, peer_counts;
    double rate = 0;

    for (unsigned k = 0; k < count; k++) {
        ours[k] = ours_new(subject, stages[k], 0);
        repeats[k] = options_repeats(run_ours, ours[k]);
    }
    for (unsigned i = 0; i < bench_passes(); i++) {
        if (peer)
            peer_times.all[i] = time_passes(run_peer, peer, &peer_counts, peer_repeats);
        for (unsigned k = 0; k < count; k++) {
            times[k].all[i] = time_passes(run_ours, ours[k], &counts, repeats[k]);
            if (is_full)
                subject_check(subject, &counts);
            if (peer && is_full)
                check_equal(subject, &counts, &peer_counts);
        }
    }
    for (unsigned k = count; k-- > 0;) {
        rate = print(subject, stages[k], &times[k], peer ? &peer_times : NULL, &counts);
        ours_free(ours[k]);
    }
    if (first && peer)
        measure_first(subject, first, &peer_times);
    peer_free(peer);
    return rate;
}

static void print_unit(const struct subject *subject)
{
    char name[64];

    (void)snprintf(name, sizeof name, "unit/%s", subject->protocol);
    bench_result(name, (double)subject->instructions / subject->making * 1e-6,
                 "  million instructions a second through the model of the trace unit");
}

static void measure_case(size_t number, struct rates *rates)
{
    static const enum bench_stage frames[] = { BENCH_UNFRAME_ALL, BENCH_UNFRAME_ONE },
                                  packets[] = { BENCH_PACKETS },
                                  full[] = { BENCH_WARM, BENCH_NEW };
    const bool is_made = strncmp(cases[number].subject, "made/", 5) == 0;
    struct subject subject;
    double rate;

    if (!subject_open(&subject, cases[number].subject)) {
        (void)printf("# %s: skipped, no corpus\n", cases[number].subject);
        return;
    }
    if (cases[number].stages & FRAMES)
        (void)measure(&subject, frames, 2, NULL);
    if (cases[number].stages & PACKETS) {
        rate = measure(&subject, packets, 1, NULL);
        if (strcmp(subject.protocol, "ntrace") == 0 &&
            (rates->ntrace_packets <= 0 || rate < rates->ntrace_packets))
            rates->ntrace_packets = rate;
    }
    if (cases[number].stages & FULL) {
        rate = measure(&subject, full, 2,
                       cases[number].stages & FIRST ? cases[number].subject : NULL);
        if (strcmp(subject.protocol, "etrace") == 0)
            rates->etrace[is_made] = rate;
        else if (strcmp(subject.protocol, "ntrace") == 0 && rates->ntrace <= 0)
            rates->ntrace = rate;
        else if (strcmp(subject.protocol, "etmv4") == 0 && rates->etmv4[is_made] <= 0)
            rates->etmv4[is_made] = rate;
    }
    if (subject.making > 0)
        print_unit(&subject);
    subject_free(&subject);
}

/* The words are parts of subjects' names; none: all of them. */
static bool is_wanted(const char *subject, int count, char **words)
{
    for (int i = 1; i < count; i++)
        if (strstr(subject, words[i]))
            return true;
    return count <= 1;
}

int main(int count, char **words)
{
    struct rates rates = { .ntrace = 0 };

    bench_pin();
    if (count == 3 && strcmp(words[1], "--first") == 0)
        return be_first(words[2]);
    bench_keep_memory();
    (void)printf("# peer: OpenCSD %s; best and median of %u passes, CPU time\n",
                 peer_version() ? peer_version() : "is not installed", bench_passes());
    (void)printf("%-42s %9s %8s %9s %8s %8s %8s\n", "# measure", "ratio", "median", "MB/s",
                 "peer", "M ins/s", "ns/range");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (is_wanted(cases[i].subject, count, words))
            measure_case(i, &rates);
    if (rates.etmv4[0] > 0 && rates.etrace[0] > 0)
        bench_result("etrace/of-etmv4", rates.etrace[0] / rates.etmv4[0],
                     "  traced instructions a second, captures");
    bench_result("etrace/of-etmv4-made", rates.etrace[1] / rates.etmv4[1],
                 "  the same, made subjects");
    bench_result("ntrace/of-etrace-made", rates.ntrace / rates.etrace[1],
                 "  traced instructions a second, the same program");
    bench_result("ntrace/packets-of-400", rates.ntrace_packets / 400,
                 "  times 400 MB/s of packets, in the slower mode");
    return 0;
}
