/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace is made of: packets and bytes by type, synchronization, instructions, time,
   losses.  Experimental. */
#ifndef TRACKWAY_STATISTICS_H
#define TRACKWAY_STATISTICS_H

#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The packets of one type. */
struct tw_packet_count {
    const char *name;
    uint64_t packets, bytes;
};

/* A trace ID in a buffer. */
struct tw_source_statistics {
    size_t size;        /* sizeof(struct tw_source_statistics), set by the caller */
    const char *buffer; /* its name; lasts as long as the statistics, as do all texts here */
    uint32_t buffer_number;
    uint8_t id;
    const char *protocol;

    /* From packets. */
    uint64_t packets, bytes;
    uint64_t bad;      /* packets that fit no rule */
    uint64_t unsynced; /* bytes without synchronization */
    uint64_t syncs;    /* packets that a reader can begin at; their offsets and distances: */
    uint64_t first_sync, last_sync, sync_least, sync_most;
    const struct tw_packet_count *types; /* most bytes first; lasts until the next call */
    size_t type_count;

    /* From elements. */
    uint64_t instructions, exceptions, errors;
    uint64_t missing; /* addresses that no image holds */
    uint64_t overflows, discards;
    uint64_t cycles;                            /* counted in the trace */
    uint64_t timestamps, first_time, last_time; /* the earliest and the latest */
};

struct tw_statistics;

/* `capture` may be NULL: only to load and add. */
TW_API TW_MUST_USE enum tw_status tw_statistics_new(struct tw_statistics **statistics,
                                                    const struct tw_capture *capture,
                                                    const struct tw_allocator *allocator,
                                                    struct tw_fault *fault);
TW_API void tw_statistics_free(struct tw_statistics *statistics);

/* The parts of a run of elements; and what tw_run_next_packet gives, of a run of packets.  Either may
   be left out. */
TW_API TW_MUST_USE enum tw_status tw_statistics_take(struct tw_statistics *statistics,
                                                     const struct tw_part *part);
TW_API TW_MUST_USE enum tw_status tw_statistics_take_packet(struct tw_statistics *statistics,
                                                            const struct tw_part *part,
                                                            const struct tw_packet_view *view);
/* The same, counted on the threads that decode: for tw_run_config.counter. */
TW_API const struct tw_run_counter *tw_statistics_counter(struct tw_statistics *statistics);
/* Takes a run of packets to its end: at once, by a thread of its own, while the caller takes another run
   of elements; or without is_beside in the second call, which waits for the end.  That one also tells
   whether memory sufficed so far, with packets or without, and may be asked again: TW_E_MEMORY. */
TW_API void tw_statistics_begin_packets(struct tw_statistics *statistics,
                                        struct tw_run *packets, bool is_beside);
TW_API TW_MUST_USE enum tw_status tw_statistics_end_packets(struct tw_statistics *statistics);

/* Adds what another one counted.  Buffers are the same when their numbers, their names and those of
   the captures are. */
TW_API TW_MUST_USE enum tw_status tw_statistics_add(struct tw_statistics *statistics,
                                                    const struct tw_statistics *other);
TW_API TW_MUST_USE enum tw_status tw_statistics_save(struct tw_statistics *statistics,
                                                     const char *path, struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_statistics_load(struct tw_statistics **statistics,
                                                     const char *path,
                                                     const struct tw_allocator *allocator,
                                                     struct tw_fault *fault);

/* Those that had packets or elements, in the order of buffers and IDs.  False: there is no such
   number, or no memory (tw_statistics_end_packets). */
TW_API bool tw_statistics_source(struct tw_statistics *statistics,
                                 struct tw_source_statistics *source, size_t number);

#ifdef __cplusplus
}
#endif

#endif
