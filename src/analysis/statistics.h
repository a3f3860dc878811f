/* SPDX-License-Identifier: BSD-2-Clause */
/* What statistics are made of: a row for each trace ID in each buffer. */
#ifndef ANALYSIS_STATISTICS_H
#define ANALYSIS_STATISTICS_H

#include <pthread.h>

#include <trackway/statistics.h>

#include "base/map.h"

/* Times: how many, the earliest and the latest. */
struct tw_time_span {
    uint64_t times, first, last;
};

/* In any order. */
static inline void tw_time_span_add(struct tw_time_span *to, const struct tw_time_span *from)
{
    if (from->times && (!to->times || from->first < to->first))
        to->first = from->first;
    if (from->times && (!to->times || from->last > to->last))
        to->last = from->last;
    to->times += from->times;
}

struct tw_statistics_type {
    char *name;
    uint32_t number; /* the protocol's */
    uint64_t packets, bytes;
};

struct tw_statistics_row {
    char *capture, *buffer, *protocol;
    uint32_t buffer_number;
    uint8_t id;
    uint64_t packets, bytes, bad, unsynced;
    uint64_t syncs, first_sync, last_sync, sync_least, sync_most;
    uint64_t lead_sync; /* the last before the run's extent, if has_lead */
    bool has_lead;
    uint64_t instructions, exceptions, errors, missing, overflows, discards;
    uint64_t cycles;
    struct tw_time_span times;
    struct tw_statistics_row *same_hash; /* while rows are added */
    struct tw_statistics_type *types;
    size_t type_count, type_room;
    uint32_t type_of[256]; /* by the protocol's number: in `types` + 1; 0: not there */
};

struct tw_statistics {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    const struct tw_capture *capture;
    struct tw_run_counter counter;
    pthread_mutex_t lock; /* of rows: two runs may be taken at a time */
    struct tw_statistics_row **rows;
    size_t row_count, row_room;
    struct tw_map by_key; /* buffer and ID of this capture: row + 1 */
    bool is_sorted, has_failed;
    /* Packets: rows of the buffer at work, by ID. */
    uint32_t packet_buffer;
    struct tw_statistics_row *packet_rows[256];
    struct tw_run *packets; /* that is read to its end; NULL: none */
    bool is_beside;         /* ... by a thread of its own */
    pthread_t thread;
    enum tw_status packet_status;
    struct tw_packet_count *types; /* for the caller */
    size_t type_room;
};

/* A new row, and a new type of packets in one; NULL: no memory. */
struct tw_statistics_row *tw_statistics_add_row(struct tw_statistics *statistics,
                                                const char *capture, const char *buffer,
                                                const char *protocol);
struct tw_statistics_type *tw_statistics_add_type(struct tw_statistics *statistics,
                                                  struct tw_statistics_row *row,
                                                  const char *name, uint32_t number);
/* Rows and types in the order that results have. */
void tw_statistics_order(struct tw_statistics *statistics);
/* What a file holds: *load tells whether it can be. */
struct tw_load;
void tw_statistics_read(struct tw_statistics *statistics, struct tw_load *load);

#endif
