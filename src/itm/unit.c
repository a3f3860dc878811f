/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: the trace unit's model, stimulus writes and watched events to bytes. */
#include <trackway/itm_unit.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "itm/packet.h"

enum {
    COUNTER_MAX = 0x1fffff, /* the local timestamp counter has 21 bits */
    LOW_BITS = 26           /* of a global timestamp, in the first of its packets */
};

struct tw_itm_unit {
    struct tw_itm_unit_config config;
    uint8_t *bytes;
    size_t size, room;
    uint64_t cycles;       /* since the start */
    uint64_t stamped;      /* cycles that local timestamps have told of */
    uint64_t fifo_drained; /* cycles up to which the FIFO has drained */
    uint64_t fifo;         /* bytes in it */
    uint64_t next_sync, next_global;
    uint64_t sent_global;
    uint32_t page;
    uint8_t prescale; /* log2 */
    uint8_t relation; /* of what is not yet stamped */
    bool is_unstamped;
    bool has_lost;    /* an overflow packet is due */
    bool high_is_due; /* the upper bits of the global time are to be sent */
    bool has_global, clock_changed;
};

/* Appends a packet, or loses it when the FIFO has no room. */
static enum tw_status put(struct tw_itm_unit *unit, const struct tw_itm_packet *packet)
{
    uint8_t bytes[TW_ITM_PACKET_MAX];
    size_t size = sizeof bytes - 1, first = 1;

    bytes[0] = 0x70;
    TW_TRY(tw_itm_put(bytes + 1, &size, packet));
    if (unit->has_lost) {
        first = 0;
        size++;
    }
    if (unit->config.fifo_size && unit->fifo + size > unit->config.fifo_size) {
        unit->has_lost = true;
        return TW_OK;
    }
    if (!TW_GROW(unit->config.allocator, &unit->bytes, &unit->room, unit->size + size))
        return TW_E_MEMORY;
    memcpy(unit->bytes + unit->size, bytes + first, size);
    unit->size += size;
    unit->fifo += size;
    unit->has_lost = false;
    return TW_OK;
}

static enum tw_status put_sync(struct tw_itm_unit *unit)
{
    const struct tw_itm_packet sync = { .base = { .type = TW_ITM_PACKET_ASYNC, .size = 6 } };
    const struct tw_itm_packet page = { .base = { .type = TW_ITM_PACKET_EXTENSION },
                                        .value = unit->page,
                                        .bits = 3 };

    TW_TRY(put(unit, &sync));
    unit->high_is_due = true;
    return unit->page ? put(unit, &page) : TW_OK;
}

static enum tw_status put_local(struct tw_itm_unit *unit)
{
    const uint64_t counts = (unit->cycles - unit->stamped) >> unit->prescale;
    const struct tw_itm_packet packet = { .base = { .type = TW_ITM_PACKET_TS_LOCAL },
                                          .value = counts,
                                          .source = unit->relation };

    unit->is_unstamped = false;
    unit->stamped += counts << unit->prescale;
    if (!(unit->config.tcr & TW_ITM_TCR_TIMESTAMPS) || (counts == 0 && unit->relation == 0))
        return TW_OK;
    unit->relation = 0;
    return put(unit, &packet);
}

/* The fewest bytes that cover what changed below bit 26; the rest, and flags, when needed. */
static enum tw_status put_global(struct tw_itm_unit *unit)
{
    const uint64_t now = unit->config.global_time + unit->cycles,
                   change = now ^ unit->sent_global;
    struct tw_itm_packet low = { .base = { .type = TW_ITM_PACKET_GTS_1 }, .size = 1 };
    const struct tw_itm_packet high = { .base = { .type = TW_ITM_PACKET_GTS_2 },
                                        .value = now >> LOW_BITS,
                                        .size = now >> 48 ? 5 : 4 };

    low.wrap = unit->has_global && change >> LOW_BITS;
    low.freq_change = unit->clock_changed;
    while (low.size < 4 && (change & 0x3ffffff) >> (7 * low.size))
        low.size++;
    if (low.wrap || low.freq_change || !unit->has_global)
        low.size = 4;
    low.value = now & (low.size == 4 ? 0x3ffffff : (1u << (7 * low.size)) - 1);
    TW_TRY(put(unit, &low));
    if (low.wrap || low.freq_change || unit->high_is_due)
        TW_TRY(put(unit, &high));
    unit->has_global = !unit->has_lost;
    unit->high_is_due = unit->has_lost; /* what was lost is sent whole the next time */
    unit->clock_changed = false;
    unit->sent_global = now;
    return TW_OK;
}

static unsigned global_mode(const struct tw_itm_unit *unit)
{
    return unit->config.tcr >> 10 & 3;
}

enum tw_status tw_itm_unit_new(struct tw_itm_unit **unit,
                               const struct tw_itm_unit_config *config, struct tw_fault *fault)
{
    struct tw_itm_unit_config copy;
    struct tw_itm_unit *made;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_itm_unit_config", fault));
    config = &copy;
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a trace unit");
    made->config = *config;
    if (made->config.cycles_per_byte == 0)
        made->config.cycles_per_byte = 1;
    made->prescale = (uint8_t)(2 * (config->tcr >> 8 & 3));
    made->high_is_due = true;
    made->next_sync = config->sync_cycles ? config->sync_cycles : UINT64_MAX;
    made->next_global = global_mode(made) == 1   ? 128
                        : global_mode(made) == 2 ? 8192
                                                 : UINT64_MAX;
    if (config->tcr & TW_ITM_TCR_SYNC) {
        const enum tw_status status = put_sync(made);

        if (status != TW_OK) {
            tw_itm_unit_free(made);
            return status;
        }
    }
    *unit = made;
    return TW_OK;
}

void tw_itm_unit_free(struct tw_itm_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->bytes);
    tw_give(unit->config.allocator, unit);
}

/* A packet of data, after which the time is to be told. */
static enum tw_status put_data(struct tw_itm_unit *unit, const struct tw_itm_packet *packet)
{
    const bool was_empty = unit->fifo == 0;

    if (unit->config.fifo_size && !was_empty)
        unit->relation = 2; /* the packet waits behind others */
    unit->is_unstamped = true;
    TW_TRY(put(unit, packet));
    if (global_mode(unit) == 3 && (was_empty || !unit->config.fifo_size))
        return put_global(unit);
    return TW_OK;
}

enum tw_status tw_itm_unit_write(struct tw_itm_unit *unit, unsigned port, uint32_t value,
                                 unsigned size)
{
    const struct tw_itm_packet data = { .base = { .type = TW_ITM_PACKET_SWIT },
                                        .value = value,
                                        .size = (uint8_t)size,
                                        .source = port & 31 };
    const struct tw_itm_packet page = { .base = { .type = TW_ITM_PACKET_EXTENSION },
                                        .value = port >> 5,
                                        .bits = 3 };

    if (port > 255 || (size != 1 && size != 2 && size != 4) || (uint64_t)value >> (8 * size))
        return TW_E_ARGUMENT;
    if (!(unit->config.tcr & TW_ITM_TCR_ENABLE))
        return TW_OK;
    if (unit->page != port >> 5) {
        TW_TRY(put(unit, &page));
        if (unit->has_lost)
            return TW_OK; /* and so would be the data: it must not come out on another port */
        unit->page = port >> 5;
    }
    return put_data(unit, &data);
}

enum tw_status tw_itm_unit_watch(struct tw_itm_unit *unit, const struct tw_dwt_meaning *event)
{
    struct tw_itm_packet packet;

    if (!tw_dwt_packet(&packet, event))
        return TW_E_ARGUMENT;
    if (!(unit->config.tcr & TW_ITM_TCR_ENABLE) || !(unit->config.tcr & TW_ITM_TCR_DWT))
        return TW_OK;
    return put_data(unit, &packet);
}

static void drain(struct tw_itm_unit *unit)
{
    const uint64_t bytes = (unit->cycles - unit->fifo_drained) / unit->config.cycles_per_byte;

    unit->fifo -= bytes < unit->fifo ? bytes : unit->fifo;
    unit->fifo_drained += bytes * unit->config.cycles_per_byte;
}

enum tw_status tw_itm_unit_advance(struct tw_itm_unit *unit, uint64_t cycles)
{
    const uint64_t until = unit->cycles + cycles;

    if (cycles > UINT32_MAX)
        return TW_E_ARGUMENT;
    if (cycles && unit->is_unstamped)
        TW_TRY(put_local(unit));
    while (unit->cycles < until) {
        const uint64_t full = unit->stamped + ((uint64_t)COUNTER_MAX << unit->prescale);
        uint64_t stop = until;

        stop = full < stop ? full : stop;
        stop = unit->next_sync < stop ? unit->next_sync : stop;
        stop = unit->next_global < stop ? unit->next_global : stop;
        unit->cycles = stop;
        drain(unit);
        if (stop == full)
            TW_TRY(put_local(unit));
        if (stop == unit->next_sync) {
            unit->next_sync += unit->config.sync_cycles;
            if (unit->config.tcr & TW_ITM_TCR_SYNC)
                TW_TRY(put_sync(unit));
        }
        if (stop == unit->next_global) {
            unit->next_global += global_mode(unit) == 1 ? 128 : 8192;
            TW_TRY(put_global(unit));
        }
    }
    return TW_OK;
}

enum tw_status tw_itm_unit_set_time(struct tw_itm_unit *unit, uint64_t time)
{
    unit->config.global_time = time - unit->cycles;
    unit->clock_changed = true;
    return global_mode(unit) ? put_global(unit) : TW_OK;
}

enum tw_status tw_itm_unit_flush(struct tw_itm_unit *unit)
{
    return unit->is_unstamped ? put_local(unit) : TW_OK;
}

const uint8_t *tw_itm_unit_output(const struct tw_itm_unit *unit, size_t *size)
{
    *size = unit->size;
    return unit->bytes;
}

void tw_itm_unit_take(struct tw_itm_unit *unit)
{
    unit->size = 0;
}
