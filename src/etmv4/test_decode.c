/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of decoding as such: room in the batch, pieces of input, bounds of the queue.  What trace
   means is in the vectors. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>

#include "etmv4/decode.h"

enum { SLACK = 64, MEMORY = 0x10000 };

/* A trace, its configuration, and the program: its code again and again below MEMORY. */
struct trace {
    struct tw_image *image;
    struct tw_etmv4_config config;
    bool splits_sources;
    uint8_t code[64];
    uint8_t *bytes;
    size_t size;
};

static void add_program(struct trace *trace)
{
    const struct tw_region region = { .size = sizeof region, .length = MEMORY };
    static uint8_t memory[MEMORY];

    for (size_t i = 0; i < MEMORY; i++)
        memory[i] = trace->code[i % sizeof trace->code];
    CHECK_EQ(tw_image_new(&trace->image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(trace->image, &region, memory), TW_OK);
}

static void free_trace(struct trace *trace)
{
    tw_image_free(trace->image);
    free(trace->bytes);
}

struct result {
    struct tw_element *elements;
    size_t count, room;
    size_t most_waiting; /* room of the queue */
};

static void keep(struct result *result, const struct tw_batch *batch)
{
    if (result->count + batch->count > result->room) {
        result->room = 2 * (result->count + batch->count);
        result->elements = realloc(result->elements, result->room * sizeof *result->elements);
        assert_non_null(result->elements);
    }
    if (batch->count)
        memcpy(result->elements + result->count, batch->elements,
               batch->count * sizeof *batch->elements);
    result->count += batch->count;
}

/* Decodes with batches of `room`, the input in pieces that `random` decides (NULL: whole). */
static struct result decode(struct trace *trace, size_t room, struct check_random *random)
{
    const struct tw_code_config start = { .range_limit = 200 };
    struct tw_code_config code_config = start;
    struct tw_etmv4_decoder *decoder = calloc(1, sizeof *decoder);
    struct result result = { .elements = NULL };
    struct tw_batch batch = { .elements = malloc(room * sizeof *batch.elements), .room = room };
    struct tw_output output = { .batch = &batch };
    struct tw_code *code;
    struct tw_follow follow;
    size_t given = 0, done = 0;
    enum tw_status status;

    assert_true(decoder && batch.elements);
    if (!trace->image)
        add_program(trace);
    tw_etmv4_code_config(&code_config, &trace->config);
    CHECK_EQ(tw_code_new(&code, trace->image, &code_config), TW_OK);
    tw_follow_init(&follow, code);
    follow.has_return_stack = code_config.links_are_special;
    follow.splits_sources = trace->splits_sources;
    tw_etmv4_decoder_init(decoder, &trace->config);
    do {
        struct tw_input in = { .offset = done };
        uint8_t *copy;

        given = trace->size;
        if (random && done < trace->size)
            given = done + 1 + (size_t)check_random_below(random, trace->size - done);
        in.size = given - done;
        in.is_last = given == trace->size;
        copy = calloc(1, in.size + SLACK); /* what lies behind the end means nothing */
        assert_non_null(copy);
        memcpy(copy, trace->bytes + done, in.size);
        memset(copy + in.size, random ? 0xf7 : 0, SLACK);
        in.data = copy;
        do {
            batch.count = 0;
            status = tw_etmv4_decode(decoder, &follow, &output, &in);
            CHECK(status == TW_OK || status == TW_MORE);
            keep(&result, &batch);
        } while (status == TW_OK);
        CHECK(!in.is_last || in.used == in.size);
        done += in.used;
        free(copy);
    } while (given < trace->size);
    do {
        batch.count = 0;
        status = tw_etmv4_end(decoder, &follow, &output);
        CHECK(status == TW_OK || status == TW_END);
        keep(&result, &batch);
    } while (status == TW_OK);
    result.most_waiting = decoder->room;
    tw_etmv4_decoder_free(decoder);
    free(decoder);
    free(batch.elements);
    tw_code_free(code);
    return result;
}

static void check_same(const struct result *got, const struct result *want)
{
    for (size_t i = 0; i < want->count && i < got->count; i++)
        CHECK_BYTES(&got->elements[i], sizeof got->elements[i], &want->elements[i],
                    sizeof want->elements[i]);
    CHECK_EQ(got->count, want->count);
}

static void add_bytes(struct trace *trace, const void *bytes, size_t size)
{
    trace->bytes = realloc(trace->bytes, trace->size + size);
    assert_non_null(trace->bytes);
    memcpy(trace->bytes + trace->size, bytes, size);
    trace->size += size;
}

/* A-sync, Trace Info, Trace On, address 0x1000 with context. */
static void add_start(struct trace *trace)
{
    static const uint8_t start[] = { 0,    0, 0, 0, 0,    0, 0,    0,    0,    0,   0,
                                     0x80, 1, 0, 4, 0x82, 0, 0x08, 0x00, 0x00, 0x31 };

    add_bytes(trace, start, sizeof start);
}

/* Random packets, mostly good ones; now and then a new start. */
static void add_packets(struct trace *trace, struct check_random *random, size_t count)
{
    static const uint8_t packets[][12] = {
        /* size, bytes */
        { 1, 0xf7 },
        { 1, 0xf6 },
        { 1, 0xd9 },
        { 1, 0xfd },
        { 1, 0xd4 },
        { 1, 0xe4 },
        { 1, 0x91 },
        { 2, 0x95, 0x15 },
        { 3, 0x95, 0x85, 0x11 },
        { 5, 0x9a, 0x00, 0x20, 0x00, 0x00 },
        { 9, 0x9d, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },
        { 6, 0x82, 0x10, 0x30, 0x00, 0x00, 0x31 },
        { 6, 0x83, 0x10, 0x30, 0x00, 0x00, 0x20 },
        { 2, 0x81, 0x31 },
        { 5, 0x06, 0x1d, 0x95, 0x89, 0x10 },
        { 5, 0x06, 0x5c, 0x95, 0x89, 0x10 },
        { 1, 0x71 },
        { 2, 0x02, 0x05 },
        { 1, 0x88 },
        { 3, 0xb4, 0x89, 0x10 },
        { 1, 0xb0 },
        { 2, 0xac, 0x04 },
        { 1, 0xaf },
        { 2, 0x2d, 0x01 },
        { 2, 0x2d, 0x02 },
        { 2, 0x2e, 0x01 },
        { 1, 0x30 },
        { 1, 0x36 },
        { 1, 0x0a },
        { 1, 0x0b },
        { 3, 0x06, 0x31, 0x70 },
        { 2, 0x00, 0x03 },
        { 2, 0x00, 0x05 },
        { 1, 0x04 },
        { 2, 0x01, 0x00 },
        { 1, 0x94 },
    };

    while (count-- > 0) {
        const uint8_t *packet = packets[check_random_below(random, LENGTH(packets))];
        /* Three times of four one of the first that do no harm. */
        if (check_random_below(random, 4))
            packet = packets[check_random_below(random, 23)];
        if (check_random_below(random, 60) == 0)
            add_start(trace);
        add_bytes(trace, packet + 1, packet[0]);
    }
}

static struct tw_etmv4_config ete_config(uint32_t max_spec, bool has_return_stack)
{
    struct tw_etmv4_config config = { .size = sizeof config, .is_ete = true };

    config.trcidr[0] = 0x28c1cea1;
    config.trcidr[1] = 0x4100fff0;
    config.trcidr[2] = 0xd0001088;
    config.trcidr[8] = max_spec;
    config.trcdevarch = 0x47735a13;
    config.trcconfigr = has_return_stack ? 0x7001 : 0x6001;
    config.trctraceidr = 0x10;
    config.architecture = 80;
    config.is_aa64_extended = true;
    return config;
}

/* Branches of all kinds among plain instructions. */
static void make_code(struct trace *trace, struct check_random *random)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x14000003, 0x94000005,
                                      0xd65f03c0, 0xb4000080, 0xd5033fdf, 0xd61f0020,
                                      0xd503201f, 0x54000000, 0xd69f03e0, 0x8b020020 };

    for (size_t i = 0; i < sizeof trace->code; i += 4) {
        const uint32_t word = words[check_random_below(random, LENGTH(words))];

        for (unsigned n = 0; n < 4; n++)
            trace->code[i + n] = (uint8_t)(word >> (8 * n));
    }
}

static void neither_room_nor_pieces_change_the_elements(void **state)
{
    struct check_random random = check_random_start(0x6465636f6465);
    const size_t rounds = check_scale(300);
    size_t total = 0;

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct trace trace = { .splits_sources = round % 3 == 0 };
        struct result want, got;

        trace.config =
            ete_config(round % 4 ? 0 : (uint32_t)check_random_below(&random, 9), round % 2);
        make_code(&trace, &random);
        add_start(&trace);
        add_packets(&trace, &random, 150);
        check_case("round %zu", round);
        want = decode(&trace, 8192, NULL);
        total += want.count;
        for (size_t room = TW_ETMV4_PACKET_MOST; room < TW_ETMV4_PACKET_MOST + 6; room++) {
            check_case("round %zu, room for %zu", round, room);
            got = decode(&trace, room, NULL);
            check_same(&got, &want);
            free(got.elements);
        }
        for (unsigned i = 0; i < 6; i++) {
            check_case("round %zu, pieces %u", round, i);
            got = decode(&trace, TW_ETMV4_PACKET_MOST + i, &random);
            check_same(&got, &want);
            free(got.elements);
        }
        free(want.elements);
        free_trace(&trace);
    }
    CHECK(total > 40 * rounds); /* mostly they mean something */
}

static void random_bytes_are_survived(void **state)
{
    struct check_random random = check_random_start(0x72616e646f6d);
    const size_t rounds = check_scale(2000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        uint8_t noise[300];
        struct trace trace = { .splits_sources = round % 2 };
        struct result want, got;

        trace.config = ete_config(round % 3 ? 0 : 5, round % 5 == 0);
        trace.config.is_ete = round % 4 != 0;
        trace.config.profile = round % 7 == 0 ? TW_PROFILE_M : TW_PROFILE_A;
        check_random_fill(&random, trace.code, sizeof trace.code);
        check_random_fill(&random, noise, sizeof noise);
        add_start(&trace);
        add_bytes(&trace, noise, 1 + (size_t)check_random_below(&random, sizeof noise));
        check_case("round %zu", round);
        want = decode(&trace, 4096, NULL);
        got = decode(&trace, TW_ETMV4_PACKET_MOST, &random);
        check_same(&got, &want);
        for (size_t i = 0; i < want.count; i++)
            CHECK(want.elements[i].index < trace.size);
        CHECK_EQ(want.elements[want.count - 1].type, TW_ELEMENT_EO_TRACE);
        free(want.elements);
        free(got.elements);
        free_trace(&trace);
    }
}

static size_t count_type(const struct result *result, uint8_t type)
{
    size_t count = 0;

    for (size_t i = 0; i < result->count; i++)
        count += result->elements[i].type == type;
    return count;
}

static void an_idle_core_may_trace_events_for_long(void **state)
{
    static const uint32_t depths[] = { 0, 8 };
    static uint8_t events[100000];

    (void)state;
    for (size_t n = 0; n < LENGTH(depths); n++) {
        struct trace trace = { .config = ete_config(depths[n], false) };
        struct result result;

        memset(trace.code, 0, sizeof trace.code);
        trace.code[3] = 0x14; /* b . */
        add_start(&trace);
        memset(events, 0x71, sizeof events);
        add_bytes(&trace, events, sizeof events);
        add_bytes(&trace, "\xf7\x2d\x01", depths[n] ? 3 : 1);
        result = decode(&trace, 4096, NULL);
        check_case("MAXSPEC %u", depths[n]);
        CHECK_EQ(count_type(&result, TW_ELEMENT_EVENT), sizeof events);
        CHECK_EQ(count_type(&result, TW_ELEMENT_ERROR), 0);
        CHECK_EQ(count_type(&result, TW_ELEMENT_INSTR_RANGE), 1);
        CHECK(result.most_waiting <= 4096);
        free(result.elements);
        free_trace(&trace);
    }
}

static void registers_that_lie_about_speculation_are_bounded(void **state)
{
    static uint8_t atoms[200000];
    struct trace trace = { .config = ete_config(UINT32_MAX, false) };
    struct result result;

    (void)state;
    trace.code[3] = 0x14;
    add_start(&trace);
    memset(atoms, 0xf7, sizeof atoms); /* nothing is ever committed */
    add_bytes(&trace, atoms, sizeof atoms);
    add_start(&trace);
    add_bytes(&trace, "\xf7\x2d\x01", 3);
    result = decode(&trace, 4096, NULL);
    CHECK(result.most_waiting <= 1 << 14);
    CHECK_EQ(count_type(&result, TW_ELEMENT_ERROR), 1);
    CHECK_EQ(count_type(&result, TW_ELEMENT_INSTR_RANGE), 1); /* and on from the next sync */
    free(result.elements);
    free_trace(&trace);
}

static void a_batch_must_hold_what_one_packet_makes(void **state)
{
    struct tw_element elements[TW_ETMV4_PACKET_MOST];
    struct tw_batch batch = { .elements = elements, .room = TW_ETMV4_PACKET_MOST - 1 };
    struct tw_output output = { .batch = &batch };
    struct tw_input in = { .data = NULL };
    const struct tw_etmv4_config config = ete_config(0, false);
    const struct tw_code_config code_config = { .range_limit = 0 };
    struct tw_etmv4_decoder decoder;
    struct tw_follow follow;
    struct tw_code *code;

    (void)state;
    CHECK_EQ(tw_code_new(&code, NULL, &code_config), TW_OK);
    tw_follow_init(&follow, code);
    tw_etmv4_decoder_init(&decoder, &config);
    CHECK_EQ(tw_etmv4_decode(&decoder, &follow, &output, &in), TW_E_ARGUMENT);
    tw_etmv4_decoder_free(&decoder);
    tw_code_free(code);
}

static void missing_registers_are_named(void **state)
{
    static const struct tw_register all[] = { { "trcidr0", 0x28000ea1 },
                                              { "TRCIDR1", 0x4100f403 },
                                              { "TrcIdr2", 0x488 },
                                              { "TRCCONFIGR", 1 },
                                              { "TRCDEVARCH", 0x47735a13 } };
    struct tw_etmv4_config config;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(tw_etmv4_config_from(&config, all, 4, NULL, false, &fault), TW_OK);
    CHECK_EQ(tw_etmv4_config_from(&config, all, 5, NULL, true, &fault), TW_OK);
    for (size_t i = 0; i < LENGTH(all); i++) {
        struct tw_register some[LENGTH(all)];
        size_t count = 0;
        char name[20];

        for (size_t n = 0; n < LENGTH(all); n++)
            if (n != i)
                some[count++] = all[n];
        check_case("without %s", all[i].name);
        CHECK_EQ(tw_etmv4_config_from(&config, some, count, NULL, true, &fault), TW_E_CONFIG);
        strcpy(name, all[i].name);
        for (char *c = name; *c; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        CHECK(strstr(fault.text, name) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neither_room_nor_pieces_change_the_elements),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(an_idle_core_may_trace_events_for_long),
        cmocka_unit_test(registers_that_lie_about_speculation_are_bounded),
        cmocka_unit_test(a_batch_must_hold_what_one_packet_makes),
        cmocka_unit_test(missing_registers_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
