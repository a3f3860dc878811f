/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of the components: what writes change, what reads give, how levels follow. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trsim/sim.h"

enum {
    RAM_START = 0x10,
    RAM_LIMIT = 0x18,
    RAM_WP = 0x20,
    RAM_RP = 0x28,
    RAM_DATA = 0x40,
    HAS_SRAM = 1 << 12,
    HAS_SMEM = 1 << 13,
    SMEM_MODE = 1 << 4,
    TIME_RESET = 1 << 2,
    TIME_LOW = 0x48,
    OVERFLOW = 1 << 12,
    WORD = 4,
    TIME_WIDTH = 40,
    IDLE_EDGES = 3,
    PROTOCOL_1_0 = 1 << 16,
    DATA_CONTROL = 0x10,
    DATA_FILTERS = 0x1c
};

/* ---- components ---- */

static enum tw_status add_encoder(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = tw_take(sim->config->allocator, sizeof *encoder);

    if (!encoder)
        return tw_trsim_no_memory(sim);
    part->encoder = encoder;
    encoder->formats = 1 << TW_TRSIM_ETRACE | 1 << TW_TRSIM_NTRACE;
    encoder->has_btm = encoder->has_htm = true;
    encoder->time_width = TIME_WIDTH;
    encoder->settings.allocator = encoder->sizes.allocator = sim->config->allocator;
    for (size_t i = 0; i + 1 < sim->count; i++) /* one log is given for the first */
        if (sim->parts[i]->encoder)
            return TW_OK;
    encoder->log = sim->config->hart_log;
    encoder->log_size = sim->config->hart_log_size;
    return TW_OK;
}

enum tw_status tw_trsim_add(struct tw_trsim *sim)
{
    const struct tw_trctl_part *known = &sim->checker.parts[sim->count];
    struct tw_trsim_part *part = tw_take(sim->config->allocator, sizeof *part);

    if (!part)
        return tw_trsim_no_memory(sim);
    sim->parts[sim->count++] = part;
    part->word_size = WORD;
    part->idle = IDLE_EDGES;
    part->pins.allocator = sim->config->allocator;
    tw_trctl_writable_all(known->type, part->legal);
    part->registers[TW_TRCTL_IMPL / 4] = 1u | (uint32_t)known->type << 8;
    if (known->type == TW_TRCTL_RAM_SINK)
        part->registers[TW_TRCTL_IMPL / 4] |= HAS_SMEM;
    if (known->type != TW_TRCTL_ENCODER)
        return TW_OK;
    part->registers[TW_TRCTL_IMPL / 4] |= PROTOCOL_1_0;
    part->legal[DATA_CONTROL / 4] = part->legal[DATA_FILTERS / 4] = 0; /* no data trace */
    return add_encoder(sim, part);
}

void tw_trsim_remove(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const struct tw_allocator *allocator = sim->config->allocator;

    if (part->encoder) {
        tw_trsim_drop_unit(part);
        tw_hart_free(part->encoder->hart);
        tw_text_free(&part->encoder->settings);
        tw_text_free(&part->encoder->sizes);
        tw_give(allocator, part->encoder);
    }
    tw_give(allocator, part->queue.bytes);
    tw_give(allocator, part->sram);
    tw_text_free(&part->pins);
    tw_give(allocator, part);
}

bool tw_trsim_is_empty(const struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    (void)sim;
    return part->queue.at == part->queue.used && part->word_used == 0;
}

/* ---- what is accepted ---- */

static uint32_t choose(uint32_t value, uint32_t old, uint32_t mask, bool is_there)
{
    return is_there ? value : (value & ~mask) | (old & mask);
}

/* trTeInstMode never falls back to 0. */
static uint32_t accept_mode(const struct tw_trsim_encoder *encoder, uint32_t value)
{
    const uint32_t mode = value >> 4 & 7;
    const bool is_there =
        mode == 0 || (mode == 3 && encoder->has_btm) || (mode == 6 && encoder->has_htm);

    return is_there ? value
                    : (value & ~UINT32_C(0x70)) | (encoder->has_htm ? UINT32_C(0x60) : 0x30);
}

static uint32_t accept_format(const struct tw_trsim_encoder *encoder, uint32_t value)
{
    const uint32_t usual =
        encoder->formats >> TW_TRSIM_NTRACE & 1 ? TW_TRSIM_NTRACE : TW_TRSIM_ETRACE;

    if (encoder->formats >> (value >> 24 & 7) & 1)
        return value;
    return (value & ~UINT32_C(0x07000000)) | usual << 24;
}

static uint32_t accept_encoder(const struct tw_trsim_part *part, uint32_t offset, uint32_t old,
                               uint32_t value)
{
    enum { NOT_HERE = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5 };

    if (offset == TW_TRCTL_CONTROL)
        return accept_format(part->encoder, accept_mode(part->encoder, value));
    if (offset != TW_TRCTL_INST_FEATURES)
        return value;
    if (part->encoder->formats == 1 << TW_TRSIM_NTRACE)
        value &= ~(uint32_t)NOT_HERE;
    return choose(value, old, UINT32_C(0xf0000000), value >> 28 <= TW_NTRACE_SRC_BITS_MAX);
}

/* Addresses lie inside the sink's own memory, or are any. */
static uint32_t accept_ram(const struct tw_trsim_part *part, uint32_t offset, uint32_t old,
                           uint32_t value)
{
    const uint32_t impl = part->registers[TW_TRCTL_IMPL / 4];
    const bool is_smem = part->registers[0] & SMEM_MODE;
    const uint32_t most = (uint32_t)part->sram_size - 1;

    if (offset == TW_TRCTL_CONTROL) {
        if (!(impl & HAS_SMEM))
            value &= ~(uint32_t)SMEM_MODE;
        if (!(impl & HAS_SRAM))
            value |= SMEM_MODE;
        return choose(value, old, 3u << 9, (value >> 9 & 3) == 0);
    }
    if (is_smem)
        return offset >= RAM_RP ? 0 : value; /* read through memory, not through trRamData */
    if (offset == RAM_WP)
        return value & (most | 1);
    return offset % 8 == 0 ? value & most : 0;
}

static uint32_t accept(const struct tw_trsim_part *part, unsigned type, uint32_t offset,
                       uint32_t value)
{
    const uint32_t old = part->registers[offset / 4];
    const uint32_t mode = value >> 4 & 0xf, id = value >> 8 & 0x7f;

    switch (type) {
    case TW_TRCTL_ENCODER:
        return accept_encoder(part, offset, old, value);
    case TW_TRCTL_RAM_SINK:
        return accept_ram(part, offset, old, value);
    case TW_TRCTL_PIB_SINK:
        return choose(value, old, 0xf0,
                      mode == 0 || mode == 4 || mode == 5 || (mode >= 8 && mode <= 12));
    case TW_TRCTL_ATB_BRIDGE:
        return offset ? value : choose(value, old, 0x7f00, id && id < 0x70);
    default:
        return value;
    }
}

/* ---- levels ---- */

static void aim(struct tw_trsim *sim, struct tw_trsim_part *part, struct tw_trsim_level *level,
                bool goal)
{
    level->goal = goal;
    level->when = sim->now + part->latency;
}

/* Released or reset: all but Active and Enable may be anything, tr??Impl aside. */
static void forget(struct tw_trsim_part *part)
{
    const uint32_t impl = part->registers[TW_TRCTL_IMPL / 4];

    if (part->encoder)
        tw_trsim_drop_unit(part);
    for (size_t i = 0; i < TW_TRSIM_REGISTERS; i++)
        part->registers[i] = part->unknown & part->legal[i];
    part->registers[0] &= ~(uint32_t)(TW_TRSIM_ACTIVE | TW_TRSIM_ENABLE | TW_TRSIM_EMPTY);
    part->registers[TW_TRCTL_IMPL / 4] = impl;
    if (part->encoder && part->encoder->has_data)
        part->registers[DATA_CONTROL / 4] |= 1;
    part->enable = (struct tw_trsim_level){ .is = false };
    part->queue.at = part->queue.used = 0;
    part->word_used = 0;
    part->is_told = part->is_stopped = false;
}

enum tw_status tw_trsim_settle(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    if (part->active.is != part->active.goal && sim->now >= part->active.when) {
        part->active.is = part->active.goal;
        forget(part);
    }
    if (part->enable.is == part->enable.goal || sim->now < part->enable.when)
        return TW_OK;
    part->enable.is = part->enable.goal;
    part->is_stopped = false;
    if (part->encoder)
        return part->enable.is ? tw_trsim_start(sim, part) : tw_trsim_stop(sim, part);
    return part->enable.is ? TW_OK : tw_trsim_finish(sim, part);
}

/* ---- writes ---- */

static enum tw_status write_control(struct tw_trsim *sim, struct tw_trsim_part *part,
                                    uint32_t value)
{
    const unsigned type = tw_trsim_known(sim, part)->type;
    const bool is_active = part->active.is && part->active.goal;
    const bool is_enabled = value & TW_TRSIM_ENABLE;
    uint32_t mask = part->legal[0];

    if (!(value & TW_TRSIM_ACTIVE) || !is_active) {
        if (!(value & TW_TRSIM_ACTIVE) && part->enable.goal)
            part->enable.goal = false;
        aim(sim, part, &part->active, value & TW_TRSIM_ACTIVE);
        return tw_trsim_settle(sim, part);
    }
    if (part->encoder) {
        if (value & OVERFLOW)
            part->registers[0] &= ~(uint32_t)OVERFLOW;
        if (value & TW_TRSIM_ENABLE && !part->enable.goal)
            part->registers[0] &= ~(uint32_t)OVERFLOW;
    }
    mask &= ~(uint32_t)(TW_TRSIM_ACTIVE | TW_TRSIM_ENABLE);
    part->registers[0] =
        (part->registers[0] & ~mask) |
        (accept(part, type, TW_TRCTL_CONTROL, value & (part->legal[0] | mask)) & mask);
    if (part->encoder && part->enable.is)
        TW_TRY(tw_trsim_control(sim, part, value));
    if (part->enable.goal != is_enabled)
        aim(sim, part, &part->enable, is_enabled);
    return tw_trsim_settle(sim, part);
}

enum tw_status tw_trsim_write(struct tw_trsim *sim, struct tw_trsim_part *part, uint32_t offset,
                              uint32_t value)
{
    const unsigned type = tw_trsim_known(sim, part)->type;
    const uint32_t mask = part->legal[offset / 4];
    uint32_t *to = &part->registers[offset / 4];

    if (offset == TW_TRCTL_CONTROL)
        return write_control(sim, part, value);
    if (!part->active.is)
        return TW_OK; /* the checker has said so */
    if (offset == TW_TRCTL_TS_CONTROL && type != TW_TRCTL_RAM_SINK && value & TIME_RESET)
        part->time = part->time_rest = 0;
    *to = (*to & ~mask) | (accept(part, type, offset, value & mask) & mask);
    return TW_OK;
}

/* ---- reads ---- */

/* The counter that an encoder's timestamps come from, or a component's own. */
static uint64_t time_of(const struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    const struct tw_trsim_part *at = part;

    while ((at->registers[TW_TRCTL_TS_CONTROL / 4] >> 4 & 7) == 4) { /* shared */
        const struct tw_trsim_part *next = tw_trsim_behind(sim, at);

        if (!next || tw_trsim_known(sim, next)->type != TW_TRCTL_FUNNEL || !next->active.is)
            return 0;
        at = next;
    }
    return at->time;
}

uint32_t tw_trsim_peek(const struct tw_trsim *sim, const struct tw_trsim_part *part,
                       uint32_t offset)
{
    const unsigned type = tw_trsim_known(sim, part)->type;
    uint32_t value = part->registers[offset / 4];

    if (offset == TW_TRCTL_CONTROL) {
        if (part->encoder)
            value = (value & ~UINT32_C(0x04)) | tw_trsim_unit_bits(part);
        return value | (part->active.is ? TW_TRSIM_ACTIVE : 0) |
               (part->enable.is ? TW_TRSIM_ENABLE : 0) |
               (tw_trsim_is_empty(sim, part) ? TW_TRSIM_EMPTY : 0);
    }
    if (type != TW_TRCTL_ENCODER && type != TW_TRCTL_FUNNEL)
        return value;
    if (offset == TIME_LOW || offset == TIME_LOW + 4)
        return (uint32_t)(time_of(sim, part) >> (offset == TIME_LOW ? 0 : 32));
    if (offset == TW_TRCTL_TS_CONTROL)
        value |= (uint32_t)(part->encoder ? part->encoder->time_width : TIME_WIDTH) << 24;
    return value;
}

/* trRamData: the word at the read pointer, which moves on as the write pointer does. */
static uint32_t read_data(struct tw_trsim_part *part)
{
    uint32_t *at = &part->registers[RAM_RP / 4];
    uint32_t value = 0;

    if (part->registers[0] & SMEM_MODE || part->enable.is || *at + 3 >= part->sram_size)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)part->sram[*at + i] << (8 * i);
    *at = *at == part->registers[RAM_LIMIT / 4] ? part->registers[RAM_START / 4] : *at + 4;
    return value;
}

uint32_t tw_trsim_read(struct tw_trsim *sim, struct tw_trsim_part *part, uint32_t offset)
{
    if (!part->active.is && offset != TW_TRCTL_CONTROL)
        return 0;
    if (tw_trsim_known(sim, part)->type == TW_TRCTL_RAM_SINK && offset == RAM_DATA)
        return read_data(part);
    return tw_trsim_peek(sim, part, offset);
}

void tw_trsim_dump(const struct tw_trsim *sim, const struct tw_trsim_part *part,
                   struct tw_text *text)
{
    const struct tw_trctl_part *known = tw_trsim_known(sim, part);

    tw_text_format(text, "[%s", known->name);
    if (known->has_base)
        tw_text_format(text, " 0x%llx", (unsigned long long)known->base);
    tw_text_add(text, "]\n");
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];

        if (row->component != known->type || row->count > 1)
            continue;
        if (row->component == TW_TRCTL_RAM_SINK && row->offset == RAM_DATA)
            continue;
        tw_text_format(text, "%s = 0x%08x\n", row->name,
                       (unsigned)tw_trsim_peek(sim, part, row->offset));
    }
}
