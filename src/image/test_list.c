/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of symbols that come as a list: those of code that was made at run time. */
#include "check.h"

#include <stdlib.h>

#include "image/symbols.h"

#include "failing.h"

static const struct tw_symbol list[] = { { "second", 0x2000, 0x20 },
                                         { "first", 0x1000, 0x10 },
                                         { "third", 0x2020, 4 },
                                         { "not given", 0x1800, 8 } };

enum { GIVEN = 3 };

static void a_list_gives_its_own_names_alone(void **state)
{
    static const struct {
        uint64_t address;
        const char *name;
    } rows[] = { { 0xfff, NULL },      { 0x1000, "first" }, { 0x100f, "first" },
                 { 0x1010, NULL },     { 0x1800, NULL },    { 0x2000, "second" },
                 { 0x201f, "second" }, { 0x2020, "third" }, { 0x2024, NULL } };
    struct tw_symbols *symbols;

    (void)state;
    CHECK_EQ(tw_symbols_new(&symbols, NULL, NULL), TW_OK);
    CHECK_EQ(tw_symbols_add_list(symbols, "jit", list, GIVEN), TW_OK);
    CHECK_EQ(tw_symbols_count(symbols), GIVEN);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_symbol found = { .name = NULL };
        struct tw_source_line line;

        check_case("%#llx", (unsigned long long)rows[i].address);
        CHECK_EQ(tw_symbols_find(symbols, &found, rows[i].address), rows[i].name != NULL);
        if (rows[i].name)
            CHECK_TEXT(found.name, rows[i].name);
        CHECK(!tw_symbols_line(symbols, &line, rows[i].address));
    }
    CHECK_EQ(tw_symbols_add_list(symbols, "more", list + GIVEN, 1), TW_OK);
    CHECK_EQ(tw_symbols_count(symbols), GIVEN + 1);
    tw_symbols_free(symbols);
}

/* All of a list, or nothing. */
static void a_list_is_added_whole_or_not_at_all(void **state)
{
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    for (size_t limit = 1; status != TW_OK; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_symbols *symbols;

        check_case("%zu requests", limit);
        if (tw_symbols_new(&symbols, &allocator, NULL) != TW_OK)
            continue;
        status = tw_symbols_add_list(symbols, "jit", list, GIVEN);
        CHECK(status == TW_OK || status == TW_E_MEMORY);
        CHECK_EQ(tw_symbols_count(symbols), status == TW_OK ? GIVEN : 0);
        tw_symbols_free(symbols);
        CHECK_EQ(failing.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_gives_its_own_names_alone),
        cmocka_unit_test(a_list_is_added_whole_or_not_at_all),
    };

    return cmocka_run_group_tests_name("lists of symbols", tests, NULL, NULL);
}
