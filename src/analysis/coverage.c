/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of coverage, and its results. */
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
    made->counted.allocator = made->allocator;
    *coverage = made;
    return TW_OK;
}

static void free_object(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    tw_give(coverage->allocator, object->code);
    tw_give(coverage->allocator, object->branches);
    tw_give(coverage->allocator, object->targets);
    tw_give(coverage->allocator, object->functions);
    tw_give(coverage->allocator, object->blocks);
    tw_give(coverage->allocator, object->jumps);
}

void tw_coverage_free(struct tw_coverage *coverage)
{
    struct tw_allocator allocator;

    if (!coverage)
        return;
    for (size_t i = 0; i < coverage->object_count; i++)
        free_object(coverage, &coverage->objects[i]);
    tw_counted_code_release(&coverage->counted);
    tw_coverage_free_programs(coverage);
    tw_give(coverage->allocator, coverage->objects);
    tw_give(coverage->allocator, coverage->copies);
    tw_give(coverage->allocator, coverage->lines);
    allocator = coverage->allocator_copy; /* the handle itself holds it */
    tw_give(coverage->allocator ? &allocator : NULL, coverage);
}

static void merge(void *context, void *tally, const struct tw_part *whose)
{
    struct tw_coverage *coverage = context;

    tw_counted_code_add(&coverage->counted, tally, whose);
}

struct tw_run_counter tw_coverage_counter(struct tw_coverage *coverage)
{
    struct tw_run_counter counter = tw_counted_code_counter();

    counter.context = coverage;
    counter.merge = merge;
    return counter;
}

void tw_coverage_run(struct tw_coverage *coverage, struct tw_run *run)
{
    coverage->counted.run = run;
}

enum tw_status tw_coverage_finish(struct tw_coverage *coverage)
{
    const struct tw_counted_code *counted = &coverage->counted;
    bool is_good = !counted->is_out;

    coverage->totals.executed = counted->executed;
    coverage->totals.missing = counted->missing;
    coverage->objects =
        tw_take(coverage->allocator, (counted->count + 1) * sizeof *coverage->objects);
    is_good = is_good && coverage->objects;
    for (size_t i = 0; i < counted->count && is_good; i++) {
        coverage->objects[i].of = counted->files[i];
        coverage->objects[i].about.name = counted->files[i]->name;
        coverage->objects[i].about.build_id_size = counted->files[i]->build_id_size;
        memcpy(coverage->objects[i].about.build_id, counted->files[i]->build_id,
               sizeof counted->files[i]->build_id);
        coverage->object_count++;
        is_good = tw_coverage_walk(coverage, &coverage->objects[i]) &&
                  tw_coverage_follow(coverage, &coverage->objects[i]);
    }
    is_good =
        is_good && tw_coverage_add_lines(coverage) && !tw_counted_code_lacks_lines(counted);
    return is_good ? TW_OK : TW_E_MEMORY;
}

/* ---- results ---- */

size_t tw_coverage_object_count(const struct tw_coverage *coverage)
{
    return coverage->object_count;
}

const struct tw_coverage_object *tw_coverage_object(const struct tw_coverage *coverage,
                                                    size_t object)
{
    return object < coverage->object_count ? &coverage->objects[object].about : NULL;
}

const struct tw_code_count *tw_coverage_code(const struct tw_coverage *coverage, size_t object,
                                             size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->code_count ? &of->code[number] : NULL;
}

const struct tw_branch_count *tw_coverage_branch(const struct tw_coverage *coverage,
                                                 size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->branch_count ? &of->branches[number] : NULL;
}

const struct tw_target_count *tw_coverage_target(const struct tw_coverage *coverage,
                                                 size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->target_count ? &of->targets[number] : NULL;
}

const struct tw_function_count *tw_coverage_function(const struct tw_coverage *coverage,
                                                     size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->function_count ? &of->functions[number] : NULL;
}

const struct tw_block_count *tw_coverage_block(const struct tw_coverage *coverage,
                                               size_t object, size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->block_count ? &of->blocks[number] : NULL;
}

const struct tw_jump_count *tw_coverage_jump(const struct tw_coverage *coverage, size_t object,
                                             size_t number)
{
    const struct tw_covered_object *of =
        object < coverage->object_count ? &coverage->objects[object] : NULL;

    return of && number < of->jump_count ? &of->jumps[number] : NULL;
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
    return object < coverage->object_count && coverage->objects[object].of->symbols &&
           tw_symbols_line(coverage->objects[object].of->symbols, line, address);
}

size_t tw_coverage_read(const struct tw_coverage *coverage, size_t object, void *bytes,
                        uint64_t address, size_t size)
{
    const struct tw_counted_file *of =
        object < coverage->object_count ? coverage->objects[object].of : NULL;

    return of && of->image
               ? tw_image_read(of->image, bytes, &of->view, address + of->bias, size)
               : 0;
}

struct tw_symbols *tw_coverage_symbols(const struct tw_coverage *coverage, size_t object)
{
    return object < coverage->object_count ? coverage->objects[object].of->symbols : NULL;
}
