/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: unit tests, table first. */ /* size: table */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stm/packet.h"

#define A  "FFFFFFFFFFFFFFFFFFFFF0 "
#define V3 "F003 "
#define V4 "F004 "
#define P  "FF FF FF FF FF FF FF FF FF FF 0F "
#define P3 P "0F 30 "
#define P4 P "0F 40 "

/* clang-format off */
/* S1 to S26 of the protocol sheet: nibbles, the same in bytes, packets with their place in nibbles,
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

static size_t unhex(uint8_t *out, const char *hex)
{
    size_t size = 0;
    unsigned byte;
    int length;

    for (; sscanf(hex, "%2x%n", &byte, &length) == 1; hex += length)
        out[size++] = (uint8_t)byte;
    return size;
}

/* Nibbles in the order sent, low half of each byte first. */
static size_t pack(uint8_t *out, const char *nibbles)
{
    size_t count = 0;

    for (; *nibbles; nibbles++) {
        unsigned nibble;

        if (sscanf(nibbles, "%1x", &nibble) != 1 || *nibbles == ' ')
            continue;
        if (count & 1)
            out[count / 2] = (uint8_t)(out[count / 2] | nibble << 4);
        else
            out[count / 2] = (uint8_t)nibble;
        count++;
    }
    return (count + 1) / 2;
}

static const struct tw_stm_config config = { .size = sizeof(struct tw_stm_config) };

/* Feeds `read` at most `piece` more bytes whenever it asks for them; each call gets an exact-size
   heap block.  A run of unsynchronized nibbles is one line. */
static void list(struct tw_text *out, const uint8_t *bytes, size_t size, size_t piece)
{
    struct tw_stm_reader reader;
    size_t at = 0, fed = 0, nibble = 0;
    bool in_run = false;

    tw_stm.reader_init(&reader, &config);
    while (at < size) {
        struct tw_stm_packet got;
        uint8_t *copy = check_copy(bytes + at, fed - at);
        const enum tw_status status = tw_stm.read(&reader, &got, copy, fed - at, fed == size);

        free(copy);
        if (status == TW_MORE) {
            CHECK(fed < size);
            CHECK(fed - at <= tw_stm.packet_max);
            fed = fed + piece < size ? fed + piece : size;
            continue;
        }
        CHECK_EQ(status, TW_OK);
        CHECK(got.nibbles > 0 && got.head.size <= fed - at);
        CHECK_EQ(2 * at + got.head.skip_bits / 4, nibble);
        CHECK_EQ(2 * got.head.size - got.head.skip_bits / 4 - got.head.spare_bits / 4,
                 got.nibbles);
        if (got.head.type != TW_STM_NOT_SYNC || !in_run) {
            tw_text_format(out, "%zu ", nibble);
            tw_stm.print(out, &got);
            tw_text_char(out, '\n');
        }
        in_run = got.head.type == TW_STM_NOT_SYNC;
        nibble += got.nibbles;
        at += got.head.size - (got.head.spare_bits != 0);
    }
    CHECK_EQ(nibble, 2 * size);
}

static void describe(struct tw_text *out, const struct tw_element *e)
{
    static const char *const errors[] = { [TW_ERROR_RESERVED_HEADER] = "reserved-header",
                                          [TW_ERROR_BAD_SEQUENCE] = "bad-sequence",
                                          [TW_ERROR_TRUNCATED] = "truncated",
                                          [TW_ERROR_UNSUPPORTED] = "unsupported",
                                          [TW_ERROR_DISCONTINUITY] = "discontinuity" };
    static const char *const reasons[] = { [TW_REASON_INIT] = "init",
                                           [TW_REASON_RESET] = "reset",
                                           [TW_REASON_BAD_PACKET] = "bad-packet",
                                           [TW_REASON_END] = "end" };

    tw_text_format(out, "%" PRIu64 " ", e->index);
    if (e->type == TW_ELEMENT_ERROR)
        tw_text_format(out, "ERROR %s %" PRIu64, errors[e->error], e->skipped);
    else if (e->type == TW_ELEMENT_NO_SYNC)
        tw_text_format(out, "NO_SYNC %s", reasons[e->reason]);
    else if (e->type == TW_ELEMENT_EO_TRACE)
        tw_text_format(out, "EO_TRACE %s", reasons[e->reason]);
    else if (e->type == TW_ELEMENT_EVENT)
        tw_text_format(out, "EVENT %u", e->count);
    else {
        CHECK_EQ(e->type, TW_ELEMENT_SWTRACE);
        CHECK_EQ(e->packets, e->width != 0);
        tw_text_format(out, "%x/%x%s %u", e->master, e->channel,
                       e->flags & TW_SW_HAS_ID ? "" : "?", e->width);
        if (e->width)
            tw_text_format(out, ":%" PRIx64, e->payload);
        if (e->flags & TW_SW_HAS_TIME)
            tw_text_format(out, " =%" PRIx64, e->sw_time);
        tw_text_format(out, "%s%s%s%s%s", e->flags & TW_SW_MARKER ? " marker" : "",
                       e->flags & TW_SW_TRIGGER ? " trigger" : "",
                       e->flags & TW_SW_FREQ ? " freq" : "",
                       e->flags & TW_SW_MASTER_ERROR ? " merr" : "",
                       e->flags & TW_SW_GLOBAL_ERROR ? " gerr" : "");
    }
    tw_text_char(out, '\n');
}

/* Decodes with batches of `room` elements; the input grows by `piece` bytes, what is used is
   dropped from its front. */
struct feed {
    const uint8_t *bytes;
    size_t size, piece, room;
    const struct tw_place *places;
    size_t place_count;
    bool marks;
};

static void drain_end(struct tw_text *out, void *decoder, struct tw_output *to)
{
    enum tw_status status;

    do {
        to->batch->count = to->marks.count = 0;
        status = tw_stm.end(decoder, NULL, to);
        for (size_t i = 0; i < to->batch->count; i++)
            describe(out, &to->batch->elements[i]);
    } while (status == TW_OK);
    CHECK_EQ(status, TW_END);
}

static void decode(struct tw_text *out, const struct feed *feed)
{
    struct tw_element elements[64];
    struct tw_mark marks[64];
    struct tw_batch batch = { .elements = elements, .room = feed->room };
    struct tw_output to = { .batch = &batch,
                            .marks = { feed->marks ? marks : NULL, feed->room, 0 } };
    struct tw_stm_decoder decoder;
    size_t at = 0, fed = 0;

    tw_stm.decoder_init(&decoder, &config);
    for (;;) {
        uint8_t *copy = check_copy(feed->bytes + at, fed - at);
        struct tw_input in = { .data = copy,
                               .size = fed - at,
                               .offset = at,
                               .places = feed->places,
                               .place_count = feed->place_count,
                               .has_gaps = feed->place_count != 0,
                               .is_last = fed == feed->size };
        enum tw_status status;

        do {
            batch.count = to.marks.count = 0;
            status = tw_stm.decode(&decoder, NULL, &to, &in);
            for (size_t i = 0; i < batch.count; i++) {
                describe(out, &elements[i]);
                if (feed->marks)
                    CHECK_EQ(marks[i].first, i);
            }
            if (feed->marks)
                CHECK_EQ(to.marks.count, batch.count);
        } while (status == TW_OK);
        CHECK_EQ(status, TW_MORE);
        CHECK(in.size - in.used <= tw_stm.packet_max);
        at += in.used;
        free(copy);
        if (fed == feed->size)
            break;
        fed = fed + feed->piece < feed->size ? fed + feed->piece : feed->size;
    }
    CHECK_EQ(at, feed->size);
    drain_end(out, &decoder, &to);
}

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
        struct tw_stm_writer writer = { .has_half = false };
        uint8_t bytes[200], out[200];
        const size_t size = pack(bytes, vectors[i].nibbles);
        size_t written = 0, first = SIZE_MAX;

        CHECK_CASE(vectors[i].name);
        tw_stm.reader_init(&reader, &config);
        for (size_t at = 0; at < size; at += got.head.size - (got.head.spare_bits != 0)) {
            size_t room = sizeof out - written;

            CHECK_EQ(tw_stm.read(&reader, &got, bytes + at, size - at, true), TW_OK);
            if (tw_stm.is_bad(got.head.type) || tw_stm.is_not_sync(got.head.type)) {
                CHECK_EQ(tw_stm.write(&writer, out, &room, &got), TW_E_ARGUMENT);
                if (first == SIZE_MAX)
                    continue;
                break;
            }
            if (first == SIZE_MAX) {
                first = at;
                writer.has_half = got.head.skip_bits; /* to come out at the same places */
                writer.half = bytes[at] & 0x0f;
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
    struct tw_stm_writer writer = { .has_half = false };
    const struct tw_stm_packet async = { .head = { .type = TW_STM_ASYNC } };
    uint8_t out[20];

    (void)unused;
    CHECK_EQ(tw_stm_index(&reader), 0);
    for (unsigned type = TW_STM_ASYNC; type < TW_STM_TYPES; type++)
        CHECK(tw_stm_rule_of(type) != NULL);
    for (unsigned i = 0; i < 256; i++)
        CHECK((reader.index[i] == 0) == (i == 0xf0));
    for (size_t room = 0; room < 11; room++) {
        size_t size = room;

        CHECK_EQ(tw_stm_packet_write(&writer, out, &size, &async), TW_MORE);
        CHECK(!writer.has_half);
    }
}

static void discontinuity_waits_for_sync(void **unused)
{
    static const struct tw_place places[] = { { 0, 1, 0, 0 }, { 18, 33, 0, 1 } };
    uint8_t bytes[100];
    struct feed feed = { .bytes = bytes,
                         .size = pack(bytes, A V3 "1 41 4 A5 6 123 0 4 11 0 0 " A V3 "4 B6 0 "),
                         .places = places,
                         .place_count = LENGTH(places) };

    (void)unused;
    for (feed.piece = 1; feed.piece <= feed.size; feed.piece++)
        for (feed.room = 1; feed.room < 9; feed.room++) {
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            feed.marks = feed.room & 1;
            decode(&text, &feed);
            CHECK_TEXT(lines, "1 NO_SYNC init\n15 41/0 8:a5\n33 ERROR discontinuity 3\n"
                              "33 NO_SYNC reset\n49 0/0? 8:b6\n49 EO_TRACE end\n");
        }
}

static void floods_of_f(void **unused)
{
    static uint8_t bytes[13 + 1000 + 3];

    (void)unused;
    (void)pack(bytes, A V3);
    memset(bytes + 13, 0xff, 1000);
    (void)pack(bytes + 1013, "0 F003 0");
    for (size_t piece = 1; piece <= sizeof bytes; piece = 3 * piece + 1) {
        char lines[2000] = "";
        struct tw_text text = tw_text_in(lines, sizeof lines);

        list(&text, bytes, sizeof bytes, piece);
        CHECK_TEXT(lines, "0 ASYNC\n22 VERSION 3\n26 BAD_SEQUENCE opcode 0xf\n27 NOTSYNC\n"
                          "2005 ASYNC\n2027 VERSION 3\n2031 NULL\n");
    }
}

static struct tw_stm_packet random_packet(struct check_random *random)
{
    static const uint8_t time_nibbles[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16 };
    struct tw_stm_packet packet = {
        .head = { .type = (uint8_t)(TW_STM_ASYNC +
                                    check_random_below(random, TW_STM_TYPES - TW_STM_ASYNC)) }
    };
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet.head.type);
    uint64_t bits = check_random_next(random) >> check_random_below(random, 64);

    if (check_random_below(random, 4) == 0)
        bits = ~bits;
    if (rule->payload)
        packet.value = bits & (UINT64_MAX >> (64 - 4 * rule->payload));
    if (packet.head.type == TW_STM_VERSION)
        packet.value = 3 + (bits & 1);
    packet.has_timestamp = rule->has_timestamp;
    if (rule->has_timestamp) {
        packet.timestamp = check_random_next(random);
        packet.timestamp_bits =
            (uint8_t)(4 * time_nibbles[check_random_below(random, LENGTH(time_nibbles))]);
    }
    return packet;
}

/* Brings a random packet to what the reader will say of it: `state` is what went before. */
static void complete(struct tw_stm_packet *packet, struct tw_stm_reader *state)
{
    if (packet->has_timestamp) {
        const uint64_t code = state->version == 4 ? packet->timestamp ^ packet->timestamp >> 1
                                                  : packet->timestamp;
        const unsigned nibbles = packet->timestamp_bits / 4;
        const uint64_t field =
            nibbles ? code & (UINT64_MAX >> (64 - packet->timestamp_bits)) : 0;

        packet->timestamp = tw_stm_time(state->timestamp, state->version, field, nibbles);
        state->timestamp = packet->timestamp;
    }
    switch (packet->head.type) {
    case TW_STM_VERSION:
        state->version = (uint8_t)packet->value;
        state->master = state->channel = 0;
        break;
    case TW_STM_M8:
    case TW_STM_M16:
        state->master = (uint16_t)packet->value;
        state->channel = 0;
        break;
    case TW_STM_C8:
        state->channel = (uint16_t)((state->channel & 0xff00) | packet->value);
        break;
    case TW_STM_C16:
        state->channel = (uint16_t)packet->value;
        break;
    case TW_STM_GERR:
        state->master = 0; /* fall through */
    case TW_STM_MERR:
        state->channel = 0;
        break;
    default:
        break;
    }
    packet->master = state->master;
    packet->channel = state->channel;
}

/* Writes random packets and what they are to be listed as; returns the bytes. */
static size_t random_stream(struct check_random *random, uint8_t *bytes, size_t room,
                            struct tw_text *want)
{
    struct tw_stm_reader state = { .version = 0 };
    struct tw_stm_writer writer = { .has_half = false };
    size_t size = 0, left;

    for (unsigned i = 0; i < 120; i++) {
        struct tw_stm_packet packet = random_packet(random);
        const size_t nibble = 2 * size + writer.has_half;

        if (i < 2)
            packet = (struct tw_stm_packet){ .head = { .type = TW_STM_ASYNC } };
        if (i == 1) {
            packet.head.type = TW_STM_VERSION;
            packet.value = 3 + check_random_below(random, 2);
        }
        complete(&packet, &state);
        left = room - size;
        CHECK_EQ(tw_stm_packet_write(&writer, bytes + size, &left, &packet), TW_OK);
        size += left;
        tw_text_format(want, "%zu ", nibble);
        tw_stm_print(want, &packet);
        tw_text_char(want, '\n');
    }
    if (writer.has_half)
        tw_text_format(want, "%zu NULL\n", 2 * size + 1);
    left = room - size;
    CHECK_EQ(tw_stm_writer_flush(&writer, bytes + size, &left), TW_OK);
    return size + left;
}

static void random_streams_come_back(void **unused)
{
    struct check_random random = check_random_start(7);
    const size_t streams = check_scale(1000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        static char want[40000], got[40000], whole[40000], pieces[40000];
        uint8_t bytes[4000];
        struct tw_text text = tw_text_in(want, sizeof want);
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text as_whole = tw_text_in(whole, sizeof whole);
        struct tw_text in_pieces = tw_text_in(pieces, sizeof pieces);

        want[0] = 0;
        feed.size = random_stream(&random, bytes, sizeof bytes, &text);
        for (size_t piece = feed.size; piece; piece = piece == 1 ? 0 : 1) {
            struct tw_text again = tw_text_in(got, sizeof got);

            got[0] = 0;
            list(&again, bytes, feed.size, piece);
            CHECK_TEXT(got, want);
        }
        decode(&as_whole, &feed);
        feed.piece = feed.room = 1;
        feed.marks = stream & 1;
        decode(&in_pieces, &feed);
        CHECK_TEXT(pieces, whole);
        CHECK(strstr(whole, "ERROR") == NULL);
    }
}

/* Whatever the bytes: the reader takes each once, and cutting them differently changes nothing. */
static void random_bytes_are_survived(void **unused)
{
    struct check_random random = check_random_start(8);
    const size_t streams = check_scale(2000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        static char whole[40000], pieces[40000];
        uint8_t bytes[300];
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text text = tw_text_in(whole, sizeof whole);

        feed.size = (size_t)check_random_below(&random, sizeof bytes);
        check_random_fill(&random, bytes, feed.size);
        for (size_t i = 0; i + 20 < feed.size; i++)
            if (check_random_below(&random, 20) == 0) {
                memset(bytes + i, 0xff, (size_t)check_random_below(&random, 14));
                i += 12;
            }
        (void)pack(bytes, stream & 1 ? A V3 : "");
        whole[0] = 0;
        list(&text, bytes, feed.size, sizeof bytes);
        for (size_t piece = 1; piece < 5; piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            pieces[0] = 0;
            list(&again, bytes, feed.size, piece);
            CHECK_TEXT(pieces, whole);
        }
        text = tw_text_in(whole, sizeof whole);
        decode(&text, &feed);
        for (feed.piece = 1; feed.piece < 4; feed.piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            feed.room = feed.piece;
            decode(&again, &feed);
            CHECK_TEXT(pieces, whole);
        }
    }
}

/* What the unit is told comes out of the decoder. */
static void unit_model_is_decoded(void **unused)
{
    (void)unused;
    for (uint8_t version = 3; version <= 4; version++) {
        const struct tw_stm_unit_config setup = { .size = sizeof setup,
                                                  .version = version,
                                                  .has_timestamps = true,
                                                  .timestamp_bits = 48,
                                                  .frequency = 1000,
                                                  .sync_bytes = 40 };
        struct tw_stm_unit *unit;
        struct feed feed = { .piece = SIZE_MAX / 2, .room = 16 };
        char lines[2000] = "";
        struct tw_text text = tw_text_in(lines, sizeof lines);

        CHECK_EQ(tw_stm_unit_new(&unit, &setup), TW_OK);
        tw_stm_unit_select(unit, 0x41, 0x0301);
        tw_stm_unit_set_time(unit, 0x123456789a);
        CHECK_EQ(tw_stm_unit_write(unit, 0x6c6c6548, 32, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 0x6f, 8, 0), TW_OK);
        tw_stm_unit_set_time(unit, 0x123456789c);
        CHECK_EQ(tw_stm_unit_flag(unit, TW_STM_TIMED), TW_OK);
        tw_stm_unit_select(unit, 0x41, 0x0302);
        CHECK_EQ(tw_stm_unit_write(unit, UINT64_MAX, 64, TW_STM_MARKED), TW_OK);
        CHECK_EQ(tw_stm_unit_trigger(unit, 7, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_event(unit, 9, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_lose(unit, false, 1), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 5, 4, TW_STM_MARKED | TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_lose(unit, true, 2), TW_OK);
        tw_stm_unit_select(unit, 0x141, 1);
        CHECK_EQ(tw_stm_unit_write(unit, 0x1234, 16, 0), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 0x10, 4, 0), TW_E_ARGUMENT);
        CHECK_EQ(tw_stm_unit_write(unit, 0, 12, 0), TW_E_ARGUMENT);
        CHECK_EQ(tw_stm_unit_flush(unit), TW_OK);
        feed.bytes = tw_stm_unit_output(unit, &feed.size);
        CHECK_EQ(feed.size % 4, 0);
        decode(&text, &feed);
        for (char *at = lines; *at; at++) /* where they are does not matter here */
            while (at == lines || at[-1] == '\n') {
                char *space = strchr(at, ' ');

                if (!space)
                    break;
                memmove(at, space + 1, strlen(space));
                at++;
            }
        CHECK_TEXT(lines, "NO_SYNC init\n0/0? 32:3e8 freq\n41/301 32:6c6c6548 =123456789a\n"
                          "41/301 8:6f\n41/301 0 =123456789c marker\n"
                          "41/302 64:ffffffffffffffff marker\n41/302 8:7 =123456789c trigger\n"
                          "80/0 8:9 =123456789c\n0/0 32:3e8 freq\n41/0 8:1 merr\n"
                          "41/302 4:5 =123456789c marker\n0/0? 8:2 gerr\n141/1 16:1234\n"
                          "EO_TRACE end\n");
        tw_stm_unit_take(unit);
        (void)tw_stm_unit_output(unit, &feed.size);
        CHECK_EQ(feed.size, 0);
        tw_stm_unit_free(unit);
    }
}

static void unit_model_compresses(void **unused)
{
    const struct tw_stm_unit_config setup = { .size = sizeof setup,
                                              .version = 3,
                                              .compresses = true };
    struct tw_stm_unit *unit;
    struct feed feed = { .piece = SIZE_MAX / 2, .room = 16 };
    char lines[2000] = "";
    struct tw_text text = tw_text_in(lines, sizeof lines);

    (void)unused;
    CHECK_EQ(tw_stm_unit_new(&unit, &setup), TW_OK);
    CHECK_EQ(tw_stm_unit_write(unit, 5, 64, TW_STM_TIMED), TW_OK);
    CHECK_EQ(tw_stm_unit_write(unit, 0x10000, 64, 0), TW_OK);
    CHECK_EQ(tw_stm_unit_flush(unit), TW_OK);
    feed.bytes = tw_stm_unit_output(unit, &feed.size);
    decode(&text, &feed);
    CHECK_TEXT(lines, "0 NO_SYNC init\n13 0/0? 4:5\n14 0/0? 32:10000\n14 EO_TRACE end\n");
    tw_stm_unit_free(unit);
}

static void configuration_is_read(void **unused)
{
    struct tw_register control = { "StmTcsr", 0x00a00007 };
    struct tw_source_info source = { .registers = &control, .register_count = 1, .id = 7 };
    struct tw_stm_config got;
    struct tw_fault fault;

    (void)unused;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_OK);
    CHECK_EQ(tw_stm.trace_id(&got), 0x20);
    control.value = UINT64_MAX;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_E_CONFIG);
    source.register_count = 0;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_OK);
    CHECK_EQ(tw_stm.trace_id(&got), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_has_one_rule),
        cmocka_unit_test(nibbles_are_low_half_first),
        cmocka_unit_test(vectors_to_packets),
        cmocka_unit_test(vectors_to_elements),
        cmocka_unit_test(vectors_back_to_bytes),
        cmocka_unit_test(discontinuity_waits_for_sync),
        cmocka_unit_test(floods_of_f),
        cmocka_unit_test(random_streams_come_back),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(unit_model_is_decoded),
        cmocka_unit_test(unit_model_compresses),
        cmocka_unit_test(configuration_is_read),
    };

    return cmocka_run_group_tests_name("stm", tests, NULL, NULL);
}
