/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of structs that begin with their size: older and newer callers are served. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"

/* A struct as this library has it. */
struct ours {
    size_t size;
    uint32_t first, second;
    const void *third;
};

static void smaller_ones_are_zero_behind_their_end(void **state)
{
    const struct ours whole = {
        .size = sizeof whole, .first = 1, .second = 2, .third = &whole
    };

    (void)state;
    for (size_t size = sizeof(size_t); size <= sizeof whole; size++) {
        uint8_t *theirs = check_copy((const uint8_t *)&whole, size);
        struct ours taken, wanted;

        check_case("%zu bytes", size);
        memcpy(theirs, &size, sizeof size);
        memset(&wanted, 0, sizeof wanted);
        memcpy(&wanted, &whole, size);
        wanted.size = sizeof wanted;
        memset(&taken, 0xff, sizeof taken);
        CHECK_EQ(tw_sized_take(&taken, sizeof taken, theirs, "ours", NULL), TW_OK);
        CHECK(memcmp(&taken, &wanted, sizeof taken) == 0);
        free(theirs);
    }
}

static void larger_ones_must_ask_for_nothing_more(void **state)
{
    struct {
        struct ours ours;
        uint8_t more[5];
    } theirs;
    struct tw_fault fault;
    struct ours taken;

    (void)state;
    memset(&theirs, 0, sizeof theirs);
    theirs.ours = (struct ours){ .size = sizeof theirs, .first = 7 };
    CHECK_EQ(tw_sized_take(&taken, sizeof taken, &theirs, "ours", &fault), TW_OK);
    CHECK(taken.size == sizeof taken && taken.first == 7);
    for (size_t i = 0; i < sizeof theirs.more; i++) {
        theirs.more[i] = 1;
        CHECK_EQ(tw_sized_take(&taken, sizeof taken, &theirs, "ours", &fault),
                 TW_E_UNSUPPORTED);
        CHECK(strstr(fault.text, "ours") != NULL);
        theirs.more[i] = 0;
    }
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    static const size_t wrong[] = { 0, 1, sizeof(size_t) - 1, sizeof(struct ours) + 4097,
                                    SIZE_MAX };
    struct ours theirs = { .first = 7 }, taken;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(TW_SIZED_TAKE(&taken, (struct ours *)NULL, "ours", &fault), TW_E_ARGUMENT);
    CHECK_TEXT(fault.text, "there is no ours");
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        theirs.size = wrong[i];
        CHECK_EQ(TW_SIZED_TAKE(&taken, &theirs, "ours", &fault), TW_E_ARGUMENT);
        CHECK(strstr(fault.text, "sizeof") != NULL);
        CHECK(!TW_SIZED_GIVE(&theirs, &taken));
    }
}

static void results_fill_what_the_caller_has(void **state)
{
    const struct ours ours = { .size = sizeof ours, .first = 3, .second = 4, .third = &ours };

    (void)state;
    for (size_t size = sizeof(size_t); size < sizeof ours + 40; size++) {
        const size_t shared = size < sizeof ours ? size : sizeof ours;
        uint8_t *theirs = malloc(size);

        assert_non_null(theirs);
        check_case("%zu bytes", size);
        memset(theirs, 0xff, size);
        memcpy(theirs, &size, sizeof size);
        CHECK(tw_sized_give(theirs, &ours, sizeof ours));
        CHECK(memcmp(theirs, &size, sizeof size) == 0);
        CHECK(memcmp(theirs + sizeof size, (const uint8_t *)&ours + sizeof size,
                     shared - sizeof size) == 0);
        for (size_t i = sizeof ours; i < size; i++)
            CHECK_EQ(theirs[i], 0);
        free(theirs);
    }
}

static void arrays_have_the_stride_of_their_first(void **state)
{
    const struct ours array[2] = { { .size = sizeof array[0] }, { .size = 5 } };
    const size_t narrow[4] = { 2 * sizeof(size_t), 0, 2 * sizeof(size_t), 9 };

    (void)state;
    CHECK(tw_sized_at(array, 1) == &array[1]);
    CHECK(tw_sized_at(narrow, 1) == &narrow[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smaller_ones_are_zero_behind_their_end),
        cmocka_unit_test(larger_ones_must_ask_for_nothing_more),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(results_fill_what_the_caller_has),
        cmocka_unit_test(arrays_have_the_stride_of_their_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
