/* SPDX-License-Identifier: BSD-2-Clause */
/* How far the work is, on standard error: a line that is written over on a terminal, or lines of
   JSON for programs. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/options.h"

struct progress {
    enum { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_JSON } how;
    uint64_t total, done; /* bytes of the capture */
    uint64_t began, said; /* ns; 0: not yet */
    bool is_shown;        /* the line stands there */
};

/* The work begins: so many bytes. */
void progress_start(struct progress *progress, const struct options *options, uint64_t total);
/* So many more are done. */
void progress_add(struct progress *progress, uint64_t bytes);
/* Something else is to be written: takes the line away. */
void progress_hide(struct progress *progress);
/* The work is done, or given up. */
void progress_end(struct progress *progress);

#endif
