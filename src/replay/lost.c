/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: what the recorder lost, by the block that it stands before. */
#include <stdlib.h>

#include "base/fault.h"
#include "replay/replay.h"

/* By end and ring. */
static int compare_places(const struct tw_replay_lost *x, const struct tw_replay_lost *y)
{
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->ring > y->ring) - (x->ring < y->ring);
}

static int compare(const void *a, const void *b)
{
    const struct tw_replay_lost *x = a, *y = b;
    const int order = compare_places(x, y);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

enum tw_status tw_lost_list(struct tw_replay *replay)
{
    const size_t count = replay->perf ? tw_perf_loss_count(replay->perf) : 0;

    if (!count)
        return TW_OK;
    replay->lost = tw_take(replay->allocator, 2 * count * sizeof *replay->lost);
    if (!replay->lost)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    replay->lost_count = count;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct tw_perf_loss *loss = tw_perf_loss(replay->perf, i % count);

        replay->lost[i] = (struct tw_replay_lost){ .end = loss->aux_offset + loss->size,
                                                   .ring = i < count ? loss->cpu : loss->tid,
                                                   .number = (uint32_t)(i % count),
                                                   .has_data = loss->has_data };
    }
    qsort(replay->lost, count, sizeof *replay->lost, compare);
    qsort(replay->lost + count, count, sizeof *replay->lost, compare);
    return TW_OK;
}

/* How many of `lost` come before a place; is_after: or stand at it. */
static size_t count_before(const struct tw_replay_lost *lost, size_t count,
                           const struct tw_replay_lost *place, bool is_after)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_places(&lost[middle], place) < (is_after ? 1 : 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t tw_lost_before(const struct tw_replay *replay, uint32_t buffer,
                      const struct tw_replay_lost **first)
{
    const size_t count = replay->lost_count;
    const struct tw_replay_lost *lost = replay->lost;
    const struct tw_perf_block *block;
    struct tw_replay_lost place;
    size_t before;

    if (!count)
        return 0;
    block = tw_perf_block(replay->perf, buffer);
    place = (struct tw_replay_lost){ .end = block->aux_offset, .ring = block->cpu };
    if (block->cpu == TW_NONE) {
        lost += count;
        place.ring = block->tid;
    }
    before = count_before(lost, count, &place, false);
    *first = lost + before;
    return count_before(lost, count, &place, true) - before;
}
