/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffered output. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "shared/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/beside.h"
#include "base/escape.h"
#include "base/platform.h"
#include "shared/interrupt.h"
#include "shared/pager.h"

enum { BUFFER_SIZE = 1 << 15 }; /* stays in the first levels of cache, and most of it is used */

static bool wants_color(enum color_wish wish, FILE *file)
{
    const char *terminal = getenv("TERM");

    if (wish != COLOR_AUTO)
        return wish == COLOR_ALWAYS;
    return (isatty(fileno(file)) || (file == stdout && pager_is_on())) && !getenv("NO_COLOR") &&
           terminal && strcmp(terminal, "dumb") != 0;
}

/* A new file beside out->path, which an interrupt removes. */
static FILE *open_beside(struct output *out)
{
    FILE *file = NULL;

    out->temporary = malloc(strlen(out->path) + TW_BESIDE_SIZE);
    if (!out->temporary)
        return NULL;
    interrupt_hold();
    file = tw_beside_open(out->temporary, out->path);
    if (file && !interrupt_removes(out->temporary)) {
        tw_beside_drop(file, out->temporary);
        errno = ENOMEM;
        file = NULL;
    }
    interrupt_release();
    return file;
}

static bool open_file(struct output *out, const char *path)
{
    struct stat about;
    const bool exists = stat(path, &about) == 0;

    if (exists && S_ISDIR(about.st_mode)) {
        say("cannot write %s: it is a folder", path);
        return false;
    }
    /* A link stays a link; a device or a pipe is written as it is. */
    out->path = exists ? realpath(path, NULL) : strdup(path);
    if (out->path) {
        if (exists && !S_ISREG(about.st_mode))
            out->file = fopen(out->path, "wb");
        else
            out->file = open_beside(out);
    }
    if (!out->file) {
        say("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static void forget(struct output *out)
{
    free(out->buffer);
    free(out->path);
    free(out->temporary);
    *out = (struct output){ .is_closed = true };
}

void output_in_memory(struct output *out, const struct output *like)
{
    *out = (struct output){ .has_color = like->has_color };
}

bool output_open(struct output *out, const char *path, enum color_wish wish)
{
    *out = (struct output){ .room = BUFFER_SIZE };
    out->buffer = malloc(BUFFER_SIZE);
    if (!out->buffer) {
        say("out of memory");
        return false;
    }
    if (!path || strcmp(path, "-") == 0) {
        out->file = stdout;
    } else if (!open_file(out, path)) {
        forget(out);
        return false;
    }
    (void)setvbuf(out->file, NULL, _IONBF, 0);
    out->has_color = wants_color(wish, out->file);
    return true;
}

static void write_all(struct output *out, const char *bytes, size_t size)
{
    if (output_is_over(out) || !size)
        return;
    errno = 0;
    if (fwrite(bytes, 1, size, out->file) == size)
        return;
    if (errno == EPIPE && !out->path) {
        out->is_closed = true;
        return;
    }
    out->has_failed = true;
    say("cannot write %s: %s", out->path ? out->path : "standard output", strerror(errno));
}

void output_flush(struct output *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

bool output_is_over(const struct output *out)
{
    return out->is_closed || out->has_failed;
}

/* Closes the file, and puts it in its place when that is wanted and all of it was written. */
static void close_file(struct output *out, bool keep)
{
    bool is_good = true;

    if (out->temporary && (!keep || out->has_failed))
        tw_beside_drop(out->file, out->temporary);
    else if (out->temporary)
        is_good = tw_beside_keep(out->file, out->temporary, out->path);
    else
        is_good = fclose(out->file) == 0 || out->has_failed;
    if (!is_good) {
        out->has_failed = true;
        say("cannot write %s: %s", out->path, strerror(errno));
    }
    if (out->temporary)
        interrupt_keeps(out->temporary);
}

bool output_close(struct output *out, bool keep)
{
    bool is_good;

    if (!out->buffer)
        return true;
    output_flush(out);
    if (out->path)
        close_file(out, keep);
    is_good = !out->has_failed;
    forget(out);
    return is_good;
}

void out_of_memory(void)
{
    say("out of memory");
    interrupt_clean();
    exit(NOT_DONE);
}

static void grow(struct output *out, size_t room)
{
    char *bigger = realloc(out->buffer, room);

    if (!bigger)
        out_of_memory();
    out->buffer = bigger;
    out->room = room;
}

char *output_more_room(struct output *out, size_t size)
{
    if (out->room - out->used < size && !out->file)
        grow(out, 2 * (out->used + size));
    else if (out->room - out->used < size)
        output_flush(out);
    if (out->room < size)
        grow(out, size);
    return out->buffer + out->used;
}

void output_bytes(struct output *out, const void *bytes, size_t size)
{
    if (!out->file)
        (void)output_room(out, size + 1);
    else if (out->room - out->used < size)
        output_flush(out);
    if (size >= out->room) {
        write_all(out, bytes, size);
        return;
    }
    memcpy(out->buffer + out->used, bytes, size);
    out->used += size;
}

void output_text(struct output *out, const char *text)
{
    output_bytes(out, text, strlen(text));
}

void output_decimal(struct output *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    output_bytes(out, digits + at, sizeof digits - at);
}

void output_address(struct output *out, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    char text[18];
    size_t at = sizeof text;

    do
        text[--at] = digits[value & 15];
    while (value >>= 4);
    text[--at] = 'x';
    text[--at] = '0';
    output_bytes(out, text + at, sizeof text - at);
}

void output_hex(struct output *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    while (size) {
        const size_t now = size < 4096 ? size : 4096;
        char *at = output_room(out, 2 * now);

        for (size_t i = 0; i < now; i++) {
            at[2 * i] = digits[bytes[i] >> 4];
            at[2 * i + 1] = digits[bytes[i] & 15];
        }
        output_took(out, 2 * now);
        bytes += now;
        size -= now;
    }
}

void output_json_text(struct output *out, const char *text)
{
    const size_t size = strlen(text);
    char *at = output_room(out, TW_ESCAPE_JSON_MOST * size + 2);
    const size_t used = tw_escape_json(at + 1, text, size);

    at[0] = at[used + 1] = '"';
    output_took(out, used + 2);
}

void output_name(struct output *out, const char *text)
{
    const size_t size = strlen(text);

    output_took(out, tw_escape_text(output_room(out, TW_ESCAPE_TEXT_MOST * size), text, size));
}

void output_color(struct output *out, enum color color)
{
    static const char *const codes[] = {
        [PLAIN] = "\033[0m", [BOLD] = "\033[1m",   [RED] = "\033[31m",  [YELLOW] = "\033[33m",
        [DIM] = "\033[2m",   [GREEN] = "\033[32m", [CYAN] = "\033[36m",
    };

    if (out->has_color)
        output_text(out, codes[color]);
}
