/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: single rules of the specification, each shown by what happens without it. */
#include "check.h"

#include "etrace/test_path.h"

/* mtvec in vectored mode: interrupts go to base + 4 * cause, exceptions all go to the base. */
static void vectors_are_for_interrupts_alone(void **state)
{
    const struct program program = loop_program();
    struct tw_etrace_packet trap = { TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 7,
                                     .thaddr = 1 };
    struct trace exception = trace_of(BASE "implicit_exception=1\ntvec=3:2001\n");
    struct trace interrupt = trace_of(BASE "implicit_exception=1\ntvec=3:2001\n");
    struct trace direct = trace_of(BASE "implicit_exception=1\ntvec=3:2000\n");

    (void)state;
    sync_at(&exception, 0x1000, 1);
    send(&exception, trap);
    expect(&program, &exception, "on\nP 3 0\n1000-1000 1\nE 7 1004 tval 0\n2000-2000 1\n");
    trap.interrupt = 1;
    sync_at(&interrupt, 0x1000, 1);
    send(&interrupt, trap);
    expect(&program, &interrupt, "on\nP 3 0\n1000-1000 1\nI 7 1004\n201c-201c 1\n");
    sync_at(&direct, 0x1000, 1);
    send(&direct, trap);
    expect(&program, &direct, "on\nP 3 0\n1000-1000 1\nI 7 1004\n2000-2000 1\n");
}

/* The handlers of each privilege have a base of their own. */
static void each_privilege_has_its_vectors(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "implicit_exception=1\ntvec=1:3000\ntvec=3:2000\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    send(&trace, (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 1,
                                            .ecause = 7, .thaddr = 1 });
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\nE 7 1004 tval 0\nP 1 0\n3000-3000 1\n");
}

/* Through code that is missing nobody saw calls and branches go by.  So with a return stack or a
   predictor the next address is not enough to go on from: only synchronization is. */
static void missing_code_spoils_what_is_inferred_from_the_path(void **state)
{
    static const struct {
        const char *options;
        bool goes_on;
    } cases[] = {
        { BASE, true },
        { BASE "full_address=1\n", true },
        { BASE "implicit_return=1\ncall_counter_size_p=4\n", false },
        { BASE "implicit_return=1\nreturn_stack_size_p=4\n", false },
        { BASE "branch_prediction=1\nbpred_size_p=4\n", false },
    };
    const struct program program = loop_program();

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct trace trace = trace_of(cases[i].options);

        check_case("case %zu", i);
        sync_at(&trace, 0x1008, 1);
        f2(&trace, 0x10000); /* there is no code */
        f2(&trace, 0x1004);
        sync_at(&trace, 0x2000, 1);
        expect(&program, &trace,
               cases[i].goes_on
                   ? "on\nP 3 0\n1008-100c 2\nmissing 10000\n1004-100c 3\n2000-2000 1\n"
                   : "on\nP 3 0\n1008-100c 2\nmissing 10000\n2000-2000 1\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_for_interrupts_alone),
        cmocka_unit_test(each_privilege_has_its_vectors),
        cmocka_unit_test(missing_code_spoils_what_is_inferred_from_the_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
