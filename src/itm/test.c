/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: rules and vectors both ways. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "itm/test.h"

/* clang-format off */
/* I1 to I24 of the protocol description.  `packets`: offset, name and meaning of each, the first SYNC left
   out where it is at 0; `elements` likewise without NO_SYNC at the start and EO_TRACE at the end. */
static const struct vector {
    const char *name;
    int mode;
    const char *bytes, *packets, *elements;
} vectors[] = {
    { "I1 stimulus", STRICT, S "01 41 02 34 12 03 78 56 34 12 F9 AA",
      "6 ITM_SWIT port 0: 0x41\n8 ITM_SWIT port 0: 0x1234\n11 ITM_SWIT port 0: 0x12345678\n16 ITM_SWIT port 31: 0xaa\n",
      "6 SWIT 0/1 41\n8 SWIT 0/2 1234\n11 SWIT 0/4 12345678\n16 SWIT 31/1 aa\n" },
    { "I2 local timestamps", STRICT, S "01 41 10 C0 7F D0 80 01 E0 FF 7F F0 FF FF FF 7F 60",
      "6 ITM_SWIT port 0: 0x41\n8 ITM_TS_LOCAL +1, synchronous\n9 ITM_TS_LOCAL +127, synchronous\n11 ITM_TS_LOCAL +128, delayed\n"
      "14 ITM_TS_LOCAL +16383, packet delayed\n17 ITM_TS_LOCAL +268435455, packet and timestamp delayed\n22 ITM_TS_LOCAL +6, synchronous\n",
      "6 SWIT 0/1 41\n8 TS_SYNC +1 =1\n9 TS_SYNC +7f =80\n11 TS_DELAY +80 =100\n14 TS_PKT_DELAY +3fff =40ff\n"
      "17 TS_PKT_TS_DELAY +fffffff =100040fe\n22 TS_SYNC +6 =10004104\n" },
    { "I3 overflow", STRICT, S "01 41 20 70 09 42 30",
      "6 ITM_SWIT port 0: 0x41\n8 ITM_TS_LOCAL +2, synchronous\n9 ITM_OVERFLOW\n10 ITM_SWIT port 1: 0x42\n12 ITM_TS_LOCAL +3, synchronous\n",
      "6 SWIT 0/1 41\n8 TS_SYNC +2 =2\n10 SWIT 1/1 42 overflow\n12 TS_SYNC +3 =3\n" },
    { "I3 overflow at the end", STRICT, S "01 41 70",
      "6 ITM_SWIT port 0: 0x41\n8 ITM_OVERFLOW\n", "6 SWIT 0/1 41\n8 LOST overflow\n" },
    { "I4 global time", STRICT, S "94 81 82 83 04 B4 81 82 83 01 94 05 94 85 06 94 85 86 07 94 85 86 87 28",
      "6 ITM_GTS_1 bits 25:0 0x80c101\n11 ITM_GTS_2 bits 47:26 0x20c101\n16 ITM_GTS_1 bits 6:0 0x5\n18 ITM_GTS_1 bits 13:0 0x305\n"
      "21 ITM_GTS_1 bits 20:0 0x1c305\n25 ITM_GTS_1 bits 25:0 0x101c305, clock change\n",
      "11 TS_GLOBAL =83040480c101\n16 TS_GLOBAL =83040480c105\n18 TS_GLOBAL =83040480c305\n21 TS_GLOBAL =83040481c305\n"
      "25 TS_GLOBAL =83040501c305 clock\n" },
    { "I5 wrap", STRICT, S "94 81 82 83 04 B4 81 82 83 01 94 81 80 80 40 94 06 B4 82 82 83 01",
      "6 ITM_GTS_1 bits 25:0 0x80c101\n11 ITM_GTS_2 bits 47:26 0x20c101\n16 ITM_GTS_1 bits 25:0 0x1, wrap\n21 ITM_GTS_1 bits 6:0 0x6\n"
      "23 ITM_GTS_2 bits 47:26 0x20c102\n",
      "11 TS_GLOBAL =83040480c101\n23 TS_GLOBAL =830408000006\n" },
    { "I6 64-bit global time", STRICT, S "94 81 82 83 04 B4 81 82 83 84 85 06",
      "6 ITM_GTS_1 bits 25:0 0x80c101\n11 ITM_GTS_2 bits 63:26 0x305080c101\n", "11 TS_GLOBAL =c14203040480c101\n" },
    { "I7 pages", STRICT, S "28 51 41 08 51 42",
      "6 ITM_EXTENSION stimulus page 2\n7 ITM_SWIT port 10: 0x41\n9 ITM_EXTENSION stimulus page 0\n10 ITM_SWIT port 10: 0x42\n",
      "7 SWIT 74/1 41\n10 SWIT 10/1 42\n" },
    { "I8 extensions", STRICT, S "98 FF 7F 1C 9C 05 01 42",
      "6 ITM_EXTENSION ITM 0x1fff9 (17 bits)\n9 ITM_EXTENSION DWT 0x1 (3 bits)\n10 ITM_EXTENSION DWT 0x29 (10 bits)\n12 ITM_SWIT port 0: 0x42\n",
      "12 SWIT 0/1 42\n" },
    { "I9 long extensions", STRICT, S "98 81 82 83 44 88 FF FF FF 7F 01 43",
      "6 ITM_EXTENSION ITM 0x44060809 (32 bits)\n11 ITM_EXTENSION ITM 0x7ffffff8 (32 bits)\n16 ITM_SWIT port 0: 0x43\n", "16 SWIT 0/1 43\n" },
    { "I10 DWT events", STRICT, S "05 21 0E 0F 10 0E 0F 20 0E 00 30 0E 34 11 17 78 56 34 12 15 00",
      "6 ITM_DWT: counters wrapped: CPI Cyc\n8 ITM_DWT: exception 15 (SysTick) entered\n11 ITM_DWT: exception 15 (SysTick) exited\n"
      "14 ITM_DWT: exception 0 (thread) returned to\n17 ITM_DWT: exception 308 (IRQ 292) entered\n20 ITM_DWT: PC sample 0x12345678\n"
      "25 ITM_DWT: PC sample, asleep\n",
      "6 DWT 0/1 21\n8 DWT 1/2 100f\n11 DWT 1/2 200f\n14 DWT 1/2 3000\n17 DWT 1/2 1134\n20 DWT 2/4 12345678\n25 DWT 2/1 0\n" },
    { "I11 data trace", STRICT, S "47 AA B8 00 08 8F 01 00 00 00 C0 BB DF 74 7E 34 12 85 11 9E 22 33 67 00 01 00 20",
      "6 ITM_DWT: PC 0x0800b8aa, comparator 0\n11 ITM_DWT: write 0x00000001, comparator 0\n16 ITM_TS_LOCAL +1912763, synchronous\n"
      "20 ITM_DWT: address 0x1234, comparator 3\n23 ITM_DWT: read 0x11, comparator 0\n25 ITM_DWT: write 0x3322, comparator 1\n"
      "28 ITM_DWT: PC 0x20000100, comparator 2\n",
      "6 DWT 8/4 800b8aa\n11 DWT 17/4 1\n16 TS_SYNC +1d2fbb =1d2fbb\n20 DWT 15/2 1234\n23 DWT 16/1 11\n25 DWT 19/2 3322\n28 DWT 12/4 20000100\n" },
    { "I12 v8-M", STRICT, S "45 01 75 01 4F 78 56 34 12 15 FF 1D 81",
      "6 ITM_DWT: match, comparator 0\n8 ITM_DWT: match, comparator 3\n10 ITM_DWT: address 0x12345678, comparator 0\n"
      "15 ITM_DWT: PC sample, prohibited\n17 ITM_DWT: PMU overflow, counters 0x81\n",
      "6 DWT 8/1 1\n8 DWT 14/1 1\n10 DWT 9/4 12345678\n15 DWT 2/1 ff\n17 DWT 3/1 81\n" },
    { "I13 waits for sync", STRICT, "01 41 02 34 12 " S "01 42",
      "0 ITM_NOTSYNC\n5 ITM_ASYNC\n11 ITM_SWIT port 0: 0x42\n", "11 SWIT 0/1 42\n" },
    { "I13 assumes sync", ASSUME, "01 41 02 34 12 " S "01 42",
      "0 ITM_SWIT port 0: 0x41\n2 ITM_SWIT port 0: 0x1234\n5 ITM_ASYNC\n11 ITM_SWIT port 0: 0x42\n",
      "0 SWIT 0/1 41\n2 SWIT 0/2 1234\n11 SWIT 0/1 42\n" },
    { "I14 long syncs", STRICT, "00 00 00 00 00 00 00 80 01 42 00 00 00 00 00 00 80 01 43",
      "8 ITM_SWIT port 0: 0x42\n10 ITM_ASYNC\n17 ITM_SWIT port 0: 0x43\n", "8 SWIT 0/1 42\n17 SWIT 0/1 43\n" },
    { "I15 four zeros", STRICT, "00 00 00 00 80 01 42 " S "01 43",
      "0 ITM_NOTSYNC\n7 ITM_ASYNC\n13 ITM_SWIT port 0: 0x43\n", "13 SWIT 0/1 43\n" },
    { "I16 malformed sync", STRICT, S "00 00 01 41",
      "6 ITM_BAD_SEQUENCE header 0x00\n9 ITM_NOTSYNC\n", "6 ERROR bad-sequence 4\n6 NO_SYNC reset\n" },
    { "I17 reserved, wait", STRICT, S "04 01 41",
      "6 ITM_RESERVED header 0x04\n7 ITM_NOTSYNC\n", "6 ERROR reserved-header 3\n6 NO_SYNC reset\n" },
    { "I17 reserved, resume", RESUME, S "04 01 41",
      "6 ITM_RESERVED header 0x04\n7 ITM_SWIT port 0: 0x41\n", "6 ERROR reserved-header 1\n7 SWIT 0/1 41\n" },
    { "I17 reserved, wait, then sync", STRICT, S "28 60 04 01 41 " S "01 42 20",
      "6 ITM_EXTENSION stimulus page 2\n7 ITM_TS_LOCAL +6, synchronous\n8 ITM_RESERVED header 0x04\n9 ITM_NOTSYNC\n11 ITM_ASYNC\n"
      "17 ITM_SWIT port 0: 0x42\n19 ITM_TS_LOCAL +2, synchronous\n",
      "7 TS_SYNC +6 =6\n8 ERROR reserved-header 3\n8 NO_SYNC reset\n17 SWIT 0/1 42\n19 TS_SYNC +2 =2\n" },
    { "... resume", RESUME, S "28 60 04 01 41 20",
      "6 ITM_EXTENSION stimulus page 2\n7 ITM_TS_LOCAL +6, synchronous\n8 ITM_RESERVED header 0x04\n9 ITM_SWIT port 0: 0x41\n"
      "11 ITM_TS_LOCAL +2, synchronous\n",
      "7 TS_SYNC +6 =6\n8 ERROR reserved-header 1\n9 SWIT 64/1 41\n11 TS_SYNC +2 =8\n" },
    { "I18 malformed local timestamp", STRICT, S "C0 FF FF FF FF 01 41",
      "6 ITM_BAD_SEQUENCE header 0xc0\n11 ITM_NOTSYNC\n", "6 ERROR bad-sequence 7\n6 NO_SYNC reset\n" },
    { "I18 ... resume", RESUME, S "C0 FF FF FF FF 01 41",
      "6 ITM_BAD_SEQUENCE header 0xc0\n11 ITM_SWIT port 0: 0x41\n", "6 ERROR bad-sequence 5\n11 SWIT 0/1 41\n" },
    { "I19 incomplete", STRICT, S "03 01 02", "6 ITM_INCOMPLETE_EOT header 0x03\n", "6 ERROR truncated 3\n" },
    { "incomplete sync", STRICT, S "01 41 00 00 00", "6 ITM_SWIT port 0: 0x41\n8 ITM_INCOMPLETE_EOT header 0x00\n",
      "6 SWIT 0/1 41\n8 ERROR truncated 3\n" },
    { "I20 sync inside a packet", STRICT, S "03 00 00 " S "01 42",
      "6 ITM_BAD_SEQUENCE header 0x03\n9 ITM_ASYNC\n15 ITM_SWIT port 0: 0x42\n",
      "6 ERROR bad-sequence 3\n6 NO_SYNC reset\n15 SWIT 0/1 42\n" },
    { "zeros before a sync are a packet's", STRICT, S "03 00 00 00 00 " S "01 42",
      "6 ITM_SWIT port 0: 0x00000000\n11 ITM_ASYNC\n17 ITM_SWIT port 0: 0x42\n", "6 SWIT 0/4 0\n17 SWIT 0/1 42\n" },
    { "I21 reserved 80", STRICT, S "80 01 90 02 01 41",
      "6 ITM_RESERVED header 0x80\n7 ITM_NOTSYNC\n", "6 ERROR reserved-header 6\n6 NO_SYNC reset\n" },
    { "I22 extension of 32 bits", STRICT, S "88 FF FF FF FF 01 43",
      "6 ITM_EXTENSION ITM 0xfffffff8 (32 bits)\n11 ITM_SWIT port 0: 0x43\n", "11 SWIT 0/1 43\n" },
    { "I23 malformed GTS1", STRICT, S "94 81 82 83 84 05",
      "6 ITM_BAD_SEQUENCE header 0x94\n11 ITM_NOTSYNC\n", "6 ERROR bad-sequence 6\n6 NO_SYNC reset\n" },
    { "I24 malformed GTS2", STRICT, S "B4 81 82 83 84 85 86 07",
      "6 ITM_BAD_SEQUENCE header 0xb4\n13 ITM_NOTSYNC\n", "6 ERROR bad-sequence 8\n6 NO_SYNC reset\n" },
    { "junk before the first sync", ASSUME | RESUME, "50 20 04 04 04 04 04 04 04 04 28 60 " S "01 41 20",
      "0 ITM_NOTSYNC\n6 ITM_RESERVED header 0x04\n7 ITM_RESERVED header 0x04\n8 ITM_RESERVED header 0x04\n"
      "9 ITM_RESERVED header 0x04\n10 ITM_EXTENSION stimulus page 2\n11 ITM_TS_LOCAL +6, synchronous\n12 ITM_ASYNC\n"
      "18 ITM_SWIT port 0: 0x41\n20 ITM_TS_LOCAL +2, synchronous\n",
      "6 ERROR reserved-header 1\n7 ERROR reserved-header 1\n8 ERROR reserved-header 1\n9 ERROR reserved-header 1\n"
      "11 TS_SYNC +6 =6\n12 NO_SYNC reset\n18 SWIT 0/1 41\n20 TS_SYNC +2 =2\n" },
    { "no junk before the first sync", ASSUME | RESUME, "50 20 " S "01 41 20 04 60 " S "20",
      "0 ITM_TS_LOCAL +5, synchronous\n1 ITM_TS_LOCAL +2, synchronous\n2 ITM_ASYNC\n8 ITM_SWIT port 0: 0x41\n"
      "10 ITM_TS_LOCAL +2, synchronous\n11 ITM_RESERVED header 0x04\n12 ITM_TS_LOCAL +6, synchronous\n13 ITM_ASYNC\n"
      "19 ITM_TS_LOCAL +2, synchronous\n",
      "0 TS_SYNC +5 =5\n1 TS_SYNC +2 =7\n8 SWIT 0/1 41\n10 TS_SYNC +2 =9\n11 ERROR reserved-header 1\n"
      "12 TS_SYNC +6 =f\n19 TS_SYNC +2 =11\n" },
    { "GTS2 of three and five bytes", RESUME, S "B4 81 82 03 B4 81 82 83 84 05 01 41",
      "6 ITM_BAD_SEQUENCE header 0xb4\n10 ITM_BAD_SEQUENCE header 0xb4\n16 ITM_SWIT port 0: 0x41\n",
      "6 ERROR bad-sequence 4\n10 ERROR bad-sequence 6\n16 SWIT 0/1 41\n" },
    { "unexpected DWT sizes", STRICT, S "07 01 02 03 04 0D 05 16 06 07 01 41",
      "6 ITM_DWT: reserved discriminator 0, size 4, 0x4030201\n11 ITM_DWT: reserved discriminator 1, size 1, 0x5\n"
      "13 ITM_DWT: reserved discriminator 2, size 2, 0x706\n16 ITM_SWIT port 0: 0x41\n",
      "6 DWT 0/4 4030201\n11 DWT 1/1 5\n13 DWT 2/2 706\n16 SWIT 0/1 41\n" },
    { "starts inside a packet", ASSUME, "1F 80 1F 80 FF 00 47 AA B8 00 08 8F 01 00 00 00 C0 BB DF 74 47 AA B8 00 08",
      "0 ITM_NOTSYNC\n6 ITM_DWT: PC 0x0800b8aa, comparator 0\n11 ITM_DWT: write 0x00000001, comparator 0\n"
      "16 ITM_TS_LOCAL +1912763, synchronous\n20 ITM_DWT: PC 0x0800b8aa, comparator 0\n",
      "6 DWT 8/4 800b8aa\n11 DWT 17/4 1\n16 TS_SYNC +1d2fbb =1d2fbb\n20 DWT 8/4 800b8aa\n" },
};
/* clang-format on */

/* Sets `want` to the lines with the first and last one put around them. */
static void check_lines(const char *got, const char *first, const char *want)
{
    const size_t length = strlen(first);

    if (strncmp(got, first, length) == 0)
        got += length;
    CHECK_TEXT(got, want);
}

static void vectors_to_packets(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        const struct tw_itm_config config = config_of(vectors[i].mode);
        uint8_t bytes[64];
        const size_t size = unhex(bytes, vectors[i].bytes);

        CHECK_CASE(vectors[i].name);
        for (size_t piece = 1; piece <= size; piece++) {
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            list(&text, &config, bytes, size, piece);
            check_lines(lines, "0 ITM_ASYNC\n", vectors[i].packets);
        }
    }
}

static void vectors_to_elements(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        const struct tw_itm_config config = config_of(vectors[i].mode);
        uint8_t bytes[64];
        struct feed feed = { .bytes = bytes, .size = unhex(bytes, vectors[i].bytes) };

        CHECK_CASE(vectors[i].name);
        for (feed.piece = 1; feed.piece <= feed.size; feed.piece++)
            for (feed.room = 1; feed.room < 9; feed.room++) {
                char lines[2000] = "";
                struct tw_text text = tw_text_in(lines, sizeof lines);
                char *end;

                feed.marks = feed.room & 1;
                decode(&text, &config, &feed);
                end = strstr(lines, "EO_TRACE end\n");
                CHECK(end != NULL);
                while (end > lines && end[-1] != '\n')
                    end--;
                *end = 0;
                check_lines(lines, "0 NO_SYNC init\n", vectors[i].elements);
            }
    }
}

/* The bytes of every whole packet come back from the encoder. */
static void vectors_back_to_bytes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        const struct tw_itm_config config = config_of(vectors[i].mode);
        struct tw_itm_reader reader;
        struct tw_itm_packet got;
        uint8_t bytes[64], out[64];
        const size_t size = unhex(bytes, vectors[i].bytes);

        CHECK_CASE(vectors[i].name);
        tw_itm.reader_init(&reader, &config);
        for (size_t at = 0; at < size; at += got.base.size) {
            size_t room = sizeof out;

            CHECK_EQ(tw_itm.read(&reader, &got, bytes + at, size - at, true), TW_OK);
            if (!tw_kind_is_understood(tw_type_kind(&tw_itm, got.base.type))) {
                CHECK_EQ(tw_itm.write(NULL, out, &room, &got), TW_E_ARGUMENT);
                continue;
            }
            CHECK_EQ(tw_itm.write(NULL, out, &room, &got), TW_OK);
            CHECK_BYTES(out, room, bytes + at, got.base.size);
            room--;
            CHECK_EQ(tw_itm.write(NULL, out, &room, &got), TW_E_ROOM);
        }
    }
}

static void every_head_has_one_rule(void **unused)
{
    uint8_t index[256];
    unsigned reserved = 0;

    (void)unused;
    CHECK_EQ(tw_itm_index(index), 0);
    for (unsigned head = 0; head < 256; head++)
        reserved += tw_itm_rules[index[head]].type == TW_ITM_PACKET_RESERVED;
    CHECK_EQ(reserved, 4 + 14); /* 80 to b0, and x4 but 94 and b4 */
}

static void prescaler_scales_the_sum(void **unused)
{
    static const struct {
        uint32_t tcr;
        bool as_swo;
        uint64_t want;
    } cases[] = {
        { 0x000, false, 2 },    { 0x100, false, 8 },   { 0x200, false, 32 },
        { 0x300, false, 0x80 }, { 0x310, true, 0x80 }, { 0x300, true, 2 },
    };

    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_itm_config config = config_of(STRICT);
        uint8_t bytes[16];
        struct feed feed = { .bytes = bytes, .size = unhex(bytes, S "20"), .piece = 16 };
        char lines[200] = "", want[200];
        struct tw_text text = tw_text_in(lines, sizeof lines);

        feed.room = 8;
        config.tcr = cases[i].tcr;
        config.scale_as_swo = cases[i].as_swo;
        decode(&text, &config, &feed);
        (void)snprintf(want, sizeof want,
                       "0 NO_SYNC init\n6 TS_SYNC +2 =%" PRIx64 "\n6 EO_TRACE end\n",
                       cases[i].want);
        CHECK_TEXT(lines, want);
    }
}

static void meanings_go_both_ways(void **unused)
{
    (void)unused;
    for (unsigned discriminator = 0; discriminator < 32; discriminator++)
        for (unsigned size = 1; size <= 4; size *= 2)
            for (uint32_t value = 0; value < 0x4000; value += 0x55) {
                const uint32_t payload = size == 1 ? value & 0xff : value;
                const struct tw_dwt_meaning meaning =
                    tw_dwt_meaning(discriminator, size, payload);
                struct tw_itm_packet packet;

                CHECK_EQ(tw_dwt_packet(&packet, &meaning), meaning.kind != TW_DWT_RESERVED);
                if (meaning.kind == TW_DWT_RESERVED || meaning.kind == TW_DWT_MATCH ||
                    meaning.kind == TW_DWT_COUNTERS || meaning.kind == TW_DWT_EXCEPTION)
                    continue; /* these have bits that mean nothing */
                CHECK_EQ(packet.source, discriminator);
                CHECK_EQ(packet.size, size);
                CHECK_EQ(packet.value, payload);
            }
    CHECK_TEXT(tw_exception_name_m(3), "HardFault");
    CHECK_TEXT(tw_exception_name_m(8), "reserved");
    CHECK_TEXT(tw_exception_name_m(16), "IRQ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_has_one_rule),  cmocka_unit_test(vectors_to_packets),
        cmocka_unit_test(vectors_to_elements),      cmocka_unit_test(vectors_back_to_bytes),
        cmocka_unit_test(prescaler_scales_the_sum), cmocka_unit_test(meanings_go_both_ways),
    };

    return cmocka_run_group_tests_name("itm", tests, NULL, NULL);
}
