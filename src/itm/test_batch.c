/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: packets in batches are those that are read one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "itm/packet.h"

enum { SIZE = 2048, ROOM_MOST = 64, CONFIGS = 6 };

static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80 };

/* All that changes how bytes are read. */
static struct tw_itm_config config_of(unsigned number)
{
    const struct tw_itm_config config = { .size = sizeof config,
                                          .tcr = 0x21 << 16,
                                          .on_error = (uint8_t)(number % 3),
                                          .assume_sync = number / 3 % 2 };

    return config;
}

static void check_same(const struct tw_itm_packet *got, const struct tw_itm_packet *want)
{
    CHECK_EQ(got->base.type, want->base.type);
    CHECK_EQ(got->base.index, want->base.index);
    CHECK_EQ(got->base.offset, want->base.offset);
    CHECK_EQ(got->base.size, want->base.size);
    CHECK_EQ(got->base.id, want->base.id);
    CHECK_EQ(got->base.skip_bits, want->base.skip_bits);
    CHECK_EQ(got->base.spare_bits, want->base.spare_bits);
    CHECK_EQ(got->value, want->value);
    CHECK_EQ(got->size, want->size);
    CHECK_EQ(got->source, want->source);
    CHECK_EQ(got->bits, want->bits);
    CHECK_EQ(got->freq_change, want->freq_change);
    CHECK_EQ(got->wrap, want->wrap);
}

static void check_state(const struct tw_itm_reader *got, const struct tw_itm_reader *want)
{
    CHECK_EQ(got->offset, want->offset);
    CHECK_EQ(got->is_synced, want->is_synced);
    CHECK_EQ(got->is_start, want->is_start);
    CHECK_EQ(got->is_in_zeros, want->is_in_zeros);
}

struct readers {
    struct tw_itm_reader many, one, careful;
};

static void start(struct readers *readers, unsigned number)
{
    const struct tw_itm_config config = config_of(number);

    tw_itm_reader_init(&readers->many, &config);
    tw_itm_reader_init(&readers->one, &config);
    tw_itm_reader_init(&readers->careful, &config);
}

/* Batches of what is there, and beside them the packets one by one; each reader sees an exact-size
   heap block.  Returns the bytes that are done; *seen counts packets. */
static size_t read_batches(struct readers *readers, size_t *seen, const uint8_t *bytes,
                           size_t size, size_t room)
{
    struct tw_itm_packet batch[ROOM_MOST], packet;
    uint8_t *copy = check_copy(bytes, size);
    size_t at = 0, count, used;

    do {
        size_t next = at;

        count = tw_itm_read_batch(&readers->many, batch, room, &used, copy + at, size - at);
        CHECK(count <= room && used <= size - at);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(
                tw_itm_read_any(&readers->careful, &packet, copy + next, size - next, false),
                TW_OK);
            check_same(&batch[i], &packet);
            CHECK_EQ(tw_itm_read(&readers->one, &packet, copy + next, size - next, false),
                     TW_OK);
            check_same(&batch[i], &packet);
            CHECK_EQ(packet.base.id, 0x21);
            next += packet.base.size;
        }
        at += used;
        CHECK_EQ(next, at);
        check_state(&readers->many, &readers->careful);
        check_state(&readers->one, &readers->careful);
        *seen += count;
    } while (count == room);
    CHECK_EQ(tw_itm_read_any(&readers->careful, &packet, copy + at, size - at, false), TW_MORE);
    CHECK_EQ(tw_itm_read(&readers->one, &packet, copy + at, size - at, false), TW_MORE);
    free(copy);
    return at;
}

/* The whole at once. */
static size_t check_whole(unsigned number, const uint8_t *bytes, size_t size, size_t room)
{
    struct readers readers;
    size_t seen = 0;

    start(&readers, number);
    (void)read_batches(&readers, &seen, bytes, size, room);
    return seen;
}

/* `piece` more bytes each time. */
static void check_pieces(unsigned number, const uint8_t *bytes, size_t size, size_t room,
                         size_t piece)
{
    struct readers readers;
    size_t seen = 0, at = 0;

    start(&readers, number);
    for (size_t fed = 0; fed < size;) {
        fed = piece < size - fed ? fed + piece : size;
        at += read_batches(&readers, &seen, bytes + at, fed - at, room);
    }
}

/* Every first byte, before bytes of many kinds: zeros and ends of them are what synchronization
   may begin in. */
static void every_header(void **state)
{
    static const uint8_t tails[][8] = {
        { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08 },
        { 0x81, 0x82, 0x83, 0x04, 0x05, 0x06, 0x07, 0x08 },
        { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x08 },
        { 0x80, 0x80, 0x80, 0x00, 0x00, 0x00, 0x00, 0x80 },
        { 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x02 },
        { 0x00, 0x00, 0x00, 0x00, 0x80, 0x80, 0x01, 0x02 },
        { 0x00, 0x00, 0x00, 0x80, 0x80, 0x80, 0x01, 0x02 },
        { 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80 },
        { 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01 },
        { 0xff, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80 },
        { 0x00, 0x09, 0x41, 0x00, 0x09, 0x00, 0x12, 0x34 },
    };

    (void)state;
    for (unsigned head = 0; head < 256; head++)
        for (size_t tail = 0; tail < LENGTH(tails); tail++)
            for (unsigned number = 0; number < CONFIGS; number++) {
                uint8_t bytes[64];

                check_case("header %02x, tail %zu, configuration %u", head, tail, number);
                for (size_t i = 0; i + 1 < sizeof bytes; i += 2) {
                    bytes[i] = 0x09;
                    bytes[i + 1] = 0x41;
                }
                memcpy(bytes, sync, sizeof sync);
                bytes[8] = (uint8_t)head;
                memcpy(bytes + 9, tails[tail], 8);
                for (size_t room = 1; room <= 5; room++)
                    CHECK(check_whole(number, bytes, sizeof bytes, room) > 2);
            }
}

/* Something of everything. */
static void make_random(uint8_t *bytes, size_t size, struct check_random *random)
{
    static const uint8_t frequent[] = { 0x01, 0x02, 0x03, 0x05, 0x06, 0x17, 0x47,
                                        0x8f, 0xc0, 0xd0, 0xe0, 0xf0, 0x10, 0x60,
                                        0x94, 0xb4, 0x70, 0x08, 0x89, 0x8d };
    size_t at = 0;

    check_random_fill(random, bytes, size);
    while (at + 8 < size) {
        switch (check_random_below(random, 24)) {
        case 0:
            memcpy(bytes + at, sync, sizeof sync);
            at += sizeof sync;
            break;
        case 1:
            for (size_t i = check_random_below(random, 8); i > 0; i--)
                bytes[at++] = 0;
            break;
        case 2:
            at++;
            break;
        case 3:
            bytes[at++] = 0x80;
            break;
        default:
            bytes[at] = frequent[check_random_below(random, sizeof frequent)];
            at += 1 + (size_t)check_random_below(random, 5);
            break;
        }
    }
}

static void every_cut_and_room(void **state)
{
    struct check_random random = check_random_start(0x69746d31);

    (void)state;
    for (size_t round = check_scale(120); round > 0; round--) {
        uint8_t bytes[150];

        make_random(bytes, sizeof bytes, &random);
        for (size_t size = 0; size <= sizeof bytes; size++) {
            check_case("round %zu, %zu bytes", round, size);
            (void)check_whole((unsigned)round % CONFIGS, bytes, size, 1 + size % 5);
        }
    }
}

static void random_streams(void **state)
{
    struct check_random random = check_random_start(0x69746d32);
    size_t seen = 0;

    (void)state;
    for (size_t round = check_scale(2000); round > 0; round--) {
        const unsigned number = (unsigned)round % CONFIGS;
        uint8_t bytes[SIZE];

        make_random(bytes, sizeof bytes, &random);
        check_case("round %zu", round);
        seen += check_whole(number, bytes, sizeof bytes, 1 + round % ROOM_MOST);
        check_pieces(number, bytes, sizeof bytes, 1 + round % 5,
                     1 + (size_t)check_random_below(&random, 60));
    }
    CHECK(seen > 100 * check_scale(2000));
}

static void public_reader(void **state)
{
    static const uint8_t bytes[] = {
        0, 0, 0, 0, 0, 0x80, 0x0b, 1, 2, 3, 4, 0xc0, 0x85, 1, 0x70
    };
    const struct tw_itm_config bad = { .size = 1 }, config = config_of(0);
    struct tw_itm_packet batch[5];
    struct tw_itm_reader *reader;
    size_t used;

    (void)state;
    CHECK_EQ(tw_itm_reader_new(&reader, &bad, NULL, NULL), TW_E_ARGUMENT);
    CHECK(reader == NULL);
    CHECK_EQ(tw_itm_reader_new(&reader, &config, NULL, NULL), TW_OK);
    CHECK_EQ(tw_itm_read_batch(reader, batch, 5, &used, bytes, 13), 2);
    CHECK_EQ(used, 11);
    CHECK_EQ(batch[1].base.type, TW_ITM_PACKET_SWIT);
    CHECK_EQ(batch[1].value, 0x04030201);
    CHECK_EQ(batch[1].source, 1);
    CHECK_EQ(tw_itm_read_batch(reader, batch, 5, &used, bytes + 11, sizeof bytes - 11), 2);
    CHECK_EQ(used, 4);
    CHECK_EQ(batch[0].base.type, TW_ITM_PACKET_TS_LOCAL);
    CHECK_EQ(batch[0].base.offset, 11);
    CHECK_EQ(batch[0].value, 0x85);
    CHECK_EQ(batch[1].base.type, TW_ITM_PACKET_OVERFLOW);
    tw_itm_reader_lost(reader);
    CHECK_EQ(tw_itm_read(reader, batch, bytes + 6, 1, true), TW_OK);
    CHECK_EQ(batch[0].base.type, TW_ITM_PACKET_NOT_SYNC);
    tw_itm_reader_free(reader);
    tw_itm_reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_header),
        cmocka_unit_test(every_cut_and_room),
        cmocka_unit_test(random_streams),
        cmocka_unit_test(public_reader),
    };

    return cmocka_run_group_tests_name("itm batches", tests, NULL, NULL);
}
