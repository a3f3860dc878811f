/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is freed together. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

/* Blocks of memory that live until arena_free. */
struct arena {
    struct block *last;
};

/* Zeroed; NULL: out of memory, said so. */
void *arena_room(struct arena *arena, size_t size);
char *arena_copy(struct arena *arena, const char *text);
void arena_free(struct arena *arena);

#endif
