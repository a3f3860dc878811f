/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that no encoder makes: an error with its offset, in bounded time and with bounded output; and calls
   nested deeper than any encoder's stack. */
#include "check.h"

#include "ntrace/test_trip.h"

enum { ELEMENTS_MOST = 3000000, AT = 0x1000, NO_ERROR = -1 };

#define SELF "63000000" /* 0x1000: beq x0, x0, 0x1000 */
#define SYNC "24150083" /* at 0x1000 */

struct outcome {
    int64_t error; /* index of the first one, or NO_ERROR */
    uint8_t code;
    uint64_t elements, instructions;
};

static struct tw_image *image_of(const char *hex)
{
    struct tw_region region = { .size = sizeof region, .address = AT };
    static uint8_t code[4096];
    struct tw_image *image;

    region.length = from_hex(code, hex);
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, code), TW_OK);
    return image;
}

static void take(struct tw_tree *tree, struct outcome *outcome)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            CHECK(++outcome->elements < ELEMENTS_MOST);
            if (element->type == TW_ELEMENT_INSTR_RANGE)
                outcome->instructions += element->count;
            if (element->type == TW_ELEMENT_ERROR && outcome->error == NO_ERROR) {
                outcome->error = (int64_t)element->index;
                outcome->code = element->error;
            }
        }
}

static struct outcome decode(const char *config, struct tw_image *image, const uint8_t *bytes,
                             size_t size, size_t times)
{
    const struct tw_tree_config options = { .size = sizeof options };
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "ntrace", .text = config, .image = image
    };
    struct outcome outcome = { .error = NO_ERROR };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &options, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    for (size_t i = 0; i < times; i++) {
        CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
        take(tree, &outcome);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take(tree, &outcome);
    tw_tree_free(tree);
    return outcome;
}

/* Code at 0x1000, bytes, and the offset of the error that must be told. */
static const struct {
    const char *name, *config, *code, *bytes;
    int64_t error;
} hostile[] = {
    { "HREPEAT 0", "mode=htm", SELF,
      SYNC "6c480503"
           "84000f",
      4 },
    { "HREPEAT of 60 bits", "mode=htm", SELF,
      SYNC "6cc9fcfcfcfcfcfcfcfcfcff"
           "84000f",
      4 },
    { "B-CNT 0", "mode=btm", SELF,
      SYNC "0c0b"
           "7803",
      6 },
    { "B-CNT of 60 bits", "mode=btm", SELF,
      SYNC "0c0b"
           "78fcfcfcfcfcfcfcfcfcff",
      6 },
    { "B-CNT of 27 bits, of a trap without instructions", "mode=btm", SELF,
      SYNC "100d13"
           "78fcfcfcfc1f",
      7 },
    { "nothing to repeat", "mode=btm", SELF, SYNC "7807", 4 },
    { "I-CNT of 42 bits", "mode=btm", SELF, SYNC "0cfcfcfcfcfcfcff", 4 },
    { "I-CNT of 42 bits, HTM", "mode=htm", SELF, SYNC "84fcfcfcfcfcfcfd07", 4 },
    { "ResourceFull I-CNT of 60 bits, twice", "mode=htm", SELF,
      SYNC "6cc0fcfcfcfcfcfcfcfcff"
           "6cc0fcfcfcfcfcfcfcfcff"
           "84400107",
      4 },
    { "I-CNT of more than 64 bits", "mode=btm", SELF, SYNC "0cfcfcfcfcfcfcfcfcfcfcff", 15 },
    { "I-CNT inside an instruction", "mode=btm", SELF, SYNC "0c07", 4 },
    { "a field cut by the end", "mode=btm", SELF,
      SYNC "0c0b"
           "24150000",
      6 },
    { "a field cut by the end, first of all", "mode=btm", SELF, "2415", 0 },
    { "fixed fields cut", "mode=btm,src_bits=12", SELF,
      "24150083"
      "0c0507",
      0 },
    { "MSEO that there is not", "mode=btm", SELF,
      SYNC "0c06"
           "0c0b",
      5 },
    { "HIST 0", "mode=htm", SELF, SYNC "70210103", 4 },
    { "RCODE that there is not", "mode=htm", SELF, SYNC "6c500b", 4 },
    { "a return without a call", "mode=btm", "6780000063000000", SYNC "0c13", 4 },
    { "code that is not there", "mode=btm", "6f10000063000000", SYNC "0c13", NO_ERROR },
};

static void errors_have_their_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(hostile); i++) {
        struct tw_image *image = image_of(hostile[i].code);
        uint8_t bytes[64];
        const size_t size = from_hex(bytes, hostile[i].bytes);
        const struct outcome outcome = decode(hostile[i].config, image, bytes, size, 1);

        check_case("%s", hostile[i].name);
        CHECK_EQ(outcome.error, hostile[i].error);
        CHECK(outcome.elements < 1000);
        tw_image_free(image);
    }
}

/* Idle bytes without end, and a message without end: nothing is kept of them. */
static void what_never_ends(void **state)
{
    struct tw_image *image = image_of(SELF);
    const size_t size = 1 << 16, times = 1024;
    uint8_t *bytes = malloc(size);
    struct outcome outcome;

    (void)state;
    CHECK(bytes != NULL);
    memset(bytes, 0xff, size);
    outcome = decode("mode=htm", image, bytes, size, times);
    CHECK_EQ(outcome.error, NO_ERROR);
    CHECK(outcome.elements < 10);
    memset(bytes, 0, size);
    outcome = decode("mode=htm", image, bytes, size, times / 16);
    CHECK_EQ(outcome.error, 0);
    CHECK(outcome.elements < 100000);
    free(bytes);
    tw_image_free(image);
}

/* ---- calls ---- */

/* 1000: beqz a0, 100c; 1004: jal ra, 1000; 1008: ret; 100c: ret; 1010: nop */
#define NESTED                                                                                 \
    "63060500"                                                                                 \
    "eff0dfff"                                                                                 \
    "67800000"                                                                                 \
    "67800000"                                                                                 \
    "13000000"

static void put(struct tw_ntrace_unit *unit, uint64_t address, uint8_t itype)
{
    const struct tw_etrace_block block = {
        .iaddr = address, .iretire = 2, .ilastsize = 1, .itype = itype
    };

    CHECK_EQ(tw_ntrace_unit_retire(unit, &block, 1), TW_OK);
}

static void nested_calls(void **state)
{
    static const unsigned depths[] = { 1, 31, 32, 33, 40, 500, 5000 };
    struct tw_image *image = image_of(NESTED);
    struct bytes trace = { .bytes = NULL };

    (void)state;
    for (unsigned n = 0; n < LENGTH(depths) * 8; n++) {
        const unsigned depth = depths[n / 8], mode = n % 4;
        struct setup setup = { .name = "" };
        struct tw_ntrace_unit *unit;
        struct outcome outcome;
        char text[4096];

        check_case("%u calls, implicit return %u, %s", depth, mode, n & 4 ? "BTM" : "HTM");
        tw_ntrace_config_init(&setup.config);
        setup.config.mode = n & 4 ? TW_NTRACE_MODE_BTM : TW_NTRACE_MODE_HTM;
        setup.config.return_mode = (uint8_t)mode;
        unit = make_unit(&setup, &trace);
        write_field(unit, "trTeEnable", 1);
        write_field(unit, "trTeInstTracing", 1);
        for (unsigned i = 0; i < depth; i++) {
            put(unit, AT, TW_ETRACE_ITYPE_NOT_TAKEN);
            put(unit, AT + 4, TW_ETRACE_ITYPE_INFERABLE_CALL);
        }
        put(unit, AT, TW_ETRACE_ITYPE_TAKEN);
        put(unit, AT + 12, TW_ETRACE_ITYPE_RETURN);
        for (unsigned i = 0; i < depth; i++)
            put(unit, AT + 8, TW_ETRACE_ITYPE_RETURN);
        put(unit, AT + 16, TW_ETRACE_ITYPE_NONE);
        write_field(unit, "trTeEnable", 0);
        tw_ntrace_unit_free(unit);
        CHECK(tw_ntrace_config_text(text, sizeof text, &setup.config) < sizeof text);
        outcome = decode(text, image, trace.bytes, trace.size, 1);
        CHECK_EQ(outcome.error, NO_ERROR);
        CHECK_EQ(outcome.instructions, 3 * (uint64_t)depth + 3);
    }
    free(trace.bytes);
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_their_places),
        cmocka_unit_test(what_never_ends),
        cmocka_unit_test(nested_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
