/* SPDX-License-Identifier: BSD-2-Clause */
/* Code at the same address in the same process is other code once something else is mapped there. */
#include "check.h"

#include <trackway/image.h>

#include "analysis/code_place.h"
#include "base/compiler.h"

enum { ADDRESS = 0x1000, CHANGED = 50 };

static const uint8_t a_call[4] = { 0xef, 0x00, 0x00, 0x10 };   /* jal ra, .+0x100 */
static const uint8_t a_return[4] = { 0x67, 0x80, 0x00, 0x00 }; /* ret */

static void map_code(struct tw_image *image, const uint8_t *bytes, uint64_t from,
                     uint64_t until)
{
    const struct tw_region region = {
        .size = sizeof region, .address = ADDRESS, .length = 4, .from = from, .until = until
    };

    CHECK_EQ(tw_image_add(image, &region, bytes), TW_OK);
}

static void look(struct tw_code_places *places, struct tw_code_place *place,
                 struct tw_image *image, uint64_t time)
{
    const struct tw_part part = { .size = sizeof part,
                                  .image = image,
                                  .who.view = { TW_SPACE_ANY, 1, time } };

    CHECK(tw_code_places_of(places, place, NULL, &part));
    place->find = NULL; /* there is no run to ask for symbols */
}

static void code_that_is_mapped_later_is_looked_at_again(void **state)
{
    const struct tw_element range = { .type = TW_ELEMENT_INSTR_RANGE,
                                      .start = ADDRESS,
                                      .length = 4,
                                      .count = 1,
                                      .isa = TW_ISA_RV64,
                                      .last_size = 2,
                                      .last_kind = TW_LAST_IBR,
                                      .flags = TW_RANGE_EXECUTED };
    /* At which time, and what the code does then. */
    static const struct {
        uint64_t time;
        enum tw_transfer transfer;
    } cases[] = { { 1, TW_TRANSFER_CALL },
                  { CHANGED, TW_TRANSFER_RETURN },
                  { CHANGED, TW_TRANSFER_RETURN },
                  { 1, TW_TRANSFER_CALL } };
    uint32_t maps[TW_LENGTH(cases)];
    struct tw_code_places places;
    struct tw_functions functions;
    struct tw_flow_ranges ranges;
    struct tw_image *image;

    (void)state;
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    map_code(image, a_call, 0, CHANGED);
    map_code(image, a_return, CHANGED, 0);
    tw_code_places_init(&places, NULL);
    CHECK(tw_functions_init(&functions, NULL));
    CHECK(tw_flow_ranges_init(&ranges, &functions, NULL));
    for (size_t i = 0; i < TW_LENGTH(cases); i++) {
        const struct tw_flow_range *known;
        struct tw_code_place place;

        check_case("case %zu", i);
        look(&places, &place, image, cases[i].time);
        maps[i] = place.map;
        known = tw_flow_ranges_of(&ranges, &range, &place);
        assert_non_null(known);
        CHECK_EQ(known->transfer, cases[i].transfer);
    }
    CHECK(maps[0] != maps[1]);
    CHECK_EQ(maps[1], maps[2]);
    CHECK_EQ(maps[0], maps[3]);
    tw_flow_ranges_release(&ranges);
    tw_functions_release(&functions);
    tw_code_places_release(&places);
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_is_mapped_later_is_looked_at_again),
    };

    return cmocka_run_group_tests_name("code place", tests, NULL, NULL);
}
