/* SPDX-License-Identifier: BSD-2-Clause */
/* What both sides executed in all: instructions by function, and branches that were taken. */
#ifndef DIFF_COUNTS_H
#define DIFF_COUNTS_H

#include "diff/side.h"

/* Says what differs.  False: it could not be done, said why. */
bool counts_compare(struct side sides[2], struct side *names, const char *const sources[2],
                    struct output *out);

#endif
