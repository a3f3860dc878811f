/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways to program the trace unit, at random, and what it must trace then; for its tests. */
#ifndef ETMV4_TEST_SETTING_H
#define ETMV4_TEST_SETTING_H

#include "etmv4/test_program.h"

enum { BB = 0x8, CCI = 0x10, CID = 0x40, VMID = 0x80, TS = 0x800, RS = 0x1000, QE = 0x2000 };

/* How the unit is programmed. */
struct setting {
    bool is_ete;
    uint32_t configr, syncpr, threshold, max_spec;
    bool commopt, commtrans, marks;
    uint32_t lesser; /* a unit that can less: one bit for each of the ways in make_lesser */
    uint8_t source_addresses, return_depth, late_places;
    bool restores_returns;
    uint32_t q_instructions;
    uint32_t excluded_levels; /* TRCVICTLR bits 22:16 */
    enum { NO_RANGE, INCLUDE, EXCLUDE } range;
    uint64_t first, last; /* of the range */
    bool has_points;      /* start and stop */
    uint64_t start, stop;
    uint32_t bb_control, q_control;
    bool is_framed, is_self_hosted, no_gathering;
    uint32_t trfcr_el1, trfcr_el2, mdcr_el3;
};

/* ---- what is to be traced, as the registers say ---- */

struct filter {
    const struct setting *setting;
    bool is_started;
};

static inline bool wants(void *context, const struct tw_retired *instruction,
                         const struct tw_step_context *where)
{
    struct filter *filter = context;
    const struct setting *setting = filter->setting;
    const unsigned level = where->security == TW_SECURE ? where->el : 4u + where->el;
    bool is_wanted = !(setting->excluded_levels >> level & 1);
    bool is_in;

    if (setting->is_self_hosted &&
        (where->el == 3 || (where->el == 2 && !(setting->trfcr_el2 & 2)) ||
         (where->el == 1 && !(setting->trfcr_el1 & 2)) ||
         (where->el == 0 && !(setting->trfcr_el1 & 1))))
        return false; /* comparators do not see it either */
    if (!instruction)
        return true;
    is_in = instruction->address >= setting->first && instruction->address <= setting->last;
    if (setting->has_points && instruction->address == setting->start)
        filter->is_started = true;
    is_wanted = is_wanted && (filter->is_started || !setting->has_points);
    if (setting->has_points && instruction->address == setting->stop)
        filter->is_started = false;
    if (setting->range == INCLUDE)
        return is_wanted && is_in;
    return is_wanted && !(setting->range == EXCLUDE && is_in);
}

/* Identification registers of units that do not have everything. */
static inline void make_lesser(struct tw_etmv4_unit *unit, const struct setting *setting)
{
    static const struct {
        uint8_t bit;
        const char *name;
        uint32_t mask, value;
        bool is_etmv4; /* an ETE has it always, in full */
    } ways[] = {
        { 0, "TRCIDR2", 0x80000000, 0, false },         /* WFI and WFE are no P0 instructions */
        { 1, "TRCIDR2", 0x1e000000, 0, false },         /* cycle counter of 12 bits */
        { 2, "TRCIDR0", 0x00000c00, 0x400, false },     /* two events */
        { 3, "TRCIDR0", 0x00000200, 0, false },         /* no return stack */
        { 4, "TRCIDR0", 0x1f000000, 0x06000000, true }, /* timestamps of 48 bits */
        { 5, "TRCIDR2", 0x00007c00, 0x0400, true },     /* VMID of 8 bits */
        { 6, "TRCIDR2", 0x00007c00, 0x0800, true },     /* of 16 bits */
        { 7, "TRCIDR2", 0x000003e0, 0, true },          /* no context identifiers */
        { 8, "TRCIDR0", 0x00000020, 0, true },          /* no branch broadcast */
        { 9, "TRCIDR0", 0x00000080, 0, true },          /* no cycle counts */
        { 10, "TRCIDR1", 0x000000f0, 0x00, true },      /* ETMv4.0 ... */
        { 10, "TRCIDR2", 0x00007c00, 0x0400, true },    /* ... knows no larger VMID */
        { 11, "TRCIDR1", 0x000000f0, 0x20, true },      /* ETMv4.2 */
        { 12, "TRCIDR1", 0x000000f0, 0x60, true },      /* ETMv4.6 */
    };

    for (size_t i = 0; i < LENGTH(ways); i++) {
        uint64_t value;

        if (!(setting->lesser >> ways[i].bit & 1) || (ways[i].is_etmv4 && setting->is_ete))
            continue;
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, ways[i].name), TW_OK);
        set_register(unit, ways[i].name, (value & ~(uint64_t)ways[i].mask) | ways[i].value);
    }
}

enum {
    NO_WFX = 0x1,
    NO_RETURN_STACK = 0x8,
    NO_CID = 0x80,
    NO_CYCLES = 0x200,
    LESSER_WAYS = 13
};

/* Whether identifiers must come back. */
static inline bool tells_cid(const struct setting *setting)
{
    return setting->configr & CID && (setting->is_ete || !(setting->lesser & NO_CID));
}

static inline struct tw_etmv4_unit *make_unit(const struct setting *setting,
                                              struct moments *moments)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config,
                                                 .is_ete = setting->is_ete,
                                                 .is_self_hosted = setting->is_self_hosted,
                                                 .no_gathering = setting->no_gathering,
                                                 .return_stack_depth = setting->return_depth,
                                                 .source_addresses = setting->source_addresses,
                                                 .q_instructions = setting->q_instructions,
                                                 .late_places = setting->late_places,
                                                 .restores_returns = setting->restores_returns,
                                                 .on_element = unit_moment,
                                                 .element_context = moments };
    struct tw_etmv4_unit *unit;
    uint64_t idr0;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &idr0, "TRCIDR0"), TW_OK);
    idr0 &= ~((uint64_t)1 << 29 | 1u << 23);
    idr0 |= (uint64_t)setting->commopt << 29 | (uint64_t)setting->commtrans << 30 |
            (uint64_t)setting->marks << 23;
    set_register(unit, "TRCIDR0", idr0);
    make_lesser(unit, setting);
    set_register(unit, "TRCIDR8", setting->max_spec);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCCONFIGR", setting->configr | 1);
    set_register(unit, "TRCSYNCPR", setting->syncpr);
    set_register(unit, "TRCCCCTLR", setting->threshold);
    set_register(unit, "TRCBBCTLR", setting->bb_control);
    set_register(unit, "TRCQCTLR", setting->q_control);
    set_register(unit, "TRCVICTLR",
                 1 | (setting->has_points ? 0 : 0x200u) | setting->excluded_levels << 16);
    set_register(unit, "TRCACVR0", setting->first);
    set_register(unit, "TRCACVR1", setting->last);
    set_register(unit, "TRCACVR2", setting->start);
    set_register(unit, "TRCACVR3", setting->stop);
    set_register(unit, "TRCVIIECTLR",
                 setting->range == INCLUDE   ? 1
                 : setting->range == EXCLUDE ? 0x10000
                                             : 0);
    set_register(unit, "TRCVISSCTLR", setting->has_points ? 0x00080004 : 0);
    set_register(unit, "TRFCR_EL1", setting->trfcr_el1);
    set_register(unit, "TRFCR_EL2", setting->trfcr_el2);
    set_register(unit, "MDCR_EL3", setting->mdcr_el3);
    set_register(unit, "TRCITEEDCR", 0x7f);
    set_register(unit, "TRCITECR_EL1", 3);
    set_register(unit, "TRCITECR_EL2", 3);
    set_register(unit, "TRCEVENTCTL0R", 0x03020302);
    set_register(unit, "TRCEVENTCTL1R", 0xf);
    set_register(unit, "TRCRSCTLR2", 0x1);
    set_register(unit, "TRCRSCTLR3", 0x2);
    set_register(unit, "TRCEXTINSELR0", setting->is_ete ? 0x20 : 0x2120);
    set_register(unit, "TRCEXTINSELR1", setting->is_ete ? 0x21 : 0);
    return unit;
}

/* Before ETMv4.3 there were no Ignore packets, and WFI and WFE no P0 instructions. */
static inline bool is_old(const struct setting *setting)
{
    return !setting->is_ete && setting->lesser & 0xc00 && !(setting->lesser & 0x1000);
}

static inline bool waits_are_p0(const struct setting *setting)
{
    return !(setting->lesser & NO_WFX) && !is_old(setting);
}

static inline struct oracle make_oracle(const struct program *program, struct filter *filter,
                                        const struct setting *setting)
{
    *filter = (struct filter){ .setting = setting };
    return (struct oracle){
        .steps = { .list = program->truth, .count = program->truth_count },
        .wants = wants,
        .wants_context = filter,
        .started = &filter->is_started,
        .p0_kinds = p0_kinds(setting->is_ete) &
                    ~(waits_are_p0(setting) ? 0 : 1u << TW_RETIRED_WFX | 1u << TW_RETIRED_WFXT)
    };
}

/* Names the case, so that a failure says how the unit was programmed. */
static inline void name_case(const char *what, size_t number, const struct setting *s)
{
    check_case("%s %zu: %s TRCCONFIGR 0x%x TRCSYNCPR %u threshold %u MAXSPEC %u COMMOPT %d "
               "source %u q %u levels 0x%x range %d points %d self-hosted %d lesser 0x%x",
               what, number, s->is_ete ? "ETE" : "ETMv4", s->configr, s->syncpr, s->threshold,
               s->max_spec, s->commopt, s->source_addresses, s->q_instructions,
               s->excluded_levels, (int)s->range, s->has_points, s->is_self_hosted, s->lesser);
}

/* What OpenCSD does not get right.  Up to 1.7: it does not count a source address among what is to
   be committed.  Debian's 1.3: it empties its return stack at a Trace Info at once, although atoms
   before it are not committed yet, does not see the commit in a cycle count packet, and now and then
   loses count when part of an atom packet is committed or commits are implied. */
static inline bool peer_can(const struct setting *setting, const struct wishes *wishes)
{
    if (setting->max_spec &&
        (setting->source_addresses || (setting->configr & CCI && !setting->commopt)))
        return false;
    if (!setting->max_spec)
        return true;
    return setting->no_gathering && setting->max_spec >= 16 &&
           (!(setting->configr & RS) || (!setting->syncpr && !wishes->has_requests));
}

static inline struct wishes all_wishes(bool is_64bit)
{
    return (struct wishes){ .is_64bit = is_64bit,
                            .has_exceptions = true,
                            .has_context = true,
                            .has_gaps = true,
                            .has_time = true,
                            .has_externals = true,
                            .has_requests = true,
                            .length = 600 };
}

static inline struct setting any_setting(struct check_random *random)
{
    const uint64_t bits = check_random_next(random);
    struct setting setting = { .is_ete = bits & 1, .is_framed = bits >> 1 & 1 };

    setting.configr = (bits >> 2 & 1 ? BB : 0) | (bits >> 3 & 1 ? CCI : 0) |
                      (bits >> 4 & 1 ? CID : 0) | (bits >> 5 & 1 ? VMID : 0) |
                      (bits >> 6 & 1 ? TS : 0) | (bits >> 7 & 1 ? RS : 0);
    setting.syncpr = bits >> 8 & 1 ? 8 + (bits >> 9 & 1) : 0;
    setting.threshold = 4 + (bits >> 10 & 31);
    setting.commopt = bits >> 15 & 1;
    setting.marks = setting.is_ete && bits >> 16 & 1;
    setting.return_depth = bits >> 17 & 15;
    setting.excluded_levels = bits >> 21 & 1 ? bits >> 22 & 0x7f : 0;
    setting.range = (bits >> 29 & 3) % 3;
    setting.has_points = bits >> 31 & 1 && bits >> 32 & 1;
    setting.bb_control = bits >> 33 & 1 ? 0x100 * (uint32_t)(bits >> 34 & 1) + 1 : 0;
    setting.no_gathering = (bits >> 35 & 7) == 0;
    setting.is_self_hosted = (bits >> 38 & 3) == 0;
    setting.trfcr_el1 = (uint32_t)(bits >> 40 & 3);
    setting.trfcr_el2 = (uint32_t)(bits >> 42 & 3);
    if (bits >> 44 & 1)
        setting.lesser = (uint32_t)(bits >> 45) & (uint32_t)check_random_next(random) &
                         ((1u << LESSER_WAYS) - 1);
    return setting;
}

#endif
