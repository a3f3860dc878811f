/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: the edge map of a capture and what was executed in it, worked out from its elements, said again. */
#ifndef ANALYSIS_TEST_WANT_H
#define ANALYSIS_TEST_WANT_H

#include "check.h"

#include <string.h>

#include <trackway/edge_map.h>
#include <trackway/trackway.h>

enum { WANT_BITS = 12, WANT_SOURCES = 256 };

/* The indirect branch of a source whose target comes next. */
struct want_open {
    uint64_t from;
    bool is_there;
};

struct want {
    uint8_t bytes[1 << WANT_BITS];
    uint64_t instructions, missing, errors;
    uint64_t ranges, edges; /* sums of hashes: which, how often */
    struct want_open open[WANT_SOURCES];
};

static inline uint64_t want_mix(uint64_t from, uint64_t to)
{
    return (from * 0x9e3779b97f4a7c15u ^ (to + 0x7f4a7c15u) * 0xd6e8feb86659fd93u) *
           0xff51afd7ed558ccdu;
}

static inline void want_edge(struct want *want, uint64_t from, uint64_t to, uint64_t times)
{
    uint8_t *byte = &want->bytes[want_mix(from, to) >> (64 - WANT_BITS)];

    *byte = times > 255u - *byte ? 255 : (uint8_t)(*byte + times);
}

/* Where an indirect branch led. */
static inline void want_target(struct want *want, uint64_t from, uint64_t to, uint64_t times)
{
    want_edge(want, from * 2 + 1, to * 2 + 1, times);
    want->edges += want_mix(from, to) * times;
}

static inline uint64_t want_branch(const struct tw_element *range)
{
    return tw_element_end(range) - 2u * range->last_size;
}

/* A range without where its branch led, if the trace tells that. */
static inline void want_count(struct want *want, const struct tw_element *range, uint64_t times)
{
    const bool is_taken = (range->flags & TW_RANGE_EXECUTED) != 0;

    want->instructions += range->count * times;
    want->ranges +=
        want_mix(want_mix(range->start, (uint64_t)range->length << 32 | range->count),
                 (uint64_t)range->flags << 16 | (uint64_t)range->isa << 8 | range->last) *
        times;
    if (range->last_kind == TW_LAST_BR || (range->last_kind == TW_LAST_IBR && !is_taken))
        want_edge(want, want_branch(range) * 2 + is_taken, 0, times);
}

/* One behind the other, or all of a loop's turns: each leads to the next range. */
static inline void want_range(struct want *want, struct want_open *open,
                              const struct tw_element *range, uint64_t times)
{
    if (!range->count)
        return;
    if (open->is_there)
        want_target(want, open->from, range->start, times);
    want_count(want, range, times);
    open->is_there = range->last_kind == TW_LAST_IBR && (range->flags & TW_RANGE_EXECUTED) != 0;
    open->from = want_branch(range);
}

static inline void want_batch(struct want *want, const struct tw_batch *batch)
{
    struct want_open *open = &want->open[batch->id];

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        switch (element->type) {
        case TW_ELEMENT_INSTR_RANGE:
            want_range(want, open, element, 1);
            break;
        case TW_ELEMENT_REPEAT:
            for (size_t k = i - tw_repeat_reach(batch->elements, i); k < i; k++)
                if (batch->elements[k].type == TW_ELEMENT_INSTR_RANGE)
                    want_range(want, open, &batch->elements[k], element->times);
            break;
        case TW_ELEMENT_ERROR:
            want->errors++;
            /* Of packets that are passed over: the path is known, unless a NO_SYNC says more. */
            open->is_there = open->is_there && (element->error == TW_ERROR_BAD_SEQUENCE ||
                                                element->error == TW_ERROR_RESERVED_HEADER ||
                                                element->error == TW_ERROR_RESERVED_BITS ||
                                                element->error == TW_ERROR_OVERFLOW);
            break;
        case TW_ELEMENT_ADDR_NACC:
        case TW_ELEMENT_I_RANGE_NOPATH:
        case TW_ELEMENT_EXCEPTION:
        case TW_ELEMENT_TRACE_ON:
        case TW_ELEMENT_NO_SYNC:
        case TW_ELEMENT_EO_TRACE:
            open->is_there = false;
            want->missing += element->type == TW_ELEMENT_ADDR_NACC;
            break;
        default:
            break;
        }
    }
}

/* All that a tree makes of these bytes. */
static inline void want_all(struct want *want, struct tw_tree *tree, const uint8_t *bytes,
                            size_t size)
{
    struct tw_batch batch = { .size = sizeof batch };

    memset(want, 0, sizeof *want);
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        want_batch(want, &batch);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        want_batch(want, &batch);
}

/* Sources that share the stream each have an edge of their own open: not here. */
static inline void want_of(struct want *want, const struct tw_tree_source *source,
                           const uint8_t *bytes, size_t size)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, source), TW_OK);
    want_all(want, tree, bytes, size);
    tw_tree_free(tree);
}

static inline void check_map(const uint8_t *got, const struct tw_edge_map_result *result,
                             const struct want *want)
{
    uint32_t edges = 0;

    CHECK_BYTES(got, (size_t)1 << WANT_BITS, want->bytes, sizeof want->bytes);
    for (size_t i = 0; i < sizeof want->bytes; i++)
        edges += want->bytes[i] != 0;
    CHECK_EQ(result->edges, edges);
    CHECK_EQ(result->instructions, want->instructions);
    CHECK_EQ(result->missing, want->missing);
    CHECK_EQ(result->errors, want->errors);
}

#endif
