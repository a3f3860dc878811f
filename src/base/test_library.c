/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that are loaded by name: what is there, and what is not. */
#include "check.h"

#include "base/compiler.h"
#include "base/library.h"

/* The C library is one that every program has; elsewhere its name is another. */
#ifdef __GLIBC__
#define C_LIBRARY "libc.so.6"

struct c_library {
    size_t (*strlen)(const char *text);
    int (*abs)(int number);
};

static void test_present(void **state)
{
    static const char *const names[] = { "strlen", "abs" };
    struct c_library c = { 0 };

    (void)state;
    assert_true(tw_library_load(C_LIBRARY, &c, names, TW_LENGTH(names)));
    assert_int_equal(c.strlen("four"), 4);
    assert_int_equal(c.abs(-5), 5);
}

/* A library of another version: it is not to be used, and what it lacks is not what was there before. */
static void test_function_missing(void **state)
{
    static const char *const names[] = { "strlen", "no_such_function" };
    struct c_library c = { 0 };

    (void)state;
    assert_false(tw_library_load(C_LIBRARY, &c, names, TW_LENGTH(names)));
    assert_null(c.abs);
}

static void test_the_first_that_is_found(void **state)
{
    static const char *const files[] = { "libno-such-library.so.1", C_LIBRARY };
    void *library;
    int (*taken)(int number);

    (void)state;
    assert_null(tw_library_open(files, 1));
    library = tw_library_open(files, TW_LENGTH(files));
    assert_non_null(library);
    assert_true(tw_library_take(library, &taken, "abs"));
    assert_int_equal(taken(-7), 7);
}
#endif

static void test_file_missing(void **state)
{
    static const char *const names[] = { "one", "two" };
    void *places[2] = { &places[0], &places[1] };

    (void)state;
    assert_false(tw_library_load("libno-such-library.so.1", places, names, 2));
    assert_null(places[0]);
    assert_null(places[1]);
    assert_false(tw_library_take(NULL, &places[0], "one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __GLIBC__
        cmocka_unit_test(test_present),
        cmocka_unit_test(test_function_missing),
        cmocka_unit_test(test_the_first_that_is_found),
#endif
        cmocka_unit_test(test_file_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
