/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that lasts as long as a call. */
#include <string.h>

#include "core/core.h"

struct core_block {
    struct core_block *before;
    max_align_t first;
};

void *core_take(struct core_arena *arena, size_t size)
{
    struct core_block *block = PyMem_Calloc(1, offsetof(struct core_block, first) + size + 1);

    if (!block) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    block->before = arena->last;
    arena->last = block;
    return &block->first;
}

char *core_take_text(struct core_arena *arena, PyObject *text)
{
    PyObject *path = NULL;
    Py_ssize_t size;
    char *bytes, *copy = NULL;

    /* Strings and paths, as the operating system has them. */
    if (!PyUnicode_FSConverter(text, &path))
        return NULL;
    if (PyBytes_AsStringAndSize(path, &bytes, &size) == 0)
        copy = core_take(arena, (size_t)size + 1);
    if (copy)
        memcpy(copy, bytes, (size_t)size + 1);
    Py_DECREF(path);
    return copy;
}

void core_give(struct core_arena *arena)
{
    while (arena->last) {
        struct core_block *before = arena->last->before;

        PyMem_Free(arena->last);
        arena->last = before;
    }
}
