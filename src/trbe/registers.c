/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit's registers: fields, what can be written when and by whom, reset. */
#include "trbe/unit.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

/* clang-format off */
static const char *const names[TW_TRBE_REGISTERS] = {
    [TW_TRBE_LIMITR] = "TRBLIMITR_EL1", [TW_TRBE_PTR] = "TRBPTR_EL1",
    [TW_TRBE_BASER] = "TRBBASER_EL1",   [TW_TRBE_SR_EL1] = "TRBSR_EL1",
    [TW_TRBE_MAR] = "TRBMAR_EL1",       [TW_TRBE_MPAM] = "TRBMPAM_EL1",
    [TW_TRBE_TRG] = "TRBTRG_EL1",       [TW_TRBE_IDR] = "TRBIDR_EL1",
    [TW_TRBE_SR_EL2] = "TRBSR_EL2",     [TW_TRBE_SR_EL3] = "TRBSR_EL3",
    [TW_TRBE_SR_EL12] = "TRBSR_EL12",
    [TW_TRBE_TRFCR_EL1] = "TRFCR_EL1",  [TW_TRBE_TRFCR_EL2] = "TRFCR_EL2",
    [TW_TRBE_MDCR_EL2] = "MDCR_EL2",    [TW_TRBE_MDCR_EL3] = "MDCR_EL3",
    [TW_TRBE_HCR_EL2] = "HCR_EL2",      [TW_TRBE_SCR_EL3] = "SCR_EL3",
    [TW_TRBE_GPCCR_EL3] = "GPCCR_EL3",  [TW_TRBE_OSLAR] = "OSLAR_EL1",
    [TW_TRBE_EDSCR] = "EDSCR",          [TW_TRBE_TRCPRGCTLR] = "TRCPRGCTLR",
};

#define SR_FIELDS(el)                                                                          \
    { "MSS2", el, 32, 24 }, { "EC", el, 26, 6 }, { "DAT", el, 23, 1 }, { "IRQ", el, 22, 1 },   \
    { "TRG", el, 21, 1 }, { "WRAP", el, 20, 1 }, { "EA", el, 18, 1 }, { "S", el, 17, 1 },      \
    { "MSS", el, 0, 16 }, { "BSC", el, 0, 6 }, { "FSC", el, 0, 6 }

static const struct field_row {
    const char *name;
    uint8_t reg, lowest, width;
} fields[] = {
    { "LIMIT", TW_TRBE_LIMITR, 12, 52 }, { "XE", TW_TRBE_LIMITR, 6, 1 }, { "nVM", TW_TRBE_LIMITR, 5, 1 },
    { "TM", TW_TRBE_LIMITR, 3, 2 }, { "FM", TW_TRBE_LIMITR, 1, 2 }, { "E", TW_TRBE_LIMITR, 0, 1 },
    { "PTR", TW_TRBE_PTR, 0, 64 }, { "BASE", TW_TRBE_BASER, 12, 52 }, { "TRG", TW_TRBE_TRG, 0, 32 },
    SR_FIELDS(TW_TRBE_SR_EL1), SR_FIELDS(TW_TRBE_SR_EL2), SR_FIELDS(TW_TRBE_SR_EL3),
    SR_FIELDS(TW_TRBE_SR_EL12),
    { "PAS", TW_TRBE_MAR, 10, 2 }, { "SH", TW_TRBE_MAR, 8, 2 }, { "Attr", TW_TRBE_MAR, 0, 8 },
    { "EN", TW_TRBE_MPAM, 26, 1 }, { "MPAM_SP", TW_TRBE_MPAM, 24, 2 }, { "PMG", TW_TRBE_MPAM, 16, 8 },
    { "PARTID", TW_TRBE_MPAM, 0, 16 },
    { "MaxBuffSize", TW_TRBE_IDR, 32, 16 }, { "MPAM", TW_TRBE_IDR, 12, 4 }, { "EA", TW_TRBE_IDR, 8, 4 },
    { "AddrMode", TW_TRBE_IDR, 6, 2 }, { "F", TW_TRBE_IDR, 5, 1 }, { "P", TW_TRBE_IDR, 4, 1 },
    { "Align", TW_TRBE_IDR, 0, 4 },
    { "KE", TW_TRBE_TRFCR_EL1, 10, 1 }, { "EE", TW_TRBE_TRFCR_EL1, 8, 2 }, { "TS", TW_TRBE_TRFCR_EL1, 5, 2 },
    { "E1TRE", TW_TRBE_TRFCR_EL1, 1, 1 }, { "E0TRE", TW_TRBE_TRFCR_EL1, 0, 1 },
    { "DnVM", TW_TRBE_TRFCR_EL2, 11, 1 }, { "KE", TW_TRBE_TRFCR_EL2, 10, 1 }, { "EE", TW_TRBE_TRFCR_EL2, 8, 2 },
    { "TS", TW_TRBE_TRFCR_EL2, 5, 2 }, { "CX", TW_TRBE_TRFCR_EL2, 3, 1 }, { "E2TRE", TW_TRBE_TRFCR_EL2, 1, 1 },
    { "E0HTRE", TW_TRBE_TRFCR_EL2, 0, 1 },
    { "E2TB", TW_TRBE_MDCR_EL2, 24, 2 },
    { "TRBEE", TW_TRBE_MDCR_EL3, 53, 2 }, { "ETBAD", TW_TRBE_MDCR_EL3, 48, 2 }, { "EnTB2", TW_TRBE_MDCR_EL3, 39, 1 },
    { "NSTBE", TW_TRBE_MDCR_EL3, 26, 1 }, { "NSTB", TW_TRBE_MDCR_EL3, 24, 2 }, { "TTRF", TW_TRBE_MDCR_EL3, 19, 1 },
    { "STE", TW_TRBE_MDCR_EL3, 18, 1 }, { "RLTE", TW_TRBE_MDCR_EL3, 0, 1 },
    { "GPF", TW_TRBE_HCR_EL2, 48, 1 }, { "TEA", TW_TRBE_HCR_EL2, 37, 1 }, { "E2H", TW_TRBE_HCR_EL2, 34, 1 },
    { "TGE", TW_TRBE_HCR_EL2, 27, 1 }, { "VM", TW_TRBE_HCR_EL2, 0, 1 },
    { "NSE", TW_TRBE_SCR_EL3, 62, 1 }, { "GPF", TW_TRBE_SCR_EL3, 48, 1 }, { "EEL2", TW_TRBE_SCR_EL3, 18, 1 },
    { "EA", TW_TRBE_SCR_EL3, 3, 1 }, { "NS", TW_TRBE_SCR_EL3, 0, 1 },
    { "TBGPCD", TW_TRBE_GPCCR_EL3, 18, 1 }, { "GPC", TW_TRBE_GPCCR_EL3, 16, 1 },
    { "OSLK", TW_TRBE_OSLAR, 0, 1 }, { "TFO", TW_TRBE_EDSCR, 31, 1 }, { "EN", TW_TRBE_TRCPRGCTLR, 0, 1 },
};
/* clang-format on */

const char *tw_trbe_register_name(enum tw_trbe_register name)
{
    return (unsigned)name < TW_TRBE_REGISTERS ? names[name] : "";
}

static bool is_same(const char *name, const char *text, size_t size)
{
    size_t i = 0;

    for (; i < size && name[i]; i++) {
        const bool is_lower = text[i] >= 'a' && text[i] <= 'z';

        if ((is_lower ? text[i] - 'a' + 'A' : text[i]) != name[i])
            return false;
    }
    return i == size && (name[i] == 0 || strcmp(name + i, "_EL1") == 0);
}

enum tw_trbe_register tw_trbe_register_find(const char *name, size_t size)
{
    unsigned i = 0;

    while (i < TW_TRBE_REGISTERS && !(size && is_same(names[i], name, size)))
        i++;
    return (enum tw_trbe_register)i;
}

bool tw_trbe_register_field(struct tw_trbe_field *field, enum tw_trbe_register name,
                            size_t index)
{
    for (size_t i = 0; i < TW_LENGTH(fields); i++) {
        if (fields[i].reg != (unsigned)name || index--)
            continue;
        *field = (struct tw_trbe_field){ fields[i].name, fields[i].lowest, fields[i].width };
        return true;
    }
    return false;
}

/* Bits that a direct write changes. */
uint64_t tw_trbe_writable(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    const uint64_t unaligned = ((uint64_t)1 << unit->config.align) - 1;
    const uint64_t low = unit->config.low_bits_are_zero ? unaligned : 0;
    const uint64_t status = 0x00ffffff00000000u | 0xfc000000u | TW_TRBE_SR_IRQ |
                            TW_TRBE_SR_TRG | TW_TRBE_SR_WRAP | TW_TRBE_SR_S | 0xffffu |
                            (tw_trbe_has(unit, TW_TRBE_V9_3) ? 0 : TW_TRBE_SR_EA);

    switch (name) {
    case TW_TRBE_LIMITR:
        return ~(uint64_t)0xfff | 0x3f |
               (tw_trbe_has(unit, TW_TRBE_EXT) ? TW_TRBE_LIMITR_XE : 0);
    case TW_TRBE_PTR:
        return ~low;
    case TW_TRBE_BASER:
        return ~(uint64_t)0xfff;
    case TW_TRBE_TRG:
        return 0xffffffffu & ~low;
    case TW_TRBE_SR_EL1:
        return status;
    case TW_TRBE_SR_EL2:
    case TW_TRBE_SR_EL3:
        return tw_trbe_has(unit, TW_TRBE_EXC) ? status : 0;
    case TW_TRBE_MAR:
        return 0x3ff | (tw_trbe_has(unit, TW_TRBE_EXT) ? 0xc00 : 0);
    case TW_TRBE_MPAM:
        return tw_trbe_has(unit, TW_TRBE_MPAM_EXT) ? 0x7ffffff : 0;
    case TW_TRBE_OSLAR:
    case TW_TRBE_TRCPRGCTLR:
        return 1;
    case TW_TRBE_IDR:
    case TW_TRBE_SR_EL12:
        return 0;
    default:
        return ~(uint64_t)0;
    }
}

/* HCR_EL2.E2H makes EL2 reach its own register by the name of EL1's. */
static enum tw_trbe_register resolve(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    if (name == TW_TRBE_SR_EL12)
        return TW_TRBE_SR_EL1;
    if (name == TW_TRBE_SR_EL1 && unit->el == 2 && unit->used[TW_TRBE_HCR_EL2] & HCR_E2H &&
        tw_trbe_el2_ee(unit) != 0)
        return TW_TRBE_SR_EL2;
    return name;
}

static bool is_of_unit(enum tw_trbe_register name)
{
    return name <= TW_TRBE_SR_EL12;
}

/* R_DJMDD: an enabled unit heeds no write but the one that disables it. */
static bool is_ignored(const struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value)
{
    const uint64_t limitr = unit->used[TW_TRBE_LIMITR];
    const uint64_t enable = tw_trbe_is_self_hosted(unit) || !tw_trbe_has(unit, TW_TRBE_EXT)
                                ? TW_TRBE_LIMITR_E
                                : TW_TRBE_LIMITR_XE;

    if (!is_of_unit(name) || !(limitr & enable))
        return false;
    return name != TW_TRBE_LIMITR || value & enable;
}

/* What the pointer holds after a direct write: R_HXZZM, R_XZWXQ, R_JWWWM. */
static void judge_pointer(struct tw_trbe *unit, uint64_t value)
{
    const uint64_t unaligned = ((uint64_t)1 << unit->config.align) - 1;
    const bool is_left = value == unit->restart_pointer;

    unit->has_bad_pointer = value & unaligned && !is_left;
    if (!is_left)
        unit->has_fault_pointer = false;
    unit->session_wraps = 0;
}

/* A direct write of the bits in `mask`. */
void tw_trbe_put(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value,
                 uint64_t mask)
{
    const uint64_t next = (unit->seen[name] & ~mask) | (value & mask);

    if (name == TW_TRBE_PTR)
        judge_pointer(unit, next);
    if (name == TW_TRBE_LIMITR &&
        next & ~unit->seen[name] & (TW_TRBE_LIMITR_E | TW_TRBE_LIMITR_XE))
        unit->is_fault_start = unit->has_fault_pointer;
    if (name == TW_TRBE_TRCPRGCTLR && next & 1)
        unit->models_source = true;
    unit->seen[name] = next;
    if (unit->config.timing == TW_TRBE_SEQUENTIAL)
        unit->used[name] = next;
    else
        unit->direct |= 1u << name;
    tw_trbe_lines(unit);
}

void tw_trbe_write(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value)
{
    uint64_t mask;

    if ((unsigned)name >= TW_TRBE_REGISTERS)
        return;
    name = resolve(unit, name);
    if (is_ignored(unit, name, value)) {
        unit->counts.ignored_writes++;
        return;
    }
    mask = tw_trbe_writable(unit, name);
    if (name == TW_TRBE_LIMITR && !(unit->used[TW_TRBE_OSLAR] & 1))
        mask &= ~(uint64_t)TW_TRBE_LIMITR_XE;
    tw_trbe_put(unit, name, value, mask);
}

/* TRBIDR_EL1.P */
static bool is_not_allowed(const struct tw_trbe *unit)
{
    if (unit->el == 3)
        return false;
    return tw_trbe_security_at(unit, unit->el) != tw_trbe_owner_security(unit) ||
           tw_trbe_owner_el(unit) > unit->el;
}

static uint64_t identity(const struct tw_trbe *unit)
{
    const bool is_p = is_not_allowed(unit);
    const bool is_va_only = !is_p && tw_trbe_has(unit, TW_TRBE_EXC) &&
                            tw_trbe_owner_el(unit) == 1 &&
                            tw_trbe_has_el2(unit, tw_trbe_owner_security(unit)) &&
                            unit->used[TW_TRBE_TRFCR_EL2] & TRFCR_DNVM;
    const uint64_t mpam = tw_trbe_has(unit, TW_TRBE_MPAM_EXT) ? 2
                          : tw_trbe_has(unit, TW_TRBE_EXT)    ? 1
                                                              : 0;

    return unit->config.align | (uint64_t)is_p << 4 |
           (uint64_t)unit->config.manages_flags << 5 | (uint64_t)is_va_only << 6 |
           (uint64_t)unit->config.aborts << 8 | mpam << 12;
}

uint64_t tw_trbe_read(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    if ((unsigned)name >= TW_TRBE_REGISTERS)
        return 0;
    name = resolve(unit, name);
    if (name == TW_TRBE_IDR)
        return identity(unit);
    if (name == TW_TRBE_PTR || name == TW_TRBE_TRG)
        return unit->seen[name] & tw_trbe_writable(unit, name);
    return unit->seen[name];
}

uint64_t tw_trbe_used(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    if ((unsigned)name >= TW_TRBE_REGISTERS)
        return 0;
    return name == TW_TRBE_IDR ? identity(unit)
                               : unit->used[name == TW_TRBE_SR_EL12 ? TW_TRBE_SR_EL1 : name];
}

/* MDCR_EL3.NSTB[0]=0 traps from every state, 1 from all but the owner's. */
static bool traps_to_el3(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    const uint64_t mdcr = unit->used[TW_TRBE_MDCR_EL3];

    if (!tw_trbe_has(unit, TW_TRBE_EL3) || unit->el == 3)
        return false;
    if (name == TW_TRBE_TRFCR_EL1 || name == TW_TRBE_TRFCR_EL2)
        return (mdcr & MDCR3_TTRF) != 0;
    if (!is_of_unit(name) || name == TW_TRBE_IDR)
        return false;
    if (name == TW_TRBE_MPAM && !(mdcr & MDCR3_ENTB2))
        return true;
    return !tw_trbe_bits(mdcr, 24, 1) ||
           tw_trbe_security_at(unit, unit->el) != tw_trbe_owner_security(unit);
}

static unsigned lowest_el(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    switch (name) {
    case TW_TRBE_SR_EL12:
        return unit->used[TW_TRBE_HCR_EL2] & HCR_E2H ? 2 : 4;
    case TW_TRBE_SR_EL2:
    case TW_TRBE_TRFCR_EL2:
    case TW_TRBE_MDCR_EL2:
    case TW_TRBE_HCR_EL2:
        return 2;
    case TW_TRBE_SR_EL3:
    case TW_TRBE_MDCR_EL3:
    case TW_TRBE_SCR_EL3:
    case TW_TRBE_GPCCR_EL3:
        return 3;
    default:
        return 1;
    }
}

unsigned tw_trbe_access(const struct tw_trbe *unit, enum tw_trbe_register name)
{
    const bool is_missing =
        ((name == TW_TRBE_SR_EL2 || name == TW_TRBE_SR_EL3 || name == TW_TRBE_SR_EL12) &&
         !tw_trbe_has(unit, TW_TRBE_EXC)) ||
        (name == TW_TRBE_MPAM && !tw_trbe_has(unit, TW_TRBE_MPAM_EXT));

    if ((unsigned)name >= TW_TRBE_REGISTERS || is_missing || unit->el < lowest_el(unit, name))
        return 255;
    if (unit->el == 1 && is_of_unit(name) && name != TW_TRBE_IDR &&
        tw_trbe_has_el2(unit, tw_trbe_security_at(unit, 1)) &&
        !tw_trbe_bits(unit->used[TW_TRBE_MDCR_EL2], 24, 1))
        return 2;
    return traps_to_el3(unit, name) ? 3 : 0;
}

void tw_trbe_reset(struct tw_trbe *unit, bool is_cold)
{
    const uint64_t unknown = unit->config.unknown;

    /* What waits at a reset is lost. */
    unit->queue_count = unit->waiting_count = unit->synchronized = 0;
    unit->direct = unit->indirect = unit->finished = 0;
    unit->is_flush_due = unit->is_flushing = false;
    if (is_cold) {
        for (unsigned i = 0; i < TW_TRBE_REGISTERS; i++)
            unit->used[i] = unknown & tw_trbe_writable(unit, (enum tw_trbe_register)i);
        unit->used[TW_TRBE_LIMITR] &= ~(uint64_t)TW_TRBE_LIMITR_XE;
        unit->used[TW_TRBE_MPAM] &= ~(uint64_t)0x4000000;
        unit->used[TW_TRBE_EDSCR] = 0;
        unit->used[TW_TRBE_OSLAR] = 0;
        unit->used[TW_TRBE_MDCR_EL2] = unit->used[TW_TRBE_MDCR_EL3] = 0;
        unit->used[TW_TRBE_HCR_EL2] = unit->used[TW_TRBE_SCR_EL3] = 0;
        unit->used[TW_TRBE_TRFCR_EL1] = unit->used[TW_TRBE_TRFCR_EL2] = 0;
        unit->used[TW_TRBE_GPCCR_EL3] = 0;
        unit->has_bad_pointer = unit->has_fault_pointer = unit->is_fault_start = false;
        unit->restart_pointer = unit->used[TW_TRBE_PTR];
    }
    unit->used[TW_TRBE_LIMITR] &= ~(uint64_t)TW_TRBE_LIMITR_E;
    unit->used[TW_TRBE_TRCPRGCTLR] = 0;
    unit->used[TW_TRBE_TRFCR_EL1] &= ~(uint64_t)(TRFCR_E0TRE | TRFCR_E1TRE);
    unit->used[TW_TRBE_TRFCR_EL2] &= ~(uint64_t)(TRFCR_E0TRE | TRFCR_E1TRE);
    unit->used[TW_TRBE_MDCR_EL3] &= ~(uint64_t)(MDCR3_STE | MDCR3_RLTE);
    memcpy(unit->seen, unit->used, sizeof unit->seen);
    unit->models_source = false;
    unit->el = tw_trbe_has(unit, TW_TRBE_EL3) ? 3 : tw_trbe_has(unit, TW_TRBE_EL2) ? 2 : 1;
    unit->is_halted = unit->is_pm = false;
    tw_trbe_isb(unit);
}

static bool is_config_good(const struct tw_trbe_config *config)
{
    const uint32_t has = config->features;

    if (config->align > 11 || config->aborts > 2 || config->address_bits > 56 ||
        config->timing > TW_TRBE_LATE || config->queue > 1u << 24)
        return false;
    if ((has & TW_TRBE_MPAM_EXT && !(has & TW_TRBE_EXT)) ||
        (has & TW_TRBE_RME && !(has & TW_TRBE_EL3)) ||
        (has & TW_TRBE_SEL2 && !(has & TW_TRBE_SECURE && has & TW_TRBE_EL2)))
        return false;
    /* From Armv9.3 on, aborts are described, and not reported to the unit. */
    return !(has & TW_TRBE_V9_3 && config->aborts == 0);
}

enum tw_status tw_trbe_new(struct tw_trbe **out, const struct tw_trbe_config *config,
                           struct tw_fault *fault)
{
    struct tw_trbe_config copy;
    struct tw_trbe *unit;

    *out = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_trbe_config", fault));
    config = &copy;
    if (!is_config_good(config))
        return tw_fail(fault, TW_E_CONFIG, "no Trace Buffer Unit is configured so");
    unit = tw_take(config->allocator, sizeof *unit);
    if (!unit)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a Trace Buffer Unit");
    unit->config = *config;
    if (unit->config.queue == 0)
        unit->config.queue = 4096;
    if (config->timing == TW_TRBE_LATE) {
        unit->queue = tw_take(config->allocator, unit->config.queue);
        unit->waiting =
            tw_take(config->allocator, (size_t)unit->config.queue * sizeof *unit->waiting);
        if (!unit->queue || !unit->waiting) {
            tw_trbe_free(unit);
            return tw_fail(fault, TW_E_MEMORY, "no memory for a Trace Buffer Unit");
        }
    }
    tw_trbe_reset(unit, true);
    *out = unit;
    return TW_OK;
}

void tw_trbe_free(struct tw_trbe *unit)
{
    const struct tw_allocator *allocator;

    if (!unit)
        return;
    allocator = unit->config.allocator;
    tw_give(allocator, unit->queue);
    tw_give(allocator, unit->waiting);
    tw_give(allocator, unit);
}
