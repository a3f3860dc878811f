/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of target memory: a great many regions. */
#include "check.h"

#include "image/image.h"

static uint8_t memory[0x4000];

static enum tw_status add(struct tw_image *image, uint64_t address, uint64_t length,
                          size_t from)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = address,
                                      .length = length };

    return tw_image_add(image, &region, memory + from);
}

/* Where in `memory` the address is found, and how many bytes lie there together; -1: nowhere. */
static int64_t find(struct tw_image *image, uint64_t address, size_t *size)
{
    const struct tw_view all = { TW_SPACE_ANY, 0, 0 };
    const uint8_t *bytes = NULL;

    *size = tw_image_find(image, &bytes, &all, address);
    return *size ? bytes - memory : -1;
}

/* More regions than one piece holds, in orders that put each before, behind or between the others. */
static void any_number_in_any_order(void **state)
{
    enum { REGIONS = 3000 };

    (void)state;
    for (unsigned order = 0; order < 3; order++) {
        struct tw_image *image;
        size_t size;

        check_case("order %u", order);
        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        for (uint32_t i = 0; i < REGIONS; i++) {
            const uint32_t n = order == 0   ? i
                               : order == 1 ? REGIONS - 1 - i
                                            : (uint32_t)((uint64_t)i * 1999 % REGIONS);

            CHECK_EQ(add(image, 0x1000 + 16 * n, 8, n * 4), TW_OK);
        }
        for (uint32_t n = 0; n < REGIONS; n++) {
            CHECK_EQ(find(image, 0x1000 + 16 * n, &size), n * 4);
            CHECK_EQ(size, 8);
            CHECK_EQ(find(image, 0x1000 + 16 * n + 7, &size), n * 4 + 7);
            CHECK_EQ(find(image, 0x1000 + 16 * n + 8, &size), -1);
            CHECK_EQ(add(image, 0xfff + 16 * n, 17, 0), TW_E_CONFIG);
        }
        for (uint32_t n = 0; n < REGIONS; n += 1 + n % 7)
            tw_image_remove(image, 0x1000 + 16 * n, 0);
        for (uint32_t n = 0, gone = 0; n < REGIONS; n++) {
            CHECK_EQ(find(image, 0x1000 + 16 * n, &size), n == gone ? -1 : (int64_t)n * 4);
            if (n == gone)
                gone += 1 + gone % 7;
        }
        tw_image_free(image);
    }
}

/* What is kept of where places lie is of this view and of these regions alone. */
static void places_to_and_fro(void **state)
{
    enum { REGIONS = 200, PAGE = 0x1000, ROUNDS = 4 };
    const struct tw_view other = { TW_SPACE_EL3, 0, 0 }, later = { TW_SPACE_ANY, 0, 50 };
    struct tw_region own = {
        .size = sizeof own, .address = 7 * PAGE, .length = 4, .from = 40, .until = 60
    };
    struct tw_image *image, *alias;
    const uint8_t *bytes;
    size_t size;

    (void)state;
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    for (uint64_t n = 0; n < REGIONS; n++)
        CHECK_EQ(add(image, n * PAGE + 16, PAGE / 2, n * 8), TW_OK);
    alias = tw_image_alias_new(image, NULL);
    CHECK(alias != NULL);
    for (uint64_t i = 0; i < ROUNDS * REGIONS; i++) {
        const uint64_t n = i * 37 % REGIONS;
        struct tw_image *asked = i % 3 ? image : alias;

        if (i == 2 * REGIONS) { /* others come in the place of some */
            for (uint64_t k = 0; k < REGIONS; k += 5)
                tw_image_remove(image, k * PAGE + 16, 0);
            for (uint64_t k = 0; k < REGIONS; k += 10)
                CHECK_EQ(add(image, k * PAGE + 8, 32, 1), TW_OK);
            tw_image_alias_refresh(alias);
        }
        if (i >= 2 * REGIONS && n % 5 == 0) {
            CHECK_EQ(find(asked, n * PAGE + 24, &size), n % 10 == 0 ? 17 : -1);
            continue;
        }
        CHECK_EQ(find(asked, n * PAGE + 24, &size), (int64_t)n * 8 + 8);
        CHECK_EQ(size, PAGE / 2 - 8);
        if (i % 7 == 0) {
            CHECK_EQ(tw_image_find(asked, &bytes, &other, n * PAGE + 16), PAGE / 2);
            CHECK_EQ(bytes - memory, (int64_t)n * 8);
        }
        CHECK_EQ(find(asked, n * PAGE + PAGE - 1, &size), -1);
    }
    CHECK_EQ(tw_image_add(image, &own, memory + 99), TW_OK);
    for (unsigned i = 0; i < 100; i++) {
        CHECK_EQ(find(image, 7 * PAGE, &size), -1);
        CHECK_EQ(tw_image_find(image, &bytes, &later, 7 * PAGE), 4);
        CHECK_EQ(bytes - memory, 99);
        CHECK_EQ(find(image, (uint64_t)(8 + i % 2) * PAGE + 16, &size), (8 + i % 2) * 8);
    }
    tw_image_alias_free(alias);
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_number_in_any_order),
                                        cmocka_unit_test(places_to_and_fro) };

    return cmocka_run_group_tests_name("a great many regions", tests, NULL, NULL);
}
