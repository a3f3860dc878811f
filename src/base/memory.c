/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory through the caller's allocator. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

static void *resize(const struct tw_allocator *allocator, void *memory, size_t size)
{
    if (allocator)
        return allocator->resize(allocator->context, memory, size);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, size);
}

void *tw_take(const struct tw_allocator *allocator, size_t size)
{
    void *memory;

    if (!allocator) /* large blocks come from the system as zeros, and are not touched */
        return calloc(1, size ? size : 1);
    memory = resize(allocator, NULL, size ? size : 1);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

void *tw_take_raw(const struct tw_allocator *allocator, size_t size)
{
    return resize(allocator, NULL, size ? size : 1);
}

void *tw_take_more(const struct tw_allocator *allocator, void *memory, size_t size)
{
    return resize(allocator, memory, size);
}

void *tw_take_large(const struct tw_allocator *allocator)
{
    void *memory = NULL;

#if defined __linux__ && defined MADV_HUGEPAGE
    if (!allocator)
        memory = aligned_alloc(TW_LARGE_PAGE, TW_LARGE_PAGE);
    if (memory) /* where that is refused it is memory like any other */
        (void)madvise(memory, TW_LARGE_PAGE, MADV_HUGEPAGE);
#endif
    (void)allocator;
    return memory;
}

void tw_give(const struct tw_allocator *allocator, void *memory)
{
    if (memory)
        resize(allocator, memory, 0);
}

bool tw_grow_now(const struct tw_allocator *allocator, void **items, size_t *room, size_t count,
                 size_t item_size)
{
    size_t larger = *room ? *room : 16;
    void *moved;

    while (larger < count) {
        if (larger > SIZE_MAX / 2)
            return false;
        larger *= 2;
    }
    if (larger > SIZE_MAX / item_size)
        return false;
    moved = resize(allocator, *items, larger * item_size);
    if (!moved)
        return false;
    *items = moved;
    *room = larger;
    return true;
}

char *tw_copy_text(const struct tw_allocator *allocator, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = resize(allocator, NULL, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}
