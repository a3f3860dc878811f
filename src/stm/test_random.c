/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: random packets, random bytes, gaps and floods. */
#include "check.h"

#include <string.h>

#include "stm/test.h"

static void discontinuity_waits_for_sync(void **unused)
{
    static const struct tw_place places[] = { { 0, 1, 0, 0 }, { 18, 33, 0, 1 } };
    uint8_t bytes[100];
    struct feed feed = { .bytes = bytes,
                         .size = pack(bytes, A V3 "1 41 4 A5 6 123 0 4 11 0 0 " A V3 "4 B6 0 "),
                         .places = places,
                         .place_count = LENGTH(places) };

    (void)unused;
    for (feed.piece = 1; feed.piece <= feed.size; feed.piece++)
        for (feed.room = 1; feed.room < 9; feed.room++) {
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            feed.marks = feed.room & 1;
            decode(&text, &feed);
            CHECK_TEXT(lines, "1 NO_SYNC init\n15 41/0 8:a5\n33 ERROR discontinuity 3\n"
                              "33 NO_SYNC reset\n49 0/0? 8:b6\n49 EO_TRACE end\n");
        }
}

static void floods_of_f(void **unused)
{
    static uint8_t bytes[13 + 1000 + 3];

    (void)unused;
    (void)pack(bytes, A V3);
    memset(bytes + 13, 0xff, 1000);
    (void)pack(bytes + 1013, "0 F003 0");
    for (size_t piece = 1; piece <= sizeof bytes; piece = 3 * piece + 1) {
        char lines[2000] = "";
        struct tw_text text = tw_text_in(lines, sizeof lines);

        list(&text, bytes, sizeof bytes, piece);
        CHECK_TEXT(lines, "0 ASYNC\n22 VERSION 3\n26 BAD_SEQUENCE opcode 0xf\n27 NOTSYNC\n"
                          "2005 ASYNC\n2027 VERSION 3\n2031 NULL\n");
    }
}

static struct tw_stm_packet random_packet(struct check_random *random)
{
    static const uint8_t time_nibbles[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16 };
    struct tw_stm_packet packet = {
        .base = { .type = (uint8_t)(TW_STM_ASYNC +
                                    check_random_below(random, TW_STM_TYPES - TW_STM_ASYNC)) }
    };
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet.base.type);
    uint64_t bits = check_random_next(random) >> check_random_below(random, 64);

    if (check_random_below(random, 4) == 0)
        bits = ~bits;
    if (rule->payload)
        packet.value = bits & (UINT64_MAX >> (64 - 4 * rule->payload));
    if (packet.base.type == TW_STM_VERSION)
        packet.value = 3 + (bits & 1);
    packet.has_timestamp = rule->has_timestamp;
    if (rule->has_timestamp) {
        packet.timestamp = check_random_next(random);
        packet.timestamp_bits =
            (uint8_t)(4 * time_nibbles[check_random_below(random, LENGTH(time_nibbles))]);
    }
    return packet;
}

/* Brings a random packet to what the reader will say of it: `state` is what went before. */
static void complete(struct tw_stm_packet *packet, struct tw_stm_reader *state)
{
    if (packet->has_timestamp) {
        const uint64_t code = state->version == 4 ? packet->timestamp ^ packet->timestamp >> 1
                                                  : packet->timestamp;
        const unsigned nibbles = packet->timestamp_bits / 4;
        const uint64_t field =
            nibbles ? code & (UINT64_MAX >> (64 - packet->timestamp_bits)) : 0;

        packet->timestamp = tw_stm_time(state->timestamp, state->version, field, nibbles);
        state->timestamp = packet->timestamp;
    }
    switch (packet->base.type) {
    case TW_STM_VERSION:
        state->version = (uint8_t)packet->value;
        state->master = state->channel = 0;
        break;
    case TW_STM_M8:
    case TW_STM_M16:
        state->master = (uint16_t)packet->value;
        state->channel = 0;
        break;
    case TW_STM_C8:
        state->channel = (uint16_t)((state->channel & 0xff00) | packet->value);
        break;
    case TW_STM_C16:
        state->channel = (uint16_t)packet->value;
        break;
    case TW_STM_GERR:
        state->master = 0; /* fall through */
    case TW_STM_MERR:
        state->channel = 0;
        break;
    default:
        break;
    }
    packet->master = state->master;
    packet->channel = state->channel;
}

/* Writes random packets and what they are to be listed as; returns the bytes. */
static size_t random_stream(struct check_random *random, uint8_t *bytes, size_t room,
                            struct tw_text *want)
{
    struct tw_stm_reader state = { .version = 0 };
    struct tw_stm_reader writer = { .version = 0 };
    size_t size = 0, left;

    for (unsigned i = 0; i < 120; i++) {
        struct tw_stm_packet packet = random_packet(random);
        const size_t nibble = 2 * size + writer.half.is_open;

        if (i < 2)
            packet = (struct tw_stm_packet){ .base = { .type = TW_STM_ASYNC } };
        if (i == 1) {
            packet.base.type = TW_STM_VERSION;
            packet.value = 3 + check_random_below(random, 2);
        }
        complete(&packet, &state);
        left = room - size;
        CHECK_EQ(tw_stm_write(&writer, bytes + size, &left, &packet), TW_OK);
        size += left;
        tw_text_format(want, "%zu ", nibble);
        tw_protocol_print(want, &tw_stm, &packet);
        tw_text_char(want, '\n');
    }
    if (writer.half.is_open)
        tw_text_format(want, "%zu NULL\n", 2 * size + 1);
    left = room - size;
    CHECK_EQ(tw_stm_write_flush(&writer, bytes + size, &left), TW_OK);
    return size + left;
}

static void random_streams_come_back(void **unused)
{
    struct check_random random = check_random_start(7);
    const size_t streams = check_scale(1000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        static char want[40000], got[40000], whole[40000], pieces[40000];
        uint8_t bytes[4000];
        struct tw_text text = tw_text_in(want, sizeof want);
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text as_whole = tw_text_in(whole, sizeof whole);
        struct tw_text in_pieces = tw_text_in(pieces, sizeof pieces);

        want[0] = 0;
        feed.size = random_stream(&random, bytes, sizeof bytes, &text);
        for (size_t piece = feed.size; piece; piece = piece == 1 ? 0 : 1) {
            struct tw_text again = tw_text_in(got, sizeof got);

            got[0] = 0;
            list(&again, bytes, feed.size, piece);
            CHECK_TEXT(got, want);
        }
        decode(&as_whole, &feed);
        feed.piece = feed.room = 1;
        feed.marks = stream & 1;
        decode(&in_pieces, &feed);
        CHECK_TEXT(pieces, whole);
        CHECK(strstr(whole, "ERROR") == NULL);
    }
}

/* Whatever the bytes: the reader takes each once, and cutting them differently changes nothing. */
static void random_bytes_are_survived(void **unused)
{
    struct check_random random = check_random_start(8);
    const size_t streams = check_scale(2000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        static char whole[40000], pieces[40000];
        uint8_t bytes[300];
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text text = tw_text_in(whole, sizeof whole);

        feed.size = (size_t)check_random_below(&random, sizeof bytes);
        check_random_fill(&random, bytes, feed.size);
        for (size_t i = 0; i + 20 < feed.size; i++)
            if (check_random_below(&random, 20) == 0) {
                memset(bytes + i, 0xff, (size_t)check_random_below(&random, 14));
                i += 12;
            }
        (void)pack(bytes, stream & 1 ? A V3 : "");
        whole[0] = 0;
        list(&text, bytes, feed.size, sizeof bytes);
        for (size_t piece = 1; piece < 5; piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            pieces[0] = 0;
            list(&again, bytes, feed.size, piece);
            CHECK_TEXT(pieces, whole);
        }
        text = tw_text_in(whole, sizeof whole);
        decode(&text, &feed);
        for (feed.piece = 1; feed.piece < 4; feed.piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            feed.room = feed.piece;
            decode(&again, &feed);
            CHECK_TEXT(pieces, whole);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discontinuity_waits_for_sync),
        cmocka_unit_test(floods_of_f),
        cmocka_unit_test(random_streams_come_back),
        cmocka_unit_test(random_bytes_are_survived),
    };

    return cmocka_run_group_tests_name("stm random", tests, NULL, NULL);
}
