/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of packets and elements. */
#include "formats/lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { ROOM = 1024, EXTRA = 1100 }; /* a usual line; what may be put into it */

void lines_set_buffer(struct lines *lines, const char *buffer)
{
    struct tw_text prefix = tw_text_in(lines->prefix, sizeof lines->prefix);
    struct tw_text member = tw_text_in(lines->member, sizeof lines->member - 1);

    if (!buffer)
        return;
    tw_text_escaped(&prefix, buffer);
    tw_text_add(&prefix, ": ");
    tw_text_add(&member, "{");
    tw_json_text(&member, "buf", buffer);
    lines->member[0] = ',';
    if (member.failed) /* it was cut */
        (void)strcat(lines->member, "\"");
}

/* Puts text into a line that has room for it; the line's new size. */
static size_t insert(char *line, size_t size, size_t at, const char *text)
{
    const size_t more = strlen(text);

    memmove(line + at + more, line + at, size - at);
    for (size_t i = 0; i < more; i++)
        line[at + i] = text[i];
    return size + more;
}

/* "buf" stands after "t". */
static size_t insert_buffer(const struct lines *lines, char *line, size_t size)
{
    static const char key[] = "\"t\":\"";
    const char *type = lines->member[0] ? strstr(line, key) : NULL;
    const char *end = type ? strchr(type + sizeof key - 1, '"') : NULL;

    return end ? insert(line, size, (size_t)(end + 1 - line), lines->member) : size;
}

static size_t insert_seconds(const struct lines *lines, char *line, size_t size,
                             const struct tw_element *element)
{
    char text[64];
    const uint64_t whole = element->timestamp / lines->clock;
    const uint64_t rest = element->timestamp % lines->clock;
    const double fraction = (double)rest / (double)lines->clock * 1e9;

    if (lines->format == LINES_TEXT) {
        (void)snprintf(text, sizeof text, " (%" PRIu64 ".%09" PRIu64 " s)", whole,
                       (uint64_t)fraction);
        return insert(line, size, size, text);
    }
    (void)snprintf(text, sizeof text, ",\"seconds\":%" PRIu64 ".%09" PRIu64, whole,
                   (uint64_t)fraction);
    return insert(line, size, size - 1, text);
}

/* The line stands at the output's room, `size` long, EXTRA free behind it. */
static void finish(struct lines *lines, char *line, size_t size)
{
    if (lines->format == LINES_CSV) {
        line[size] = 0;
        csv_row(&lines->csv, lines->out, line); /* writes at the same place */
        return;
    }
    line[size] = '\n';
    output_took(lines->out, size + 1);
}

static void color(struct lines *lines, enum color color)
{
    if (lines->format == LINES_TEXT)
        output_color(lines->out, color);
}

void lines_packet(struct lines *lines, const struct tw_packet_view *view)
{
    const bool is_text = lines->format == LINES_TEXT;
    const bool is_marked = is_text && (view->is_bad || view->is_not_sync);
    size_t room = ROOM, size;
    char *line;

    if (is_marked)
        color(lines, view->is_bad ? RED : DIM);
    if (is_text)
        output_text(lines->out, lines->prefix);
    for (;;) {
        line = output_room(lines->out, room + EXTRA);
        size = is_text ? tw_packet_text(line, room, view) : tw_packet_json(line, room, view);
        if (size < room)
            break;
        room = size + 1;
    }
    if (!is_text)
        size = insert_buffer(lines, line, size);
    finish(lines, line, size);
    if (is_marked)
        color(lines, PLAIN);
}

void lines_element(struct lines *lines, const struct tw_element *element, uint8_t id)
{
    const bool is_text = lines->format == LINES_TEXT;
    const bool is_bad = element->type == TW_ELEMENT_ERROR;
    size_t size;
    char *line;

    if (is_bad)
        color(lines, RED);
    if (is_text)
        output_text(lines->out, lines->prefix);
    line = output_room(lines->out, ROOM + EXTRA);
    size = is_text ? tw_element_text(line, ROOM, element, id)
                   : tw_element_json(line, ROOM, element, id);
    if (!is_text)
        size = insert_buffer(lines, line, size);
    if (lines->clock && element->type == TW_ELEMENT_TIMESTAMP)
        size = insert_seconds(lines, line, size, element);
    if (lines->tail && *lines->tail)
        size = insert(line, size, is_text ? size : size - 1, lines->tail);
    finish(lines, line, size);
    if (is_bad)
        color(lines, PLAIN);
}
