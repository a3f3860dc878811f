/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trace unit traces when filters are mixed at random: address ranges, start and stop,
   Exception levels, prohibited regions, and resources of every kind.  A model of its own, written
   from the tables of the manual, says which instructions must come back. */
#include "etmv4/test_peer.h"
#include "etmv4/test_program.h"

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

static uint32_t bits(uint64_t value, unsigned high, unsigned low)
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

static bool prohibited(const struct programming *p, const struct tw_step_context *where)
{
    if (!p->is_self_hosted)
        return false;
    if (where->el == 3 || (where->security == TW_SECURE && !bits(p->mdcr_el3, 18, 18)))
        return true;
    return where->el == 0   ? !bits(p->trfcr_el1, 0, 0)
           : where->el == 1 ? !bits(p->trfcr_el1, 1, 1)
                            : !bits(p->trfcr_el2, 1, 1);
}

static bool bytes_match(uint32_t value, uint32_t want, uint32_t ignored)
{
    for (unsigned i = 0; i < 4; i++)
        if (!bits(ignored, i, i) &&
            bits(value, 8 * i + 7, 8 * i) != bits(want, 8 * i + 7, 8 * i))
            return false;
    return true;
}

static bool cid_matches(const struct model *m)
{
    return bytes_match(m->where.context_id, m->p->cidcvr, m->p->cidcctlr);
}

static bool vmid_matches(const struct model *m)
{
    return bytes_match(m->where.vmid, m->p->vmidcvr, m->p->vmidcctlr);
}

/* Bits of TRCVICTLR from 16 on, of TRCACATR from 8 on. */
static bool level_is_out(uint32_t value, unsigned from, const struct tw_step_context *where)
{
    if (where->el == 3)
        return value >> (from + 3) & 1;
    return value >> (from + where->el + (where->security == TW_SECURE ? 0u : 4u)) & 1;
}

static bool attributes(const struct model *m, unsigned sac)
{
    const uint32_t value = m->p->acatr[sac];
    const uint32_t type = bits(value, 3, 2);

    return !level_is_out(value, 8, &m->where) && (!(type & 1) || cid_matches(m)) &&
           (!(type & 2) || vmid_matches(m));
}

static bool one_of(const bool *list, unsigned count, uint32_t chosen)
{
    for (unsigned i = 0; i < count; i++)
        if (chosen >> i & 1 && list[i])
            return true;
    return false;
}

static bool select_resource(const struct model *m, unsigned selector)
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
static bool event(const struct model *m, uint32_t field)
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

static void step_model_counters(struct model *m, bool at_zero[4])
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

static void step_model_sequencer(struct model *m)
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

static void end_cycle(struct model *m)
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

static void fire(struct model *m)
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

static void set_place(struct model *m, const struct tw_step_context *where)
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

static bool view(struct model *m, const struct tw_retired *at)
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

static bool wants(void *context, const struct tw_retired *instruction,
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

static void on_step(void *context, const struct tw_step *step)
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

static struct model model_new(const struct programming *p)
{
    struct model m = { .p = p, .is_started = bits(p->victlr, 9, 9), .sequencer = p->seqstr };

    memcpy(m.counter, p->cntvr, sizeof m.counter);
    m.states[p->seqstr] = true;
    return m;
}

/* ---- the unit ---- */

static void set_many(struct tw_unit *unit, const char *name, const uint32_t *values,
                     unsigned first, unsigned count)
{
    char full[32];

    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(full, sizeof full, "%s%u", name, first + i);
        set_register(unit, full, values[i]);
    }
}

static struct tw_unit *make_unit(const struct programming *p)
{
    const struct tw_unit_config config = { .size = sizeof config,
                                           .is_ete = p->is_ete,
                                           .is_self_hosted = p->is_self_hosted };
    struct tw_unit *unit;

    CHECK_EQ(tw_unit_new(&unit, &config), TW_OK);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCCONFIGR", p->configr);
    set_register(unit, "TRCVICTLR", p->victlr);
    set_register(unit, "TRCVIIECTLR", p->viiectlr);
    set_register(unit, "TRCVISSCTLR", p->vissctlr);
    set_register(unit, "TRCVIPCSSCTLR", p->vipcssctlr);
    set_many(unit, "TRCACATR", p->acatr, 0, SACS);
    set_many(unit, "TRCRSCTLR", p->rsctlr, 2, SELECTORS);
    set_many(unit, "TRCCNTCTLR", p->cntctlr, 0, 4);
    set_many(unit, "TRCCNTRLDVR", p->cntrldvr, 0, 4);
    set_many(unit, "TRCCNTVR", p->cntvr, 0, 4);
    set_many(unit, "TRCSEQEVR", p->seqevr, 0, 3);
    set_register(unit, "TRCSEQRSTEVR", p->seqrstevr);
    set_register(unit, "TRCSEQSTR", p->seqstr);
    set_many(unit, "TRCSSCCR", p->ssccr, 0, SHOTS);
    set_many(unit, "TRCSSPCICR", p->sspcicr, 0, SHOTS);
    if (p->is_ete)
        set_many(unit, "TRCEXTINSELR", p->extinselr, 0, 4);
    else
        set_register(unit, "TRCEXTINSELR",
                     p->extinselr[0] | p->extinselr[1] << 8 | p->extinselr[2] << 16 |
                         p->extinselr[3] << 24);
    set_register(unit, "TRCCIDCVR0", p->cidcvr);
    set_register(unit, "TRCCIDCCTLR0", p->cidcctlr);
    set_register(unit, "TRCVMIDCVR0", p->vmidcvr);
    set_register(unit, "TRCVMIDCCTLR0", p->vmidcctlr);
    set_register(unit, "TRFCR_EL1", p->trfcr_el1);
    set_register(unit, "TRFCR_EL2", p->trfcr_el2);
    set_register(unit, "MDCR_EL3", p->mdcr_el3);
    for (unsigned i = 0; i < SACS; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "TRCACVR%u", i);
        set_register(unit, name, p->acvr[i]);
    }
    return unit;
}

/* The state that registers show must be the model's, too. */
static void check_state(const struct tw_unit *unit, const struct model *m)
{
    uint64_t value;

    for (unsigned i = 0; i < 4; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "TRCCNTVR%u", i);
        CHECK_EQ(tw_unit_read_register(unit, name, &value), TW_OK);
        CHECK_EQ(value, m->counter[i]);
        (void)snprintf(name, sizeof name, "TRCSSCSR%u", i);
        CHECK_EQ(tw_unit_read_register(unit, name, &value), TW_OK);
        CHECK_EQ(value >> 31, m->status[i]);
    }
    CHECK_EQ(tw_unit_read_register(unit, "TRCSEQSTR", &value), TW_OK);
    CHECK_EQ(value, m->sequencer);
    CHECK_EQ(tw_unit_read_register(unit, "TRCVICTLR", &value), TW_OK);
    CHECK_EQ(bits(value, 9, 9), m->is_started);
}

static uint64_t try_programming(const struct program *program, struct tw_image *image,
                                const struct programming *p)
{
    struct tw_unit *unit = make_unit(p);
    struct decoding decoding = decoding_new(unit, p->is_ete, image, false);
    struct model model = model_new(p), again = model;
    struct oracle oracle = { .steps = { .list = program->truth, .count = program->truth_count },
                             .wants = wants,
                             .on_step = on_step,
                             .wants_context = &model,
                             .p0_kinds = p0_kinds(p->is_ete) };
    struct held_against seen = {
        .oracle = &oracle, .who = "Trackway", .checks_cid = true, .checks_vmid = true
    };
    uint64_t came_back;
    const uint8_t *bytes;
    size_t size;

    set_register(unit, "TRCPRGCTLR", 1);
    for (size_t i = 0; i < program->step_count; i++)
        CHECK_EQ(tw_unit_step(unit, &program->steps[i]), TW_OK);
    set_register(unit, "TRCPRGCTLR", 0);
    bytes = tw_unit_output(unit, &size);
    if (size)
        decoding_feed(&decoding, &seen, bytes, size);
    decoding_end(&decoding, &seen);
    check_state(unit, &model);
    came_back = oracle.instructions;
    free(oracle.waiting);
    if (size && HAS_PEER) {
        struct oracle peers = { .steps = { .list = program->truth,
                                           .count = program->truth_count },
                                .wants = wants,
                                .on_step = on_step,
                                .wants_context = &again,
                                .p0_kinds = p0_kinds(p->is_ete) };

        seen =
            (struct held_against){ .oracle = &peers, .checks_cid = true, .checks_vmid = true };
        peer_check(unit, p->is_ete, image, &seen, bytes, size);
        free(peers.waiting);
    }
    tw_unit_free(unit);
    return came_back;
}

/* ---- random programming ---- */

enum part { RANGES = 1, POINTS = 2, LEVELS = 4, REGIONS = 8, RESOURCES = 16, ALL = 31 };

static uint32_t any(struct check_random *random, uint64_t below)
{
    return (uint32_t)check_random_below(random, below);
}

/* TRUE often, pairs now and then. */
static uint32_t any_event(struct check_random *random)
{
    if (any(random, 4) == 0)
        return 0x80 | (1 + any(random, SELECTORS / 2));
    return any(random, 5) == 0 ? any(random, 2) : 2 + any(random, SELECTORS);
}

static void make_selectors(struct check_random *random, struct programming *p)
{
    static const uint32_t chosen[] = { 0xf, 0xff, 0xff, 0xf, 0xffff, 0xff, 1, 1 };

    for (unsigned i = 0; i < SELECTORS; i++) {
        const uint32_t group = any(random, 8);

        p->rsctlr[i] = group << 16 | ((uint32_t)check_random_next(random) & chosen[group]) |
                       any(random, 2) << 20;
        if (i % 2 == 0)
            p->rsctlr[i] |= any(random, 2) << 21;
    }
    /* Two of the eight functions of a pair are reserved. */
    for (unsigned i = 0; i < SELECTORS; i += 2) {
        const uint32_t function =
            bits(p->rsctlr[i], 21, 20) << 1 | bits(p->rsctlr[i + 1], 20, 20);

        if (function == 1 || function == 6)
            p->rsctlr[i + 1] ^= 1u << 20;
    }
}

static void make_resources(struct check_random *random, struct programming *p)
{
    make_selectors(random, p);
    for (unsigned i = 0; i < 4; i++) {
        p->cntctlr[i] = any_event(random) | any_event(random) << 8 | any(random, 4) << 16;
        p->cntrldvr[i] = any(random, 30);
        p->cntvr[i] = any(random, 30);
        p->ssccr[i] = (uint32_t)check_random_next(random) &
                      (uint32_t)check_random_next(random) & 0x01ffffff;
        p->sspcicr[i] = any(random, 3) ? 0 : 1u << any(random, 8);
        p->extinselr[i] = 0x20 + i;
    }
    if (p->is_ete && any(random, 2))
        p->extinselr[any(random, 4)] = PMU_OVERFLOW;
    for (unsigned i = 0; i < 3; i++)
        p->seqevr[i] = any_event(random) | any_event(random) << 8;
    p->seqrstevr = any(random, 2) ? 0 : any_event(random);
    p->seqstr = any(random, 4);
    p->victlr = (p->victlr & ~0xffu) | any_event(random);
}

static struct programming make_programming(struct check_random *random,
                                           const struct program *program, unsigned parts)
{
    struct programming p = { .is_ete = any(random, 2), .configr = 0xc1, .victlr = 0x201 };

    if (any(random, 2))
        p.configr |= 0x1000;
    for (unsigned i = 0; i < SACS; i += 2) {
        const uint32_t first = any(random, SLOTS - 60);

        p.acvr[i] = program->slots[first].address;
        p.acvr[i + 1] = program->slots[first + any(random, 60)].address;
        if (any(random, 4) == 0)
            p.acatr[i] = any(random, 4) << 2 | (any(random, 2) ? any(random, 128) << 8 : 0);
        p.acatr[i + 1] = p.acatr[i];
    }
    p.cidcctlr = any(random, 2) ? 0xf : 0xc;
    p.vmidcvr = any(random, 3);
    if (parts & RANGES)
        p.viiectlr = (any(random, 2) ? 1u << any(random, 8) | 1u << any(random, 8) : 0) |
                     (any(random, 2) ? 0x10000u << any(random, 8) : 0);
    if (parts & POINTS) {
        p.victlr = (p.victlr & ~0x200u) | any(random, 2) << 9;
        p.vissctlr = 1u << any(random, 8) | 1u << any(random, 8) | 0x1000000u << any(random, 8);
        p.vipcssctlr = any(random, 2) ? 1u << any(random, 4) | 0x100000u << any(random, 4) : 0;
    }
    if (parts & LEVELS)
        p.victlr |= (any(random, 128) & any(random, 128)) << 16;
    if (parts & REGIONS) {
        p.is_self_hosted = true;
        p.trfcr_el1 = any(random, 4);
        p.trfcr_el2 = any(random, 4);
        p.mdcr_el3 = any(random, 2) << 18;
    }
    if (parts & RESOURCES)
        make_resources(random, &p);
    return p;
}

static void mix(unsigned parts, size_t times, uint64_t seed)
{
    struct check_random random = check_random_start(seed);
    uint64_t came_back = 0, whole = 0;

    for (size_t i = 0; i < times; i++) {
        const struct wishes wishes = { .is_64bit = i % 4 != 3,
                                       .has_exceptions = true,
                                       .has_context = true,
                                       .has_gaps = i % 3 == 0,
                                       .has_time = true,
                                       .has_externals = true,
                                       .has_inputs = true,
                                       .has_losses = i % 8 == 0,
                                       .length = 800 };
        struct program *program = malloc(sizeof *program);
        struct programming p;
        struct tw_image *image;

        CHECK(program != NULL);
        program_make(program, &random, &wishes);
        p = make_programming(&random, program, parts);
        check_case("parts 0x%x, program %zu", parts, i);
        image = memory_image(&program->memory);
        came_back += try_programming(program, image, &p);
        whole += wishes.length;
        tw_image_free(image);
        program_free(program);
        free(program);
    }
    printf("parts 0x%x: %" PRIu64 " of %" PRIu64 " instructions qualified\n", parts, came_back,
           whole);
    /* A filter that lets nothing or everything through tests nothing. */
    CHECK(came_back > whole / 100 && came_back < whole);
}

static void each_filter_alone(void **state)
{
    (void)state;
    for (unsigned part = RANGES; part <= RESOURCES; part *= 2)
        mix(part, check_scale(200), part);
}

static void each_two_filters(void **state)
{
    (void)state;
    for (unsigned one = RANGES; one <= RESOURCES; one *= 2)
        for (unsigned other = 2 * one; other <= RESOURCES; other *= 2)
            mix(one | other, check_scale(100), one << 8 | other);
}

static void all_filters_at_once(void **state)
{
    (void)state;
    mix(ALL, check_scale(2000), 0x66696c74);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_alone),
        cmocka_unit_test(each_two_filters),
        cmocka_unit_test(all_filters_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
