/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the byte and bit readers and writers, faults and text. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/version.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/text.h"
#include "failing.h"

static void bytes_are_read_up_to_the_end_and_then_as_zero(void **state)
{
    static const uint8_t source[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };

    (void)state;
    for (size_t size = 0; size <= sizeof source; size++) {
        uint8_t *copy = check_copy(source, size);

        for (unsigned want = 0; want <= 8; want++) {
            struct tw_bytes in = { .at = copy, .end = copy + size };
            uint64_t value = 0;

            for (unsigned i = 0; i < want && i < size; i++)
                value |= (uint64_t)source[i] << (8 * i);
            check_case("%u of %zu bytes", want, size);
            CHECK_EQ(tw_bytes_le(&in, want), value);
            CHECK_EQ(in.short_read, want > size);
            CHECK_EQ(tw_bytes_left(&in), want > size ? 0 : size - want);
        }
        free(copy);
    }
}

static void loads_and_stores_are_little_endian(void **state)
{
    static const uint8_t bytes[] = { 0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88 };
    uint8_t out[8];

    (void)state;
    CHECK_EQ(tw_load_le16(bytes), 0x8201);
    CHECK_EQ(tw_load_le32(bytes), 0x84038201);
    CHECK_EQ(tw_load_le64(bytes), 0x8807860584038201);
    tw_store_le64(out, 0x8807860584038201);
    CHECK_BYTES(out, sizeof out, bytes, sizeof bytes);
}

/* What a ULEB of at most `bytes_max` bytes says, worked out from its definition. */
static unsigned uleb_oracle(uint64_t *value, unsigned *bits, const uint8_t *bytes,
                            unsigned bytes_max)
{
    unsigned size = 1;

    while (size < bytes_max && (bytes[size - 1] & 0x80))
        size++;
    *value = 0;
    for (unsigned i = size; i-- > 0;) {
        const unsigned width = i + 1 == bytes_max ? 8 : 7;

        *value = *value << width | (bytes[i] & ((1u << width) - 1));
    }
    *bits = size == bytes_max ? 7 * size + 1 : 7 * size;
    return size;
}

static void uleb_reads_at_every_cut_point(void **state)
{
    struct check_random random = check_random_start(0x756c6562);
    const size_t rounds = check_scale(20000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const unsigned bytes_max = 1 + (unsigned)check_random_below(&random, 9);
        uint8_t bytes[9];
        uint64_t want;
        unsigned bits, size;

        check_random_fill(&random, bytes, sizeof bytes);
        if (check_random_below(&random, 2)) /* longer ones than chance would make */
            for (unsigned i = 0; i < 8; i++)
                bytes[i] |= 0x80;
        size = uleb_oracle(&want, &bits, bytes, bytes_max);
        for (unsigned cut = 0; cut <= size; cut++) {
            uint8_t *copy = check_copy(bytes, cut);
            struct tw_bytes in = { .at = copy, .end = copy + cut };
            unsigned got_bits = 0;
            const uint64_t got = tw_bytes_uleb(&in, bytes_max, &got_bits);

            check_case("round %zu, %u of %u bytes", round, cut, size);
            CHECK_EQ(in.short_read, cut < size);
            if (cut == size) {
                CHECK_EQ(got, want);
                CHECK_EQ(got_bits, bits < 64 ? bits : 64);
                CHECK_EQ(tw_bytes_left(&in), 0);
            }
            free(copy);
        }
    }
}

static void uleb_is_written_as_short_as_it_can_be(void **state)
{
    struct check_random random = check_random_start(0x6c656275);
    const size_t rounds = check_scale(20000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const unsigned bytes_max = 1 + (unsigned)check_random_below(&random, 9);
        const unsigned most = bytes_max == 9 ? 64 : 7 * bytes_max + 1;
        const unsigned bits = 1 + (unsigned)check_random_below(&random, most);
        const uint64_t value = check_random_next(&random) >> (64 - bits);
        uint8_t room[16];
        struct tw_writer out = { .at = room, .end = room + sizeof room };
        struct tw_bytes in = { .at = room };
        size_t size;

        check_case("value %llx, at most %u bytes", (unsigned long long)value, bytes_max);
        tw_write_uleb(&out, value, bytes_max);
        in.end = out.at;
        size = tw_bytes_left(&in);
        CHECK_EQ(tw_bytes_uleb(&in, bytes_max, NULL), value);
        CHECK_EQ(tw_bytes_left(&in), 0);
        CHECK(!in.short_read);
        if (size > 1) /* one byte less could not have carried it */
            CHECK(value >> (7 * (size - 1)) != 0);

        /* Padded: carries at least so many bits, and the same value. */
        out = (struct tw_writer){ .at = room, .end = room + sizeof room };
        tw_write_uleb_bits(&out, value, bits, bytes_max);
        in = (struct tw_bytes){ .at = room, .end = out.at };
        {
            unsigned carried;

            CHECK_EQ(tw_bytes_uleb(&in, bytes_max, &carried), value);
            CHECK(carried >= bits);
        }
        CHECK_EQ(tw_bytes_left(&in), 0);
    }
}

static void writes_that_do_not_fit_are_counted(void **state)
{
    uint8_t room[8] = { 0 };

    (void)state;
    for (size_t size = 0; size < 5; size++) {
        struct tw_writer out = { .at = room, .end = room + size };

        memset(room, 0xee, sizeof room);
        tw_write_le(&out, 0x0403020100, 5);
        CHECK_EQ(out.at - room, size);
        CHECK_EQ(out.missing, 5 - size);
        for (size_t i = 0; i < sizeof room; i++)
            CHECK_EQ(room[i], i < size ? i : 0xee);
    }
}

static void low_bits_are_replaced(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 70; bits++) {
        const uint64_t old = 0x0123456789abcdef, new = 0xfedcba9876543210;
        uint64_t want = 0;

        for (unsigned i = 0; i < 64; i++)
            want |= ((i < bits ? new : old) >> i & 1) << i;
        check_case("%u bits", bits);
        CHECK_EQ(tw_replace_low(old, new, bits), want);
    }
}

static void signs_are_extended(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        static const uint64_t values[] = { 0, 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa,
                                           UINT64_MAX };

        for (size_t n = 0; n < LENGTH(values); n++) {
            uint64_t want = 0;

            for (unsigned i = 0; i < 64; i++)
                want |= (values[n] >> (i < bits ? i : bits - 1) & 1) << i;
            check_case("%u bits of value %zu", bits, n);
            CHECK_EQ(tw_sign_extend(values[n], bits), want);
        }
    }
}

/* From bit *at on, lowest first. */
static void put_bits(uint8_t *bytes, size_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, ++*at) {
        bytes[*at / 8] = (uint8_t)(bytes[*at / 8] & ~(1u << *at % 8));
        bytes[*at / 8] = (uint8_t)(bytes[*at / 8] | (value >> i & 1) << *at % 8);
    }
}

static void bit_fields_come_back_as_written(void **state)
{
    struct check_random random = check_random_start(0x62697473);
    const size_t rounds = check_scale(5000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        uint8_t room[64];
        uint64_t values[40];
        unsigned widths[40], count = 0;
        size_t size = 0;
        struct tw_bits in;

        check_case("round %zu", round);
        memset(room, 0xff, sizeof room); /* what lies behind must not shine through */
        for (; count < LENGTH(values); count++) {
            const unsigned width = (unsigned)check_random_below(&random, 65);

            if (width > 8 * sizeof room - size)
                break;
            widths[count] = width;
            values[count] = width ? check_random_next(&random) >> (64 - width) : 0;
            put_bits(room, &size, values[count], width);
        }
        in = (struct tw_bits){ .bytes = room, .size_bits = size };
        for (unsigned i = 0; i < count; i++)
            CHECK_EQ(tw_bits_get(&in, widths[i]), values[i]);
        CHECK(!in.short_read);
        CHECK_EQ(in.at, size);
        CHECK_EQ(tw_bits_get(&in, 1), 0);
        CHECK(in.short_read);
    }
}

static void bits_beyond_the_end_are_zero(void **state)
{
    uint8_t *bytes = check_copy("\xff\xff", 2);
    struct tw_bits in = { .bytes = bytes, .size_bits = 13 };

    (void)state;
    CHECK_EQ(tw_bits_get(&in, 10), 0x3ff);
    CHECK_EQ(tw_bits_get(&in, 64), 0x7);
    CHECK(in.short_read);
    CHECK_EQ(in.at, 13);
    CHECK_EQ(tw_bits_get(&in, 5), 0);
    free(bytes);
}

static void faults_keep_status_and_text(void **state)
{
    struct tw_fault fault = { .status = TW_OK };
    char longer[1000];

    (void)state;
    CHECK_EQ(tw_fail(NULL, TW_E_CONFIG, "%s", "nobody listens"), TW_E_CONFIG);
    CHECK_EQ(tw_fail(&fault, TW_E_FILE, "%s:%d: no", "file", 7), TW_E_FILE);
    CHECK_EQ(fault.status, TW_E_FILE);
    CHECK_TEXT(fault.text, "file:7: no");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_EQ(tw_fail(&fault, TW_E_MEMORY, "%s", longer), TW_E_MEMORY);
    CHECK_EQ(strlen(fault.text), sizeof fault.text - 1);
    CHECK_TEXT(tw_status_name(TW_OK), "TW_OK");
    CHECK_TEXT(tw_status_name(TW_MORE), "TW_MORE");
    CHECK_TEXT(tw_status_name(TW_END), "TW_END");
    CHECK_TEXT(tw_status_name(TW_E_ARGUMENT), "TW_E_ARGUMENT");
    CHECK_TEXT(tw_status_name(TW_E_UNSUPPORTED), "TW_E_UNSUPPORTED");
    CHECK_TEXT(tw_status_name((enum tw_status) - 99), "unknown status");
    CHECK(strlen(tw_version()) > 0);
    CHECK(tw_features() != NULL);
}

/* A bit of everything, 66 characters and more. */
static void write_all_forms(struct tw_text *text)
{
    tw_text_char(text, '{');
    tw_json_u64(text, "n", UINT64_MAX);
    tw_json_hex(text, "x", 0);
    tw_json_text(text, "t", "a\"b\\c\nd");
    tw_json_bytes(text, "b", (const uint8_t *)"\x00\x9f", 2);
    tw_text_add(text, "} ");
    tw_text_hex(text, UINT64_MAX);
    tw_text_add_size(text, "-xyz", 1);
    tw_text_decimal(text, 0);
    tw_text_format(text, " %s=%d", "five", 5);
    tw_text_hex_bytes(text, NULL, 0);
}

static const char all_forms[] =
    "{\"n\":18446744073709551615,\"x\":\"0x0\",\"t\":\"a\\\"b\\\\c\\u000ad\",\"b\":\"009f\"} "
    "0xffffffffffffffff-0 five=5";

static void text_grows_as_it_is_written(void **state)
{
    struct tw_text text = { .chars = NULL };

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        write_all_forms(&text);
        CHECK(!text.failed);
        CHECK_TEXT(text.chars, all_forms);
        CHECK_EQ(text.size, strlen(all_forms));
        tw_text_clear(&text);
        CHECK_EQ(text.size, 0);
        CHECK_TEXT(text.chars, "");
    }
    for (size_t i = 0; i < 10000; i++)
        tw_text_char(&text, (char)('a' + i % 26));
    CHECK_EQ(text.size, 10000);
    CHECK_EQ(text.chars[9999], 'a' + 9999 % 26);
    CHECK_EQ(text.chars[10000], 0);
    tw_text_free(&text);
    CHECK(text.chars == NULL);
}

static void text_in_a_buffer_stays_in_it(void **state)
{
    (void)state;
    for (size_t room = 1; room <= sizeof all_forms; room++) {
        char *buffer = malloc(room);
        struct tw_text text;

        check_case("room for %zu", room);
        assert_non_null(buffer);
        text = tw_text_in(buffer, room);
        CHECK_TEXT(buffer, "");
        write_all_forms(&text);
        CHECK_EQ(text.failed, room < sizeof all_forms);
        CHECK(text.size < room);
        CHECK_EQ(strlen(buffer), text.size); /* always ends with a zero */
        if (!text.failed)
            CHECK_TEXT(buffer, all_forms);
        tw_text_free(&text);
        free(buffer);
    }
}

static void text_remembers_that_memory_ran_out(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 8; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_text text = { .allocator = &allocator };

        for (unsigned i = 0; i < 20; i++)
            write_all_forms(&text);
        check_case("%zu requests", limit);
        CHECK_EQ(text.failed, failing.asked > limit);
        if (text.chars)
            CHECK_EQ(strlen(text.chars), text.size);
        tw_text_free(&text);
        CHECK_EQ(failing.live, 0);
    }
}

static void arrays_grow_or_stay_as_they_are(void **state)
{
    struct failing failing = { .left = SIZE_MAX };
    const struct tw_allocator allocator = { failing_resize, &failing };
    uint32_t *items = NULL, *before;
    size_t room = 0;
    char *copy;
    uint8_t *zeroed;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        CHECK(TW_GROW(&allocator, &items, &room, i + 1));
        CHECK(room > i);
        items[i] = (uint32_t)i;
    }
    CHECK(failing.asked < 12); /* it doubles */
    for (size_t i = 0; i < 1000; i++)
        CHECK_EQ(items[i], i);
    before = items;
    CHECK(!TW_GROW(&allocator, &items, &room, SIZE_MAX));
    CHECK(!TW_GROW(&allocator, &items, &room, SIZE_MAX / 4 + 2));
    failing.left = 0;
    CHECK(!TW_GROW(&allocator, &items, &room, 5000));
    CHECK(items == before && room == 1024 && items[999] == 999);
    CHECK(tw_copy_text(&allocator, "x") == NULL);
    CHECK(tw_take(&allocator, 10) == NULL);
    failing.left = SIZE_MAX;
    copy = tw_copy_text(&allocator, "text");
    CHECK_TEXT(copy, "text");
    zeroed = tw_take(&allocator, 100);
    for (size_t i = 0; i < 100; i++)
        CHECK_EQ(zeroed[i], 0);
    tw_give(&allocator, copy);
    tw_give(&allocator, zeroed);
    tw_give(&allocator, NULL);
    tw_give(&allocator, items);
    CHECK_EQ(failing.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_read_up_to_the_end_and_then_as_zero),
        cmocka_unit_test(loads_and_stores_are_little_endian),
        cmocka_unit_test(uleb_reads_at_every_cut_point),
        cmocka_unit_test(uleb_is_written_as_short_as_it_can_be),
        cmocka_unit_test(writes_that_do_not_fit_are_counted),
        cmocka_unit_test(low_bits_are_replaced),
        cmocka_unit_test(signs_are_extended),
        cmocka_unit_test(bit_fields_come_back_as_written),
        cmocka_unit_test(bits_beyond_the_end_are_zero),
        cmocka_unit_test(faults_keep_status_and_text),
        cmocka_unit_test(text_grows_as_it_is_written),
        cmocka_unit_test(text_in_a_buffer_stays_in_it),
        cmocka_unit_test(text_remembers_that_memory_ran_out),
        cmocka_unit_test(arrays_grow_or_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
