/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit as an external debugger sees it (FEAT_TRBE_EXT), by offset. */
#include "trbe/unit.h"

enum {
    OFFSET_CR = 0x038,
    OFFSET_ITCTRL = 0xf00,
    OFFSET_AUTHSTATUS = 0xfb8,
    OFFSET_DEVARCH = 0xfbc,
    OFFSET_DEVTYPE = 0xfcc
};

/* clang-format off */
static const struct {
    uint16_t offset;
    uint8_t reg;
} map[] = {
    { 0x000, TW_TRBE_BASER }, { 0x008, TW_TRBE_PTR }, { 0x010, TW_TRBE_LIMITR }, { 0x018, TW_TRBE_SR_EL1 },
    { 0x020, TW_TRBE_TRG },   { 0x028, TW_TRBE_MAR }, { 0x030, TW_TRBE_IDR },    { 0x040, TW_TRBE_MPAM },
};
/* clang-format on */

static enum tw_trbe_register find(uint32_t offset)
{
    for (size_t i = 0; i < TW_LENGTH(map); i++)
        if (map[i].offset == offset)
            return (enum tw_trbe_register)map[i].reg;
    return TW_TRBE_REGISTERS;
}

/* I_DCWTT: the OS Lock, or MDCR_EL3.ETBAD, refuses; 0xF00 to 0xFFC are always there. */
static bool is_refused(const struct tw_trbe *unit, uint32_t offset)
{
    if (!tw_trbe_has(unit, TW_TRBE_EXT) || offset > 0xffc || offset & 3)
        return true;
    if (offset >= OFFSET_ITCTRL)
        return false;
    return unit->used[TW_TRBE_OSLAR] & 1 ||
           (tw_trbe_has(unit, TW_TRBE_EL3) &&
            tw_trbe_bits(unit->used[TW_TRBE_MDCR_EL3], 48, 2) != 0);
}

/* Two bits for each kind of debug: implemented, enabled. */
static uint64_t authentication(const struct tw_trbe *unit)
{
    static const struct {
        uint16_t allowed, feature;
        uint8_t lowest;
    } kinds[] = {
        { TW_TRBE_AUTH_NS, 0, 0 },
        { TW_TRBE_AUTH_NS_WATCH, 0, 2 },
        { TW_TRBE_AUTH_S, TW_TRBE_SECURE, 4 },
        { TW_TRBE_AUTH_S_WATCH, TW_TRBE_SECURE, 6 },
        { TW_TRBE_AUTH_RL, TW_TRBE_RME, 12 },
        { TW_TRBE_AUTH_RL_WATCH, TW_TRBE_RME, 14 },
        { TW_TRBE_AUTH_RT, TW_TRBE_RME, 24 },
        { TW_TRBE_AUTH_RT_WATCH, TW_TRBE_RME, 26 },
    };
    uint64_t value = 0;

    for (size_t i = 0; i < TW_LENGTH(kinds); i++)
        if (!kinds[i].feature || tw_trbe_has(unit, kinds[i].feature))
            value |= (unit->authentication & kinds[i].allowed ? (uint64_t)3 : 2)
                     << kinds[i].lowest;
    return value;
}

static uint64_t management(const struct tw_trbe *unit, uint32_t offset)
{
    static const uint8_t component[] = { 0x0d, 0x90, 0x05, 0xb1 };

    switch (offset) {
    case OFFSET_ITCTRL:
        return unit->itctrl;
    case OFFSET_AUTHSTATUS:
        return authentication(unit);
    case OFFSET_DEVARCH:
        return (uint64_t)0x23b << 21 | 1u << 20 |
               (tw_trbe_has(unit, TW_TRBE_EXC) ? 1u << 16 : 0) | 0xa18;
    case OFFSET_DEVTYPE:
        return 0x21; /* a trace sink: a buffer */
    default:
        return offset >= 0xff0 ? component[(offset - 0xff0) / 4] : 0;
    }
}

enum tw_status tw_trbe_external_read(struct tw_trbe *unit, uint64_t *value, uint32_t offset)
{
    const enum tw_trbe_register name = find(offset);

    *value = 0;
    if (is_refused(unit, offset))
        return TW_E_ARGUMENT;
    if (offset >= OFFSET_ITCTRL) {
        *value = management(unit, offset);
    } else if (name == TW_TRBE_SR_EL1) {
        *value = unit->used[name] & ~(uint64_t)TW_TRBE_SR_DAT;
        if (unit->waiting_count || unit->queue_count)
            *value |= TW_TRBE_SR_DAT;
    } else if (name != TW_TRBE_REGISTERS) {
        *value = tw_trbe_used(unit, name);
    }
    return TW_OK;
}

/* R_WMPMV: works on a stopped unit too. */
static void manual_stop(struct tw_trbe *unit)
{
    tw_trbe_process_queue(unit);
    tw_trbe_flush_all(unit);
    tw_trbe_manage(unit, 1, TW_TRBE_BSC_MANUAL, true);
    tw_trbe_perform(unit, unit->waiting_count);
    tw_trbe_lines(unit);
}

/* R_DJMDD, for the external view. */
static bool is_ignored(const struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value)
{
    const uint64_t enable = tw_trbe_is_self_hosted(unit) ? TW_TRBE_LIMITR_E : TW_TRBE_LIMITR_XE;

    return unit->used[TW_TRBE_LIMITR] & enable && (name != TW_TRBE_LIMITR || value & enable);
}

enum tw_status tw_trbe_external_write(struct tw_trbe *unit, uint32_t offset, uint64_t value)
{
    const enum tw_trbe_register name = find(offset);

    if (is_refused(unit, offset))
        return TW_E_ARGUMENT;
    if (offset == OFFSET_CR) {
        if (value & 1)
            manual_stop(unit);
        return TW_OK;
    }
    if (offset == OFFSET_ITCTRL) {
        if (is_ignored(unit, TW_TRBE_REGISTERS, 0))
            unit->counts.ignored_writes++;
        else
            unit->itctrl = value & 1;
        return TW_OK;
    }
    if (name == TW_TRBE_REGISTERS || name == TW_TRBE_IDR)
        return TW_OK;
    if (is_ignored(unit, name, value)) {
        unit->counts.ignored_writes++;
        return TW_OK;
    }
    tw_trbe_put(unit, name, value, tw_trbe_writable(unit, name));
    if (unit->direct & 1u << name) { /* an external write needs no synchronization by the PE */
        unit->used[name] = unit->seen[name];
        unit->direct &= ~(1u << name);
        tw_trbe_lines(unit);
    }
    return TW_OK;
}
