/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway calls: the tree of calls as text, an indented line for each path. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/calls.h"

#include "base/percent.h"

enum { LINES_SHOWN = 1000, DEPTH_SHOWN = 64 };

struct tree_line {
    uint32_t function;
    uint32_t depth;
    size_t parent; /* line + 1; 0: none */
    uint64_t entries, self, below;
    bool is_shown;
};

struct tree {
    struct tree_line *lines;
    size_t count, room;
    size_t *path; /* lines of the path at work */
    size_t path_room;
    bool is_out;
};

static bool grow(void **items, size_t *room, size_t count, size_t size)
{
    const size_t more = *room < count ? count * 2 : *room;
    void *grown = more == *room ? *items : realloc(*items, more * size);

    if (grown)
        *items = grown;
    *room = grown ? more : *room;
    return grown != NULL;
}

static void take_path(void *context, const struct tw_call_path *path)
{
    struct tree *tree = context;

    if (tree->is_out)
        return;
    if (!grow((void **)&tree->lines, &tree->room, tree->count + 1, sizeof *tree->lines) ||
        !grow((void **)&tree->path, &tree->path_room, path->depth, sizeof *tree->path)) {
        tree->is_out = true;
        return;
    }
    tree->lines[tree->count] =
        (struct tree_line){ .function = path->functions[path->depth - 1],
                            .depth = (uint32_t)path->depth - 1,
                            .parent = path->depth > 1 ? tree->path[path->depth - 2] + 1 : 0,
                            .entries = path->entries,
                            .self = path->self,
                            .below = path->self };
    tree->path[path->depth - 1] = tree->count++;
}

/* The greater first; of equal ones the caller, which came before. */
static int by_weight(const void *left, const void *right)
{
    const struct tree_line *const *a = left, *const *b = right;

    if ((*a)->below != (*b)->below)
        return (*a)->below < (*b)->below ? 1 : -1;
    return *a < *b ? -1 : *a > *b;
}

/* Marks the lines that are shown: a callee never without its callers. */
static void choose_lines(struct tree *tree, uint64_t limit, uint64_t depth)
{
    struct tree_line **sorted = calloc(tree->count + 1, sizeof *sorted);
    size_t count = 0;

    tree->is_out |= !sorted;
    for (size_t i = tree->count; i--;)
        if (tree->lines[i].parent)
            tree->lines[tree->lines[i].parent - 1].below += tree->lines[i].below;
    for (size_t i = 0; sorted && i < tree->count; i++)
        if (tree->lines[i].depth < depth)
            sorted[count++] = &tree->lines[i];
    if (count > limit)
        qsort(sorted, count, sizeof *sorted, by_weight);
    for (size_t i = 0; i < count && i < limit; i++)
        sorted[i]->is_shown = true;
    free(sorted);
}

static void print_line(struct output *out, const struct tree_line *line, const char *name,
                       uint64_t total)
{
    output_format(out, "%5s %% %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "  ",
                  tw_percent((double)line->below, (double)total, 1).text, line->below,
                  line->self, line->entries);
    for (uint32_t i = 0; i < line->depth; i++)
        output_text(out, i + 1 == line->depth ? "|- " : "|  ");
    output_name(out, name);
}

/* The last line: what is not shown. */
static void print_rest(struct output *out, const struct tree *tree, uint64_t total)
{
    uint64_t self = 0;
    size_t lines = 0;

    for (size_t i = 0; i < tree->count; i++) {
        self += tree->lines[i].is_shown ? 0 : tree->lines[i].self;
        lines += !tree->lines[i].is_shown;
    }
    if (lines)
        output_format(out,
                      "%5s %% %12" PRIu64 " %12s %10s  [%zu more lines, see --limit, "
                      "--depth]\n",
                      tw_percent((double)self, (double)total, 1).text, self, "", "", lines);
}

int calls_print_tree(struct output *out, const struct tw_calls *calls, struct names *names,
                     const struct options *options)
{
    const uint64_t total = tw_calls_stats(calls).instructions;
    struct tree tree = { .lines = NULL };

    if (tw_calls_paths(calls, take_path, &tree) != TW_OK || tree.is_out)
        out_of_memory();
    choose_lines(&tree, options->limit.is_given ? options->limit.value : LINES_SHOWN,
                 options->depth.is_given ? options->depth.value : DEPTH_SHOWN);
    output_color(out, BOLD);
    output_text(out, "  share        total         self    entries  function\n");
    output_color(out, PLAIN);
    for (size_t i = 0; i < tree.count && !output_is_over(out); i++) {
        const struct tree_line *line = &tree.lines[i];
        const struct tw_function *function =
            tw_functions_get(tw_calls_functions(calls), line->function);

        if (!line->is_shown)
            continue;
        print_line(out, line, names_show(names, function->name), total);
        output_text(out, function->kind == TW_FUNCTION_INLINED ? " (inlined)\n" : "\n");
    }
    print_rest(out, &tree, total);
    free(tree.lines);
    free(tree.path);
    if (tree.is_out)
        say("out of memory");
    return tree.is_out ? NOT_DONE : DONE;
}
