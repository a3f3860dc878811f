/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of CSV: one for each key that a member may have. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "base/members.h"
#include "shared/options.h"

struct columns;

/* Of packets or of elements: all of them, or those that --columns chooses.  NULL: said why. */
struct columns *columns_new(const struct options *options, bool is_packets);
void columns_free(struct columns *columns);
/* Whether --columns names such as there are; false: said so. */
bool columns_check(const struct options *options, bool is_packets);

void columns_head(const struct columns *columns, struct output *out);
/* A row; members that have no column are left out. */
void columns_row(const struct columns *columns, struct output *out,
                 const struct tw_members *members);

#endif
