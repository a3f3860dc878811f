/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the ranges of a program were executed, where nobody wants to see each time: each way out of a
   block, or three decisions at a time.  A step of three is one lookup, which tells where they lead; it
   becomes ranges when the sums are taken. */
#ifndef IMAGE_SUMS_H
#define IMAGE_SUMS_H

#include <trackway/types.h>

#include "image/blocks.h"

enum {
    TW_STEP_DECISIONS = 3,
    TW_STEP_WAYS = 1 << TW_STEP_DECISIONS,
    TW_STEP_BLOCKS = 64, /* in one, at most: jumps alone could go on for ever */
    TW_SUM_EDGE_BITS = 12
};

/* Three decisions from a block. */
struct tw_step_sum {
    /* the block that they lead to, and above it how many are passed; or one of ... */
    uint32_t to;
    uint32_t times; /* since the last time that they were added to the blocks' */
};

enum {
    TW_STEP_UNKNOWN = 0, /* it was not tried, or a link was not known */
    TW_STEP_NONE = 1     /* they do not lead to a block alone */
};

/* From an indirect branch to where it led. */
struct tw_edge_sum {
    uint64_t key; /* space, block of the branch, block at its target; 0: it is free */
    uint64_t times;
};

struct tw_sums {
    /* Steps with times (block * TW_STEP_WAYS + decisions), and blocks (* 2 + taken). */
    struct tw_summed {
        uint32_t space, number;
    } * steps, *blocks;
    size_t step_count, step_room, block_count, block_room;
    struct tw_edge_sum *edges; /* 1 << TW_SUM_EDGE_BITS */
    uint32_t *used_edges;
    size_t edge_count;
    struct tw_map edge_times;  /* by key: of edges that others took the place of */
    size_t edge_at;            /* tw_sums_next: the next of them */
    struct tw_range_sum *kept; /* of blocks that are no more */
    size_t kept_count, kept_room;
    bool jumps_are_free; /* RISC-V: only conditional branches use up a decision */
};

/* Code is to be counted from now on; false: no memory. */
bool tw_sums_begin(struct tw_code *code);
void tw_sums_free(struct tw_code *code);

/* Tries to make a step; what it is then. */
uint32_t tw_sums_make_step(struct tw_blocks *blocks, uint32_t block, unsigned decisions);
/* A step that has no times, or as many as fit, is made. */
void tw_sums_list_step(struct tw_blocks *blocks, uint32_t number);
void tw_sums_add_edge(struct tw_blocks *blocks, struct tw_edge_sum *place, uint64_t key);
/* A block (* 2 + taken) that was counted is not to be counted. */
void tw_sums_undo(struct tw_blocks *blocks, uint32_t block);
/* A block (* 2 + taken) that has no times yet was executed. */
void tw_sums_add_block(struct tw_blocks *blocks, uint32_t block);
/* Blocks are about to be thrown away. */
void tw_sums_keep(struct tw_code *code);

/* Takes some of what was counted; how many, 0: there is no more.  Call until then. */
size_t tw_sums_next(struct tw_code *code, struct tw_range_sum *out, size_t room);
/* What was counted never happened. */
void tw_sums_forget(struct tw_code *code);

/* Where three decisions from a block lead: it, and above it how many blocks are passed; or
   TW_STEP_UNKNOWN, TW_STEP_NONE. */
TW_INLINE uint32_t tw_sums_step(struct tw_blocks *blocks, uint32_t block, uint64_t decisions)
{
    const uint32_t ways = (uint32_t)decisions & (TW_STEP_WAYS - 1);
    const uint32_t number = block * TW_STEP_WAYS | ways;
    struct tw_step_sum *step;
    uint32_t times;

    if (TW_UNLIKELY(number >= blocks->step_room))
        return tw_sums_make_step(blocks, block, ways);
    step = &blocks->steps[number];
    if (TW_UNLIKELY(step->to < TW_BLOCK_FIRST))
        return step->to == TW_STEP_NONE ? step->to : tw_sums_make_step(blocks, block, ways);
    times = step->times++;
    if (TW_UNLIKELY(times + 1 <= 1)) /* none, or as many as fit */
        tw_sums_list_step(blocks, number);
    return step->to;
}

TW_INLINE uint32_t tw_step_block(uint32_t step)
{
    return step & (TW_BLOCKS_MAX - 1u);
}

TW_INLINE uint32_t tw_step_passed(uint32_t step)
{
    return step >> TW_SLOT_NUMBER_BITS;
}

/* A block's times: below this bit, modulo; the bit is set when it is in the list. */
#define TW_SUM_LISTED ((uint64_t)1 << 63)

/* Executes one block (* 2 + taken). */
TW_INLINE void tw_sums_block(struct tw_blocks *blocks, uint32_t block)
{
    if (TW_LIKELY(block < blocks->time_room && blocks->times[block] & TW_SUM_LISTED))
        blocks->times[block]++;
    else
        tw_sums_add_block(blocks, block);
}

/* The branch at the end of block `from` led to block `to`. */
TW_INLINE void tw_sums_edge(struct tw_sums *sums, struct tw_blocks *blocks, uint32_t from,
                            uint32_t to)
{
    const uint64_t key = (uint64_t)blocks->number << 2 * TW_SLOT_NUMBER_BITS |
                         (uint64_t)from << TW_SLOT_NUMBER_BITS | to;
    struct tw_edge_sum *edge =
        &sums->edges[key * 0x9e3779b97f4a7c15u >> (64 - TW_SUM_EDGE_BITS)];

    if (TW_LIKELY(edge->key == key && edge->times))
        edge->times++;
    else
        tw_sums_add_edge(blocks, edge, key);
}

#endif
