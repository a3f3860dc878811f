/* SPDX-License-Identifier: BSD-2-Clause */
/* What ETMv3 and PTM share: A-sync in any bytes, against a slow oracle; exceptions by their numbers. */
#include "check.h"

#include <string.h>

#include <trackway/log.h>

#include "armv7/exceptions.h"
#include "armv7/fields.h"

enum { SIZE = 90 };

/* Zeros mostly, some 80 and others: A-syncs of every length, whole and broken. */
static void fill(struct check_random *random, uint8_t *bytes)
{
    const uint64_t rare = 4 + check_random_below(random, 80);

    for (size_t i = 0; i < SIZE; i++) {
        const uint64_t kind = check_random_below(random, rare);

        bytes[i] = kind == 0 ? 0x80 : kind == 1 ? (uint8_t)check_random_below(random, 256) : 0;
    }
}

static bool is_async(const uint8_t *at)
{
    static const uint8_t async[6] = { 0, 0, 0, 0, 0, 0x80 };

    return memcmp(at, async, sizeof async) == 0;
}

static void the_next_async_is_found(void **state)
{
    struct check_random random = check_random_start(0x6173796e);
    const size_t rounds = check_scale(2000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const size_t size = (size_t)check_random_below(&random, SIZE + 1);
        uint8_t bytes[SIZE];

        fill(&random, bytes);
        for (size_t from = 0; from <= size; from++) {
            size_t want = from;

            while (want + 6 <= size && !is_async(bytes + want))
                want++;
            if (want + 6 > size)
                want = size;
            CHECK_EQ(tw_armv7_next_async(bytes, size, from), want);
        }
    }
}

/* Its zeros belong to it, up to the longest that a packet may have. */
static void all_of_an_async_is_found(void **state)
{
    (void)state;
    for (unsigned zeros = 0; zeros < SIZE - 4; zeros++) {
        const size_t longest = TW_ARMV7_ASYNC_LONGEST - 1,
                     kept = zeros < longest ? zeros : longest;
        uint8_t bytes[SIZE];
        size_t found;

        check_case("%u zeros", zeros);
        memset(bytes, 0, sizeof bytes);
        bytes[0] = 7;
        bytes[zeros + 1] = 0x80;
        if (zeros >= TW_ARMV7_ASYNC_ZEROS) {
            CHECK_EQ(tw_armv7_find_async(bytes, zeros + 2, true, &found), 1 + zeros - kept);
            CHECK_EQ(found, kept + 1);
        } else {
            CHECK_EQ(tw_armv7_find_async(bytes, zeros + 2, false, &found), zeros + 2);
            CHECK_EQ(found, 0);
        }
        /* Zeros at the end may be the beginning of one. */
        CHECK_EQ(tw_armv7_find_async(bytes, zeros + 1, false, &found), 1 + zeros - kept);
        CHECK_EQ(found, 0);
        CHECK_EQ(tw_armv7_find_async(bytes, zeros + 1, true, &found), zeros + 1);
        CHECK_EQ(found, 0);
    }
}

static void an_async_is_read_to_its_end(void **state)
{
    (void)state;
    for (unsigned zeros = 1; zeros < SIZE - 1; zeros++) {
        const bool is_too_long = zeros >= TW_ARMV7_ASYNC_LONGEST;
        uint8_t bytes[SIZE] = { 0 };
        struct tw_bytes in = { bytes + 1, bytes + zeros + 1, false }, cut;

        check_case("%u zeros", zeros);
        bytes[zeros] = 0x80;
        cut = (struct tw_bytes){ in.at, in.end - 1, false };
        CHECK_EQ(tw_armv7_get_async(&in, 0),
                 zeros >= TW_ARMV7_ASYNC_ZEROS && zeros < TW_ARMV7_ASYNC_LONGEST);
        if (zeros < TW_ARMV7_ASYNC_LONGEST)
            CHECK(in.at == in.end);
        else /* what may begin an A-sync is read again */
            CHECK(in.at == bytes + TW_ARMV7_ASYNC_LONGEST - TW_ARMV7_ASYNC_ZEROS);
        CHECK(!in.short_read);
        (void)tw_armv7_get_async(&cut, 0);
        CHECK_EQ(cut.short_read, !is_too_long);
    }
}

/* The numbers of branch packets, and the vectors of the architecture. */
static void exceptions_have_their_numbers(void **state)
{
    static const struct {
        unsigned type;
        uint8_t number, vector;
        const char *name;
    } rows[] = {
        { TW_EXCEPTION_PE_RESET, 8, 0x00, "reset" },
        { TW_EXCEPTION_DEBUG_HALT, 1, 0x00, "debug_halt" },
        { TW_EXCEPTION_CALL, 10, 0x08, "svc" },
        { TW_EXCEPTION_TRAP, 9, 0x04, "undef" },
        { TW_EXCEPTION_SYSTEM_ERROR, 4, 0x10, "async_dabort" },
        { TW_EXCEPTION_INST_DEBUG, 11, 0x0c, "pabort" },
        { TW_EXCEPTION_DATA_DEBUG, 12, 0x10, "sync_dabort" },
        { TW_EXCEPTION_ALIGNMENT, 12, 0x10, "sync_dabort" },
        { TW_EXCEPTION_INST_FAULT, 11, 0x0c, "pabort" },
        { TW_EXCEPTION_DATA_FAULT, 12, 0x10, "sync_dabort" },
        { TW_EXCEPTION_IRQ, 14, 0x18, "irq" },
        { TW_EXCEPTION_FIQ, 15, 0x1c, "fiq" },
        { 16, 13, 0x04, "generic" },
        { 200, 13, 0x04, "generic" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct tw_armv7_exception exception = tw_armv7_exception(rows[i].type);

        check_case("exception %u", rows[i].type);
        CHECK_EQ(exception.number, rows[i].number);
        CHECK_EQ(exception.vector, rows[i].vector);
        CHECK_TEXT(tw_armv7_exception_name(exception.number), rows[i].name);
    }
}

static void gray_code_goes_and_comes(void **state)
{
    struct check_random random = check_random_start(0x67726179);

    (void)state;
    for (uint64_t i = 0; i < 4096; i++) {
        const uint64_t step = tw_binary_to_gray(i) ^ tw_binary_to_gray(i + 1);

        CHECK_EQ(step & (step - 1), 0); /* one bit changes */
        CHECK_EQ(tw_gray_to_binary(tw_binary_to_gray(i)), i);
    }
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t value = check_random_next(&random);

        CHECK_EQ(tw_gray_to_binary(tw_binary_to_gray(value)), value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_async_is_found),
        cmocka_unit_test(all_of_an_async_is_found),
        cmocka_unit_test(an_async_is_read_to_its_end),
        cmocka_unit_test(exceptions_have_their_numbers),
        cmocka_unit_test(gray_code_goes_and_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
