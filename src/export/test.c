/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of formats are made of: the sink, its escapes, gzip. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/formats.h>

#include "export/gzip.h"
#include "export/sink.h"
#include "export/svg.h"

struct kept {
    uint8_t *bytes;
    size_t size;
    size_t most; /* so many bytes are taken, then no more are wanted */
};

static bool keep(void *context, const void *bytes, size_t size)
{
    struct kept *kept = context;

    if (kept->size + size > kept->most)
        return false;
    kept->bytes = realloc(kept->bytes, kept->size + size + 1);
    CHECK(kept->bytes != NULL);
    memcpy(kept->bytes + kept->size, bytes, size);
    kept->size += size;
    kept->bytes[kept->size] = 0;
    return true;
}

static void texts_are_escaped(void **state)
{
    static const struct {
        const char *text, *json, *xml;
    } cases[] = {
        { "plain", "\"plain\"", "plain" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"", NULL },
        { "\x01\x1f\x20\x7f", "\"\\u0001\\u001f \\u007f\"", NULL },
        { "<&>", "\"<&>\"", "&#60;&#38;&#62;" },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
          "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\xff", "\"\\ufffd\"", NULL },
        { "\xc3", "\"\\ufffd\"", NULL },            /* cut off */
        { "\xc0\xaf", "\"\\ufffd\\ufffd\"", NULL }, /* longer than it needs to be */
        { "\xed\xa0\x80", NULL, NULL },             /* half of a pair */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct kept json = { .most = 1000 }, xml = { .most = 1000 };
        struct tw_sink *sink = calloc(1, sizeof *sink);

        *sink = (struct tw_sink){ .write = keep, .context = &json };
        tw_sink_json(sink, cases[i].text);
        CHECK_EQ(tw_sink_end(sink), TW_OK);
        if (cases[i].json)
            CHECK_TEXT((char *)json.bytes, cases[i].json);
        for (size_t at = 0; at < json.size; at++)
            CHECK(json.bytes[at] >= 0x20 && json.bytes[at] != 0x7f);
        *sink = (struct tw_sink){ .write = keep, .context = &xml };
        tw_sink_xml(sink, cases[i].text);
        CHECK_EQ(tw_sink_end(sink), TW_OK);
        if (cases[i].xml)
            CHECK_TEXT((char *)xml.bytes, cases[i].xml);
        free(json.bytes);
        free(xml.bytes);
        free(sink);
    }
}

/* What one writer makes of a text. */
static void check_written(void (*put)(struct tw_sink *, const char *), const char *text,
                          const char *wanted)
{
    struct kept kept = { .most = 1000 };
    struct tw_sink *sink = calloc(1, sizeof *sink);

    CHECK_CASE(text);
    CHECK(sink != NULL);
    *sink = (struct tw_sink){ .write = keep, .context = &kept };
    put(sink, text);
    CHECK_EQ(tw_sink_end(sink), TW_OK);
    CHECK_TEXT(kept.size ? (char *)kept.bytes : "", wanted);
    free(kept.bytes);
    free(sink);
}

static void put_name(struct tw_sink *sink, const char *text)
{
    tw_sink_name(sink, text, ';');
}

/* Room for ten characters. */
static void put_label(struct tw_sink *sink, const char *text)
{
    tw_svg_label(sink, text, 10 * TW_SVG_CHARACTER + 6);
}

static void cells_names_and_labels_keep_their_bounds(void **state)
{
    (void)state;
    check_written(tw_sink_csv, "main", "main");
    check_written(tw_sink_csv, "f(a, b)", "\"f(a, b)\"");
    check_written(tw_sink_csv, "operator\"\"_x", "\"operator\"\"\"\"_x\"");
    check_written(tw_sink_csv, "two\nlines", "\"two\nlines\"");
    check_written(put_name, "main", "main");
    check_written(put_name, "a;b\tc;", "a:b?c:");
    check_written(put_label, "ten_letter", "ten_letter");
    check_written(put_label, "eleven_lette", "eleven_l..");
    /* a character of three bytes is not cut in two */
    check_written(put_label, "seven__\xe2\x82\xac\xe2\x82\xac", "seven__..");
}

static void numbers_are_written(void **state)
{
    struct kept kept = { .most = 1000 };
    struct tw_sink *sink = calloc(1, sizeof *sink);

    (void)state;
    *sink = (struct tw_sink){ .write = keep, .context = &kept };
    tw_sink_decimal(sink, 0);
    tw_sink_text(sink, " ");
    tw_sink_decimal(sink, 10);
    tw_sink_text(sink, " ");
    tw_sink_decimal(sink, UINT64_MAX);
    tw_sink_format(sink, " %d%s", -3, "x");
    CHECK_EQ(tw_sink_end(sink), TW_OK);
    CHECK(strcmp((char *)kept.bytes, "0 10 18446744073709551615 -3x") == 0);
    free(kept.bytes);
    free(sink);
}

/* More than the buffer holds comes through whole; a reader that wants no more ends it. */
static void large_amounts(void **state)
{
    enum { SIZE = 3 * TW_SINK_ROOM + 17 };
    uint8_t *bytes = malloc(SIZE);
    struct tw_sink *sink = calloc(1, sizeof *sink);
    struct kept kept = { .most = SIZE }, less = { .most = SIZE / 2 };

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    *sink = (struct tw_sink){ .write = keep, .context = &kept };
    tw_sink_bytes(sink, bytes, 5);
    tw_sink_bytes(sink, bytes + 5, SIZE - 5);
    CHECK_EQ(tw_sink_end(sink), TW_OK);
    CHECK_EQ(kept.size, SIZE);
    CHECK(memcmp(kept.bytes, bytes, SIZE) == 0);
    *sink = (struct tw_sink){ .write = keep, .context = &less };
    tw_sink_bytes(sink, bytes, SIZE);
    CHECK(tw_sink_end(sink) != TW_OK);
    CHECK(less.size <= less.most);
    free(kept.bytes);
    free(less.bytes);
    free(bytes);
    free(sink);
}

static void gzip_of(struct kept *kept, const uint8_t *bytes, size_t size, size_t piece)
{
    struct tw_sink *sink = calloc(1, sizeof *sink);
    struct tw_gzip *gzip = calloc(1, sizeof *gzip);

    *sink = (struct tw_sink){ .write = keep, .context = kept };
    tw_gzip_begin(gzip, sink);
    for (size_t at = 0; at < size; at += piece)
        tw_gzip_bytes(gzip, bytes + at, size - at < piece ? size - at : piece);
    tw_gzip_end(gzip);
    CHECK_EQ(tw_sink_end(sink), TW_OK);
    free(gzip);
    free(sink);
}

/* RFC 1952: the bytes of a small file, one by one. */
static void a_small_gzip_file(void **state)
{
    static const uint8_t want[] = { 0x1f, 0x8b, 8,    0,    0,    0,    0,   0,   0,
                                    255,  1,    3,    0,    0xfc, 0xff, 'a', 'b', 'c',
                                    0xc2, 0x41, 0x24, 0x35, 3,    0,    0,   0 };
    struct kept kept = { .most = 1000 };

    (void)state;
    gzip_of(&kept, (const uint8_t *)"abc", 3, 3);
    CHECK_EQ(kept.size, sizeof want);
    CHECK(memcmp(kept.bytes, want, sizeof want) == 0);
    free(kept.bytes);
}

static unsigned u16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

/* What the stored blocks of a file hold (RFC 1951, 3.2.4): the same bytes, and the same end whatever
   the pieces they came in. */
static void gzip_files_hold_what_was_given(void **state)
{
    static const size_t sizes[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0x20003 };
    uint8_t *bytes = malloc(0x20003);

    (void)state;
    for (size_t i = 0; i < 0x20003; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 100);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct kept first = { .most = 1 << 20 };

        gzip_of(&first, bytes, sizes[i], 0x20003);
        for (size_t piece = 1; piece < 100000; piece = piece * 400 + 3) {
            struct kept kept = { .most = 1 << 20 };
            size_t at = 10, found = 0;
            bool is_last = false;

            gzip_of(&kept, bytes, sizes[i], piece);
            while (!is_last) {
                const unsigned size = u16(kept.bytes + at + 1);

                CHECK(at + 5 + size <= kept.size);
                CHECK(kept.bytes[at] <= 1);
                is_last = kept.bytes[at] == 1;
                CHECK_EQ(u16(kept.bytes + at + 3), ~size & 0xffff);
                CHECK(found + size <= sizes[i]);
                CHECK(memcmp(kept.bytes + at + 5, bytes + found, size) == 0);
                found += size;
                at += 5 + size;
            }
            CHECK_EQ(found, sizes[i]);
            CHECK_EQ(kept.size, at + 8);
            CHECK_EQ(u16(kept.bytes + at + 4) | (size_t)u16(kept.bytes + at + 6) << 16, found);
            CHECK(memcmp(kept.bytes + at, first.bytes + first.size - 8, 8) == 0);
            free(kept.bytes);
        }
        free(first.bytes);
    }
    free(bytes);
}

/* Names and extensions are what files are called by; titles are for people. */
static void formats_have_names_and_extensions(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct tw_format *format; (format = tw_format_get(count)) != NULL; count++) {
        check_case("format %zu, %s", count, format->name);
        CHECK(strspn(format->name, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
              strlen(format->name));
        CHECK(!format->extension || format->extension[0] == '.');
        CHECK(!format->extension || !strchr(format->extension, ' '));
        CHECK(format->title[0] && format->title[0] != '.');
        CHECK(format->subjects && !(format->subjects & (format->subjects - 1)));
        CHECK(tw_format_by_name(format->name, (enum tw_subject_kind)format->subjects) ==
              format);
    }
    CHECK(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(cells_names_and_labels_keep_their_bounds),
        cmocka_unit_test(numbers_are_written),
        cmocka_unit_test(large_amounts),
        cmocka_unit_test(a_small_gzip_file),
        cmocka_unit_test(formats_have_names_and_extensions),
        cmocka_unit_test(gzip_files_hold_what_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
