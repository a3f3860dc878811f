/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing formats: each is a sink for what a run gives, one file and one row of a table. */
#ifndef FORMATS_H
#define FORMATS_H

#include "shared/session.h"

/* What a format lists, what it needs, and what goes with it; bits. */
enum {
    FORMAT_ELEMENTS = 0x01,
    FORMAT_PACKETS = 0x02,
    FORMAT_INSTRUCTIONS = 0x04, /* goes with --instructions */
    FORMAT_ERRORS = 0x08,       /* lists them with --errors; else they are said */
    FORMAT_FAILED = 0x10,       /* shows what a transaction executed that failed */
    FORMAT_OF_PERF = 0x20,      /* lists perf.data alone, in the order of time */
};

/* What is listed, and where it goes; stays until the format's end. */
struct listing {
    const struct options *options;
    struct session *session;
    struct output *out;
    bool is_packets;
};

struct format {
    const char *name; /* as --format takes it */
    unsigned flags;

    /* Writes what stands at the top.  The format's own state; NULL: it could not be done, said why. */
    void *(*start)(const struct listing *listing);
    /* Takes the elements of a part, or a packet; or with another kind of part the beginning or the end of
       a buffer.  False: it could not be done, said why. */
    bool (*take)(void *state, const struct tw_part *part, const struct tw_packet_view *packet);
    /* Writes what is left, unless nobody reads it any more, and frees the state. */
    void (*end)(void *state);
};

/* The names of formats of elements or packets, as struct command wants them: "text|jsonl". */
const char *format_names(unsigned what);
/* Lists a capture in the format that the options ask for; the exit status. */
int formats_list(const struct options *options, unsigned what);

#endif
