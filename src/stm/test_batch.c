/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: packets in batches are those that are read one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/stm_unit.h>

#include "stm/packet.h"

enum { SIZE = 2048, ROOM_MOST = 64 };

static const struct tw_stm_config config = { .size = sizeof config, .tcsr = 0x20 << 16 };

/* A stream that is being made, nibble by nibble. */
struct stream {
    uint8_t bytes[SIZE];
    size_t nibbles;
};

static void put(struct stream *stream, unsigned nibble)
{
    uint8_t *byte = &stream->bytes[stream->nibbles / 2];

    if (stream->nibbles / 2 == SIZE)
        return;
    *byte = (uint8_t)(stream->nibbles & 1 ? *byte | nibble << 4 : nibble);
    stream->nibbles++;
}

static void put_text(struct stream *stream, const char *nibbles)
{
    for (; *nibbles; nibbles++)
        put(stream, (unsigned)(*nibbles <= '9' ? *nibbles - '0' : *nibbles - 'a' + 10));
}

/* Synchronization, and a version where there is one. */
static void put_sync(struct stream *stream, unsigned version)
{
    put_text(stream, "fffffffffffffffffffff0");
    if (version) {
        put_text(stream, "f00");
        put(stream, version);
    }
}

static size_t size_of(const struct stream *stream)
{
    return (stream->nibbles + 1) / 2;
}

static void check_same(const struct tw_stm_packet *got, const struct tw_stm_packet *want)
{
    CHECK_EQ(got->base.type, want->base.type);
    CHECK_EQ(got->base.index, want->base.index);
    CHECK_EQ(got->base.offset, want->base.offset);
    CHECK_EQ(got->base.size, want->base.size);
    CHECK_EQ(got->base.id, want->base.id);
    CHECK_EQ(got->base.skip_bits, want->base.skip_bits);
    CHECK_EQ(got->base.spare_bits, want->base.spare_bits);
    CHECK_EQ(got->value, want->value);
    CHECK_EQ(got->timestamp, want->timestamp);
    CHECK_EQ(got->nibbles, want->nibbles);
    CHECK_EQ(got->master, want->master);
    CHECK_EQ(got->channel, want->channel);
    CHECK_EQ(got->timestamp_bits, want->timestamp_bits);
    CHECK_EQ(got->has_timestamp, want->has_timestamp);
    CHECK_EQ(got->error, want->error);
}

static void check_state(const struct tw_stm_reader *got, const struct tw_stm_reader *want)
{
    CHECK_EQ(got->offset, want->offset);
    CHECK_EQ(got->timestamp, want->timestamp);
    CHECK_EQ(got->master, want->master);
    CHECK_EQ(got->channel, want->channel);
    CHECK_EQ(got->version, want->version);
    CHECK_EQ(got->has_id, want->has_id);
    CHECK_EQ(got->is_high, want->is_high);
    CHECK_EQ(got->is_synced, want->is_synced);
}

struct readers {
    struct tw_stm_reader many, one, careful;
};

static void start(struct readers *readers)
{
    tw_stm_reader_init(&readers->many, &config);
    tw_stm_reader_init(&readers->one, &config);
    tw_stm_reader_init(&readers->careful, &config);
}

/* Batches of what is there, and beside them the packets one by one; each reader sees an exact-size
   heap block.  Returns the bytes that are done; *seen counts packets. */
static size_t read_batches(struct readers *readers, size_t *seen, const uint8_t *bytes,
                           size_t size, size_t room)
{
    struct tw_stm_packet batch[ROOM_MOST], packet;
    uint8_t *copy = check_copy(bytes, size);
    size_t at = 0, count, used;

    do {
        size_t next = at;

        count = tw_stm_read_batch(&readers->many, batch, room, &used, copy + at, size - at);
        CHECK(count <= room && used <= size - at);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(
                tw_stm_read_any(&readers->careful, &packet, copy + next, size - next, false),
                TW_OK);
            check_same(&batch[i], &packet);
            CHECK_EQ(tw_stm_read(&readers->one, &packet, copy + next, size - next, false),
                     TW_OK);
            check_same(&batch[i], &packet);
            CHECK_EQ(packet.base.id, 0x20);
            next += packet.base.size - (packet.base.spare_bits != 0);
        }
        at += used;
        CHECK_EQ(next, at);
        check_state(&readers->many, &readers->careful);
        check_state(&readers->one, &readers->careful);
        *seen += count;
    } while (count == room);
    CHECK_EQ(tw_stm_read_any(&readers->careful, &packet, copy + at, size - at, false), TW_MORE);
    CHECK_EQ(tw_stm_read(&readers->one, &packet, copy + at, size - at, false), TW_MORE);
    free(copy);
    return at;
}

/* The whole at once. */
static size_t check_whole(const struct stream *stream, size_t size, size_t room)
{
    struct readers readers;
    size_t seen = 0;

    start(&readers);
    (void)read_batches(&readers, &seen, stream->bytes, size, room);
    return seen;
}

/* `piece` more bytes each time. */
static void check_pieces(const struct stream *stream, size_t room, size_t piece)
{
    const size_t size = size_of(stream);
    struct readers readers;
    size_t seen = 0, at = 0;

    start(&readers);
    for (size_t fed = 0; fed < size;) {
        fed = piece < size - fed ? fed + piece : size;
        at += read_batches(&readers, &seen, stream->bytes + at, fed - at, room);
    }
}

static void put_random(struct stream *stream, struct check_random *random, size_t count)
{
    while (count--)
        put(stream, (unsigned)check_random_below(random, 16));
}

/* Every four nibbles that can begin a packet, from both halves of a byte, after each version. */
static void every_header(void **state)
{
    static const uint8_t versions[] = { 0, 3, 4 };
    struct check_random random = check_random_start(0x73746d31);

    (void)state;
    for (unsigned head = 0; head < 0x200; head++)
        for (unsigned variant = 0; variant < 24; variant++) {
            struct stream stream = { .nibbles = 0 };

            check_case("header %x, variant %u", head, variant);
            put_sync(&stream, versions[variant % 3]);
            if (variant & 1)
                put(&stream, 0);
            put_text(&stream, "145"
                              "3671"
                              "6123456788"); /* master, channel, data */
            if (head >= 0x100)
                put_text(&stream, "f0");
            put(&stream, head >> 4 & 15);
            put(&stream, head & 15);
            if (variant & 4)
                for (unsigned i = 0; i < 20; i++)
                    put(&stream, variant & 8 ? 0x0f : variant & 2 ? 0x0e : 0x0c);
            put_random(&stream, &random, 40);
            for (unsigned i = 0; i < 60; i++)
                put_text(&stream, "5abcd");
            CHECK(check_whole(&stream, size_of(&stream), 1 + variant % 5) > 3);
        }
}

/* Timestamps of every length behind every payload, in both codes. */
static void every_timestamp(void **state)
{
    static const struct {
        const char *head;
        unsigned payload;
    } rows[] = {
        { "8", 2 },   { "9", 4 },   { "a", 8 },   { "b", 16 },    { "d", 1 },  { "e", 0 },
        { "f4", 2 },  { "f5", 4 },  { "f6", 8 },  { "f7", 16 },   { "fc", 1 }, { "f01", 0 },
        { "f07", 2 }, { "f09", 8 }, { "f0b", 2 }, { "f0f1", 10 },
    };
    struct check_random random = check_random_start(0x73746d32);

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (unsigned length = 0; length < 16; length++)
            for (unsigned variant = 0; variant < 6; variant++) {
                struct stream stream = { .nibbles = 0 };

                check_case("head %s, length %u, variant %u", rows[i].head, length, variant);
                put_sync(&stream, variant < 2 ? 3 : variant < 4 ? 4 : 0);
                put_text(&stream, variant & 1 ? "0e0" : "e0");
                for (unsigned repeat = 0; repeat < 3; repeat++) {
                    put_text(&stream, rows[i].head);
                    put_random(&stream, &random, rows[i].payload);
                    put(&stream, length);
                    put_random(&stream, &random, length < 13 ? length : 2 * length - 12);
                }
                put_text(&stream, "4124124124124124124124124124124124124124124124124124");
                put_text(&stream, "4124124124124124124124124124124124124124124124124124");
                (void)check_whole(&stream, size_of(&stream), 1 + variant);
            }
}

/* Something of everything: packets of random headers, synchronization between them or in the
   middle of them, versions of both kinds and others. */
static void make_random(struct stream *stream, struct check_random *random, size_t nibbles)
{
    static const char frequent[] = "4565c4ef7a31";

    stream->nibbles = 0;
    while (stream->nibbles < nibbles) {
        switch (check_random_below(random, 24)) {
        case 0:
            put_sync(stream, (unsigned)(3 + check_random_below(random, 2)));
            break;
        case 1:
            put_sync(stream, (unsigned)check_random_below(random, 16));
            break;
        case 2:
            for (size_t i = check_random_below(random, 24); i > 0; i--)
                put(stream, 0x0f);
            break;
        case 3:
            put_random(stream, random, 1 + (size_t)check_random_below(random, 6));
            break;
        default: {
            const char head[2] = { frequent[check_random_below(random, sizeof frequent - 1)] };

            put_text(stream, head);
            put_random(stream, random, (size_t)check_random_below(random, 10));
        } break;
        }
    }
}

static void every_cut_and_room(void **state)
{
    struct check_random random = check_random_start(0x73746d33);

    (void)state;
    for (size_t round = check_scale(40); round > 0; round--) {
        struct stream stream;

        make_random(&stream, &random, 300);
        for (size_t size = 0; size <= size_of(&stream); size++) {
            check_case("round %zu, %zu bytes", round, size);
            (void)check_whole(&stream, size, 1 + size % 5);
        }
    }
}

static void random_streams(void **state)
{
    struct check_random random = check_random_start(0x73746d34);
    size_t seen = 0;

    (void)state;
    for (size_t round = check_scale(2000); round > 0; round--) {
        struct stream stream;

        make_random(&stream, &random, 2 * SIZE);
        check_case("round %zu", round);
        seen += check_whole(&stream, size_of(&stream), 1 + round % ROOM_MOST);
        check_pieces(&stream, 1 + round % 5, 1 + (size_t)check_random_below(&random, 100));
    }
    CHECK(seen > 50 * check_scale(2000));
}

/* A unit's stream, all of it frequent: by far most of it is not for the careful reader. */
static void streams_of_a_unit(void **state)
{
    const struct tw_stm_unit_config unit_config = { .size = sizeof unit_config,
                                                    .version = 3,
                                                    .has_timestamps = true,
                                                    .timestamp_bits = 64,
                                                    .sync_bytes = 500 };
    struct check_random random = check_random_start(0x73746d35);
    struct stream stream = { .nibbles = 0 };
    struct tw_stm_unit *unit;
    const uint8_t *bytes;
    size_t size;
    uint64_t time = 0;

    (void)state;
    CHECK_EQ(tw_stm_unit_new(&unit, &unit_config, NULL), TW_OK);
    do {
        const unsigned bits = 4u << check_random_below(&random, 5);

        tw_stm_unit_set_time(unit, time += check_random_below(&random, 100000));
        tw_stm_unit_select(unit, (uint16_t)check_random_below(&random, 300),
                           (uint16_t)check_random_below(&random, 300));
        for (unsigned i = 0; i < 6; i++)
            CHECK_EQ(tw_stm_unit_write(unit, check_random_next(&random) >> (64 - bits), bits,
                                       (unsigned)check_random_below(&random, 4)),
                     TW_OK);
        CHECK_EQ(tw_stm_unit_flag(unit, 0), TW_OK);
        bytes = tw_stm_unit_output(unit, &size);
    } while (size < SIZE);
    memcpy(stream.bytes, bytes, SIZE);
    stream.nibbles = 2 * SIZE;
    tw_stm_unit_free(unit);
    for (size_t room = 1; room <= 5; room++) {
        CHECK(check_whole(&stream, SIZE, room) > 300);
        for (size_t piece = 1; piece < 70; piece += 7)
            check_pieces(&stream, room, piece);
    }
}

static void public_reader(void **state)
{
    const struct tw_stm_config bad = { .size = 1 };
    struct stream stream = { .nibbles = 0 };
    struct tw_stm_packet batch[4];
    struct tw_stm_reader *reader;
    size_t used;

    (void)state;
    CHECK_EQ(tw_stm_reader_new(&reader, &bad, NULL, NULL), TW_E_ARGUMENT);
    CHECK(reader == NULL);
    CHECK_EQ(tw_stm_reader_new(&reader, &config, NULL, NULL), TW_OK);
    put_sync(&stream, 3);
    put_text(&stream, "145"
                      "61234567");
    CHECK_EQ(tw_stm_read_batch(reader, batch, 4, &used, stream.bytes, 18), 3);
    CHECK_EQ(used, 14);
    CHECK_EQ(batch[2].base.type, TW_STM_M8);
    CHECK_EQ(batch[2].base.spare_bits, 4);
    /* the packet's first half was not done, and is given again */
    put_text(&stream, "89");
    CHECK_EQ(tw_stm_read_batch(reader, batch, 4, &used, stream.bytes + used,
                               size_of(&stream) - used),
             1);
    CHECK_EQ(batch[0].base.type, TW_STM_D32);
    CHECK_EQ(batch[0].base.offset, 14);
    CHECK_EQ(batch[0].base.skip_bits, 4);
    CHECK_EQ(batch[0].value, 0x12345678);
    CHECK_EQ(batch[0].master, 0x45);
    tw_stm_reader_lost(reader);
    CHECK_EQ(tw_stm_read(reader, batch, stream.bytes + 12, 1, true), TW_OK);
    CHECK_EQ(batch[0].base.type, TW_STM_NOT_SYNC);
    tw_stm_reader_free(reader);
    tw_stm_reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_header),       cmocka_unit_test(every_timestamp),
        cmocka_unit_test(every_cut_and_room), cmocka_unit_test(random_streams),
        cmocka_unit_test(streams_of_a_unit),  cmocka_unit_test(public_reader),
    };

    return cmocka_run_group_tests_name("stm batches", tests, NULL, NULL);
}
