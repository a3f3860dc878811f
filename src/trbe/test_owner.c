/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace Buffer Unit: owners, prohibited regions, exceptions, access, External mode. */
#include "check.h"

#include <trackway/trbe.h>

#include "trbe/test.h"

enum {
    NSTB_S = 0x1000000, /* owner Secure, accesses not trapped there */
    NSTB_NS = 0x3000000,
    STE = 0x40000,
    EVERYTHING = TW_TRBE_EL2 | TW_TRBE_EL3 | TW_TRBE_SECURE | TW_TRBE_SEL2 | TW_TRBE_RME
};
#define NSTBE ((uint64_t)0x4000000)
#define RLTE  ((uint64_t)1)
#define TGE   ((uint64_t)0x8000000)
#define EEL2  ((uint64_t)0x40000)
#define NSE   ((uint64_t)1 << 62)

/* clang-format off */
/* Section 3 of the sheet: for each Exception level whether trace is allowed when every filter
   allows it ("y"), never ("-"). */
static const struct region {
    const char *name;
    uint64_t mdcr3, mdcr2, hcr, scr;
    const char *el0123;
} regions[] = {
    { "Non-secure, owner EL2", NSTB_NS, 0, 0, 1, "yyy-" },
    { "Non-secure, owner EL2, TGE", NSTB_NS, 0, TGE, 1, "yyy-" },
    { "Non-secure, owner EL1", NSTB_NS, 0x3000000, 0, 1, "yy--" },
    { "Non-secure, owner EL1, TGE", NSTB_NS, 0x3000000, TGE, 1, "----" },
    { "owner is Secure, state is not", NSTB_S | STE, 0, 0, 1, "----" },
    { "Secure, STE", NSTB_S | STE, 0, 0, 0, "yy--" },
    { "Secure, no STE", NSTB_S, 0, 0, 0, "----" },
    { "Secure with EL2", NSTB_S | STE, 0, 0, EEL2, "yyy-" },
    { "Realm, RLTE", NSTBE | NSTB_NS | RLTE, 0, 0, NSE | 1, "yyy-" },
    { "Realm, no RLTE", NSTBE | NSTB_NS, 0, 0, NSE | 1, "----" },
    { "owner is Realm, state is Non-secure", NSTBE | NSTB_NS | RLTE, 0, 0, 1, "----" },
};
/* clang-format on */

/* [D6.1/6] */
static void regions_where_trace_is_prohibited(void **state)
{
    const struct tw_trbe_config config = { .features = EVERYTHING };

    (void)state;
    for (size_t i = 0; i < LENGTH(regions); i++) {
        const struct region *r = &regions[i];
        struct rig rig;

        CHECK_CASE(r->name);
        rig_start(&rig, &config);
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 3);
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, 3);
        tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, r->mdcr3);
        tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL2, r->mdcr2);
        tw_trbe_write(rig.unit, TW_TRBE_HCR_EL2, r->hcr);
        tw_trbe_write(rig.unit, TW_TRBE_SCR_EL3, r->scr);
        rig_enable(&rig, 0x10000, 0x11000, 0x10000, 0);
        for (unsigned el = 0; el < 4; el++)
            CHECK_EQ(tw_trbe_is_allowed_at(rig.unit, el), r->el0123[el] == 'y');
        /* Each level obeys its own filter. */
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0);
        tw_trbe_isb(rig.unit);
        CHECK(!tw_trbe_is_allowed_at(rig.unit, 1));
        CHECK_EQ(tw_trbe_is_allowed_at(rig.unit, 0), r->hcr & TGE && r->el0123[0] == 'y');
        CHECK_EQ(tw_trbe_is_allowed_at(rig.unit, 2), r->el0123[2] == 'y');
        rig_end(&rig);
    }
}

/* Disabled, the owner does not count. */
static void a_disabled_unit_prohibits_nothing(void **state)
{
    const struct tw_trbe_config config = { .features = EVERYTHING };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, 3);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, NSTB_S);
    tw_trbe_isb(rig.unit);
    CHECK(tw_trbe_is_allowed_at(rig.unit, 2));
    CHECK(tw_trbe_is_allowed_at(rig.unit, 1));
    CHECK(!tw_trbe_is_allowed_at(rig.unit, 3));
    rig_end(&rig);
}

/* clang-format off */
/* Tables D6-5 to D6-7, each row with the level that records. */
static const struct record {
    unsigned trbee, ee2;
    bool is_owner2, scr_gpf, scr_ea, hcr_gpf, hcr_tea;
    unsigned other, stage1, stage2, gpc, gpf1, gpf2, abort1;
} records[] = {
    /* trbee ee2 owner2 gpf ea gpf tea   other s1 s2 gpc gpf1 gpf2 ea1 */
    { 0, 3, 0, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1 },
    { 1, 0, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1 },
    { 1, 1, 1, 0, 0, 0, 0,  1, 1, 1, 1, 1, 1, 1 },
    { 1, 2, 1, 0, 0, 0, 0,  1, 2, 2, 2, 2, 2, 2 },
    { 1, 2, 0, 0, 0, 0, 0,  1, 1, 2, 2, 1, 2, 1 },
    { 1, 2, 0, 0, 0, 1, 1,  1, 1, 2, 2, 2, 2, 2 },
    { 1, 3, 0, 0, 0, 0, 0,  2, 2, 2, 2, 2, 2, 2 },
    { 2, 0, 0, 0, 0, 0, 0,  1, 1, 1, 3, 1, 1, 1 },
    { 2, 2, 0, 0, 0, 0, 0,  1, 1, 2, 3, 1, 2, 1 },
    { 2, 2, 0, 1, 1, 0, 0,  1, 1, 2, 3, 3, 3, 3 },
    { 2, 3, 0, 0, 0, 0, 0,  2, 2, 2, 3, 2, 2, 2 },
    { 3, 0, 0, 0, 0, 0, 0,  3, 3, 3, 3, 3, 3, 3 },
};
/* clang-format on */

static const enum tw_trbe_register status_of[] = { TW_TRBE_SR_EL1, TW_TRBE_SR_EL2,
                                                   TW_TRBE_SR_EL3 };

static unsigned recorded(const struct rig *rig)
{
    return tw_trbe_used(rig->unit, TW_TRBE_SR_EL3) & TW_TRBE_SR_IRQ   ? 3
           : tw_trbe_used(rig->unit, TW_TRBE_SR_EL2) & TW_TRBE_SR_IRQ ? 2
           : tw_trbe_used(rig->unit, TW_TRBE_SR_EL1) & TW_TRBE_SR_IRQ ? 1
                                                                      : 0;
}

static void program_record(struct rig *rig, const struct record *r)
{
    tw_trbe_write(rig->unit, TW_TRBE_MDCR_EL3, (uint64_t)r->trbee << 53 | NSTB_NS);
    tw_trbe_write(rig->unit, TW_TRBE_MDCR_EL2, r->is_owner2 ? 0 : 0x3000000);
    tw_trbe_write(rig->unit, TW_TRBE_TRFCR_EL2, (uint64_t)r->ee2 << 8);
    tw_trbe_write(rig->unit, TW_TRBE_SCR_EL3,
                  1 | (r->scr_ea ? 8 : 0) | (r->scr_gpf ? (uint64_t)1 << 48 : 0));
    tw_trbe_write(rig->unit, TW_TRBE_HCR_EL2,
                  (r->hcr_tea ? (uint64_t)1 << 37 : 0) | (r->hcr_gpf ? (uint64_t)1 << 48 : 0));
    rig_enable(rig, 0x10000, 0x11000, 0x10ff8, 0);
}

/* [D6.1.1/R_VHNTF] */
static void events_are_recorded_where_the_tables_say(void **state)
{
    const struct tw_trbe_config config = { .features = EVERYTHING | TW_TRBE_EXC };

    (void)state;
    for (size_t i = 0; i < LENGTH(records); i++) {
        const struct record *r = &records[i];
        const struct {
            struct tw_trbe_fault fault;
            unsigned want;
        } kinds[] = {
            { { 0, 0, 0 }, r->other },        { { 0x24, 0x07, 0 }, r->stage1 },
            { { 0x25, 0x07, 0 }, r->stage2 }, { { 0x1e, 0, 0 }, r->gpc },
            { { 0x24, 0x28, 0 }, r->gpf1 },   { { 0x25, 0x25, 0 }, r->gpf2 },
            { { 0x24, 0x14, 0 }, r->abort1 },
        };

        for (size_t k = 0; k < LENGTH(kinds); k++) {
            struct rig rig;

            check_case("row %zu, kind %zu", i, k);
            rig_start(&rig, &config);
            program_record(&rig, r);
            rig.fault = kinds[k].fault;
            rig.fault_at = k ? 0x10ffc : 0;
            rig_feed(&rig, 20);
            CHECK_EQ(recorded(&rig), kinds[k].want);
            CHECK_EQ(tw_trbe_get_counts(rig.unit)->stops, 1);
            for (unsigned el = 1; el <= 3; el++) /* only filling it to the end wraps */
                CHECK_EQ(tw_trbe_used(rig.unit, status_of[el - 1]) & TW_TRBE_SR_WRAP ? 1 : 0,
                         k == 0 && el == r->other);
            rig_end(&rig);
        }
    }
}

/* clang-format off */
/* Tables D6-8 to D6-10: who takes the exception from where; 0 none, 9 masked. */
static const struct taken {
    const char *name;
    unsigned trbee, ee2, ke2, ee1, ke1;
    bool is_tge, is_pm;
    unsigned sr; /* whose IRQ is set */
    uint8_t from[4];
    uint8_t irq;
} takes[] = {
    { "EL1, all off", 0, 3, 0, 3, 1, 0, 0, 1, { 0, 0, 0, 0 }, 1 },
    { "EL1, EL2 off", 1, 0, 0, 3, 1, 0, 0, 1, { 0, 0, 0, 0 }, 1 },
    { "EL1, own off", 1, 1, 0, 0, 1, 0, 0, 1, { 0, 0, 0, 0 }, 1 },
    { "EL1, no KE", 1, 1, 0, 3, 0, 0, 0, 1, { 1, 9, 9, 9 }, 0 },
    { "EL1, KE", 1, 1, 0, 3, 1, 0, 0, 1, { 1, 1, 9, 9 }, 0 },
    { "EL1, KE and PM", 1, 1, 0, 3, 1, 0, 1, 1, { 1, 9, 9, 9 }, 0 },
    { "EL1, TGE", 1, 1, 0, 3, 1, 1, 0, 1, { 2, 9, 9, 9 }, 0 },
    { "EL2, delegated", 1, 1, 1, 0, 0, 0, 0, 2, { 0, 0, 0, 0 }, 0 },
    { "EL2, EE 10", 1, 2, 1, 0, 0, 0, 0, 2, { 2, 2, 9, 9 }, 0 },
    { "EL2, EE 11, no KE", 1, 3, 0, 0, 0, 0, 0, 2, { 2, 2, 9, 9 }, 0 },
    { "EL2, EE 11, KE", 1, 3, 1, 0, 0, 0, 0, 2, { 2, 2, 2, 9 }, 0 },
    { "EL2, EE 11, KE, PM", 1, 3, 1, 0, 0, 0, 1, 2, { 2, 2, 9, 9 }, 0 },
    { "EL3, delegated", 1, 1, 0, 0, 0, 0, 0, 3, { 0, 0, 0, 0 }, 0 },
    { "EL3, 10", 2, 1, 0, 0, 0, 0, 0, 3, { 3, 3, 3, 9 }, 0 },
    { "EL3, 11", 3, 1, 0, 0, 0, 0, 1, 3, { 3, 3, 3, 9 }, 0 },
};
/* clang-format on */

static void exceptions_are_taken_where_the_tables_say(void **state)
{
    const struct tw_trbe_config config = { .features = TW_TRBE_EL2 | TW_TRBE_EL3 |
                                                       TW_TRBE_SECURE | TW_TRBE_EXC };

    (void)state;
    for (size_t i = 0; i < LENGTH(takes); i++) {
        const struct taken *t = &takes[i];
        struct rig rig;

        rig_start(&rig, &config);
        tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, (uint64_t)t->trbee << 53 | NSTB_NS);
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, t->ee2 << 8 | t->ke2 << 10);
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, t->ee1 << 8 | t->ke1 << 10);
        tw_trbe_write(rig.unit, TW_TRBE_HCR_EL2, t->is_tge ? TGE : 0);
        tw_trbe_write(rig.unit, status_of[t->sr - 1], TW_TRBE_SR_IRQ);
        tw_trbe_set_pm(rig.unit, t->is_pm);
        for (unsigned el = 0; el < 4; el++) {
            struct tw_trbe_state now;

            check_case("%s from EL%u", t->name, el);
            tw_trbe_enter(rig.unit, el);
            tw_trbe_get_state(rig.unit, &now);
            CHECK_EQ(now.exception != 0, t->from[el] != 0);
            CHECK_EQ(now.is_exception_unmasked, t->from[el] != 0 && t->from[el] != 9);
            if (now.is_exception_unmasked)
                CHECK_EQ(now.exception, t->from[el]);
            CHECK_EQ(now.irq, t->irq);
        }
        rig_end(&rig);
    }
}

static void running_follows_every_status_register(void **state)
{
    /* Table D6-1: TRBEE, S of EL3, EE of EL2, S of EL2, S of EL1, running. */
    static const uint8_t rows[][6] = {
        { 0, 1, 3, 1, 0, 1 }, { 1, 1, 0, 1, 0, 1 }, { 1, 1, 2, 0, 0, 1 },
        { 1, 0, 3, 1, 0, 0 }, { 2, 0, 1, 1, 0, 1 }, { 2, 0, 2, 0, 0, 1 },
        { 3, 0, 3, 1, 0, 0 }, { 3, 1, 0, 0, 0, 0 }, { 0, 0, 0, 0, 1, 0 },
    };
    const struct tw_trbe_config config = { .features = EVERYTHING | TW_TRBE_EXC };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_trbe_state now;
        struct rig rig;

        check_case("row %zu", i);
        rig_start(&rig, &config);
        tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, (uint64_t)rows[i][0] << 53 | NSTB_NS);
        tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, (uint64_t)rows[i][2] << 8);
        tw_trbe_write(rig.unit, TW_TRBE_SR_EL3, rows[i][1] ? TW_TRBE_SR_S : 0);
        tw_trbe_write(rig.unit, TW_TRBE_SR_EL2, rows[i][3] ? TW_TRBE_SR_S : 0);
        tw_trbe_write(rig.unit, TW_TRBE_SR_EL1, rows[i][4] ? TW_TRBE_SR_S : 0);
        rig_enable(&rig, 0x10000, 0x11000, 0x10000, 0);
        tw_trbe_get_state(rig.unit, &now);
        CHECK_EQ(now.is_running, rows[i][5]);
        CHECK_EQ(now.is_stopped, !rows[i][5]);
        rig_end(&rig);
    }
}

static void access_traps_and_identification(void **state)
{
    const struct tw_trbe_config config = { .features = EVERYTHING | TW_TRBE_EXC | TW_TRBE_EXT |
                                                       TW_TRBE_MPAM_EXT };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    /* EL1 owns and may program. */
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 12 & 15, 2);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_SR_EL2), 255);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_MPAM), 3);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL2, 0x2000000); /* EL1 owns, accesses trap */
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 2);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_IDR), 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 0);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL2, 0); /* EL2 owns */
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 2);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 1);
    tw_trbe_enter(rig.unit, 2);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 0);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, 0x2000000); /* Non-secure, but trapped */
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 3);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, NSTB_S); /* Secure owns */
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 3);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 1);
    tw_trbe_enter(rig.unit, 3);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 4 & 1, 0);
    tw_trbe_enter(rig.unit, 0);
    CHECK_EQ(tw_trbe_access(rig.unit, TW_TRBE_PTR), 255);
    rig_end(&rig);
}

/* HCR_EL2.E2H: EL2 reaches its own TRBSR by EL1's name, and EL1's by TRBSR_EL12. */
static void names_that_el2_uses(void **state)
{
    const struct tw_trbe_config config = { .features = TW_TRBE_EL2 | TW_TRBE_EXC };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, 1 << 8);
    tw_trbe_write(rig.unit, TW_TRBE_HCR_EL2, (uint64_t)1 << 34);
    tw_trbe_enter(rig.unit, 2);
    tw_trbe_write(rig.unit, TW_TRBE_SR_EL1, 5);
    tw_trbe_write(rig.unit, TW_TRBE_SR_EL12, 6);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL2), 5);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL1), 6);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL12), 6);
    rig_end(&rig);
}

/* [K10.5.10/S_YKCND] */
static void a_foreign_security_state_is_misuse(void **state)
{
    const struct tw_trbe_config config = { .features = EVERYTHING };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    rig_enable(&rig, 0x10000, 0x11000, 0x10000, 0);
    tw_trbe_enter(rig.unit, 3);
    tw_trbe_write(rig.unit, TW_TRBE_SCR_EL3, 0);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_collect(rig.unit, rig.pattern, 4, true), 4);
    CHECK_EQ(rig.misuses, 1);
    CHECK_EQ(rig.written, 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), TW_TRBE_SR_IRQ | TW_TRBE_SR_S);
    rig_end(&rig);
}

static void start_external(struct rig *rig, unsigned features, unsigned allowed)
{
    const struct tw_trbe_config config = { .features = features | TW_TRBE_EXT };

    rig_start(rig, &config);
    tw_trbe_set_authentication(rig->unit, allowed);
    tw_trbe_write(rig->unit, TW_TRBE_EDSCR, 0x80000000u);
    tw_trbe_isb(rig->unit);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x000, 0x10000), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x008, 0x10000), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x018, 0), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x020, 0), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x028, 1 << 10 | 0x3ff), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig->unit, 0x010, 0x12000 | TW_TRBE_LIMITR_XE), TW_OK);
}

/* [D6.1/7] [D6.1/10] */
static void external_mode(void **state)
{
    struct tw_trbe_state now;
    struct rig rig;
    uint64_t value;

    (void)state;
    start_external(&rig, TW_TRBE_MPAM_EXT, TW_TRBE_AUTH_NS | TW_TRBE_AUTH_NS_WATCH);
    tw_trbe_get_state(rig.unit, &now);
    CHECK(now.is_external && now.is_enabled && now.is_running && now.effective_nvm);
    CHECK_EQ(now.regime, TW_TRBE_PHYSICAL);
    rig_feed(&rig, 100);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x10064);
    CHECK_EQ(rig.last.security, TW_TRBE_NON_SECURE);
    CHECK_EQ(rig.last.attributes, 0xff);
    CHECK_EQ(rig.last.shareability, 3);
    CHECK(!rig.last.has_mpam);
    /* Manual stop: flush, then stopped; again on a stopped unit. */
    rig.flush_size = 10;
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x038, 1), TW_OK);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x018), TW_OK);
    CHECK_EQ(value, TW_TRBE_SR_IRQ | TW_TRBE_SR_S | 3);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x1006e);
    CHECK_EQ(rig.cti_stops, 1);
    CHECK_EQ(rig.cti_manages, 1);
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x038, 1), TW_OK);
    CHECK_EQ(rig.flushes, 2);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->flushes, 2);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x038), TW_OK);
    CHECK_EQ(value, 0);
    /* MPAM, once the unit is disabled. */
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x010, 0x12000), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x040, 1 << 26 | 1 << 24 | 7 << 16 | 0x1234),
             TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x018, 0), TW_OK);
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x010, 0x12000 | TW_TRBE_LIMITR_XE), TW_OK);
    rig_feed(&rig, 1);
    CHECK(rig.last.has_mpam);
    CHECK_EQ(rig.last.partid, 0x1234);
    CHECK_EQ(rig.last.pmg, 7);
    CHECK_EQ(rig.last.mpam_space, 1);
    /* Self-hosted trace leaves External mode. */
    tw_trbe_write(rig.unit, TW_TRBE_EDSCR, 0);
    tw_trbe_isb(rig.unit);
    tw_trbe_get_state(rig.unit, &now);
    CHECK(!now.is_enabled && !now.is_external);
    rig_end(&rig);
}

/* What MDCR_EL3 says of exceptions is for self-hosted trace: events of External mode are EL1's. */
static void external_mode_records_for_el1(void **state)
{
    struct rig rig;

    (void)state;
    start_external(&rig, TW_TRBE_EL2 | TW_TRBE_EL3 | TW_TRBE_EXC,
                   TW_TRBE_AUTH_NS | TW_TRBE_AUTH_NS_WATCH);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, (uint64_t)3 << 53 | NSTB_NS);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_external_write(rig.unit, 0x038, 1), TW_OK); /* manual stop */
    CHECK_EQ(recorded(&rig), 1);
    rig_end(&rig);
}

static void external_mode_needs_authentication(void **state)
{
    struct rig rig;
    uint64_t value;

    (void)state;
    start_external(&rig, 0, TW_TRBE_AUTH_NS_WATCH);
    rig_feed(&rig, 3);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL1), TW_TRBE_SR_IRQ | TW_TRBE_SR_S);
    CHECK_EQ(rig.written, 0);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, 3);
    rig_end(&rig);

    /* Without non-invasive debug nothing may be traced. */
    start_external(&rig, 0, TW_TRBE_AUTH_NS);
    rig_feed(&rig, 3);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->prohibited, 3);
    rig_end(&rig);

    /* RME without root authentication and without checks: rejected. */
    start_external(&rig, EVERYTHING, TW_TRBE_AUTH_NS | TW_TRBE_AUTH_NS_WATCH);
    rig_feed(&rig, 3);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->rejected, 3);
    tw_trbe_write(rig.unit, TW_TRBE_GPCCR_EL3, 1 << 18);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 3);
    CHECK_EQ(rig.written, 3);
    /* Locked, or refused by MDCR_EL3.ETBAD: an error response; management registers answer. */
    tw_trbe_write(rig.unit, TW_TRBE_OSLAR, 1);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x008), TW_E_ARGUMENT);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0xfbc), TW_OK);
    CHECK_EQ(value, 0x47700a18);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0xff8), TW_OK);
    CHECK_EQ(value, 5);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0xfb8), TW_OK);
    CHECK_EQ(value & 15, 15);
    /* With the OS Lock locked, the system registers reach XE. */
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0x12000);
    tw_trbe_write(rig.unit, TW_TRBE_OSLAR, 0);
    tw_trbe_isb(rig.unit);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000 | TW_TRBE_LIMITR_XE);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0x12000);
    rig_end(&rig);
}

/* [D6.1.2/3] */
static void events_in_prohibited_regions(void **state)
{
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    CHECK(tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_TRB_WRAP));
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0);
    tw_trbe_isb(rig.unit);
    CHECK(!tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_TRB_WRAP));
    CHECK(!tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_TRCEXTOUT0));
    CHECK(!tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_PMU_HOVFS));
    CHECK(tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_TRB_TRIG));
    CHECK(tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_PMU_OVFS));
    CHECK(tw_trbe_event_reaches(rig.unit, TW_TRBE_EVENT_CTI_TRIGOUT4 + 3));
    rig_end(&rig);
}

/* [D6.1/4]
   What the tables are asked. */
static void walks_name_regime_and_stage(void **state)
{
    const struct tw_trbe_config config = { .features = TW_TRBE_EL2 | TW_TRBE_EXC };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    tw_trbe_write(rig.unit, TW_TRBE_MAR, 0x344);
    tw_trbe_write(rig.unit, TW_TRBE_HCR_EL2, 1);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, TW_TRBE_LIMITR_NVM);
    rig_feed(&rig, 1);
    CHECK_EQ(rig.walk.regime, TW_TRBE_EL10);
    CHECK(rig.walk.is_stage1_off && rig.walk.has_stage2);
    CHECK_EQ(rig.last.attributes, 0x44);
    CHECK_EQ(rig.last.shareability, 3);
    /* TRFCR_EL2.DnVM takes nVM away from an EL1 owner, and TRBIDR_EL1 says so. */
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL2, 0x800);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 1);
    CHECK(!rig.walk.is_stage1_off);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 6 & 3, 1);
    tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL2, 0);
    tw_trbe_write(rig.unit, TW_TRBE_HCR_EL2, (uint64_t)1 << 34);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 1);
    CHECK_EQ(rig.walk.regime, TW_TRBE_EL20);
    CHECK(rig.walk.is_stage1_off && !rig.walk.has_stage2);
    tw_trbe_set_aarch32(rig.unit, true);
    rig_feed(&rig, 1);
    CHECK_EQ(rig.sunk, 1);
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_where_trace_is_prohibited),
        cmocka_unit_test(a_disabled_unit_prohibits_nothing),
        cmocka_unit_test(events_are_recorded_where_the_tables_say),
        cmocka_unit_test(exceptions_are_taken_where_the_tables_say),
        cmocka_unit_test(running_follows_every_status_register),
        cmocka_unit_test(access_traps_and_identification),
        cmocka_unit_test(names_that_el2_uses),
        cmocka_unit_test(a_foreign_security_state_is_misuse),
        cmocka_unit_test(external_mode),
        cmocka_unit_test(external_mode_records_for_el1),
        cmocka_unit_test(external_mode_needs_authentication),
        cmocka_unit_test(events_in_prohibited_regions),
        cmocka_unit_test(walks_name_regime_and_stage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
