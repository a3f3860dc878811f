/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace Buffer Unit: what is visible after which barrier; watermarks; draining. */
#include "check.h"

#include <trackway/trbe.h>

#include "trbe/test.h"

static const struct tw_trbe_config late = { .timing = TW_TRBE_LATE };

static void start_late(struct rig *rig)
{
    rig_start(rig, &late);
    rig_enable(rig, 0x10000, 0x12000, 0x10000, TW_TRBE_CIRCULAR << 1);
}

static struct tw_trbe_state now(const struct rig *rig)
{
    struct tw_trbe_state state;

    tw_trbe_get_state(rig->unit, &state);
    return state;
}

static void prohibit(struct rig *rig)
{
    tw_trbe_write(rig->unit, TW_TRBE_TRFCR_EL1, 0);
    tw_trbe_isb(rig->unit);
}

/* [K10.5.10/4]
   [D6.1/5] [D6.6/R_ZVDST] [D6.6/I_BYSGH] [D6.6/R_GTCKK] [D6.6.1/R_VWJNN] [D6.6.1/R_JQDJD]
   [D6.6.3/R_VTNCS]
   TS1 to TS5: each barrier brings what it must, and no sooner. */
static void each_barrier_brings_its_part(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    rig_feed(&rig, 100);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10000);
    prohibit(&rig);
    CHECK(!now(&rig).is_finished);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x10000);
    tw_trbe_tsb(rig.unit);
    CHECK(now(&rig).is_finished && !now(&rig).is_visible && !now(&rig).is_complete);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x10064);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10000); /* TS3 */
    CHECK_EQ(rig.written, 0);                               /* TS4 */
    tw_trbe_isb(rig.unit);
    CHECK(now(&rig).is_visible && !now(&rig).is_abort_visible);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10064);
    CHECK_EQ(rig.written, 0);
    tw_trbe_dsb(rig.unit);
    CHECK(now(&rig).is_complete && !now(&rig).is_abort_visible);
    CHECK_BYTES(rig.memory, 100, rig.pattern, 100);
    tw_trbe_isb(rig.unit);
    CHECK(now(&rig).is_abort_visible);
    rig_end(&rig);
}

/* [D6.6/R_NRLDV] [D6.6.1/R_MRVPT] [D6.6.1/R_CKVWP] [D6.6.3/R_NNRHD]
   TS6: a TSB CSYNC where trace is allowed guarantees nothing. */
static void a_barrier_in_the_wrong_place_does_nothing(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    rig_feed(&rig, 8);
    tw_trbe_tsb(rig.unit);
    tw_trbe_dsb(rig.unit);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10000);
    CHECK_EQ(rig.written, 0);
    /* No event between: the filter does not act yet. */
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0);
    tw_trbe_tsb(rig.unit);
    CHECK(!now(&rig).is_finished);
    /* A DSB before the TSB completes nothing. */
    tw_trbe_isb(rig.unit);
    tw_trbe_dsb(rig.unit);
    tw_trbe_tsb(rig.unit);
    CHECK_EQ(rig.written, 0);
    tw_trbe_dsb(rig.unit);
    CHECK_EQ(rig.written, 8);
    rig_end(&rig);
}

/* [K10.5.7.1/2]
   [D6.6.1/R_ZCDDS] [D6.6.3/R_BFJKD] [D6.6.3/R_TSPXF]
   TS2: a new buffer set up before the old trace is drained gets the old trace. */
static void unsynchronized_writes_go_wrong(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    rig_feed(&rig, 4);
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000 | TW_TRBE_CIRCULAR << 1);
    tw_trbe_isb(rig.unit);
    tw_trbe_write(rig.unit, TW_TRBE_BASER, 0x14000);
    tw_trbe_write(rig.unit, TW_TRBE_PTR, 0x14000);
    tw_trbe_isb(rig.unit);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x15001 | TW_TRBE_CIRCULAR << 1);
    tw_trbe_isb(rig.unit);
    tw_trbe_tsb(rig.unit);
    tw_trbe_dsb(rig.unit);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x14004);
    CHECK_BYTES(rig.memory + 0x4000, 4, rig.pattern, 4);
    rig_end(&rig);

    /* And a unit that is disabled under its trace loses it, with an event. */
    start_late(&rig);
    rig_feed(&rig, 4);
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000);
    tw_trbe_isb(rig.unit);
    tw_trbe_tsb(rig.unit);
    CHECK_EQ(rig.misuses, 1);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, 4);
    rig_end(&rig);

    /* TS9: cleared E does not act before an event, so the next write is ignored. */
    start_late(&rig);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000);
    tw_trbe_write(rig.unit, TW_TRBE_PTR, 0x11000);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->ignored_writes, 1);
    rig_end(&rig);
}

/* [K10.5.10/5]
   [D6.6.1/R_NSFRQ]
   R_JPPZZ: an abort shows only when the event follows the DSB. */
static void aborts_show_after_the_dsb(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    rig.fault_at = 0x10003;
    rig.is_store_fault = true;
    rig_feed(&rig, 8);
    prohibit(&rig);
    tw_trbe_tsb(rig.unit);
    tw_trbe_isb(rig.unit);
    tw_trbe_dsb(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), 0);
    tw_trbe_isb(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1),
             (uint64_t)0x24 << 26 | TW_TRBE_SR_IRQ | TW_TRBE_SR_EA | TW_TRBE_SR_S | 0x11);
    rig_end(&rig);
}

/* [D6.6/R_NNLMC] */
static void a_debugger_sees_what_is_on_its_way(void **state)
{
    const struct tw_trbe_config config = { .timing = TW_TRBE_LATE, .features = TW_TRBE_EXT };
    struct rig rig;
    uint64_t value;

    (void)state;
    rig_start(&rig, &config);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, TW_TRBE_CIRCULAR << 1);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x018), TW_OK);
    CHECK_EQ(value & TW_TRBE_SR_DAT, 0);
    rig_feed(&rig, 8);
    prohibit(&rig);
    for (unsigned barriers = 0; barriers < 2; barriers++) { /* not sent, not written */
        CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x018), TW_OK);
        CHECK_EQ(value & TW_TRBE_SR_DAT, TW_TRBE_SR_DAT);
        tw_trbe_tsb(rig.unit);
    }
    tw_trbe_dsb(rig.unit);
    CHECK_EQ(tw_trbe_external_read(rig.unit, &value, 0x018), TW_OK);
    CHECK_EQ(value & TW_TRBE_SR_DAT, 0);
    rig_end(&rig);
}

/* TS14: in Debug state the trace unit must be disabled. */
static void debug_state_needs_a_disabled_trace_unit(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    tw_trbe_write(rig.unit, TW_TRBE_TRCPRGCTLR, 1);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 8);
    tw_trbe_set_debug(rig.unit, true);
    tw_trbe_tsb(rig.unit);
    CHECK(!now(&rig).is_finished);
    tw_trbe_write(rig.unit, TW_TRBE_TRCPRGCTLR, 0);
    tw_trbe_isb(rig.unit);
    tw_trbe_tsb(rig.unit);
    CHECK(now(&rig).is_finished);
    tw_trbe_dsb(rig.unit);
    CHECK_EQ(rig.written, 8);
    rig_end(&rig);
}

/* [K10.5.10/S_FMBCL]
   [D6.6/I_DDLVC]
   The other switch-out: not prohibited, but the trace unit is disabled. */
static void a_disabled_trace_unit_is_quiet_too(void **state)
{
    struct rig rig;

    (void)state;
    start_late(&rig);
    tw_trbe_write(rig.unit, TW_TRBE_TRCPRGCTLR, 1);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 8);
    tw_trbe_write(rig.unit, TW_TRBE_TRCPRGCTLR, 0);
    tw_trbe_tsb(rig.unit);
    CHECK(!now(&rig).is_finished);
    tw_trbe_isb(rig.unit);
    tw_trbe_tsb(rig.unit);
    CHECK(now(&rig).is_finished);
    rig_end(&rig);
}

/* [K10.5.10/S_VKHHY]
   [D6.6.1/R_JQDJD]
   Software that keeps the rules sees the same of both. */
static void synchronized_software_sees_no_difference(void **state)
{
    struct check_random random = check_random_start(0x51c);
    const size_t rounds = check_scale(5000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        static struct rig rigs[2];
        const uint64_t modes =
            check_random_below(&random, 4) << 1 | check_random_below(&random, 4) << 3;
        const uint64_t pointer = 0x10000 + check_random_below(&random, 0x1000);
        const uint64_t counter =
            check_random_below(&random, 2) * check_random_below(&random, 99);
        const size_t first = check_random_below(&random, 5000), buffered = round % 50;
        const size_t second = check_random_below(&random, 900);
        const bool has_trigger = check_random_below(&random, 2) != 0;

        for (size_t i = 0; i < 2; i++) {
            rig_start(&rigs[i], i ? &late : NULL);
            tw_trbe_write(rigs[i].unit, TW_TRBE_TRG, counter);
            rig_enable(&rigs[i], 0x10000, 0x11000, pointer, modes);
            rigs[i].flush_size = buffered;
            rig_feed(&rigs[i], first);
            if (has_trigger)
                tw_trbe_trigger(rigs[i].unit);
            rig_feed(&rigs[i], second);
            prohibit(&rigs[i]);
            tw_trbe_tsb(rigs[i].unit);
            tw_trbe_dsb(rigs[i].unit);
            tw_trbe_isb(rigs[i].unit);
        }
        for (unsigned name = 0; name < TW_TRBE_REGISTERS; name++)
            CHECK_EQ(tw_trbe_read(rigs[1].unit, (enum tw_trbe_register)name),
                     tw_trbe_read(rigs[0].unit, (enum tw_trbe_register)name));
        CHECK_BYTES(rigs[1].memory, RIG_SIZE, rigs[0].memory, RIG_SIZE);
        CHECK_EQ(rigs[1].irq, rigs[0].irq);
        rig_end(&rigs[0]);
        rig_end(&rigs[1]);
    }
}

static bool read_memory(void *context, uint8_t *bytes, uint64_t address, size_t size)
{
    const struct rig *rig = context;

    if (address < RIG_BASE || address - RIG_BASE + size > RIG_SIZE)
        return false;
    memcpy(bytes, rig->memory + (address - RIG_BASE), size);
    return true;
}

/* [K10.5.11/1] [K10.5.11/3]
   K10.5.11, both recipes, at every level of a page and some more. */
static void watermarks_interrupt_at_the_byte(void **state)
{
    (void)state;
    for (unsigned method = 0; method < 2; method++) {
        for (uint64_t level = 1; level <= 0x2000; level += level < 40 ? 1 : 397) {
            const struct tw_trbe_memory memory = { NULL, read_memory };
            struct tw_trbe_memory from = memory;
            uint8_t out[0x2000];
            size_t size = sizeof out;
            struct rig rig;
            uint64_t start;

            check_case("method %u, level 0x%x", method, (unsigned)level);
            rig_start(&rig, NULL);
            from.context = &rig;
            CHECK_EQ(tw_trbe_set_watermark(rig.unit, (enum tw_trbe_watermark)method, 0x10000,
                                           0x12000, level),
                     TW_OK);
            start = tw_trbe_read(rig.unit, TW_TRBE_PTR);
            rig_feed(&rig, (size_t)level - 1);
            CHECK_EQ(rig.irq, 0);
            rig_feed(&rig, 1);
            CHECK_EQ(rig.irq, 1);
            CHECK_EQ(rig.irq_at, level);
            CHECK_EQ(method ? rig.trigs : rig.wraps, 1);
            CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_SR_EL1) & TW_TRBE_SR_S,
                     method && level == 0x2000 ? TW_TRBE_SR_S : 0);
            /* Collection goes on to the last byte of room, and nothing is lost. */
            rig_feed(&rig, 0x2000 - (size_t)level);
            CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, 0);
            CHECK_EQ(tw_trbe_drain(rig.unit, out, &size, &from, start, 0), TW_OK);
            CHECK_BYTES(out, size, rig.pattern, 0x2000);
            rig_end(&rig);
        }
    }
}

/* [D6.1.1/R_XBLPK] */
static void watermarks_that_do_not_fit(void **state)
{
    const struct tw_trbe_config config = { .align = 5 };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    CHECK_EQ(tw_trbe_set_watermark(rig.unit, TW_TRBE_BY_WRAP, 0x10000, 0x12000, 0x2020),
             TW_E_ARGUMENT);
    CHECK_EQ(tw_trbe_set_watermark(rig.unit, TW_TRBE_BY_TRIGGER, 0x10000, 0x12000, 0x30),
             TW_E_ARGUMENT);
    CHECK_EQ(tw_trbe_set_watermark(rig.unit, TW_TRBE_BY_TRIGGER, 0x10800, 0x12000, 0x20),
             TW_E_ARGUMENT);
    CHECK_EQ(tw_trbe_set_watermark(rig.unit, TW_TRBE_BY_TRIGGER, 0x10000, 0x12000, 0x20),
             TW_OK);
    CHECK_EQ(tw_trbe_set_watermark(rig.unit, TW_TRBE_BY_TRIGGER, 0x10000, 0x12000, 0x20),
             TW_E_ARGUMENT); /* it is enabled */
    rig_end(&rig);
}

/* [K10.5.11/2] [K10.5.11/5]
   The newest bytes, oldest first, whatever the mode and the amount. */
static void drains_oldest_byte_first(void **state)
{
    static const unsigned modes[] = { TW_TRBE_FILL, TW_TRBE_WRAP, TW_TRBE_CIRCULAR };
    static const size_t amounts[] = {
        0, 1, 0x7ff, 0xfff, 0x1000, 0x1001, 0x17ff, 0x2000, 0x2345
    };

    (void)state;
    for (size_t m = 0; m < LENGTH(modes); m++) {
        for (size_t a = 0; a < LENGTH(amounts); a++) {
            for (uint64_t start = 0x10000; start <= 0x10800; start += 0x800) {
                const struct tw_trbe_memory memory = { NULL, read_memory };
                struct tw_trbe_memory from = memory;
                const size_t room = (size_t)(0x11000 - start);
                size_t want = amounts[a], skip = 0, size = 0;
                uint8_t out[0x1100];
                struct rig rig;

                check_case("mode %u, %zu bytes from 0x%x", modes[m], amounts[a],
                           (unsigned)start);
                rig_start(&rig, NULL);
                from.context = &rig;
                rig_enable(&rig, 0x10000, 0x11000, start, modes[m] << 1);
                rig_feed(&rig, amounts[a]);
                if (modes[m] == TW_TRBE_FILL) {
                    want = want < room ? want : room;
                } else if (want > 0x1000) {
                    skip = want - 0x1000;
                    want = 0x1000;
                }
                CHECK_EQ(tw_trbe_drain(rig.unit, out, &size, &from, start, 64),
                         want ? TW_E_ROOM : TW_OK);
                CHECK_EQ(size, (want + 63) / 64 * 64);
                CHECK_EQ(tw_trbe_drain(rig.unit, out, &size, &from, start, 64), TW_OK);
                CHECK_BYTES(out, want, rig.pattern + skip, want);
                for (size_t i = want; i < size; i++)
                    CHECK_EQ(out[i], 0x70);
                rig_end(&rig);
            }
        }
    }
}

/* clang-format off */
/* A ring of four pages at 0x10000: head, tail, wakeup, alignment -> start, limit, padding. */
static const struct {
    const char *name;
    uint64_t head, tail, wakeup;
    unsigned align;
    uint64_t start, limit, padding;
} plans[] = {
    { "empty", 0, 0, 0, 0, 0x10000, 0x14000, 0 },
    { "head in the middle, to the end", 0x1800, 0, 0, 0, 0x11800, 0x14000, 0 },
    { "up to the tail's page", 0x4800, 0x2345, 0, 0, 0x10800, 0x12000, 0 },
    { "a wakeup comes first", 0, 0, 0x1800, 0, 0x10000, 0x12000, 0 },
    { "a wakeup that has passed", 0x1000, 0, 0x800, 0, 0x11000, 0x14000, 0 },
    { "head is aligned up", 0x1801, 0x1801, 0, 6, 0x11840, 0x14000, 0x3f },
    { "too little at the end", 0x3fe0, 0x3000, 0, 0, 0x10000, 0x13000, 0x20 },
    { "full", 0x4000, 0, 0, 0, 0x10000, 0x10000, 0 },
    { "no page before the tail", 0x4100, 0x0900, 0, 0, 0x10100, 0x10100, 0x800 },
};
/* clang-format on */

static void plans_the_next_session(void **state)
{
    struct tw_trbe_plan plan;

    (void)state;
    for (size_t i = 0; i < LENGTH(plans); i++) {
        const struct tw_trbe_ring ring = { 0x10000,       0x4000,        0x1000,
                                           plans[i].head, plans[i].tail, plans[i].wakeup };

        CHECK_CASE(plans[i].name);
        tw_trbe_ring_plan(&ring, &plan, plans[i].align);
        CHECK_EQ(plan.start, plans[i].start);
        CHECK_EQ(plan.limit, plans[i].limit);
        CHECK_EQ(plan.padding, plans[i].padding);
    }
    tw_trbe_ring_plan(&(struct tw_trbe_ring){ .size = 0 }, &plan, 0);
    CHECK_EQ(plan.limit, plan.start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_barrier_brings_its_part),
        cmocka_unit_test(a_barrier_in_the_wrong_place_does_nothing),
        cmocka_unit_test(unsynchronized_writes_go_wrong),
        cmocka_unit_test(aborts_show_after_the_dsb),
        cmocka_unit_test(a_debugger_sees_what_is_on_its_way),
        cmocka_unit_test(debug_state_needs_a_disabled_trace_unit),
        cmocka_unit_test(a_disabled_trace_unit_is_quiet_too),
        cmocka_unit_test(synchronized_software_sees_no_difference),
        cmocka_unit_test(watermarks_interrupt_at_the_byte),
        cmocka_unit_test(watermarks_that_do_not_fit),
        cmocka_unit_test(drains_oldest_byte_first),
        cmocka_unit_test(plans_the_next_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
