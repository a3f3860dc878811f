/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of what was read of a capture: mapped files give it back. */
#define _DEFAULT_SOURCE /* madvise; where it is not to be had, memory is not given back */

#include <string.h>

#include "base/platform.h"
#include "capture/capture.h"
#include "image/file.h"

/* The mapped file that these bytes lie in; NULL: they are not of a mapped file. */
static const struct capture_file *find_file(const struct tw_capture *capture,
                                            const uint8_t *bytes)
{
    if (capture->files.load != tw_files_on_disk.load || capture->options.copies)
        return NULL;
    for (size_t i = 0; i < capture->loaded_count; i++) {
        const struct capture_file *file = capture->loaded[i];

        if (file->bytes && !tw_file_is_small(file->size) &&
            (uintptr_t)bytes >= (uintptr_t)file->bytes &&
            (uintptr_t)bytes - (uintptr_t)file->bytes < file->size)
            return file;
    }
    return NULL;
}

static void give_back(const uint8_t *bytes, size_t size)
{
#ifdef MADV_DONTNEED
    void *start;

    memcpy(&start, &bytes, sizeof start); /* madvise takes no const */
    (void)madvise(start, size, MADV_DONTNEED);
#else
    (void)bytes;
    (void)size;
#endif
}

void tw_capture_forget(const struct tw_capture *capture, size_t buffer, uint64_t offset,
                       uint64_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    while (size) {
        const struct capture_file *file;
        const uint8_t *bytes;
        uintptr_t first, end;
        size_t together;

        if (tw_capture_read(capture, &bytes, &together, buffer, offset) != TW_OK)
            return;
        if (together > size)
            together = (size_t)size;
        file = find_file(capture, bytes);
        /* The page that holds the first byte too: what is before it was given up before.  Only
           whole pages of the file, which come again from there if they are asked for. */
        first = (uintptr_t)bytes / page * page;
        end = ((uintptr_t)bytes + together) / page * page;
        if (file && first >= (uintptr_t)file->bytes && first < end)
            give_back(bytes - ((uintptr_t)bytes - first), end - first);
        offset += together;
        size -= together;
    }
}
