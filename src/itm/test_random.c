/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: random packets, random bytes, gaps and floods. */
#include "check.h"

#include <string.h>

#include "itm/test.h"

/* A discontinuity drops the packet that it cuts, and nothing is believed until the next SYNC:
   F22 of the framing description. */
static void discontinuity_waits_for_sync(void **unused)
{
    static const struct tw_place places[] = { { 0, 1, 0, 0 }, { 11, 33, 0, 1 } };
    const struct tw_itm_config config = config_of(STRICT);
    uint8_t bytes[64];
    struct feed feed = { .bytes = bytes,
                         .size = unhex(bytes, S "01 48 03 11 22 01 49 01 4A " S "01 69"),
                         .places = places,
                         .place_count = LENGTH(places) };

    (void)unused;
    for (feed.piece = 1; feed.piece <= feed.size; feed.piece++)
        for (feed.room = 1; feed.room < 9; feed.room++) {
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            feed.marks = feed.room & 1;
            decode(&text, &config, &feed);
            CHECK_TEXT(lines, "1 NO_SYNC init\n7 SWIT 0/1 48\n33 ERROR discontinuity 4\n"
                              "33 NO_SYNC reset\n43 SWIT 0/1 69\n43 EO_TRACE end\n");
        }
}

/* More zeros than a synchronization packet can have: unsynchronized bytes, and the last of them
   begin the packet; the stream goes on after them when it may. */
static void floods_of_zeros(void **unused)
{
    static uint8_t bytes[6 + 2000 + 1 + 2];

    (void)unused;
    for (unsigned round = 0; round < 3; round++) {
        const struct tw_itm_config config = config_of(round == 2 ? RESUME : STRICT);

        memset(bytes, 0, sizeof bytes);
        bytes[5] = 0x80;
        bytes[2006] = round == 0 ? 0x80 : 0x10;
        bytes[2007] = 0x01;
        bytes[2008] = 0x42;
        for (size_t piece = 1; piece <= sizeof bytes; piece = 3 * piece + 1) {
            static const char *const want[] = {
                "0 ITM_ASYNC\n6 ITM_BAD_SEQUENCE header 0x00\n7 ITM_NOTSYNC\n1750 ITM_ASYNC\n"
                "2007 ITM_SWIT port 0: 0x42\n",
                "0 ITM_ASYNC\n6 ITM_BAD_SEQUENCE header 0x00\n7 ITM_NOTSYNC\n",
                "0 ITM_ASYNC\n6 ITM_BAD_SEQUENCE header 0x00\n7 ITM_NOTSYNC\n"
                "2006 ITM_TS_LOCAL +1, synchronous\n2007 ITM_SWIT port 0: 0x42\n",
            };
            char lines[2000] = "";
            struct tw_text text = tw_text_in(lines, sizeof lines);

            list(&text, &config, bytes, sizeof bytes, piece);
            CHECK_TEXT(lines, want[round]);
        }
    }
}

static struct tw_itm_packet random_packet(struct check_random *random)
{
    static const uint8_t extension_bits[] = { 3, 10, 17, 24, 32 };
    struct tw_itm_packet packet = {
        .base = { .type = (uint8_t)(TW_ITM_PACKET_ASYNC + check_random_below(random, 8)) }
    };
    const uint64_t bits = check_random_next(random) >> check_random_below(random, 64);

    switch (packet.base.type) {
    case TW_ITM_PACKET_ASYNC:
        packet.base.size = (uint32_t)(6 + check_random_below(random, 3));
        break;
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        packet.size = (uint8_t)(1u << check_random_below(random, 3));
        packet.source = (uint8_t)check_random_below(random, 32);
        packet.value = bits & (UINT64_MAX >> (64 - 8 * packet.size));
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        packet.value = bits & 0xfffffff;
        packet.source = (uint8_t)check_random_below(random, 4);
        break;
    case TW_ITM_PACKET_GTS_1:
        packet.size = (uint8_t)(1 + check_random_below(random, 4));
        packet.value = bits & (packet.size == 4 ? 0x3ffffff : (1u << 7 * packet.size) - 1);
        packet.wrap = packet.size == 4 && bits >> 30 & 1;
        packet.freq_change = packet.size == 4 && bits >> 31 & 1;
        break;
    case TW_ITM_PACKET_GTS_2:
        packet.size = (uint8_t)(4 + check_random_below(random, 2));
        packet.value = bits & (packet.size == 4 ? 0x3fffff : 0x3fffffffff);
        break;
    case TW_ITM_PACKET_EXTENSION:
        packet.bits = extension_bits[check_random_below(random, 5)];
        packet.source = (uint8_t)check_random_below(random, 2);
        packet.value = bits & (UINT64_MAX >> (64 - packet.bits));
        break;
    default:
        break;
    }
    return packet;
}

/* Random packets through the encoder, then the reader: the same texts; and the elements do not
   depend on how the bytes are cut or how large the batches are. */
static void random_streams_come_back(void **unused)
{
    struct check_random random = check_random_start(5);
    const struct tw_itm_config config = config_of(STRICT);
    const size_t streams = check_scale(1000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        static char want[20000], got[20000], whole[20000], pieces[20000];
        uint8_t bytes[2000];
        size_t size = 0;
        struct tw_text text = tw_text_in(want, sizeof want);
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text as_whole = tw_text_in(whole, sizeof whole);
        struct tw_text in_pieces = tw_text_in(pieces, sizeof pieces);

        want[0] = 0;
        for (unsigned i = 0; i < 120; i++) {
            struct tw_itm_packet packet = random_packet(&random);
            size_t room = sizeof bytes - size;

            if (i == 0)
                packet = (struct tw_itm_packet){ .base = { .type = TW_ITM_PACKET_ASYNC,
                                                           .size = 6 } };
            CHECK_EQ(tw_itm_put(bytes + size, &room, &packet), TW_OK);
            tw_text_format(&text, "%zu ", size);
            tw_protocol_print(&text, &tw_itm, &packet);
            tw_text_char(&text, '\n');
            size += room;
        }
        for (size_t piece = size; piece; piece = piece == 1 ? 0 : 1) {
            struct tw_text again = tw_text_in(got, sizeof got);

            got[0] = 0;
            list(&again, &config, bytes, size, piece);
            CHECK_TEXT(got, want);
        }
        feed.size = size;
        decode(&as_whole, &config, &feed);
        feed.piece = feed.room = 1;
        feed.marks = stream & 1;
        decode(&in_pieces, &config, &feed);
        CHECK_TEXT(pieces, whole);
        CHECK(strstr(whole, "ERROR") == NULL);
    }
}

/* Whatever the bytes: the reader takes each once, and cutting them differently changes nothing. */
static void random_bytes_are_survived(void **unused)
{
    struct check_random random = check_random_start(6);
    const size_t streams = check_scale(2000);

    (void)unused;
    for (size_t stream = 0; stream < streams; stream++) {
        const struct tw_itm_config config = config_of((int)(stream & 3));
        static char whole[40000], pieces[40000];
        uint8_t bytes[400];
        struct feed feed = { .bytes = bytes, .piece = sizeof bytes, .room = 64 };
        struct tw_text text = tw_text_in(whole, sizeof whole);

        feed.size = (size_t)check_random_below(&random, sizeof bytes);
        check_random_fill(&random, bytes, feed.size);
        for (size_t i = 0; i < feed.size; i++)
            if (check_random_below(&random, 3) == 0)
                bytes[i] = check_random_below(&random, 5) ? 0 : 0x80;
        whole[0] = 0;
        list(&text, &config, bytes, feed.size, sizeof bytes);
        for (size_t piece = 1; piece < 5; piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            pieces[0] = 0;
            list(&again, &config, bytes, feed.size, piece);
            CHECK_TEXT(pieces, whole);
        }
        text = tw_text_in(whole, sizeof whole);
        decode(&text, &config, &feed);
        for (feed.piece = 1; feed.piece < 4; feed.piece++) {
            struct tw_text again = tw_text_in(pieces, sizeof pieces);

            feed.room = feed.piece;
            decode(&again, &config, &feed);
            CHECK_TEXT(pieces, whole);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discontinuity_waits_for_sync),
        cmocka_unit_test(floods_of_zeros),
        cmocka_unit_test(random_streams_come_back),
        cmocka_unit_test(random_bytes_are_survived),
    };

    return cmocka_run_group_tests_name("itm random", tests, NULL, NULL);
}
