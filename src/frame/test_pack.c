/* SPDX-License-Identifier: BSD-2-Clause */
/* What the framer writes, byte for byte. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#define FR1                                                                                    \
    "2101020304050607"                                                                         \
    "08090A0B0C0D0E00"
#define FS "FFFFFF7F"

/* Reads "10:AABB 7D:00 | ~": bytes of an ID, a marker, a barrier, an idle port.  `chunk` bytes are
   written at a time. */
static void run_script(struct tw_framer *framer, const char *script, size_t chunk)
{
    while (*script) {
        unsigned id, byte;
        uint8_t bytes[64];
        size_t size = 0;

        if (*script == ' ') {
            script++;
        } else if (*script == '|') {
            CHECK_EQ(tw_framer_barrier(framer), TW_OK);
            script++;
        } else if (*script == '~') {
            CHECK_EQ(tw_framer_idle(framer), TW_OK);
            script++;
        } else {
            CHECK(sscanf(script, "%2x:", &id) == 1);
            for (script += 3; sscanf(script, "%2x", &byte) == 1 && *script != ' '; script += 2)
                bytes[size++] = (uint8_t)byte;
            for (size_t at = 0; at < size; at += chunk)
                CHECK_EQ(id >= 0x70 ? tw_framer_mark(framer, (uint8_t)id, bytes[at])
                                    : tw_framer_write(framer, (uint8_t)id, bytes + at,
                                                      size - at < chunk ? size - at : chunk),
                         TW_OK);
        }
    }
}

#define MEM   TW_FRAMING_MEMORY
#define TPIU  TW_FRAMING_TPIU
#define HSYNC TW_FRAMING_TPIU_HSYNC

/* clang-format off */
static const struct {
    const char *name;
    int framing;
    uint32_t repeat, fsync, align;
    const char *script, *want;
} vectors[] = {
    { "one byte", MEM, 0, 0, 0, "10:AA", "21AA0100000000000000000000000000" },
    { "two bytes", MEM, 0, 0, 0, "10:AABB", "21AA01BB000000000000000000000002" },
    { "fifteen bytes", MEM, 0, 0, 0, "10:0102030405060708090A0B0C0D0E0F",
      FR1 "010F0000000000000000000000000001" },
    { "change after a full frame", MEM, 0, 0, 0, "10:0102030405060708090A0B0C0D0E 20:11121314",
      FR1 "41111213011400000000000000000004" },
    { "one byte after a full frame", MEM, 0, 0, 0, "10:0102030405060708090A0B0C0D0E 20:21",
      FR1 "41210100000000000000000000000000" },
    { "ID in byte 14", MEM, 0, 0, 0, "10:0102030405060708090A0B0C0D 20:2122",
      "2101020304050607" "08090A0B0C0D4100" "20220100000000000000000000000001" },
    { "delayed changes", MEM, 0, 0, 0, "10:0102 20:0304 30:05",
      "21014102020461050100000000000006" },
    { "a change at each byte", MEM, 0, 0, 0, "10:01 20:02 30:03 10:0405 20:06 30:07",
      "21014102610321044105610601070070" },

    { "nothing", MEM, 0, 0, 0, "", "" },
    { "markers", MEM, 0, 0, 0, "10:AA 7D:00 10:BBBCBD 7B:00 10:BEC0C1C2",
      "21AAFB0021BBBCBDF70021BEC0C1C200" },
    { "a marker at an odd place", MEM, 0, 0, 0, "10:AAAB 7D:05 10:AC",
      "21AAFBAB210501AC000000000000000E" },
    { "two markers", MEM, 0, 0, 0, "7D:01 7D:02 10:AA",
      "FB01FB0221AA01000000000000000000" },
    { "a marker on byte 14", MEM, 0, 0, 0, "10:0102030405060708090A0B0C0D 7B:00 10:03",
      "2101020304050607" "08090A0B0C0DF700" "2100010300000000" "0000000000000003" },
    { "barrier", MEM, 0, 0, 0, "10:AA | 10:BB",
      "21AA0100000000000000000000000000" FS FS FS FS "21BB0100000000000000000000000000" },
    { "ID again after two frames", MEM, 2, 0, 0,
      "10:0000000000000000000000000000 10:000000000000000000000000000000"
      " 10:000000000000000000000000000000 10:0001",
      "2100000000000000" "0000000000000000" "0000000000000000" "0000000000000000"
      "0000000000000000" "0000000000000000" "2100010100000000" "0000000000000002" },
    { "align 64", MEM, 0, 0, 64, "10:AA",
      "21AA0100000000000000000000000000" "0000000000000000" "0000000000000000"
      "0000000000000000" "0000000000000000" "0000000000000000" "0000000000000000" },
    { "FSYNC after each frame", TPIU, 0, 1, 0, "10:0102030405060708090A0B0C0D0E 10:0F",
      FS FR1 FS "010F0000000000000000000000000001" },
    { "FSYNC after 64 frames", TPIU, 0, 0, 0, "10:0102030405060708090A0B0C0D0E 10:0F",
      FS FR1 "010F0000000000000000000000000001" },
    { "HSYNC between slots", HSYNC, 0, 0, 0, "10:010203 ~ 10:04 ~~ 10:05060708090A0B0C0D0E",
      FS "21010203FF7FFF7FFF7F0405060708090A0B0C0D0E00" },
    { "HSYNC before any frame", HSYNC, 0, 0, 0, "~", FS "FF7F" },
    { "a port's end, aligned", HSYNC, 0, 0, 8, "10:0102030405060708090A0B0C0D0E ~",
      FS FR1 "FF7F" "FF7F" },
    { "a port's end, more to go", TPIU, 0, 0, 32, "10:0102030405060708090A0B0C0D0E",
      FS FR1 FS FS FS },
};
/* clang-format on */

static void writes_each_vector(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++)
        for (size_t chunk = 1; chunk <= 64; chunk += 63) {
            const struct tw_framer_config config = { .size = sizeof config,
                                                     .framing =
                                                         (enum tw_framing)vectors[i].framing,
                                                     .repeat_frames = vectors[i].repeat,
                                                     .fsync_frames = vectors[i].fsync,
                                                     .align = vectors[i].align };
            struct tw_framer *framer;
            char text[1024] = "";
            const uint8_t *out;
            size_t size;

            CHECK_CASE(vectors[i].name);
            CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
            run_script(framer, vectors[i].script, chunk);
            CHECK_EQ(tw_framer_finish(framer), TW_OK);
            out = tw_framer_output(framer, &size);
            for (size_t n = 0; n < size; n++)
                (void)snprintf(text + 2 * n, 3, "%02X", out[n]);
            CHECK_TEXT(text, vectors[i].want);
            tw_framer_free(framer);
        }
}

static void goes_on_after_taking_and_finishing(void **state)
{
    const struct tw_framer_config config = { .size = sizeof config, .framing = MEM };
    static const uint8_t first[] = {
        0x21, 0xaa, 0x01, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2
    };
    static const uint8_t second[] = { 0x21, 0xcc, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    struct tw_framer *framer;
    const uint8_t *out;
    size_t size;

    (void)state;
    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0x10, (const uint8_t *)"\xaa\xbb", 2), TW_OK);
    (void)tw_framer_output(framer, &size);
    CHECK_EQ(size, 0); /* not a whole frame yet */
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    out = tw_framer_output(framer, &size);
    CHECK_BYTES(out, size, first, sizeof first);
    tw_framer_take(framer);
    CHECK_EQ(tw_framer_write(framer, 0x10, (const uint8_t *)"\xcc", 1), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    out = tw_framer_output(framer, &size);
    CHECK_BYTES(out, size, second, sizeof second);
    tw_framer_free(framer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_each_vector),
        cmocka_unit_test(goes_on_after_taking_and_finishing),
    };

    return cmocka_run_group_tests_name("frame_pack", tests, NULL, NULL);
}
