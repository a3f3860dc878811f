/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a stream that are not done yet. */
#include "opencsd/held.h"

#include <stdlib.h>
#include <string.h>

void oc_held_free(struct oc_held *held)
{
    free(held->memory);
    free(held->runs);
}

static bool grow(void **memory, size_t *room, size_t wanted, size_t size)
{
    size_t more = *room ? *room : 64;
    void *grown;

    if (wanted <= *room)
        return true;
    while (more < wanted)
        more *= 2;
    grown = realloc(*memory, more * size);
    if (!grown)
        return false;
    *memory = grown;
    *room = more;
    return true;
}

static bool follows_on(const struct oc_held *held, uint64_t index)
{
    const struct tw_place *last;

    if (!held->run_count)
        return false;
    last = &held->runs[held->run_count - 1];
    return index - last->capture == held->offset + held->size - last->stream;
}

/* Room for `more` bytes behind those that are there. */
static bool make_room(struct oc_held *held, size_t more)
{
    const size_t front = held->memory ? (size_t)(held->bytes - held->memory) : 0;
    void *memory = held->memory;

    if (front + held->size + more <= held->room)
        return true;
    if (held->size)
        memmove(held->memory, held->bytes, held->size);
    held->bytes = held->memory;
    /* Twice what is held, so that it is moved seldom. */
    if (!grow(&memory, &held->room, 2 * held->size + more, 1))
        return false;
    held->bytes = held->memory = memory;
    return true;
}

bool oc_held_add(struct oc_held *held, uint64_t index, const uint8_t *bytes, size_t size)
{
    void *memory;

    if (!make_room(held, size))
        return false;
    if (!held->size)
        held->run_count = 0;
    if (!follows_on(held, index)) {
        bool has_runs;

        memory = held->runs;
        has_runs = grow(&memory, &held->run_room, held->run_count + 1, sizeof *held->runs);
        held->runs = memory;
        if (!has_runs)
            return false;
        held->runs[held->run_count++] =
            (struct tw_place){ .stream = held->offset + held->size, .capture = index };
    }
    memcpy(held->bytes + held->size, bytes, size);
    held->size += size;
    return true;
}

void oc_held_drop(struct oc_held *held, size_t size)
{
    size_t done = 0;

    if (!size)
        return;
    held->bytes += size;
    held->size -= size;
    held->offset += size;
    if (!held->size)
        held->bytes = held->memory;
    while (done + 1 < held->run_count && held->runs[done + 1].stream <= held->offset)
        done++;
    held->run_count -= done;
    memmove(held->runs, held->runs + done, held->run_count * sizeof *held->runs);
}

void oc_held_cut(struct oc_held *held, size_t size)
{
    held->size -= size;
    while (held->run_count > 1 &&
           held->runs[held->run_count - 1].stream >= held->offset + held->size)
        held->run_count--;
}

void oc_held_clear(struct oc_held *held)
{
    held->offset = 0;
    held->size = held->run_count = 0;
}

/* The run that bytes[at] lies in. */
static const struct tw_place *run_at(const struct oc_held *held, size_t at)
{
    const uint64_t offset = held->offset + at;
    size_t low = 0, high = held->run_count - 1;

    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;

        if (held->runs[middle].stream <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return &held->runs[low];
}

uint64_t oc_held_index(const struct oc_held *held, size_t at)
{
    const struct tw_place *run = run_at(held, at);

    return held->offset + at - run->stream + run->capture;
}

struct tw_stream oc_held_part(const struct oc_held *held, size_t from, size_t until)
{
    const struct tw_place *run = run_at(held, from);

    return (struct tw_stream){ .bytes = held->bytes + from,
                               .size = until - from,
                               .offset = held->offset + from,
                               .places = run,
                               .place_count = held->run_count - (size_t)(run - held->runs) };
}
