/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the ranges of a program were executed, where nobody wants to see each time: each way out of a
   block, or some decisions at a time.  A step of several is one lookup, which tells where they lead; it
   becomes ranges when the sums are taken. */
#ifndef IMAGE_SUMS_H
#define IMAGE_SUMS_H

#include <trackway/types.h>

#include "image/blocks.h"

/* Decisions in one word: the first is in the lowest bit, 1 is taken; a 1 above the last one ends them. */
enum {
    TW_STEP_DECISIONS = 3,
    TW_STEP_WORD_BITS = TW_STEP_DECISIONS + 1,
    TW_STEP_WORDS = 1 << TW_STEP_WORD_BITS,
    TW_STEP_MOST = 32 / TW_STEP_WORD_BITS * TW_STEP_DECISIONS,
    TW_STEP_BLOCKS = 64, /* in one, at most: jumps alone could go on for ever */
    TW_EDGE_BITS_LEAST = 9,
    TW_EDGE_BITS_MOST = 20
};

/* Where a step leads: a block, and above it how many are passed, or one of ... */
enum {
    TW_STEP_UNKNOWN = 0, /* it was not tried, or a link was not known */
    TW_STEP_NONE = 1     /* not to a block alone */
};
/* ... or, with this bit, the block whose indirect branch is the last decision: the trace tells next. */
#define TW_STEP_INDIRECT 0x80000000u

struct tw_step_sum {
    uint32_t to;
    uint32_t times; /* since they were added to the blocks' */
};

/* From an indirect branch to where it led. */
struct tw_edge_sum {
    uint64_t key; /* space, block of the branch, block at its target; 0: it is free */
    uint64_t times;
};

struct tw_sums {
    /* Steps with times (block * TW_STEP_WORDS + word), and blocks (* 2 + taken). */
    struct tw_summed {
        uint32_t space, number;
    } * steps, *blocks;
    size_t step_count, step_room, block_count, block_room;
    struct tw_edge_sum *edges; /* a hash map */
    uint32_t edge_count, edge_room;
    unsigned edge_shift;
    uint32_t *used_edges; /* places of those with times */
    size_t used_count, used_room;
    struct tw_map edge_times;  /* by key: of edges that had to make room for others */
    size_t edge_at;            /* tw_sums_next: the next of them */
    struct tw_range_sum *kept; /* of blocks that are no more */
    size_t kept_count, kept_room;
    const void *owner;   /* who has not taken yet what is here, or NULL: kept by who takes it */
    bool jumps_are_free; /* RISC-V: only conditional branches use up a decision */
};

/* Code is to be counted from now on; false: no memory. */
bool tw_sums_begin(struct tw_code *code);
void tw_sums_free(struct tw_code *code);

/* Tries to make a step; where it leads then. */
uint32_t tw_sums_make_step(struct tw_blocks *blocks, uint32_t number);
/* A step is made that had no times, or as many as fit. */
void tw_sums_list_step(struct tw_blocks *blocks, uint32_t number);
/* The last block (* 2 + taken) that a step passes. */
uint32_t tw_sums_step_last(const struct tw_blocks *blocks, uint32_t number);
/* An edge that is not at its first place, or has no times. */
void tw_sums_add_edge(struct tw_blocks *blocks, uint64_t key);
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

/* At most TW_STEP_MOST decisions as such words, TW_STEP_WORD_BITS each, the first in the lowest bits; 0
   ends them. */
uint32_t tw_steps_of(uint32_t decisions, unsigned count);

/* At most TW_STEP_DECISIONS. */
TW_INLINE uint32_t tw_step_word(uint64_t decisions, unsigned count)
{
    const uint32_t end = 1u << count;

    return ((uint32_t)decisions & (end - 1)) | end;
}

TW_INLINE uint32_t tw_step_number(uint32_t block, uint32_t word)
{
    return block * TW_STEP_WORDS | word;
}

/* Makes a step; where it leads. */
TW_INLINE uint32_t tw_sums_step(struct tw_blocks *blocks, uint32_t number)
{
    uint32_t to;

    if (TW_UNLIKELY(number >= blocks->step_room))
        return tw_sums_make_step(blocks, number);
    to = blocks->steps[number].to;
    if (TW_UNLIKELY(to < TW_BLOCK_FIRST))
        return to == TW_STEP_NONE ? to : tw_sums_make_step(blocks, number);
    if (TW_UNLIKELY(++blocks->steps[number].times <= 1))
        tw_sums_list_step(blocks, number);
    return to;
}

/* Whether a step leads to a block. */
TW_INLINE bool tw_step_is_plain(uint32_t to)
{
    return to - TW_BLOCK_FIRST < TW_STEP_INDIRECT - TW_BLOCK_FIRST;
}

TW_INLINE uint32_t tw_step_block(uint32_t to)
{
    return to & (TW_BLOCKS_MAX - 1u);
}

TW_INLINE uint32_t tw_step_passed(uint32_t to)
{
    return to >> TW_SLOT_NUMBER_BITS;
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

TW_INLINE uint32_t tw_edge_place(const struct tw_sums *sums, uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> sums->edge_shift);
}

/* The branch at the end of block `from` led to block `to`. */
TW_INLINE void tw_sums_edge(struct tw_sums *sums, struct tw_blocks *blocks, uint32_t from,
                            uint32_t to)
{
    const uint64_t key = (uint64_t)blocks->number << 2 * TW_SLOT_NUMBER_BITS |
                         (uint64_t)from << TW_SLOT_NUMBER_BITS | to;
    struct tw_edge_sum *edge = &sums->edges[tw_edge_place(sums, key)];

    if (TW_LIKELY(edge->key == key && edge->times))
        edge->times++;
    else
        tw_sums_add_edge(blocks, key);
}

#endif
