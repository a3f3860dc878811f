/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of ITM and STM share: bytes to elements, as text. */
#ifndef SWTRACE_TEST_H
#define SWTRACE_TEST_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "swtrace/decode.h"

/* The bytes of hexadecimal digits; spaces do not count. */
static inline size_t unhex(uint8_t *out, const char *hex)
{
    size_t size = 0;
    unsigned byte;
    int length;

    for (; sscanf(hex, "%2x%n", &byte, &length) == 1; hex += length)
        out[size++] = (uint8_t)byte;
    return size;
}

/* A line for an element that all protocols have; false: it is another one. */
static inline bool describe_common(struct tw_text *out, const struct tw_element *e)
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

    if (e->type == TW_ELEMENT_ERROR)
        tw_text_format(out, "ERROR %s %" PRIu64, errors[e->error], e->skipped);
    else if (e->type == TW_ELEMENT_NO_SYNC)
        tw_text_format(out, "NO_SYNC %s", reasons[e->reason]);
    else if (e->type == TW_ELEMENT_EO_TRACE)
        tw_text_format(out, "EO_TRACE %s", reasons[e->reason]);
    else
        return false;
    return true;
}

/* Decodes with batches of `room` elements beside those that a decoder must have; the input grows by
   `piece` bytes, what is used is dropped from its front. */
struct feed {
    const uint8_t *bytes;
    size_t size, piece, room;
    const struct tw_place *places;
    size_t place_count;
    bool marks;
};

/* Writes what an element says, without its index and the end of the line. */
typedef void describe_fn(struct tw_text *out, const struct tw_element *element);

enum { FEED_ROOM = 64 + TW_SWTRACE_MOST };

static inline void describe_batch(struct tw_text *out, const struct tw_batch *batch,
                                  describe_fn *describe)
{
    for (size_t i = 0; i < batch->count; i++) {
        tw_text_format(out, "%" PRIu64 " ", batch->elements[i].index);
        if (!describe_common(out, &batch->elements[i]))
            describe(out, &batch->elements[i]);
        tw_text_char(out, '\n');
    }
}

/* Each element belongs to a mark, and marks go up. */
static inline void check_marks(const struct tw_output *to)
{
    const struct tw_marks *marks = &to->marks;

    CHECK_EQ(marks->count != 0, to->batch->count != 0);
    for (size_t i = 0; i < marks->count; i++) {
        CHECK(i == 0 ? marks->marks[0].first == 0
                     : marks->marks[i].first > marks->marks[i - 1].first);
        CHECK(i == 0 || marks->marks[i].released > marks->marks[i - 1].released);
        CHECK(marks->marks[i].first < to->batch->count);
        CHECK(to->batch->elements[marks->marks[i].first].index < marks->marks[i].released);
    }
}

static inline void decode_with(struct tw_text *out, const struct tw_protocol *protocol,
                               const void *config, const struct feed *feed,
                               describe_fn *describe)
{
    struct tw_element elements[FEED_ROOM];
    struct tw_mark marks[FEED_ROOM];
    struct tw_batch batch = { .elements = elements, .room = feed->room + TW_SWTRACE_MOST - 1 };
    struct tw_output to = { .batch = &batch,
                            .marks = { feed->marks ? marks : NULL, batch.room, 0 } };
    void *decoder = malloc(protocol->decoder_size);
    size_t at = 0, fed = 0;
    enum tw_status status;

    assert_non_null(decoder);
    protocol->decoder_init(decoder, config);
    for (;;) {
        uint8_t *copy = check_copy(feed->bytes + at, fed - at);
        struct tw_input in = { .data = copy,
                               .size = fed - at,
                               .offset = at,
                               .places = feed->places,
                               .place_count = feed->place_count,
                               .has_gaps = feed->place_count != 0,
                               .is_last = fed == feed->size };

        do {
            batch.count = to.marks.count = 0;
            status = protocol->decode(decoder, NULL, &to, &in);
            describe_batch(out, &batch, describe);
            if (feed->marks)
                check_marks(&to);
        } while (status == TW_OK);
        CHECK_EQ(status, TW_MORE);
        CHECK(in.size - in.used <= protocol->packet_max);
        at += in.used;
        free(copy);
        if (fed == feed->size)
            break;
        fed = fed + feed->piece < feed->size ? fed + feed->piece : feed->size;
    }
    CHECK_EQ(at, feed->size);
    to.marks.marks = NULL;
    batch.count = 0;
    CHECK_EQ(protocol->end(decoder, NULL, &to), TW_END);
    describe_batch(out, &batch, describe);
    free(decoder);
}

#endif
