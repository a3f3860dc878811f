/* SPDX-License-Identifier: BSD-2-Clause */
/* The writable segments of an ELF file. */
#include "gdb/writable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 64, SEGMENTS_MOST = 4096, LOADED = 1, CODE = 1, WRITABLE = 2 };

/* A number of an ELF file of either byte order. */
static uint64_t number(const uint8_t *at, unsigned size, bool is_big)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[is_big ? size - 1 - i : i] << 8 * i;
    return value;
}

static bool read_segments(struct gdb_stretch **stretches, size_t *count, FILE *file,
                          const uint8_t *header)
{
    const bool is_64 = header[4] == 2, is_big = header[5] == 2;
    const uint64_t at = is_64 ? number(header + 32, 8, is_big) : number(header + 28, 4, is_big);
    const uint64_t each = number(header + (is_64 ? 54 : 42), 2, is_big);
    const uint64_t segments = number(header + (is_64 ? 56 : 44), 2, is_big);
    const unsigned wide = is_64 ? 8 : 4;
    uint8_t entry[56];

    if (each < (is_64 ? 56u : 32u) || segments > SEGMENTS_MOST || at > INT32_MAX)
        return true;
    *stretches = calloc((size_t)segments + 1, sizeof **stretches);
    for (uint64_t i = 0; *stretches && i < segments; i++) {
        uint64_t first, size, flags;

        if (fseek(file, (long)(at + i * each), SEEK_SET) != 0 ||
            fread(entry, 1, is_64 ? 56 : 32, file) != (is_64 ? 56 : 32))
            break;
        flags = number(entry + (is_64 ? 4 : 24), 4, is_big);
        first = number(entry + (is_64 ? 16 : 8), wide, is_big);
        size = number(entry + (is_64 ? 40 : 20), wide, is_big);
        if (number(entry, 4, is_big) == LOADED && (flags & (WRITABLE | CODE)) == WRITABLE &&
            size)
            (*stretches)[(*count)++] = (struct gdb_stretch){ first, first + size };
    }
    return *stretches != NULL;
}

bool gdb_writable(struct gdb_stretch **stretches, size_t *count, const char *path)
{
    uint8_t header[HEADER] = { 0 };
    FILE *file = fopen(path, "rb");
    bool is_good;

    *stretches = NULL;
    *count = 0;
    if (!file) {
        say("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    is_good = fread(header, 1, sizeof header, file) >= 52 && memcmp(header, "\177ELF", 4) == 0;
    if (!is_good)
        say("%s is no ELF program", path);
    else if (!(is_good = read_segments(stretches, count, file, header)))
        say("out of memory");
    (void)fclose(file);
    return is_good;
}
