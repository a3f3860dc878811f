/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code of a run's parts is, and what it is called. */
#ifndef ANALYSIS_CODE_PLACE_H
#define ANALYSIS_CODE_PLACE_H

#include <pthread.h>

#include <trackway/run.h>

#include "analysis/flow_range.h"

/* Numbers for what a run tells by pointers. */
struct tw_code_places {
    struct tw_run *run;
    const struct tw_part *part; /* at work */
    pthread_mutex_t *lock;      /* held while the run is asked for symbols; or NULL */
    struct tw_map maps;         /* image and address space to a number */
    uint64_t last_key;          /* that was asked for last ... */
    uint32_t last;              /* ... and its number; 0: none was */
    struct tw_map files;        /* names of files to a number */
    const struct tw_allocator *allocator;
};

void tw_code_places_init(struct tw_code_places *places, const struct tw_allocator *allocator);
void tw_code_places_release(struct tw_code_places *places);

/* The function that an address as linked is in, and from where up to where the piece of it that holds the
   address lies; false: it has none. */
bool tw_code_function(struct tw_symbols *symbols, struct tw_symbol *symbol, uint64_t *first,
                      uint64_t *end, uint64_t link);

/* The number of a file by its name: the same in every run that names it so; 0: there is none. */
uint32_t tw_code_places_file(struct tw_code_places *places, const char *name);

/* The place of a part's code; valid while the part is.  False: no memory. */
bool tw_code_places_of(struct tw_code_places *places, struct tw_code_place *place,
                       struct tw_run *run, const struct tw_part *part);

#endif
