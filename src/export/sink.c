/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way out, and how each kind of text is escaped. */
#include "export/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

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

void tw_sink_name(struct tw_sink *sink, const char *name, char end)
{
    while (*name) {
        size_t size = 0;

        while ((unsigned char)name[size] >= 0x20 && name[size] != end)
            size++;
        tw_sink_bytes(sink, name, size);
        name += size;
        if (*name)
            tw_sink_bytes(sink, (unsigned char)*name++ < 0x20 ? "?" : ":", 1);
    }
}

static const char replacement[] = "\xef\xbf\xbd";

void tw_sink_json_size(struct tw_sink *sink, const char *text, size_t left)
{
    char piece[4 * TW_ESCAPE_JSON_MOST];

    tw_sink_bytes(sink, "\"", 1);
    for (size_t size; left; left -= size, text += size) {
        size = tw_utf8_size(text, left);
        if (!size)
            size = 1;
        tw_sink_bytes(sink, piece, tw_escape_json(piece, text, size));
    }
    tw_sink_bytes(sink, "\"", 1);
}

void tw_sink_json(struct tw_sink *sink, const char *text)
{
    tw_sink_json_size(sink, text, strlen(text));
}

void tw_sink_xml(struct tw_sink *sink, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);

    while (*at) {
        const size_t size = tw_utf8_size((const char *)at, left);

        if (*at == '<' || *at == '>' || *at == '&' || *at == '"' || *at == '\'')
            tw_sink_format(sink, "&#%d;", *at);
        else if (!size || *at < 0x20 || *at == 0x7f) /* XML has no control characters */
            tw_sink_text(sink, replacement);
        else
            tw_sink_bytes(sink, at, size);
        left -= size ? size : 1;
        at += size ? size : 1;
    }
}

void tw_sink_csv(struct tw_sink *sink, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        tw_sink_text(sink, text);
        return;
    }
    tw_sink_text(sink, "\"");
    for (; *text; text++) {
        if (*text == '"')
            tw_sink_text(sink, "\"");
        tw_sink_bytes(sink, text, 1);
    }
    tw_sink_text(sink, "\"");
}

enum tw_status tw_sink_end(struct tw_sink *sink)
{
    empty(sink);
    if (sink->lacks_memory)
        return TW_E_MEMORY;
    return sink->is_over ? TW_E_CANCELLED : TW_OK;
}

bool tw_subject_has_edge(const struct tw_subject *subject, const struct tw_call_edge *edge)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);

    return !subject->function ||
           strcmp(tw_functions_get(functions, edge->from)->name, subject->function) == 0 ||
           strcmp(tw_functions_get(functions, edge->to)->name, subject->function) == 0;
}

const char *tw_subject_name(const struct tw_subject *subject, const char *name)
{
    return subject->show_name ? subject->show_name(subject->show_context, name) : name;
}
