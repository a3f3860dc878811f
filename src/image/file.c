/* SPDX-License-Identifier: BSD-2-Clause */
/* Files as target memory: mapped, or copied where they are small or the caller wants that. */
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

enum how { MAPPED, COPIED };

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

/* Memory that give_bytes gives back: the file's own pages, or other memory with the same bytes. */
static uint8_t *get_bytes(const struct tw_allocator *allocator, int fd, size_t size,
                          enum how how)
{
    uint8_t *bytes;
    void *map;

    if (tw_file_is_small(size)) {
        bytes = tw_take_raw(allocator, size);
        if (bytes && read_all(fd, bytes, size))
            return bytes;
        tw_give(allocator, bytes);
        return NULL;
    }
    map = mmap(NULL, size, how == COPIED ? PROT_READ | PROT_WRITE : PROT_READ,
               MAP_PRIVATE | (how == COPIED ? MAP_ANONYMOUS : 0), how == COPIED ? -1 : fd, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (how == MAPPED || read_all(fd, map, size))
        return map;
    (void)munmap(map, size);
    return NULL;
}

static enum tw_status open_file(struct tw_file *file, const struct tw_allocator *allocator,
                                const char *path, enum how how, struct tw_fault *fault)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const uint8_t *bytes;
    struct stat about;
    int why;

    *file = (struct tw_file){ nothing, 0, allocator };
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
    errno = ENOMEM;
    bytes = get_bytes(allocator, fd, (size_t)about.st_size, how);
    why = errno;
    (void)close(fd);
    if (!bytes)
        return tw_fail(
            fault, why == ENOMEM ? TW_E_MEMORY : TW_E_FILE, "%s: cannot be %s: %s", path,
            how == COPIED || tw_file_is_small((size_t)about.st_size) ? "read" : "mapped",
            strerror(why));
    *file = (struct tw_file){ bytes, (size_t)about.st_size, allocator };
    return TW_OK;
}

enum tw_status tw_file_map(struct tw_file *file, const struct tw_allocator *allocator,
                           const char *path, struct tw_fault *fault)
{
    return open_file(file, allocator, path, MAPPED, fault);
}

enum tw_status tw_file_copy(struct tw_file *file, const struct tw_allocator *allocator,
                            const char *path, struct tw_fault *fault)
{
    return open_file(file, allocator, path, TW_MAPPED_CAN_SHRINK ? COPIED : MAPPED, fault);
}

enum tw_status tw_file_map_replaceable(struct tw_file *file,
                                       const struct tw_allocator *allocator, const char *path,
                                       struct tw_fault *fault)
{
    return open_file(file, allocator, path, TW_MAPPED_CAN_GO ? MAPPED : COPIED, fault);
}

void tw_file_unmap(struct tw_file *file)
{
    void *bytes;

    if (file->size) {
        memcpy(&bytes, &file->bytes, sizeof bytes); /* what frees it takes no const */
        if (tw_file_is_small(file->size))
            tw_give(file->allocator, bytes);
        else
            (void)munmap(bytes, file->size);
    }
    *file = (struct tw_file){ nothing, 0, NULL };
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
    status = image->copies ? tw_file_copy(&made->file, image->allocator, path, &image->fault)
                           : tw_file_map(&made->file, image->allocator, path, &image->fault);
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
