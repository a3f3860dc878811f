/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequences: what is known of general registers, against a processor that knows all; what a loop
   waits for; registers by name and by encoding. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <trackway/trbe.h>

#include "trbe/sequence.h"

/* ---- values ---- */

static uint64_t ones(unsigned count)
{
    return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* What the instruction gives, with every operand known. */
static uint64_t execute(const uint64_t *x, const struct step *step)
{
    const uint64_t a = step->rn == ZERO_REGISTER ? 0 : x[step->rn];
    const uint64_t b = step->has_immediate         ? step->immediate
                       : step->rm == ZERO_REGISTER ? 0
                                                   : x[step->rm];
    const uint64_t part = step->op == OP_MOVK ? (uint64_t)0xffff << step->more : 0;

    switch (step->op) {
    case OP_MOV:
        return b;
    case OP_MOVK:
        return (x[step->rd] & ~part) | (step->immediate << step->more & part);
    case OP_AND:
        return a & b;
    case OP_BIC:
        return a & ~b;
    case OP_ORR:
        return a | b;
    case OP_EOR:
        return a ^ b;
    case OP_UBFX:
        return a >> step->immediate & ones(step->more);
    default: /* BFC */
        return x[step->rd] & ~(ones(step->more) << step->immediate);
    }
}

static struct step random_step(struct check_random *random)
{
    static const uint8_t ops[] = { OP_MOV, OP_MOVK, OP_AND,  OP_BIC,
                                   OP_ORR, OP_EOR,  OP_UBFX, OP_BFC };
    struct step step = { .kind = STEP_VALUE,
                         .op = ops[check_random_below(random, LENGTH(ops))] };

    step.rd = (uint8_t)check_random_below(random, 4);
    step.rn =
        check_random_below(random, 8) ? (uint8_t)check_random_below(random, 4) : ZERO_REGISTER;
    step.rm =
        check_random_below(random, 8) ? (uint8_t)check_random_below(random, 4) : ZERO_REGISTER;
    step.has_immediate = check_random_below(random, 2);
    step.immediate = check_random_next(random) >> check_random_below(random, 64);
    if (step.op == OP_MOVK) {
        step.has_immediate = true;
        step.immediate &= 0xffff;
        step.more = (uint8_t)(16 * check_random_below(random, 4));
    }
    if (step.op == OP_UBFX || step.op == OP_BFC) {
        step.has_immediate = true;
        step.immediate = check_random_below(random, 64);
        step.more = (uint8_t)(1 + check_random_below(random, 64 - step.immediate));
    }
    return step;
}

/* Bits that are said to be known are right; with all operands known, all are. */
static void known_bits_are_those_of_a_processor(void **state)
{
    struct check_random random = check_random_start(0x76616c73);

    (void)state;
    for (unsigned run = 0; run < 3000; run++) {
        const bool is_certain = run % 2;
        struct values values;
        uint64_t x[4];

        memset(&values, 0, sizeof values);
        for (uint8_t i = 0; i < 4; i++) {
            const uint64_t known = is_certain ? UINT64_MAX : check_random_next(&random);

            x[i] = check_random_next(&random);
            tw_seq_set(
                &values, i,
                (struct value){ .known = known, .bits = x[i] & known, .mask = UINT64_MAX });
        }
        for (unsigned n = 0; n < 12; n++) {
            const struct step step = random_step(&random);
            const uint64_t want = execute(x, &step);
            struct value got;

            check_case("run %u, step %u, operation %u", run, n, step.op);
            tw_seq_follow(&values, &step);
            x[step.rd] = want;
            got = tw_seq_get(&values, step.rd);
            CHECK_EQ(got.bits & got.known, want & got.known);
            if (is_certain && step.op == OP_UBFX) /* fields of fields may be given up */
                tw_seq_set(
                    &values, step.rd,
                    (struct value){ .known = UINT64_MAX, .bits = want, .mask = UINT64_MAX });
            else if (is_certain)
                CHECK_EQ(got.known & (got.bits ^ ~want), UINT64_MAX);
        }
    }
}

/* What can be known is: each bit alone. */
static void as_many_bits_are_known_as_can_be(void **state)
{
    /* For bits (a, b) known 0, known 1, unknown: the result, 2 for unknown. */
    static const struct {
        uint8_t op;
        uint8_t want[3][3];
    } cases[] = {
        { OP_AND, { { 0, 0, 0 }, { 0, 1, 2 }, { 0, 2, 2 } } },
        { OP_BIC, { { 0, 0, 0 }, { 1, 0, 2 }, { 2, 0, 2 } } },
        { OP_ORR, { { 0, 1, 2 }, { 1, 1, 1 }, { 2, 1, 2 } } },
        { OP_EOR, { { 0, 1, 2 }, { 1, 0, 2 }, { 2, 2, 2 } } },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (unsigned a = 0; a < 3; a++)
            for (unsigned b = 0; b < 3; b++) {
                const struct step step = {
                    .kind = STEP_VALUE, .op = cases[i].op, .rn = 1, .rm = 2
                };
                struct values values;
                struct value got;

                check_case("operation %u of %u and %u", cases[i].op, a, b);
                memset(&values, 0, sizeof values);
                tw_seq_set(&values, 1,
                           (struct value){ .known = a < 2 ? 4 : 0, .bits = a == 1 ? 4 : 0 });
                tw_seq_set(&values, 2,
                           (struct value){ .known = b < 2 ? 4 : 0, .bits = b == 1 ? 4 : 0 });
                tw_seq_follow(&values, &step);
                got = tw_seq_get(&values, 0);
                CHECK_EQ(got.known & 4 ? (got.bits & 4 ? 1 : 0) : 2, cases[i].want[a][b]);
            }
}

static void movk_knows_its_sixteen_bits(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift += 16) {
        const uint64_t part = (uint64_t)0xffff << shift;
        struct step step = { .kind = STEP_VALUE,
                             .op = OP_MOVK,
                             .has_immediate = true,
                             .immediate = 0x1234,
                             .more = (uint8_t)shift };
        struct values values;

        memset(&values, 0, sizeof values);
        tw_seq_follow(&values, &step); /* upon what nobody knows */
        CHECK_EQ(tw_seq_get(&values, 0).known, part);
        CHECK_EQ(tw_seq_get(&values, 0).bits, (uint64_t)0x1234 << shift);
        step.has_immediate = false; /* an immediate that is not told */
        tw_seq_follow(&values, &step);
        CHECK_EQ(tw_seq_get(&values, 0).known, 0);
    }
    /* The register that is always 0 stays so; one that there is not is not known. */
    {
        struct values values;

        memset(&values, 0, sizeof values);
        tw_seq_set(&values, ZERO_REGISTER, (struct value){ .known = UINT64_MAX, .bits = 5 });
        CHECK_EQ(tw_seq_get(&values, ZERO_REGISTER).known, UINT64_MAX);
        CHECK_EQ(tw_seq_get(&values, ZERO_REGISTER).bits, 0);
        CHECK_EQ(tw_seq_get(&values, 200).known, 0);
    }
}

/* ---- loops ---- */

static const struct value status = { .mask = UINT64_MAX, .origin = REG_TRCSTATR };

/* A loop whose branch is `op`: taken goes back, or leaves. */
static struct wait wait_of(struct values *values, const struct step *branch, bool is_exit)
{
    struct wait wait = { 7, 7 };

    CHECK(tw_seq_loop_wait(values, &wait, branch, is_exit));
    return wait;
}

static void loops_wait_for_bits_of_the_status(void **state)
{
    static const struct {
        const char *name;
        uint8_t op;
        uint64_t bit;
        bool is_exit;
        int idle, pmstable;
    } cases[] = {
        { "tbz 0, back", OP_TBZ, 0, false, 1, -1 },
        { "tbnz 0, back", OP_TBNZ, 0, false, 0, -1 },
        { "tbz 1, back", OP_TBZ, 1, false, -1, 1 },
        { "tbnz 1, back", OP_TBNZ, 1, false, -1, 0 },
        { "tbz 0, out", OP_TBZ, 0, true, 0, -1 },
        { "tbnz 0, out", OP_TBNZ, 0, true, 1, -1 },
        { "tbnz 2, back", OP_TBNZ, 2, false, -1, -1 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct step branch = {
            .op = cases[i].op, .rn = 1, .has_immediate = true, .immediate = cases[i].bit
        };
        struct values values;
        struct wait wait;

        CHECK_CASE(cases[i].name);
        memset(&values, 0, sizeof values);
        tw_seq_set(&values, 1, status);
        wait = wait_of(&values, &branch, cases[i].is_exit);
        CHECK_EQ(wait.idle, cases[i].idle);
        CHECK_EQ(wait.pmstable, cases[i].pmstable);
    }
}

static void loops_wait_for_fields_and_tests(void **state)
{
    const struct step field = { .kind = STEP_VALUE,
                                .op = OP_UBFX,
                                .rd = 2,
                                .rn = 1,
                                .has_immediate = true,
                                .immediate = 1,
                                .more = 1 };
    const struct step mask = { .kind = STEP_VALUE,
                               .op = OP_AND,
                               .rd = 3,
                               .rn = 1,
                               .has_immediate = true,
                               .immediate = 3 };
    struct step test = {
        .kind = STEP_TEST, .op = OP_TST, .rn = 1, .has_immediate = true, .immediate = 2
    };
    const struct step back = { .op = OP_CBZ, .rn = 2 }, all = { .op = OP_CBNZ, .rn = 3 };
    const struct step equal = { .op = OP_BEQ }, other = { .op = OP_BNE };
    struct values values;
    struct wait wait;

    (void)state;
    memset(&values, 0, sizeof values);
    tw_seq_set(&values, 1, status);
    tw_seq_follow(&values, &field);
    wait = wait_of(&values, &back, false); /* until PMSTABLE is 1 */
    CHECK_EQ(wait.idle, -1);
    CHECK_EQ(wait.pmstable, 1);
    tw_seq_follow(&values, &mask);
    wait = wait_of(&values, &all, false); /* until both are 0 */
    CHECK_EQ(wait.idle, 0);
    CHECK_EQ(wait.pmstable, 0);
    wait = wait_of(&values, &all, true); /* until one of them is not: nobody knows which */
    CHECK_EQ(wait.idle, -1);
    CHECK_EQ(wait.pmstable, -1);
    tw_seq_follow(&values, &test);
    wait = wait_of(&values, &equal, false);
    CHECK_EQ(wait.idle, -1);
    CHECK_EQ(wait.pmstable, 1);
    wait = wait_of(&values, &other, false);
    CHECK_EQ(wait.pmstable, 0);
    test = (struct step){
        .kind = STEP_TEST, .op = OP_CMP, .rn = 3, .has_immediate = true, .immediate = 2
    };
    tw_seq_follow(&values, &test);
    wait = wait_of(&values, &other, false); /* until it is 2: not idle, stable */
    CHECK_EQ(wait.idle, 0);
    CHECK_EQ(wait.pmstable, 1);
    /* Of another register, or of a bit that there is not: no such loop. */
    tw_seq_set(&values, 1, (struct value){ .mask = UINT64_MAX, .origin = REG_TRBSR });
    CHECK(!tw_seq_loop_wait(
        &values, &wait, &(struct step){ .op = OP_TBZ, .rn = 1, .has_immediate = true }, false));
    CHECK(!tw_seq_loop_wait(
        &values, &wait,
        &(struct step){ .op = OP_TBZ, .rn = 1, .has_immediate = true, .immediate = 64 },
        false));
    CHECK(!tw_seq_loop_wait(&values, &wait, &(struct step){ .op = OP_TBZ, .rn = 1 }, false));
}

/* ---- names ---- */

/* [K10.5.7.6/1]
   The architecture's encoding: TRC registers at offset 4n are S2_1_Cx_Cy_z with n = x:z:y. */
static void trace_registers_are_known_by_encoding(void **state)
{
    static const struct {
        unsigned offset;
        const char *name;
    } cases[] = {
        { 0x004, "trcprgctlr" },    { 0x00c, "trcstatr" },      { 0x010, "trcconfigr" },
        { 0x018, "trcauxctlr" },    { 0x020, "trceventctl0r" }, { 0x024, "trceventctl1r" },
        { 0x028, "trcrsr" },        { 0x02c, "trcstallctlr" },  { 0x030, "trctsctlr" },
        { 0x034, "trcsyncpr" },     { 0x038, "trcccctlr" },     { 0x03c, "trcbbctlr" },
        { 0x040, "trctraceidr" },   { 0x044, "trcqctlr" },      { 0x080, "trcvictlr" },
        { 0x084, "trcviiectlr" },   { 0x088, "trcvissctlr" },   { 0x08c, "trcvipcssctlr" },
        { 0x100, "trcseqevr0" },    { 0x118, "trcseqrstevr" },  { 0x11c, "trcseqstr" },
        { 0x120, "trcextinselr0" }, { 0x140, "trccntrldvr0" },  { 0x150, "trccntctlr0" },
        { 0x15c, "trccntctlr3" },   { 0x160, "trccntvr0" },     { 0x16c, "trccntvr3" },
        { 0x180, "trcidr8" },       { 0x194, "trcidr13" },      { 0x1c0, "trcimspec0" },
        { 0x1dc, "trcimspec7" },    { 0x1e0, "trcidr0" },       { 0x1fc, "trcidr7" },
        { 0x208, "trcrsctlr2" },    { 0x27c, "trcrsctlr31" },   { 0x280, "trcssccr0" },
        { 0x29c, "trcssccr7" },     { 0x2a0, "trcsscsr0" },     { 0x2bc, "trcsscsr7" },
        { 0x2c0, "trcsspcicr0" },   { 0x304, "trcoslsr" },      { 0x400, "trcacvr0" },
        { 0x480, "trcacatr0" },     { 0x600, "trccidcvr0" },    { 0x640, "trcvmidcvr0" },
        { 0x680, "trccidcctlr0" },  { 0x688, "trcvmidcctlr0" }, { 0xfa0, "trcclaimset" },
        { 0xfa4, "trcclaimclr" },   { 0xfb8, "trcauthstatus" }, { 0xfbc, "trcdevarch" },
        { 0xfc8, "trcdevid" },
    };
    uint8_t el, level;

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const unsigned n = cases[i].offset / 4;
        char name[40];

        CHECK_CASE(cases[i].name);
        (void)snprintf(name, sizeof name, "s2_1_c%u_c%u_%u", n >> 7, n & 15, n >> 4 & 7);
        CHECK_EQ(tw_seq_classify(name, &el), tw_seq_classify(cases[i].name, &level));
        CHECK_EQ(el, level);
        CHECK(tw_seq_classify(name, &el) != REG_OTHER);
    }
}

static void buffer_registers_are_known_by_encoding(void **state)
{
    static const struct {
        const char *code, *name;
        uint8_t el;
    } cases[] = {
        { "s3_0_c9_c11_0", "trblimitr_el1", 1 }, { "s3_0_c9_c11_1", "trbptr_el1", 1 },
        { "s3_0_c9_c11_2", "trbbaser_el1", 1 },  { "s3_0_c9_c11_3", "trbsr_el1", 1 },
        { "s3_0_c9_c11_4", "trbmar_el1", 1 },    { "s3_0_c9_c11_5", "trbmpam_el1", 1 },
        { "s3_0_c9_c11_6", "trbtrg_el1", 1 },    { "s3_0_c9_c11_7", "trbidr_el1", 1 },
        { "s3_4_c9_c11_3", "trbsr_el2", 2 },     { "s3_5_c9_c11_3", "trbsr_el12", 1 },
        { "s3_6_c9_c11_3", "trbsr_el3", 3 },     { "s3_0_c1_c2_1", "trfcr_el1", 1 },
        { "s3_4_c1_c2_1", "trfcr_el2", 2 },      { "s3_5_c1_c2_1", "trfcr_el12", 1 },
        { "s2_0_c1_c0_4", "oslar_el1", 1 },
    };
    static const char *const others[] = { "s3_1_c9_c11_0", "s3_0_c8_c11_0", "s3_0_c9_c10_0",
                                          "s3_4_c9_c11_0", "s2_0_c9_c11_0", "s3_0_c1_c2_2",
                                          "midr_el1",      "s3_0_c1_c0_4" };
    uint8_t el, level;

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CHECK_CASE(cases[i].name);
        CHECK_EQ(tw_seq_classify(cases[i].code, &el), tw_seq_classify(cases[i].name, &level));
        CHECK(tw_seq_classify(cases[i].name, &level) != REG_OTHER);
        CHECK(tw_seq_classify(cases[i].name, &level) != REG_BAD_NAME);
        CHECK_EQ(el, cases[i].el);
        CHECK_EQ(level, cases[i].el);
    }
    for (size_t i = 0; i < LENGTH(others); i++) {
        CHECK_CASE(others[i]);
        CHECK_EQ(tw_seq_classify(others[i], &el), REG_OTHER);
    }
    CHECK_EQ(tw_seq_classify("trbnone_el1", &el), REG_BAD_NAME);
    CHECK_EQ(tw_seq_classify("trcnone", &el), REG_BAD_NAME);
}

/* Events by number: the PMU's and the trace unit's. */
static void events_have_the_architectures_names(void **state)
{
    static const char *const names[] = {
        "TRB_WRAP",   "PMU_OVFS",   "TRB_TRIG",   "PMU_HOVFS",
        "TRCEXTOUT0", "TRCEXTOUT1", "TRCEXTOUT2", "TRCEXTOUT3"
    };

    (void)state;
    for (unsigned i = 0; i < LENGTH(names); i++)
        CHECK_TEXT(tw_trbe_event_name(0x400c + i), names[i]);
    CHECK_TEXT(tw_trbe_event_name(0x4018), "CTI_TRIGOUT4");
    CHECK_TEXT(tw_trbe_event_name(0x4019), "CTI_TRIGOUT5");
    CHECK_TEXT(tw_trbe_event_name(0x401a), "CTI_TRIGOUT6");
    CHECK_TEXT(tw_trbe_event_name(0x401b), "CTI_TRIGOUT7");
    CHECK(!tw_trbe_event_name(0x400b) && !tw_trbe_event_name(0x4014) && !tw_trbe_event_name(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bits_are_those_of_a_processor),
        cmocka_unit_test(as_many_bits_are_known_as_can_be),
        cmocka_unit_test(movk_knows_its_sixteen_bits),
        cmocka_unit_test(loops_wait_for_bits_of_the_status),
        cmocka_unit_test(loops_wait_for_fields_and_tests),
        cmocka_unit_test(trace_registers_are_known_by_encoding),
        cmocka_unit_test(buffer_registers_are_known_by_encoding),
        cmocka_unit_test(events_have_the_architectures_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
