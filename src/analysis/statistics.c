/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of packets and elements by buffer and trace ID. */
#include "analysis/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "run/run.h"
#include "tree/stats.h"

/* From elements: of a part of the trace, which can be added to what was before it. */
struct flow {
    struct tw_stats stats;
    struct tw_time_span times;
    uint64_t cycles;
};

/* ---- rows ---- */

static void free_row(const struct tw_statistics *statistics, struct tw_statistics_row *row)
{
    for (size_t i = 0; i < row->type_count; i++)
        tw_give(statistics->allocator, row->types[i].name);
    tw_give(statistics->allocator, row->types);
    tw_give(statistics->allocator, row->capture);
    tw_give(statistics->allocator, row->buffer);
    tw_give(statistics->allocator, row->protocol);
    tw_give(statistics->allocator, row);
}

static char *copy_text(const struct tw_statistics *statistics, const char *text)
{
    return tw_copy_text(statistics->allocator, text ? text : "");
}

struct tw_statistics_row *tw_statistics_add_row(struct tw_statistics *statistics,
                                                const char *capture, const char *buffer,
                                                const char *protocol)
{
    struct tw_statistics_row *row;

    if (!TW_GROW(statistics->allocator, &statistics->rows, &statistics->row_room,
                 statistics->row_count + 1))
        return NULL;
    row = tw_take(statistics->allocator, sizeof *row);
    if (!row)
        return NULL;
    row->capture = copy_text(statistics, capture);
    row->buffer = copy_text(statistics, buffer);
    row->protocol = copy_text(statistics, protocol);
    if (!row->capture || !row->buffer || !row->protocol) {
        free_row(statistics, row);
        return NULL;
    }
    statistics->rows[statistics->row_count++] = row;
    statistics->is_sorted = false;
    return row;
}

/* The row of a buffer and ID of the capture at work; NULL: no memory.  With the lock. */
static struct tw_statistics_row *row_of(struct tw_statistics *statistics,
                                        const struct tw_part *part)
{
    uint64_t *place =
        tw_map_put(&statistics->by_key, (uint64_t)part->buffer << 8 | part->batch.id);
    struct tw_statistics_row *row;

    if (!place || !statistics->capture)
        return NULL;
    if (*place)
        return (struct tw_statistics_row *)(uintptr_t)*place;
    row = tw_statistics_add_row(statistics, tw_capture_path(statistics->capture),
                                tw_capture_buffer(statistics->capture, part->buffer)->name,
                                part->source ? part->source->protocol : "");
    if (!row)
        return NULL;
    row->buffer_number = part->buffer;
    row->id = part->batch.id;
    *place = (uint64_t)(uintptr_t)row;
    return row;
}

struct tw_statistics_type *tw_statistics_add_type(struct tw_statistics *statistics,
                                                  struct tw_statistics_row *row,
                                                  const char *name, uint32_t number)
{
    struct tw_statistics_type *type;

    /* Room to show them, too: there is no way to say then that there is none. */
    if (!TW_GROW(statistics->allocator, &row->types, &row->type_room, row->type_count + 1) ||
        !TW_GROW(statistics->allocator, &statistics->types, &statistics->type_room,
                 row->type_count + 2))
        return NULL;
    type = &row->types[row->type_count];
    *type =
        (struct tw_statistics_type){ .name = copy_text(statistics, name), .number = number };
    if (!type->name)
        return NULL;
    row->type_count++;
    return type;
}

/* ---- new and free ---- */

static void count_part(void *context, void *tally, const struct tw_part *part);
static void add_flow(void *context, void *tally, void *later, bool is_resumed);
static void merge_flow(void *context, void *tally, const struct tw_part *whose);

enum tw_status tw_statistics_new(struct tw_statistics **statistics,
                                 const struct tw_capture *capture,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_statistics *made = tw_take(allocator, sizeof *made);

    *statistics = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for statistics");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    made->capture = capture;
    made->by_key.allocator = made->allocator;
    made->counter = (struct tw_run_counter){ .size = sizeof made->counter,
                                             .tally_size = sizeof(struct flow),
                                             .context = made,
                                             .is_anyones = true,
                                             .count = count_part,
                                             .add = add_flow,
                                             .merge = merge_flow,
                                             .ignores_local_time = true };
    return TW_OK;
}

void tw_statistics_free(struct tw_statistics *statistics)
{
    struct tw_allocator allocator;

    if (!statistics)
        return;
    if (statistics->packets && statistics->is_beside)
        (void)pthread_join(statistics->thread, NULL);
    allocator = statistics->allocator_copy;
    for (size_t i = 0; i < statistics->row_count; i++)
        free_row(statistics, statistics->rows[i]);
    tw_give(statistics->allocator, statistics->rows);
    tw_give(statistics->allocator, statistics->types);
    tw_map_free(&statistics->by_key);
    (void)pthread_mutex_destroy(&statistics->lock);
    tw_give(statistics->allocator ? &allocator : NULL, statistics);
}

/* ---- elements ---- */

static void count_time(struct flow *flow, const struct tw_element *element, uint64_t times)
{
    const struct tw_time_span one = { times, element->timestamp, element->timestamp };

    if (element->type == TW_ELEMENT_TIMESTAMP)
        tw_time_span_add(&flow->times, &one);
    if (element->type == TW_ELEMENT_TIMESTAMP && (element->flags & TW_TIME_CYCLES_APART))
        return; /* [K10.5.5.17] */
    if (element->type != TW_ELEMENT_ERROR && (element->flags & TW_FLAG_HAS_CYCLES))
        flow->cycles += element->cycles * times;
}

/* On any thread. */
static void count_part(void *context, void *tally, const struct tw_part *part)
{
    const struct tw_element *elements = part->batch.elements;
    struct flow *flow = tally;

    (void)context;
    tw_stats_count(&flow->stats, elements, part->batch.count);
    for (size_t i = 0; i < part->batch.count; i++) {
        if (elements[i].type != TW_ELEMENT_REPEAT) {
            count_time(flow, &elements[i], 1);
            continue;
        }
        for (size_t k = i - tw_repeat_reach(elements, i); k < i; k++)
            count_time(flow, &elements[k], elements[i].times);
    }
}

static void add_flow(void *context, void *tally, void *later, bool is_resumed)
{
    struct flow *flow = tally;
    const struct flow *more = later;

    (void)context;
    (void)is_resumed;
    tw_stats_add(&flow->stats, &more->stats);
    tw_time_span_add(&flow->times, &more->times);
    flow->cycles += more->cycles;
}

static void merge_flow(void *context, void *tally, const struct tw_part *whose)
{
    struct tw_statistics *statistics = context;
    const struct flow *flow = tally;
    const struct tw_stats *stats = &flow->stats;
    struct tw_statistics_row *row;

    if (!whose->source) /* markers of the frames */
        return;
    (void)pthread_mutex_lock(&statistics->lock);
    row = row_of(statistics, whose);
    if (row) {
        row->instructions += stats->seen.instructions;
        row->exceptions += stats->elements[TW_ELEMENT_EXCEPTION];
        row->errors += stats->elements[TW_ELEMENT_ERROR] - stats->errors[TW_ERROR_UNPLACED];
        row->missing += stats->seen.missing_code;
        row->overflows += stats->seen.overflows;
        row->discards += stats->seen.discards;
        row->cycles += flow->cycles;
        tw_time_span_add(&row->times, &flow->times);
    }
    statistics->has_failed |= !row;
    (void)pthread_mutex_unlock(&statistics->lock);
}

const struct tw_run_counter *tw_statistics_counter(struct tw_statistics *statistics)
{
    return &statistics->counter;
}

enum tw_status tw_statistics_take(struct tw_statistics *statistics, const struct tw_part *part)
{
    struct flow flow;

    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    memset(&flow, 0, sizeof flow);
    count_part(statistics, &flow, part);
    merge_flow(statistics, &flow, part);
    return statistics->has_failed ? TW_E_MEMORY : TW_OK;
}

/* ---- packets ---- */

static void count_sync(struct tw_statistics_row *row, uint64_t offset)
{
    const uint64_t distance = offset - (row->syncs ? row->last_sync : row->lead_sync);

    if (row->syncs || row->has_lead) {
        if (!row->sync_most || distance < row->sync_least)
            row->sync_least = distance;
        if (distance > row->sync_most)
            row->sync_most = distance;
    }
    if (!row->syncs++)
        row->first_sync = offset;
    row->last_sync = offset;
}

/* The row of a packet: what it counts is touched by packets alone. */
static struct tw_statistics_row *packet_row(struct tw_statistics *statistics,
                                            const struct tw_part *part)
{
    struct tw_statistics_row **row = &statistics->packet_rows[part->batch.id];

    if (statistics->packet_buffer != part->buffer) {
        memset(statistics->packet_rows, 0, sizeof statistics->packet_rows);
        statistics->packet_buffer = part->buffer;
    }
    if (!*row) {
        (void)pthread_mutex_lock(&statistics->lock);
        *row = row_of(statistics, part);
        (void)pthread_mutex_unlock(&statistics->lock);
    }
    return *row;
}

/* Of one type; false: no memory. */
static bool add_packets(struct tw_statistics *statistics, struct tw_statistics_row *row,
                        const struct tw_packet_view *view, const struct tw_packet_sum *sum)
{
    uint32_t *number = &row->type_of[view->packet->type];
    struct tw_statistics_type *type;

    if (!*number &&
        !tw_statistics_add_type(statistics, row, tw_packet_type_name(view), view->packet->type))
        return false;
    if (!*number)
        *number = (uint32_t)row->type_count;
    type = &row->types[*number - 1];
    type->packets += sum->packets;
    type->bytes += sum->bytes;
    row->packets += sum->packets;
    row->bytes += sum->bytes;
    return true;
}

enum tw_status tw_statistics_take_packet(struct tw_statistics *statistics,
                                         const struct tw_part *part,
                                         const struct tw_packet_view *view)
{
    const struct tw_packet *packet = view->packet;
    struct tw_packet_sum sum = { .packets = 1 };
    struct tw_statistics_row *row;

    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    row = packet_row(statistics, part);
    if (!row)
        return TW_E_MEMORY;
    if (part->is_lead) {
        row->has_lead |= view->kind == TW_PACKET_SYNC;
        row->lead_sync = view->kind == TW_PACKET_SYNC ? packet->offset : row->lead_sync;
        return TW_OK;
    }
    sum.bytes = packet->size;
    if (!add_packets(statistics, row, view, &sum))
        return TW_E_MEMORY;
    row->bad += view->is_bad;
    row->unsynced += view->is_not_sync ? packet->size : 0;
    if (view->kind == TW_PACKET_SYNC)
        count_sync(row, packet->offset);
    return TW_OK;
}

/* ---- all packets, beside the elements ---- */

static void take_sum(void *context, const struct tw_part *part,
                     const struct tw_packet_view *view, const struct tw_packet_sum *sum)
{
    struct tw_statistics *statistics = context;
    struct tw_statistics_row *row = packet_row(statistics, part);

    if (!row || !add_packets(statistics, row, view, sum))
        statistics->packet_status = TW_E_MEMORY;
}

static void *read_packets(void *context)
{
    struct tw_statistics *statistics = context;
    struct tw_packet_view view = { .size = sizeof view };
    const struct tw_part *part;
    struct tw_part event;
    enum tw_status status;

    statistics->packet_status = TW_OK;
    tw_run_tally_packets(statistics->packets);
    while ((status = tw_run_packet(statistics->packets, &event, &part, &view)) == TW_OK) {
        if (part->kind == TW_PART_END)
            tw_run_take_packets(statistics->packets, take_sum, statistics);
        status = tw_statistics_take_packet(statistics, part, &view);
        if (status != TW_OK)
            break;
    }
    tw_run_take_packets(statistics->packets, take_sum, statistics);
    if (status != TW_END)
        statistics->packet_status = status;
    return NULL;
}

void tw_statistics_begin_packets(struct tw_statistics *statistics, struct tw_run *packets,
                                 bool is_beside)
{
    statistics->packets = packets;
    statistics->is_beside =
        is_beside && pthread_create(&statistics->thread, NULL, read_packets, statistics) == 0;
}

enum tw_status tw_statistics_end_packets(struct tw_statistics *statistics)
{
    if (!statistics->packets)
        return statistics->has_failed ? TW_E_MEMORY : TW_OK;
    if (statistics->is_beside)
        (void)pthread_join(statistics->thread, NULL);
    else
        (void)read_packets(statistics);
    statistics->packets = NULL;
    if (statistics->packet_status == TW_OK && statistics->has_failed)
        return TW_E_MEMORY;
    return statistics->packet_status;
}

/* ---- results ---- */

static int by_place(const void *a, const void *b)
{
    const struct tw_statistics_row *const *left = a, *const *right = b;
    const int capture = strcmp((*left)->capture, (*right)->capture);

    if (capture)
        return capture;
    if ((*left)->buffer_number != (*right)->buffer_number)
        return (*left)->buffer_number < (*right)->buffer_number ? -1 : 1;
    return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* Types in the order of their bytes, most first. */
static int by_bytes(const void *a, const void *b)
{
    const struct tw_statistics_type *one = a, *other = b;

    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    if (one->packets != other->packets)
        return one->packets < other->packets ? 1 : -1;
    return (one->number > other->number) - (one->number < other->number);
}

static void order_types(struct tw_statistics_row *row)
{
    if (row->type_count)
        qsort(row->types, row->type_count, sizeof *row->types, by_bytes);
    memset(row->type_of, 0, sizeof row->type_of); /* they have moved */
    for (size_t i = 0; i < row->type_count; i++)
        if (row->types[i].number < TW_LENGTH(row->type_of))
            row->type_of[row->types[i].number] = (uint32_t)i + 1;
}

void tw_statistics_order(struct tw_statistics *statistics)
{
    if (!statistics->is_sorted && statistics->row_count)
        qsort(statistics->rows, statistics->row_count, sizeof *statistics->rows, by_place);
    statistics->is_sorted = true;
    for (size_t i = 0; i < statistics->row_count; i++)
        order_types(statistics->rows[i]);
}

static bool show_types(struct tw_statistics *statistics, struct tw_statistics_row *row)
{
    if (!TW_GROW(statistics->allocator, &statistics->types, &statistics->type_room,
                 row->type_count + 1)) {
        statistics->has_failed = true;
        return false;
    }
    order_types(row);
    for (size_t i = 0; i < row->type_count; i++)
        statistics->types[i] =
            (struct tw_packet_count){ row->types[i].name, row->types[i].packets,
                                      row->types[i].bytes };
    return true;
}

bool tw_statistics_source(struct tw_statistics *statistics, struct tw_source_statistics *source,
                          size_t number)
{
    const struct tw_statistics_row *row;
    struct tw_source_statistics told = { .size = sizeof told };

    if (!statistics->is_sorted && statistics->row_count)
        qsort(statistics->rows, statistics->row_count, sizeof *statistics->rows, by_place);
    statistics->is_sorted = true;
    if (number >= statistics->row_count || !show_types(statistics, statistics->rows[number]))
        return false;
    row = statistics->rows[number];
    told.buffer = row->buffer;
    told.buffer_number = row->buffer_number;
    told.id = row->id;
    told.protocol = row->protocol;
    told.packets = row->packets;
    told.bytes = row->bytes;
    told.bad = row->bad;
    told.unsynced = row->unsynced;
    told.syncs = row->syncs;
    told.first_sync = row->first_sync;
    told.last_sync = row->last_sync;
    told.sync_least = row->sync_least;
    told.sync_most = row->sync_most;
    told.types = statistics->types;
    told.type_count = row->type_count;
    told.instructions = row->instructions;
    told.exceptions = row->exceptions;
    told.errors = row->errors;
    told.missing = row->missing;
    told.overflows = row->overflows;
    told.discards = row->discards;
    told.cycles = row->cycles;
    told.timestamps = row->times.times;
    told.first_time = row->times.first;
    told.last_time = row->times.last;
    return TW_SIZED_GIVE(source, &told);
}
