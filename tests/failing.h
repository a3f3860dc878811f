/* SPDX-License-Identifier: BSD-2-Clause */
/* An allocator that counts, and fails from the n-th request on. */
#ifndef TRACKWAY_TESTS_FAILING_H
#define TRACKWAY_TESTS_FAILING_H

#include <stdbool.h>
#include <stdlib.h>

#include <trackway/status.h>

struct failing {
    size_t left;  /* requests that succeed; SIZE_MAX: all */
    bool is_once; /* only the next one fails, then all succeed again */
    size_t live;  /* blocks that are out */
    size_t asked; /* requests so far */
};

static inline void *failing_resize(void *context, void *memory, size_t size)
{
    struct failing *failing = context;
    void *moved;

    if (size == 0) {
        failing->live -= memory != NULL;
        free(memory);
        return NULL;
    }
    failing->asked++;
    if (failing->left == 0) {
        if (failing->is_once)
            failing->left = SIZE_MAX;
        return NULL;
    }
    if (failing->left != SIZE_MAX)
        failing->left--;
    moved = realloc(memory, size);
    failing->live += moved && !memory;
    return moved;
}

#endif
