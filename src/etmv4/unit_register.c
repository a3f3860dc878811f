/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: its registers by name, and what they add up to when it is enabled. */
#include <stdio.h>

#include "etmv4/unit.h"

enum {
    SSSTATUS = 1 << 9, /* of TRCVICTLR */
    OSLK = 1 << 1,     /* of TRCOSLSR */
    CLAIM_TAGS = 0xf
};

/* Names, with a number behind them when there are several of the kind. */
static const struct name {
    const char *name;
    uint8_t slot, count; /* count 0: a single one */
} names[] = {
    /* clang-format off */
    { "TRCPRGCTLR",     TW_TRCPRGCTLR,    0 },  { "TRCSTATR",       TW_TRCSTATR,      0 },
    { "TRCCONFIGR",     TW_TRCCONFIGR,    0 },  { "TRCAUXCTLR",     TW_TRCAUXCTLR,    0 },
    { "TRCEVENTCTL0R",  TW_TRCEVENTCTL0R, 0 },  { "TRCEVENTCTL1R",  TW_TRCEVENTCTL1R, 0 },
    { "TRCRSR",         TW_TRCRSR,        0 },  { "TRCSTALLCTLR",   TW_TRCSTALLCTLR,  0 },
    { "TRCTSCTLR",      TW_TRCTSCTLR,     0 },  { "TRCSYNCPR",      TW_TRCSYNCPR,     0 },
    { "TRCCCCTLR",      TW_TRCCCCTLR,     0 },  { "TRCBBCTLR",      TW_TRCBBCTLR,     0 },
    { "TRCTRACEIDR",    TW_TRCTRACEIDR,   0 },  { "TRCQCTLR",       TW_TRCQCTLR,      0 },
    { "TRCITEEDCR",     TW_TRCITEEDCR,    0 },  { "TRCVICTLR",      TW_TRCVICTLR,     0 },
    { "TRCVIIECTLR",    TW_TRCVIIECTLR,   0 },  { "TRCVISSCTLR",    TW_TRCVISSCTLR,   0 },
    { "TRCVIPCSSCTLR",  TW_TRCVIPCSSCTLR, 0 },  { "TRCSEQEVR",      TW_TRCSEQEVR,     3 },
    { "TRCSEQRSTEVR",   TW_TRCSEQRSTEVR,  0 },  { "TRCSEQSTR",      TW_TRCSEQSTR,     0 },
    { "TRCEXTINSELR",   TW_TRCEXTINSELR,  0 },  { "TRCEXTINSELR",   TW_TRCEXTINSELR,  4 },
    { "TRCCNTRLDVR",    TW_TRCCNTRLDVR,   4 },  { "TRCCNTCTLR",     TW_TRCCNTCTLR,    4 },
    { "TRCCNTVR",       TW_TRCCNTVR,      4 },  { "TRCRSCTLR",      TW_TRCRSCTLR,     32 },
    { "TRCSSCCR",       TW_TRCSSCCR,      8 },  { "TRCSSCSR",       TW_TRCSSCSR,      8 },
    { "TRCSSPCICR",     TW_TRCSSPCICR,    8 },  { "TRCOSLSR",       TW_TRCOSLSR,      0 },
    { "TRCACVR",        TW_TRCACVR,       16 }, { "TRCACATR",       TW_TRCACATR,      16 },
    { "TRCCIDCVR",      TW_TRCCIDCVR,     8 },  { "TRCVMIDCVR",     TW_TRCVMIDCVR,    8 },
    { "TRCCIDCCTLR",    TW_TRCCIDCCTLR,   2 },  { "TRCVMIDCCTLR",   TW_TRCVMIDCCTLR,  2 },
    { "TRCIDR",         TW_TRCIDR,        14 }, { "TRCDEVARCH",     TW_TRCDEVARCH,    0 },
    { "TRCAUTHSTATUS",  TW_TRCAUTHSTATUS, 0 },  { "TRCITECR_EL1",   TW_TRCITECR_EL1,  0 },
    { "TRCITECR_EL2",   TW_TRCITECR_EL2,  0 },  { "TRFCR_EL1",      TW_TRFCR_EL1,     0 },
    { "TRFCR_EL2",      TW_TRFCR_EL2,     0 },  { "MDCR_EL3",       TW_MDCR_EL3,      0 },
    { "HCR_EL2",        TW_HCR_EL2,       0 },  { "TRCOSLAR",       TW_OSLAR,         0 },
    { "OSLAR_EL1",      TW_OSLAR,         0 },  { "TRCIMSPEC",      TW_TRCIMSPEC,     8 },
    { "TRCCLAIMSET",    TW_TRCCLAIMSET,   0 },  { "TRCCLAIMCLR",    TW_TRCCLAIMCLR,   0 },
    /* clang-format on */
};

/* The register's place; TW_ETMV4_UNIT_SLOTS: there is none of this name. */
static unsigned find(const char *name)
{
    for (size_t i = 0; i < TW_LENGTH(names); i++) {
        const char *want = names[i].name, *at = name;
        unsigned number = 0, digits = 0;

        while (*want && (*at == *want || (*at >= 'a' && *at - 'a' + 'A' == *want))) {
            at++;
            want++;
        }
        if (*want)
            continue;
        for (; *at >= '0' && *at <= '9' && digits < 3; at++, digits++)
            number = 10 * number + (unsigned)(*at - '0');
        if (*at == 0 && (names[i].count ? digits && number < names[i].count : !digits))
            return names[i].slot + number;
    }
    return TW_ETMV4_UNIT_SLOTS;
}

static void disable(struct tw_etmv4_unit *unit)
{
    if (!unit->is_overflowing) {
        tw_etmv4_unit_end_q(unit);
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_send_commits(unit);
        if (unit->flow.told_transaction)
            tw_etmv4_unit_emit_transaction(unit, TW_TRANS_FAIL);
        if (unit->depth)
            tw_etmv4_unit_emit_loss(unit, false);
        tw_etmv4_unit_pack_atoms(unit, 0);
    }
    tw_etmv4_unit_forget_records(unit);
    if (unit->flow.is_started)
        unit->registers[TW_TRCVICTLR] |= SSSTATUS;
    else
        unit->registers[TW_TRCVICTLR] &= ~(uint64_t)SSSTATUS;
    tw_etmv4_unit_stop_tracing(unit);
    unit->atom_count = 0;
    unit->atoms = 0;
    unit->buffered = 0;
    unit->q_is_open = false;
    unit->is_enabled = unit->is_synced = false;
    unit->is_overflowing = unit->fifo_overflowed = false;
    unit->flow.told_transaction = false;
    unit->registers[TW_TRCSTATR] = 3; /* idle, and the programming is stable */
}

/* It runs when it is enabled and the OS Lock is open. */
static enum tw_status start_or_stop(struct tw_etmv4_unit *unit, bool runs)
{
    if (runs && !unit->is_enabled)
        TW_TRY(tw_etmv4_unit_enable(unit));
    else if (!runs && unit->is_enabled)
        disable(unit);
    return unit->failed;
}

static enum tw_status write_lock(struct tw_etmv4_unit *unit, bool is_locked)
{
    unit->registers[TW_OSLAR] = is_locked;
    unit->registers[TW_TRCOSLSR] &= ~(uint64_t)OSLK;
    if (is_locked)
        unit->registers[TW_TRCOSLSR] |= OSLK;
    return start_or_stop(unit, !is_locked && unit->registers[TW_TRCPRGCTLR]);
}

/* Claim tags are set and cleared at any time, and nothing looks at them.  TRCCLAIMSET reads as the
   tags that there are, TRCCLAIMCLR as those that are set.  TRCIMSPEC: nothing is supported. */
static void write_claim(struct tw_etmv4_unit *unit, unsigned slot, uint64_t value)
{
    uint64_t *claims = &unit->registers[TW_TRCCLAIMCLR];

    if (slot == TW_TRCCLAIMSET)
        *claims |= value & CLAIM_TAGS;
    if (slot == TW_TRCCLAIMCLR)
        *claims &= ~value;
}

enum tw_status tw_etmv4_unit_write_register(struct tw_etmv4_unit *unit, const char *name,
                                            uint64_t value)
{
    const unsigned slot = find(name);

    if (slot == TW_ETMV4_UNIT_SLOTS)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no register %s", name);
    if (slot == TW_TRCPRGCTLR) {
        TW_TRY(start_or_stop(unit, value & 1 && !unit->registers[TW_OSLAR]));
        unit->registers[slot] = value & 1;
        return TW_OK;
    }
    if (slot == TW_OSLAR)
        return write_lock(unit, value & 1);
    if (slot >= TW_TRCIMSPEC && slot <= TW_TRCCLAIMCLR) {
        write_claim(unit, slot, value);
        return TW_OK;
    }
    if (slot >= TW_TRCITECR_EL1 && unit->config.is_m)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "%s: the M profile has no such register",
                       name);
    if (slot >= TW_TRCITECR_EL1) {
        unit->registers[slot] = value;
        tw_etmv4_unit_look_again(unit);
        return TW_OK;
    }
    if (unit->is_enabled)
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "%s may be written only while the unit is disabled", name);
    unit->registers[slot] = value;
    return TW_OK;
}

/* What TRCCONFIGR asks for that the unit does not have reads as 0, for decoders too. */
static uint32_t configuration(const struct tw_etmv4_unit *unit)
{
    const uint32_t idr0 = tw_etmv4_unit_value(unit, TW_TRCIDR),
                   idr2 = tw_etmv4_unit_value(unit, TW_TRCIDR + 2);
    const bool is_ete = unit->config.is_ete;
    uint32_t has = 0x48001; /* ITO, VMIDOPT, RES1 */

    has |= is_ete || idr0 & 0x20 ? 0x8u : 0;         /* BB */
    has |= is_ete || idr0 & 0x80 ? 0x10u : 0;        /* CCI */
    has |= idr2 & 0x3e0 ? 0x40u : 0;                 /* CID */
    has |= idr2 & 0x7c00 ? 0x80u : 0;                /* VMID */
    has |= is_ete || idr0 & 0x1f000000 ? 0x800u : 0; /* TS */
    has |= idr0 & 0x200 ? 0x1000u : 0;               /* RS */
    has |= idr0 & 0x18000 ? 0x6000u : 0;             /* QE */
    return tw_etmv4_unit_value(unit, TW_TRCCONFIGR) & has;
}

enum tw_status tw_etmv4_unit_read_register(const struct tw_etmv4_unit *unit, uint64_t *value,
                                           const char *name)
{
    const unsigned slot = find(name);

    if (slot == TW_ETMV4_UNIT_SLOTS)
        return TW_E_ARGUMENT;
    *value = slot == TW_TRCCONFIGR ? configuration(unit) : unit->registers[slot];
    if (slot == TW_TRCVICTLR && unit->is_enabled)
        *value = (*value & ~(uint64_t)SSSTATUS) | (unit->flow.is_started ? SSSTATUS : 0u);
    if (slot == TW_TRCCLAIMSET)
        *value = CLAIM_TAGS;
    if (slot == TW_TRCRSR)
        *value |= unit->flow.was_traced ? 0x1000u : 0;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_register(const struct tw_etmv4_unit *unit, struct tw_register *out,
                                      size_t number)
{
    static const struct {
        const char *name;
        uint8_t slot;
    } shown[] = {
        { "TRCTRACEIDR", TW_TRCTRACEIDR }, { "TRCCONFIGR", TW_TRCCONFIGR },
        { "TRCIDR0", TW_TRCIDR + 0 },      { "TRCIDR1", TW_TRCIDR + 1 },
        { "TRCIDR2", TW_TRCIDR + 2 },      { "TRCIDR8", TW_TRCIDR + 8 },
        { "TRCIDR9", TW_TRCIDR + 9 },      { "TRCIDR10", TW_TRCIDR + 10 },
        { "TRCIDR11", TW_TRCIDR + 11 },    { "TRCIDR12", TW_TRCIDR + 12 },
        { "TRCIDR13", TW_TRCIDR + 13 },    { "TRCAUTHSTATUS", TW_TRCAUTHSTATUS },
        { "TRCDEVARCH", TW_TRCDEVARCH },
    };

    if (number >= TW_LENGTH(shown))
        return TW_END;
    *out = (struct tw_register){ shown[number].name, unit->registers[shown[number].slot] };
    if (shown[number].slot == TW_TRCCONFIGR)
        out->value = configuration(unit);
    return TW_OK;
}

enum tw_status tw_etmv4_unit_preset(struct tw_etmv4_unit *unit,
                                    enum tw_etmv4_unit_preset preset, uint64_t first,
                                    uint64_t last)
{
    static const struct {
        uint8_t slot;
        uint32_t value;
    } minimal[] = {
        { TW_TRCCONFIGR, 0x18c1 },  { TW_TRCEVENTCTL0R, 0 }, { TW_TRCEVENTCTL1R, 0 },
        { TW_TRCSTALLCTLR, 0 },     { TW_TRCSYNCPR, 12 },    { TW_TRCTSCTLR, 0 },
        { TW_TRCVICTLR, 0x6f0201 }, { TW_TRCVIIECTLR, 0 },   { TW_TRCVISSCTLR, 0 },
    };

    if (unit->is_enabled)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "the unit is enabled");
    for (size_t i = 0; i < TW_LENGTH(minimal); i++)
        unit->registers[minimal[i].slot] = minimal[i].value;
    if (unit->config.is_m)
        unit->registers[TW_TRCVICTLR] = 0x201;
    if (!unit->registers[TW_TRCTRACEIDR])
        unit->registers[TW_TRCTRACEIDR] = 0x10;
    if (preset == TW_ETMV4_UNIT_MINIMAL)
        return TW_OK;
    unit->registers[TW_TRCVIIECTLR] = preset == TW_ETMV4_UNIT_EXCLUDE ? 0x10000 : 1;
    unit->registers[TW_TRCACATR] = unit->registers[TW_TRCACATR + 1] = 0;
    unit->registers[TW_TRCACVR] = first;
    unit->registers[TW_TRCACVR + 1] = last;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_config_set(struct tw_etmv4_unit_config *config, const char *name,
                                        uint64_t value)
{
    const struct {
        const char *name;
        uint64_t most;
        bool *flag; /* or */
        uint8_t *byte;
        uint32_t *word;
    } choices[] = {
        { "return-stack", TW_ETMV4_UNIT_RETURNS, .byte = &config->return_stack_depth },
        { "source-addresses", UINT8_MAX, .byte = &config->source_addresses },
        { "q", UINT32_MAX, .word = &config->q_instructions },
        { "q-uncounted", 1, .flag = &config->q_without_count },
        { "fifo", UINT32_MAX, .word = &config->fifo_size },
        { "cycles-per-byte", UINT32_MAX, .word = &config->cycles_per_byte },
        { "self-hosted", 1, .flag = &config->is_self_hosted },
        { "at-once", 1, .flag = &config->no_gathering },
        { "late-places", UINT8_MAX, .byte = &config->late_places },
        { "restored-returns", 1, .flag = &config->restores_returns },
    };

    for (size_t i = 0; i < TW_LENGTH(choices); i++) {
        if (strcmp(choices[i].name, name) != 0 || value > choices[i].most)
            continue;
        if (choices[i].flag)
            *choices[i].flag = value;
        else if (choices[i].byte)
            *choices[i].byte = (uint8_t)value;
        else
            *choices[i].word = (uint32_t)value;
        return TW_OK;
    }
    return TW_E_ARGUMENT;
}

/* ---- enabling ---- */

static uint32_t field(uint32_t value, unsigned high, unsigned low)
{
    return value >> low & ((1u << (high - low + 1)) - 1);
}

static void pack_setup(struct tw_etmv4_unit *unit)
{
    struct tw_etmv4_config config = { .size = sizeof config, .architecture = 80 };

    for (unsigned i = 0; i < 14; i++)
        config.trcidr[i] = tw_etmv4_unit_value(unit, TW_TRCIDR + i);
    config.trcconfigr = configuration(unit);
    config.trctraceidr = tw_etmv4_unit_value(unit, TW_TRCTRACEIDR);
    config.trcdevarch = tw_etmv4_unit_value(unit, TW_TRCDEVARCH);
    config.is_ete = config.is_aa64_extended = unit->config.is_ete;
    config.profile = unit->config.is_m ? TW_PROFILE_M : TW_PROFILE_A;
    tw_etmv4_reader_init(&unit->packing, &config);
}

/* Comparators that resources and filters look at. */
static void find_used(struct tw_etmv4_unit *unit)
{
    struct tw_etmv4_unit_setup *setup = &unit->setup;
    const uint32_t ranges = tw_etmv4_unit_value(unit, TW_TRCVIIECTLR);
    const uint32_t points = tw_etmv4_unit_value(unit, TW_TRCVISSCTLR);

    setup->sac_used = (uint16_t)(points | points >> 16);
    setup->arc_used = (uint16_t)((ranges | ranges >> 16) & 0xff);
    for (unsigned i = 0; i < 8; i++) {
        const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCSSCCR + i);

        setup->sac_used |= (uint16_t)control;
        setup->arc_used |= control >> 16 & 0xff;
        setup->has_shots |= control != 0 || unit->registers[TW_TRCSSPCICR + i] != 0;
    }
    setup->has_resources |= setup->has_shots;
    for (unsigned i = 2; i < 32; i++) {
        const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCRSCTLR + i);

        if (field(control, 19, 16) == 4)
            setup->sac_used |= (uint16_t)control;
        if (field(control, 19, 16) == 5)
            setup->arc_used |= control & 0xff;
    }
    for (unsigned i = 0; i < 4; i++)
        setup->has_resources |= unit->registers[TW_TRCCNTCTLR + i] != 0;
    for (unsigned i = TW_TRCSEQEVR; i <= TW_TRCSEQRSTEVR; i++)
        setup->has_resources |= unit->registers[i] != 0;
    setup->has_resources |= unit->registers[TW_TRCEVENTCTL0R] || unit->registers[TW_TRCTSCTLR];
    setup->filters = ranges || points || unit->registers[TW_TRCVIPCSSCTLR] ||
                     (tw_etmv4_unit_value(unit, TW_TRCVICTLR) & 0x9f) != 1 ||
                     !unit->flow.is_started;
    setup->has_resources |= (tw_etmv4_unit_value(unit, TW_TRCVICTLR) & 0x9f) > 1;
}

static void work_out(struct tw_etmv4_unit *unit)
{
    const struct tw_etmv4_setup *packing = &unit->packing.setup;
    const uint32_t idr0 = tw_etmv4_unit_value(unit, TW_TRCIDR);
    const uint32_t control = configuration(unit);
    struct tw_etmv4_unit_setup setup = { .is_ete = unit->config.is_ete };

    setup.max_spec = packing->max_spec;
    setup.threshold = field(tw_etmv4_unit_value(unit, TW_TRCCCCTLR), 11, 0);
    setup.cycle_most = (1u << packing->cycle_bits) - 1;
    setup.p0_kinds = 1u << TW_RETIRED_BRANCH | 1u << TW_RETIRED_INDIRECT | 1u << TW_RETIRED_ISB;
    if (packing->wfx_is_p0)
        setup.p0_kinds |= 1u << TW_RETIRED_WFX | (uint32_t)setup.is_ete << TW_RETIRED_WFXT;
    if (setup.is_ete)
        setup.p0_kinds |= 1u << TW_RETIRED_TSTART;
    setup.noted_kinds = setup.p0_kinds | (uint32_t)setup.is_ete << TW_RETIRED_TSB;
    setup.return_depth = unit->config.return_stack_depth;
    setup.return_stack = packing->return_stack && idr0 >> 9 & 1;
    setup.timestamps = packing->timestamps && packing->timestamp_bits;
    setup.markers = packing->tsmark && packing->version >= 0x46;
    setup.cycles = packing->cci && packing->has_cci;
    setup.broadcasts = packing->branch_broadcast && idr0 >> 5 & 1;
    setup.cid = packing->cid && packing->cid_bytes;
    setup.vmid = packing->vmid && packing->vmid_bytes;
    setup.commopt = packing->commopt;
    setup.start_is_p0 = packing->start_is_p0;
    setup.has_transactions = setup.is_ete;
    setup.has_ite = setup.is_ete && idr0 >> 22 & 1;
    setup.event_count = (uint8_t)(field(idr0, 11, 10) + 1);
    setup.q_most = unit->config.q_instructions;
    setup.q = setup.q_most && field(control, 14, 13) && packing->has_q;
    setup.q_counts = field(control, 14, 13) != 3 || field(idr0, 16, 15) == 1 ||
                     (!unit->config.q_without_count && field(idr0, 16, 15) == 3);
    unit->setup = setup;
    find_used(unit);
    unit->setup.is_plain = !unit->setup.filters && !unit->setup.has_resources &&
                           setup.max_spec == 0 && !setup.q && !unit->config.source_addresses &&
                           !unit->config.fifo_size && !setup.cycles && !setup.broadcasts &&
                           !unit->config.no_gathering;
}

static enum tw_status check(struct tw_etmv4_unit *unit)
{
    const uint32_t period = field(tw_etmv4_unit_value(unit, TW_TRCSYNCPR), 4, 0);

    if (tw_etmv4_unit_value(unit, TW_TRCIDR + 8) > TW_ETMV4_UNIT_SPEC_MOST)
        return tw_fail(&unit->fault, TW_E_CONFIG, "TRCIDR8 is beyond %u",
                       TW_ETMV4_UNIT_SPEC_MOST);
    if (period && (period < 8 || period > 20))
        return tw_fail(&unit->fault, TW_E_CONFIG,
                       "TRCSYNCPR is %u; it must be 0 or from 8 to 20", period);
    if (unit->setup.cycles &&
        unit->setup.threshold < field(tw_etmv4_unit_value(unit, TW_TRCIDR + 3), 11, 0))
        return tw_fail(&unit->fault, TW_E_CONFIG,
                       "TRCCCCTLR is below TRCIDR3.CCITMIN: %u cycles", unit->setup.threshold);
    return TW_OK;
}

enum tw_status tw_etmv4_unit_enable(struct tw_etmv4_unit *unit)
{
    const uint32_t period = field(tw_etmv4_unit_value(unit, TW_TRCSYNCPR), 4, 0);
    const bool in_transaction = unit->flow.in_transaction;

    pack_setup(unit);
    unit->flow = (struct tw_etmv4_unit_flow){
        .is_started = tw_etmv4_unit_value(unit, TW_TRCVICTLR) >> 9 & 1,
        .in_transaction = in_transaction,
    };
    work_out(unit);
    TW_TRY(check(unit));
    if (unit->is_speculating && unit->setup.max_spec == 0)
        return tw_fail(&unit->fault, TW_E_CONFIG, "TRCIDR8 is 0: the unit does not speculate");
    unit->sync_period = period ? (uint64_t)1 << period : UINT64_MAX;
    unit->since_sync = 0;
    unit->sync_is_due = unit->is_synced = false;
    unit->count_is_unknown = true;
    unit->counted = unit->cycle;
    unit->timestamp_is_due = false;
    unit->return_count = 0;
    unit->return_top = 0;
    unit->has_sent = false;
    unit->sequencer = (uint8_t)(1u << (tw_etmv4_unit_value(unit, TW_TRCSEQSTR) & 3));
    unit->sac_hits = 0;
    unit->arc_hits = 0;
    unit->is_enabled = true;
    unit->registers[TW_TRCSTATR] = 0;
    tw_etmv4_unit_look_again(unit);
    return TW_OK;
}
