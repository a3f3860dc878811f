/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows, for answers. */
#include "gdb/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 16 << 20 };

void gdb_text_add(struct gdb_text *text, const char *bytes, size_t size)
{
    if (size > TEXT_MOST || text->size > TEXT_MOST - size)
        return;
    if (text->size + size >= text->room) {
        const size_t room = (text->size + size) * 2 + 64;
        char *more = realloc(text->text, room);

        if (!more) {
            text->is_out = true;
            return;
        }
        text->text = more;
        text->room = room;
    }
    memcpy(text->text + text->size, bytes, size);
    text->size += size;
    text->text[text->size] = 0;
}

void gdb_text_put(struct gdb_text *text, const char *line)
{
    gdb_text_add(text, line, strlen(line));
}

void gdb_text_format(struct gdb_text *text, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0)
        gdb_text_add(text, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

void gdb_text_clear(struct gdb_text *text)
{
    text->size = 0;
    if (text->text)
        text->text[0] = 0;
}

void gdb_text_free(struct gdb_text *text)
{
    free(text->text);
    *text = (struct gdb_text){ .size = 0 };
}
