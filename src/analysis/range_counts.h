/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each range was executed, each way its last instruction went, and where indirect branches
   led: all that coverage, edge profiles and compiler feedback need.  Order does not matter, so sums
   of parts add up. */
#ifndef ANALYSIS_RANGE_COUNTS_H
#define ANALYSIS_RANGE_COUNTS_H

#include <trackway/types.h>

#include "base/map.h"

struct tw_range_count {
    uint64_t start;
    uint32_t length;       /* in bytes */
    uint32_t instructions; /* in it */
    uint64_t taken; /* times that its last instruction was executed, or a branch was taken */
    uint64_t not_taken;
    uint64_t cycles, time; /* that were estimated for it, where they were asked for */
    uint32_t next;         /* another that begins there; 0: none */
    uint8_t isa;
    uint8_t last; /* as in struct tw_element */
    bool is_conditional;
};

/* Where an indirect branch, a return or an exception led. */
struct tw_edge_count {
    uint64_t from; /* address of the instruction */
    uint64_t to;
    uint64_t count;
    uint32_t next; /* another from the same place; 0: none */
    uint8_t kind;  /* enum tw_edge_kind */
};

enum tw_edge_kind {
    TW_EDGE_INDIRECT,
    TW_EDGE_CALL,
    TW_EDGE_RETURN,
    TW_EDGE_EXCEPTION_RETURN,
    /* by file: a bit beside these, of edges that lead to another file, and of those that come from one
       (from UINT64_MAX) */
    TW_EDGE_OUTSIDE = 4
};

/* The same while counting goes on, by what its element holds, so that a range is known at a glance; the
   ways that its last instruction may go are two of them. */
struct tw_hot_range {
    uint64_t start;
    /* members of the element behind `range_cycles` as they lie there; 0: the place is free */
    uint64_t about;
    uint64_t times;
    uint32_t length;
    uint32_t leads; /* ends with an indirect branch that was taken */
};

/* A packet made no sense and was passed over, of data perhaps: where the path is lost with it, a NO_SYNC tells. */
static inline bool tw_error_is_of_packet(uint8_t code)
{
    return code == TW_ERROR_BAD_SEQUENCE || code == TW_ERROR_RESERVED_HEADER ||
           code == TW_ERROR_RESERVED_BITS || code == TW_ERROR_OVERFLOW;
}

/* What comes after it is not where the branch before it led. */
static inline bool tw_breaks_flow(const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_I_RANGE_NOPATH:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        return true;
    case TW_ELEMENT_ERROR:
        return !tw_error_is_of_packet(element->error);
    default:
        return false;
    }
}

enum { TW_RECENT_EDGES = 1024 };

struct tw_range_counts {
    struct tw_range_count *ranges; /* from 1 on */
    size_t range_count, range_room;
    struct tw_edge_count *edges; /* from 1 on */
    size_t edge_count, edge_room;
    struct tw_map by_start, by_from;
    uint64_t from;     /* of an indirect branch whose target comes next */
    uint8_t from_kind; /* enum tw_edge_kind */
    bool has_from;
    uint64_t first; /* where the first range begins, if nothing but it came before: has_first */
    bool has_first, has_begun;
    uint64_t instructions; /* in `ranges`, all times */
    uint64_t untraced;     /* instructions that are counted, but not where */
    uint64_t missing;      /* times that code was missing */
    bool is_out;
    bool without_edges; /* they are not wanted */
    const struct tw_allocator *allocator;
    uint32_t recent_edges[TW_RECENT_EDGES]; /* by low bits of both ends; 0: none */
    struct tw_hot_range *hot; /* not yet in `ranges`: open addressing, at most half full */
    size_t hot_room, hot_count;
    unsigned hot_shift; /* 64 - log2(hot_room) */
    /* What decoders summed, not yet in `hot`, and perhaps more than once: a thread that counts a segment only notes it, and who
       adds up the segments looks it up, in one table that stays near. */
    struct tw_hot_range *noted;
    size_t noted_count, noted_room;
};

void tw_range_counts_release(struct tw_range_counts *counts);
/* Empties it, keeps the memory. */
void tw_range_counts_clear(struct tw_range_counts *counts);
/* The same, but for a branch whose target comes next. */
void tw_range_counts_keep_end(struct tw_range_counts *counts);
/* Elements in the order of the trace.  is_resumed: they do not directly follow those before. */
void tw_range_counts_take(struct tw_range_counts *counts, const struct tw_element *elements,
                          size_t number, bool is_resumed);
/* Ranges and edges that were counted as they were decoded. */
void tw_range_counts_sum(struct tw_range_counts *counts, const struct tw_range_sum *sums,
                         size_t number);
/* What was counted goes to `ranges` and `instructions`.  Call it before these are read. */
void tw_range_counts_settle(struct tw_range_counts *counts);
/* What was noted is looked up.  Call it before tw_range_counts_hot. */
void tw_range_counts_look_up(struct tw_range_counts *counts);
/* The next of those that are not settled, from *at (0 at first) on; false: there is none. */
bool tw_range_counts_hot(const struct tw_range_counts *counts, size_t *at,
                         struct tw_range_count *range);
/* Adds what was counted elsewhere and settled, `bias` added to its addresses. */
void tw_range_counts_add(struct tw_range_counts *counts, const struct tw_range_counts *from,
                         uint64_t bias);
/* Adds what was counted of the trace right behind: an indirect branch at the seam leads there. */
void tw_range_counts_join(struct tw_range_counts *counts, struct tw_range_counts *later);

/* The counts of a range, made when it is new; NULL when memory is out. */
struct tw_range_count *tw_range_counts_range(struct tw_range_counts *counts,
                                             const struct tw_range_count *like);
struct tw_edge_count *tw_range_counts_edge(struct tw_range_counts *counts,
                                           const struct tw_edge_count *like);

#endif
