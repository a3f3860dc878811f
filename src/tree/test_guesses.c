/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace that is not damaged, of the protocols whose synchronization does not tell all: what a worker guesses about the middle
   of a stream is right nearly every time.  Else the result is the same, but a second thread has nothing to do. */
#include "check.h"

#include "tree/parallel.h"
#include "tree/test_recording.h"

enum { SEGMENT = 1 << 10 };

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
    const size_t programs = 6 + check_scale(60);
    struct check_random random = check_random_start(19);

    (void)state;
    for (size_t k = 0; k < LENGTH(recording_kinds); k++) {
        struct guesses guesses = { 0, 0 };

        CHECK_CASE(recording_kinds[k].protocol);
        for (size_t i = 0; i < programs; i++) {
            struct recording *recording = recording_of(k, &random);

            count_guesses(&guesses, recording, recording_kinds[k].protocol);
            free(recording);
        }
        print_message("%s: %llu segments right, %llu again\n", recording_kinds[k].protocol,
                      (unsigned long long)guesses.right, (unsigned long long)guesses.wrong);
        CHECK(guesses.right > programs * RECORDING_SIZE / SEGMENT / 2);
        CHECK(guesses.wrong * 50 < guesses.right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(guesses_are_right) };

    return cmocka_run_group_tests_name("guesses", tests, NULL, NULL);
}
