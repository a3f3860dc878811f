/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of programs and libraries, as people type them. */
#include "analysis/code_name.h"

#include <string.h>

enum { DIGITS_LEAST = 8 }; /* fewer could be a file's name by chance */

bool tw_code_has_path(const char *path, const char *name)
{
    const size_t size = path ? strlen(path) : 0, wanted = strlen(name);

    return size >= wanted && strcmp(path + size - wanted, name) == 0 &&
           (size == wanted || path[size - wanted - 1] == '/');
}

bool tw_code_has_build_id(const uint8_t *build_id, size_t size, const char *name)
{
    static const char digits[] = "0123456789abcdef";
    const size_t count = strlen(name);

    if (count < DIGITS_LEAST || count > 2 * size)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char digit = digits[build_id[i / 2] >> (i % 2 ? 0 : 4) & 15];

        if (name[i] != digit && (digit < 'a' || name[i] != digit - 'a' + 'A'))
            return false;
    }
    return true;
}
