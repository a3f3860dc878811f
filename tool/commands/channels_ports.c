/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that software writes to a port, printed as --port-format says. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/channels.h"

enum {
    FORMAT_MOST = 64,
    DIGITS_MOST = 2 /* of a width or a precision: what is printed has room */
};

static const char digits[] = "0123456789";

/* Where the format of the next port begins: ",N=". */
static const char *format_end(const char *at)
{
    for (; *at; at++) {
        const char *digit = at + 1;

        if (*at != ',')
            continue;
        while (isdigit((unsigned char)*digit))
            digit++;
        if (digit > at + 1 && *digit == '=')
            return at;
    }
    return at;
}

/* Behind the flags, width and precision of a conversion; NULL: it asks for too much. */
static const char *behind_width(const char *at)
{
    size_t size;

    at += strspn(at, "-+ #0");
    size = strspn(at, digits);
    if (size > DIGITS_MOST)
        return NULL;
    at += size;
    if (*at != '.')
        return at;
    size = strspn(at + 1, digits);
    return size > DIGITS_MOST ? NULL : at + 1 + size;
}

/* The conversion that a format holds: its letter, 0 where there is none; 1: it cannot be printed. */
static char conversion_of(const char *format)
{
    char letter = 0;

    for (; *format; format++) {
        if (*format != '%')
            continue;
        if (format[1] == '%') {
            format++;
            continue;
        }
        if (letter)
            return 1;
        format = behind_width(format + 1);
        if (!format || !*format || !strchr("diuxXocfeg", *format))
            return 1;
        letter = *format;
    }
    return letter;
}

static bool add_port(struct channels *channels, uint64_t port, const char *text, size_t size)
{
    struct port_format *more =
        realloc(channels->formats, (channels->format_count + 1) * sizeof *more);

    if (!more) {
        say("out of memory");
        return false;
    }
    channels->formats = more;
    more += channels->format_count;
    if (size >= sizeof more->text)
        return options_wrong(channels->options, "--port-format: \"%s\" is too long", text);
    more->port = port;
    memcpy(more->text, text, size);
    more->text[size] = 0;
    more->letter = conversion_of(more->text);
    if (more->letter == 1)
        return options_wrong(
            channels->options,
            "--port-format: \"%s\" is no format of one number; write %%d, %%u, "
            "%%08x, %%c, %%f ...",
            more->text);
    channels->format_count++;
    return true;
}

bool ports_open(struct channels *channels)
{
    const char *at = channels->options->port_format;

    while (at && *at) {
        const char *equals = strchr(at, '='), *end;
        uint64_t port = 0;

        if (!equals || !parse_number_size(&port, at, (size_t)(equals - at)) ||
            port > UINT16_MAX)
            return options_wrong(channels->options,
                                 "--port-format: write PORT=FORMAT, separated by commas");
        end = format_end(equals + 1);
        if (!add_port(channels, port, equals + 1, (size_t)(end - equals - 1)))
            return false;
        at = *end ? end + 1 : end;
    }
    return true;
}

const struct port_format *ports_find(const struct channels *channels, uint64_t port)
{
    for (size_t i = 0; i < channels->format_count; i++)
        if (channels->formats[i].port == port)
            return &channels->formats[i];
    return NULL;
}

static double float_of(uint32_t value)
{
    float number;

    memcpy(&number, &value, sizeof number);
    return (double)number;
}

/* The piece of a format that prints the number, with the letters that its type wants. */
static void put_piece(struct output *out, const char *piece, size_t size, char letter,
                      const struct tw_channel_event *event)
{
    char format[FORMAT_MOST + 8], text[160];
    const unsigned bits = 8u * (event->value_size ? event->value_size : 4);
    const uint32_t sign = bits < 32 ? (uint32_t)1 << (bits - 1) : 0x80000000u;

    memcpy(format, piece, size - 1);
    if (strchr("feg", letter)) {
        (void)snprintf(format + size - 1, sizeof format - (size - 1), "%c", letter);
        (void)snprintf(text, sizeof text, format, float_of(event->value)); /* as checked */
    } else if (letter == 'c') {
        (void)snprintf(format + size - 1, sizeof format - (size - 1), "c");
        (void)snprintf(text, sizeof text, format, (int)(event->value & 0x7f));
    } else if (letter == 'd' || letter == 'i') {
        (void)snprintf(format + size - 1, sizeof format - (size - 1), "%s", PRId64);
        (void)snprintf(text, sizeof text, format,
                       (int64_t)(event->value ^ sign) - (int64_t)sign);
    } else {
        (void)snprintf(format + size - 1, sizeof format - (size - 1), "l%c", letter);
        (void)snprintf(text, sizeof text, format, (unsigned long)event->value);
    }
    output_name(out, text);
}

void ports_print(struct output *out, const struct port_format *port,
                 const struct tw_channel_event *event)
{
    for (const char *at = port->text; *at;) {
        const char *percent = strchr(at, '%');
        size_t size = percent ? (size_t)(percent - at) : strlen(at);

        output_bytes(out, at, size);
        at += size;
        if (!percent)
            break;
        if (at[1] == '%') {
            output_text(out, "%");
            at += 2;
            continue;
        }
        size = (size_t)(behind_width(at + 1) - at);
        put_piece(out, at, size + 1, at[size], event);
        at += size + 1;
    }
}
