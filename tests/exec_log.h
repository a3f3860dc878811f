/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of 32-bit Arm trace units: the code of an execution log as memory, a decode tree over a
   unit's bytes, and the path that comes out held against the log.  Include check.h before. */
#ifndef TRACKWAY_TESTS_EXEC_LOG_H
#define TRACKWAY_TESTS_EXEC_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>
#include <trackway/log.h>
#include <trackway/tree.h>

enum { EXEC_PAGE = 4096, EXEC_PAGES = 1 << 20, EXEC_USED = 4096 };

/* Code that was executed, by address. */
struct exec_memory {
    uint8_t *pages[EXEC_PAGES];
    uint8_t *known[EXEC_PAGES];
    size_t used[EXEC_USED]; /* page numbers */
    size_t used_count;
};

static inline struct exec_memory *exec_memory_new(void)
{
    struct exec_memory *memory = calloc(1, sizeof *memory);

    assert_non_null(memory);
    return memory;
}

static inline void exec_memory_free(struct exec_memory *memory)
{
    for (size_t i = 0; i < memory->used_count; i++) {
        free(memory->pages[memory->used[i]]);
        free(memory->known[memory->used[i]]);
    }
    free(memory);
}

static inline void exec_memory_set(struct exec_memory *memory, uint32_t address, uint8_t byte)
{
    const size_t page = address / EXEC_PAGE;

    if (!memory->pages[page]) {
        assert_true(memory->used_count < EXEC_USED);
        memory->used[memory->used_count++] = page;
        memory->pages[page] = calloc(1, EXEC_PAGE);
        memory->known[page] = calloc(1, EXEC_PAGE);
        assert_non_null(memory->pages[page]);
        assert_non_null(memory->known[page]);
    }
    memory->pages[page][address % EXEC_PAGE] = byte;
    memory->known[page][address % EXEC_PAGE] = 1;
}

static inline void exec_memory_add(struct exec_memory *memory, const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;
    /* A 4-byte T32 instruction has its first halfword on top. */
    const uint32_t code = from->isa == TW_ISA_T32 && from->size == 4
                              ? from->opcode >> 16 | from->opcode << 16
                              : from->opcode;

    for (unsigned i = 0; i < from->size; i++)
        exec_memory_set(memory, address + i, (uint8_t)(code >> (8 * i)));
}

static inline size_t exec_memory_read(void *context, uint8_t *out, const struct tw_view *view,
                                      uint64_t address, size_t size)
{
    const struct exec_memory *memory = context;
    size_t n = 0;

    (void)view;
    while (n < size && address + n <= UINT32_MAX) {
        const size_t page = (size_t)((address + n) / EXEC_PAGE);
        const size_t at = (size_t)((address + n) % EXEC_PAGE);

        if (!memory->pages[page] || !memory->known[page][at])
            break;
        out[n++] = memory->pages[page][at];
    }
    return n;
}

/* A tree with one unframed source whose code is in `memory`. */
struct exec_tree {
    struct tw_tree *tree;
    struct tw_image *image;
};

static inline void exec_tree_open(struct exec_tree *out, struct exec_memory *memory,
                                  const char *protocol, const struct tw_register *registers,
                                  size_t count, const char *core)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = protocol,
                                     .registers = registers,
                                     .register_count = count,
                                     .core_type = core };

    CHECK_EQ(tw_image_new(&out->image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_set_callback(out->image, exec_memory_read, memory), TW_OK);
    source.image = out->image;
    CHECK_EQ(tw_tree_new(&out->tree, &config, NULL), TW_OK);
    if (tw_tree_add_source(out->tree, NULL, &source) != TW_OK)
        fail_msg("%s", tw_tree_fault(out->tree));
}

static inline void exec_tree_close(struct exec_tree *tree)
{
    tw_tree_free(tree->tree);
    tw_image_free(tree->image);
}

/* Texts of many lines: shows only the first that differs. */
static inline void exec_check_lines(const char *got, const char *want)
{
    while (*got || *want) {
        const size_t got_size = strcspn(got, "\n"), want_size = strcspn(want, "\n");

        if (got_size != want_size || memcmp(got, want, got_size) != 0)
            fail_msg("got  %.*s\nwant %.*s", (int)got_size, got, (int)want_size, want);
        got += got_size + (got[got_size] != 0);
        want += want_size + (want[want_size] != 0);
    }
}

/* The instructions of a log, one after the other; at most `limit` of them. */
struct exec_walk {
    struct tw_log *log;
    struct tw_step step;
    size_t at, done, limit;
};

static inline void exec_walk_open(struct exec_walk *walk, const char *path, size_t limit)
{
    struct tw_fault fault;

    *walk = (struct exec_walk){ .limit = limit };
    if (tw_log_open(&walk->log, path, NULL, &fault) != TW_OK)
        fail_msg("%s", fault.text);
    walk->step.kind = TW_STEP_GAP;
}

/* The next instruction, or NULL. */
static inline const struct tw_retired *exec_walk_next(struct exec_walk *walk)
{
    while (walk->step.kind != TW_STEP_INSTRUCTIONS || walk->at == walk->step.count) {
        const enum tw_status status = tw_log_next(walk->log, &walk->step);

        walk->at = 0;
        if (status == TW_END || walk->done >= walk->limit)
            return NULL;
        CHECK_EQ(status, TW_OK);
    }
    walk->done++;
    return &walk->step.instructions[walk->at++];
}

/* What came out of a tree, counted; its ranges are held against the log. */
struct exec_result {
    size_t ranges, instructions, exceptions, errors, missing, timestamps, contexts, trace_ons;
    uint64_t cycles;
};

static inline void exec_check_range(struct exec_walk *walk, const struct tw_element *range)
{
    uint64_t address = range->start;

    for (uint32_t i = 0; i < range->count; i++) {
        const struct tw_retired *want = exec_walk_next(walk);

        CHECK(want != NULL);
        if (!want)
            return;
        CHECK_EQ(address, want->address);
        CHECK_EQ(range->isa, want->isa);
        address += want->size;
    }
    CHECK_EQ(address, tw_element_end(range));
}

static inline void exec_take(struct exec_tree *tree, struct exec_walk *walk,
                             struct exec_result *result)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree->tree, &batch)) == TW_OK) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            if (element->type == TW_ELEMENT_INSTR_RANGE) {
                result->ranges++;
                result->instructions += element->count;
                exec_check_range(walk, element);
            }
            if (element->flags & TW_FLAG_HAS_CYCLES)
                result->cycles += element->cycles;
            result->exceptions += element->type == TW_ELEMENT_EXCEPTION;
            result->errors += element->type == TW_ELEMENT_ERROR;
            result->missing += element->type == TW_ELEMENT_ADDR_NACC;
            result->timestamps += element->type == TW_ELEMENT_TIMESTAMP;
            result->contexts += element->type == TW_ELEMENT_PE_CONTEXT;
            result->trace_ons += element->type == TW_ELEMENT_TRACE_ON;
        }
    }
    CHECK(status > 0);
}

#endif
