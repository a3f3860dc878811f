/* SPDX-License-Identifier: BSD-2-Clause */
/* --format text: lines for people. */
#include "formats/bits.h"
#include "formats/lines.h"

enum { LINE_ROOM = 8200 }; /* so much that the library writes straight into it */

/* Room for a line, which begins with the buffer's name; `end`: where it goes on. */
static char *put_prefix(struct lines *lines, size_t room, char **end)
{
    char *line = output_room(lines->out, lines->prefix_size + room);

    memcpy(line, lines->prefix, lines->prefix_size);
    *end = line + lines->prefix_size;
    return line;
}

static void put_packet(struct lines *lines, const struct tw_packet_view *packet)
{
    const bool is_marked = packet->is_bad || packet->is_not_sync;
    char *line, *end;

    if (is_marked)
        output_color(lines->out, packet->is_bad ? RED : DIM);
    line = put_prefix(lines, LINE_ROOM, &end);
    end += tw_packet_text(end, LINE_ROOM - 1, packet);
    *end++ = '\n';
    output_took(lines->out, (size_t)(end - line));
    if (is_marked)
        output_color(lines->out, PLAIN);
    if (packet->bits)
        bits_text(lines->out, packet);
}

/* The path is plain: what breaks it stands out, what goes along with it steps back. */
static enum color color_of(const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_ERROR:
        return RED;
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_ADDR_UNKNOWN:
        return YELLOW;
    case TW_ELEMENT_TRACE_ON:
        return element->reason == TW_TRACE_ON_OVERFLOW ? RED : BOLD;
    case TW_ELEMENT_NO_SYNC:
        return element->reason == TW_REASON_OVERFLOW ? RED : DIM;
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_EXCEPTION_RET:
        return CYAN;
    case TW_ELEMENT_PE_CONTEXT:
        return BOLD;
    case TW_ELEMENT_EVENT:
        return GREEN;
    case TW_ELEMENT_TIMESTAMP:
    case TW_ELEMENT_CYCLE_COUNT:
    case TW_ELEMENT_EO_TRACE:
        return DIM;
    default:
        return PLAIN;
    }
}

static void put_element(struct lines *lines, const struct tw_element *element,
                        const struct tw_batch *of)
{
    const enum color color = lines->out->has_color ? color_of(element) : PLAIN;
    const struct tw_members *own =
        lines_has_own(lines, of) ? lines_own_members(lines, element, of) : NULL;
    char *line, *end;

    if (color != PLAIN)
        output_color(lines->out, color);
    line = put_prefix(lines, LINE_ROOM + (own ? tw_members_most(own) : 0), &end);
    end += kept_text(lines->kept, end, element, of->id);
    if (own)
        end = tw_members_text(end, own);
    *end++ = '\n';
    output_took(lines->out, (size_t)(end - line));
    if (color != PLAIN)
        output_color(lines->out, PLAIN);
}

static const struct line_style style = { TW_MEMBER_TOLD, put_packet, put_element };

static void *start(const struct listing *listing)
{
    return lines_start(listing, &style, NULL);
}

const struct format format_text = {
    .name = "text",
    .flags =
        FORMAT_ELEMENTS | FORMAT_PACKETS | FORMAT_INSTRUCTIONS | FORMAT_ERRORS | FORMAT_FAILED,
    .start = start,
    .take = lines_take,
    .end = lines_end,
};
