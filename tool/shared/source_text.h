/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of source files, read when they are first asked for. */
#ifndef SOURCE_TEXT_H
#define SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct source_file;

struct source_texts {
    const char *root; /* a folder with the sources; NULL: they are at their paths */
    struct source_file *files;
};

/* A line without its end, not ended by a zero; NULL: the file or the line is not there. */
const char *source_text(struct source_texts *texts, const char *file, uint32_t line,
                        size_t *size);
void source_texts_free(struct source_texts *texts);

#endif
