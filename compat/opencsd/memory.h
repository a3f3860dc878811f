/* SPDX-License-Identifier: BSD-2-Clause */
/* The program memory of a decode tree: files, buffers and callbacks by address and memory space. */
#ifndef OPENCSD_MEMORY_H
#define OPENCSD_MEMORY_H

#include <stdbool.h>

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/log.h"

struct oc_accessor;

struct oc_memory {
    bool is_used; /* something was added once: until then decoders have no memory at all */
    bool is_uncached;
    uint64_t generation; /* moves on with every change */
    uint64_t asked;      /* how often callbacks were */
    struct oc_accessor *first;
    struct oc_source log;
};

void oc_memory_free(struct oc_memory *memory);

ocsd_err_t oc_memory_add_file(struct oc_memory *memory, const ocsd_file_mem_region_t *regions,
                              int count, ocsd_mem_space_acc_t space, const char *path);
ocsd_err_t oc_memory_add_buffer(struct oc_memory *memory, ocsd_vaddr_t address,
                                ocsd_mem_space_acc_t space, const uint8_t *bytes,
                                uint32_t size);

/* A range of addresses that a function is asked for: one of the two. */
struct oc_callback {
    ocsd_vaddr_t first, last;
    Fn_MemAcc_CB read;
    Fn_MemAccID_CB read_by_id;
    const void *context;
};
ocsd_err_t oc_memory_add_callback(struct oc_memory *memory, const struct oc_callback *callback,
                                  ocsd_mem_space_acc_t space);
ocsd_err_t oc_memory_remove(struct oc_memory *memory, ocsd_vaddr_t address,
                            ocsd_mem_space_acc_t space);
ocsd_err_t oc_memory_set_cache(struct oc_memory *memory, bool is_on, unsigned page_size,
                               int pages);
void oc_memory_log(const struct oc_memory *memory);

/* From where it is read: a memory space as Trackway counts them (enum tw_space), and for whom. */
struct oc_reader {
    uint32_t space;
    uint8_t id;
};
/* Fills at most `size` bytes from `address` on, returns how many. */
uint32_t oc_memory_read(struct oc_memory *memory, const struct oc_reader *reader,
                        ocsd_vaddr_t address, uint32_t size, uint8_t *out);

#endif
