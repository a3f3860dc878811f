/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows, for answers. */
#ifndef GDB_TEXT_H
#define GDB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* {0} is an empty one. */
struct gdb_text {
    char *text; /* with a zero behind it; NULL: nothing was added */
    size_t size, room;
    bool is_out; /* there was no memory for some of it; stays until it is freed */
};

void gdb_text_add(struct gdb_text *text, const char *bytes, size_t size);
void gdb_text_put(struct gdb_text *text, const char *line);
void gdb_text_format(struct gdb_text *text, const char *format, ...) TW_PRINTF(2, 3);
void gdb_text_clear(struct gdb_text *text);
void gdb_text_free(struct gdb_text *text);

#endif
