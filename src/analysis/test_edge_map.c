/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of edge maps: of every protocol, with damage, the map is that of the elements; nothing is allocated
   once it is there; and what came before changes nothing. */
#include <trackway/edge_map.h>

#include "analysis/test_want.h"
#include "failing.h"
#include "tree/test_made.h"

enum { BITS = WANT_BITS, ROUNDS = 12 };

/* A kind of source with its program, and memory that is counted. */
struct subject {
    struct made_subject made;
    struct tw_allocator allocator;
    struct failing memory;
};

static void open_subject(struct subject *subject, const struct made_kind *kind)
{
    subject->memory = (struct failing){ .left = SIZE_MAX };
    subject->allocator =
        (struct tw_allocator){ .resize = failing_resize, .context = &subject->memory };
    made_subject_open(&subject->made, kind, &subject->allocator);
}

static void close_subject(struct subject *subject)
{
    made_subject_close(&subject->made);
    CHECK_EQ(subject->memory.live, 0);
}

static struct tw_edge_map *map_of(const struct subject *subject)
{
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .bits = BITS,
                                               .sources = &subject->made.source,
                                               .source_count = 1,
                                               .allocator = &subject->allocator };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_edge_map *map;

    if (tw_edge_map_new(&map, &config, &fault) != TW_OK)
        fail_msg("%s", fault.text);
    CHECK_EQ(tw_edge_map_size(map), 1 << BITS);
    return map;
}

static bool is_shared(const struct made_kind *kind)
{
    return strstr(kind->registers, "srcid_bits") != NULL;
}

/* Each protocol that follows the program must have had some. */
static void check_edges(const uint64_t *edges)
{
    for (size_t i = 0; i < LENGTH(made_kinds); i++) {
        uint64_t all = 0;

        CHECK_CASE(made_kinds[i].name);
        for (size_t k = 0; k < LENGTH(made_kinds); k++)
            if (strcmp(made_kinds[k].protocol, made_kinds[i].protocol) == 0)
                all += edges[k];
        CHECK((all > 100) == ((tw_protocol_by_name(made_kinds[i].protocol)->flags &
                               TW_PROTOCOL_FOLLOWS) != 0));
    }
}

static void maps_are_those_of_elements(void **state)
{
    static struct subject subject;
    static struct made_stream_of streams[ROUNDS];
    static struct want want;
    static uint8_t got[1 << BITS], first[1 << BITS];
    struct check_random random = { 19 };
    uint64_t edges[LENGTH(made_kinds)] = { 0 };

    (void)state;
    for (size_t i = 0; i < LENGTH(made_kinds); i++) {
        struct tw_edge_map_result result = { .size = sizeof result };
        struct tw_edge_map *map;
        size_t asked;

        CHECK_CASE(made_kinds[i].name);
        open_subject(&subject, &made_kinds[i]);
        map = map_of(&subject);
        asked = subject.memory.asked;
        for (size_t k = 0; k < ROUNDS; k++) {
            made_stream(&streams[k], &subject.made.setup, &random, 3000, false);
            CHECK_EQ(tw_edge_map_take(map, got, streams[k].bytes, streams[k].size, &result),
                     TW_OK);
            CHECK_EQ(subject.memory.asked, asked); /* the image's allocator, and the map's */
            want_of(&want, &subject.made.source, streams[k].bytes, streams[k].size);
            if (!is_shared(&made_kinds[i]))
                check_map(got, &result, &want);
            if (k == 0)
                memcpy(first, got, sizeof first);
            edges[i] += result.edges;
        }
        CHECK_EQ(tw_edge_map_take(map, got, streams[0].bytes, streams[0].size, NULL), TW_OK);
        CHECK_BYTES(got, sizeof got, first, sizeof first);
        tw_edge_map_free(map);
        close_subject(&subject);
    }
    check_edges(edges);
}

/* Little memory: what is known of the program is forgotten, again and again. */
static void memory_stays_within_its_bounds(void **state)
{
    static struct subject subject;
    static struct made_stream_of stream;
    static struct want want;
    static uint8_t got[1 << BITS];
    struct check_random random = { 7 };
    struct tw_edge_map_config config = { .size = sizeof config,
                                         .bits = BITS,
                                         .source_count = 1,
                                         .memory = 1,
                                         .allocator = &subject.allocator };

    (void)state;
    for (size_t i = 0; i < LENGTH(made_kinds); i++) {
        struct tw_edge_map_result result = { .size = sizeof result };
        struct tw_edge_map *map;
        size_t asked;

        CHECK_CASE(made_kinds[i].name);
        open_subject(&subject, &made_kinds[i]);
        config.sources = &subject.made.source;
        if (tw_edge_map_new(&map, &config, NULL) == TW_OK) {
            asked = subject.memory.asked;
            for (size_t k = 0; k < ROUNDS; k++) {
                enum tw_status status;

                made_stream(&stream, &subject.made.setup, &random, 3000, false);
                status = tw_edge_map_take(map, got, stream.bytes, stream.size, &result);
                CHECK(status == TW_OK || status == TW_E_MEMORY);
                want_of(&want, &subject.made.source, stream.bytes, stream.size);
                if (status == TW_OK && !is_shared(&made_kinds[i]))
                    check_map(got, &result, &want);
                CHECK_EQ(subject.memory.asked, asked);
            }
            tw_edge_map_free(map);
        }
        close_subject(&subject);
    }
}

static void what_cannot_be(void **state)
{
    static struct subject subject;
    static uint8_t got[1 << BITS];
    struct tw_edge_map_config config = { .size = sizeof config, .bits = 3 };
    struct tw_edge_map_result result = { .size = 1 };
    struct tw_edge_map *map;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(tw_edge_map_new(&map, &config, &fault), TW_E_ARGUMENT);
    config.bits = 25;
    CHECK_EQ(tw_edge_map_new(&map, &config, &fault), TW_E_ARGUMENT);
    config.bits = 0;
    config.source_count = 1;
    CHECK_EQ(tw_edge_map_new(&map, &config, &fault), TW_E_ARGUMENT);
    config.source_count = 0;
    CHECK_EQ(tw_edge_map_new(&map, &config, &fault), TW_OK); /* for a run */
    CHECK_EQ(tw_edge_map_size(map), 65536);
    CHECK_EQ(tw_edge_map_take(map, got, got, 1, NULL), TW_E_ARGUMENT);
    tw_edge_map_free(map);
    tw_edge_map_free(NULL);
    open_subject(&subject, &made_kinds[0]);
    subject.made.source.protocol = "none";
    config.sources = &subject.made.source;
    config.source_count = 1;
    CHECK(tw_edge_map_new(&map, &config, &fault) < 0);
    CHECK(map == NULL && strstr(fault.text, "none"));
    subject.made.source.protocol = "ete";
    map = map_of(&subject);
    CHECK_EQ(tw_edge_map_take(map, got, NULL, 0, NULL), TW_OK);
    CHECK_EQ(tw_edge_map_take(map, got, NULL, 1, NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_edge_map_take(map, got, got, 1, &result), TW_E_ARGUMENT);
    tw_edge_map_free(map);
    for (size_t left = 0; left < 3; left++) {
        subject.memory.left = left;
        config.allocator = &subject.allocator;
        if (tw_edge_map_new(&map, &config, &fault) == TW_OK)
            tw_edge_map_free(map);
        else
            CHECK_EQ(fault.status, TW_E_MEMORY);
    }
    close_subject(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_those_of_elements),
        cmocka_unit_test(memory_stays_within_its_bounds),
        cmocka_unit_test(what_cannot_be),
    };

    return cmocka_run_group_tests_name("edge_map", tests, NULL, NULL);
}
