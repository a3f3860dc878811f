/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of what was lost: by the trace unit, on the way, by the recorder, and code that is not
   there. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/sized.h"
#include "run/run.h"

/* A recorder's loss in its ring. */
struct tw_ring_loss {
    uint64_t aux_offset;
    uint32_t ring, number;
};

static int compare_losses(const void *a, const void *b)
{
    const struct tw_ring_loss *x = a, *y = b;

    if (x->ring != y->ring)
        return x->ring < y->ring ? -1 : 1;
    if (x->aux_offset != y->aux_offset)
        return x->aux_offset < y->aux_offset ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool put_in_order(struct tw_run *run, struct tw_ring_losses *losses, size_t count,
                         bool is_by_cpu)
{
    losses->items = tw_run_keep(run, (count + 1) * sizeof *losses->items);
    losses->passed = tw_run_keep(run, (count + 1) * sizeof *losses->passed);
    if (!losses->items || !losses->passed)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct tw_perf_loss *loss = tw_perf_loss(run->perf, i);

        losses->items[i] = (struct tw_ring_loss){ .aux_offset = loss->aux_offset,
                                                  .ring = is_by_cpu ? loss->cpu : loss->tid,
                                                  .number = (uint32_t)i };
    }
    qsort(losses->items, count, sizeof *losses->items, compare_losses);
    return true;
}

enum tw_status tw_losses_new(struct tw_run *run)
{
    const size_t count = run->perf ? tw_perf_loss_count(run->perf) : 0;

    run->is_told = tw_run_keep(run, count + 1);
    if (!run->is_told || !put_in_order(run, &run->by_cpu, count, true) ||
        !put_in_order(run, &run->by_tid, count, false))
        return TW_E_MEMORY;
    return TW_OK;
}

/* The first loss of a ring; the count: it has none. */
static size_t first_of_ring(const struct tw_ring_losses *losses, size_t count, uint32_t ring)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (losses->items[middle].ring < ring)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* In the ring of this block, no later than it. */
static const struct tw_perf_loss *next_before(struct tw_run *run, size_t count,
                                              const struct tw_perf_block *block)
{
    const bool is_by_cpu = block->cpu != TW_NONE;
    struct tw_ring_losses *losses = is_by_cpu ? &run->by_cpu : &run->by_tid;
    const uint32_t ring = is_by_cpu ? block->cpu : block->tid;
    const size_t first = first_of_ring(losses, count, ring);

    for (size_t at = first + losses->passed[first];
         at < count && losses->items[at].ring == ring &&
         losses->items[at].aux_offset <= block->aux_offset;
         at++) {
        const uint32_t number = losses->items[at].number;

        losses->passed[first]++;
        if (run->is_told[number])
            continue;
        run->is_told[number] = true;
        return tw_perf_loss(run->perf, number);
    }
    return NULL;
}

const struct tw_perf_loss *tw_losses_next(struct tw_run *run, const uint32_t *buffer)
{
    const size_t count = run->perf ? tw_perf_loss_count(run->perf) : 0;

    if (buffer && count)
        return next_before(run, count, tw_perf_block(run->perf, *buffer));
    while (run->told_next < count && run->is_told[run->told_next])
        run->told_next++;
    if (buffer || run->told_next == count)
        return NULL;
    run->is_told[run->told_next] = true;
    return tw_perf_loss(run->perf, run->told_next);
}

void tw_losses_add_stats(struct tw_losses *losses, const struct tw_source_stats *stats)
{
    for (size_t code = TW_ERROR_NONE + 1; code < stats->error_codes; code++) {
        if (code == TW_ERROR_TRUNCATED)
            losses->truncated += stats->errors[code];
        else if (code == TW_ERROR_DISCONTINUITY)
            losses->gaps += stats->errors[code];
        else if (code != TW_ERROR_OVERFLOW && code != TW_ERROR_UNSYNCED &&
                 code != TW_ERROR_UNPLACED)
            losses->errors += stats->errors[code];
    }
    losses->overflows += stats->overflows;
    losses->discards += stats->discards;
    losses->unsynced_bytes += stats->unsynced_bytes;
    losses->missing_code += stats->missing_code;
}

void tw_losses_add_packet(struct tw_run *run, const struct tw_packet_view *view)
{
    const uint8_t id = view->packet->id % TW_RUN_IDS;
    struct tw_losses *losses = &run->losses;

    /* The kinds behind it tell of no loss. */
    if (TW_LIKELY(run->is_synced[id] && view->kind > TW_PACKET_DISCARD))
        return;
    losses->overflows += view->kind == TW_PACKET_OVERFLOW;
    losses->discards += view->kind == TW_PACKET_DISCARD;
    losses->truncated += view->kind == TW_PACKET_CUT;
    losses->errors += view->kind == TW_PACKET_BAD;
    losses->gaps += view->is_not_sync && run->is_synced[id];
    run->is_synced[id] |= !view->is_not_sync && !view->is_bad;
}

uint32_t tw_losses_file(const struct tw_run *run, const struct tw_run_stream *stream,
                        uint64_t address)
{
    const struct tw_perf_thread *thread = stream->who.thread;
    const struct tw_perf_map *map;

    if (!run->perf)
        return 0;
    map = tw_perf_map(run->perf, thread ? thread->space : 0, address, stream->cursor.time);
    return map && map->file != TW_NONE ? map->file : (uint32_t)tw_perf_file_count(run->perf);
}

void tw_losses_see(struct tw_run *run, struct tw_run_stream *stream,
                   const struct tw_element *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tw_element *element = &elements[i];

        if (element->type != TW_ELEMENT_ADDR_NACC && element->type != TW_ELEMENT_EO_TRACE)
            continue;
        run->missing[stream->missing_file].branches += element->count;
        if (element->type == TW_ELEMENT_EO_TRACE)
            continue;
        stream->missing_file = tw_losses_file(run, stream, element->address);
        run->missing[stream->missing_file].times++;
    }
}

bool tw_run_losses(const struct tw_run *run, struct tw_run_losses *losses)
{
    struct tw_losses all = run->losses;
    struct tw_run_losses told;

    for (size_t i = 0; i < run->reader_count; i++) {
        const struct tw_reader *reader = run->readers[i];

        for (size_t id = 0; reader->tree && id < TW_RUN_IDS; id++)
            if (reader->source_of[id] != TW_NONE)
                tw_losses_add_stats(&all, tw_tree_source_stats(reader->tree, (uint8_t)id));
    }
    told = (struct tw_run_losses){
        .recorder = run->perf ? tw_perf_loss_count(run->perf) : 0,
        .errors = all.errors,
        .truncated = all.truncated,
        .overflows = all.overflows,
        .discards = all.discards,
        .gaps = all.gaps,
        .unsynced_bytes = all.unsynced_bytes,
        .missing_code = all.missing_code,
    };
    return TW_SIZED_GIVE(losses, &told);
}

bool tw_run_missing(const struct tw_run *run, struct tw_missing *missing, size_t number)
{
    const size_t files = run->perf ? tw_perf_file_count(run->perf) : 0;

    if (number > files)
        return false;
    *missing = (struct tw_missing){ .file = number < files ? (uint32_t)number : TW_NONE,
                                    .times = run->missing[number].times,
                                    .branches = run->missing[number].branches };
    return true;
}
