/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code of a run's parts is, and what it is called. */
#ifndef ANALYSIS_CODE_PLACE_H
#define ANALYSIS_CODE_PLACE_H

#include <trackway/run.h>

#include "analysis/flow_range.h"

/* Numbers for what a run tells by pointers. */
struct tw_code_places {
    struct tw_run *run;
    const struct tw_part *part; /* at work */
    struct tw_map maps;         /* image and address space to a number */
    struct tw_map files;        /* names of files to a number */
    const struct tw_allocator *allocator;
};

void tw_code_places_init(struct tw_code_places *places, const struct tw_allocator *allocator);
void tw_code_places_release(struct tw_code_places *places);

/* The place of a part's code; valid while the part is.  False: no memory. */
bool tw_code_places_of(struct tw_code_places *places, struct tw_code_place *place,
                       struct tw_run *run, const struct tw_part *part);

#endif
