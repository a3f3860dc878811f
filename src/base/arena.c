/* SPDX-License-Identifier: BSD-2-Clause */
/* Powers of two, each with its number in front; the last one taken grows in place. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

enum { HEAD = 16, LEAST_KIND = 5 };

void tw_arena_init(struct tw_arena *arena, void *bytes, size_t size)
{
    *arena = (struct tw_arena){ .bytes = bytes, .size = size };
}

void tw_arena_clear(struct tw_arena *arena)
{
    tw_arena_init(arena, arena->bytes, arena->size);
}

static unsigned kind_for(size_t size)
{
    unsigned kind = LEAST_KIND;

    while (((size_t)1 << kind) - HEAD < size)
        kind++;
    return kind;
}

static unsigned char *head_of(void *memory)
{
    return (unsigned char *)memory - HEAD;
}

static void *take(struct tw_arena *arena, unsigned kind)
{
    const size_t whole = (size_t)1 << kind;
    unsigned char *head = arena->free[kind];

    if (head) {
        memcpy(&arena->free[kind], head + HEAD, sizeof arena->free[kind]);
    } else if (whole <= arena->size - arena->used) {
        head = arena->bytes + arena->used;
        arena->used += whole;
    } else {
        return NULL;
    }
    head[0] = (unsigned char)kind;
    return head + HEAD;
}

static void give(struct tw_arena *arena, void *memory)
{
    unsigned char *head = head_of(memory);
    const unsigned kind = head[0];

    memcpy(memory, &arena->free[kind], sizeof arena->free[kind]);
    arena->free[kind] = head;
}

/* Grows what lies last. */
static bool is_grown(struct tw_arena *arena, unsigned char *head, unsigned kind)
{
    const size_t at = (size_t)(head - arena->bytes), whole = (size_t)1 << kind;

    if (at + ((size_t)1 << head[0]) != arena->used || whole > arena->size - at)
        return false;
    arena->used = at + whole;
    head[0] = (unsigned char)kind;
    return true;
}

void *tw_arena_resize(void *context, void *memory, size_t size)
{
    struct tw_arena *arena = context;
    unsigned kind;
    void *moved;

    if (size == 0) {
        if (memory)
            give(arena, memory);
        return NULL;
    }
    if (size > arena->size)
        return NULL;
    kind = kind_for(size);
    if (memory && (kind <= head_of(memory)[0] || is_grown(arena, head_of(memory), kind)))
        return memory;
    moved = take(arena, kind);
    if (moved && memory) {
        memcpy(moved, memory, ((size_t)1 << head_of(memory)[0]) - HEAD);
        give(arena, memory);
    }
    return moved;
}
