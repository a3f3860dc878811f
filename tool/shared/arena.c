/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the options that is freed together. */
#include "shared/arena.h"

#include <stdlib.h>
#include <string.h>

#include "shared/output.h"

struct block {
    struct block *before;
    max_align_t bytes[];
};

void *arena_room(struct arena *arena, size_t size)
{
    struct block *block = calloc(1, sizeof *block + size);

    if (!block)
        out_of_memory(); /* a caller that fails would blame the command line */
    block->before = arena->last;
    arena->last = block;
    return block->bytes;
}

char *arena_copy(struct arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = arena_room(arena, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->last) {
        struct block *before = arena->last->before;

        free(arena->last);
        arena->last = before;
    }
}
