/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: what options, traps and returns make of a path. */
#include "check.h"

#include "etrace/test_path.h"

/* Traps. */

static void trap_on_the_target_of_a_jump(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1008);
    f2(&trace, 0x100c);              /* flushed before the trap */
    trap(&trace, 0x1800, 12, false); /* the jump's target could not be fetched */
    sync_at(&trace, 0x2000, 1);
    f2(&trace, 0x2004);
    support(&trace, TW_ETRACE_ENDED_REP, 0);
    expect(&program, &trace, "on\nP 3 0\n1008-100c 2\nE 12 1800 tval 0\n2000-2004 2\n");
}

static void traps_in_a_row(void **state)
{
    struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x1004);
    put(&program, ECALL);
    start(&trace, 0x1000);
    f2(&trace, 0x1004);
    trap(&trace, 0x3000, 11, false); /* the handler's first instruction faults ... */
    trap(&trace, 0x2000, 1, true);   /* ... which is where the second trap comes from */
    expect(&program, &trace,
           "on\nP 3 0\n1000-1004 2\nE 11 1004 tval 0\nE 1 3000 tval 0\n2000-2000 1\n");
}

static void trap_reported_twice(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1008);
    f2(&trace, 0x100c);
    trap(&trace, 0x1800, 12, false);
    trap(&trace, 0x3000, 12, false); /* the same again: a second trap struck at 3000 */
    trap(&trace, 0x2000, 1, true);
    expect(&program, &trace,
           "on\nP 3 0\n1008-100c 2\nE 12 1800 tval 0\nE 1 3000 tval 0\n2000-2000 1\n");
}

/* [RVT 11/3] */
static void interrupt_after_a_branch(void **state)
{
    struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x1004);
    put(&program, beq(0x100)); /* 1104 */
    start(&trace, 0x1000);
    f1(&trace, 0x1004, 1, 0); /* the branch itself is reported: taken */
    send_to(&trace, 0x2000,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 7,
                                       .interrupt = 1, .thaddr = 1 });
    expect(&program, &trace, "on\nP 3 0\n1000-1004 2\nI 7 1104\n2000-2000 1\n");
}

/* [RVT 6.3.1/1] */
static void draft_exception_with_epc(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of("layout=seed\niaddress_width_p=64\ncontext_width_p=8\n"
                                  "privilege_width_p=2\necause_width_p=5\n");

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x1004);
    send_to(&trace, 0x2000,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 2,
                                       .tval = 0x1008 });
    expect(&program, &trace, "on\nP 3 0\n1000-1004 2\nE 2 1008\n2000-2000 1\n");
}

/* [RVT 3.2.3/1] [RVT 6.3/3] */
static void implicit_exception_with_vectors(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "implicit_exception=1\ntvec=3:1ff1\n");
    struct trace blind = trace_of(BASE "implicit_exception=1\n");
    const struct tw_etrace_packet interrupt = { TYPE(F3S1),  .branch = 1,    .privilege = 3,
                                                .ecause = 7, .interrupt = 1, .thaddr = 1 };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    send(&trace, interrupt); /* 1ff0 + 4 * 7 is 200c */
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\nI 7 1004\n200c-200c 1\n");
    sync_at(&blind, 0x1000, 1);
    send(&blind, interrupt);
    sync_at(&blind, 0x2000, 1);
    expect(&program, &blind,
           "on\nP 3 0\n1000-1000 1\nI 7 1004\nno sync, bad-packet\n"
           "error unsupported at 5, 4 skipped\non\n2000-2000 1\n");
}

/* Options. */

/* [RVT 3.2.4/1] [RVT 3.2.4/3] [RVT 11/11] */
static void sequential_jump(void **state)
{
    struct program program = { .base = 0 };
    struct trace on = trace_of(BASE "sijump_p=1\n"), off = trace_of(BASE);

    (void)state;
    at(&program, 0x1000);
    put(&program, auipc(5, 1)); /* 2000 */
    put(&program, jalr(0, 5, 0x10));
    at(&program, 0x2010);
    put(&program, NOP4);
    put(&program, jalr(0, 10, 0));
    start(&on, 0x1000);
    f2(&on, 0x1000);
    expect(&program, &on, "on\nP 3 0\n1000-1004 2\n2010-2014 2\n1000-1000 1\n");
    start(&off, 0x1000);
    f2(&off, 0x1000); /* the same packet: now of the first jump */
    expect(&program, &off, "on\nP 3 0\n1000-1004 2\n1000-1000 1\n");
}

/* [RVT 3.2.5/4] [RVT 6.6.3/2] */
static void implicit_returns(void **state)
{
    const struct program program = call_program();
    struct trace counted = trace_of(BASE "implicit_return=1\ncall_counter_size_p=4\n");
    struct trace stacked = trace_of(BASE "implicit_return=1\nreturn_stack_size_p=1\n");

    (void)state;
    sync_at(&counted, 0x1000, 1);
    f2(&counted, 0x1004);
    support(&counted, TW_ETRACE_ENDED_REP, 1);
    expect(&program, &counted,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1004 1\n");
    sync_at(&stacked, 0x1000, 1);
    f2(&stacked, 0x1000);
    expect(&program, &stacked,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1008 2\n"
           "1000-1000 1\n");
}

/* [RVT 3.2.5/6] [RVT 6.6.3/1] */
static void mispredicted_return(void **state)
{
    const struct program program = call_program();
    struct trace trace = trace_of(BASE "implicit_return=1\nreturn_stack_size_p=3\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    /* The return at 3004, with two entries on the stack, goes elsewhere. */
    send_to(&trace, 0x1004,
            (struct tw_etrace_packet){ TYPE(F2), .irreport = true, .irdepth = 2 });
    support(&trace, TW_ETRACE_ENDED_UPD, 1);
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n1004-1004 1\n");
}

static void only_x1_links(void **state)
{
    const struct program program = call_program();
    struct trace trace =
        trace_of(BASE "implicit_return=1\ncall_counter_size_p=4\nlink_registers=x1\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    f2(&trace, 0x2004); /* a return by x5 is none */
    support(&trace, TW_ETRACE_ENDED_UPD, 1);
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n");
}

/* [RVT 6.7/2] [RVT 11/7] */
static void full_branch_map(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE);
    struct tw_text want = { .chars = NULL };

    (void)state;
    start(&trace, 0x1000);
    full_map(&trace, 0); /* 31 times taken; the last is still to be left */
    f1(&trace, 0x1000, 1, 1);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 31; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "1000-1010 5\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

/* [RVT 3.2.6/2] [RVT 3.2.6/3] [RVT 6.8/2] [RVT 11/5] */
static void branch_prediction(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE "branch_prediction=1\nbpred_size_p=4\n");
    struct tw_text want = { .chars = NULL };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    full_map(&trace, 0); /* the predictor learns; the last branch is still to be left */
    /* 40 right predictions from there on, then a wrong one: not taken. */
    send(&trace, (struct tw_etrace_packet){ TYPE(F0S0), .branch_count = 9, .branch_fmt = 0 });
    f2(&trace, 0x1000);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 71; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "1000-1010 5\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

/* [RVT 6.8/3] [RVT 6.8.2/1] [RVT T6.9/1] */
static void predicted_branch_at_the_address(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE "branch_prediction=1\nbpred_size_p=4\n");
    struct tw_text want = { .chars = NULL };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    full_map(&trace, 0);
    /* 31 right ones, the last at the address; a trap drops it. */
    send_to(&trace, 0x1008, (struct tw_etrace_packet){ TYPE(F0S0), .branch_fmt = 2 });
    trap(&trace, 0x1000, 5, true);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 62; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "E 5 1000 tval 0\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

/* [RVT 3.2.7/1] [RVT 3.2.7/2] */
static void jump_target_cache(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "jump_target_cache=1\ncache_size_p=3\n");

    (void)state;
    sync_at(&trace, 0x1008, 1);
    f2(&trace, 0x2000);
    sync_at(&trace, 0x2004, 1);
    trap(&trace, 0x1008, 3, true);
    send(&trace, (struct tw_etrace_packet){ TYPE(F0S1), .index = 0 }); /* 2000 >> 1 & 7 */
    trace.address = 0x2000;
    f2(&trace, 0x2004); /* the cached address is what this one differs from */
    support(&trace, TW_ETRACE_ENDED_REP, 8);
    expect(&program, &trace,
           "on\nP 3 0\n1008-100c 2\n2000-2004 2\nE 3 2008 tval 0\n1008-100c 2\n2000-2004 2\n");
}

/* [RVT 3.2/1] [RVT 3.2.1/1] [RVT 3.2.2/1] [RVT 11/4] */
static void options_change_on_the_way(void **state)
{
    const struct program program = call_program();
    struct trace trace = trace_of(BASE "call_counter_size_p=4\n");

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x2004);                          /* the first return is reported */
    f2(&trace, 0x1004);                          /* and the second */
    support(&trace, TW_ETRACE_NO_CHANGE, 1 | 4); /* implicit return, full address */
    sync_at(&trace, 0x1000, 1);
    f2(&trace, 0x1004);
    support(&trace, TW_ETRACE_ENDED_REP, 1 | 4);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1008 2\n"
           "1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1004 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_on_the_target_of_a_jump),
        cmocka_unit_test(traps_in_a_row),
        cmocka_unit_test(trap_reported_twice),
        cmocka_unit_test(interrupt_after_a_branch),
        cmocka_unit_test(draft_exception_with_epc),
        cmocka_unit_test(implicit_exception_with_vectors),
        cmocka_unit_test(sequential_jump),
        cmocka_unit_test(implicit_returns),
        cmocka_unit_test(mispredicted_return),
        cmocka_unit_test(only_x1_links),
        cmocka_unit_test(full_branch_map),
        cmocka_unit_test(branch_prediction),
        cmocka_unit_test(predicted_branch_at_the_address),
        cmocka_unit_test(jump_target_cache),
        cmocka_unit_test(options_change_on_the_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
