/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of STM have in common: bytes to packets and elements, as text. */
#ifndef STM_TEST_H
#define STM_TEST_H

#include "check.h"

#include "stm/packet.h"
#include "swtrace/test.h"

#define A  "FFFFFFFFFFFFFFFFFFFFF0 "
#define V3 "F003 "
#define V4 "F004 "
#define P  "FF FF FF FF FF FF FF FF FF FF 0F "
#define P3 P "0F 30 "
#define P4 P "0F 40 "

/* Nibbles in the order sent, low half of each byte first. */
static inline size_t pack(uint8_t *out, const char *nibbles)
{
    size_t count = 0;

    for (; *nibbles; nibbles++) {
        unsigned nibble;

        if (sscanf(nibbles, "%1x", &nibble) != 1 || *nibbles == ' ')
            continue;
        if (count & 1)
            out[count / 2] = (uint8_t)(out[count / 2] | nibble << 4);
        else
            out[count / 2] = (uint8_t)nibble;
        count++;
    }
    return (count + 1) / 2;
}

static const struct tw_stm_config config = { .size = sizeof(struct tw_stm_config) };

/* Feeds `read` at most `piece` more bytes whenever it asks for them; each call gets an exact-size
   heap block.  A run of unsynchronized nibbles is one line. */
static inline void list(struct tw_text *out, const uint8_t *bytes, size_t size, size_t piece)
{
    struct tw_stm_reader reader;
    size_t at = 0, fed = 0, nibble = 0;
    bool in_run = false;

    tw_stm.reader_init(&reader, &config);
    while (at < size) {
        struct tw_stm_packet got;
        uint8_t *copy = check_copy(bytes + at, fed - at);
        const enum tw_status status = tw_stm.read(&reader, &got, copy, fed - at, fed == size);

        free(copy);
        if (status == TW_MORE) {
            CHECK(fed < size);
            CHECK(fed - at <= tw_stm.packet_max);
            fed = fed + piece < size ? fed + piece : size;
            continue;
        }
        CHECK_EQ(status, TW_OK);
        CHECK(got.nibbles > 0 && got.base.size <= fed - at);
        CHECK_EQ(2 * at + got.base.skip_bits / 4, nibble);
        CHECK_EQ(2 * got.base.size - got.base.skip_bits / 4 - got.base.spare_bits / 4,
                 got.nibbles);
        if (got.base.type != TW_STM_NOT_SYNC || !in_run) {
            tw_text_format(out, "%zu ", nibble);
            tw_protocol_print(out, &tw_stm, &got);
            tw_text_char(out, '\n');
        }
        in_run = got.base.type == TW_STM_NOT_SYNC;
        nibble += got.nibbles;
        at += got.base.size - (got.base.spare_bits != 0);
    }
    CHECK_EQ(nibble, 2 * size);
}

static inline void describe(struct tw_text *out, const struct tw_element *e)
{
    if (e->type == TW_ELEMENT_EVENT) {
        tw_text_format(out, "EVENT %u", e->count);
        return;
    }
    CHECK_EQ(e->type, TW_ELEMENT_SWTRACE);
    CHECK_EQ(e->packets, e->width != 0);
    tw_text_format(out, "%x/%x%s %u", e->master, e->channel, e->flags & TW_SW_HAS_ID ? "" : "?",
                   e->width);
    if (e->width)
        tw_text_format(out, ":%" PRIx64, e->payload);
    if (e->flags & TW_SW_HAS_TIME)
        tw_text_format(out, " =%" PRIx64, e->sw_time);
    tw_text_format(out, "%s%s%s%s%s", e->flags & TW_SW_MARKER ? " marker" : "",
                   e->flags & TW_SW_TRIGGER ? " trigger" : "",
                   e->flags & TW_SW_FREQ ? " freq" : "",
                   e->flags & TW_SW_MASTER_ERROR ? " merr" : "",
                   e->flags & TW_SW_GLOBAL_ERROR ? " gerr" : "");
}

static inline void decode(struct tw_text *out, const struct feed *feed)
{
    decode_with(out, &tw_stm, &config, feed, describe);
}

#endif
