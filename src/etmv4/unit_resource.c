/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: resource selectors, counters, sequencer, single-shot comparators and events. */
#include "etmv4/unit.h"

/* Events of a performance monitor that reach the unit even where trace is prohibited. */
enum {
    PMU_OVFS = 0x400d,
    TRB_TRIG = 0x400e,
    PMU_HOVFS = 0x400f,
    CTI_TRIGOUT4 = 0x4018,
    CTI_TRIGOUT7 = 0x401b
};

static uint32_t context_hits(const struct tw_etmv4_unit *unit, unsigned slot)
{
    uint32_t hits = 0;

    for (unsigned i = 0; i < 8; i++)
        hits |= (uint32_t)tw_etmv4_unit_compare_context(unit, slot, i) << i;
    return hits;
}

/* The resources of a group that are active. */
static uint32_t group(const struct tw_etmv4_unit *unit, unsigned number)
{
    switch (number) {
    case 0:
        return unit->external;
    case 1:
        return unit->inputs;
    case 2:
        return unit->counters_at_zero | (uint32_t)unit->sequencer << 4;
    case 3:
        return unit->fired;
    case 4:
        return unit->sac_hits;
    case 5:
        return unit->arc_hits;
    case 6:
        return context_hits(unit, TW_TRCCIDCVR);
    case 7:
        return context_hits(unit, TW_TRCVMIDCVR);
    default:
        return 0;
    }
}

static bool selector(const struct tw_etmv4_unit *unit, unsigned number)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCRSCTLR + number);

    if (number < 2)
        return number;
    return ((control & 0xffff & group(unit, control >> 16 & 15)) != 0) != (control >> 20 & 1);
}

bool tw_etmv4_unit_event_is_active(const struct tw_etmv4_unit *unit, uint32_t event)
{
    const unsigned pair = event & 15;
    const bool inverts = tw_etmv4_unit_value(unit, TW_TRCRSCTLR + 2 * pair) >> 21 & 1;

    if (!(event & 0x80))
        return selector(unit, event & 31);
    return (selector(unit, 2 * pair) && selector(unit, 2 * pair + 1)) != inverts;
}

/* The counters that are at zero. */
static uint8_t step_counters(struct tw_etmv4_unit *unit)
{
    bool lower_reloads = false;
    uint8_t at_zero = 0;

    for (unsigned i = 0; i < 4; i++) {
        const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCCNTCTLR + i);
        const uint16_t value = (uint16_t)unit->registers[TW_TRCCNTVR + i];
        const bool reload_event = tw_etmv4_unit_event_is_active(unit, control >> 8 & 0x9f);
        const bool reloads_itself = control >> 16 & 1;
        const bool counts = tw_etmv4_unit_event_is_active(unit, control & 0x9f) ||
                            ((i & 1) && control >> 17 & 1 && lower_reloads);
        const bool reloads = reload_event || (reloads_itself && counts && value == 0);

        if (value == 0 && (!reloads_itself || (counts && !reload_event)))
            at_zero |= (uint8_t)(1u << i);
        if (reloads)
            unit->registers[TW_TRCCNTVR + i] = unit->registers[TW_TRCCNTRLDVR + i] & 0xffff;
        else if (counts && value)
            unit->registers[TW_TRCCNTVR + i] = value - 1u;
        lower_reloads = reloads;
    }
    return at_zero;
}

/* Forward beats backward; several steps in one cycle; states passed through count too. */
static void step_sequencer(struct tw_etmv4_unit *unit)
{
    unsigned state = tw_etmv4_unit_value(unit, TW_TRCSEQSTR) & 3;
    bool forward[3], backward[3];
    unsigned hits = 0;

    for (unsigned i = 0; i < 3; i++) {
        const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCSEQEVR + i);

        forward[i] = tw_etmv4_unit_event_is_active(unit, control & 0x9f);
        backward[i] = tw_etmv4_unit_event_is_active(unit, control >> 8 & 0x9f) && !forward[i];
    }
    if (tw_etmv4_unit_event_is_active(unit,
                                      tw_etmv4_unit_value(unit, TW_TRCSEQRSTEVR) & 0x9f)) {
        unit->registers[TW_TRCSEQSTR] = 0;
        unit->sequencer = 1;
        return;
    }
    if (state < 3 && forward[state]) {
        while (state < 3 && forward[state])
            hits |= 1u << ++state;
    } else {
        while (state > 0 && backward[state - 1])
            hits |= 1u << --state;
    }
    unit->registers[TW_TRCSEQSTR] = state;
    unit->sequencer = (uint8_t)(hits ? hits : 1u << state);
}

static void step_events(struct tw_etmv4_unit *unit)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCEVENTCTL0R);
    const uint32_t enabled = tw_etmv4_unit_value(unit, TW_TRCEVENTCTL1R) & 0xf;
    uint8_t active = 0, traced;

    for (unsigned i = 0; i < unit->setup.event_count; i++)
        if (tw_etmv4_unit_event_is_active(unit, control >> (8 * i) & 0x9f))
            active |= (uint8_t)(1u << i);
    unit->events_out |= active;
    traced = (uint8_t)(active & enabled);
    if (!traced)
        return;
    if (unit->is_overflowing)
        unit->lost_events |= traced;
    else
        tw_etmv4_unit_emit_events(unit, traced);
}

void tw_etmv4_unit_step_resources(struct tw_etmv4_unit *unit)
{
    uint8_t at_zero;

    if (unit->is_paused)
        return;
    step_events(unit);
    if (unit->setup.timestamps &&
        tw_etmv4_unit_event_is_active(unit, tw_etmv4_unit_value(unit, TW_TRCTSCTLR) & 0x9f))
        unit->timestamp_is_due = true;
    at_zero = step_counters(unit);
    step_sequencer(unit);
    unit->counters_at_zero = at_zero; /* seen from the next cycle on, as the states are */
    unit->sac_hits = 0;
    unit->arc_hits = 0;
    unit->external = 0;
    unit->fired = 0;
}

void tw_etmv4_unit_pause(struct tw_etmv4_unit *unit, bool is_paused)
{
    unit->is_paused = is_paused;
    if (is_paused)
        return;
    /* What was latched is active for one cycle. */
    unit->external |= (uint8_t)(tw_etmv4_unit_value(unit, TW_TRCRSR) & 0xf);
    unit->registers[TW_TRCRSR] &= ~(uint64_t)0xf;
    for (unsigned i = 0; i < 8; i++)
        if (unit->registers[TW_TRCSSCSR + i] >> 30 & 1) {
            unit->registers[TW_TRCSSCSR + i] &= ~((uint64_t)1 << 30);
            unit->fired |= (uint8_t)(1u << i);
        }
}

void tw_etmv4_unit_fire(struct tw_etmv4_unit *unit, uint8_t shots)
{
    for (unsigned i = 0; i < 8; i++) {
        uint64_t *status = &unit->registers[TW_TRCSSCSR + i];

        if (!(shots >> i & 1) ||
            (*status >> 31 & 1 && !(tw_etmv4_unit_value(unit, TW_TRCSSCCR + i) >> 24 & 1)))
            continue;
        *status |= (uint64_t)1 << 31;
        if (unit->is_paused)
            *status |= (uint64_t)1 << 30;
        else
            unit->fired |= (uint8_t)(1u << i);
    }
}

void tw_etmv4_unit_take_external(struct tw_etmv4_unit *unit, uint16_t number)
{
    const bool reaches =
        number == PMU_OVFS || number == TRB_TRIG ||
        (number >= CTI_TRIGOUT4 && number <= CTI_TRIGOUT7) ||
        (number == PMU_HOVFS && tw_etmv4_unit_value(unit, TW_TRFCR_EL2) >> 1 & 1);
    uint8_t inputs = 0;

    for (unsigned i = 0; i < 4; i++) {
        const uint32_t selected =
            unit->setup.is_ete ? tw_etmv4_unit_value(unit, TW_TRCEXTINSELR + i) & 0xffff
                               : tw_etmv4_unit_value(unit, TW_TRCEXTINSELR) >> (8 * i) & 0xff;

        if (selected == number)
            inputs |= (uint8_t)(1u << i);
    }
    if (!unit->is_paused)
        unit->external |= inputs;
    else if (reaches)
        unit->registers[TW_TRCRSR] |= inputs;
}
