/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of packets as a tree lists them: their kinds, and what is counted of them. */
#include "check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/members.h>
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

static void names_of_types_are_those_of_the_tables(void **state)
{
    static const struct {
        const char *protocol;
        const char *(*name)(unsigned type);
    } names[] = { { "etmv3", tw_etmv3_type_name },   { "ptm", tw_ptm_type_name },
                  { "etmv4", tw_etmv4_type_name },   { "ete", tw_etmv4_type_name },
                  { "itm", tw_itm_type_name },       { "stm", tw_stm_type_name },
                  { "etrace", tw_etrace_type_name }, { "ntrace", tw_ntrace_type_name } };

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++)
        for (size_t k = 0; tw_protocols[k]; k++)
            for (unsigned type = 0; strcmp(tw_protocols[k]->name, names[i].protocol) == 0 &&
                                    type < tw_protocols[k]->type_count;
                 type++) {
                check_case("%s, type %u", names[i].protocol, type);
                CHECK_TEXT(names[i].name(type), tw_protocols[k]->types[type].name);
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

/* Every row of every table is what its sizes say; a key is for JSON and CSV, words are for text. */
static void check_row(const struct tw_member_type *row)
{
    check_case("%s, %s", row->key, row->words);
    CHECK_EQ(row->key_size, strlen(row->key));
    CHECK_EQ(row->words_size, strlen(row->words));
    CHECK(row->key_size < sizeof row->key && row->words_size < sizeof row->words);
    CHECK_EQ((row->in & TW_MEMBER_LISTED) != 0, row->key_size > 0);
    CHECK(row->in == TW_MEMBER_LISTED || (row->in & TW_MEMBER_TOLD));
    CHECK(row->kind <= TW_MEMBER_NIBBLES);
}

static bool has_key(const struct tw_member_type *(*row_of)(size_t number), const char *key)
{
    for (size_t i = 0; row_of(i); i++)
        if (strcmp(row_of(i)->key, key) == 0)
            return true;
    return false;
}

static void tables_of_members_are_whole(void **state)
{
    static const char *const packet_keys[] = {
        "i", "b", "nb", "addr", "operand_value", "dloss", "text", "tstamp", "in", "src"
    };
    static const char *const element_keys[] = { "i", "st", "unknown", "operand", "be", "k" };
    size_t count = 0;

    (void)state;
    for (; tw_packet_member_type(count); count++)
        check_row(tw_packet_member_type(count));
    CHECK(count > 200);
    CHECK(tw_packet_member_type(count + 1) == NULL);
    for (size_t i = 0; i < LENGTH(packet_keys); i++) {
        CHECK_CASE(packet_keys[i]);
        CHECK(has_key(tw_packet_member_type, packet_keys[i]));
    }
    for (count = 0; tw_element_member_type(count); count++)
        check_row(tw_element_member_type(count));
    for (size_t i = 0; i < LENGTH(element_keys); i++) {
        CHECK_CASE(element_keys[i]);
        CHECK(has_key(tw_element_member_type, element_keys[i]));
    }
}

/* Members of a packet for a caller of the library, with any room. */
static void members_are_values(void **state)
{
    struct tw_tree *tree = ptm_tree(true, NULL);
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_member items[TW_MEMBERS_ENOUGH];
    char texts[TW_MEMBERS_TEXT_ENOUGH];

    (void)state;
    while (tw_tree_next_packet(tree, &view) == TW_OK && view.kind != TW_PACKET_INFO) {
    }
    for (size_t room = 1; room <= LENGTH(items); room++) {
        struct tw_members list = { .items = items,
                                   .room = room,
                                   .texts = texts,
                                   .text_room = sizeof texts,
                                   .wanted = TW_MEMBER_LISTED };

        tw_packet_members(&list, &view);
        CHECK(list.count < room);
        if (room < LENGTH(items))
            continue;
        CHECK_TEXT(items[0].type->key, "i");
        CHECK_EQ(items[0].number, 7);
        CHECK_TEXT(items[3].type->key, "t");
        CHECK_TEXT(items[3].text, "ISYNC");
        CHECK_TEXT(items[4].type->key, "b");
        CHECK_EQ(items[4].number, view.packet->size);
        CHECK_TEXT(items[6].type->key, "addr");
        CHECK_EQ(items[6].type->kind, TW_MEMBER_HEX);
        CHECK_EQ(items[6].number, 0x1000);
    }
    tw_tree_free(tree);
}

/* So much room as the header says, and no more; less, and nothing is written. */
static void check_lines(struct tw_tree *tree, size_t room_of_a_byte)
{
    struct tw_packet_view view = { .size = sizeof view };

    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        const size_t enough = 1024 + room_of_a_byte * view.packet->size;
        char *line = malloc(enough), large[8192], text[8192];
        size_t size;

        CHECK(line != NULL);
        size = tw_packet_json(line, enough, &view);
        CHECK_EQ(size, strlen(line));
        CHECK_EQ(line[size - 1], '}');
        CHECK_EQ(tw_packet_json(large, sizeof large, &view), size);
        CHECK_TEXT(large, line);
        memset(line, 'x', enough);
        CHECK_EQ(tw_packet_json(line, enough - 1, &view), enough);
        CHECK_EQ(line[0], 'x');
        size = tw_packet_text(line, 1024, &view);
        CHECK_EQ(size, strlen(line));
        CHECK_EQ(tw_packet_text(text, sizeof text, &view), size);
        CHECK_TEXT(text, line);
        for (size_t room = 1; room < 60; room++) {
            CHECK(tw_packet_text(text, room, &view) < room);
            CHECK(strncmp(text, line, strlen(text)) == 0);
        }
        free(line);
    }
    tw_tree_free(tree);
}

static void lines_keep_to_their_room(void **state)
{
    /* Bytes without synchronization, ASYNC, VERSION, D8, NULL. */
    static const uint8_t stm_trace[] = { 0x55, 0x66, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0x0f, 0x0f, 0x43, 0x24, 0x0a };
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "stm",
                                           .id = 0x10 };
    struct tw_tree *tree;

    (void)state;
    check_lines(ptm_tree(true, NULL), 2);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, stm_trace, sizeof stm_trace), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    check_lines(tree, 4);
}

/* Bytes without synchronization are a packet of the protocol as others are: whole, and with nothing in it but the head. */
static void what_is_not_synchronized_is_a_whole_packet(void **state)
{
    static const uint8_t trace[] = { 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f };
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_packet_view view = { .size = sizeof view }, copy = { .size = sizeof copy };
    max_align_t memory[128];
    struct tw_tree *tree;

    (void)state;
    for (size_t i = 0; tw_protocols[i]; i++) {
        const struct tw_tree_source source = { .size = sizeof source,
                                               .protocol = tw_protocols[i]->name,
                                               .id = 0x10 };
        const uint8_t *behind;

        CHECK_CASE(source.protocol);
        CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
        if (tw_tree_add_source(tree, NULL, &source) == TW_OK) {
            CHECK_EQ(tw_tree_feed(tree, trace, sizeof trace), TW_OK);
            CHECK_EQ(tw_tree_finish(tree), TW_OK);
            while (tw_tree_next_packet(tree, &view) == TW_OK) {
                CHECK(tw_packet_copy(&copy, memory, sizeof memory, &view) > 0);
                behind = (const uint8_t *)(copy.packet + 1);
                for (size_t k = 0;
                     view.is_not_sync && k < tw_protocols[i]->packet_size - sizeof *copy.packet;
                     k++)
                    CHECK_EQ(behind[k], 0);
            }
        }
        tw_tree_free(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_synchronized_is_a_whole_packet),
        cmocka_unit_test(every_type_has_a_name_and_a_kind),
        cmocka_unit_test(names_of_types_are_those_of_the_tables),
        cmocka_unit_test(every_kind_has_a_name_of_its_own),
        cmocka_unit_test(counts_follow_the_kinds),
        cmocka_unit_test(reports_follow_the_kinds),
        cmocka_unit_test(tables_of_members_are_whole),
        cmocka_unit_test(members_are_values),
        cmocka_unit_test(lines_keep_to_their_room),
    };

    return cmocka_run_group_tests_name("packets of a tree", tests, NULL, NULL);
}
