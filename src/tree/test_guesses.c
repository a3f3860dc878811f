/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace that is not damaged, of the protocols whose synchronization does not tell all: what a worker guesses about the middle
   of a stream is right nearly every time.  Else the result is the same, but a second thread has nothing to do. */
#include "check.h"

#include <stdlib.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "rv_program.h"
#include "tree/parallel.h"

enum { TRACE = 96 << 10, SEGMENT = 1 << 10, SYNC = 100 /* packets */, TEXT = 16384 };

/* A trace as it is written, and what a decoder has to know of it. */
struct recording {
    struct program program;
    struct history history;
    char text[TEXT];
    uint8_t bytes[TRACE];
    size_t size;
};

static void append(struct recording *recording, const uint8_t *bytes, size_t size)
{
    if (size > TRACE - recording->size)
        size = TRACE - recording->size;
    if (size)
        memcpy(recording->bytes + recording->size, bytes, size);
    recording->size += size;
}

/* Runs the program; `retire` takes an instruction at a time.  Nothing traps: what is told in full then would put a wrong
   guess right. */
static void run(struct recording *recording, struct check_random *random,
                enum tw_status (*retire)(void *unit, const struct tw_etrace_block *block),
                void *unit)
{
    const struct run_options options = { .may_trap = false };
    struct machine machine = { .program = &recording->program,
                               .options = &options,
                               .random = random,
                               .history = &recording->history,
                               .context = 7,
                               .next_context = 7 };
    uint64_t pc = recording->program.entry[0][0];

    while (recording->size < TRACE) {
        recording->history.count = 0;
        pc = run_one(&machine, pc);
        for (size_t i = 0; i < recording->history.count; i++)
            CHECK_EQ(retire(unit, &recording->history.steps[i].block), TW_OK);
    }
}

static void write_etrace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    if (stream == 0)
        append(context, bytes, size);
}

static enum tw_status retire_etrace(void *unit, const struct tw_etrace_block *block)
{
    const enum tw_status status = tw_etrace_unit_retire(unit, block, 1);

    tw_etrace_unit_flush(unit);
    return status;
}

static void record_etrace(struct recording *recording, struct check_random *random)
{
    struct tw_etrace_config trace;
    const struct tw_etrace_unit_config config = { .size = sizeof config,
                                                  .trace = &trace,
                                                  .write = write_etrace,
                                                  .write_context = recording };
    struct tw_etrace_unit *unit;

    tw_etrace_config_init(&trace, TW_ETRACE_LAYOUT_V2);
    trace.iaddress_width = trace.xlen = 64;
    trace.itype_width = 4;
    trace.retires = 8;
    trace.resync_packets = SYNC;
    trace.encapsulation = TW_ETRACE_ENCAP_LEN5_TYPE2;
    CHECK(tw_etrace_config_text(recording->text, TEXT, &trace) < TEXT);
    CHECK_EQ(tw_etrace_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "iEnable", 1), TW_OK);
    run(recording, random, retire_etrace, unit);
    tw_etrace_unit_free(unit);
}

static void write_ntrace(void *context, const uint8_t *bytes, size_t size)
{
    append(context, bytes, size);
}

static enum tw_status retire_ntrace(void *unit, const struct tw_etrace_block *block)
{
    return tw_ntrace_unit_retire(unit, block, 1);
}

static void record_ntrace(struct recording *recording, struct check_random *random)
{
    struct tw_ntrace_config trace;
    const struct tw_ntrace_unit_config config = { .size = sizeof config,
                                                  .trace = &trace,
                                                  .write = write_ntrace,
                                                  .write_context = recording };
    struct tw_ntrace_unit *unit;

    tw_ntrace_config_init(&trace);
    trace.mode = TW_NTRACE_MODE_HTM;
    trace.sync_messages = SYNC;
    CHECK(tw_ntrace_config_text(recording->text, TEXT, &trace) < TEXT);
    CHECK_EQ(tw_ntrace_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeEnable", 1), TW_OK);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeInstTracing", 1), TW_OK);
    run(recording, random, retire_ntrace, unit);
    tw_ntrace_unit_free(unit);
}

/* Segments that were guessed. */
struct guesses {
    uint64_t right, wrong;
};

/* Decodes it on two threads, where every segment is guessed. */
static void count_guesses(struct guesses *guesses, const struct recording *recording,
                          const char *protocol)
{
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };
    const struct tw_tree_config config = {
        .size = sizeof config, .counts_elements = true, .threads = 2, .segment_size = SEGMENT
    };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = protocol,
                                     .text = recording->text };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(source.image, &region, recording->program.code), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    tree->guesses = true;
    CHECK_EQ(tw_tree_feed(tree, recording->bytes, recording->size), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK) {
    }
    CHECK(tree->pool != NULL);
    CHECK_EQ(tree->branches[0]->stats.seen.elements[TW_ELEMENT_ERROR], 0);
    guesses->right += tree->pool->matched;
    guesses->wrong += tree->pool->redone;
    tw_tree_free(tree);
    tw_image_free(source.image);
}

static void guesses_are_right(void **state)
{
    static const struct {
        const char *protocol;
        void (*record)(struct recording *recording, struct check_random *random);
    } cases[] = { { "etrace", record_etrace }, { "ntrace", record_ntrace } };
    const size_t programs = 6 + check_scale(60);
    struct check_random random = check_random_start(19);

    (void)state;
    for (size_t k = 0; k < LENGTH(cases); k++) {
        struct guesses guesses = { 0, 0 };

        CHECK_CASE(cases[k].protocol);
        for (size_t i = 0; i < programs; i++) {
            struct recording *recording = calloc(1, sizeof *recording);

            CHECK(recording != NULL);
            make_program(&recording->program, &random);
            cases[k].record(recording, &random);
            count_guesses(&guesses, recording, cases[k].protocol);
            free(recording);
        }
        print_message("%s: %llu segments right, %llu again\n", cases[k].protocol,
                      (unsigned long long)guesses.right, (unsigned long long)guesses.wrong);
        CHECK(guesses.right > programs * TRACE / SEGMENT / 2);
        CHECK(guesses.wrong * 50 < guesses.right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(guesses_are_right) };

    return cmocka_run_group_tests_name("guesses", tests, NULL, NULL);
}
