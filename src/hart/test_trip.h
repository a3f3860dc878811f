/* SPDX-License-Identifier: BSD-2-Clause */
/* There and back: a run through the encoder, the path out of the decoder.  Include check.h before. */
#ifndef HART_TEST_TRIP_H
#define HART_TEST_TRIP_H

#include "hart/test_setup.h"

/* What came back. */
struct result {
    uint64_t *pcs;
    size_t count, room;
    uint32_t causes[STEPS_MOST + 8];
    size_t cause_count;
    uint64_t errors;
    const struct program *program;
};

/* A block as a hart with this itype reports it. */
static struct tw_etrace_block block_at(const struct setup *setup, const struct history *history,
                                       size_t step)
{
    struct tw_etrace_block block = history->steps[step].block;
    const bool is_inferable = block.itype == TW_ETRACE_ITYPE_INFERABLE_CALL ||
                              block.itype == TW_ETRACE_ITYPE_INFERABLE_JUMP ||
                              block.itype == TW_ETRACE_ITYPE_INFERABLE_OTHER;

    if (setup->config.itype_width == 3 && block.itype > TW_ETRACE_ITYPE_UNINFERABLE)
        block.itype = is_inferable ? TW_ETRACE_ITYPE_NONE : TW_ETRACE_ITYPE_UNINFERABLE;
    return block;
}

/* Blocks of as many instructions as may be, or one each. */
static void feed(struct tw_etrace_unit *unit, const struct setup *setup,
                 const struct history *history, bool is_grouped)
{
    for (size_t i = 0; i < history->count;) {
        struct tw_etrace_block block = block_at(setup, history, i++);

        if (setup->config.retires <= 1 && block.iretire)
            block.iretire = 1;
        while (is_grouped && block.itype == 0 && block.iretire && i < history->count) {
            const struct tw_etrace_block after = block_at(setup, history, i), *next = &after;

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

static void encode(struct bytes *out, const struct setup *setup, const struct history *history,
                   bool is_grouped)
{
    struct tw_etrace_unit *unit = make_unit(setup, out);

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

static void take(void *context, const struct tw_batch *batch)
{
    struct result *result = context;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        for (uint64_t n = 0; element->type == TW_ELEMENT_REPEAT && n < element->times; n++)
            for (uint32_t k = 0; k < element->count; k++)
                take_range(result, &batch->elements[i - element->count + k]);
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

#endif
