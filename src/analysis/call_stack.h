/* SPDX-License-Identifier: BSD-2-Clause */
/* The call stack of one thread of execution, rebuilt from its taken branches. */
#ifndef ANALYSIS_CALL_STACK_H
#define ANALYSIS_CALL_STACK_H

#include <trackway/calls.h>

#include "analysis/call_tree.h"
#include "analysis/flow_range.h"
#include "base/compiler.h"

enum {
    TW_CALL_DEPTH_MOST = 1 << 16, /* deeper frames share the node of the deepest */
    TW_CALL_FRAMES_MOST = 1 << 20 /* more than that, and the oldest half is forgotten */
};

struct tw_call_frame {
    uint64_t returns_to; /* if has_return */
    uint32_t function;
    uint32_t node;   /* in the stack's tree */
    uint32_t parent; /* node of the frame below, or the root */
    uint8_t kind;    /* enum tw_call_kind */
    bool has_return;
};

/* A stack that another one took the place of. */
struct tw_parked_stack {
    struct tw_call_frame *frames;
    size_t count;
    uint32_t root;
    uint64_t address; /* where it was interrupted, or its top frame returns to */
    bool is_task;     /* interrupted by an exception: it goes on at that address */
};

/* How control left the range before. */
struct tw_departure {
    uint64_t from;  /* address of its last instruction */
    uint64_t after; /* the address behind it */
    uint32_t function;
    int32_t leap;     /* a direct call: from `after` to what it calls; 0: not known */
    uint8_t transfer; /* enum tw_transfer; NONE when not taken */
    bool is_trap;     /* an instruction that asks for the operating system */
    bool is_known;    /* else what comes next was not led to by a branch that is known */
};

struct tw_exception {
    uint64_t address; /* that it returns to, if has_address */
    bool is_pending;
    bool has_address;
    bool has_gap; /* its handler was not traced: TRACE_ON came after it */
    bool is_riscv;
    bool is_chained; /* M profile: it takes the place of the one that ended */
};

/* A stretch of a range that lies in one function. */
struct tw_call_piece {
    uint64_t at; /* address */
    uint32_t function;
    uint32_t count; /* instructions */
};

struct tw_call_pieces {
    struct tw_call_piece *items;
    size_t count, room;
};

/* What happens to a stack beside the ranges that change little. */
enum tw_call_step_kind {
    TW_CALL_STEP_ELEMENT,
    TW_CALL_STEP_REPEAT,     /* `pieces` steps that follow are repeated */
    TW_CALL_STEP_RESUMED,    /* elements were left out before it */
    TW_CALL_STEP_FIRST_PART, /* of the stack, in a segment: its stream had so many losses before */
    TW_CALL_STEP_GAP         /* the stack's stream lost trace while another ran */
};

/* An element with all that is looked up for it: it can be taken where there is no code any more. */
struct tw_call_step {
    struct tw_element element;
    struct tw_flow_range to; /* INSTR_RANGE; EXCEPTION: what it returns to */
    uint64_t losses;         /* TW_CALL_STEP_FIRST_PART */
    uint32_t first_piece;    /* a range in several functions: which, in order ... */
    uint32_t pieces;         /* ... 0: in one */
    uint32_t epoch;          /* what came directly after it, by number + 1; 0: nothing */
    uint8_t kind;            /* enum tw_call_step_kind */
};

struct tw_call_log;

struct tw_call_stack {
    struct tw_call_log *log; /* what came before is not known: call_log.h; else NULL */
    struct tw_call_frame *frames;
    size_t count, room;
    uint64_t pending; /* instructions of the top frame that its node does not have yet */
    struct tw_call_tree tree; /* of this stack since the last gap or merge */
    uint32_t root;            /* stands for the callers that are not known */
    int32_t outer; /* callers that returns have shown: the level of the first frame, negated */
    struct tw_departure left;
    struct tw_exception exception;
    uint64_t instructions;
    uint32_t thread; /* number */
    uint32_t stream; /* that it ran in last, and how many gaps that had by then */
    uint64_t gaps;
    bool has_begun;  /* something was executed since the last gap */
    bool has_gap;    /* ... before what comes next */
    bool lacks_code; /* ADDR_NACC came: the top frame is "[no code ...]" */
    struct tw_parked_stack *parked;
    size_t parked_count, parked_room;
};

enum tw_call_notice { TW_NOTICE_ELEMENT, TW_NOTICE_EXCEPTION_RETURN, TW_NOTICE_ARRIVAL };

/* Instructions of a range that follow each other and were inlined alike. */
enum { TW_INLINED_MOST = 12, TW_INLINED_DEPTH = 1 << 15 };

struct tw_inlined_piece {
    uint32_t count; /* instructions */
    uint32_t depth;
    uint32_t functions[TW_INLINED_MOST]; /* the outermost first */
};

struct tw_inlined_range {
    uint32_t first, number; /* of its pieces; number 0: they are not known yet */
};

struct tw_call_inlined {
    struct tw_inlined_piece *pieces;
    size_t piece_count, piece_room;
    struct tw_inlined_range *by_range; /* by number of the flow range */
    size_t range_count, range_room;
};

enum { TW_RECENT_CALL_BITS = 14, TW_RECENT_CALLS = 1 << TW_RECENT_CALL_BITS };

/* The number that code without a symbol has. */
struct tw_unnamed_code {
    uint64_t address;
    uint32_t function;
};

/* What all stacks of an analysis share. */
struct tw_call_machine {
    struct tw_functions *functions;
    struct tw_flow_ranges ranges;
    struct tw_call_edges edges;
    struct tw_call_tree tree; /* of all stacks, as far as they were merged */
    struct tw_calls_stats stats;
    uint64_t losses;   /* elements that told of missing trace, since the caller set it to 0 */
    bool is_logical;   /* tail calls keep their caller on the stack */
    bool with_inlined; /* functions that were inlined are frames */
    struct tw_call_inlined inlined;
    struct tw_call_pieces pieces; /* of the range at work */
    struct tw_call_step *steps;   /* of the repeat at work */
    size_t step_room;
    bool is_out;
    void (*event)(void *context, const struct tw_call_event *event); /* NULL: not wanted */
    /* For a timeline: of each element that is no range, after the stack took it; of a range that ends
       with an exception return, when it is left; and of one that control comes to otherwise than by a
       branch, before the stack takes it.  NULL: not wanted. */
    void (*notice)(void *context, struct tw_call_stack *stack, const struct tw_element *element,
                   enum tw_call_notice what);
    void *context;
    struct tw_unnamed_code unnamed[1024]; /* by low bits of the address */
    /* nodes of calls, of whatever stack, by caller's node and callee: a guess that has to be looked at */
    uint32_t recent[TW_RECENT_CALLS];
    uint64_t base; /* instructions of the stack at work before what it takes now */
    /* that it takes now, but for ranges that change nothing */
    const struct tw_element *current;
    const struct tw_allocator *allocator;
};

bool tw_call_stack_init(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        uint32_t thread);
void tw_call_stack_release(struct tw_call_machine *machine, struct tw_call_stack *stack);

/* The next elements of this thread of execution. */
void tw_call_stack_take(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_element *elements, size_t number,
                        const struct tw_code_place *place);
/* call_take.c: an element with what is known of its code; false: no memory. */
bool tw_call_resolve(struct tw_call_machine *machine, struct tw_call_step *step,
                     struct tw_call_pieces *pieces, const struct tw_element *element,
                     const struct tw_code_place *place);
/* The same of elements that are repeated. */
bool tw_call_resolve_loop(struct tw_call_machine *machine, struct tw_call_step *steps,
                          struct tw_call_pieces *pieces, const struct tw_element *first,
                          size_t reach, const struct tw_code_place *place);
/* Takes a step, of a repeat many; returns how many. */
size_t tw_call_apply(struct tw_call_machine *machine, struct tw_call_stack *stack,
                     const struct tw_call_step *steps, const struct tw_call_pieces *pieces);
/* Instructions of the top frame were executed. */
static inline void tw_call_count(struct tw_call_stack *stack, uint64_t instructions)
{
    stack->pending += instructions;
    stack->instructions += instructions;
}
/* call_plain.c: the function of the top frame as ranges in it have it: code without a symbol is one function. */
uint32_t tw_call_function_of_top(const struct tw_call_machine *machine,
                                 const struct tw_call_stack *stack);
/* As many ranges as there are plain ones: in the function of the top frame, called by it, or returned to;
   how many those are. */
size_t tw_call_take_quietly(struct tw_call_machine *machine, struct tw_call_stack *stack,
                            const struct tw_element *elements, size_t room,
                            const struct tw_code_place *place);
/* Whether all that is repeated lies in the function of the top frame; counts it then. */
bool tw_call_count_loop(struct tw_call_machine *machine, struct tw_call_stack *stack,
                        const struct tw_call_step *body, size_t reach, uint64_t times);
/* Where a call led that was left last; `range` is the first that was written since. */
static inline uint64_t tw_call_callee(const struct tw_departure *left,
                                      const struct tw_element *range)
{
    /* Quiet ranges came before it (image/quiet.h), with what was called among them. */
    if (left->leap && range->range_cycles && !(range->flags & TW_FLAG_HAS_CYCLES))
        return left->after + (uint64_t)(int64_t)left->leap;
    return range->start;
}
/* Control is behind a range now. */
void tw_call_leave_range(struct tw_call_machine *machine, struct tw_call_stack *stack,
                         const struct tw_element *range, const struct tw_flow_range *to);
/* Whether an element may change a stack. */
bool tw_call_matters(const struct tw_element *element);
/* Trace is missing from here on: open frames end. */
void tw_call_stack_gap(struct tw_call_machine *machine, struct tw_call_stack *stack,
                       uint64_t index, enum tw_leave_kind why);
/* Gives the machine's tree what this stack's own one holds. */
void tw_call_stack_merge(struct tw_call_machine *machine, struct tw_call_stack *stack);

/* call_stack.c: the rules.  Control comes to a range, by what left the one before: the function on top is the range's
   then. */
void tw_call_arrive(struct tw_call_machine *machine, struct tw_call_stack *stack,
                    const struct tw_element *range, const struct tw_flow_range *to);
/* Control came to an address where nothing was executed yet: an exception came first. */
void tw_call_reach(struct tw_call_machine *machine, struct tw_call_stack *stack, uint64_t index,
                   const struct tw_flow_range *to);
/* Where the number of code without a symbol may be found again, by its address: a guess. */
static inline struct tw_unnamed_code *tw_call_unnamed(struct tw_call_machine *machine,
                                                      uint64_t address)
{
    return &machine->unnamed[(address >> 2 ^ address >> 12) % TW_LENGTH(machine->unnamed)];
}
/* The number for code that control comes to: code without a symbol is named by where that is. */
uint32_t tw_call_name(struct tw_call_machine *machine, uint64_t address);
static inline uint32_t tw_call_named(struct tw_call_machine *machine, uint32_t function,
                                     uint64_t address)
{
    const struct tw_unnamed_code *recent = tw_call_unnamed(machine, address);

    if (function != TW_FUNCTION_ANY)
        return function;
    return recent->address == address && recent->function ? recent->function
                                                          : tw_call_name(machine, address);
}
/* How many frames are left when the one that returns to a range is gone; SIZE_MAX: none does.  A jump through a register
   (longjmp, old Thumb code) returns from calls alone: what an exception interrupted may be where any jump leads. */
size_t tw_call_below_return(const struct tw_call_stack *stack, const struct tw_flow_range *to,
                            bool is_jump);
/* Whether control stays in the function of the top frame. */
bool tw_call_is_in_top(const struct tw_call_machine *machine, const struct tw_call_stack *stack,
                       uint32_t function);

/* call_inlined.c: counts a range that lies in the function of the top frame. */
void tw_call_count_inlined(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *range, const struct tw_code_place *place,
                           size_t number);
void tw_call_inlined_release(struct tw_call_machine *machine);

/* call_frames.c: frames pushed, popped and parked. */
void tw_call_push(struct tw_call_machine *machine, struct tw_call_stack *stack,
                  const struct tw_call_frame *frame, uint32_t from,
                  const struct tw_element *at);
void tw_call_tail(struct tw_call_machine *machine, struct tw_call_stack *stack,
                  uint32_t function, const struct tw_element *at);
void tw_call_pop(struct tw_call_machine *machine, struct tw_call_stack *stack, size_t count,
                 enum tw_leave_kind why, const struct tw_element *at);
void tw_call_begin(struct tw_call_machine *machine, struct tw_call_stack *stack,
                   uint32_t function, bool is_entry, const struct tw_element *at);
void tw_call_outer(struct tw_call_machine *machine, struct tw_call_stack *stack,
                   uint32_t function, const struct tw_element *at);
void tw_call_park(struct tw_call_machine *machine, struct tw_call_stack *stack, size_t count,
                  uint64_t address, bool is_task);
/* True: exactly one parked stack fits, and is the stack now. */
bool tw_call_resume(struct tw_call_machine *machine, struct tw_call_stack *stack,
                    uint64_t address, bool is_task);
void tw_call_drop_parked(struct tw_call_machine *machine, struct tw_call_stack *stack);
/* There are too many frames: the oldest half goes, and its callers are not known any more. */
void tw_call_forget_oldest(struct tw_call_stack *stack);
/* The top frame's node gets what was executed since it became the top. */
static inline void tw_call_flush(struct tw_call_machine *machine, struct tw_call_stack *stack)
{
    if (!stack->pending || !stack->count)
        return;
    stack->tree.nodes[stack->frames[stack->count - 1].node].self += stack->pending;
    machine->stats.instructions += stack->pending;
    stack->pending = 0;
}
/* Where the node of a call may be found again, by who called from where: a guess. */
static inline uint32_t *tw_call_recent(struct tw_call_machine *machine, uint32_t parent,
                                       uint32_t function)
{
    return &machine->recent[(parent * 0x9e3779b1u ^ function * 0x85ebca6bu) >>
                            (32 - TW_RECENT_CALL_BITS)];
}
/* The node of a call below `parent`, if the guess is right; else 0. */
static inline uint32_t tw_call_node_again(struct tw_call_machine *machine,
                                          const struct tw_call_stack *stack, uint32_t parent,
                                          uint32_t from, const struct tw_call_frame *frame)
{
    const uint32_t node = *tw_call_recent(machine, parent, frame->function);
    const struct tw_call_tree *tree = &stack->tree;
    const struct tw_call_edge *edge;

    if (!node || node >= tree->count || tree->nodes[node].parent != parent)
        return 0;
    edge = &machine->edges.items[tree->nodes[node].edge];
    return edge->from == from && edge->to == frame->function && edge->kind == frame->kind ? node
                                                                                          : 0;
}

#endif
