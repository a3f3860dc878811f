/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: what the recorder lost, by the block that it stands before. */
#include <stdlib.h>

#include "base/fault.h"
#include "replay/replay.h"

static int compare_ends(const void *a, const void *b)
{
    const struct tw_replay_lost *x = a, *y = b;

    return (x->end > y->end) - (x->end < y->end);
}

enum tw_status tw_lost_list(struct tw_replay *replay)
{
    const size_t count = replay->perf ? tw_perf_loss_count(replay->perf) : 0;

    if (!count)
        return TW_OK;
    replay->lost = tw_take(replay->allocator, count * sizeof *replay->lost);
    if (!replay->lost)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    replay->lost_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct tw_perf_loss *loss = tw_perf_loss(replay->perf, i);

        replay->lost[i] = (struct tw_replay_lost){ .end = loss->aux_offset + loss->size,
                                                   .cpu = loss->cpu,
                                                   .tid = loss->tid,
                                                   .has_data = loss->has_data };
    }
    qsort(replay->lost, count, sizeof *replay->lost, compare_ends);
    return TW_OK;
}

const struct tw_replay_lost *tw_lost_before(const struct tw_replay *replay, uint32_t buffer,
                                            const struct tw_replay_lost *after)
{
    const struct tw_replay_lost *end = replay->lost + replay->lost_count, *at;
    const struct tw_perf_block *block;
    size_t low = 0, high = replay->lost_count;

    if (!replay->lost_count)
        return NULL;
    block = tw_perf_block(replay->perf, buffer);
    while (!after && low < high) {
        const size_t middle = low + (high - low) / 2;

        if (replay->lost[middle].end < block->aux_offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (at = after ? after + 1 : replay->lost + low; at < end && at->end == block->aux_offset;
         at++)
        if (block->cpu != TW_NONE ? at->cpu == block->cpu : at->tid == block->tid)
            return at;
    return NULL;
}
