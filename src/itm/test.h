/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of ITM have in common: bytes to packets and elements, as text. */
#ifndef ITM_TEST_H
#define ITM_TEST_H

#include "check.h"

#include "itm/packet.h"
#include "swtrace/test.h"

#define S "00 00 00 00 00 80 "

enum { STRICT = 0, ASSUME = 1, RESUME = 2 };

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

static inline void decode(struct tw_text *out, const struct tw_itm_config *config,
                          const struct feed *feed)
{
    decode_with(out, &tw_itm, config, feed, describe);
}

#endif
