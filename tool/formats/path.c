/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format path and pcs. */
#include "formats/path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/code.h"
#include "shared/rollback.h"

struct lane {
    bool is_open; /* a run is being put together */
    uint64_t first, last, next;
    uint64_t count;
    int level; /* last P line; -1: none */
};

struct path {
    struct output *out;
    const struct names *names;
    bool is_pcs;
    int last_id;              /* of the last line, when there are several; -1: none */
    const struct session *of; /* at work */
    struct code code;
    struct rollback rollback;
    struct lane lanes[128];
};

static void take_element(void *context, const struct tw_element *element, uint8_t id);

struct path *path_new(struct output *out, const struct names *names, bool is_pcs)
{
    struct path *path = calloc(1, sizeof *path);

    if (!path) {
        say("out of memory");
        return NULL;
    }
    path->out = out;
    path->names = names;
    path->is_pcs = is_pcs;
    path->last_id = -1;
    path->rollback.take = take_element;
    path->rollback.context = path;
    for (size_t id = 0; id < 128; id++)
        path->lanes[id].level = -1;
    return path;
}

void path_free(struct path *path)
{
    if (path)
        rollback_free(&path->rollback);
    free(path);
}

void path_start(struct path *path, const struct session *session)
{
    path->of = session;
    code_start(&path->code, session);
}

/* With several sources a comment tells whose the next lines are. */
static void name_id(struct path *path, uint8_t id)
{
    if (path->of->source_count < 2 || path->last_id == id)
        return;
    output_format(path->out, "# id 0x%02x\n", id);
    path->last_id = id;
}

static void close_run(struct path *path, struct lane *lane, uint8_t id)
{
    if (!lane->is_open)
        return;
    lane->is_open = false;
    name_id(path, id);
    output_format(path->out, "R %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", lane->first, lane->last,
                  lane->count);
}

static void put_address(struct output *out, uint64_t address)
{
    static const char digits[] = "0123456789abcdef";
    char text[17];
    size_t at = sizeof text;

    text[--at] = '\n';
    do
        text[--at] = digits[address & 15];
    while (address >>= 4);
    output_bytes(out, text + at, sizeof text - at);
}

/* Sizes of the instructions are seen from the code where they are not all alike. */
static void print_addresses(struct path *path, const struct tw_element *range, uint8_t id)
{
    const bool is_four = range->length == (uint64_t)range->count * 4;
    const bool is_two = range->length == (uint64_t)range->count * 2;
    struct walk walk;

    name_id(path, id);
    if (is_four || is_two) {
        for (uint32_t i = 0; i < range->count; i++)
            put_address(path->out, range->start + (uint64_t)i * (is_four ? 4 : 2));
        return;
    }
    walk_start(&walk, &path->code, range, id);
    while (walk_next(&walk))
        put_address(path->out, walk.at.address);
}

static void take_range(struct path *path, struct lane *lane, const struct tw_element *range,
                       uint8_t id)
{
    if (range->count == 0)
        return;
    if (path->is_pcs) {
        print_addresses(path, range, id);
        return;
    }
    if (lane->is_open && lane->next != range->start)
        close_run(path, lane, id);
    if (!lane->is_open) {
        lane->is_open = true;
        lane->first = range->start;
        lane->count = 0;
    }
    lane->next = tw_element_end(range);
    lane->last = lane->next - (uint64_t)range->last_size * 2;
    lane->count += range->count;
}

/* The pieces of a range that --range and --function keep. */
static void take_pieces(struct path *path, struct lane *lane, const struct tw_element *range,
                        uint8_t id)
{
    struct tw_element piece = *range;
    struct walk walk;

    piece.count = 0;
    walk_start(&walk, &path->code, range, id);
    while (walk_next(&walk)) {
        if (!names_keep(path->names, id, walk.at.address, walk.at.address + walk.size)) {
            take_range(path, lane, &piece, id);
            piece.count = 0;
            continue;
        }
        if (!piece.count++)
            piece.start = walk.at.address;
        piece.length = (uint32_t)(walk.next - piece.start);
        piece.last_size = walk.size == 2 ? 1 : 2;
    }
    take_range(path, lane, &piece, id);
}

/* N-Trace: FORMAT, privilege, virtual, and the context that was sent. */
static void take_ownership(struct path *path, struct lane *lane,
                           const struct tw_element *context, uint8_t id)
{
    const uint32_t low = context->ownership == 3   ? context->vmid
                         : context->ownership == 0 ? 0
                                                   : context->context_id;

    close_run(path, lane, id);
    name_id(path, id);
    output_format(path->out, "O %u %u %u %" PRIx64 "\n", (unsigned)context->ownership,
                  (unsigned)context->el, (unsigned)context->is_virtual,
                  (uint64_t)context->context_high << 32 | low);
}

/* N-Trace: where trace is missing, on purpose or not. */
static void take_event(struct path *path, struct lane *lane, const struct tw_element *event,
                       uint8_t id)
{
    if (event->kind != TW_EVENT_TRACE_OFF && event->kind != TW_EVENT_LOST)
        return;
    close_run(path, lane, id);
    name_id(path, id);
    if (event->kind == TW_EVENT_TRACE_OFF)
        output_format(path->out, "G off %" PRIu32 "\n", event->count);
    else
        output_format(path->out, "G lost %" PRIu32 " %" PRIx64 "\n", event->count,
                      event->value);
}

static void take_context(struct path *path, struct lane *lane, const struct tw_element *context,
                         uint8_t id)
{
    if (context->flags & TW_CONTEXT_OWNERSHIP) {
        take_ownership(path, lane, context, id);
        return;
    }
    if (!(context->flags & (TW_CONTEXT_HAS_EL | TW_CONTEXT_HAS_PRIV)) ||
        lane->level == context->el)
        return;
    close_run(path, lane, id);
    name_id(path, id);
    lane->level = context->el;
    output_format(path->out, "P %d\n", lane->level);
}

static void take_exception(struct path *path, struct lane *lane,
                           const struct tw_element *exception, uint8_t id)
{
    const unsigned flags = exception->flags;
    const bool is_riscv = flags & TW_EXCEPTION_RISCV;
    const bool has_cause = !is_riscv || exception->number != TW_CAUSE_UNKNOWN;

    close_run(path, lane, id);
    name_id(path, id);
    output_format(path->out, "%c",
                  is_riscv && exception->kind == TW_TRAP_ANY ? 'T'
                  : flags & TW_EXCEPTION_INTERRUPT           ? 'I'
                                                             : 'E');
    if (has_cause)
        output_format(path->out, " %" PRIu32, exception->number);
    if (flags & TW_EXCEPTION_HAS_RETURN)
        output_format(path->out, " %" PRIx64, exception->return_address);
    else
        output_text(path->out, " -");
    if ((flags & TW_EXCEPTION_INTERRUPT) || !has_cause)
        output_text(path->out, "\n");
    else if (flags & TW_EXCEPTION_HAS_TVAL)
        output_format(path->out, " %" PRIx64 "\n", exception->tval);
    else
        output_text(path->out, " -\n");
}

static void take_element(void *context, const struct tw_element *element, uint8_t id)
{
    struct path *path = context;
    struct lane *lane = &path->lanes[id];

    code_context(&path->code, element, id);
    if (element->type == TW_ELEMENT_INSTR_RANGE) {
        if (path->names->is_filtered)
            take_pieces(path, lane, element, id);
        else
            take_range(path, lane, element, id);
    } else if (path->is_pcs || path->names->is_filtered) {
        return;
    } else if (element->type == TW_ELEMENT_PE_CONTEXT) {
        take_context(path, lane, element, id);
    } else if (element->type == TW_ELEMENT_EXCEPTION) {
        take_exception(path, lane, element, id);
    } else if (element->type == TW_ELEMENT_EVENT) {
        take_event(path, lane, element, id);
    }
}

void path_take(struct path *path, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (session_wants_index(path->of, element->index))
            rollback_element(&path->rollback, element, batch->id);
        else
            code_context(&path->code, element, batch->id);
    }
}

void path_end(struct path *path)
{
    rollback_end(&path->rollback);
    for (size_t id = 0; id < 128; id++) {
        struct lane *lane = &path->lanes[id];

        close_run(path, lane, (uint8_t)id);
        lane->level = -1;
    }
    path->last_id = -1;
}
