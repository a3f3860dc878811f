/* SPDX-License-Identifier: BSD-2-Clause */
/* A file read as a whole. */
#include "shared/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/output.h"

#define MOST ((size_t)1 << 30)

static uint8_t *load(FILE *file, size_t *size, const char *path)
{
    uint8_t *bytes = NULL;
    size_t room = 0;

    *size = 0;
    for (;;) {
        size_t got;

        if (*size == room) {
            uint8_t *bigger = room < MOST ? realloc(bytes, room ? 2 * room : 65536) : NULL;

            if (!bigger) {
                say(room < MOST ? "out of memory for %s" : "%s is too large", path);
                free(bytes);
                return NULL;
            }
            bytes = bigger;
            room = room ? 2 * room : 65536;
        }
        got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
        if (got == 0)
            break;
    }
    if (ferror(file)) {
        say("cannot read %s: %s", path, strerror(errno));
        free(bytes);
        return NULL;
    }
    return bytes;
}

uint8_t *file_load(size_t *size, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    uint8_t *bytes;

    if (!file) {
        say("cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    bytes = load(file, size, path);
    if (file != stdin)
        (void)fclose(file);
    return bytes;
}
