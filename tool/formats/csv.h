/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON lines as rows of comma-separated values, in fixed or chosen columns. */
#ifndef CSV_H
#define CSV_H

#include "shared/options.h"

enum { CSV_COLUMNS = 160 };

struct csv {
    const char *names[CSV_COLUMNS];
    size_t sizes[CSV_COLUMNS];
    size_t count;
    char *scratch; /* a copy of the line at work */
    size_t scratch_room;
};

/* The columns of `all` (comma-separated), or those that --columns chooses.  False: said why. */
bool csv_start(struct csv *csv, const struct options *options, const char *all);
void csv_free(struct csv *csv);
void csv_head(const struct csv *csv, struct output *out);
/* `line` may lie in the output's own room. */
void csv_row(struct csv *csv, struct output *out, const char *line);

extern const char csv_packet_columns[], csv_element_columns[];

#endif
