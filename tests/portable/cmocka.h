/* SPDX-License-Identifier: BSD-2-Clause */
/* What our tests use of cmocka, for machines that have none: a test that fails is left by a jump, and the counts are printed
   in the same words. */
#ifndef CMOCKA_STANDIN_H
#define CMOCKA_STANDIN_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Of a group, before its first test and after its last, or of one test; not 0: that failed. */
typedef int standin_step(void **state);

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    standin_step *setup_func, *teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(function)                                                             \
    {                                                                                          \
#function, function, NULL, NULL, NULL                                                  \
    }
#define cmocka_unit_test_prestate(function, state)                                             \
    {                                                                                          \
#function, function, NULL, NULL, state                                                 \
    }
#define cmocka_unit_test_setup_teardown(function, setup, teardown)                             \
    {                                                                                          \
#function, function, setup, teardown, NULL                                             \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                                         \
    cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                              \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                            standin_step *setup, standin_step *teardown);
/* Leaves the test at work. */
_Noreturn void standin_leave(const char *why, const char *file, int line);
_Noreturn void standin_skip(void);

#define skip() standin_skip()
#define fail() standin_leave("fail", __FILE__, __LINE__)
#define fail_msg(...)                                                                          \
    do {                                                                                       \
        print_error(__VA_ARGS__);                                                              \
        print_error("\n");                                                                     \
        fail();                                                                                \
    } while (0)
#define assert_true(condition)                                                                 \
    do {                                                                                       \
        if (!(condition))                                                                      \
            standin_leave(#condition, __FILE__, __LINE__);                                     \
    } while (0)
#define assert_non_null(pointer)             assert_true((pointer) != NULL)
#define assert_string_equal(got, want)       assert_true(strcmp(got, want) == 0)
#define assert_false(condition)              assert_true(!(condition))
#define assert_null(pointer)                 assert_true((pointer) == NULL)
#define assert_int_equal(got, want)          assert_true((long long)(got) == (long long)(want))
#define assert_memory_equal(got, want, size) assert_true(memcmp(got, want, size) == 0)
#define print_message(...)                   ((void)printf(__VA_ARGS__))
#define print_error(...)                     ((void)fprintf(stderr, __VA_ARGS__))
#define _fail(file, line)                    standin_leave("fail", file, line)

#endif
