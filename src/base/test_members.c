/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of members: every kind, in JSON and in text, and that no writer leaves its room. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"

enum {
    NUMBER,
    SIGNED,
    ADDRESS,
    WIDE,
    FLAG,
    SECONDS,
    NAME,
    TEXT,
    BYTES,
    NIBBLES,
    HIDDEN,
    TOLD,
    PAIR,
    TYPES
};

static const struct tw_member_type types[TYPES] = {
    [NUMBER] = TW_SHOWN("number", DECIMAL, " n "),
    [SIGNED] = TW_SHOWN("signed", SIGNED, " "),
    [ADDRESS] = TW_SHOWN("address", HEX, " at "),
    [WIDE] = TW_SHOWN("wide", WIDE, " wide "),
    [FLAG] = TW_SHOWN("flag", FLAG, " flagged"),
    [SECONDS] = TW_SHOWN("seconds", SECONDS, " s="),
    [NAME] = TW_SHOWN("name", NAME, " "),
    [TEXT] = TW_SHOWN("text", TEXT, " text "),
    [BYTES] = TW_SHOWN("bytes", BYTES, " "),
    [NIBBLES] = TW_SHOWN("nibbles", NIBBLES, " "),
    [HIDDEN] = TW_LISTED("hidden", DECIMAL),
    [TOLD] = TW_TOLD(HEX, ", told "),
    [PAIR] = TW_PAIR("a_key_of_16_here", DECIMAL), /* the longest that a pair has room for */
};

static const uint8_t bytes[] = { 0x12, 0xab, 0xf0 };

static struct tw_members_here here;

static struct tw_members *start(void)
{
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_LISTED | TW_MEMBER_TOLD);

    list->types = types;
    return list;
}

/* Both forms, each in a block of exactly the size that was asked for. */
static void check_lines(const struct tw_members *list, const char *json, const char *text)
{
    const size_t most = tw_members_most(list);
    char *line = malloc(most);

    CHECK(line != NULL);
    CHECK_BYTES(line, (size_t)(tw_members_json(line, list) - line), json, strlen(json));
    CHECK_BYTES(line, (size_t)(tw_members_text(line, list) - line), text, strlen(text));
    free(line);
}

static void every_kind_has_its_form(void **state)
{
    struct tw_members *list = start();

    (void)state;
    check_lines(list, "{}", "");
    tw_put(list, NUMBER, UINT64_MAX);
    tw_put(list, ADDRESS, 0xffff800010081000);
    tw_put_wide(list, WIDE, 1, 0);
    tw_put_wide(list, WIDE, 1, 2);
    tw_put(list, FLAG, 0);
    check_lines(list,
                "{\"number\":18446744073709551615,\"address\":\"0xffff800010081000\",\"wide\":"
                "\"0x1\",\"wide\":\"0x20000000000000001\",\"flag\":0}",
                " n 18446744073709551615 at 0xffff800010081000 wide 0x1 wide "
                "0x20000000000000001");
    list = start();
    tw_put(list, FLAG, 1);
    tw_put_wide(list, SECONDS, 12, 34);
    tw_put_text(list, NAME, "A64");
    tw_put_text(list, TEXT, "a\"\x1b\xff");
    check_lines(list,
                "{\"flag\":1,\"seconds\":12.000000034,\"name\":\"A64\",\"text\":"
                "\"a\\\"\\u001b\\ufffd\"}",
                " flagged s=12.000000034 A64 text a\"\\x1b\\xff");
    list = start();
    tw_put(list, SIGNED, (uint64_t)-1);
    tw_put(list, SIGNED, (uint64_t)INT64_MIN);
    tw_put(list, SIGNED, INT64_MAX);
    check_lines(
        list, "{\"signed\":-1,\"signed\":-9223372036854775808,\"signed\":9223372036854775807}",
        " -1 -9223372036854775808 9223372036854775807");
    list = start();
    tw_put_bytes(list, BYTES, bytes, sizeof bytes);
    tw_put_bytes(list, NIBBLES, bytes, 4);
    list->items[1].high = 1;
    tw_put(list, HIDDEN, 5);
    tw_put(list, TOLD, 0);
    tw_put(list, PAIR, 10);
    check_lines(
        list,
        "{\"bytes\":\"12abf0\",\"nibbles\":\"1ba0\",\"hidden\":5,\"a_key_of_16_here\":10}",
        " 12abf0 1ba0, told 0x0 a_key_of_16_here=10");
}

static void what_is_not_wanted_does_not_count(void **state)
{
    (void)state;
    for (unsigned wanted = TW_MEMBER_LISTED; wanted <= TW_MEMBER_TOLD; wanted++) {
        struct tw_members *list = start();

        list->wanted = wanted;
        tw_put(list, HIDDEN, 1);
        tw_put(list, TOLD, 2);
        tw_put(list, NUMBER, 3);
        CHECK_EQ(list->count, 2);
        CHECK_EQ(list->items[0].number, wanted);
        CHECK_EQ(list->items[1].number, 3);
        CHECK_EQ(tw_is_wanted(list, TOLD), wanted == TW_MEMBER_TOLD);
    }
}

static void numbers_are_those_of_printf(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int by = -1; by <= 1; by++) {
            const uint64_t value = ((uint64_t)1 << bit) + (uint64_t)by;
            char want[40], got[40];

            *tw_write_decimal(got, value) = 0;
            (void)snprintf(want, sizeof want, "%" PRIu64, value);
            CHECK_TEXT(got, want);
            *tw_write_hex(got, value) = 0;
            (void)snprintf(want, sizeof want, "0x%" PRIx64, value);
            CHECK_TEXT(got, want);
        }
}

static void texts_are_put_together(void **state)
{
    struct tw_members *list = start();
    char *room;

    (void)state;
    tw_put_format(list, TEXT, "%d of %s", 3, "x");
    room = tw_put_room(list, NAME, 3);
    CHECK(room != NULL);
    memcpy(room, "NE", 3);
    check_lines(list, "{\"text\":\"3 of x\",\"name\":\"NE\"}", " text 3 of x NE");
    /* What does not fit is cut, or left out. */
    list = start();
    list->text_room = 5;
    tw_put_format(list, TEXT, "%s", "1234567");
    CHECK(tw_put_room(list, NAME, 1) == NULL);
    tw_put_format(list, TEXT, "%s", "more");
    check_lines(list, "{\"text\":\"1234\"}", " text 1234");
}

static void too_many_are_left_out(void **state)
{
    struct tw_members *list = start();

    (void)state;
    for (unsigned i = 0; i < 2 * TW_MEMBERS_ENOUGH; i++)
        tw_put(list, NUMBER, i);
    CHECK(list->count < TW_MEMBERS_ENOUGH);
    CHECK_EQ(list->items[list->count - 1].number, list->count - 1);
}

/* Any members at all stay inside of the room that was asked for (a block of that size: ASan looks on). */
static void writers_stay_in_their_room(void **state)
{
    struct check_random random = check_random_start(0x3e3be5);
    char text[40];

    (void)state;
    for (size_t round = check_scale(20000); round; round--) {
        struct tw_members *list = start();
        const size_t count = check_random_below(&random, 12);
        size_t most;
        char *line;

        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)(1 + check_random_below(&random, 255));
        text[check_random_below(&random, sizeof text)] = 0;
        text[sizeof text - 1] = 0;
        for (size_t i = 0; i < count; i++) {
            struct tw_member *to =
                tw_put_any(list, (unsigned)check_random_below(&random, TYPES));

            to->number = check_random_next(&random) >> check_random_below(&random, 64);
            to->high = check_random_next(&random) >> check_random_below(&random, 64);
            if (to->type->kind == TW_MEMBER_NAME || to->type->kind == TW_MEMBER_TEXT) {
                to->text = text;
            } else if (to->type->kind == TW_MEMBER_SECONDS) {
                to->high %= 1000000000;
            } else if (to->type->kind == TW_MEMBER_BYTES) {
                to->bytes = bytes;
                to->number %= sizeof bytes + 1;
            } else if (to->type->kind == TW_MEMBER_NIBBLES) {
                to->bytes = bytes;
                to->high %= 2;
                to->number %= 2 * sizeof bytes - 1;
            }
        }
        most = tw_members_most(list);
        line = malloc(most);
        CHECK(line != NULL);
        CHECK((size_t)(tw_members_json(line, list) - line) <= most);
        CHECK((size_t)(tw_members_text(line, list) - line) <= most);
        free(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_form),
        cmocka_unit_test(what_is_not_wanted_does_not_count),
        cmocka_unit_test(numbers_are_those_of_printf),
        cmocka_unit_test(texts_are_put_together),
        cmocka_unit_test(too_many_are_left_out),
        cmocka_unit_test(writers_stay_in_their_room),
    };

    return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
