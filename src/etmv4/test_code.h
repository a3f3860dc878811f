/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of random programs, for tests of the trace unit. */
#ifndef ETMV4_TEST_CODE_H
#define ETMV4_TEST_CODE_H

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
            return 0xb100 | (uint32_t)((distance >> 6 & 1) << 9 | (distance >> 1 & 0x1f) << 3);
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

#endif
