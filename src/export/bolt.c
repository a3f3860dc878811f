/* SPDX-License-Identifier: BSD-2-Clause */
/* BOLT's two texts: pre-aggregated, which perf2bolt -pa turns into the other with the program at hand, and
   fdata, which llvm-bolt reads. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/feedback.h"

/* ---- pre-aggregated: addresses ---- */

/* 0 is in no function. */
static uint64_t or_nowhere(uint64_t address)
{
    return address == UINT64_MAX ? 0 : address;
}

void tw_write_bolt(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct tw_feedback feedback;
    struct tw_block_count block;
    struct tw_jump_count jump;

    if (!tw_feedback_choose(&feedback, subject))
        return;
    for (size_t at = 0; tw_feedback_jump(&feedback, &jump, &at) && !sink->is_over;)
        tw_sink_format(sink, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", or_nowhere(jump.from),
                       or_nowhere(jump.to), jump.count);
    for (size_t at = 0; tw_feedback_block(&feedback, &block, &at) && !sink->is_over;) {
        if (block.taken)
            tw_sink_format(sink, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", block.first,
                           block.last, block.taken);
        if (block.not_taken) /* on to the instruction behind the branch */
            tw_sink_format(sink, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", block.first,
                           block.end, block.not_taken);
    }
}

/* ---- fdata: functions and offsets ---- */

/* "1 NAME OFFSET", as BOLT names functions: NAME/N for the N-th local one of that name. */
static bool put_place(struct tw_sink *sink, const struct tw_feedback *feedback,
                      uint64_t address, bool writes)
{
    struct tw_symbol symbol;
    size_t local;

    if (address == UINT64_MAX || !feedback->symbols ||
        !tw_symbols_find(feedback->symbols, &symbol, address + feedback->bias)) {
        if (writes)
            tw_sink_text(sink, "0 [unknown] 0");
        return false;
    }
    if (!writes)
        return true;
    tw_sink_text(sink, "1 ");
    for (const char *at = symbol.name; *at; at++) /* BOLT escapes blanks so */
        tw_sink_bytes(sink, *at == ' ' ? "\\ " : at, *at == ' ' ? 2 : 1);
    local = tw_symbols_local(feedback->symbols, &symbol);
    if (local)
        tw_sink_format(sink, "/%zu", local);
    tw_sink_format(sink, " %" PRIx64, address + feedback->bias - symbol.address);
    return true;
}

static void put_branch(struct tw_sink *sink, const struct tw_feedback *feedback,
                       const struct tw_jump_count *jump)
{
    if (!put_place(sink, feedback, jump->from, false) &&
        !put_place(sink, feedback, jump->to, false))
        return;
    (void)put_place(sink, feedback, jump->from, true);
    tw_sink_text(sink, " ");
    (void)put_place(sink, feedback, jump->to, true);
    tw_sink_format(sink, " 0 %" PRIu64 "\n", jump->count);
}

/* All branches and fall-throughs, as perf2bolt has them: without returns. */
struct bolt_list {
    struct tw_jump_count *items;
    size_t count, room;
    bool is_out;
    const struct tw_allocator *allocator;
};

static void add(struct bolt_list *list, uint64_t from, uint64_t to, uint64_t count)
{
    if (!TW_GROW(list->allocator, &list->items, &list->room, list->count + 1)) {
        list->is_out = true;
        return;
    }
    list->items[list->count++] =
        (struct tw_jump_count){ .from = from, .to = to, .count = count };
}

static int by_ends(const void *left, const void *right)
{
    const struct tw_jump_count *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int by_target(const void *left, const void *right)
{
    const uint64_t a = ((const struct tw_jump_count *)left)->to;
    const uint64_t b = ((const struct tw_jump_count *)right)->to;

    return a < b ? -1 : a > b;
}

/* Where a branch leads into the middle of a block, the block falls through to there: for BOLT these are two.
   `targets` are sorted; instructions have 4 bytes each. */
static void add_joins(struct bolt_list *list, const struct bolt_list *targets,
                      const struct tw_block_count *block)
{
    size_t low = 0, high = targets->count;
    uint64_t last = block->first;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (targets->items[middle].to <= block->first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < targets->count && targets->items[low].to <= block->last; low++) {
        const uint64_t to = targets->items[low].to;

        if (to != last)
            add(list, to - 4, to, block->taken + block->not_taken);
        last = to;
    }
}

static void collect(struct bolt_list *list, const struct tw_feedback *feedback)
{
    struct bolt_list targets = { .allocator = list->allocator };
    struct tw_block_count block;
    struct tw_jump_count jump;

    for (size_t at = 0; tw_feedback_jump(feedback, &jump, &at);) {
        if (jump.to != UINT64_MAX)
            add(&targets, jump.from, jump.to, 0);
        if (!jump.is_return)
            add(list, jump.from, jump.to, jump.count);
    }
    if (targets.count)
        qsort(targets.items, targets.count, sizeof *targets.items, by_target);
    for (size_t at = 0; tw_feedback_block(feedback, &block, &at);) {
        if (block.isa == TW_ISA_A64)
            add_joins(list, &targets, &block);
        if (block.not_taken)
            add(list, block.last, block.end, block.not_taken);
    }
    list->is_out |= targets.is_out;
    tw_give(targets.allocator, targets.items);
}

void tw_write_fdata(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct bolt_list list = { .allocator = subject->allocator };
    struct tw_feedback feedback;

    if (!tw_feedback_choose(&feedback, subject))
        return;
    collect(&list, &feedback);
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, by_ends);
    for (size_t i = 0; i < list.count && !sink->is_over && !list.is_out;) {
        struct tw_jump_count jump = list.items[i++];

        for (; i < list.count && by_ends(&list.items[i], &jump) == 0; i++)
            jump.count += list.items[i].count;
        put_branch(sink, &feedback, &jump);
    }
    sink->lacks_memory |= list.is_out;
    tw_give(list.allocator, list.items);
}
