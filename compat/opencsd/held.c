/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a stream that are not done yet. */
#include "opencsd/held.h"

#include <stdlib.h>
#include <string.h>

void oc_held_free(struct oc_held *held)
{
    free(held->bytes);
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
    const struct oc_run *last;

    if (!held->run_count)
        return false;
    last = &held->runs[held->run_count - 1];
    return index - last->index == held->offset + held->size - last->at;
}

bool oc_held_add(struct oc_held *held, uint64_t index, const uint8_t *bytes, size_t size)
{
    void *memory = held->bytes;
    const bool has_bytes = grow(&memory, &held->room, held->size + size, 1);

    held->bytes = memory;
    if (!has_bytes)
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
        held->runs[held->run_count++] = (struct oc_run){ held->offset + held->size, index };
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
    memmove(held->bytes, held->bytes + size, held->size - size);
    held->size -= size;
    held->offset += size;
    while (done + 1 < held->run_count && held->runs[done + 1].at <= held->offset)
        done++;
    held->run_count -= done;
    memmove(held->runs, held->runs + done, held->run_count * sizeof *held->runs);
}

void oc_held_cut(struct oc_held *held, size_t size)
{
    held->size -= size;
    while (held->run_count > 1 &&
           held->runs[held->run_count - 1].at >= held->offset + held->size)
        held->run_count--;
}

void oc_held_clear(struct oc_held *held)
{
    held->offset = 0;
    held->size = held->run_count = 0;
}

uint64_t oc_held_index(const struct oc_held *held, size_t at, size_t *together)
{
    const uint64_t offset = held->offset + at;
    size_t low = 0, high = held->run_count - 1;

    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;

        if (held->runs[middle].at <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    *together = (low + 1 < held->run_count ? (size_t)(held->runs[low + 1].at - offset)
                                           : held->size - at);
    return offset - held->runs[low].at + held->runs[low].index;
}
