/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of output for each packet or element, in the format asked for. */
#ifndef LINES_H
#define LINES_H

#include <trackway/tree.h>

#include "formats/csv.h"
#include "shared/output.h"

enum line_format { LINES_TEXT, LINES_JSON, LINES_CSV };

struct lines {
    struct output *out;
    enum line_format format;
    struct csv csv;
    char member[300]; /* `,"buf":"NAME"`, or empty */
    char prefix[200]; /* "NAME: " for text, or empty */
    uint64_t clock;   /* Hz; 0: no seconds */
    const char
        *tail; /* goes to the end of the next line; members of an object in JSON; or NULL */
};

/* `buffer` is NULL when there is but one. */
void lines_set_buffer(struct lines *lines, const char *buffer);
void lines_packet(struct lines *lines, const struct tw_packet_view *view);
void lines_element(struct lines *lines, const struct tw_element *element, uint8_t id);

#endif
