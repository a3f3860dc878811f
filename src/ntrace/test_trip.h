/* SPDX-License-Identifier: BSD-2-Clause */
/* There and back: a run through the encoder, the path out of the decoder. */
#ifndef NTRACE_TEST_TRIP_H
#define NTRACE_TEST_TRIP_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <trackway/image.h>
#include <trackway/ntrace_unit.h>
#include <trackway/tree.h>

#include "ntrace/test.h"
#include "ntrace/test_path.h"
#include "rv_program.h"

struct bytes {
    uint8_t *bytes;
    size_t size, room;
};

/* A configuration under test. */
struct setup {
    char name[120];
    struct tw_ntrace_config config;
    struct tw_ntrace_unit_config unit;
    struct run_options run;
    bool is_grouped; /* blocks of several instructions */
};

static inline void keep(void *context, const uint8_t *bytes, size_t size)
{
    struct bytes *out = context;

    if (out->size + size > out->room) {
        out->room = 2 * (out->size + size);
        out->bytes = realloc(out->bytes, out->room);
        CHECK(out->bytes != NULL);
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static inline void write_field(struct tw_ntrace_unit *unit, const char *name, uint64_t value)
{
    CHECK_EQ(tw_ntrace_unit_write_field(unit, name, value), TW_OK);
}

static inline struct tw_ntrace_unit *make_unit(const struct setup *setup, struct bytes *out)
{
    struct tw_ntrace_unit_config config = setup->unit;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_ntrace_unit *unit;

    out->size = 0;
    config.size = sizeof config;
    config.trace = &setup->config;
    config.write = keep;
    config.write_context = out;
    if (tw_ntrace_unit_new(&unit, &config, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    return unit;
}

/* The block that begins with this step; *step moves on behind it. */
static inline struct tw_etrace_block next_block(const struct history *history, size_t *step,
                                                bool is_grouped)
{
    struct tw_etrace_block block = history->steps[(*step)++].block;

    while (is_grouped && block.itype == 0 && block.iretire && !block.trigger &&
           *step < history->count) {
        const struct tw_etrace_block *next = &history->steps[*step].block;

        if (!next->iretire || next->iaddr != block.iaddr + 2 * (uint64_t)block.iretire ||
            next->priv != block.priv || next->context != block.context)
            break;
        block.iretire += next->iretire;
        block.itype = next->itype;
        block.ilastsize = next->ilastsize;
        block.sijump = next->sijump;
        block.trigger = next->trigger;
        block.time = next->time;
        ++*step;
    }
    return block;
}

static inline void feed(struct tw_ntrace_unit *unit, const struct history *history,
                        bool is_grouped)
{
    for (size_t i = 0; i < history->count;) {
        const struct tw_etrace_block block = next_block(history, &i, is_grouped);

        if (tw_ntrace_unit_retire(unit, &block, 1) != TW_OK)
            check_true(false, tw_ntrace_unit_fault(unit), __FILE__, __LINE__);
    }
}

static inline void encode(struct bytes *out, const struct setup *setup,
                          const struct history *history)
{
    struct tw_ntrace_unit *unit = make_unit(setup, out);

    write_field(unit, "trTeEnable", 1);
    write_field(unit, "trTeInstTracing", 1);
    feed(unit, history, setup->is_grouped);
    write_field(unit, "trTeEnable", 0);
    tw_ntrace_unit_flush(unit);
    tw_ntrace_unit_free(unit);
}

static inline void decode_path(struct path *path, const struct setup *setup,
                               struct tw_image *image, const struct bytes *bytes)
{
    const struct tw_tree_config config = { .size = sizeof config };
    char text[4096];
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "ntrace", .text = text, .image = image
    };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    CHECK(tw_ntrace_config_text(text, sizeof text, &setup->config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, bytes->bytes, bytes->size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            path_take(path, &batch.elements[i]);
    CHECK_EQ(status, TW_END);
    path_close(path);
    tw_tree_free(tree);
}

/* The lines that the run must give, without those of contexts: what retired, and traps but for one
   that nothing follows. */
static inline void expect(struct path *path, const struct setup *setup,
                          const struct history *history, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct tw_etrace_block *block = &history->steps[i].block;
        const bool is_trap = block->itype == TW_ETRACE_ITYPE_EXCEPTION ||
                             block->itype == TW_ETRACE_ITYPE_INTERRUPT;

        if (block->iretire) {
            const struct tw_element range = {
                .start = block->iaddr,
                .length = 2 * block->iretire,
                .count = 1,
                .last_size = 1u << block->ilastsize & 3,
            };

            path_range(path, &range);
        }
        if (is_trap && i + 1 < end) {
            const bool is_any = setup->config.btype == 1;
            const bool is_interrupt = block->itype == TW_ETRACE_ITYPE_INTERRUPT;
            const struct tw_element trap = {
                .number = TW_CAUSE_UNKNOWN,
                .kind = is_any ? TW_TRAP_ANY : TW_TRAP_KNOWN,
                .flags = (uint8_t)(TW_EXCEPTION_RISCV | TW_EXCEPTION_HAS_RETURN |
                                   (is_interrupt ? TW_EXCEPTION_INTERRUPT : 0)),
                .return_address = block->iaddr + 2 * (uint64_t)block->iretire,
            };

            path_trap(path, &trap);
        }
    }
}

#endif
