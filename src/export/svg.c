/* SPDX-License-Identifier: BSD-2-Clause */
/* See svg.h. */
#include "export/svg.h"

#include <inttypes.h>
#include <string.h>

void tw_svg_begin(struct tw_sink *sink, unsigned width, unsigned height)
{
    tw_sink_format(sink,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"trackway\" width=\"%u\" "
                   "height=\"%u\" viewBox=\"0 0 %u %u\"",
                   width, height, width, height);
}

void tw_svg_color(struct tw_sink *sink, const char *name)
{
    uint32_t hash = 2166136261u;

    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 16777619u;
    tw_sink_format(sink, "hsl(%" PRIu32 ",%" PRIu32 "%%,%" PRIu32 "%%)", 12 + hash % 40,
                   62 + hash / 64 % 20, 58 + hash / 4096 % 12);
}

void tw_svg_label(struct tw_sink *sink, const char *name, double width)
{
    const size_t room =
        width > 3 * TW_SVG_CHARACTER ? (size_t)((width - 6) / TW_SVG_CHARACTER) : 0;
    char text[256];
    size_t size = strlen(name);

    if (room < 3)
        return;
    if (size > room || size >= sizeof text) {
        size = room - 2 < sizeof text - 4 ? room - 2 : sizeof text - 4;
        while (size && ((unsigned char)name[size] & 0xc0) == 0x80)
            size--;
        memcpy(text, name, size);
        memcpy(text + size, "..", 3);
    } else {
        memcpy(text, name, size + 1);
    }
    tw_sink_xml(sink, text);
}
