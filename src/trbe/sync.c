/* SPDX-License-Identifier: BSD-2-Clause */
/* Barriers: when direct writes act, when trace is finished, complete, and seen (D6.6, D6.7). */
#include "trbe/unit.h"

/* The trace unit is disabled: by its enable, or by the PE's OS Lock (R_TMLTF). */
static bool is_source_off(const struct tw_trbe *unit)
{
    return !(unit->used[TW_TRBE_TRCPRGCTLR] & 1) || unit->used[TW_TRBE_OSLAR] & 1;
}

/* Whether the processor, after a context synchronization event, makes no trace. */
static bool is_quiet(const struct tw_trbe *unit)
{
    return !tw_trbe_is_allowed_at(unit, unit->el) ||
           (unit->models_source && is_source_off(unit));
}

/* R_BFJKD, R_MJQXM: direct writes act.  R_VTNCS: what is finished can be read. */
static void synchronize(struct tw_trbe *unit)
{
    for (unsigned i = 0; i < TW_TRBE_REGISTERS; i++) {
        const uint32_t bit = 1u << i;

        if (unit->direct & bit)
            unit->used[i] = unit->seen[i];
        else if (unit->finished & bit)
            unit->seen[i] = unit->used[i];
    }
    unit->direct = unit->finished = 0;
    unit->is_visible = unit->is_finished;
    unit->is_abort_visible = unit->is_complete;
    unit->is_quiet_region = is_quiet(unit);
    if (!unit->is_quiet_region) {
        unit->is_silent = false;
        unit->is_finished = unit->is_complete = unit->is_visible = false;
        unit->is_abort_visible = false;
    }
    tw_trbe_lines(unit);
}

void tw_trbe_isb(struct tw_trbe *unit)
{
    synchronize(unit);
}

void tw_trbe_enter(struct tw_trbe *unit, unsigned el)
{
    if (el > 3 || (el == 3 && !tw_trbe_has(unit, TW_TRBE_EL3)) ||
        (el == 2 && !tw_trbe_has(unit, TW_TRBE_EL2)))
        return;
    unit->el = (uint8_t)el;
    synchronize(unit);
}

/* R_MRVPT, R_WYHRT: only in a quiet region is everything before it finished. */
void tw_trbe_tsb(struct tw_trbe *unit)
{
    const bool is_valid = unit->is_halted ? is_source_off(unit) : unit->is_quiet_region;

    if (!is_valid && unit->config.timing == TW_TRBE_LATE)
        return;
    tw_trbe_process_queue(unit);
    tw_trbe_flush_all(unit);
    tw_trbe_lines(unit);
    if (!is_valid)
        return;
    unit->finished |= unit->indirect;
    unit->indirect = 0;
    unit->synchronized = unit->waiting_count;
    unit->is_silent = true;
    unit->is_finished = true;
}

/* R_VLWDM: completes the writes that a TSB CSYNC synchronized.  R_JPPZZ: only then aborts. */
void tw_trbe_dsb(struct tw_trbe *unit)
{
    tw_trbe_perform(unit, unit->synchronized);
    if (!unit->is_finished)
        return;
    unit->is_complete = true;
    unit->finished |= unit->indirect;
    unit->indirect = 0;
}

void tw_trbe_set_debug(struct tw_trbe *unit, bool is_halted)
{
    if (unit->is_halted == is_halted)
        return;
    unit->is_halted = is_halted;
    synchronize(unit); /* R_WYHRT: entry stands for the event; leaving is one */
}

void tw_trbe_set_pm(struct tw_trbe *unit, bool is_masked)
{
    unit->is_pm = is_masked;
    tw_trbe_lines(unit);
}

void tw_trbe_set_authentication(struct tw_trbe *unit, unsigned allowed)
{
    unit->authentication = (uint8_t)allowed;
    tw_trbe_lines(unit);
}

void tw_trbe_set_aarch32(struct tw_trbe *unit, bool is_aarch32)
{
    unit->is_aarch32 = is_aarch32;
}
