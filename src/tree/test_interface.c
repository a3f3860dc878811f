/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what a tree says to callers that are older, newer, or wrong; whose elements are whose. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "failing.h"
#include "tree/stats.h"

static const struct tw_register registers[] = {
    { "TRCCONFIGR", 0x30007 }, /* with a data trace stream, under the next ID */
    { "TRCIDR0", 0x28000ebf }, { "TRCIDR1", 0x4100f403 },
    { "TRCIDR2", 0x00428084 }, { "TRCTRACEIDR", 0x10 },
};

static struct tw_tree_source make_source(void)
{
    return (struct tw_tree_source){ .size = sizeof(struct tw_tree_source),
                                    .protocol = "etmv4",
                                    .registers = registers,
                                    .register_count = LENGTH(registers),
                                    .core_type = "Cortex-R7" };
}

static struct tw_tree *make_tree(struct tw_tree_config config)
{
    struct tw_tree *tree;

    config.size = sizeof config;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    return tree;
}

static void wrong_arguments_are_said(void **state)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY };
    const struct tw_tree_config bad_framing = { .size = sizeof config, .framing = 99 };
    const struct tw_counter no_count = { .size = sizeof no_count };
    const struct tw_tree_config bad_counter = { .size = sizeof config, .counter = &no_count };
    struct tw_tree_source source = make_source();
    const struct tw_register nameless = { NULL, 1 };
    struct tw_batch batch = { .size = 1 };
    struct tw_tree *tree = (struct tw_tree *)&batch;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(tw_tree_new(NULL, &config, &fault), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_new(&tree, NULL, &fault), TW_E_ARGUMENT);
    CHECK(!tree);
    CHECK_EQ(tw_tree_new(&tree, NULL, NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_new(&tree, &bad_framing, NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_new(&tree, &bad_counter, &fault), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_add_source(NULL, NULL, &source), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_feed(NULL, NULL, 7), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_finish(NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_next(NULL, &batch), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(NULL), "there is no tree");

    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, NULL), TW_E_ARGUMENT);
    source.size = 3;
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "tw_tree_source has a size of 3: set it to its sizeof");
    source = make_source();
    source.protocol = NULL;
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "the source names no protocol");
    source = make_source();
    source.registers = NULL;
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_ARGUMENT);
    source.registers = &nameless;
    source.register_count = 1;
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "register 0 has no name");
    CHECK_EQ(tw_tree_feed(tree, NULL, 7), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_feed(tree, NULL, 0), TW_OK);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "tw_batch: set its size to its sizeof");
    source = make_source();
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "sources are added before the first byte");
    tw_tree_free(tree);
}

static void a_source_is_added_with_its_companion_or_not_at_all(void **state)
{
    const struct tw_tree_source source = make_source();
    enum tw_status status = TW_E_MEMORY;
    size_t n;

    (void)state;
    for (n = 0; status != TW_OK; n++) {
        struct failing failing = { .left = SIZE_MAX };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_tree *tree = make_tree(
            (struct tw_tree_config){ .framing = TW_FRAMING_MEMORY, .allocator = &allocator });
        uint8_t id = 0;

        check_case("request %zu fails", n);
        failing.left = n;
        failing.is_once = true;
        status = tw_tree_add_source(tree, &id, &source);
        if (status != TW_OK) {
            CHECK_EQ(status, TW_E_MEMORY);
            CHECK_EQ(id, 0);
            CHECK(!tw_tree_source_stats(tree, 0x10) && !tw_tree_source_stats(tree, 0x11));
            failing.left = SIZE_MAX;
            CHECK_EQ(tw_tree_add_source(tree, &id, &source), TW_OK);
        }
        CHECK_EQ(id, 0x10);
        CHECK(tw_tree_source_stats(tree, 0x10) && tw_tree_source_stats(tree, 0x11));
        tw_tree_free(tree);
        CHECK_EQ(failing.live, 0);
    }
    CHECK(n > 4);
}

static void threads_are_capped(void **state)
{
    static const uint8_t bytes[3 << 20];
    struct tw_tree *tree = make_tree((struct tw_tree_config){ .threads = UINT32_MAX });
    const struct tw_tree_source source = make_source();
    struct tw_batch batch = { .size = sizeof batch };

    (void)state;
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes, sizeof bytes), TW_OK);
    CHECK(tw_tree_next(tree, &batch) >= 0);
    tw_tree_free(tree);
}

/* Elements, packets and tallies of two sources say whose they are. */
struct whose {
    unsigned counted, merged;
};

static void count(void *context, void *tally, const struct tw_batch *batch)
{
    struct whose *whose = batch->user;

    (void)context;
    (void)tally;
    CHECK_EQ(batch->size, sizeof *batch);
    CHECK_EQ(batch->source, whose - (struct whose *)context);
    whose->counted++;
}

static void merge(void *context, void *tally, const struct tw_batch *batch)
{
    struct whose *whose = batch->user;

    (void)tally;
    CHECK_EQ(batch->count, 0);
    CHECK_EQ(batch->source, whose - (struct whose *)context);
    CHECK_EQ(batch->id & 0xfe, batch->source ? 0x10 : 0x20);
    whose->merged++;
}

static struct tw_tree *two_sources(struct tw_tree_config config, struct whose *whose)
{
    static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 4 };
    const struct tw_framer_config framing = { .size = sizeof framing,
                                              .framing = TW_FRAMING_MEMORY };
    struct tw_register numbered[LENGTH(registers)];
    struct tw_tree_source source = make_source();
    struct tw_framer *framer;
    struct tw_tree *tree;
    const uint8_t *frames;
    size_t size;

    config.framing = TW_FRAMING_MEMORY;
    tree = make_tree(config);
    source.registers = numbered;
    memcpy(numbered, registers, sizeof numbered);
    CHECK_EQ(tw_framer_new(&framer, &framing, NULL), TW_OK);
    for (uint8_t i = 0; i < 2; i++) {
        const uint8_t id = i ? 0x10 : 0x20;

        numbered[LENGTH(registers) - 1].value = id;
        source.user = &whose[i];
        CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
        CHECK_EQ(tw_framer_write(framer, id, sync, sizeof sync), TW_OK);
    }
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    CHECK_EQ(tw_tree_feed(tree, frames, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    tw_framer_free(framer);
    return tree;
}

static void everything_says_whose_it_is(void **state)
{
    struct whose whose[2] = { { 0, 0 }, { 0, 0 } };
    const struct tw_counter counter = {
        .size = sizeof counter, .context = whose, .count = count, .merge = merge
    };
    struct tw_tree *tree = two_sources((struct tw_tree_config){ .with_packets = true }, whose);
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    unsigned seen[2] = { 0, 0 };

    (void)state;
    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        CHECK(view.source < 2 && view.user == &whose[view.source]);
        CHECK_EQ(view.packet->id, view.source ? 0x10 : 0x20);
        seen[view.source]++;
    }
    CHECK(seen[0] > 1 && seen[1] > 1);
    memset(seen, 0, sizeof seen);
    while (tw_tree_next(tree, &batch) == TW_OK) {
        CHECK(batch.source < 2 && batch.user == &whose[batch.source]);
        CHECK_EQ(batch.id & 0xfe, batch.source ? 0x10 : 0x20); /* or its companion's */
        seen[batch.source]++;
    }
    CHECK(seen[0] && seen[1]);
    tw_tree_free(tree);

    tree = two_sources((struct tw_tree_config){ .counter = &counter }, whose);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_END);
    CHECK_EQ(batch.count, 0);
    for (size_t i = 0; i < 2; i++)
        CHECK(whose[i].counted && whose[i].merged);
    tw_tree_free(tree);
}

/* Callers built before a struct grew, and after it grew again. */
static void batches_and_views_of_other_sizes_are_filled(void **state)
{
    struct whose whose[2];
    struct tw_tree *tree = two_sources((struct tw_tree_config){ .with_packets = true }, whose);
    struct { /* without what came later */
        size_t size;
        const struct tw_packet *packet;
        const uint8_t *bytes;
        const char *protocol;
    } old_view = { .size = sizeof old_view };
    struct {
        size_t size;
        struct tw_element *elements;
        size_t room, count;
    } old_batch = { .size = sizeof old_batch };
    struct {
        struct tw_packet_view view;
        uint64_t more;
    } new_view = { .view = { .size = sizeof new_view }, .more = 9 };
    struct {
        struct tw_batch batch;
        uint64_t more;
    } new_batch = { .batch = { .size = sizeof new_batch }, .more = 9 };

    (void)state;
    CHECK_EQ(tw_tree_next_packet(tree, (void *)&old_view), TW_OK);
    CHECK_TEXT(old_view.protocol, "etmv4");
    CHECK_EQ(old_view.size, sizeof old_view);
    CHECK_EQ(tw_tree_next_packet(tree, &new_view.view), TW_OK);
    CHECK(new_view.view.user && new_view.more == 0);
    CHECK_EQ(tw_tree_next(tree, (void *)&old_batch), TW_OK);
    CHECK(old_batch.count && old_batch.elements && old_batch.size == sizeof old_batch);
    CHECK_EQ(tw_tree_next(tree, &new_batch.batch), TW_OK);
    CHECK(new_batch.batch.count && new_batch.more == 0);
    tw_tree_free(tree);
}

static void repeats_are_counted_as_often_as_they_say(void **state)
{
    const struct tw_element elements[] = {
        { .type = TW_ELEMENT_TRACE_ON },
        { .type = TW_ELEMENT_INSTR_RANGE, .count = 7 },
        { .type = TW_ELEMENT_INSTR_RANGE, .count = 3 },
        { .type = TW_ELEMENT_REPEAT, .count = 2, .times = 0xffffffff },
        { .type = TW_ELEMENT_REPEAT, .count = 1000, .times = 1 }, /* all before it */
        { .type = TW_ELEMENT_INSTR_RANGE, .count = UINT32_MAX },
        { .type = TW_ELEMENT_REPEAT, .count = 1, .times = UINT64_MAX },
    };
    static struct tw_stats stats, sum;

    (void)state;
    tw_stats_show(&sum);
    tw_stats_count(&stats, elements, 4);
    tw_stats_add(&sum, &stats);
    CHECK_EQ(sum.seen.elements[TW_ELEMENT_TRACE_ON], 1);
    CHECK_EQ(sum.seen.elements[TW_ELEMENT_INSTR_RANGE], 2 * (uint64_t)0x100000000);
    CHECK_EQ(sum.seen.elements[TW_ELEMENT_REPEAT], 1);
    CHECK_EQ(sum.seen.instructions, 10 * (uint64_t)0x100000000);
    CHECK_EQ(sum.seen.element_types, TW_ELEMENT_TYPES);
    memset(&stats, 0, sizeof stats);
    tw_stats_count(&stats, elements, 5);
    CHECK_EQ(stats.elements[TW_ELEMENT_TRACE_ON], 2);
    CHECK_EQ(stats.elements[TW_ELEMENT_INSTR_RANGE], 2 * (uint64_t)0x100000001);
    tw_stats_count(&stats, elements + 5, 2);
    CHECK_EQ(stats.seen.instructions, UINT64_MAX); /* it stops there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_said),
        cmocka_unit_test(a_source_is_added_with_its_companion_or_not_at_all),
        cmocka_unit_test(threads_are_capped),
        cmocka_unit_test(everything_says_whose_it_is),
        cmocka_unit_test(batches_and_views_of_other_sizes_are_filled),
        cmocka_unit_test(repeats_are_counted_as_often_as_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
