/* SPDX-License-Identifier: BSD-2-Clause */
/* Predicates of the Trace Buffer Unit: enabled, running, who owns it, where trace is prohibited. */
#include "trbe/unit.h"

#include "base/compiler.h"

bool tw_trbe_has(const struct tw_trbe *unit, unsigned feature)
{
    return (unit->config.features & feature) != 0;
}

bool tw_trbe_is_self_hosted(const struct tw_trbe *unit)
{
    const uint64_t mdcr = unit->used[TW_TRBE_MDCR_EL3];
    const bool secure_watch = (unit->authentication & TW_TRBE_AUTH_S_WATCH) != 0;
    const bool realm_watch = (unit->authentication & TW_TRBE_AUTH_RL_WATCH) != 0;

    if (!(unit->used[TW_TRBE_EDSCR] & EDSCR_TFO))
        return true;
    /* The wish for external trace is granted only where authentication permits it. */
    if (tw_trbe_has(unit, TW_TRBE_RME))
        return (mdcr & MDCR3_STE && tw_trbe_has(unit, TW_TRBE_SEL2) && !secure_watch) ||
               (mdcr & MDCR3_RLTE && !realm_watch);
    if (tw_trbe_has(unit, TW_TRBE_EL3))
        return mdcr & MDCR3_STE && !secure_watch;
    return tw_trbe_has(unit, TW_TRBE_SECURE) && !secure_watch;
}

bool tw_trbe_is_enabled(const struct tw_trbe *unit)
{
    const uint64_t limitr = unit->used[TW_TRBE_LIMITR];

    if (tw_trbe_is_self_hosted(unit))
        return limitr & TW_TRBE_LIMITR_E && !unit->is_aarch32;
    return tw_trbe_has(unit, TW_TRBE_EXT) && limitr & TW_TRBE_LIMITR_XE;
}

bool tw_trbe_is_running(const struct tw_trbe *unit)
{
    if (!tw_trbe_is_enabled(unit) || unit->used[TW_TRBE_SR_EL1] & TW_TRBE_SR_S)
        return false;
    if (!tw_trbe_has(unit, TW_TRBE_EXC) || !tw_trbe_is_self_hosted(unit))
        return true;
    if (tw_trbe_has(unit, TW_TRBE_EL3) && tw_trbe_trbee(unit) & 2 &&
        unit->used[TW_TRBE_SR_EL3] & TW_TRBE_SR_S)
        return false;
    return !(tw_trbe_el2_ee(unit) & 2 && unit->used[TW_TRBE_SR_EL2] & TW_TRBE_SR_S);
}

/* R_HBZNT; a reserved value selects Secure where there is such a state. */
uint8_t tw_trbe_owner_security(const struct tw_trbe *unit)
{
    const uint64_t mdcr = unit->used[TW_TRBE_MDCR_EL3];
    const bool is_high = tw_trbe_bits(mdcr, 25, 1) != 0;

    if (!tw_trbe_has(unit, TW_TRBE_EL3))
        return tw_trbe_has(unit, TW_TRBE_SECURE) ? TW_TRBE_SECURE_STATE : TW_TRBE_NON_SECURE;
    if (!is_high)
        return tw_trbe_has(unit, TW_TRBE_SECURE) ? TW_TRBE_SECURE_STATE : TW_TRBE_NON_SECURE;
    return tw_trbe_has(unit, TW_TRBE_RME) && mdcr & MDCR3_NSTBE ? TW_TRBE_REALM
                                                                : TW_TRBE_NON_SECURE;
}

/* R_RTGLJ */
bool tw_trbe_owner_is_reserved(const struct tw_trbe *unit)
{
    const uint64_t mdcr = unit->used[TW_TRBE_MDCR_EL3];

    if (!tw_trbe_has(unit, TW_TRBE_EL3) || tw_trbe_bits(mdcr, 25, 1))
        return false;
    return (tw_trbe_has(unit, TW_TRBE_RME) && mdcr & MDCR3_NSTBE) ||
           !tw_trbe_has(unit, TW_TRBE_SECURE);
}

bool tw_trbe_has_el2(const struct tw_trbe *unit, uint8_t security)
{
    if (!tw_trbe_has(unit, TW_TRBE_EL2) || security == TW_TRBE_ROOT)
        return false;
    if (security != TW_TRBE_SECURE_STATE)
        return true;
    return tw_trbe_has(unit, TW_TRBE_SEL2) &&
           (!tw_trbe_has(unit, TW_TRBE_EL3) || unit->used[TW_TRBE_SCR_EL3] & SCR_EEL2);
}

uint8_t tw_trbe_owner_el(const struct tw_trbe *unit)
{
    if (!tw_trbe_has_el2(unit, tw_trbe_owner_security(unit)))
        return 1;
    return tw_trbe_bits(unit->used[TW_TRBE_MDCR_EL2], 24, 2) == 0 ? 2 : 1;
}

uint8_t tw_trbe_security_at(const struct tw_trbe *unit, unsigned el)
{
    const uint64_t scr = unit->used[TW_TRBE_SCR_EL3];

    if (!tw_trbe_has(unit, TW_TRBE_EL3))
        return tw_trbe_has(unit, TW_TRBE_SECURE) ? TW_TRBE_SECURE_STATE : TW_TRBE_NON_SECURE;
    if (el == 3)
        return tw_trbe_has(unit, TW_TRBE_RME) ? TW_TRBE_ROOT : TW_TRBE_SECURE_STATE;
    if (tw_trbe_has(unit, TW_TRBE_RME) && scr & SCR_NSE && scr & SCR_NS)
        return TW_TRBE_REALM;
    if (scr & SCR_NS)
        return TW_TRBE_NON_SECURE;
    return tw_trbe_has(unit, TW_TRBE_SECURE) ? TW_TRBE_SECURE_STATE : TW_TRBE_NON_SECURE;
}

bool tw_trbe_effective_nvm(const struct tw_trbe *unit)
{
    if (!tw_trbe_is_self_hosted(unit))
        return true;
    if (tw_trbe_has(unit, TW_TRBE_EXC) && tw_trbe_owner_el(unit) == 1 &&
        tw_trbe_has_el2(unit, tw_trbe_owner_security(unit)) &&
        unit->used[TW_TRBE_TRFCR_EL2] & TRFCR_DNVM)
        return false;
    return (unit->used[TW_TRBE_LIMITR] & TW_TRBE_LIMITR_NVM) != 0;
}

/* MDCR_EL3.TRBEE; without EL3 its effective value is 0b01. */
unsigned tw_trbe_trbee(const struct tw_trbe *unit)
{
    if (!tw_trbe_has(unit, TW_TRBE_EL3))
        return 1;
    return (unsigned)tw_trbe_bits(unit->used[TW_TRBE_MDCR_EL3], 53, 2);
}

/* EL2 as SCR_EL3 selects it, whatever the current Exception level. */
static bool has_selected_el2(const struct tw_trbe *unit)
{
    return tw_trbe_has_el2(unit, tw_trbe_security_at(unit, 1));
}

unsigned tw_trbe_el2_ee(const struct tw_trbe *unit)
{
    if (!tw_trbe_has(unit, TW_TRBE_EXC) || !tw_trbe_is_self_hosted(unit) ||
        tw_trbe_trbee(unit) == 0)
        return 0;
    return has_selected_el2(unit) ? (unsigned)tw_trbe_bits(unit->used[TW_TRBE_TRFCR_EL2], 8, 2)
                                  : 1;
}

/* 0b00 or 0b11: the other two act as these. */
unsigned tw_trbe_el1_ee(const struct tw_trbe *unit)
{
    if (tw_trbe_el2_ee(unit) == 0)
        return 0;
    return tw_trbe_bits(unit->used[TW_TRBE_TRFCR_EL1], 9, 1) ? 3 : 0;
}

bool tw_trbe_is_allowed_at(const struct tw_trbe *unit, unsigned el)
{
    const uint8_t security = tw_trbe_security_at(unit, el);
    const bool is_tge =
        tw_trbe_has_el2(unit, security) && unit->used[TW_TRBE_HCR_EL2] & HCR_TGE;
    const uint64_t filter2 = unit->used[TW_TRBE_TRFCR_EL2];
    const uint64_t filter1 = unit->used[TW_TRBE_TRFCR_EL1];

    if (unit->is_halted)
        return false;
    if (!tw_trbe_is_self_hosted(unit)) {
        static const uint8_t watch[] = { TW_TRBE_AUTH_S_WATCH, TW_TRBE_AUTH_NS_WATCH,
                                         TW_TRBE_AUTH_RT_WATCH, TW_TRBE_AUTH_RL_WATCH };

        return (unit->authentication & watch[security]) != 0;
    }
    if (security == TW_TRBE_ROOT || el >= 3)
        return false;
    if (security == TW_TRBE_SECURE_STATE && tw_trbe_has(unit, TW_TRBE_EL3) &&
        !(unit->used[TW_TRBE_MDCR_EL3] & MDCR3_STE))
        return false;
    if (security == TW_TRBE_REALM && !(unit->used[TW_TRBE_MDCR_EL3] & MDCR3_RLTE))
        return false;
    if (tw_trbe_is_enabled(unit)) {
        const uint8_t owner = tw_trbe_owner_el(unit);

        if (security != tw_trbe_owner_security(unit) || owner < el || (is_tge && owner == 1))
            return false;
    }
    if (el == 2)
        return (filter2 & TRFCR_E1TRE) != 0;
    if (el == 1)
        return (filter1 & TRFCR_E1TRE) != 0;
    return is_tge ? (filter2 & TRFCR_E0TRE) != 0 : (filter1 & TRFCR_E0TRE) != 0;
}

static bool is_walk_abort(unsigned status)
{
    return status == 0x10 || (status >= 0x12 && status <= 0x17) || status == 0x1b;
}

/* Tables D6-5 to D6-7. */
unsigned tw_trbe_recorder(const struct tw_trbe *unit, const struct tw_trbe_fault *fault)
{
    const unsigned trbee = tw_trbe_trbee(unit);
    const unsigned ee = tw_trbe_el2_ee(unit);
    const bool is_granule = fault && fault->status >= 0x22 && fault->status <= 0x28;
    const bool is_abort = fault && (is_walk_abort(fault->status) || fault->status == 0x11);
    const bool is_stage2 = fault && fault->class_code == TW_TRBE_EC_STAGE2;
    const bool is_gpc = fault && fault->class_code == TW_TRBE_EC_GPC;
    const uint64_t scr = unit->used[TW_TRBE_SCR_EL3], hcr = unit->used[TW_TRBE_HCR_EL2];

    if (!tw_trbe_has(unit, TW_TRBE_EXC) || !tw_trbe_is_self_hosted(unit))
        return 1;
    if (tw_trbe_has(unit, TW_TRBE_EL3) && trbee == 3)
        return 3;
    if (tw_trbe_has(unit, TW_TRBE_EL3) && trbee == 2 &&
        (is_gpc || (is_granule && scr & SCR_GPF) || (is_abort && scr & SCR_EA)))
        return 3;
    if (ee == 3)
        return 2;
    if (ee != 2 || !fault)
        return 1;
    if (is_gpc || is_stage2 || tw_trbe_owner_el(unit) == 2 || (is_granule && hcr & HCR_GPF) ||
        (is_abort && hcr & HCR_TEA))
        return 2;
    return 1;
}

/* R_MFMXQ, highest target first. */
uint8_t tw_trbe_pending(const struct tw_trbe *unit, bool *is_unmasked)
{
    const unsigned ee = tw_trbe_el2_ee(unit);
    const bool is_owner =
        tw_trbe_security_at(unit, unit->el) == tw_trbe_owner_security(unit) && !unit->is_halted;
    const bool is_tge = tw_trbe_has_el2(unit, tw_trbe_security_at(unit, 1)) &&
                        unit->used[TW_TRBE_HCR_EL2] & HCR_TGE;

    *is_unmasked = false;
    if (!tw_trbe_has(unit, TW_TRBE_EXC) || !tw_trbe_is_self_hosted(unit))
        return 0;
    if (tw_trbe_has(unit, TW_TRBE_EL3) && tw_trbe_trbee(unit) & 2 &&
        unit->used[TW_TRBE_SR_EL3] & TW_TRBE_SR_IRQ) {
        *is_unmasked = unit->el < 3 && !unit->is_halted;
        return 3;
    }
    if (has_selected_el2(unit) && ee & 2 && unit->used[TW_TRBE_SR_EL2] & TW_TRBE_SR_IRQ) {
        const bool is_kernel =
            ee == 3 && unit->used[TW_TRBE_TRFCR_EL2] & TRFCR_KE && !unit->is_pm;

        *is_unmasked = is_owner && (unit->el < 2 || (unit->el == 2 && is_kernel));
        return 2;
    }
    if (tw_trbe_el1_ee(unit) == 3 && unit->used[TW_TRBE_SR_EL1] & TW_TRBE_SR_IRQ) {
        const bool is_kernel = unit->used[TW_TRBE_TRFCR_EL1] & TRFCR_KE && !unit->is_pm;

        *is_unmasked = is_owner && (unit->el == 0 || (unit->el == 1 && is_kernel && !is_tge));
        return is_tge ? 2 : 1;
    }
    return 0;
}

void tw_trbe_get_state(const struct tw_trbe *unit, struct tw_trbe_state *state)
{
    *state = (struct tw_trbe_state){
        .is_self_hosted = tw_trbe_is_self_hosted(unit),
        .is_enabled = tw_trbe_is_enabled(unit),
        .is_running = tw_trbe_is_running(unit),
        .is_trace_allowed = tw_trbe_is_allowed_at(unit, unit->el),
        .is_external = !tw_trbe_is_self_hosted(unit) && tw_trbe_has(unit, TW_TRBE_EXT),
        .effective_nvm = tw_trbe_effective_nvm(unit),
        .irq = unit->irq,
        .el = unit->el,
        .security = tw_trbe_security_at(unit, unit->el),
        .owner_el = tw_trbe_owner_el(unit),
        .owner_security = tw_trbe_owner_security(unit),
        .is_finished = unit->is_finished,
        .is_complete = unit->is_complete,
        .is_visible = unit->is_visible,
        .is_abort_visible = unit->is_abort_visible,
    };
    state->is_stopped = state->is_enabled && !state->is_running;
    state->regime = !state->is_self_hosted                  ? TW_TRBE_PHYSICAL
                    : state->owner_el == 1                  ? TW_TRBE_EL10
                    : unit->used[TW_TRBE_HCR_EL2] & HCR_E2H ? TW_TRBE_EL20
                                                            : TW_TRBE_EL2_ONLY;
    state->exception = tw_trbe_pending(unit, &state->is_exception_unmasked);
}

const struct tw_trbe_counts *tw_trbe_get_counts(const struct tw_trbe *unit)
{
    return &unit->counts;
}

const char *tw_trbe_event_name(unsigned number)
{
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {
        { 0x400c, "TRB_WRAP" },     { 0x400d, "PMU_OVFS" },     { 0x400e, "TRB_TRIG" },
        { 0x400f, "PMU_HOVFS" },    { 0x4010, "TRCEXTOUT0" },   { 0x4011, "TRCEXTOUT1" },
        { 0x4012, "TRCEXTOUT2" },   { 0x4013, "TRCEXTOUT3" },   { 0x4018, "CTI_TRIGOUT4" },
        { 0x4019, "CTI_TRIGOUT5" }, { 0x401a, "CTI_TRIGOUT6" }, { 0x401b, "CTI_TRIGOUT7" },
    };

    for (size_t i = 0; i < TW_LENGTH(names); i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

bool tw_trbe_event_reaches(const struct tw_trbe *unit, unsigned number)
{
    if (tw_trbe_is_allowed_at(unit, unit->el))
        return true;
    if (number == TW_TRBE_EVENT_PMU_HOVFS)
        return (unit->used[TW_TRBE_TRFCR_EL2] & TRFCR_E1TRE) != 0;
    return number == TW_TRBE_EVENT_PMU_OVFS || number == TW_TRBE_EVENT_TRB_TRIG ||
           (number >= TW_TRBE_EVENT_CTI_TRIGOUT4 && number <= TW_TRBE_EVENT_CTI_TRIGOUT4 + 3);
}
