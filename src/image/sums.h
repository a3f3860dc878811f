/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the ranges of a program were executed, where nobody wants to see each time: each way out of a
   block, or some decisions at a time.  A step of several decisions is one lookup, which tells where they lead, and
   becomes ways when the sums are taken. */
#ifndef IMAGE_SUMS_H
#define IMAGE_SUMS_H

#include <trackway/types.h>

#include "image/blocks.h"

/* Decisions in one word: the first is in the lowest bit, 1 is taken; a 1 above the last one ends them. */
enum {
    TW_STEP_DECISIONS = 3,
    TW_STEP_WORD_BITS = TW_STEP_DECISIONS + 1,
    TW_STEP_WORDS = 1 << TW_STEP_WORD_BITS,
    TW_STEP_BLOCKS = 64, /* in one, at most: jumps alone could go on for ever */
    TW_EDGE_BITS_LEAST = 9,
    TW_EDGE_BITS_MOST = 20
};

/* Where a step leads: the number of a block's first step, and above it how many blocks are passed; without these the block at whose end it
   leaves the known: its branch was taken, and the trace tells where to.  Or one of ... */
enum {
    TW_STEP_UNKNOWN = 0, /* it was not tried, or a link was not known */
    TW_STEP_NONE = 1,    /* neither */
    TW_STEP_PASSED_SHIFT = TW_SLOT_NUMBER_BITS + TW_STEP_WORD_BITS
};

/* A way out of a block (* 2 + taken), counted. */
struct tw_sum_way {
    uint32_t times;
};

struct tw_step_sum {
    uint32_t to;
    uint32_t times; /* since they were added to the ways' */
};

/* From an indirect branch to where it led. */
struct tw_edge_sum {
    uint64_t key; /* space, block of the branch, block at its target; 0: it is free */
    uint64_t times;
};

/* A fuzzer's map, where what is counted goes at once: a byte for each way that has one, up to 255. */
#define TW_SUM_NO_BYTE UINT32_MAX
struct tw_sum_bytes {
    /* Which is that of this range; or TW_SUM_NO_BYTE. */
    uint32_t (*find)(void *context, const struct tw_element *range);
    void *context;
    uint8_t *bytes;
    uint64_t instructions; /* that were executed ... */
    uint32_t count;        /* ... and bytes that are not 0 any more, both added to */
};

struct tw_sums {
    /* Steps (block * TW_STEP_WORDS + word) and ways with times, and above each its space. */
    uint64_t *steps, *ways;
    size_t step_count, step_room, way_count, way_room;
    uint64_t *undone; /* ways that steps counted once too often */
    size_t undone_count, undone_room;
    /* A hash map, empty once all was taken: it is as large as what is counted at a time, and so stays near. */
    struct tw_edge_sum *edges;
    uint32_t edge_room;
    unsigned edge_shift;
    uint32_t *used_edges; /* places of those that there are */
    size_t used_count, used_room;
    struct tw_map edge_times; /* by key: of edges that had to make room for others */
    size_t edge_at;           /* tw_sums_next: the next of them */
    /* Of blocks that are no more, and what did not fit a way's times. */
    struct tw_range_sum *kept;
    size_t kept_count, kept_room;
    struct tw_sum_bytes *bytes; /* or NULL */
    const void *owner;   /* who has not taken yet what is here, or NULL: kept by who takes it */
    bool jumps_are_free; /* RISC-V: only conditional branches use up a decision */
    /* N-Trace: steps are measured, and none leads over a call, which is kept in mind */
    bool has_lengths;
};

/* Code is to be counted from now on; false: no memory. */
bool tw_sums_begin(struct tw_code *code);
void tw_sums_free(struct tw_code *code);
/* From now on tw_sums_next puts ways into these bytes, not among what it gives; false: no memory. */
bool tw_sums_set_bytes(struct tw_code *code, struct tw_sum_bytes *bytes);
/* Puts a way's times into its byte; and those of all steps into the bytes of the ways that they are made of. */
void tw_sums_way_to_byte(struct tw_blocks *blocks, uint32_t way, uint32_t times);
void tw_sums_steps_to_bytes(struct tw_code *code);

/* Tries to make a step; where it leads then. */
uint32_t tw_sums_make_step(struct tw_blocks *blocks, uint32_t number);
/* The last way of decisions (a 1 above the last one ends them) from a block on, where each uses up one. */
uint32_t tw_sums_last(const struct tw_blocks *blocks, uint32_t block, uint64_t decisions);
/* Lists a step where there is no room, or it was made as often as fits. */
void tw_sums_list_slowly(struct tw_blocks *blocks, uint32_t number);
/* An edge that is not at its first place. */
void tw_sums_add_edge(struct tw_blocks *blocks, uint64_t key);
/* A way that was the last to be counted is not to be counted. */
void tw_sums_undo(struct tw_blocks *blocks, uint32_t way);
/* The same of an edge. */
void tw_sums_undo_edge(struct tw_blocks *blocks, uint32_t from, uint32_t to);
/* A way is gone that has no times yet, or as many as fit. */
void tw_sums_add_way(struct tw_blocks *blocks, uint32_t way);
/* Room for the ways of all blocks that there is room for; false: no memory. */
bool tw_sums_grow(struct tw_blocks *blocks);
/* Blocks are about to be thrown away. */
void tw_sums_keep(struct tw_code *code);

/* Takes some of what was counted; how many, 0: there is no more.  Call until then. */
size_t tw_sums_next(struct tw_code *code, struct tw_range_sum *out, size_t room);
/* What was counted never happened. */
void tw_sums_forget(struct tw_code *code);

/* At most TW_STEP_DECISIONS. */
TW_INLINE uint32_t tw_step_word(uint64_t decisions, unsigned count)
{
    const uint32_t end = 1u << count;

    return ((uint32_t)decisions & (end - 1)) | end;
}

/* The word of the first step of decisions. */
TW_INLINE uint32_t tw_step_first(uint64_t decisions)
{
    return decisions < TW_STEP_WORDS ? (uint32_t)decisions
                                     : tw_step_word(decisions, TW_STEP_DECISIONS);
}

/* What is left behind it. */
TW_INLINE uint64_t tw_step_rest(uint64_t decisions)
{
    return decisions < TW_STEP_WORDS ? 1 : decisions >> TW_STEP_DECISIONS;
}

/* The word of the last step of decisions. */
TW_INLINE uint32_t tw_step_end(uint64_t decisions)
{
    const unsigned count = tw_highest_bit(decisions);

    return (uint32_t)(decisions >> (count - 1) / TW_STEP_DECISIONS * TW_STEP_DECISIONS);
}

TW_INLINE uint32_t tw_step_number(uint32_t block, uint32_t word)
{
    return block * TW_STEP_WORDS | word;
}

/* What is listed. */
TW_INLINE uint64_t tw_summed(const struct tw_blocks *blocks, uint32_t number)
{
    return (uint64_t)blocks->number << 32 | number;
}

/* A step is made that had no times, or as many as fit. */
TW_INLINE void tw_sums_list_step(struct tw_blocks *blocks, uint32_t number)
{
    struct tw_sums *const sums = blocks->code->sums;

    if (TW_LIKELY(sums->step_count < sums->step_room && blocks->steps[number].times))
        sums->steps[sums->step_count++] = tw_summed(blocks, number);
    else
        tw_sums_list_slowly(blocks, number);
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

/* The same, if it leads through so many bytes of code at most; else, or if it leads nowhere, 0. */
TW_INLINE uint32_t tw_sums_step_within(struct tw_blocks *blocks, uint32_t number, uint64_t most)
{
    uint32_t to = TW_STEP_UNKNOWN;

    if (TW_LIKELY(number < blocks->step_room))
        to = blocks->steps[number].to;
    if (TW_LIKELY(to >= TW_BLOCK_FIRST)) {
        if (TW_UNLIKELY(blocks->step_lengths[number] > most))
            return 0;
        if (TW_UNLIKELY(++blocks->steps[number].times <= 1))
            tw_sums_list_step(blocks, number);
        return to;
    }
    if (to == TW_STEP_NONE)
        return 0;
    to = tw_sums_make_step(blocks, number);
    if (to < TW_BLOCK_FIRST)
        return 0;
    if (blocks->step_lengths[number] <= most)
        return to;
    blocks->steps[number].times--;
    return 0;
}

TW_INLINE uint32_t tw_step_block(uint32_t to)
{
    return (to & ((1u << TW_STEP_PASSED_SHIFT) - 1)) / TW_STEP_WORDS;
}

/* 0: not to another block. */
TW_INLINE uint32_t tw_step_passed(uint32_t to)
{
    return to >> TW_STEP_PASSED_SHIFT;
}

/* Steps of as many decisions as one may have, as long as they are known and lead from block to block; decisions that are left.  *here is
   the number of a block's first step; adds to *passed the blocks that were passed. */
TW_INLINE uint64_t tw_sums_whole_steps(struct tw_blocks *blocks, size_t *here, uint32_t *passed,
                                       uint64_t decisions)
{
    enum { WHOLE = 1 << TW_STEP_DECISIONS }; /* words below are of fewer decisions */
    /* By numbers: there may be no steps yet, and then no room. */
    struct tw_step_sum *const whole =
        (struct tw_step_sum *)((uintptr_t)blocks->steps + WHOLE * sizeof *whole);
    const size_t room = blocks->step_room;

    for (; decisions >= TW_STEP_WORDS; decisions >>= TW_STEP_DECISIONS) {
        const size_t number = *here + (decisions & (WHOLE - 1));
        struct tw_step_sum *const step = &whole[number];
        uint32_t to;

        if (TW_UNLIKELY(number >= room))
            break;
        to = step->to;
        if (TW_UNLIKELY(!tw_step_passed(to)))
            break;
        if (TW_UNLIKELY(++step->times <= 1))
            tw_sums_list_step(blocks, (uint32_t)(step - whole) + WHOLE);
        *here = to & ((1u << TW_STEP_PASSED_SHIFT) - 1);
        *passed += tw_step_passed(to);
    }
    return decisions;
}

/* Steps that are known and lead from block to block, the last perhaps to TW_NEXT_NEEDED; decisions that are left (a 1 above the last one ends them).  In
   *at the block where these are, or the one whose last branch leads to TW_NEXT_NEEDED; in *to where the last step leads, if none are left. */
TW_INLINE uint64_t tw_sums_steps(struct tw_blocks *blocks, uint32_t *at, uint32_t *to,
                                 uint64_t decisions)
{
    size_t here = *at * TW_STEP_WORDS, number;
    uint32_t passed = 0, next;

    decisions = tw_sums_whole_steps(blocks, &here, &passed, decisions);
    *at = (uint32_t)(here / TW_STEP_WORDS);
    number = here + (size_t)decisions;
    if (TW_UNLIKELY(decisions >= TW_STEP_WORDS || number >= blocks->step_room))
        return decisions;
    next = blocks->steps[number].to;
    if (TW_UNLIKELY(next < TW_BLOCK_FIRST))
        return decisions;
    if (TW_UNLIKELY(++blocks->steps[number].times <= 1))
        tw_sums_list_step(blocks, (uint32_t)number);
    *to = next;
    return 1;
}

/* Steps but for the last decision, of which there are two at least; decisions that are left, the same as before: the next is to
   be taken alone.  In *at the block where these are; adds to *passed the blocks that were passed. */
TW_INLINE uint64_t tw_sums_steps_but_one(struct tw_blocks *blocks, uint32_t *at,
                                         uint32_t *passed, uint64_t decisions)
{
    size_t here = *at * TW_STEP_WORDS;

    decisions = tw_sums_whole_steps(blocks, &here, passed, decisions);
    if (decisions >= 4) {
        const unsigned now =
            decisions >= TW_STEP_WORDS ? TW_STEP_DECISIONS : tw_highest_bit(decisions) - 1;
        const uint32_t to = tw_sums_step(blocks, (uint32_t)here | tw_step_word(decisions, now));

        if (to >= TW_BLOCK_FIRST) {
            here = tw_step_block(to) * TW_STEP_WORDS;
            *passed += tw_step_passed(to);
            decisions >>= now;
        }
    }
    *at = (uint32_t)(here / TW_STEP_WORDS);
    return decisions;
}

/* A way is gone. */
TW_INLINE void tw_sums_go(struct tw_blocks *blocks, uint32_t way)
{
    const uint32_t times = blocks->ways[way].times + 1;

    if (TW_LIKELY(times > 1))
        blocks->ways[way].times = times;
    else
        tw_sums_add_way(blocks, way);
}

TW_INLINE uint32_t tw_edge_place(const struct tw_sums *sums, uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> sums->edge_shift);
}

TW_INLINE uint64_t tw_edge_key(const struct tw_blocks *blocks, uint32_t from, uint32_t to)
{
    return (uint64_t)blocks->number << 2 * TW_SLOT_NUMBER_BITS |
           (uint64_t)from << TW_SLOT_NUMBER_BITS | to;
}

/* The branch at the end of block `from` led to block `to`. */
TW_INLINE void tw_sums_edge(struct tw_sums *sums, struct tw_blocks *blocks, uint32_t from,
                            uint32_t to)
{
    const uint64_t key = tw_edge_key(blocks, from, to);
    struct tw_edge_sum *edge = &sums->edges[tw_edge_place(sums, key)];

    if (TW_LIKELY(edge->key == key))
        edge->times++;
    else
        tw_sums_add_edge(blocks, key);
}

#endif
