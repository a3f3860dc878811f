/* SPDX-License-Identifier: BSD-2-Clause */
/* A model of what ViewInst, its comparators and resources let through, written from the tables of
   the manual and not from the trace unit; for its tests. */
#ifndef ETMV4_TEST_FILTER_H
#define ETMV4_TEST_FILTER_H

#include "etmv4/test_unit.h"

enum { SACS = 16, SELECTORS = 12, SHOTS = 4, PMU_OVERFLOW = 0x400d };

/* Registers as they are written; a model reads them as the manual has their fields. */
struct programming {
    bool is_ete, is_self_hosted;
    uint32_t configr, victlr, viiectlr, vissctlr, vipcssctlr;
    uint64_t acvr[SACS];
    uint32_t acatr[SACS];
    uint32_t rsctlr[SELECTORS]; /* from 2 on */
    uint32_t cntctlr[4], cntrldvr[4], cntvr[4];
    uint32_t seqevr[3], seqrstevr, seqstr;
    uint32_t ssccr[SHOTS], sspcicr[SHOTS];
    uint32_t extinselr[4];
    uint32_t cidcvr, cidcctlr, vmidcvr, vmidcctlr;
    uint32_t trfcr_el1, trfcr_el2, mdcr_el3;
};

static inline uint32_t bits(uint64_t value, unsigned high, unsigned low)
{
    return (uint32_t)(value >> low & ((1u << (high - low + 1)) - 1));
}

/* ---- the model ---- */

struct model {
    const struct programming *p;
    struct tw_step_context where;
    bool is_started, is_paused;
    bool external[4], latched[4], fired[SHOTS], pending[SHOTS], status[SHOTS];
    uint8_t inputs;
    bool sac[SACS], arc[SACS / 2];             /* of the instruction */
    bool sac_cycle[SACS], arc_cycle[SACS / 2]; /* in this cycle */
    uint32_t counter[4];
    bool at_zero[4];
    unsigned sequencer;
    bool states[4];
};

static inline bool prohibited(const struct programming *p, const struct tw_step_context *where)
{
    if (!p->is_self_hosted)
        return false;
    if (where->el == 3 || (where->security == TW_SECURE && !bits(p->mdcr_el3, 18, 18)))
        return true;
    return where->el == 0   ? !bits(p->trfcr_el1, 0, 0)
           : where->el == 1 ? !bits(p->trfcr_el1, 1, 1)
                            : !bits(p->trfcr_el2, 1, 1);
}

static inline bool bytes_match(uint32_t value, uint32_t want, uint32_t ignored)
{
    for (unsigned i = 0; i < 4; i++)
        if (!bits(ignored, i, i) &&
            bits(value, 8 * i + 7, 8 * i) != bits(want, 8 * i + 7, 8 * i))
            return false;
    return true;
}

static inline bool cid_matches(const struct model *m)
{
    return bytes_match(m->where.context_id, m->p->cidcvr, m->p->cidcctlr);
}

static inline bool vmid_matches(const struct model *m)
{
    return bytes_match(m->where.vmid, m->p->vmidcvr, m->p->vmidcctlr);
}

/* Bits of TRCVICTLR from 16 on, of TRCACATR from 8 on. */
static inline bool level_is_out(uint32_t value, unsigned from,
                                const struct tw_step_context *where)
{
    if (where->el == 3)
        return value >> (from + 3) & 1;
    return value >> (from + where->el + (where->security == TW_SECURE ? 0u : 4u)) & 1;
}

static inline bool attributes(const struct model *m, unsigned sac)
{
    const uint32_t value = m->p->acatr[sac];
    const uint32_t type = bits(value, 3, 2);

    return !level_is_out(value, 8, &m->where) && (!(type & 1) || cid_matches(m)) &&
           (!(type & 2) || vmid_matches(m));
}

static inline bool one_of(const bool *list, unsigned count, uint32_t chosen)
{
    for (unsigned i = 0; i < count; i++)
        if (chosen >> i & 1 && list[i])
            return true;
    return false;
}

static inline bool select_resource(const struct model *m, unsigned selector)
{
    const uint32_t control = selector >= 2 ? m->p->rsctlr[selector - 2] : 0;
    const uint32_t chosen = bits(control, 15, 0);
    bool result = false;

    if (selector < 2)
        return selector == 1;
    switch (bits(control, 19, 16)) {
    case 0:
        result = one_of(m->external, 4, chosen);
        break;
    case 1:
        result = chosen & m->inputs;
        break;
    case 2:
        result = one_of(m->at_zero, 4, chosen) || one_of(m->states, 4, chosen >> 4);
        break;
    case 3:
        result = one_of(m->fired, SHOTS, chosen);
        break;
    case 4:
        result = one_of(m->sac_cycle, SACS, chosen);
        break;
    case 5:
        result = one_of(m->arc_cycle, SACS / 2, chosen);
        break;
    case 6:
        result = chosen & 1 && cid_matches(m);
        break;
    case 7:
        result = chosen & 1 && vmid_matches(m);
        break;
    default:
        break;
    }
    return result != bits(control, 20, 20);
}

/* An event field: TYPE in bit 7, SEL below. */
static inline bool event(const struct model *m, uint32_t field)
{
    const unsigned pair = bits(field, 3, 0);
    unsigned function;
    bool a, b;

    if (!bits(field, 7, 7))
        return select_resource(m, bits(field, 4, 0));
    /* The table has A and B as they are before INV. */
    a = select_resource(m, 2 * pair) != bits(m->p->rsctlr[2 * pair - 2], 20, 20);
    b = select_resource(m, 2 * pair + 1) != bits(m->p->rsctlr[2 * pair - 1], 20, 20);
    function = bits(m->p->rsctlr[2 * pair - 2], 21, 20) << 1 |
               bits(m->p->rsctlr[2 * pair - 1], 20, 20);
    switch (function) {
    case 0:
        return a && b;
    case 2:
        return !a && b;
    case 3:
        return !a && !b;
    case 4:
        return !(a && b);
    case 5:
        return !a || b;
    default:
        return a || b;
    }
}

static inline void step_model_counters(struct model *m, bool at_zero[4])
{
    bool reloads[4] = { false };
    uint32_t next[4];

    for (unsigned k = 0; k < 4; k++) {
        const uint32_t control = m->p->cntctlr[k];
        const uint32_t value = m->counter[k];
        const bool chained = k % 2 && bits(control, 17, 17) && reloads[k - 1];
        const bool dec = event(m, bits(control, 7, 0)) || chained;
        const bool rldevent = event(m, bits(control, 15, 8));
        const bool rldself = bits(control, 16, 16);

        reloads[k] = rldevent || (rldself && dec && value == 0);
        at_zero[k] = value == 0 && (!rldself || (dec && !rldevent));
        next[k] = reloads[k] ? m->p->cntrldvr[k] : dec && value ? value - 1 : value;
    }
    memcpy(m->counter, next, sizeof next);
}

static inline void step_model_sequencer(struct model *m)
{
    const unsigned from = m->sequencer;
    bool f[3], b[3];
    const bool is_reset = event(m, bits(m->p->seqrstevr, 7, 0));
    unsigned to = from;

    for (unsigned i = 0; i < 3; i++) {
        f[i] = event(m, bits(m->p->seqevr[i], 7, 0));
        b[i] = event(m, bits(m->p->seqevr[i], 15, 8));
    }
    memset(m->states, 0, sizeof m->states);
    if (is_reset) {
        m->sequencer = 0;
        m->states[0] = true;
        return;
    }
    switch (from) {
    case 0:
        to = !f[0] ? 0 : !f[1] ? 1 : !f[2] ? 2 : 3;
        break;
    case 1:
        to = b[0] && !f[0] && !f[1] ? 0 : (!b[0] || f[0]) && !f[1] ? 1 : f[1] && !f[2] ? 2 : 3;
        break;
    case 2:
        to = f[2] ? 3 : !b[1] || f[1] ? 2 : b[1] && !f[1] && (!b[0] || f[0]) ? 1 : 0;
        break;
    default:
        to = !b[2] || f[2] ? 3 : !b[1] || f[1] ? 2 : !b[0] || f[0] ? 1 : 0;
        break;
    }
    /* Where it went through, and where it is. */
    for (unsigned at = from; at != to;)
        m->states[at += to > at ? 1u : UINT32_MAX] = true;
    m->states[to] = true;
    m->sequencer = to;
}

static inline void end_cycle(struct model *m)
{
    bool at_zero[4];

    if (m->is_paused)
        return;
    step_model_counters(m, at_zero);
    step_model_sequencer(m);
    memcpy(m->at_zero, at_zero, sizeof at_zero);
    memset(m->sac_cycle, 0, sizeof m->sac_cycle);
    memset(m->arc_cycle, 0, sizeof m->arc_cycle);
    memset(m->external, 0, sizeof m->external);
    memset(m->fired, 0, sizeof m->fired);
}

static inline void fire(struct model *m)
{
    for (unsigned i = 0; i < SHOTS; i++) {
        const uint32_t control = m->p->ssccr[i];

        if (!one_of(m->sac, SACS, bits(control, 15, 0)) &&
            !one_of(m->arc, SACS / 2, bits(control, 23, 16)) && !(m->p->sspcicr[i] & m->inputs))
            continue;
        if (m->status[i] && !bits(control, 24, 24))
            continue;
        m->status[i] = true;
        m->fired[i] = true;
    }
}

static inline void set_place(struct model *m, const struct tw_step_context *where)
{
    const bool is_paused = prohibited(m->p, where);

    m->where = *where;
    if (m->is_paused && !is_paused)
        for (unsigned i = 0; i < 4; i++) {
            m->external[i] = m->external[i] || m->latched[i];
            m->latched[i] = false;
        }
    m->is_paused = is_paused;
}

static inline bool view(struct model *m, const struct tw_retired *at)
{
    const struct programming *p = m->p;
    const uint32_t include = bits(p->viiectlr, 7, 0), exclude = bits(p->viiectlr, 23, 16);
    bool is_wanted;

    for (unsigned i = 0; i < SACS; i++) {
        m->sac[i] = p->acvr[i] == at->address && attributes(m, i);
        m->sac_cycle[i] = m->sac_cycle[i] || m->sac[i];
    }
    for (unsigned i = 0; i < SACS / 2; i++) {
        m->arc[i] = p->acvr[2 * i] <= at->address && at->address <= p->acvr[2 * i + 1] &&
                    attributes(m, 2 * i);
        m->arc_cycle[i] = m->arc_cycle[i] || m->arc[i];
    }
    fire(m);
    if (one_of(m->sac, SACS, bits(p->vissctlr, 15, 0)) ||
        (m->inputs & bits(p->vipcssctlr, 7, 0)))
        m->is_started = true;
    is_wanted = m->is_started && (!include || one_of(m->arc, SACS / 2, include)) &&
                !one_of(m->arc, SACS / 2, exclude) && !level_is_out(p->victlr, 16, &m->where) &&
                event(m, bits(p->victlr, 7, 0));
    if (one_of(m->sac, SACS, bits(p->vissctlr, 31, 16)) ||
        (m->inputs & bits(p->vipcssctlr, 23, 16)))
        m->is_started = false;
    return is_wanted;
}

static inline bool wants(void *context, const struct tw_retired *instruction,
                         const struct tw_step_context *where)
{
    struct model *m = context;
    bool is_wanted;

    set_place(m, where);
    if (!instruction)
        return !m->is_paused;
    is_wanted = !m->is_paused && view(m, instruction);
    end_cycle(m);
    return is_wanted;
}

static inline void on_step(void *context, const struct tw_step *step)
{
    struct model *m = context;

    if (step->kind == TW_STEP_INPUTS)
        m->inputs = (uint8_t)step->value;
    for (uint64_t i = 0; step->kind == TW_STEP_CYCLES && i < step->value; i++)
        end_cycle(m);
    for (unsigned i = 0; step->kind == TW_STEP_EXTERNAL && i < 4; i++) {
        if (m->p->extinselr[i] != step->value)
            continue;
        if (!m->is_paused)
            m->external[i] = true;
        else if (step->value == PMU_OVERFLOW)
            m->latched[i] = true;
    }
}

static inline struct model model_new(const struct programming *p)
{
    struct model m = { .p = p, .is_started = bits(p->victlr, 9, 9), .sequencer = p->seqstr };

    memcpy(m.counter, p->cntvr, sizeof m.counter);
    m.states[p->seqstr] = true;
    return m;
}

#endif
