/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of a comparison: both sides are gone through once more, and counted. */
#include "diff/counts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"

enum { SHOWN = 20 };

/* Something that was executed so often on each side. */
struct row {
    uint64_t first, to; /* a function's first address; or a branch's end and target */
    const char *name;
    uint64_t counts[2];
};

struct rows {
    struct row *items;
    size_t count, room;
    struct tw_map by_key;
};

static struct row *row_of(struct rows *rows, uint64_t key, uint64_t first, uint64_t to)
{
    uint64_t *number = tw_map_put(&rows->by_key, key);

    if (!number)
        return NULL;
    if (!*number) {
        if (rows->count == rows->room) {
            const size_t room = rows->room ? rows->room * 2 : 256;
            struct row *more = realloc(rows->items, room * sizeof *more);

            if (!more)
                return NULL;
            rows->items = more;
            rows->room = room;
        }
        rows->items[rows->count++] = (struct row){ .first = first, .to = to };
        *number = rows->count;
    }
    return &rows->items[*number - 1];
}

/* Counts a side by stretch and by branch. */
static bool count_side(struct side *side, const char *source, unsigned which,
                       struct rows *blocks, struct rows *branches)
{
    struct stretch stretch;
    uint64_t end = 0;
    bool has_end = false;

    if (!side_start(side, source))
        return false;
    while (side_next(side, &stretch)) {
        struct row *row = row_of(blocks, stretch.start, stretch.start, 0);

        if (!row)
            return false;
        row->counts[which] += stretch.count;
        if (has_end && !stretch.after_gap && stretch.start != end) {
            row = row_of(branches, tw_hash64(end) ^ stretch.start, end, stretch.start);
            if (!row)
                return false;
            row->counts[which]++;
        }
        end = stretch.start + stretch.length;
        has_end = true;
    }
    return !side->is_failed;
}

static uint64_t distance(const struct row *row)
{
    return row->counts[0] > row->counts[1] ? row->counts[0] - row->counts[1]
                                           : row->counts[1] - row->counts[0];
}

static int by_distance(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (distance(x) != distance(y))
        return distance(x) > distance(y) ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->to > y->to) - (x->to < y->to);
}

static void put_counts(struct output *out, const struct row *row)
{
    output_format(out, "  %12" PRIu64 " %12" PRIu64 "  ", row->counts[0], row->counts[1]);
}

static void print_functions(struct rows *functions, struct output *out)
{
    size_t shown = 0;

    output_text(out, "functions (instructions in A, in B):\n");
    for (size_t i = 0; i < functions->count && distance(&functions->items[i]); i++) {
        const struct row *row = &functions->items[i];

        if (++shown > SHOWN)
            continue;
        put_counts(out, row);
        if (row->name[0])
            output_name(out, row->name);
        else
            output_format(out, "0x%" PRIx64, row->first);
        output_text(out, !row->counts[1]   ? "  only in A\n"
                         : !row->counts[0] ? "  only in B\n"
                                           : "\n");
    }
    if (shown > SHOWN)
        output_format(out, "  ... and %zu more\n", shown - SHOWN);
    if (!shown)
        output_text(out, "  all executed the same number of instructions\n");
}

static void print_branches(struct rows *branches, struct side *names, struct output *out)
{
    size_t shown = 0;

    output_text(out, "branches taken (times in A, in B):\n");
    for (size_t i = 0; i < branches->count && distance(&branches->items[i]); i++) {
        const struct row *row = &branches->items[i];

        if (++shown > SHOWN)
            continue;
        put_counts(out, row);
        output_text(out, "before ");
        side_put_code(names, out, row->first);
        output_text(out, " to ");
        side_put_code(names, out, row->to);
        output_text(out, "\n");
    }
    if (shown > SHOWN)
        output_format(out, "  ... and %zu more\n", shown - SHOWN);
    if (!shown)
        output_text(out, "  all the same\n");
}

/* Blocks to functions. */
static bool add_up(const struct rows *blocks, struct rows *functions, struct side *names)
{
    for (size_t i = 0; i < blocks->count; i++) {
        uint64_t first;
        const char *name = side_function(names, blocks->items[i].first, &first);
        struct row *row = row_of(functions, first, first, 0);

        if (!row)
            return false;
        row->name = name;
        row->counts[0] += blocks->items[i].counts[0];
        row->counts[1] += blocks->items[i].counts[1];
    }
    return true;
}

bool counts_compare(struct side sides[2], struct side *names, const char *const sources[2],
                    struct output *out)
{
    struct rows blocks = { .count = 0 }, branches = { .count = 0 }, functions = { .count = 0 };
    bool is_good = true;

    for (unsigned i = 0; is_good && i < 2; i++)
        is_good = count_side(&sides[i], sources[i], i, &blocks, &branches);
    is_good = is_good && add_up(&blocks, &functions, names);
    if (is_good) {
        qsort(functions.items, functions.count, sizeof *functions.items, by_distance);
        qsort(branches.items, branches.count, sizeof *branches.items, by_distance);
        print_functions(&functions, out);
        print_branches(&branches, names, out);
    } else if (!sides[0].is_failed && !sides[1].is_failed) {
        say("out of memory");
    }
    tw_map_free(&blocks.by_key);
    tw_map_free(&branches.by_key);
    tw_map_free(&functions.by_key);
    free(blocks.items);
    free(branches.items);
    free(functions.items);
    return is_good;
}
