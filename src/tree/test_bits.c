/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bits of packets stand for: the same whatever values the fields have. */
#include "check.h"

#include <string.h>

#include <trackway/tree.h>

/* A 4-byte packet of a stimulus port: size, source, port, value. */
static void runs_do_not_depend_on_values(void **state)
{
    static const struct {
        const char *name;
        uint32_t first, count;
    } want[] = { { "more", 0, 2 }, { "type", 2, 1 }, { "port", 3, 5 }, { "value", 8, 32 } };
    static const uint32_t values[] = { 0, 0xffffffff, 0x5aa50ff0, 0x80000001, 0x01020304 };

    (void)state;
    for (size_t i = 0; i < LENGTH(values); i++)
        for (unsigned port = 0; port < 32; port++) {
            const struct tw_tree_config config = { .size = sizeof config,
                                                   .packets_only = true,
                                                   .keeps_bits = true };
            const struct tw_tree_source source = { .size = sizeof source, .protocol = "itm" };
            struct tw_packet_view view = { .size = sizeof view };
            struct tw_packet_bit_run runs[8];
            uint8_t bytes[11] = { 0, 0, 0, 0, 0, 0x80, (uint8_t)(port << 3 | 3) };
            struct tw_tree *tree;

            check_case("port %u, value %#x", port, (unsigned)values[i]);
            for (unsigned k = 0; k < 4; k++)
                bytes[7 + k] = (uint8_t)(values[i] >> 8 * k);
            CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
            CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
            CHECK_EQ(tw_tree_feed(tree, bytes, sizeof bytes), TW_OK);
            CHECK_EQ(tw_tree_finish(tree), TW_OK);
            CHECK_EQ(tw_tree_next_packet(tree, &view), TW_OK); /* synchronization */
            CHECK_EQ(tw_packet_bits(&view, runs, LENGTH(runs)), 1);
            CHECK_TEXT(runs[0].name, "type");
            CHECK_EQ(runs[0].count, 48);
            CHECK_EQ(tw_tree_next_packet(tree, &view), TW_OK);
            CHECK_EQ(tw_packet_bits(&view, runs, LENGTH(runs)), LENGTH(want));
            for (size_t k = 0; k < LENGTH(want); k++) {
                CHECK_TEXT(runs[k].name, want[k].name);
                CHECK_EQ(runs[k].first, want[k].first);
                CHECK_EQ(runs[k].count, want[k].count);
            }
            CHECK_EQ(tw_packet_bits(&view, runs, 2), 2); /* no more than there is room for */
            tw_tree_free(tree);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_do_not_depend_on_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
