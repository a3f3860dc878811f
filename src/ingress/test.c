/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparators and filters of a RISC-V trace encoder, one by one, against their statements. */
#include "check.h"

#include <string.h>

#include "ingress/filter.h"

enum { IADDR, CONTEXT, TVAL, DADDR };
enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, MASK, ALWAYS };
enum { MACHINE = 3 };

static bool is_true(unsigned function, uint64_t value, uint64_t match)
{
    switch (function) {
    case EQUAL:
        return value == match;
    case NOT_EQUAL:
        return value != match;
    case LESS:
        return value < match;
    case LESS_EQUAL:
        return value <= match;
    case GREATER:
        return value > match;
    case GREATER_EQUAL:
        return value >= match;
    default:
        return true;
    }
}

/* Filter 0 wants comparator 0. */
static void use_comparator(struct tw_ingress *ingress)
{
    ingress->filters_used = 1;
    ingress->filters[0] =
        (struct tw_ingress_filter){ .is_enabled = true, .match_comparator = { true } };
    tw_ingress_note(ingress);
}

static bool qualifies(struct tw_ingress *ingress, uint64_t first, uint64_t last)
{
    const struct tw_etrace_block block = { .iaddr = first,
                                           .iretire = (uint32_t)((last - first) / 2 + 1),
                                           .priv = MACHINE };
    const struct tw_ingress_stretch stretch = { first, last };
    bool notify = false;

    return tw_ingress_qualify(ingress, &block, &stretch, &notify);
}

/* Any half-word of a block may fulfil it. */
static void addresses_are_compared(void **state)
{
    struct check_random random = check_random_start(0x696e6772);
    const size_t rounds = check_scale(200000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const uint64_t first = 0x1000 + 2 * check_random_below(&random, 16);
        const uint64_t last = first + 2 * check_random_below(&random, 4);
        const uint64_t match = 0x1000 + 2 * check_random_below(&random, 20);
        const unsigned function = (unsigned)check_random_below(&random, ALWAYS);
        struct tw_ingress ingress = { .nesting_bits = 8 };
        bool want = false;

        if (function == MASK) /* never, of the primary */
            continue;
        for (uint64_t at = first; at <= last; at += 2)
            want |= is_true(function, at, match);
        check_case("function %u, %#llx to %#llx, %#llx", function, (unsigned long long)first,
                   (unsigned long long)last, (unsigned long long)match);
        ingress.comparators[0] =
            (struct tw_ingress_comparator){ .function = { (uint8_t)function, ALWAYS },
                                            .match = { match, 0 } };
        use_comparator(&ingress);
        CHECK_EQ(qualifies(&ingress, first, last), want);
    }
}

/* The secondary one may be a mask of the primary: bits that are 0 in it are not compared. */
static void some_bits_are_compared(void **state)
{
    struct check_random random = check_random_start(0x6d61736b);
    const size_t rounds = check_scale(200000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const uint64_t first = 2 * check_random_below(&random, 128);
        const uint64_t match = check_random_below(&random, 256);
        const uint64_t mask = check_random_below(&random, 256);
        const unsigned function = (unsigned)check_random_below(&random, MASK);
        /* Equal: any half-word; of others what a block of several does is told above. */
        const uint64_t last =
            first + (function == EQUAL ? 2 * check_random_below(&random, 4) : 0);
        struct tw_ingress ingress = { .nesting_bits = 8 };
        bool want = false;

        for (uint64_t at = first; at <= last; at += 2)
            want |= is_true(function, at & mask, match & mask);
        check_case("function %u, %#llx to %#llx, %#llx under %#llx", function,
                   (unsigned long long)first, (unsigned long long)last,
                   (unsigned long long)match, (unsigned long long)mask);
        ingress.comparators[0] =
            (struct tw_ingress_comparator){ .function = { (uint8_t)function, MASK },
                                            .match = { match, mask } };
        use_comparator(&ingress);
        CHECK_EQ(qualifies(&ingress, first, last), want);
    }
}

/* Bit i of the choice is filter i, for instructions and for data. */
static void each_filter_has_its_bit(void **state)
{
    const struct tw_etrace_block user = { .iaddr = 0x1000, .iretire = 2, .priv = 0 };
    const struct tw_etrace_block machine = { .iaddr = 0x1000, .iretire = 2, .priv = MACHINE };
    const struct tw_ingress_stretch stretch = { 0x1000, 0x1002 };
    const struct tw_etrace_access access = { .daddr = 0x2000 };
    bool notify = false;

    (void)state;
    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++)
        for (unsigned used = 0; used < TW_INGRESS_FILTERS; used++) {
            struct tw_ingress ingress = { .nesting_bits = 8 };

            check_case("filter %u is set, %u is used", i, used);
            ingress.filters[i] = (struct tw_ingress_filter){ .is_enabled = true,
                                                             .match_privilege = true,
                                                             .privileges = 1 << MACHINE };
            ingress.filters_used = (uint16_t)(1u << used);
            tw_ingress_note(&ingress);
            CHECK_EQ(tw_ingress_qualify(&ingress, &machine, &stretch, &notify), i == used);
            CHECK(!tw_ingress_qualify(&ingress, &user, &stretch, &notify));
            ingress.filters_used = 0;
            ingress.data_filters_used = (uint16_t)(1u << used);
            tw_ingress_note(&ingress);
            CHECK(tw_ingress_qualify(&ingress, &user, &stretch, &notify)); /* data alone */
            CHECK_EQ(tw_ingress_qualify_data(&ingress, &access, &machine, 0x1000), i == used);
            CHECK(!tw_ingress_qualify_data(&ingress, &access, &user, 0x1000));
        }
    CHECK(!notify);
}

/* From behind a trap of the chosen kind to the return from it, for each filter that is used. */
static void filters_follow_traps(void **state)
{
    static const struct {
        uint8_t itype;
        bool is_traced;
    } steps[] = {
        { TW_ETRACE_ITYPE_NONE, false },        { TW_ETRACE_ITYPE_EXCEPTION, false },
        { TW_ETRACE_ITYPE_NONE, false },        { TW_ETRACE_ITYPE_TRAP_RETURN, false },
        { TW_ETRACE_ITYPE_INTERRUPT, false },   { TW_ETRACE_ITYPE_NONE, true },
        { TW_ETRACE_ITYPE_EXCEPTION, true },    { TW_ETRACE_ITYPE_NONE, true },
        { TW_ETRACE_ITYPE_TRAP_RETURN, true },  { TW_ETRACE_ITYPE_NONE, true },
        { TW_ETRACE_ITYPE_TRAP_RETURN, true },  { TW_ETRACE_ITYPE_NONE, false },
        { TW_ETRACE_ITYPE_TRAP_RETURN, false },
    };
    const struct tw_ingress_stretch stretch = { 0x1000, 0x1000 };

    (void)state;
    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++)
        for (unsigned is_data = 0; is_data < 2; is_data++) {
            struct tw_ingress ingress = { .nesting_bits = 8 };

            ingress.filters[i] = (struct tw_ingress_filter){ .is_enabled = true,
                                                             .match_interrupt = true,
                                                             .interrupt = 1 };
            *(is_data ? &ingress.data_filters_used : &ingress.filters_used) =
                (uint16_t)(1u << i);
            tw_ingress_note(&ingress);
            for (size_t k = 0; k < LENGTH(steps); k++) {
                const struct tw_etrace_block block = { .iaddr = 0x1000,
                                                       .iretire = 1,
                                                       .itype = steps[k].itype };
                const struct tw_etrace_access access = { .daddr = 0x2000 };
                bool notify = false;
                const bool is_traced = tw_ingress_qualify(&ingress, &block, &stretch, &notify);

                check_case("filter %u, %s, step %zu", i, is_data ? "data" : "instructions", k);
                CHECK_EQ(is_data ? tw_ingress_qualify_data(&ingress, &access, &block, 0x1000)
                                 : is_traced,
                         steps[k].is_traced);
            }
        }
}

/* A comparator that notifies tells of instructions that retire at its address, filtered or not. */
static void comparators_notify(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TW_INGRESS_COMPARATORS; i++)
        for (unsigned k = 0; k < 2; k++) {
            struct tw_ingress ingress = { .nesting_bits = 8 };
            const struct tw_ingress_stretch at = { 0x1000, 0x1004 }, other = { 0x2000, 0x2004 };
            struct tw_etrace_block block = { .iaddr = 0x1000, .iretire = 4 };
            bool notify = false;

            check_case("comparator %u, %s", i, k ? "secondary" : "primary");
            ingress.comparators[i].notify[k] = true;
            ingress.comparators[i].match[k] = 0x1002;
            tw_ingress_note(&ingress);
            CHECK(!tw_ingress_is_idle(&ingress));
            CHECK(tw_ingress_qualify(&ingress, &block, &other, &notify));
            CHECK(!notify);
            block.iretire = 0; /* nothing was executed */
            CHECK(tw_ingress_qualify(&ingress, &block, &at, &notify));
            CHECK(!notify);
            block.iretire = 4;
            CHECK(tw_ingress_qualify(&ingress, &block, &at, &notify));
            CHECK(notify);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_compared),  cmocka_unit_test(some_bits_are_compared),
        cmocka_unit_test(each_filter_has_its_bit), cmocka_unit_test(filters_follow_traps),
        cmocka_unit_test(comparators_notify),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
