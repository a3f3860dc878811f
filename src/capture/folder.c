/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a folder beside its place and moves it there at the end. */
#define _XOPEN_SOURCE 700
#include "capture/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/platform.h"

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)where;
    return kind == FTW_DP ? rmdir(path) : remove(path);
}

/* Links are removed, not followed. */
static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

enum tw_status tw_folder_create(struct tw_folder *folder, const char *path,
                                struct tw_fault *fault)
{
    size_t size = strlen(path);

    *folder = (struct tw_folder){ .fault = fault };
    while (size > 1 && tw_is_slash(path[size - 1]))
        size--;
    tw_text_add_size(&folder->path, path, size);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        tw_text_clear(&folder->temporary);
        tw_text_format(&folder->temporary, "%.*s.new-%ld-%u", (int)size, path, (long)getpid(),
                       attempt);
        if (folder->path.failed || folder->temporary.failed) {
            tw_text_clear(&folder->temporary);
            return tw_fail(fault, TW_E_MEMORY, "no memory for %s", path);
        }
        if (mkdir(folder->temporary.chars, 0777) == 0)
            return TW_OK;
        if (errno != EEXIST)
            break;
    }
    (void)tw_fail(fault, TW_E_FILE, "%s: %s", folder->temporary.chars, strerror(errno));
    tw_text_clear(&folder->temporary);
    return TW_E_FILE;
}

enum tw_status tw_folder_write(struct tw_folder *folder, const char *name, const void *bytes,
                               size_t size)
{
    struct tw_text path = { 0 };
    enum tw_status status = TW_OK;
    FILE *file;
    int fd;

    tw_text_format(&path, "%s/%s", folder->temporary.chars, name);
    if (!path.failed)
        tw_text_add_size(&folder->files, path.chars, path.size + 1);
    if (path.failed || folder->files.failed) {
        tw_text_free(&path);
        return tw_fail(folder->fault, TW_E_MEMORY, "no memory for %s", name);
    }
    fd = open(path.chars, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file) {
        status = tw_fail(folder->fault, TW_E_FILE, "%s: %s", path.chars, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
    } else {
        const bool is_written = size == 0 || fwrite(bytes, 1, size, file) == size;

        if (fclose(file) != 0 || !is_written)
            status = tw_fail(folder->fault, TW_E_FILE, "%s: cannot be written: %s", path.chars,
                             strerror(errno));
    }
    tw_text_free(&path);
    return status;
}

/* Whether the folder at `path` holds a file of that name. */
static bool holds(const char *path, const char *name)
{
    struct tw_text full = { 0 };
    struct stat about;
    bool is_there;

    tw_text_format(&full, "%s/%s", path, name);
    is_there = !full.failed && lstat(full.chars, &about) == 0 && S_ISREG(about.st_mode);
    tw_text_free(&full);
    return is_there;
}

enum tw_status tw_folder_commit(struct tw_folder *folder, bool overwrite, const char *mark)
{
    const char *path = folder->path.chars;
    struct tw_text old = { 0 };
    enum tw_status status = TW_OK;
    struct stat about;

    if (lstat(path, &about) == 0) {
        if (!overwrite)
            return tw_fail(folder->fault, TW_E_FILE, "%s: exists already; --force replaces it",
                           path);
        if (!S_ISDIR(about.st_mode) || !holds(path, mark))
            return tw_fail(folder->fault, TW_E_FILE,
                           "%s: exists already and is no snapshot; it is left alone", path);
        tw_text_format(&old, "%s-old", folder->temporary.chars);
        if (old.failed)
            return tw_fail(folder->fault, TW_E_MEMORY, "no memory for %s", path);
        if (rename(path, old.chars) != 0)
            status = tw_fail(folder->fault, TW_E_FILE, "%s: cannot be replaced: %s", path,
                             strerror(errno));
    }
    if (status == TW_OK && rename(folder->temporary.chars, path) != 0) {
        status = tw_fail(folder->fault, TW_E_FILE, "%s: %s", path, strerror(errno));
        if (old.size)
            (void)rename(old.chars, path);
    } else if (status == TW_OK) {
        tw_text_clear(&folder->temporary);
        if (old.size)
            remove_tree(old.chars);
    }
    tw_text_free(&old);
    return status;
}

void tw_folder_close(struct tw_folder *folder)
{
    const struct tw_text *files = &folder->files;

    if (folder->temporary.size) {
        for (size_t at = 0; at < files->size; at += strlen(files->chars + at) + 1)
            (void)remove(files->chars + at);
        (void)rmdir(folder->temporary.chars);
    }
    tw_text_free(&folder->files);
    tw_text_free(&folder->temporary);
    tw_text_free(&folder->path);
}
