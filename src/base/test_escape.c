/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of escapes: hostile names, and every sequence of up to four bytes against a second reading. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"

static const struct {
    const char *name, *in, *json, *text;
} cases[] = {
    { "plain", "main.c", "main.c", "main.c" },
    { "nothing", "", "", "" },
    { "quotes", "a\"b\\c", "a\\\"b\\\\c", "a\"b\\c" },
    { "line ends", "a\nb\tc\r", "a\\u000ab\\u0009c\\u000d", "a\\x0ab\\x09c\\x0d" },
    { "a terminal's escape", "\x1b[2Jx\x7f", "\\u001b[2Jx\\u007f", "\\x1b[2Jx\\x7f" },
    { "two bytes", "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9" },
    { "C1 in two bytes",
      "\xc2\x9b"
      "2J",
      "\\u009b2J", "\\xc2\\x9b2J" },
    { "C1 in one byte",
      "\x9b"
      "2J",
      "\\ufffd2J", "\\x9b2J" },
    { "the first beyond C1", "\xc2\xa0", "\xc2\xa0", "\xc2\xa0" },
    { "three and four bytes", "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80",
      "\xe2\x82\xac \xf0\x9f\x98\x80" },
    { "cut", "\xe2\x82", "\\ufffd\\ufffd", "\\xe2\\x82" },
    { "too long a form", "\xc0\xaf\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd",
      "\\xc0\\xaf\\xe0\\x9f\\xbf" },
    { "a surrogate", "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd", "\\xed\\xa0\\x80" },
    { "beyond the last plane", "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd",
      "\\xf4\\x90\\x80\\x80" },
    { "a broken one, then a good one", "\xe2\x28\xa1\xc3\xa9", "\\ufffd(\\ufffd\xc3\xa9",
      "\\xe2(\\xa1\xc3\xa9" },
};

static void escapes_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const size_t size = strlen(cases[i].in);
        char *in = (char *)check_copy(cases[i].in, size);
        char *out = malloc(TW_ESCAPE_JSON_MOST * size + 1);

        CHECK_CASE(cases[i].name);
        CHECK(in && out);
        CHECK_BYTES(out, tw_escape_json(out, in, size), cases[i].json, strlen(cases[i].json));
        CHECK_BYTES(out, tw_escape_text(out, in, size), cases[i].text, strlen(cases[i].text));
        free(in);
        free(out);
    }
}

/* The value of a character by the definition; -1: it is none. */
static long decode(const unsigned char *at, size_t size)
{
    static const long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t count = at[0] < 0x80             ? 1
                         : (at[0] & 0xe0) == 0xc0 ? 2
                         : (at[0] & 0xf0) == 0xe0 ? 3
                         : (at[0] & 0xf8) == 0xf0 ? 4
                                                  : 0;
    long value;

    if (count != size)
        return -1;
    value = count == 1 ? at[0] : at[0] & (0x7f >> count);
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return -1;
        value = value << 6 | (at[i] & 0x3f);
    }
    return value < least[count] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)
               ? -1
               : value;
}

static void knows_every_character(void **state)
{
    unsigned char bytes[4];
    unsigned counts[5] = { 0 };

    (void)state;
    /* Inner bytes only by what tells them apart. */
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (unsigned rest = 0; rest < 16; rest++) {
                static const unsigned char inner[] = { 0x00, 0x80, 0xbf, 0xc0 };
                size_t got, want = 0;

                bytes[0] = (unsigned char)first;
                bytes[1] = (unsigned char)second;
                bytes[2] = inner[rest % 4];
                bytes[3] = inner[rest / 4];
                for (size_t size = 1; size <= 4; size++)
                    if (decode(bytes, size) >= 0)
                        want = size;
                got = tw_utf8_size((const char *)bytes, 4);
                if (got != want) {
                    check_case("%02x %02x %02x %02x", first, second, bytes[2], bytes[3]);
                    CHECK_EQ(got, want);
                }
                counts[got]++;
            }
    for (size_t size = 0; size < LENGTH(counts); size++)
        CHECK(counts[size] > 0);
}

/* Whatever the bytes: what comes out is UTF-8 without a control character, and not too long. */
static void any_bytes_are_fit_for_output(void **state)
{
    struct check_random random = check_random_start(0x0e5c);
    char in[64], out[TW_ESCAPE_JSON_MOST * sizeof in];

    (void)state;
    for (size_t round = check_scale(20000); round; round--) {
        const size_t size = check_random_below(&random, sizeof in);

        check_random_fill(&random, in, size);
        for (int is_json = 0; is_json < 2; is_json++) {
            const size_t got =
                is_json ? tw_escape_json(out, in, size) : tw_escape_text(out, in, size);

            CHECK(got <= size * (is_json ? TW_ESCAPE_JSON_MOST : TW_ESCAPE_TEXT_MOST));
            for (size_t i = 0, step; i < got; i += step) {
                step = tw_utf8_size(out + i, got - i);
                CHECK(step > 0);
                CHECK((unsigned char)out[i] >= 0x20 && out[i] != 0x7f);
            }
        }
    }
}

static void texts_use_them(void **state)
{
    char room[200];
    struct tw_text text = tw_text_in(room, sizeof room);

    (void)state;
    tw_json_text(&text, "k", "a\x1b\xff\"");
    CHECK_TEXT(room, "\"k\":\"a\\u001b\\ufffd\\\"\"");
    tw_text_clear(&text);
    tw_text_escaped(&text, "a\x1b\xff\"");
    CHECK_TEXT(room, "a\\x1b\\xff\"");
    text = tw_text_in(room, 8); /* what does not fit is dropped */
    tw_text_escaped(&text, "\x1b\x1b");
    CHECK_TEXT(room, "\\x1b");
    CHECK(text.failed);
}

/* Eight characters are looked at together: each byte at each place among plain ones is what it is alone. */
static void each_byte_among_plain_ones(void **state)
{
    enum { SIZE = 19 };
    const struct {
        size_t (*escape)(char *out, const char *text, size_t size);
    } forms[] = { { tw_escape_json }, { tw_escape_text } };

    (void)state;
    for (unsigned form = 0; form < LENGTH(forms); form++)
        for (unsigned byte = 0; byte < 256; byte++)
            for (size_t at = 0; at < SIZE; at++) {
                char in[SIZE], got[TW_ESCAPE_JSON_MOST * SIZE],
                    want[TW_ESCAPE_JSON_MOST * SIZE];
                size_t size = at;

                memset(in, byte & 1 ? ' ' : '~',
                       sizeof in); /* the first and the last plain one */
                in[at] = (char)byte;
                memcpy(want, in, at);
                size += forms[form].escape(want + size, in + at, 1);
                memcpy(want + size, in + at + 1, SIZE - at - 1);
                size += SIZE - at - 1;
                CHECK_BYTES(got, forms[form].escape(got, in, SIZE), want, size);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_each_row),      cmocka_unit_test(each_byte_among_plain_ones),
        cmocka_unit_test(knows_every_character), cmocka_unit_test(any_bytes_are_fit_for_output),
        cmocka_unit_test(texts_use_them),
    };

    return cmocka_run_group_tests_name("escapes", tests, NULL, NULL);
}
