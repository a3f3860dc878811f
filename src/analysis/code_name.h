/* SPDX-License-Identifier: BSD-2-Clause */
/* Which program or library a person means. */
#ifndef ANALYSIS_CODE_NAME_H
#define ANALYSIS_CODE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "/usr/lib/libc.so.6" is named by itself, by "lib/libc.so.6" and by "libc.so.6".  `path` may be NULL. */
bool tw_code_has_path(const char *path, const char *name);
/* A build ID is named by its hexadecimal digits, or the first of them: eight at least. */
bool tw_code_has_build_id(const uint8_t *build_id, size_t size, const char *name);

#endif
