/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory in time: a region is there from its first instant to before its last; regions that touch
   in time do not meet, in whatever order they were added. */
#include "check.h"

#include <trackway/image.h>

#include "image/image.h"

static const uint8_t memory[0x300] = { 0 };

static enum tw_status add(struct tw_image *image, uint64_t address, uint64_t from,
                          uint64_t until, size_t at)
{
    const struct tw_region region = {
        .size = sizeof region, .address = address, .length = 0x100, .from = from, .until = until
    };

    return tw_image_add(image, &region, memory + at);
}

/* Which region's bytes are seen: 0, 1 or 2; -1: none. */
static int seen(struct tw_image *image, uint64_t address, uint64_t time)
{
    const struct tw_view view = { TW_SPACE_EL2, 0, time };
    const uint8_t *bytes;

    if (!tw_image_find(image, &bytes, &view, address))
        return -1;
    return (int)((size_t)(bytes - memory) / 0x100);
}

static const struct {
    uint64_t from, until;
} times[3] = { { 0, 50 }, { 50, 70 }, { 70, 0 } };

static void regions_that_touch_in_time_lie_beside_each_other(void **state)
{
    static const uint8_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                          { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

    (void)state;
    for (size_t i = 0; i < LENGTH(orders); i++) {
        struct tw_image *image;

        check_case("order %zu", i);
        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        for (size_t n = 0; n < 3; n++) {
            const uint8_t which = orders[i][n];

            CHECK_EQ(add(image, 0x1000, times[which].from, times[which].until,
                         (size_t)which * 0x100),
                     TW_OK);
        }
        CHECK_EQ(seen(image, 0x1000, 0), 0);
        CHECK_EQ(seen(image, 0x10ff, 49), 0);
        CHECK_EQ(seen(image, 0x1000, 50), 1);
        CHECK_EQ(seen(image, 0x10ff, 69), 1);
        CHECK_EQ(seen(image, 0x1000, 70), 2);
        CHECK_EQ(seen(image, 0x1000, UINT64_MAX - 1), 2);
        tw_image_free(image);
    }
}

static void regions_that_meet_for_one_instant_are_refused(void **state)
{
    (void)state;
    for (unsigned is_late = 0; is_late < 2; is_late++) {
        struct tw_image *image;

        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        CHECK_EQ(is_late ? add(image, 0x1000, 49, 70, 0) : add(image, 0x1000, 0, 50, 0), TW_OK);
        CHECK_EQ(is_late ? add(image, 0x1000, 0, 50, 0x100) : add(image, 0x1000, 49, 70, 0x100),
                 TW_E_CONFIG);
        CHECK_EQ(seen(image, 0x1000, 49), 0);
        /* A byte further on in memory there is no quarrel. */
        CHECK_EQ(add(image, 0x1100, 0, 70, 0x100), TW_OK);
        CHECK_EQ(seen(image, 0x1100, 49), 1);
        tw_image_free(image);
    }
}

static void a_region_needs_an_instant(void **state)
{
    struct tw_image *image;

    (void)state;
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(add(image, 0x1000, 50, 50, 0), TW_E_ARGUMENT);
    CHECK_EQ(add(image, 0x1000, 51, 50, 0), TW_E_ARGUMENT);
    CHECK_EQ(add(image, 0x1000, 50, 51, 0), TW_OK);
    CHECK_EQ(seen(image, 0x1000, 50), 0);
    CHECK_EQ(seen(image, 0x1000, 51), -1);
    CHECK_EQ(seen(image, 0x1000, 49), -1);
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_that_touch_in_time_lie_beside_each_other),
        cmocka_unit_test(regions_that_meet_for_one_instant_are_refused),
        cmocka_unit_test(a_region_needs_an_instant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
