/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts by object, and what they come to. */
#ifndef ANALYSIS_COVERAGE_H
#define ANALYSIS_COVERAGE_H

#include <trackway/coverage.h>

#include "analysis/counted_code.h"

/* A file with code: what its counts come to. */
struct tw_covered_object {
    struct tw_coverage_object about;
    const struct tw_counted_file *of;

    struct tw_code_count *code;
    struct tw_branch_count *branches;
    struct tw_target_count *targets;
    struct tw_function_count *functions;
    struct tw_block_count *blocks;
    struct tw_jump_count *jumps;
    size_t code_count, branch_count, target_count, function_count, block_count, jump_count;
    size_t code_room, branch_room, target_room, function_room, jump_room;
};

/* A line in one copy of the code. */
struct tw_line_copy {
    struct tw_line_count line;
    uint64_t copy; /* which */
};

struct tw_coverage {
    struct tw_counted_code counted;
    struct tw_covered_object *objects; /* one for each counted file, once finished */
    size_t object_count;
    struct tw_line_copy *copies;
    size_t copy_count, copy_room;
    struct tw_line_count *lines;
    size_t line_count;
    struct tw_coverage_totals totals;
    struct tw_coverage_program *programs; /* whose code and names were given */
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

/* coverage_program.c */
void tw_coverage_free_programs(struct tw_coverage *coverage);
/* coverage_saved.c: what a saved one holds, into an empty one; the load says whether it can be. */
struct tw_load;
void tw_coverage_read_saved(struct tw_coverage *coverage, struct tw_load *load);
/* coverage_code.c: code, branches, functions and copies of lines of an object. */
bool tw_coverage_walk(struct tw_coverage *coverage, struct tw_covered_object *object);
/* coverage_flow.c: blocks and jumps of an object. */
bool tw_coverage_follow(struct tw_coverage *coverage, struct tw_covered_object *object);
/* coverage_lines.c: the copies of each line added up. */
bool tw_coverage_add_lines(struct tw_coverage *coverage);

#endif
