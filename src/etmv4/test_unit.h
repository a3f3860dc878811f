/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips of the trace unit: what was executed, from the log; what a decoder makes of the
   unit's bytes; and that the two are the same.  For the tests of this folder. */
#ifndef ETMV4_TEST_UNIT_H
#define ETMV4_TEST_UNIT_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/etmv4_unit.h>
#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/log.h>
#include <trackway/tree.h>

#include "etmv4/test_moments.h"

/* ---- memory of the program, page by page, from the instructions that ran ---- */

enum { PAGE = 4096 };

struct page {
    uint64_t base;
    uint8_t bytes[PAGE];
};

struct memory {
    struct page **pages;
    size_t count, last;
};

static inline struct page *memory_page(struct memory *memory, uint64_t base)
{
    struct page *page;

    if (memory->count && memory->pages[memory->last]->base == base)
        return memory->pages[memory->last];
    for (size_t i = 0; i < memory->count; i++)
        if (memory->pages[i]->base == base) {
            memory->last = i;
            return memory->pages[i];
        }
    page = calloc(1, sizeof *page);
    memory->pages = realloc(memory->pages, (memory->count + 1) * sizeof *memory->pages);
    CHECK(page && memory->pages);
    page->base = base;
    memory->last = memory->count;
    memory->pages[memory->count++] = page;
    return page;
}

static inline void memory_put(struct memory *memory, uint64_t address, uint8_t byte)
{
    memory_page(memory, address & ~(uint64_t)(PAGE - 1))->bytes[address & (PAGE - 1)] = byte;
}

static inline void memory_add(struct memory *memory, const struct tw_retired *instruction)
{
    const uint32_t opcode = instruction->opcode;
    const bool is_wide = instruction->isa == TW_ISA_T32 && instruction->size == 4;
    const uint32_t value = is_wide ? opcode >> 16 | opcode << 16 : opcode;

    for (unsigned i = 0; i < instruction->size; i++)
        memory_put(memory, instruction->address + i, (uint8_t)(value >> (8 * i)));
}

static inline void memory_free(struct memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        free(memory->pages[i]);
    free(memory->pages);
    *memory = (struct memory){ 0 };
}

static inline struct tw_image *memory_image(const struct memory *memory)
{
    struct tw_image *image;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    for (size_t i = 0; i < memory->count; i++) {
        const struct tw_region region = { .size = sizeof region,
                                          .address = memory->pages[i]->base,
                                          .length = PAGE,
                                          .name = "page" };

        CHECK_EQ(tw_image_add(image, &region, memory->pages[i]->bytes), TW_OK);
    }
    return image;
}

/* ---- steps, from a log or from a list ---- */

struct steps {
    struct tw_log *log;         /* or */
    const struct tw_step *list; /* ... of `count` */
    size_t count, at;
};

static inline bool steps_next(struct steps *steps, struct tw_step *step)
{
    enum tw_status status;

    if (!steps->log) {
        if (steps->at == steps->count)
            return false;
        *step = steps->list[steps->at++];
        return true;
    }
    status = tw_log_next(steps->log, step);
    if (status != TW_OK && status != TW_END)
        printf("%s\n", tw_log_fault(steps->log));
    CHECK(status == TW_OK || status == TW_END);
    return status == TW_OK;
}

/* ---- what the trace must tell: an oracle of its own ---- */

struct expected {
    struct tw_step_context context;
    struct tw_retired instruction; /* is_exception: address to return to, its type in `size` */
    bool is_exception;
};

/* Without an instruction: whether anything may be traced there. */
typedef bool wants_fn(void *context, const struct tw_retired *instruction,
                      const struct tw_step_context *where);

struct oracle {
    struct steps steps;
    struct tw_step step; /* the instructions at work */
    size_t at;
    wants_fn *wants; /* NULL: everything */
    void (*on_step)(void *context,
                    const struct tw_step *step); /* or NULL; before it is taken */
    void *wants_context;
    bool *started, was_started; /* ViewInst start/stop, which a failed transaction takes back */
    uint32_t p0_kinds;
    bool is_last_step;
    bool is_active, is_open, was_traced, is_lost;
    struct tw_step_context context;
    struct expected *waiting; /* of the block that is open */
    size_t first, released, count, room;
    uint64_t instructions; /* handed out */
};

static inline void oracle_add(struct oracle *oracle, const struct expected *item)
{
    if (oracle->count == oracle->room) {
        oracle->room = oracle->room ? 2 * oracle->room : 256;
        oracle->waiting = realloc(oracle->waiting, oracle->room * sizeof *oracle->waiting);
        CHECK(oracle->waiting);
    }
    oracle->waiting[oracle->count++] = *item;
}

static inline void oracle_stop(struct oracle *oracle)
{
    oracle->count = oracle->released; /* the open block is never told */
    oracle->is_active = oracle->is_open = oracle->was_traced = false;
}

static inline void oracle_instruction(struct oracle *oracle,
                                      const struct tw_retired *instruction)
{
    const bool is_wanted =
        !oracle->wants || oracle->wants(oracle->wants_context, instruction, &oracle->context);
    const struct expected item = { oracle->context, *instruction, false };

    if (oracle->is_lost)
        return;
    if (!is_wanted && !(oracle->is_active && oracle->is_open)) {
        oracle_stop(oracle);
        return;
    }
    oracle->is_active = oracle->was_traced = true;
    oracle_add(oracle, &item);
    oracle->is_open = !(oracle->p0_kinds >> instruction->kind & 1);
    if (!oracle->is_open)
        oracle->released = oracle->count;
}

static inline void oracle_step(struct oracle *oracle, const struct tw_step *step)
{
    struct expected item = { .is_exception = true };

    switch (step->kind) {
    case TW_STEP_CONTEXT:
        oracle->context = step->context;
        if (oracle->wants && !oracle->wants(oracle->wants_context, NULL, &oracle->context))
            oracle_stop(oracle);
        break;
    case TW_STEP_EXCEPTION:
        if (!oracle->was_traced || oracle->is_lost ||
            (oracle->wants && !oracle->wants(oracle->wants_context, NULL, &oracle->context))) {
            oracle_stop(oracle);
            break;
        }
        item.context = oracle->context;
        /* R_FSWRC: the lowest bits of an address are traced as zero. */
        item.instruction.address =
            step->return_address &
            (step->return_isa == TW_ISA_T32 ? ~(uint64_t)1 : ~(uint64_t)3);
        item.instruction.size = step->exception;
        oracle_add(oracle, &item);
        oracle->released = oracle->count;
        oracle->is_open = false;
        break;
    case TW_STEP_GAP:
    case TW_STEP_DEBUG:
        oracle_stop(oracle);
        break;
    case TW_STEP_TRANSACTION:
        if (step->how == TW_TRANS_START && oracle->started)
            oracle->was_started = *oracle->started;
        if (step->how == TW_TRANS_FAIL && oracle->started)
            *oracle->started = oracle->was_started;
        if (step->how == TW_TRANS_FAIL) {
            oracle->count = oracle->released;
            oracle->is_open = false;
        }
        break;
    case TW_STEP_OVERFLOW:
        oracle_stop(oracle);
        oracle->is_lost = true;
        break;
    case TW_STEP_RECOVER:
        oracle->is_lost = false;
        break;
    default:
        break;
    }
}

/* The next thing that the trace must tell, or NULL. */
static inline const struct expected *oracle_next(struct oracle *oracle)
{
    while (oracle->first == oracle->released) {
        if (oracle->first) {
            memmove(oracle->waiting, oracle->waiting + oracle->first,
                    (oracle->count - oracle->first) * sizeof *oracle->waiting);
            oracle->count -= oracle->first;
            oracle->first = oracle->released = 0;
        }
        if (oracle->step.kind == TW_STEP_INSTRUCTIONS && oracle->at < oracle->step.count) {
            oracle_instruction(oracle, &oracle->step.instructions[oracle->at++]);
            continue;
        }
        if (!steps_next(&oracle->steps, &oracle->step)) {
            oracle->step = (struct tw_step){ .kind = TW_STEP_GAP };
            return NULL;
        }
        oracle->at = 0;
        if (oracle->step.kind == TW_STEP_INSTRUCTIONS)
            continue;
        if (oracle->on_step)
            oracle->on_step(oracle->wants_context, &oracle->step);
        oracle_step(oracle, &oracle->step);
    }
    return &oracle->waiting[oracle->first++];
}

/* Passes over the first things, instructions and exceptions. */
static inline void oracle_skip(struct oracle *oracle, uint64_t count)
{
    for (; count; count--)
        CHECK(oracle_next(oracle) != NULL);
}

static inline const struct expected *oracle_instruction_next(struct oracle *oracle)
{
    const struct expected *item = oracle_next(oracle);

    CHECK(item != NULL);
    CHECK(!item->is_exception);
    oracle->instructions++;
    return item;
}

/* ---- what a decoder says, held against it ---- */

struct checked_against {
    struct oracle *oracle;
    struct tw_step_context context; /* as last told */
    bool has_context;
    bool is_loose; /* ranges may run on where a Q leaves the path open (OpenCSD) */
    bool checks_cid, checks_vmid;
    const char *who;
    uint64_t ranges, returns;
    struct moments moments; /* to be freed */
};

/* Instructions whose path is not told: `count` of them, or up to the address. */
static inline void see_no_path(struct checked_against *seen, uint64_t first, uint32_t count)
{
    const struct expected *item = oracle_instruction_next(seen->oracle);

    if (item->instruction.address != first)
        printf("%s: %u instructions from 0x%" PRIx64 "\n", seen->who, count, first);
    CHECK_EQ(item->instruction.address, first);
    for (uint32_t i = 1; i < count; i++)
        (void)oracle_instruction_next(seen->oracle);
}

static inline void see_range(struct checked_against *seen, uint64_t start, uint64_t end,
                             uint32_t count)
{
    uint64_t at = start;
    uint32_t last = 0;

    seen->ranges++;
    if (seen->is_loose) {
        see_no_path(seen, start, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct expected *item = oracle_instruction_next(seen->oracle);

        if (item->instruction.address != at)
            printf("%s: range 0x%" PRIx64 "-0x%" PRIx64 ", instruction %" PRIu64
                   " behind opcode 0x%" PRIx32 "\n",
                   seen->who, start, end, seen->oracle->instructions, last);
        CHECK_EQ(at, item->instruction.address);
        at += item->instruction.size;
        last = item->instruction.opcode;
        if (seen->has_context) {
            CHECK_EQ(seen->context.el, item->context.el);
            CHECK_EQ(seen->context.security, item->context.security);
            CHECK_EQ(seen->context.is_64bit, item->context.is_64bit);
            if (seen->checks_cid)
                CHECK_EQ(seen->context.context_id, item->context.context_id);
            if (seen->checks_vmid)
                CHECK_EQ(seen->context.vmid, item->context.vmid);
        }
    }
    CHECK_EQ(at, end);
}

static inline void see_exception(struct checked_against *seen, uint32_t number,
                                 bool has_address, uint64_t address)
{
    const struct expected *item = oracle_next(seen->oracle);

    CHECK(item != NULL);
    CHECK(item->is_exception);
    CHECK_EQ(number, item->instruction.size);
    if (has_address)
        CHECK_EQ(address, item->instruction.address);
}

static inline void see_element(struct checked_against *seen, const struct tw_element *element)
{
    decoder_moment(&seen->moments, element);
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        see_range(seen, element->start, tw_element_end(element), element->count);
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        see_no_path(seen, element->first, element->count);
        break;
    case TW_ELEMENT_EXCEPTION:
        see_exception(seen, element->number, element->flags & TW_EXCEPTION_HAS_RETURN,
                      element->return_address);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        seen->has_context = true;
        seen->context = (struct tw_step_context){ .el = element->el,
                                                  .security = element->security,
                                                  .is_64bit = element->flags & TW_CONTEXT_64BIT,
                                                  .context_id = element->context_id,
                                                  .vmid = element->vmid };
        break;
    case TW_ELEMENT_NO_SYNC:
        CHECK(element->reason != TW_REASON_BAD_PACKET &&
              element->reason != TW_REASON_BAD_IMAGE);
        break;
    case TW_ELEMENT_EXCEPTION_RET:
        seen->returns++;
        break;
    case TW_ELEMENT_ERROR:
        CHECK_TEXT(tw_error_code_name(element->error), "no error");
        break;
    case TW_ELEMENT_ADDR_NACC:
        CHECK(element->type != TW_ELEMENT_ADDR_NACC);
        break;
    default:
        break;
    }
}

/* ---- Trackway's decoder ---- */

enum { REGISTERS_MOST = 24 };

static inline size_t unit_registers(const struct tw_etmv4_unit *unit,
                                    struct tw_register list[REGISTERS_MOST])
{
    size_t count = 0;

    while (tw_etmv4_unit_register(unit, &list[count], count) == TW_OK)
        count++;
    return count;
}

static inline void drain_tree(struct tw_tree *tree, struct checked_against *seen)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            see_element(seen, &batch.elements[i]);
    CHECK(status == TW_MORE || status == TW_END);
}

struct decoding {
    struct tw_tree *tree;
    struct tw_framer *framer; /* NULL: unframed */
    uint8_t id;
};

static inline struct decoding decoding_new(const struct tw_etmv4_unit *unit, bool is_ete,
                                           struct tw_image *image, bool is_framed)
{
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = is_framed ? TW_FRAMING_MEMORY : TW_FRAMING_NONE,
    };
    const struct tw_framer_config framer = { .size = sizeof framer,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_register registers[REGISTERS_MOST];
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = is_ete ? "ete" : "etmv4",
                                           .registers = registers,
                                           .register_count = unit_registers(unit, registers),
                                           .core_type = is_ete ? "ARM-AA64" : "Cortex-A57",
                                           .id = 0x10,
                                           .image = image };
    struct decoding decoding = { 0 };

    CHECK_EQ(tw_tree_new(&decoding.tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(decoding.tree, &decoding.id, &source), TW_OK);
    if (is_framed)
        CHECK_EQ(tw_framer_new(&decoding.framer, &framer, NULL), TW_OK);
    return decoding;
}

static inline void decoding_feed(struct decoding *decoding, struct checked_against *seen,
                                 const uint8_t *bytes, size_t size)
{
    if (decoding->framer) {
        CHECK_EQ(tw_framer_write(decoding->framer, decoding->id, bytes, size), TW_OK);
        bytes = tw_framer_output(decoding->framer, &size);
    }
    CHECK_EQ(tw_tree_feed(decoding->tree, bytes, size), TW_OK);
    if (decoding->framer)
        tw_framer_take(decoding->framer);
    drain_tree(decoding->tree, seen);
}

/* Nothing follows: all that was executed must have come out. */
static inline void decoding_end(struct decoding *decoding, struct checked_against *seen)
{
    if (decoding->framer) {
        size_t size;
        const uint8_t *bytes;

        CHECK_EQ(tw_framer_finish(decoding->framer), TW_OK);
        bytes = tw_framer_output(decoding->framer, &size);
        CHECK_EQ(tw_tree_feed(decoding->tree, bytes, size), TW_OK);
        drain_tree(decoding->tree, seen);
    }
    CHECK_EQ(tw_tree_finish(decoding->tree), TW_OK);
    drain_tree(decoding->tree, seen);
    CHECK(oracle_next(seen->oracle) == NULL);
    tw_tree_free(decoding->tree);
    tw_framer_free(decoding->framer);
}

static inline void set_register(struct tw_etmv4_unit *unit, const char *name, uint64_t value)
{
    const enum tw_status status = tw_etmv4_unit_write_register(unit, name, value);

    if (status != TW_OK)
        printf("%s\n", tw_etmv4_unit_fault(unit));
    CHECK_EQ(status, TW_OK);
}

/* P0 instructions of the units as tw_etmv4_unit_new makes them. */
static inline uint32_t p0_kinds(bool is_ete)
{
    return 1u << TW_RETIRED_BRANCH | 1u << TW_RETIRED_INDIRECT | 1u << TW_RETIRED_ISB |
           1u << TW_RETIRED_WFX |
           (is_ete ? 1u << TW_RETIRED_WFXT | 1u << TW_RETIRED_TSTART : 0);
}

#endif
