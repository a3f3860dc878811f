/* SPDX-License-Identifier: BSD-2-Clause */
/* Sign-compressed payloads against a plain list of bits. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/payload.h"

/* Bit `at` of a payload: the last one goes on for ever. */
static unsigned bit_of(const uint8_t *bytes, unsigned size, unsigned at)
{
    if (at >= 8 * size)
        at = 8 * size - 1;
    return bytes[at / 8] >> at % 8 & 1;
}

static uint64_t bits_of(const uint8_t *bytes, unsigned size, unsigned at, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count && i < 64; i++)
        value |= (uint64_t)bit_of(bytes, size, at + i) << i;
    return value;
}

/* From `at` on nothing is left but the last taken bit again, or zeros. */
static bool is_used_up(const uint8_t *bytes, unsigned size, unsigned at)
{
    const unsigned top = at ? bit_of(bytes, size, at - 1) : 0;
    bool is_top = true, is_zero = true;

    for (unsigned i = at; i < 8 * size; i++) {
        is_top &= bit_of(bytes, size, i) == top;
        is_zero &= bit_of(bytes, size, i) == 0;
    }
    return at >= 8 * size || is_top || is_zero;
}

/* ... and strictly: nothing but the last taken bit. */
static bool is_done(const uint8_t *bytes, unsigned size, unsigned at)
{
    for (unsigned i = at - 1; i < 8 * size; i++)
        if (bit_of(bytes, size, i) != bit_of(bytes, size, 8 * size - 1))
            return at >= 8 * size;
    return true;
}

static void fill(struct check_random *random, uint8_t *bytes, unsigned size)
{
    const unsigned same = (unsigned)check_random_below(random, size + 1);
    const uint8_t end = check_random_below(random, 2) ? 0xff : 0;

    check_random_fill(random, bytes, size);
    memset(bytes + same, end, size - same);
    if (check_random_below(random, 2))
        bytes[size - 1] = (uint8_t)(end ^ 1u << check_random_below(random, 8));
}

static void fields_are_taken_bit_by_bit(void **state)
{
    struct check_random random = check_random_start(0x7061796c);

    (void)state;
    for (unsigned run = 0; run < 4000; run++) {
        const unsigned size = 1 + (unsigned)check_random_below(&random, TW_PAYLOAD_MAX);
        const size_t readable = check_random_below(&random, 2) ? size : TW_PAYLOAD_MAX;
        uint8_t bytes[TW_PAYLOAD_MAX], *copy;
        struct tw_payload in;
        unsigned at = 0;

        check_case("run %u, %u bytes", run, size);
        check_random_fill(&random, bytes, sizeof bytes);
        fill(&random, bytes, size);
        copy = check_copy(bytes, readable > size ? sizeof bytes : size);
        memset(&in, 0xa5, sizeof in);
        tw_payload_load(&in, copy, size, readable > size ? sizeof bytes : size);
        CHECK_EQ(in.size_bits, 8 * size);
        while (at < 8 * size + 64) {
            const unsigned count = (unsigned)check_random_below(&random, 65);

            CHECK_EQ(in.at, at);
            CHECK_EQ(tw_payload_is_used_up(&in), is_used_up(bytes, size, at));
            CHECK_EQ(tw_payload_take(&in, count), bits_of(bytes, size, at, count));
            at += count;
        }
        free(copy);
    }
}

static void windows_are_the_same_in_registers(void **state)
{
    struct check_random random = check_random_start(0x77696e64);

    (void)state;
    for (unsigned run = 0; run < 4000; run++) {
        const unsigned size = 1 + (unsigned)check_random_below(&random, TW_PAYLOAD_WINDOW);
        uint8_t bytes[TW_PAYLOAD_WINDOW];
        struct tw_payload_window window;

        check_case("run %u, %u bytes", run, size);
        check_random_fill(&random, bytes, sizeof bytes);
        fill(&random, bytes, size);
        window = tw_payload_window(bytes, size);
        for (unsigned at = 1; at < 128; at++) {
            CHECK_EQ(tw_payload_bits(window, at), bits_of(bytes, size, at, 64));
            CHECK_EQ(tw_payload_is_done(window, size, at), is_done(bytes, size, at));
        }
    }
}

static void what_is_written_is_as_short_as_can_be_and_reads_again(void **state)
{
    struct check_random random = check_random_start(0x77726974);

    (void)state;
    for (unsigned run = 0; run < 4000; run++) {
        struct tw_payload out = { .at = 0 }, in;
        uint64_t values[8];
        unsigned counts[8], fields = 1 + (unsigned)check_random_below(&random, 8), size, at = 0;

        check_case("run %u", run);
        for (unsigned i = 0; i < fields; i++) {
            counts[i] = (unsigned)check_random_below(&random, 64) + (i == 0);
            values[i] = check_random_next(&random) >> check_random_below(&random, 64);
            if (check_random_below(&random, 2))
                values[i] = ~values[i];
            tw_payload_put(&out, values[i], counts[i]);
            at += counts[i];
            CHECK_EQ(out.at, at);
            if (counts[i])
                CHECK_EQ(tw_payload_top(&out), values[i] >> (counts[i] - 1) & 1);
        }
        size = tw_payload_finish(&out);
        CHECK(size >= 1);
        if (size > 1) { /* the last byte says something */
            const unsigned top = out.bytes[size - 1] >> 7;

            CHECK(out.bytes[size - 1] != (top ? 0xff : 0) || out.bytes[size - 2] >> 7 != top);
        }
        if (size > TW_PAYLOAD_MAX)
            continue;
        tw_payload_load(&in, out.bytes, size, size);
        for (unsigned i = 0; i < fields; i++) {
            const uint64_t mask = counts[i] < 64 ? ((uint64_t)1 << counts[i]) - 1 : UINT64_MAX;

            CHECK_EQ(tw_payload_take(&in, counts[i]), values[i] & mask);
        }
        CHECK(tw_payload_is_used_up(&in));
    }
}

static void fields_beyond_the_room_are_dropped(void **state)
{
    struct tw_payload out = { .at = 0 };

    (void)state;
    CHECK_EQ(tw_payload_top(&out), 0);
    for (unsigned i = 0; i < 20; i++)
        tw_payload_put(&out, UINT64_MAX, 60);
    CHECK_EQ(out.at, 8 * TW_PAYLOAD_FULL);
    CHECK_EQ(out.bytes[TW_PAYLOAD_FULL - 1], 0xff);
    CHECK_EQ(tw_payload_finish(&out), 1); /* all ones: one byte says it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_taken_bit_by_bit),
        cmocka_unit_test(windows_are_the_same_in_registers),
        cmocka_unit_test(what_is_written_is_as_short_as_can_be_and_reads_again),
        cmocka_unit_test(fields_beyond_the_room_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
