/* SPDX-License-Identifier: BSD-2-Clause */
/* Around a target, in quick builds: the bytes of each input end where memory ends, and its neighbours are tried. */
#include "neighbours.h"

#include <stdbool.h>
#include <stdlib.h>

#include "guarded.h"

/* The target's own, by another name (CMakeLists.txt). */
int fuzz_target(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer notes what memcmp and its like compare, to put it into inputs: of its own one in so many is enough.  The linker
   gives these names to what the C library's functions call (CMakeLists.txt). */
static bool is_neighbour;

void __real___sanitizer_weak_hook_memcmp(void *, const void *, const void *, size_t, int);
void __real___sanitizer_weak_hook_strncmp(void *, const char *, const char *, size_t, int);
void __real___sanitizer_weak_hook_strcmp(void *, const char *, const char *, int);
void __wrap___sanitizer_weak_hook_memcmp(void *, const void *, const void *, size_t, int);
void __wrap___sanitizer_weak_hook_strncmp(void *, const char *, const char *, size_t, int);
void __wrap___sanitizer_weak_hook_strcmp(void *, const char *, const char *, int);

void __wrap___sanitizer_weak_hook_memcmp(void *caller, const void *a, const void *b,
                                         size_t size, int result)
{
    if (!is_neighbour)
        __real___sanitizer_weak_hook_memcmp(caller, a, b, size, result);
}

void __wrap___sanitizer_weak_hook_strncmp(void *caller, const char *a, const char *b,
                                          size_t size, int result)
{
    if (!is_neighbour)
        __real___sanitizer_weak_hook_strncmp(caller, a, b, size, result);
}

void __wrap___sanitizer_weak_hook_strcmp(void *caller, const char *a, const char *b, int result)
{
    if (!is_neighbour)
        __real___sanitizer_weak_hook_strcmp(caller, a, b, result);
}

static int try_input(uint8_t *end, const uint8_t *data, size_t size)
{
    if (size > GUARDED_SIZE)
        return fuzz_target(data, size);
    if (size)
        memcpy(end - size, data, size);
    return fuzz_target(end - size, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t other[GUARDED_SIZE];
    static uint8_t *end;
    struct neighbours all;

    if (!end && !(end = guarded_new()))
        abort();
    is_neighbour = false;
    (void)try_input(end, data, size);
    if (size == 0 || size > sizeof other)
        return 0;
    is_neighbour = true;
    neighbours_begin(&all, other, data, size, 0);
    for (unsigned i = 0; i < NEIGHBOURS; i++) {
        (void)neighbours_next(&all);
        (void)try_input(end, other, size);
    }
    return 0;
}
