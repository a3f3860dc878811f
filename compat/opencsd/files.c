/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that hold program memory. */
#include "opencsd/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct oc_file *files; /* those that are open */

static bool lies_in(const struct oc_file *file, ocsd_vaddr_t address)
{
    for (size_t i = 0; i < file->range_count; i++)
        if (address >= file->ranges[i].first && address <= file->ranges[i].last)
            return true;
    return false;
}

/* False: it is not in the file, or overlaps what there is. */
static bool add_range(struct oc_file *file, const ocsd_file_mem_region_t *region,
                      uint64_t file_size)
{
    const bool is_whole = region->file_offset == 0 && region->region_size == 0;
    const uint64_t size = is_whole ? file_size : region->region_size;
    const ocsd_vaddr_t first = region->start_address;

    if (file_size == 0 || region->file_offset > file_size ||
        size > file_size - region->file_offset)
        return false;
    if (lies_in(file, first) || lies_in(file, first + size - 1))
        return false;
    /* There is one range from the beginning of the file. */
    for (size_t i = 0; i < file->range_count && region->file_offset == 0; i++)
        if (file->ranges[i].offset == 0)
            return false;
    file->ranges[file->range_count++] =
        (struct oc_range){ first, first + size - 1, region->file_offset };
    return true;
}

static void free_file(struct oc_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    free(file->ranges);
    free(file->path);
    free(file);
}

static ocsd_err_t make(struct oc_file **made, const char *path,
                       const ocsd_file_mem_region_t *regions, size_t count)
{
    struct oc_file *file = calloc(1, sizeof *file);
    struct stat about;

    if (!file)
        return OCSD_ERR_MEM;
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    file->path = malloc(strlen(path) + 1);
    file->ranges = calloc(count, sizeof *file->ranges);
    if (!file->path || !file->ranges) {
        free_file(file);
        return OCSD_ERR_MEM;
    }
    memcpy(file->path, path, strlen(path) + 1);
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0 ||
        !add_range(file, &regions[0], (uint64_t)about.st_size & ~UINT64_C(1))) {
        free_file(file);
        return OCSD_ERR_NOT_INIT; /* not FILE_NOT_FOUND: so it has always been */
    }
    for (size_t i = 1; i < count; i++) /* those that do not fit are left out */
        (void)add_range(file, &regions[i], (uint64_t)about.st_size & ~UINT64_C(1));
    *made = file;
    return OCSD_OK;
}

static struct oc_file *find(const char *path)
{
    for (struct oc_file *file = files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}

static bool begins_at(const struct oc_file *file, ocsd_vaddr_t address)
{
    for (size_t i = 0; i < file->range_count; i++)
        if (file->ranges[i].first == address)
            return true;
    return false;
}

ocsd_err_t oc_file_open(struct oc_file **file, const char *path,
                        const ocsd_file_mem_region_t *regions, size_t count)
{
    ocsd_err_t result = OCSD_OK;

    (void)pthread_mutex_lock(&lock);
    *file = find(path);
    if (!*file) {
        result = make(file, path, regions, count);
        if (result == OCSD_OK) {
            (*file)->next = files;
            files = *file;
        }
    } else if (!begins_at(*file, regions[0].start_address)) {
        result = OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE;
    }
    if (result == OCSD_OK)
        (*file)->users++;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

void oc_file_release(struct oc_file *file)
{
    (void)pthread_mutex_lock(&lock);
    if (--file->users == 0) {
        struct oc_file **at = &files;

        while (*at != file)
            at = &(*at)->next;
        *at = file->next;
        free_file(file);
    }
    (void)pthread_mutex_unlock(&lock);
}

uint32_t oc_file_read(const struct oc_file *file, uint8_t *out, uint64_t offset, uint32_t size)
{
    uint32_t done = 0;

    while (done < size) {
        const ssize_t got =
            pread(file->descriptor, out + done, size - done, (off_t)(offset + done));

        if (got <= 0)
            break;
        done += (uint32_t)got;
    }
    return done;
}
