/* SPDX-License-Identifier: BSD-2-Clause */
/* Implicit return (3.2.5): calls nested as deep as the counter or the stack can hold, and deeper. */
#include "check.h"

#include <stdlib.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "hart/test_trip.h"

enum { BITS = 5, DEEPEST = (1 << BITS) + 2 };

/* Where things are in a program that calls itself. */
struct recursion {
    struct program program;
    uint64_t main, call, after, function, test, again, behind, leave, ret;
};

static void make_recursion(struct recursion *out)
{
    struct program *program = &out->program;

    memset(out, 0, sizeof *out);
    out->function = BASE + 0x10;
    out->leave = BASE + 0x20;
    out->main = BASE + program->free;
    put32(program, 0x00000013);
    out->call = BASE + program->free;
    put_jal(program, 1, out->function);
    out->after = BASE + program->free;
    put32(program, 0x00000013);
    put32(program, 0x00000013);
    CHECK_EQ(BASE + program->free, out->function);
    put32(program, 0x00000013);
    out->test = BASE + program->free;
    put_branch(program, out->leave);
    out->again = BASE + program->free;
    put_jal(program, 1, out->function);
    out->behind = BASE + program->free;
    put32(program, 0x00000013);
    CHECK_EQ(BASE + program->free, out->leave);
    put32(program, 0x00000013);
    out->ret = BASE + program->free;
    put32(program, 0x00008067);
}

static void add(struct history *history, uint64_t address, unsigned itype)
{
    history->steps[history->count++].block = (struct tw_etrace_block){
        .iaddr = address, .iretire = 2, .ilastsize = 1, .itype = (uint8_t)itype, .priv = 3
    };
}

/* `depth` calls inside of each other, `times` times. */
static void recurse(struct history *history, const struct recursion *at, unsigned depth,
                    unsigned times)
{
    history->count = 0;
    for (unsigned k = 0; k < times; k++) {
        add(history, at->main, TW_ETRACE_ITYPE_NONE);
        add(history, at->call, TW_ETRACE_ITYPE_INFERABLE_CALL);
        for (unsigned i = 1; i < depth; i++) {
            add(history, at->function, TW_ETRACE_ITYPE_NONE);
            add(history, at->test, TW_ETRACE_ITYPE_NOT_TAKEN);
            add(history, at->again, TW_ETRACE_ITYPE_INFERABLE_CALL);
        }
        add(history, at->function, TW_ETRACE_ITYPE_NONE);
        add(history, at->test, TW_ETRACE_ITYPE_TAKEN);
        for (unsigned i = 1; i < depth; i++) {
            add(history, at->leave, TW_ETRACE_ITYPE_NONE);
            add(history, at->ret, TW_ETRACE_ITYPE_RETURN);
            add(history, at->behind, TW_ETRACE_ITYPE_NONE);
        }
        add(history, at->leave, TW_ETRACE_ITYPE_NONE);
        add(history, at->ret, TW_ETRACE_ITYPE_RETURN);
        add(history, at->after, TW_ETRACE_ITYPE_NONE);
        if (k + 1 < times) /* back to the beginning */
            add(history, at->after + 4, TW_ETRACE_ITYPE_JUMP);
    }
}

/* [RVT 3.2.5/2] [RVT 3.2.5/3] [RVT 11/12] [RVT 11/13] */
static void test_nesting(void **state)
{
    static uint64_t pcs[STEPS_MOST + 8];
    struct recursion at;
    struct history *history = calloc(1, sizeof *history);
    struct bytes trace = { NULL, 0, 0 };
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };
    struct tw_image *image;

    (void)state;
    CHECK(history != NULL);
    make_recursion(&at);
    put32(&at.program, 0); /* not reached */
    at.program.free = 0xc;
    put32(&at.program, 0x00030067); /* jalr x0, x6, behind `after` */
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, at.program.code), TW_OK);
    for (unsigned turn = 0; turn < 8; turn++)
        for (unsigned bits = 1; bits <= BITS; bits++)
            for (unsigned depth = 1; depth <= DEEPEST; depth++) {
                static struct result result;
                const unsigned mode = turn & 1 ? RETURNS : COUNTER;
                struct setup setup = make_setup(turn & 2, &mode, 1, 0);

                check_case("%s of %u bits, %u deep, turn %u", mode_names[mode], bits, depth,
                           turn);
                setup.config.retires = 1;
                setup.config.xlen = setup.config.iaddress_width = 64;
                setup.config.call_counter_size = mode == COUNTER ? (uint8_t)bits : 0;
                setup.config.return_stack_size = mode == RETURNS ? (uint8_t)bits : 0;
                setup.unit.literal_returns = turn & 4;
                setup.resync_mode = 0;
                recurse(history, &at, depth, depth < 10 ? 3 : 1);
                encode(&trace, &setup, history, false);
                result =
                    (struct result){ .pcs = pcs, .room = LENGTH(pcs), .program = &at.program };
                decode_with(&setup.config, image, &trace, take, &result);
                compare(&result, &setup, history);
            }
    tw_image_free(image);
    free(trace.bytes);
    free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_nesting) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
