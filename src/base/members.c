/* SPDX-License-Identifier: BSD-2-Clause */
/* Members to text and to JSON.  Room is looked after once for a line; after that nothing is checked, and
   nothing is printed with printf. */
#include "base/members.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/escape.h"

/* Characters of a value: quotes, 0x and 32 digits; one of our own words. */
enum { NUMBER_MOST = 36, NAME_MOST = 40 };

static const char digits[] = "0123456789abcdef";

void tw_put_format(struct tw_members *out, unsigned type, const char *format, ...)
{
    const size_t room = out->text_room - out->text_size;
    char *text = out->texts + out->text_size;
    va_list arguments;
    int size;

    if (!room || !tw_is_wanted(out, type))
        return;
    va_start(arguments, format);
    size = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    if (size >= 0)
        out->text_size += (size_t)size < room ? (size_t)size + 1 : room;
    tw_put_text(out, type, size < 0 ? "" : text);
}

char *tw_put_room(struct tw_members *out, unsigned type, size_t size)
{
    char *text = out->texts + out->text_size;

    if (out->text_room - out->text_size < size || !tw_is_wanted(out, type))
        return NULL;
    out->text_size += size;
    tw_put_text(out, type, text);
    return text;
}

char *tw_write_decimal(char *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;

    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    if (value < 100) {
        out[0] = (char)('0' + value / 10);
        out[1] = (char)('0' + value % 10);
        return out + 2;
    }
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(out, text + at, sizeof text - at);
    return out + (sizeof text - at);
}

/* Two digits for each byte. */
#define PAIRS(h)                                                                               \
    h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h      \
      "e" h "f"
static const char pairs[] =
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
        PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f");

static inline void put_pair(char *out, uint32_t value)
{
    memcpy(out, pairs + (size_t)2 * (value & 0xff), 2);
}

/* Eight digits; the loop is written out for the sake of compilers that leave it. */
static inline void put_eight(char *out, uint32_t value)
{
    put_pair(out, value >> 24);
    put_pair(out + 2, value >> 16);
    put_pair(out + 4, value >> 8);
    put_pair(out + 6, value);
}

/* Sixteen characters are written, whatever the size. */
static char *put_digits(char *out, uint64_t value, unsigned size)
{
    value <<= 64 - 4 * size;
    put_eight(out, (uint32_t)(value >> 32));
    put_eight(out + 8, (uint32_t)value);
    return out + size;
}

char *tw_write_digits(char *out, uint64_t value)
{
    const unsigned size = tw_highest_bit(value | 1) / 4 + 1;

    if (size > 8)
        return put_digits(out, value, size);
    value <<= 32 - 4 * size;
    if (size > 4) {
        put_eight(out, (uint32_t)value);
    } else {
        put_pair(out, (uint32_t)value >> 24);
        put_pair(out + 2, (uint32_t)value >> 16);
    }
    return out + size;
}

char *tw_write_hex(char *out, uint64_t value)
{
    out[0] = '0';
    out[1] = 'x';
    return tw_write_digits(out + 2, value);
}

char *tw_write_index(char *out, uint64_t index)
{
    char *end = tw_write_hex(out, index);

    memset(end, ' ', TW_INDEX_WIDTH);
    return end < out + TW_INDEX_WIDTH ? out + TW_INDEX_WIDTH : end + 1;
}

char *tw_write_bytes(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

static char *put_nibbles(char *out, const struct tw_member *member)
{
    for (uint64_t i = member->high; i < member->high + member->number; i++)
        *out++ = digits[member->bytes[i / 2] >> (i % 2 ? 4 : 0) & 15];
    return out;
}

static char *put_name(char *out, const char *name)
{
    for (unsigned i = 0; i < NAME_MOST && name[i]; i++)
        *out++ = name[i];
    return out;
}

/* What is no text of any origin. */
static char *put_plain(char *out, const struct tw_member *member)
{
    switch (member->type->kind) {
    case TW_MEMBER_HEX:
        return tw_write_hex(out, member->number);
    case TW_MEMBER_SIGNED:
        if (member->number >> 63) {
            *out++ = '-';
            return tw_write_decimal(out, -member->number);
        }
        return tw_write_decimal(out, member->number);
    case TW_MEMBER_WIDE:
        if (!member->high)
            return tw_write_hex(out, member->number);
        return put_digits(tw_write_hex(out, member->high), member->number, 16);
    case TW_MEMBER_SECONDS:
        out = tw_write_decimal(out, member->number);
        *out = '.';
        for (uint64_t i = 9, rest = member->high; i; i--, rest /= 10)
            out[i] = (char)('0' + rest % 10);
        return out + 10;
    case TW_MEMBER_NAME:
        return put_name(out, member->text);
    case TW_MEMBER_BYTES:
        return tw_write_bytes(out, member->bytes, (size_t)member->number);
    case TW_MEMBER_NIBBLES:
        return put_nibbles(out, member);
    default:
        return tw_write_decimal(out, member->number);
    }
}

char *tw_member_value(char *out, const struct tw_member *member)
{
    if (member->type->kind == TW_MEMBER_TEXT)
        return out + tw_escape_text(out, member->text, strlen(member->text));
    return put_plain(out, member);
}

static bool is_quoted(unsigned kind)
{
    return kind != TW_MEMBER_DECIMAL && kind != TW_MEMBER_SIGNED && kind != TW_MEMBER_FLAG &&
           kind != TW_MEMBER_SECONDS;
}

char *tw_members_json(char *out, const struct tw_members *members)
{
    const struct tw_member *end = members->items + members->count;

    *out++ = '{';
    for (const struct tw_member *member = members->items; member < end; member++) {
        const struct tw_member_type *type = member->type;

        if (!(type->in & TW_MEMBER_LISTED))
            continue;
        if (out[-1] != '{')
            *out++ = ',';
        *out++ = '"';
        memcpy(out, type->key, sizeof type->key);
        out += type->key_size;
        *out++ = '"';
        *out++ = ':';
        if (!is_quoted(type->kind)) {
            out = put_plain(out, member);
            continue;
        }
        *out++ = '"';
        if (type->kind == TW_MEMBER_TEXT)
            out += tw_escape_json(out, member->text, strlen(member->text));
        else
            out = put_plain(out, member);
        *out++ = '"';
    }
    *out++ = '}';
    return out;
}

char *tw_members_text(char *out, const struct tw_members *members)
{
    const struct tw_member *end = members->items + members->count;

    for (const struct tw_member *member = members->items; member < end; member++) {
        const struct tw_member_type *type = member->type;

        if (!(type->in & TW_MEMBER_TOLD) || (type->kind == TW_MEMBER_FLAG && !member->number))
            continue;
        memcpy(out, type->words, sizeof type->words);
        out += type->words_size;
        if (type->kind != TW_MEMBER_FLAG)
            out = tw_member_value(out, member);
    }
    return out;
}

size_t tw_member_most(const struct tw_member *member)
{
    static const uint8_t most[] = {
        [TW_MEMBER_DECIMAL] = 20,
        [TW_MEMBER_HEX] = 20,
        [TW_MEMBER_SIGNED] = 20,
        [TW_MEMBER_WIDE] = NUMBER_MOST,
        [TW_MEMBER_FLAG] = 20,
        [TW_MEMBER_SECONDS] = NUMBER_MOST,
        [TW_MEMBER_NAME] = NAME_MOST + 2,
    };

    switch (member->type->kind) {
    case TW_MEMBER_TEXT:
        return TW_ESCAPE_JSON_MOST * strlen(member->text) + 2;
    case TW_MEMBER_BYTES:
        return 2 * (size_t)member->number + 2;
    case TW_MEMBER_NIBBLES:
        return (size_t)member->number + 2;
    default:
        return most[member->type->kind];
    }
}

size_t tw_members_most(const struct tw_members *members)
{
    const struct tw_member_type *type = NULL;
    size_t most =
        2 + sizeof type->words; /* keys and words are copied with what is behind them */

    for (size_t i = 0; i < members->count; i++) {
        type = members->items[i].type;
        most += (type->key_size > type->words_size ? type->key_size : type->words_size) + 5u +
                tw_member_most(&members->items[i]);
    }
    return most;
}

size_t tw_line_give(char *out, size_t room, const char *line, const char *end)
{
    const size_t size = (size_t)(end - line) < room ? (size_t)(end - line) : room - 1;

    if (out != line)
        memcpy(out, line, size);
    out[size] = 0;
    return size;
}
