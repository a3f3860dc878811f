/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format path and pcs. */
#include "path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A transaction that goes on for longer is taken as done, so that memory has a bound. */
enum { HELD_MOST = 1 << 20 };

struct lane {
    bool is_open; /* a run is being put together */
    uint64_t first, last, next;
    uint64_t count;
    int level; /* last P line; -1: none */

    bool is_held; /* inside a transaction */
    struct tw_element *held;
    size_t held_count, held_room;
};

struct path {
    struct output *out;
    bool is_pcs;
    int last_id;              /* of the last line, when there are several; -1: none */
    const struct session *of; /* at work */
    struct lane lanes[128];
};

struct path *path_new(struct output *out, bool is_pcs)
{
    struct path *path = calloc(1, sizeof *path);

    if (!path) {
        say("out of memory");
        return NULL;
    }
    path->out = out;
    path->is_pcs = is_pcs;
    path->last_id = -1;
    for (size_t id = 0; id < 128; id++)
        path->lanes[id].level = -1;
    return path;
}

void path_free(struct path *path)
{
    for (size_t id = 0; path && id < 128; id++)
        free(path->lanes[id].held);
    free(path);
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

/* Sizes of the instructions where they are not all alike: seen from the code itself. */
static unsigned size_at(const struct path *path, const struct tw_element *range, uint8_t id,
                        uint64_t address)
{
    const uint32_t number = path->of->source_of[id & 0x7f];
    const struct tw_source *source =
        number == TW_NONE ? NULL : tw_capture_source(path->of->capture, number);
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
    uint8_t code[2];
    unsigned half;

    if (!source || source->image == TW_NONE ||
        tw_image_read(tw_capture_image(path->of->capture, source->image), code, &view, address,
                      2) != 2)
        return 4;
    half = code[0] | (unsigned)code[1] << 8;
    if (range->isa == TW_ISA_T32 || range->isa == TW_ISA_TEE)
        return half >> 11 >= 0x1d ? 4 : 2;
    return (half & 3) == 3 ? 4 : 2;
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

static void print_addresses(struct path *path, const struct tw_element *range, uint8_t id)
{
    const bool is_four = range->length == (uint64_t)range->count * 4;
    const bool is_two = range->length == (uint64_t)range->count * 2;
    uint64_t address = range->start;

    name_id(path, id);
    for (uint32_t i = 0; i < range->count; i++) {
        put_address(path->out, address);
        address += is_four ? 4 : is_two ? 2 : size_at(path, range, id, address);
    }
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

static void take_context(struct path *path, struct lane *lane, const struct tw_element *context,
                         uint8_t id)
{
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

    close_run(path, lane, id);
    name_id(path, id);
    output_format(path->out, "%c %" PRIu32, flags & TW_EXCEPTION_INTERRUPT ? 'I' : 'E',
                  exception->number);
    if (flags & TW_EXCEPTION_HAS_RETURN)
        output_format(path->out, " %" PRIx64, exception->return_address);
    else
        output_text(path->out, " -");
    if (flags & TW_EXCEPTION_INTERRUPT)
        output_text(path->out, "\n");
    else if (flags & TW_EXCEPTION_HAS_TVAL)
        output_format(path->out, " %" PRIx64 "\n", exception->tval);
    else
        output_text(path->out, " -\n");
}

static void take_element(struct path *path, struct lane *lane, const struct tw_element *element,
                         uint8_t id)
{
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        take_range(path, lane, element, id);
    else if (path->is_pcs)
        return;
    else if (element->type == TW_ELEMENT_PE_CONTEXT)
        take_context(path, lane, element, id);
    else if (element->type == TW_ELEMENT_EXCEPTION)
        take_exception(path, lane, element, id);
}

/* A transaction ended: what it did counts, or only what came from outside it. */
static void release(struct path *path, struct lane *lane, bool is_done, uint8_t id)
{
    for (size_t i = 0; i < lane->held_count; i++)
        if (is_done || lane->held[i].type != TW_ELEMENT_INSTR_RANGE)
            take_element(path, lane, &lane->held[i], id);
    lane->held_count = 0;
    lane->is_held = false;
}

static void hold(struct path *path, struct lane *lane, const struct tw_element *element,
                 uint8_t id)
{
    if (lane->held_count == lane->held_room) {
        const size_t room = lane->held_room ? 2 * lane->held_room : 256;
        struct tw_element *bigger =
            room <= HELD_MOST ? realloc(lane->held, room * sizeof *bigger) : NULL;

        if (!bigger) {
            release(path, lane, true, id);
            take_element(path, lane, element, id);
            return;
        }
        lane->held = bigger;
        lane->held_room = room;
    }
    lane->held[lane->held_count++] = *element;
}

static void take_transaction(struct path *path, struct lane *lane, unsigned kind, uint8_t id)
{
    if (kind == TW_TRANS_COMMIT || kind == TW_TRANS_FAIL) {
        release(path, lane, kind == TW_TRANS_COMMIT, id);
        return;
    }
    release(path, lane, true, id);
    lane->is_held = true;
}

void path_take(struct path *path, const struct session *session, const struct tw_batch *batch)
{
    struct lane *lane = &path->lanes[batch->id & 0x7f];

    path->of = session;
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (!session_wants_index(session, element->index))
            continue;
        if (element->type == TW_ELEMENT_MEMTRANS)
            take_transaction(path, lane, element->kind, batch->id);
        else if (lane->is_held)
            hold(path, lane, element, batch->id);
        else
            take_element(path, lane, element, batch->id);
    }
}

void path_end(struct path *path, const struct session *session)
{
    path->of = session;
    for (size_t id = 0; id < 128; id++) {
        struct lane *lane = &path->lanes[id];

        release(path, lane, true, (uint8_t)id);
        close_run(path, lane, (uint8_t)id);
        lane->level = -1;
    }
    path->last_id = -1;
}
