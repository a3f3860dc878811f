/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares: nothing and all are said of nothing else. */
#include "check.h"

#include "base/percent.h"

static const struct {
    double part, all;
    int digits;
    const char *want;
} rows[] = {
    { 0, 0, 1, "0.0" },
    { 0, 7, 1, "0.0" },
    { 7, 7, 1, "100.0" },
    { 1, 3, 1, "33.3" },
    { 1, 1e9, 1, "<0.1" },
    { 0.00049, 1, 1, "<0.1" },
    { 0.00051, 1, 1, "0.1" },
    { 12287, 12288, 1, ">99.9" },
    { 12287, 12288, 2, "99.99" },
    { 12287, 12288, 0, ">99" },
    { 1e15 - 1, 1e15, 2, ">99.99" },
    { 1, 1e9, 2, "<0.01" },
    { 0.9994, 1, 1, "99.9" },
    { 3, 2, 1, "150.0" },
};

static void shares_are_not_rounded_to_nothing_or_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_case("row %zu", i);
        CHECK_TEXT(tw_percent(rows[i].part, rows[i].all, rows[i].digits).text, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_not_rounded_to_nothing_or_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
