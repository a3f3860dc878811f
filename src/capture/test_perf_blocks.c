/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: which bytes an AUX record is about, what is missing, and the clock. */
#include "capture/test_perf.h"

#include "capture/perfdata.h"

enum { OVERWRITE = 2, TRUNCATED = 1, PARTIAL = 4, COLLISION = 8 };

/* 256 bytes of a CPU's ring buffer, told of by one AUX record. */
static struct tw_capture *open_block(uint64_t offset, uint64_t size, uint64_t flags,
                                     uint64_t at)
{
    static struct writer writer;
    const struct disk disk = { &writer, 0, NULL, 0 };
    struct disk with_size = disk;
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    uint8_t trace[256];

    for (size_t i = 0; i < sizeof trace; i++)
        trace[i] = (uint8_t)i;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_aux(&writer, offset, size, flags, 20, 0);
    put_trace(&writer, trace, sizeof trace, at, 0, TW_NONE);
    finish(&writer);
    with_size.perf_size = writer.size;
    if (open_disk(&capture, &with_size, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

/* The first byte of a buffer: that of the trace, numbered from 0. */
static unsigned first_byte(const struct tw_capture *capture, size_t buffer, uint64_t *size)
{
    const uint8_t *bytes;
    size_t together;

    *size = tw_capture_buffer(capture, buffer)->size;
    CHECK_EQ(tw_capture_read(capture, &bytes, &together, buffer, 0), TW_OK);
    return bytes[0];
}

static void a_snapshot_ends_where_its_record_says(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t at, offset, size;
        uint64_t flags;
        unsigned first;
        uint64_t want;
        bool has_loss, is_there;
    } cases[] = {
        { "in full, from its start", 0x1000, 0x1000, 256, RAW, 0, 256, false, true },
        { "a part, from its start", 0x1000, 0x1010, 16, RAW, 16, 16, false, true },
        { "snapshot: up to the end", 0x1000, 0x1100, 256, RAW | OVERWRITE, 0, 256, false, true },
        { "snapshot: the last bytes", 0x1000, 0x1100, 16, RAW | OVERWRITE, 240, 16, false, true },
        { "snapshot: up to the middle", 0x1000, 0x1080, 16, RAW | OVERWRITE, 112, 16, false, true },
        { "snapshot: says more than there is", 0x1000, 0x1100, 4096, RAW | OVERWRITE, 0, 256, false, true },
        { "snapshot: more than lies before it", 0x1000, 0x1040, 128, RAW | OVERWRITE, 0, 128, false, true },
        { "snapshot: of the first bytes of all", 0, 8, 64, RAW | OVERWRITE, 0, 64, false, true },
        { "beyond its end", 0x1000, 0x10f0, 32, RAW, 240, 16, true, true },
        { "lost on the way", 0x1000, 0x1000, 256, RAW | TRUNCATED, 0, 256, true, true },
        { "with a gap", 0x1000, 0x1000, 256, RAW | PARTIAL, 0, 256, true, true },
        { "by two writers", 0x1000, 0x1000, 256, RAW | COLLISION, 0, 256, true, true },
        { "nowhere in the file", 0x1000, 0x2000, 256, RAW, 0, 0, true, false },
        { "empty", 0x1000, 0x1000, 0, RAW, 0, 0, false, false },
        { "empty and truncated", 0x1000, 0x1000, 0, RAW | TRUNCATED, 0, 0, true, false },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_capture *capture;
        const struct tw_perf *perf;
        uint64_t size = 0;

        CHECK_CASE(cases[i].name);
        capture = open_block(cases[i].offset, cases[i].size, cases[i].flags, cases[i].at);
        perf = tw_capture_perf(capture);
        CHECK_EQ(tw_perf_loss_count(perf), cases[i].has_loss);
        if (cases[i].is_there) {
            CHECK_EQ(first_byte(capture, 0, &size), cases[i].first);
            CHECK_EQ(size, cases[i].want);
            CHECK_EQ(tw_perf_block(perf, 0)->aux_offset, cases[i].at + cases[i].first);
            CHECK_EQ(tw_perf_block(perf, 0)->time, 20);
        }
        tw_capture_free(capture);
    }
}

/* The end of one piece is the beginning of the next: a snapshot that ends there is of the first. */
static void a_snapshot_lies_before_its_end(void **state)
{
    static struct writer writer;
    struct disk disk = { &writer, 0, NULL, 0 };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    uint8_t trace[2][64];
    uint64_t size;

    (void)state;
    memset(trace[0], 0x11, sizeof trace[0]);
    memset(trace[1], 0x22, sizeof trace[1]);
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_aux(&writer, 0x1040, 64, RAW | OVERWRITE, 20, 0);
    put_aux(&writer, 0x1080, 64, RAW | OVERWRITE, 30, 0);
    put_trace(&writer, trace[0], 64, 0x1000, 0, TW_NONE);
    put_trace(&writer, trace[1], 64, 0x1040, 0, TW_NONE);
    finish(&writer);
    disk.perf_size = writer.size;
    if (open_disk(&capture, &disk, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    CHECK_EQ(tw_capture_buffer_count(capture), 2);
    CHECK_EQ(first_byte(capture, 0, &size), 0x11);
    CHECK_EQ(size, 64);
    CHECK_EQ(tw_perf_block(tw_capture_perf(capture), 0)->time, 20);
    CHECK_EQ(first_byte(capture, 1, &size), 0x22);
    CHECK_EQ(size, 64);
    CHECK_EQ(tw_perf_block(tw_capture_perf(capture), 1)->time, 30);
    CHECK_EQ(tw_perf_loss_count(tw_capture_perf(capture)), 0);
    tw_capture_free(capture);
}

static struct tw_capture *open_clock(unsigned size, uint64_t cycles, uint64_t mask,
                                     bool is_short)
{
    static struct writer writer;
    struct disk disk = { &writer, 0, NULL, 0 };
    const struct trace trace = visit(TID_A);
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;

    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    begin(&writer, 79, 0);
    put(&writer, 4, 8);    /* shift */
    put(&writer, 0x30, 8); /* multiplier: 3 ns for each count */
    put(&writer, 1000, 8); /* zero */
    if (size > 32) {
        put(&writer, cycles, 8);
        put(&writer, mask, 8);
        put(&writer, 1, 1);
        put(&writer, is_short, 1);
        put(&writer, 0, 6);
    }
    end(&writer);
    put_aux(&writer, 0, trace.size, RAW, 20, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&writer);
    disk.perf_size = writer.size;
    if (open_disk(&capture, &disk, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

/* A user page with cap_user_time_short: only the low bits of the counter count, from time_cycles
   on. */
static void a_short_clock_goes_on_from_where_the_record_was_written(void **state)
{
    static const struct {
        const char *name;
        unsigned size;
        uint64_t cycles, mask;
        bool is_short;
        uint64_t count, want;
    } cases[] = {
        { "old record", 32, 0, 0, false, 10, 1030 },
        { "whole counter", 56, 0x1000, 0xff, false, 0x10, 1000 + 0x30 },
        { "short, later", 56, 0x1000, 0xff, true, 0x1010, 1000 + 3 * 0x1010 },
        { "short, its low bits alone", 56, 0x1000, 0xff, true, 0x10, 1000 + 3 * 0x1010 },
        { "short, wrapped", 56, 0x10f0, 0xff, true, 0x08, 1000 + 3 * 0x1108 },
        { "short, a wider mask", 56, 0x10f0, 0xfff, true, 0x108, 1000 + 3 * 0x1108 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        capture = open_clock(cases[i].size, cases[i].cycles, cases[i].mask, cases[i].is_short);
        CHECK_EQ(tw_perf_convert(tw_capture_perf(capture), cases[i].count), cases[i].want);
        tw_capture_free(capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_ends_where_its_record_says),
        cmocka_unit_test(a_snapshot_lies_before_its_end),
        cmocka_unit_test(a_short_clock_goes_on_from_where_the_record_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
