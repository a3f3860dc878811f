/* SPDX-License-Identifier: BSD-2-Clause */
/* Straight runs that a hart is given: as many instructions, and the same blocks, as if they came one by one. */
#include "check.h"

#include <trackway/hart.h>

enum { BASE = 0x1000, LENGTH_OF_RUN = 4, RUNS = 5, REPEATS = 2 };

/* Three additions, then a jump back to the first. */
static void fill(struct tw_retired run[LENGTH_OF_RUN])
{
    for (unsigned i = 0; i < LENGTH_OF_RUN; i++) {
        run[i] = (struct tw_retired){ .address = BASE + 4 * i,
                                      .opcode = i + 1 < LENGTH_OF_RUN ? 0x00150513 : 0xff5ff06f,
                                      .isa = TW_ISA_RV64 };
        tw_retired_classify(&run[i], NULL);
    }
}

/* Gives the program RUNS times, each of them with repetitions, in either form. */
struct source {
    struct tw_retired run[LENGTH_OF_RUN];
    struct tw_retired_run runs;
    bool is_single;
    unsigned left;
};

static enum tw_status next_step(void *context, struct tw_step *step)
{
    struct source *source = context;

    if (!source->left)
        return TW_END;
    source->left--;
    *step = (struct tw_step){ .kind = source->is_single ? TW_STEP_INSTRUCTIONS : TW_STEP_RUNS };
    if (source->is_single) {
        step->instructions = source->run;
        step->count = LENGTH_OF_RUN;
    } else {
        step->runs = &source->runs;
        step->run_count = 1;
    }
    return TW_OK;
}

struct sums {
    uint64_t blocks, retired, places, instructions;
};

static struct sums sum_of(uint8_t retires, bool is_single)
{
    struct source source = { .is_single = is_single,
                             .left = is_single ? RUNS * (REPEATS + 1) : RUNS };
    struct tw_etrace_config config;
    const struct tw_hart_options options = { .size = sizeof options, .trace = &config };
    struct tw_hart_event event;
    struct sums sums = { 0 };
    struct tw_hart *hart;

    fill(source.run);
    source.runs = (struct tw_retired_run){ .instructions = source.run,
                                           .target = BASE,
                                           .count = LENGTH_OF_RUN,
                                           .repeats = REPEATS,
                                           .flags = source.run[LENGTH_OF_RUN - 1].flags };
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    config.retires = retires;
    config.xlen = 64;
    CHECK_EQ(tw_hart_open_steps(&hart, next_step, &source, &options, NULL), TW_OK);
    while (tw_hart_next(hart, &event) == TW_OK)
        for (size_t i = 0; i < event.cycle.block_count; i++) {
            sums.blocks++;
            sums.retired += event.cycle.blocks[i].iretire;
            sums.places += event.cycle.blocks[i].iaddr;
        }
    CHECK_TEXT(tw_hart_fault(hart), "");
    sums.instructions = tw_hart_instructions(hart);
    tw_hart_free(hart);
    return sums;
}

static void runs_count_as_their_instructions(void **state)
{
    static const uint8_t retires[] = { 1, 2, 3, 8 };

    (void)state;
    for (size_t i = 0; i < LENGTH(retires); i++) {
        const struct sums one = sum_of(retires[i], true), runs = sum_of(retires[i], false);

        check_case("%u retire", retires[i]);
        CHECK_EQ(one.instructions, LENGTH_OF_RUN * RUNS * (REPEATS + 1));
        CHECK_EQ(runs.instructions, one.instructions);
        CHECK_EQ(one.retired, one.instructions * (retires[i] > 1 ? 2 : 1));
        CHECK_EQ(runs.retired, one.retired);
        CHECK_EQ(runs.blocks, one.blocks);
        CHECK_EQ(runs.places, one.places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(runs_count_as_their_instructions) };

    return cmocka_run_group_tests_name("runs of a hart", tests, NULL, NULL);
}
