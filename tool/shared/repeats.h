/* SPDX-License-Identifier: BSD-2-Clause */
/* How often elements are listed that a REPEAT repeats: a few bytes of trace may claim more of them than
   anyone can keep. */
#ifndef REPEATS_H
#define REPEATS_H

#include <trackway/types.h>

#include "shared/options.h"
#include "shared/output.h"

struct repeats {
    uint64_t left;    /* elements that may still be listed again */
    uint64_t omitted; /* and those that were not */
};

/* One REPEAT: elements[first ... first + count - 1] are to be listed `times` more times; `omitted` times
   they are not. */
struct repeat {
    size_t first, count;
    uint64_t times, omitted;
};

/* --opt repeat-limit=N; else what trace of so many bytes may well tell. */
void repeats_start(struct repeats *repeats, const struct options *options, uint64_t bytes);
/* Of the REPEAT at batch->elements[at]. */
struct repeat repeats_of(struct repeats *repeats, const struct tw_batch *batch, size_t at);
/* A line in the listing that tells what is left out, if anything is. */
void repeats_note(struct output *out, const struct repeat *repeat);
/* The same of all, on standard error. */
void repeats_say(const struct repeats *repeats);

#endif
