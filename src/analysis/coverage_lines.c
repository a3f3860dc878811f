/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines: of each copy of the code the greatest count of its instructions, summed over the copies. */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "base/memory.h"

static int compare(const void *left, const void *right)
{
    const struct tw_line_copy *a = left, *b = right;
    const int order = a->line.file == b->line.file ? 0 : strcmp(a->line.file, b->line.file);

    if (order)
        return order;
    if (a->line.line != b->line.line)
        return a->line.line < b->line.line ? -1 : 1;
    return a->copy < b->copy ? -1 : a->copy > b->copy;
}

static bool is_same_line(const struct tw_line_count *a, const struct tw_line_count *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

bool tw_coverage_add_lines(struct tw_coverage *coverage)
{
    struct tw_line_copy *copies = coverage->copies;
    struct tw_line_count *lines = NULL;
    size_t count = 0;

    if (coverage->copy_count) {
        qsort(copies, coverage->copy_count, sizeof *copies, compare);
        lines = tw_take(coverage->allocator, coverage->copy_count * sizeof *lines);
        if (!lines)
            return false;
    }
    for (size_t i = 0; i < coverage->copy_count;) {
        struct tw_line_count copy = copies[i].line;
        const uint64_t which = copies[i].copy;
        size_t next = i + 1;

        /* What one copy has of the line may lie in several places. */
        for (; next < coverage->copy_count && copies[next].copy == which &&
               is_same_line(&copies[next].line, &copy);
             next++) {
            if (copies[next].line.count > copy.count)
                copy.count = copies[next].line.count;
            copy.instructions += copies[next].line.instructions;
            copy.covered += copies[next].line.covered;
        }
        if (count && is_same_line(&lines[count - 1], &copy)) {
            lines[count - 1].count += copy.count;
            lines[count - 1].instructions += copy.instructions;
            lines[count - 1].covered += copy.covered;
        } else {
            lines[count++] = copy;
        }
        i = next;
    }
    coverage->lines = lines;
    coverage->line_count = count;
    coverage->totals.lines = count;
    for (size_t i = 0; i < count; i++)
        coverage->totals.lines_covered += lines[i].count != 0;
    return true;
}
