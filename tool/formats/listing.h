/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --instructions: each executed instruction, with text, symbol and source line. */
#ifndef LISTING_H
#define LISTING_H

#include "formats/lines.h"
#include "shared/names.h"

struct listing;

/* NULL: out of memory, said so.  Elements other than ranges are given to `lines`. */
struct listing *listing_new(struct lines *lines, const struct names *names);
void listing_free(struct listing *listing);

void listing_start(struct listing *listing, const struct session *session);
/* Elements of one ID, in order.  What a failed transaction undid is left out. */
void listing_take(struct listing *listing, const struct tw_batch *batch);
/* The end of a buffer: prints what is still held. */
void listing_end(struct listing *listing);

#endif
