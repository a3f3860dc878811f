/* SPDX-License-Identifier: BSD-2-Clause */
/* --format jsonl: one JSON object to a line. */
#include "formats/bits.h"
#include "formats/lines.h"

static void put(struct lines *lines, const struct tw_members *members)
{
    char *line = output_room(lines->out, tw_members_most(members) + 1);
    char *end = tw_members_json(line, members);

    *end++ = '\n';
    output_took(lines->out, (size_t)(end - line));
}

static void put_packet(struct lines *lines, const struct tw_packet_view *packet)
{
    const struct tw_members *members = lines_packet_members(lines, packet);
    char *line, *end;

    if (!packet->bits) {
        put(lines, members);
        return;
    }
    line = output_room(lines->out, tw_members_most(members) + 1);
    end = tw_members_json(line, members);
    output_took(lines->out, (size_t)(end - 1 - line)); /* the last '}' comes behind the bits */
    bits_json(lines->out, packet);
    output_text(lines->out, "}\n");
}

static void put_element(struct lines *lines, const struct tw_element *element,
                        const struct tw_batch *of)
{
    put(lines, lines_element_members(lines, element, of));
}

static const struct line_style style = { TW_MEMBER_LISTED, put_packet, put_element };

static void *start(const struct listing *listing)
{
    return lines_start(listing, &style, NULL);
}

const struct format format_jsonl = {
    .name = "jsonl",
    .flags =
        FORMAT_ELEMENTS | FORMAT_PACKETS | FORMAT_INSTRUCTIONS | FORMAT_ERRORS | FORMAT_FAILED,
    .start = start,
    .take = lines_take,
    .end = lines_end,
};
