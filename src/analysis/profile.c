/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of a profile, and its results. */
#include "analysis/profile.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

static bool init(struct tw_profiler *profile)
{
    profile->builds.allocator = profile->code.allocator = profile->row_of.allocator =
        profile->cell_of.allocator = profile->allocator;
    tw_code_places_init(&profile->places, profile->allocator);
    return tw_functions_init(&profile->functions, profile->allocator) &&
           tw_flow_ranges_init(&profile->ranges, &profile->functions, profile->allocator);
}

enum tw_status tw_profile_new(struct tw_profiler **profile,
                              const struct tw_profile_config *given, struct tw_fault *fault)
{
    struct tw_profile_config config;
    struct tw_profiler *made;

    *profile = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_profile_config", fault));
    if (config.by < TW_PROFILE_FUNCTION || config.by > TW_PROFILE_SOURCE)
        return tw_fail(fault, TW_E_ARGUMENT, "a profile has no rows of that kind");
    if (config.by == TW_PROFILE_FUNCTION && config.with_time && !config.calls)
        return tw_fail(fault, TW_E_ARGUMENT, "the time of functions needs their calls");
    if (config.with_inlined && (config.by != TW_PROFILE_FUNCTION || config.calls))
        return tw_fail(fault, TW_E_ARGUMENT,
                       "inlined functions are rows of functions, and calls are not followed");
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the profile");
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by = config.by;
    made->with_time = config.with_time;
    made->with_inlined = config.with_inlined;
    made->calls = config.calls;
    made->has_calls = config.by == TW_PROFILE_FUNCTION && config.calls;
    if (init(made)) {
        *profile = made;
        return TW_OK;
    }
    tw_profile_free(made);
    return tw_fail(fault, TW_E_MEMORY, "no memory for the profile");
}

void tw_profile_free(struct tw_profiler *profile)
{
    struct tw_allocator allocator;

    if (!profile)
        return;
    tw_profile_streams_release(profile);
    tw_give(profile->allocator, profile->streams);
    for (size_t i = 0; i < profile->cell_count; i++) {
        tw_range_counts_release(&profile->cells[i]->counts);
        tw_give(profile->allocator, profile->cells[i]);
    }
    for (size_t i = 0; i < profile->name_count; i++)
        tw_give(profile->allocator, profile->names[i]);
    tw_give(profile->allocator, profile->names);
    tw_give(profile->allocator, profile->cells);
    tw_give(profile->allocator, profile->rows);
    tw_give(profile->allocator, profile->timed);
    tw_give(profile->allocator, profile->branches);
    tw_give(profile->allocator, profile->targets);
    tw_give(profile->allocator, profile->cycles.items);
    tw_give(profile->allocator, profile->time.items);
    tw_map_free(&profile->row_of);
    tw_map_free(&profile->cell_of);
    tw_counted_code_release(&profile->code);
    tw_code_places_release(&profile->places);
    tw_builds_release(&profile->builds);
    tw_flow_ranges_release(&profile->ranges);
    tw_functions_release(&profile->functions);
    allocator = profile->allocator_copy; /* the handle itself holds it */
    tw_give(profile->allocator ? &allocator : NULL, profile);
}

/* ---- counting on threads ---- */

static bool is_by_code(const struct tw_profiler *profile)
{
    return profile->by <= TW_PROFILE_ADDRESS;
}

/* Rows of functions and of who executed have no use for where branches led. */
static void count_without_edges(void *context, void *tally, const struct tw_part *part)
{
    struct tw_range_counts *counts = tally;

    (void)context;
    counts->without_edges = true;
    tw_range_counts_take(counts, part->batch.elements, part->batch.count, part->is_resumed);
}

static void sum_without_edges(void *context, void *tally, const struct tw_range_sum *sums,
                              size_t number)
{
    struct tw_range_counts *counts = tally;

    (void)context;
    counts->without_edges = true;
    tw_range_counts_sum(counts, sums, number);
}

static void merge(void *context, void *tally, const struct tw_part *whose)
{
    struct tw_profiler *profile = context;

    tw_counted_code_add(&profile->code, tally, whose);
    if (!is_by_code(profile) && !tw_profile_add_who(profile, profile->code.run, tally, whose))
        profile->is_out = true;
}

struct tw_run_counter tw_profile_counter(struct tw_profiler *profile)
{
    struct tw_run_counter counter = tw_counted_code_counter();

    if (profile->by != TW_PROFILE_LINE && profile->by != TW_PROFILE_ADDRESS) {
        counter.count = count_without_edges;
        counter.sum = sum_without_edges;
    }
    counter.context = profile;
    counter.merge = merge;
    if (!is_by_code(profile))
        counter.sum = NULL; /* threads are told apart */
    return counter;
}

void tw_profile_run(struct tw_profiler *profile, struct tw_run *run)
{
    profile->code.run = run;
}

/* ---- at the end ---- */

/* What was counted by part goes to the files and to who executed. */
static void add_cells(struct tw_profiler *profile)
{
    for (size_t i = 0; i < profile->cell_count; i++) {
        struct tw_profile_cell *cell = profile->cells[i];

        profile->code.run = cell->run;
        tw_counted_code_add(&profile->code, &cell->counts, &cell->part);
        if (!is_by_code(profile) &&
            !tw_profile_add_who(profile, cell->run, &cell->counts, &cell->part))
            profile->is_out = true;
    }
}

/* The estimated time of ranges goes to the files, too. */
static void add_timed(struct tw_profiler *profile)
{
    for (size_t i = 0; i < profile->timed_count; i++) {
        const struct tw_timed_range *timed = &profile->timed[i];
        struct tw_range_count *range;

        if (!timed->length)
            continue;
        profile->code.run = profile->cells[timed->cell]->run;
        range = tw_counted_code_range(&profile->code, &profile->cells[timed->cell]->part,
                                      &(struct tw_range_count){ .start = timed->start,
                                                                .length = timed->length,
                                                                .isa = timed->isa });
        profile->is_out |= !range;
        if (!range)
            return;
        range->cycles += i < profile->cycles.count ? profile->cycles.items[i].estimate : 0;
        range->time += i < profile->time.count ? profile->time.items[i].estimate : 0;
    }
}

static struct tw_spent spent_of(const struct tw_shares *shares, size_t key)
{
    return key < shares->count ? shares->items[key] : (struct tw_spent){ 0, 0, 0 };
}

uint8_t tw_profile_know_time(struct tw_profiler *profile)
{
    uint8_t known = 0;

    known |= profile->totals.has_cycles ? TW_PROFILE_HAS_CYCLES : 0;
    known |= profile->totals.has_time ? TW_PROFILE_HAS_TIME : 0;
    if (known && profile->by != TW_PROFILE_LINE && profile->by != TW_PROFILE_ADDRESS)
        known |= TW_PROFILE_HAS_BOUNDS;
    for (size_t i = 0; i < profile->row_count; i++)
        profile->rows[i].known |= known;
    return known;
}

static void add_time(struct tw_profiler *profile)
{
    const uint8_t known = tw_profile_know_time(profile);

    for (size_t i = 0; i < profile->row_count; i++) {
        size_t key = i;

        if (profile->by == TW_PROFILE_FUNCTION &&
            profile->calls) /* they were counted under earlier numbers */
            key = profile->calls->old_of ? profile->calls->old_of[profile->rows[i].function]
                                         : profile->rows[i].function;
        if (!(known & TW_PROFILE_HAS_BOUNDS))
            continue;
        profile->rows[i].cycles = spent_of(&profile->cycles, key);
        profile->rows[i].time = spent_of(&profile->time, key);
    }
}

static void add_totals(struct tw_profiler *profile)
{
    struct tw_profile_totals *totals = &profile->totals;

    for (size_t i = 0; i < profile->row_count; i++) {
        totals->instructions += profile->rows[i].self;
        if (!(profile->rows[i].known & TW_PROFILE_IS_KNOWN))
            totals->unknown += profile->rows[i].self;
    }
    totals->untraced = profile->code.untraced;
    totals->missing =
        profile->calls ? tw_calls_stats(profile->calls).missing : profile->code.missing;
    totals->cycles = profile->cycles.all;
    totals->time = profile->time.all;
    totals->lost_cycles = profile->cycles.lost;
    totals->lost_time = profile->time.lost;
}

enum tw_status tw_profile_finish(struct tw_profiler *profile)
{
    bool is_good = true;

    if (profile->is_finished)
        return TW_OK;
    profile->is_finished = true;
    add_cells(profile);
    if (profile->by == TW_PROFILE_LINE || profile->by == TW_PROFILE_ADDRESS)
        add_timed(profile);
    if (profile->calls && tw_calls_finish(profile->calls) != TW_OK)
        return TW_E_MEMORY;
    if (profile->by == TW_PROFILE_FUNCTION && profile->calls)
        is_good = tw_profile_call_rows(profile);
    else if (is_by_code(profile))
        is_good = tw_profile_code_rows(profile);
    if (profile->by == TW_PROFILE_LINE || profile->by == TW_PROFILE_ADDRESS)
        is_good = is_good && tw_profile_branches(profile);
    profile->totals.has_cycles = profile->cycles.is_there;
    profile->totals.has_time = profile->time.is_there;
    add_time(profile);
    add_totals(profile);
    tw_profile_sort(profile);
    return is_good && !profile->is_out && !profile->code.is_out &&
                   !tw_counted_code_lacks_lines(&profile->code)
               ? TW_OK
               : TW_E_MEMORY;
}

/* ---- results ---- */

enum tw_profile_by tw_profile_what(const struct tw_profiler *profile)
{
    return profile->by;
}

const struct tw_profile_row *tw_profile_row(const struct tw_profiler *profile, size_t number)
{
    return number < profile->row_count ? &profile->rows[number] : NULL;
}

bool tw_profile_totals(const struct tw_profiler *profile, struct tw_profile_totals *totals)
{
    return TW_SIZED_GIVE(totals, &profile->totals);
}

const struct tw_profile_branch *tw_profile_branch(const struct tw_profiler *profile,
                                                  size_t number)
{
    return number < profile->branch_count ? &profile->branches[number] : NULL;
}

const struct tw_profile_target *tw_profile_target(const struct tw_profiler *profile,
                                                  size_t number)
{
    return number < profile->target_count ? &profile->targets[number] : NULL;
}
