/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units as QEMU's plug-in uses them: random programs given as straight runs make the bytes that they
   make when given one instruction at a time, for every protocol and option. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/unit.h"

enum { CODE = 96, STEPS = 24, LIST = 600, SETTINGS = 4 };

/* ---- programs ---- */

enum part { PLAIN, JUMP, CALL, BRANCH, INDIRECT, SEQUENTIAL };

/* What code is made of; `field` puts a distance in bytes into the opcode. */
struct template
{
    uint8_t isa, part;
    uint8_t weight;
    uint32_t opcode;
    uint32_t (*field)(int32_t distance);
};

static uint32_t a64_26(int32_t distance)
{
    return (uint32_t)(distance / 4) & 0x3ffffff;
}

static uint32_t a64_19(int32_t distance)
{
    return ((uint32_t)(distance / 4) & 0x7ffff) << 5;
}

static uint32_t a32_24(int32_t distance)
{
    return (uint32_t)((distance - 8) / 4) & 0xffffff;
}

static uint32_t t32_11(int32_t distance)
{
    return (uint32_t)((distance - 4) / 2) & 0x7ff;
}

static uint32_t t32_8(int32_t distance)
{
    return (uint32_t)((distance - 4) / 2) & 0xff;
}

/* BL: both J bits are those of distances that are short. */
static uint32_t t32_24(int32_t distance)
{
    const uint32_t value = (uint32_t)(distance - 4);

    return (value >> 31 & 1) << 26 | (value >> 12 & 0x3ff) << 16 | (value >> 1 & 0x7ff);
}

static uint32_t rv_jal(int32_t distance)
{
    const uint32_t value = (uint32_t)distance;

    return (value >> 20 & 1) << 31 | (value >> 1 & 0x3ff) << 21 | (value >> 11 & 1) << 20 |
           (value >> 12 & 0xff) << 12;
}

static uint32_t rv_branch(int32_t distance)
{
    const uint32_t value = (uint32_t)distance;

    return (value >> 12 & 1) << 31 | (value >> 5 & 0x3f) << 25 | (value >> 1 & 0xf) << 8 |
           (value >> 11 & 1) << 7;
}

/* clang-format off */
static const struct template templates[] = {
    { TW_ISA_A64, PLAIN, 12, 0xd503201f, NULL },      { TW_ISA_A64, PLAIN, 4, 0x91000400, NULL },
    { TW_ISA_A64, PLAIN, 1, 0xd5033fdf, NULL },       { TW_ISA_A64, PLAIN, 1, 0xd503207f, NULL }, /* ISB, WFI */
    { TW_ISA_A64, PLAIN, 1, 0xd503225f, NULL },       { TW_ISA_A64, PLAIN, 1, 0xd4000001, NULL }, /* TSB, SVC */
    { TW_ISA_A64, JUMP, 1, 0x14000000, a64_26 },      { TW_ISA_A64, CALL, 2, 0x94000000, a64_26 },
    { TW_ISA_A64, BRANCH, 4, 0x54000000, a64_19 },    { TW_ISA_A64, BRANCH, 2, 0xb4000000, a64_19 },
    { TW_ISA_A64, INDIRECT, 1, 0xd61f0020, NULL },    { TW_ISA_A64, INDIRECT, 1, 0xd63f0020, NULL },
    { TW_ISA_A64, INDIRECT, 3, 0xd65f03c0, NULL },    { TW_ISA_A64, INDIRECT, 1, 0xd69f03e0, NULL }, /* RET, ERET */
    { TW_ISA_A32, PLAIN, 8, 0xe320f000, NULL },       { TW_ISA_A32, PLAIN, 4, 0x02800001, NULL },
    { TW_ISA_A32, PLAIN, 1, 0xf57ff06f, NULL },       { TW_ISA_A32, PLAIN, 1, 0xf57ff04f, NULL }, /* ISB, DSB */
    { TW_ISA_A32, PLAIN, 1, 0xef000000, NULL },       { TW_ISA_A32, JUMP, 1, 0xea000000, a32_24 },
    { TW_ISA_A32, CALL, 2, 0xeb000000, a32_24 },      { TW_ISA_A32, BRANCH, 4, 0x0a000000, a32_24 },
    { TW_ISA_A32, INDIRECT, 3, 0xe12fff1e, NULL },    { TW_ISA_A32, INDIRECT, 2, 0x012fff1e, NULL },
    { TW_ISA_A32, INDIRECT, 1, 0xe12fff33, NULL },    { TW_ISA_A32, INDIRECT, 1, 0xe8bd8000, NULL },
    { TW_ISA_T32, PLAIN, 8, 0xbf00, NULL },           { TW_ISA_T32, PLAIN, 4, 0xf3af8000, NULL },
    { TW_ISA_T32, PLAIN, 1, 0xf3bf8f6f, NULL },       { TW_ISA_T32, PLAIN, 1, 0xf3bf8f4f, NULL }, /* ISB, DSB */
    { TW_ISA_T32, JUMP, 1, 0xe000, t32_11 },          { TW_ISA_T32, CALL, 2, 0xf000f800, t32_24 },
    { TW_ISA_T32, BRANCH, 4, 0xd000, t32_8 },         { TW_ISA_T32, INDIRECT, 3, 0x4770, NULL },
    { TW_ISA_T32, INDIRECT, 1, 0x4798, NULL },        { TW_ISA_T32, INDIRECT, 1, 0xbd00, NULL },
    { TW_ISA_RV64, PLAIN, 8, 0x13, NULL },            { TW_ISA_RV64, PLAIN, 8, 0x1, NULL },
    { TW_ISA_RV64, PLAIN, 1, 0x73, NULL },            { TW_ISA_RV64, JUMP, 1, 0x6f, rv_jal },
    { TW_ISA_RV64, CALL, 2, 0xef, rv_jal },           { TW_ISA_RV64, BRANCH, 4, 0x63, rv_branch },
    { TW_ISA_RV64, INDIRECT, 3, 0x8067, NULL },       { TW_ISA_RV64, INDIRECT, 1, 0x280e7, NULL },
    { TW_ISA_RV64, INDIRECT, 1, 0x30200073, NULL },   { TW_ISA_RV64, SEQUENTIAL, 1, 0, NULL },
};
/* clang-format on */

struct place {
    struct tw_retired instruction;
    bool is_sequential; /* a jump that goes where the LUI before it says, whoever came there */
};

struct program {
    struct place places[2 * CODE]; /* the second half lies elsewhere; Arm's is T32 */
    size_t count;
};

static uint8_t size_of(uint8_t isa, uint32_t opcode)
{
    struct tw_retired made = { .isa = isa, .opcode = opcode };
    uint8_t open = 0;

    tw_retired_classify(&made, &open);
    return made.size;
}

static const struct template *pick(struct check_random *random, uint8_t isa)
{
    for (;;) {
        const struct template *one = &templates[check_random_below(random, LENGTH(templates))];

        if (one->isa == isa && check_random_below(random, 12) < one->weight)
            return one;
    }
}

/* Code of one instruction set; branches go to where it has instructions, mostly near. */
static void add_code(struct program *program, struct check_random *random, uint8_t isa,
                     uint64_t address)
{
    const struct template *kinds[CODE];
    const size_t first = program->count;

    for (size_t i = 0; i < CODE; i++) {
        struct place *place = &program->places[program->count++];

        kinds[i] = pick(random, isa);
        if (kinds[i]->part == SEQUENTIAL && i + 2 >= CODE)
            kinds[i] =
                &templates[LENGTH(templates) - 8]; /* any that is plain or a jump will do */
        *place = (struct place){ .instruction = { .address = address, .isa = isa } };
        place->instruction.opcode = kinds[i]->opcode;
        if (kinds[i]->part ==
            SEQUENTIAL) { /* LUI x5 with the first page, and JALR through x5 */
            place->instruction.opcode =
                0x2b7 | (uint32_t)(program->places[0].instruction.address & 0xfffff000);
            place[1] = (struct place){ .instruction = { .address = address + 4, .isa = isa },
                                       .is_sequential = true };
            place[1].instruction.opcode =
                0x28067 | (uint32_t)(program->places[0].instruction.address & 0xfff) << 20;
            address += 8;
            kinds[++i] = NULL;
            program->count++;
            continue;
        }
        address += size_of(isa, kinds[i]->opcode);
    }
    for (size_t i = 0; i < CODE; i++) {
        struct tw_retired *at = &program->places[first + i].instruction;
        uint8_t open = 0;

        if (kinds[i] && kinds[i]->field) {
            const size_t near = i < 8 ? i : 8;
            const size_t far =
                CODE - i < 40 ? CODE - i : 40; /* as far as any of them reaches */
            const size_t to = check_random_below(random, 2)
                                  ? i - check_random_below(random, near + 1)
                                  : i + check_random_below(random, far);
            const uint64_t target = program->places[first + to].instruction.address;

            at->opcode |= kinds[i]->field((int32_t)(target - at->address));
        }
        tw_retired_classify(at, &open);
    }
}

static void make_program(struct program *program, struct check_random *random, uint8_t isa)
{
    program->count = 0;
    add_code(program, random, isa, 0x10000);
    if (isa == TW_ISA_A32)
        add_code(program, random, TW_ISA_T32, 0x20000);
    else
        add_code(program, random, isa, (uint64_t)0x12000 << check_random_below(random, 30));
}

static size_t index_of(const struct program *program, uint64_t address)
{
    for (size_t i = 0; i < program->count; i++)
        if (program->places[i].instruction.address == address)
            return i;
    return program->count;
}

/* ---- runs of them ---- */

struct walk {
    const struct program *program;
    struct check_random *random;
    size_t at;
    size_t loop;       /* a branch that goes back ... */
    size_t loop_times; /* ... so many times more */
    struct tw_retired list[LIST];
    struct tw_retired_run runs[LIST];
    size_t count, run_count;
};

/* One instruction, and where it goes. */
static struct tw_retired step_on(struct walk *walk)
{
    const struct place *place = &walk->program->places[walk->at];
    const uint8_t isa = place->instruction.isa;
    struct tw_retired done = place->instruction;
    const bool is_conditional = done.flags & TW_RETIRED_CONDITIONAL;
    const bool is_loop = walk->loop == walk->at && walk->loop_times;
    size_t next = walk->at + 1;

    walk->loop_times -= is_loop;
    if ((done.kind == TW_RETIRED_BRANCH || done.kind == TW_RETIRED_INDIRECT) &&
        (!is_conditional || is_loop || check_random_below(walk->random, 4))) {
        done.flags |= TW_RETIRED_TAKEN;
        if (place->is_sequential)
            done.target = walk->program->places[0].instruction.address;
        else if (done.kind == TW_RETIRED_INDIRECT)
            done.target =
                walk->program->places[check_random_below(walk->random, walk->program->count)]
                    .instruction.address;
        next = index_of(walk->program, done.target);
        CHECK(next < walk->program->count);
        if (!walk->loop_times && next <= walk->at && walk->at - next < 6 &&
            check_random_below(walk->random, 8) == 0) {
            walk->loop = walk->at;
            walk->loop_times = check_random_below(walk->random, 200);
        }
    }
    if (next >= walk->program->count ||
        (walk->program->places[next].instruction.isa != isa &&
         done.kind != TW_RETIRED_INDIRECT) ||
        (!(done.flags & TW_RETIRED_TAKEN) &&
         walk->program->places[next].instruction.address != done.address + done.size))
        next = walk->program->count;
    walk->at = next;
    return done;
}

static bool same_run(const struct tw_retired_run *a, const struct tw_retired_run *b)
{
    return a->count == b->count && a->target == b->target && a->flags == b->flags &&
           memcmp(a->instructions, b->instructions, a->count * sizeof *a->instructions) == 0;
}

/* What was executed as runs: after each instruction that is something to the flow of control, and at
   some others. */
static void make_runs(struct walk *walk)
{
    size_t from = 0;

    walk->run_count = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct tw_retired *at = &walk->list[i];
        struct tw_retired_run *run = &walk->runs[walk->run_count];

        if (at->kind == TW_RETIRED_OTHER && i + 1 < walk->count &&
            check_random_below(walk->random, 12))
            continue;
        *run = (struct tw_retired_run){ .instructions = walk->list + from,
                                        .count = (uint32_t)(i + 1 - from),
                                        .target = at->target,
                                        .flags = at->flags };
        if (check_random_below(walk->random, 8))
            run->flags |= TW_RETIRED_EXECUTED;
        from = i + 1;
        if (walk->run_count && same_run(run - 1, run) && check_random_below(walk->random, 100))
            run[-1].repeats++;
        else
            walk->run_count++;
    }
}

static void walk_on(struct walk *walk)
{
    const size_t most = 1 + check_random_below(walk->random, LIST - 1);

    walk->count = 0;
    while (walk->count < most && walk->at < walk->program->count)
        walk->list[walk->count++] = step_on(walk);
    make_runs(walk);
}

/* ---- units ---- */

static const struct setup {
    const char *protocol;
    const char *registers[SETTINGS], *choices[SETTINGS];
} setups[] = {
    { "ete", { NULL }, { NULL } },
    { "ete", { "TRCCONFIGR=0x1" }, { NULL } },
    { "ete", { "TRCCONFIGR=0x1851", "TRCCCCTLR=4" }, { NULL } },
    { "ete", { "TRCCONFIGR=0x1849", "TRCBBCTLR=0" }, { NULL } },
    { "ete", { "TRCSYNCPR=8" }, { NULL } },
    { "ete", { "TRCSYNCPR=8" }, { "late-places=3" } },
    { "ete", { NULL }, { "source-addresses=2" } },
    { "ete", { NULL }, { "fifo=48", "cycles-per-byte=3" } },
    { "ete", { NULL }, { "return-stack=2" } },
    { "ete", { NULL }, { "at-once=1" } },
    { "ete", { "TRCVIIECTLR=1", "TRCACVR0=0x10000", "TRCACVR1=0x10080" }, { NULL } },
    { "etmv4", { NULL }, { NULL } },
    { "etmv4", { "TRCCONFIGR=0x1851", "TRCCCCTLR=4" }, { NULL } },
    { "etmv4", { "TRCSYNCPR=8" }, { NULL } },
    { "etmv4", { "TRCCONFIGR=0x1849", "TRCBBCTLR=0" }, { "return-stack=3" } },
    { "ptm", { NULL }, { NULL } },
    { "ptm", { NULL }, { "sync=64" } },
    { "ptm", { "ETMCR=0x3000d000" }, { NULL } },
    { "ptm", { "ETMCR=0x3000c100" }, { "return-stack=2" } },
    { "ptm", { "ETMCCER=0x10c19a2" }, { NULL } },
    { "etmv3", { NULL }, { NULL } },
    { "etmv3", { NULL }, { "sync=64" } },
    { "etmv3", { "ETMCR=0x1000d000" }, { NULL } },
    { "etmv3", { "ETMCR=0x1000c100" }, { NULL } },
    { "etrace", { NULL }, { NULL } },
    { "etrace", { "retires_p=1" }, { NULL } },
    { "etrace", { "retires_p=255" }, { NULL } },
    { "etrace", { "full_address=1" }, { NULL } },
    { "etrace", { "implicit_return=1", "return_stack_size_p=3" }, { NULL } },
    { "etrace", { "sijump=1", "sijump_p=1" }, { NULL } },
    { "etrace", { "branch_prediction=1", "bpred_size_p=4" }, { NULL } },
    { "etrace", { "jump_target_cache=1", "cache_size_p=3" }, { NULL } },
    { "etrace", { "itype_width_p=3" }, { NULL } },
    { "etrace", { NULL }, { "ResyncMode=1", "ResyncMax=0" } },
    { "etrace", { NULL }, { "ResyncMode=2", "ResyncMax=1" } },
    { "etrace", { "retires_p=4" }, { "ResyncMode=3", "ResyncMax=2" } },
    { "etrace",
      { "implicit_return=1", "call_counter_size_p=2" },
      { "ResyncMode=2", "ResyncMax=0" } },
    { "etrace", { "notime_p=0", "time_width_p=16" }, { "ResyncMode=2", "ResyncMax=0" } },
    { "ntrace", { NULL }, { NULL } },
    { "ntrace", { "mode=btm" }, { NULL } },
    { "ntrace", { "sequential_jump=1" }, { NULL } },
    { "ntrace", { "implicit_return_mode=3" }, { NULL } },
    { "ntrace", { "repeat_history=1" }, { NULL } },
    { "ntrace", { "sync_messages=16" }, { NULL } },
    { "ntrace", { NULL }, { "trTeInstSyncMode=2", "trTeInstSyncMax=1" } },
    { "ntrace", { "hist_max_bits=9" }, { "trTeInstSyncMode=3", "trTeInstSyncMax=3" } },
    { "ntrace", { "icnt_max=40", "hist_max_bits=31" }, { NULL } },
    { "ntrace", { "timestamps=1", "all_jumps=1" }, { NULL } },
};

static size_t length_of(const char *const *settings)
{
    size_t count = 0;

    while (count < SETTINGS && settings[count])
        count++;
    return count;
}

static struct tw_unit *new_unit(const struct setup *setup)
{
    const struct unit_options options = { .protocol = setup->protocol,
                                          .registers = setup->registers,
                                          .register_count = length_of(setup->registers),
                                          .choices = setup->choices,
                                          .choice_count = length_of(setup->choices),
                                          .is_64bit = true };
    struct tw_fault fault;
    struct tw_unit *unit = unit_new(&options, &fault);

    if (!unit)
        print_message("%s\n", fault.text);
    CHECK(unit != NULL);
    return unit;
}

static void give(struct tw_unit *one, struct tw_unit *other, const struct tw_step *step)
{
    CHECK_EQ(tw_unit_step(one, step), TW_OK);
    CHECK_EQ(tw_unit_step(other, step), TW_OK);
}

/* Between instructions: time, another context, an interrupt, a gap. */
static void disturb(struct walk *walk, struct tw_unit *one, struct tw_unit *other,
                    bool is_riscv)
{
    struct tw_step step = { .kind = TW_STEP_TIME };
    const size_t to = check_random_below(walk->random, walk->program->count);
    const uint64_t what = check_random_below(walk->random, 8);

    if (walk->at == walk->program->count ||
        what == 0) { /* it ran out of the program, or left */
        step.kind = TW_STEP_GAP;
        walk->at = to;
    } else if (what == 1) {
        const struct tw_retired *next = &walk->program->places[walk->at].instruction;

        step.kind = TW_STEP_EXCEPTION;
        step.exception = TW_EXCEPTION_IRQ;
        step.cause = is_riscv ? 7 : TW_EXCEPTION_IRQ;
        step.is_interrupt = true;
        step.return_address = next->address;
        step.return_isa = next->isa;
        walk->at = to;
    } else if (what == 2) {
        step.kind = TW_STEP_CONTEXT;
        step.context = (struct tw_step_context){
            .el = is_riscv ? 3 : 0,
            .security = TW_NONSECURE,
            .is_64bit = walk->program->places[0].instruction.isa == TW_ISA_A64,
            .context_id = (uint32_t)check_random_below(walk->random, 3)
        };
    } else {
        step.value = check_random_below(walk->random, 1 << 20);
    }
    give(one, other, &step);
}

static void compare_output(struct tw_unit *one, struct tw_unit *other)
{
    size_t size, other_size;
    const uint8_t *bytes = tw_unit_output(one, &size);
    const uint8_t *others = tw_unit_output(other, &other_size);

    CHECK_BYTES(others, other_size, bytes, size);
}

static size_t try_setup(const struct setup *setup, struct check_random *random, uint8_t isa)
{
    static struct program program;
    static struct walk walk;
    struct tw_unit *one = new_unit(setup), *other = new_unit(setup);
    size_t size;

    make_program(&program, random, isa);
    walk.program = &program;
    walk.random = random;
    walk.at = walk.loop_times = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        struct tw_step alone = { .kind = TW_STEP_INSTRUCTIONS };
        struct tw_step runs = { .kind = TW_STEP_RUNS };

        walk_on(&walk);
        alone.instructions = walk.list;
        alone.count = walk.count;
        runs.runs = walk.runs;
        runs.run_count = walk.run_count;
        CHECK_EQ(tw_unit_step(one, &alone), TW_OK);
        CHECK_EQ(tw_unit_step(other, &runs), TW_OK);
        disturb(&walk, one, other, isa == TW_ISA_RV64);
    }
    CHECK_EQ(tw_unit_finish(one), TW_OK);
    CHECK_EQ(tw_unit_finish(other), TW_OK);
    compare_output(one, other);
    (void)tw_unit_output(one, &size);
    tw_unit_free(one);
    tw_unit_free(other);
    return size;
}

static void test_runs(void **state)
{
    const size_t rounds = check_scale(300);
    struct check_random random = check_random_start(27);

    (void)state;
    for (size_t i = 0; i < LENGTH(setups); i++) {
        const char *protocol = setups[i].protocol;
        const bool is_old = strcmp(protocol, "ptm") == 0 || strcmp(protocol, "etmv3") == 0;
        size_t size = 0;

        for (size_t round = 0; round < rounds; round++) {
            check_case("%s, setup %zu, round %zu", protocol, i, round);
            if (strstr(protocol, "trace")) {
                size += try_setup(&setups[i], &random, TW_ISA_RV64);
                continue;
            }
            if (!is_old)
                size += try_setup(&setups[i], &random, TW_ISA_A64);
            size += try_setup(&setups[i], &random, TW_ISA_A32);
        }
        CHECK(size > 100 * rounds); /* there was something to compare */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
