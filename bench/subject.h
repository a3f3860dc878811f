/* SPDX-License-Identifier: BSD-2-Clause */
/* What is measured: a capture of the corpus, or one made by our own trace units. */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "harness.h"

enum { SUBJECT_SOURCES = 112, SUBJECT_OWNED = 16, SUBJECT_ID = 0x10 };

/* Program memory, for a peer that wants it piece by piece. */
struct subject_dump {
    uint64_t address, length;
    const uint8_t *bytes;
    uint32_t spaces; /* bits of enum tw_space; 0: all */
};

struct subject {
    char name[100];
    const char *protocol; /* of the source that is named first */
    enum tw_framing framing;
    const uint8_t *data;
    size_t size;
    struct tw_tree_source sources[SUBJECT_SOURCES]; /* the one with the most bytes first */
    size_t source_count;
    struct subject_dump *dumps;
    size_t dump_count;
    uint64_t instructions; /* that were executed and can be told; 0: not known */
    uint64_t slack;        /* so many more or less are right, too */
    double making;         /* seconds of CPU time in the trace unit; 0: not made */

    struct tw_capture *capture; /* or NULL */
    struct tw_image *image;     /* its own; or NULL */
    void *owned[SUBJECT_OWNED];
    size_t owned_count;
};

/* Of the corpus: "NAME" of a snapshot, "NAME:BUFFER", "NAME#PROTOCOL+PROTOCOL" for its sources of
   those kinds alone; "riscv/CASE".  "made/PROTOCOL,KEY=VALUE...": made, see make.h.  False: there is no corpus. */
bool subject_open(struct subject *subject, const char *what);
void subject_free(struct subject *subject);
/* Stops the program when a full decode cannot be right. */
void subject_check(const struct subject *subject, const struct bench_counts *counts);

/* The same trace again and again, up to so many bytes (no less than once). */
void subject_repeat(struct subject *subject, size_t bytes);
/* The first source's trace cut at its synchronization points into so many pieces, each under a trace
   ID of its own; the ID changes with each frame. */
void subject_spread(struct subject *subject, unsigned ids);
/* The first source's trace so many times side by side, each under a trace ID of its own. */
void subject_multiply(struct subject *subject, unsigned ids);
/* Program memory cut into pieces of 4 KiB; and so many that the trace never comes to. */
void subject_split_code(struct subject *subject);
void subject_add_regions(struct subject *subject, unsigned count);
/* As a snapshot folder, for tools. */
void subject_write(const struct subject *subject, const char *folder);

/* Memory that goes with the subject. */
void *subject_own(struct subject *subject, void *memory);

#endif
