/* SPDX-License-Identifier: BSD-2-Clause */
/* PC samples of the DWT, counted by PC. */
#include <trackway/pc_samples.h>

#include <stdlib.h>

#include <trackway/itm.h>

#include "analysis/saved.h"
#include "base/fault.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sized.h"

struct tw_pc_samples {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    struct tw_map counts; /* by PC */
    uint64_t total, asleep, prohibited;
    struct tw_pc_count *results;
    size_t result_room;
};

static const struct tw_saved_kind saved_kind = { "pcs", 1 };

enum tw_status tw_pc_samples_new(struct tw_pc_samples **samples,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_pc_samples *made = tw_take(allocator, sizeof *made);

    *samples = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for samples");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    made->counts.allocator = made->allocator;
    return TW_OK;
}

void tw_pc_samples_free(struct tw_pc_samples *samples)
{
    struct tw_allocator allocator;

    if (!samples)
        return;
    allocator = samples->allocator_copy;
    tw_map_free(&samples->counts);
    tw_give(samples->allocator, samples->results);
    tw_give(samples->allocator ? &allocator : NULL, samples);
}

static bool count_pc(struct tw_pc_samples *samples, uint64_t pc, uint64_t times)
{
    uint64_t *count = tw_map_put(&samples->counts, pc);

    if (count)
        *count += times;
    return count != NULL;
}

enum tw_status tw_pc_samples_take(struct tw_pc_samples *samples, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];
        struct tw_dwt_meaning dwt;

        if (element->type != TW_ELEMENT_ITMTRACE || element->kind != TW_ITM_DWT)
            continue;
        dwt = tw_dwt_meaning(element->source, element->size, element->itm_value);
        if (dwt.kind != TW_DWT_PC_SAMPLE && dwt.kind != TW_DWT_ASLEEP &&
            dwt.kind != TW_DWT_PROHIBITED)
            continue;
        samples->total++;
        samples->asleep += dwt.kind == TW_DWT_ASLEEP;
        samples->prohibited += dwt.kind == TW_DWT_PROHIBITED;
        if (dwt.kind == TW_DWT_PC_SAMPLE && !count_pc(samples, dwt.value, 1))
            return TW_E_MEMORY;
    }
    return TW_OK;
}

enum tw_status tw_pc_samples_add(struct tw_pc_samples *samples,
                                 const struct tw_pc_samples *other)
{
    uint64_t pc, *count;

    if (samples == other)
        return TW_E_ARGUMENT;
    for (size_t at = 0; tw_map_next(&other->counts, &at, &pc, &count);)
        if (!count_pc(samples, pc, *count))
            return TW_E_MEMORY;
    samples->total += other->total;
    samples->asleep += other->asleep;
    samples->prohibited += other->prohibited;
    return TW_OK;
}

enum tw_status tw_pc_samples_save(const struct tw_pc_samples *samples, const char *path,
                                  struct tw_fault *fault)
{
    struct tw_save save = { .allocator = samples->allocator };
    uint64_t pc, *count;

    tw_save_u64(&save, samples->total);
    tw_save_u64(&save, samples->asleep);
    tw_save_u64(&save, samples->prohibited);
    tw_save_u64(&save, samples->counts.count);
    for (size_t at = 0; tw_map_next(&samples->counts, &at, &pc, &count);) {
        tw_save_u64(&save, pc);
        tw_save_u64(&save, *count);
    }
    return tw_save_end(&save, &saved_kind, path, fault);
}

static void read_counts(struct tw_pc_samples *samples, struct tw_load *load)
{
    enum { COUNT_SIZE = 16 };
    size_t count;

    samples->total = tw_load_u64(load);
    samples->asleep = tw_load_u64(load);
    samples->prohibited = tw_load_u64(load);
    count = tw_load_count(load, COUNT_SIZE);
    for (size_t i = 0; i < count && !load->is_wrong; i++) {
        const uint64_t pc = tw_load_u64(load), times = tw_load_u64(load);

        load->is_wrong |= pc > UINT32_MAX;
        if (!load->is_wrong)
            tw_load_need(load, count_pc(samples, pc, times));
    }
}

enum tw_status tw_pc_samples_load(struct tw_pc_samples **samples, const char *path,
                                  const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_pc_samples *made;
    struct tw_load load;
    enum tw_status status;

    *samples = NULL;
    TW_TRY(tw_pc_samples_new(&made, allocator, fault));
    status = tw_load_begin(&load, &saved_kind, path, allocator, fault);
    if (status == TW_OK) {
        read_counts(made, &load);
        status = tw_load_end(&load, path, fault);
    }
    if (status != TW_OK) {
        tw_pc_samples_free(made);
        return status;
    }
    *samples = made;
    return TW_OK;
}

bool tw_pc_samples_totals(const struct tw_pc_samples *samples, struct tw_pc_totals *totals)
{
    const struct tw_pc_totals told = { .size = sizeof told,
                                       .samples = samples->total,
                                       .asleep = samples->asleep,
                                       .prohibited = samples->prohibited };

    return TW_SIZED_GIVE(totals, &told);
}

static int by_count(const void *a, const void *b)
{
    const struct tw_pc_count *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

static int by_pc(const void *a, const void *b)
{
    const struct tw_pc_count *x = a, *y = b;

    return (x->pc > y->pc) - (x->pc < y->pc);
}

enum tw_status tw_pc_samples_counts(struct tw_pc_samples *samples,
                                    const struct tw_pc_count **counts, size_t *count,
                                    const struct tw_symbols *symbols)
{
    struct tw_symbol symbol;
    uint64_t pc, *times;
    size_t all = 0, joined = 0;

    *counts = NULL;
    *count = 0;
    if (!TW_GROW(samples->allocator, &samples->results, &samples->result_room,
                 samples->counts.count + 1))
        return TW_E_MEMORY;
    for (size_t at = 0; tw_map_next(&samples->counts, &at, &pc, &times);) {
        if (symbols && tw_symbols_find(symbols, &symbol, pc))
            pc = symbol.address;
        samples->results[all++] = (struct tw_pc_count){ (uint32_t)pc, *times };
    }
    qsort(samples->results, all, sizeof *samples->results, by_pc);
    for (size_t i = 0; i < all; i++) {
        if (joined && samples->results[joined - 1].pc == samples->results[i].pc)
            samples->results[joined - 1].count += samples->results[i].count;
        else
            samples->results[joined++] = samples->results[i];
    }
    qsort(samples->results, joined, sizeof *samples->results, by_count);
    *counts = samples->results;
    *count = joined;
    return TW_OK;
}
