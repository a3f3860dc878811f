/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting without elements: steps and blocks to ranges. */
#include "image/sums.h"

#include <string.h>

#include "base/memory.h"

bool tw_sums_begin(struct tw_code *code)
{
    const struct tw_allocator *allocator = code->config.allocator;
    struct tw_sums *sums;

    if (code->sums)
        return true;
    sums = tw_take(allocator, sizeof *sums);
    if (!sums)
        return false;
    code->sums = sums;
    sums->edge_times.allocator = allocator;
    sums->edges = tw_take(allocator, sizeof *sums->edges << TW_SUM_EDGE_BITS);
    sums->used_edges = tw_take_raw(allocator, sizeof *sums->used_edges << TW_SUM_EDGE_BITS);
    if (sums->edges && sums->used_edges)
        return true;
    tw_sums_free(code);
    return false;
}

void tw_sums_free(struct tw_code *code)
{
    const struct tw_allocator *allocator = code->config.allocator;
    struct tw_sums *sums = code->sums;

    if (!sums)
        return;
    tw_give(allocator, sums->steps);
    tw_give(allocator, sums->blocks);
    tw_give(allocator, sums->edges);
    tw_give(allocator, sums->used_edges);
    tw_map_free(&sums->edge_times);
    tw_give(allocator, sums->kept);
    tw_give(allocator, sums);
    code->sums = NULL;
}

/* ---- counting ---- */

/* Makes an array hold as much for each block as there is room for blocks; the new part is zeros. */
static bool grow_zeroed(const struct tw_blocks *blocks, void **items, size_t *room,
                        size_t wanted, size_t size)
{
    char *larger;

    if (wanted <= *room)
        return true;
    larger = tw_take_more(blocks->code->config.allocator, *items, wanted * size);
    if (!larger)
        return false;
    memset(larger + *room * size, 0, (wanted - *room) * size);
    *items = larger;
    *room = wanted;
    return true;
}

static bool list(struct tw_blocks *blocks, struct tw_summed **items, size_t *count,
                 size_t *room, uint32_t number)
{
    struct tw_code *code = blocks->code;

    if (!TW_GROW(code->config.allocator, items, room, *count + 1)) {
        code->out_of_memory = true;
        return false;
    }
    (*items)[(*count)++] = (struct tw_summed){ .space = blocks->number, .number = number };
    return true;
}

/* `times` may be less than 0, modulo 2^64: sums come out right. */
static void add_block(struct tw_blocks *blocks, uint32_t block, uint64_t times)
{
    struct tw_sums *sums = blocks->code->sums;

    if (block >= blocks->time_room &&
        !grow_zeroed(blocks, (void **)&blocks->times, &blocks->time_room, blocks->room * 2,
                     sizeof *blocks->times)) {
        blocks->code->out_of_memory = true;
        return;
    }
    if (!(blocks->times[block] & TW_SUM_LISTED) &&
        !list(blocks, &sums->blocks, &sums->block_count, &sums->block_room, block))
        return;
    blocks->times[block] = TW_SUM_LISTED | (blocks->times[block] + times);
}

void tw_sums_add_block(struct tw_blocks *blocks, uint32_t block)
{
    add_block(blocks, block, 1);
}

void tw_sums_undo(struct tw_blocks *blocks, uint32_t block)
{
    add_block(blocks, block, 0 - (uint64_t)1);
}

/* A block's way out, as a decision says. */
struct way {
    uint32_t taken;
    bool decides;
};

static struct way way_of(const struct tw_blocks *blocks, uint32_t block, unsigned decisions)
{
    const bool decides = !blocks->code->sums->jumps_are_free ||
                         (blocks->blocks[block].flags & TW_RANGE_CONDITIONAL);

    return (struct way){ .taken = decides ? decisions & 1 : 1, .decides = decides };
}

/* Adds what steps counted to the blocks on the way. */
static void add_step(struct tw_blocks *blocks, uint32_t number, uint64_t times)
{
    unsigned decisions = number % TW_STEP_WAYS | TW_STEP_WAYS;
    uint32_t at = number / TW_STEP_WAYS;

    while (decisions != 1) {
        const struct way way = way_of(blocks, at, decisions);

        add_block(blocks, at * 2 + way.taken, times);
        decisions >>= way.decides;
        at = blocks->blocks[at].next[way.taken];
    }
}

static uint32_t walk(const struct tw_blocks *blocks, uint32_t block, unsigned decisions)
{
    uint32_t at = block, passed = 0;

    for (decisions |= TW_STEP_WAYS; decisions != 1; passed++) {
        const struct way way = way_of(blocks, at, decisions);

        at = blocks->blocks[at].next[way.taken];
        if (at == TW_NEXT_UNKNOWN)
            return TW_STEP_UNKNOWN;
        if (!tw_block_is_plain(at) || passed + 1 == TW_STEP_BLOCKS)
            return TW_STEP_NONE;
        decisions >>= way.decides;
    }
    return at | passed << TW_SLOT_NUMBER_BITS;
}

uint32_t tw_sums_make_step(struct tw_blocks *blocks, uint32_t block, unsigned decisions)
{
    const uint32_t number = block * TW_STEP_WAYS | decisions;

    if (number >= blocks->step_room) {
        const size_t twice = 2 * blocks->step_room, least = (size_t)number + 1024;

        if (!grow_zeroed(blocks, (void **)&blocks->steps, &blocks->step_room,
                         twice > least ? twice : least, sizeof *blocks->steps)) {
            blocks->code->out_of_memory = true;
            return TW_STEP_NONE;
        }
    }
    blocks->steps[number].to = walk(blocks, block, decisions);
    if (blocks->steps[number].to >= TW_BLOCK_FIRST) {
        blocks->steps[number].times = 1;
        tw_sums_list_step(blocks, number);
    }
    return blocks->steps[number].to;
}

void tw_sums_list_step(struct tw_blocks *blocks, uint32_t number)
{
    struct tw_sums *sums = blocks->code->sums;

    if (blocks->steps[number].times == 0) /* 2^32 */
        add_step(blocks, number, (uint64_t)1 << 32);
    else
        (void)list(blocks, &sums->steps, &sums->step_count, &sums->step_room, number);
}

void tw_sums_add_edge(struct tw_blocks *blocks, struct tw_edge_sum *place, uint64_t key)
{
    struct tw_sums *sums = blocks->code->sums;

    if (!place->times) {
        sums->used_edges[sums->edge_count++] = (uint32_t)(place - sums->edges);
    } else {
        uint64_t *times = tw_map_put(&sums->edge_times, place->key);

        if (times)
            *times += place->times;
        else
            blocks->code->out_of_memory = true;
    }
    *place = (struct tw_edge_sum){ .key = key, .times = 1 };
}

/* ---- taking ---- */

static struct tw_blocks *space_of(const struct tw_code *code, uint64_t number)
{
    return code->spaces[number - 1];
}

static void range_of(struct tw_element *range, const struct tw_block *block, unsigned taken)
{
    *range = (struct tw_element){ .start = block->start };
    range->length = block->length;
    range->count = block->count;
    range->type = block->type;
    range->flags = (uint8_t)(block->flags | (taken ? TW_RANGE_EXECUTED : 0));
    range->isa = block->isa;
    range->last = block->last;
}

static struct tw_range_sum edge_of(const struct tw_code *code, uint64_t key, uint64_t times)
{
    const struct tw_blocks *blocks = space_of(code, key >> 2 * TW_SLOT_NUMBER_BITS);
    const uint32_t from = (uint32_t)(key >> TW_SLOT_NUMBER_BITS) & (TW_BLOCKS_MAX - 1u);
    const uint32_t to = (uint32_t)key & (TW_BLOCKS_MAX - 1u);
    struct tw_range_sum sum = { .times = times,
                                .to = blocks->blocks[to].start,
                                .is_edge = true };

    range_of(&sum.range, &blocks->blocks[from], 1);
    return sum;
}

static void settle_steps(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;

    while (sums->step_count) {
        const struct tw_summed *summed = &sums->steps[--sums->step_count];
        struct tw_blocks *blocks = space_of(code, summed->space);
        const uint32_t times = blocks->steps[summed->number].times;

        blocks->steps[summed->number].times = 0;
        if (times)
            add_step(blocks, summed->number, times);
    }
}

/* A block with times; false: there is no more. */
static bool next_block(struct tw_code *code, struct tw_range_sum *out)
{
    struct tw_sums *sums = code->sums;

    while (sums->block_count) {
        const struct tw_summed *summed = &sums->blocks[--sums->block_count];
        struct tw_blocks *blocks = space_of(code, summed->space);
        const uint64_t times = blocks->times[summed->number] & ~TW_SUM_LISTED;

        blocks->times[summed->number] = 0;
        if (!times)
            continue;
        *out = (struct tw_range_sum){ .times = times };
        range_of(&out->range, &blocks->blocks[summed->number / 2], summed->number & 1);
        return true;
    }
    return false;
}

static bool next_edge(struct tw_code *code, struct tw_range_sum *out)
{
    struct tw_sums *sums = code->sums;
    uint64_t key, *times;

    if (sums->edge_count) {
        struct tw_edge_sum *edge = &sums->edges[sums->used_edges[--sums->edge_count]];

        *out = edge_of(code, edge->key, edge->times);
        edge->times = 0;
        return true;
    }
    if (!sums->edge_times.count)
        return false;
    if (tw_map_next(&sums->edge_times, &sums->edge_at, &key, &times)) {
        *out = edge_of(code, key, *times);
        return true;
    }
    tw_map_clear(&sums->edge_times);
    sums->edge_at = 0;
    return false;
}

size_t tw_sums_next(struct tw_code *code, struct tw_range_sum *out, size_t room)
{
    struct tw_sums *sums = code->sums;
    size_t count = 0;

    settle_steps(code);
    for (; count < room && sums->kept_count; count++)
        out[count] = sums->kept[--sums->kept_count];
    while (count < room && next_block(code, &out[count]))
        count++;
    while (count < room && next_edge(code, &out[count]))
        count++;
    return count;
}

void tw_sums_forget(struct tw_code *code)
{
    struct tw_range_sum ignored[16];

    while (tw_sums_next(code, ignored, TW_LENGTH(ignored)))
        continue;
}

void tw_sums_keep(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;
    struct tw_range_sum sum;

    settle_steps(code);
    while (next_block(code, &sum) || next_edge(code, &sum)) {
        if (!TW_GROW(code->config.allocator, &sums->kept, &sums->kept_room,
                     sums->kept_count + 1)) {
            code->out_of_memory = true;
            break;
        }
        sums->kept[sums->kept_count++] = sum;
    }
    memset(sums->edges, 0, sizeof *sums->edges << TW_SUM_EDGE_BITS);
    for (size_t i = 0; i < code->space_count; i++)
        if (code->spaces[i]->steps)
            memset(code->spaces[i]->steps, 0,
                   code->spaces[i]->step_room * sizeof *code->spaces[i]->steps);
}
