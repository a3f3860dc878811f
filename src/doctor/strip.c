/* SPDX-License-Identifier: BSD-2-Clause */
/* Where trace is missing, as a picture. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"

enum { CELL = 7, ROW = 22, LEFT = 150, TOP = 28, BOTTOM = 26 };

static const struct {
    const char *colour, *words;
} looks[] = {
    [TW_STRIP_NOTHING] = { "#eeeeee", "no trace" },
    [TW_STRIP_SYNCED] = { "#4c9f70", "decoded" },
    [TW_STRIP_MISSING] = { "#e0b040", "code is missing" },
    [TW_STRIP_GAP] = { "#9aa0a6", "not synchronized" },
    [TW_STRIP_OVERFLOW] = { "#c0392b", "overflow" },
};

const struct tw_strip *tw_doctor_strip(const struct tw_doctor *doctor, size_t number)
{
    for (size_t i = 0; i < doctor->patient_count; i++)
        if (doctor->patients[i].strip.states && number-- == 0)
            return &doctor->patients[i].strip;
    return NULL;
}

static void draw_name(struct tw_text *out, const char *name)
{
    for (; *name; name++)
        switch (*name) {
        case '<':
            tw_text_add(out, "&lt;");
            break;
        case '>':
            tw_text_add(out, "&gt;");
            break;
        case '&':
            tw_text_add(out, "&amp;");
            break;
        default:
            tw_text_char(out, (unsigned char)*name < ' ' ? '?' : *name);
        }
}

static void draw_row(struct tw_text *out, const struct tw_strip *strip, unsigned row)
{
    const unsigned y = TOP + row * ROW;

    tw_text_format(out, "<text x=\"4\" y=\"%u\">", y + 12);
    draw_name(out, strip->name);
    tw_text_add(out, "</text>\n");
    for (unsigned from = 0; from < TW_STRIP_COLUMNS;) {
        unsigned to = from;

        while (to < TW_STRIP_COLUMNS && strip->states[to] == strip->states[from])
            to++;
        tw_text_format(
            out,
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"16\" fill=\"%s\"><title>%s, "
            "bytes %" PRIu64 " to %" PRIu64 "</title></rect>\n",
            LEFT + from * CELL, y, (to - from) * CELL, looks[strip->states[from]].colour,
            looks[strip->states[from]].words, strip->bytes * from / TW_STRIP_COLUMNS,
            strip->bytes * to / TW_STRIP_COLUMNS);
        from = to;
    }
}

size_t tw_doctor_svg(char *out, size_t room, const struct tw_doctor *doctor)
{
    struct tw_text text = { .allocator = doctor->allocator };
    unsigned rows = 0;
    size_t size;

    while (tw_doctor_strip(doctor, rows))
        rows++;
    tw_text_format(&text,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                   "font-family=\"sans-serif\" font-size=\"12\">\n",
                   LEFT + TW_STRIP_COLUMNS * CELL + 8, TOP + rows * ROW + BOTTOM);
    for (unsigned i = 0; i < TW_LENGTH(looks); i++)
        tw_text_format(
            &text,
            "<rect x=\"%u\" y=\"6\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%u\" "
            "y=\"16\">%s</text>\n",
            LEFT + i * 135, looks[i].colour, LEFT + i * 135 + 16, looks[i].words);
    for (unsigned i = 0; i < rows; i++)
        draw_row(&text, tw_doctor_strip(doctor, i), i);
    tw_text_add(&text, "</svg>\n");
    size = text.failed ? 0 : text.size;
    if (room) {
        const size_t part = size < room ? size : room - 1;

        if (part)
            memcpy(out, text.chars, part);
        out[part] = 0;
    }
    tw_text_free(&text);
    return size;
}
