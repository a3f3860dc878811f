/* SPDX-License-Identifier: BSD-2-Clause */
/* Bits of a trace are flipped, of every protocol that follows a program: what counting makes of it, and the edge map, is what
   its elements tell. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/test_want.h"
#include "tree/test_made.h"
#include "tree/test_recording.h"

enum { FLIPS_MOST = 16, CAPTURE_MOST = 48 << 10, BUFFERS_MOST = 4 };

static void flip(uint8_t *bytes, size_t size, struct check_random *random)
{
    for (uint64_t i = check_random_below(random, FLIPS_MOST); i; i--)
        bytes[check_random_below(random, size)] ^=
            (uint8_t)(1u << check_random_below(random, 8));
}

/* ---- a counter that makes the same sums as elements do ---- */

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    (void)tally;
    want_batch(context, batch);
}

static void sum(void *context, void *tally, const struct tw_range_sum *sums, size_t number,
                const struct tw_batch *whose)
{
    struct want *want = context;

    (void)tally;
    (void)whose;
    for (size_t i = 0; i < number; i++)
        if (sums[i].is_edge)
            want_target(want, want_branch(&sums[i].range), sums[i].to, sums[i].times);
        else
            want_count(want, &sums[i].range, sums[i].times);
}

static void merge(void *context, void *tally, const struct tw_batch *whose)
{
    (void)context;
    (void)tally;
    (void)whose;
}

static struct tw_counter counter_of(struct want *got)
{
    return (struct tw_counter){ .size = sizeof(struct tw_counter),
                                .tally_size = 1,
                                .context = got,
                                .count = count,
                                .merge = merge,
                                .sum = sum };
}

static void check_counts(const struct want *got, const struct want *want)
{
    CHECK_EQ(got->instructions, want->instructions);
    CHECK_EQ(got->missing, want->missing);
    CHECK_EQ(got->errors, want->errors);
    CHECK(got->ranges == want->ranges);
    CHECK(got->edges == want->edges);
    CHECK_BYTES(got->bytes, sizeof got->bytes, want->bytes, sizeof want->bytes);
}

/* The same bytes by all three ways; trees and map are used again and again. */
struct ways {
    struct tw_tree *elements, *counting;
    struct tw_edge_map *map;
    struct want want, got; /* `got`: of the tree that counts */
    uint64_t edges;
};

static void check_ways(struct ways *ways, const uint8_t *bytes, size_t size)
{
    struct tw_edge_map_result result = { .size = sizeof result };
    static uint8_t map[1 << WANT_BITS];

    tw_tree_reset(ways->elements, 0);
    tw_tree_reset(ways->counting, 0);
    want_all(&ways->want, ways->elements, bytes, size);
    want_all(&ways->got, ways->counting, bytes, size);
    check_counts(&ways->got, &ways->want);
    CHECK_EQ(tw_edge_map_take(ways->map, map, bytes, size, &result), TW_OK);
    check_map(map, &result, &ways->want);
    ways->edges += result.edges;
}

static void free_ways(struct ways *ways)
{
    tw_tree_free(ways->elements);
    tw_tree_free(ways->counting);
    tw_edge_map_free(ways->map);
}

/* ---- made streams ---- */

static void begin_made(struct ways *ways, const struct tw_tree_source *source)
{
    const struct tw_counter counter = counter_of(&ways->got);
    const struct tw_tree_config plain = { .size = sizeof plain };
    const struct tw_tree_config counting = { .size = sizeof counting, .counter = &counter };
    const struct tw_edge_map_config map = {
        .size = sizeof map, .bits = WANT_BITS, .sources = source, .source_count = 1
    };

    memset(ways, 0, sizeof *ways);
    CHECK_EQ(tw_tree_new(&ways->elements, &plain, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(ways->elements, NULL, source), TW_OK);
    CHECK_EQ(tw_tree_new(&ways->counting, &counting, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(ways->counting, NULL, source), TW_OK);
    CHECK_EQ(tw_edge_map_new(&ways->map, &map, NULL), TW_OK);
}

static void made_streams(void **state)
{
    static struct made_subject subject;
    static struct made_stream_of stream;
    static struct ways ways;
    struct check_random random = check_random_start(1909);

    (void)state;
    for (size_t i = 0; i < LENGTH(made_kinds); i++) {
        CHECK_CASE(made_kinds[i].name);
        /* What several sources share has an open edge for each. */
        if (strstr(made_kinds[i].registers, "srcid_bits"))
            continue;
        made_subject_open(&subject, &made_kinds[i], NULL);
        if (subject.setup.protocol->flags & TW_PROTOCOL_FOLLOWS) {
            begin_made(&ways, &subject.source);
            for (size_t k = 0; k < check_scale(2000); k++) {
                made_stream(&stream, &subject.setup, &random,
                            300 + check_random_below(&random, 3000), false);
                flip(stream.bytes, stream.size, &random);
                check_ways(&ways, stream.bytes, stream.size);
            }
            CHECK(ways.edges > 0);
            free_ways(&ways);
        }
        made_subject_close(&subject);
    }
}

/* Runs of programs: most of what a decoder does, it does fast here. */
static void recordings(void **state)
{
    static struct ways ways;
    static uint8_t flipped[RECORDING_SIZE];
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };
    struct check_random random = check_random_start(1911);

    (void)state;
    for (size_t kind = 0; kind < LENGTH(recording_kinds); kind++)
        for (size_t i = 0; i < check_scale(60); i++) {
            struct recording *recording = recording_of(kind, &random);
            struct tw_tree_source source = { .size = sizeof source,
                                             .protocol = recording_kinds[kind].protocol,
                                             .text = recording->text };

            CHECK_CASE(source.protocol);
            CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
            CHECK_EQ(tw_image_add(source.image, &region, recording->program.code), TW_OK);
            begin_made(&ways, &source);
            for (unsigned k = 0; k < 6; k++) {
                memcpy(flipped, recording->bytes, recording->size);
                if (k)
                    flip(flipped, recording->size, &random);
                check_ways(&ways, flipped, recording->size);
            }
            CHECK(ways.edges > 0);
            free_ways(&ways);
            tw_image_free(source.image);
            free(recording);
        }
}

/* ---- captures ---- */

/* The first bytes of a buffer; how many. */
static size_t read_some(uint8_t *out, const struct tw_capture *capture, uint32_t buffer)
{
    const uint8_t *bytes;
    size_t size, all = 0;

    while (all < CAPTURE_MOST &&
           tw_capture_read(capture, &bytes, &size, buffer, all) == TW_OK) {
        if (size > CAPTURE_MOST - all)
            size = CAPTURE_MOST - all;
        memcpy(out + all, bytes, size);
        all += size;
    }
    return all;
}

static uint64_t try_buffer(const struct tw_capture *capture, uint32_t buffer,
                           struct check_random *random)
{
    static struct ways ways;
    static uint8_t whole[CAPTURE_MOST], flipped[CAPTURE_MOST];
    const struct tw_counter counter = counter_of(&ways.got);
    const struct tw_tree_config counting = { .size = sizeof counting, .counter = &counter };
    const struct tw_edge_map_config map = {
        .size = sizeof map, .bits = WANT_BITS, .capture = capture, .buffer = buffer
    };
    const size_t size = read_some(whole, capture, buffer);

    if (!size)
        return 0;
    memset(&ways, 0, sizeof ways);
    CHECK_EQ(tw_capture_tree(&ways.elements, capture, buffer, NULL, NULL), TW_OK);
    CHECK_EQ(tw_capture_tree(&ways.counting, capture, buffer, &counting, NULL), TW_OK);
    CHECK_EQ(tw_edge_map_new(&ways.map, &map, NULL), TW_OK);
    for (size_t i = 0; i < check_scale(100); i++) {
        memcpy(flipped, whole, size);
        flip(flipped, size, random);
        check_ways(&ways, flipped, size);
    }
    free_ways(&ways);
    return ways.edges;
}

static uint64_t try_capture(const struct tw_capture *capture, struct check_random *random)
{
    uint64_t edges = 0;

    for (uint32_t i = 0; i < tw_capture_buffer_count(capture) && i < BUFFERS_MOST; i++)
        edges += try_buffer(capture, i, random);
    return edges;
}

static void snapshots(void **state)
{
    struct check_random random = check_random_start(1910);
    char folder[400], path[800];
    uint64_t edges = 0;
    unsigned number = 0;
    struct dirent *entry;
    DIR *all;

    (void)state;
    check_corpus(folder, sizeof folder, "coresight/snapshots");
    all = opendir(folder);
    CHECK(all);
    while ((entry = readdir(all))) {
        struct tw_capture *capture;

        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || tw_capture_open(&capture, path, NULL, NULL) != TW_OK)
            continue;
        CHECK_CASE(entry->d_name);
        edges += try_capture(capture, &random);
        tw_capture_free(capture);
        number++;
    }
    (void)closedir(all);
    CHECK(number > 30 && edges > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(made_streams),
                                        cmocka_unit_test(recordings),
                                        cmocka_unit_test(snapshots) };

    return cmocka_run_group_tests_name("flips", tests, NULL, NULL);
}
