/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a run: stacks by thread of execution, and their sums. */
#ifndef ANALYSIS_CALLS_H
#define ANALYSIS_CALLS_H

#include <pthread.h>

#include "analysis/builds.h"
#include "analysis/call_segments.h"
#include "analysis/code_place.h"
#include "analysis/saved.h"

struct tw_calls {
    struct tw_call_machine machine;
    struct tw_run *run; /* that parts came from last */
    struct tw_functions functions;
    struct tw_call_stack **stacks; /* by thread number */
    struct tw_call_thread *threads;
    size_t count, room, thread_room;
    struct tw_map by_key; /* hash of a thread to its number + 1 */
    struct tw_code_places places;
    struct tw_builds builds; /* of files in results that were loaded */
    uint64_t *gaps;          /* by stream of the run: times that trace went missing */
    size_t gap_room;
    bool is_part; /* of runs with an extent what came before is not known: */
    struct tw_call_segments segments; /* ... that were not joined yet */
    struct tw_call_segment *segment;  /* that elements go to */
    enum tw_call_key key;
    struct tw_call_quiet *quiet; /* call_quiet.c: of what may be left out; NULL: nothing */
    pthread_mutex_t lock;        /* of the run's symbols while threads count, and of `quiet` */
    uint32_t *old_of;            /* by function, once finished: its number before that */
    struct tw_call_totals *totals; /* by function, once finished */
    size_t total_count;
    bool is_finished;
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

/* All stacks end: of what is taken next nothing was before. */
void tw_calls_end_stacks(struct tw_calls *calls);

/* The stack of a thread, made when it is new; NULL when memory is out. */
struct tw_call_stack *tw_calls_stack(struct tw_calls *calls,
                                     const struct tw_call_thread *thread);

/* Whose stack a part goes on with. */
struct tw_call_thread tw_calls_thread_of(const struct tw_calls *calls,
                                         const struct tw_part *part);
/* That stack, made when it is new; NULL when memory is out. */
struct tw_call_stack *tw_calls_stack_of(struct tw_calls *calls, const struct tw_part *part);

/* A number for the stream that a part is of: the same in every run of a capture. */
uint64_t tw_calls_stream(const struct tw_part *part);

void tw_call_quiet_free(struct tw_call_quiet *quiet, const struct tw_allocator *allocator);

/* calls_mark.c, where no paths are asked for: the stacks of what runs in a stream as they are now, to go back to;
   NULL: no memory.  Going back to NULL: nothing was executed yet.  False: no memory. */
struct tw_calls_mark;
struct tw_calls_mark *tw_calls_mark(const struct tw_calls *calls, uint32_t stream);
void tw_calls_mark_free(const struct tw_calls *calls, struct tw_calls_mark *mark);
bool tw_calls_go_back(struct tw_calls *calls, uint32_t stream,
                      const struct tw_calls_mark *mark);

/* calls_saved.c: all of the one is added to the other. */
void tw_calls_stats_add(struct tw_calls_stats *to, struct tw_calls_stats *from);
/* What was saved, to a handle that is new. */
void tw_calls_read_saved(struct tw_calls *calls, struct tw_load *load);
void tw_calls_write_saved(struct tw_calls *calls, struct tw_save *save);
/* calls_seams.c: segments that were not joined yet. */
void tw_calls_write_segments(const struct tw_calls *calls, struct tw_save *save);
void tw_calls_read_segments(struct tw_calls *calls, struct tw_load *load);
/* call_order.c: functions, edges and paths get numbers that do not depend on when they were met.  False: no
   memory. */
bool tw_calls_order(struct tw_calls *calls);
/* call_sums.c */
bool tw_call_sums(struct tw_calls *calls);

#endif
