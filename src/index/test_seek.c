/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding from the middle of what our own trace units make: every protocol, every framing, with a
   full index, a sparse one and none. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

enum { CODE_MAX = 1 << 20, STREAMS = 3, REGISTERS = 64, FRAMINGS = 5, DAMAGE = 30 };

struct stream {
    const char *protocol;
    uint8_t id;
    uint8_t *bytes;
    size_t size;
    struct tw_register registers[REGISTERS];
    size_t register_count;
    const char *core_type;
};

struct capture {
    uint8_t *data;
    size_t size;
    enum tw_framing framing;
    struct tw_image *image;
    uint8_t *code;
    uint64_t code_first, code_end;
    struct tw_tree_source sources[STREAMS];
    size_t source_count;
    struct tw_index_capture about;
};

struct seen {
    struct tw_element *elements;
    uint8_t *ids;
    size_t count, room;
};

/* ---- streams of all kinds ---- */

static void keep(struct stream *stream, const uint8_t *bytes, size_t size)
{
    stream->bytes = check_copy(bytes, size);
    stream->size = size;
}

static void keep_code(struct capture *capture, const struct tw_step *step)
{
    for (size_t i = 0; step->kind == TW_STEP_INSTRUCTIONS && i < step->count; i++) {
        const struct tw_retired *one = &step->instructions[i];

        if (!capture->code_end)
            capture->code_first = one->address & ~(uint64_t)0xffff;
        if (one->size != 4 || one->address - capture->code_first > CODE_MAX - 4)
            continue;
        for (unsigned byte = 0; byte < 4; byte++)
            capture->code[one->address - capture->code_first + byte] =
                (uint8_t)(one->opcode >> 8 * byte);
        if (one->address + 4 > capture->code_end)
            capture->code_end = one->address + 4;
    }
}

typedef enum tw_status step_fn(void *unit, const struct tw_step *step);

static enum tw_status step_etmv4(void *unit, const struct tw_step *step)
{
    return tw_etmv4_unit_step(unit, step);
}

static enum tw_status step_ptm(void *unit, const struct tw_step *step)
{
    return tw_ptm_unit_step(unit, step);
}

static enum tw_status step_etmv3(void *unit, const struct tw_step *step)
{
    return tw_etmv3_unit_step(unit, step);
}

/* The log through a unit, with the time told now and then. */
static void run_log(struct capture *capture, const char *name, step_fn *step, void *unit,
                    bool tells_time)
{
    char path[500];
    struct tw_log *log;
    struct tw_step one;
    uint64_t time = 1000;
    unsigned count = 0;

    (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/captures/logs/%s", name);
    CHECK_EQ(tw_log_open(&log, path, NULL, NULL), TW_OK);
    while (tw_log_next(log, &one) == TW_OK) {
        const struct tw_step now = { .kind = TW_STEP_TIME, { .value = time += 37 } };

        keep_code(capture, &one);
        CHECK_EQ(step(unit, &one), TW_OK);
        if (tells_time && ++count % 20 == 0)
            CHECK_EQ(step(unit, &now), TW_OK);
    }
    tw_log_free(log);
}

static void make_etmv4(struct capture *capture, struct stream *stream, bool is_ete)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = is_ete };
    struct tw_etmv4_unit *unit;
    const uint8_t *bytes;
    size_t size;

    stream->protocol = is_ete ? "ete" : "etmv4";
    stream->core_type = is_ete ? "ARM-AA64" : "Cortex-A57";
    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etmv4_unit_preset(unit, TW_ETMV4_UNIT_MINIMAL, 0, 0), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCVICTLR", 0x201), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCCONFIGR", 0x1801), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCTSCTLR", 0), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCSYNCPR", 8), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCTRACEIDR", stream->id), TW_OK);
    while (tw_etmv4_unit_register(unit, &stream->registers[stream->register_count],
                                  stream->register_count) == TW_OK)
        stream->register_count++;
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1), TW_OK);
    run_log(capture, "a64-coro.exlog.gz", step_etmv4, unit, false);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 0), TW_OK);
    bytes = tw_etmv4_unit_output(unit, &size);
    keep(stream, bytes, size);
    tw_etmv4_unit_free(unit);
}

static void make_plain_etmv4(struct capture *capture, struct stream *stream)
{
    make_etmv4(capture, stream, false);
}

static void make_ete(struct capture *capture, struct stream *stream)
{
    make_etmv4(capture, stream, true);
}

static void name_armv7(struct stream *stream, uint32_t etmcr, uint32_t etmidr, uint32_t etmccer)
{
    stream->registers[0] = (struct tw_register){ "ETMCR", etmcr };
    stream->registers[1] = (struct tw_register){ "ETMIDR", etmidr };
    stream->registers[2] = (struct tw_register){ "ETMCCER", etmccer };
    stream->registers[3] = (struct tw_register){ "ETMTRACEIDR", stream->id };
    stream->register_count = 4;
    stream->core_type = "Cortex-A15";
}

static void make_ptm(struct capture *capture, struct stream *stream)
{
    /* Return stack, timestamps of 64 bits. */
    struct tw_ptm_unit_config config = {
        .size = sizeof config,
        .registers = { .size = sizeof config.registers,
                       .etmcr = 1u << 28 | 1u << 29,
                       .etmidr = 0x411cf312,
                       .etmccer = 1u << 29 | 1u << 22 | 1u << 23,
                       .etmtraceidr = stream->id },
        .sync_bytes = 200,
    };
    struct tw_ptm_unit *unit;
    const uint8_t *bytes;
    size_t size;

    stream->protocol = "ptm";
    name_armv7(stream, config.registers.etmcr, config.registers.etmidr,
               config.registers.etmccer);
    CHECK_EQ(tw_ptm_unit_new(&unit, &config, NULL), TW_OK);
    run_log(capture, "a32-recur.exlog.gz", step_ptm, unit, true);
    CHECK_EQ(tw_ptm_unit_flush(unit), TW_OK);
    bytes = tw_ptm_unit_output(unit, &size);
    keep(stream, bytes, size);
    tw_ptm_unit_free(unit);
}

static void make_etmv3(struct capture *capture, struct stream *stream)
{
    struct tw_etmv3_unit_config config = {
        .size = sizeof config,
        .registers = { .size = sizeof config.registers,
                       .etmcr = 1u << 28,
                       .etmidr = 0x410cf250,
                       .etmccer = 1u << 29 | 1u << 22,
                       .etmtraceidr = stream->id },
        .sync_bytes = 200,
    };
    struct tw_etmv3_unit *unit;
    const uint8_t *bytes;
    size_t size;

    stream->protocol = "etmv3";
    name_armv7(stream, config.registers.etmcr, config.registers.etmidr,
               config.registers.etmccer);
    CHECK_EQ(tw_etmv3_unit_new(&unit, &config, NULL), TW_OK);
    run_log(capture, "a32-recur.exlog.gz", step_etmv3, unit, true);
    CHECK_EQ(tw_etmv3_unit_flush(unit), TW_OK);
    bytes = tw_etmv3_unit_output(unit, &size);
    keep(stream, bytes, size);
    tw_etmv3_unit_free(unit);
}

static void make_itm(struct capture *capture, struct stream *stream)
{
    const uint32_t tcr = TW_ITM_TCR_ENABLE | TW_ITM_TCR_TIMESTAMPS | TW_ITM_TCR_SYNC |
                         TW_ITM_TCR_DWT | 1u << 8 | (uint32_t)stream->id << 16 | 1u << 10;
    const struct tw_itm_unit_config config = {
        .size = sizeof config, .tcr = tcr, .sync_cycles = 500, .global_time = 0x123456789
    };
    struct check_random random = check_random_start(7);
    struct tw_itm_unit *unit;
    const uint8_t *bytes;
    size_t size;

    (void)capture;
    stream->protocol = "itm";
    stream->registers[0] = (struct tw_register){ "ITM_TCR", tcr };
    stream->register_count = 1;
    CHECK_EQ(tw_itm_unit_new(&unit, &config, NULL), TW_OK);
    for (unsigned i = 0; i < 4000; i++) {
        CHECK_EQ(tw_itm_unit_write(unit, (unsigned)check_random_below(&random, 256), i, 4),
                 TW_OK);
        CHECK_EQ(tw_itm_unit_advance(unit, check_random_below(&random, 40)), TW_OK);
    }
    CHECK_EQ(tw_itm_unit_flush(unit), TW_OK);
    bytes = tw_itm_unit_output(unit, &size);
    keep(stream, bytes, size);
    tw_itm_unit_free(unit);
}

static void make_stm(struct capture *capture, struct stream *stream)
{
    const struct tw_stm_unit_config config = { .size = sizeof config,
                                               .version = 4,
                                               .has_timestamps = true,
                                               .timestamp_bits = 48,
                                               .sync_bytes = 300 };
    struct check_random random = check_random_start(8);
    struct tw_stm_unit *unit;
    const uint8_t *bytes;
    uint64_t time = 5;
    size_t size;

    (void)capture;
    stream->protocol = "stm";
    stream->registers[0] = (struct tw_register){ "STMTCSR", (uint64_t)stream->id << 16 };
    stream->register_count = 1;
    CHECK_EQ(tw_stm_unit_new(&unit, &config, NULL), TW_OK);
    for (unsigned i = 0; i < 4000; i++) {
        if (check_random_below(&random, 10) == 0)
            tw_stm_unit_select(unit, (uint16_t)check_random_below(&random, 300),
                               (uint16_t)check_random_below(&random, 300));
        tw_stm_unit_set_time(unit, time += check_random_below(&random, 1000));
        CHECK_EQ(tw_stm_unit_write(unit, i, 32, i & 1 ? TW_STM_TIMED : 0), TW_OK);
        if (i % 500 == 0)
            CHECK_EQ(tw_stm_unit_trigger(unit, (uint8_t)(i / 500), TW_STM_TIMED), TW_OK);
    }
    CHECK_EQ(tw_stm_unit_flush(unit), TW_OK);
    bytes = tw_stm_unit_output(unit, &size);
    keep(stream, bytes, size);
    tw_stm_unit_free(unit);
}

/* ---- captures ---- */

static enum tw_status read_capture(void *context, const uint8_t **bytes, size_t *size,
                                   uint64_t offset)
{
    const struct capture *capture = context;
    const uint64_t at = offset - capture->about.base;

    if (at >= capture->size)
        return TW_END;
    *bytes = capture->data + at;
    *size = capture->size - (size_t)at;
    if (*size > 5000) /* as from files of several parts */
        *size = 5000;
    return TW_OK;
}

/* TPIU bytes in blocks of 504, with a footer that says all of them count. */
static void wrap_dstream(struct capture *capture)
{
    const size_t blocks = capture->size / 504;
    uint8_t *out = calloc(blocks + 1, 512);

    CHECK(out);
    for (size_t i = 0; i < blocks; i++) {
        memcpy(out + 512 * i, capture->data + 504 * i, 504);
        out[512 * i + 508] = 126;
    }
    free(capture->data);
    capture->data = out;
    capture->size = 512 * blocks;
}

static void frame(struct capture *capture, const struct stream *streams, size_t count,
                  struct check_random *random)
{
    const bool is_memory = capture->framing == TW_FRAMING_MEMORY;
    const struct tw_framer_config config = {
        .size = sizeof config,
        .framing = capture->framing == TW_FRAMING_DSTREAM ? TW_FRAMING_TPIU : capture->framing,
        .repeat_frames = 1000, /* IDs are seldom told again */
        .fsync_frames = 16,
    };
    struct tw_framer *framer;
    size_t at[STREAMS] = { 0 };
    size_t left = 0, size;
    const uint8_t *bytes;

    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    for (size_t i = 0; i < count; i++)
        left += streams[i].size;
    while (left) {
        const size_t i = (size_t)check_random_below(random, count);
        size_t piece = (size_t)check_random_below(random, 900);

        if (piece > streams[i].size - at[i])
            piece = streams[i].size - at[i];
        CHECK_EQ(tw_framer_write(framer, streams[i].id, streams[i].bytes + at[i], piece),
                 TW_OK);
        at[i] += piece;
        left -= piece;
        if (check_random_below(random, 40) == 0)
            CHECK_EQ(tw_framer_mark(framer, TW_ID_TRIGGER, 3), TW_OK);
        if (is_memory && check_random_below(random, 100) == 0)
            CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    }
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    bytes = tw_framer_output(framer, &size);
    capture->data = check_copy(bytes, size);
    capture->size = size;
    tw_framer_free(framer);
    if (capture->framing == TW_FRAMING_DSTREAM)
        wrap_dstream(capture);
}

static void complete(struct capture *capture, struct stream *streams, size_t count)
{
    struct tw_region region = { .size = sizeof region, .address = capture->code_first };

    CHECK_EQ(tw_image_new(&capture->image, NULL, NULL), TW_OK);
    region.length = capture->code_end - capture->code_first;
    if (region.length)
        CHECK_EQ(tw_image_add(capture->image, &region, capture->code), TW_OK);
    for (size_t i = 0; i < count; i++)
        capture->sources[i] =
            (struct tw_tree_source){ .size = sizeof capture->sources[i],
                                     .protocol = streams[i].protocol,
                                     .registers = streams[i].registers,
                                     .register_count = streams[i].register_count,
                                     .core_type = streams[i].core_type,
                                     .id = streams[i].id,
                                     .image = capture->image };
    capture->source_count = count;
    capture->about = (struct tw_index_capture){ .size = sizeof capture->about,
                                                .framing = capture->framing,
                                                .base = 0x1230,
                                                .bytes = capture->size,
                                                .read = read_capture,
                                                .read_context = capture,
                                                .sources = capture->sources,
                                                .source_count = count };
}

/* ---- decoding ---- */

static struct tw_tree *make_tree(const struct capture *capture, uint32_t threads)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = capture->framing,
                                           .threads = threads,
                                           .base = capture->about.base };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    for (size_t i = 0; i < capture->source_count; i++)
        CHECK_EQ(tw_tree_add_source(tree, NULL, &capture->sources[i]), TW_OK);
    return tree;
}

static void take(struct seen *to, struct tw_tree *tree, const struct capture *capture,
                 uint64_t at, uint64_t least)
{
    enum tw_status status = TW_MORE;
    struct tw_batch batch = { .size = sizeof batch };

    to->count = 0;
    while (status != TW_END) {
        const uint8_t *bytes;
        size_t size;

        status = tw_tree_next(tree, &batch);
        CHECK(status >= 0);
        if (status == TW_MORE) {
            if (capture->about.read(capture->about.read_context, &bytes, &size, at) == TW_END) {
                CHECK_EQ(tw_tree_finish(tree), TW_OK);
                continue;
            }
            CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
            at += size;
        }
        for (size_t i = 0; status == TW_OK && i < batch.count; i++) {
            if (batch.elements[i].index < least)
                continue;
            if (to->count == to->room) {
                to->room = 2 * to->room + 256;
                to->elements = realloc(to->elements, to->room * sizeof *to->elements);
                to->ids = realloc(to->ids, to->room);
                CHECK(to->elements && to->ids);
            }
            to->ids[to->count] = batch.id;
            to->elements[to->count++] = batch.elements[i];
        }
    }
}

static void check_same(const struct seen *got, const struct seen *all, uint64_t least)
{
    size_t number = 0;

    for (size_t i = 0; i < all->count; i++) {
        char want[512], text[512];

        if (all->elements[i].index < least)
            continue;
        CHECK(number < got->count);
        (void)tw_element_json(want, sizeof want, &all->elements[i], all->ids[i]);
        (void)tw_element_json(text, sizeof text, &got->elements[number], got->ids[number]);
        CHECK_TEXT(text, want);
        number++;
    }
    CHECK_EQ(number, got->count);
}

static unsigned late;

static void seek_everywhere(struct capture *capture, const char *name,
                            struct check_random *random)
{
    static const char *const details[] = { "source", "sparse", "full", "none" };
    struct seen all = { 0 }, some = { 0 };
    struct tw_tree *tree = make_tree(capture, 0);

    take(&all, tree, capture, capture->about.base, 0);
    tw_tree_free(tree);
    for (unsigned detail = TW_INDEX_SOURCE; detail <= TW_INDEX_FULL + 1; detail++) {
        const struct tw_index_config config = { .size = sizeof config,
                                                .detail = (enum tw_index_detail)detail,
                                                .block_bytes = 1024 };
        struct tw_index *index = NULL;

        check_case("%s, %s", name, details[detail]);
        if (detail <= TW_INDEX_FULL)
            CHECK_EQ(tw_index_build(&index, &capture->about, &config, NULL), TW_OK);
        for (size_t i = 0; i < check_scale(60); i++) {
            const uint64_t at = capture->about.base + check_random_below(random, capture->size);
            uint64_t from;

            check_case("%s, %s, from 0x%" PRIx64, name, details[detail], at);
            tree = make_tree(capture, i % 5 ? 0 : 2);
            CHECK_EQ(tw_index_seek(&capture->about, index, tree, &from, at, 2), TW_OK);
            CHECK(from <= at);
            late += from > capture->about.base;
            take(&some, tree, capture, from, at);
            check_same(&some, &all, at);
            tw_tree_free(tree);
        }
        tw_index_free(index);
    }
    free(all.elements);
    free(all.ids);
    free(some.elements);
    free(some.ids);
}

typedef void make_fn(struct capture *capture, struct stream *stream);

static void try_mix(const char *name, enum tw_framing framing, make_fn *const *makers,
                    size_t count)
{
    struct check_random random = check_random_start(9 + framing);
    struct stream streams[STREAMS] = { { 0 } };
    struct capture capture = { .framing = framing, .code = calloc(1, CODE_MAX) };

    CHECK(capture.code);
    for (size_t i = 0; i < count; i++) {
        streams[i].id = (uint8_t)(0x10 + 7 * i);
        makers[i](&capture, &streams[i]);
    }
    if (framing == TW_FRAMING_NONE) {
        capture.data = check_copy(streams[0].bytes, streams[0].size);
        capture.size = streams[0].size;
    } else {
        frame(&capture, streams, count, &random);
    }
    complete(&capture, streams, count);
    late = 0;
    seek_everywhere(&capture, name, &random);
    CHECK(late > 0);
    for (unsigned i = 0; i < DAMAGE; i++)
        capture.data[check_random_below(&random, capture.size)] =
            (uint8_t)check_random_below(&random, 256);
    seek_everywhere(&capture, name, &random);
    tw_image_free(capture.image);
    free(capture.code);
    free(capture.data);
    for (size_t i = 0; i < count; i++)
        free(streams[i].bytes);
}

static void every_protocol_begins_in_the_middle(void **state)
{
    static const struct {
        const char *name;
        make_fn *make;
    } kinds[] = { { "etmv4", make_plain_etmv4 }, { "ete", make_ete }, { "ptm", make_ptm },
                  { "etmv3", make_etmv3 },       { "itm", make_itm }, { "stm", make_stm } };

    (void)state;
    for (size_t i = 0; i < LENGTH(kinds); i++)
        try_mix(kinds[i].name, TW_FRAMING_NONE, &kinds[i].make, 1);
}

static void so_do_mixtures_in_every_framing(void **state)
{
    static make_fn *const arm[] = { make_plain_etmv4, make_ete, make_stm };
    static make_fn *const flow[] = { make_plain_etmv4, make_ete };

    (void)state;
    for (unsigned framing = TW_FRAMING_MEMORY; framing < FRAMINGS; framing++) {
        try_mix(tw_framing_name((enum tw_framing)framing), (enum tw_framing)framing, flow, 2);
        if (framing == TW_FRAMING_MEMORY)
            try_mix("three", (enum tw_framing)framing, arm, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol_begins_in_the_middle),
        cmocka_unit_test(so_do_mixtures_in_every_framing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
