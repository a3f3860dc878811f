/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: which instructions it traces.  ViewInst, comparators, prohibited regions. */
#include "etmv4/unit.h"

enum { LPOVERRIDE = 1 << 12 }; /* of TRCEVENTCTL1R */

/* Fields that exclude Exception levels: four bits for Secure EL0 to EL3, three for Non-secure EL0
   to EL2, and after one more three for Realm, which turn the Non-secure ones round. */
static bool is_excluded(const struct tw_etmv4_unit *unit, uint32_t value, unsigned shift)
{
    const struct tw_step_context *context = &unit->context;
    const unsigned el = context->el & 3u;

    /* M profile: Thread and Handler mode, levels 0 and 3 of both states. */
    if (unit->config.is_m)
        return value >> (shift + el + (context->security == TW_NONSECURE ? 4u : 0u)) & 1;
    if (el == 3)
        return value >> (shift + 3) & 1;
    if (context->security == TW_REALM)
        return (value >> (shift + 8 + el) ^ value >> (shift + 4 + el)) & 1;
    if (context->security == TW_NONSECURE)
        return value >> (shift + 4 + el) & 1;
    return value >> (shift + el) & 1;
}

bool tw_etmv4_unit_is_prohibited(const struct tw_etmv4_unit *unit)
{
    const struct tw_step_context *context = &unit->context;
    const bool tge = unit->registers[TW_HCR_EL2] >> 27 & 1;
    const uint32_t el1 = tw_etmv4_unit_value(unit, TW_TRFCR_EL1);
    const uint32_t el2 = tw_etmv4_unit_value(unit, TW_TRFCR_EL2);
    const uint32_t el3 = tw_etmv4_unit_value(unit, TW_MDCR_EL3);

    if (unit->is_halted || unit->is_barred)
        return true;
    if (!unit->config.is_self_hosted)
        return false;
    if (context->el == 3 || context->security == TW_ROOT ||
        (context->security == TW_SECURE && !(el3 >> 18 & 1)) ||
        (context->security == TW_REALM && !(el3 & 1)))
        return true;
    switch (context->el) {
    case 0:
        return !((tge ? el2 : el1) & 1);
    case 1:
        return !(el1 >> 1 & 1);
    default:
        return !(el2 >> 1 & 1);
    }
}

void tw_etmv4_unit_look_again(struct tw_etmv4_unit *unit)
{
    const bool is_prohibited = tw_etmv4_unit_is_prohibited(unit);
    const bool pauses =
        is_prohibited ||
        (unit->is_asleep && !(tw_etmv4_unit_value(unit, TW_TRCEVENTCTL1R) & LPOVERRIDE));

    unit->is_viewed =
        !is_prohibited && !is_excluded(unit, tw_etmv4_unit_value(unit, TW_TRCVICTLR), 16);
    unit->is_changed = true;
    if (pauses != unit->is_paused)
        tw_etmv4_unit_pause(unit, pauses);
    if (is_prohibited && unit->is_enabled && !unit->is_overflowing) {
        tw_etmv4_unit_end_q(unit);
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_stop_tracing(unit);
    }
}

bool tw_etmv4_unit_compare_context(const struct tw_etmv4_unit *unit, unsigned slot,
                                   unsigned number)
{
    const bool is_cid = slot == TW_TRCCIDCVR;
    const uint32_t value = is_cid ? unit->context.context_id : unit->context.vmid;
    const unsigned control = is_cid ? TW_TRCCIDCCTLR : TW_TRCVMIDCCTLR;
    const uint32_t ignored =
        tw_etmv4_unit_value(unit, control + number / 4) >> (8 * (number % 4)) & 0xff;
    const uint32_t changed = value ^ tw_etmv4_unit_value(unit, slot + number);

    for (unsigned i = 0; i < 4; i++)
        if (!(ignored >> i & 1) && changed >> (8 * i) & 0xff)
            return false;
    return true;
}

/* What TRCACATR asks besides the address. */
static bool attributes_match(const struct tw_etmv4_unit *unit, unsigned number)
{
    const uint32_t attributes = tw_etmv4_unit_value(unit, TW_TRCACATR + number);
    const unsigned context = attributes >> 4 & 7;

    if (!attributes)
        return true;
    if (is_excluded(unit, attributes, 8))
        return false;
    if (attributes >> 2 & 1 && !tw_etmv4_unit_compare_context(unit, TW_TRCCIDCVR, context))
        return false;
    return !(attributes >> 3 & 1) ||
           tw_etmv4_unit_compare_context(unit, TW_TRCVMIDCVR, context);
}

static bool range_matches(const struct tw_etmv4_unit *unit, unsigned number, uint64_t address)
{
    const uint64_t *ends = &unit->registers[TW_TRCACVR + 2 * number];

    return address >= ends[0] && address <= ends[1] && attributes_match(unit, 2 * number);
}

bool tw_etmv4_unit_in_region(const struct tw_etmv4_unit *unit, uint32_t control,
                             uint64_t address)
{
    const bool includes = control >> 8 & 1;

    for (unsigned i = 0; i < 8; i++)
        if (control >> i & 1 && range_matches(unit, i, address))
            return includes;
    return !includes;
}

/* Single-shot comparators that the instruction hits, by themselves or by the PE's inputs. */
static uint8_t find_shots(const struct tw_etmv4_unit *unit)
{
    uint8_t shots = 0;

    for (unsigned i = 0; i < 8; i++) {
        const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCSSCCR + i);

        if ((control & unit->sac_now) || (control >> 16 & 0xff & unit->arc_now) ||
            (tw_etmv4_unit_value(unit, TW_TRCSSPCICR + i) & unit->inputs))
            shots |= (uint8_t)(1u << i);
    }
    return shots;
}

void tw_etmv4_unit_compare(struct tw_etmv4_unit *unit, const struct tw_retired *instruction)
{
    uint8_t shots;

    unit->sac_now = 0;
    unit->arc_now = 0;
    if (unit->is_paused)
        return;
    for (unsigned left = unit->setup.sac_used; left; left &= left - 1) {
        const unsigned i = tw_lowest_bit(left);

        if (unit->registers[TW_TRCACVR + i] == instruction->address &&
            attributes_match(unit, i))
            unit->sac_now |= (uint16_t)(1u << i);
    }
    for (unsigned left = unit->setup.arc_used; left; left &= left - 1) {
        const unsigned i = tw_lowest_bit(left);

        if (range_matches(unit, i, instruction->address))
            unit->arc_now |= (uint8_t)(1u << i);
    }
    unit->sac_hits |= unit->sac_now;
    unit->arc_hits |= unit->arc_now;
    shots = unit->setup.has_shots ? find_shots(unit) : 0;
    if (!shots)
        return;
    if (unit->record_is_open)
        unit->records[unit->record_first + unit->record_count - 1].shots |= shots;
    else if (unit->flow.in_transaction)
        unit->waiting_shots |= shots;
    else
        tw_etmv4_unit_fire(unit, shots);
}

static bool is_included(const struct tw_etmv4_unit *unit)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCVIIECTLR);
    const uint32_t include = control & 0xff, exclude = control >> 16 & 0xff;

    return (!include || include & unit->arc_now) && !(exclude & unit->arc_now);
}

bool tw_etmv4_unit_view(struct tw_etmv4_unit *unit, const struct tw_retired *instruction)
{
    const uint32_t points = tw_etmv4_unit_value(unit, TW_TRCVISSCTLR);
    const uint32_t inputs = tw_etmv4_unit_value(unit, TW_TRCVIPCSSCTLR);
    const uint32_t event = tw_etmv4_unit_value(unit, TW_TRCVICTLR) & 0x9f;
    bool is_started;

    (void)instruction;
    if (unit->is_paused)
        return false;
    if ((points & unit->sac_now) || (inputs & unit->inputs & 0xff))
        unit->flow.is_started = true;
    is_started = unit->flow.is_started;
    if ((points >> 16 & unit->sac_now) || (inputs >> 16 & unit->inputs))
        unit->flow.is_started = false; /* behind this instruction */
    return is_started && unit->is_viewed && is_included(unit) &&
           (event == 1 || tw_etmv4_unit_event_is_active(unit, event));
}

bool tw_etmv4_unit_instruments(const struct tw_etmv4_unit *unit)
{
    const struct tw_step_context *context = &unit->context;
    const bool tge = unit->registers[TW_HCR_EL2] >> 27 & 1;
    const uint32_t el1 = tw_etmv4_unit_value(unit, TW_TRCITECR_EL1);
    const uint32_t el2 = tw_etmv4_unit_value(unit, TW_TRCITECR_EL2);
    const uint32_t debug = tw_etmv4_unit_value(unit, TW_TRCITEEDCR);
    bool is_on;

    if (!unit->setup.has_ite || !context->is_64bit || tw_etmv4_unit_is_prohibited(unit))
        return false;
    is_on = context->el == 0   ? (tge ? el2 : el1) & 1
            : context->el == 1 ? el1 >> 1 & 1
                               : context->el == 2 && (el2 >> 1 & 1);
    if (unit->config.is_self_hosted)
        return is_on;
    if (!(debug >> (context->el & 3u) & 1))
        return false;
    if (context->el < 3 && !(debug >> (context->security == TW_NONSECURE ? 4
                                       : context->security == TW_SECURE  ? 5
                                                                         : 6) &
                             1))
        return false;
    return is_on || tw_etmv4_unit_value(unit, TW_TRCCONFIGR) >> 18 & 1;
}
