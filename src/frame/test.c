/* SPDX-License-Identifier: BSD-2-Clause */
/* Framing vectors, both ways, and what callers rely on: places, discontinuities, consuming. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#include "frame_oracle.h"

#define FR1     "21 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 00 "
#define FR2     "10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 00 "
#define FS      "FF FF FF 7F "
#define BARRIER FS FS FS FS
#define ZERO8   "00 00 00 00 00 00 00 00 "

enum { CAPTURE_MAX = 2048, TEXT_MAX = 4096 };

static const size_t pieces[] = { CAPTURE_MAX, 1, 2, 3, 5, 16, 17 };

static uint8_t *parse(size_t *size, const char *hex)
{
    uint8_t bytes[CAPTURE_MAX];

    for (*size = 0; *hex;) {
        unsigned value = 0;

        if (*hex == ' ') {
            hex++;
            continue;
        }
        CHECK(*size < sizeof bytes && sscanf(hex, "%2x", &value) == 1);
        bytes[(*size)++] = (uint8_t)value;
        hex += 2;
    }
    return check_copy(bytes, *size);
}

static const char *const event_names[] = { "trigger", "flush",    "fsync",    "hsync",
                                           "barrier", "lost",     "reserved", "incomplete",
                                           "skipped", "bad-block" };

/* "10@1:0102 --@4:05" for bytes that lie together, then " trigger@3+1=00" for each event. */
static void render(char *out, const struct oracle_result *result)
{
    const struct oracle_log *plain = &result->plain;
    char *at = out;

    *at = '\0';
    for (size_t i = 0; i < plain->size; i++) {
        if (i == 0 || plain->ids[i] != plain->ids[i - 1] ||
            plain->at[i] != plain->at[i - 1] + 1) {
            at += sprintf(at, i ? " " : "");
            at += plain->ids[i] == TW_ID_UNKNOWN ? sprintf(at, "--")
                                                 : sprintf(at, "%02X", plain->ids[i]);
            at += sprintf(at, "@%" PRIu64 ":", plain->at[i]);
        }
        at += sprintf(at, "%02X", plain->bytes[i]);
    }
    for (size_t i = 0; i < result->event_count; i++) {
        const struct tw_frame_event *event = &result->events[i];

        at += sprintf(at, "%s%s@%" PRIu64 "+%u=%02X", at == out ? "" : " ",
                      event_names[event->kind], event->offset, (unsigned)event->length,
                      event->value);
    }
    CHECK(at - out < TEXT_MAX);
}

/* Feeds tight copies of pieces, gathers everything at the end. */
static void unframe(struct oracle_result *result, struct tw_unframer_config config,
                    const uint8_t *data, size_t size, size_t piece)
{
    struct tw_unframer *unframer;

    memset(result, 0, sizeof *result);
    if (config.on_run)
        config.on_run_context = result;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    for (size_t at = 0; at < size; at += piece) {
        const size_t part = size - at < piece ? size - at : piece;
        uint8_t *copy = check_copy(data + at, part);

        CHECK_EQ(tw_unframer_feed(unframer, copy, part), TW_OK);
        free(copy);
    }
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    CHECK_EQ(tw_unframer_stats(unframer)->bytes, size);
    oracle_gather_end(result, unframer);
    tw_unframer_free(unframer);
}

static struct tw_unframer_config config_of(enum tw_framing framing)
{
    return (struct tw_unframer_config){ .size = sizeof(struct tw_unframer_config),
                                        .framing = framing,
                                        .wanted = { UINT64_MAX, UINT64_MAX } };
}

#define MEM        TW_FRAMING_MEMORY
#define TPIU       TW_FRAMING_TPIU
#define HSYNC      TW_FRAMING_TPIU_HSYNC
#define NO_BARRIER 0x100

/* clang-format off */
static const struct {
    const char *name;
    int mode;
    const char *bytes, *want;
} vectors[] = {
    { "F1", MEM, FR1, "10@1:0102030405060708090A0B0C0D0E" },
    { "F2", MEM, "21 81 82 84 84 87 88 89 8A 8C 8C 8F 90 91 92 B6",
      "10@1:8183848587" "88898B8C8D8F909193" },
    { "F3", MEM, "21 A0 A2 A1 41 B0 B2 B1 61 C0 C2 C1 C4 C3 C6 00",
      "10@1:A0A2A1 20@5:B0B2B1 30@9:C0C2C1C4C3C6" },
    { "F4", MEM, "21 A0 41 A1 B0 B1 61 B2 C0 C1 C2 C3 C4 C5 C6 0A",
      "10@1:A0 10@3:A1 20@4:B0B1 20@7:B2 30@8:C0C1C2C3C4C5C6" },
    { "F5", MEM, "21 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 41 00 " FR2,
      "10@1:0102030405060708090A0B0C0D 20@16:101112131415161718191A1B1C1D1E" },
    { "F6", MEM, "21 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 41 80 " FR2,
      "10@1:0102030405060708090A0B0C0D 20@16:101112131415161718191A1B1C1D1E" },
    { "F7", MEM, "21 01 21 03 21 05 06 07 08 09 0A 0B 0C 0D 0E 06",
      "10@1:01 10@3:03 10@5:05060708090A0B0C0D0E" },
    { "F8", MEM, "21 AA 01 BB 00 00 00 00 00 00 00 00 00 00 00 02",
      "10@1:AA 10@3:BB 00@4:0000000000000000000000" },
    { "F9", MEM, "21 AA FB 00 21 BB BC BD F7 00 21 BE C0 C1 C2 00",
      "10@1:AA 7D@3:00 10@5:BBBCBD 7B@9:00 10@11:BEC0C1C2 trigger@3+1=00 flush@9+1=00" },
    { "F10", MEM, "10 11 12 13 21 AA AC AD AE AF B0 B1 B2 B3 B4 07",
      "--@0:11111313 --@5:AA 10@6:ACADAEAFB0B1B2B3B4" },
    { "F11", MEM, FR1 ZERO8 ZERO8,
      "10@1:0102030405060708090A0B0C0D0E 10@16:000000000000000000000000000000" },
    { "F12", MEM, "03 0E 05 0F 07 10 09 11 0B 12 0D 13 0F 14 50 FF",
      "--@1:0E 01@3:0F 02@5:10 03@7:11 04@9:12 05@11:13 06@13:14 07@14:51" },
    { "F13", HSYNC, FS "21 01 02 03 FF 7F 04 05 06 07 08 09 0A 0B FF 7F FF 7F 41 B0 0E 80",
      "10@5:010203 10@10:0405060708090A0B 20@23:B00F" },
    { "F14", TPIU, "00 11 22 33 " FS FR1 FS FS FR2,
      "10@9:0102030405060708090A0B0C0D0E 10@32:101112131415161718191A1B1C1D1E skipped@0+4=00" },
    { "F15", HSYNC, FS FR1 "FF 7F " FS FR2,
      "10@5:0102030405060708090A0B0C0D0E 10@26:101112131415161718191A1B1C1D1E" },
    { "F16", MEM, FR1 BARRIER "10 11 41 B0 12 13 14 15 16 17 18 19 1A 1B 1C 00",
      "10@1:0102030405060708090A0B0C0D0E --@32:1011 20@35:B012131415161718191A1B1C"
      " barrier@16+16=00" },
    { "F17", MEM | NO_BARRIER, BARRIER,
      "--@1:FF 7F@3:7F 7F@5:FF 7F@7:7F 7F@9:FF 7F@11:7F 7F@13:FF lost@0+16=7F" },
    { "F18", MEM, "21 0F FE 0F 30 00 00 00 00 00 00 00 00 00 01 00 " ZERO8 ZERO8,
      "10@1:0FFE0F30000000000000000000 00@16:000000000000000000000000000000" },
    { "F19", HSYNC, FS "21 FF 7F AA 02 03 04 05 06 07 08 09 0A 0B 0C 00",
      "10@5:FF 3F@7:AA02030405060708090A0B0C" },
    { "F20", TPIU, FS "21 01 02 03 " FS FR1, "10@13:0102030405060708090A0B0C0D0E lost@8+4=00" },
    { "F21", MEM, BARRIER FR1, "10@17:0102030405060708090A0B0C0D0E barrier@0+16=00" },
    { "F22", MEM, "03 00 00 00 00 00 80 01 48 03 10 22 01 00 00 20 " BARRIER
                  "03 01 48 01 4A 00 00 00 00 00 80 01 01 69 00 42",
      "01@1:00000000008001480311" "22 00@13:0000 01@33:0149014A0000000000" "8001 01@45:69 00@46:00"
      " barrier@16+16=00" },

    { "barriers collapse", MEM, FR1 BARRIER BARRIER FR1,
      "10@1:0102030405060708090A0B0C0D0E 10@49:0102030405060708090A0B0C0D0E barrier@16+32=00" },
    { "all zero, unknown ID", MEM, ZERO8 ZERO8, "--@0:000000000000000000000000000000" },
    { "reserved once per run", MEM,
      "E1 AA AA AA AA AA AA AA AA AA AA AA AA AA AA 00 E1 AA AA AA 21 AA E1 AA AA AA AA AA AA AA AA 00",
      "70@1:AAAAAAAAAAAAAAAAAAAAAAAAAAAA 70@17:AAAAAA 10@21:AA 70@23:AAAAAAAAAAAAAAAA"
      " reserved@1+1=70 reserved@23+1=70" },
    { "an end inside a frame", MEM, FR1 "21 01 02",
      "10@1:0102030405060708090A0B0C0D0E incomplete@16+3=00" },
    { "an end inside an HSYNC", HSYNC, FS "21 01 FF", "incomplete@4+3=00" },
    { "ID 7F from a port", TPIU, FS FR1 "FF 7F 00 01 " FS FR2,
      "10@5:0102030405060708090A0B0C0D0E --@28:101112131415161718191A1B1C1D1E lost@20+4=00" },
    { "FSYNC at an odd place", TPIU, FS "21 01 02 " FS FR1,
      "10@12:0102030405060708090A0B0C0D0E lost@8+3=00" },
    { "FSYNC after a lost byte", TPIU, FS "21 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E " FS FR1,
      "--@5:01 10@6:03030505070709090B0B0D0D0F 10@24:0102030405060708090A0B0C0D0E lost@20+0=00" },
    { "first FSYNC at an odd offset", TPIU, "00 " FS FR1,
      "10@6:0102030405060708090A0B0C0D0E skipped@0+1=00" },
    { "never an FSYNC", TPIU, FR1, "skipped@0+16=00" },
    { "four FSYNCs of a port are no barrier", TPIU, FS FR1 BARRIER FR2,
      "10@5:0102030405060708090A0B0C0D0E 10@36:101112131415161718191A1B1C1D1E" },
};
/* clang-format on */

static void unpacks_each_vector_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        size_t size;
        uint8_t *data = parse(&size, vectors[i].bytes);
        struct tw_unframer_config config =
            config_of((enum tw_framing)(vectors[i].mode & ~NO_BARRIER));
        struct oracle_result want, got;
        char text[TEXT_MAX];

        config.no_barrier = vectors[i].mode & NO_BARRIER;
        oracle_run(&want, &config, data, size);
        CHECK_CASE(vectors[i].name);
        render(text, &want);
        CHECK_TEXT(text, vectors[i].want);
        for (size_t p = 0; p < LENGTH(pieces); p++) {
            check_case("%s in pieces of %zu", vectors[i].name, pieces[p]);
            config.on_run = NULL;
            unframe(&got, config, data, size, pieces[p]);
            CHECK_TEXT(oracle_difference(&got, &want, false) ? "differs" : "same", "same");
            oracle_free(&got);
            config.on_run = oracle_on_run;
            unframe(&got, config, data, size, pieces[p]);
            render(text, &got);
            CHECK_TEXT(text, vectors[i].want);
            CHECK_TEXT(oracle_difference(&got, &want, true) ? "differs" : "same", "same");
            oracle_free(&got);
        }
        oracle_free(&want);
        free(data);
    }
}

static void check_log(const struct oracle_log *log, const char *bytes, const uint64_t *at,
                      size_t count)
{
    size_t size;
    uint8_t *want = parse(&size, bytes);

    CHECK_EQ(size, count);
    CHECK_BYTES(log->bytes, log->size, want, size);
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(log->at[i], at[i]);
    free(want);
}

static void unpacks_two_sources_with_offsets(void **state)
{
    static const char capture[] = "03 00 00 00 00 00 80 01 41 48 FE FF FE FF FE F0 "
                                  "FE FF FE FF FE 0F 0E 30 03 01 68 C0 8A 01 41 2F "
                                  "0E 08 20 F4 08 10 03 17 34 12 00 08 41 04 02 83 "
                                  "F0 66 6C 6C 44 38 20 43 F6 EF 01 00 00 00 00 2D";
    static const uint64_t itm[] = { 1,  2,  3,  4,  5,  6,  7,  9,  25,
                                    26, 27, 28, 29, 39, 40, 41, 42, 43 };
    static const uint64_t stm[] = { 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21,
                                    22, 23, 32, 33, 34, 35, 36, 37, 45, 46, 48,
                                    49, 50, 51, 52, 53, 54, 55, 56, 57, 59 };
    static const uint64_t null[] = { 60, 61, 62 };
    size_t size;
    uint8_t *data = parse(&size, capture);

    (void)state;
    for (size_t p = 0; p < LENGTH(pieces); p++) {
        struct oracle_result got;

        check_case("pieces of %zu", pieces[p]);
        unframe(&got, config_of(MEM), data, size, pieces[p]);
        check_log(&got.decoders[1], "00 00 00 00 00 80 01 48 01 69 C0 8A 01 17 34 12 00 08",
                  itm, LENGTH(itm));
        check_log(
            &got.decoders[0x20],
            "FF FF FF FF FF FF FF FF FF FF 0F 0F 30 0F 08 21 F4 08 10 04 03 F1 66 6C 6C 45 "
            "38 21 43 F6 EF 00",
            stm, LENGTH(stm));
        check_log(&got.decoders[0], "00 00 00", null, LENGTH(null));
        oracle_free(&got);
    }
    free(data);
}

static void shows_a_discontinuity_before_its_bytes(void **state)
{
    size_t size;
    uint8_t *data = parse(&size, FR1 BARRIER "10 11 41 B0 12 13 14 15 16 17 18 19 1A 1B 1C 00");
    struct tw_unframer_config config = config_of(MEM);
    struct tw_unframer *unframer;
    struct tw_stream stream;

    (void)state;
    config.wanted[0] = (uint64_t)1 << 0x20 | 1 << 0x10;
    config.wanted[1] = 0;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, data, 32), TW_OK);
    stream = tw_unframer_stream(unframer, 0x10);
    CHECK_EQ(stream.size, 14);
    CHECK_EQ(stream.place_count, 2);
    CHECK(!stream.places[0].is_discontinuity);
    CHECK(stream.places[1].is_discontinuity);
    CHECK_EQ(stream.places[1].stream, 14);
    CHECK_EQ(stream.places[1].capture, 16);
    stream = tw_unframer_stream(unframer, 0x20); /* nothing of it came yet */
    CHECK_EQ(stream.size, 0);
    CHECK_EQ(stream.place_count, 1);
    CHECK(stream.places[0].is_discontinuity);
    tw_unframer_consume(unframer, 0x10, 14);
    stream = tw_unframer_stream(unframer, 0x10);
    CHECK_EQ(stream.place_count, 1);
    CHECK_EQ(stream.places[0].stream, 14);
    CHECK_EQ(tw_unframer_stream(unframer, 0x30).place_count, 0);

    CHECK_EQ(tw_unframer_feed(unframer, data + 32, 16), TW_OK);
    stream = tw_unframer_stream(unframer, 0x20);
    CHECK_EQ(stream.size, 12);
    CHECK_EQ(stream.place_count, 1);
    CHECK_EQ(stream.places[0].capture, 35);
    CHECK_EQ(stream.places[0].first, 12);
    CHECK(stream.places[0].is_discontinuity);
    CHECK_EQ(tw_unframer_stats(unframer)->bytes_by_id[TW_ID_UNKNOWN], 2);
    tw_unframer_free(unframer);
    free(data);
}

/* A frame that names ID 7F is listed, but no decoder gets a byte of it or of what follows until
   an ID byte. */
static void keeps_a_damaged_frame_from_decoders(void **state)
{
    size_t size;
    uint8_t *data = parse(&size, FR1 "21 01 02 03 FF 05 21 07 08 09 0A 0B 0C 0D 0E 00 " FR2
                                     "10 11 21 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 02");
    struct oracle_result got;
    struct tw_unframer_config config = config_of(MEM);
    char text[TEXT_MAX];

    (void)state;
    config.on_run = oracle_on_run;
    unframe(&got, config, data, size, 7);
    render(text, &got);
    CHECK_TEXT(text, "10@1:0102030405060708090A0B0C0D0E 10@17:010203 7F@21:05"
                     " 10@23:0708090A0B0C0D0E 10@32:101112131415161718191A1B1C1D1E"
                     " 10@48:1011 10@51:131415161718191A1B1C1D1E lost@16+16=7F");
    CHECK_EQ(got.decoders[0x10].size, 14 + 11);
    CHECK_EQ(got.decoders[0x10].at[14], 52);
    CHECK_EQ(got.decoders[0x10].break_count, 1);
    CHECK_EQ(got.decoders[0x10].breaks[0], 14);
    CHECK_EQ(got.decoders[0x7f].size, 0);
    oracle_free(&got);
    free(data);
}

static void gives_unknown_bytes_to_an_assumed_id(void **state)
{
    size_t size;
    uint8_t *data = parse(&size, FR2 FR1);
    struct tw_unframer_config config = config_of(MEM);
    struct oracle_result got;

    (void)state;
    config.assume_id = 0x10;
    config.base = 1000;
    unframe(&got, config, data, size, 16);
    CHECK_EQ(got.decoders[0x10].size, 29);
    CHECK_EQ(got.decoders[0x10].at[0], 1000);
    CHECK_EQ(got.decoders[0x10].at[15], 1017);
    CHECK_EQ(got.counts[TW_ID_UNKNOWN], 0);
    oracle_free(&got);
    config.framing = TW_FRAMING_NONE;
    unframe(&got, config, data, size, 5);
    CHECK_EQ(got.decoders[0x10].size, 32);
    CHECK_EQ(got.decoders[0x10].at[31], 1031);
    CHECK_EQ(got.counts[0x10], 32);
    oracle_free(&got);
    free(data);
}

/* [CSD 2.1.2/3] */
static void counts_what_it_does_not_keep(void **state)
{
    size_t size;
    uint8_t *data = parse(&size, "21 A0 41 A1 B0 B1 61 B2 C0 C1 C2 C3 C4 C5 C6 0A " FR2);
    struct tw_unframer_config config = config_of(MEM);
    struct oracle_result got;

    (void)state;
    config.wanted[0] = (uint64_t)1 << 0x20;
    config.wanted[1] = 0;
    unframe(&got, config, data, size, 16);
    CHECK_EQ(got.decoders[0x20].size, 3);
    CHECK_EQ(got.decoders[0x10].size, 0);
    CHECK_EQ(got.decoders[0x30].size, 0);
    CHECK_EQ(got.counts[0x10], 2);
    CHECK_EQ(got.counts[0x20], 3);
    CHECK_EQ(got.counts[0x30], 7 + 15);
    oracle_free(&got);
    free(data);
}

static void lists_syncs_only_when_asked(void **state)
{
    size_t size;
    uint8_t *data = parse(&size, FS FR1 "FF 7F " FS FR2);
    struct tw_unframer_config config = config_of(HSYNC);
    struct oracle_result got;
    char text[TEXT_MAX];

    (void)state;
    unframe(&got, config, data, size, 3);
    CHECK_EQ(got.event_count, 0);
    CHECK_EQ(got.syncs, 10);
    oracle_free(&got);
    config.sync_events = true;
    unframe(&got, config, data, size, 3);
    render(text, &got);
    CHECK_TEXT(text, "fsync@0+4=00 hsync@20+2=00 fsync@22+4=00");
    oracle_free(&got);
    free(data);
}

static void reads_dstream_blocks(void **state)
{
    uint8_t data[1024 + 40] = { 0xff, 0xff, 0xff, 0x7f };
    struct oracle_result got;
    char text[TEXT_MAX];

    (void)state;
    /* 31 frames of ID 10 and four bytes of the next, 300 bytes of which only 12 are valid. */
    for (size_t i = 4; i < 500; i += 16)
        data[i] = 0x21;
    memcpy(data + 500, "\x41\x01\x02\x03", 4);
    memcpy(data + 512, "\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x00", 12);
    memset(data + 524, 0xcc, 492);
    data[508] = 126;
    data[512 + 508] = 3;
    data[1024] = 0x61;
    memset(data + 1025, 0x54, 15);
    for (size_t p = 0; p < LENGTH(pieces); p++) {
        unframe(&got, config_of(TW_FRAMING_DSTREAM), data, 1024 + 24, pieces[p]);
        CHECK_EQ(got.decoders[0x10].size, 31 * 14);
        CHECK_EQ(got.decoders[0x20].size, 14);
        CHECK_EQ(got.decoders[0x20].at[2], 503);
        CHECK_EQ(got.decoders[0x20].at[3], 512);
        CHECK_EQ(got.decoders[0x30].at[0], 1025);
        CHECK_EQ(got.footers, 8 + 512 - 12);
        render(text, &got);
        CHECK_TEXT(text, "incomplete@1040+8=00");
        oracle_free(&got);
    }
    data[508] = 127;
    unframe(&got, config_of(TW_FRAMING_DSTREAM), data, 512, 512);
    render(text, &got);
    CHECK_TEXT(text, "incomplete@500+4=00 bad-block@508+1=7F");
    oracle_free(&got);
}

/* A consumer that lags: what it leaves stays readable, and memory does not grow without end. */
static void consumes_a_little_at_a_time(void **state)
{
    struct tw_unframer_config config = config_of(MEM);
    struct tw_unframer *unframer;
    struct oracle_log log = { 0 };
    uint8_t frame[16] = { 0x21 };

    (void)state;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    for (unsigned i = 0; i < 20000; i++) {
        for (unsigned n = 1; n < 15; n++)
            frame[n] = (uint8_t)(i * 2);
        CHECK_EQ(tw_unframer_feed(unframer, frame, 16), TW_OK);
        oracle_gather(&log, unframer, 0x10, i < 10 ? 0 : 14);
    }
    CHECK_EQ(tw_unframer_stream(unframer, 0x10).size, 140);
    oracle_gather(&log, unframer, 0x10, 140);
    for (size_t i = 0; i < log.size; i++) {
        CHECK_EQ(log.bytes[i], (uint8_t)(i / 14 * 2));
        CHECK_EQ(log.at[i], i / 14 * 16 + 1 + i % 14);
    }
    tw_unframer_consume(unframer, 0x10, 1000); /* more than there is */
    CHECK_EQ(tw_unframer_stream(unframer, 0x10).offset, 280000);
    tw_unframer_reset(unframer, 64);
    CHECK_EQ(tw_unframer_stream(unframer, 0x10).offset, 0);
    CHECK_EQ(tw_unframer_feed(unframer, frame, 16), TW_OK);
    CHECK_EQ(tw_unframer_stream(unframer, 0x10).places[0].capture, 65);
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, frame, 16), TW_E_ARGUMENT);
    tw_unframer_free(unframer);
    free(log.bytes);
    free(log.ids);
    free(log.at);
}

static void refuses_bad_configs(void **state)
{
    struct tw_unframer_config in = config_of(MEM);
    struct tw_framer_config out = { .size = sizeof out, .framing = TW_FRAMING_MEMORY };
    struct tw_unframer *unframer;
    struct tw_framer *framer;

    (void)state;
    in.size = sizeof in.size - 1;
    CHECK_EQ(tw_unframer_new(&unframer, &in, NULL), TW_E_ARGUMENT);
    in = config_of((enum tw_framing)9);
    CHECK_EQ(tw_unframer_new(&unframer, &in, NULL), TW_E_CONFIG);
    in = config_of(MEM);
    in.assume_id = 0x80;
    CHECK_EQ(tw_unframer_new(&unframer, &in, NULL), TW_E_CONFIG);
    CHECK(!unframer);
    out.align = 24;
    CHECK_EQ(tw_framer_new(&framer, &out, NULL), TW_E_CONFIG);
    out.align = 0;
    out.framing = TW_FRAMING_DSTREAM;
    CHECK_EQ(tw_framer_new(&framer, &out, NULL), TW_E_CONFIG);
    CHECK(!framer);
    out.framing = TW_FRAMING_TPIU;
    CHECK_EQ(tw_framer_new(&framer, &out, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0, (const uint8_t *)"", 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_framer_write(framer, 0x70, (const uint8_t *)"", 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_framer_mark(framer, 0x10, 0), TW_E_ARGUMENT);
    CHECK_EQ(tw_framer_barrier(framer), TW_E_ARGUMENT);
    CHECK_EQ(tw_framer_idle(framer), TW_E_ARGUMENT);
    tw_framer_free(framer);
    tw_framer_free(NULL);
    tw_unframer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_each_vector_in_pieces),
        cmocka_unit_test(unpacks_two_sources_with_offsets),
        cmocka_unit_test(shows_a_discontinuity_before_its_bytes),
        cmocka_unit_test(keeps_a_damaged_frame_from_decoders),
        cmocka_unit_test(gives_unknown_bytes_to_an_assumed_id),
        cmocka_unit_test(counts_what_it_does_not_keep),
        cmocka_unit_test(lists_syncs_only_when_asked),
        cmocka_unit_test(reads_dstream_blocks),
        cmocka_unit_test(consumes_a_little_at_a_time),
        cmocka_unit_test(refuses_bad_configs),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
