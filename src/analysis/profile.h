/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile: counts by code and by who executed, shares of time, and the rows that come of them. */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include <trackway/profile.h>

#include "analysis/calls.h"
#include "analysis/counted_code.h"
#include "analysis/time_shares.h"

/* Whose counts they are, where parts are taken one by one: all but `batch` and `when` of `part` is
   set. */
struct tw_profile_cell {
    struct tw_run *run;
    struct tw_part part;
    struct tw_range_counts counts;
    uint32_t row; /* of who executed */
    uint32_t next;
};

/* What is known of time in a stream of the run. */
struct tw_profile_stream {
    struct tw_touched_list cycles, time; /* executed since the last point of each */
    uint64_t last;                       /* time, if has_time */
    bool has_cycles, has_time;
    uint32_t cell; /* where its last elements went; TW_NONE: none */
};

/* A range whose time is shared: where it was executed first. */
struct tw_timed_range {
    uint32_t cell;
    uint32_t length;
    uint64_t start;
    uint8_t isa;
};

struct tw_profiler {
    enum tw_profile_by by;
    bool with_time, with_inlined, has_calls, is_finished;
    struct tw_builds builds; /* of files in results that were loaded */
    struct tw_calls *calls;  /* the caller's; or NULL */
    struct tw_counted_code code;
    struct tw_profile_row *rows;
    size_t row_count, row_room;
    struct tw_map row_of; /* while rows are made: what a row is to its number + 1 */
    char **names;         /* that were made here */
    size_t name_count, name_room;
    struct tw_profile_totals totals;
    struct tw_profile_branch *branches;
    struct tw_profile_target *targets;
    size_t branch_count, branch_room, target_count, target_room;

    /* Taking parts. */
    struct tw_run *run;
    struct tw_profile_cell **cells;
    size_t cell_count, cell_room;
    struct tw_map cell_of;
    struct tw_profile_stream *streams;
    size_t stream_count, stream_room;
    struct tw_code_places places;
    /* for `ranges` alone: numbers are the calls' where there are any */
    struct tw_functions functions;
    struct tw_flow_ranges ranges;
    struct tw_timed_range *timed; /* by the number of its flow range */
    size_t timed_count, timed_room;
    struct tw_shares cycles, time; /* by the number of what a row is, or of the flow range */
    bool is_out;
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

/* profile.c: marks in all rows what is told of time.  Returns the marks. */
uint8_t tw_profile_know_time(struct tw_profiler *profile);
/* profile_take.c */
void tw_profile_streams_release(struct tw_profiler *profile);

/* profile_who.c: the row of who executed a part; UINT32_MAX: no memory. */
uint32_t tw_profile_who(struct tw_profiler *profile, struct tw_run *run,
                        const struct tw_part *part);
uint64_t tw_profile_text_key(const char *text);
/* Settles what a part's executer executed, and adds it to its row; false: no memory. */
bool tw_profile_add_who(struct tw_profiler *profile, struct tw_run *run,
                        struct tw_range_counts *counts, const struct tw_part *whose);
/* profile_rows.c: a row with this key, made when it is new; NULL: no memory.  Valid until the next. */
struct tw_profile_row *tw_profile_row_of(struct tw_profiler *profile, uint64_t key,
                                         bool *is_new);
/* A name that lasts as long as the profile; NULL: no memory. */
const char *tw_profile_keep(struct tw_profiler *profile, const char *name);
bool tw_profile_code_rows(struct tw_profiler *profile);
bool tw_profile_call_rows(struct tw_profiler *profile);
void tw_profile_sort(struct tw_profiler *profile);
/* profile_branches.c */
bool tw_profile_branches(struct tw_profiler *profile);
/* Puts branches and targets in order, and joins those that are the same. */
void tw_profile_sort_branches(struct tw_profiler *profile);
/* profile_saved.c: what was saved, to a handle that is new. */
void tw_profile_read_saved(struct tw_profiler *profile, struct tw_load *load);

#endif
