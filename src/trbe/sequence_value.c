/* SPDX-License-Identifier: BSD-2-Clause */
/* What general registers are known to hold while a sequence is read, and what a loop waits for. */
#include <string.h>

#include "trbe/sequence.h"

static const struct value unknown = { .mask = ~(uint64_t)0 };

struct value tw_seq_get(const struct values *values, uint8_t reg)
{
    if (reg == ZERO_REGISTER)
        return (struct value){ .known = ~(uint64_t)0 };
    return reg < GENERAL_REGISTERS ? values->x[reg] : unknown;
}

void tw_seq_set(struct values *values, uint8_t reg, struct value value)
{
    if (reg < GENERAL_REGISTERS)
        values->x[reg] = value;
}

static struct value constant(uint64_t bits)
{
    return (struct value){ .known = ~(uint64_t)0, .bits = bits };
}

/* Second operand: a register or an immediate. */
static struct value operand(const struct values *values, const struct step *step)
{
    return step->has_immediate ? constant(step->immediate) : tw_seq_get(values, step->rm);
}

static struct value and_of(struct value a, struct value b)
{
    struct value out = a;

    /* A known 0 on either side, or both known. */
    out.known = (a.known & b.known) | (a.known & ~a.bits) | (b.known & ~b.bits);
    out.bits = a.bits & b.bits & out.known;
    if (b.known == ~(uint64_t)0)
        out.mask = a.mask & b.bits;
    return out;
}

static struct value or_of(struct value a, struct value b)
{
    struct value out = a;

    out.known = (a.known & b.known) | (a.known & a.bits) | (b.known & b.bits);
    out.bits = ((a.bits & a.known) | (b.bits & b.known)) & out.known;
    out.mask = b.known == ~(uint64_t)0 ? a.mask & ~b.bits : 0;
    return out;
}

static struct value inverse(struct value a)
{
    a.bits = ~a.bits & a.known;
    return a;
}

static uint64_t ones(unsigned count)
{
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

static struct value field_of(struct value a, unsigned lowest, unsigned width)
{
    struct value out = a;

    if (lowest >= 64 || a.shift + lowest >= 64)
        return unknown;
    out.known = (a.known >> lowest) | ~ones(width);
    out.bits = a.bits >> lowest & ones(width);
    out.mask = a.mask >> lowest & ones(width);
    out.shift = (uint8_t)(a.shift + lowest);
    return out;
}

static struct value result(const struct values *values, const struct step *step)
{
    const struct value a = tw_seq_get(values, step->rn);
    const struct value b = operand(values, step);
    const struct value old = tw_seq_get(values, step->rd);

    switch (step->op) {
    case OP_MOV:
        return b;
    case OP_MOVK: {
        const uint64_t part = (uint64_t)0xffff << step->more;
        struct value out = old;

        out.known = step->has_immediate ? old.known | part : old.known & ~part;
        out.bits = (old.bits & ~part) | ((step->immediate << step->more) & part);
        out.bits &= out.known;
        return out;
    }
    case OP_AND:
        return and_of(a, b);
    case OP_BIC:
        return and_of(a, inverse(b));
    case OP_ORR:
        return or_of(a, b);
    case OP_EOR: {
        struct value out = a;

        out.known = a.known & b.known;
        out.bits = (a.bits ^ b.bits) & out.known;
        out.mask = b.known == ~(uint64_t)0 ? a.mask & ~b.bits : 0;
        return out;
    }
    case OP_UBFX:
        return step->has_immediate ? field_of(a, (unsigned)step->immediate, step->more)
                                   : unknown;
    case OP_BFC:
        return step->has_immediate && step->immediate < 64
                   ? and_of(old, constant(~(ones(step->more) << step->immediate)))
                   : unknown;
    default:
        return unknown;
    }
}

void tw_seq_follow(struct values *values, const struct step *step)
{
    switch (step->kind) {
    case STEP_VALUE:
        tw_seq_set(values, step->rd, result(values, step));
        break;
    case STEP_TEST: {
        const struct value b = operand(values, step);

        values->has_gate = step->op == OP_CCMP;
        if (values->has_gate) { /* the first test stands, and what it must give */
            values->gate = step->more;
            break;
        }

        values->tested = tw_seq_get(values, step->rn);
        values->operand = b.bits;
        values->is_tst = step->op == OP_TST;
        values->has_test = b.known == ~(uint64_t)0;
        break;
    }
    case STEP_LOAD:
        tw_seq_set(values, step->rd, step->has_immediate ? constant(step->immediate) : unknown);
        tw_seq_set(values, step->rm, unknown);
        break;
    case STEP_OTHER:
        tw_seq_set(values, step->rd, unknown);
        break;
    default:
        break;
    }
}

/* The loop ends when (status & mask) == wanted, or, with is_other, when it is not. */
static struct wait ends_when(uint64_t mask, uint64_t wanted, bool is_other)
{
    struct wait wait = { -1, -1 };

    mask &= 3;
    if (is_other) {
        /* "Not equal" tells a bit only when it is the only one. */
        if (mask == 1)
            wait.idle = !(wanted & 1);
        else if (mask == 2)
            wait.pmstable = !(wanted >> 1 & 1);
        return wait;
    }
    if (mask & 1)
        wait.idle = (int)(wanted & 1);
    if (mask & 2)
        wait.pmstable = (int)(wanted >> 1 & 1);
    return wait;
}

/* What the branch tests, as mask and value: it is taken when (status & mask) == wanted (is_equal), or
   when it is not. */
struct test {
    uint64_t mask, wanted;
    bool is_equal;
};

static bool test_of(const struct values *values, struct test *test, struct value *tested,
                    const struct step *step)
{
    const uint8_t op = values->has_gate ? values->gate : step->op;

    *tested = tw_seq_get(values, step->rn);
    test->wanted = 0;
    switch (op) {
    case OP_TBZ:
    case OP_TBNZ:
        if (!step->has_immediate || step->immediate + tested->shift > 63)
            return false;
        test->mask = (uint64_t)1 << (step->immediate + tested->shift);
        test->is_equal = op == OP_TBZ;
        return true;
    case OP_CBZ:
    case OP_CBNZ:
        test->mask = tested->mask << tested->shift;
        test->is_equal = op == OP_CBZ;
        return true;
    case OP_BEQ:
    case OP_BNE:
        *tested = values->tested;
        test->mask = tested->mask;
        if (values->is_tst)
            test->mask &= values->operand;
        else
            test->wanted = values->operand << tested->shift;
        test->mask <<= tested->shift;
        test->is_equal = op == OP_BEQ;
        return values->has_test;
    default:
        return false;
    }
}

bool tw_seq_loop_wait(const struct values *values, struct wait *wait, const struct step *step,
                      bool is_exit)
{
    struct value tested;
    struct test test;

    if (!test_of(values, &test, &tested, step))
        return false;
    *wait = ends_when(test.mask, test.wanted, test.is_equal != is_exit);
    return tested.origin == REG_TRCSTATR;
}
