/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of `trackway decode --format path` of N-Trace, for tests. */
#ifndef NTRACE_TEST_PATH_H
#define NTRACE_TEST_PATH_H

#include "check.h"

#include <inttypes.h>

#include <trackway/image.h>

#include "base/text.h"

struct path {
    struct tw_text lines;
    struct tw_text times; /* offset and time of each TIMESTAMP */
    bool has_no_contexts; /* nor do they end a run */
    bool is_open;
    uint64_t first, last, next, count;
    uint64_t instructions, hash, errors;
    struct tw_image *image; /* NULL: no hash is wanted */
};

static inline struct path path_of(struct tw_image *image)
{
    return (struct path){ .image = image, .hash = 0xcbf29ce484222325u };
}

static inline void path_free(struct path *path)
{
    tw_text_free(&path->lines);
    tw_text_free(&path->times);
}

static inline void path_close(struct path *path)
{
    if (path->is_open)
        tw_text_format(&path->lines, "R %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", path->first,
                       path->last, path->count);
    path->is_open = false;
}

static inline void path_hash(struct path *path, const struct tw_element *range)
{
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
    uint64_t pc = range->start;

    for (uint32_t i = 0; i < range->count; i++) {
        uint8_t first = 3;

        for (unsigned k = 0; k < 8; k++)
            path->hash = (path->hash ^ (pc >> 8 * k & 0xff)) * 0x100000001b3u;
        CHECK_EQ(tw_image_read(path->image, &first, &view, pc, 1), 1);
        pc += (first & 3) == 3 ? 4 : 2;
    }
    CHECK_EQ(pc, tw_element_end(range));
}

static inline void path_range(struct path *path, const struct tw_element *range)
{
    CHECK(range->count > 0);
    if (path->image)
        path_hash(path, range);
    path->instructions += range->count;
    if (path->is_open && path->next != range->start)
        path_close(path);
    if (!path->is_open) {
        path->is_open = true;
        path->first = range->start;
        path->count = 0;
    }
    path->next = tw_element_end(range);
    path->last = path->next - 2u * range->last_size;
    path->count += range->count;
}

static inline void path_trap(struct path *path, const struct tw_element *trap)
{
    path_close(path);
    CHECK_EQ(trap->number, TW_CAUSE_UNKNOWN);
    CHECK(trap->flags & TW_EXCEPTION_RISCV);
    tw_text_char(&path->lines, trap->kind == TW_TRAP_ANY              ? 'T'
                               : trap->flags & TW_EXCEPTION_INTERRUPT ? 'I'
                                                                      : 'E');
    if (trap->flags & TW_EXCEPTION_HAS_RETURN)
        tw_text_format(&path->lines, " %" PRIx64 "\n", trap->return_address);
    else
        tw_text_add(&path->lines, " -\n");
}

static inline void path_context(struct path *path, const struct tw_element *context)
{
    const uint32_t low = context->ownership == 3   ? context->vmid
                         : context->ownership == 0 ? 0
                                                   : context->context_id;

    path_close(path);
    CHECK(context->flags & TW_CONTEXT_OWNERSHIP);
    tw_text_format(&path->lines, "O %u %u %u %" PRIx64 "\n", (unsigned)context->ownership,
                   (unsigned)context->el, (unsigned)context->is_virtual,
                   (uint64_t)context->context_high << 32 | low);
}

static inline void path_take(struct path *path, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        path_range(path, element);
        break;
    case TW_ELEMENT_EXCEPTION:
        path_trap(path, element);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        if (!path->has_no_contexts)
            path_context(path, element);
        break;
    case TW_ELEMENT_EVENT:
        if (element->kind != TW_EVENT_TRACE_OFF && element->kind != TW_EVENT_LOST)
            break;
        path_close(path);
        if (element->kind == TW_EVENT_TRACE_OFF)
            tw_text_format(&path->lines, "G off %" PRIu32 "\n", element->count);
        else
            tw_text_format(&path->lines, "G lost %" PRIu32 " %" PRIx64 "\n", element->count,
                           element->value);
        break;
    case TW_ELEMENT_TIMESTAMP:
        tw_text_format(&path->times, "%" PRIu64 " %" PRIu64 "\n", element->index,
                       element->timestamp);
        break;
    case TW_ELEMENT_ERROR:
    case TW_ELEMENT_ADDR_NACC:
        path->errors++;
        break;
    default:
        break;
    }
}

#endif
