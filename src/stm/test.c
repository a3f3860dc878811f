/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: rules and vectors both ways. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "stm/test.h"

/* clang-format off */
/* S1 to S26 of the protocol description: nibbles, the same in bytes, packets with their place in nibbles,
   and elements without NO_SYNC at the start and EO_TRACE at the end. */
static const struct vector {
    const char *name, *nibbles, *bytes, *packets, *elements;
} vectors[] = {
    { "S1 sync and version", A V3,
      P3,
      "22 VERSION 3\n",
      "" },
    { "S2 data of all sizes", A V3 "1 05 3 10 4 A5 5 1234 6 DEADBEEF 7 0123456789ABCDEF C 7 ",
      P3 "01 35 01 A4 55 21 43 D6 AE BD EE 7F 10 32 54 76 98 BA DC FE 7C ",
      "22 VERSION 3\n26 M8 master 0x05\n29 C8 channel 0x0010\n32 D8 0xa5 of 0x05/0x0010\n"
      "35 D16 0x1234 of 0x05/0x0010\n40 D32 0xdeadbeef of 0x05/0x0010\n49 D64 0x0123456789abcdef of 0x05/0x0010\n"
      "66 D4 0x7 of 0x05/0x0010\n",
      "16 5/10 8:a5\n17 5/10 16:1234\n20 5/10 32:deadbeef\n24 5/10 64:123456789abcdef\n33 5/10 4:7\n" },
    { "S3 frequency, timestamp", A V3 "F08 12345678 F4 A5 3123 0 ",
      P3 "0F 18 32 54 76 F8 A4 35 21 03 ",
      "22 VERSION 3\n26 FREQ 305419896 Hz\n37 D8TS 0xa5 of 0x00/0x0000 at 0x123 (12 bits)\n45 NULL\n",
      "13 0/0? 32:12345678 freq\n18 0/0? 8:a5 =123\n" },
    { "S4 trigger, flag, time alone", A V3 "F06 AB F07 AB 211 FE E 15 F01 0 0 0 ",
      P3 "0F A6 FB 70 BA 12 F1 EE 51 0F 01 00 ",
      "22 VERSION 3\n26 TRIG 0xab of 0x00/0x0000\n31 TRIG_TS 0xab of 0x00/0x0000 at 0x11 (8 bits)\n"
      "39 FLAG of 0x00/0x0000\n41 FLAG_TS of 0x00/0x0000 at 0x15 (4 bits)\n"
      "44 NULL_TS of 0x00/0x0000 at 0x15 (0 bits)\n48 NULL\n49 NULL\n",
      "13 0/0? 8:ab trigger\n15 0/0? 8:ab =11 trigger\n19 0/0? 0 marker\n20 0/0? 0 =15 marker\n22 0/0? 0 =15\n" },
    { "S5 lengths of timestamps", A V3 "8 A5 17 8 A5 0 8 A5 C123456789ABC 8 A5 D123456789ABCDE 8 A5 EFEDCBA9876543210 8 A5 200 0 ",
      P3 "A8 15 87 5A 80 5A 1C 32 54 76 98 BA 8C 5A 1D 32 54 76 98 BA DC 8E 5A FE DE BC 9A 78 56 34 12 80 5A 02 00 ",
      "22 VERSION 3\n26 D8MTS 0xa5 of 0x00/0x0000 at 0x7 (4 bits)\n31 D8MTS 0xa5 of 0x00/0x0000 at 0x7 (0 bits)\n"
      "35 D8MTS 0xa5 of 0x00/0x0000 at 0x123456789abc (48 bits)\n"
      "51 D8MTS 0xa5 of 0x00/0x0000 at 0x123456789abcde (56 bits)\n"
      "69 D8MTS 0xa5 of 0x00/0x0000 at 0xfedcba9876543210 (64 bits)\n"
      "89 D8MTS 0xa5 of 0x00/0x0000 at 0xfedcba9876543200 (8 bits)\n95 NULL\n",
      "13 0/0? 8:a5 =7 marker\n15 0/0? 8:a5 =7 marker\n17 0/0? 8:a5 =123456789abc marker\n"
      "25 0/0? 8:a5 =123456789abcde marker\n34 0/0? 8:a5 =fedcba9876543210 marker\n"
      "44 0/0? 8:a5 =fedcba9876543200 marker\n" },
    { "S6 Gray code", A V4 "8 A5 8000000CC 8 A5 1D 8 A5 200 8 A5 0 0 ",
      P4 "A8 85 00 00 00 CC A8 15 8D 5A 02 80 5A 00 ",
      "22 VERSION 4\n26 D8MTS 0xa5 of 0x00/0x0000 at 0x88 (32 bits)\n38 D8MTS 0xa5 of 0x00/0x0000 at 0x89 (4 bits)\n"
      "43 D8MTS 0xa5 of 0x00/0x0000 at 0x0 (8 bits)\n49 D8MTS 0xa5 of 0x00/0x0000 at 0x0 (0 bits)\n53 NULL\n",
      "13 0/0? 8:a5 =88 marker\n19 0/0? 8:a5 =89 marker\n21 0/0? 8:a5 =0 marker\n24 0/0? 8:a5 =0 marker\n" },
    { "S7 masters, channels and errors", A V3 "1 41 3 12 4 AA F3 1234 4 BB 3 56 4 CC 1 42 4 DD 3 12 2 05 4 EE F2 07 4 FF ",
      P3 "41 31 21 A4 FA 13 32 44 BB 53 46 CC 41 42 DD 13 22 50 E4 FE 02 47 FF ",
      "22 VERSION 3\n26 M8 master 0x41\n29 C8 channel 0x0012\n32 D8 0xaa of 0x41/0x0012\n35 C16 channel 0x1234\n"
      "41 D8 0xbb of 0x41/0x1234\n44 C8 channel 0x1256\n47 D8 0xcc of 0x41/0x1256\n50 M8 master 0x42\n"
      "53 D8 0xdd of 0x42/0x0000\n56 C8 channel 0x0012\n59 MERR 0x05 of 0x42/0x0000\n62 D8 0xee of 0x42/0x0000\n"
      "65 GERR 0x07 of 0x00/0x0000\n69 D8 0xff of 0x00/0x0000\n",
      "16 41/12 8:aa\n20 41/1234 8:bb\n23 41/1256 8:cc\n26 42/0 8:dd\n29 42/0 8:5 merr\n31 42/0 8:ee\n"
      "32 0/0? 8:7 gerr\n34 0/0? 8:ff\n" },
    { "S8 markers", A V3 "FD 7 F8 A5 F9 1234 FA DEADBEEF FB 0123456789ABCDEF D 7 15 FC 7 223 9 1234 10 A AABBCCDD 11 B AABBCCDDEEFF0011 12 ",
      P3 "DF F7 A8 F5 19 32 F4 DA AE BD EE FF 0B 21 43 65 87 A9 CB ED DF 17 F5 7C 22 93 21 43 01 AA BA CB DC 1D B1 AA BB CC DD EE FF 00 11 21 ",
      "22 VERSION 3\n26 D4M 0x7 of 0x00/0x0000\n29 D8M 0xa5 of 0x00/0x0000\n33 D16M 0x1234 of 0x00/0x0000\n"
      "39 D32M 0xdeadbeef of 0x00/0x0000\n49 D64M 0x0123456789abcdef of 0x00/0x0000\n"
      "67 D4MTS 0x7 of 0x00/0x0000 at 0x5 (4 bits)\n71 D4TS 0x7 of 0x00/0x0000 at 0x23 (8 bits)\n"
      "77 D16MTS 0x1234 of 0x00/0x0000 at 0x20 (4 bits)\n84 D32MTS 0xaabbccdd of 0x00/0x0000 at 0x21 (4 bits)\n"
      "95 D64MTS 0xaabbccddeeff0011 of 0x00/0x0000 at 0x22 (4 bits)\n",
      "13 0/0? 4:7 marker\n14 0/0? 8:a5 marker\n16 0/0? 16:1234 marker\n19 0/0? 32:deadbeef marker\n"
      "24 0/0? 64:123456789abcdef marker\n33 0/0? 4:7 =5 marker\n35 0/0? 4:7 =23\n38 0/0? 16:1234 =20 marker\n"
      "42 0/0? 32:aabbccdd =21 marker\n47 0/0? 64:aabbccddeeff0011 =22 marker\n" },
    { "S9 sync in the high nibble", A V3 "1 41 3 10 4 01 " A V3 "4 02 ",
      P3 "41 31 01 04 F1 FF FF FF FF FF FF FF FF FF FF F0 00 43 20 ",
      "22 VERSION 3\n26 M8 master 0x41\n29 C8 channel 0x0010\n32 D8 0x01 of 0x41/0x0010\n35 ASYNC\n57 VERSION 3\n"
      "61 D8 0x02 of 0x00/0x0000\n",
      "16 41/10 8:1\n30 0/0 8:2\n" },
    { "S10 incomplete", A V3 "6 1234 0 ",
      P3 "16 32 04 ",
      "22 VERSION 3\n26 INCOMPLETE_EOT opcode 0x6\n",
      "13 ERROR truncated 3\n" },
    { "S11 sync after one nibble", "0 " A V3 "4 A5 ",
      "F0 FF FF FF FF FF FF FF FF FF FF F0 00 43 5A ",
      "0 NOTSYNC\n1 ASYNC\n23 VERSION 3\n27 D8 0xa5 of 0x00/0x0000\n",
      "13 0/0? 8:a5\n" },
    { "S12 surplus F", "FFF " A V3 "4 A5 0 0 ",
      "FF FF FF FF FF FF FF FF FF FF FF FF F0 00 43 5A 00 ",
      "0 NOTSYNC\n3 ASYNC\n25 VERSION 3\n29 D8 0xa5 of 0x00/0x0000\n32 NULL\n33 NULL\n",
      "14 0/0? 8:a5\n" },
    { "S13 20 F are no sync", "4 A5 FFFFFFFFFFFFFFFFFFFF 0 4 A5 " A V3 "4 B6 ",
      "A4 F5 FF FF FF FF FF FF FF FF FF 0F A4 F5 FF FF FF FF FF FF FF FF FF FF F0 00 43 6B ",
      "0 NOTSYNC\n27 ASYNC\n49 VERSION 3\n53 D8 0xb6 of 0x00/0x0000\n",
      "26 0/0? 8:b6\n" },
    { "S14 NULL before VERSION", A "0 0 " V3 "4 B6 0 ",
      "FF FF FF FF FF FF FF FF FF FF 0F 00 0F 30 B4 06 ",
      "22 NULL\n23 NULL\n24 VERSION 3\n28 D8 0xb6 of 0x00/0x0000\n31 NULL\n",
      "14 0/0? 8:b6\n" },
    { "S15 timestamp length F", A V3 "8 A5 F 4 B6 0 ",
      P3 "A8 F5 B4 06 ",
      "22 VERSION 3\n26 BAD_SEQUENCE opcode 0x8\n30 NOTSYNC\n",
      "13 ERROR bad-sequence 4\n13 NO_SYNC bad-packet\n" },
    { "S16 M16", A V3 "F1 1234 4 B6 0 ",
      P3 "1F 21 43 B4 06 ",
      "22 VERSION 3\n26 M16 master 0x1234\n32 D8 0xb6 of 0x1234/0x0000\n35 NULL\n",
      "16 1234/0 8:b6\n" },
    { "S17 version 2", A "F00 2 4 B6 0 ",
      "FF FF FF FF FF FF FF FF FF FF 0F 0F 20 B4 06 ",
      "22 BAD_SEQUENCE opcode 0xf002\n26 NOTSYNC\n",
      "11 ERROR unsupported 4\n11 NO_SYNC bad-packet\n" },
    { "S18 version B", A "F00 B 4 B6 0 ",
      "FF FF FF FF FF FF FF FF FF FF 0F 0F B0 B4 06 ",
      "22 BAD_SEQUENCE opcode 0xf00b\n26 NOTSYNC\n",
      "11 ERROR unsupported 4\n11 NO_SYNC bad-packet\n" },
    { "S19 malformed sync", A V3 "FFFF0 4 B6 ",
      P3 "FF FF 40 6B ",
      "22 VERSION 3\n26 BAD_SEQUENCE opcode 0xff\n31 NOTSYNC\n",
      "13 ERROR bad-sequence 4\n13 NO_SYNC bad-packet\n" },
    { "S20 timestamp before VERSION", A "8 A5 17 0 ",
      "FF FF FF FF FF FF FF FF FF FF 0F A8 15 07 ",
      "22 BAD_SEQUENCE opcode 0x8\n27 NOTSYNC\n",
      "11 ERROR bad-sequence 3\n11 NO_SYNC bad-packet\n" },
    { "S21 sync inside a packet", A V3 "7 3 " A V3 "4 A5 0 ",
      P3 "37 FF FF FF FF FF FF FF FF FF FF 0F 0F 30 A4 05 ",
      "22 VERSION 3\n26 BAD_SEQUENCE opcode 0x7\n28 ASYNC\n50 VERSION 3\n54 D8 0xa5 of 0x00/0x0000\n57 NULL\n",
      "13 ERROR bad-sequence 1\n13 NO_SYNC bad-packet\n27 0/0? 8:a5\n" },
    { "S22 message with first time", A V3 "F08 0124F800 1 40 3 01 F6 6C6C6548 3123 4 6F FE 0 0 ",
      P3 "0F 08 21 F4 08 10 04 03 F1 66 6C 6C 45 38 21 43 F6 EF 00 ",
      "22 VERSION 3\n26 FREQ 19200000 Hz\n37 M8 master 0x40\n40 C8 channel 0x0001\n"
      "43 D32TS 0x6c6c6548 of 0x40/0x0001 at 0x123 (12 bits)\n57 D8 0x6f of 0x40/0x0001\n60 FLAG of 0x40/0x0001\n"
      "62 NULL\n63 NULL\n",
      "13 0/0? 32:124f800 freq\n21 40/1 32:6c6c6548 =123\n28 40/1 8:6f\n30 40/1 0 marker\n" },
    { "S23 message with last time", A V3 "1 40 F3 0345 FA 6C6C6548 4 6F E 3123 0 ",
      P3 "41 F0 03 43 F5 6A 6C 6C 45 48 F6 3E 21 03 ",
      "22 VERSION 3\n26 M8 master 0x40\n29 C16 channel 0x0345\n35 D32M 0x6c6c6548 of 0x40/0x0345\n"
      "45 D8 0x6f of 0x40/0x0345\n48 FLAG_TS of 0x40/0x0345 at 0x123 (12 bits)\n53 NULL\n",
      "17 40/345 32:6c6c6548 marker\n22 40/345 8:6f\n24 40/345 0 =123 marker\n" },
    { "S24 time is kept over a sync", A V3 "8 A5 C123456789ABC " A V3 "8 A5 1F 0 ",
      P3 "A8 C5 21 43 65 87 A9 CB " P3 "A8 15 0F ",
      "22 VERSION 3\n26 D8MTS 0xa5 of 0x00/0x0000 at 0x123456789abc (48 bits)\n42 ASYNC\n64 VERSION 3\n"
      "68 D8MTS 0xa5 of 0x00/0x0000 at 0x123456789abf (4 bits)\n73 NULL\n",
      "13 0/0? 8:a5 =123456789abc marker\n34 0/0? 8:a5 =123456789abf marker\n" },
    { "S25 data before VERSION", A "4 B6 " V3 "4 B7 ",
      "FF FF FF FF FF FF FF FF FF FF 0F B4 F6 00 43 7B ",
      "22 D8 0xb6 of 0x00/0x0000\n25 VERSION 3\n29 D8 0xb7 of 0x00/0x0000\n",
      "11 0/0? 8:b6\n14 0/0? 8:b7\n" },
    { "S26 data of all F before a sync", A V3 "7 FFFFFFFFFFFFFFFF " A V3 "4 A5 ",
      P3 "F7 FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF F0 00 43 5A ",
      "22 VERSION 3\n26 D64 0xffffffffffffffff of 0x00/0x0000\n43 ASYNC\n65 VERSION 3\n69 D8 0xa5 of 0x00/0x0000\n",
      "13 0/0? 64:ffffffffffffffff\n34 0/0? 8:a5\n" },
    { "beyond CoreSight", A V3 "F09 00000064 15 F0A 12 F0B 34 16 F0F0 0123456789 F0F1 FEDCBA9876 17 ", "",
      "22 VERSION 3\n26 FREQ_TS 100 Hz at 0x5 (4 bits)\n39 XSYNC 0x12\n44 XSYNC_TS 0x34 at 0x6 (4 bits)\n"
      "51 FREQ_40 4886718345 Hz\n65 FREQ_40_TS 1094624909430 Hz at 0x7 (4 bits)\n81 NULL\n",
      "13 0/0? 32:64 =5 freq\n19 EVENT 18\n22 0/0? 0 =6\n22 EVENT 52\n25 0/0? 40:123456789 freq\n32 0/0? 40:fedcba9876 =7 freq\n" },
    { "reserved", A V3 "F0C 0 " A V3 "F0F2 0 " A V3 "FF1 0 0 " A V3 "F02 ", "",
      "22 VERSION 3\n26 RESERVED opcode 0xf0c\n29 NOTSYNC\n30 ASYNC\n52 VERSION 3\n56 RESERVED opcode 0xf0f2\n60 NOTSYNC\n61 ASYNC\n"
      "83 VERSION 3\n87 RESERVED opcode 0xff1\n90 NOTSYNC\n92 ASYNC\n114 VERSION 3\n118 RESERVED opcode 0xf02\n121 NOTSYNC\n",
      "13 ERROR reserved-header 2\n13 NO_SYNC bad-packet\n28 ERROR reserved-header 2\n28 NO_SYNC bad-packet\n"
      "43 ERROR reserved-header 3\n43 NO_SYNC bad-packet\n59 ERROR reserved-header 2\n59 NO_SYNC bad-packet\n" },
    { "sync cuts a timestamp", A V3 "8 A5 " A V3 "4 01 ", "",
      "22 VERSION 3\n26 BAD_SEQUENCE opcode 0x8\n29 ASYNC\n51 VERSION 3\n55 D8 0x01 of 0x00/0x0000\n",
      "13 ERROR bad-sequence 1\n13 NO_SYNC bad-packet\n27 0/0? 8:1\n" },
    { "surplus F in sync", A V3 "FFF " A V3 "4 01 ", "",
      "22 VERSION 3\n26 BAD_SEQUENCE opcode 0xf\n27 NOTSYNC\n29 ASYNC\n51 VERSION 3\n55 D8 0x01 of 0x00/0x0000\n",
      "13 ERROR bad-sequence 1\n13 NO_SYNC bad-packet\n27 0/0? 8:1\n" },
};
/* clang-format on */

static void check_lines(const char *got, const char *first, const char *want)
{
    const size_t length = strlen(first);

    if (strncmp(got, first, length) == 0)
        got += length;
    CHECK_TEXT(got, want);
}

static void nibbles_are_low_half_first(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        uint8_t packed[200], bytes[200];
        const size_t size = pack(packed, vectors[i].nibbles);

        CHECK_CASE(vectors[i].name);
        if (vectors[i].bytes[0])
            CHECK_BYTES(packed, size, bytes, unhex(bytes, vectors[i].bytes));
    }
}

static void vectors_to_packets(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        uint8_t bytes[200];
        const size_t size = pack(bytes, vectors[i].nibbles);

        CHECK_CASE(vectors[i].name);
        for (size_t piece = 1; piece <= size; piece++) {
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            list(&text, bytes, size, piece);
            check_lines(lines, "0 ASYNC\n", vectors[i].packets);
        }
    }
}

static void vectors_to_elements(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        uint8_t bytes[200];
        struct feed feed = { .bytes = bytes, .size = pack(bytes, vectors[i].nibbles) };

        CHECK_CASE(vectors[i].name);
        for (feed.piece = 1; feed.piece <= feed.size; feed.piece++)
            for (feed.room = 1; feed.room < 9; feed.room++) {
                char lines[2000] = "";
                struct tw_text text = tw_text_in(lines, sizeof lines);
                char *end;

                feed.marks = feed.room & 1;
                decode(&text, &feed);
                end = strstr(lines, "EO_TRACE end\n");
                CHECK(end != NULL);
                while (end > lines && end[-1] != '\n')
                    end--;
                *end = 0;
                check_lines(lines, "0 NO_SYNC init\n", vectors[i].elements);
            }
    }
}

/* From the first ASYNC on to where damage begins, the encoder gives the same bytes. */
static void vectors_back_to_bytes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        struct tw_stm_reader reader;
        struct tw_stm_packet got;
        struct tw_stm_reader writer = { .version = 0 };
        uint8_t bytes[200], out[200];
        const size_t size = pack(bytes, vectors[i].nibbles);
        size_t written = 0, first = SIZE_MAX;

        CHECK_CASE(vectors[i].name);
        tw_stm.reader_init(&reader, &config);
        for (size_t at = 0; at < size; at += got.base.size - (got.base.spare_bits != 0)) {
            size_t room = sizeof out - written;

            CHECK_EQ(tw_stm.read(&reader, &got, bytes + at, size - at, true), TW_OK);
            if (!tw_kind_is_understood(tw_type_kind(&tw_stm, got.base.type))) {
                CHECK_EQ(tw_stm.write(&writer, out, &room, &got), TW_E_ARGUMENT);
                if (first == SIZE_MAX)
                    continue;
                break;
            }
            if (first == SIZE_MAX) {
                first = at;
                writer.half.is_open = got.base.skip_bits; /* to come out at the same places */
                writer.half.nibble = bytes[at] & 0x0f;
            }
            CHECK_EQ(tw_stm.write(&writer, out + written, &room, &got), TW_OK);
            written += room;
        }
        CHECK(first != SIZE_MAX);
        CHECK_BYTES(out, written, bytes + first, written);
    }
}

static void every_opcode_has_one_rule(void **unused)
{
    struct tw_stm_reader reader;
    struct tw_stm_reader writer = { .version = 0 };
    const struct tw_stm_packet async = { .base = { .type = TW_STM_ASYNC } };
    uint8_t out[20];

    (void)unused;
    CHECK_EQ(tw_stm_index(&reader), 0);
    for (unsigned type = TW_STM_ASYNC; type < TW_STM_TYPES; type++)
        CHECK(tw_stm_rule_of(type) != NULL);
    for (unsigned i = 0; i < 256; i++)
        CHECK((reader.index[i] == 0) == (i == 0xf0));
    for (size_t room = 0; room < 11; room++) {
        size_t size = room;

        CHECK_EQ(tw_stm_write(&writer, out, &size, &async), TW_E_ROOM);
        CHECK_EQ(size, 11);
        CHECK(!writer.half.is_open);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_has_one_rule),
        cmocka_unit_test(nibbles_are_low_half_first),
        cmocka_unit_test(vectors_to_packets),
        cmocka_unit_test(vectors_to_elements),
        cmocka_unit_test(vectors_back_to_bytes),
    };

    return cmocka_run_group_tests_name("stm", tests, NULL, NULL);
}
