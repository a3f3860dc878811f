/* SPDX-License-Identifier: BSD-2-Clause */
/* Source files by the names that compilers wrote. */
#include "shared/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 64 << 20 }; /* no source is larger */

struct source_file {
    struct source_file *next;
    char *name;
    char *bytes; /* NULL: it is not there */
    size_t size;
    size_t *starts; /* of each line; one more at the end */
    uint32_t count;
};

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long end = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        end = ftell(file);
    if (end >= 0 && end <= SIZE_MOST && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)end + 1);
    if (bytes)
        *size = fread(bytes, 1, (size_t)end, file);
    if (file)
        (void)fclose(file);
    return bytes;
}

/* ROOT/PATH, then ROOT/ and fewer and fewer of its folders. */
static char *read_below(const char *root, const char *name, size_t *size)
{
    char path[4096];

    while (name) {
        const char *slash;
        char *bytes;

        while (*name == '/')
            name++;
        (void)snprintf(path, sizeof path, "%s/%s", root, name);
        bytes = read_whole(path, size);
        if (bytes)
            return bytes;
        slash = strchr(name, '/');
        name = slash ? slash + 1 : NULL;
    }
    return NULL;
}

static void find_lines(struct source_file *file)
{
    size_t count = 1;

    for (size_t i = 0; i < file->size; i++)
        count += file->bytes[i] == '\n';
    if (file->size && file->bytes[file->size - 1] == '\n')
        count--;
    file->starts = malloc((count + 1) * sizeof *file->starts);
    if (!file->starts)
        return;
    file->starts[0] = 0;
    for (size_t i = 0; i < file->size && file->count < count; i++)
        if (file->bytes[i] == '\n')
            file->starts[++file->count] = i + 1;
    if (file->count < count)
        file->starts[++file->count] = file->size + 1;
}

static struct source_file *file_of(struct source_texts *texts, const char *name)
{
    struct source_file *file = texts->files;

    while (file && strcmp(file->name, name) != 0)
        file = file->next;
    if (file)
        return file;
    file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->name = malloc(strlen(name) + 1);
    if (!file->name) {
        free(file);
        return NULL;
    }
    memcpy(file->name, name, strlen(name) + 1);
    file->bytes = texts->root ? read_below(texts->root, name, &file->size)
                              : read_whole(name, &file->size);
    if (file->bytes)
        find_lines(file);
    file->next = texts->files;
    texts->files = file;
    return file;
}

const char *source_text(struct source_texts *texts, const char *file, uint32_t line,
                        size_t *size)
{
    const struct source_file *found = file_of(texts, file);

    if (!found || !found->starts || !line || line > found->count)
        return NULL;
    *size = found->starts[line] - found->starts[line - 1] - 1;
    if (*size && found->bytes[found->starts[line - 1] + *size - 1] == '\r')
        --*size;
    return found->bytes + found->starts[line - 1];
}

void source_texts_free(struct source_texts *texts)
{
    while (texts->files) {
        struct source_file *next = texts->files->next;

        free(texts->files->name);
        free(texts->files->bytes);
        free(texts->files->starts);
        free(texts->files);
        texts->files = next;
    }
}
