/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace that is not damaged, of the protocols whose synchronization does not tell all: what a worker guesses about the middle
   of a stream is right nearly every time.  Else the result is the same, but a second thread has nothing to do. */
#include "check.h"

#include <trackway/itm_unit.h>
#include <trackway/stm_unit.h>

#include "tree/parallel.h"
#include "tree/test_recording.h"

enum { SEGMENT = 1 << 10 };

/* Segments that were guessed. */
struct guesses {
    uint64_t right, wrong;
};

/* Decodes it on two threads, where every segment is guessed. */
static void count_guesses(struct guesses *guesses, const struct tw_tree_source *source,
                          const uint8_t *bytes, size_t size)
{
    const struct tw_tree_config config = {
        .size = sizeof config, .counts_elements = true, .threads = 2, .segment_size = SEGMENT
    };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, source), TW_OK);
    tree->guesses = true;
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK) {
    }
    CHECK(tree->pool != NULL);
    CHECK_EQ(tree->branches[0]->stats.seen.elements[TW_ELEMENT_ERROR], 0);
    guesses->right += tree->pool->matched;
    guesses->wrong += tree->pool->redone;
    tw_tree_free(tree);
}

static void check_guesses(const struct guesses *guesses, const char *protocol, size_t streams)
{
    print_message("%s: %llu segments right, %llu again\n", protocol,
                  (unsigned long long)guesses->right, (unsigned long long)guesses->wrong);
    CHECK(guesses->right > streams * RECORDING_SIZE / SEGMENT / 2);
    CHECK(guesses->wrong * 50 < guesses->right);
}

static void guesses_are_right(void **state)
{
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };
    const size_t programs = 6 + check_scale(60);
    struct check_random random = check_random_start(19);

    (void)state;
    for (size_t k = 0; k < LENGTH(recording_kinds); k++) {
        struct guesses guesses = { 0, 0 };

        CHECK_CASE(recording_kinds[k].protocol);
        for (size_t i = 0; i < programs; i++) {
            struct recording *recording = recording_of(k, &random);
            struct tw_tree_source source = { .size = sizeof source,
                                             .protocol = recording_kinds[k].protocol,
                                             .text = recording->text };

            CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
            CHECK_EQ(tw_image_add(source.image, &region, recording->program.code), TW_OK);
            count_guesses(&guesses, &source, recording->bytes, recording->size);
            tw_image_free(source.image);
            free(recording);
        }
        check_guesses(&guesses, recording_kinds[k].protocol, programs);
    }
}

/* What software writes: messages, the first piece of each with a time that goes on. */
static size_t write_stm(uint8_t *bytes, size_t room, struct check_random *random)
{
    const struct tw_stm_unit_config config = { .size = sizeof config,
                                               .version = check_random_below(random, 2) ? 3 : 4,
                                               .has_timestamps = true,
                                               .timestamp_bits = 64,
                                               .sync_bytes = 512 };
    uint64_t time = check_random_next(random) >> 8;
    struct tw_stm_unit *unit;
    size_t size;

    CHECK_EQ(tw_stm_unit_new(&unit, &config, NULL), TW_OK);
    for (tw_stm_unit_output(unit, &size); size < room; tw_stm_unit_output(unit, &size)) {
        time += check_random_below(random, (uint64_t)1 << check_random_below(random, 40));
        tw_stm_unit_set_time(unit, time);
        tw_stm_unit_select(unit, (uint16_t)(0x40 + check_random_below(random, 4)),
                           (uint16_t)check_random_below(random, 32));
        CHECK_EQ(tw_stm_unit_write(unit, check_random_next(random), 64, TW_STM_TIMED), TW_OK);
        for (uint64_t left = check_random_below(random, 8); left; left--)
            CHECK_EQ(tw_stm_unit_write(unit, check_random_next(random) >> 32, 32, 0), TW_OK);
    }
    memcpy(bytes, tw_stm_unit_output(unit, &size), room);
    tw_stm_unit_free(unit);
    return room;
}

/* Text and PC samples with local timestamps, whose sum goes through all of it. */
static size_t write_itm(uint8_t *bytes, size_t room, struct check_random *random)
{
    const struct tw_itm_unit_config config = { .size = sizeof config,
                                               .tcr = TW_ITM_TCR_ENABLE |
                                                      TW_ITM_TCR_TIMESTAMPS | TW_ITM_TCR_SYNC |
                                                      TW_ITM_TCR_DWT,
                                               .sync_cycles = 1 << 16 };
    struct tw_itm_unit *unit;
    size_t size;

    CHECK_EQ(tw_itm_unit_new(&unit, &config, NULL), TW_OK);
    for (tw_itm_unit_output(unit, &size); size < room; tw_itm_unit_output(unit, &size)) {
        const struct tw_dwt_meaning pc = { .kind = TW_DWT_PC_SAMPLE,
                                           .value = (uint32_t)check_random_next(random) };

        if (check_random_below(random, 2))
            CHECK_EQ(tw_itm_unit_write(unit, (unsigned)check_random_below(random, 32),
                                       (uint32_t)check_random_below(random, 128), 1),
                     TW_OK);
        else
            CHECK_EQ(tw_itm_unit_watch(unit, &pc), TW_OK);
        CHECK_EQ(tw_itm_unit_advance(unit, check_random_below(random, 1024)), TW_OK);
    }
    memcpy(bytes, tw_itm_unit_output(unit, &size), room);
    tw_itm_unit_free(unit);
    return room;
}

static void guesses_of_software_trace_are_right(void **state)
{
    static const struct {
        const char *protocol;
        size_t (*write)(uint8_t *bytes, size_t room, struct check_random *random);
    } kinds[] = { { "stm", write_stm }, { "itm", write_itm } };
    static uint8_t bytes[RECORDING_SIZE];
    const size_t streams = 6 + check_scale(60);
    struct check_random random = check_random_start(23);

    (void)state;
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        const struct tw_tree_source source = { .size = sizeof source,
                                               .protocol = kinds[k].protocol };
        struct guesses guesses = { 0, 0 };

        CHECK_CASE(kinds[k].protocol);
        for (size_t i = 0; i < streams; i++)
            count_guesses(&guesses, &source, bytes,
                          kinds[k].write(bytes, sizeof bytes, &random));
        check_guesses(&guesses, kinds[k].protocol, streams);
    }
}

/* What was counted of ITM: its elements, and their places and times, in no order. */
struct places {
    uint64_t elements, places, times;
};

static void count_places(void *context, void *tally, const struct tw_batch *batch)
{
    struct places *places = tally;

    (void)context;
    places->elements += batch->count;
    for (size_t i = 0; i < batch->count; i++)
        places->places += batch->elements[i].index * (batch->elements[i].type + 1u);
}

static void count_times(void *context, void *tally, const struct tw_batch *batch)
{
    struct places *places = tally;

    count_places(context, tally, batch);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->elements[i].type == TW_ELEMENT_ITMTRACE)
            places->times += batch->elements[i].itm_time * (batch->elements[i].index + 1);
}

static void merge_places(void *context, void *tally, const struct tw_batch *whose)
{
    struct places *whole = context;
    const struct places *more = tally;

    (void)whose;
    whole->elements += more->elements;
    whole->places += more->places;
    whole->times += more->times;
}

/* How many segments were done, and how many of them by who takes what they made. */
static struct places count_itm(const uint8_t *bytes, size_t size, uint32_t threads,
                               bool ignores_time, uint64_t *handed, uint64_t *done)
{
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "itm" };
    struct places whole = { 0, 0, 0 };
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = sizeof whole,
                                        .context = &whole,
                                        .count = ignores_time ? count_places : count_times,
                                        .merge = merge_places,
                                        .ignores_local_time = ignores_time };
    const struct tw_tree_config config = {
        .size = sizeof config, .threads = threads, .segment_size = SEGMENT, .counter = &counter
    };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    tree->guesses = true;
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_MORE);
    *handed = tree->pool ? tree->pool->handed : 0;
    *done = tree->pool ? tree->pool->matched : 0;
    tw_tree_free(tree);
    return whole;
}

static void local_time_is_waited_for_where_someone_looks_at_it(void **state)
{
    static uint8_t bytes[RECORDING_SIZE];
    struct check_random random = check_random_start(29);

    (void)state;
    for (size_t i = 0; i < 3 + check_scale(20); i++) {
        const size_t size = write_itm(bytes, sizeof bytes, &random);

        for (unsigned ignores = 0; ignores < 2; ignores++) {
            uint64_t handed, done;
            const struct places want = count_itm(bytes, size, 1, ignores, &handed, &done);
            const struct places got = count_itm(bytes, size, 2, ignores, &handed, &done);

            CHECK(want.elements > 1000 && (ignores || want.times));
            CHECK_EQ(got.elements, want.elements);
            CHECK_EQ(got.places, want.places);
            CHECK_EQ(got.times, want.times);
            CHECK(done > RECORDING_SIZE / SEGMENT / 2);
            if (ignores)
                CHECK_EQ(handed, 0);
            else
                CHECK(handed >= done);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_right),
        cmocka_unit_test(guesses_of_software_trace_are_right),
        cmocka_unit_test(local_time_is_waited_for_where_someone_looks_at_it),
    };

    return cmocka_run_group_tests_name("guesses", tests, NULL, NULL);
}
