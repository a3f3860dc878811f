/* SPDX-License-Identifier: BSD-2-Clause */
/* Coverage added to each other, saved and loaded. */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "analysis/saved.h"
#include "base/fault.h"
#include "base/memory.h"

static const struct tw_saved_kind saved_kind = { "coverage", 1 };

enum { RANGE_SIZE = 6 * 8, EDGE_SIZE = 4 * 8 };

static int by_range(const void *left, const void *right)
{
    const struct tw_range_count *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (int)a->isa - (int)b->isa;
}

static int by_edge(const void *left, const void *right)
{
    const struct tw_edge_count *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

static int by_name(const void *left, const void *right)
{
    const struct tw_counted_file *const *a = left, *const *b = right;

    return strcmp((*a)->name ? (*a)->name : "", (*b)->name ? (*b)->name : "");
}

/* ---- saving ---- */

/* A copy in order; NULL: no memory, or there are none. */
static void *sorted(const struct tw_allocator *allocator, const void *items, size_t count,
                    size_t size, int (*compare)(const void *, const void *))
{
    void *copy = count ? tw_take_raw(allocator, count * size) : NULL;

    if (copy) {
        memcpy(copy, items, count * size);
        qsort(copy, count, size, compare);
    }
    return copy;
}

static size_t from_one(size_t count)
{
    return count ? count - 1 : 0;
}

static void save_ranges(struct tw_save *save, const struct tw_range_counts *counts)
{
    const size_t count = from_one(counts->range_count);
    struct tw_range_count *ranges =
        sorted(save->allocator, counts->ranges + 1, count, sizeof *ranges, by_range);

    save->has_failed |= count && !ranges;
    tw_save_u64(save, count);
    for (size_t i = 0; ranges && i < count; i++) {
        tw_save_u64(save, ranges[i].start);
        tw_save_u64(save, ranges[i].length);
        tw_save_u64(save, ranges[i].instructions);
        tw_save_u64(save, (uint64_t)ranges[i].isa | (uint64_t)ranges[i].last << 8 |
                              (uint64_t)ranges[i].is_conditional << 16);
        tw_save_u64(save, ranges[i].taken);
        tw_save_u64(save, ranges[i].not_taken);
    }
    tw_give(save->allocator, ranges);
}

static void save_edges(struct tw_save *save, const struct tw_range_counts *counts)
{
    const size_t count = from_one(counts->edge_count);
    struct tw_edge_count *edges =
        sorted(save->allocator, counts->edges + 1, count, sizeof *edges, by_edge);

    save->has_failed |= count && !edges;
    tw_save_u64(save, count);
    for (size_t i = 0; edges && i < count; i++) {
        tw_save_u64(save, edges[i].from);
        tw_save_u64(save, edges[i].to);
        tw_save_u64(save, edges[i].kind);
        tw_save_u64(save, edges[i].count);
    }
    tw_give(save->allocator, edges);
}

enum tw_status tw_coverage_save(const struct tw_coverage *coverage, const char *path,
                                struct tw_fault *fault)
{
    const struct tw_counted_code *code = &coverage->counted;
    struct tw_save save = { .allocator = coverage->allocator };
    struct tw_counted_file **files = sorted(coverage->allocator, code->files, code->count,
                                            sizeof(struct tw_counted_file *), by_name);

    save.has_failed = code->is_out || (code->count && !files);
    tw_save_u64(&save, code->executed);
    tw_save_u64(&save, code->untraced);
    tw_save_u64(&save, code->missing);
    tw_save_u64(&save, code->count);
    for (size_t i = 0; files && i < code->count; i++) {
        tw_save_text(&save, files[i]->name);
        tw_save_u64(&save, files[i]->build_id_size);
        tw_save_bytes(&save, files[i]->build_id, sizeof files[i]->build_id);
        save_ranges(&save, &files[i]->counts);
        save_edges(&save, &files[i]->counts);
    }
    tw_give(coverage->allocator, files);
    return tw_save_end(&save, &saved_kind, path, fault);
}

/* ---- loading ---- */

static bool load_range(struct tw_load *load, struct tw_range_counts *counts)
{
    struct tw_range_count like = { .start = tw_load_u64(load) };
    struct tw_range_count *range;
    uint64_t about;

    like.length = (uint32_t)tw_load_u64(load);
    like.instructions = (uint32_t)tw_load_u64(load);
    about = tw_load_u64(load);
    like.isa = (uint8_t)about;
    like.last = (uint8_t)(about >> 8);
    like.is_conditional = about >> 16 & 1;
    range = tw_range_counts_range(counts, &like);
    tw_load_need(load, range);
    if (!range)
        return false;
    range->taken += tw_load_u64(load);
    range->not_taken += tw_load_u64(load);
    return true;
}

static bool load_edge(struct tw_load *load, struct tw_range_counts *counts)
{
    struct tw_edge_count like = { .from = tw_load_u64(load) };
    struct tw_edge_count *edge;
    uint64_t kind;

    like.to = tw_load_u64(load);
    kind = tw_load_u64(load);
    load->is_wrong |= kind >= 2 * TW_EDGE_OUTSIDE;
    like.kind = (uint8_t)kind;
    edge = tw_range_counts_edge(counts, &like);
    tw_load_need(load, edge);
    if (!edge)
        return false;
    edge->count += tw_load_u64(load);
    return true;
}

static bool load_file(struct tw_load *load, struct tw_counted_code *code)
{
    bool has_name, is_good;
    char *name = tw_load_text(load, &has_name);
    struct tw_counted_file like = { .name = name };
    const uint64_t id_size = tw_load_u64(load);
    const uint8_t *id = tw_load_bytes(load, sizeof like.build_id);
    struct tw_counted_file *file = NULL;

    load->is_wrong |= id_size > sizeof like.build_id || (has_name && !name);
    if (id && id_size <= sizeof like.build_id) {
        memcpy(like.build_id, id, sizeof like.build_id);
        like.build_id_size = (uint8_t)id_size;
        file = tw_counted_code_file(code, &like);
        tw_load_need(load, file);
    }
    tw_give(load->allocator, name);
    is_good = file != NULL;
    for (size_t left = is_good ? tw_load_count(load, RANGE_SIZE) : 0; left && is_good; left--)
        is_good = load_range(load, &file->counts);
    for (size_t left = is_good ? tw_load_count(load, EDGE_SIZE) : 0; left && is_good; left--)
        is_good = load_edge(load, &file->counts);
    return is_good;
}

void tw_coverage_read_saved(struct tw_coverage *coverage, struct tw_load *load)
{
    struct tw_counted_code *code = &coverage->counted;
    bool is_good = true;

    code->executed = tw_load_u64(load);
    code->untraced = tw_load_u64(load);
    code->missing = tw_load_u64(load);
    for (size_t left = tw_load_count(load, 8 + 8 + 20 + 8 + 8); left && is_good; left--)
        is_good = load_file(load, code);
    load->is_wrong |= !is_good;
}

enum tw_status tw_coverage_load(struct tw_coverage **coverage, const char *path,
                                const struct tw_allocator *allocator, struct tw_fault *fault)
{
    const struct tw_coverage_config config = { .size = sizeof config, .allocator = allocator };
    struct tw_load load;
    struct tw_coverage *made;
    enum tw_status status;

    *coverage = NULL;
    TW_TRY(tw_load_begin(&load, &saved_kind, path, allocator, fault));
    if (tw_coverage_new(&made, &config, fault) != TW_OK) {
        (void)tw_load_end(&load, path, NULL);
        return TW_E_MEMORY;
    }
    tw_coverage_read_saved(made, &load);
    status = tw_load_end(&load, path, fault);
    if (status != TW_OK)
        tw_coverage_free(made);
    else
        *coverage = made;
    return status;
}

/* ---- adding ---- */

static bool is_same_build(const struct tw_counted_file *a, const struct tw_counted_file *b)
{
    return !a->build_id_size || !b->build_id_size ||
           (a->build_id_size == b->build_id_size &&
            memcmp(a->build_id, b->build_id, a->build_id_size) == 0);
}

enum tw_status tw_coverage_add(struct tw_coverage *coverage, const struct tw_coverage *other,
                               struct tw_fault *fault)
{
    struct tw_counted_code *code = &coverage->counted;
    const struct tw_counted_code *from = &other->counted;

    for (size_t i = 0; i < from->count; i++)
        for (size_t k = 0; k < code->count; k++)
            if (code->files[k]->key == from->files[i]->key &&
                !is_same_build(code->files[k], from->files[i]))
                return tw_fail(fault, TW_E_ARGUMENT, "%s is of another build there",
                               code->files[k]->name ? code->files[k]->name : "the code");
    for (size_t i = 0; i < from->count; i++) {
        struct tw_counted_file *to = tw_counted_code_file(code, from->files[i]);

        if (!to)
            return tw_fail(fault, TW_E_MEMORY, "no memory for the coverage");
        if (!to->build_id_size) {
            memcpy(to->build_id, from->files[i]->build_id, sizeof to->build_id);
            to->build_id_size = from->files[i]->build_id_size;
        }
        tw_range_counts_add(&to->counts, &from->files[i]->counts, 0);
        if (to->counts.is_out)
            return tw_fail(fault, TW_E_MEMORY, "no memory for the coverage");
    }
    code->executed += from->executed;
    code->untraced += from->untraced;
    code->missing += from->missing;
    return TW_OK;
}
