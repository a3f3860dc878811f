/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that are loaded by name. */
#include "base/library.h"

#include "base/platform.h"

bool tw_library_take(void *library, void *place, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;

    memcpy(place, &found, sizeof found);
    return found != NULL;
}

void *tw_library_open(const char *const *files, size_t count)
{
    void *library = NULL;

    for (size_t i = 0; !library && i < count; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

bool tw_library_load(const char *file, void *places, const char *const *names, size_t count)
{
    void *library = tw_library_open(&file, 1);
    bool has_all = library != NULL;

    for (size_t i = 0; i < count; i++)
        has_all &= tw_library_take(library, (char *)places + i * sizeof(void *), names[i]);
    return has_all;
}
