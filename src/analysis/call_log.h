/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a stack whose beginning is not known: of a segment of a thread of execution.  What does not depend on
   the frames below is added up at once, as epochs; what does (a return below where an epoch began, a jump, an
   exception, a loss) is kept as steps.  Taking these up again on the stack that was there gives what taking all
   elements would have given. */
#ifndef ANALYSIS_CALL_LOG_H
#define ANALYSIS_CALL_LOG_H

#include "analysis/call_stack.h"

enum {
    TW_LOG_DEPTH = 1 << 14 /* frames of an epoch at most */
};

/* Between two steps: ranges that need no more of the stack than that there is a frame on top of it.  Frame and node
   of that one are the epoch's first; its function is TW_FUNCTION_NONE. */
struct tw_call_epoch {
    uint32_t root; /* the node; those of the epoch follow, up to the root of the next one */
    uint32_t first_frame; /* frames that are still there at its end */
    uint32_t frames;
    struct tw_departure left; /* at its end */
};

struct tw_call_log {
    struct tw_call_thread thread;
    uint64_t stream; /* that it ran in: a number that all parts of a capture have in common */
    struct tw_call_step *steps;
    size_t step_count, step_room;
    struct tw_call_pieces pieces;
    struct tw_call_epoch *epochs;
    size_t epoch_count, epoch_room;
    struct tw_call_frame *frames;
    size_t frame_count, frame_room;
    struct tw_call_node *nodes; /* once it is closed; until then they are in the stack's tree */
    size_t node_count;
    uint64_t losses; /* of its stream, in this segment, when it ran last */
    /* While elements come. */
    uint32_t base_function; /* on top where the epoch began, as a range has it */
    bool is_open;           /* an epoch is */
};

struct tw_call_log *tw_call_log_new(const struct tw_allocator *allocator);
void tw_call_log_free(struct tw_call_log *log, const struct tw_allocator *allocator);

/* The next elements of a stack with a log. */
void tw_call_log_take(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_element *elements, size_t number,
                      const struct tw_code_place *place);
/* Something else than an element happens to it. */
void tw_call_log_note(struct tw_call_machine *machine, struct tw_call_stack *stack,
                      const struct tw_call_step *step);
/* No more comes: the log has it all, and is the stack's no more. */
struct tw_call_log *tw_call_log_close(struct tw_call_machine *machine,
                                      struct tw_call_stack *stack);
/* Whether a tail call of the top frame to a function asks for nothing below the epoch. */
bool tw_call_log_has_tail(const struct tw_call_machine *machine,
                          const struct tw_call_stack *stack, uint32_t function);

/* Takes up what a log holds.  `losses`: those of its stream in earlier segments. */
void tw_call_log_replay(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_call_log *log, uint64_t losses);

#endif
