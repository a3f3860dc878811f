/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of captures: logs of calls whose beginnings are not known until their neighbours are there. */
#ifndef ANALYSIS_CALL_SEGMENTS_H
#define ANALYSIS_CALL_SEGMENTS_H

#include "analysis/call_log.h"
#include "run/run.h"

struct tw_segment_stream {
    uint64_t stream; /* as in struct tw_call_log */
    uint64_t losses; /* times that trace went missing in the segment */
};

struct tw_call_segment {
    struct tw_run_stretch about; /* which part of which capture */
    struct tw_call_log **logs;   /* of each stack */
    size_t log_count, log_room;
    struct tw_segment_stream *streams;
    size_t stream_count, stream_room;
    bool is_joined; /* while they are: it has found its place */
    /* of the handle that made it; another may have it since */
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

struct tw_call_segments {
    struct tw_call_segment **items;
    size_t count, room;
};

struct tw_calls;

struct tw_call_segment *tw_call_segment_new(const struct tw_calls *calls);
void tw_call_segments_release(struct tw_calls *calls);
/* Elements of another run come: another segment. */
bool tw_call_segment_begin(struct tw_calls *calls, struct tw_run *run);
/* The part goes to the log of its thread's stack. */
bool tw_call_segment_take(struct tw_calls *calls, const struct tw_call_thread *thread,
                          const struct tw_part *part, const struct tw_code_place *place);
/* No more comes to the one at work. */
void tw_call_segment_end(struct tw_calls *calls);
/* Forgets the one at work, and those that wait. */
void tw_call_segment_drop(struct tw_calls *calls);
/* Joins those that follow each other from the beginning of a capture to its end: they are plain sums then.  `all`:
   the others, too, as if captures began and ended there. */
void tw_call_segments_join(struct tw_calls *calls, bool all);
/* Functions and edges got other numbers. */
void tw_call_segment_renumber(struct tw_call_segment *segment, const uint32_t *functions,
                              const uint32_t *edges);

#endif
