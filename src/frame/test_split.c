/* SPDX-License-Identifier: BSD-2-Clause */
/* One frame at a time: the same runs as a whole capture gives. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

enum { FRAMES = 4000, BYTES_MAX = FRAMES * 15 };

/* Data bytes in order: whose, where, what. */
struct log {
    size_t count;
    struct {
        uint64_t at;
        uint8_t id, byte;
    } rows[BYTES_MAX];
};

static void add(struct log *log, uint8_t id, uint64_t at, uint8_t byte)
{
    CHECK(log->count < BYTES_MAX);
    log->rows[log->count].id = id;
    log->rows[log->count].at = at;
    log->rows[log->count++].byte = byte;
}

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    (void)stream_offset;
    for (size_t i = 0; i < size; i++)
        add(context, id, capture_offset + i, bytes[i]);
}

static void frames_alone_are_frames_in_a_row(void **state)
{
    struct check_random random = check_random_start(3);
    struct log *want = calloc(1, sizeof *want), *got = calloc(1, sizeof *got);
    uint8_t *frames = malloc((size_t)FRAMES * TW_FRAME_SIZE), id = TW_ID_UNKNOWN;
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = TW_FRAMING_MEMORY,
                                               .no_barrier = true,
                                               .on_run = take_run,
                                               .on_run_context = want };
    struct tw_unframer *unframer;

    (void)state;
    CHECK(want && got && frames);
    check_random_fill(&random, frames, (size_t)FRAMES * TW_FRAME_SIZE);
    for (size_t i = 0; i < (size_t)FRAMES * TW_FRAME_SIZE; i += 2) {
        if (check_random_below(&random, 4)) /* mostly data */
            frames[i] &= 0xfe;
        if ((frames[i] & 0xfe) == 0xfe) /* ID 7F makes a frame a damaged one */
            frames[i] ^= 0x20;
    }
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, frames, (size_t)FRAMES * TW_FRAME_SIZE), TW_OK);
    for (size_t n = 0; n < FRAMES; n++) {
        struct tw_frame_cut cuts[TW_FRAME_CUTS];
        uint8_t bytes[TW_FRAME_SIZE];
        const unsigned count = tw_frame_split(cuts, bytes, &id, frames + n * TW_FRAME_SIZE);

        CHECK(count <= TW_FRAME_CUTS);
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; k < cuts[i].size; k++)
                add(got, cuts[i].id, n * TW_FRAME_SIZE + cuts[i].at + k, bytes[cuts[i].at + k]);
    }
    CHECK_EQ(got->count, want->count);
    for (size_t i = 0; i < got->count; i++) {
        CHECK_EQ(got->rows[i].id, want->rows[i].id);
        CHECK_EQ(got->rows[i].at, want->rows[i].at);
        CHECK_EQ(got->rows[i].byte, want->rows[i].byte);
    }
    tw_unframer_free(unframer);
    free(frames);
    free(want);
    free(got);
}

/* ---- every frame, but for the values of its data bytes ---- */

enum { OLD_ID = 0x11, SCHEMES = 4 };

/* The ID that the ID byte of a slot names: another one each time, always the same, the one before, or the
   ID in force and another in turn. */
static uint8_t named(unsigned scheme, unsigned slot)
{
    static const uint8_t same = 0x22;

    switch (scheme) {
    case 0:
        return (uint8_t)(0x30 + slot);
    case 1:
        return same;
    case 2:
        return OLD_ID;
    default:
        return slot & 1 ? OLD_ID : same;
    }
}

static void make_frame(uint8_t frame[TW_FRAME_SIZE], unsigned ids, unsigned aux,
                       unsigned scheme)
{
    for (unsigned i = 0; i < TW_FRAME_SIZE - 1; i++)
        frame[i] = (uint8_t)(0x80 + 2 * i);
    for (unsigned slot = 0; slot < 8; slot++)
        if (ids >> slot & 1)
            frame[2 * slot] = (uint8_t)(named(scheme, slot) << 1 | 1);
    frame[TW_FRAME_SIZE - 1] = (uint8_t)aux;
}

/* By the rules, a slot at a time: the auxiliary bit is the low bit of a data byte, or delays a new ID by
   a byte. */
static uint8_t unpack_slowly(struct log *log, const uint8_t *frame, uint8_t id)
{
    for (unsigned slot = 0; slot < 8; slot++) {
        const uint8_t even = frame[2 * slot];
        const bool bit = frame[TW_FRAME_SIZE - 1] >> slot & 1, is_id = even & 1;

        if (!is_id)
            add(log, id, 2 * slot, (uint8_t)(even | bit));
        else if (!bit || slot == 7)
            id = even >> 1;
        if (slot < 7)
            add(log, id, 2 * slot + 1, frame[2 * slot + 1]);
        if (is_id)
            id = even >> 1;
    }
    return id;
}

static void every_frame_is_cut_by_the_rules(void **state)
{
    struct log *want = calloc(1, sizeof *want);

    (void)state;
    CHECK(want);
    for (unsigned number = 0; number < 256 * 256 * SCHEMES; number++) {
        uint8_t frame[TW_FRAME_SIZE], bytes[TW_FRAME_SIZE], id = OLD_ID;
        struct tw_frame_cut cuts[TW_FRAME_CUTS];
        size_t at = 0;
        unsigned count;

        make_frame(frame, number & 0xff, number >> 8 & 0xff, number >> 16);
        want->count = 0;
        count = tw_frame_split(cuts, bytes, &id, frame);
        CHECK_EQ(id, unpack_slowly(want, frame, OLD_ID));
        CHECK(count <= TW_FRAME_CUTS);
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; k < cuts[i].size; k++, at++) {
                CHECK(at < want->count);
                CHECK_EQ(want->rows[at].id, cuts[i].id);
                CHECK_EQ(want->rows[at].at, cuts[i].at + k);
                CHECK_EQ(want->rows[at].byte, bytes[cuts[i].at + k]);
            }
        CHECK_EQ(at, want->count);
    }
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_alone_are_frames_in_a_row),
        cmocka_unit_test(every_frame_is_cut_by_the_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
