/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of lines that the tool keeps. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "formats/kept.h"

/* One of the first elements again, with one bit that may be another: what is kept of lines must tell it from all others. */
static void kept_lines_are_those_that_would_be_written(void **state)
{
    enum { SOME = 3000 };
    struct check_random random = check_random_start(0x6b657074);
    struct kept_lines *kept = kept_lines_new();
    struct tw_element *elements = calloc(SOME, sizeof *elements);
    static char got[KEPT_ROOM], want[KEPT_ROOM];

    (void)state;
    CHECK(kept && elements);
    check_random_fill(&random, elements, SOME * sizeof *elements);
    for (size_t i = 0; i < SOME; i++)
        elements[i].type = i % 4 ? TW_ELEMENT_INSTR_RANGE : (uint8_t)(i / 4 % TW_ELEMENT_TYPES);
    for (size_t n = check_scale(200000); n > 0; n--) {
        const uint64_t chance = check_random_next(&random);
        struct tw_element element = elements[chance % (n % 2 ? SOME : 20)];
        const uint8_t id = (uint8_t)(chance >> 20 & 1);
        size_t size;

        element.index = check_random_next(&random) >> (chance >> 24 & 63);
        if (chance >> 32 & 1)
            element.start ^= (uint64_t)1 << (chance >> 33 & 63);
        if (chance >> 40 & 1)
            element.flags ^= (uint8_t)(1u << (chance >> 41 & 7));
        size = kept_text(kept, got, &element, id);
        got[size] = 0;
        CHECK_EQ(size, tw_element_text(want, sizeof want, &element, id));
        CHECK_TEXT(got, want);
        size = kept_text(NULL, got, &element, id);
        CHECK_EQ(size, strlen(want));
    }
    free(elements);
    kept_lines_free(kept);
    kept_lines_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_lines_are_those_that_would_be_written),
    };

    return cmocka_run_group_tests_name("kept_lines", tests, NULL, NULL);
}
