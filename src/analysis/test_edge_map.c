/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of edge maps: of every protocol, with damage, the map is that of the elements; nothing is allocated
   once it is there; and what came before changes nothing. */
#include <trackway/edge_map.h>

#include "failing.h"
#include "tree/test_made.h"

enum { PROGRAM = 0x10000, BITS = 12, ROUNDS = 12 };

/* A kind of source with its program. */
struct subject {
    struct made_setup setup;
    struct made_about about;
    struct tw_tree_source source;
    struct tw_image *image;
    struct tw_allocator allocator;
    struct failing memory;
    uint8_t program[PROGRAM];
};

static void open_subject(struct subject *subject, const struct made_kind *kind)
{
    const struct made_options options = { .range_limit = 0 };

    memset(subject, 0, sizeof *subject);
    subject->memory.left = SIZE_MAX;
    subject->allocator =
        (struct tw_allocator){ .resize = failing_resize, .context = &subject->memory };
    subject->setup = made_set_up(kind, &options);
    made_describe(&subject->about, kind);
    CHECK_EQ(tw_image_new(&subject->image, &subject->allocator, NULL), TW_OK);
    for (uint64_t at = 0; at < PROGRAM; at += 0x1000) {
        struct tw_region region = { .size = sizeof region, .address = at, .length = 0x1000 };

        if (made_read(&subject->setup, subject->program + at, NULL, at, 0x1000) == 0x1000)
            CHECK_EQ(tw_image_add(subject->image, &region, subject->program + at), TW_OK);
    }
    subject->source =
        (struct tw_tree_source){ .size = sizeof subject->source,
                                 .protocol = kind->protocol,
                                 .registers = subject->about.registers,
                                 .register_count = subject->about.register_count,
                                 .text = subject->about.has_text ? subject->about.text : NULL,
                                 .core_type = kind->core,
                                 .id = 0x10,
                                 .image = subject->image };
}

static void close_subject(struct subject *subject)
{
    tw_image_free(subject->image);
    made_tear_down(&subject->setup);
    CHECK_EQ(subject->memory.live, 0);
}

static struct tw_edge_map *map_of(const struct subject *subject)
{
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .bits = BITS,
                                               .sources = &subject->source,
                                               .source_count = 1,
                                               .allocator = &subject->allocator };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_edge_map *map;

    if (tw_edge_map_new(&map, &config, &fault) != TW_OK)
        fail_msg("%s", fault.text);
    CHECK_EQ(tw_edge_map_size(map), 1 << BITS);
    return map;
}

/* ---- the same from elements, said again ---- */

struct want {
    uint8_t bytes[1 << BITS];
    uint64_t instructions, missing, errors;
    uint64_t from;
    bool is_open;
};

static void want_edge(struct want *want, uint64_t from, uint64_t to)
{
    const uint64_t mixed =
        (from * 0x9e3779b97f4a7c15u ^ (to + 0x7f4a7c15u) * 0xd6e8feb86659fd93u) *
        0xff51afd7ed558ccdu;
    uint8_t *byte = &want->bytes[mixed >> (64 - BITS)];

    *byte = *byte == 255 ? 255 : (uint8_t)(*byte + 1);
}

static void want_range(struct want *want, const struct tw_element *range)
{
    const uint64_t branch = tw_element_end(range) - 2u * range->last_size;
    const bool is_taken = (range->flags & TW_RANGE_EXECUTED) != 0;

    if (!range->count)
        return;
    want->instructions += range->count;
    if (want->is_open)
        want_edge(want, want->from * 2 + 1, range->start * 2 + 1);
    want->is_open = is_taken && range->last_kind == TW_LAST_IBR;
    want->from = branch;
    if (range->last_kind == TW_LAST_BR || (range->last_kind == TW_LAST_IBR && !is_taken))
        want_edge(want, branch * 2 + is_taken, 0);
}

static void want_batch(struct want *want, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        switch (element->type) {
        case TW_ELEMENT_INSTR_RANGE:
            want_range(want, element);
            break;
        case TW_ELEMENT_REPEAT:
            for (uint64_t n = 0; n < element->times; n++)
                for (size_t k = i - tw_repeat_reach(batch->elements, i); k < i; k++)
                    want_range(want, &batch->elements[k]);
            break;
        case TW_ELEMENT_ADDR_NACC:
        case TW_ELEMENT_ERROR:
        case TW_ELEMENT_I_RANGE_NOPATH:
        case TW_ELEMENT_EXCEPTION:
        case TW_ELEMENT_TRACE_ON:
        case TW_ELEMENT_NO_SYNC:
        case TW_ELEMENT_EO_TRACE:
            want->is_open = false;
            want->missing += element->type == TW_ELEMENT_ADDR_NACC;
            want->errors += element->type == TW_ELEMENT_ERROR;
            break;
        default:
            break;
        }
    }
}

/* Sources that share the stream each have an edge of their own open: not here. */
static void want_of(struct want *want, const struct subject *subject, const uint8_t *bytes,
                    size_t size)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    memset(want, 0, sizeof *want);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &subject->source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        want_batch(want, &batch);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        want_batch(want, &batch);
    tw_tree_free(tree);
}

static void check_map(const uint8_t *got, const struct tw_edge_map_result *result,
                      const struct want *want)
{
    uint32_t edges = 0;

    CHECK_BYTES(got, (size_t)1 << BITS, want->bytes, sizeof want->bytes);
    for (size_t i = 0; i < sizeof want->bytes; i++)
        edges += want->bytes[i] != 0;
    CHECK_EQ(result->edges, edges);
    CHECK_EQ(result->instructions, want->instructions);
    CHECK_EQ(result->missing, want->missing);
    CHECK_EQ(result->errors, want->errors);
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
            made_stream(&streams[k], &subject.setup, &random, 3000, false);
            CHECK_EQ(tw_edge_map_take(map, got, streams[k].bytes, streams[k].size, &result),
                     TW_OK);
            CHECK_EQ(subject.memory.asked, asked); /* the image's allocator, and the map's */
            want_of(&want, &subject, streams[k].bytes, streams[k].size);
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
        config.sources = &subject.source;
        if (tw_edge_map_new(&map, &config, NULL) == TW_OK) {
            asked = subject.memory.asked;
            for (size_t k = 0; k < ROUNDS; k++) {
                enum tw_status status;

                made_stream(&stream, &subject.setup, &random, 3000, false);
                status = tw_edge_map_take(map, got, stream.bytes, stream.size, &result);
                CHECK(status == TW_OK || status == TW_E_MEMORY);
                want_of(&want, &subject, stream.bytes, stream.size);
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
    subject.source.protocol = "none";
    config.sources = &subject.source;
    config.source_count = 1;
    CHECK(tw_edge_map_new(&map, &config, &fault) < 0);
    CHECK(map == NULL && strstr(fault.text, "none"));
    subject.source.protocol = "ete";
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
