/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the encoder and back through the decoder, in every mode alone and in every
   pair of modes: the path is the same. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "hart/test_trip.h"

struct bench {
    struct program program;
    struct history history;
    struct result result;
    struct bytes trace, other;
    uint64_t pcs[STEPS_MOST + 8];
    struct tw_image *image;
    struct check_random random;
    size_t number;
};

static void try_setup(void *context, struct setup *setup)
{
    struct bench *bench = context;

    check_case("program %zu, %s", bench->number, setup->name);
    run_program(&bench->history, &bench->program, &setup->run, &bench->random);
    encode(&bench->trace, setup, &bench->history, setup->config.retires > 1);
    /* Cycles differ with the size of blocks; all else does not. */
    if (setup->config.retires > 1 && setup->resync_mode != 2) {
        encode(&bench->other, setup, &bench->history, false);
        CHECK_BYTES(bench->trace.bytes, bench->trace.size, bench->other.bytes,
                    bench->other.size);
    }
    bench->result.count = bench->result.cause_count = 0;
    bench->result.errors = 0;
    decode_with(&setup->config, bench->image, &bench->trace, take, &bench->result);
    compare(&bench->result, setup, &bench->history);
}

/* [RVT 2.1/9] [RVT 2.2/1] [RVT 2.2/2] [RVT 2.2/3] [RVT 2.2/4] [RVT 2.2/5] [RVT 2.2/6] [RVT 3.1.5/4] [RVT 3.2.5/1] [RVT 3.2.5/2] [RVT 3.2.5/5]
   [RVT 3.2.7/3] [RVT T4.1/7] [RVT T4.3/1] [RVT 4.2.2/1] [RVT 6.6.3/3] [RVT 6.7.2/1] [RVT 6.8/1] [RVT 6.8/5] [RVT 8/2] [RVT 8.1/1]
   [RVT 8.1/2] [RVT 8.2/1] [RVT 8.2/2] [RVT 8.3/1] */
static void test_round_trip(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(2000);
    size_t setups = 0;

    (void)state;
    CHECK(bench != NULL);
    bench->random = check_random_start(20240607);
    for (size_t i = 0; i < programs; i++) {
        const struct tw_region region = { .size = sizeof region,
                                          .address = BASE,
                                          .length = CODE };

        bench->number = i;
        make_program(&bench->program, &bench->random);
        bench->result = (struct result){ .pcs = bench->pcs,
                                         .room = LENGTH(bench->pcs),
                                         .program = &bench->program };
        CHECK_EQ(tw_image_new(&bench->image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(bench->image, &region, bench->program.code), TW_OK);
        setups = each_setup((unsigned)i, try_setup, bench);
        tw_image_free(bench->image);
    }
    print_message("%zu programs in %zu configurations\n", programs, setups);
    CHECK(setups >= 40);
    free(bench->trace.bytes);
    free(bench->other.bytes);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
