/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_run CAPTURE [sum]: goes through all elements of a capture and does nothing with them, as the tool's commands do at
   the least; prints the CPU time, opening included, in ms.  With sum: adds up one member of each, and prints the number of
   elements and the sum too. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <trackway/capture.h>
#include <trackway/run.h>

int main(int count, char **words)
{
    const struct tw_run_config config = { .size = sizeof config, .threads = 1 };
    const bool is_summed = count == 3;
    struct tw_part part = { .size = sizeof part };
    struct tw_capture *capture = NULL;
    uint64_t elements = 0, sum = 0;
    struct tw_run *run = NULL;
    struct tw_fault fault;
    enum tw_status status;

    if (count != 2 && count != 3) {
        (void)fputs("usage: bench_run CAPTURE [sum]\n", stderr);
        return 2;
    }
    status = tw_capture_open(&capture, words[1], NULL, &fault);
    if (status == TW_OK)
        status = tw_run_new(&run, capture, &config, &fault);
    while (status == TW_OK && (status = tw_run_next(run, &part)) == TW_OK)
        if (is_summed && part.kind == TW_PART_ELEMENTS) {
            for (size_t i = 0; i < part.batch.count; i++)
                sum += part.batch.elements[i].count;
            elements += part.batch.count;
        }
    tw_run_free(run);
    tw_capture_free(capture);
    (void)printf("%.1f\n", 1e3 * (double)clock() / CLOCKS_PER_SEC);
    if (is_summed)
        (void)printf("%" PRIu64 "\n%" PRIu64 "\n", elements, sum);
    return status == TW_END ? 0 : 1;
}
