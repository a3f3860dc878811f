/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs and random runs of them, for tests of the trace unit. */
#ifndef ETMV4_TEST_PROGRAM_H
#define ETMV4_TEST_PROGRAM_H

#include "etmv4/test_code.h"

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
    add_value(program, TW_STEP_CANCEL, count, (uint8_t)how, SEEN);
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
