/* SPDX-License-Identifier: BSD-2-Clause */
/* Random RISC-V programs and random runs through them, for tests of the encoders. */
#ifndef TRACKWAY_TESTS_RV_PROGRAM_H
#define TRACKWAY_TESTS_RV_PROGRAM_H

#include <string.h>

#include <trackway/etrace_unit.h>

#include "base/compiler.h"
#include "isa/isa.h"

enum { CODE = 0x4000, FUNCTIONS = 6, BLOCKS = 6, STEPS_MOST = 1200, STACK = 64, TASKS = 2 };

#define BASE    UINT64_C(0x80000000)
#define HANDLER (BASE + 0x3000)

/* What a run may do. */
struct run_options {
    bool is_rv32;
    bool has_wild_returns; /* not to where the call was */
    bool ecall_retires;
    bool is_seed; /* nothing traps at the target of an uninferable jump, nor twice */
    bool has_contexts, has_sijumps;
    bool may_trap;
};

struct program {
    uint8_t code[CODE];
    uint64_t entry[FUNCTIONS][BLOCKS];
    uint32_t free;
};

/* One retired instruction, or a trap that nothing retired with. */
struct happening {
    struct tw_etrace_block block; /* of this instruction alone; iretire in half-words */
};

struct history {
    struct happening steps[STEPS_MOST + 8];
    size_t count;
};

static void put16(struct program *program, uint32_t value)
{
    program->code[program->free++] = (uint8_t)value;
    program->code[program->free++] = (uint8_t)(value >> 8);
}

static void put32(struct program *program, uint32_t value)
{
    put16(program, value & 0xffff);
    put16(program, value >> 16);
}

static void put_jal(struct program *program, unsigned rd, uint64_t target)
{
    const uint32_t offset = (uint32_t)(target - (BASE + program->free));

    put32(program, (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 |
                       (offset >> 11 & 1) << 20 | (offset >> 12 & 0xff) << 12 | rd << 7 | 0x6f);
}

static void put_branch(struct program *program, uint64_t target)
{
    const uint32_t offset = (uint32_t)(target - (BASE + program->free));

    put32(program, (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | 10u << 15 |
                       (offset >> 1 & 0xf) << 8 | (offset >> 11 & 1) << 7 | 0x63);
}

/* auipc t1 and a jump by it. */
static void put_sequential(struct program *program, uint64_t target)
{
    const uint32_t offset = (uint32_t)(target - (BASE + program->free));
    const uint32_t upper = (offset + 0x800) & 0xfffff000u;

    put32(program, upper | 6u << 7 | 0x17);
    put32(program, (offset - upper) << 20 | 6u << 15 | 0x67);
}

/* The end of a block, `kind` 0 to 9.  Loops have branches or uninferable jumps in them: without, a
   trace cannot tell how often they ran. */
static void put_end(struct program *program, struct check_random *random, unsigned function,
                    unsigned block)
{
    const unsigned kind = block == 0 ? 0 : (unsigned)check_random_below(random, 10);
    const unsigned forward =
        block + 1 < BLOCKS
            ? block + 1 + (unsigned)check_random_below(random, BLOCKS - block - 1)
            : BLOCKS - 1;
    const unsigned any = (unsigned)check_random_below(random, BLOCKS);
    const unsigned callee = (unsigned)check_random_below(random, FUNCTIONS);
    const unsigned higher =
        function + 1 < FUNCTIONS
            ? function + 1 + (unsigned)check_random_below(random, FUNCTIONS - function - 1)
            : function;

    if (block + 1 == BLOCKS) { /* return: jalr x0, x1 or c.jr x1 */
        if (check_random_below(random, 2))
            put32(program, 0x00008067);
        else
            put16(program, 0x8082);
        return;
    }
    switch (kind) {
    case 0:
    case 1:
        put_branch(program, program->entry[function][any]);
        break;
    case 2: /* a call after the branch that ends block 0: recursion, too */
    case 3:
        put_jal(program, 1, program->entry[callee][0]);
        break;
    case 4:
        put_jal(program, 0, program->entry[function][forward]);
        break;
    case 5:
        put32(program, 0x000300e7); /* jalr x1, x6 */
        break;
    case 6:
        put32(program, 0x00030067); /* jalr x0, x6 */
        break;
    case 7:
        put_sequential(program, higher == function ? program->entry[function][forward]
                                                   : program->entry[higher][0]);
        break;
    case 8:
        put32(program, 0x00000073); /* ecall */
        break;
    default:
        break; /* goes on with the next block */
    }
}

static void put_body(struct program *program, struct check_random *random)
{
    for (unsigned i = (unsigned)check_random_below(random, 4); i; i--) {
        if (check_random_below(random, 2))
            put16(program, 0x0001);
        else
            put32(program, 0x00000013);
    }
}

/* Two passes with the same random numbers: the first finds where the blocks are. */
TW_UNUSED static void make_program(struct program *program, struct check_random *random)
{
    const struct check_random start = *random;

    memset(program, 0, sizeof *program);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        for (unsigned j = 0; j < BLOCKS; j++)
            program->entry[i][j] = BASE;
    for (unsigned pass = 0; pass < 2; pass++) {
        *random = start;
        program->free = 0;
        for (unsigned function = 0; function < FUNCTIONS; function++)
            for (unsigned block = 0; block < BLOCKS; block++) {
                program->entry[function][block] = BASE + program->free;
                put_body(program, random);
                put_end(program, random, function, block);
            }
        program->free = (uint32_t)(HANDLER - BASE);
        put16(program, 0x0001);
        put_branch(program, BASE + program->free + 8);
        put32(program, 0x00000013);
        put_jal(program, 5, BASE + program->free + 8); /* a call by x5, to: */
        put_jal(program, 0, BASE + program->free + 8); /* back here: on to mret */
        put16(program, 0x8282);                        /* c.jr x5 */
        put16(program, 0x0001);
        put32(program, 0x30200073); /* mret */
    }
}

/* ---- running it ---- */

struct task {
    uint64_t pc;
    uint64_t links[STACK];
    unsigned depth;
};

struct machine {
    const struct program *program;
    const struct run_options *options;
    struct check_random *random;
    struct history *history;
    struct task tasks[TASKS];
    unsigned task;
    uint64_t epc[8];
    uint64_t handler_link;
    unsigned level; /* of handlers */
    uint32_t number;
    uint64_t context, next_context; /* the new one comes with the next instruction */
    uint8_t ctype, next_ctype;
    struct tw_rv_instruction before;
    bool has_before, is_after_uninferable, is_after_trap;
};

static void note(struct machine *machine, const struct tw_etrace_block *block)
{
    struct happening *out = &machine->history->steps[machine->history->count++];

    out->block = *block;
    out->block.priv = machine->level ? 3 : 0;
    out->block.context = machine->context;
    out->block.ctype = machine->ctype;
    out->block.time = machine->history->count;
    machine->ctype = 0;
}

static uint64_t any_entry(struct machine *machine)
{
    return machine->program->entry[check_random_below(machine->random, FUNCTIONS)]
                                  [check_random_below(machine->random, BLOCKS)];
}

/* `retired`: the instruction that trapped, if it counts as retired. */
static uint64_t trap(struct machine *machine, uint64_t epc, bool is_interrupt,
                     struct tw_etrace_block *retired, uint64_t resume)
{
    struct tw_etrace_block block = { .iaddr = epc };

    if (retired)
        block = *retired;
    machine->number++;
    block.itype = is_interrupt ? TW_ETRACE_ITYPE_INTERRUPT : TW_ETRACE_ITYPE_EXCEPTION;
    block.cause = machine->number % 13;
    block.tval = machine->number;
    note(machine, &block);
    machine->epc[machine->level++] = resume;
    machine->has_before = machine->is_after_uninferable = false;
    machine->is_after_trap = true;
    return HANDLER;
}

static uint64_t trap_return(struct machine *machine)
{
    uint64_t pc = machine->epc[--machine->level];

    if (machine->level == 0 && machine->options->has_contexts &&
        check_random_below(machine->random, 3) == 0) {
        machine->tasks[machine->task].pc = pc;
        machine->task = (machine->task + 1) % TASKS;
        pc = machine->tasks[machine->task].pc;
        machine->next_context = 7 + machine->task;
        machine->next_ctype = (uint8_t)(1 + check_random_below(machine->random, 3));
    }
    return pc;
}

static uint64_t go_return(struct machine *machine, const struct tw_rv_instruction *what)
{
    struct task *task = &machine->tasks[machine->task];

    if (what->rs1 == 5)
        return machine->handler_link;
    if (machine->options->has_wild_returns && check_random_below(machine->random, 8) == 0) {
        task->depth -= task->depth > 0;
        return any_entry(machine);
    }
    if (machine->level || task->depth == 0)
        return machine->program->entry[0][0];
    return task->links[--task->depth];
}

/* Where an instruction leads, and what the hart says of it. */
static uint64_t follow(struct machine *machine, uint64_t pc,
                       const struct tw_rv_instruction *what, struct tw_etrace_block *block)
{
    struct task *task = &machine->tasks[machine->task];
    const uint64_t behind = pc + what->flow.size;

    block->itype = what->itype;
    if (what->is_branch) {
        const bool is_taken = check_random_below(machine->random, 3) == 0;

        block->itype = is_taken ? TW_ETRACE_ITYPE_TAKEN : TW_ETRACE_ITYPE_NOT_TAKEN;
        return is_taken ? what->flow.target : behind;
    }
    if (what->flow.is_exception_return)
        return trap_return(machine);
    if (what->flow.is_return)
        return go_return(machine, what);
    if (what->flow.is_link && what->rd == 5) {
        machine->handler_link = behind;
        return what->flow.target;
    }
    if (what->flow.is_link) {
        if (task->depth == STACK) {
            memmove(task->links, task->links + 1, sizeof task->links - sizeof task->links[0]);
            task->depth--;
        }
        task->links[task->depth++] = behind;
    }
    if (what->is_inferable)
        return what->flow.target;
    if (what->is_uninferable) {
        uint64_t target;

        if (machine->has_before && tw_rv_sequential_target(&target, what, &machine->before)) {
            block->sijump = machine->options->has_sijumps;
            return target;
        }
        return what->flow.is_link
                   ? machine->program->entry[check_random_below(machine->random, FUNCTIONS)][0]
                   : any_entry(machine);
    }
    return behind;
}

static struct tw_rv_instruction code_at(const struct machine *machine, uint64_t pc)
{
    const struct tw_rv_options options = { 0 };
    const uint8_t *at = machine->program->code + (pc - BASE);
    struct tw_rv_instruction what;

    tw_rv_classify(&what,
                   at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24,
                   pc, machine->options->is_rv32 ? TW_ISA_RV32 : TW_ISA_RV64, &options);
    return what;
}

static uint64_t run_one(struct machine *machine, uint64_t pc)
{
    const struct tw_rv_instruction what = code_at(machine, pc);
    const bool is_barred =
        machine->options->is_seed && (machine->is_after_uninferable || machine->is_after_trap);
    struct tw_etrace_block block = { .iaddr = pc,
                                     .iretire = what.flow.size / 2u,
                                     .ilastsize = what.flow.size == 4 };
    uint64_t next;

    if (machine->options->may_trap && !is_barred && machine->level < 4 &&
        check_random_below(machine->random, 20) == 0)
        return trap(machine, pc, check_random_below(machine->random, 2), NULL, pc);
    if (what.is_trapping && machine->options->may_trap && !is_barred && machine->level < 4)
        return trap(machine, pc, false, machine->options->ecall_retires ? &block : NULL,
                    pc + 4);
    next = follow(machine, pc, &what, &block);
    note(machine, &block);
    if (what.flow.is_exception_return) /* it still had the handler's privilege */
        machine->history->steps[machine->history->count - 1].block.priv = 3;
    machine->context = machine->next_context;
    machine->ctype = machine->next_ctype;
    machine->next_ctype = 0;
    machine->before = what;
    machine->has_before = true;
    machine->is_after_trap = false;
    machine->is_after_uninferable = what.is_uninferable;
    return next;
}

TW_UNUSED static void run_program(struct history *history, const struct program *program,
                                  const struct run_options *options,
                                  struct check_random *random)
{
    struct machine machine = {
        .program = program,
        .options = options,
        .random = random,
        .history = history,
        .context = 7,
        .next_context = 7,
    };
    const size_t steps = 100 + (size_t)check_random_below(random, STEPS_MOST - 100);
    uint64_t pc = program->entry[0][0];

    history->count = 0;
    for (unsigned i = 0; i < TASKS; i++)
        machine.tasks[i].pc = program->entry[i][0];
    while (history->count < steps)
        pc = run_one(&machine, pc);
}

#endif
