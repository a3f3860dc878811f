/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets in batches, of instruction and data trace, are those that are read one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "etrace/test_random.h"

enum { SIZE = 3000, ROOM_MOST = 64 };

/* Three readers of one stream. */
struct readers {
    struct tw_etrace_reader *many, *one, *careful;
};

static struct readers start(const struct tw_etrace_config *config)
{
    struct readers readers;

    CHECK_EQ(tw_etrace_reader_new(&readers.many, config, NULL, NULL), TW_OK);
    CHECK_EQ(tw_etrace_reader_new(&readers.one, config, NULL, NULL), TW_OK);
    CHECK_EQ(tw_etrace_reader_new(&readers.careful, config, NULL, NULL), TW_OK);
    return readers;
}

static void stop(const struct readers *readers)
{
    tw_etrace_reader_free(readers->many);
    tw_etrace_reader_free(readers->one);
    tw_etrace_reader_free(readers->careful);
}

/* Packets are cleared before they are filled, so that not even what lies between members differs. */
static void check_same(const struct tw_etrace_packet *got, const struct tw_etrace_packet *want)
{
    CHECK_EQ(got->base.type, want->base.type);
    CHECK_EQ(got->base.size, want->base.size);
    CHECK_EQ(got->base.offset, want->base.offset);
    CHECK_EQ(got->base.index, want->base.offset);
    CHECK_EQ(got->has, want->has);
    CHECK_EQ(got->error, want->error);
    CHECK_EQ(got->field, want->field);
    CHECK_EQ(got->address, want->address);
    CHECK_EQ(got->value, want->value);
    CHECK_BYTES(got, sizeof *got, want, sizeof *want);
}

static void check_state(const struct tw_etrace_reader *got, const struct tw_etrace_reader *want)
{
    CHECK_EQ(got->transport.offset, want->transport.offset);
    CHECK_EQ(got->transport.is_synced, want->transport.is_synced);
    CHECK_EQ(got->transport.null_run, want->transport.null_run);
    CHECK_EQ(got->options, want->options);
    CHECK_EQ(got->address, want->address);
    CHECK(memcmp(got->history.address, want->history.address, sizeof got->history.address) ==
          0);
    CHECK(memcmp(got->history.data, want->history.data, sizeof got->history.data) == 0);
    CHECK(memcmp(got->cache, want->cache, sizeof got->cache[0] << got->shape.index) == 0);
}

/* Batches of what is there, and beside them the packets one by one; each reader sees an exact-size
   heap block.  Returns the bytes that are done; *seen counts packets of trace. */
static size_t read_batches(const struct readers *readers, size_t *seen, const uint8_t *bytes,
                           size_t size, size_t room)
{
    struct tw_etrace_packet *batch = malloc(room * sizeof *batch), packet;
    uint8_t *copy = check_copy(bytes, size);
    size_t at = 0, count, used;

    CHECK(batch != NULL);
    do {
        size_t next = at;

        memset(batch, 0xa5, room * sizeof *batch);
        count = tw_etrace_read_batch(readers->many, batch, room, &used, copy + at, size - at);
        CHECK(count <= room && used <= size - at);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(
                tw_etrace_read_any(readers->careful, &packet, copy + next, size - next, false),
                TW_OK);
            check_same(&batch[i], &packet);
            CHECK_EQ(tw_etrace_read(readers->one, &packet, copy + next, size - next, false),
                     TW_OK);
            check_same(&batch[i], &packet);
            next += packet.base.size;
            *seen += packet.base.type <= TW_ETRACE_CSR;
        }
        at += used;
        CHECK_EQ(next, at);
        check_state(readers->many, readers->careful);
        check_state(readers->one, readers->careful);
    } while (count == room);
    CHECK_EQ(tw_etrace_read_any(readers->careful, &packet, copy + at, size - at, false),
             TW_MORE);
    free(copy);
    free(batch);
    return at;
}

/* The whole at once. */
static size_t check_whole(const struct tw_etrace_config *config, const uint8_t *bytes,
                          size_t size, size_t room)
{
    const struct readers readers = start(config);
    size_t seen = 0;

    (void)read_batches(&readers, &seen, bytes, size, room);
    stop(&readers);
    return seen;
}

/* `piece` more bytes each time. */
static void check_pieces(const struct tw_etrace_config *config, const uint8_t *bytes,
                         size_t size, size_t room, size_t piece)
{
    const struct readers readers = start(config);
    size_t seen = 0, at = 0;

    for (size_t fed = 0; fed < size;) {
        fed = piece < size - fed ? fed + piece : size;
        at += read_batches(&readers, &seen, bytes + at, fed - at, room);
    }
    stop(&readers);
}

/* Packets of all kinds, most of them frequent ones, with null bytes between some. */
static size_t make_stream(uint8_t *bytes, size_t room, struct check_random *random,
                          const struct tw_etrace_config *config)
{
    struct tw_etrace_reader *writer;
    size_t size = 0;

    CHECK_EQ(tw_etrace_reader_new(&writer, config, NULL, NULL), TW_OK);
    for (unsigned tries = 0; tries < room / 4 && size + 64 < room; tries++) {
        const bool is_data = config->is_data || below(random, 4) == 0;
        struct tw_etrace_packet packet =
            is_data ? random_data(random, writer) : random_inst(random, writer);
        size_t left = room - size;

        if (!is_data && below(random, 8))
            packet.base.type = below(random, 6) ? TW_ETRACE_F1 : TW_ETRACE_F2;
        if (packet.base.type == TW_ETRACE_F1 && below(random, 3) == 0)
            packet.branches = 0;
        if (packet.base.type == TW_ETRACE_F1)
            packet.branch_map = (uint32_t)bits(
                random, packet.branches ? tw_etrace_map_bits(packet.branches) : 31);
        packet.source = (uint16_t)bits(random, config->srcid_bits);
        packet.flow = below(random, 4);
        if (below(random, 3) == 0) {
            packet.has |= TW_ETRACE_HAS_STAMP;
            packet.stamp = bits(random, 8u * config->timestamp_bytes);
        }
        if (tw_etrace_write(writer, bytes + size, &left, &packet) == TW_OK)
            size += left;
        while (below(random, 24) == 0)
            bytes[size++] = 0;
    }
    tw_etrace_reader_free(writer);
    return size;
}

static struct tw_etrace_config any_config(struct check_random *random)
{
    struct tw_etrace_config config = random_config(random);

    if (below(random, 2))
        config.encapsulation = TW_ETRACE_ENCAP_LEN5_TYPE2;
    config.is_data = below(random, 3) == 0;
    if (below(random, 4) == 0)
        config.data_width = 128;
    if (below(random, 8) == 0)
        config.layout = TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS;
    if (below(random, 8) == 0)
        config.block_size = 64;
    config.starts_inside = below(random, 8) == 0;
    config.id = below(random, 100);
    return config;
}

static void random_streams(void **state)
{
    struct check_random random = check_random_start(0x65747231);
    size_t seen = 0;

    (void)state;
    for (size_t round = check_scale(3000); round > 0; round--) {
        const struct tw_etrace_config config = any_config(&random);
        uint8_t bytes[SIZE];
        const size_t size = make_stream(bytes, sizeof bytes, &random, &config);

        check_case("round %zu", round);
        for (unsigned damage = below(&random, 8); damage > 4; damage--)
            bytes[check_random_below(&random, size + 1) % SIZE] =
                (uint8_t)check_random_next(&random);
        seen += check_whole(&config, bytes, size, 1 + round % ROOM_MOST);
        check_pieces(&config, bytes, size, 1 + round % 5,
                     1 + (size_t)check_random_below(&random, 200));
    }
    CHECK(seen > 100 * check_scale(3000));
}

static void every_cut_and_room(void **state)
{
    struct check_random random = check_random_start(0x65747232);

    (void)state;
    for (size_t round = check_scale(100); round > 0; round--) {
        const struct tw_etrace_config config = any_config(&random);
        uint8_t bytes[220];
        const size_t size = make_stream(bytes, sizeof bytes, &random, &config);

        for (size_t cut = 0; cut <= size; cut++) {
            check_case("round %zu, %zu bytes", round, cut);
            (void)check_whole(&config, bytes, cut, 1 + cut % 5);
        }
    }
}

/* Every first two bytes of a payload, of each length, whatever follows: formats that are and are
   not, and payloads that are longer than what they hold. */
static void every_payload_head(void **state)
{
    struct check_random random = check_random_start(0x65747233);

    (void)state;
    for (unsigned head = 0; head < 1024; head++) {
        const struct tw_etrace_config config = any_config(&random);

        for (unsigned length = 1; length < 32; length += 1 + head % 3) {
            uint8_t bytes[160];
            size_t size = 0;

            check_case("payload %x, %u bytes", head, length);
            check_random_fill(&random, bytes, sizeof bytes);
            if (head & 1)
                memset(bytes, head & 2 ? 0xff : 0, sizeof bytes / 2);
            bytes[size++] = (uint8_t)(length | (head & 4 ? 0x40 : 0x60));
            bytes[size++] = (uint8_t)head;
            bytes[size] = (uint8_t)((bytes[size] & 0xfc) | head >> 8);
            (void)check_whole(&config, bytes, sizeof bytes, 1 + length % 5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_streams),
        cmocka_unit_test(every_cut_and_room),
        cmocka_unit_test(every_payload_head),
    };

    return cmocka_run_group_tests_name("etrace batches", tests, NULL, NULL);
}
