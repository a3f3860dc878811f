/* SPDX-License-Identifier: BSD-2-Clause */
/* Files as target memory: mapped, or copied where the caller wants that. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "image/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/platform.h"
#include "image/store.h"

static const uint8_t nothing[1];

/* Reads what is there by now; less than was expected is a fault. */
static bool read_all(int fd, uint8_t *to, size_t size)
{
    while (size) {
        const ssize_t got = read(fd, to, (unsigned)(size < (1u << 30) ? size : 1u << 30));

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = ENODATA;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

/* Memory that tw_file_unmap gives back: the file's own pages, or others with the same bytes. */
static void *get_bytes(int fd, size_t size, bool copies)
{
    void *map = mmap(NULL, size, copies ? PROT_READ | PROT_WRITE : PROT_READ,
                     MAP_PRIVATE | (copies ? MAP_ANONYMOUS : 0), copies ? -1 : fd, 0);

    if (map == MAP_FAILED || !copies || read_all(fd, map, size))
        return map;
    (void)munmap(map, size);
    return MAP_FAILED;
}

static enum tw_status open_file(struct tw_file *file, const char *path, bool copies,
                                struct tw_fault *fault)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat about;
    void *map;
    int why;

    *file = (struct tw_file){ nothing, 0 };
    if (fd < 0)
        return tw_fail(fault, TW_E_FILE, "%s: %s", path, strerror(errno));
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(fd);
        return tw_fail(fault, TW_E_FILE, "%s: not a file", path);
    }
    if (about.st_size == 0 || (uintmax_t)about.st_size > SIZE_MAX) {
        (void)close(fd);
        return about.st_size ? tw_fail(fault, TW_E_FILE, "%s: too large", path) : TW_OK;
    }
    map = get_bytes(fd, (size_t)about.st_size, copies);
    why = errno;
    (void)close(fd);
    if (map == MAP_FAILED)
        return tw_fail(fault, TW_E_FILE, "%s: cannot be %s: %s", path,
                       copies ? "read" : "mapped", strerror(why));
    *file = (struct tw_file){ map, (size_t)about.st_size };
    return TW_OK;
}

enum tw_status tw_file_map(struct tw_file *file, const char *path, struct tw_fault *fault)
{
    return open_file(file, path, false, fault);
}

enum tw_status tw_file_copy(struct tw_file *file, const char *path, struct tw_fault *fault)
{
    return open_file(file, path, TW_MAPPED_CAN_SHRINK, fault);
}

enum tw_status tw_file_map_replaceable(struct tw_file *file, const char *path,
                                       struct tw_fault *fault)
{
    return open_file(file, path, !TW_MAPPED_CAN_GO, fault);
}

void tw_file_unmap(struct tw_file *file)
{
    void *map;

    if (file->size) {
        memcpy(&map, &file->bytes, sizeof map); /* munmap takes no const */
        (void)munmap(map, file->size);
    }
    *file = (struct tw_file){ nothing, 0 };
}

void tw_image_copy_files(struct tw_image *image, bool copies)
{
    image->copies = copies;
}

enum tw_status tw_image_back(struct tw_image *image, struct backing **backing, const char *path)
{
    struct backing *made;
    enum tw_status status;

    for (*backing = image->backings; *backing; *backing = (*backing)->next)
        if (strcmp((*backing)->path, path) == 0)
            return TW_OK;
    made = tw_take(image->allocator, sizeof *made);
    if (made)
        made->path = tw_copy_text(image->allocator, path);
    if (!made || !made->path) {
        tw_give(image->allocator, made);
        return tw_fail(&image->fault, TW_E_MEMORY, "no memory for %s", path);
    }
    status = image->copies ? tw_file_copy(&made->file, path, &image->fault)
                           : tw_file_map(&made->file, path, &image->fault);
    if (status != TW_OK) {
        tw_give(image->allocator, made->path);
        tw_give(image->allocator, made);
        return status;
    }
    made->next = image->backings;
    image->backings = made;
    *backing = made;
    return TW_OK;
}

void tw_image_settle(struct tw_image *image, struct backing *backing)
{
    struct backing **link = &image->backings;

    if (backing->uses)
        return;
    while (*link && *link != backing)
        link = &(*link)->next;
    if (*link)
        *link = backing->next;
    tw_file_unmap(&backing->file);
    tw_give(image->allocator, backing->path);
    tw_give(image->allocator, backing);
}

enum tw_status tw_image_add_file(struct tw_image *image, const struct tw_region *region,
                                 const char *path, uint64_t offset)
{
    struct tw_region about;
    struct backing *backing;
    enum tw_status status;

    TW_TRY(tw_image_region_from(image, &about, region, path));
    TW_TRY(tw_image_back(image, &backing, path));
    if (offset > backing->file.size || about.length > backing->file.size - offset) {
        status = tw_fail(&image->fault, TW_E_FILE,
                         "%s: %" PRIu64 " bytes from offset %" PRIu64
                         " were asked for, but it has %zu",
                         path, about.length, offset, backing->file.size);
    } else {
        if (!about.length)
            about.length = backing->file.size - offset;
        status = tw_image_take(image, &about, backing->file.bytes + offset, backing);
    }
    tw_image_settle(image, backing);
    return status;
}
