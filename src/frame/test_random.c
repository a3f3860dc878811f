/* SPDX-License-Identifier: BSD-2-Clause */
/* Random captures: packed and unpacked again, cut, damaged, fed in pieces, consumed in parts, with
   memory that runs out; all held against the oracle. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#include "frame_oracle.h"

/* What went into a capture. */
struct sent {
    struct oracle_log ids[128];
    struct tw_frame_event markers[64];
    size_t marker_count;
    size_t changes; /* of ID */
    size_t bytes;
    uint8_t last_id;
};

static void sent_free(struct sent *sent)
{
    for (unsigned id = 0; id < 128; id++) {
        free(sent->ids[id].bytes);
        free(sent->ids[id].ids);
        free(sent->ids[id].at);
        free(sent->ids[id].breaks);
    }
}

static struct tw_unframer_config config_of(enum tw_framing framing)
{
    return (struct tw_unframer_config){ .size = sizeof(struct tw_unframer_config),
                                        .framing = framing,
                                        .wanted = { UINT64_MAX, UINT64_MAX } };
}

static struct tw_framer_config random_framer(struct check_random *random)
{
    struct tw_framer_config config = { .size = sizeof config };

    config.framing = (enum tw_framing)(TW_FRAMING_MEMORY + check_random_below(random, 3));
    config.repeat_frames = (uint32_t)check_random_below(random, 12);
    config.fsync_frames = (uint32_t)check_random_below(random, 9);
    config.align = (uint32_t)check_random_below(random, 5) * 16;
    return config;
}

static void write_some(struct tw_framer *framer, struct sent *sent, struct check_random *random,
                       uint8_t id)
{
    uint8_t bytes[400];
    const size_t most = check_random_below(random, 8) ? 30 : sizeof bytes;
    const size_t size = check_random_below(random, most);

    check_random_fill(random, bytes, size);
    for (size_t i = 0; i < size; i++) {
        if (check_random_below(random, 4) == 0)
            bytes[i] = check_random_below(random, 2) ? 0xff : 0x7f;
        oracle_add(&sent->ids[id], id, 0, bytes[i]);
    }
    CHECK_EQ(tw_framer_write(framer, id, bytes, size), TW_OK);
    if (size) {
        sent->changes += sent->last_id != id;
        sent->last_id = id;
    }
    sent->bytes += size;
}

static void write_marker(struct tw_framer *framer, struct sent *sent,
                         struct check_random *random)
{
    const bool is_trigger = check_random_below(random, 2);
    const uint8_t value = (uint8_t)check_random_next(random);

    if (sent->marker_count == LENGTH(sent->markers))
        return;
    sent->markers[sent->marker_count++] =
        (struct tw_frame_event){ .kind = is_trigger ? TW_FRAME_TRIGGER : TW_FRAME_FLUSH,
                                 .value = value };
    CHECK_EQ(tw_framer_mark(framer, is_trigger ? TW_ID_TRIGGER : TW_ID_FLUSH, value), TW_OK);
    sent->changes++;
    sent->last_id = 0xff;
    sent->bytes++;
}

static void write_barrier(struct tw_framer *framer, struct sent *sent)
{
    CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    for (unsigned id = 0; id < 128; id++)
        oracle_break(&sent->ids[id], sent->ids[id].size);
    sent->last_id = 0xff;
}

/* A capture as a tight copy. */
static uint8_t *make_capture(size_t *size, struct sent *sent, struct check_random *random,
                             const struct tw_framer_config *config)
{
    const unsigned steps = (unsigned)check_random_below(random, 30);
    const uint8_t ids = (uint8_t)(1 + check_random_below(random, 6));
    const uint8_t first = (uint8_t)(1 + check_random_below(random, 0x60));
    struct tw_framer *framer;
    const uint8_t *out;
    uint8_t *copy;

    memset(sent, 0, sizeof *sent);
    sent->last_id = 0xff;
    CHECK_EQ(tw_framer_new(&framer, config, NULL), TW_OK);
    for (unsigned i = 0; i < steps; i++) {
        const unsigned what = (unsigned)check_random_below(random, 20);

        if (what == 0)
            write_marker(framer, sent, random);
        else if (what == 1 && config->framing == TW_FRAMING_MEMORY)
            write_barrier(framer, sent);
        else if (what < 4 && config->framing == TW_FRAMING_TPIU_HSYNC)
            CHECK_EQ(tw_framer_idle(framer), TW_OK);
        else
            write_some(framer, sent, random,
                       (uint8_t)(first + check_random_below(random, ids)));
    }
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    out = tw_framer_output(framer, size);
    copy = check_copy(out, *size);
    tw_framer_free(framer);
    return copy;
}

/* Feeds pieces of random size (or of one byte), and consumes as it likes in between. */
static void unframe(struct oracle_result *result, struct tw_unframer_config config,
                    const uint8_t *data, size_t size, struct check_random *random)
{
    const size_t most = check_random_below(random, 4) ? 1 + check_random_below(random, 300) : 1;
    struct tw_unframer *unframer;

    memset(result, 0, sizeof *result);
    if (config.on_run)
        config.on_run_context = result;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    for (size_t at = 0; at < size;) {
        size_t part = 1 + check_random_below(random, most);
        uint8_t *copy;

        if (part > size - at)
            part = size - at;
        copy = check_copy(data + at, part);
        CHECK_EQ(tw_unframer_feed(unframer, copy, part), TW_OK);
        free(copy);
        at += part;
        for (unsigned i = 0; i < 8; i++) {
            const uint8_t id = (uint8_t)check_random_below(random, 128);
            const size_t buffered = tw_unframer_stream(unframer, id).size;

            oracle_gather(&result->decoders[id], unframer, id,
                          check_random_below(random, buffered + 1));
        }
    }
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    CHECK_EQ(tw_unframer_stats(unframer)->bytes, size);
    oracle_gather_end(result, unframer);
    CHECK_EQ(16 * result->frames + result->syncs + result->skipped + result->footers,
             config.framing == TW_FRAMING_NONE ? 0 : size);
    tw_unframer_free(unframer);
}

static void check_against_oracle(struct tw_unframer_config config, const uint8_t *data,
                                 size_t size, struct check_random *random)
{
    struct oracle_result want, got;
    const char *difference;

    if (check_random_below(random, 2))
        config.on_run = oracle_on_run;
    oracle_run(&want, &config, data, size);
    unframe(&got, config, data, size, random);
    difference = oracle_difference(&got, &want, config.on_run != NULL);
    CHECK_TEXT(difference ? difference : "same", "same");
    oracle_free(&want);
    oracle_free(&got);
}

/* Rules a produced capture must keep, and no more frames than the bytes and ID changes need. */
static void check_legal(const struct oracle_result *got, const struct sent *sent,
                        const struct tw_framer_config *config, const uint8_t *data, size_t size)
{
    const unsigned repeat = config->repeat_frames ? config->repeat_frames : 8;
    unsigned without = 0;
    size_t repeats = 0, barriers = 0;

    CHECK_EQ(size % (config->align ? config->align : 16), 0);
    for (size_t at = 0; at < size; at += 16) {
        unsigned ids = 0;

        if (memcmp(data + at, "\xff\xff\xff\x7f", 4) == 0) {
            barriers++;
            without = 0;
            continue;
        }
        for (unsigned n = 0; n < 8; n++) {
            if (!(data[at + 2 * n] & 1))
                continue;
            ids++;
            CHECK(data[at + 2 * n] != 0xff);
            CHECK(n < 7 || !(data[at + 15] & 0x80));
        }
        CHECK(at || data[0] & 1);
        CHECK(at < 16 || data[at - 1] != 0x7f || data[at - 2] != 0xff || data[at] & 1);
        repeats += without >= repeat && data[at] & 1;
        without = ids ? 0 : without + 1;
        CHECK(without <= repeat || got->counts[0]);
    }
    if (!barriers && !config->align)
        CHECK(size / 16 <= (sent->bytes + sent->changes + repeats + 14) / 15);
}

/* A port's stream as DSTREAM keeps it: blocks of 504 bytes and 8 of footer. */
static uint8_t *wrap_in_blocks(size_t *size, const uint8_t *data, size_t data_size,
                               struct check_random *random)
{
    uint8_t *out = calloc(data_size / 4 + 2, 512);

    CHECK(out != NULL);
    *size = 0;
    for (size_t at = 0; at < data_size;) {
        /* Some blocks are not full. */
        size_t words =
            check_random_below(random, 3) ? 126 : 1 + check_random_below(random, 125);

        if (words * 4 > data_size - at)
            words = (data_size - at) / 4;
        memcpy(out + *size, data + at, words * 4);
        out[*size + 508] = (uint8_t)words;
        *size += 512;
        at += words * 4;
        if (data_size - at < 4)
            break;
    }
    return out;
}

static void unpacks_dstream_blocks(void **state)
{
    struct check_random random = check_random_start(0xd57);

    (void)state;
    for (size_t i = 0; i < check_scale(3000); i++) {
        const struct tw_framer_config framing = { .size = sizeof framing,
                                                  .framing = TW_FRAMING_TPIU,
                                                  .fsync_frames = 3 };
        struct tw_unframer_config config = config_of(TW_FRAMING_DSTREAM);
        struct sent sent;
        size_t size, block_size;
        uint8_t *data = make_capture(&size, &sent, &random, &framing);
        uint8_t *blocks = wrap_in_blocks(&block_size, data, size, &random);
        struct oracle_result got;

        check_case("case %zu", i);
        unframe(&got, config, blocks, block_size, &random);
        for (unsigned id = 1; id < 0x70; id++)
            CHECK_BYTES(got.decoders[id].bytes, got.decoders[id].size, sent.ids[id].bytes,
                        sent.ids[id].size);
        oracle_free(&got);
        config.sync_events = true;
        check_against_oracle(config, blocks, block_size, &random);
        for (unsigned n = 0; block_size && n < 4; n++)
            blocks[check_random_below(&random, block_size)] = 0xff;
        check_against_oracle(config, blocks, block_size, &random);
        sent_free(&sent);
        free(blocks);
        free(data);
    }
}

static void packs_and_unpacks(void **state)
{
    struct check_random random = check_random_start(0xf4a3e);

    (void)state;
    for (size_t i = 0; i < check_scale(10000); i++) {
        const struct tw_framer_config framing = random_framer(&random);
        const struct tw_unframer_config config = config_of(framing.framing);
        struct sent sent;
        size_t size, marker = 0;
        uint8_t *data = make_capture(&size, &sent, &random, &framing);
        struct oracle_result got;

        check_case("case %zu", i);
        unframe(&got, config, data, size, &random);
        for (unsigned id = 1; id < 0x70; id++) {
            const struct oracle_log *have = &got.decoders[id], *want = &sent.ids[id];

            CHECK_BYTES(have->bytes, have->size, want->bytes, want->size);
            CHECK_BYTES(have->breaks, have->break_count * sizeof *have->breaks, want->breaks,
                        want->break_count * sizeof *want->breaks);
        }
        for (size_t n = 0; n < got.event_count; n++) {
            if (got.events[n].kind == TW_FRAME_BARRIER)
                continue;
            CHECK(marker < sent.marker_count);
            CHECK_EQ(got.events[n].kind, sent.markers[marker].kind);
            CHECK_EQ(got.events[n].value, sent.markers[marker].value);
            marker++;
        }
        CHECK_EQ(marker, sent.marker_count);
        CHECK_EQ(got.skipped, 0);
        if (framing.framing == TW_FRAMING_MEMORY)
            check_legal(&got, &sent, &framing, data, size);
        oracle_free(&got);
        check_against_oracle(config, data, size, &random);
        sent_free(&sent);
        free(data);
    }
}

static struct tw_unframer_config random_config(struct check_random *random,
                                               enum tw_framing framing)
{
    struct tw_unframer_config config = config_of(framing);

    if (check_random_below(random, 4) == 0)
        config.framing = (enum tw_framing)check_random_below(random, TW_FRAMING_DSTREAM + 1);
    config.no_barrier = check_random_below(random, 4) == 0;
    config.sync_events = check_random_below(random, 2);
    config.base = check_random_below(random, 3) ? 0 : check_random_next(random) >> 8;
    if (check_random_below(random, 3) == 0)
        config.assume_id = (uint8_t)check_random_below(random, 128);
    if (check_random_below(random, 2)) {
        config.wanted[0] = check_random_next(random);
        config.wanted[1] = check_random_next(random);
    }
    return config;
}

/* Cuts, flips, and stretches of noise with many sync bytes. */
static void survives_damage(void **state)
{
    struct check_random random = check_random_start(0xdab);

    (void)state;
    for (size_t i = 0; i < check_scale(20000); i++) {
        const struct tw_framer_config framing = random_framer(&random);
        const unsigned flips = (unsigned)check_random_below(&random, 20);
        struct sent sent;
        size_t size;
        uint8_t *data = make_capture(&size, &sent, &random, &framing);

        check_case("case %zu", i);
        for (unsigned n = 0; size && n < flips; n++)
            data[check_random_below(&random, size)] =
                (uint8_t)(check_random_below(&random, 2) ? 0xff : check_random_next(&random));
        if (check_random_below(&random, 2))
            size = check_random_below(&random, size + 1);
        if (check_random_below(&random, 8) == 0)
            for (size_t at = 0; at < size; at++)
                data[at] = (uint8_t[]){
                    0xff, 0xff, 0x7f, 0x21, 0x00, 0xfb, 0xe1, 0x55
                }[check_random_below(&random, 8)];
        check_against_oracle(random_config(&random, framing.framing), data, size, &random);
        sent_free(&sent);
        free(data);
    }
}

/* One capture of each framing: cut at every byte, and every byte flipped. */
static void survives_every_cut_and_flip(void **state)
{
    struct check_random random = check_random_start(0xc07);

    (void)state;
    for (unsigned framing = TW_FRAMING_MEMORY; framing <= TW_FRAMING_TPIU_HSYNC; framing++) {
        const struct tw_framer_config make = { .size = sizeof make,
                                               .framing = (enum tw_framing)framing,
                                               .fsync_frames = 3 };
        struct sent sent;
        size_t size;
        uint8_t *data;

        do {
            data = make_capture(&size, &sent, &random, &make);
            sent_free(&sent);
            if (size < 200 || size > 600) {
                free(data);
                data = NULL;
            }
        } while (!data);
        for (size_t at = 0; at < size; at++) {
            uint8_t *copy = check_copy(data, at);

            check_case("framing %u, byte %zu", framing, at);
            check_against_oracle(config_of((enum tw_framing)framing), copy, at, &random);
            free(copy);
            data[at] ^= 0xff;
            check_against_oracle(config_of((enum tw_framing)framing), data, size, &random);
            data[at] ^= (uint8_t)(0xff ^ 1u << at % 8);
            check_against_oracle(config_of((enum tw_framing)framing), data, size, &random);
            data[at] ^= (uint8_t)(1u << at % 8);
        }
        free(data);
    }
}

/* Memory that ends after so many calls. */
struct purse {
    size_t left;
    size_t out; /* blocks that are not given back */
};

static void *resize(void *context, void *memory, size_t size)
{
    struct purse *purse = context;
    void *moved;

    if (size == 0) {
        purse->out -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (purse->left == 0)
        return NULL;
    purse->left--;
    moved = realloc(memory, size);
    purse->out += moved && !memory;
    return moved;
}

static enum tw_status unframe_with(struct purse *purse, struct tw_unframer_config config,
                                   const uint8_t *data, size_t size)
{
    const struct tw_allocator allocator = { resize, purse };
    struct tw_unframer *unframer;
    enum tw_status status;

    config.allocator = &allocator;
    status = tw_unframer_new(&unframer, &config, NULL);
    if (status != TW_OK)
        return status;
    for (size_t at = 0; at < size && status == TW_OK; at += 100)
        status = tw_unframer_feed(unframer, data + at, size - at < 100 ? size - at : 100);
    if (status == TW_OK)
        status = tw_unframer_finish(unframer);
    if (status != TW_OK) {
        /* It stays broken until reset, then it works. */
        for (unsigned id = 0; id < 128; id++) {
            const struct tw_stream stream = tw_unframer_stream(unframer, (uint8_t)id);

            CHECK(stream.size == 0 || stream.places);
            tw_unframer_consume(unframer, (uint8_t)id, stream.size / 2);
        }
        CHECK_EQ(tw_unframer_feed(unframer, data, size), TW_E_MEMORY);
        CHECK_EQ(tw_unframer_finish(unframer), TW_E_MEMORY);
        purse->left = SIZE_MAX;
        tw_unframer_reset(unframer, 0);
        CHECK_EQ(tw_unframer_feed(unframer, data, size), TW_OK);
    }
    tw_unframer_free(unframer);
    return status;
}

static enum tw_status frame_with(struct purse *purse)
{
    const struct tw_allocator allocator = { resize, purse };
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_TPIU_HSYNC,
                                             .fsync_frames = 2,
                                             .align = 64,
                                             .allocator = &allocator };
    static const uint8_t bytes[3000] = { 1, 2, 3 };
    struct tw_framer *framer;
    enum tw_status status = tw_framer_new(&framer, &config, NULL);

    for (size_t size = 1; status == TW_OK && size < sizeof bytes; size *= 3) {
        status = tw_framer_write(framer, (uint8_t)(size % 100 + 1), bytes, size);
        if (status == TW_OK)
            status = tw_framer_idle(framer);
        if (status == TW_OK)
            status = tw_framer_mark(framer, TW_ID_TRIGGER, 1);
    }
    if (status == TW_OK)
        status = tw_framer_finish(framer);
    tw_framer_free(framer);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    struct check_random random = check_random_start(0xa110c);

    (void)state;
    for (size_t i = 0; i < check_scale(300); i++) {
        const struct tw_framer_config framing = random_framer(&random);
        struct sent sent;
        size_t size, calls = 0;
        uint8_t *data = make_capture(&size, &sent, &random, &framing);
        enum tw_status status;

        check_case("case %zu", i);
        if (size)
            data[check_random_below(&random, size)] = 0xff;
        do {
            struct purse purse = { .left = calls++ };

            status = unframe_with(&purse, config_of(framing.framing), data, size);
            CHECK(status == TW_OK || status == TW_E_MEMORY);
            CHECK_EQ(purse.out, 0);
        } while (status != TW_OK);
        sent_free(&sent);
        free(data);
    }
    for (size_t calls = 0;; calls++) {
        struct purse purse = { .left = calls };
        const enum tw_status status = frame_with(&purse);

        CHECK_EQ(purse.out, 0);
        if (status == TW_OK)
            break;
        CHECK_EQ(status, TW_E_MEMORY);
    }
}

/* Long stretches, so that whole batches of frames go the fast way. */
static void unpacks_long_captures(void **state)
{
    struct check_random random = check_random_start(0x10f6);

    (void)state;
    for (size_t i = 0; i < check_scale(100); i++) {
        struct tw_unframer_config config;
        const struct tw_framer_config framing = random_framer(&random);
        struct tw_framer *framer;
        uint8_t bytes[3000];
        const uint8_t *out;
        size_t size;

        check_case("case %zu", i);
        CHECK_EQ(tw_framer_new(&framer, &framing, NULL), TW_OK);
        for (unsigned n = 0; n < 20; n++) {
            check_random_fill(&random, bytes, sizeof bytes);
            CHECK_EQ(tw_framer_write(framer, (uint8_t)(0x10 + check_random_below(&random, 4)),
                                     bytes, check_random_below(&random, sizeof bytes)),
                     TW_OK);
        }
        CHECK_EQ(tw_framer_finish(framer), TW_OK);
        out = tw_framer_output(framer, &size);
        config = random_config(&random, framing.framing);
        config.wanted[0] |= 0x50000;
        check_against_oracle(config, out, size, &random);
        tw_framer_free(framer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_and_unpacks),
        cmocka_unit_test(unpacks_dstream_blocks),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_every_cut_and_flip),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(unpacks_long_captures),
    };

    return cmocka_run_group_tests_name("frame_random", tests, NULL, NULL);
}
