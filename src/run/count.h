/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting on the threads that decode: what a segment of a stream counts, and the totals of a buffer. */
#ifndef RUN_COUNT_H
#define RUN_COUNT_H

#include "run/run.h"

/* What was executed in one context, of a segment or of a whole buffer. */
struct tw_count_entry {
    /* Segments: what is known of it. */
    bool has_context, has_time;
    struct tw_element context;
    uint64_t timestamp;
    const struct tw_perf_thread *thread; /* perf.data, with both */
    struct tw_view view;
    bool is_lead;   /* its first elements are the segment's first */
    size_t follows; /* entry + 1 that they directly follow; 0: none */
    uint32_t total; /* that it belongs to, once that is known */
    /* Whole buffers. */
    struct tw_who who;
    uint32_t stream;
    uint32_t next; /* entry + 1 with the same hash */

    bool is_used;
    bool is_summed; /* sums are in it, whose order does not matter */
    struct tw_map missing,
        branches;       /* addresses of code that is not there: times, branches then */
    max_align_t *tally; /* the user's */
};

struct tw_count_entries {
    struct tw_count_entry **items;
    size_t count, room; /* those behind `count` keep their memory */
};

/* A segment: what tw_counter calls a tally. */
struct tw_count_segment {
    struct tw_count_entries entries;
    size_t last; /* entry that was counted into last, SIZE_MAX: none */
    bool has_context, has_time;
    struct tw_element context;
    uint64_t timestamp;
    /* before the first missing address: of the one in the segment before */
    uint64_t lead_branches;
    bool has_missing, is_failed, is_broken, is_resumed;
    uint64_t missing_address; /* the last */
    size_t missing_entry;
};

struct tw_run_count {
    struct tw_run *run;
    struct tw_counter counter;
    struct tw_reader *reader;
    struct tw_count_entries totals; /* of the buffer at work */
    struct tw_map by_who;
    struct tw_run_missing *missing; /* as it was when the buffer began */
    bool is_apart;                  /* threads count */
    bool is_again;                  /* a transaction failed: this buffer is counted by parts */
    bool is_failed, is_broken;
};

/* ---- count_segment.c ---- */

/* A new entry behind the last, or one whose memory was kept; NULL: no memory. */
struct tw_count_entry *tw_count_entry(const struct tw_run *run,
                                      struct tw_count_entries *entries);
void tw_count_clear(const struct tw_run *run, struct tw_count_entries *entries);
void tw_count_release(const struct tw_run *run, struct tw_count_entries *entries);

/* For struct tw_counter, on any thread; its context is the struct tw_run_count. */
void tw_segment_count(void *context, void *tally, const struct tw_batch *batch);
void tw_segment_sum(void *context, void *tally, const struct tw_range_sum *sums, size_t number,
                    const struct tw_batch *whose);
void tw_segment_clear(void *context, void *tally);
void tw_segment_release(void *context, void *tally);

#endif
