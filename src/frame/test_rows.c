/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames in the stream of a trace port: every row of a few pieces of it (syncs, what nearly is one, frames and parts of
   them), whole and byte by byte, with and without synchronization before it, against the oracle. */
#include "check.h"

#include <trackway/frame.h>

#include "frame_oracle.h"

enum { PIECES = 8, ROW_FEW = 3, ROW_MORE = 5, LONGEST = 16 * ROW_MORE + 4 };

static const struct {
    uint8_t size, bytes[16];
} pieces[PIECES] = {
    { 4, { 0xff, 0xff, 0xff, 0x7f } },
    { 2, { 0xff, 0x7f } },
    { 2, { 0xff, 0xff } },
    { 1, { 0xff } },
    { 1, { 0x7f } },
    { 2, { 0x21, 0x43 } },
    { 6, { 0x21, 0xff, 0x10, 0xff, 0xfb, 0x01 } },
    { 16, { 0x21, 0, 2, 3, 4, 5, 0x23, 7, 8, 9, 10, 11, 12, 13, 14, 0x08 } },
};

static void unframe(struct oracle_result *result, struct tw_unframer_config config,
                    const uint8_t *data, size_t size, size_t piece)
{
    struct tw_unframer *unframer;

    memset(result, 0, sizeof *result);
    config.on_run_context = result;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    for (size_t at = 0, part; at < size; at += part) {
        part = size - at < piece ? size - at : piece;
        CHECK_EQ(tw_unframer_feed(unframer, data + at, part), TW_OK);
    }
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    oracle_gather_end(result, unframer);
    CHECK_EQ(16 * result->frames + result->syncs + result->skipped, size);
    tw_unframer_free(unframer);
}

static void check_row(enum tw_framing framing, const uint8_t *bytes, size_t size)
{
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = framing,
                                               .wanted = { UINT64_MAX, UINT64_MAX },
                                               .on_run = oracle_on_run };
    uint8_t *data = check_copy(bytes, size); /* nothing behind it may be read */
    struct oracle_result want;

    oracle_run(&want, &config, data, size);
    for (size_t piece = 1; piece <= size; piece += size > 1 ? size - 1 : 1) {
        struct oracle_result got;
        const char *difference;

        unframe(&got, config, data, size, piece);
        difference = oracle_difference(&got, &want, true);
        CHECK_TEXT(difference ? difference : "same", "same");
        oracle_free(&got);
    }
    oracle_free(&want);
    free(data);
}

static void every_row_is_unframed_as_the_rules_say(void **state)
{
    const unsigned longest = getenv("TW_PROOF_BYTES") ? ROW_MORE : ROW_FEW;
    uint64_t inputs = 0;

    (void)state;
    for (unsigned length = 1, rows = PIECES; length <= longest; length++, rows *= PIECES)
        for (unsigned row = 0; row < rows; row++)
            for (unsigned i = 0; i < 4; i++) {
                uint8_t bytes[LONGEST] = { 0xff, 0xff, 0xff, 0x7f };
                size_t size = i & 1 ? 4 : 0;

                check_case("row %o of %u pieces, case %u", row, length, i);
                for (unsigned k = 0, rest = row; k < length; k++, rest /= PIECES) {
                    memcpy(bytes + size, pieces[rest % PIECES].bytes,
                           pieces[rest % PIECES].size);
                    size += pieces[rest % PIECES].size;
                }
                check_row(i & 2 ? TW_FRAMING_TPIU_HSYNC : TW_FRAMING_TPIU, bytes, size);
                inputs++;
            }
    if (longest == ROW_MORE)
        print_message("%llu streams, read whole and byte by byte\n",
                      (unsigned long long)inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_unframed_as_the_rules_say),
    };

    return cmocka_run_group_tests_name("frame rows", tests, NULL, NULL);
}
