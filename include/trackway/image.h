/* SPDX-License-Identifier: BSD-2-Clause */
/* Target memory: the program's bytes by address, address space and time.  Stable. */
#ifndef TRACKWAY_IMAGE_H
#define TRACKWAY_IMAGE_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_image;

/* From where and when the memory is looked at. */
struct tw_view {
    uint32_t space;   /* one bit of enum tw_space, or TW_SPACE_ANY */
    uint32_t context; /* address space of a process or guest; 0: none in particular */
    uint64_t time;    /* in whatever unit the regions use */
};

struct tw_region {
    size_t size; /* sizeof(struct tw_region) */
    uint64_t address;
    uint64_t length;  /* bytes of target memory */
    uint32_t spaces;  /* bits of enum tw_space that see it; 0: all */
    uint32_t context; /* only in this address space; 0: in all */
    uint64_t from;    /* visible at times from <= t < until; both 0: always */
    uint64_t until;
    const char *name; /* for messages; copied */
};

/* Reads target memory: fills at most `size` bytes, returns how many; 0: not accessible. */
typedef size_t tw_memory_fn(void *context, uint8_t *out, const struct tw_view *view,
                            uint64_t address, size_t size);

/* Tells in which address space, and at what time, a source's code is to be looked for: sets
   view->context and view->time.  `element` is a PE_CONTEXT or TIMESTAMP that has just come; NULL:
   nothing is known yet. */
typedef void tw_view_fn(void *context, struct tw_view *view, const struct tw_element *element);

TW_API TW_MUST_USE enum tw_status tw_image_new(struct tw_image **image,
                                               const struct tw_allocator *allocator,
                                               struct tw_fault *fault);
TW_API void tw_image_free(struct tw_image *image);
TW_API const char *tw_image_fault(const struct tw_image *image);

/* The caller's bytes, borrowed until the image is freed or the region removed. */
TW_API TW_MUST_USE enum tw_status
tw_image_add(struct tw_image *image, const struct tw_region *region, const uint8_t *bytes);
/* A flat file: region->length bytes from file offset `offset`; length 0: to the end. */
TW_API TW_MUST_USE enum tw_status tw_image_add_file(struct tw_image *image,
                                                    const struct tw_region *region,
                                                    const char *path, uint64_t offset);
/* The loadable segments of an ELF file, `region->address` added to their addresses. */
TW_API TW_MUST_USE enum tw_status
tw_image_add_elf(struct tw_image *image, const struct tw_region *region, const char *path);
/* A segment list (text beginning with `xlen`, bytes in the .bin beside it). */
TW_API TW_MUST_USE enum tw_status
tw_image_add_segments(struct tw_image *image, const struct tw_region *region, const char *path);
/* A file of whichever kind it is: ELF, a segment list, or else flat. */
TW_API TW_MUST_USE enum tw_status
tw_image_add_any(struct tw_image *image, const struct tw_region *region, const char *path);
/* From now on files are read into memory instead of mapped: it costs memory and time, but a file that someone makes
   shorter meanwhile does not end the process (with SIGBUS). */
TW_API void tw_image_copy_files(struct tw_image *image, bool copies);
/* 32 or 64, as the first RISC-V program says that was added (ELF or a segment list); 0: there is none. */
TW_API unsigned tw_image_xlen(const struct tw_image *image);
/* Whatever the regions do not hold is asked of `read`: from an address that is wanted to the end of its
   page, and once for what lies before in the page when that is wanted; answers are cached. */
TW_API TW_MUST_USE enum tw_status tw_image_set_callback(struct tw_image *image,
                                                        tw_memory_fn *read, void *context);
/* Removes every region that begins at this address in this context (0: in any). */
TW_API void tw_image_remove(struct tw_image *image, uint64_t address, uint32_t context);

/* Copies what is readable from `address` on, at most `size` bytes; returns how many. */
TW_API size_t tw_image_read(struct tw_image *image, uint8_t *out, const struct tw_view *view,
                            uint64_t address, size_t size);

/* From where a core looks at memory after this element, a PE_CONTEXT; any other element and NULL:
   from anywhere. */
TW_API struct tw_view tw_element_view(const struct tw_element *context);

/* For listings: the regions in the order added. */
TW_API size_t tw_image_region_count(const struct tw_image *image);
TW_API const struct tw_region *tw_image_region(const struct tw_image *image, size_t number);

#ifdef __cplusplus
}
#endif

#endif
