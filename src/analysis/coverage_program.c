/* SPDX-License-Identifier: BSD-2-Clause */
/* Code and names for counts that were loaded: no run is there to tell them. */
#include "analysis/coverage.h"

#include <string.h>

#include <trackway/perfdata.h>

#include "base/fault.h"
#include "base/memory.h"

struct tw_coverage_program {
    struct tw_coverage_program *next;
    struct tw_symbols *symbols;
    struct tw_image *image;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* All that was counted lies in it. */
static bool holds(struct tw_image *image, const struct tw_range_counts *counts)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    uint8_t bytes[2];

    for (size_t i = 1; i < counts->range_count; i++)
        if (tw_image_read(image, bytes, &view, counts->ranges[i].start, sizeof bytes) !=
            sizeof bytes)
            return false;
    return true;
}

/* By build ID where both have one, else by name; of a capture that names no files, by its addresses. */
static bool is_of(const struct tw_counted_file *file, const char *path, const uint8_t *id,
                  size_t id_size, struct tw_image *image)
{
    if (file->symbols || file->image)
        return false;
    if (file->build_id_size && id_size)
        return file->build_id_size == id_size && memcmp(file->build_id, id, id_size) == 0;
    return file->name ? strcmp(base_name(file->name), base_name(path)) == 0
                      : holds(image, &file->counts);
}

static void free_program(struct tw_coverage *coverage, struct tw_coverage_program *program)
{
    tw_symbols_free(program->symbols);
    tw_image_free(program->image);
    tw_give(coverage->allocator, program);
}

void tw_coverage_free_programs(struct tw_coverage *coverage)
{
    while (coverage->programs) {
        struct tw_coverage_program *program = coverage->programs;

        coverage->programs = program->next;
        free_program(coverage, program);
    }
}

static enum tw_status open_program(struct tw_coverage *coverage,
                                   struct tw_coverage_program *program, const char *path,
                                   struct tw_fault *fault)
{
    const struct tw_region all = { .size = sizeof all };
    enum tw_status status;

    TW_TRY(tw_symbols_new(&program->symbols, coverage->allocator, fault));
    TW_TRY(tw_image_new(&program->image, coverage->allocator, fault));
    status = tw_symbols_add_elf(program->symbols, path, 0);
    if (status != TW_OK)
        return tw_fail(fault, status, "%s", tw_symbols_fault(program->symbols));
    status = tw_image_add_elf(program->image, &all, path);
    if (status != TW_OK)
        return tw_fail(fault, status, "%s", tw_image_fault(program->image));
    return TW_OK;
}

enum tw_status tw_coverage_program(struct tw_coverage *coverage, const char *path,
                                   struct tw_fault *fault)
{
    struct tw_coverage_program *program = tw_take(coverage->allocator, sizeof *program);
    uint8_t id[20];
    const size_t id_size = tw_perf_build_id(id, path);
    enum tw_status status;
    bool is_used = false;

    if (!program)
        return tw_fail(fault, TW_E_MEMORY, "no memory for %s", path);
    status = open_program(coverage, program, path, fault);
    for (size_t i = 0; status == TW_OK && i < coverage->counted.count; i++) {
        struct tw_counted_file *file = coverage->counted.files[i];

        if (!is_of(file, path, id, id_size, program->image))
            continue;
        file->symbols = program->symbols;
        file->image = program->image;
        file->view = (struct tw_view){ .space = TW_SPACE_ANY };
        file->bias = 0;
        is_used = true;
    }
    if (status == TW_OK && !is_used)
        status = tw_fail(
            fault, TW_E_ARGUMENT,
            "%s: nothing that was counted is of this file, by its build ID, its name or "
            "its addresses",
            path);
    if (status != TW_OK) {
        free_program(coverage, program);
        return status;
    }
    program->next = coverage->programs;
    coverage->programs = program;
    return TW_OK;
}
