/* SPDX-License-Identifier: BSD-2-Clause */
/* Tallies of ranges and edges. */
#include "analysis/range_counts.h"

#include <string.h>

#include "base/memory.h"

enum { COUNTS_MOST = 1 << 26 };

void tw_range_counts_release(struct tw_range_counts *counts)
{
    tw_give(counts->allocator, counts->ranges);
    tw_give(counts->allocator, counts->edges);
    tw_map_free(&counts->by_start);
    tw_map_free(&counts->by_from);
    counts->ranges = NULL;
    counts->edges = NULL;
    counts->range_count = counts->range_room = counts->edge_count = counts->edge_room = 0;
}

void tw_range_counts_clear(struct tw_range_counts *counts)
{
    tw_map_clear(&counts->by_start);
    tw_map_clear(&counts->by_from);
    counts->range_count = counts->edge_count = 0;
    counts->has_from = counts->has_first = counts->has_begun = false;
    counts->instructions = counts->untraced = counts->missing = 0;
    memset(counts->recent, 0, sizeof counts->recent);
}

/* Number 0 is none. */
static bool has_room(struct tw_range_counts *counts)
{
    counts->by_start.allocator = counts->by_from.allocator = counts->allocator;
    if (!counts->range_count)
        counts->range_count = 1;
    if (!counts->edge_count)
        counts->edge_count = 1;
    if (counts->range_count < COUNTS_MOST && counts->edge_count < COUNTS_MOST &&
        TW_GROW(counts->allocator, &counts->ranges, &counts->range_room,
                counts->range_count + 1) &&
        TW_GROW(counts->allocator, &counts->edges, &counts->edge_room, counts->edge_count + 1))
        return true;
    counts->is_out = true;
    return false;
}

struct tw_range_count *tw_range_counts_range(struct tw_range_counts *counts,
                                             const struct tw_range_count *like)
{
    uint64_t *head = tw_map_put(&counts->by_start, like->start);
    uint32_t number = head ? (uint32_t)*head : 0;

    while (number && (counts->ranges[number].length != like->length ||
                      counts->ranges[number].isa != like->isa))
        number = counts->ranges[number].next;
    if (!number) {
        if (!head || !has_room(counts)) {
            counts->is_out = true;
            return NULL;
        }
        number = (uint32_t)counts->range_count++;
        counts->ranges[number] = *like;
        counts->ranges[number].taken = counts->ranges[number].not_taken = 0;
        counts->ranges[number].next = (uint32_t)*head;
        *head = number;
    }
    counts->recent[like->start >> 1 & 1023] = number;
    return &counts->ranges[number];
}

struct tw_edge_count *tw_range_counts_edge(struct tw_range_counts *counts,
                                           const struct tw_edge_count *like)
{
    uint64_t *head = tw_map_put(&counts->by_from, like->from);
    uint32_t number = head ? (uint32_t)*head : 0;

    while (number &&
           (counts->edges[number].to != like->to || counts->edges[number].kind != like->kind))
        number = counts->edges[number].next;
    if (!number) {
        if (!head || !has_room(counts)) {
            counts->is_out = true;
            return NULL;
        }
        number = (uint32_t)counts->edge_count++;
        counts->edges[number] = *like;
        counts->edges[number].count = 0;
        counts->edges[number].next = (uint32_t)*head;
        *head = number;
    }
    return &counts->edges[number];
}

static enum tw_edge_kind kind_of(const struct tw_element *range)
{
    switch (range->last_sub) {
    case TW_SUB_LINK:
        return TW_EDGE_CALL;
    case TW_SUB_V8_RET:
    case TW_SUB_V7_IMPLIED_RET:
    case TW_SUB_RET:
        return TW_EDGE_RETURN;
    case TW_SUB_V8_ERET:
    case TW_SUB_TRAP_RET:
        return TW_EDGE_EXCEPTION_RETURN;
    default:
        return TW_EDGE_INDIRECT;
    }
}

static void arrive(struct tw_range_counts *counts, uint64_t to, uint64_t times)
{
    const struct tw_edge_count like = { .from = counts->from,
                                        .to = to,
                                        .kind = counts->from_kind };
    struct tw_edge_count *edge = tw_range_counts_edge(counts, &like);

    if (edge)
        edge->count += times;
    counts->has_from = false;
}

static struct tw_range_count *counts_of(struct tw_range_counts *counts,
                                        const struct tw_element *range)
{
    const struct tw_range_count like = {
        .start = range->start,
        .length = range->length,
        .instructions = range->count,
        .isa = range->isa,
        .last = range->last,
        .is_conditional = (range->flags & TW_RANGE_CONDITIONAL) != 0,
    };
    const uint32_t recent = counts->recent[range->start >> 1 & 1023];

    if (recent && counts->ranges[recent].start == range->start &&
        counts->ranges[recent].length == range->length &&
        counts->ranges[recent].isa == range->isa)
        return &counts->ranges[recent];
    return tw_range_counts_range(counts, &like);
}

static void add_range(struct tw_range_counts *counts, const struct tw_element *range,
                      uint64_t times)
{
    struct tw_range_count *to = counts_of(counts, range);

    if (!to)
        return;
    /* What ends without a branch has one way on. */
    if ((range->flags & TW_RANGE_EXECUTED) ||
        (range->last_kind != TW_LAST_BR && range->last_kind != TW_LAST_IBR))
        to->taken += times;
    else
        to->not_taken += times;
    counts->instructions += times * range->count;
}

/* The branch at a range's end. */
static uint64_t branch_of(const struct tw_element *range)
{
    return tw_element_end(range) - (uint64_t)range->last_size * 2;
}

static void take_range(struct tw_range_counts *counts, const struct tw_element *range,
                       uint64_t times)
{
    if (counts->has_from)
        arrive(counts, range->start, times);
    add_range(counts, range, times);
    if ((range->flags & TW_RANGE_EXECUTED) && range->last_kind == TW_LAST_IBR) {
        counts->from = branch_of(range);
        counts->from_kind = (uint8_t)kind_of(range);
        counts->has_from = true;
    }
}

void tw_range_counts_sum(struct tw_range_counts *counts, const struct tw_range_sum *sums,
                         size_t number)
{
    for (size_t i = 0; i < number; i++) {
        const struct tw_element *range = &sums[i].range;
        struct tw_edge_count *edge;

        if (!sums[i].is_edge) {
            add_range(counts, range, sums[i].times);
            continue;
        }
        edge = tw_range_counts_edge(counts,
                                    &(struct tw_edge_count){ .from = branch_of(range),
                                                             .to = sums[i].to,
                                                             .kind = (uint8_t)kind_of(range) });
        if (edge)
            edge->count += sums[i].times;
    }
}

/* What comes after it is not where the branch before it led. */
static bool breaks_flow(const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_I_RANGE_NOPATH:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
    case TW_ELEMENT_ERROR:
        return true;
    default:
        return false;
    }
}

void tw_range_counts_take(struct tw_range_counts *counts, const struct tw_element *elements,
                          size_t number, bool is_resumed)
{
    if (is_resumed)
        counts->has_from = false;
    for (size_t i = 0; i < number; i++) {
        if (!counts->has_begun) {
            counts->has_begun = breaks_flow(&elements[i]);
            counts->has_first = elements[i].type == TW_ELEMENT_INSTR_RANGE && elements[i].count;
            counts->has_begun |= counts->has_first;
            counts->first = elements[i].start;
        }
        switch (elements[i].type) {
        case TW_ELEMENT_INSTR_RANGE:
            if (elements[i].count)
                take_range(counts, &elements[i], 1);
            break;
        case TW_ELEMENT_I_RANGE_NOPATH:
            counts->untraced += elements[i].count;
            counts->has_from = false;
            break;
        case TW_ELEMENT_ADDR_NACC:
            counts->missing++;
            counts->has_from = false;
            break;
        case TW_ELEMENT_REPEAT:
            for (size_t k = i - tw_repeat_reach(elements, i); k < i; k++)
                if (elements[k].type == TW_ELEMENT_INSTR_RANGE && elements[k].count)
                    take_range(counts, &elements[k], elements[i].times);
            break;
        default:
            if (breaks_flow(&elements[i]))
                counts->has_from = false;
            break;
        }
    }
}

void tw_range_counts_add(struct tw_range_counts *counts, const struct tw_range_counts *from,
                         uint64_t bias)
{
    for (size_t i = 1; i < from->range_count; i++) {
        struct tw_range_count like = from->ranges[i];
        struct tw_range_count *to;

        like.start += bias;
        to = tw_range_counts_range(counts, &like);
        if (!to)
            return;
        to->taken += from->ranges[i].taken;
        to->not_taken += from->ranges[i].not_taken;
    }
    for (size_t i = 1; i < from->edge_count; i++) {
        struct tw_edge_count like = from->edges[i];
        struct tw_edge_count *to;

        like.from += bias;
        like.to += bias;
        to = tw_range_counts_edge(counts, &like);
        if (!to)
            return;
        to->count += from->edges[i].count;
    }
    counts->instructions += from->instructions;
    counts->untraced += from->untraced;
    counts->missing += from->missing;
}

void tw_range_counts_join(struct tw_range_counts *counts, const struct tw_range_counts *later)
{
    if (counts->has_from && later->has_first)
        arrive(counts, later->first, 1);
    tw_range_counts_add(counts, later, 0);
    if (!counts->has_begun) {
        counts->has_begun = later->has_begun;
        counts->has_first = later->has_first;
        counts->first = later->first;
    }
    if (later->has_begun) {
        counts->has_from = later->has_from;
        counts->from = later->from;
        counts->from_kind = later->from_kind;
    }
}
