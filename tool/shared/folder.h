/* SPDX-License-Identifier: BSD-2-Clause */
/* Output that is a folder of files: it appears when it is complete. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <trackway/capture.h>

enum { FOLDER_FILES = 8 };

struct folder {
    char *path;
    char *temporary; /* where it is written until then */
    struct {
        char *path;       /* in the temporary folder */
        const char *name; /* its last part */
        FILE *file;
    } files[FOLDER_FILES];
    size_t count;
    bool has_failed; /* said already */
};

/* False: said why. */
bool folder_open(struct folder *folder, const char *path);
/* Bytes of one of its files; the context is the folder. */
bool folder_write(void *context, const char *name, const void *bytes, size_t size);
/* Puts it in its place, or removes it when `keep` is false.  False: it is not whole; said why. */
bool folder_close(struct folder *folder, bool keep);

/* tw_snapshot_write; an interrupt waits meanwhile, so that nothing of it is left behind. */
enum tw_status folder_snapshot(const char *path, const struct tw_snapshot *snapshot,
                               struct tw_fault *fault);

#endif
