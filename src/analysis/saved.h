/* SPDX-License-Identifier: BSD-2-Clause */
/* Saved results of analyses: files that say what they are and of which version, little-endian, with a
   checksum.  All of a file is read and checked before anything of it is believed. */
#ifndef ANALYSIS_SAVED_H
#define ANALYSIS_SAVED_H

#include <trackway/status.h>

#include "base/bytes.h"

enum { TW_SAVED_KIND = 8 }; /* characters */

/* What a result is called in its file, and the newest version that is known. */
struct tw_saved_kind {
    char name[TW_SAVED_KIND + 1];
    uint32_t version;
};

/* Writing: values one after the other, then tw_save_end.  Running out of memory is remembered. */
struct tw_save {
    const struct tw_allocator *allocator;
    uint8_t *bytes;
    size_t size, room;
    bool has_failed;
};

void tw_save_u64(struct tw_save *save, uint64_t value);
void tw_save_bytes(struct tw_save *save, const void *bytes, size_t size);
/* With its length before it; NULL is kept apart from "". */
void tw_save_text(struct tw_save *save, const char *text);
/* Writes beside the path and renames: the file is whole or not there.  Frees the bytes in any case. */
enum tw_status tw_save_end(struct tw_save *save, const struct tw_saved_kind *kind,
                           const char *path, struct tw_fault *fault);

/* Reading. */
struct tw_load {
    const struct tw_allocator *allocator;
    struct tw_bytes in;
    uint32_t version;
    bool is_wrong;  /* something in it cannot be, or ... */
    bool no_memory; /* ... it was good, as far as there was memory for it */
    uint8_t *bytes;
};

enum tw_status tw_load_begin(struct tw_load *load, const struct tw_saved_kind *kind,
                             const char *path, const struct tw_allocator *allocator,
                             struct tw_fault *fault);
/* The same of bytes in memory, which must last. */
enum tw_status tw_load_begin_bytes(struct tw_load *load, const struct tw_saved_kind *kind,
                                   const uint8_t *bytes, size_t size, struct tw_fault *fault);
uint64_t tw_load_u64(struct tw_load *load);
/* Points into the file; NULL: there are not so many. */
const uint8_t *tw_load_bytes(struct tw_load *load, size_t size);
/* A copy with a zero behind it, which the caller gives back; *is_there: false for NULL. */
char *tw_load_text(struct tw_load *load, bool *is_there);
/* A number of records of at least so many bytes each: never more than the file can hold. */
size_t tw_load_count(struct tw_load *load, size_t least_size);
/* What was asked of the memory is there, or the result is not. */
void tw_load_need(struct tw_load *load, bool is_there);
/* TW_OK: all was there, and nothing more; frees what reading took. */
enum tw_status tw_load_end(struct tw_load *load, const char *path, struct tw_fault *fault);

#endif
