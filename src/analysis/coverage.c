/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of ranges, sorted by the file that the code is from. */
#include "analysis/coverage.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum tw_status tw_coverage_new(struct tw_coverage **coverage,
                               const struct tw_coverage_config *given, struct tw_fault *fault)
{
    struct tw_coverage_config config;
    struct tw_coverage *made;

    *coverage = NULL;
    TW_TRY(TW_SIZED_TAKE(&config, given, "tw_coverage_config", fault));
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the coverage");
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    *coverage = made;
    return TW_OK;
}

static void free_object(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    tw_range_counts_release(&object->counts);
    tw_give(coverage->allocator, object->code);
    tw_give(coverage->allocator, object->branches);
    tw_give(coverage->allocator, object->targets);
    tw_give(coverage->allocator, object->functions);
    tw_give(coverage->allocator, object);
}

void tw_coverage_free(struct tw_coverage *coverage)
{
    struct tw_allocator allocator;

    if (!coverage)
        return;
    for (size_t i = 0; i < coverage->object_count; i++)
        free_object(coverage, coverage->objects[i]);
    tw_give(coverage->allocator, coverage->objects);
    tw_give(coverage->allocator, coverage->copies);
    tw_give(coverage->allocator, coverage->lines);
    allocator = coverage->allocator_copy; /* the handle itself holds it */
    tw_give(coverage->allocator ? &allocator : NULL, coverage);
}

/* ---- counting, on any thread ---- */

static void count_part(void *context, void *tally, const struct tw_part *part)
{
    (void)context;
    tw_range_counts_take(tally, part->batch.elements, part->batch.count, part->is_resumed);
}

static void sum_part(void *context, void *tally, const struct tw_range_sum *sums, size_t number)
{
    (void)context;
    tw_range_counts_sum(tally, sums, number);
}

static void add_later(void *context, void *tally, void *later, bool is_resumed)
{
    struct tw_range_counts *counts = tally;

    (void)context;
    if (is_resumed)
        counts->has_from = false;
    tw_range_counts_join(counts, later);
}

static void clear(void *context, void *tally)
{
    (void)context;
    tw_range_counts_clear(tally);
}

static void release(void *context, void *tally)
{
    (void)context;
    tw_range_counts_release(tally);
}

/* ---- by object, on the caller's thread ---- */

static uint64_t key_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    while (name && *name)
        hash = (hash ^ (unsigned char)*name++) * 1099511628211u;
    return name ? hash : 0;
}

static struct tw_covered_object *object_of(struct tw_coverage *coverage,
                                           const struct tw_part *part, uint64_t address)
{
    const char *name = tw_run_object(coverage->run, NULL, part, address);
    const uint64_t key = key_of(name);
    struct tw_covered_object *made;
    uint64_t link = address;

    for (size_t i = 0; i < coverage->object_count; i++)
        if (coverage->objects[i]->key == key)
            return coverage->objects[i];
    made = tw_take(coverage->allocator, sizeof *made);
    if (!made || !TW_GROW(coverage->allocator, &coverage->objects, &coverage->object_room,
                          coverage->object_count + 1)) {
        tw_give(coverage->allocator, made);
        return NULL;
    }
    made->key = key;
    made->about.name = name;
    made->counts.allocator = coverage->allocator;
    made->symbols = tw_run_symbols(coverage->run, &link, part, address);
    made->image = part->image;
    made->view = part->who.view;
    made->bias = address - link;
    coverage->objects[coverage->object_count++] = made;
    return made;
}

static uint64_t linked(struct tw_coverage *coverage, const struct tw_part *part,
                       uint64_t address)
{
    uint64_t link = address;

    (void)tw_run_symbols(coverage->run, &link, part, address);
    return link;
}

static void merge(void *context, void *tally, const struct tw_part *whose)
{
    struct tw_coverage *coverage = context;
    const struct tw_range_counts *counts = tally;

    coverage->totals.executed += counts->instructions + counts->untraced;
    coverage->totals.missing += counts->missing;
    coverage->is_out |= counts->is_out;
    for (size_t i = 1; i < counts->range_count; i++) {
        struct tw_range_count like = counts->ranges[i];
        struct tw_covered_object *object = object_of(coverage, whose, like.start);
        struct tw_range_count *to = NULL;

        like.start = linked(coverage, whose, like.start);
        if (object)
            to = tw_range_counts_range(&object->counts, &like);
        coverage->is_out |= !to;
        if (!to)
            return;
        to->taken += counts->ranges[i].taken;
        to->not_taken += counts->ranges[i].not_taken;
    }
    for (size_t i = 1; i < counts->edge_count; i++) {
        struct tw_edge_count like = counts->edges[i];
        struct tw_covered_object *object = object_of(coverage, whose, like.from);
        struct tw_edge_count *to = NULL;

        like.from = linked(coverage, whose, like.from);
        like.to = linked(coverage, whose, like.to);
        if (object)
            to = tw_range_counts_edge(&object->counts, &like);
        coverage->is_out |= !to;
        if (!to)
            return;
        to->count += counts->edges[i].count;
    }
}

struct tw_run_counter tw_coverage_counter(struct tw_coverage *coverage)
{
    return (struct tw_run_counter){ .size = sizeof(struct tw_run_counter),
                                    .tally_size = sizeof(struct tw_range_counts),
                                    .context = coverage,
                                    .count = count_part,
                                    .sum = sum_part,
                                    .add = add_later,
                                    .merge = merge,
                                    .clear = clear,
                                    .release = release };
}

void tw_coverage_run(struct tw_coverage *coverage, struct tw_run *run)
{
    coverage->run = run;
}

enum tw_status tw_coverage_finish(struct tw_coverage *coverage)
{
    for (size_t i = 0; i < coverage->object_count && !coverage->is_out; i++)
        coverage->is_out = !tw_coverage_walk(coverage, coverage->objects[i]);
    if (!coverage->is_out)
        coverage->is_out = !tw_coverage_add_lines(coverage);
    return coverage->is_out ? TW_E_MEMORY : TW_OK;
}

/* ---- results ---- */

size_t tw_coverage_object_count(const struct tw_coverage *coverage)
{
    return coverage->object_count;
}

const struct tw_coverage_object *tw_coverage_object(const struct tw_coverage *coverage,
                                                    size_t object)
{
    return object < coverage->object_count ? &coverage->objects[object]->about : NULL;
}

const struct tw_code_count *tw_coverage_code(const struct tw_coverage *coverage, size_t object,
                                             size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? coverage->objects[object] : NULL;

    return of && number < of->code_count ? &of->code[number] : NULL;
}

const struct tw_branch_count *tw_coverage_branch(const struct tw_coverage *coverage,
                                                 size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? coverage->objects[object] : NULL;

    return of && number < of->branch_count ? &of->branches[number] : NULL;
}

const struct tw_target_count *tw_coverage_target(const struct tw_coverage *coverage,
                                                 size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? coverage->objects[object] : NULL;

    return of && number < of->target_count ? &of->targets[number] : NULL;
}

const struct tw_function_count *tw_coverage_function(const struct tw_coverage *coverage,
                                                     size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? coverage->objects[object] : NULL;

    return of && number < of->function_count ? &of->functions[number] : NULL;
}

const struct tw_line_count *tw_coverage_line(const struct tw_coverage *coverage, size_t number)
{
    return number < coverage->line_count ? &coverage->lines[number] : NULL;
}

bool tw_coverage_totals(const struct tw_coverage *coverage, struct tw_coverage_totals *totals)
{
    return TW_SIZED_GIVE(totals, &coverage->totals);
}

bool tw_coverage_source(const struct tw_coverage *coverage, size_t object,
                        struct tw_source_line *line, uint64_t address)
{
    return object < coverage->object_count && coverage->objects[object]->symbols &&
           tw_symbols_line(coverage->objects[object]->symbols, line, address);
}
