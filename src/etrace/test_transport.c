/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: encapsulations. */
#include "check.h"

#include <string.h>

#include "etrace/test.h"

static void worked_example_of_the_encapsulation(void **state)
{
    struct tw_etrace_reader *codec =
        codec_of(V2 ",encapsulation=riscv,srcid_bits=6,type_bits=2,context_width_p=1");
    struct tw_etrace_packet packet;
    uint8_t bytes[] = { 0x06, 0x81, 0x32, 0x04, 0x00, 0x00, 0x02 }, back[40];
    size_t size = sizeof back;

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, bytes, sizeof bytes, true), TW_OK);
    CHECK_EQ(packet.base.size, 7);
    CHECK_EQ(packet.header_size, 2);
    CHECK_EQ(packet.source, 1);
    CHECK_EQ(packet.base.type, TW_ETRACE_F2);
    CHECK_EQ(tw_etrace_write(codec, back, &size, &packet), TW_OK);
    CHECK_BYTES(back, size, bytes, sizeof bytes);
    tw_etrace_reader_free(codec);
}

/* [RVT 6/2] [RVT 6/3] */
static void headers_of_each_kind(void **state)
{
    static const struct {
        const char *config, *bytes;
        uint8_t header;
        uint16_t source;
        uint64_t stamp;
    } headers[] = {
        { V2 ",encapsulation=atb", "02 5e 01", 1, 0, 0 },
        { V2 ",encapsulation=atb", "22 34 12 5e 01", 3, 0, 0x1234 },
        { V2 ",encapsulation=esp32", "05 07 01 5e 01", 3, 0x107, 0 },
        { V2 ",encapsulation=riscv", "02 5e 01", 1, 0, 0 },
        { V2 ",encapsulation=riscv,srcid_bits=8", "82 09 34 12 5e 01", 4, 9, 0x1234 },
        { V2 ",encapsulation=smi,srcid_bits=6,type_bits=2", "83 89 34 12 5e 01", 4, 9, 0x1234 },
        { V2 ",encapsulation=pulp",
          "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
          "00 "
          "01 5e 00 00 00 00 00 00 00 00 82",
          29, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(headers); i++) {
        struct tw_etrace_reader *codec = codec_of(headers[i].config);
        struct tw_etrace_packet packet;
        uint8_t bytes[40], back[40];
        const size_t size = from_hex(bytes, headers[i].bytes);
        size_t written = sizeof back;

        CHECK_CASE(headers[i].bytes);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, true), TW_OK);
        CHECK_EQ(packet.base.type, TW_ETRACE_F2);
        CHECK_EQ(packet.field, 0x57);
        CHECK_EQ(packet.header_size, headers[i].header);
        CHECK_EQ(packet.source, headers[i].source);
        CHECK_EQ(packet.stamp, headers[i].stamp);
        CHECK_EQ(tw_etrace_write(codec, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        tw_etrace_reader_free(codec);
    }
}

static void only_the_wanted_source(void **state)
{
    struct tw_etrace_reader *codec = codec_of(V2 ",encapsulation=riscv,srcid_bits=8,srcid=3");
    struct tw_etrace_packet packet;
    const uint8_t bytes[] = { 0x02, 0x04, 0x5e, 0x01, 0x02, 0x03, 0x5e, 0x01 };

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, bytes, 8, true), TW_OK);
    CHECK_EQ(packet.base.type, TW_ETRACE_OTHER);
    CHECK_EQ(packet.base.size, 4);
    CHECK_EQ(read_tight(codec, &packet, bytes + 4, 4, true), TW_OK);
    CHECK_EQ(packet.base.type, TW_ETRACE_F2);
    tw_etrace_reader_free(codec);
}

/* Reads all; the types' names, runs of one name once. */
static void list(struct tw_text *out, struct tw_etrace_reader *codec, const uint8_t *bytes,
                 size_t size)
{
    const char *last = "";

    for (size_t at = 0; at < size;) {
        struct tw_etrace_packet packet;

        CHECK_EQ(read_tight(codec, &packet, bytes + at, size - at, true), TW_OK);
        if (strcmp(last, tw_etrace_type_name(packet.base.type)) != 0) {
            last = tw_etrace_type_name(packet.base.type);
            tw_text_format(out, "%zu %s ", at, last);
        }
        at += packet.base.size;
    }
}

/* [RVT 6/8] */
static void finds_the_next_packet_after_null_bytes(void **state)
{
    struct tw_etrace_reader *codec =
        codec_of(V2 ",encapsulation=riscv,timestamp_bytes=2,starts_inside=1");
    uint8_t bytes[60] = { 0x1f, 0x00, 0xff, 0x13 };
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    bytes[50] = 0x02; /* the first byte that is no null packet */
    bytes[51] = 0x5e;
    bytes[52] = 0x01;
    list(&text, codec, bytes, sizeof bytes);
    CHECK_TEXT(line, "0 not_sync 50 f2 53 null ");
    tw_etrace_reader_free(codec);
}

/* [RVT 6/9] */
static void finds_the_next_packet_at_a_block(void **state)
{
    struct tw_etrace_reader *codec = codec_of(V2 ",block_size=64");
    uint8_t bytes[192] = { 0xff, 0x41, 0x42 };
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    for (size_t at = 64; at < 192; at += 64) {
        bytes[at] = 0x42;
        bytes[at + 1] = 0x5e;
        bytes[at + 2] = 0x01;
    }
    bytes[64 + 60] = 0x45; /* would reach into the next block */
    list(&text, codec, bytes, sizeof bytes);
    CHECK_TEXT(line, "0 bad 1 not_sync 64 f2 67 null 124 bad 125 not_sync 128 f2 131 null ");
    tw_etrace_reader_free(codec);
}

static void finds_the_next_packet_among_packets(void **state)
{
    struct tw_etrace_reader *codec = codec_of(V2);
    uint8_t bytes[200];
    size_t size = 0;
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    bytes[size++] = 0x42; /* a good one, then one whose length lies */
    bytes[size++] = 0x5e;
    bytes[size++] = 0x01;
    bytes[size++] = 0x49;
    bytes[size++] = 0x5e;
    bytes[size++] = 0x01;
    while (size < 150) {
        bytes[size++] = 0x42;
        bytes[size++] = 0x5e;
        bytes[size++] = 0x01;
    }
    list(&text, codec, bytes, size);
    CHECK_TEXT(line, "0 f2 3 bad 13 not_sync 15 f2 ");
    tw_etrace_reader_free(codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_of_the_encapsulation),
        cmocka_unit_test(headers_of_each_kind),
        cmocka_unit_test(only_the_wanted_source),
        cmocka_unit_test(finds_the_next_packet_after_null_bytes),
        cmocka_unit_test(finds_the_next_packet_at_a_block),
        cmocka_unit_test(finds_the_next_packet_among_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
