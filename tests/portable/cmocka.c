/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the tests of one program and prints the counts as cmocka does. */
#include "cmocka.h"

#include <stdbool.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

enum { RAN, FAILED, SKIPPED };
static jmp_buf outside;

void standin_leave(const char *why, const char *file, int line)
{
    print_error("%s:%d: %s\n", file, line, why);
    longjmp(outside, FAILED);
}

void standin_skip(void)
{
    longjmp(outside, SKIPPED);
}

int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                            standin_step *setup, standin_step *teardown)
{
    static size_t at, counts[3]; /* kept over the jumps */
    static void *shared, *state;
    static bool is_over; /* nothing is left but to clean up behind the test */

#ifdef _WIN32 /* files are bytes */
    _fmode = _O_BINARY;
    (void)_setmode(1, _O_BINARY);
#endif
    (void)printf("[==========] %s: Running %zu test(s).\n", group, count);
    memset(counts, 0, sizeof counts);
    shared = NULL;
    if (setup && setup(&shared) != 0) {
        (void)printf("[  FAILED  ] %zu test(s).\n", count);
        return (int)count;
    }
    for (at = 0; at < count; at++) {
        int outcome;

        state = tests[at].initial_state ? tests[at].initial_state : shared;
        is_over = false;
        outcome = setjmp(outside);
        if (outcome == RAN) {
            if (tests[at].setup_func && tests[at].setup_func(&state) != 0)
                standin_leave("its setup", tests[at].name, 0);
            tests[at].test_func(&state);
        }
        if (!is_over && tests[at].teardown_func) {
            is_over = true;
            if (tests[at].teardown_func(&state) != 0)
                standin_leave("its teardown", tests[at].name, 0);
        }
        if (outcome != RAN)
            (void)printf("[  %s ] %s\n", outcome == FAILED ? "FAILED " : "SKIPPED",
                         tests[at].name);
        counts[outcome]++;
        (void)fflush(stdout);
    }
    if (teardown)
        (void)teardown(&shared);
    (void)printf("[  PASSED  ] %zu test(s).\n", counts[RAN]);
    if (counts[SKIPPED])
        (void)printf("[  SKIPPED ] %zu test(s).\n", counts[SKIPPED]);
    if (counts[FAILED])
        (void)printf("[  FAILED  ] %zu test(s).\n", counts[FAILED]);
    return (int)counts[FAILED];
}
