/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows as it is written. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"

struct tw_text tw_text_in(char *buffer, size_t room)
{
    buffer[0] = 0;
    return (struct tw_text){ .chars = buffer, .room = room, .is_fixed = true };
}

void tw_text_free(struct tw_text *text)
{
    if (!text->is_fixed)
        tw_give(text->allocator, text->chars);
    *text = (struct tw_text){ .allocator = text->allocator };
}

void tw_text_clear(struct tw_text *text)
{
    text->size = 0;
    text->failed = false;
    if (text->chars)
        text->chars[0] = 0;
}

/* True when `size` more characters and the final zero fit. */
static bool has_room(struct tw_text *text, size_t size)
{
    if (size < text->room - text->size && text->room)
        return true;
    if (text->is_fixed || size > SIZE_MAX / 2 - text->size ||
        !TW_GROW(text->allocator, &text->chars, &text->room, text->size + size + 1)) {
        text->failed = true;
        return false;
    }
    return true;
}

void tw_text_add_size(struct tw_text *text, const char *chars, size_t size)
{
    if (!has_room(text, size))
        return;
    memcpy(text->chars + text->size, chars, size);
    text->size += size;
    text->chars[text->size] = 0;
}

void tw_text_add(struct tw_text *text, const char *chars)
{
    tw_text_add_size(text, chars, strlen(chars));
}

void tw_text_char(struct tw_text *text, char c)
{
    tw_text_add_size(text, &c, 1);
}

void tw_text_format(struct tw_text *text, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !has_room(text, (size_t)size)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->chars + text->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

void tw_text_decimal(struct tw_text *text, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    tw_text_add_size(text, digits + at, sizeof digits - at);
}

static const char hex_digits[] = "0123456789abcdef";

void tw_text_hex(struct tw_text *text, uint64_t value)
{
    char digits[18];
    size_t at = sizeof digits;

    do {
        digits[--at] = hex_digits[value & 15];
        value >>= 4;
    } while (value);
    digits[--at] = 'x';
    digits[--at] = '0';
    tw_text_add_size(text, digits + at, sizeof digits - at);
}

void tw_text_hex_bytes(struct tw_text *text, const uint8_t *bytes, size_t size)
{
    if (size > SIZE_MAX / 4 || !has_room(text, 2 * size)) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        text->chars[text->size++] = hex_digits[bytes[i] >> 4];
        text->chars[text->size++] = hex_digits[bytes[i] & 15];
    }
    text->chars[text->size] = 0;
}

void tw_json_key(struct tw_text *text, const char *key)
{
    if (text->size && text->chars[text->size - 1] != '{')
        tw_text_char(text, ',');
    tw_text_char(text, '"');
    tw_text_add(text, key);
    tw_text_add_size(text, "\":", 2);
}

void tw_json_u64(struct tw_text *text, const char *key, uint64_t value)
{
    tw_json_key(text, key);
    tw_text_decimal(text, value);
}

void tw_json_hex(struct tw_text *text, const char *key, uint64_t value)
{
    tw_json_key(text, key);
    tw_text_char(text, '"');
    tw_text_hex(text, value);
    tw_text_char(text, '"');
}

typedef size_t escape_fn(char *out, const char *text, size_t size);

/* Character by character: what does not fit is not begun. */
static void add_escaped(struct tw_text *text, const char *value, escape_fn *escape)
{
    const size_t size = strlen(value);
    char piece[4 * TW_ESCAPE_JSON_MOST];

    for (size_t i = 0, step; i < size && !text->failed; i += step) {
        step = tw_utf8_size(value + i, size - i);
        if (!step)
            step = 1;
        tw_text_add_size(text, piece, escape(piece, value + i, step));
    }
}

void tw_text_escaped(struct tw_text *text, const char *value)
{
    add_escaped(text, value, tw_escape_text);
}

void tw_json_text(struct tw_text *text, const char *key, const char *value)
{
    tw_json_key(text, key);
    tw_text_char(text, '"');
    add_escaped(text, value, tw_escape_json);
    tw_text_char(text, '"');
}

void tw_json_bytes(struct tw_text *text, const char *key, const uint8_t *bytes, size_t size)
{
    tw_json_key(text, key);
    tw_text_char(text, '"');
    tw_text_hex_bytes(text, bytes, size);
    tw_text_char(text, '"');
}
