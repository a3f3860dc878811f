/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the decode tree: order of several sources, feeding, gaps, resets, want of memory. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "failing.h"

enum { SOURCES = 3, MEMORY = 0x4000 };

static const uint8_t ids[SOURCES] = { 0x10, 0x11, 0x30 };

/* The program of all sources: nop; b.eq +8; bl +12; b -12 ... again and again. */
static struct tw_image *make_image(void)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xd503201f, 0xd65f03c0, 0xb4000060, 0xd5033fdf };
    static uint8_t memory[MEMORY];
    const struct tw_region region = { .size = sizeof region, .length = MEMORY };
    struct tw_image *image;

    for (size_t i = 0; i < MEMORY; i++)
        memory[i] = (uint8_t)(words[i / 4 % LENGTH(words)] >> (8 * (i % 4)));
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, memory), TW_OK);
    return image;
}

static enum tw_status add_source(struct tw_tree *tree, struct tw_image *image, uint8_t id,
                                 uint32_t max_spec)
{
    const struct tw_register registers[] = {
        { "TRCIDR0", 0x28c1cea1 },       { "TRCIDR1", 0x4100fff0 },
        { "TRCIDR2", 0xd0001088 },       { "TRCIDR8", max_spec },
        { "TRCDEVARCH", 0x47735a13 },    { "TRCCONFIGR", 0x1001 },
        { "TRCTRACEIDR", (uint64_t)id },
    };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "ete",
                                           .registers = registers,
                                           .register_count = LENGTH(registers),
                                           .core_type = "ARM-AA64",
                                           .image = image };
    uint8_t got = 0;
    const enum tw_status status = tw_tree_add_source(tree, &got, &source);

    if (status == TW_OK)
        CHECK_EQ(got, id);
    return status;
}

static struct tw_tree *make_tree(struct tw_tree_config config, struct tw_image *image,
                                 size_t sources)
{
    struct tw_fault fault;
    struct tw_tree *tree;

    config.size = sizeof config;
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    for (size_t i = 0; i < sources; i++)
        CHECK_EQ(add_source(tree, image, ids[i], i == 1 ? 4 : 0), TW_OK);
    return tree;
}

/* Bytes that grow. */
struct bytes {
    uint8_t data[20000];
    size_t size;
};

static void put(struct bytes *out, const void *bytes, size_t size)
{
    CHECK(out->size + size <= sizeof out->data);
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

static void put_start(struct bytes *out)
{
    static const uint8_t start[] = { 0,    0, 0, 0, 0,    0, 0, 0, 0, 0,   0,
                                     0x80, 1, 0, 4, 0x82, 0, 8, 0, 0, 0x31 };

    put(out, start, sizeof start);
}

/* A source's stream: good packets, and damage now and then. */
static void make_stream(struct bytes *out, struct check_random *random, bool commits)
{
    /* clang-format off */
    static const uint8_t packets[][8] = {
        { 1, 0xf7 }, { 1, 0xf6 }, { 1, 0xdc }, { 3, 0x95, 0x84, 0x09 }, { 2, 0x95, 0x04 }, { 1, 0x72 },
        { 2, 0x02, 0x33 }, { 2, 0x81, 0x31 }, { 5, 0x06, 0x1d, 0x95, 0x86, 0x09 },
        { 5, 0x9a, 0x40, 0x08, 0x00, 0x00 }, { 1, 0x94 },
    };
    /* clang-format on */
    const size_t count = 30 + (size_t)check_random_below(random, 200);

    out->size = 0;
    put_start(out);
    for (size_t i = 0; i < count; i++) {
        const size_t most =
            check_random_below(random, 20) ? LENGTH(packets) - 1 : LENGTH(packets);
        const uint8_t *packet = packets[check_random_below(random, most)];

        put(out, packet + 1, packet[0]);
        if (commits && i % 3 == 0)
            put(out, "\xf7\x2d\x01", 3);
        if (check_random_below(random, 40) == 0)
            put_start(out);
    }
}

/* Frames of several streams, in chunks of random size; sometimes with a barrier. */
static void make_capture(struct bytes *out, struct bytes *streams, size_t count,
                         struct check_random *random, bool has_barriers)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    size_t at[SOURCES] = { 0 }, left = 0, size;
    struct tw_framer *framer;
    const uint8_t *frames;

    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    for (size_t i = 0; i < count; i++)
        left += streams[i].size;
    while (left) {
        const size_t i = (size_t)check_random_below(random, count);
        size_t chunk = 1 + (size_t)check_random_below(random, 30);

        if (chunk > streams[i].size - at[i])
            chunk = streams[i].size - at[i];
        CHECK_EQ(tw_framer_write(framer, ids[i], streams[i].data + at[i], chunk), TW_OK);
        at[i] += chunk;
        left -= chunk;
        if (has_barriers && check_random_below(random, 40) == 0)
            CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    }
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    out->size = 0;
    put(out, frames, size);
    tw_framer_free(framer);
}

/* What came out, in order. */
struct list {
    struct tw_element elements[12000];
    uint8_t of[12000];
    size_t count;
};

static void take(struct tw_tree *tree, struct list *list)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK) {
        CHECK(list->count + batch.count <= LENGTH(list->elements));
        for (size_t i = 0; i < batch.count; i++) {
            list->elements[list->count] = batch.elements[i];
            list->of[list->count++] = batch.id;
        }
    }
    CHECK(status > 0);
}

static void check_same(const struct list *got, const struct list *want)
{
    for (size_t i = 0; i < got->count && i < want->count; i++) {
        CHECK_EQ(got->of[i], want->of[i]);
        CHECK_BYTES(&got->elements[i], sizeof got->elements[i], &want->elements[i],
                    sizeof want->elements[i]);
    }
    CHECK_EQ(got->count, want->count);
}

/* Feeds a capture in pieces (NULL: whole) and takes all there is. */
static void run(struct tw_tree *tree, struct list *list, const struct bytes *capture,
                struct check_random *random)
{
    list->count = 0;
    for (size_t at = 0; at < capture->size;) {
        size_t piece = capture->size - at;

        if (random)
            piece = 1 + (size_t)check_random_below(random, piece < 100 ? piece : 100);
        CHECK_EQ(tw_tree_feed(tree, capture->data + at, piece), TW_OK);
        at += piece;
        take(tree, list);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take(tree, list);
}

/* The oracle: a tree for each ID, byte after byte in the order of the capture. */
struct oracle {
    struct tw_tree *trees[SOURCES];
    uint64_t where[SOURCES][20000]; /* in the capture, of each byte of a stream */
    size_t sizes[SOURCES];
    struct list *list;
};

static void take_one(struct oracle *oracle, size_t i)
{
    const size_t from = oracle->list->count;

    take(oracle->trees[i], oracle->list);
    for (size_t n = from; n < oracle->list->count; n++)
        oracle->list->elements[n].index = oracle->where[i][oracle->list->elements[n].index];
}

static void see_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                    const uint8_t *bytes, size_t size)
{
    struct oracle *oracle = context;
    size_t i = 0;

    (void)stream_offset;
    while (i < SOURCES && ids[i] != id)
        i++;
    if (i == SOURCES)
        return;
    for (size_t n = 0; n < size; n++) {
        oracle->where[i][oracle->sizes[i]++] = capture_offset + n;
        CHECK_EQ(tw_tree_feed(oracle->trees[i], bytes + n, 1), TW_OK);
        take_one(oracle, i);
    }
}

static void ask_oracle(struct list *list, const struct bytes *capture, struct tw_image *image)
{
    struct oracle *oracle = calloc(1, sizeof *oracle);
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = TW_FRAMING_MEMORY,
                                         .on_run = see_run,
                                         .on_run_context = oracle };
    const struct tw_tree_config tree_config = { .size = sizeof tree_config };
    struct tw_unframer *unframer;

    assert_non_null(oracle);
    list->count = 0;
    oracle->list = list;
    for (size_t i = 0; i < SOURCES; i++) {
        CHECK_EQ(tw_tree_new(&oracle->trees[i], &tree_config, NULL), TW_OK);
        CHECK_EQ(add_source(oracle->trees[i], image, ids[i], i == 1 ? 4 : 0), TW_OK);
    }
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, capture->data, capture->size), TW_OK);
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    tw_unframer_free(unframer);
    for (size_t i = 0; i < SOURCES; i++) {
        CHECK_EQ(tw_tree_finish(oracle->trees[i]), TW_OK);
        take_one(oracle, i);
        tw_tree_free(oracle->trees[i]);
    }
    free(oracle);
}

static struct bytes *streams, *capture; /* too large for the stack */
static struct list *lists;

static int set_up(void **state)
{
    (void)state;
    streams = calloc(SOURCES, sizeof *streams);
    capture = calloc(1, sizeof *capture);
    lists = calloc(2, sizeof *lists);
    return streams && capture && lists ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(streams);
    free(capture);
    free(lists);
    return 0;
}

static void make_all(struct check_random *random, bool has_barriers)
{
    for (size_t i = 0; i < SOURCES; i++)
        make_stream(&streams[i], random, i == 1);
    make_capture(capture, streams, SOURCES, random, has_barriers);
}

/* [CSD 2.3.3.5] */
static void sources_are_merged_in_the_order_of_the_capture(void **state)
{
    struct check_random random = check_random_start(0x6d65726765);
    struct tw_image *image = make_image();
    const size_t rounds = check_scale(200);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct tw_tree *tree;

        make_all(&random, false);
        ask_oracle(&lists[0], capture, image);
        for (unsigned i = 0; i < 3; i++) {
            check_case("round %zu, feeding %u", round, i);
            tree = make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }, image,
                             SOURCES);
            run(tree, &lists[1], capture, i ? &random : NULL);
            check_same(&lists[1], &lists[0]);
            tw_tree_free(tree);
        }
    }
    tw_image_free(image);
}

/* [CSD 2.1.4/5] [CSD 2.3.1.1/3] */
static void a_reset_tree_gives_the_same_again(void **state)
{
    struct check_random random = check_random_start(0x7265736574);
    struct tw_image *image = make_image();
    struct tw_tree *tree;

    (void)state;
    make_all(&random, false);
    tree = make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }, image, SOURCES);
    run(tree, &lists[0], capture, NULL);
    CHECK(lists[0].count > 100);
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t base = i ? 0x100000 * i : 0;

        check_case("reset %u", i);
        tw_tree_reset(tree, base);
        if (i == 2) { /* in the middle of another run */
            CHECK_EQ(tw_tree_feed(tree, capture->data + 16, 160), TW_OK);
            tw_tree_reset(tree, base);
        }
        run(tree, &lists[1], capture, i == 3 ? &random : NULL);
        for (size_t n = 0; n < lists[1].count; n++) {
            lists[1].elements[n].index -= base;
            if (lists[1].elements[n].type == TW_ELEMENT_NO_SYNC &&
                lists[1].elements[n].reason == TW_REASON_RESET &&
                lists[0].elements[n].reason == TW_REASON_INIT)
                lists[1].elements[n].reason = TW_REASON_INIT; /* it says why it begins afresh */
        }
        check_same(&lists[1], &lists[0]);
    }
    tw_tree_free(tree);
    tw_image_free(image);
}

static size_t count_errors(const struct list *list, uint8_t id, uint8_t code)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->of[i] == id && list->elements[i].type == TW_ELEMENT_ERROR &&
                 list->elements[i].error == code;
    return count;
}

/* Twice the same stream, a barrier in between: nothing of the first half reaches the second. */
static void barriers_reach_decoders_and_readers(void **state)
{
    static const uint8_t cut[] = { 0x72, 0x9a,
                                   0x40 }; /* an event that waits, half an address */
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_image *image = make_image();
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_framer *framer;
    struct tw_tree *tree;
    const uint8_t *frames;
    size_t size, packets[2] = { 0, 0 }, syncs = 0;
    enum tw_status status;
    static const char *const want[] = { "NO_SYNC",     "TRACE_ON", "PE_CONTEXT",
                                        "INSTR_RANGE", "EVENT",    "NO_SYNC",
                                        "ERROR",       "TRACE_ON", "PE_CONTEXT",
                                        "INSTR_RANGE", "EO_TRACE" };

    (void)state;
    streams[0].size = 0;
    put_start(&streams[0]);
    put(&streams[0], "\xf7", 1);
    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, ids[0], streams[0].data, streams[0].size), TW_OK);
    CHECK_EQ(tw_framer_write(framer, ids[0], cut, sizeof cut), TW_OK);
    CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    CHECK_EQ(tw_framer_write(framer, ids[0], streams[0].data, streams[0].size), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    capture->size = 0;
    put(capture, frames, size);
    tw_framer_free(framer);

    tree = make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }, image, 1);
    run(tree, &lists[0], capture, NULL);
    CHECK_EQ(count_errors(&lists[0], ids[0], TW_ERROR_DISCONTINUITY), 1);
    /* The padding behind the last packet is a cut A-sync. */
    CHECK_EQ(lists[0].count,
             LENGTH(want) + count_errors(&lists[0], ids[0], TW_ERROR_TRUNCATED));
    for (size_t i = 0; i < LENGTH(want); i++) {
        check_case("element %zu", i);
        CHECK_TEXT(tw_element_type_name(lists[0].elements[i].type), want[i]);
    }
    CHECK_EQ(lists[0].elements[5].reason, TW_REASON_RESET);
    tw_tree_reset(tree, 0);
    for (size_t at = 0; at < capture->size; at++) /* byte by byte the same */
        CHECK_EQ(tw_tree_feed(tree, capture->data + at, 1), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    lists[1].count = 0;
    take(tree, &lists[1]);
    lists[1].elements[0].reason = TW_REASON_INIT;
    check_same(&lists[1], &lists[0]);
    tw_tree_free(tree);

    tree =
        make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY, .packets_only = true },
                  image, 1);
    CHECK_EQ(tw_tree_feed(tree, capture->data, capture->size), TW_OK);
    while ((status = tw_tree_next_packet(tree, &view)) == TW_OK) {
        syncs += strcmp(tw_packet_type_name(&view), "I_ASYNC") == 0;
        CHECK(syncs == 1 || syncs == 2);
        packets[syncs - 1] += view.packet->size;
    }
    CHECK_EQ(status, TW_MORE);
    CHECK_EQ(syncs, 2);
    CHECK_EQ(packets[0], streams[0].size + sizeof cut);
    tw_tree_free(tree);
    tw_image_free(image);
}

static void unframed_bytes_lie_behind_the_base(void **state)
{
    struct tw_image *image = make_image();
    const struct tw_tree_config config = { .base = 0x123456789 };
    struct tw_tree *tree = make_tree(config, image, 1);

    (void)state;
    capture->size = 0;
    put_start(capture);
    put(capture, "\xf7\xf6\x72", 3);
    run(tree, &lists[0], capture, NULL);
    CHECK_EQ(lists[0].elements[0].index, config.base);
    CHECK_EQ(lists[0].elements[1].index, config.base + 14);
    CHECK_EQ(lists[0].elements[3].index, config.base + 21);
    CHECK_EQ(lists[0].elements[lists[0].count - 1].index, config.base + 23);
    tw_tree_reset(tree, 7);
    run(tree, &lists[1], capture, NULL);
    CHECK_EQ(lists[1].elements[3].index, 7 + 21);
    tw_tree_free(tree);
    tw_image_free(image);
}

static void wrong_calls_are_refused(void **state)
{
    struct tw_tree_config bad = { .size = 3 };
    struct tw_image *image = make_image();
    struct tw_tree_source source = { .size = sizeof source, .protocol = "nonesuch" };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_fault fault;
    struct tw_tree *tree;
    uint8_t id;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &bad, &fault), TW_E_ARGUMENT);
    CHECK(tree == NULL && fault.text[0]);
    tw_tree_free(NULL);
    tree = make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }, image, 2);
    CHECK(tw_tree_add_source(tree, &id, &source) < 0);
    CHECK(strstr(tw_tree_fault(tree), "nonesuch") != NULL);
    source.protocol = "ete"; /* without registers */
    CHECK_EQ(tw_tree_add_source(tree, &id, &source), TW_E_CONFIG);
    CHECK(strstr(tw_tree_fault(tree), "TRCIDR0") != NULL);
    source.size = 1;
    CHECK_EQ(tw_tree_add_source(tree, &id, &source), TW_E_ARGUMENT);
    CHECK_EQ(add_source(tree, image, ids[0], 0), TW_E_CONFIG); /* twice the same ID */
    CHECK_EQ(tw_tree_next_packet(tree, &view), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_MORE);
    CHECK_EQ(tw_tree_feed(tree, NULL, 0), TW_OK);
    CHECK(add_source(tree, image, 0x55, 0) < 0);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, NULL, 0), TW_E_ARGUMENT);
    lists[0].count = 0;
    take(tree, &lists[0]);
    CHECK_EQ(lists[0].count, 2); /* the end of both */
    CHECK_EQ(tw_tree_next(tree, &batch), TW_END);
    CHECK(tw_tree_source_stats(tree, 0x77) == NULL);
    CHECK(tw_tree_source_stats(tree, ids[1]) != NULL);
    tw_tree_free(tree);

    tree = make_tree((struct tw_tree_config){ .packets_only = true }, image, 1);
    capture->size = 0;
    put_start(capture);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_feed(tree, capture->data, capture->size), TW_OK);
    CHECK_EQ(tw_tree_next_packet(tree, &view), TW_OK);
    CHECK_EQ(view.packet->size, 12);
    CHECK(tw_tree_frame_stats(tree) == NULL);
    tw_tree_free(tree);
    tw_image_free(image);
}

static void feeding_ahead_of_taking_is_fine(void **state)
{
    struct check_random random = check_random_start(0x6168656164);
    struct tw_image *image = make_image();
    struct tw_tree *tree;

    (void)state;
    make_all(&random, false);
    ask_oracle(&lists[0], capture, image);
    tree = make_tree((struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }, image, SOURCES);
    for (size_t at = 0; at < capture->size; at += 16)
        CHECK_EQ(tw_tree_feed(tree, capture->data + at, 16), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    lists[1].count = 0;
    take(tree, &lists[1]);
    check_same(&lists[1], &lists[0]);
    tw_tree_free(tree);
    tw_image_free(image);
}

/* A whole decode with the n-th request for memory failing. */
static enum tw_status starved(struct failing *failing, struct tw_image *image,
                              bool packets_only)
{
    const struct tw_allocator allocator = { failing_resize, failing };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY,
                                           .packets_only = packets_only,
                                           .counts_elements = true,
                                           .allocator = &allocator };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    enum tw_status status = tw_tree_new(&tree, &config, NULL);

    for (size_t i = 0; status == TW_OK && i < SOURCES; i++)
        status = add_source(tree, image, ids[i], i == 1 ? 4 : 0);
    for (size_t at = 0; status >= 0 && at <= capture->size; at += 160) {
        const size_t left = capture->size - at;

        status = tw_tree_feed(tree, capture->data + at, left < 160 ? left : 160);
        while (status == TW_OK)
            status =
                packets_only ? tw_tree_next_packet(tree, &view) : tw_tree_next(tree, &batch);
    }
    if (status >= 0)
        status = tw_tree_finish(tree);
    while (status == TW_OK)
        status = packets_only ? tw_tree_next_packet(tree, &view) : tw_tree_next(tree, &batch);
    if (status < 0 && tree) /* a broken tree stays broken, and is freed like any other */
        CHECK((packets_only ? tw_tree_next_packet(tree, &view) : tw_tree_next(tree, &batch)) !=
              TW_OK);
    tw_tree_free(tree);
    return status;
}

static void memory_may_run_out_at_any_time(void **state)
{
    struct check_random random = check_random_start(0x737461727665);
    struct tw_image *image = make_image();

    (void)state;
    make_all(&random, true);
    for (unsigned packets_only = 0; packets_only < 2; packets_only++) {
        enum tw_status status = TW_E_MEMORY;

        for (size_t limit = 0; status != TW_END; limit++) {
            struct failing failing = { .left = limit };

            check_case("%zu requests%s", limit, packets_only ? ", packets" : "");
            status = starved(&failing, image, packets_only);
            CHECK(status == TW_E_MEMORY || status == TW_END);
            CHECK_EQ(failing.live, 0);
            CHECK(limit < 2000);
        }
    }
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_merged_in_the_order_of_the_capture),
        cmocka_unit_test(a_reset_tree_gives_the_same_again),
        cmocka_unit_test(barriers_reach_decoders_and_readers),
        cmocka_unit_test(unframed_bytes_lie_behind_the_base),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(feeding_ahead_of_taking_is_fine),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
