/* SPDX-License-Identifier: BSD-2-Clause */
/* The writable segments of an ELF file. */
#include "gdb/writable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 64, SEGMENTS_MOST = 4096, LOADED = 1, CODE = 1, WRITABLE = 2 };

static bool read_segments(struct recording *recording, FILE *file, const uint8_t *header,
                          uint64_t bias)
{
    const bool is_64 = header[4] == 2, is_big = header[5] == 2;
    const uint64_t at =
        is_64 ? gdb_elf_number(header + 32, 8, is_big) : gdb_elf_number(header + 28, 4, is_big);
    const uint64_t each = gdb_elf_number(header + (is_64 ? 54 : 42), 2, is_big);
    const uint64_t segments = gdb_elf_number(header + (is_64 ? 56 : 44), 2, is_big);
    const unsigned wide = is_64 ? 8 : 4;
    struct gdb_stretch *more;
    uint8_t entry[56];

    if (each < (is_64 ? 56u : 32u) || segments > SEGMENTS_MOST || at > INT32_MAX)
        return true;
    more = realloc(recording->written,
                   (recording->written_count + (size_t)segments + 1) * sizeof *more);
    if (!more)
        return false;
    recording->written = more;
    for (uint64_t i = 0; i < segments; i++) {
        uint64_t first, size, flags;

        if (fseek(file, (long)(at + i * each), SEEK_SET) != 0 ||
            fread(entry, 1, is_64 ? 56 : 32, file) != (is_64 ? 56 : 32))
            break;
        flags = gdb_elf_number(entry + (is_64 ? 4 : 24), 4, is_big);
        first = gdb_elf_number(entry + (is_64 ? 16 : 8), wide, is_big);
        size = gdb_elf_number(entry + (is_64 ? 40 : 20), wide, is_big);
        if (gdb_elf_number(entry, 4, is_big) == LOADED &&
            (flags & (WRITABLE | CODE)) == WRITABLE && size)
            more[recording->written_count++] =
                (struct gdb_stretch){ first + bias, first + bias + size };
    }
    return true;
}

bool gdb_writable(struct recording *recording, const struct gdb_program *program)
{
    uint8_t header[HEADER] = { 0 };
    FILE *file = fopen(program->path, "rb");
    bool is_good;

    if (!file) {
        say("cannot read %s: %s", program->path, strerror(errno));
        return false;
    }
    is_good = fread(header, 1, sizeof header, file) >= 52 && memcmp(header, "\177ELF", 4) == 0;
    if (!is_good)
        say("%s is no ELF program", program->path);
    else if (!(is_good = read_segments(recording, file, header, program->bias)))
        say("out of memory");
    (void)fclose(file);
    return is_good;
}
