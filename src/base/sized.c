/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs of the interface that begin with their size. */
#include "base/sized.h"

#include <string.h>

#include "base/fault.h"

/* No struct of ours will ever grow by more: a larger size is no size. */
enum { SURPLUS_MAX = 4096 };

static size_t size_of(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

enum tw_status tw_sized_take(void *ours, size_t our_size, const void *theirs, const char *what,
                             struct tw_fault *fault)
{
    size_t size;

    if (!theirs)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no %s", what);
    size = size_of(theirs);
    if (size < sizeof size || size > our_size + SURPLUS_MAX)
        return tw_fail(fault, TW_E_ARGUMENT, "%s has a size of %zu: set it to its sizeof", what,
                       size);
    if (size > our_size && !is_zero((const unsigned char *)theirs + our_size, size - our_size))
        return tw_fail(fault, TW_E_UNSUPPORTED,
                       "%s asks for something that this version of the library has not", what);
    memset(ours, 0, our_size);
    memcpy(ours, theirs, size < our_size ? size : our_size);
    memcpy(ours, &our_size, sizeof our_size);
    return TW_OK;
}

bool tw_sized_give(void *theirs, const void *ours, size_t our_size)
{
    const size_t size = size_of(theirs);
    unsigned char *to = theirs;

    if (size < sizeof size || size > our_size + SURPLUS_MAX)
        return false;
    if (size > our_size)
        memset(to + our_size, 0, size - our_size);
    memcpy(to + sizeof size, (const unsigned char *)ours + sizeof size,
           (size < our_size ? size : our_size) - sizeof size);
    return true;
}

const void *tw_sized_at(const void *array, size_t number)
{
    return (const unsigned char *)array + number * size_of(array);
}
