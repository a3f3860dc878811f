/* SPDX-License-Identifier: BSD-2-Clause */
/* Random runs of harts through encoders, funnels and sinks, driven as software does: what is read back
   is decoded with the configuration that a dump of the registers gives, and is what ran. */
#include "trsim/test.h"

#include <inttypes.h>
#include <stdio.h>

#include <trackway/control.h>
#include <trackway/image.h>
#include <trackway/tree.h>

#include "base/text.h"
#include "rv_program.h"

enum { HARTS_MOST = 3, PCS = HARTS_MOST * (STEPS_MOST + 8) };

enum sink { SYSTEM_MEMORY, OWN_MEMORY, PINS_1, PINS_2, PINS_4, PINS_8, PINS_16, FRAMES, SINKS };

struct pcs {
    uint64_t pc[PCS];
    size_t count;
    size_t errors;
};

struct bench {
    struct program program[HARTS_MOST];
    struct history history[HARTS_MOST];
    struct tw_image *image[HARTS_MOST];
    struct sim_run run;
    struct pcs got[HARTS_MOST], want[HARTS_MOST];
    char log[HARTS_MOST][200000];
    char name[HARTS_MOST][16];
    char config[16384];
    struct check_random random;
};

struct shape {
    enum sink sink;
    bool is_etrace;
    unsigned harts;
    unsigned buffer;   /* bytes */
    uint32_t control;  /* of the encoders, over format and bits 0 to 2 */
    uint32_t features; /* likewise */
};

/* ---- the harts ---- */

static void write_log(struct bench *bench, unsigned hart)
{
    struct tw_text text = tw_text_in(bench->log[hart], sizeof bench->log[hart]);
    const struct history *history = &bench->history[hart];

    tw_text_add(&text, "itype,cause,tval,priv,iaddr,iretire,ilastsize,sijump,time\n");
    for (size_t i = 0; i < history->count; i++) {
        const struct tw_etrace_block *block = &history->steps[i].block;

        tw_text_format(&text,
                       "%u,%" PRIu64 ",%" PRIx64 ",%u,%" PRIx64 ",%u,%u,%u,%" PRIu64 "\n",
                       (unsigned)block->itype, block->cause, block->tval, (unsigned)block->priv,
                       block->iaddr, (unsigned)block->iretire, (unsigned)block->ilastsize,
                       (unsigned)block->sijump, block->time);
    }
    CHECK(!text.failed && text.size + 1 < sizeof bench->log[hart]);
    (void)snprintf(bench->name[hart], sizeof bench->name[hart], "log%u", hart);
    bench->run.files[bench->run.file_count++] = (struct sim_file){
        .name = bench->name[hart], .bytes = (uint8_t *)bench->log[hart], .size = text.size
    };
}

static void make_hart(struct bench *bench, unsigned hart)
{
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };
    const struct run_options options = { .may_trap = true, .has_sijumps = true };
    struct pcs *want = &bench->want[hart];

    make_program(&bench->program[hart], &bench->random);
    run_program(&bench->history[hart], &bench->program[hart], &options, &bench->random);
    tw_image_free(bench->image[hart]);
    CHECK_EQ(tw_image_new(&bench->image[hart], NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(bench->image[hart], &region, bench->program[hart].code), TW_OK);
    want->count = 0;
    for (size_t i = 0; i < bench->history[hart].count; i++)
        if (bench->history[hart].steps[i].block.iretire)
            want->pc[want->count++] = bench->history[hart].steps[i].block.iaddr;
    write_log(bench, hart);
}

/* ---- the script ---- */

static const char *sink_name(const struct shape *shape)
{
    return shape->sink <= OWN_MEMORY ? "ram0" : shape->sink < FRAMES ? "pib0" : "atb0";
}

static void start_sink(struct tw_text *s, const struct shape *shape)
{
    switch (shape->sink) {
    case SYSTEM_MEMORY:
    case OWN_MEMORY:
        tw_text_add(s, "trRamActive = 1\npoll trRamActive == 1 timeout\n");
        tw_text_format(s, "trRamControl = 0x%x\n", shape->sink == SYSTEM_MEMORY ? 0x11 : 0x01);
        tw_text_format(s, "trRamStartLow = 0x%x\ntrRamStartHigh = 0\n",
                       shape->sink == SYSTEM_MEMORY ? 0x40000000 : 0);
        tw_text_format(s, "trRamLimitLow = 0x%x\ntrRamLimitHigh = 0\n",
                       (shape->sink == SYSTEM_MEMORY ? 0x40000000 : 0) + shape->buffer - 4);
        tw_text_format(s, "trRamWPLow = 0x%x\ntrRamWPHigh = 0\ntrRamEnable = 1\n",
                       shape->sink == SYSTEM_MEMORY ? 0x40000000 : 0);
        tw_text_add(s, "poll trRamEnable == 1 timeout\n");
        break;
    case FRAMES:
        tw_text_add(s, "trAtbBridgeActive = 1\npoll trAtbBridgeActive == 1 timeout\n"
                       "trAtbBridgeID = 0x15\ntrAtbBridgeEnable = 1\n"
                       "poll trAtbBridgeEnable == 1 timeout\n");
        break;
    default:
        tw_text_add(s, "trPibActive = 1\npoll trPibActive == 1 timeout\n");
        tw_text_format(s, "trPibControl = 0x%x\nprobe start\ntrPibEnable = 1\n",
                       1u | (8u + shape->sink - PINS_1) << 4);
        tw_text_add(s, "poll trPibEnable == 1 timeout\n");
    }
}

static void declare(struct tw_text *s, const struct shape *shape)
{
    const char *sink = sink_name(shape);

    if (shape->sink <= OWN_MEMORY)
        tw_text_format(s, "memory 0x40000000 0x%x\ncomponent ram0 ram\nset ram0 sram=65536\n",
                       shape->buffer);
    else
        tw_text_format(s, "component %s %.3s\n", sink, sink);
    if (shape->harts > 1)
        tw_text_format(s, "component f0 funnel feeds %s\n", sink);
    for (unsigned i = 0; i < shape->harts; i++) {
        tw_text_format(s, "component te%u encoder feeds %s\nlog te%u log%u\n", i,
                       shape->harts > 1 ? "f0" : sink, i, i);
        if (shape->is_etrace)
            tw_text_format(
                s, "trace te%u sijump_p=1 return_stack_size_p=3 retires_p=8 itype_width_p=4\n",
                i);
    }
}

static void start_encoder(struct tw_text *s, const struct shape *shape, unsigned i)
{
    const unsigned bits = shape->harts > 1 ? 12 : 0;

    tw_text_format(s, "te%u.trTeActive = 1\npoll te%u.trTeActive == 1 timeout\n", i, i);
    tw_text_format(s, "te%u.trTeInstFeatures = 0x%x\n", i,
                   (unsigned)(shape->features | (bits ? 0xabcu - i : 0) << 16 | bits << 28));
    tw_text_format(s, "te%u.trTeInstFilters = 0\nte%u.trTeDataControl = 0\n", i, i);
    tw_text_format(s, "te%u.trTeDataFilters = 0\nte%u.trTsControl = 0\n", i, i);
    tw_text_format(s, "te%u.trTeTrigDbgControl = 0\nte%u.trTeTrigExtInControl = 0\n", i, i);
    tw_text_format(s, "te%u.trTeTrigExtOutControl = 0\n", i);
    tw_text_format(s, "te%u.trTeControl = 0x%x\n", i,
                   (unsigned)(1u | shape->control | (shape->is_etrace ? 0u : 1u << 24)));
    tw_text_format(s, "te%u.trTeEnable = 1\npoll te%u.trTeEnable == 1 timeout\n", i, i);
    tw_text_format(s, "te%u.trTeInstTracing = 1\n", i);
}

static void stop(struct tw_text *s, const char *name, const char *prefix)
{
    tw_text_format(s, "%s.%sEnable = 0\n", name, prefix);
    tw_text_format(s, "poll %s.%sEnable == 0 timeout\n", name, prefix);
    tw_text_format(s, "poll %s.%sEmpty == 1 timeout\n", name, prefix);
}

static void make_script(struct tw_text *s, const struct shape *shape)
{
    char name[16];

    declare(s, shape);
    start_sink(s, shape);
    if (shape->harts > 1)
        tw_text_add(s, "trFunnelActive = 1\npoll trFunnelActive == 1 timeout\n"
                       "trFunnelDisInput = 0\ntrFunnelTsControl = 0\ntrFunnelEnable = 1\n"
                       "poll trFunnelEnable == 1 timeout\n");
    for (unsigned i = 0; i < shape->harts; i++)
        start_encoder(s, shape, i);
    tw_text_add(s, "run\n");
    for (unsigned i = 0; i < shape->harts; i++) {
        (void)snprintf(name, sizeof name, "te%u", i % HARTS_MOST);
        stop(s, name, "trTe");
    }
    if (shape->harts > 1)
        stop(s, "f0", "trFunnel");
    stop(s, sink_name(shape),
         shape->sink <= OWN_MEMORY ? "trRam"
         : shape->sink < FRAMES    ? "trPib"
                                   : "trAtbBridge");
    tw_text_add(s, shape->sink <= OWN_MEMORY ? "read memory\ndrain ram0 to trace\n"
                   : shape->sink < FRAMES    ? "probe stop\npins pib0 to trace\n"
                                             : "frames to trace\n");
    tw_text_add(s, "dump to dump\nexpect misuses 0\n");
}

/* ---- back ---- */

static void take_range(struct pcs *pcs, const struct program *program,
                       const struct tw_element *element)
{
    uint64_t pc = element->start;

    for (uint32_t i = 0; i < element->count; i++) {
        CHECK(pcs->count < PCS);
        pcs->pc[pcs->count++] = pc;
        pc += (program->code[pc - BASE] & 3) == 3 ? 4 : 2;
    }
}

static void take(struct bench *bench, const struct shape *shape, const struct tw_batch *batch)
{
    unsigned hart = 0;

    while (shape->harts > 1 && hart < shape->harts && batch->src != 0xabc - hart)
        hart++;
    if (hart == shape->harts)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            take_range(&bench->got[hart], &bench->program[hart], element);
        bench->got[hart].errors +=
            element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
        for (uint64_t n = 0; element->type == TW_ELEMENT_REPEAT && n < element->times; n++)
            for (uint32_t k = 0; k < element->count; k++)
                take_range(&bench->got[hart], &bench->program[hart],
                           &batch->elements[i - element->count + k]);
    }
}

static void decode(struct bench *bench, const struct shape *shape)
{
    const struct sim_file *trace = sim_file(&bench->run, "trace");
    struct tw_tree_config config = { .size = sizeof config };
    struct tw_src_image images[HARTS_MOST];
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = shape->is_etrace ? "etrace" : "ntrace",
                                     .text = bench->config,
                                     .image = bench->image[0] };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;

    for (unsigned i = 0; i < shape->harts; i++)
        images[i] =
            (struct tw_src_image){ .src = (uint16_t)(0xabc - i), .image = bench->image[i] };
    if (shape->harts > 1) {
        source.src_images = images;
        source.src_image_count = shape->harts;
        source.image = NULL;
    }
    if (shape->sink == FRAMES) {
        config.framing = TW_FRAMING_MEMORY;
        source.id = 0x15;
    }
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    if (tw_tree_add_source(tree, NULL, &source) != TW_OK)
        CHECK_TEXT(bench->config, "");
    CHECK_EQ(tw_tree_feed(tree, trace->bytes, trace->size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        take(bench, shape, &batch);
    tw_tree_free(tree);
}

/* The configuration for a decoder, out of the dump that the script made. */
static void configure(struct bench *bench, const struct shape *shape)
{
    const struct sim_file *dump = sim_file(&bench->run, "dump");
    struct tw_fault fault = { TW_OK, "" };
    struct tw_control *control;
    size_t size = sizeof bench->config;

    CHECK(dump != NULL);
    CHECK_EQ(tw_control_read(&control, (const char *)dump->bytes, dump->size, NULL, &fault),
             TW_OK);
    CHECK_TEXT(tw_control_protocol(control), shape->is_etrace ? "etrace" : "ntrace");
    CHECK_EQ(tw_control_config(control, bench->config, &size, &fault), TW_OK);
    tw_control_free(control);
    (void)snprintf(bench->config + size, sizeof bench->config - size, "%s",
                   shape->is_etrace
                       ? "sijump_p=1\nreturn_stack_size_p=3\nretires_p=8\nitype_width_p=4\n"
                       : "");
}

static unsigned pin_bits(const struct sim_file *trace, size_t at, unsigned count)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < count; i++, at++)
        bits |= ((unsigned)trace->bytes[at / 8] >> at % 8 & 1u) << i;
    return bits;
}

/* Less than 8 pins: messages begin at any edge, behind pins that are all ones. */
static void align(struct bench *bench, const struct shape *shape)
{
    struct sim_file *trace = sim_file(&bench->run, "trace");
    unsigned pins;
    size_t size = 0;
    uint8_t *bytes;

    if (shape->sink < PINS_1 || shape->sink > PINS_4)
        return;
    pins = 1u << (shape->sink - PINS_1);
    bytes = malloc(trace->size + 1);
    CHECK(bytes != NULL);
    for (size_t at = 0; at + 8 <= trace->size * 8;) {
        const bool is_outside = size == 0 || (bytes[size - 1] & 3) == 3;

        if (is_outside && pin_bits(trace, at, pins) == (1u << pins) - 1) {
            at += pins;
            continue;
        }
        bytes[size++] = (uint8_t)pin_bits(trace, at, 8);
        at += 8;
    }
    free(trace->bytes);
    trace->bytes = bytes;
    trace->size = size;
}

/* All that ran; or, where the buffer has wrapped, its end. */
static void compare(const struct pcs *got, const struct pcs *want, bool is_whole)
{
    CHECK_EQ(got->errors, 0);
    CHECK(got->count <= want->count && got->count > 0);
    if (is_whole)
        CHECK_EQ(got->count, want->count);
    CHECK_BYTES((const uint8_t *)got->pc, got->count * 8,
                (const uint8_t *)(want->pc + (want->count - got->count)), got->count * 8);
}

static void try_shape(struct bench *bench, const struct shape *shape)
{
    static char script[16384];
    struct tw_text s = tw_text_in(script, sizeof script);
    const struct sim_file *trace;

    bench->run.file_count = 0;
    for (unsigned i = 0; i < shape->harts; i++)
        make_hart(bench, i);
    make_script(&s, shape);
    CHECK(s.size + 1 < sizeof script);
    if (run_script(&bench->run, script, bench->image[0], false) != TW_OK)
        CHECK_TEXT(bench->run.fault.text, "");
    if (bench->run.result.failed || bench->run.result.misuses)
        CHECK_TEXT(bench->run.out, "");
    trace = sim_file(&bench->run, "trace");
    CHECK(trace != NULL);
    configure(bench, shape);
    align(bench, shape);
    for (unsigned i = 0; i < shape->harts; i++)
        bench->got[i].count = bench->got[i].errors = 0;
    decode(bench, shape);
    for (unsigned i = 0; i < shape->harts; i++)
        compare(&bench->got[i], &bench->want[i], shape->buffer == 65536);
    end_scripts(&bench->run);
}

static struct bench *new_bench(uint64_t seed)
{
    struct bench *bench = calloc(1, sizeof *bench);

    CHECK(bench != NULL);
    bench->random = check_random_start(seed);
    return bench;
}

static void free_bench(struct bench *bench)
{
    for (unsigned i = 0; i < HARTS_MOST; i++)
        tw_image_free(bench->image[i]);
    free(bench);
}

/* Every sink, one hart and several, both modes, with and without features. */
static void every_sink(void **state)
{
    static const uint32_t controls[] = { 0x00110060, 0x00110030, 0x00210060, 0x00320060 };
    static const uint32_t features[] = { 0, 0x0cc, 0x10c, 0x400 };
    struct bench *bench = new_bench(23);

    (void)state;
    for (size_t n = 0; n < check_scale(200); n++)
        for (unsigned sink = 0; sink < SINKS; sink++) {
            const struct shape shape = {
                .sink = sink,
                .harts = 1 + (unsigned)check_random_below(&bench->random, HARTS_MOST),
                .buffer = 65536,
                .control = controls[check_random_below(&bench->random, 4)],
                .features = features[check_random_below(&bench->random, 4)],
            };

            check_case("run %zu, sink %u, %u harts, 0x%x 0x%x", n, sink, shape.harts,
                       shape.control, shape.features);
            try_shape(bench, &shape);
        }
    free_bench(bench);
}

static void etrace_too(void **state)
{
    static const uint32_t features[] = { 0, 1, 0x4, 0x8 };
    static const enum sink sinks[] = { SYSTEM_MEMORY, OWN_MEMORY, PINS_8, FRAMES };
    struct bench *bench = new_bench(24);

    (void)state;
    for (size_t n = 0; n < check_scale(200); n++)
        for (size_t i = 0; i < LENGTH(sinks); i++) {
            const struct shape shape = {
                .sink = sinks[i],
                .is_etrace = true,
                .harts = 1,
                .buffer = 65536,
                .control = 0x00110060,
                .features = features[check_random_below(&bench->random, 4)],
            };

            check_case("run %zu, sink %u, E-Trace 0x%x", n, sinks[i], shape.features);
            try_shape(bench, &shape);
        }
    free_bench(bench);
}

/* A buffer that wraps keeps the end of the run. */
static void buffers_wrap(void **state)
{
    struct bench *bench = new_bench(25);

    (void)state;
    for (size_t n = 0; n < check_scale(200); n++) {
        const struct shape shape = {
            .sink = n % 2 ? OWN_MEMORY : SYSTEM_MEMORY,
            .harts = 1,
            .buffer = 256,
            .control = n % 4 < 2 ? 0x00010060 : 0x00010030,
        };

        check_case("run %zu", n);
        try_shape(bench, &shape);
    }
    free_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sink),
        cmocka_unit_test(etrace_too),
        cmocka_unit_test(buffers_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
