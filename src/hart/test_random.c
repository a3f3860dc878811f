/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the encoder and back through the decoder, in every mode alone and in every
   pair of modes: the path is the same. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "hart/test_program.h"

enum { FULL, EXCEPT, SIJUMP, COUNTER, RETURNS, PREDICTION, CACHE, MODES };

static const char *const mode_names[MODES] = { "full",  "except",     "sijump", "counter",
                                               "stack", "prediction", "cache" };

/* A configuration under test. */
struct setup {
    char name[120];
    struct tw_etrace_config config;
    struct tw_etrace_unit_config unit;
    struct run_options run;
    uint8_t resync_mode, resync_max;
    bool has_filters;
};

/* What came back. */
struct result {
    uint64_t *pcs;
    size_t count, room;
    uint32_t causes[STEPS_MOST + 8];
    size_t cause_count;
    uint64_t errors;
    const struct program *program;
};

struct bytes {
    uint8_t *bytes;
    size_t size, room;
};

static void keep(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct bytes *out = context;

    CHECK_EQ(stream, 0);
    if (out->size + size > out->room) {
        out->room = 2 * (out->size + size);
        out->bytes = realloc(out->bytes, out->room);
        CHECK(out->bytes != NULL);
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static void set_mode(struct setup *setup, unsigned mode)
{
    struct tw_etrace_config *config = &setup->config;
    static const uint32_t options[MODES] = {
        TW_ETRACE_FULL_ADDRESS,     TW_ETRACE_IMPLICIT_EXCEPTION, TW_ETRACE_SIJUMP,
        TW_ETRACE_IMPLICIT_RETURN,  TW_ETRACE_IMPLICIT_RETURN,    TW_ETRACE_BRANCH_PREDICTION,
        TW_ETRACE_JUMP_TARGET_CACHE
    };

    config->options |= options[mode];
    if (mode == EXCEPT) {
        config->tvec_mask = 1 << 3;
        config->tvec[3] = HANDLER;
    }
    if (mode == COUNTER)
        config->call_counter_size = 3;
    if (mode == RETURNS) {
        config->return_stack_size = 2;
        setup->run.has_wild_returns = true;
    }
    if (mode == PREDICTION) {
        config->bpred_size = 4;
        config->bpred_reset_on_sync = true;
    }
    if (mode == CACHE)
        config->cache_size = 3;
    (void)snprintf(setup->name + strlen(setup->name), sizeof setup->name - strlen(setup->name),
                   " %s", mode_names[mode]);
}

/* Everything that is not a mode varies with `turn`. */
static struct setup make_setup(bool is_seed, const unsigned *modes, size_t count, unsigned turn)
{
    struct setup setup = { .name = "" };
    struct tw_etrace_config *config = &setup.config;

    tw_etrace_config_init(config, is_seed ? TW_ETRACE_LAYOUT_SEED : TW_ETRACE_LAYOUT_V2);
    (void)snprintf(setup.name, sizeof setup.name, "%s", is_seed ? "seed" : "v2");
    setup.run = (struct run_options){ .is_rv32 = turn % 3 == 0,
                                      .ecall_retires = turn % 2,
                                      .is_seed = is_seed,
                                      .has_contexts = turn % 4 == 1,
                                      .has_sijumps = true,
                                      .may_trap = turn % 5 != 4 };
    config->iaddress_width = setup.run.is_rv32 ? 32 : turn % 7 == 1 ? 48 : 64;
    config->xlen = setup.run.is_rv32 ? 32 : 64;
    config->privilege_width = 2 + turn % 2;
    config->itype_width = 4;
    config->ctype_width = 2;
    config->ecause_width = 5;
    config->nocontext = !setup.run.has_contexts;
    config->context_width = 16;
    config->notime = is_seed || turn % 6 != 2;
    config->time_width = 16;
    config->ecall_retires = setup.run.ecall_retires;
    config->retires = turn % 2 ? 200 : 1;
    config->f0s_width = 1;
    setup.resync_mode = (uint8_t)(turn % 4);
    setup.resync_max = turn % 3 == 2 ? 2 : 0;
    config->encapsulation = turn % 5 == 3   ? TW_ETRACE_ENCAP_RISCV
                            : turn % 5 == 2 ? TW_ETRACE_ENCAP_ATB
                                            : TW_ETRACE_ENCAP_LEN5_TYPE2;
    for (size_t i = 0; i < count; i++)
        set_mode(&setup, modes[i]);
    (void)snprintf(setup.name + strlen(setup.name), sizeof setup.name - strlen(setup.name),
                   " turn %u", turn);
    return setup;
}

/* Blocks of as many instructions as may be, or one each. */
static void feed(struct tw_etrace_unit *unit, const struct setup *setup,
                 const struct history *history, bool is_grouped)
{
    for (size_t i = 0; i < history->count;) {
        struct tw_etrace_block block = history->steps[i++].block;

        if (setup->config.retires <= 1 && block.iretire)
            block.iretire = 1;
        while (is_grouped && block.itype == 0 && block.iretire && i < history->count) {
            const struct tw_etrace_block *next = &history->steps[i].block;

            if (!next->iretire || next->iaddr != block.iaddr + 2 * (uint64_t)block.iretire ||
                next->priv != block.priv || next->ctype)
                break;
            block.iretire += next->iretire;
            block.itype = next->itype;
            block.ilastsize = next->ilastsize;
            block.sijump = next->sijump;
            block.cause = next->cause;
            block.tval = next->tval;
            i++;
        }
        if (tw_etrace_unit_retire(unit, &block, 1) != TW_OK)
            check_true(false, tw_etrace_unit_fault(unit), __FILE__, __LINE__);
    }
}

static void write_field(struct tw_etrace_unit *unit, const char *name, uint64_t value)
{
    CHECK_EQ(tw_etrace_unit_write_field(unit, name, value), TW_OK);
}

static void encode(struct bytes *out, const struct setup *setup, const struct history *history,
                   bool is_grouped)
{
    struct tw_etrace_unit_config config = setup->unit;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_etrace_unit *unit;

    out->size = 0;
    config.size = sizeof config;
    config.trace = &setup->config;
    config.write = keep;
    config.write_context = out;
    if (tw_etrace_unit_new(&unit, &config, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    write_field(unit, "ResyncMode", setup->resync_mode);
    write_field(unit, "ResyncMax", setup->resync_max);
    write_field(unit, "iEnable", 1);
    feed(unit, setup, history, is_grouped);
    write_field(unit, "iEnable", 0);
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
}

static void take_range(struct result *result, const struct tw_element *range)
{
    uint64_t pc = range->start;

    for (uint32_t i = 0; i < range->count; i++) {
        if (result->count < result->room)
            result->pcs[result->count] = pc;
        result->count++;
        CHECK(pc >= BASE && pc < BASE + CODE);
        pc += (result->program->code[pc - BASE] & 3) == 3 ? 4 : 2;
    }
    CHECK_EQ(pc, tw_element_end(range));
}

static void take(struct result *result, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            take_range(result, element);
        else if (element->type == TW_ELEMENT_EXCEPTION &&
                 result->cause_count < LENGTH(result->causes))
            result->causes[result->cause_count++] =
                element->number | (element->flags & TW_EXCEPTION_INTERRUPT ? 0x100u : 0);
        result->errors +=
            element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
    }
}

static void decode(struct result *result, const struct setup *setup, struct tw_image *image,
                   const struct bytes *trace)
{
    static char text[16384];
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = {
        .size = sizeof source, .protocol = "etrace", .text = text, .image = image
    };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;
    struct tw_batch batch;
    enum tw_status status;

    result->count = result->cause_count = 0;
    result->errors = 0;
    CHECK(tw_etrace_config_text(text, sizeof text, &setup->config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, trace->bytes, trace->size), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take(result, &batch);
    CHECK_EQ(status, TW_MORE);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take(result, &batch);
    CHECK_EQ(status, TW_END);
    tw_tree_free(tree);
}

static void compare(const struct result *result, const struct setup *setup,
                    const struct history *history)
{
    size_t count = 0, causes = 0;

    for (size_t i = 0; i < history->count; i++) {
        const struct tw_etrace_block *block = &history->steps[i].block;
        const bool is_trap = block->itype == TW_ETRACE_ITYPE_EXCEPTION ||
                             block->itype == TW_ETRACE_ITYPE_INTERRUPT;

        if (block->iretire) {
            CHECK(count < result->count);
            CHECK_EQ(result->pcs[count], block->iaddr);
            count++;
        }
        if (!is_trap || setup->run.is_seed || i + 1 == history->count)
            continue;
        CHECK(causes < result->cause_count);
        CHECK_EQ(result->causes[causes],
                 block->cause | (block->itype == TW_ETRACE_ITYPE_INTERRUPT ? 0x100u : 0));
        causes++;
    }
    CHECK_EQ(result->count, count);
    CHECK_EQ(result->errors, 0);
}

struct bench {
    struct program program;
    struct history history;
    struct result result;
    struct bytes trace, other;
    uint64_t pcs[STEPS_MOST + 8];
};

static void try_setup(struct bench *bench, const struct setup *setup, struct tw_image *image,
                      struct check_random *random)
{
    run_program(&bench->history, &bench->program, &setup->run, random);
    encode(&bench->trace, setup, &bench->history, setup->config.retires > 1);
    /* Cycles differ with the size of blocks; all else does not. */
    if (setup->config.retires > 1 && setup->resync_mode != 2) {
        encode(&bench->other, setup, &bench->history, false);
        CHECK_BYTES(bench->trace.bytes, bench->trace.size, bench->other.bytes,
                    bench->other.size);
    }
    decode(&bench->result, setup, image, &bench->trace);
    compare(&bench->result, setup, &bench->history);
}

static void all_setups(struct bench *bench, struct tw_image *image, size_t number,
                       struct check_random *random, size_t *setups)
{
    unsigned turn = (unsigned)number;

    *setups = 0;
    for (unsigned is_seed = 0; is_seed < 2; is_seed++)
        for (unsigned a = 0; a <= MODES; a++)
            for (unsigned b = a; b <= MODES; b++) {
                const unsigned modes[2] = { a, b };
                const size_t count = a == MODES ? 0 : b == MODES || a == b ? 1 : 2;
                struct setup setup;

                if ((a == COUNTER && b == RETURNS) || (b == MODES && a != MODES))
                    continue;
                setup = make_setup(is_seed, modes, count, turn++);
                check_case("program %zu, %s", number, setup.name);
                try_setup(bench, &setup, image, random);
                ++*setups;
            }
}

static void test_round_trip(void **state)
{
    struct check_random random = check_random_start(20240607);
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(2000);
    size_t setups = 0;

    (void)state;
    CHECK(bench != NULL);
    for (size_t i = 0; i < programs; i++) {
        const struct tw_region region = { .size = sizeof region,
                                          .address = BASE,
                                          .length = CODE };
        struct tw_image *image;

        make_program(&bench->program, &random);
        bench->result = (struct result){ .pcs = bench->pcs,
                                         .room = LENGTH(bench->pcs),
                                         .program = &bench->program };
        CHECK_EQ(tw_image_new(&image, NULL), TW_OK);
        CHECK_EQ(tw_image_add(image, &region, bench->program.code), TW_OK);
        all_setups(bench, image, i, &random, &setups);
        tw_image_free(image);
    }
    print_message("%zu programs in %zu configurations\n", programs, setups);
    CHECK(setups >= 40);
    free(bench->trace.bytes);
    free(bench->other.bytes);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
