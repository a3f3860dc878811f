/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that are counted where they are read and those that are handed out are together what is handed out without
   counting: every protocol over made streams with damage, in any pieces. */
#include "tree/packet_tally.h"

#include "check.h"

#include "tree/test_made.h"

struct packets {
    struct tw_packet_sum types[256];
    size_t counted;
    /* Of those that tell more than what they are: where they lie. */
    uint64_t places[MADE_SIZE];
    size_t place_count;
};

static void take_sum(void *context, const struct tw_packet_view *view,
                     const struct tw_packet_sum *sum)
{
    struct packets *packets = context;

    CHECK_TEXT(tw_packet_type_name(view), tw_type_name(view->about, view->packet->type));
    CHECK(tw_type_kind(view->about, view->packet->type) > TW_PACKET_DISCARD);
    packets->types[view->packet->type].packets += sum->packets;
    packets->types[view->packet->type].bytes += sum->bytes;
    packets->counted += sum->packets;
}

static void take_packets(struct packets *packets, struct tw_tree *tree)
{
    struct tw_packet_view view = { .size = sizeof view };

    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        packets->types[view.packet->type].packets++;
        packets->types[view.packet->type].bytes += view.packet->size;
        if (view.kind > TW_PACKET_DISCARD)
            continue;
        CHECK(packets->place_count < LENGTH(packets->places));
        packets->places[packets->place_count++] =
            view.packet->index ^ view.packet->offset << 20 ^ (uint64_t)view.packet->size << 40;
    }
}

static void read_stream(struct packets *packets, struct tw_source_stats *stats,
                        const struct made_subject *subject, const struct made_stream_of *stream,
                        bool is_counted, struct check_random *pieces)
{
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_tree *tree;

    memset(packets, 0, sizeof *packets);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &subject->source), TW_OK);
    if (is_counted)
        CHECK_EQ(tw_tree_tally_packets(tree), TW_OK);
    for (size_t at = 0, piece; at < stream->size; at += piece) {
        piece = 1 + (size_t)check_random_below(pieces, stream->size - at);
        CHECK_EQ(tw_tree_feed(tree, stream->bytes + at, piece), TW_OK);
        take_packets(packets, tree);
        if (is_counted && check_random_below(pieces, 2)) /* counting goes on from nothing */
            tw_packet_tally_take(tree, take_sum, packets);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take_packets(packets, tree);
    if (is_counted)
        tw_packet_tally_take(tree, take_sum, packets);
    *stats = *tw_tree_source_stats(tree, tree->branches[0]->id);
    tw_tree_free(tree);
}

static void damage(struct made_stream_of *stream, struct check_random *random)
{
    for (uint64_t times = check_random_below(random, 4); times; times--)
        stream->bytes[check_random_below(random, stream->size)] ^=
            (uint8_t)(1u << check_random_below(random, 8));
}

static void counted_and_handed_out(void **state)
{
    struct check_random random = check_random_start(0x7a11e);
    const size_t rounds = check_scale(400);

    (void)state;
    for (size_t i = 0; i < LENGTH(made_kinds); i++) {
        static struct made_subject subject;
        size_t counted = 0;

        made_subject_open(&subject, &made_kinds[i], NULL);
        for (size_t round = 0; round < rounds; round++) {
            static struct made_stream_of stream;
            static struct packets all, some;
            struct tw_source_stats want, got;

            check_case("%s, stream %zu", made_kinds[i].name, round);
            made_stream(&stream, &subject.setup, &random, 1 + check_random_below(&random, 700),
                        false);
            damage(&stream, &random);
            read_stream(&all, &want, &subject, &stream, false, &random);
            read_stream(&some, &got, &subject, &stream, true, &random);
            for (size_t type = 0; type < LENGTH(all.types); type++) {
                CHECK_EQ(some.types[type].packets, all.types[type].packets);
                CHECK_EQ(some.types[type].bytes, all.types[type].bytes);
            }
            CHECK_BYTES((const uint8_t *)some.places, some.place_count * sizeof *some.places,
                        (const uint8_t *)all.places, all.place_count * sizeof *all.places);
            CHECK_EQ(got.packets, want.packets);
            CHECK_EQ(got.bytes, want.bytes);
            CHECK_EQ(got.syncs, want.syncs);
            CHECK_EQ(got.bad_packets, want.bad_packets);
            CHECK_EQ(got.losses, want.losses);
            CHECK_EQ(got.unsynced_bytes, want.unsynced_bytes);
            counted += some.counted;
        }
        CHECK_CASE(made_kinds[i].name);
        CHECK(counted > 10 * rounds || strcmp(made_kinds[i].protocol, "etrace") == 0);
        made_subject_close(&subject);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_and_handed_out),
    };

    return cmocka_run_group_tests_name("packet_tally", tests, NULL, NULL);
}
