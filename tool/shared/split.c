/* SPDX-License-Identifier: BSD-2-Clause */
/* Files by trace ID: written beside their place, put there at the end. */
#include "shared/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

static bool make_folder(const char *path, bool *is_new)
{
    struct stat about;

    *is_new = mkdir(path, 0777) == 0;
    if (*is_new || (stat(path, &about) == 0 && S_ISDIR(about.st_mode)))
        return true;
    say("cannot make the folder %s: %s", path, strerror(errno));
    return false;
}

bool split_open(struct split *split, const char *folder, const char *sub)
{
    const size_t size = strlen(folder) + (sub ? strlen(sub) : 0) + 2;
    bool is_new;
    char *at;

    *split = (struct split){ .folder = malloc(size) };
    if (!split->folder) {
        say("out of memory");
        return false;
    }
    at = split->folder + snprintf(split->folder, size, "%s", folder);
    if (make_folder(split->folder, &is_new)) {
        split->is_new = is_new && !sub;
        if (!sub)
            return true;
        (void)snprintf(at, size - (size_t)(at - split->folder), "/%s", sub);
        /* A buffer's name is any text: it must not lead elsewhere. */
        for (char *c = at + 1; *c; c++)
            if (tw_is_slash(*c) || (*c == '.' && c == at + 1))
                *c = '_';
        if (make_folder(split->folder, &split->is_new))
            return true;
    }
    free(split->folder);
    return false;
}

static struct output *open_id(const char *folder, uint8_t id)
{
    const size_t size = strlen(folder) + 16;
    char *path = malloc(size);
    struct output *file = malloc(sizeof *file);

    if (path && file) {
        if (id == TW_ID_UNKNOWN)
            (void)snprintf(path, size, "%s/none.bin", folder);
        else
            (void)snprintf(path, size, "%s/0x%02x.bin", folder, id);
    }
    if (!path || !file)
        say("out of memory");
    if (!path || !file || !output_open(file, path, COLOR_NEVER)) {
        free(file);
        file = NULL;
    }
    free(path);
    return file;
}

bool split_write(struct split *split, uint8_t id, const uint8_t *bytes, size_t size)
{
    struct output **file = &split->files[id];

    if (!*file)
        *file = open_id(split->folder, id);
    if (!*file)
        return false;
    output_bytes(*file, bytes, size);
    return !output_is_over(*file);
}

bool split_close(struct split *split, bool keep)
{
    bool is_good = true;

    for (size_t id = 0; id < TW_ID_COUNT; id++) {
        if (!split->files[id])
            continue;
        is_good &= output_close(split->files[id], keep);
        free(split->files[id]);
    }
    if (split->is_new && (!keep || !is_good))
        (void)rmdir(split->folder); /* unless a file of it is whole */
    free(split->folder);
    return is_good;
}
