/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a ring buffer begins: what its two files share. */
#ifndef IDENTIFY_WRAP_H
#define IDENTIFY_WRAP_H

#include "identify/identify.h"

enum {
    HEAD_LEAST = 24, /* bytes before the first synchronization that show where they belong */
    PERIODS_LEAST = 4
};

/* Where a stretch of a source's bytes lies in the file. */
struct wrap_place {
    size_t at;
    uint64_t offset;
};

/* The bytes of one source, and where they lie. */
struct wrap_stream {
    uint8_t id;
    const struct tw_trial *trial;
    uint8_t *bytes;
    size_t size, room;
    struct wrap_place *places;
    size_t place_count, place_room;
};

/* What reading showed. */
struct wrap_course {
    uint64_t packets, syncs, breaks, times, starts;
    size_t first_sync, last_sync; /* in the stream; SIZE_MAX: there is none */
    size_t broken;                /* where the first break begins */
    size_t shortest, longest; /* from synchronization to synchronization, without the break's */
    size_t break_period;      /* the one with the first break in it */
    size_t start;             /* where tracing was switched on, the first time */
    uint64_t first_time, last_time, least_time, most_time;
    uint64_t drop, next_drop; /* how far time goes back: most, and second most */
    size_t before, after;     /* ... where it does most: the packets */
    size_t between;    /* the first synchronization between them; SIZE_MAX: there is none */
    size_t since_time; /* the first synchronization since the last time */
};

struct wrap_search {
    struct tw_inquiry *inquiry;
    struct wrap_stream *threads; /* of all sources of the verdict */
    size_t count;
    const uint8_t *file; /* in the right byte order */
    size_t size;
    bool no_memory;
};

/* Reads the stream from its first byte. */
void tw_wrap_read(struct wrap_course *course, const struct wrap_search *search,
                  const struct wrap_stream *thread);
/* Packets of a protocol without synchronization that could not be read lie everywhere: they show nothing. */
bool tw_wrap_is_ragged(const struct wrap_course *course, const struct wrap_stream *thread);
/* How the bytes of all sources go on from the end of the file to its beginning.  False: they break off
   there, or nothing can be said. */
bool tw_wrap_goes_round(struct wrap_search *search, const struct wrap_course *courses);

#endif
