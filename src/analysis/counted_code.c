/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that threads counted go to the files that their code is from. */
#include "analysis/counted_code.h"

#include <string.h>

#include "base/memory.h"
#include "image/symbols.h"
#include "run/run.h"

void tw_counted_code_release(struct tw_counted_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        tw_range_counts_release(&code->files[i]->counts);
        tw_give(code->allocator, code->files[i]->own_name);
        tw_give(code->allocator, code->files[i]);
    }
    tw_give(code->allocator, code->files);
    code->files = NULL;
    code->last = NULL;
    code->count = code->room = 0;
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

static void keep_end(void *context, void *tally)
{
    (void)context;
    tw_range_counts_keep_end(tally);
}

static void release(void *context, void *tally)
{
    (void)context;
    tw_range_counts_release(tally);
}

struct tw_run_counter tw_counted_code_counter(void)
{
    return (struct tw_run_counter){ .size = sizeof(struct tw_run_counter),
                                    .tally_size = sizeof(struct tw_range_counts),
                                    .count = count_part,
                                    .sum = sum_part,
                                    .add = add_later,
                                    .clear = clear,
                                    .release = release,
                                    .keep_end = keep_end,
                                    .ignores_local_time = true };
}

/* ---- by file, on the caller's thread ---- */

static uint64_t key_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    while (name && *name)
        hash = (hash ^ (unsigned char)*name++) * 1099511628211u;
    return name ? hash : 0;
}

static struct tw_counted_file *file_of(struct tw_counted_code *code, const struct tw_part *part,
                                       uint64_t address)
{
    const char *name = tw_run_object(code->run, NULL, part, address);
    struct tw_counted_file *made;
    uint64_t link = address, key;

    if (code->last && code->last->name == name) /* code does not often leave a file */
        return code->last;
    key = key_of(name);
    for (size_t i = 0; i < code->count; i++)
        if (code->files[i]->key == key)
            return code->last = code->files[i];
    made = tw_take(code->allocator, sizeof *made);
    if (!made || !TW_GROW(code->allocator, &code->files, &code->room, code->count + 1)) {
        tw_give(code->allocator, made);
        code->is_out = true;
        return NULL;
    }
    made->key = key;
    made->name = name;
    made->build_id_size = (uint8_t)tw_run_build_id(code->run, made->build_id, part, address);
    made->counts.allocator = code->allocator;
    made->symbols = tw_run_symbols(code->run, &link, part, address);
    code->is_out |= code->run->broken == TW_E_MEMORY; /* names would be missing */
    made->image = part->image;
    made->view = part->who.view;
    made->bias = address - link;
    code->files[code->count++] = code->last = made;
    return made;
}

struct tw_counted_file *tw_counted_code_file(struct tw_counted_code *code,
                                             const struct tw_counted_file *like)
{
    const uint64_t key = key_of(like->name);
    struct tw_counted_file *made;

    for (size_t i = 0; i < code->count; i++)
        if (code->files[i]->key == key)
            return code->files[i];
    made = tw_take(code->allocator, sizeof *made);
    if (made && like->name)
        made->name = made->own_name = tw_copy_text(code->allocator, like->name);
    if (!made || (like->name && !made->name) ||
        !TW_GROW(code->allocator, &code->files, &code->room, code->count + 1)) {
        if (made)
            tw_give(code->allocator, made->own_name);
        tw_give(code->allocator, made);
        code->is_out = true;
        return NULL;
    }
    made->key = key;
    memcpy(made->build_id, like->build_id, sizeof made->build_id);
    made->build_id_size = like->build_id_size;
    made->counts.allocator = code->allocator;
    code->files[code->count++] = made;
    return made;
}

bool tw_counted_code_lacks_lines(const struct tw_counted_code *code)
{
    for (size_t i = 0; i < code->count; i++)
        if (code->files[i]->symbols && code->files[i]->symbols->lacks_lines)
            return true;
    return false;
}

static uint64_t linked(struct tw_counted_code *code, const struct tw_part *part,
                       uint64_t address)
{
    uint64_t link = address;

    (void)tw_run_symbols(code->run, &link, part, address);
    return link;
}

struct tw_range_count *tw_counted_code_range(struct tw_counted_code *code,
                                             const struct tw_part *whose,
                                             const struct tw_range_count *range)
{
    struct tw_counted_file *file = file_of(code, whose, range->start);
    struct tw_range_count like = *range;

    like.start = linked(code, whose, range->start);
    return file ? tw_range_counts_range(&file->counts, &like) : NULL;
}

static bool add_range(struct tw_counted_code *code, const struct tw_range_count *range,
                      const struct tw_part *whose)
{
    struct tw_range_count *to = tw_counted_code_range(code, whose, range);

    if (!to)
        return false;
    to->taken += range->taken;
    to->not_taken += range->not_taken;
    return true;
}

static bool add_to(struct tw_counted_file *file, const struct tw_edge_count *like,
                   uint64_t count)
{
    struct tw_edge_count *to = file ? tw_range_counts_edge(&file->counts, like) : NULL;

    if (to)
        to->count += count;
    return to != NULL;
}

static bool add_edge(struct tw_counted_code *code, const struct tw_edge_count *edge,
                     const struct tw_part *whose)
{
    struct tw_counted_file *from = file_of(code, whose, edge->from);
    struct tw_counted_file *to = file_of(code, whose, edge->to);
    struct tw_edge_count like = *edge;

    like.from = linked(code, whose, edge->from);
    like.to = linked(code, whose, edge->to);
    if (from == to)
        return add_to(from, &like, edge->count);
    /* Both files know of it. */
    like.kind |= TW_EDGE_OUTSIDE;
    if (!add_to(from, &like, edge->count))
        return false;
    like.from = UINT64_MAX;
    return add_to(to, &like, edge->count);
}

void tw_counted_code_add(struct tw_counted_code *code, struct tw_range_counts *counts,
                         const struct tw_part *whose)
{
    struct tw_range_count hot;
    bool is_good = true;

    tw_range_counts_look_up(counts);
    for (size_t at = 0; is_good && tw_range_counts_hot(counts, &at, &hot);) {
        is_good = add_range(code, &hot, whose);
        code->executed += (hot.taken + hot.not_taken) * hot.instructions;
    }
    code->executed += counts->untraced;
    code->untraced += counts->untraced;
    code->missing += counts->missing;
    for (size_t i = 1; is_good && i < counts->edge_count; i++)
        is_good = add_edge(code, &counts->edges[i], whose);
    code->is_out |= counts->is_out || !is_good;
}
