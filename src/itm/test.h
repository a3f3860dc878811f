/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of ITM have in common: bytes to packets and elements, as text. */
#ifndef ITM_TEST_H
#define ITM_TEST_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "itm/packet.h"

#define S "00 00 00 00 00 80 "

enum { STRICT = 0, ASSUME = 1, RESUME = 2 };

static inline size_t unhex(uint8_t *out, const char *hex)
{
    size_t size = 0;
    unsigned byte;
    int length;

    for (; sscanf(hex, "%2x%n", &byte, &length) == 1; hex += length)
        out[size++] = (uint8_t)byte;
    return size;
}

static inline struct tw_itm_config config_of(int mode)
{
    return (struct tw_itm_config){ .size = sizeof(struct tw_itm_config),
                                   .on_error = mode & RESUME ? TW_ITM_RESUME : TW_ITM_WAIT,
                                   .assume_sync = mode & ASSUME };
}

/* Feeds `read` at most `piece` more bytes whenever it asks for them; each call gets an exact-size
   heap block.  A run of unsynchronized bytes is one line. */
static inline void list(struct tw_text *out, const struct tw_itm_config *config,
                        const uint8_t *bytes, size_t size, size_t piece)
{
    struct tw_itm_reader reader;
    size_t at = 0, fed = 0;
    bool in_run = false;

    tw_itm.reader_init(&reader, config);
    while (at < size) {
        struct tw_itm_packet got;
        uint8_t *copy = check_copy(bytes + at, fed - at);
        const enum tw_status status = tw_itm.read(&reader, &got, copy, fed - at, fed == size);

        free(copy);
        if (status == TW_MORE) {
            CHECK(fed < size);
            CHECK(fed - at <= tw_itm.packet_max);
            fed = fed + piece < size ? fed + piece : size;
            continue;
        }
        CHECK_EQ(status, TW_OK);
        CHECK(got.base.size > 0 && got.base.size <= fed - at);
        if (got.base.type != TW_ITM_PACKET_NOT_SYNC || !in_run) {
            tw_text_format(out, "%zu ", at);
            tw_protocol_print(out, &tw_itm, &got);
            tw_text_char(out, '\n');
        }
        in_run = got.base.type == TW_ITM_PACKET_NOT_SYNC;
        at += got.base.size;
    }
}

static inline void describe(struct tw_text *out, const struct tw_element *e)
{
    static const char *const kinds[] = { "SWIT",      "DWT",          "TS_SYNC",
                                         "TS_DELAY",  "TS_PKT_DELAY", "TS_PKT_TS_DELAY",
                                         "TS_GLOBAL", "LOST" };
    static const char *const errors[] = { [TW_ERROR_RESERVED_HEADER] = "reserved-header",
                                          [TW_ERROR_BAD_SEQUENCE] = "bad-sequence",
                                          [TW_ERROR_TRUNCATED] = "truncated",
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
    else {
        CHECK_EQ(e->type, TW_ELEMENT_ITMTRACE);
        tw_text_add(out, kinds[e->kind]);
        if (e->kind <= TW_ITM_DWT)
            tw_text_format(out, " %u/%u %" PRIx32, e->source, e->size, e->itm_value);
        else if (e->kind < TW_ITM_TS_GLOBAL)
            tw_text_format(out, " +%" PRIx32, e->itm_value);
        if (e->flags & TW_ITM_HAS_TIME)
            tw_text_format(out, " =%" PRIx64, e->itm_time);
        tw_text_format(out, "%s%s", e->flags & TW_ITM_OVERFLOW ? " overflow" : "",
                       e->flags & TW_ITM_FREQ_CHANGE ? " clock" : "");
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

static inline void drain_end(struct tw_text *out, void *decoder, struct tw_output *to)
{
    enum tw_status status;

    do {
        to->batch->count = to->marks.count = 0;
        status = tw_itm.end(decoder, NULL, to);
        for (size_t i = 0; i < to->batch->count; i++)
            describe(out, &to->batch->elements[i]);
    } while (status == TW_OK);
    CHECK_EQ(status, TW_END);
}

static inline void decode(struct tw_text *out, const struct tw_itm_config *config,
                          const struct feed *feed)
{
    struct tw_element elements[64];
    struct tw_mark marks[64];
    struct tw_batch batch = { .elements = elements, .room = feed->room };
    struct tw_output to = { .batch = &batch,
                            .marks = { feed->marks ? marks : NULL, feed->room, 0 } };
    struct tw_itm_decoder decoder;
    size_t at = 0, fed = 0;

    tw_itm.decoder_init(&decoder, config);
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
            status = tw_itm.decode(&decoder, NULL, &to, &in);
            for (size_t i = 0; i < batch.count; i++) {
                describe(out, &elements[i]);
                if (feed->marks)
                    CHECK_EQ(marks[i].first, i);
            }
            if (feed->marks)
                CHECK_EQ(to.marks.count, batch.count);
        } while (status == TW_OK);
        CHECK_EQ(status, TW_MORE);
        CHECK(in.size - in.used <= tw_itm.packet_max);
        at += in.used;
        free(copy);
        if (fed == feed->size)
            break;
        fed = fed + feed->piece < feed->size ? fed + feed->piece : feed->size;
    }
    CHECK_EQ(at, feed->size);
    drain_end(out, &decoder, &to);
}

#endif
