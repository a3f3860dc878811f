/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of packets as a tree lists them: their kinds, and what is counted of them. */
#include "check.h"

#include <string.h>

#include <trackway/trackway.h>

#include "protocol.h"

static void every_type_has_a_name_and_a_kind(void **state)
{
    (void)state;
    for (size_t i = 0; tw_protocols[i]; i++) {
        const struct tw_protocol *protocol = tw_protocols[i];
        unsigned has[TW_PACKET_KINDS] = { 0 };

        CHECK(protocol->type_count > 0 && protocol->type_count <= 256);
        for (unsigned type = 0; type < protocol->type_count; type++) {
            check_case("%s, type %u", protocol->name, type);
            CHECK(protocol->types[type].name != NULL);
            CHECK(protocol->types[type].kind < TW_PACKET_KINDS);
            has[protocol->types[type].kind]++;
            for (unsigned other = 0; other < type; other++)
                CHECK(strcmp(protocol->types[other].name, protocol->types[type].name) != 0);
        }
        CHECK_CASE(protocol->name);
        CHECK(has[TW_PACKET_NOT_SYNC] && has[TW_PACKET_BAD] && has[TW_PACKET_SYNC]);
        CHECK_EQ(has[TW_PACKET_CUT], 1);
    }
}

static void every_kind_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TW_PACKET_KINDS; kind++)
        for (unsigned other = 0; other < kind; other++)
            CHECK(strcmp(tw_packet_kind_name(kind), tw_packet_kind_name(other)) != 0);
    CHECK_TEXT(tw_packet_kind_name(TW_PACKET_KINDS), "other");
}

/* An unsynchronized byte, A-sync, I-sync, an atom, a reserved header, A-sync, the head of an I-sync. */
static const uint8_t ptm_trace[] = { 0x55, 0,    0,    0,    0,    0,    0x80, 0x08,
                                     0x00, 0x10, 0x00, 0x00, 0x21, 0x84, 0x52, 0,
                                     0,    0,    0,    0,    0x80, 0x08, 0x00 };

static struct tw_tree *ptm_tree(bool is_packets, struct tw_errors *errors)
{
    static const struct tw_register registers[] = {
        { "ETMCR", 0 }, { "ETMIDR", 0x411cf301 }, { "ETMCCER", 0 }, { "ETMTRACEIDR", 0x10 }
    };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .packets_only = is_packets,
                                           .with_packets = !is_packets,
                                           .errors = errors };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "ptm",
                                           .registers = registers,
                                           .register_count = LENGTH(registers) };
    struct tw_tree *tree = NULL;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, ptm_trace, sizeof ptm_trace), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    return tree;
}

/* Of two kinds of synchronization, the one that a reader needs counts. */
static void counts_follow_the_kinds(void **state)
{
    static const uint8_t want[] = { TW_PACKET_NOT_SYNC, TW_PACKET_SYNC, TW_PACKET_INFO,
                                    TW_PACKET_FLOW,     TW_PACKET_BAD,  TW_PACKET_SYNC,
                                    TW_PACKET_CUT };
    struct tw_packet_view view = { .size = sizeof view };

    (void)state;
    for (int is_packets = 0; is_packets < 2; is_packets++) {
        struct tw_tree *tree = ptm_tree(is_packets, NULL);
        const struct tw_source_stats *stats;
        size_t count = 0;

        while (tw_tree_next_packet(tree, &view) == TW_OK) {
            check_case("packet %zu, %s", count, tw_packet_type_name(&view));
            CHECK(count < LENGTH(want));
            CHECK_TEXT(tw_packet_kind_name(view.kind), tw_packet_kind_name(want[count]));
            CHECK_EQ(view.is_bad, view.kind == TW_PACKET_BAD || view.kind == TW_PACKET_CUT);
            CHECK_EQ(view.is_not_sync, view.kind == TW_PACKET_NOT_SYNC);
            count++;
        }
        CHECK_EQ(count, LENGTH(want));
        stats = tw_tree_source_stats(tree, 0x10);
        CHECK(stats != NULL);
        CHECK_EQ(stats->packets, LENGTH(want));
        CHECK_EQ(stats->syncs, 2);
        CHECK_EQ(stats->bad_packets, 2);
        tw_tree_free(tree);
    }
}

/* The log of a tree that lists packets tells a cut packet from a bad one. */
static void reports_follow_the_kinds(void **state)
{
    const struct tw_errors_config config = { .size = sizeof config, .keeps_all = true };
    struct tw_errors *errors = NULL;
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_errors_new(&errors, &config, NULL), TW_OK);
    tree = ptm_tree(true, errors);
    while (tw_tree_next_packet(tree, &view) == TW_OK) {
    }
    CHECK_EQ(tw_errors_kept(errors), 2);
    CHECK_EQ(tw_errors_get(errors, 0)->code, TW_ERROR_BAD_SEQUENCE);
    CHECK_EQ(tw_errors_get(errors, 1)->code, TW_ERROR_TRUNCATED);
    tw_tree_free(tree);
    tw_errors_free(errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_a_name_and_a_kind),
        cmocka_unit_test(every_kind_has_a_name_of_its_own),
        cmocka_unit_test(counts_follow_the_kinds),
        cmocka_unit_test(reports_follow_the_kinds),
    };

    return cmocka_run_group_tests_name("packets of a tree", tests, NULL, NULL);
}
