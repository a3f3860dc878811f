/* SPDX-License-Identifier: BSD-2-Clause */
/* A small capture for the tests of the index: an STM and an ITM in memory frames. */
#ifndef INDEX_TEST_H
#define INDEX_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

enum { BLOCK = 512, BASE = 0x4000 };

/* A capture of an STM (0x10) and an ITM (0x22) in memory frames, with triggers and a barrier. */
struct fixture {
    uint8_t *data;
    size_t size;
    struct tw_register registers[2];
    struct tw_tree_source sources[2];
    struct tw_index_capture about;
    uint64_t fsyncs;
};

static inline enum tw_status read_fixture(void *context, const uint8_t **bytes, size_t *size,
                                          uint64_t offset)
{
    const struct fixture *fixture = context;

    if (offset - BASE >= fixture->size)
        return TW_END;
    *bytes = fixture->data + (offset - BASE);
    *size = fixture->size - (size_t)(offset - BASE);
    return TW_OK;
}

static inline void write_stm(struct tw_stm_unit *unit, struct tw_framer *framer)
{
    size_t size;
    const uint8_t *bytes = tw_stm_unit_output(unit, &size);

    CHECK_EQ(tw_framer_write(framer, 0x10, bytes, size), TW_OK);
    tw_stm_unit_take(unit);
}

static inline void write_itm(struct tw_itm_unit *unit, struct tw_framer *framer)
{
    size_t size;
    const uint8_t *bytes = tw_itm_unit_output(unit, &size);

    CHECK_EQ(tw_framer_write(framer, 0x22, bytes, size), TW_OK);
    tw_itm_unit_take(unit);
}

static inline void fill(struct tw_framer *framer, struct tw_stm_unit *stm,
                        struct tw_itm_unit *itm, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        tw_stm_unit_set_time(stm, 100 + 10u * i);
        CHECK_EQ(tw_stm_unit_write(stm, i, 32, TW_STM_TIMED), TW_OK);
        if (i % 50 == 7)
            CHECK_EQ(tw_stm_unit_trigger(stm, (uint8_t)i, 0), TW_OK);
        write_stm(stm, framer);
        if (i > rounds / 3) { /* the other one begins later */
            CHECK_EQ(tw_itm_unit_write(itm, 1, i, 4), TW_OK);
            CHECK_EQ(tw_itm_unit_advance(itm, 5), TW_OK);
            write_itm(itm, framer);
        }
        if (i % 100 == 50)
            CHECK_EQ(tw_framer_mark(framer, TW_ID_TRIGGER, (uint8_t)(i / 100)), TW_OK);
        if (i % 100 == 60)
            CHECK_EQ(tw_framer_mark(framer, TW_ID_FLUSH, 1), TW_OK);
    }
}

static inline void make_fixture(struct fixture *fixture, unsigned rounds)
{
    const struct tw_framer_config framing = { .size = sizeof framing,
                                              .framing = TW_FRAMING_MEMORY };
    const struct tw_stm_unit_config stm_config = { .size = sizeof stm_config,
                                                   .version = 3,
                                                   .has_timestamps = true,
                                                   .timestamp_bits = 64,
                                                   .sync_bytes = 256 };
    const uint32_t tcr = TW_ITM_TCR_ENABLE | TW_ITM_TCR_TIMESTAMPS | TW_ITM_TCR_SYNC | 0x220000;
    const struct tw_itm_unit_config itm_config = { .size = sizeof itm_config,
                                                   .tcr = tcr,
                                                   .sync_cycles = 200 };
    struct tw_framer *framer;
    struct tw_stm_unit *stm;
    struct tw_itm_unit *itm;
    const uint8_t *bytes;
    size_t size;

    memset(fixture, 0, sizeof *fixture);
    CHECK_EQ(tw_framer_new(&framer, &framing, NULL), TW_OK);
    CHECK_EQ(tw_stm_unit_new(&stm, &stm_config, NULL), TW_OK);
    CHECK_EQ(tw_itm_unit_new(&itm, &itm_config, NULL), TW_OK);
    fill(framer, stm, itm, rounds);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    bytes = tw_framer_output(framer, &size);
    fixture->data = check_copy(bytes, size);
    fixture->size = size;
    tw_framer_free(framer);
    tw_stm_unit_free(stm);
    tw_itm_unit_free(itm);
    fixture->registers[0] = (struct tw_register){ "STMTCSR", 0x100000 };
    fixture->registers[1] = (struct tw_register){ "ITM_TCR", tcr };
    for (unsigned i = 0; i < 2; i++)
        fixture->sources[i] = (struct tw_tree_source){ .size = sizeof fixture->sources[i],
                                                       .protocol = i ? "itm" : "stm",
                                                       .registers = &fixture->registers[i],
                                                       .register_count = 1 };
    fixture->about = (struct tw_index_capture){ .size = sizeof fixture->about,
                                                .framing = TW_FRAMING_MEMORY,
                                                .base = BASE,
                                                .bytes = size,
                                                .read = read_fixture,
                                                .read_context = fixture,
                                                .sources = fixture->sources,
                                                .source_count = 2 };
}

static inline struct tw_index *build(const struct fixture *fixture, enum tw_index_detail detail)
{
    const struct tw_index_config config = {
        .size = sizeof config, .detail = detail, .block_bytes = BLOCK, .name = "ETB_0"
    };
    struct tw_index *index;

    CHECK_EQ(tw_index_build(&index, &fixture->about, &config, NULL), TW_OK);
    return index;
}

/* The file that an index makes, as bytes. */
static inline uint8_t *bytes_of(const struct tw_index *index, size_t *size)
{
    char path[] = "/tmp/trackway-index-XXXXXX";
    const int fd = mkstemp(path);
    uint8_t *bytes;

    CHECK(fd >= 0);
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(tw_index_write(path, &index, 1, NULL), TW_OK);
    bytes = check_load(size, path);
    CHECK(bytes);
    CHECK_EQ(remove(path), 0);
    return bytes;
}

#endif
