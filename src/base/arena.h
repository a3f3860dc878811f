/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is taken once and then dealt out: an allocator that never asks for more. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>

#include <trackway/status.h>

enum { TW_ARENA_KINDS = 64 };

struct tw_arena {
    unsigned char *bytes;
    size_t size, used;
    void *free[TW_ARENA_KINDS]; /* given back, by the power of two that they hold */
};

/* `bytes` are aligned for anything, and stay the caller's. */
void tw_arena_init(struct tw_arena *arena, void *bytes, size_t size);
/* All that was taken is void. */
void tw_arena_clear(struct tw_arena *arena);
/* tw_allocator.resize; context: the arena. */
void *tw_arena_resize(void *context, void *memory, size_t size);

#endif
