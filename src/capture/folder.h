/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder that appears whole, or not at all. */
#ifndef CAPTURE_FOLDER_H
#define CAPTURE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#include "base/text.h"

struct tw_folder {
    struct tw_text path;      /* where it will be */
    struct tw_text temporary; /* where it grows, beside it */
    /* Paths of what is in it, each with its zero: removing them takes no memory. */
    struct tw_text files;
    struct tw_fault *fault;
};

/* Makes the temporary folder.  Whatever comes after, end with tw_folder_close. */
enum tw_status tw_folder_create(struct tw_folder *folder, const char *path,
                                struct tw_fault *fault);
/* Writes a file in it; `name` has no slash. */
enum tw_status tw_folder_write(struct tw_folder *folder, const char *name, const void *bytes,
                               size_t size);
/* Puts the folder in its place.  An older folder there is replaced if `overwrite` is set and it
   holds a file named `mark`; anything else that stands there is a fault. */
enum tw_status tw_folder_commit(struct tw_folder *folder, bool overwrite, const char *mark);
/* Takes away what was not committed, and frees. */
void tw_folder_close(struct tw_folder *folder);

#endif
