/* SPDX-License-Identifier: BSD-2-Clause */
/* A library with the OpenCSD interface, loaded by its path. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool library_open(struct library *library, const char *name, const char *path)
{
    memset(library, 0, sizeof *library);
    library->name = name;
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define LIBRARY_FIND(function)                                                                 \
    *(void **)&library->function = dlsym(library->handle, #function);                          \
    if (!library->function) {                                                                  \
        (void)fprintf(stderr, "%s lacks %s\n", path, #function);                               \
        return false;                                                                          \
    }
    LIBRARY_FUNCTIONS(LIBRARY_FIND)
#undef LIBRARY_FIND
    return true;
}
