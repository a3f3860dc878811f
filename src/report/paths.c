/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of calls, without what is too small to be seen: that is added up as "(other)". */
#include "base/memory.h"
#include "report/report.h"

/* A path; parents stand before their children. */
struct report_node {
    uint64_t self, entries, below;
    uint64_t other;  /* of children that are left out */
    uint32_t parent; /* number + 1; 0: none */
    uint32_t name;
    uint32_t row; /* + 1, once it has one */
};

struct report_paths {
    struct tw_report *report;
    struct report_node *nodes;
    size_t count, room;
    uint32_t *stack; /* nodes of the path at work */
    size_t stack_room;
    uint64_t total;
};

struct path_row {
    uint32_t parent, name;
    uint64_t self, entries;
};

static const struct tw_table_column path_columns[] = {
    TW_NUMBER_COLUMN(struct path_row, parent),
    TW_TEXT_COLUMN(struct path_row, name),
    TW_NUMBER_COLUMN(struct path_row, self),
    TW_NUMBER_COLUMN(struct path_row, entries),
    { .name = NULL },
};

static void take_node(void *context, const struct tw_call_path *path)
{
    struct report_paths *paths = context;
    struct tw_report *report = paths->report;
    const struct tw_allocator *allocator = report->config.allocator;
    const struct tw_function *function =
        tw_functions_get(tw_calls_functions(report->calls), path->functions[path->depth - 1]);

    if (report->is_out) /* and its parent may be missing */
        return;
    if (paths->count >= UINT32_MAX - 1 ||
        !TW_GROW(allocator, &paths->nodes, &paths->room, paths->count + 1) ||
        !TW_GROW(allocator, &paths->stack, &paths->stack_room, path->depth)) {
        report->is_out = true;
        return;
    }
    paths->nodes[paths->count] = (struct report_node){
        .self = path->self,
        .entries = path->entries,
        .below = path->self,
        .parent = path->depth > 1 ? paths->stack[path->depth - 2] : 0,
        .name = tw_report_name(report, function->name),
    };
    paths->total += path->self;
    paths->stack[path->depth - 1] = (uint32_t)++paths->count;
}

/* How small a path may be so that at most `most` stay. */
static uint64_t least_kept(const struct report_paths *paths, size_t most)
{
    uint64_t least = paths->total / 10000;

    for (;; least = least * 2 + 1) {
        size_t kept = 0;

        for (size_t i = 0; i < paths->count; i++)
            kept += paths->nodes[i].below >= least;
        if (kept <= most)
            return least;
    }
}

static size_t keep_rows(struct report_paths *paths, struct path_row *rows, uint64_t least)
{
    const uint32_t other = tw_report_text(paths->report, "(other)");
    size_t used = 0;

    for (size_t i = 0; i < paths->count; i++) {
        struct report_node *node = &paths->nodes[i];
        struct report_node *parent = node->parent ? &paths->nodes[node->parent - 1] : NULL;

        if (node->below >= least && (!parent || parent->row)) {
            rows[used++] = (struct path_row){ parent ? parent->row : 0, node->name, node->self,
                                              node->entries };
            node->row = (uint32_t)used;
        } else if (parent && parent->row) {
            parent->other += node->below;
        }
    }
    for (size_t i = 0; i < paths->count; i++)
        if (paths->nodes[i].row && paths->nodes[i].other)
            rows[used++] =
                (struct path_row){ paths->nodes[i].row, other, paths->nodes[i].other, 0 };
    return used;
}

void tw_report_add_paths(struct tw_report *report)
{
    const struct tw_allocator *allocator = report->config.allocator;
    struct report_paths paths = { .report = report };
    const size_t most = (size_t)(report->config.room / 8 / 12) + 1000;
    struct path_row *rows;
    uint64_t least;

    report->is_out |= tw_calls_paths(report->calls, take_node, &paths) != TW_OK;
    for (size_t i = paths.count; i-- > 0;)
        if (paths.nodes[i].parent)
            paths.nodes[paths.nodes[i].parent - 1].below += paths.nodes[i].below;
    least = least_kept(&paths, most);
    rows =
        tw_take(allocator, (2 * (paths.count < most ? paths.count : most) + 2) * sizeof *rows);
    if (rows) {
        const size_t used = keep_rows(&paths, rows, least);

        tw_tables_add(&report->tables, "paths",
                      (struct tw_table_rows){ rows, used, sizeof *rows }, path_columns);
        tw_tables_number(&report->tables, "pathLeast", least);
    } else {
        report->is_out = true;
    }
    tw_give(allocator, rows);
    tw_give(allocator, paths.nodes);
    tw_give(allocator, paths.stack);
}
