/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements and packets of several IDs come in one order, however the capture is cut, also at its gaps: batches
   may be full anywhere. */
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "check.h"

enum { COPIES = 128 };

static void take_all(uint64_t *hash, struct tw_tree *tree)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            *hash = (*hash ^ batch.elements[i].index ^ (uint64_t)batch.id << 48 ^
                     (uint64_t)batch.elements[i].type << 56) *
                    UINT64_C(0x100000001b3);
}

static uint64_t order_of(const struct tw_capture *capture, const uint8_t *bytes, size_t size,
                         size_t piece)
{
    struct tw_tree *tree;
    uint64_t hash = 1;

    CHECK_EQ(tw_capture_tree(&tree, capture, 0, NULL, NULL), TW_OK);
    for (size_t at = 0; at < size; at += piece) {
        CHECK_EQ(tw_tree_feed(tree, bytes + at, size - at < piece ? size - at : piece), TW_OK);
        take_all(&hash, tree);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take_all(&hash, tree);
    tw_tree_free(tree);
    return hash;
}

/* Several captures in one, joined by frames that reset all IDs. */
static void the_order_at_gaps(void **state)
{
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    static const size_t pieces[] = { 1 << 17, 30000, 4099 };
    struct tw_capture *capture;
    const uint8_t *data;
    char path[600];
    size_t size, total = 0;
    uint8_t *bytes;
    uint64_t want;

    (void)state;
    check_corpus(path, sizeof path, "coresight/snapshots/TC2");
    CHECK_EQ(tw_capture_open(&capture, path, NULL, NULL), TW_OK);
    CHECK_EQ(tw_capture_read(capture, &data, &size, 0, 0), TW_OK);
    bytes = malloc(COPIES * (size + sizeof barrier));
    CHECK(bytes != NULL);
    for (unsigned i = 0; i < COPIES; i++) {
        memcpy(bytes + total, data, size);
        memcpy(bytes + total + size, barrier, sizeof barrier);
        total += size + sizeof barrier;
    }
    want = order_of(capture, bytes, total, total);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        CHECK(order_of(capture, bytes, total, pieces[i]) == want);
    free(bytes);
    tw_capture_free(capture);
}

/* Frames of 14 bytes of one ID each. */
static void put_frame(uint8_t *frame, uint8_t id, const uint8_t *bytes)
{
    memset(frame, 0, 16);
    frame[0] = (uint8_t)(id << 1 | 1);
    for (unsigned i = 1; i < 15; i++) {
        frame[i] = i & 1 ? bytes[i - 1] : bytes[i - 1] & 0xfe;
        if (!(i & 1))
            frame[15] |= (uint8_t)((bytes[i - 1] & 1) << i / 2);
    }
}

static struct tw_tree *tree_of_two(void)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY,
                                           .packets_only = true };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    for (uint64_t id = 0x10; id < 0x12; id++) {
        const struct tw_register registers[] = {
            { "ETMCR", 0 }, { "ETMIDR", 0x411cf301 }, { "ETMCCER", 0 }, { "ETMTRACEIDR", id }
        };
        const struct tw_tree_source source = { .size = sizeof source,
                                               .protocol = "ptm",
                                               .registers = registers,
                                               .register_count = LENGTH(registers) };

        CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    }
    return tree;
}

/* Where packets begin, and with the top bit whose they are; how many. */
static size_t take_packets(struct tw_tree *tree, uint64_t *out, size_t count)
{
    struct tw_packet_view view = { .size = sizeof view };

    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        CHECK(count < 99);
        out[count++] = view.packet->index | (uint64_t)view.packet->id << 56;
    }
    return count;
}

/* Bytes that are not synchronized are over when something is that comes behind them: other packets do not wait. */
static void packets_of_what_is_not_synchronized(void **state)
{
    static const uint8_t noise[14] = { 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                                       0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55 };
    static const uint8_t begin[14] = { 0,    0,    0,    0,    0,    0x80, 0x08,
                                       0x00, 0x10, 0x00, 0x00, 0x21, 0x84, 0x84 };
    static const uint8_t atoms[14] = { 0x84, 0x86, 0x84, 0x84, 0x86, 0x84, 0x84,
                                       0x84, 0x84, 0x84, 0x84, 0x84, 0x84, 0x84 };
    uint8_t frames[4][16];
    uint64_t want[100], got[100];
    size_t packets = 0;

    (void)state;
    put_frame(frames[0], 0x10, noise);
    put_frame(frames[1], 0x11, begin);
    put_frame(frames[2], 0x11, atoms);
    put_frame(frames[3], 0x10, begin);
    for (size_t piece = sizeof frames; piece; piece /= 2) {
        struct tw_tree *tree = tree_of_two();
        size_t count = 0;

        check_case("pieces of %zu bytes", piece);
        for (size_t at = 0; at < sizeof frames; at += piece) {
            CHECK_EQ(tw_tree_feed(tree, frames[0] + at, piece), TW_OK);
            count = take_packets(tree, got, count);
        }
        CHECK_EQ(tw_tree_finish(tree), TW_OK);
        count = take_packets(tree, got, count);
        tw_tree_free(tree);
        if (!packets) {
            packets = count;
            memcpy(want, got, count * sizeof *got);
            CHECK_EQ(want[0] >> 56, 0x11);
            CHECK_EQ(want[count - 1] >> 56, 0x10);
        }
        CHECK_EQ(count, packets);
        CHECK(memcmp(want, got, count * sizeof *got) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_order_at_gaps),
                                        cmocka_unit_test(packets_of_what_is_not_synchronized) };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
