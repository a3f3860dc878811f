/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: unit tests, table first. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "skeleton/packet.h"

/* clang-format off */
static const struct {
    const char *name;
    uint8_t size, bytes[10];
    const char *want;
    bool is_canonical;       /* the encoder gives the same bytes */
} cases[] = {
    { "sync",                8,  { 0, 0, 0, 0, 0, 0, 0, 0x80 }, "SYNC", true },
    { "broken sync",         3,  { 0, 0, 7 },                   "RESERVED header 0x00", false },
    { "data",                2,  { 1, 0xa5 },                   "DATA 0xa5", true },
    { "timestamp, 1 byte",   2,  { 2, 0x05 },                   "TIMESTAMP 5", true },
    { "timestamp, 2 bytes",  3,  { 2, 0x85, 0x01 },             "TIMESTAMP 133", true },
    { "timestamp, 9 bytes",  10, { 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
                                                                "TIMESTAMP 18446744073709551615", true },
    { "overflow",            1,  { 3 },                         "OVERFLOW", true },
    { "reserved",            1,  { 0x77 },                      "RESERVED header 0x77", false },
};
/* clang-format on */

static struct tw_skeleton_reader synced_reader(uint32_t control)
{
    const struct tw_skeleton_config config = { sizeof config, control };
    struct tw_skeleton_reader reader;

    tw_skeleton.reader_init(&reader, &config);
    reader.is_synced = true;
    return reader;
}

/* Reads from an exact-size heap block. */
static enum tw_status read_tight(struct tw_skeleton_reader *reader,
                                 struct tw_skeleton_packet *out, const uint8_t *bytes,
                                 size_t size, bool is_last)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status = tw_skeleton.read(reader, out, copy, size, is_last);

    free(copy);
    return status;
}

static void check_print(const struct tw_skeleton_packet *packet, const char *want)
{
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    tw_protocol_print(&text, &tw_skeleton, packet);
    CHECK_TEXT(line, want);
}

static void reads_each_packet_and_asks_for_more_at_each_cut(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_skeleton_reader reader = synced_reader(0x100);
        struct tw_skeleton_packet got = { .data = 0 };

        CHECK_CASE(cases[i].name);
        for (size_t cut = 0; cut < cases[i].size; cut++)
            CHECK_EQ(read_tight(&reader, &got, cases[i].bytes, cut, false), TW_MORE);
        CHECK_EQ(read_tight(&reader, &got, cases[i].bytes, sizeof cases[i].bytes, false),
                 TW_OK);
        CHECK_EQ(got.base.size, cases[i].size);
        check_print(&got, cases[i].want);
    }
}

static void writes_what_it_reads(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_skeleton_reader reader = synced_reader(0x100);
        struct tw_skeleton_packet got = { .data = 0 };
        uint8_t out[TW_SKELETON_PACKET_MAX];
        size_t size = sizeof out;

        CHECK_CASE(cases[i].name);
        CHECK_EQ(read_tight(&reader, &got, cases[i].bytes, cases[i].size, true), TW_OK);
        if (!cases[i].is_canonical)
            continue;
        CHECK_EQ(tw_skeleton.write(NULL, out, &size, &got), TW_OK);
        CHECK_BYTES(out, size, cases[i].bytes, cases[i].size);
        size--;
        CHECK_EQ(tw_skeleton.write(NULL, out, &size, &got), TW_E_ROOM);
        CHECK_EQ(size, cases[i].size);
    }
}

static void ends_inside_a_packet(void **unused)
{
    struct tw_skeleton_reader reader = synced_reader(0x100);
    struct tw_skeleton_packet got;

    (void)unused;
    CHECK_EQ(read_tight(&reader, &got, (const uint8_t[]){ 2, 0x80 }, 2, true), TW_OK);
    CHECK_EQ(got.base.size, 2);
    check_print(&got, "INCOMPLETE_EOT header 0x02");
}

static void features_decide_what_is_reserved(void **unused)
{
    struct tw_skeleton_reader reader = synced_reader(0);
    struct tw_skeleton_packet got;

    (void)unused;
    CHECK_EQ(read_tight(&reader, &got, (const uint8_t[]){ 2, 5 }, 2, true), TW_OK);
    check_print(&got, "RESERVED header 0x02");
}

/* The packets of `bytes`, fed in pieces of `piece` bytes, as one text. */
static void list(char *out, size_t room, const uint8_t *bytes, size_t size, size_t piece)
{
    const struct tw_skeleton_config config = { sizeof config, 0x100 };
    struct tw_text text = tw_text_in(out, room);
    struct tw_skeleton_reader reader;
    size_t at = 0, fed = 0;

    tw_skeleton.reader_init(&reader, &config);
    while (at < size) {
        struct tw_skeleton_packet got;

        if (read_tight(&reader, &got, bytes + at, fed - at, fed == size) == TW_MORE) {
            fed = fed + piece < size ? fed + piece : size;
            continue;
        }
        at += got.base.size;
        if (got.base.type == TW_SKELETON_NOT_SYNC)
            continue; /* how the run is cut may differ */
        tw_protocol_print(&text, &tw_skeleton, &got);
        tw_text_char(&text, '\n');
    }
}

static void split_feeding_changes_nothing(void **unused)
{
    static const uint8_t bytes[] = { 9,    0,    0, 0, 0, 0, 0, 0, 0, 0x80, 1, 4,    2, 0x81,
                                     0x01, 0x77, 1, 5, 0, 0, 0, 0, 0, 0,    0, 0x80, 3, 1 };
    char whole[400] = "", pieces[400];

    (void)unused;
    list(whole, sizeof whole, bytes, sizeof bytes, sizeof bytes);
    CHECK_TEXT(whole, "SYNC\nDATA 0x4\nTIMESTAMP 129\nRESERVED header 0x77\nSYNC\nOVERFLOW\n"
                      "INCOMPLETE_EOT header 0x01\n");
    for (size_t piece = 1; piece < sizeof bytes; piece++) {
        memset(pieces, 0, sizeof pieces);
        list(pieces, sizeof pieces, bytes, sizeof bytes, piece);
        CHECK_TEXT(pieces, whole);
    }
}

static void configuration_is_checked(void **unused)
{
    struct tw_register control = { "control", 0x110 };
    const struct tw_source_info source = { .registers = &control, .register_count = 1 };
    const struct tw_source_info empty = { .registers = NULL };
    struct tw_skeleton_config config;
    struct tw_fault fault;

    (void)unused;
    CHECK_EQ(tw_skeleton.configure(&config, &source, &fault), TW_OK);
    CHECK_EQ(tw_skeleton.trace_id(&config), 0x10);
    control.value = 0x200;
    CHECK_EQ(tw_skeleton.configure(&config, &source, &fault), TW_E_CONFIG);
    CHECK_EQ(tw_skeleton.configure(&config, &empty, &fault), TW_E_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_packet_and_asks_for_more_at_each_cut),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(ends_inside_a_packet),
        cmocka_unit_test(features_decide_what_is_reserved),
        cmocka_unit_test(split_feeding_changes_nothing),
        cmocka_unit_test(configuration_is_checked),
    };

    return cmocka_run_group_tests_name("skeleton", tests, NULL, NULL);
}
