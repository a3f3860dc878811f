/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges and branches with their counts, for create_llvm_prof and create_gcov (AutoFDO's text) and for
   llvm-profgen --unsymbolized-profile.  Addresses count from the first loaded segment. */
#include <inttypes.h>
#include <stdlib.h>

#include <trackway/perfdata.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/feedback.h"

/* Blocks with what of their counts is not told yet; and ranges made of two of them. */
struct range {
    uint64_t first, last, end;
    uint64_t taken, not_taken;
};

struct range_list {
    struct range *items;
    size_t count, room;
    bool is_out;
    const struct tw_allocator *allocator;
};

static struct range *add(struct range_list *list)
{
    if (!TW_GROW(list->allocator, &list->items, &list->room, list->count + 1)) {
        list->is_out = true;
        return NULL;
    }
    list->items[list->count] = (struct range){ .first = 0 };
    return &list->items[list->count++];
}

static void collect(struct range_list *list, const struct tw_feedback *feedback)
{
    struct tw_block_count block;

    for (size_t at = 0; tw_feedback_block(feedback, &block, &at);) {
        struct range *range = add(list);

        if (range)
            *range = (struct range){ block.first, block.last, block.end, block.taken,
                                     block.not_taken };
    }
}

static int by_place(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last < b->last ? -1 : a->last > b->last;
}

/* The first of `count` blocks that begin there; `count`: none does. */
static size_t find(const struct range_list *list, size_t count, uint64_t first)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (list->items[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list->items[low].first == first ? low : count;
}

/* Times that a block fell through to another are told of both as one range. */
static void join(struct range_list *list, size_t from, size_t to)
{
    struct range *a = &list->items[from], *b = &list->items[to], *made;
    const uint64_t left = b->taken + b->not_taken;
    const uint64_t times = a->not_taken < left ? a->not_taken : left;
    const uint64_t taken = times < b->taken ? times : b->taken;
    const struct range both = { .first = a->first, .last = b->last, .taken = times };

    if (!times)
        return;
    a->not_taken -= times;
    b->taken -= taken;
    b->not_taken -= times - taken;
    made = add(list);
    if (made)
        *made = both;
}

/* create_llvm_prof passes over ranges of one instruction.  Where a branch is a block of its own, it is told with the
   block that it fell through to, or with one that fell through to it: instructions count the same. */
static void join_short(struct range_list *list)
{
    const size_t count = list->count;

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            const bool is_short = list->items[i].first == list->items[i].last;
            const uint64_t end = list->items[i].end;

            if (!list->items[i].not_taken || (pass == 0 && !is_short))
                continue;
            for (size_t k = find(list, count, end); k < count && list->items[k].first == end;
                 k++)
                if (pass == 0 || list->items[k].first == list->items[k].last)
                    join(list, i, k);
        }
}

/* In order, each once, without those of which all is told by others. */
static void settle(struct range_list *list)
{
    size_t count = 0;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_place);
    for (size_t i = 0; i < list->count; i++) {
        const struct range *range = &list->items[i];
        const uint64_t times = range->taken + range->not_taken;

        if (!times)
            continue;
        if (count && by_place(&list->items[count - 1], range) == 0)
            list->items[count - 1].taken += times;
        else
            list->items[count++] =
                (struct range){ .first = range->first, .last = range->last, .taken = times };
    }
    list->count = count;
}

static void put_ranges(struct tw_sink *sink, const struct tw_feedback *feedback,
                       const struct tw_allocator *allocator, bool joins)
{
    struct range_list list = { .allocator = allocator };

    collect(&list, feedback);
    if (joins)
        join_short(&list);
    settle(&list);
    if (!list.is_out)
        tw_sink_format(sink, "%zu\n", list.count);
    for (size_t i = 0; i < list.count && !list.is_out && !sink->is_over; i++)
        tw_sink_format(sink, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
                       list.items[i].first - feedback->first,
                       list.items[i].last - feedback->first, list.items[i].taken);
    sink->lacks_memory |= list.is_out;
    tw_give(list.allocator, list.items);
}

/* What came from elsewhere has no place to be said at. */
static bool next_branch(const struct tw_feedback *feedback, struct tw_jump_count *jump,
                        size_t *at)
{
    bool is_there;

    do
        is_there = tw_feedback_jump(feedback, jump, at);
    while (is_there && jump->from == UINT64_MAX);
    return is_there;
}

static void put_branches(struct tw_sink *sink, const struct tw_feedback *feedback)
{
    struct tw_jump_count jump;
    size_t count = 0;

    for (size_t at = 0; next_branch(feedback, &jump, &at);)
        count++;
    tw_sink_format(sink, "%zu\n", count);
    for (size_t at = 0; next_branch(feedback, &jump, &at) && !sink->is_over;)
        tw_sink_format(sink, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
                       jump.from - feedback->first,
                       jump.to == UINT64_MAX ? 0 : jump.to - feedback->first, jump.count);
}

/* Whose it is, for people and those who keep profiles by build ID. */
static void put_identity(struct tw_sink *sink, const struct tw_feedback *feedback)
{
    const struct tw_coverage_object *about =
        tw_coverage_object(feedback->coverage, feedback->object);
    uint8_t own[20];
    const uint8_t *id = about->build_id;
    size_t size = about->build_id_size;

    if (!size && feedback->path) {
        size = tw_perf_build_id(own, feedback->path);
        id = own;
    }
    if (size)
        tw_sink_text(sink, "// build_id: 0x");
    for (size_t i = 0; i < size; i++)
        tw_sink_format(sink, "%02x", (unsigned)id[i]);
    tw_sink_text(sink, size ? "\n" : "");
    if (!feedback->path)
        return;
    tw_sink_text(sink, "// ");
    for (const char *at = feedback->path; *at; at++)
        tw_sink_bytes(sink, (unsigned char)*at < 0x20 ? "?" : at, 1);
    tw_sink_text(sink, "\n");
}

static void put(struct tw_sink *sink, const struct tw_subject *subject, const char *addresses)
{
    struct tw_feedback feedback;

    if (!tw_feedback_choose(&feedback, subject))
        return;
    put_ranges(sink, &feedback, subject->allocator, *addresses != 0);
    tw_sink_text(sink, addresses);
    put_branches(sink, &feedback);
    if (*addresses) /* llvm-profgen reads no comments */
        put_identity(sink, &feedback);
}

void tw_write_autofdo(struct tw_sink *sink, const struct tw_subject *subject)
{
    put(sink, subject, "0\n"); /* addresses that were only sampled: none */
}

void tw_write_unsymbolized(struct tw_sink *sink, const struct tw_subject *subject)
{
    put(sink, subject, "");
}
