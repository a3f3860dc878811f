/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks and jumps of an object: what compilers and linkers want to know.  Where a direct branch leads is read
   from its code; of the others the trace has told. */
#include <stdlib.h>

#include <trackway/instruction.h>

#include "analysis/coverage.h"
#include "base/memory.h"

static int by_block(const void *left, const void *right)
{
    const struct tw_block_count *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (int)a->isa - (int)b->isa;
}

static int by_jump(const void *left, const void *right)
{
    const struct tw_jump_count *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static struct tw_element shape_of(const struct tw_range_count *range)
{
    struct tw_element shape = { .start = range->start };

    shape.last = range->last;
    return shape;
}

static bool add_jump(struct tw_coverage *coverage, struct tw_covered_object *object,
                     const struct tw_jump_count *jump)
{
    if (!TW_GROW(coverage->allocator, &object->jumps, &object->jump_room,
                 object->jump_count + 1))
        return false;
    object->jumps[object->jump_count++] = *jump;
    return true;
}

/* The direct branch at a block's end; false: no memory.  Where its code is not there, nothing is said. */
static bool add_direct(struct tw_coverage *coverage, struct tw_covered_object *object,
                       const struct tw_block_count *block)
{
    const struct tw_counted_file *of = object->of;
    struct tw_instruction_answer answer = { .size = sizeof answer };
    uint8_t bytes[TW_INSTRUCTION_MAX];
    struct tw_instruction_query query = {
        .size = sizeof query, .address = block->last, .bytes = bytes, .isa = block->isa
    };
    struct tw_jump_count jump = { .from = block->last, .count = block->taken };

    if (of->image)
        query.count =
            tw_image_read(of->image, bytes, &of->view, block->last + of->bias, sizeof bytes);
    if (!query.count || tw_instruction_classify(&answer, &query) != TW_OK)
        return true;
    jump.to = answer.info.target;
    jump.is_call = answer.info.is_link;
    return add_jump(coverage, object, &jump);
}

static bool add_blocks(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    const struct tw_range_counts *counts = &object->of->counts;
    bool is_good = true;

    object->blocks =
        tw_take(coverage->allocator, (counts->range_count + 1) * sizeof *object->blocks);
    if (!object->blocks)
        return false;
    for (size_t i = 1; i < counts->range_count && is_good; i++) {
        const struct tw_range_count *range = &counts->ranges[i];
        const struct tw_element shape = shape_of(range);
        struct tw_block_count *block = &object->blocks[object->block_count++];

        *block = (struct tw_block_count){ .first = range->start,
                                          .end = range->start + range->length,
                                          .taken = range->taken,
                                          .not_taken = range->not_taken,
                                          .isa = range->isa,
                                          .is_branch = shape.last_kind == TW_LAST_BR ||
                                                       shape.last_kind == TW_LAST_IBR };
        block->last = block->end - (uint64_t)shape.last_size * 2;
        if (shape.last_kind == TW_LAST_BR && block->taken)
            is_good = add_direct(coverage, object, block);
    }
    return is_good;
}

static bool add_edges(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    const struct tw_range_counts *counts = &object->of->counts;
    bool is_good = true;

    for (size_t i = 1; i < counts->edge_count && is_good; i++) {
        const struct tw_edge_count *edge = &counts->edges[i];
        const unsigned kind = edge->kind & ~(unsigned)TW_EDGE_OUTSIDE;
        const bool leaves = edge->kind & TW_EDGE_OUTSIDE && edge->from != UINT64_MAX;

        is_good =
            add_jump(coverage, object,
                     &(struct tw_jump_count){ .from = edge->from,
                                              .to = leaves ? UINT64_MAX : edge->to,
                                              .count = edge->count,
                                              .is_indirect = true,
                                              .is_call = kind == TW_EDGE_CALL,
                                              .is_return = kind == TW_EDGE_RETURN ||
                                                           kind == TW_EDGE_EXCEPTION_RETURN });
    }
    return is_good;
}

/* Several blocks may end with one branch. */
static void join_jumps(struct tw_covered_object *object)
{
    size_t count = 0;

    if (object->jump_count)
        qsort(object->jumps, object->jump_count, sizeof *object->jumps, by_jump);
    for (size_t i = 0; i < object->jump_count; i++) {
        if (count && by_jump(&object->jumps[count - 1], &object->jumps[i]) == 0)
            object->jumps[count - 1].count += object->jumps[i].count;
        else
            object->jumps[count++] = object->jumps[i];
    }
    object->jump_count = count;
}

bool tw_coverage_follow(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    if (!add_blocks(coverage, object) || !add_edges(coverage, object))
        return false;
    if (object->block_count)
        qsort(object->blocks, object->block_count, sizeof *object->blocks, by_block);
    join_jumps(object);
    return true;
}
