/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of software trace to events and text.  A local timestamp follows what it stamps, so that
   this waits for it; packets of one data access are joined. */
#include "analysis/channels.h"

#include <inttypes.h>
#include <stdio.h>

#include <trackway/itm.h>

#include "base/fault.h"
#include "base/sized.h"

/* One thing that waits for its timestamp. */
struct item {
    uint64_t index;
    uint8_t kind;              /* enum tw_itm_kind: SWIT or DWT */
    uint8_t size;              /* of a SWIT's payload */
    uint16_t port;             /* ... and its port */
    uint32_t value;            /* of a SWIT, or of `dwt` */
    struct tw_dwt_meaning dwt; /* a data access: VALUE, with what is known of it */
    bool has_pc, has_address, has_value;
    uint32_t pc, address;
    uint8_t address_size;
};

/* The time of one trace ID, and what waits for it. */
struct timeline {
    uint64_t cycles;  /* sum of all local timestamps, kept over losses */
    uint64_t decoded; /* the decoder's sum, which begins again after an overflow */
    uint64_t before;  /* that sum at the timestamp before the last one */
    bool is_late;     /* the last one was sent later than what it stamps */
    bool has_local;   /* there are local timestamps */
    bool has_global;  /* there are global ones ... */
    uint64_t global;  /* ... and the last is this */
    struct item *items;
    size_t count, room;
    size_t open[4]; /* by comparator: the access that a packet may add to, plus one */
};

enum { ITEMS_MOST = 4096 }; /* what waits longer goes out without a time */

static struct timeline *timeline_of(struct tw_channels *channels, uint8_t id)
{
    struct timeline *timeline = tw_streams_put(&channels->timelines, id);

    channels->is_out |= !timeline;
    return timeline;
}

static void give_event(struct tw_channels *channels, struct tw_channel_event *event)
{
    event->size = sizeof *event;
    if (channels->config.on_event)
        channels->config.on_event(channels->config.context, event);
}

static void note_counters(char *note, size_t room, unsigned mask)
{
    static const char *const names[] = { "CPI", "EXC", "Sleep", "LSU", "Fold", "Cyc" };
    size_t size = 0;

    note[0] = 0;
    for (unsigned i = 0; i < 6; i++)
        if (mask >> i & 1)
            size +=
                (size_t)snprintf(note + size, room - size, "%s%s", size ? " " : "", names[i]);
}

static void note_exception(char *note, size_t room, const struct tw_dwt_meaning *dwt)
{
    static const char *const actions[] = { "reserved", "entered", "exited", "returned" };

    if (dwt->number >= 16)
        (void)snprintf(note, room, "IRQ %u %s", dwt->number - 16u, actions[dwt->action]);
    else
        (void)snprintf(note, room, "%s %s", tw_exception_name_m(dwt->number),
                       actions[dwt->action]);
}

/* Everything of the DWT that is no data access. */
static void put_event(struct tw_channels *channels, struct tw_channel_event *row,
                      const struct item *item)
{
    const struct tw_dwt_meaning *dwt = &item->dwt;
    char note[80] = "";

    switch (dwt->kind) {
    case TW_DWT_COUNTERS:
    case TW_DWT_PMU:
        row->type = dwt->kind == TW_DWT_PMU ? "pmu" : "counter";
        row->has_value = true;
        row->value = dwt->mask;
        row->value_size = 1;
        if (dwt->kind == TW_DWT_COUNTERS)
            note_counters(note, sizeof note, dwt->mask);
        row->note = note[0] ? note : NULL;
        break;
    case TW_DWT_EXCEPTION:
        row->type = "exception";
        row->source = dwt->number;
        row->action = dwt->action;
        note_exception(note, sizeof note, dwt);
        row->note = note;
        break;
    case TW_DWT_PC_SAMPLE:
    case TW_DWT_ASLEEP:
    case TW_DWT_PROHIBITED:
        row->type = "pc";
        row->has_pc = dwt->kind == TW_DWT_PC_SAMPLE;
        row->pc = dwt->value;
        if (!row->has_pc)
            row->note = dwt->kind == TW_DWT_ASLEEP ? "asleep" : "prohibited";
        break;
    default:
        row->type = "reserved";
        row->source = item->port;
        row->has_value = true;
        row->value = dwt->value;
        row->value_size = dwt->size;
        break;
    }
    give_event(channels, row);
}

static bool is_access(const struct tw_dwt_meaning *dwt)
{
    return dwt->kind == TW_DWT_PC || dwt->kind == TW_DWT_ADDRESS || dwt->kind == TW_DWT_VALUE ||
           dwt->kind == TW_DWT_MATCH;
}

static void put_access(struct tw_channels *channels, struct tw_channel_event *row,
                       const struct item *item)
{
    row->type = "dwt";
    row->source = item->dwt.comparator;
    row->has_pc = item->has_pc;
    row->pc = item->pc;
    row->has_address = item->has_address;
    row->address = item->address;
    row->address_size = item->address_size;
    row->has_value = item->has_value;
    row->value = item->value;
    row->value_size = item->dwt.size;
    if (item->dwt.kind == TW_DWT_MATCH)
        row->note = "match";
    else if (item->has_value && !item->dwt.is_write)
        row->note = "read";
    give_event(channels, row);
}

static void put_item(struct tw_channels *channels, uint8_t id, const struct item *item,
                     struct tw_channel_time when)
{
    struct tw_channel_event row = {
        .index = item->index, .when = when, .id = id, .source = -1
    };
    struct tw_channel *channel;

    if (item->kind == TW_ITM_DWT) {
        if (is_access(&item->dwt))
            put_access(channels, &row, item);
        else
            put_event(channels, &row, item);
        return;
    }
    channel = tw_channels_find(channels, id, false, 0, item->port);
    if (!channel)
        return;
    if (channels->config.with_values) {
        row.type = "itm";
        row.source = item->port;
        row.has_value = true;
        row.value = item->value;
        row.value_size = item->size;
        give_event(channels, &row);
    }
    tw_channels_write(channels, channel, when, item->index, item->value, item->size);
}

/* What waits goes out. */
static void release(struct tw_channels *channels, struct timeline *timeline, uint8_t id,
                    struct tw_channel_time when)
{
    for (size_t i = 0; i < timeline->count; i++)
        put_item(channels, id, &timeline->items[i], when);
    timeline->count = 0;
    for (unsigned i = 0; i < 4; i++)
        timeline->open[i] = 0;
}

/* The time that was last told, if any was. */
static struct tw_channel_time last_time(const struct timeline *timeline)
{
    return (struct tw_channel_time){ .is_known = timeline->has_local,
                                     .time = timeline->cycles,
                                     .not_before = timeline->is_late ? timeline->before
                                                                     : timeline->cycles,
                                     .has_global = timeline->has_global,
                                     .global = timeline->global };
}

static struct item *add_item(struct tw_channels *channels, struct timeline *timeline,
                             uint8_t id)
{
    if (timeline->count == ITEMS_MOST)
        release(channels, timeline, id, last_time(timeline));
    if (!TW_GROW(channels->allocator, &timeline->items, &timeline->room, timeline->count + 1)) {
        channels->is_out = true;
        return NULL;
    }
    return &timeline->items[timeline->count++];
}

/* Whether this packet may belong to the access: PC, address and value come in that order. */
static bool continues(const struct item *item, const struct tw_dwt_meaning *dwt)
{
    if (item->has_value || item->dwt.kind == TW_DWT_MATCH)
        return false;
    if (dwt->kind == TW_DWT_ADDRESS)
        return !item->has_address;
    return dwt->kind == TW_DWT_VALUE;
}

static void take_access(struct tw_channels *channels, struct timeline *timeline,
                        const struct tw_element *element, uint8_t id,
                        const struct tw_dwt_meaning *dwt)
{
    size_t *open = &timeline->open[dwt->comparator & 3];
    struct item *item = *open ? &timeline->items[*open - 1] : NULL;

    if (!item || !continues(item, dwt)) {
        item = add_item(channels, timeline, id);
        if (!item)
            return;
        *item = (struct item){ .index = element->index, .kind = TW_ITM_DWT };
        *open = timeline->count;
    }
    item->dwt = *dwt;
    if (dwt->kind == TW_DWT_PC) {
        item->has_pc = true;
        item->pc = dwt->value;
    } else if (dwt->kind == TW_DWT_ADDRESS) {
        item->has_address = true;
        item->address = dwt->value;
        item->address_size = dwt->size;
    } else if (dwt->kind == TW_DWT_VALUE) {
        item->has_value = true;
        item->value = dwt->value;
    }
}

static void take_itm(struct tw_channels *channels, const struct tw_element *element, uint8_t id)
{
    struct timeline *timeline = timeline_of(channels, id);
    struct item *item;

    if (!timeline)
        return;
    if (element->flags & TW_ITM_OVERFLOW) {
        struct tw_channel_event row = { .index = element->index,
                                        .when = last_time(timeline),
                                        .id = id,
                                        .type = "overflow",
                                        .source = -1,
                                        .note = "packets were lost before this" };

        release(channels, timeline, id, last_time(timeline));
        timeline->decoded = 0;
        give_event(channels, &row);
    }
    if (element->kind == TW_ITM_SWIT || element->kind == TW_ITM_DWT) {
        const struct tw_dwt_meaning dwt =
            tw_dwt_meaning(element->source, element->size, element->itm_value);

        if (element->kind == TW_ITM_DWT && is_access(&dwt)) {
            take_access(channels, timeline, element, id, &dwt);
        } else if ((item = add_item(channels, timeline, id)) != NULL) {
            *item = (struct item){ .index = element->index,
                                   .kind = element->kind,
                                   .size = element->size,
                                   .port = (uint16_t)element->source,
                                   .value = element->itm_value,
                                   .dwt = dwt };
        }
    } else if (element->kind == TW_ITM_TS_GLOBAL) {
        if (!timeline->has_local)
            release(channels, timeline, id,
                    (struct tw_channel_time){ .is_known = true,
                                              .time = element->itm_time,
                                              .not_before =
                                                  timeline->has_global ? timeline->global : 0,
                                              .is_global = true });
        timeline->has_global = true;
        timeline->global = element->itm_time;
    } else if (element->kind != TW_ITM_LOST) {
        timeline->has_local = true;
        timeline->is_late = element->kind != TW_ITM_TS_SYNC;
        timeline->before = timeline->cycles;
        timeline->cycles += element->itm_time - timeline->decoded;
        timeline->decoded = element->itm_time;
        release(channels, timeline, id, last_time(timeline));
    }
}

/* A message ends with a flag or where the next one is marked, text also with its lines. */
static void take_stm(struct tw_channels *channels, const struct tw_element *element, uint8_t id)
{
    const struct tw_channel_time when = { .is_known = element->flags & TW_SW_HAS_TIME,
                                          .time = element->sw_time,
                                          .not_before = element->sw_time,
                                          .is_global = true };
    const bool is_error = element->flags & (TW_SW_MASTER_ERROR | TW_SW_GLOBAL_ERROR);
    struct tw_channel_event row = {
        .index = element->index, .when = when, .id = id, .source = element->channel
    };
    struct tw_channel *channel;

    if (element->flags & TW_SW_FREQ || is_error || element->flags & TW_SW_TRIGGER) {
        row.type = element->flags & TW_SW_FREQ ? "frequency" : is_error ? "error" : "trigger";
        row.note = element->flags & TW_SW_GLOBAL_ERROR   ? "data of several masters was lost"
                   : element->flags & TW_SW_MASTER_ERROR ? "data of a master was lost"
                                                         : NULL;
        row.has_value = true;
        row.value = (uint32_t)element->payload;
        row.value_size = element->width / 8;
        give_event(channels, &row);
        return;
    }
    channel = tw_channels_find(channels, id, true, element->master, element->channel);
    if (!channel)
        return;
    if (element->width) {
        if (element->flags & TW_SW_MARKER && channel->size)
            tw_channels_end_line(channels, channel); /* a mark begins a message */
        if (channels->config.with_values) {
            row.type = "stm";
            row.has_value = element->width <= 32;
            row.value = (uint32_t)element->payload;
            row.value_size = (uint8_t)((element->width + 7) / 8);
            give_event(channels, &row);
        }
        tw_channels_write(channels, channel, when, element->index, element->payload,
                          (element->width + 7u) / 8);
    } else if (element->flags & TW_SW_MARKER && channel->size) {
        if (!channel->when.is_known)
            channel->when = when;
        tw_channels_end_line(channels, channel);
    }
}

/* What waits cannot be stamped any more. */
static void take_damage(struct tw_channels *channels, const struct tw_element *element,
                        uint8_t id)
{
    struct timeline *timeline = tw_streams_at(&channels->timelines, id);
    struct tw_channel_event row = {
        .index = element->index, .id = id, .type = "error", .source = -1
    };
    char note[120];

    if (timeline) {
        release(channels, timeline, id, last_time(timeline));
        row.when = last_time(timeline);
        if (element->type == TW_ELEMENT_NO_SYNC && element->reason == TW_REASON_RESET)
            timeline->decoded = 0;
    }
    if (element->type != TW_ELEMENT_ERROR)
        return;
    (void)snprintf(note, sizeof note, "%s at offset %llu, %llu bytes passed over",
                   tw_error_code_name(element->error), (unsigned long long)element->index,
                   (unsigned long long)element->skipped);
    row.note = note;
    give_event(channels, &row);
}

static void take_element(struct tw_channels *channels, const struct tw_element *element,
                         uint8_t id)
{
    if (element->type == TW_ELEMENT_ITMTRACE)
        take_itm(channels, element, id);
    else if (element->type == TW_ELEMENT_SWTRACE)
        take_stm(channels, element, id);
    else if (element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_NO_SYNC)
        take_damage(channels, element, id);
}

enum tw_status tw_channels_take(struct tw_channels *channels, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        take_element(channels, &batch->elements[i], batch->id);
    return channels->is_out ? TW_E_MEMORY : TW_OK;
}

enum tw_status tw_channels_idle(struct tw_channels *channels)
{
    for (size_t id = 0; id < channels->timelines.count; id++) {
        struct timeline *timeline = tw_streams_at(&channels->timelines, id);

        if (!timeline->has_local)
            release(channels, timeline, (uint8_t)id, last_time(timeline));
    }
    return channels->is_out ? TW_E_MEMORY : TW_OK;
}

enum tw_status tw_channels_finish(struct tw_channels *channels)
{
    for (size_t id = 0; id < channels->timelines.count; id++) {
        struct timeline *timeline = tw_streams_at(&channels->timelines, id);

        release(channels, timeline, (uint8_t)id, last_time(timeline));
    }
    for (size_t i = 0; i < channels->count; i++)
        if (channels->channels[i].size)
            tw_channels_end_line(channels, &channels->channels[i]);
    return channels->is_out ? TW_E_MEMORY : TW_OK;
}

enum tw_status tw_channels_new(struct tw_channels **channels,
                               const struct tw_channels_config *config, struct tw_fault *fault)
{
    struct tw_channels_config own;
    struct tw_channels *made;

    *channels = NULL;
    TW_TRY(TW_SIZED_TAKE(&own, config, "tw_channels_config", fault));
    made = tw_take(own.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for channels");
    made->config = own;
    if (own.allocator) {
        made->allocator_copy = *own.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by_name.allocator = made->allocator;
    tw_streams_init(&made->timelines, sizeof(struct timeline), made->allocator);
    *channels = made;
    return TW_OK;
}

void tw_channels_free(struct tw_channels *channels)
{
    struct tw_allocator allocator;

    if (!channels)
        return;
    allocator = channels->allocator_copy;
    for (size_t id = 0; id < channels->timelines.count; id++) {
        struct timeline *timeline = tw_streams_at(&channels->timelines, id);

        tw_give(channels->allocator, timeline->items);
    }
    tw_streams_free(&channels->timelines);
    for (size_t i = 0; i < channels->count; i++)
        tw_give(channels->allocator, channels->channels[i].line);
    tw_give(channels->allocator, channels->channels);
    tw_map_free(&channels->by_name);
    tw_give(channels->allocator ? &allocator : NULL, channels);
}
