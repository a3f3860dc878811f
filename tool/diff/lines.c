/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a side, read ahead as far as they are needed. */
#include "diff/lines.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the instruction at an address. */
static unsigned size_at(const struct side *side, uint64_t address, uint8_t isa)
{
    const struct tw_view any = tw_element_view(NULL);
    uint8_t bytes[4] = { 0 };
    struct tw_code_bytes code = { .bytes = bytes, .address = address, .isa = isa };

    if (isa != TW_ISA_T32 && isa != TW_ISA_RV32 && isa != TW_ISA_RV64)
        return 4;
    if (side->is_log) {
        const uint64_t *size = tw_map_find(&side->sizes, address);

        return size ? (unsigned)*size : 0;
    }
    if (side->named.image) {
        code.size = tw_image_read(side->named.image, bytes, &side->named.who.view, address, 4);
        if (!code.size)
            code.size = tw_image_read(side->named.image, bytes, &any, address, 4);
    }
    return code.size ? (unsigned)tw_instruction_size(&code) : 0;
}

/* Instructions in the first bytes of a stretch. */
static uint32_t count_to(const struct side *side, const struct stretch *stretch, uint64_t bytes)
{
    uint64_t at = stretch->start;
    uint32_t count = 0;

    for (unsigned each = 4; each >= 2; each -= 2)
        if (stretch->length == (uint64_t)stretch->count * each)
            return (uint32_t)(bytes / each);
    while (at < stretch->start + bytes && count < stretch->count) {
        const unsigned size = size_at(side, at, stretch->isa);

        count++;
        if (!size) /* not known: as much as there can be */
            return (uint32_t)(bytes * stretch->count / stretch->length);
        at += size;
    }
    return count;
}

struct stretch stretch_after(const struct side *side, const struct stretch *stretch,
                             uint64_t bytes)
{
    struct stretch rest = *stretch;
    const uint32_t count = count_to(side, stretch, bytes);

    rest.start += bytes;
    rest.length -= bytes;
    rest.number += count;
    rest.count -= count < rest.count ? count : rest.count;
    rest.after_gap = rest.after_gap && !bytes;
    return rest;
}

static bool make_room(struct line_queue *queue, size_t more)
{
    struct stretch *lines;
    size_t room;

    if (queue->head && queue->count + more > queue->room) {
        memmove(queue->lines, queue->lines + queue->head, queue_size(queue) * sizeof *lines);
        queue->count -= queue->head;
        queue->head = 0;
    }
    if (queue->count + more <= queue->room)
        return true;
    room = queue->room ? queue->room * 2 : 1024;
    while (room < queue->count + more)
        room *= 2;
    lines = realloc(queue->lines, room * sizeof *lines);
    if (!lines) {
        say("out of memory");
        return false;
    }
    queue->lines = lines;
    queue->room = room;
    return true;
}

bool queue_next(struct line_queue *queue, struct stretch *stretch)
{
    if (queue->head < queue->count) {
        *stretch = queue->lines[queue->head++];
        return true;
    }
    queue->head = queue->count = 0;
    if (queue->has_pending) {
        *stretch = queue->pending;
        queue->has_pending = false;
        return true;
    }
    return !queue->is_ended && side_next(queue->side, stretch);
}

bool queue_put_back(struct line_queue *queue, const struct stretch *stretch)
{
    if (!queue->head) {
        if (!make_room(queue, 1))
            return false;
        memmove(queue->lines + 1, queue->lines, queue->count * sizeof *queue->lines);
        queue->count++;
        queue->head = 1;
    }
    queue->lines[--queue->head] = *stretch;
    return true;
}

bool queue_fill(struct line_queue *queue, size_t count)
{
    struct stretch next;

    while (queue_size(queue) < count && !queue->is_ended) {
        struct stretch *line;

        if (!make_room(queue, 1))
            return false;
        if (queue->has_pending) {
            next = queue->pending;
            queue->has_pending = false;
        } else if (!side_next(queue->side, &next)) {
            queue->is_ended = true;
            break;
        }
        line = queue_size(queue) ? &queue->lines[queue->count - 1] : NULL;
        /* A line ends where a branch is taken: what follows in sequence belongs to it. */
        if (line && stretch_end(line) == next.start && line->isa == next.isa &&
            !next.after_gap) {
            line->length += next.length;
            line->count += next.count;
        } else {
            queue->lines[queue->count++] = next;
        }
    }
    /* The last line may go on. */
    while (!queue->is_ended && !queue->has_pending && queue_size(queue)) {
        struct stretch *line = &queue->lines[queue->count - 1];

        if (!side_next(queue->side, &next))
            queue->is_ended = true;
        else if (stretch_end(line) == next.start && line->isa == next.isa && !next.after_gap) {
            line->length += next.length;
            line->count += next.count;
        } else {
            queue->pending = next;
            queue->has_pending = true;
        }
    }
    return true;
}

void queue_drop(struct line_queue *queue, size_t count, uint64_t address)
{
    queue->head += count;
    if (queue->head < queue->count) {
        struct stretch *line = &queue->lines[queue->head];

        if (address - line->start < line->length)
            *line = stretch_after(queue->side, line, address - line->start);
    }
}
