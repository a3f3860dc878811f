/* SPDX-License-Identifier: BSD-2-Clause */
/* A random program of functions and basic blocks, and a random way through it. */
#include "make.h"

enum { FUNCTION = 16, LEAST = 2, HOT = 10 };

static uint32_t below(struct make_program *program, uint32_t limit)
{
    return (uint32_t)((make_random(&program->random) >> 32) * limit >> 32);
}

static bool chance(struct make_program *program, uint32_t percent)
{
    return below(program, 100) < percent;
}

/* The first block of a function: most often of the few that are called often. */
static uint32_t any_function(struct make_program *program)
{
    const uint32_t count = program->block_count / FUNCTION;
    const uint32_t hot = count < HOT ? 1 : count / HOT;

    return FUNCTION * (chance(program, program->wish.locality) ? below(program, hot)
                                                               : below(program, count));
}

/* Loops go back a little and are taken most times; other branches are seldom a matter of chance. */
static void choose_conditional(struct make_program *program, struct make_block *block,
                               uint32_t at)
{
    static const uint8_t taken[] = { 1, 1, 2, 3, 5, 10, 30, 50, 90, 97, 99, 99 };
    const uint32_t place = at % FUNCTION;

    block->end = MAKE_CONDITIONAL;
    if (place > 1 && chance(program, 35)) {
        block->target = at - 1 - below(program, place < 4 ? place : 4);
        block->taken = (uint8_t)(50 + below(program, 45));
    } else {
        block->target = at + 1 + below(program, FUNCTION - 1 - place);
        block->taken = taken[below(program, sizeof taken)];
    }
}

static void choose_end(struct make_program *program, struct make_block *block, uint32_t at)
{
    const uint32_t place = at % FUNCTION;

    if (place == FUNCTION - 1) {
        block->end = MAKE_RETURN;
    } else if (chance(program, program->wish.indirect)) {
        block->end = chance(program, 60) ? MAKE_CALL : MAKE_INDIRECT;
        block->target = any_function(program);
    } else if (chance(program, 8) && place < FUNCTION - 2) {
        block->end = MAKE_JUMP;
        block->target = at + 2 + below(program, FUNCTION - 2 - place);
    } else {
        choose_conditional(program, block, at);
    }
}

/* ---- opcodes ---- */

static uint32_t a64_opcode(enum make_end end, int64_t distance)
{
    const uint32_t words = (uint32_t)(distance / 4);

    switch (end) {
    case MAKE_CONDITIONAL:
        return 0x54000000 | (words & 0x7ffff) << 5;
    case MAKE_JUMP:
        return 0x14000000 | (words & 0x3ffffff);
    case MAKE_CALL:
        return 0x94000000 | (words & 0x3ffffff);
    case MAKE_RETURN:
        return 0xd65f03c0;
    default:
        return 0xd63f0020; /* blr x1 */
    }
}

static uint32_t a32_opcode(enum make_end end, int64_t distance)
{
    const uint32_t words = (uint32_t)((distance - 8) / 4) & 0xffffff;

    switch (end) {
    case MAKE_CONDITIONAL:
        return 0x0a000000 | words;
    case MAKE_JUMP:
        return 0xea000000 | words;
    case MAKE_CALL:
        return 0xeb000000 | words;
    case MAKE_RETURN:
        return 0xe12fff1e; /* bx lr */
    default:
        return 0xe12fff31; /* blx r1 */
    }
}

static uint32_t rv_jump(uint32_t opcode, uint32_t bytes)
{
    return opcode | (bytes & 0x100000) << 11 | (bytes & 0x7fe) << 20 | (bytes & 0x800) << 9 |
           (bytes & 0xff000);
}

static uint32_t rv_opcode(enum make_end end, int64_t distance)
{
    const uint32_t bytes = (uint32_t)distance;

    switch (end) {
    case MAKE_CONDITIONAL: /* beq a0, a1 */
        return 0x00b50063 | (bytes & 0x1000) << 19 | (bytes & 0x7e0) << 20 |
               (bytes & 0x1e) << 7 | (bytes & 0x800) >> 4;
    case MAKE_JUMP:
        return rv_jump(0x6f, bytes);
    case MAKE_CALL:
        return rv_jump(0xef, bytes);
    case MAKE_RETURN:
        return 0x00008067;
    default:
        return 0x000500e7; /* jalr ra, 0(a0) */
    }
}

static void set_last(struct make_program *program, const struct make_block *block)
{
    static const uint8_t kinds[] = { TW_RETIRED_BRANCH, TW_RETIRED_BRANCH, TW_RETIRED_BRANCH,
                                     TW_RETIRED_INDIRECT, TW_RETIRED_INDIRECT };
    static const uint8_t flags[] = { TW_RETIRED_CONDITIONAL, TW_RETIRED_TAKEN,
                                     TW_RETIRED_TAKEN | TW_RETIRED_LINK,
                                     TW_RETIRED_TAKEN | TW_RETIRED_RETURN,
                                     TW_RETIRED_TAKEN | TW_RETIRED_LINK };
    struct tw_retired *last = &program->code[block->first + block->count - 1];
    const uint64_t to = program->code[program->blocks[block->target].first].address;
    const int64_t distance = (int64_t)(to - last->address);

    last->kind = kinds[block->end];
    last->flags = flags[block->end];
    if (last->kind == TW_RETIRED_BRANCH)
        last->target = to;
    last->opcode = program->isa == TW_ISA_A64   ? a64_opcode(block->end, distance)
                   : program->isa == TW_ISA_A32 ? a32_opcode(block->end, distance)
                                                : rv_opcode(block->end, distance);
    if (program->isa == TW_ISA_RV64 && (distance < -(1 << 20) || distance >= 1 << 20) &&
        last->kind == TW_RETIRED_BRANCH)
        bench_stop("so many blocks are too far from each other");
}

void make_program(struct make_program *program, const struct make_wish *wish, enum tw_isa isa)
{
    const uint32_t nop = isa == TW_ISA_A64   ? 0xd503201f
                         : isa == TW_ISA_A32 ? 0xe1a00000
                                             : 0x00000013;

    *program = (struct make_program){ .isa = isa,
                                      .base = isa == TW_ISA_A64 ? 0x400000 : 0x10000,
                                      .wish = *wish,
                                      .random = 88172645463325252u + wish->seed };
    program->block_count = (wish->blocks + FUNCTION - 1) / FUNCTION * FUNCTION;
    program->blocks = bench_allocate(program->block_count * sizeof *program->blocks);
    for (uint32_t i = 0; i < program->block_count; i++) {
        struct make_block *block = &program->blocks[i];

        block->first = program->code_count;
        block->count = LEAST + below(program, MAKE_RUN - LEAST);
        program->code_count += block->count;
        choose_end(program, block, i);
    }
    program->code = bench_allocate(program->code_count * sizeof *program->code);
    for (uint32_t i = 0; i < program->code_count; i++)
        program->code[i] = (struct tw_retired){ .address = program->base + (uint64_t)4 * i,
                                                .opcode = nop,
                                                .isa = (uint8_t)isa,
                                                .size = 4 };
    for (uint32_t i = 0; i < program->block_count; i++)
        set_last(program, &program->blocks[i]);
}

/* Where a block that was taken leads to. */
static uint32_t next_block(struct make_program *program, const struct make_block *block)
{
    if (block->end == MAKE_RETURN)
        return program->call_count ? program->calls[--program->call_count]
                                   : any_function(program);
    if (block->end == MAKE_CALL || block->end == MAKE_INDIRECT) {
        /* The oldest caller is forgotten. */
        if (program->call_count == MAKE_CALLS)
            memmove(program->calls, program->calls + 1,
                    --program->call_count * sizeof program->calls[0]);
        program->calls[program->call_count++] = program->at + 1;
    }
    return block->end == MAKE_INDIRECT ? any_function(program) : block->target;
}

unsigned make_run(struct make_program *program, struct tw_retired *run)
{
    const struct make_block *block = &program->blocks[program->at];
    struct tw_retired *last = &run[block->count - 1];

    memcpy(run, &program->code[block->first], block->count * sizeof *run);
    if (block->end == MAKE_CONDITIONAL && chance(program, block->taken))
        last->flags |= TW_RETIRED_TAKEN;
    if (last->flags & TW_RETIRED_TAKEN)
        program->at = next_block(program, block);
    else
        program->at++;
    if (last->flags & TW_RETIRED_TAKEN)
        last->target = program->code[program->blocks[program->at].first].address;
    program->executed += block->count;
    return block->count;
}

/* Whether the code of a function is not to be had. */
static bool is_missing(const struct make_program *program, uint32_t function)
{
    uint64_t state = program->wish.seed + function * (uint64_t)0x9e3779b97f4a7c15u + 1;

    return make_random(&state) % 100 < program->wish.missing;
}

static void add_code(struct make_program *program, struct subject *subject, uint32_t first,
                     uint32_t end)
{
    const uint64_t from = program->code[program->blocks[first].first].address;
    const uint64_t to = program->code[program->blocks[end - 1].first].address +
                        (uint64_t)4 * program->blocks[end - 1].count;
    const struct tw_region region = { .size = sizeof region,
                                      .address = from,
                                      .length = to - from };
    const uint8_t *bytes = program->bytes + (from - program->base);

    bench_need(tw_image_add(subject->image, &region, bytes), "image");
    subject->dumps[subject->dump_count++] =
        (struct subject_dump){ .address = from, .length = to - from, .bytes = bytes };
}

void make_program_finish(struct make_program *program, struct subject *subject)
{
    const uint32_t functions = program->block_count / FUNCTION;
    uint32_t first = 0;

    program->bytes = subject_own(subject, bench_allocate((size_t)4 * program->code_count));
    for (uint32_t i = 0; i < program->code_count; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            program->bytes[4 * i + byte] = (uint8_t)(program->code[i].opcode >> 8 * byte);
    bench_need(tw_image_new(&subject->image, NULL, NULL), "image");
    subject->dumps = bench_allocate((functions + 1) * sizeof *subject->dumps);
    for (uint32_t i = 0; i < functions; i++)
        if (is_missing(program, i)) {
            if (first < i * FUNCTION)
                add_code(program, subject, first, i * FUNCTION);
            first = (i + 1) * FUNCTION;
        }
    if (first < program->block_count)
        add_code(program, subject, first, program->block_count);
    if (!program->wish.missing) {
        subject->instructions = program->executed;
        subject->slack = 64; /* the last ones may not be told any more */
    }
    free(program->blocks);
    free(program->code);
}
