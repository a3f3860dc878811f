/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that hold program memory.  A path is open once in the whole process, and its ranges are those
   of who opened it first. */
#ifndef OPENCSD_FILES_H
#define OPENCSD_FILES_H

#include <stddef.h>

#include "opencsd/c_api/opencsd_c_api.h"

struct oc_range {
    ocsd_vaddr_t first, last;
    uint64_t offset; /* in the file */
};

struct oc_file {
    struct oc_file *next;
    size_t users;
    int descriptor;
    char *path;
    struct oc_range *ranges;
    size_t range_count;
};

/* One region with offset and size 0: the whole file. */
ocsd_err_t oc_file_open(struct oc_file **file, const char *path,
                        const ocsd_file_mem_region_t *regions, size_t count);
void oc_file_release(struct oc_file *file);
uint32_t oc_file_read(const struct oc_file *file, uint8_t *out, uint64_t offset, uint32_t size);

#endif
