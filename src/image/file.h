/* SPDX-License-Identifier: BSD-2-Clause */
/* A file's bytes, mapped for reading or copied; small files are copied. */
#ifndef IMAGE_FILE_H
#define IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

struct tw_file {
    const uint8_t *bytes; /* never NULL once mapped, even when the file is empty */
    size_t size;
    const struct tw_allocator *allocator; /* of a small file's memory */
};

/* Such a file is always read: to map it, and the page fault that follows, costs more. */
static inline bool tw_file_is_small(size_t size)
{
    return size <= 16 << 10;
}

/* Fails with TW_E_FILE unless it is a regular file that can be read.  A file that is made shorter
   while it is mapped ends the process with SIGBUS; tw_file_copy reads it instead. */
enum tw_status tw_file_map(struct tw_file *file, const struct tw_allocator *allocator,
                           const char *path, struct tw_fault *fault);
enum tw_status tw_file_copy(struct tw_file *file, const struct tw_allocator *allocator,
                            const char *path, struct tw_fault *fault);
/* The same of a file whose name another one may take meanwhile: mapped where a system allows that. */
enum tw_status tw_file_map_replaceable(struct tw_file *file,
                                       const struct tw_allocator *allocator, const char *path,
                                       struct tw_fault *fault);
void tw_file_unmap(struct tw_file *file);

#endif
