/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations of the encoder for tests: each mode alone and in pairs, the rest in turns. */
#ifndef HART_TEST_SETUP_H
#define HART_TEST_SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/etrace_unit.h>
#include <trackway/tree.h>

#include "rv_program.h"

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

static void set_mode(struct setup *setup, unsigned mode, unsigned turn)
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
        config->call_counter_size = (uint8_t)(1 + turn % 4);
    if (mode == RETURNS) {
        config->return_stack_size = (uint8_t)(1 + turn % 3);
        setup->run.has_wild_returns = true;
    }
    if (mode == PREDICTION)
        config->bpred_size = 4;
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
    config->sijump = config->has_sijump_mode =
        true; /* the hart can; the mode is another thing */
    config->retires = turn % 2 ? 200 : 1;
    config->f0s_width = 1;
    setup.resync_mode = (uint8_t)(turn % 4);
    setup.resync_max = turn % 3 == 2 ? 2 : 0;
    config->encapsulation = turn % 5 == 3   ? TW_ETRACE_ENCAP_RISCV
                            : turn % 5 == 2 ? TW_ETRACE_ENCAP_ATB
                                            : TW_ETRACE_ENCAP_LEN5_TYPE2;
    if (turn % 5 == 4)
        config->encapsulation = turn % 2 ? TW_ETRACE_ENCAP_SMI : TW_ETRACE_ENCAP_ESP32;
    config->srcid_bits = config->encapsulation == TW_ETRACE_ENCAP_SMI ? 6 : 0;
    config->type_bits = config->encapsulation == TW_ETRACE_ENCAP_SMI ? 2 : 0;
    config->iaddress_lsb = turn % 11 == 3 ? 0 : 1;
    for (size_t i = 0; i < count; i++)
        set_mode(&setup, modes[i], turn);
    if (!(config->options & TW_ETRACE_IMPLICIT_RETURN) && turn % 6 == 1)
        config->itype_width = 3;
    (void)snprintf(setup.name + strlen(setup.name), sizeof setup.name - strlen(setup.name),
                   " turn %u", turn);
    return setup;
}

static void write_field(struct tw_etrace_unit *unit, const char *name, uint64_t value)
{
    CHECK_EQ(tw_etrace_unit_write_field(unit, name, value), TW_OK);
}

typedef void take_fn(void *context, const struct tw_batch *batch);

/* All elements of a trace. */
TW_UNUSED static void decode_with(const struct tw_etrace_config *trace, struct tw_image *image,
                                  const struct bytes *bytes, take_fn *take_batch, void *context)
{
    static char text[16384];
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = {
        .size = sizeof source, .protocol = "etrace", .text = text, .image = image
    };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    CHECK(tw_etrace_config_text(text, sizeof text, trace) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes->bytes, bytes->size), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take_batch(context, &batch);
    CHECK_EQ(status, TW_MORE);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take_batch(context, &batch);
    CHECK_EQ(status, TW_END);
    tw_tree_free(tree);
}

static struct tw_etrace_unit *make_unit(const struct setup *setup, struct bytes *out)
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
    return unit;
}

/* Calls `each` for every mode alone and every pair, in both versions; returns how many. */
TW_UNUSED static size_t
each_setup(unsigned turn, void (*each)(void *context, struct setup *setup), void *context)
{
    size_t count = 0;

    for (unsigned is_seed = 0; is_seed < 2; is_seed++)
        for (unsigned a = 0; a <= MODES; a++)
            for (unsigned b = a; b <= MODES; b++) {
                const unsigned modes[2] = { a, b };
                struct setup setup;

                if ((a == COUNTER && b == RETURNS) || (b == MODES && a != MODES))
                    continue;
                setup = make_setup(is_seed, modes, a == MODES ? 0 : a == b ? 1 : 2, turn++);
                each(context, &setup);
                count++;
            }
    return count;
}

#endif
