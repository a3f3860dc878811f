/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: the trace unit's model, writes to stimulus ports and hardware events to bytes. */
#include <trackway/stm_unit.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "stm/packet.h"

struct tw_stm_unit {
    struct tw_stm_unit_config config;
    struct tw_stm_half half;
    uint8_t *bytes;
    size_t size, room;
    size_t since_sync; /* bytes */
    uint64_t time, sent_time;
    bool time_is_due; /* the next timestamp is sent in full */
    uint16_t master, channel;
    uint16_t sent_master, sent_channel;
};

static enum tw_status put(struct tw_stm_unit *unit, const struct tw_stm_packet *packet)
{
    uint8_t bytes[TW_STM_PACKET_MAX];
    size_t size = sizeof bytes;

    TW_TRY(tw_stm_put(&unit->half, bytes, &size, packet));
    if (!TW_GROW(unit->config.allocator, &unit->bytes, &unit->room, unit->size + size))
        return TW_E_MEMORY;
    memcpy(unit->bytes + unit->size, bytes, size);
    unit->size += size;
    unit->since_sync += size;
    return TW_OK;
}

static enum tw_status put_value(struct tw_stm_unit *unit, uint8_t type, uint64_t value)
{
    const struct tw_stm_packet packet = { .base = { .type = type }, .value = value };

    return put(unit, &packet);
}

static enum tw_status put_sync(struct tw_stm_unit *unit)
{
    TW_TRY(put_value(unit, TW_STM_ASYNC, 0));
    TW_TRY(put_value(unit, TW_STM_VERSION, unit->config.version));
    unit->since_sync = 0;
    unit->sent_master = unit->sent_channel = 0;
    unit->time_is_due = true;
    return unit->config.has_timestamps ? put_value(unit, TW_STM_FREQ, unit->config.frequency)
                                       : TW_OK;
}

/* The fewest nibbles that cover what changed; one when nothing did, as hardware does. */
static uint8_t changed_bits(const struct tw_stm_unit *unit)
{
    uint64_t change = unit->time ^ unit->sent_time;
    unsigned nibbles = 1;

    if (unit->config.version == 4)
        change ^= change >> 1;
    if (unit->time_is_due && unit->config.timestamp_bits == 48 && !(change >> 48))
        return 48;
    if (unit->time_is_due)
        return 64;
    while (nibbles < 16 && change >> (4 * nibbles))
        nibbles++;
    if (nibbles == 13 || nibbles == 15)
        nibbles++;
    return (uint8_t)(4 * nibbles);
}

static enum tw_status put_timed(struct tw_stm_unit *unit, uint8_t type, uint64_t value)
{
    const struct tw_stm_packet packet = { .base = { .type = type },
                                          .value = value,
                                          .has_timestamp = true,
                                          .timestamp = unit->time,
                                          .timestamp_bits = changed_bits(unit) };

    TW_TRY(put(unit, &packet));
    unit->sent_time = unit->time;
    unit->time_is_due = false;
    return TW_OK;
}

enum tw_status tw_stm_unit_new(struct tw_stm_unit **unit,
                               const struct tw_stm_unit_config *config, struct tw_fault *fault)
{
    struct tw_stm_unit_config copy;
    struct tw_stm_unit *made;
    enum tw_status status;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_stm_unit_config", fault));
    config = &copy;
    if (config->version != 3 && config->version != 4)
        return tw_fail(fault, TW_E_ARGUMENT, "STP version %u is neither 3 nor 4",
                       (unsigned)config->version);
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a trace unit");
    made->config = *config;
    if (made->config.event_master == 0)
        made->config.event_master = 0x80;
    status = put_sync(made);
    if (status != TW_OK) {
        tw_stm_unit_free(made);
        return status;
    }
    *unit = made;
    return TW_OK;
}

void tw_stm_unit_free(struct tw_stm_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->bytes);
    tw_give(unit->config.allocator, unit);
}

void tw_stm_unit_select(struct tw_stm_unit *unit, uint16_t master, uint16_t channel)
{
    unit->master = master;
    unit->channel = channel;
}

void tw_stm_unit_set_time(struct tw_stm_unit *unit, uint64_t time)
{
    unit->time = time;
}

/* Synchronization when it is due, then whose the next packet is. */
static enum tw_status put_source(struct tw_stm_unit *unit, uint16_t master, uint16_t channel)
{
    if (unit->config.sync_bytes && unit->since_sync >= unit->config.sync_bytes)
        TW_TRY(put_sync(unit));
    if (master != unit->sent_master) {
        TW_TRY(put_value(unit, master > 0xff ? TW_STM_M16 : TW_STM_M8, master));
        unit->sent_master = master;
        unit->sent_channel = 0;
    }
    if (channel != unit->sent_channel) {
        if (channel >> 8 == unit->sent_channel >> 8)
            TW_TRY(put_value(unit, TW_STM_C8, channel & 0xff));
        else
            TW_TRY(put_value(unit, TW_STM_C16, channel));
        unit->sent_channel = channel;
    }
    return TW_OK;
}

/* The packet for data of a size, marked and timed or not. */
static uint8_t data_type(unsigned bits, unsigned flags, bool is_timed)
{
    const unsigned size = bits == 4 ? 0 : bits == 8 ? 1 : bits == 16 ? 2 : bits == 32 ? 3 : 4;

    return (uint8_t)(TW_STM_D4 +
                     5 * ((flags & TW_STM_MARKED ? 1u : 0u) + (is_timed ? 2u : 0u)) + size);
}

static enum tw_status put_data(struct tw_stm_unit *unit, uint64_t value, unsigned bits,
                               unsigned flags)
{
    const bool is_timed = flags & TW_STM_TIMED && unit->config.has_timestamps;
    const uint8_t type = data_type(bits, flags, is_timed);

    return is_timed ? put_timed(unit, type, value) : put_value(unit, type, value);
}

enum tw_status tw_stm_unit_write(struct tw_stm_unit *unit, uint64_t value, unsigned bits,
                                 unsigned flags)
{
    if ((bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64) ||
        (bits < 64 && value >> bits))
        return TW_E_ARGUMENT;
    while (unit->config.compresses && bits > 4 && !(value >> (bits / 2)))
        bits /= 2;
    TW_TRY(put_source(unit, unit->master, unit->channel));
    return put_data(unit, value, bits, flags);
}

enum tw_status tw_stm_unit_flag(struct tw_stm_unit *unit, unsigned flags)
{
    TW_TRY(put_source(unit, unit->master, unit->channel));
    if (flags & TW_STM_TIMED && unit->config.has_timestamps)
        return put_timed(unit, TW_STM_FLAG_TS, 0);
    return put_value(unit, TW_STM_FLAG, 0);
}

enum tw_status tw_stm_unit_trigger(struct tw_stm_unit *unit, uint8_t value, unsigned flags)
{
    TW_TRY(put_source(unit, unit->master, unit->channel));
    if (flags & TW_STM_TIMED && unit->config.has_timestamps)
        return put_timed(unit, TW_STM_TRIG_TS, value);
    return put_value(unit, TW_STM_TRIG, value);
}

enum tw_status tw_stm_unit_event(struct tw_stm_unit *unit, uint8_t number, unsigned flags)
{
    TW_TRY(put_source(unit, unit->config.event_master, 0));
    return put_data(unit, number, 8, flags);
}

enum tw_status tw_stm_unit_lose(struct tw_stm_unit *unit, bool all, uint8_t code)
{
    if (!all)
        TW_TRY(put_source(unit, unit->master,
                          unit->master == unit->sent_master ? unit->sent_channel : 0));
    TW_TRY(put_value(unit, all ? TW_STM_GERR : TW_STM_MERR, code));
    if (all)
        unit->sent_master = 0;
    unit->sent_channel = 0;
    return TW_OK;
}

enum tw_status tw_stm_unit_flush(struct tw_stm_unit *unit)
{
    while (unit->half.is_open || unit->size % 4)
        TW_TRY(put_value(unit, TW_STM_NULL, 0));
    return TW_OK;
}

const uint8_t *tw_stm_unit_output(const struct tw_stm_unit *unit, size_t *size)
{
    *size = unit->size;
    return unit->bytes;
}

void tw_stm_unit_take(struct tw_stm_unit *unit)
{
    unit->size = 0;
}
