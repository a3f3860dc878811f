/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear under their name only when they are whole: written beside it, synced, renamed. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What is added to a path, with the zero at the end. */
enum { TW_BESIDE_SIZE = sizeof ".0123456789ab" };

/* A new file "PATH.…" with the rights that a plain open would give it; nothing that was there is
   opened or overwritten, no link is followed, and what is there but no file is refused (ENOTSUP).  `name` gets its path: strlen(path) +
   TW_BESIDE_SIZE bytes.  NULL: errno says why. */
FILE *tw_beside_open(char *name, const char *path);
/* Closes it and puts it in the place of `path`.  False: errno says why, and it is removed. */
bool tw_beside_keep(FILE *file, const char *name, const char *path);
/* Closes and removes it. */
void tw_beside_drop(FILE *file, const char *name);

#endif
