/* SPDX-License-Identifier: BSD-2-Clause */
/* --format csv: rows of comma-separated values, in fixed or chosen columns. */
#include <stdlib.h>

#include "formats/accesses.h"
#include "formats/lines.h"

static void put_packet(struct lines *lines, const struct tw_packet_view *packet)
{
    columns_row(lines->columns, lines->out, lines_packet_members(lines, packet));
}

static void put_element(struct lines *lines, const struct tw_element *element,
                        const struct tw_batch *of)
{
    columns_row(lines->columns, lines->out, lines_element_members(lines, element, of));
}

static const struct line_style style = { TW_MEMBER_LISTED, put_packet, put_element };

struct csv {
    struct columns *columns;
    void *lines;               /* the sink for them; or ... */
    struct accesses *accesses; /* ... of data trace alone */
};

static void end(void *state)
{
    struct csv *csv = state;

    if (csv->lines)
        lines_end(csv->lines);
    accesses_free(csv->accesses);
    columns_free(csv->columns);
    free(csv);
}

static bool start_lines(struct csv *csv, const struct listing *listing)
{
    csv->columns = columns_new(listing->options, listing->is_packets);
    if (!csv->columns)
        return false;
    csv->lines = lines_start(listing, &style, csv->columns);
    if (!csv->lines)
        return false;
    columns_head(csv->columns, listing->out);
    return true;
}

static void *start(const struct listing *listing)
{
    const struct options *options = listing->options;
    const bool is_plain = !listing->is_packets && !options->columns && !options->instructions;
    struct csv *csv = calloc(1, sizeof *csv);
    bool is_started;

    if (!csv) {
        say("out of memory");
        return NULL;
    }
    if (is_plain && accesses_fit(listing->session)) {
        csv->accesses = accesses_new(listing->session);
        is_started = csv->accesses != NULL;
    } else {
        is_started = start_lines(csv, listing);
    }
    if (is_started)
        return csv;
    end(csv);
    return NULL;
}

static bool take(void *state, const struct tw_part *part, const struct tw_packet_view *packet)
{
    struct csv *csv = state;

    if (csv->lines)
        return lines_take(csv->lines, part, packet);
    accesses_take(csv->accesses, part);
    return true;
}

const struct format format_csv = {
    .name = "csv",
    .flags =
        FORMAT_ELEMENTS | FORMAT_PACKETS | FORMAT_INSTRUCTIONS | FORMAT_ERRORS | FORMAT_FAILED,
    .start = start,
    .take = take,
    .end = end,
};
