/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --instructions: each executed instruction, with text, symbol and source line. */
#ifndef LISTING_H
#define LISTING_H

#include "formats/lines.h"
#include "shared/session.h"

struct listing;

/* NULL: out of memory, said so.  Elements other than ranges are given to `lines`. */
struct listing *listing_new(struct lines *lines, struct session *session);
void listing_free(struct listing *listing);

/* A part without what failed transactions undid. */
void listing_take(struct listing *listing, const struct tw_part *part);

#endif
