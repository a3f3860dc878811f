/* SPDX-License-Identifier: BSD-2-Clause */
/* How bytes are fed changes nothing: every protocol over made streams with damage and gaps, and every
   capture, whole, byte by byte and in random pieces; all members of all elements are compared. */
#include "check.h"

#include "all_runs.h"
#include "tree/test_made.h"

static const struct made_options options[] = {
    { 0, false, false }, { 0, true, false }, { 2, true, false }, { 5, true, true }
};

enum feeding { WHOLE, BYTE_BY_BYTE, FEW_BYTES, RANDOM_PIECES, FEEDINGS };

static size_t next_piece(enum feeding feeding, struct check_random *random, size_t left)
{
    size_t piece = left;

    if (feeding == BYTE_BY_BYTE)
        piece = 1;
    else if (feeding == FEW_BYTES)
        piece = 1 + (size_t)check_random_below(random, 20);
    else if (feeding == RANDOM_PIECES)
        piece = 1 + (size_t)check_random_below(random, left);
    return piece < left ? piece : left;
}

static void decode_made(struct made_list *out, const struct made_setup *setup,
                        const struct made_stream_of *stream, enum feeding feeding,
                        struct check_random *random)
{
    struct made_decoder made = made_decoder_new(setup);

    made.is_marked = check_random_below(random, 2);
    for (size_t fed = 0; fed < stream->size;) {
        fed += next_piece(feeding, random, stream->size - fed);
        made_decode(&made, out, stream, fed,
                    feeding == WHOLE ? MADE_ROOM
                                     : 180 + (size_t)check_random_below(random, 70));
    }
    CHECK_EQ(made.at, stream->size);
    made_end(&made, out);
    made_decoder_free(&made);
}

/* [CSD 2.3.1.1/1] */
static void made_streams_in_any_pieces(void **state)
{
    struct check_random random = check_random_start(0xfeed);
    const size_t rounds = check_scale(400);

    (void)state;
    for (size_t i = 0; i < LENGTH(made_kinds) * LENGTH(options); i++) {
        const struct made_options *option = &options[i % LENGTH(options)];
        struct made_setup setup = made_set_up(&made_kinds[i / LENGTH(options)], option);

        made_set_up_code(&setup, option);
        for (size_t round = 0; round < rounds; round++) {
            static struct made_stream_of stream;
            struct made_list whole = { NULL, 0, 0 };

            made_stream(&stream, &setup, &random, 1 + check_random_below(&random, 700),
                        round & 1);
            decode_made(&whole, &setup, &stream, WHOLE, &random);
            for (unsigned feeding = BYTE_BY_BYTE; feeding < FEEDINGS; feeding++) {
                struct made_list pieces = { NULL, 0, 0 };

                check_case("%s, options %zu, stream %zu, feeding %u", setup.kind->name,
                           i % LENGTH(options), round, feeding);
                decode_made(&pieces, &setup, &stream, (enum feeding)feeding, &random);
                made_check_same(&pieces, &whole);
                free(pieces.elements);
            }
            free(whole.elements);
        }
        made_tear_down(&setup);
    }
}

/* The elements of each ID, in order. */
struct lists {
    struct made_list of[256];
};

static void take(struct tw_tree *tree, struct lists *lists)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        made_keep(&lists->of[batch.id], &batch);
    CHECK(status > 0);
}

static void decode_capture(struct lists *lists, const struct tw_capture *capture, size_t buffer,
                           const struct made_options *option, enum feeding feeding, size_t most,
                           struct check_random *random)
{
    const struct tw_tree_config config = { .range_limit = option->range_limit,
                                           .check_opcodes = option->checks,
                                           .check_atoms = option->checks,
                                           .check_continuity = option->checks,
                                           .source_address_n = option->splits_sources };
    struct run_tree made;
    const uint8_t *bytes;
    size_t size;
    uint64_t at = 0;

    CHECK_EQ(run_tree_new(&made, capture, buffer, config), TW_OK);
    while (at < most && tw_capture_read(capture, &bytes, &size, buffer, at) == TW_OK) {
        size = size < most - at ? size : most - at;
        for (size_t fed = 0; fed < size;) {
            const size_t piece = next_piece(feeding, random, size - fed);

            CHECK_EQ(tw_tree_feed(made.tree, bytes + fed, piece), TW_OK);
            take(made.tree, lists);
            fed += piece;
        }
        at += size;
    }
    CHECK_EQ(tw_tree_finish(made.tree), TW_OK);
    take(made.tree, lists);
    tw_tree_free(made.tree);
}

static void check_buffer(const struct tw_capture *capture, size_t buffer, const char *path,
                         struct check_random *random)
{
    const size_t most = check_scale(100000);

    for (size_t i = 1; i < LENGTH(options); i++) {
        static struct lists whole, pieces;

        decode_capture(&whole, capture, buffer, &options[i], WHOLE, most, random);
        for (unsigned feeding = BYTE_BY_BYTE; feeding < FEEDINGS; feeding++) {
            check_case("%s, buffer %zu, options %zu, feeding %u", path, buffer, i, feeding);
            decode_capture(&pieces, capture, buffer, &options[i], (enum feeding)feeding, most,
                           random);
            for (size_t id = 0; id < LENGTH(whole.of); id++) {
                made_check_same(&pieces.of[id], &whole.of[id]);
                pieces.of[id].count = 0;
            }
        }
        for (size_t id = 0; id < LENGTH(whole.of); id++)
            whole.of[id].count = 0;
        if (i + 1 == LENGTH(options))
            for (size_t id = 0; id < LENGTH(whole.of); id++) {
                free(whole.of[id].elements);
                free(pieces.of[id].elements);
                whole.of[id] = pieces.of[id] = (struct made_list){ NULL, 0, 0 };
            }
    }
}

/* [CSD 2.3.1.1/1] */
static void captures_in_any_pieces(void **state)
{
    struct check_random random = check_random_start(0xfeed2);
    struct runs runs = runs_find();
    const size_t step = check_scale(10) == 10 ? 1 : 8; /* E-Trace and N-Trace have hundreds */

    (void)state;
    for (size_t i = 0; i < runs.count; i++) {
        const struct run *run = &runs.runs[i];
        struct tw_capture *capture;

        if (run->protocol && strstr(run->protocol, "trace") && i % step)
            continue;
        if (run_open(&capture, run, NULL, NULL) != TW_OK)
            continue;
        for (size_t buffer = 0; buffer < tw_capture_buffer_count(capture); buffer++)
            check_buffer(capture, buffer, run->path, &random);
        tw_capture_free(capture);
    }
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_streams_in_any_pieces),
        cmocka_unit_test(captures_in_any_pieces),
    };

    return cmocka_run_group_tests_name("feeding", tests, NULL, NULL);
}
