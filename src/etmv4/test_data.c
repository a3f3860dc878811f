/* SPDX-License-Identifier: BSD-2-Clause */
/* An ETMv4 data trace stream is found beside the instructions, counted, and named. */
#include "check.h"

#include <string.h>

#include <trackway/frame.h>
#include <trackway/tree.h>

/* Instruction stream: A-sync, Trace Info, Trace On; data stream: A-sync and bytes of any kind. */
static const uint8_t instructions[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 4 };
static const uint8_t data[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x51, 0x22, 0x33 };

static struct tw_tree *make_tree(bool packets_only, bool has_data)
{
    /* A Cortex-R with loads and stores as P0 elements, data addresses and values. */
    const struct tw_register registers[] = {
        { "TRCCONFIGR", has_data ? 0x30007 : 0x1 },
        { "TRCIDR0", 0x28000ebf },
        { "TRCIDR1", 0x4100f403 },
        { "TRCIDR2", 0x00428084 },
        { "TRCTRACEIDR", 0x10 },
    };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY,
                                           .packets_only = packets_only };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "etmv4",
                                           .registers = registers,
                                           .register_count = LENGTH(registers),
                                           .core_type = "Cortex-R7" };
    const struct tw_framer_config framer_config = { .size = sizeof framer_config,
                                                    .framing = TW_FRAMING_MEMORY };
    struct tw_framer *framer;
    struct tw_tree *tree;
    struct tw_fault fault;
    const uint8_t *frames;
    size_t size;

    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_framer_new(&framer, &framer_config, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0x10, instructions, sizeof instructions), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0x11, data, sizeof data), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    CHECK_EQ(tw_tree_feed(tree, frames, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    tw_framer_free(framer);
    return tree;
}

static void decode_counts_the_data_stream_and_says_what_it_is(void **state)
{
    struct tw_tree *tree = make_tree(false, true);
    struct tw_batch batch = { .size = sizeof batch };
    unsigned errors = 0, ends = 0;

    (void)state;
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            if (batch.id != 0x11)
                continue;
            ends += element->type == TW_ELEMENT_EO_TRACE;
            if (element->type != TW_ELEMENT_ERROR)
                continue;
            errors++;
            CHECK_EQ(element->error, TW_ERROR_UNSUPPORTED);
            CHECK_EQ(element->skipped, sizeof data);
        }
    CHECK_EQ(errors, 1);
    CHECK_EQ(ends, 1);
    tw_tree_free(tree);
}

static void listing_names_the_data_stream(void **state)
{
    struct tw_tree *tree = make_tree(true, true);
    struct tw_packet_view view = { .size = sizeof view };
    unsigned named = 0;

    (void)state;
    while (tw_tree_next_packet(tree, &view) == TW_OK)
        if (view.packet->id == 0x11) {
            CHECK_TEXT(view.protocol, "etmv4d");
            named += strcmp(tw_packet_type_name(&view), "D_NOT_DECODED") == 0;
        }
    CHECK(named > 0);
    tw_tree_free(tree);
}

static void without_data_trace_the_next_id_is_not_claimed(void **state)
{
    struct tw_tree *tree = make_tree(false, false);
    struct tw_batch batch = { .size = sizeof batch };

    (void)state;
    while (tw_tree_next(tree, &batch) == TW_OK)
        CHECK_EQ(batch.id, 0x10);
    tw_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_counts_the_data_stream_and_says_what_it_is),
        cmocka_unit_test(listing_names_the_data_stream),
        cmocka_unit_test(without_data_trace_the_next_id_is_not_claimed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
