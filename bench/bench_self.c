/* SPDX-License-Identifier: BSD-2-Clause */
/* Our side alone, on any subject in any shape; see options.c for the words it takes. */
#include "options.h"
#include "ours.h"

#include "base/compiler.h"

static void run(void *context, struct bench_counts *counts)
{
    ours_pass(context, counts);
}

/* An instruction counter looks at this function alone. */
uint64_t bench_counted(struct ours *ours, struct bench_counts *counts);
TW_NOINLINE uint64_t bench_counted(struct ours *ours, struct bench_counts *counts)
{
    ours_pass(ours, counts);
    return counts->instructions;
}

/* Prints what goes with the count: bytes of the subject and traced instructions. */
static void run_once(struct ours *ours, const struct subject *subject, enum bench_stage stage)
{
    struct bench_counts counts;

    if (stage == BENCH_WARM || stage == BENCH_COUNTED)
        ours_pass(ours, &counts);
    (void)printf("%zu %llu\n", subject->size, (unsigned long long)bench_counted(ours, &counts));
}

static void measure(const struct options *options, const struct subject *subject,
                    enum bench_stage stage)
{
    struct ours *ours = ours_new(subject, stage, options->threads);
    struct bench_counts counts;

    if (options->is_once) {
        run_once(ours, subject, stage);
    } else {
        ours_pass(ours, &counts);
        if (stage >= BENCH_WARM)
            subject_check(subject, &counts);
        options_measure(subject, stage, run, ours);
    }
    ours_free(ours);
}

int main(int count, char **words)
{
    struct options options;

    options_read(&options, count, words);
    bench_keep_memory();
    if (options.threads < 2)
        bench_pin();
    for (size_t i = 0; i < options.subject_count; i++) {
        struct subject subject;

        if (!options_open(&options, &subject, options.subjects[i])) {
            (void)printf("# %s: skipped, no corpus\n", options.subjects[i]);
            continue;
        }
        if (options.folder)
            subject_write(&subject, options.folder);
        for (unsigned stage = 0; !options.folder && stage < BENCH_STAGES; stage++)
            if (options.stages[stage] && options_fits(&subject, (enum bench_stage)stage))
                measure(&options, &subject, (enum bench_stage)stage);
        subject_free(&subject);
    }
    return 0;
}
