/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of ranges, sorted by the file that the code is from: what coverage and profiles are made of. */
#ifndef ANALYSIS_COUNTED_CODE_H
#define ANALYSIS_COUNTED_CODE_H

#include <trackway/run.h>

#include "analysis/range_counts.h"

/* A file with code, or the code of a capture that names none. */
struct tw_counted_file {
    const char *name; /* NULL: the capture does not say */
    char *own_name;   /* `name`, where no run holds it */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: not known */
    uint64_t key;
    struct tw_range_counts counts; /* addresses as linked */
    struct tw_symbols *symbols;    /* NULL: it has none */
    struct tw_image *image;        /* its bytes: at an address as linked plus `bias` */
    struct tw_view view;
    uint64_t bias;
};

struct tw_counted_code {
    struct tw_run *run; /* at work */
    struct tw_counted_file **files;
    size_t count, room;
    struct tw_counted_file *last; /* that was asked for; or NULL */
    uint64_t executed;            /* instructions, each time */
    uint64_t untraced;            /* of these, those of which it is not known where */
    uint64_t missing;             /* times that code was not there */
    bool is_out;
    const struct tw_allocator *allocator;
};

void tw_counted_code_release(struct tw_counted_code *code);

/* A counter of ranges for a run, but for its context and merge; what it counts goes to ... */
struct tw_run_counter tw_counted_code_counter(void);
/* ... the files here, in its merge, before it is settled. */
void tw_counted_code_add(struct tw_counted_code *code, struct tw_range_counts *counts,
                         const struct tw_part *whose);

/* Whether there was no memory for a file's lines: results would lack them. */
bool tw_counted_code_lacks_lines(const struct tw_counted_code *code);

/* The file of this name, with its build ID; NULL: no memory.  One that is made has no symbols. */
struct tw_counted_file *tw_counted_code_file(struct tw_counted_code *code,
                                             const struct tw_counted_file *like);

/* The counts of a range of a part's code (`range`: as executed), made when it is new; NULL: no
   memory. */
struct tw_range_count *tw_counted_code_range(struct tw_counted_code *code,
                                             const struct tw_part *whose,
                                             const struct tw_range_count *range);

#endif
