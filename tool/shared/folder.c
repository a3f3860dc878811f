/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder that is written beside its place and put there when it is whole. */
#include "shared/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"
#include "shared/interrupt.h"
#include "shared/output.h"

/* "path/name"; NULL: out of memory. */
static char *join(const char *path, const char *name)
{
    const size_t size = strlen(path) + strlen(name) + 2;
    char *joined = malloc(size);

    if (joined)
        (void)snprintf(joined, size, "%s/%s", path, name);
    return joined;
}

/* An interrupt takes it away again. */
static bool make(struct folder *folder)
{
    bool is_made;

    interrupt_hold();
    is_made = mkdtemp(folder->temporary) != NULL;
    if (is_made && !interrupt_removes(folder->temporary)) {
        (void)rmdir(folder->temporary);
        errno = ENOMEM;
        is_made = false;
    }
    interrupt_release();
    return is_made;
}

bool folder_open(struct folder *folder, const char *path)
{
    size_t size = strlen(path);

    *folder = (struct folder){ .count = 0 };
    while (size > 1 && tw_is_slash(path[size - 1]))
        size--;
    folder->path = strndup(path, size);
    folder->temporary = malloc(size + sizeof ".XXXXXX");
    if (!folder->path || !folder->temporary) {
        say("out of memory");
    } else if (access(folder->path, F_OK) == 0) {
        say("%s: is there already", folder->path);
    } else {
        (void)snprintf(folder->temporary, size + sizeof ".XXXXXX", "%s.XXXXXX", folder->path);
        if (make(folder))
            return true;
        say("%s: %s", folder->temporary, strerror(errno));
    }
    free(folder->path);
    free(folder->temporary);
    *folder = (struct folder){ .has_failed = true };
    return false;
}

static bool fail(struct folder *folder, const char *name)
{
    if (!folder->has_failed)
        say("%s/%s: %s", folder->path, name, strerror(errno));
    folder->has_failed = true;
    return false;
}

static FILE *file_of(struct folder *folder, const char *name)
{
    char *path;
    FILE *file;

    for (size_t i = 0; i < folder->count; i++)
        if (strcmp(folder->files[i].name, name) == 0)
            return folder->files[i].file;
    path = folder->count < FOLDER_FILES ? join(folder->temporary, name) : NULL;
    file = path && interrupt_removes(path) ? fopen(path, "wb") : NULL;
    if (!file) {
        free(path);
        return NULL;
    }
    folder->files[folder->count].path = path;
    folder->files[folder->count].name = path + strlen(folder->temporary) + 1;
    folder->files[folder->count++].file = file;
    return file;
}

bool folder_write(void *context, const char *name, const void *bytes, size_t size)
{
    struct folder *folder = context;
    FILE *file = folder->has_failed ? NULL : file_of(folder, name);

    if (!file || (size && fwrite(bytes, 1, size, file) != size))
        return fail(folder, name);
    return true;
}

/* Nothing of it is an interrupt's any more. */
static void keep_all(const struct folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        interrupt_keeps(folder->files[i].path);
    interrupt_keeps(folder->temporary);
}

static void remove_all(struct folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        (void)remove(folder->files[i].path);
    (void)rmdir(folder->temporary);
}

bool folder_close(struct folder *folder, bool keep)
{
    bool is_good = !folder->has_failed;

    if (!folder->path)
        return false;
    for (size_t i = 0; i < folder->count; i++)
        if (fclose(folder->files[i].file) != 0)
            is_good = fail(folder, folder->files[i].name);
    interrupt_hold();
    if (keep && is_good) {
        (void)chmod(folder->temporary, 0755);
        if (rename(folder->temporary, folder->path) != 0)
            is_good = fail(folder, "");
    }
    if (!keep || !is_good)
        remove_all(folder);
    keep_all(folder);
    interrupt_release();
    for (size_t i = 0; i < folder->count; i++)
        free(folder->files[i].path);
    free(folder->path);
    free(folder->temporary);
    *folder = (struct folder){ .count = 0 };
    return is_good;
}

enum tw_status folder_snapshot(const char *path, const struct tw_snapshot *snapshot,
                               struct tw_fault *fault)
{
    enum tw_status status;

    interrupt_hold();
    status = tw_snapshot_write(path, snapshot, fault);
    interrupt_release();
    return status;
}
