/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting ranges and edges without elements beside decoding to elements, of the same trace on one core: passes
   of both in turn.  The numbers of ranges and instructions must agree. */
#include "ours.h"

static const struct {
    const char *subject, *name;
} cases[] = {
    { "bugfix-exact-match-part", "etmv4" },      { "made/etmv4,kib=512", "etmv4-made" },
    { "riscv/coremark-full-py-perf", "etrace" }, { "made/etrace,kib=512", "etrace-made" },
    { "made/ete,kib=512", "ete-made" },          { "made/etmv3,kib=512", "etmv3-made" },
    { "made/ptm,kib=512", "ptm-made" },          { "made/ntrace,kib=512", "ntrace-made" },
    { "tc2-ptm-rstk-t32-part", "ptm-rstk" },     { "juno-uname-001", "missing" },
};

static void measure(const struct subject *subject, const char *name)
{
    static const enum bench_stage stages[2] = { BENCH_WARM, BENCH_COUNTED };
    struct bench_counts counts[2];
    struct bench_times times[2];
    struct ours *ours[2];
    char result[100];

    for (unsigned k = 0; k < 2; k++) {
        ours[k] = ours_new(subject, stages[k], 0);
        ours_pass(ours[k], &counts[k]);
    }
    for (unsigned i = 0; i < bench_passes(); i++)
        for (unsigned k = 0; k < 2; k++) {
            const uint64_t begin = bench_now();

            ours_pass(ours[k], &counts[k]);
            times[k].all[i] = bench_now() - begin;
        }
    if (counts[0].ranges != counts[1].ranges ||
        counts[0].instructions != counts[1].instructions)
        bench_stop("%s: what is counted is not what is decoded", name);
    for (unsigned k = 0; k < 2; k++) {
        bench_sort(&times[k]);
        ours_free(ours[k]);
    }
    (void)snprintf(result, sizeof result, "counted/%s", name);
    bench_result(result, bench_best(&times[0]) / bench_best(&times[1]),
                 "  times decoding; median %.2f; %.0f M instructions a second",
                 bench_median(&times[0]) / bench_median(&times[1]),
                 (double)counts[1].instructions * 1e3 / bench_best(&times[1]));
}

int main(void)
{
    bench_pin();
    (void)puts("# counting without elements beside decoding to elements, one core");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct subject subject;

        if (!subject_open(&subject, cases[i].subject)) {
            (void)printf("# %s: skipped, no corpus\n", cases[i].subject);
            continue;
        }
        measure(&subject, cases[i].name);
        subject_free(&subject);
    }
    return 0;
}
