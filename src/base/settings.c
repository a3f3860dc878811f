/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations as text. */
#include "base/settings.h"

#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **text, size_t *size)
{
    while (*size && is_space(**text)) {
        ++*text;
        --*size;
    }
    while (*size && is_space((*text)[*size - 1]))
        --*size;
}

/* How far the first `key=value` of a line goes: a comma ends it when what follows has a '=' of its
   own before the next comma, so that lists may hold commas. */
static size_t first_setting(const char *line, size_t size)
{
    const char *const end = line + size, *comma = memchr(line, ',', size);

    while (comma) {
        const char *const next = memchr(comma + 1, ',', (size_t)(end - comma - 1));

        if (memchr(comma + 1, '=', (size_t)((next ? next : end) - comma - 1)))
            return (size_t)(comma - line);
        comma = next;
    }
    return size;
}

struct reader {
    tw_setting_fn *set;
    void *context;
    struct tw_fault *fault;
    bool is_skipping; /* in a section of a snapshot's device file that holds no settings */
};

/* Headings only divide the text, but those of a device file have other things under them. */
static bool is_of_device(const char *heading, size_t size)
{
    static const char *const names[] = { "[device]", "[regs]", "[dump" };

    for (size_t i = 0; i < TW_LENGTH(names); i++) {
        const size_t length = strlen(names[i]);
        size_t at = 0;

        while (at < length && at < size &&
               (heading[at] >= 'A' && heading[at] <= 'Z' ? heading[at] + ('a' - 'A')
                                                         : heading[at]) == names[i][at])
            at++;
        if (at == length)
            return true;
    }
    return false;
}

static enum tw_status read_setting(const struct reader *reader, const char *text, size_t size)
{
    const char *equals = memchr(text, '=', size), *value;
    size_t name_size, value_size;

    if (!equals)
        return tw_fail(reader->fault, TW_E_CONFIG, "\"%.*s\" is no key=value",
                       size < 80 ? (int)size : 80, text);
    name_size = (size_t)(equals - text);
    value = equals + 1;
    value_size = size - name_size - 1;
    trim(&text, &name_size);
    trim(&value, &value_size);
    return reader->set(reader->context, text, name_size, value, value_size, reader->fault);
}

static enum tw_status read_line(struct reader *reader, const char *line, size_t size)
{
    const char *comment = memchr(line, '#', size);

    if (comment)
        size = (size_t)(comment - line);
    trim(&line, &size);
    if (size && *line == '[')
        reader->is_skipping = is_of_device(line, size);
    if (reader->is_skipping || (size && (*line == '[' || *line == ';')))
        return TW_OK;
    while (size) {
        const size_t length = first_setting(line, size);

        TW_TRY(read_setting(reader, line, length));
        if (length == size)
            break;
        line += length + 1;
        size -= length + 1;
    }
    return TW_OK;
}

enum tw_status tw_settings_read(const char **text, tw_setting_fn *set, void *context,
                                struct tw_fault *fault)
{
    const char *at = *text;
    struct tw_fault inner = { TW_OK, "" };
    struct reader reader = { set, context, &inner, false };

    if (!strncmp(at, "\xef\xbb\xbf", 3))
        at += 3;
    for (unsigned number = 1; *at; number++) {
        const char *end = strchr(at, '\n');
        const size_t size = end ? (size_t)(end - at) : strlen(at);
        const char *first = at;
        enum tw_status status;

        while (is_space(*first))
            first++;
        if (*first == '<') {
            at = first;
            break;
        }
        status = read_line(&reader, at, size);
        if (status != TW_OK)
            return tw_fail(fault, status, "line %u: %.400s", number, inner.text);
        at += end ? size + 1 : size;
    }
    *text = at;
    return TW_OK;
}

bool tw_setting_number(const char *text, size_t size, unsigned base, uint64_t *value)
{
    uint64_t sum = 0;

    if (size > 2 && (tw_setting_is(text, 2, "0x") || tw_setting_is(text, 2, "0X") ||
                     tw_setting_is(text, 2, "'h"))) {
        text += 2;
        size -= 2;
        base = 16;
    }
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        unsigned digit = 99;

        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (unsigned)(c - 'A') + 10;
        if (digit >= base || sum > (UINT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

bool tw_setting_bool(const char *text, size_t size, uint64_t *value)
{
    if (tw_setting_is(text, size, "true") || tw_setting_is(text, size, "false")) {
        *value = text[0] == 't';
        return true;
    }
    return tw_setting_number(text, size, 10, value) && *value <= 1;
}
