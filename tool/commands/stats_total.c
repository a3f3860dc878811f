/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway stats: the sums over buffers. */
#include <stdlib.h>
#include <string.h>

#include "commands/stats.h"

static struct stats_total *row_of(struct stats_totals *totals,
                                  const struct tw_source_statistics *source)
{
    struct stats_total *rows = totals->rows;

    for (size_t i = 0; i < totals->count; i++)
        if (rows[i].sum.id == source->id && strcmp(rows[i].sum.protocol, source->protocol) == 0)
            return &rows[i];
    rows = realloc(rows, (totals->count + 1) * sizeof *rows);
    if (!rows)
        return NULL;
    totals->rows = rows;
    rows[totals->count] = (struct stats_total){
        .sum = { .size = sizeof rows->sum, .id = source->id, .protocol = source->protocol }
    };
    return &rows[totals->count++];
}

static bool add_type(struct stats_total *total, const struct tw_packet_count *type)
{
    struct tw_packet_count *types = total->types;

    for (size_t i = 0; i < total->sum.type_count; i++)
        if (strcmp(types[i].name, type->name) == 0) {
            types[i].packets += type->packets;
            types[i].bytes += type->bytes;
            return true;
        }
    types = realloc(types, (total->sum.type_count + 1) * sizeof *types);
    if (!types)
        return false;
    total->types = types;
    total->sum.types = types;
    types[total->sum.type_count++] = *type;
    return true;
}

static void add_syncs(struct stats_total *total, const struct tw_source_statistics *source)
{
    struct tw_source_statistics *sum = &total->sum;

    sum->syncs += source->syncs;
    if (source->syncs < 2)
        return;
    if (!total->gaps || source->sync_least < sum->sync_least)
        sum->sync_least = source->sync_least;
    if (source->sync_most > sum->sync_most)
        sum->sync_most = source->sync_most;
    total->gaps += source->syncs - 1;
    total->span += source->last_sync - source->first_sync;
}

static void add_times(struct tw_source_statistics *sum,
                      const struct tw_source_statistics *source)
{
    if (!source->timestamps)
        return;
    if (!sum->timestamps || source->first_time < sum->first_time)
        sum->first_time = source->first_time;
    if (source->last_time > sum->last_time)
        sum->last_time = source->last_time;
    sum->timestamps += source->timestamps;
}

bool stats_totals_add(struct stats_totals *totals, const struct tw_source_statistics *source)
{
    struct stats_total *total = row_of(totals, source);
    struct tw_source_statistics *sum;

    if (!total)
        return false;
    sum = &total->sum;
    total->buffers++;
    sum->packets += source->packets;
    sum->bytes += source->bytes;
    sum->bad += source->bad;
    sum->unsynced += source->unsynced;
    sum->instructions += source->instructions;
    sum->exceptions += source->exceptions;
    sum->errors += source->errors;
    sum->missing += source->missing;
    sum->overflows += source->overflows;
    sum->discards += source->discards;
    sum->cycles += source->cycles;
    add_syncs(total, source);
    add_times(sum, source);
    for (size_t i = 0; i < source->type_count; i++)
        if (!add_type(total, &source->types[i]))
            return false;
    return true;
}

static int by_weight(const void *a, const void *b)
{
    const struct tw_packet_count *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return strcmp(left->name, right->name);
}

void stats_totals_end(struct stats_totals *totals)
{
    for (size_t i = 0; i < totals->count; i++)
        if (totals->rows[i].types)
            qsort(totals->rows[i].types, totals->rows[i].sum.type_count,
                  sizeof *totals->rows[i].types, by_weight);
}

void stats_totals_free(struct stats_totals *totals)
{
    for (size_t i = 0; i < totals->count; i++)
        free(totals->rows[i].types);
    free(totals->rows);
}
