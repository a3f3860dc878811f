/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of several IDs come in one order, however the capture is cut, also at its gaps: batches
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_order_at_gaps) };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
