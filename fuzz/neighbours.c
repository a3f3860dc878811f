/* SPDX-License-Identifier: BSD-2-Clause */
/* Around a target, in quick builds: the bytes of each input end where memory ends, and its neighbours are tried. */
#include "neighbours.h"

#include <stdlib.h>

#include "guarded.h"

/* The target's own, by another name (CMakeLists.txt). */
int fuzz_target(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    (void)try_input(end, data, size);
    if (size == 0 || size > sizeof other)
        return 0;
    neighbours_begin(&all, other, data, size, 0);
    for (unsigned i = 0; i < NEIGHBOURS; i++) {
        (void)neighbours_next(&all);
        (void)try_input(end, other, size);
    }
    return 0;
}
