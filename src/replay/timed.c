/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of perf.data with a ring buffer for each CPU: threads move between CPUs, so that blocks are decoded together,
   merged by the timestamps in them.  In the merged trace a window ends where the last of its blocks does.  What comes
   before that of other CPUs is in blocks that were recorded later: of each the next one is decoded too; and of each the
   one before, by which it is known where the window begins. */
#include "base/fault.h"
#include "replay/replay.h"

enum { BLOCKS_ASKED = 16 };

/* Whether the trace tells times: without them there is nothing to merge by. */
static bool tells_time(struct tw_replay *replay)
{
    struct tw_run_config config = replay->run_config;
    struct tw_part part = { .size = sizeof part };
    unsigned blocks = 0;
    bool is_told = false;
    struct tw_run *run;

    config.threads = 1;
    if (tw_run_new(&run, replay->capture, &config, NULL) != TW_OK)
        return false;
    while (!is_told && blocks < BLOCKS_ASKED && tw_run_next(run, &part) == TW_OK) {
        blocks += part.kind == TW_PART_END;
        for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++)
            is_told |= part.batch.elements[i].type == TW_ELEMENT_TIMESTAMP;
    }
    tw_run_free(run);
    return is_told;
}

static bool has_several_cpus(const struct tw_replay *replay)
{
    for (size_t i = 0; i < replay->block_count; i++)
        if (tw_perf_block(replay->perf, replay->blocks[i].buffer)->cpu == TW_NONE)
            return false;
        else if (replay->blocks[i].stream != replay->blocks[0].stream)
            return replay->blocks[0].time != 0;
    return false;
}

enum tw_status tw_timed_list(struct tw_replay *replay, uint64_t each)
{
    uint64_t bytes = 0;

    if (!replay->perf || !has_several_cpus(replay) || !tells_time(replay))
        return TW_END;
    replay->ranks = tw_take(replay->allocator,
                            tw_capture_buffer_count(replay->capture) * sizeof *replay->ranks);
    if (!replay->ranks)
        return TW_E_MEMORY;
    replay->is_timed = true;
    for (size_t i = 0; i < replay->block_count; i++) {
        const uint32_t buffer = replay->blocks[i].buffer;

        replay->ranks[buffer] = (uint32_t)i;
        bytes += tw_capture_buffer(replay->capture, buffer)->size;
        if (bytes < each && i + 1 < replay->block_count)
            continue;
        if (!TW_GROW(replay->allocator, &replay->windows, &replay->window_room,
                     replay->window_count + 1))
            return TW_E_MEMORY;
        replay->windows[replay->window_count++] = (struct tw_replay_window){
            .buffer = buffer, .to = UINT64_MAX, .bytes = bytes, .end_block = (uint32_t)i + 1
        };
        bytes = 0;
    }
    return TW_OK;
}

/* Whether another block between two is of the same ring buffer. */
static bool has_between(const struct tw_replay *replay, size_t first, size_t end,
                        uint32_t stream)
{
    for (size_t i = first; i < end; i++)
        if (replay->blocks[i].stream == stream)
            return true;
    return false;
}

enum tw_status tw_timed_begin(const struct tw_replay *replay, struct tw_timed_cut *cut,
                              uint32_t first, uint32_t end)
{
    const struct tw_replay_block *blocks = replay->blocks;

    *cut = (struct tw_timed_cut){ .before = first ? replay->windows[first - 1].end_block : 0,
                                  .end = replay->windows[end - 1].end_block };
    cut->names = tw_take(replay->allocator, replay->block_count * sizeof *cut->names);
    if (!cut->names)
        return TW_E_MEMORY;
    for (size_t i = 0; i < replay->block_count; i++) {
        const bool is_before = i < cut->before, is_behind = i >= cut->end;

        if ((is_before && has_between(replay, i + 1, cut->before, blocks[i].stream)) ||
            (is_behind && has_between(replay, cut->end, i, blocks[i].stream)))
            continue;
        cut->names[cut->count++] = tw_capture_buffer(replay->capture, blocks[i].buffer)->name;
        cut->open_before += is_before;
        cut->open += !is_behind;
    }
    return TW_OK;
}

bool tw_timed_end(const struct tw_replay *replay, struct tw_timed_cut *cut, uint32_t buffer)
{
    cut->open_before -= replay->ranks[buffer] < cut->before;
    cut->open -= replay->ranks[buffer] < cut->end;
    return cut->open == 0;
}
