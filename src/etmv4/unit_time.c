/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: packets of speculation, cycles, time, events and losses. */
#include "etmv4/unit.h"

void tw_etmv4_unit_emit_commit(struct tw_etmv4_unit *unit, uint32_t count)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_COMMIT,
                                                   .count = count };
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_COMMIT } };

    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    packet.commit = count;
    tw_etmv4_unit_put(unit, &packet);
}

/* Packets that a queue of atoms takes. */
static unsigned cost(uint64_t atoms, unsigned count)
{
    unsigned packets = 0;
    uint8_t head;

    while (count) {
        const unsigned packed = tw_etmv4_unit_atom_packet(&head, atoms, count);

        atoms >>= packed;
        count -= packed;
        packets++;
    }
    return packets;
}

/* How many of the last atoms a cancel or mispredict packet can take along: E, EE, or N. */
static bool can_fold(const struct tw_etmv4_unit *unit, unsigned count, bool takes_all)
{
    const uint64_t last =
        unit->atom_count >= count ? unit->atoms >> (unit->atom_count - count) : 0;

    if (count > unit->atom_count)
        return false;
    if (count == 0)
        return true;
    if (count == 1)
        return takes_all || last == 1;
    return takes_all && last == 3;
}

static unsigned fold(const struct tw_etmv4_unit *unit, bool takes_all)
{
    unsigned best = 0, least = UINT32_MAX;

    for (unsigned count = 0; count <= 2; count++) {
        const unsigned left = unit->atom_count - count;
        unsigned packets;

        if (!can_fold(unit, count, takes_all))
            continue;
        packets = cost(unit->atoms & (((uint64_t)1 << left) - 1), left);
        if (packets <= least) {
            least = packets;
            best = count;
        }
    }
    return best;
}

/* Takes the folded atoms out of the queue, to the packet. */
static void take_atoms(struct tw_etmv4_unit *unit, struct tw_etmv4_packet *packet,
                       unsigned count)
{
    unit->atom_count -= count;
    packet->atoms = (uint32_t)(unit->atoms >> unit->atom_count);
    packet->atom_count = (uint8_t)count;
    unit->atoms &= ((uint64_t)1 << unit->atom_count) - 1;
}

void tw_etmv4_unit_emit_cancel(struct tw_etmv4_unit *unit, uint32_t count, bool is_mispredicted)
{
    const struct tw_etmv4_unit_element cancel = { .type = TW_ETMV4_UNIT_CANCEL,
                                                  .count = count };
    const struct tw_etmv4_unit_element mispredict = { .type = TW_ETMV4_UNIT_MISPREDICT };
    struct tw_etmv4_packet packet = { .cancel = count, .mispredict = is_mispredicted };

    tw_etmv4_unit_release_buffered(unit);
    if (count)
        tw_etmv4_unit_show(unit, &cancel);
    if (is_mispredicted)
        tw_etmv4_unit_show(unit, &mispredict);
    if (!is_mispredicted) {
        packet.base.type = TW_ETMV4_CANCEL_F1;
    } else if (count <= 1) {
        packet.base.type = count ? TW_ETMV4_CANCEL_F2 : TW_ETMV4_MISPREDICT;
        take_atoms(unit, &packet, fold(unit, true));
    } else if (count <= 5) {
        packet.base.type = TW_ETMV4_CANCEL_F3;
        take_atoms(unit, &packet, fold(unit, false));
    } else {
        packet.base.type = TW_ETMV4_CANCEL_F1_MISPRED;
    }
    if (count || is_mispredicted)
        tw_etmv4_unit_put(unit, &packet);
}

/* The form of a cycle count: over the threshold, and with the commit that it may carry. */
static void fill_cycles(const struct tw_etmv4_unit *unit, struct tw_etmv4_packet *packet,
                        uint32_t over, uint32_t commit)
{
    const uint32_t most = unit->setup.max_spec;
    const bool carries = !unit->setup.commopt;

    packet->count = over;
    packet->has_commit = carries;
    packet->commit = carries ? commit : 0;
    packet->base.type = TW_ETMV4_CCNT_F1;
    if (packet->is_unknown || over >= 16)
        return;
    if (!carries) {
        packet->base.type = over < 4 ? TW_ETMV4_CCNT_F3 : TW_ETMV4_CCNT_F2;
        if (over >= 4) {
            packet->commit = 0xf; /* header 0D, upper half all ones */
            packet->is_from_maximum = true;
        }
    } else if (commit >= 1 && commit <= 4 && over < 4) {
        packet->base.type = TW_ETMV4_CCNT_F3;
    } else if (commit >= 1 && commit <= 16) {
        packet->base.type = TW_ETMV4_CCNT_F2;
    } else if (commit >= 1 && commit <= most && most - commit <= 15) {
        packet->base.type = TW_ETMV4_CCNT_F2;
        packet->is_from_maximum = true;
    }
}

void tw_etmv4_unit_emit_cycles(struct tw_etmv4_unit *unit)
{
    const uint64_t passed = unit->cycle - unit->counted;
    struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_CYCLE_COUNT };
    struct tw_etmv4_packet packet = { 0 };
    uint32_t commit = 0;

    if (!unit->count_is_unknown && passed < unit->setup.threshold)
        return;
    tw_etmv4_unit_release_buffered(unit);
    packet.is_unknown = unit->count_is_unknown || passed > unit->setup.cycle_most;
    if (!unit->setup.commopt) {
        const struct tw_etmv4_unit_element committed = { .type = TW_ETMV4_UNIT_COMMIT,
                                                         .count = unit->resolved };

        commit = unit->resolved;
        unit->depth -= commit;
        unit->resolved = 0;
        if (commit)
            tw_etmv4_unit_show(unit, &committed);
    } else {
        tw_etmv4_unit_send_commits(unit);
    }
    element.is_known = !packet.is_unknown;
    element.count = packet.is_unknown ? 0 : (uint32_t)passed;
    tw_etmv4_unit_show(unit, &element);
    fill_cycles(unit, &packet, packet.is_unknown ? 0 : (uint32_t)passed - unit->setup.threshold,
                commit);
    tw_etmv4_unit_put(unit, &packet);
    unit->counted = unit->cycle;
    unit->count_is_unknown = false;
}

static unsigned timestamp_bytes(uint64_t changed)
{
    unsigned bytes = 1;

    while (bytes < TW_ETMV4_TIMESTAMP_BYTES && changed >> (7 * bytes))
        bytes++;
    return bytes;
}

void tw_etmv4_unit_emit_timestamp(struct tw_etmv4_unit *unit)
{
    const uint64_t passed = unit->cycle - unit->counted;
    struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_TIMESTAMP };
    const struct tw_etmv4_unit_element marker = { .type = TW_ETMV4_UNIT_TIMESTAMP_MARKER };
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_TIMESTAMP } };

    unit->timestamp_is_due = false;
    tw_etmv4_unit_release_buffered(unit);
    if (unit->setup.markers) {
        tw_etmv4_unit_show(unit, &marker);
        tw_etmv4_unit_put_type(unit, TW_ETMV4_TS_MARKER);
    }
    packet.timestamp = unit->stamped + unit->clock_base;
    if (unit->packing.setup.timestamp_bits < 64)
        packet.timestamp &= ((uint64_t)1 << unit->packing.setup.timestamp_bits) - 1;
    packet.timestamp_size = (uint8_t)timestamp_bytes(packet.timestamp ^ unit->last_timestamp);
    packet.timestamp_has_count =
        unit->setup.cycles && !unit->count_is_unknown && passed <= unit->setup.cycle_most;
    if (packet.timestamp_has_count)
        packet.timestamp_count = (uint32_t)passed;
    unit->last_timestamp = packet.timestamp;
    element.value = packet.timestamp;
    element.is_known = packet.timestamp_has_count;
    element.count = packet.timestamp_has_count ? packet.timestamp_count : 0;
    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put(unit, &packet);
}

void tw_etmv4_unit_emit_events(struct tw_etmv4_unit *unit, uint8_t mask)
{
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_EVENT } };

    tw_etmv4_unit_ensure_sync(unit);
    tw_etmv4_unit_release_buffered(unit);
    for (uint8_t i = 0; i < 4; i++) {
        const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_EVENT,
                                                       .number = i };

        if (mask >> i & 1)
            tw_etmv4_unit_show(unit, &element);
    }
    packet.number = mask;
    tw_etmv4_unit_put(unit, &packet);
    unit->stamped = unit->cycle;
}

void tw_etmv4_unit_emit_loss(struct tw_etmv4_unit *unit, bool is_overflow)
{
    const struct tw_etmv4_unit_element element = { .type = is_overflow
                                                               ? TW_ETMV4_UNIT_OVERFLOW
                                                               : TW_ETMV4_UNIT_DISCARD };

    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put_type(unit, is_overflow ? TW_ETMV4_OVERFLOW : TW_ETMV4_DISCARD);
}

void tw_etmv4_unit_emit_instrumentation(struct tw_etmv4_unit *unit, uint64_t value)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_INSTRUMENTATION,
                                                   .number = unit->context.el,
                                                   .value = value };
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_ITE } };

    tw_etmv4_unit_ensure_sync(unit);
    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    packet.value = value;
    packet.value_el = unit->context.el & 3;
    tw_etmv4_unit_put(unit, &packet);
    unit->stamped = unit->cycle;
}
