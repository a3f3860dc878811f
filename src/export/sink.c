/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way out, and how each kind of text is escaped. */
#include "export/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void empty(struct tw_sink *sink)
{
    if (sink->used && !sink->is_over && !sink->write(sink->context, sink->buffer, sink->used))
        sink->is_over = true;
    sink->used = 0;
}

void tw_sink_bytes(struct tw_sink *sink, const void *bytes, size_t size)
{
    const char *from = bytes;

    while (size) {
        size_t part = TW_SINK_ROOM - sink->used;

        if (part > size)
            part = size;
        memcpy(sink->buffer + sink->used, from, part);
        sink->used += part;
        from += part;
        size -= part;
        if (sink->used == TW_SINK_ROOM)
            empty(sink);
    }
}

void tw_sink_text(struct tw_sink *sink, const char *text)
{
    tw_sink_bytes(sink, text, strlen(text));
}

void tw_sink_format(struct tw_sink *sink, const char *format, ...)
{
    char text[256];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0)
        tw_sink_bytes(sink, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

void tw_sink_decimal(struct tw_sink *sink, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    tw_sink_bytes(sink, digits + at, sizeof digits - at);
}

/* Bytes of the UTF-8 character that begins here; 0: there is none. */
static size_t utf8_size(const unsigned char *at)
{
    static const struct {
        unsigned char mask, value; /* of the first byte */
    } kinds[] = { { 0xe0, 0xc0 }, { 0xf0, 0xe0 }, { 0xf8, 0xf0 } };

    if (*at < 0x80)
        return 1;
    for (size_t more = 1; more <= 3; more++) {
        if ((*at & kinds[more - 1].mask) != kinds[more - 1].value)
            continue;
        for (size_t i = 1; i <= more; i++)
            if ((at[i] & 0xc0) != 0x80)
                return 0;
        if ((more == 1 && *at < 0xc2) || (*at == 0xe0 && at[1] < 0xa0) ||
            (*at == 0xed && at[1] >= 0xa0) || (*at == 0xf0 && at[1] < 0x90) || *at > 0xf4 ||
            (*at == 0xf4 && at[1] >= 0x90))
            return 0; /* too long a form, a surrogate, beyond the last character */
        return more + 1;
    }
    return 0;
}

static const char replacement[] = "\xef\xbf\xbd";

void tw_sink_json(struct tw_sink *sink, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    tw_sink_bytes(sink, "\"", 1);
    while (*at) {
        const size_t size = utf8_size(at);

        if (*at == '"' || *at == '\\')
            tw_sink_format(sink, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            tw_sink_format(sink, "\\u%04x", *at);
        else if (size)
            tw_sink_bytes(sink, at, size);
        else
            tw_sink_text(sink, replacement);
        at += size ? size : 1;
    }
    tw_sink_bytes(sink, "\"", 1);
}

void tw_sink_xml(struct tw_sink *sink, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        const size_t size = utf8_size(at);

        if (*at == '<' || *at == '>' || *at == '&' || *at == '"' || *at == '\'')
            tw_sink_format(sink, "&#%d;", *at);
        else if (!size || *at < 0x20 || *at == 0x7f) /* XML has no control characters */
            tw_sink_text(sink, replacement);
        else
            tw_sink_bytes(sink, at, size);
        at += size ? size : 1;
    }
}

enum tw_status tw_sink_end(struct tw_sink *sink)
{
    empty(sink);
    if (sink->lacks_memory)
        return TW_E_MEMORY;
    return sink->is_over ? TW_E_CANCELLED : TW_OK;
}

const char *tw_subject_name(const struct tw_subject *subject, const char *name)
{
    return subject->show_name ? subject->show_name(subject->show_context, name) : name;
}
