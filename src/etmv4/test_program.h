/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs and random runs of them, for tests of the trace unit. */
#ifndef ETMV4_TEST_PROGRAM_H
#define ETMV4_TEST_PROGRAM_H

#include "etmv4/test_unit.h"

enum {
    SLOTS = 400,
    CALLS_MOST = 64,
    NESTING_MOST = 3,
    HANDLER = 12 /* instructions of an exception handler */
};

/* What a run may hold. */
struct wishes {
    bool is_64bit, has_exceptions, has_context, has_transactions, has_gaps;
    bool has_time, has_externals, has_instrumentation, has_losses, has_requests;
    bool has_inputs; /* PE comparator inputs, and an event that is latched where trace is not */
    uint32_t max_spec; /* 0: nothing is speculative */
    unsigned length;   /* instructions */
};

struct program {
    struct wishes wishes;
    struct check_random *random;
    struct memory memory;
    struct tw_retired slots[SLOTS + NESTING_MOST * HANDLER + 1];
    size_t slot_count, handler[NESTING_MOST];
    uint64_t base;

    struct tw_step *steps, *truth; /* with and without what was speculated */
    size_t step_count, truth_count, step_room, truth_room;
    struct tw_retired **chunks; /* the instructions of the steps */
    size_t chunk_count;

    /* The run. */
    size_t at; /* slot */
    size_t calls[CALLS_MOST];
    size_t call_count;
    struct {
        size_t slot;
        struct tw_step_context context;
    } nest[NESTING_MOST];
    unsigned nesting;
    struct tw_step_context context;
    bool in_transaction;
    size_t transaction_slot;
    uint32_t uncertain; /* P0 elements */
};

static inline bool one_in(struct program *program, unsigned n)
{
    return check_random_below(program->random, n) == 0;
}

static inline size_t any_below(struct program *program, size_t n)
{
    return (size_t)check_random_below(program->random, n);
}

/* ---- code ---- */

static inline uint32_t a64_word(struct program *program, size_t slot, size_t target)
{
    static const uint32_t plain[] = { 0xd503201f, 0xd503201f, 0x8b020020, 0xf9400041,
                                      0xd5033fdf, 0xd503207f, 0xd4000001 };
    const uint32_t distance = (uint32_t)((int32_t)target - (int32_t)slot);

    switch (any_below(program, 27)) {
    case 0:
    case 1: /* forward, so that no run ends in a loop that nothing leaves */
        return 0x14000000 | (uint32_t)any_below(program, SLOTS - slot);
    case 2:
    case 3:
        return 0x94000000 | (distance & 0x3ffffff);
    case 5:
    case 6:
    case 7:
        return 0x54000000 | (distance & 0x7ffff) << 5;
    case 9:
        return 0xb4000000 | (distance & 0x7ffff) << 5;
    case 10:
        return 0x36000000 | (distance & 0x3fff) << 5;
    case 11:
        return 0xd61f0020;
    case 12:
        return 0xd63f0020;
    case 13:
    case 14:
        return 0xd65f03c0;
    case 16:
        return program->wishes.has_transactions ? 0xd5233060 : 0xd503201f;
    default:
        return plain[any_below(program, LENGTH(plain))];
    }
}

static inline uint32_t a32_word(struct program *program, uint64_t address, uint64_t target)
{
    static const uint32_t plain[] = { 0xe320f000, 0xe1a00001, 0xe0810002, 0xe5910004,
                                      0x13a00001, 0xf57ff06f, 0xef000000 };
    const uint32_t distance = (uint32_t)((target - address - 8) >> 2) & 0xffffff;

    switch (any_below(program, 24)) {
    case 0:
        return 0xea000000 | distance;
    case 1:
    case 2:
        return 0xeb000000 | distance;
    case 3:
    case 4:
        return 0x0a000000 | distance;
    case 6:
        return 0x1b000000 | distance;
    case 7:
    case 8:
        return 0xe12fff1e; /* bx lr */
    case 9:
        return 0x112fff1e; /* bxne lr */
    case 10:
        return 0xe12fff33; /* blx r3 */
    case 11:
        return 0xe8bd8010; /* pop {r4, pc} */
    default:
        return plain[any_below(program, LENGTH(plain))];
    }
}

/* Halfwords whose size is known before the targets are. */
static inline uint32_t t32_word(struct program *program)
{
    static const uint32_t plain[] = { 0xbf00, 0x1c49,     0x6809,     0xdf01,
                                      0xbf00, 0xf3af8000, 0xf3bf8f6f, 0xf8d11004 };

    switch (any_below(program, 24)) {
    case 0:
        return 0xe000; /* b: the target is put in later, as in the next four */
    case 1:
    case 2:
        return 0xd000; /* beq */
    case 4:
        return 0xb100; /* cbz */
    case 5:
    case 6:
        return 0xf000f800; /* bl */
    case 7:
    case 8:
        return 0x4770; /* bx lr */
    case 9:
        return 0x4798; /* blx r3 */
    case 10:
        return 0xbd10; /* pop {r4, pc} */
    default:
        return plain[any_below(program, LENGTH(plain))];
    }
}

static inline uint32_t t32_aim(struct program *program, uint32_t opcode, size_t slot)
{
    const uint64_t pc = program->slots[slot].address + 4;
    const bool is_call = opcode == 0xf000f800;
    const int64_t reach = opcode == 0xd000 ? 254 : opcode == 0xe000 ? 2046 : 1 << 20;

    if (opcode != 0xe000 && opcode != 0xd000 && opcode != 0xb100 && !is_call)
        return opcode;
    for (unsigned tries = 0; tries < 40; tries++) {
        const struct tw_retired *to = &program->slots[any_below(program, program->slot_count)];
        const int64_t distance = (int64_t)(to->address - pc);

        if (to->isa != TW_ISA_T32 || distance > reach || distance < -reach ||
            (opcode == 0xb100 && (distance < 0 || distance > 126)))
            continue;
        if (opcode == 0xd000)
            return 0xd000 | (distance >> 1 & 0xff);
        if (opcode == 0xe000)
            return 0xe000 | (distance >> 1 & 0x7ff);
        if (opcode == 0xb100)
            return 0xb100 | (distance >> 6 & 1) << 9 | (distance >> 1 & 0x1f) << 3;
        return 0xf000d000 | 0x2800 | (uint32_t)(distance >> 12 & 0x3ff) << 16 |
               (distance < 0 ? 0x04000000 : 0) | (uint32_t)(distance >> 1 & 0x7ff);
    }
    return opcode == 0xf000f800 ? 0xf3af8000 : 0xbf00;
}

static inline void classify_slot(struct program *program, size_t slot)
{
    struct tw_retired *at = &program->slots[slot];
    uint8_t it_open = 0;

    tw_retired_classify(at, &it_open);
    memory_add(&program->memory, at);
}

static inline void make_a64(struct program *program)
{
    for (size_t i = 0; i < SLOTS; i++) {
        program->slots[i] =
            (struct tw_retired){ .address = program->base + 4 * i, .isa = TW_ISA_A64 };
        program->slots[i].opcode = a64_word(program, i, any_below(program, SLOTS));
    }
    program->slots[SLOTS - 1].opcode = 0x17fffe71; /* back to the first */
    program->slot_count = SLOTS;
    for (unsigned level = 0; level < NESTING_MOST; level++) {
        program->handler[level] = program->slot_count;
        for (unsigned i = 0; i < HANDLER; i++) {
            struct tw_retired *at = &program->slots[program->slot_count++];

            *at = (struct tw_retired){ .address = program->base + 0x20000 * (level + 1) + 4 * i,
                                       .isa = TW_ISA_A64 };
            at->opcode = i + 1 == HANDLER                         ? 0xd69f03e0
                         : check_random_below(program->random, 4) ? 0xd503201f
                                                                  : 0x54000020;
        }
    }
}

/* Half of it A32, half T32. */
static inline void make_aarch32(struct program *program)
{
    uint64_t address = program->base;

    for (size_t i = 0; i < SLOTS; i++) {
        struct tw_retired *at = &program->slots[i];

        *at = (struct tw_retired){ .address = address,
                                   .isa = i < SLOTS / 2 ? TW_ISA_A32 : TW_ISA_T32 };
        at->opcode = at->isa == TW_ISA_T32 ? t32_word(program) : 0;
        address += at->isa == TW_ISA_A32 || at->opcode > 0xffff ? 4 : 2;
    }
    program->slot_count = SLOTS;
    for (size_t i = 0; i < SLOTS; i++) {
        struct tw_retired *at = &program->slots[i];

        if (at->isa == TW_ISA_T32)
            at->opcode = t32_aim(program, at->opcode, i);
        else
            at->opcode = a32_word(program, at->address,
                                  program->slots[any_below(program, SLOTS / 2)].address);
    }
    program->slots[SLOTS / 2 - 1].opcode = 0xe12fff1e;
    program->slots[SLOTS - 1].opcode = 0x4770;
}

/* ---- steps ---- */

static inline void add_to(struct tw_step **list, size_t *count, size_t *room,
                          const struct tw_step *step)
{
    if (*count == *room) {
        *room = *room ? 2 * *room : 256;
        *list = realloc(*list, *room * sizeof **list);
        CHECK(*list);
    }
    (*list)[(*count)++] = *step;
}

/* What the unit sees, and what happened in truth. */
enum { SEEN = 1, TRUE = 2, BOTH = 3 };

static inline void add_step(struct program *program, const struct tw_step *step, unsigned where)
{
    if (where & SEEN)
        add_to(&program->steps, &program->step_count, &program->step_room, step);
    if (where & TRUE)
        add_to(&program->truth, &program->truth_count, &program->truth_room, step);
}

static inline void add_instruction(struct program *program,
                                   const struct tw_retired *instruction, unsigned where)
{
    struct tw_retired *copy = malloc(sizeof *copy);
    struct tw_step step = { .kind = TW_STEP_INSTRUCTIONS };

    program->chunks =
        realloc(program->chunks, (program->chunk_count + 1) * sizeof *program->chunks);
    CHECK(copy && program->chunks);
    program->chunks[program->chunk_count++] = copy;
    *copy = *instruction;
    step.instructions = copy;
    step.count = 1;
    add_step(program, &step, where);
}

static inline void add_value(struct program *program, uint8_t kind, uint64_t value, uint8_t how,
                             unsigned where)
{
    struct tw_step step = { .kind = kind };

    step.value = value;
    step.how = how;
    add_step(program, &step, where);
}

static inline void add_context(struct program *program)
{
    struct tw_step step = { .kind = TW_STEP_CONTEXT };

    step.context = program->context;
    add_step(program, &step, BOTH);
}

static inline void make_certain(struct program *program)
{
    add_value(program, TW_STEP_COMMIT, 0, 0, SEEN);
    program->uncertain = 0;
}

/* ---- running ---- */

static inline size_t slot_of(const struct program *program, uint64_t address)
{
    for (size_t i = 0; i < program->slot_count; i++)
        if (program->slots[i].address == address)
            return i;
    return SIZE_MAX;
}

/* Where a slot leads to when taken; for indirect branches a choice of the run. */
static inline size_t target_of(struct program *program, size_t slot)
{
    const struct tw_retired *at = &program->slots[slot];

    if (at->kind == TW_RETIRED_BRANCH)
        return slot_of(program, at->target);
    if (at->flags & TW_RETIRED_RETURN && program->call_count && !one_in(program, 8))
        return program->calls[program->call_count - 1];
    return any_below(program, SLOTS);
}

static inline bool is_p0_slot(const struct program *program, size_t slot)
{
    return p0_kinds(true) >> program->slots[slot].kind & 1;
}

/* A wrong path of a few instructions from a slot; how many were fed. */
static inline unsigned stray(struct program *program, size_t slot, unsigned most)
{
    unsigned count = 0;

    while (count < most && slot < SLOTS) {
        struct tw_retired at = program->slots[slot];
        const bool is_branch = at.kind == TW_RETIRED_BRANCH || at.kind == TW_RETIRED_INDIRECT;
        size_t next = slot + 1;

        if (at.kind == TW_RETIRED_TSTART || at.kind == TW_RETIRED_ISB ||
            at.flags & TW_RETIRED_EXCEPTION_RETURN)
            break;
        if (is_branch && at.flags & TW_RETIRED_CONDITIONAL && one_in(program, 2))
            at.flags |= TW_RETIRED_TAKEN;
        if (is_branch && at.flags & TW_RETIRED_TAKEN) {
            next = target_of(program, slot);
            if (next == SIZE_MAX)
                break;
            if (at.kind == TW_RETIRED_INDIRECT)
                at.target = program->slots[next].address;
        }
        add_instruction(program, &at, SEEN);
        count++;
        slot = next;
    }
    return count;
}

static inline void add_exception(struct program *program, uint8_t type)
{
    struct tw_step step = { .kind = TW_STEP_EXCEPTION };
    const struct tw_retired *to = &program->slots[program->at];

    step.exception = type;
    step.return_address = to->address;
    step.return_isa = to->isa;
    add_step(program, &step, BOTH);
}

static inline void enter(struct program *program, uint8_t type)
{
    add_exception(program, type);
    program->uncertain++;
    if (!program->wishes.is_64bit || (program->wishes.has_gaps && one_in(program, 3))) {
        add_value(program, TW_STEP_GAP, 0, 0, BOTH);
        return;
    }
    program->nest[program->nesting].slot = program->at;
    program->nest[program->nesting].context = program->context;
    program->at = program->handler[program->nesting++];
    program->context.el = (uint8_t)program->nesting;
    if (program->nesting == 3)
        program->context.security = TW_SECURE;
    add_context(program);
}

static inline void side_events(struct program *program)
{
    const struct wishes *wishes = &program->wishes;

    if (wishes->has_time && one_in(program, 20))
        add_value(program, TW_STEP_CYCLES, any_below(program, 100), 0, BOTH);
    if (wishes->has_time && one_in(program, 60))
        add_value(program, TW_STEP_TIME, check_random_next(program->random), 0, BOTH);
    if (wishes->has_externals && one_in(program, 30)) {
        add_value(program, TW_STEP_EXTERNAL, 0x20 + any_below(program, 4), 0, BOTH);
        add_value(program, TW_STEP_CYCLES, 1, 0, BOTH);
    }
    if (wishes->has_inputs && one_in(program, 12))
        add_value(program, TW_STEP_INPUTS, check_random_next(program->random) & 0xff, 0, BOTH);
    if (wishes->has_inputs && one_in(program, 40))
        add_value(program, TW_STEP_EXTERNAL, 0x400d, 0, BOTH);
    if (wishes->has_instrumentation && one_in(program, 50))
        add_value(program, TW_STEP_INSTRUMENTATION, check_random_next(program->random), 0,
                  BOTH);
    if (wishes->has_requests && one_in(program, 60))
        add_value(program, one_in(program, 2) ? TW_STEP_SYNC : TW_STEP_FLUSH, 0, 0, BOTH);
    if (wishes->has_losses && one_in(program, 200)) {
        if (wishes->max_spec)
            make_certain(program);
        add_value(program, TW_STEP_OVERFLOW, 0, 0, BOTH);
        add_value(program, TW_STEP_CYCLES, 5, 0, BOTH);
        add_value(program, TW_STEP_RECOVER, 0, 0, BOTH);
    }
}

/* A branch that goes wrong first: it and what follows are fed, then taken back. */
static inline void mispredict(struct program *program, const struct tw_retired *right,
                              size_t wrong)
{
    struct tw_retired at = *right;
    const bool is_indirect = at.kind == TW_RETIRED_INDIRECT;
    const enum tw_cancel how =
        is_indirect && at.flags & TW_RETIRED_TAKEN ? TW_CANCEL_TARGET : TW_CANCEL_DIRECTION;
    unsigned most, count;

    if (program->uncertain + 2 >= program->wishes.max_spec)
        make_certain(program);
    most = program->wishes.max_spec - program->uncertain - 2;
    if (how == TW_CANCEL_DIRECTION)
        at.flags ^= TW_RETIRED_TAKEN;
    at.target = program->slots[wrong].address;
    add_instruction(program, &at, SEEN);
    add_instruction(program, right, TRUE);
    program->uncertain++;
    count = stray(program, wrong, (unsigned)any_below(program, (most < 12 ? most : 12) + 1u));
    add_value(program, TW_STEP_CANCEL, count, how, SEEN);
}

/* The right path a little ahead, taken back, then again. */
static inline void run_ahead(struct program *program)
{
    unsigned most, count;

    if (program->uncertain + 2 >= program->wishes.max_spec)
        make_certain(program);
    most = program->wishes.max_spec - program->uncertain - 2;
    count =
        stray(program, program->at, (unsigned)any_below(program, (most < 12 ? most : 12) + 1u));
    if (count)
        add_value(program, TW_STEP_CANCEL, count, TW_CANCEL_ONLY, SEEN);
}

/* One instruction of the run; what follows it is in program->at. */
static inline void run_one(struct program *program)
{
    const size_t slot = program->at;
    struct tw_retired at = program->slots[slot];
    const bool is_branch = at.kind == TW_RETIRED_BRANCH || at.kind == TW_RETIRED_INDIRECT;
    const bool speculates = program->wishes.max_spec != 0;
    size_t next = slot + 1, target = SIZE_MAX;

    if (is_branch && at.flags & TW_RETIRED_CONDITIONAL && one_in(program, 2))
        at.flags |= TW_RETIRED_TAKEN;
    if (at.flags & TW_RETIRED_EXCEPTION_RETURN)
        target = program->nest[program->nesting - 1].slot;
    else if (is_branch)
        target = target_of(program, slot);
    CHECK(!is_branch || target != SIZE_MAX);
    if (is_branch && at.flags & TW_RETIRED_TAKEN) {
        next = target;
        at.target = program->slots[target].address;
        if (at.flags & TW_RETIRED_RETURN && program->call_count)
            program->call_count--;
        if (at.flags & TW_RETIRED_LINK && program->call_count < CALLS_MOST)
            program->calls[program->call_count++] = slot + 1;
    }
    if (speculates && program->uncertain + 1 >= program->wishes.max_spec)
        make_certain(program);
    if (speculates && is_branch && slot < SLOTS && one_in(program, 6) &&
        (at.flags & TW_RETIRED_CONDITIONAL || at.kind == TW_RETIRED_INDIRECT)) {
        const bool is_taken = at.flags & TW_RETIRED_TAKEN;

        mispredict(program, &at,
                   at.kind == TW_RETIRED_INDIRECT && is_taken ? any_below(program, SLOTS)
                   : is_taken                                 ? slot + 1
                                                              : target);
    } else {
        add_instruction(program, &at, BOTH);
        program->uncertain += is_p0_slot(program, slot);
    }
    program->at = next;
}

/* What an instruction brings besides going on. */
static inline void run_effects(struct program *program, const struct tw_retired *done)
{
    if (done->flags & TW_RETIRED_EXCEPTION_RETURN) {
        program->context = program->nest[--program->nesting].context;
        add_context(program);
        return;
    }
    if (done->kind == TW_RETIRED_ISB && program->wishes.has_context && one_in(program, 2)) {
        program->context.context_id = (uint32_t)check_random_next(program->random) & 0xffff;
        program->context.vmid = one_in(program, 3) ? (uint32_t)any_below(program, 3) : 0;
        add_context(program);
    }
    if (done->kind == TW_RETIRED_TSTART && !program->in_transaction) {
        add_value(program, TW_STEP_TRANSACTION, 0, TW_TRANS_START, BOTH);
        program->uncertain++;
        program->in_transaction = true;
        program->transaction_slot = program->at;
    }
}

static inline void run_transaction(struct program *program)
{
    const bool fails = one_in(program, 2);

    if (!one_in(program, 25))
        return;
    if (program->wishes.max_spec && fails)
        make_certain(program);
    add_value(program, TW_STEP_TRANSACTION, 0, fails ? TW_TRANS_FAIL : TW_TRANS_COMMIT, BOTH);
    program->in_transaction = false;
    if (fails)
        program->at = program->transaction_slot;
}

static inline void run_program(struct program *program)
{
    add_context(program);
    if (program->wishes.max_spec)
        add_value(program, TW_STEP_SPECULATE, 1, 0, SEEN);
    for (unsigned i = 0; i < program->wishes.length; i++) {
        struct tw_retired done;

        CHECK(program->at < program->slot_count);
        if (program->wishes.max_spec && program->at < SLOTS && one_in(program, 15))
            run_ahead(program);
        done = program->slots[program->at];
        run_one(program);
        run_effects(program, &done);
        side_events(program);
        if (program->in_transaction) {
            run_transaction(program);
            continue;
        }
        if (!program->wishes.has_exceptions || program->nesting == NESTING_MOST)
            continue;
        if (program->wishes.max_spec && program->uncertain + 3 >= program->wishes.max_spec)
            make_certain(program);
        if (done.opcode == 0xd4000001 || done.opcode == 0xef000000 || done.opcode == 0xdf01)
            enter(program, TW_EXCEPTION_CALL);
        else if (one_in(program, 40))
            enter(program, one_in(program, 2) ? TW_EXCEPTION_IRQ : TW_EXCEPTION_DATA_FAULT);
        if (program->nesting && program->nesting < NESTING_MOST && one_in(program, 12))
            enter(program, TW_EXCEPTION_FIQ);
    }
    /* Behind an exception nothing is left that only the next P0 element could tell. */
    if (program->wishes.max_spec)
        make_certain(program);
    add_exception(program, TW_EXCEPTION_IRQ);
    if (program->wishes.max_spec)
        make_certain(program);
}

static inline void program_make(struct program *program, struct check_random *random,
                                const struct wishes *wishes)
{
    static const uint64_t bases[] = { 0x1000, 0x400000, 0xfffff000, 0xffff800010080000,
                                      0x7fff0ff0 };

    *program = (struct program){ .wishes = *wishes, .random = random };
    program->base = wishes->is_64bit ? bases[any_below(program, LENGTH(bases))]
                                     : 0x8000 + 0x10000 * any_below(program, 4);
    program->context =
        (struct tw_step_context){ .security = TW_NONSECURE, .is_64bit = wishes->is_64bit };
    if (wishes->is_64bit)
        make_a64(program);
    else
        make_aarch32(program);
    for (size_t i = 0; i < program->slot_count; i++)
        classify_slot(program, i);
    run_program(program);
}

static inline void program_free(struct program *program)
{
    for (size_t i = 0; i < program->chunk_count; i++)
        free(program->chunks[i]);
    free(program->chunks);
    free(program->steps);
    free(program->truth);
    memory_free(&program->memory);
}

#endif
