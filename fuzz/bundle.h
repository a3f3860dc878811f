/* SPDX-License-Identifier: BSD-2-Clause */
/* An input that is several files: lines that say how they are used, then each file behind a line "@@ NAME".  They are
   written to a folder of this process, since what they hold is opened by path: ELF files, indexes, folders. */
#ifndef FUZZ_BUNDLE_H
#define FUZZ_BUNDLE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUNDLE_FILES = 16, BUNDLE_NAME = 64, BUNDLE_PATH = 256, BUNDLE_LINES = 32 };

struct bundle {
    const char *folder;
    char names[BUNDLE_FILES][BUNDLE_NAME];
    size_t count;
    char *text;                      /* of all lines before the first file ... */
    const char *lines[BUNDLE_LINES]; /* ... each ended by a zero */
    size_t line_count;
};

static inline void require(bool is_true)
{
    if (!is_true)
        abort();
}

static char bundle_folder[BUNDLE_PATH];

static inline void bundle_remove_folder(void)
{
    (void)rmdir(bundle_folder);
}

/* In memory where the system has a place for that. */
static inline const char *bundle_make_folder(void)
{
    if (!bundle_folder[0]) {
        (void)strcpy(bundle_folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX"
                                                                  : "/tmp/fuzz-XXXXXX");
        require(mkdtemp(bundle_folder) != NULL);
        (void)atexit(bundle_remove_folder);
    }
    return bundle_folder;
}

/* Letters, digits, '.', '_', '-', and slashes inside: nothing that leads out of the folder. */
static inline bool bundle_is_name(const char *name, size_t size)
{
    if (size == 0 || size >= BUNDLE_NAME || name[0] == '/' || name[0] == '.')
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.' &&
            c != '/')
            return false;
        if ((c == '.' || c == '/') && i + 1 < size &&
            (name[i + 1] == '.' || name[i + 1] == '/'))
            return false;
    }
    return name[size - 1] != '/';
}

static inline void bundle_path(char *path, const struct bundle *bundle, const char *name)
{
    require(snprintf(path, BUNDLE_PATH, "%s/%s", bundle->folder, name) < BUNDLE_PATH);
}

static inline void bundle_write(struct bundle *bundle, const char *name, size_t name_size,
                                const char *bytes, size_t size)
{
    char path[BUNDLE_PATH];
    FILE *file;

    if (bundle->count == BUNDLE_FILES || !bundle_is_name(name, name_size))
        return;
    memcpy(bundle->names[bundle->count], name, name_size);
    bundle->names[bundle->count][name_size] = 0;
    bundle_path(path, bundle, bundle->names[bundle->count]);
    for (char *slash = path + strlen(bundle->folder) + 1; (slash = strchr(slash, '/'));
         slash++) {
        *slash = 0;
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "wb");
    if (!file)
        return; /* its name is that of a folder */
    bundle->count++;
    require(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* The end of the line that begins at `at`: behind its line feed, or `end`. */
static inline const char *bundle_line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));

    return found ? found + 1 : end;
}

static inline bool bundle_is_head(const char *at, const char *end)
{
    return end - at > 3 && memcmp(at, "@@ ", 3) == 0;
}

/* The lines alone. */
static inline void bundle_read(struct bundle *bundle, const uint8_t *data, size_t size)
{
    memset(bundle, 0, sizeof *bundle);
    bundle->text = calloc(1, size + 1);
    require(bundle->text != NULL);
    memcpy(bundle->text, data, size);
    for (char *line = bundle->text; line && *line && bundle->line_count < BUNDLE_LINES;) {
        char *feed = strchr(line, '\n');

        bundle->lines[bundle->line_count++] = line;
        if (feed)
            *feed++ = 0;
        line = feed;
    }
}

static inline void bundle_open(struct bundle *bundle, const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;

    while (at != end && !bundle_is_head(at, end))
        at = bundle_line_end(at, end);
    bundle_read(bundle, data, (size_t)(at - (const char *)data));
    bundle->folder = bundle_make_folder();
    while (at != end) {
        const char *name = at + 3, *name_end = bundle_line_end(at, end), *bytes = name_end;

        for (at = bytes; at != end && !bundle_is_head(at, end);)
            at = bundle_line_end(at, end);
        bundle_write(bundle, name, (size_t)(name_end - name) - (name_end[-1] == '\n'), bytes,
                     (size_t)(at - bytes) - (at != end && at != bytes));
    }
}

/* What a line of this word says; NULL: there is none.  *from: where to look on. */
static inline const char *bundle_says(const struct bundle *bundle, const char *word,
                                      size_t *from)
{
    const size_t length = strlen(word);

    for (; *from < bundle->line_count; (*from)++)
        if (strncmp(bundle->lines[*from], word, length) == 0 &&
            bundle->lines[*from][length] == ' ')
            return bundle->lines[(*from)++] + length + 1;
    return NULL;
}

static inline const char *bundle_word(const struct bundle *bundle, const char *word)
{
    size_t from = 0;

    return bundle_says(bundle, word, &from);
}

static inline unsigned long bundle_number(const struct bundle *bundle, const char *word)
{
    const char *value = bundle_word(bundle, word);

    return value ? strtoul(value, NULL, 0) : 0;
}

static inline void bundle_remove(const struct bundle *bundle, const char *name)
{
    char path[BUNDLE_PATH];

    bundle_path(path, bundle, name);
    (void)unlink(path);
    for (char *slash = strrchr(path, '/'); slash > path + strlen(bundle->folder);
         slash = strrchr(path, '/')) {
        *slash = 0;
        (void)rmdir(path);
    }
}

/* A folder that was written, and the files in it. */
static inline void bundle_remove_tree(const struct bundle *bundle, const char *name)
{
    char path[BUNDLE_PATH], file[2 * BUNDLE_PATH];
    struct dirent *entry;
    DIR *folder;

    bundle_path(path, bundle, name);
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        (void)unlink(file);
    }
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}

static inline void bundle_close(struct bundle *bundle)
{
    for (size_t i = bundle->count; i-- > 0;)
        bundle_remove(bundle, bundle->names[i]);
    free(bundle->text);
}

#endif
