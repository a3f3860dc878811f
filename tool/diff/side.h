/* SPDX-License-Identifier: BSD-2-Clause */
/* One side of a comparison: what was executed, as stretches of addresses, from a capture or an execution log. */
#ifndef DIFF_SIDE_H
#define DIFF_SIDE_H

#include <trackway/log.h>
#include <trackway/walk.h>

#include "base/map.h"
#include "shared/session.h"

enum { SIDE_IGNORED = 64 };

/* What is left out on both sides. */
struct ignored {
    bool interrupts;
    struct tw_address_range ranges[SIDE_IGNORED];
    size_t range_count;
    const char *functions[SIDE_IGNORED];
    size_t function_count;
};

/* Instructions that were executed one behind the other. */
struct stretch {
    uint64_t start, length;
    uint64_t index;  /* capture: offset of the packet; log: 0 */
    uint64_t number; /* of its first instruction, from 0, of all that count */
    uint32_t count;  /* instructions */
    uint8_t isa;     /* enum tw_isa */
    bool after_gap;  /* trace or code is missing before it */
};

struct side {
    const char *path;
    struct options options; /* as this side's session sees them */
    struct session session;
    struct session_wish wish;
    const char *source; /* the one that is compared; NULL: all */
    struct tw_run *run;
    struct tw_log *log;
    bool is_log;
    const struct ignored *ignored;

    struct tw_part part; /* at work, and the next element of it */
    size_t element;
    uint64_t repeats;    /* of a REPEAT: rounds that are left ... */
    size_t repeat_first; /* ... of the elements from here to before `element` ... */
    size_t repeat_at;    /* ... and the next of them */
    const struct tw_retired *instructions; /* of a log's step */
    size_t instruction_count, done;
    struct tw_map sizes; /* of a log's instructions by address, where they differ ... */
    struct tw_map seen;  /* ... and the runs whose are known */

    bool skips; /* inside an interrupt, until `resume` */
    uint64_t resume;
    bool has_gap;
    uint64_t number;      /* of instructions so far that count */
    struct tw_part named; /* the last part: for names of code */
    bool is_failed;       /* said why */
};

/* DONE, or the exit status that says why not (said in words too). */
int side_open(struct side *side, const struct options *options, const char *path,
              const struct ignored *ignored);
/* The names of the sources that can be compared; how many. */
size_t side_sources(const struct side *side, const char **names, size_t room);
/* From the beginning, of one source alone (NULL: of all). */
bool side_start(struct side *side, const char *source);
/* The next stretch; false: there is none, or side->is_failed. */
bool side_next(struct side *side, struct stretch *stretch);
/* Passes over what both sides execute alike, as far as both give it in the same ranges: the quick way, for captures
   of which nothing is left out.  *end: the address behind the last instruction, if there was any. */
void side_pass_alike(struct side *a, struct side *b, uint64_t *end);
void side_close(struct side *side);

/* "0x400100 <main+16> at f.c:12", as far as the side knows. */
void side_put_code(struct side *side, struct output *out, uint64_t address);
/* The function that an address is in; "" if it has no name. */
const char *side_function(struct side *side, uint64_t address, uint64_t *first);

#endif
