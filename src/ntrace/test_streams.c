/* SPDX-License-Identifier: BSD-2-Clause */
/* Random runs through the N-Trace encoder that are not traced from end to end: messages lost, windows,
   and several harts in one stream.  What comes back is what was traced. */
#include "check.h"

#include "ntrace/test_trip.h"

enum { HARTS_MAX = 5, WINDOWS_MAX = 64 };

struct bench {
    struct program program[HARTS_MAX];
    struct history history[HARTS_MAX];
    struct tw_image *image[HARTS_MAX];
    struct bytes trace;
    struct check_random random;
};

static struct bench *new_bench(uint64_t seed)
{
    struct bench *bench = calloc(1, sizeof *bench);

    CHECK(bench != NULL);
    bench->random = check_random_start(seed);
    return bench;
}

static void free_bench(struct bench *bench)
{
    for (size_t i = 0; i < HARTS_MAX; i++)
        tw_image_free(bench->image[i]);
    free(bench->trace.bytes);
    free(bench);
}

/* Another program, and a run through it. */
static void renew(struct bench *bench, size_t hart, const struct setup *setup)
{
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };

    make_program(&bench->program[hart], &bench->random);
    run_program(&bench->history[hart], &bench->program[hart], &setup->run, &bench->random);
    tw_image_free(bench->image[hart]);
    CHECK_EQ(tw_image_new(&bench->image[hart], NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(bench->image[hart], &region, bench->program[hart].code), TW_OK);
}

/* A configuration with a bit of everything. */
static struct setup random_setup(struct check_random *random)
{
    struct setup setup = { .name = "" };
    struct tw_ntrace_config *config = &setup.config;
    const uint64_t bits = check_random_next(random);

    tw_ntrace_config_init(config);
    config->mode = bits & 1 ? TW_NTRACE_MODE_BTM : TW_NTRACE_MODE_HTM;
    config->return_mode = bits >> 1 & 1 ? 3 : 0;
    config->repeat_history = bits >> 2 & 1;
    config->repeat_branch = bits >> 3 & 1;
    config->sequential_jump = bits >> 4 & 1;
    config->all_jumps = bits >> 5 & 1;
    config->extend_addr = bits >> 6 & 1;
    config->timestamps = bits >> 7 & 1;
    config->ownership = bits >> 8 & 1;
    config->sync_messages = bits >> 9 & 1 ? 1 + (uint32_t)check_random_below(random, 60) : 0;
    config->sync_style = (uint8_t)(bits >> 10 & 1);
    config->hist_max = bits >> 11 & 1 ? 4 : 0;
    config->icnt_max = bits >> 12 & 1 ? 40 : 0;
    setup.is_grouped = bits >> 13 & 1;
    setup.unit.short_messages = bits >> 14 & 1;
    setup.run = (struct run_options){ .has_sijumps = true, .may_trap = bits >> 15 & 1 };
    (void)snprintf(setup.name, sizeof setup.name, "options 0x%x", (unsigned)(bits & 0xffff));
    return setup;
}

/* ---- losses ---- */

/* What was traced between two losses, as places in the run. */
struct pieces {
    uint64_t pcs[STEPS_MOST + 8];
    bool begins[STEPS_MOST + 8]; /* a stretch, with this one */
    size_t count;
    size_t losses, errors;
    bool is_new;
    const struct program *program;
};

static void take_pieces(void *context, const struct tw_element *element)
{
    struct pieces *pieces = context;
    uint64_t pc = element->start;

    if (element->type == TW_ELEMENT_TRACE_ON)
        pieces->is_new = true;
    pieces->losses += element->type == TW_ELEMENT_EVENT && element->kind == TW_EVENT_LOST;
    pieces->errors +=
        element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
    if (element->type != TW_ELEMENT_INSTR_RANGE)
        return;
    for (uint32_t i = 0; i < element->count; i++) {
        CHECK(pieces->count < LENGTH(pieces->pcs));
        pieces->begins[pieces->count] = pieces->is_new;
        pieces->is_new = false;
        pieces->pcs[pieces->count++] = pc;
        pc += (pieces->program->code[pc - BASE] & 3) == 3 ? 4 : 2;
    }
}

/* Each stretch is one of the run, behind the one before. */
static void check_pieces(const struct pieces *pieces, const struct history *history)
{
    uint64_t run[STEPS_MOST + 8];
    size_t count = 0, at = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->steps[i].block.iretire)
            run[count++] = history->steps[i].block.iaddr;
    for (size_t first = 0; first < pieces->count;) {
        size_t end = first + 1;

        while (end < pieces->count && !pieces->begins[end])
            end++;
        while (at + (end - first) <= count &&
               memcmp(&run[at], &pieces->pcs[first], (end - first) * sizeof run[0]) != 0)
            at++;
        CHECK(at + (end - first) <= count);
        at += end - first;
        first = end;
    }
}

typedef void element_fn(void *context, const struct tw_element *element);

static void decode_each(const struct setup *setup, struct tw_image *image,
                        const struct bytes *bytes, element_fn *each, void *context)
{
    const struct tw_tree_config config = { .size = sizeof config };
    char text[4096];
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "ntrace", .text = text, .image = image
    };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    CHECK(tw_ntrace_config_text(text, sizeof text, &setup->config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes->bytes, bytes->size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            each(context, &batch.elements[i]);
    tw_tree_free(tree);
}

static void losses_are_told(void **state)
{
    struct bench *bench = new_bench(8);
    struct pieces *pieces = malloc(sizeof *pieces);
    size_t losses = 0;

    (void)state;
    CHECK(pieces != NULL);
    for (size_t i = 0; i < check_scale(2000); i++) {
        struct setup setup = random_setup(&bench->random);

        check_case("losses %zu, %s", i, setup.name);
        setup.unit.fifo_size = 80 + (uint32_t)check_random_below(&bench->random, 200);
        setup.unit.cycles_per_byte = 1 + (uint32_t)check_random_below(&bench->random, 5);
        renew(bench, 0, &setup);
        encode(&bench->trace, &setup, &bench->history[0]);
        *pieces = (struct pieces){ .program = &bench->program[0] };
        decode_each(&setup, bench->image[0], &bench->trace, take_pieces, pieces);
        CHECK_EQ(pieces->errors, 0);
        check_pieces(pieces, &bench->history[0]);
        losses += pieces->losses;
    }
    CHECK(losses > 10);
    free(pieces);
    free_bench(bench);
}

/* The hart waits instead: nothing is lost, and the bytes are the same. */
static void stalls_lose_nothing(void **state)
{
    struct bench *bench = new_bench(9);
    struct bytes other = { .bytes = NULL };
    uint64_t stalled = 0;

    (void)state;
    for (size_t i = 0; i < check_scale(200); i++) {
        struct setup setup = random_setup(&bench->random);
        struct tw_ntrace_unit *unit;

        check_case("stalls %zu, %s", i, setup.name);
        renew(bench, 0, &setup);
        encode(&bench->trace, &setup, &bench->history[0]);
        setup.unit.fifo_size = 80;
        setup.unit.cycles_per_byte = 7;
        unit = make_unit(&setup, &other);
        write_field(unit, "trTeInstStallEna", 1);
        write_field(unit, "trTeEnable", 1);
        write_field(unit, "trTeInstTracing", 1);
        feed(unit, &bench->history[0], setup.is_grouped);
        write_field(unit, "trTeEnable", 0);
        stalled += tw_ntrace_unit_stalled(unit);
        CHECK_EQ(tw_ntrace_unit_stalled(unit), 0);
        tw_ntrace_unit_free(unit);
        CHECK_BYTES(other.bytes, other.size, bench->trace.bytes, bench->trace.size);
    }
    CHECK(stalled > 0);
    free(other.bytes);
    free_bench(bench);
}

/* ---- windows ---- */

static void windows_are_exact(void **state)
{
    struct bench *bench = new_bench(10);
    struct history *history = &bench->history[0];

    (void)state;
    for (size_t i = 0; i < check_scale(2000); i++) {
        struct setup setup = random_setup(&bench->random);
        struct path got = path_of(NULL), want = path_of(NULL);
        struct tw_ntrace_unit *unit = make_unit(&setup, &bench->trace);
        size_t at = 0;

        check_case("windows %zu, %s", i, setup.name);
        setup.is_grouped = false;
        renew(bench, 0, &setup);
        while (at < history->count) {
            const size_t first = at + (size_t)check_random_below(&bench->random, 60);
            const size_t last = first + (size_t)check_random_below(&bench->random, 200);

            if (last >= history->count)
                break;
            history->steps[first].block.trigger = TW_ETRACE_TRIGGER_ON;
            history->steps[last].block.trigger |= TW_ETRACE_TRIGGER_OFF;
            expect(&want, &setup, history, first, last + 1);
            path_close(&want);
            tw_text_add(&want.lines, "G off 4\n");
            at = last + 1;
        }
        write_field(unit, "trTeInstTrigEnable", 1);
        write_field(unit, "trTeEnable", 1);
        feed(unit, history, false);
        write_field(unit, "trTeEnable", 0);
        tw_ntrace_unit_free(unit);
        got.has_no_contexts = true;
        decode_path(&got, &setup, bench->image[0], &bench->trace);
        CHECK_EQ(got.errors, 0);
        CHECK_TEXT(got.lines.chars ? got.lines.chars : "",
                   want.lines.chars ? want.lines.chars : "");
        path_free(&got);
        path_free(&want);
    }
    free_bench(bench);
}

/* ---- several harts ---- */

struct harts {
    struct setup setup[HARTS_MAX];
    struct path got[HARTS_MAX];
    size_t count;
};

/* The harts run at different speeds, and the funnel takes whole messages of each. */
static void run_harts(struct bench *bench, const struct harts *harts)
{
    struct tw_ntrace_unit *units[HARTS_MAX];
    size_t at[HARTS_MAX] = { 0 }, left = harts->count;

    for (size_t i = 0; i < harts->count; i++) {
        const size_t size = bench->trace.size;

        units[i] = make_unit(&harts->setup[i], &bench->trace);
        bench->trace.size = i ? size : 0;
        write_field(units[i], "trTeEnable", 1);
        write_field(units[i], "trTeInstTracing", 1);
    }
    while (left) {
        const size_t hart = (size_t)check_random_below(&bench->random, harts->count);
        struct tw_etrace_block block;

        if (at[hart] >= bench->history[hart].count)
            continue;
        block = next_block(&bench->history[hart], &at[hart], harts->setup[hart].is_grouped);
        CHECK_EQ(tw_ntrace_unit_retire(units[hart], &block, 1), TW_OK);
        left -= at[hart] >= bench->history[hart].count;
        if (at[hart] >= bench->history[hart].count)
            write_field(units[hart], "trTeEnable", 0);
        tw_ntrace_unit_flush(units[hart]);
    }
    for (size_t i = 0; i < harts->count; i++)
        tw_ntrace_unit_free(units[i]);
}

static void decode_harts(struct bench *bench, struct harts *harts)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_src_image images[HARTS_MAX];
    struct tw_ntrace_config trace = harts->setup[0].config;
    struct tw_batch batch = { .size = sizeof batch };
    char text[4096];
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "ntrace",
                                     .text = text,
                                     .src_images = images,
                                     .src_image_count = harts->count };
    struct tw_tree *tree;

    for (size_t i = 0; i < harts->count; i++)
        images[i] = (struct tw_src_image){ .src = harts->setup[i].config.src,
                                           .image = bench->image[i] };
    trace.has_src = false;
    CHECK(tw_ntrace_config_text(text, sizeof text, &trace) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bench->trace.bytes, bench->trace.size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < harts->count; i++)
            for (size_t k = 0; k < batch.count && batch.src == images[i].src; k++)
                path_take(&harts->got[i], &batch.elements[k]);
    CHECK_EQ(tw_tree_src_count(tree, 0), harts->count);
    tw_tree_free(tree);
}

static void harts_share_a_stream(void **state)
{
    struct bench *bench = new_bench(11);
    struct harts *harts = calloc(1, sizeof *harts);

    (void)state;
    CHECK(harts != NULL);
    for (size_t n = 0; n < check_scale(1000); n++) {
        const unsigned bits = 3 + (unsigned)check_random_below(&bench->random, 10);
        const struct setup common = random_setup(&bench->random);

        harts->count = 2 + (size_t)check_random_below(&bench->random, HARTS_MAX - 1);
        check_case("harts %zu: %zu, %s", n, harts->count, common.name);
        for (size_t i = 0; i < harts->count; i++) {
            struct tw_ntrace_config *config = &harts->setup[i].config;

            harts->setup[i] = random_setup(&bench->random);
            /* What a reader has to be told is the same for all. */
            config->extend_addr = common.config.extend_addr;
            config->all_jumps = common.config.all_jumps;
            config->src_bits = (uint8_t)bits;
            config->src = (uint16_t)((1u << bits) - 1 - i);
            harts->got[i] = path_of(NULL);
            harts->got[i].has_no_contexts = true;
            renew(bench, i, &harts->setup[i]);
        }
        run_harts(bench, harts);
        decode_harts(bench, harts);
        for (size_t i = 0; i < harts->count; i++) {
            struct path want = path_of(NULL);

            expect(&want, &harts->setup[i], &bench->history[i], 0, bench->history[i].count);
            path_close(&want);
            tw_text_add(&want.lines, "G off 4\n");
            CHECK_EQ(harts->got[i].errors, 0);
            CHECK_TEXT(harts->got[i].lines.chars, want.lines.chars);
            path_free(&want);
            path_free(&harts->got[i]);
        }
    }
    free(harts);
    free_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_told),
        cmocka_unit_test(stalls_lose_nothing),
        cmocka_unit_test(windows_are_exact),
        cmocka_unit_test(harts_share_a_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
