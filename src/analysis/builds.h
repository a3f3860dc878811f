/* SPDX-License-Identifier: BSD-2-Clause */
/* Which builds of which files a result speaks of: results of other builds are not added to it. */
#ifndef ANALYSIS_BUILDS_H
#define ANALYSIS_BUILDS_H

#include <stdint.h>

#include "analysis/saved.h"

struct tw_run;

struct tw_build {
    char *file;
    uint8_t id[20];
    uint8_t id_size; /* 0: not known */
};

struct tw_builds {
    struct tw_build *items; /* in the order of names */
    size_t count, room;
    const struct tw_allocator *allocator;
};

void tw_builds_release(struct tw_builds *builds);
/* The file that one of many things is of; NULL: none. */
typedef const char *tw_build_file_fn(const void *context, size_t number);
/* The files that a result speaks of; of those that are new the build ID is asked for: of what the run (or NULL) found
   for it, else of what is at its path.  False: no memory. */
bool tw_builds_note(struct tw_builds *builds, const struct tw_run *run,
                    tw_build_file_fn *file_of, const void *context, size_t count);
/* TW_E_ARGUMENT: a file is of another build there. */
enum tw_status tw_builds_add(struct tw_builds *builds, const struct tw_builds *other,
                             struct tw_fault *fault);
void tw_builds_save(const struct tw_builds *builds, struct tw_save *save);
void tw_builds_load(struct tw_builds *builds, struct tw_load *load);

#endif
