/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of PTM and ETMv3: straight runs make the bytes that their instructions make one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/ptm_unit.h>

enum { BASE = 0x8000, LONG = 6, TIMES = 300, ROOM = 1 << 17 };

#define WIDE 0xf04f0000 /* T32: mov.w r0, #0 */

struct setup {
    const char *name;
    bool is_ptm;
    uint32_t etmcr, etmidr;
    uint32_t sync_bytes;
};

static const struct setup setups[] = {
    { "ETMv3", false, 0, 0x410cf250, 0 },
    { "ETMv3, synchronized often", false, 0, 0x410cf250, 100 },
    { "ETMv3, two atoms for 4 bytes of T32", false, 0, 0x4108f250, 0 },
    { "ETMv3, two atoms, synchronized often", false, 0, 0x4108f250, 100 },
    { "ETMv3, cycles", false, 0x1000, 0x410cf250, 100 },
    { "ETMv3, cycles, two atoms", false, 0x1000, 0x4108f250, 100 },
    { "PTM", true, 0, 0x411cf312, 0 },
    { "PTM, synchronized often", true, 0, 0x411cf312, 100 },
    { "PTM, cycles", true, 0x1000, 0x411cf312, 100 },
};

/* What runs again and again: a list, or two that lead to each other. */
struct program {
    uint64_t base[2], target[2];
    uint32_t opcodes[2][LONG];
    uint32_t counts[2];
    uint32_t repeats;
    uint8_t isas[2];
};

static const struct program programs[] = {
    /* five moves of 4 bytes, then a branch back to the first */
    { { BASE },
      { BASE },
      { { WIDE, WIDE, WIDE, WIDE, WIDE, 0xe7f4 } },
      { 6 },
      3,
      { TW_ISA_T32 } },
    /* BLX from A32 to T32, and back */
    { { BASE, 0x9000 },
      { 0x9000, BASE },
      { { 0xe1a00000, 0xe1a00000, 0xfa0003fc }, { WIDE, WIDE, 0xf7feeffa } },
      { 3, 3 },
      0,
      { TW_ISA_A32, TW_ISA_T32 } },
};

static void fill(struct tw_retired *list, struct tw_retired_run *run,
                 const struct program *program, unsigned part)
{
    const uint32_t count = program->counts[part];
    uint64_t address = program->base[part];
    uint8_t it_open = 0;

    for (uint32_t i = 0; i < count; i++) {
        list[i] = (struct tw_retired){ .address = address,
                                       .opcode = program->opcodes[part][i],
                                       .isa = program->isas[part] };
        tw_retired_classify(&list[i], &it_open);
        address += list[i].size;
    }
    *run = (struct tw_retired_run){ .instructions = list,
                                    .target = program->target[part],
                                    .count = count,
                                    .repeats = program->repeats };
    if (!count)
        return;
    CHECK_EQ(list[count - 1].kind, TW_RETIRED_BRANCH);
    CHECK_EQ(list[count - 1].target, program->target[part]);
    list[count - 1].flags |= TW_RETIRED_TAKEN;
    run->flags = list[count - 1].flags;
}

/* Gives a step to the unit that there is. */
static void give(struct tw_ptm_unit *ptm, struct tw_etmv3_unit *etmv3,
                 const struct tw_step *step)
{
    CHECK_EQ(ptm ? tw_ptm_unit_step(ptm, step) : tw_etmv3_unit_step(etmv3, step), TW_OK);
}

static size_t trace(uint8_t *out, const struct setup *setup, const struct program *program,
                    bool is_single)
{
    const struct tw_ptm_unit_config ptm = { .size = sizeof ptm,
                                            .registers = { .size = sizeof ptm.registers,
                                                           .etmcr = setup->etmcr,
                                                           .etmidr = setup->etmidr },
                                            .sync_bytes = setup->sync_bytes };
    const struct tw_etmv3_unit_config etmv3 = { .size = sizeof etmv3,
                                                .registers = { .size = sizeof etmv3.registers,
                                                               .etmcr = setup->etmcr,
                                                               .etmidr = setup->etmidr },
                                                .sync_bytes = setup->sync_bytes };
    struct tw_etmv3_unit *v3 = NULL;
    struct tw_ptm_unit *v1 = NULL;
    struct tw_retired lists[2][LONG];
    struct tw_retired_run runs[2];
    const uint8_t *bytes;
    size_t size;

    for (unsigned part = 0; part < 2; part++)
        fill(lists[part], &runs[part], program, part);
    CHECK_EQ(setup->is_ptm ? tw_ptm_unit_new(&v1, &ptm, NULL)
                           : tw_etmv3_unit_new(&v3, &etmv3, NULL),
             TW_OK);
    for (unsigned i = 0; i < TIMES; i++) {
        struct tw_step step = { .kind = TW_STEP_RUNS };

        step.runs = runs;
        step.run_count = runs[1].count ? 2 : 1;
        if (!is_single)
            give(v1, v3, &step);
        for (unsigned k = 0; is_single && k < 2 * (program->repeats + 1); k++) {
            const unsigned part = runs[1].count ? k % 2 : 0;

            if (k > program->repeats && !runs[1].count)
                break;
            step = (struct tw_step){ .kind = TW_STEP_INSTRUCTIONS };
            step.instructions = lists[part];
            step.count = runs[part].count;
            give(v1, v3, &step);
        }
    }
    CHECK_EQ(v1 ? tw_ptm_unit_flush(v1) : tw_etmv3_unit_flush(v3), TW_OK);
    bytes = v1 ? tw_ptm_unit_output(v1, &size) : tw_etmv3_unit_output(v3, &size);
    CHECK(size < ROOM);
    memcpy(out, bytes, size);
    tw_ptm_unit_free(v1);
    tw_etmv3_unit_free(v3);
    return size;
}

static void runs_make_the_bytes_of_their_instructions(void **state)
{
    uint8_t *one = malloc(ROOM), *runs = malloc(ROOM);

    (void)state;
    assert_non_null(one);
    assert_non_null(runs);
    for (size_t i = 0; i < LENGTH(setups) * LENGTH(programs); i++) {
        const struct setup *setup = &setups[i / LENGTH(programs)];
        const struct program *program = &programs[i % LENGTH(programs)];
        const size_t want = trace(one, setup, program, true);
        const size_t got = trace(runs, setup, program, false);

        check_case("%s, program %zu", setup->name, i % LENGTH(programs));
        CHECK_BYTES(runs, got, one, want);
    }
    free(one);
    free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_make_the_bytes_of_their_instructions),
    };

    return cmocka_run_group_tests_name("armv7 units, runs", tests, NULL, NULL);
}
