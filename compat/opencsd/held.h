/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a stream that are not done yet, and the index that each of them was given with. */
#ifndef OPENCSD_HELD_H
#define OPENCSD_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/frame.h>

struct oc_held {
    uint64_t offset; /* in the stream, of bytes[0] */
    uint8_t *bytes;
    size_t size;
    /* bytes are somewhere inside: what is dropped in front is not moved at once */
    uint8_t *memory;
    size_t room;
    struct tw_place *runs; /* the first one covers bytes[0], or what comes next */
    size_t run_count, run_room;
};

void oc_held_free(struct oc_held *held);
/* False: no memory. */
bool oc_held_add(struct oc_held *held, uint64_t index, const uint8_t *bytes, size_t size);
/* The first, or the last, `size` bytes go. */
void oc_held_drop(struct oc_held *held, size_t size);
void oc_held_cut(struct oc_held *held, size_t size);
void oc_held_clear(struct oc_held *held);
/* The index of bytes[at]. */
uint64_t oc_held_index(const struct oc_held *held, size_t at);
/* The same from byte to byte: `at` never goes back, and nothing is added or dropped meanwhile. */
struct oc_walk {
    const struct tw_place *run, *last;
    uint64_t offset;
};

static inline struct oc_walk oc_held_walk(const struct oc_held *held)
{
    return (struct oc_walk){ .run = held->runs,
                             .last = held->runs + held->run_count - 1,
                             .offset = held->offset };
}

static inline uint64_t oc_walk_index(struct oc_walk *walk, size_t at)
{
    const uint64_t offset = walk->offset + at;

    while (walk->run < walk->last && walk->run[1].stream <= offset)
        walk->run++;
    return offset - walk->run->stream + walk->run->capture;
}

/* The bytes from bytes[from] to before bytes[until], and where they lie. */
struct tw_stream oc_held_part(const struct oc_held *held, size_t from, size_t until);

#endif
