/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory through the caller's allocator; NULL means the C library's. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <trackway/status.h>

#include "base/compiler.h"

/* Zeroed memory, or NULL; and memory that the caller fills before use. */
void *tw_take(const struct tw_allocator *allocator, size_t size);
void *tw_take_raw(const struct tw_allocator *allocator, size_t size);
/* The same memory (or none), larger, perhaps elsewhere.  NULL: there is none, and the old stays. */
void *tw_take_more(const struct tw_allocator *allocator, void *memory, size_t size);
void tw_give(const struct tw_allocator *allocator, void *memory);

/* Memory that the caller fills, as one large page of the system's where it has such: it comes by one page fault, not by
   512.  NULL: the system is not known to have them, or the memory is to come from a caller. */
enum { TW_LARGE_PAGE = 2 << 20 };
void *tw_take_large(const struct tw_allocator *allocator);

/* Makes an array hold at least `count` items: moves it to a larger place when needed, doubling
   `*room`.  New items are not cleared.  False, with everything as it was, when memory is out or
   the size would overflow. */
bool tw_grow_now(const struct tw_allocator *allocator, void **items, size_t *room, size_t count,
                 size_t item_size) TW_MUST_USE;
TW_MUST_USE static inline bool tw_grow(const struct tw_allocator *allocator, void **items,
                                       size_t *room, size_t count, size_t item_size)
{
    return count <= *room || tw_grow_now(allocator, items, room, count, item_size);
}

/* Same, typed: TW_GROW(allocator, &list->items, &list->room, list->count + 1). */
#define TW_GROW(allocator, items, room, count)                                                 \
    tw_grow((allocator), (void **)(items), (room), (count), sizeof **(items))

char *tw_copy_text(const struct tw_allocator *allocator, const char *text);

#endif
