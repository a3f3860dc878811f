/* SPDX-License-Identifier: BSD-2-Clause */
/* A file read as a whole. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* "-" is standard input.  free() the result, which is never empty memory; NULL: said why. */
uint8_t *file_load(size_t *size, const char *path);

#endif
