/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenCSD alone, on the subjects of bench_self; see options.c for the words it takes. */
#include "options.h"
#include "peer.h"

static void run(void *context, struct bench_counts *counts)
{
    peer_pass(context, counts);
}

int main(int count, char **words)
{
    struct options options;

    options_read(&options, count, words);
    if (!peer_version()) {
        (void)puts("# skipped: built without libopencsd-dev");
        return 0;
    }
    (void)printf("# OpenCSD %s\n", peer_version());
    bench_pin();
    options.stages[BENCH_NEW] = false;         /* it keeps nothing between passes ... */
    options.stages[BENCH_UNFRAME_ONE] = false; /* ... and unpacks frames in one way */
    for (size_t i = 0; i < options.subject_count; i++) {
        struct subject subject;

        if (!options_open(&options, &subject, options.subjects[i])) {
            (void)printf("# %s: skipped, no corpus\n", options.subjects[i]);
            continue;
        }
        for (unsigned stage = 0; stage < BENCH_STAGES; stage++) {
            struct peer *peer =
                options.stages[stage] && options_fits(&subject, (enum bench_stage)stage)
                    ? peer_new(&subject, (enum bench_stage)stage)
                    : NULL;

            if (peer)
                options_measure(&subject, (enum bench_stage)stage, run, peer);
            peer_free(peer);
        }
        subject_free(&subject);
    }
    return 0;
}
