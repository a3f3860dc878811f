/* SPDX-License-Identifier: BSD-2-Clause */
/* Several harts in one stream (4.1.2): each path comes back whole, under its own srcid. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/tree.h>

#include "hart/test_trip.h"

enum { HARTS = 5 };

struct hart {
    struct program program;
    struct history history;
    struct result result;
    struct bytes trace;
    size_t sent; /* bytes of it that are in the stream */
    uint64_t pcs[STEPS_MOST + 8];
    struct tw_image *image;
    uint32_t src;
};

struct bench {
    struct hart harts[HARTS];
    size_t count;
    struct bytes stream;
    struct check_random random;
    struct setup setup;
    uint64_t unknown;         /* elements of no source ... */
    struct tw_element damage; /* ... and the last one */
    uint64_t losses[HARTS];
};

static void append(struct bytes *out, const uint8_t *bytes, size_t size)
{
    keep(out, 0, bytes, size);
}

/* Packets by their headers: an srcid of whole bytes is not counted in `length`. */
static size_t packet_size(const struct setup *setup, const uint8_t *at)
{
    const struct tw_etrace_config *config = &setup->config;

    return 1u + config->srcid_bits / 8u + (at[0] & 0x1f);
}

/* The packets of all harts in one stream, each hart's in order, idle bytes between them. */
static void interleave(struct bench *bench)
{
    size_t left = bench->count;

    bench->stream.size = 0;
    while (left) {
        struct hart *hart = &bench->harts[check_random_below(&bench->random, bench->count)];
        unsigned run = 1 + (unsigned)check_random_below(&bench->random, 4);

        for (; run && hart->sent < hart->trace.size; run--) {
            const size_t size = packet_size(&bench->setup, hart->trace.bytes + hart->sent);

            append(&bench->stream, hart->trace.bytes + hart->sent, size);
            hart->sent += size;
            left -= hart->sent == hart->trace.size;
        }
        if (check_random_below(&bench->random, 8) == 0)
            append(&bench->stream, (const uint8_t[3]){ 0 },
                   1 + (size_t)check_random_below(&bench->random, 3));
    }
}

static void take_any(struct bench *bench, const struct tw_batch *batch)
{
    for (size_t i = 0; i < bench->count; i++)
        if (bench->harts[i].src == batch->src) {
            take(&bench->harts[i].result, batch);
            for (size_t k = 0; k < batch->count; k++)
                bench->losses[i] += batch->elements[k].type == TW_ELEMENT_NO_SYNC &&
                                    batch->elements[k].reason == TW_REASON_DISCARD;
            return;
        }
    bench->unknown += batch->count;
    bench->damage = batch->elements[batch->count - 1];
}

/* How a stream is decoded. */
struct manner {
    size_t piece; /* bytes fed at a time; 0: all */
    uint32_t threads;
    bool is_framed;
    const uint32_t *srcs;
    size_t src_count;
};

static struct tw_tree *make_tree(struct bench *bench, const struct manner *manner)
{
    static char text[16384];
    struct tw_src_image images[HARTS];
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = manner->is_framed ? TW_FRAMING_MEMORY
                                                                        : TW_FRAMING_NONE,
                                           .counts_elements = true,
                                           .threads = manner->threads,
                                           .segment_size = manner->threads ? 256 : 0 };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = text,
                                     .id = manner->is_framed ? 0x10 : 0,
                                     .image = bench->harts[0].image,
                                     .src_images = images,
                                     .src_image_count = bench->count,
                                     .srcs = manner->srcs,
                                     .src_count = manner->src_count };
    struct tw_tree *tree;

    for (size_t i = 0; i < bench->count; i++)
        images[i] = (struct tw_src_image){ bench->harts[i].src, bench->harts[i].image };
    CHECK(tw_etrace_config_text(text, sizeof text, &bench->setup.config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    memset(images, 0, sizeof images); /* they were copied */
    return tree;
}

static void take_all(struct bench *bench, struct tw_tree *tree, enum tw_status last)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take_any(bench, &batch);
    CHECK_EQ(status, last);
}

static struct tw_tree *decode(struct bench *bench, const struct manner *manner)
{
    const struct tw_framer_config framing = { .size = sizeof framing,
                                              .framing = TW_FRAMING_MEMORY };
    struct tw_tree *tree = make_tree(bench, manner);
    const uint8_t *bytes = bench->stream.bytes;
    size_t size = bench->stream.size;
    struct tw_framer *framer = NULL;

    for (size_t i = 0; i < bench->count; i++) {
        struct hart *hart = &bench->harts[i];

        hart->result = (struct result){ .pcs = hart->pcs,
                                        .room = LENGTH(hart->pcs),
                                        .program = &hart->program };
    }
    bench->unknown = 0;
    memset(bench->losses, 0, sizeof bench->losses);
    if (manner->is_framed) {
        CHECK_EQ(tw_framer_new(&framer, &framing, NULL), TW_OK);
        CHECK_EQ(tw_framer_write(framer, 0x10, bytes, size), TW_OK);
        CHECK_EQ(tw_framer_finish(framer), TW_OK);
        bytes = tw_framer_output(framer, &size);
    }
    for (size_t at = 0; at < size;) {
        const size_t most = manner->piece ? manner->piece : size;
        const size_t piece = size - at < most ? size - at : most;

        CHECK_EQ(tw_tree_feed(tree, bytes + at, piece), TW_OK);
        take_all(bench, tree, TW_MORE);
        at += piece;
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take_all(bench, tree, TW_END);
    tw_framer_free(framer);
    return tree;
}

static void make_harts(struct bench *bench, unsigned turn)
{
    static const unsigned every[] = { FULL, SIJUMP, COUNTER, RETURNS, PREDICTION, CACHE };
    const unsigned modes[2] = { every[turn % LENGTH(every)], every[turn / 3 % LENGTH(every)] };
    const bool is_both = (modes[0] == COUNTER && modes[1] == RETURNS) ||
                         (modes[0] == RETURNS && modes[1] == COUNTER);

    bench->setup = make_setup(turn % 2, modes, modes[0] == modes[1] || is_both ? 1 : 2, turn);
    bench->setup.config.encapsulation =
        turn % 3 == 0 ? TW_ETRACE_ENCAP_SMI : TW_ETRACE_ENCAP_RISCV;
    bench->setup.config.srcid_bits = turn % 3 == 0 ? 6 : turn % 3 == 1 ? 8 : 16;
    bench->setup.config.type_bits = turn % 3 == 0 ? 2 : 0;
    bench->count = 1 + check_random_below(&bench->random, HARTS);
    for (size_t i = 0; i < bench->count; i++) {
        struct hart *hart = &bench->harts[i];
        const struct tw_region region = { .size = sizeof region,
                                          .address = BASE,
                                          .length = CODE };

        hart->src = (uint32_t)(1 + 7 * i + turn % 3);
        hart->sent = 0;
        bench->setup.config.srcid = (uint16_t)hart->src;
        make_program(&hart->program, &bench->random);
        run_program(&hart->history, &hart->program, &bench->setup.run, &bench->random);
        encode(&hart->trace, &bench->setup, &hart->history, bench->setup.config.retires > 1);
        CHECK_EQ(tw_image_new(&hart->image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(hart->image, &region, hart->program.code), TW_OK);
    }
    bench->setup.config.srcid = 0;
}

static void free_harts(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        tw_image_free(bench->harts[i].image);
}

static struct bench *new_bench(uint64_t seed)
{
    struct bench *bench = calloc(1, sizeof *bench);

    CHECK(bench != NULL);
    bench->random = check_random_start(seed);
    return bench;
}

static void free_bench(struct bench *bench)
{
    for (size_t i = 0; i < HARTS; i++)
        free(bench->harts[i].trace.bytes);
    free(bench->stream.bytes);
    free(bench);
}

/* [RVT 4.1.2/1] */
static void harts_are_told_apart(void **state)
{
    static const struct manner manners[] = { { .piece = 0 },
                                             { .piece = 7 },
                                             { .piece = 4096, .threads = 3 },
                                             { .is_framed = true, .piece = 100 } };
    struct bench *bench = new_bench(31337);
    const size_t turns = check_scale(400);

    (void)state;
    for (unsigned turn = 0; turn < turns; turn++) {
        make_harts(bench, turn);
        interleave(bench);
        for (size_t m = 0; m < LENGTH(manners); m++) {
            struct tw_tree *tree;
            const uint8_t id = manners[m].is_framed ? 0x10 : 0;
            uint64_t instructions = 0;

            check_case("turn %u, %s, %zu harts, manner %zu", turn, bench->setup.name,
                       bench->count, m);
            tree = decode(bench, &manners[m]);
            CHECK_EQ(bench->unknown, 0);
            CHECK_EQ(tw_tree_src_count(tree, id), bench->count);
            for (size_t i = 0; i < bench->count; i++) {
                uint32_t src;
                const struct tw_source_stats *stats = tw_tree_src_stats(tree, id, i, &src);

                compare(&bench->harts[i].result, &bench->setup, &bench->harts[i].history);
                CHECK_EQ(src, bench->harts[i].src);
                CHECK_EQ(stats->instructions, bench->harts[i].result.count);
                CHECK_EQ(stats->bytes, bench->harts[i].trace.size);
                instructions += stats->instructions;
            }
            CHECK_EQ(tw_tree_source_stats(tree, id)->instructions, instructions);
            CHECK_EQ(tw_tree_source_stats(tree, id)->bytes, bench->stream.size);
            tw_tree_free(tree);
        }
        free_harts(bench);
    }
    free_bench(bench);
}

/* Only some of them are asked for. */
static void harts_are_selected(void **state)
{
    struct bench *bench = new_bench(5);

    (void)state;
    for (unsigned turn = 0; turn < 12; turn++) {
        uint32_t wanted[2], src;
        struct tw_tree *tree;

        make_harts(bench, turn);
        interleave(bench);
        wanted[0] = bench->harts[bench->count - 1].src;
        wanted[1] = 60; /* there is none */
        tree = decode(bench, &(const struct manner){ .srcs = wanted, .src_count = 2 });
        CHECK_EQ(tw_tree_src_count(tree, 0), 1);
        CHECK(tw_tree_src_stats(tree, 0, 0, &src) != NULL);
        CHECK_EQ(src, wanted[0]);
        CHECK(tw_tree_src_stats(tree, 0, 1, &src) == NULL);
        compare(&bench->harts[bench->count - 1].result, &bench->setup,
                &bench->harts[bench->count - 1].history);
        for (size_t i = 0; i + 1 < bench->count; i++)
            CHECK_EQ(bench->harts[i].result.count, 0);
        tw_tree_free(tree);
        free_harts(bench);
    }
    free_bench(bench);
}

/* The path is the true one but for a stretch in the middle. */
static void compare_around_gap(const struct hart *hart)
{
    const struct result *result = &hart->result;
    uint64_t pcs[STEPS_MOST + 8];
    size_t count = 0, front = 0, back = 0;

    for (size_t i = 0; i < hart->history.count; i++)
        if (hart->history.steps[i].block.iretire)
            pcs[count++] = hart->history.steps[i].block.iaddr;
    while (front < result->count && front < count && result->pcs[front] == pcs[front])
        front++;
    while (back < result->count && back < count &&
           result->pcs[result->count - 1 - back] == pcs[count - 1 - back])
        back++;
    CHECK(front + back >= result->count);
    CHECK(result->count <= count);
}

/* A header that no packet has, between two packets: said once, and every hart that had begun has a
   gap there and goes on at its next synchronization. */
static void damage_is_everyones(void **state)
{
    const uint8_t bad = 0x01; /* no room for srcid and type */
    struct bench *bench = new_bench(8);
    const unsigned turns = (unsigned)check_scale(600);

    (void)state;
    for (unsigned turn = 0; turn < 3 * turns; turn += 3) { /* SMI */
        struct tw_tree *tree;
        size_t at = 0;
        uint64_t lost = 0;

        check_case("turn %u", turn);
        make_harts(bench, turn);
        interleave(bench);
        while (at < bench->stream.size / 2)
            at += bench->stream.bytes[at] ? packet_size(&bench->setup, bench->stream.bytes + at)
                                          : 1;
        append(&bench->stream, &bad, 1);
        memmove(bench->stream.bytes + at + 1, bench->stream.bytes + at,
                bench->stream.size - 1 - at);
        bench->stream.bytes[at] = bad;
        tree = decode(bench, &(const struct manner){ .piece = turn % 2 ? 50 : 0 });
        CHECK_EQ(bench->unknown, 1);
        CHECK_EQ(bench->damage.type, TW_ELEMENT_ERROR);
        CHECK_EQ(bench->damage.error, TW_ERROR_RESERVED_HEADER);
        CHECK_EQ(bench->damage.index, at);
        CHECK(bench->damage.skipped >= 1);
        for (size_t i = 0; i < bench->count; i++) {
            compare_around_gap(&bench->harts[i]);
            CHECK(bench->losses[i] <= 1);
            lost += bench->losses[i];
        }
        CHECK(lost > 0);
        CHECK_EQ(tw_tree_source_stats(tree, 0)->bytes, bench->stream.size);
        tw_tree_free(tree);
        free_harts(bench);
    }
    free_bench(bench);
}

/* More sources than anyone has: the first ones are decoded, the others named once. */
static void too_many_harts_are_said(void **state)
{
    const char *text = "layout=v2,encapsulation=riscv,srcid_bits=16,nocontext_p=1";
    const struct tw_tree_config config = { .size = sizeof config, .counts_elements = true };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = text };
    uint8_t packet[4] = { 0x01, 0, 0, 0x1f }; /* a support packet */
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    unsigned said = 0;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    for (unsigned i = 0; i < TW_SRC_MOST + 5; i++) {
        packet[1] = (uint8_t)i;
        packet[2] = (uint8_t)(i >> 8);
        CHECK_EQ(tw_tree_feed(tree, packet, sizeof packet), TW_OK);
        while (tw_tree_next(tree, &batch) == TW_OK)
            if (batch.src == TW_NO_SRC) {
                CHECK_EQ(batch.count, 1);
                CHECK_EQ(batch.elements[0].error, TW_ERROR_UNSUPPORTED);
                CHECK_EQ(batch.elements[0].error_detail, TW_SRC_MOST);
                said++;
            }
    }
    CHECK_EQ(tw_tree_src_count(tree, 0), TW_SRC_MOST);
    CHECK_EQ(said, 1);
    tw_tree_free(tree);
}

/* Packets: each under its source, in the order of the capture, with what is no one's between. */
static void packets_of_several_harts(void **state)
{
    struct bench *bench = new_bench(77);

    (void)state;
    for (unsigned turn = 0; turn < 12; turn++) {
        static char text[16384];
        const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
        struct tw_tree_source source = { .size = sizeof source,
                                         .protocol = "etrace",
                                         .text = text };
        struct tw_packet_view view = { .size = sizeof view };
        struct tw_tree *tree;
        uint64_t next = 0;

        make_harts(bench, turn);
        interleave(bench);
        CHECK(tw_etrace_config_text(text, sizeof text, &bench->setup.config) < sizeof text);
        CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
        CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
        CHECK_EQ(tw_tree_feed(tree, bench->stream.bytes, bench->stream.size), TW_OK);
        CHECK_EQ(tw_tree_finish(tree), TW_OK);
        while (tw_tree_next_packet(tree, &view) == TW_OK) {
            CHECK_EQ(view.packet->index, next);
            CHECK_EQ(view.packet->offset, next);
            CHECK(!view.is_bad);
            CHECK_EQ(view.src == TW_NO_SRC, bench->stream.bytes[next] == 0);
            CHECK_BYTES(view.bytes, view.packet->size, bench->stream.bytes + next,
                        view.packet->size);
            next += view.packet->size;
        }
        CHECK_EQ(next, bench->stream.size);
        tw_tree_free(tree);
        free_harts(bench);
    }
    free_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(harts_are_told_apart),
                                        cmocka_unit_test(harts_are_selected),
                                        cmocka_unit_test(damage_is_everyones),
                                        cmocka_unit_test(too_many_harts_are_said),
                                        cmocka_unit_test(packets_of_several_harts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
