/* SPDX-License-Identifier: BSD-2-Clause */
/* Formatted output in which texts cannot do harm: what %s prints is a name from a capture more often
   than not, so it always goes through the escapes. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/members.h"
#include "shared/output.h"

enum { NUMBER_ROOM = 400 }; /* %f of the largest double */

/* One conversion: "%-12.3lx" and what its stars stand for. */
struct conversion {
    char flags[8];
    int width, precision; /* precision -1: none is given */
    char size;            /* l, z or j; L for ll; 0: an int */
    char kind;
};

static int read_size(const char **at, va_list *arguments)
{
    int value = 0;

    if (**at == '*') {
        ++*at;
        return va_arg(*arguments, int);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value * 10 + (**at - '0');
    return value;
}

/* `at` is behind the percent sign; gives what is behind the conversion. */
static const char *read_conversion(struct conversion *out, const char *at, va_list *arguments)
{
    size_t flags = 0;

    *out = (struct conversion){ .precision = -1 };
    while (*at && strchr("-+ #0", *at) && flags + 1 < sizeof out->flags)
        out->flags[flags++] = *at++;
    out->width = read_size(&at, arguments);
    if (*at == '.') {
        at++;
        out->precision = read_size(&at, arguments);
    }
    for (; *at && strchr("lzj", *at); at++)
        out->size = out->size == 'l' ? 'L' : *at;
    out->kind = *at;
    return *at ? at + 1 : at;
}

static void put_padding(struct output *out, size_t size, int width)
{
    static const char blanks[16] = "                ";

    while (width > 0 && size < (size_t)width) {
        const size_t more = (size_t)width - size;
        const size_t some = more < sizeof blanks ? more : sizeof blanks;

        output_bytes(out, blanks, some);
        size += some;
    }
}

static void put_text(struct output *out, const struct conversion *how, const char *text)
{
    const bool is_left = how->flags[0] == '-';
    const char *end = how->precision >= 0 ? memchr(text, 0, (size_t)how->precision) : NULL;
    const size_t size = end                   ? (size_t)(end - text)
                        : how->precision >= 0 ? (size_t)how->precision
                                              : strlen(text);
    char small[256], *shown = small;
    size_t used;

    if (size > sizeof small / TW_ESCAPE_TEXT_MOST)
        shown = malloc(TW_ESCAPE_TEXT_MOST * size);
    if (!shown)
        out_of_memory();
    used = tw_escape_text(shown, text, size);
    if (!is_left)
        put_padding(out, used, how->width);
    output_bytes(out, shown, used);
    if (is_left)
        put_padding(out, used, how->width);
    if (shown != small)
        free(shown);
}

static unsigned long long take_unsigned(char size, va_list *arguments)
{
    switch (size) {
    case 'l':
        return va_arg(*arguments, unsigned long);
    case 'L':
        return va_arg(*arguments, unsigned long long);
    case 'z':
        return va_arg(*arguments, size_t);
    case 'j':
        return va_arg(*arguments, uintmax_t);
    default:
        return va_arg(*arguments, unsigned);
    }
}

static long long take_signed(char size, va_list *arguments)
{
    switch (size) {
    case 'l':
        return va_arg(*arguments, long);
    case 'L':
        return va_arg(*arguments, long long);
    case 'z':
        return (long long)va_arg(*arguments, size_t);
    case 'j':
        return va_arg(*arguments, intmax_t);
    default:
        return va_arg(*arguments, int);
    }
}

/* Whole numbers as they are most often wanted. */
static void put_decimal(struct output *out, const struct conversion *how, uint64_t value)
{
    char text[24];
    const size_t size = (size_t)(tw_write_decimal(text, value) - text);

    put_padding(out, size, how->width);
    output_bytes(out, text, size);
}

/* All other numbers are left to printf, integers in the widest form. */
static void put_number(struct output *out, const struct conversion *how, va_list *arguments)
{
    const bool is_real = strchr("feg", how->kind) != NULL;
    char format[32], *at = output_room(out, NUMBER_ROOM);
    int size;

    (void)snprintf(format, sizeof format, "%%%s*.*%s%c", how->flags, is_real ? "" : "ll",
                   how->kind);
    if (is_real)
        size = snprintf(at, NUMBER_ROOM, format, how->width, how->precision,
                        va_arg(*arguments, double));
    else if (how->kind == 'd' || how->kind == 'i')
        size = snprintf(at, NUMBER_ROOM, format, how->width, how->precision,
                        take_signed(how->size, arguments));
    else
        size = snprintf(at, NUMBER_ROOM, format, how->width, how->precision,
                        take_unsigned(how->size, arguments));
    output_took(out, size > 0 ? (size_t)size : 0);
}

static void put_list(struct output *out, const char *format, va_list *arguments)
{
    while (*format) {
        const size_t plain = strcspn(format, "%");
        struct conversion how;
        char c;

        output_bytes(out, format, plain);
        format += plain;
        if (!*format)
            return;
        format = read_conversion(&how, format + 1, arguments);
        switch (how.kind) {
        case 's':
            put_text(out, &how, va_arg(*arguments, const char *));
            break;
        case 'c':
            c = (char)va_arg(*arguments, int);
            output_bytes(out, &c, 1);
            break;
        case '%':
            output_bytes(out, "%", 1);
            break;
        case 'u':
            if (!how.flags[0] && how.precision < 0 && how.width >= 0) {
                put_decimal(out, &how, take_unsigned(how.size, arguments));
                break;
            }
            put_number(out, &how, arguments);
            break;
        default:
            put_number(out, &how, arguments);
        }
    }
}

void output_format(struct output *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_list(out, format, &arguments);
    va_end(arguments);
}
