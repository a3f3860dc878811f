/* SPDX-License-Identifier: BSD-2-Clause */
/* Names looked up below a folder, link by link: what openat2 does on Linux alone, for any POSIX system,
   and with a path at the end that libraries can open. */
#define _XOPEN_SOURCE 700 /* readlink */
#include "base/inside.h"

#include <errno.h>
#include <string.h>

#include "base/platform.h"

enum { LINKS = 40, LINK_SIZE = 4096, LEFT_MAX = 1 << 16 };

struct inside {
    struct tw_text *path;
    size_t base;         /* how much of it is the folder */
    struct tw_text left; /* what is to be looked up yet */
    size_t at;
    unsigned links;
    bool is_root;
};

static bool refuse(int why)
{
    errno = why;
    return false;
}

static void cut(struct tw_text *text, size_t size)
{
    text->size = size;
    if (text->chars)
        text->chars[size] = 0;
}

static bool go_up(const struct inside *inside)
{
    struct tw_text *path = inside->path;
    size_t size = path->size;

    if (size == inside->base)
        return inside->is_root || refuse(EXDEV);
    while (size > inside->base && path->chars[size - 1] != '/')
        size--;
    cut(path, size > inside->base ? size - 1 : size);
    return true;
}

/* The link's text takes the place of its name. */
static bool follow(struct inside *inside, const char *link, size_t size)
{
    struct tw_text left = { .allocator = inside->path->allocator };
    const bool is_absolute = link[0] == '/';

    if (++inside->links > LINKS)
        return refuse(ELOOP);
    if (is_absolute && !inside->is_root)
        return refuse(EXDEV);
    (void)go_up(inside); /* its name, which was just added */
    if (is_absolute)
        cut(inside->path, inside->base);
    tw_text_add_size(&left, link, size);
    tw_text_char(&left, '/');
    tw_text_add(&left, inside->left.chars + inside->at);
    tw_text_free(&inside->left);
    inside->left = left;
    inside->at = 0;
    if (left.failed)
        return refuse(ENOMEM);
    return left.size <= LEFT_MAX || refuse(ENAMETOOLONG);
}

static bool step(struct inside *inside, const char *name, size_t size)
{
    char link[LINK_SIZE];
    ssize_t length;

    if (size == 1 && name[0] == '.')
        return true;
    if (size == 2 && name[0] == '.' && name[1] == '.')
        return go_up(inside);
    for (size_t i = 0; i < size; i++) /* other ways out that the system knows */
        if (tw_is_slash(name[i]))
            return refuse(EXDEV);
    if (inside->path->size > inside->base)
        tw_text_char(inside->path, '/');
    tw_text_add_size(inside->path, name, size);
    if (inside->path->failed)
        return refuse(ENOMEM);
    length = readlink(inside->path->chars, link, sizeof link);
    if (length == (ssize_t)sizeof link)
        return refuse(ENAMETOOLONG);
    return length <= 0 || follow(inside, link, (size_t)length);
}

bool tw_inside(struct tw_text *path, const char *folder, const char *name, bool is_root)
{
    struct inside inside = { .path = path,
                             .left = { .allocator = path->allocator },
                             .is_root = is_root };
    bool is_good = is_root || name[0] != '/' || refuse(EXDEV);

    tw_text_clear(path);
    tw_text_add(path, folder);
    if (path->size && path->chars[path->size - 1] != '/')
        tw_text_char(path, '/');
    inside.base = path->size;
    tw_text_add(&inside.left, name);
    while (is_good && !inside.left.failed && inside.at < inside.left.size) {
        const size_t size = strcspn(inside.left.chars + inside.at, "/");
        const size_t at = inside.at;

        inside.at += size + (inside.left.chars[at + size] == '/');
        is_good = size == 0 || step(&inside, inside.left.chars + at, size);
    }
    if (is_good && (path->failed || inside.left.failed))
        is_good = refuse(ENOMEM);
    tw_text_free(&inside.left);
    return is_good;
}
