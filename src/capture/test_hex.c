/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory as text: every form that is read, what is no such text, and how packed files are told. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "capture/hex.h"
#include "capture/unpack.h"

#define BYTES "0123456789abcdef" /* 16 bytes: 30 31 ... 39 61 ... 66 */

static const struct {
    const char *name, *text;
    enum tw_hex_form form;
    const char *want; /* bytes; "0123456789abcdef" where each byte is its character */
} rows[] = {
    { "xxd",
      "00000000: 3031 3233 3435 3637 3839 6162 6364 6566  0123456789abcdef\n"
      "00000010: 5859                                     XY\n",
      TW_HEX_DUMP, BYTES "XY" },
    { "hexdump -C, with a repeated line",
      "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n"
      "*\n"
      "00000030  5a                                                |Z|\n"
      "00000031\n",
      TW_HEX_DUMP, BYTES BYTES BYTES "Z" },
    { "od -A o -t x1: addresses are octal",
      "0000000 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n"
      "0000020 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n"
      "*\n"
      "0000060 5a\n"
      "0000061\n",
      TW_HEX_DUMP, BYTES BYTES BYTES "Z" },
    { "words of a debugger, the lowest byte first",
      "0x20000000 <buffer>:\t0x33323130\t0x37363534\t0x62613938\t0x66656463\n"
      "0x20000010 <buffer+16>:\t0x00005958\n",
      TW_HEX_DUMP, BYTES "XY\0\0" },
    { "bytes of a debugger",
      "0x20000000 <buffer>:\t0x30\t0x31\t0x32\t0x33\t0x34\t0x35\t0x36\t0x37\n"
      "0x20000008 <buffer+8>:\t0x38\t0x39\t0x61\t0x62\t0x63\t0x64\t0x65\t0x66\n",
      TW_HEX_DUMP, BYTES },
    { "words without a colon", "20000000 33323130 37363534 62613938 66656463\n", TW_HEX_DUMP,
      BYTES },
    { "an address of four digits", "0000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n",
      TW_HEX_DUMP, BYTES },
    { "an address of sixteen digits",
      "ffff000000000000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n", TW_HEX_DUMP,
      BYTES },
    { "digits", "30313233343536373839616263646566\n5859\n", TW_HEX_PLAIN, BYTES "XY" },
    { "pairs of digits", "30 31 32 33 34 35 36 37\n38 39 61 62 63 64 65 66\n", TW_HEX_PLAIN,
      BYTES },
    { "an array of a program",
      "unsigned char etb[] = {\n  0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,\n"
      "  0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66\n};\nunsigned int etb_len = 16;\n",
      TW_HEX_PLAIN, BYTES },
    { "Intel HEX",
      ":10000000303132333435363738396162636465668E\n"
      ":0200100058593D\n"
      ":00000001FF\n",
      TW_HEX_IHEX, BYTES "XY" },
    { "S-records",
      "S0030000FC\n"
      "S1130000303132333435363738396162636465668A\n"
      "S1050010585939\n"
      "S9030000FC\n",
      TW_HEX_SREC, BYTES "XY" },
    { "S-records with 32-bit addresses",
      "S315200000003031323334353637383961626364656668\n"
      "S70520000000DA\n",
      TW_HEX_SREC, BYTES },
    { "Verilog", "@00000000\n30 31 32 33 34 35 36 37\n38 39 61 62 63 64 65 66\n",
      TW_HEX_VERILOG, BYTES },
    { "a row that comes twice, at addresses that could be octal",
      "00000000  41 41 41 41 41 41 41 41  41 41 41 41 41 41 41 41  |AAAAAAAAAAAAAAAA|\n"
      "00000010  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n"
      "*\n"
      "00000030  5a                                                |Z|\n"
      "00000031\n",
      TW_HEX_DUMP, "AAAAAAAAAAAAAAAA" BYTES BYTES "Z" },
};

static void every_form_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const uint8_t *text = (const uint8_t *)rows[i].text;
        const size_t size = strlen(rows[i].text);
        size_t want = 0, got = 0;
        uint8_t *bytes = NULL;

        CHECK_CASE(rows[i].name);
        want = strlen(rows[i].want);
        if (i == 3) /* the high half of its last word is 0 */
            want += 2;
        CHECK_EQ(tw_hex_form(text, size), rows[i].form);
        CHECK_EQ(tw_hex_read(&bytes, &got, rows[i].form, text, size, 1000, NULL), TW_OK);
        CHECK_EQ(got, want);
        CHECK(memcmp(bytes, rows[i].want, want) == 0);
        free(bytes);
        /* Not more than was allowed. */
        bytes = NULL;
        CHECK_EQ(tw_hex_read(&bytes, &got, rows[i].form, text, size, want - 1, NULL),
                 TW_E_CONFIG);
        CHECK(got < want);
        free(bytes);
        CHECK_EQ(tw_packing_of(text, size), TW_PACKING_HEX);
    }
}

static void what_is_no_such_text(void **state)
{
    static const struct {
        const char *name, *text;
    } others[] = {
        { "words", "The quick brown fox jumps over the lazy dog, and then it faded away.\n" },
        { "too few bytes", "30313233343536373839616263646\n" },
        { "fifteen bytes", "303132333435363738396162636465\n" },
        { "half a byte", "303132333435363738396162636465661\n" },
        { "an address of three digits",
          "000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n" },
        { "a wrong sum in Intel HEX", ":10000000303132333435363738396162636465668F\n" },
        { "a wrong length in Intel HEX", ":11000000303132333435363738396162636465668D\n" },
        { "a wrong sum in S-records", "S1130000303132333435363738396162636465668B\n" },
        { "a wrong length in S-records", "S11400003031323334353637383961626364656689\n" },
        { "Verilog without an address", "30 31 32 33 xx\n" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(others); i++) {
        CHECK_CASE(others[i].name);
        CHECK_EQ(tw_hex_form((const uint8_t *)others[i].text, strlen(others[i].text)),
                 TW_HEX_NONE);
    }
}

/* A line of digits without end comes in parts. */
static void long_lines_are_read(void **state)
{
    enum { COUNT = 5000 };
    static char text[2 * COUNT + 1];
    uint8_t *bytes = NULL;
    size_t size = 0;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        text[2 * i] = "0123456789abcdef"[i >> 4 & 15];
        text[2 * i + 1] = "0123456789ABCDEF"[i & 15];
    }
    CHECK_EQ(tw_hex_form((const uint8_t *)text, 2 * COUNT), TW_HEX_PLAIN);
    CHECK_EQ(
        tw_hex_read(&bytes, &size, TW_HEX_PLAIN, (const uint8_t *)text, 2 * COUNT, COUNT, NULL),
        TW_OK);
    CHECK_EQ(size, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK_EQ(bytes[i], (uint8_t)i);
    free(bytes);
}

static void packed_files_are_told_by_their_heads(void **state)
{
    static const struct {
        uint8_t head[8];
        size_t size;
        enum tw_packing packing;
    } heads[] = {
        { { 0x1f, 0x8b, 8 }, 18, TW_PACKING_GZIP },
        { { 0x1f, 0x8b, 8 }, 17, TW_PACKING_NONE },
        { { 0x1f, 0x8b, 7 }, 18, TW_PACKING_NONE },
        { { 0x1f, 0x0b, 8 }, 18, TW_PACKING_NONE },
        { { 0x1d, 0x8b, 8 }, 18, TW_PACKING_NONE },
        { { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, TW_PACKING_XZ },
        { { 0xfd, '7', 'z', 'X', 'Z', 1 }, 6, TW_PACKING_NONE },
        { { 0xfd, '7', 'z', 'X', 'Z', 0 }, 5, TW_PACKING_NONE },
        { { 0x28, 0xb5, 0x2f, 0xfd }, 4, TW_PACKING_ZSTD },
        { { 0x28, 0xb5, 0x2f, 0xfd }, 3, TW_PACKING_NONE },
        { { 0x28, 0xb5, 0x2f, 0xfc }, 4, TW_PACKING_NONE },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(heads); i++) {
        uint8_t bytes[18] = { 0 };

        check_case("head %zu", i);
        memcpy(bytes, heads[i].head, sizeof heads[i].head);
        CHECK_EQ(tw_packing_of(bytes, heads[i].size), heads[i].packing);
    }
    CHECK_TEXT(tw_packing_name(TW_PACKING_GZIP), "gzip");
    CHECK_TEXT(tw_packing_name(TW_PACKING_XZ), "xz");
    CHECK_TEXT(tw_packing_name(TW_PACKING_ZSTD), "zstd");
    CHECK_TEXT(tw_packing_name(TW_PACKING_HEX), "hex");
    CHECK(tw_packing_name(TW_PACKING_NONE) == NULL);
    CHECK(tw_packing_name(TW_PACKING_COUNT) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(what_is_no_such_text),
        cmocka_unit_test(long_lines_are_read),
        cmocka_unit_test(packed_files_are_told_by_their_heads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
