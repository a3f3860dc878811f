/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics added to each other, saved and loaded. */
#include <string.h>

#include "analysis/saved.h"
#include "analysis/statistics.h"
#include "base/fault.h"
#include "base/memory.h"
#include "index/hash.h"

static const struct tw_saved_kind saved_kind = { "stats", 1 };

/* ---- adding, saving, loading ---- */

static bool add_types(struct tw_statistics *statistics, struct tw_statistics_row *to,
                      const struct tw_statistics_row *from)
{
    for (size_t i = 0; i < from->type_count; i++) {
        struct tw_statistics_type *type = NULL;

        for (size_t k = 0; k < to->type_count && !type; k++)
            if (strcmp(to->types[k].name, from->types[i].name) == 0)
                type = &to->types[k];
        if (!type)
            type = tw_statistics_add_type(statistics, to, from->types[i].name,
                                          from->types[i].number);
        if (!type)
            return false;
        type->packets += from->types[i].packets;
        type->bytes += from->types[i].bytes;
    }
    return true;
}

/* The distance between the last of one and the first of the other is not known to be one. */
static void add_syncs(struct tw_statistics_row *to, const struct tw_statistics_row *from)
{
    if (!from->syncs)
        return;
    if (from->sync_most && (!to->sync_most || from->sync_least < to->sync_least))
        to->sync_least = from->sync_least;
    if (from->sync_most > to->sync_most)
        to->sync_most = from->sync_most;
    if (!to->syncs || from->first_sync < to->first_sync)
        to->first_sync = from->first_sync;
    if (!to->syncs || from->last_sync > to->last_sync)
        to->last_sync = from->last_sync;
    to->syncs += from->syncs;
}

static uint64_t hash_of(const struct tw_statistics_row *row)
{
    return tw_hash64(
        tw_hash_of((const uint8_t *)row->capture, strlen(row->capture)) ^
        tw_hash64(tw_hash_of((const uint8_t *)row->buffer, strlen(row->buffer)) ^ row->id));
}

/* Two blocks of perf.data may have one name: that of a CPU, and an offset which came again. */
static bool is_same(const struct tw_statistics_row *a, const struct tw_statistics_row *b)
{
    return a->id == b->id && a->buffer_number == b->buffer_number &&
           strcmp(a->buffer, b->buffer) == 0 && strcmp(a->capture, b->capture) == 0;
}

/* Rows by what they are of; those with the same hash are chained. */
static bool know_row(struct tw_map *by_name, struct tw_statistics_row *row)
{
    uint64_t *first = tw_map_put(by_name, hash_of(row));

    if (!first)
        return false;
    row->same_hash = (struct tw_statistics_row *)(uintptr_t)*first;
    *first = (uint64_t)(uintptr_t)row;
    return true;
}

static struct tw_statistics_row *find_row(const struct tw_map *by_name,
                                          const struct tw_statistics_row *like)
{
    const uint64_t *first = tw_map_find(by_name, hash_of(like));
    struct tw_statistics_row *row =
        first ? (struct tw_statistics_row *)(uintptr_t)*first : NULL;

    while (row && !is_same(row, like))
        row = row->same_hash;
    return row;
}

static bool add_row(struct tw_statistics *statistics, struct tw_map *by_name,
                    const struct tw_statistics_row *from)
{
    struct tw_statistics_row *to = find_row(by_name, from);

    if (!to) {
        to = tw_statistics_add_row(statistics, from->capture, from->buffer, from->protocol);
        if (!to)
            return false;
        to->id = from->id;
        to->buffer_number = from->buffer_number;
        if (!know_row(by_name, to))
            return false;
    }
    to->packets += from->packets;
    to->bytes += from->bytes;
    to->bad += from->bad;
    to->unsynced += from->unsynced;
    to->instructions += from->instructions;
    to->exceptions += from->exceptions;
    to->errors += from->errors;
    to->missing += from->missing;
    to->overflows += from->overflows;
    to->discards += from->discards;
    to->cycles += from->cycles;
    tw_time_span_add(&to->times, &from->times);
    add_syncs(to, from);
    return add_types(statistics, to, from);
}

enum tw_status tw_statistics_add(struct tw_statistics *statistics,
                                 const struct tw_statistics *other)
{
    struct tw_map by_name = { .allocator = statistics->allocator };
    bool is_good = true;

    if (statistics == other)
        return TW_E_ARGUMENT;
    for (size_t i = 0; is_good && i < statistics->row_count; i++)
        is_good = know_row(&by_name, statistics->rows[i]);
    for (size_t i = 0; is_good && i < other->row_count; i++)
        is_good = add_row(statistics, &by_name, other->rows[i]);
    tw_map_free(&by_name);
    return is_good ? TW_OK : TW_E_MEMORY;
}

/* The numbers of a row, in the order of the file. */
enum { ROW_NUMBERS = 20 };

static void numbers_of(struct tw_statistics_row *row, uint64_t *numbers[ROW_NUMBERS])
{
    uint64_t *const list[ROW_NUMBERS] = {
        &row->packets,     &row->bytes,        &row->bad,        &row->unsynced,
        &row->syncs,       &row->first_sync,   &row->last_sync,  &row->sync_least,
        &row->sync_most,   &row->instructions, &row->exceptions, &row->errors,
        &row->missing,     &row->overflows,    &row->discards,   &row->cycles,
        &row->times.times, &row->times.first,  &row->times.last, NULL,
    };

    memcpy(numbers, list, sizeof list);
}

static void save_row(struct tw_save *save, struct tw_statistics_row *row)
{
    uint64_t *numbers[ROW_NUMBERS];

    tw_save_text(save, row->capture);
    tw_save_text(save, row->buffer);
    tw_save_text(save, row->protocol);
    tw_save_u64(save, (uint64_t)row->buffer_number << 8 | row->id);
    numbers_of(row, numbers);
    for (size_t i = 0; numbers[i]; i++)
        tw_save_u64(save, *numbers[i]);
    tw_save_u64(save, row->type_count);
    for (size_t i = 0; i < row->type_count; i++) {
        tw_save_u64(save, row->types[i].number);
        tw_save_text(save, row->types[i].name);
        tw_save_u64(save, row->types[i].packets);
        tw_save_u64(save, row->types[i].bytes);
    }
}

/* A source that gave nothing is the same as none. */
static bool has_something(const struct tw_statistics_row *row)
{
    return row->packets || row->instructions || row->exceptions || row->errors ||
           row->missing || row->overflows || row->discards || row->cycles || row->times.times;
}

enum tw_status tw_statistics_save(struct tw_statistics *statistics, const char *path,
                                  struct tw_fault *fault)
{
    struct tw_save save = { .allocator = statistics->allocator };
    uint64_t count = 0;

    tw_statistics_order(statistics);
    for (size_t i = 0; i < statistics->row_count; i++)
        count += has_something(statistics->rows[i]);
    tw_save_u64(&save, count);
    for (size_t i = 0; i < statistics->row_count; i++)
        if (has_something(statistics->rows[i]))
            save_row(&save, statistics->rows[i]);
    return tw_save_end(&save, &saved_kind, path, fault);
}

static bool load_row(struct tw_statistics *statistics, struct tw_load *load)
{
    enum { TYPE_LEAST = 32 };
    bool is_there[3];
    char *capture = tw_load_text(load, &is_there[0]);
    char *buffer = tw_load_text(load, &is_there[1]);
    char *protocol = tw_load_text(load, &is_there[2]);
    struct tw_statistics_row *row = NULL;
    uint64_t *numbers[ROW_NUMBERS], place = tw_load_u64(load);
    size_t types;

    if (capture && buffer && protocol && place >> 40 == 0) {
        row = tw_statistics_add_row(statistics, capture, buffer, protocol);
        tw_load_need(load, row);
    }
    tw_give(load->allocator, capture);
    tw_give(load->allocator, buffer);
    tw_give(load->allocator, protocol);
    if (!row)
        return false;
    row->id = (uint8_t)place;
    row->buffer_number = (uint32_t)(place >> 8);
    numbers_of(row, numbers);
    for (size_t i = 0; numbers[i]; i++)
        *numbers[i] = tw_load_u64(load);
    types = tw_load_count(load, TYPE_LEAST);
    for (size_t i = 0; i < types && !load->in.short_read; i++) {
        const uint32_t number = (uint32_t)tw_load_u64(load);
        char *name = tw_load_text(load, &is_there[0]);
        struct tw_statistics_type *type =
            name ? tw_statistics_add_type(statistics, row, name, number) : NULL;

        tw_load_need(load, type || !name);
        tw_give(load->allocator, name);
        if (!type)
            return false;
        type->packets = tw_load_u64(load);
        type->bytes = tw_load_u64(load);
    }
    return true;
}

void tw_statistics_read(struct tw_statistics *statistics, struct tw_load *load)
{
    enum { ROW_LEAST = 8 * (4 + ROW_NUMBERS) };
    const size_t count = tw_load_count(load, ROW_LEAST);

    for (size_t i = 0; i < count && !load->is_wrong && !load->in.short_read; i++)
        load->is_wrong |= !load_row(statistics, load);
}

enum tw_status tw_statistics_load(struct tw_statistics **statistics, const char *path,
                                  const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_statistics *made;
    struct tw_load load;
    enum tw_status status;

    *statistics = NULL;
    TW_TRY(tw_statistics_new(&made, NULL, allocator, fault));
    status = tw_load_begin(&load, &saved_kind, path, allocator, fault);
    if (status == TW_OK) {
        tw_statistics_read(made, &load);
        status = tw_load_end(&load, path, fault);
    }
    if (status != TW_OK) {
        tw_statistics_free(made);
        return status;
    }
    *statistics = made;
    return TW_OK;
}
