/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that say themselves of what kind they are. */
#include <string.h>

#include "base/fault.h"
#include "image/store.h"

/* Whether the text begins like a segment list: comments, then "xlen". */
static bool is_segment_list(const struct tw_file *file)
{
    const char *at = (const char *)file->bytes, *end = at + file->size;

    while (at != end && (*at == '#' || *at == '\n' || *at == '\r' || *at == ' ')) {
        if (*at == '#')
            while (at != end && *at != '\n')
                at++;
        if (at != end)
            at++;
    }
    return end - at > 4 && memcmp(at, "xlen", 4) == 0 && (at[4] == ' ' || at[4] == '\t');
}

enum tw_status tw_image_add_any(struct tw_image *image, const struct tw_region *region,
                                const char *path)
{
    struct tw_file file;
    bool is_elf, is_list;

    TW_TRY(image->copies ? tw_file_copy(&file, image->allocator, path, &image->fault)
                         : tw_file_map(&file, image->allocator, path, &image->fault));
    is_elf = file.size >= 4 && memcmp(file.bytes, "\177ELF", 4) == 0;
    is_list = !is_elf && is_segment_list(&file);
    tw_file_unmap(&file);
    if (is_elf)
        return tw_image_add_elf(image, region, path);
    return is_list ? tw_image_add_segments(image, region, path)
                   : tw_image_add_file(image, region, path, 0);
}

unsigned tw_image_xlen(const struct tw_image *image)
{
    return image->xlen;
}
