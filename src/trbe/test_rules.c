/* SPDX-License-Identifier: BSD-2-Clause */
/* TRBE: which faults are External aborts, to whom they are reported, and the Root space. */
#include "check.h"

#include "trbe/test.h"
#include "trbe/unit.h"

enum {
    EA = 18,
    EXTERNAL_ABORT = 0x10,
    ASYNCHRONOUS = 0x11,
    GRANULE_FIRST = 0x22, /* granule protection faults */
    GRANULE_LAST = 0x28,
    RME = TW_TRBE_EL2 | TW_TRBE_EL3 | TW_TRBE_SECURE | TW_TRBE_SEL2 | TW_TRBE_RME,
};

/* External aborts on a translation table walk: levels -2 to 3, and parity at level -1. */
static bool is_walk_abort(unsigned status)
{
    static const uint8_t codes[] = { 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x1b };

    for (size_t i = 0; i < LENGTH(codes); i++)
        if (status == codes[i])
            return true;
    return false;
}

/* Writes until the tables give this fault, or the memory does. */
static void fault(struct rig *rig, unsigned status)
{
    rig_enable(rig, 0x10000, 0x14000, 0x10000, 0);
    rig->fault_at = 0x10010;
    rig->fault = (struct tw_trbe_fault){ TW_TRBE_EC_STAGE1, (uint8_t)status, 0 };
    rig->is_store_fault = status == EXTERNAL_ABORT;
    rig_feed(rig, 0x100);
}

/* TRBSR_EL1.EA for aborts on walks is the implementation's choice, for each of their codes and for
   no other one; from Armv9.3 on there is no EA. */
static void every_abort_on_a_walk_sets_ea_where_the_unit_says_so(void **state)
{
    (void)state;
    for (unsigned status = 0; status < 0x40; status++)
        for (unsigned choice = 0; choice < 4; choice++) {
            const bool is_new = choice & 2;
            const struct tw_trbe_config config = { .aborts_set_ea = choice & 1,
                                                   .aborts = is_new ? 2 : 0,
                                                   .features = is_new ? TW_TRBE_V9_3 : 0 };
            struct rig rig;
            uint64_t found;

            if (status == EXTERNAL_ABORT || status == ASYNCHRONOUS)
                continue;
            check_case("status 0x%02x, choice %u", status, choice);
            rig_start(&rig, &config);
            fault(&rig, status);
            found = tw_trbe_read(rig.unit, TW_TRBE_SR_EL1);
            CHECK_EQ(found & 0x3f, status);
            CHECK_EQ(found >> 26 & 0x3f, TW_TRBE_EC_STAGE1);
            CHECK_EQ(found >> EA & 1, choice == 1 && is_walk_abort(status));
            rig_end(&rig);
        }
}

/* Tables D6-5 to D6-7: what SCR_EL3 takes to EL3, by the fault's code. */
static void aborts_and_granule_faults_go_to_el3_when_it_asks_for_them(void **state)
{
    const struct tw_trbe_config config = { .features = RME | TW_TRBE_EXC };

    (void)state;
    for (unsigned status = 0; status < 0x40; status++)
        for (unsigned asked = 0; asked < 4; asked++) {
            const bool for_aborts = asked & 1, for_granules = asked & 2;
            const bool is_abort = status == EXTERNAL_ABORT || is_walk_abort(status);
            const bool is_granule = status >= GRANULE_FIRST && status <= GRANULE_LAST;
            struct rig rig;

            if (status == ASYNCHRONOUS)
                continue;
            check_case("status 0x%02x, asked %u", status, asked);
            rig_start(&rig, &config);
            tw_trbe_write(rig.unit, TW_TRBE_MDCR_EL3, (uint64_t)2 << 53 | 0x3000000);
            tw_trbe_write(rig.unit, TW_TRBE_SCR_EL3,
                          1 | (for_aborts ? 8 : 0) | (for_granules ? (uint64_t)1 << 48 : 0));
            fault(&rig, status);
            CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL3) & TW_TRBE_SR_IRQ ? 1 : 0,
                     (is_abort && for_aborts) || (is_granule && for_granules));
            rig_end(&rig);
        }
}

/* External mode: TRBMAR.PAS names the space.  It must exist, and be open to a debugger. */
static void a_space_is_used_where_it_exists_and_is_authorized(void **state)
{
    static const struct {
        const char *name;
        unsigned features;
        bool exists[4]; /* Secure, Non-secure, Root, Realm */
    } units[] = {
        { "neither Secure state nor RME", 0, { false, true, false, false } },
        { "Secure state", TW_TRBE_SECURE, { true, true, false, false } },
        { "RME", RME, { true, true, true, true } },
    };
    static const unsigned keys[] = { TW_TRBE_AUTH_S, TW_TRBE_AUTH_NS, TW_TRBE_AUTH_RT,
                                     TW_TRBE_AUTH_RL };
    const unsigned watch = TW_TRBE_AUTH_S_WATCH | TW_TRBE_AUTH_NS_WATCH |
                           TW_TRBE_AUTH_RT_WATCH | TW_TRBE_AUTH_RL_WATCH;

    (void)state;
    for (size_t i = 0; i < LENGTH(units); i++)
        for (unsigned space = 0; space < 4; space++)
            for (unsigned key = 0; key < 4; key++) {
                const struct tw_trbe_config config = { .features =
                                                           units[i].features | TW_TRBE_EXT };
                const bool is_used = units[i].exists[space] && key == space;
                struct rig rig;

                check_case("%s, space %u, key %u", units[i].name, space, key);
                rig_start(&rig, &config);
                tw_trbe_set_authentication(rig.unit, watch | keys[key]);
                tw_trbe_write(rig.unit, TW_TRBE_EDSCR, 0x80000000u);
                tw_trbe_write(rig.unit, TW_TRBE_GPCCR_EL3, 1 << 18); /* no checks are wanted */
                tw_trbe_isb(rig.unit);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x000, 0x10000), TW_OK);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x008, 0x10000), TW_OK);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x018, 0), TW_OK);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x020, 0), TW_OK);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x028, space << 10 | 0x3ff), TW_OK);
                CHECK_EQ(tw_trbe_external_write(rig.unit, 0x010, 0x12000 | TW_TRBE_LIMITR_XE),
                         TW_OK);
                rig_feed(&rig, 16);
                CHECK_EQ(rig.written, is_used ? 16 : 0);
                CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL1) & TW_TRBE_SR_S ? 1 : 0,
                         !is_used);
                if (is_used)
                    CHECK_EQ(rig.last.security, space);
                rig_end(&rig);
            }
}

/* EL3 is in Root state where there is RME, in Secure state where there is not; self-hosted trace is
   prohibited there, and Root has no EL2. */
static void root_state_is_that_of_el3(void **state)
{
    (void)state;
    for (unsigned has_rme = 0; has_rme < 2; has_rme++) {
        const unsigned features = has_rme ? RME : RME & ~(unsigned)TW_TRBE_RME;
        const struct tw_trbe_config config = { .features = features };
        struct rig rig;

        rig_start(&rig, &config);
        CHECK_EQ(tw_trbe_security_at(rig.unit, 3),
                 has_rme ? TW_TRBE_ROOT : TW_TRBE_SECURE_STATE);
        CHECK_EQ(tw_trbe_security_at(rig.unit, 1), TW_TRBE_NON_SECURE);
        CHECK(!tw_trbe_is_allowed_at(rig.unit, 3));
        CHECK(tw_trbe_has_el2(rig.unit, TW_TRBE_NON_SECURE));
        CHECK(!tw_trbe_has_el2(rig.unit, TW_TRBE_ROOT));
        rig_end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_abort_on_a_walk_sets_ea_where_the_unit_says_so),
        cmocka_unit_test(aborts_and_granule_faults_go_to_el3_when_it_asks_for_them),
        cmocka_unit_test(a_space_is_used_where_it_exists_and_is_authorized),
        cmocka_unit_test(root_state_is_that_of_el3),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
