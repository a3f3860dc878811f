/* SPDX-License-Identifier: BSD-2-Clause */
/* Segment lists: a text "xlen 64", "seg BASE OFFSET LENGTH" ..., and the bytes in the .bin file
   beside it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "image/store.h"

/* What is left of the text. */
struct reader {
    const char *at, *end;
    unsigned line;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next line without its end; false when there is none. */
static bool next_line(struct reader *in, struct reader *line)
{
    if (in->at == in->end)
        return false;
    line->at = in->at;
    while (in->at != in->end && *in->at != '\n')
        in->at++;
    line->end = in->at;
    if (in->at != in->end)
        in->at++;
    line->line = ++in->line;
    return true;
}

/* The next word of a line in `word`, cut to fit; false at the end of the line. */
static bool next_word(struct reader *line, char word[32])
{
    size_t size = 0;

    while (line->at != line->end && is_blank(*line->at))
        line->at++;
    if (line->at == line->end || *line->at == '#')
        return false;
    for (; line->at != line->end && !is_blank(*line->at); line->at++)
        if (size < 31)
            word[size++] = *line->at;
    word[size] = 0;
    return true;
}

static bool next_number(struct reader *line, uint64_t *value, unsigned base)
{
    char word[32];
    const char *at = word;

    *value = 0;
    if (!next_word(line, word))
        return false;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    if (!*at)
        return false;
    for (; *at; at++) {
        const char *digits = "0123456789abcdef";
        const char *digit = strchr(digits, *at >= 'A' && *at <= 'F' ? *at + ('a' - 'A') : *at);

        if (!digit || (unsigned)(digit - digits) >= base ||
            *value > (UINT64_MAX - (unsigned)(digit - digits)) / base)
            return false;
        *value = *value * base + (unsigned)(digit - digits);
    }
    return true;
}

/* The .bin file beside the list. */
static char *bytes_path(struct tw_image *image, const char *path)
{
    const char *slash = tw_last_slash(path);
    const char *dot = strrchr(slash ? slash : path, '.');
    struct tw_text text = { .allocator = image->allocator };

    tw_text_add_size(&text, path, dot ? (size_t)(dot - path) : strlen(path));
    tw_text_add(&text, ".bin");
    if (text.failed) {
        tw_text_free(&text);
        return NULL;
    }
    return text.chars;
}

/* One "seg" line. */
static enum tw_status add_segment(struct tw_image *image, const struct tw_region *about,
                                  struct backing *bytes, struct reader *line, const char *path)
{
    struct tw_region region = *about;
    uint64_t base, offset, length;

    if (!next_number(line, &base, 16) || !next_number(line, &offset, 10) ||
        !next_number(line, &length, 10))
        return tw_fail(&image->fault, TW_E_FILE,
                       "%s:%u: want \"seg BASE OFFSET LENGTH\", base in hexadecimal", path,
                       line->line);
    if (offset > bytes->file.size || length > bytes->file.size - offset)
        return tw_fail(&image->fault, TW_E_FILE,
                       "%s:%u: segment ends after %s, which has %zu bytes", path, line->line,
                       bytes->path, bytes->file.size);
    if (!length)
        return TW_OK;
    region.address += base;
    region.length = length;
    return tw_image_take(image, &region, bytes->file.bytes + offset, bytes);
}

static enum tw_status add_all(struct tw_image *image, const struct tw_region *about,
                              struct backing *bytes, struct reader *in, const char *path)
{
    struct reader line;
    bool is_list = false;
    char word[32];
    uint64_t xlen = 0;

    while (next_line(in, &line)) {
        if (!next_word(&line, word))
            continue;
        if (!is_list) {
            is_list = strcmp(word, "xlen") == 0 && next_number(&line, &xlen, 10) &&
                      (xlen == 32 || xlen == 64);
            if (!is_list)
                return tw_fail(&image->fault, TW_E_FILE,
                               "%s:%u: a segment list begins with \"xlen 32\" or \"xlen 64\"",
                               path, line.line);
        } else if (strcmp(word, "seg") == 0) {
            TW_TRY(add_segment(image, about, bytes, &line, path));
        } else {
            return tw_fail(&image->fault, TW_E_FILE, "%s:%u: unknown word \"%s\"", path,
                           line.line, word);
        }
    }
    if (!is_list)
        return tw_fail(&image->fault, TW_E_FILE, "%s: no segment list", path);
    if (!image->xlen)
        image->xlen = (uint8_t)xlen;
    return TW_OK;
}

enum tw_status tw_image_add_segments(struct tw_image *image, const struct tw_region *region,
                                     const char *path)
{
    const size_t count = image->count;
    struct tw_region about;
    struct backing *list, *bytes;
    struct reader in;
    enum tw_status status;
    char *beside;

    TW_TRY(tw_image_region_from(image, &about, region, path));
    beside = bytes_path(image, path);
    if (!beside)
        return tw_fail(&image->fault, TW_E_MEMORY, "no memory for %s", path);
    status = tw_image_back(image, &list, path);
    if (status == TW_OK) {
        status = tw_image_back(image, &bytes, beside);
        if (status == TW_OK) {
            /* A backing is found again by its path: the list itself may be the .bin file. */
            in.at = (const char *)list->file.bytes;
            in.end = in.at + list->file.size;
            in.line = 0;
            bytes->uses++;
            status = add_all(image, &about, bytes, &in, path);
            if (status != TW_OK)
                tw_image_cut(image, count);
            bytes->uses--;
            if (bytes != list)
                tw_image_settle(image, bytes);
        }
        tw_image_settle(image, list);
    }
    tw_give(image->allocator, beside);
    return status;
}
