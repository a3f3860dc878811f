/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges and edges that were counted piece by piece and joined are those that are counted in one go. */
#include "check.h"

#include <string.h>

#include "analysis/range_counts.h"

enum { ELEMENTS = 200 };

/* Few ranges, many indirect branches, now and then something that is no range. */
static void make_elements(struct check_random *random, struct tw_element *elements)
{
    for (size_t i = 0; i < ELEMENTS; i++) {
        const uint64_t kind = check_random_below(random, 20);

        elements[i] = (struct tw_element){ .type = TW_ELEMENT_INSTR_RANGE };
        if (kind == 0) {
            elements[i].type = TW_ELEMENT_EXCEPTION;
        } else if (kind == 1) {
            elements[i].type = TW_ELEMENT_TIMESTAMP;
        } else {
            elements[i].start = 0x1000 + 64 * check_random_below(random, 9);
            elements[i].length = 16;
            elements[i].count = 4;
            elements[i].isa = TW_ISA_A64;
            elements[i].last_size = 2;
            elements[i].last_kind = kind < 12 ? TW_LAST_IBR : TW_LAST_BR;
            elements[i].flags = TW_RANGE_EXECUTED;
        }
    }
}

static void check_same(struct tw_range_counts *got, struct tw_range_counts *want)
{
    tw_range_counts_settle(got);
    tw_range_counts_settle(want);
    CHECK_EQ(got->range_count, want->range_count);
    CHECK_EQ(got->edge_count, want->edge_count);
    CHECK_EQ(got->instructions, want->instructions);
    for (size_t i = 1; i < want->range_count; i++) {
        const struct tw_range_count *other = tw_range_counts_range(got, &want->ranges[i]);

        assert_non_null(other);
        CHECK_EQ(other->taken, want->ranges[i].taken);
        CHECK_EQ(other->not_taken, want->ranges[i].not_taken);
    }
    for (size_t i = 1; i < want->edge_count; i++) {
        const struct tw_edge_count *other = tw_range_counts_edge(got, &want->edges[i]);

        assert_non_null(other);
        CHECK_EQ(other->count, want->edges[i].count);
    }
    CHECK(!got->is_out && !want->is_out);
}

static void pieces_join_to_the_whole(void **state)
{
    struct check_random random = check_random_start(0x72616e67);
    const size_t rounds = check_scale(5000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        static struct tw_range_counts whole, sum, piece;
        struct tw_element elements[ELEMENTS];
        size_t at = 0;

        check_case("round %zu", round);
        memset(&whole, 0, sizeof whole);
        memset(&sum, 0, sizeof sum);
        make_elements(&random, elements);
        tw_range_counts_take(&whole, elements, ELEMENTS, false);
        while (at < ELEMENTS) {
            size_t size = 1 + (size_t)check_random_below(&random, 30);

            if (size > ELEMENTS - at)
                size = ELEMENTS - at;
            memset(&piece, 0, sizeof piece);
            for (size_t i = 0; i < size; i += 7) /* a piece may come in parts */
                tw_range_counts_take(&piece, elements + at + i, size - i < 7 ? size - i : 7,
                                     false);
            tw_range_counts_join(&sum, &piece);
            tw_range_counts_release(&piece);
            at += size;
        }
        CHECK(whole.edge_count > 1);
        check_same(&sum, &whole);
        tw_range_counts_release(&whole);
        tw_range_counts_release(&sum);
    }
}

/* What decoders summed, in as many pieces: ranges that are given again, and again in another piece. */
static void sums_join_to_what_their_elements_are(void **state)
{
    struct check_random random = check_random_start(0x73756d73);
    const size_t rounds = check_scale(1000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        static struct tw_range_counts whole, sum, piece;
        struct tw_element elements[ELEMENTS];

        check_case("round %zu", round);
        memset(&whole, 0, sizeof whole);
        memset(&sum, 0, sizeof sum);
        memset(&piece, 0, sizeof piece);
        whole.without_edges = sum.without_edges = piece.without_edges = true;
        make_elements(&random, elements);
        for (size_t i = 0; i < ELEMENTS; i++) {
            const struct tw_range_sum one = { .range = elements[i],
                                              .times = 1 + check_random_below(&random, 3) };

            if (elements[i].type != TW_ELEMENT_INSTR_RANGE)
                continue;
            for (uint64_t k = 0; k < one.times; k++)
                tw_range_counts_take(&whole, &elements[i], 1, false);
            tw_range_counts_sum(&piece, &one, 1);
            if (check_random_below(&random, 20) == 0) { /* elements come in between */
                tw_range_counts_take(&whole, &elements[i], 1, false);
                tw_range_counts_take(&piece, &elements[i], 1, false);
            }
            if (check_random_below(&random, 30) == 0) {
                tw_range_counts_join(&sum, &piece);
                tw_range_counts_clear(&piece);
            }
        }
        tw_range_counts_join(&sum, &piece);
        check_same(&sum, &whole);
        tw_range_counts_release(&whole);
        tw_range_counts_release(&sum);
        tw_range_counts_release(&piece);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_join_to_the_whole),
        cmocka_unit_test(sums_join_to_what_their_elements_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
