/* SPDX-License-Identifier: BSD-2-Clause */
/* Which packet says it (8.1), branch prediction (3.2.6) and the jump target cache (3.2.7). */
#include "etrace/unit.h"

static uint64_t mask_of(unsigned bits)
{
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

static uint64_t full_field(const struct tw_etrace_unit *unit, uint64_t address)
{
    return address >> unit->shape.lsb & mask_of(unit->shape.address_bits);
}

static uint64_t field_of(const struct tw_etrace_unit *unit, uint64_t address)
{
    if (unit->options & TW_ETRACE_FULL_ADDRESS)
        return full_field(unit, address);
    return full_field(unit, address - unit->address);
}

static void send(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet)
{
    if (tw_etrace_send(unit, packet)) {
        const unsigned type = packet->base.type;

        unit->has_sent = true;
        if (type != TW_ETRACE_F3S2 && type != TW_ETRACE_F3S3) {
            unit->is_target_open = false;
            unit->is_located = true;
        }
        unit->is_indexed = type == TW_ETRACE_F0S1;
        if (unit->resync_mode == 1)
            unit->resync_count++;
    }
}

/* ---- branches ---- */

/* As in the decoder: the upper bit is the prediction, the lower one the last outcome. */
static bool learn(struct tw_etrace_unit *unit, uint64_t address, bool is_taken)
{
    static const uint8_t next[4][2] = { { 0, 1 }, { 0, 3 }, { 0, 3 }, { 2, 3 } };
    uint8_t *state =
        &unit->predictor[address >> unit->shape.lsb & mask_of(unit->shape.bpred_size)];
    const bool is_right = (*state >> 1 & 1) == is_taken;

    *state = next[*state & 3][is_taken];
    return is_right;
}

void tw_etrace_add_branch(struct tw_etrace_unit *unit)
{
    const bool is_taken = unit->slot.flags & TW_SLOT_TAKEN;

    if (unit->branches == 0) {
        unit->map = 0;
        unit->is_wrong = false;
    }
    if (unit->branches < TW_ETRACE_BRANCHES && !is_taken)
        unit->map |= 1u << unit->branches;
    unit->branches++;
    if (!(unit->options & TW_ETRACE_BRANCH_PREDICTION) ||
        !learn(unit, unit->slot.address, is_taken))
        unit->is_wrong = true;
}

void tw_etrace_forget_prediction(struct tw_etrace_unit *unit)
{
    memset(unit->predictor, 1, (size_t)1 << unit->shape.bpred_size);
}

/* Branches that were all predicted right and are too many for a map; the last one may be wrong. */
static bool is_counted(const struct tw_etrace_unit *unit)
{
    return unit->branches > TW_ETRACE_BRANCHES ||
           (unit->branches == TW_ETRACE_BRANCHES && !unit->is_wrong);
}

static uint32_t branch_count(const struct tw_etrace_unit *unit)
{
    return (uint32_t)(unit->branches - unit->is_wrong - TW_ETRACE_BRANCHES);
}

/* A packet that reports branches or an address: of the struct, which is large, only what such packets have is
   written again. */
static struct tw_etrace_packet *report_packet(struct tw_etrace_unit *unit, uint8_t type)
{
    struct tw_etrace_packet *packet = &unit->report;

    packet->base.type = type;
    packet->has = 0;
    packet->field = packet->address = 0;
    packet->notify = packet->updiscon = packet->irreport = false;
    packet->branches = packet->branch_fmt = 0;
    packet->branch_map = packet->branch_count = packet->irdepth = packet->index = 0;
    return packet;
}

void tw_etrace_emit_full(struct tw_etrace_unit *unit)
{
    struct tw_etrace_packet *packet;

    if (is_counted(unit)) {
        if (!unit->is_wrong && branch_count(unit) == UINT32_MAX) {
            const struct tw_etrace_report report = { .notify = true };

            tw_etrace_emit_address(unit, unit->slot.address, &report);
        }
        if (!unit->is_wrong)
            return;
        packet = report_packet(unit, TW_ETRACE_F0S0);
        packet->branch_count = branch_count(unit);
    } else {
        packet = report_packet(unit, TW_ETRACE_F1);
        packet->branch_map = unit->map;
    }
    send(unit, packet);
    unit->branches = 0;
}

/* ---- addresses ---- */

static unsigned payload_size(const struct tw_etrace_unit *unit,
                             const struct tw_etrace_packet *packet)
{
    struct tw_payload payload;

    return tw_etrace_build(&unit->shape, unit->options, &payload, packet)
               ? tw_payload_finish(&payload)
               : TW_PAYLOAD_MAX;
}

/* A target of an uninferable jump, by its index if the decoder has it in its cache. */
static void look_up(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet,
                    uint64_t address, bool is_target)
{
    const uint64_t index = address >> unit->shape.lsb & mask_of(unit->shape.index);
    uint64_t *entry = &unit->cache[index];

    if (*entry == address + 1 && is_target && packet->base.type != TW_ETRACE_F0S0) {
        struct tw_etrace_packet other = *packet;

        other.base.type = TW_ETRACE_F0S1;
        other.index = (uint32_t)index;
        if (unit->user.always_index || payload_size(unit, &other) <= payload_size(unit, packet))
            *packet = other;
    }
    /* Decoders differ in whether other addresses go to the cache: what one may have lost is not
       used. */
    if (is_target)
        *entry = address + 1;
    else if (*entry != address + 1)
        *entry = 0;
}

void tw_etrace_emit_address(struct tw_etrace_unit *unit, uint64_t address,
                            const struct tw_etrace_report *report)
{
    struct tw_etrace_packet *packet = report_packet(unit, TW_ETRACE_F2);

    packet->has = TW_ETRACE_HAS_ADDRESS;
    packet->field = field_of(unit, address);
    packet->address = address;
    packet->notify = report->notify;
    packet->updiscon = report->updiscon;
    packet->irreport = report->irreport;
    if (report->irreport)
        packet->irdepth = report->irdepth & (uint32_t)mask_of(unit->shape.irdepth);
    if (is_counted(unit)) {
        packet->base.type = TW_ETRACE_F0S0;
        packet->branch_fmt = unit->is_wrong ? 3 : 2;
        packet->branch_count = branch_count(unit);
    } else if (unit->branches) {
        packet->base.type = TW_ETRACE_F1;
        packet->branches = (uint8_t)unit->branches;
        packet->branch_map = unit->map;
    }
    if (unit->options & TW_ETRACE_JUMP_TARGET_CACHE)
        look_up(unit, packet, address, report->is_target);
    send(unit, packet);
    unit->branches = 0;
    unit->address = address;
    tw_etrace_begin_stretch(unit);
}

/* ---- format 3 ---- */

static void fill(const struct tw_etrace_unit *unit, struct tw_etrace_packet *packet)
{
    const uint32_t flags = unit->slot.flags;

    packet->branch = !(flags & TW_SLOT_BRANCH && flags & TW_SLOT_TAKEN);
    packet->privilege = unit->slot.priv;
    packet->context = unit->slot.context & mask_of(unit->shape.context);
    packet->time = unit->slot.time & mask_of(unit->shape.time);
}

/* What both sides forget at a synchronization, and what this instruction adds at once. */
static void forget(struct tw_etrace_unit *unit)
{
    const uint32_t flags = unit->slot.flags;

    unit->branches = 0;
    unit->depth = 0;
    unit->resync_count = 0;
    unit->sync_is_next = unit->context_is_due = false;
    unit->data.has_address = unit->data.has_value = 0;
    tw_etrace_begin_stretch(unit);
    if (unit->options & TW_ETRACE_JUMP_TARGET_CACHE)
        memset(unit->cache, 0, sizeof unit->cache[0] << unit->shape.index);
    if (unit->options & TW_ETRACE_BRANCH_PREDICTION && unit->config.bpred_reset_on_sync) {
        tw_etrace_forget_prediction(unit);
        if (flags & TW_SLOT_BRANCH)
            (void)learn(unit, unit->slot.address, flags & TW_SLOT_TAKEN);
    }
}

void tw_etrace_emit_sync(struct tw_etrace_unit *unit)
{
    struct tw_etrace_packet packet = { .base = { .type = TW_ETRACE_F3S0 },
                                       .has = TW_ETRACE_HAS_ADDRESS,
                                       .field = full_field(unit, unit->slot.address),
                                       .address = unit->slot.address };

    fill(unit, &packet);
    send(unit, &packet);
    unit->address = unit->slot.address;
    forget(unit);
}

void tw_etrace_emit_trap(struct tw_etrace_unit *unit, const struct tw_etrace_slot *trap,
                         bool thaddr)
{
    const bool has_address =
        !(unit->options & TW_ETRACE_IMPLICIT_EXCEPTION) || (unit->is_v2 && !thaddr);
    struct tw_etrace_packet packet = {
        .base = { .type = TW_ETRACE_F3S1 },
        .has = has_address ? TW_ETRACE_HAS_ADDRESS : 0,
        .field = has_address ? full_field(unit, unit->slot.address) : 0,
        .address = has_address ? unit->slot.address : 0,
        .ecause = trap->cause & mask_of(unit->shape.ecause),
        .interrupt = trap->flags & TW_SLOT_INTERRUPT ? 1 : 0,
        .thaddr = thaddr,
    };

    fill(unit, &packet);
    if (!packet.interrupt || !unit->is_v2) {
        packet.has |= TW_ETRACE_HAS_TVAL;
        packet.tval = trap->tval & mask_of(unit->shape.address_width);
    }
    if (!unit->is_v2 && packet.ecause == 2 && !packet.interrupt) /* 6.3.1 */
        packet.tval = trap->address & mask_of(unit->shape.address_width);
    send(unit, &packet);
    if (has_address)
        unit->address = unit->slot.address;
    forget(unit);
}

void tw_etrace_emit_context(struct tw_etrace_unit *unit)
{
    struct tw_etrace_packet packet = { .base = { .type = TW_ETRACE_F3S2 } };

    fill(unit, &packet);
    packet.branch = 0;
    send(unit, &packet);
    unit->context_is_due = false;
}

/* The options in the order of the trace unit's support packet. */
static uint32_t options_of(const uint16_t order[TW_ETRACE_OPTION_BITS], unsigned bits,
                           uint32_t options)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < bits; i++) {
        const bool is_delta = order[i] == TW_ETRACE_DELTA_ADDRESS;

        if (is_delta ? !(options & TW_ETRACE_FULL_ADDRESS) : options & order[i])
            value |= 1u << i;
    }
    return value;
}

void tw_etrace_emit_support(struct tw_etrace_unit *unit, unsigned status)
{
    struct tw_etrace_packet packet = {
        .base = { .type = TW_ETRACE_F3S3 },
        /* the draft's is the encoder's, whatever it traces */
        .ienable = unit->is_enabled || (!unit->is_v2 && unit->data_enabled),
        .qual_status = (uint8_t)status,
        .ioptions = options_of(unit->shape.ioption_order, unit->shape.ioptions, unit->options),
        .has_data_options = unit->is_v2,
    };

    if (unit->is_v2) {
        packet.denable = unit->data_enabled;
        packet.dloss = unit->data_is_lost;
        packet.doptions =
            options_of(unit->shape.doption_order, unit->shape.doptions, unit->options);
    }
    if (status == TW_ETRACE_TRACE_LOST)
        unit->is_lost = false;
    send(unit, &packet);
    unit->data_is_lost = unit->data_is_lost && unit->is_lost;
}
