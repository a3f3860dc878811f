/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of positions in the capture, against a slow oracle. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "stage/position.h"

enum { PLACES = 12, SPAN = 600 };

/* Where each stream byte lies, byte by byte, by the words of struct tw_place. */
static void spread(uint64_t *where, size_t size, uint64_t offset, const struct tw_place *places,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t until = i + 1 < count ? places[i + 1].stream : offset + size;
        uint64_t at = places[i].capture;
        uint32_t together = places[i].first;

        for (uint64_t byte = places[i].stream; byte < until; byte++) {
            if (places[i].first && together == 0) {
                at++; /* the auxiliary byte */
                together = 15;
            }
            if (byte >= offset)
                where[byte - offset] = at;
            at++;
            together--;
        }
    }
}

static void positions_agree_with_counting(void **state)
{
    struct check_random random = check_random_start(0x706f73);
    const size_t rounds = check_scale(3000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct tw_place places[PLACES];
        const size_t count = 1 + (size_t)check_random_below(&random, PLACES);
        const uint64_t offset = check_random_below(&random, 2) ? 0 : 0x123456789a;
        uint64_t where[SPAN];
        uint64_t stream = offset, capture = check_random_below(&random, 1000);
        static const uint8_t bytes[SPAN];
        struct tw_position_line line;
        struct tw_position position;

        for (size_t i = 0; i < count; i++) {
            const uint64_t step = 1 + check_random_below(&random, 40);

            places[i] = (struct tw_place){ .stream = stream, .capture = capture };
            places[i].first = (uint32_t)check_random_below(&random, 16);
            stream += step;
            capture += 2 * step + check_random_below(&random, 100);
        }
        spread(where, SPAN, offset, places, count);
        tw_position_init(&position, places, count);
        for (size_t i = 0; i < 2 * SPAN; i++) { /* in order, then anywhere */
            const size_t at = i < SPAN ? i : (size_t)check_random_below(&random, SPAN);

            check_case("round %zu, offset %zu", round, at);
            CHECK_EQ(tw_position_at(&position, offset + at), where[at]);
            line = tw_position_line(&position, bytes + at, offset + at);
            for (size_t next = at; next < SPAN && offset + next < position.until; next++)
                CHECK(tw_position_on(&line, bytes + next) == where[next] &&
                      tw_position_short(&line, bytes + next) == where[next]);
        }
    }
}

/* From one look at the stretch: the frames behind it lie one byte further each. */
static void stretches_reach_to_the_end_of_their_place(void **state)
{
    static const struct tw_place places[] = { { .stream = 0, .capture = 100, .first = 4 },
                                              { .stream = 50, .capture = 200 },
                                              { .stream = 60, .capture = 300, .first = 15 },
                                              { .stream = 61, .capture = 400, .first = 1 } };
    uint64_t where[SPAN];
    struct tw_position position;

    (void)state;
    spread(where, SPAN, 0, places, LENGTH(places));
    for (size_t at = 0; at < SPAN; at++) {
        struct tw_stretch stretch;

        tw_position_init(&position, places, LENGTH(places));
        stretch = tw_position_stretch(&position, at);
        CHECK(stretch.stop > at && stretch.stop <= stretch.end);
        for (uint64_t byte = at; byte < SPAN && byte < stretch.end; byte++) {
            const uint64_t frames = byte < stretch.stop ? 0 : 1 + (byte - stretch.stop) / 15;

            check_case("byte %llu from %zu", (unsigned long long)byte, at);
            CHECK_EQ(byte + stretch.delta + frames, where[byte]);
        }
    }
}

/* A place of more bytes than 32 bits count. */
static void long_places_go_on(void **state)
{
    static const uint64_t offsets[] = { 0,          2,          3,           17,         18,
                                        0xfffffff0, 0xfffffffe, 0x100000002, 0x345678901 };
    static const struct tw_place places[] = { { .stream = 0, .capture = 100, .first = 3 },
                                              { .stream = 0x456789012,
                                                .capture = 0x600000000 } };
    struct tw_position position;

    (void)state;
    tw_position_init(&position, places, LENGTH(places));
    for (size_t i = 0; i < 2 * LENGTH(offsets); i++) { /* forwards, then back */
        const size_t at = i < LENGTH(offsets) ? i : 2 * LENGTH(offsets) - 1 - i;

        for (uint64_t offset = offsets[at]; offset < offsets[at] + 100; offset++) {
            const uint64_t frames = offset < 3 ? 0 : 1 + (offset - 3) / 15;
            const struct tw_stretch stretch = tw_position_stretch(&position, offset);

            check_case("offset %llu", (unsigned long long)offset);
            CHECK_EQ(tw_position_at(&position, offset), 100 + offset + frames);
            CHECK_EQ(stretch.delta, 100 + frames);
            CHECK(stretch.stop > offset && stretch.stop <= offset + 15);
            CHECK_EQ(stretch.end, places[1].stream);
        }
    }
    CHECK_EQ(tw_position_at(&position, places[1].stream + 20), places[1].capture + 20);
}

static void without_places_the_stream_is_the_capture(void **state)
{
    struct tw_position position;

    (void)state;
    tw_position_init(&position, NULL, 0);
    CHECK_EQ(tw_position_at(&position, 0), 0);
    CHECK_EQ(tw_position_at(&position, 12345678901), 12345678901);
    CHECK_EQ(tw_position_discontinuity(NULL, 0, 0), UINT64_MAX);
}

static void discontinuities_are_found_in_order(void **state)
{
    static const struct tw_place places[] = {
        { .stream = 10 },
        { .stream = 20, .is_discontinuity = 1 },
        { .stream = 25 },
        { .stream = 30, .is_discontinuity = 1 },
        { .stream = 40, .is_discontinuity = 1 }, /* its bytes are still to come */
    };

    struct tw_gap_ahead ahead = { .is_known = false };

    (void)state;
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 10, 0, 40), 20);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 20, 0, 40), 20);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 20, 21, 40), 30);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 31, 31, 40), 40);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 31, 31, 39), UINT64_MAX);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 41, 41, 90), UINT64_MAX);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 12, 11, 90), 20); /* and back */
}

/* From one gap to the next places are looked at once, however often it is asked. */
static void the_gap_ahead_is_kept(void **state)
{
    struct tw_place places[] = { { .stream = 10 }, { .stream = 20, .is_discontinuity = 1 } };
    struct tw_gap_ahead ahead = { .is_known = false };

    (void)state;
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 5, 0, 40), 20);
    places[1].is_discontinuity = 0;
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 15, 0, 40), 20);
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 15, 21, 40), UINT64_MAX);
    places[1].is_discontinuity = 1;
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 25, 21, 40), UINT64_MAX);
    ahead.is_known = false;
    CHECK_EQ(tw_gap_next(&ahead, places, LENGTH(places), 15, 0, 40), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_agree_with_counting),
        cmocka_unit_test(stretches_reach_to_the_end_of_their_place),
        cmocka_unit_test(long_places_go_on),
        cmocka_unit_test(without_places_the_stream_is_the_capture),
        cmocka_unit_test(discontinuities_are_found_in_order),
        cmocka_unit_test(the_gap_ahead_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
