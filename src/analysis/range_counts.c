/* SPDX-License-Identifier: BSD-2-Clause */
/* Tallies of ranges and edges. */
#include "analysis/range_counts.h"

#include <string.h>

#include "base/memory.h"

enum { COUNTS_MOST = 1 << 26, NOTED_MOST = 1 << 17 };

void tw_range_counts_release(struct tw_range_counts *counts)
{
    tw_give(counts->allocator, counts->ranges);
    tw_give(counts->allocator, counts->edges);
    tw_give(counts->allocator, counts->hot);
    tw_give(counts->allocator, counts->noted);
    tw_map_free(&counts->by_start);
    tw_map_free(&counts->by_from);
    counts->ranges = NULL;
    counts->edges = NULL;
    counts->hot = NULL;
    counts->noted = NULL;
    counts->hot_room = counts->hot_count = 0;
    counts->noted_count = counts->noted_room = 0;
    counts->range_count = counts->range_room = counts->edge_count = counts->edge_room = 0;
}

void tw_range_counts_clear(struct tw_range_counts *counts)
{
    tw_map_clear(&counts->by_start);
    tw_map_clear(&counts->by_from);
    counts->range_count = counts->edge_count = 0;
    counts->has_from = counts->has_first = counts->has_begun = false;
    counts->instructions = counts->untraced = counts->missing = 0;
    memset(counts->recent_edges, 0, sizeof counts->recent_edges);
    if (counts->hot_count)
        memset(counts->hot, 0, counts->hot_room * sizeof *counts->hot);
    counts->hot_count = counts->noted_count = 0;
}

/* Number 0 is none. */
static bool has_room(struct tw_range_counts *counts)
{
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

/* The first number of those with a key; a map has its allocator before it has anything. */
static uint64_t *head_of(const struct tw_range_counts *counts, struct tw_map *map, uint64_t key)
{
    map->allocator = counts->allocator;
    return tw_map_put(map, key);
}

struct tw_range_count *tw_range_counts_range(struct tw_range_counts *counts,
                                             const struct tw_range_count *like)
{
    uint64_t *head = head_of(counts, &counts->by_start, like->start);
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
        counts->ranges[number].cycles = counts->ranges[number].time = 0;
        counts->ranges[number].next = (uint32_t)*head;
        *head = number;
    }
    return &counts->ranges[number];
}

struct tw_edge_count *tw_range_counts_edge(struct tw_range_counts *counts,
                                           const struct tw_edge_count *like)
{
    uint64_t *head = head_of(counts, &counts->by_from, like->from);
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

static inline enum tw_edge_kind kind_of(const struct tw_element *range)
{
    static const uint8_t kinds[8] = { [TW_SUB_LINK] = TW_EDGE_CALL,
                                      [TW_SUB_V8_RET] = TW_EDGE_RETURN,
                                      [TW_SUB_V7_IMPLIED_RET] = TW_EDGE_RETURN,
                                      [TW_SUB_RET] = TW_EDGE_RETURN,
                                      [TW_SUB_V8_ERET] = TW_EDGE_EXCEPTION_RETURN,
                                      [TW_SUB_TRAP_RET] = TW_EDGE_EXCEPTION_RETURN };

    return (enum tw_edge_kind)kinds[range->last_sub];
}

/* The branch at a range's end. */
static inline uint64_t branch_of(const struct tw_element *range)
{
    return tw_element_end(range) - (uint64_t)range->last_size * 2;
}

static inline void depart(struct tw_range_counts *counts, const struct tw_element *range)
{
    counts->from = branch_of(range);
    counts->from_kind = (uint8_t)kind_of(range);
    counts->has_from = true;
}

static inline void arrive(struct tw_range_counts *counts, uint64_t to, uint64_t times)
{
    const struct tw_edge_count like = { .from = counts->from,
                                        .to = to,
                                        .kind = counts->from_kind };
    uint32_t *recent =
        &counts->recent_edges[(counts->from >> 1 ^ to >> 4 ^ to << 3) & (TW_RECENT_EDGES - 1)];
    struct tw_edge_count *edge = *recent ? &counts->edges[*recent] : NULL;

    counts->has_from = false;
    if (!edge || edge->from != like.from || edge->to != to || edge->kind != like.kind) {
        edge = tw_range_counts_edge(counts, &like);
        if (!edge)
            return;
        *recent = (uint32_t)(edge - counts->edges);
    }
    edge->count += times;
}

/* ---- ranges while they are counted ---- */

/* What the element says of a range beside its address and length: number of instructions, type, flags,
   instruction set, the last instruction. */
static inline uint64_t about_of(const struct tw_element *range)
{
    uint64_t about;

    memcpy(&about, &range->count, sizeof about);
    return about;
}

static inline size_t hot_place(const struct tw_range_counts *counts, uint64_t start,
                               uint64_t about)
{
    return (size_t)((start + about) * 0x9e3779b97f4a7c15u >> counts->hot_shift);
}

static bool heat_up(struct tw_range_counts *counts)
{
    const size_t before = counts->hot_room, room = before ? before * 2 : 64;
    struct tw_hot_range *old = counts->hot;
    struct tw_hot_range *hot =
        room <= COUNTS_MOST ? tw_take(counts->allocator, room * sizeof *counts->hot) : NULL;

    if (!hot) {
        counts->is_out = true;
        return false;
    }
    counts->hot = hot;
    counts->hot_room = room;
    counts->hot_shift = before ? counts->hot_shift - 1 : 58;
    for (size_t i = 0; i < before; i++) {
        size_t at = hot_place(counts, old[i].start, old[i].about);

        if (!old[i].about)
            continue;
        while (hot[at].about)
            at = (at + 1) & (room - 1);
        hot[at] = old[i];
    }
    tw_give(counts->allocator, old);
    return true;
}

static inline bool is_hot(const struct tw_hot_range *hot, const struct tw_element *range,
                          uint64_t about)
{
    return hot->start == range->start && hot->about == about && hot->length == range->length;
}

/* A range as it is counted. */
static inline struct tw_hot_range hot_of(const struct tw_range_counts *counts,
                                         const struct tw_element *range, uint64_t times)
{
    return (struct tw_hot_range){ .start = range->start,
                                  .about = about_of(range),
                                  .times = times,
                                  .length = range->length,
                                  .leads = !counts->without_edges &&
                                           range->last_kind == TW_LAST_IBR &&
                                           range->flags & TW_RANGE_EXECUTED };
}

/* Adds the times of a range to its place, which is made when it is new; NULL when memory is out. */
static inline struct tw_hot_range *add_range(struct tw_range_counts *counts,
                                             const struct tw_hot_range *range)
{
    size_t at;

    if (counts->hot_count * 2 >= counts->hot_room && !heat_up(counts))
        return NULL;
    for (at = hot_place(counts, range->start, range->about); counts->hot[at].about;
         at = (at + 1) & (counts->hot_room - 1)) {
        struct tw_hot_range *hot = &counts->hot[at];

        if (hot->start == range->start && hot->about == range->about &&
            hot->length == range->length) {
            hot->times += range->times;
            return hot;
        }
    }
    counts->hot[at] = *range;
    counts->hot_count++;
    return &counts->hot[at];
}

/* All that was noted in `from`, which may be the same. */
static void add_noted(struct tw_range_counts *counts, const struct tw_range_counts *from)
{
    enum { SOON = 8 };

    for (size_t i = 0; i < from->noted_count; i++) {
        if (counts->hot_room && i + SOON < from->noted_count)
            TW_PREFETCH(&counts->hot[hot_place(counts, from->noted[i + SOON].start,
                                               from->noted[i + SOON].about)]);
        if (!add_range(counts, &from->noted[i]))
            return;
    }
}

void tw_range_counts_look_up(struct tw_range_counts *counts)
{
    add_noted(counts, counts);
    counts->noted_count = 0;
}

static void note(struct tw_range_counts *counts, const struct tw_element *range, uint64_t times)
{
    if (counts->noted_count == NOTED_MOST)
        tw_range_counts_look_up(counts);
    if (!TW_GROW(counts->allocator, &counts->noted, &counts->noted_room,
                 counts->noted_count + 1)) {
        counts->is_out = true;
        return;
    }
    counts->noted[counts->noted_count++] = hot_of(counts, range, times);
}

static struct tw_element element_of(const struct tw_hot_range *hot)
{
    struct tw_element element = { .start = hot->start };

    element.length = hot->length;
    memcpy(&element.count, &hot->about, sizeof hot->about);
    return element;
}

bool tw_range_counts_hot(const struct tw_range_counts *counts, size_t *at,
                         struct tw_range_count *range)
{
    while (counts->hot_count && *at < counts->hot_room) {
        const struct tw_hot_range *hot = &counts->hot[(*at)++];
        const struct tw_element element = element_of(hot);

        if (!hot->about)
            continue;
        *range = (struct tw_range_count){ .start = element.start,
                                          .length = element.length,
                                          .instructions = element.count,
                                          .isa = element.isa,
                                          .last = element.last,
                                          .is_conditional =
                                              (element.flags & TW_RANGE_CONDITIONAL) != 0 };
        /* What ends without a branch has one way on. */
        if (element.flags & TW_RANGE_EXECUTED ||
            (element.last_kind != TW_LAST_BR && element.last_kind != TW_LAST_IBR))
            range->taken = hot->times;
        else
            range->not_taken = hot->times;
        return true;
    }
    return false;
}

void tw_range_counts_settle(struct tw_range_counts *counts)
{
    struct tw_range_count hot;

    tw_range_counts_look_up(counts);
    for (size_t at = 0; tw_range_counts_hot(counts, &at, &hot);) {
        struct tw_range_count *range = tw_range_counts_range(counts, &hot);

        if (!range)
            return;
        range->taken += hot.taken;
        range->not_taken += hot.not_taken;
        counts->instructions += (hot.taken + hot.not_taken) * hot.instructions;
    }
    if (counts->hot_count)
        memset(counts->hot, 0, counts->hot_room * sizeof *counts->hot);
    counts->hot_count = 0;
}

static void take_range(struct tw_range_counts *counts, const struct tw_element *range,
                       uint64_t times)
{
    const struct tw_hot_range like = hot_of(counts, range, times);
    const struct tw_hot_range *hot = add_range(counts, &like);

    if (counts->has_from)
        arrive(counts, range->start, times);
    if (hot && hot->leads)
        depart(counts, range);
}

void tw_range_counts_sum(struct tw_range_counts *counts, const struct tw_range_sum *sums,
                         size_t number)
{
    for (size_t i = 0; i < number; i++) {
        const struct tw_element *range = &sums[i].range;
        struct tw_edge_count *edge;

        if (!sums[i].is_edge) {
            note(counts, range, sums[i].times);
            continue;
        }
        if (counts->without_edges)
            continue;
        edge = tw_range_counts_edge(counts,
                                    &(struct tw_edge_count){ .from = branch_of(range),
                                                             .to = sums[i].to,
                                                             .kind = (uint8_t)kind_of(range) });
        if (edge)
            edge->count += sums[i].times;
    }
}

/* As many ranges as are known; how many those are.  Only ranges are known: the type is compared, too.
   has_from is false before, and true after it only if an indirect branch was last. */
static size_t take_hot(struct tw_range_counts *counts, const struct tw_element *elements,
                       size_t number)
{
    const struct tw_element *range = elements, *end = elements + number;

    for (; range < end; range++) {
        const uint64_t about = about_of(range);
        size_t at = hot_place(counts, range->start, about);
        struct tw_hot_range *hot = &counts->hot[at];

        while (!is_hot(hot, range, about)) {
            if (!hot->about)
                return (size_t)(range - elements);
            at = (at + 1) & (counts->hot_room - 1);
            hot = &counts->hot[at];
        }
        hot->times++;
        if (TW_UNLIKELY(hot->leads)) {
            depart(counts, range);
            if (range + 1 < end && range[1].type == TW_ELEMENT_INSTR_RANGE && range[1].count)
                arrive(counts, range[1].start, 1);
            else
                return (size_t)(range + 1 - elements);
        }
    }
    return number;
}

void tw_range_counts_take(struct tw_range_counts *counts, const struct tw_element *elements,
                          size_t number, bool is_resumed)
{
    if (is_resumed)
        counts->has_from = false;
    for (size_t i = 0; i < number; i++) {
        if (counts->has_begun && counts->hot_room && !counts->has_from) {
            i += take_hot(counts, elements + i, number - i);
            if (i == number)
                break;
        }
        if (!counts->has_begun) {
            counts->has_begun = tw_breaks_flow(&elements[i]);
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
            if (tw_breaks_flow(&elements[i]))
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

/* The places of the one table are in the order of those of the other: without room for all, each would
   find its own taken by those before it. */
static void add_hot(struct tw_range_counts *counts, const struct tw_range_counts *later)
{
    while ((counts->hot_count + later->hot_count) * 2 > counts->hot_room)
        if (!heat_up(counts))
            return;
    for (size_t i = 0; i < later->hot_room && later->hot_count; i++)
        if (later->hot[i].about && !add_range(counts, &later->hot[i]))
            return;
    add_noted(counts, later);
}

/* Nothing was counted yet. */
static bool is_empty(const struct tw_range_counts *counts)
{
    return !counts->hot_count && !counts->noted_count && counts->range_count <= 1 &&
           counts->edge_count <= 1 && !counts->has_begun && !counts->has_from &&
           !counts->instructions && !counts->untraced && !counts->missing && !counts->is_out;
}

void tw_range_counts_keep_end(struct tw_range_counts *counts)
{
    const bool has_from = counts->has_from;

    tw_range_counts_clear(counts); /* but for `from` and its kind */
    counts->has_from = has_from;
    counts->has_begun = true;
}

void tw_range_counts_join(struct tw_range_counts *counts, struct tw_range_counts *later)
{
    if (is_empty(counts) && counts->allocator == later->allocator) {
        const struct tw_range_counts empty = *counts; /* memory changes hands */

        *counts = *later;
        *later = empty;
        return;
    }
    if (counts->has_from && later->has_first)
        arrive(counts, later->first, 1);
    add_hot(counts, later);
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
