/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting without elements: steps and blocks to ranges. */
#include "image/sums.h"

#include <string.h>

#include "base/memory.h"

bool tw_sums_begin(struct tw_code *code)
{
    const struct tw_allocator *allocator = code->config.allocator;
    struct tw_sums *sums;
    bool is_made;

    if (code->sums)
        return true;
    sums = tw_take(allocator, sizeof *sums);
    if (!sums)
        return false;
    code->sums = sums;
    sums->edge_times.allocator = allocator;
    sums->edge_room = 1u << TW_EDGE_BITS_LEAST;
    sums->edge_shift = 64 - TW_EDGE_BITS_LEAST;
    sums->edges = tw_take(allocator, sums->edge_room * sizeof *sums->edges);
    is_made = sums->edges != NULL;
    for (size_t i = 0; i < code->space_count; i++)
        is_made = is_made && tw_sums_grow(code->spaces[i]);
    if (!is_made)
        tw_sums_free(code);
    return is_made;
}

void tw_sums_free(struct tw_code *code)
{
    const struct tw_allocator *allocator = code->config.allocator;
    struct tw_sums *sums = code->sums;

    if (!sums)
        return;
    tw_give(allocator, sums->steps);
    tw_give(allocator, sums->ways);
    tw_give(allocator, sums->undone);
    tw_give(allocator, sums->edges);
    tw_give(allocator, sums->used_edges);
    tw_map_free(&sums->edge_times);
    tw_give(allocator, sums->kept);
    tw_give(allocator, sums);
    code->sums = NULL;
}

/* ---- counting ---- */

static bool list(struct tw_blocks *blocks, uint64_t **items, size_t *count, size_t *room,
                 uint32_t number)
{
    struct tw_code *code = blocks->code;

    if (TW_UNLIKELY(*count == *room) &&
        !TW_GROW(code->config.allocator, items, room, *count + 1)) {
        code->out_of_memory = true;
        return false;
    }
    (*items)[(*count)++] = tw_summed(blocks, number);
    return true;
}

bool tw_sums_grow(struct tw_blocks *blocks)
{
    return tw_blocks_grow(blocks, (void **)&blocks->ways, &blocks->way_room, 2 * blocks->room,
                          sizeof *blocks->ways) &&
           (!blocks->code->sums->bytes ||
            tw_blocks_grow(blocks, (void **)&blocks->places, &blocks->place_room,
                           2 * blocks->room, sizeof *blocks->places));
}

static void keep(struct tw_code *code, const struct tw_range_sum *sum)
{
    struct tw_sums *sums = code->sums;

    if (TW_GROW(code->config.allocator, &sums->kept, &sums->kept_room, sums->kept_count + 1))
        sums->kept[sums->kept_count++] = *sum;
    else
        code->out_of_memory = true;
}

/* The sum of a way. */
static void way_sum(struct tw_range_sum *out, const struct tw_blocks *blocks, uint32_t way,
                    uint64_t times)
{
    tw_block_range(&out->range, &blocks->blocks[way / 2], way & 1, 0);
    out->times = times;
    out->to = 0;
    out->is_edge = false;
}

static void keep_way(struct tw_blocks *blocks, uint32_t way, uint64_t times)
{
    struct tw_range_sum sum;

    way_sum(&sum, blocks, way, times);
    keep(blocks->code, &sum);
}

static void settle_steps(struct tw_code *code);

static bool list_way(struct tw_blocks *blocks, uint32_t way)
{
    struct tw_sums *sums = blocks->code->sums;

    return blocks->ways[way].times ||
           list(blocks, &sums->ways, &sums->way_count, &sums->way_room, way);
}

/* At 2^32 it is listed once more: the second time it is taken without times. */
static void add_way(struct tw_blocks *blocks, uint32_t way, uint32_t times)
{
    if (!list_way(blocks, way))
        return;
    blocks->ways[way].times += times;
    if (blocks->ways[way].times < times)
        keep_way(blocks, way, (uint64_t)1 << 32);
}

/* Of times that were put away. */
static void take_back_kept(struct tw_blocks *blocks, uint32_t way)
{
    struct tw_sums *sums = blocks->code->sums;
    struct tw_element range;
    size_t at = sums->kept_count;

    tw_block_range(&range, &blocks->blocks[way / 2], way & 1, 0);
    while (at-- > 0) {
        struct tw_range_sum *kept = &sums->kept[at];

        if (kept->is_edge || kept->range.start != range.start ||
            kept->range.flags != range.flags || kept->range.isa != range.isa)
            continue;
        if (!--kept->times)
            *kept = sums->kept[--sums->kept_count];
        return;
    }
}

static void take_back(struct tw_blocks *blocks, uint32_t way)
{
    if (blocks->ways[way].times)
        blocks->ways[way].times--;
    else
        take_back_kept(blocks, way);
}

enum { UNDONE_MOST = 4096 };

void tw_sums_undo(struct tw_blocks *blocks, uint32_t way)
{
    struct tw_sums *sums = blocks->code->sums;

    if (blocks->ways[way].times || !sums->step_count) {
        take_back(blocks, way);
        return;
    }
    (void)list(blocks, &sums->undone, &sums->undone_count, &sums->undone_room, way);
    if (sums->undone_count >= UNDONE_MOST)
        settle_steps(blocks->code);
}

void tw_sums_add_way(struct tw_blocks *blocks, uint32_t way)
{
    add_way(blocks, way, 1);
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

/* Adds what steps counted to the ways that they are made of. */
static void add_step(struct tw_blocks *blocks, uint32_t number, uint32_t times)
{
    uint32_t decisions = number % TW_STEP_WORDS, at = number / TW_STEP_WORDS;
    const bool all_decide = !blocks->code->sums->jumps_are_free;

    while (decisions != 1) {
        const struct tw_block *block = &blocks->blocks[at];
        const bool decides = all_decide || (block->flags & TW_RANGE_CONDITIONAL);
        const uint32_t taken = decides ? decisions & 1 : 1, way = at * 2 + taken;

        if (TW_LIKELY(blocks->ways[way].times && blocks->ways[way].times <= UINT32_MAX - times))
            blocks->ways[way].times += times;
        else
            add_way(blocks, way, times);
        decisions >>= decides;
        at = blocks->links[way];
    }
}

/* A step was made 2^32 times. */
static void keep_step(struct tw_blocks *blocks, uint32_t number)
{
    uint32_t decisions = number % TW_STEP_WORDS, at = number / TW_STEP_WORDS;

    while (decisions != 1) {
        const struct way way = way_of(blocks, at, decisions);

        keep_way(blocks, at * 2 + way.taken, (uint64_t)1 << 32);
        decisions >>= way.decides;
        at = blocks->links[2 * at + way.taken];
    }
}

uint32_t tw_sums_last(const struct tw_blocks *blocks, uint32_t block, uint64_t decisions)
{
    uint32_t at = block, last = 0;

    for (; decisions > 1; decisions >>= 1) {
        last = at * 2 | (decisions & 1);
        at = blocks->links[last];
    }
    return last;
}

/* A step may end with a branch whose target the trace tells. */
static bool may_end_at(const struct tw_blocks *blocks, uint32_t next)
{
    return next == TW_NEXT_NEEDED && !blocks->code->sums->jumps_are_free &&
           !blocks->code->config.links_are_special;
}

/* Where a step leads; adds to *length the bytes of code that are passed. */
static uint32_t walk(const struct tw_blocks *blocks, uint32_t number, uint32_t *length)
{
    const bool has_lengths = blocks->code->sums->has_lengths;
    uint32_t decisions = number % TW_STEP_WORDS, at = number / TW_STEP_WORDS, passed = 0;

    while (decisions != 1) {
        const struct way way = way_of(blocks, at, decisions);
        const uint32_t next = blocks->links[2 * at + way.taken];

        decisions >>= way.decides;
        if (next == TW_NEXT_UNKNOWN)
            return TW_STEP_UNKNOWN;
        if (decisions == 1 && may_end_at(blocks, next))
            return at * TW_STEP_WORDS;
        if (!tw_block_is_plain(next) || ++passed == TW_STEP_BLOCKS ||
            (has_lengths && tw_block_is_link(&blocks->blocks[at])))
            return TW_STEP_NONE;
        *length += blocks->blocks[at].length;
        at = next;
    }
    return at * TW_STEP_WORDS | passed << TW_STEP_PASSED_SHIFT;
}

static bool grow_steps(struct tw_blocks *blocks, uint32_t number)
{
    const size_t twice = 2 * blocks->step_room, least = (size_t)number + 1024;
    const size_t wanted = twice > least ? twice : least;

    /* tw_sums_steps looks at the whole words of a number that is below the room. */
    size_t room = blocks->step_room ? blocks->step_room + TW_STEP_WORDS : 0;

    if (!tw_blocks_grow(blocks, (void **)&blocks->steps, &room, wanted + TW_STEP_WORDS,
                        sizeof *blocks->steps) ||
        (blocks->code->sums->has_lengths &&
         !tw_blocks_grow(blocks, (void **)&blocks->step_lengths, &blocks->length_room, wanted,
                         sizeof *blocks->step_lengths)))
        return false;
    blocks->step_room = wanted;
    return true;
}

uint32_t tw_sums_make_step(struct tw_blocks *blocks, uint32_t number)
{
    uint32_t to, length = 0;

    if (number >= blocks->step_room && !grow_steps(blocks, number)) {
        blocks->code->out_of_memory = true;
        return TW_STEP_NONE;
    }
    to = walk(blocks, number, &length);
    blocks->steps[number].to = to;
    if (to >= TW_BLOCK_FIRST) {
        if (blocks->code->sums->has_lengths)
            blocks->step_lengths[number] = length;
        blocks->steps[number].times = 1;
        tw_sums_list_step(blocks, number);
    }
    return to;
}

void tw_sums_list_slowly(struct tw_blocks *blocks, uint32_t number)
{
    struct tw_sums *sums = blocks->code->sums;

    if (blocks->steps[number].times == 0)
        keep_step(blocks, number);
    else
        (void)list(blocks, &sums->steps, &sums->step_count, &sums->step_room, number);
}

/* The place of an edge, or the free one where it belongs. */
static struct tw_edge_sum *edge_place(const struct tw_sums *sums, uint64_t key)
{
    uint32_t at = tw_edge_place(sums, key);

    while (sums->edges[at].key && sums->edges[at].key != key)
        at = (at + 1) & (sums->edge_room - 1);
    return &sums->edges[at];
}

/* The last edge of those that there are leaves the table. */
static struct tw_edge_sum take_edge(struct tw_sums *sums)
{
    struct tw_edge_sum *edge = &sums->edges[sums->used_edges[--sums->used_count]];
    const struct tw_edge_sum taken = *edge;

    *edge = (struct tw_edge_sum){ .key = 0 };
    return taken;
}

/* Edges go to edge_times. */
static void put_edges_away(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;

    while (sums->used_count) {
        const struct tw_edge_sum edge = take_edge(sums);
        uint64_t *times = tw_map_put(&sums->edge_times, edge.key);

        if (times)
            *times += edge.times;
        else
            code->out_of_memory = true;
    }
}

/* Makes room for another edge; where there is none, those that there are go. */
static void more_edges(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;
    struct tw_edge_sum *larger = NULL;

    put_edges_away(code);
    if (sums->edge_room < 1u << TW_EDGE_BITS_MOST)
        larger = tw_take(code->config.allocator, 2 * (size_t)sums->edge_room * sizeof *larger);
    if (!larger)
        return;
    tw_give(code->config.allocator, sums->edges);
    sums->edges = larger;
    sums->edge_room *= 2;
    sums->edge_shift--;
}

void tw_sums_add_edge(struct tw_blocks *blocks, uint64_t key)
{
    struct tw_sums *sums = blocks->code->sums;
    struct tw_edge_sum *edge = edge_place(sums, key);

    if (edge->key) {
        edge->times++;
        return;
    }
    if (sums->used_count >= sums->edge_room / 4) {
        more_edges(blocks->code);
        edge = edge_place(sums, key);
    }
    if (TW_UNLIKELY(sums->used_count == sums->used_room) &&
        !TW_GROW(blocks->code->config.allocator, &sums->used_edges, &sums->used_room,
                 sums->used_count + 1)) {
        blocks->code->out_of_memory = true;
        return;
    }
    sums->used_edges[sums->used_count++] = (uint32_t)(edge - sums->edges);
    *edge = (struct tw_edge_sum){ .key = key, .times = 1 };
}

void tw_sums_undo_edge(struct tw_blocks *blocks, uint32_t from, uint32_t to)
{
    struct tw_sums *sums = blocks->code->sums;
    const uint64_t key = tw_edge_key(blocks, from, to);
    struct tw_edge_sum *edge = edge_place(sums, key);
    uint64_t *times =
        edge->key && edge->times ? &edge->times : tw_map_find(&sums->edge_times, key);

    if (times) /* else there was no memory for it */
        --*times;
}

/* ---- taking ---- */

static struct tw_blocks *space_of(const struct tw_code *code, uint64_t number)
{
    return code->spaces[number - 1];
}

static struct tw_blocks *space_of_summed(const struct tw_code *code, uint64_t summed)
{
    return space_of(code, summed >> 32);
}

static void edge_sum(struct tw_range_sum *out, const struct tw_code *code, uint64_t key,
                     uint64_t times)
{
    const struct tw_blocks *blocks = space_of(code, key >> 2 * TW_SLOT_NUMBER_BITS);
    const uint32_t from = (uint32_t)(key >> TW_SLOT_NUMBER_BITS) & (TW_BLOCKS_MAX - 1u);
    const uint32_t to = (uint32_t)key & (TW_BLOCKS_MAX - 1u);

    way_sum(out, blocks, from * 2 + 1, times);
    out->to = blocks->blocks[to].start;
    out->is_edge = true;
}

/* Steps lie far from each other: each is asked for so many before its turn. */
enum { SEEN_AHEAD = 8 };

static void settle_steps(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;

    if (sums->bytes && !sums->undone_count) /* what is in a byte cannot be taken back */
        tw_sums_steps_to_bytes(code);
    while (sums->step_count) {
        const uint64_t summed = sums->steps[--sums->step_count];
        struct tw_blocks *blocks = space_of_summed(code, summed);
        struct tw_step_sum *step = &blocks->steps[(uint32_t)summed];
        const uint32_t times = step->times;

        if (sums->step_count >= SEEN_AHEAD) {
            const uint64_t later = sums->steps[sums->step_count - SEEN_AHEAD];

            TW_PREFETCH(&space_of_summed(code, later)->steps[(uint32_t)later]);
        }

        step->times = 0;
        if (times)
            add_step(blocks, (uint32_t)summed, times);
    }
    while (sums->undone_count) {
        const uint64_t undone = sums->undone[--sums->undone_count];

        take_back(space_of_summed(code, undone), (uint32_t)undone);
    }
}

static void put_ways_into_bytes(struct tw_code *code)
{
    struct tw_sums *sums = code->sums;

    while (sums->way_count) {
        const uint64_t summed = sums->ways[--sums->way_count];
        struct tw_blocks *blocks = space_of_summed(code, summed);
        struct tw_sum_way *way = &blocks->ways[(uint32_t)summed];

        if (way->times)
            tw_sums_way_to_byte(blocks, (uint32_t)summed, way->times);
        way->times = 0;
    }
}

/* Ways with times; how many. */
static size_t take_ways(struct tw_code *code, struct tw_range_sum *out, size_t room)
{
    struct tw_sums *sums = code->sums;
    size_t at = sums->way_count, count = 0;

    while (count < room && at) {
        const uint64_t summed = sums->ways[--at];
        struct tw_blocks *blocks = space_of_summed(code, summed);
        struct tw_sum_way *way = &blocks->ways[(uint32_t)summed];

        way_sum(&out[count], blocks, (uint32_t)summed, way->times);
        count += way->times != 0;
        way->times = 0;
    }
    sums->way_count = at;
    return count;
}

static bool next_edge(struct tw_code *code, struct tw_range_sum *out)
{
    struct tw_sums *sums = code->sums;
    uint64_t key, *times;

    while (sums->used_count) {
        const struct tw_edge_sum edge = take_edge(sums);

        if (!edge.times) /* it was taken back */
            continue;
        edge_sum(out, code, edge.key, edge.times);
        return true;
    }
    if (!sums->edge_times.count)
        return false;
    while (tw_map_next(&sums->edge_times, &sums->edge_at, &key, &times)) {
        if (!*times)
            continue;
        edge_sum(out, code, key, *times);
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
    if (sums->bytes)
        put_ways_into_bytes(code);
    for (; count < room && sums->kept_count; count++)
        out[count] = sums->kept[--sums->kept_count];
    count += take_ways(code, out + count, room - count);
    while (count < room && next_edge(code, &out[count]))
        count++;
    return count;
}

void tw_sums_forget(struct tw_code *code)
{
    struct tw_sum_bytes *bytes = code->sums->bytes;
    struct tw_range_sum ignored[16];

    code->sums->bytes = NULL;
    while (tw_sums_next(code, ignored, TW_LENGTH(ignored)))
        continue;
    code->sums->bytes = bytes;
}

void tw_sums_keep(struct tw_code *code)
{
    struct tw_range_sum sum;

    settle_steps(code);
    while (take_ways(code, &sum, 1))
        keep(code, &sum);
    while (next_edge(code, &sum))
        keep(code, &sum);
    for (size_t i = 0; i < code->space_count; i++) {
        struct tw_blocks *blocks = code->spaces[i];

        if (blocks->places)
            memset(blocks->places, 0, blocks->place_room * sizeof *blocks->places);
        if (blocks->steps)
            memset(blocks->steps, 0,
                   (blocks->step_room + TW_STEP_WORDS) * sizeof *blocks->steps);
    }
}
