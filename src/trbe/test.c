/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace Buffer Unit: the vectors of its sheet, modes, faults, owners, prohibited regions. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trbe.h>

#include "trbe/test.h"

/* clang-format off */
static const struct vector {
    const char *name;
    uint8_t fill, trigger;
    bool has_trg;
    uint64_t pointer, counter;
    int input[5]; /* bytes, or a Detected Trigger */
    uint32_t flush;
    uint64_t end_pointer, end_counter;
    uint8_t irq, trg, wrap, stop, code;
    uint8_t wraps, trigs;
    uint64_t lost;
} vectors[] = {
#define FILL TW_TRBE_FILL
#define WRAP TW_TRBE_WRAP
#define CIRC TW_TRBE_CIRCULAR
#define STOP TW_TRBE_STOP_ON_TRIGGER
#define IRQ  TW_TRBE_IRQ_ON_TRIGGER
#define IGN  TW_TRBE_IGNORE_TRIGGER
#define D    (-1)
    { "1 fill to the brim", FILL, IGN, 0, 0x10000, 0, { 0x2000 }, 0, 0x10000, 0, 1,0,1,1,1, 1,0, 0 },
    { "2 fill and five more", FILL, IGN, 0, 0x10000, 0, { 0x2005 }, 0, 0x10000, 0, 1,0,1,1,1, 1,0, 5 },
    { "3 wrap goes on", WRAP, IGN, 0, 0x10000, 0, { 0x2005 }, 0, 0x10005, 0, 1,0,1,0,0, 1,0, 0 },
    { "4 circular, twice round", CIRC, IGN, 0, 0x10000, 0, { 0x4003 }, 0, 0x10003, 0, 0,0,1,0,0, 2,0, 0 },
    { "5 fill from the middle", FILL, IGN, 0, 0x11000, 0, { 0x1000 }, 0, 0x10000, 0, 1,0,1,1,1, 1,0, 0 },
    { "6 stop at once", CIRC, STOP, 0, 0x10000, 0, { 100, D, 50 }, 0, 0x10064, 0, 1,1,0,1,2, 0,1, 50 },
    { "7 stop after the count and the flush", CIRC, STOP, 0, 0x10000, 0x40, { 100, D, 64, 50 }, 12, 0x100b0, 0, 1,1,0,1,2, 0,1, 50 },
    { "8 interrupt after the count", FILL, IRQ, 0, 0x10000, 0x40, { 100, D, 64, 50 }, 0, 0x100d6, 0, 1,1,0,0,0, 0,1, 0 },
    { "9 ignored trigger counts", FILL, IGN, 0, 0x10000, 0x40, { 100, D, 64, 50 }, 0, 0x100d6, 0, 0,1,0,0,0, 0,1, 0 },
    { "10 watermark by wrap", WRAP, IGN, 0, 0x11a00, 0, { 0x600 }, 0, 0x10000, 0, 1,0,1,0,0, 1,0, 0 },
    { "11 watermark by trigger", FILL, IRQ, 1, 0x10000, 0x1800, { 0x1800 }, 0, 0x11800, 0, 1,1,0,0,0, 0,1, 0 },
    { "12 watermark, then full", FILL, IRQ, 1, 0x10000, 0x1800, { 0x2003 }, 0, 0x10000, 0, 1,1,1,1,1, 1,1, 3 },
    { "13 full and trigger on one byte", FILL, STOP, 1, 0x11ff0, 0x10, { 0x10 }, 0, 0x10000, 0, 1,1,1,1,1, 1,1, 0 },
    { "14 wrap and trigger on one byte", CIRC, STOP, 1, 0x11ff0, 0x10, { 0x10 }, 0, 0x10000, 0, 1,1,1,1,2, 1,1, 0 },
    { "15 a second trigger is none", CIRC, IRQ, 0, 0x10000, 0, { 10, D, 10, D, 10 }, 0, 0x1001e, 0, 1,1,0,0,0, 0,1, 0 },
    { "16 the flush fills it", FILL, STOP, 1, 0x11fe8, 0x10, { 0x10 }, 0x20, 0x10000, 0, 1,1,1,1,1, 1,1, 0x18 },
    /* The codes that are reserved act as Wrap and as IRQ on trigger. */
    { "reserved fill mode", 2, IGN, 0, 0x10000, 0, { 0x2005 }, 0, 0x10005, 0, 1,0,1,0,0, 1,0, 0 },
    { "reserved trigger mode", FILL, 2, 0, 0x10000, 0, { 8, D, 8 }, 0, 0x10010, 0, 1,1,0,0,0, 0,1, 0 },
    /* The pointer stands at the last byte; one byte wraps it. */
    { "limit - 1 to base", CIRC, IGN, 0, 0x11fff, 0, { 1 }, 0, 0x10000, 0, 0,0,1,0,0, 1,0, 0 },
    { "count of one", CIRC, STOP, 0, 0x10000, 1, { 5, D, 1, 3 }, 0, 0x10006, 0, 1,1,0,1,2, 0,1, 3 },
};
/* clang-format on */

static unsigned bit(uint64_t value, unsigned number)
{
    return (unsigned)(value >> number & 1);
}

static void run_vector(struct rig *rig, const struct vector *v)
{
    rig->flush_size = v->flush;
    tw_trbe_write(rig->unit, TW_TRBE_BASER, 0x10000);
    tw_trbe_write(rig->unit, TW_TRBE_PTR, v->pointer);
    tw_trbe_write(rig->unit, TW_TRBE_TRG, v->counter);
    tw_trbe_write(rig->unit, TW_TRBE_SR_EL1, v->has_trg ? TW_TRBE_SR_TRG : 0);
    tw_trbe_isb(rig->unit);
    tw_trbe_write(rig->unit, TW_TRBE_LIMITR,
                  0x12000 | (uint64_t)v->trigger << 3 | (uint64_t)v->fill << 1 | 1);
    tw_trbe_isb(rig->unit);
    for (size_t k = 0; k < LENGTH(v->input); k++) {
        if (v->input[k] == D)
            tw_trbe_trigger(rig->unit);
        else
            rig_feed(rig, (size_t)v->input[k]);
    }
}

/* [K10.5.11/4]
   [D6.1/8] [D6.1.1/R_WKBRT] [D6.1.1/R_FVPBS] [D6.1.1/R_VHNTF] [D6.1.1/R_BGBCJ]
   [D6.1.1/R_PBGNS] */
static void runs_the_described_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        const struct vector *v = &vectors[i];
        struct rig rig;
        uint64_t status;

        CHECK_CASE(v->name);
        rig_start(&rig, NULL);
        run_vector(&rig, v);
        status = tw_trbe_read(rig.unit, TW_TRBE_SR_EL1);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), v->end_pointer);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_TRG), v->end_counter);
        CHECK_EQ(bit(status, 22), v->irq);
        CHECK_EQ(bit(status, 21), v->trg);
        CHECK_EQ(bit(status, 20), v->wrap);
        CHECK_EQ(bit(status, 17), v->stop);
        CHECK_EQ(status & 0x3f, v->code);
        CHECK_EQ(status >> 26 & 0x3f, 0);
        CHECK_EQ(rig.wraps, v->wraps);
        CHECK_EQ(rig.trigs, v->trigs);
        CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, v->lost);
        CHECK_EQ(rig.irq, v->irq);
        rig_end(&rig);
    }
}

static void the_other_order_records_the_trigger(void **state)
{
    struct tw_trbe_config config = { .is_trigger_first = true };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    run_vector(&rig, &vectors[12]);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1) & 0x3f, TW_TRBE_BSC_TRIGGER);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10000);
    rig_end(&rig);
}

/* [D6.1/2] [D6.1.1/R_BGBCJ] [D6.6.1/R_MRVPT] */
static void nothing_is_written_where_it_must_not(void **state)
{
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, TW_TRBE_CIRCULAR << 1);

    /* Prohibited: E1TRE is 0 at EL1. */
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 1);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 100);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->prohibited, 100);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10000);
    /* EL0 may be traced. */
    tw_trbe_enter(rig.unit, 0);
    rig_feed(&rig, 10);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x1000a);
    /* Back in EL1: what EL0 made may still come, until a TSB CSYNC has finished. */
    tw_trbe_enter(rig.unit, 1);
    CHECK_EQ(tw_trbe_collect(rig.unit, rig.pattern, 6, true), 6);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10010);
    tw_trbe_tsb(rig.unit);
    CHECK_EQ(tw_trbe_collect(rig.unit, rig.pattern, 6, true), 6);
    tw_trbe_trigger(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10010);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), 0);

    /* Debug state. */
    tw_trbe_enter(rig.unit, 0);
    tw_trbe_set_debug(rig.unit, true);
    rig_feed(&rig, 10);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10010);
    tw_trbe_set_debug(rig.unit, false);

    /* Disabled: to the sink. */
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000 | TW_TRBE_CIRCULAR << 1);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 33);
    CHECK_EQ(rig.sunk, 33);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->disabled, 33);
    tw_trbe_trigger(rig.unit);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), 0);

    /* Stopped. */
    tw_trbe_write(rig.unit, TW_TRBE_SR_EL1, TW_TRBE_SR_S);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12001 | TW_TRBE_CIRCULAR << 1);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 7);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, 7);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10010);
    CHECK_EQ(rig.written, 16);
    rig_end(&rig);
}

static void an_enabled_unit_ignores_writes(void **state)
{
    static const enum tw_trbe_register locked[] = { TW_TRBE_PTR, TW_TRBE_BASER, TW_TRBE_TRG,
                                                    TW_TRBE_SR_EL1, TW_TRBE_MAR };
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x12000, 0x10800, 0);
    for (size_t i = 0; i < LENGTH(locked); i++) {
        const uint64_t before = tw_trbe_read(rig.unit, locked[i]);

        tw_trbe_write(rig.unit, locked[i], ~before);
        CHECK_EQ(tw_trbe_read(rig.unit, locked[i]), before);
    }
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x20001);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0x12001);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->ignored_writes, LENGTH(locked) + 1);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x20000);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0x20000);
    tw_trbe_write(rig.unit, TW_TRBE_PTR, 0x10804);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10804);
    rig_end(&rig);
}

/* clang-format off */
static const struct {
    const char *name;
    struct tw_trbe_fault fault;
    bool is_store; /* by the memory, not the tables */
    uint8_t ec, code, ea;
} faults[] = {
    { "translation, stage 1", { 0x24, 0x07, 0 }, false, 0x24, 0x07, 0 },
    { "permission, stage 2", { 0x25, 0x0f, 0x80 }, false, 0x25, 0x0f, 0 },
    { "granule protection check", { 0x1e, 0x00, 0 }, false, 0x1e, 0, 0 },
    { "granule protection fault", { 0x24, 0x28, 0 }, false, 0x24, 0x28, 0 },
    { "External abort on a walk", { 0x24, 0x15, 0 }, false, 0x24, 0x15, 0 },
    { "External abort", { 0x24, 0x10, 0 }, true, 0x24, 0x10, 1 },
};
/* clang-format on */

static void faults_stop_at_the_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct rig rig;
        uint64_t status;

        CHECK_CASE(faults[i].name);
        rig_start(&rig, NULL);
        rig_enable(&rig, 0x10000, 0x14000, 0x10000, 0);
        rig.fault_at = 0x11003;
        rig.fault = faults[i].fault;
        rig.is_store_fault = faults[i].is_store;
        rig_feed(&rig, 0x2000);
        status = tw_trbe_read(rig.unit, TW_TRBE_SR_EL1);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x11003);
        CHECK_EQ(status >> 26 & 0x3f, faults[i].ec);
        CHECK_EQ(status & 0x3f, faults[i].code);
        CHECK_EQ(status >> 32, faults[i].fault.more);
        CHECK_EQ(bit(status, 18), faults[i].ea);
        CHECK_EQ(bit(status, 17), 1);
        CHECK_EQ(bit(status, 22), 1);
        CHECK_EQ(tw_trbe_get_counts(rig.unit)->accepted, 0x1003);
        CHECK_EQ(tw_trbe_get_counts(rig.unit)->discarded, 0x2000 - 0x1003);

        /* An MMU fault leaves a value to restart with; an abort does not. */
        rig.fault_at = 0;
        tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x14000);
        tw_trbe_write(rig.unit, TW_TRBE_SR_EL1, 0);
        tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x14001);
        tw_trbe_isb(rig.unit);
        rig_feed(&rig, 5);
        CHECK_EQ(tw_trbe_get_counts(rig.unit)->misuses, faults[i].ea);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), faults[i].ea ? 0x11003 : 0x11008);
        rig_end(&rig);
    }
}

static void aborts_as_the_processor_takes_them(void **state)
{
    (void)state;
    for (uint8_t kind = 0; kind < 3; kind++) {
        const struct tw_trbe_config config = { .aborts = kind };
        const struct tw_trbe_fault late = { .class_code = 0x24 };
        struct rig rig;

        rig_start(&rig, &config);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) >> 8 & 15, kind);
        rig_enable(&rig, 0x10000, 0x14000, 0x10000, 0);
        rig.fault_at = 0x10010;
        rig.is_store_fault = true;
        rig.fault = (struct tw_trbe_fault){ 0x24, 0x10, 0 };
        rig_feed(&rig, 0x100);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), kind ? 0x10100 : 0x10010);
        CHECK_EQ(rig.serrors, kind == 2);
        tw_trbe_abort(rig.unit, &late);
        CHECK_EQ(rig.serrors, kind == 2 ? 2 : 0);
        CHECK_EQ(bit(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), 18), kind == 0);
        rig_end(&rig);
    }
}

static void an_asynchronous_abort_only_marks_a_stopped_unit(void **state)
{
    const struct tw_trbe_fault fault = { .class_code = 0x25 };
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x11000, 0x10000, 0);
    tw_trbe_abort(rig.unit, &fault);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1),
             (uint64_t)0x25 << 26 | TW_TRBE_SR_IRQ | TW_TRBE_SR_EA | TW_TRBE_SR_S | 0x11);
    rig_end(&rig);

    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x11000, 0x10000, 0);
    rig_feed(&rig, 0x1000);
    tw_trbe_abort(rig.unit, &fault);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1),
             TW_TRBE_SR_IRQ | TW_TRBE_SR_EA | TW_TRBE_SR_S | TW_TRBE_SR_WRAP | 1);
    rig_end(&rig);
}

/* [D6.1.1/R_FVPBS] [D6.1.1/R_VMVJH] */
static void bad_pointers_are_caught(void **state)
{
    const struct tw_trbe_config aligned = { .align = 6 };
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x12000, 0x12000, 0); /* outside */
    rig_feed(&rig, 10);
    CHECK_EQ(rig.misuses, 1);
    CHECK_EQ(rig.written, 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), TW_TRBE_SR_IRQ | TW_TRBE_SR_S);
    rig_end(&rig);

    rig_start(&rig, NULL);
    rig_enable(&rig, 0x12000, 0x10000, 0x11000, 0); /* base behind limit */
    rig_feed(&rig, 10);
    CHECK_EQ(rig.misuses, 1);
    rig_end(&rig);

    rig_start(&rig, &aligned);
    rig_enable(&rig, 0x10000, 0x12000, 0x10020, 0); /* misaligned */
    rig_feed(&rig, 10);
    CHECK_EQ(rig.misuses, 1);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1) & 0x3f, 0x21);
    rig_end(&rig);

    /* A misaligned value that hardware left is a restart value. */
    rig_start(&rig, &aligned);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, 0);
    rig_feed(&rig, 0x23);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12000);
    tw_trbe_write(rig.unit, TW_TRBE_PTR, tw_trbe_read(rig.unit, TW_TRBE_PTR));
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12001);
    tw_trbe_isb(rig.unit);
    rig_feed(&rig, 1);
    CHECK_EQ(rig.misuses, 0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10024);
    rig_end(&rig);
}

/* R_MSPSD: bits [63:56] are the same in base, pointer and limit, whatever they are. */
static void a_buffer_lies_within_one_top_byte(void **state)
{
    static const struct {
        uint64_t base, limit, pointer;
        bool is_good;
    } rows[] = {
        { 0x5a00000000010000, 0x5a00000000012000, 0x5a00000000010800, true },
        { 0xffff000000010000, 0xffff000000012000, 0xffff000000010800, true },
        { 0x00fffffffffff000, 0x0100000000001000, 0x00fffffffffff800, false },
        { 0x00fffffffffff000, 0x0100000000001000, 0x0100000000000800, false },
    };
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        check_case("row %zu", i);
        rig_start(&rig, NULL);
        rig_enable(&rig, rows[i].base, rows[i].limit, rows[i].pointer, 0);
        rig_feed(&rig, 10);
        CHECK_EQ(rig.misuses, rows[i].is_good ? 0 : 1);
        CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR),
                 rows[i].pointer + (rows[i].is_good ? 10 : 0));
        rig_end(&rig);
    }
}

/* [D6.1.1/I_BTSCF] */
static void alignment_shows_where_it_is_kept(void **state)
{
    const struct tw_trbe_config config = { .align = 4,
                                           .low_bits_are_zero = true,
                                           .counts_whole_units = true };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_IDR) & 15, 4);
    tw_trbe_write(rig.unit, TW_TRBE_TRG, 0x47);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_TRG), 0x40);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, TW_TRBE_IRQ_ON_TRIGGER << 3);
    rig_feed(&rig, 0x15);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), 0x10010);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_PTR), 0x10015);
    /* Five bytes of a unit are gathered: they count. */
    tw_trbe_trigger(rig.unit);
    CHECK_EQ(tw_trbe_used(rig.unit, TW_TRBE_TRG), 0x40 - 5);
    rig_feed(&rig, 0x3b);
    CHECK_EQ(rig.trigs, 1);
    CHECK_EQ(rig.irq, 1);
    rig_end(&rig);
}

/* [D6.1/7] */
static void wide_addresses_fault_without_translation(void **state)
{
    const struct tw_trbe_config config = { .address_bits = 40 };
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    rig_enable(&rig, 0x10000000000, 0x10000002000, 0x10000000000, TW_TRBE_LIMITR_NVM);
    rig_feed(&rig, 1);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1),
             (uint64_t)0x24 << 26 | TW_TRBE_SR_IRQ | TW_TRBE_SR_S);
    rig_end(&rig);
    rig_start(&rig, &config);
    rig_enable(&rig, 0x10000000000, 0x10000002000, 0x10000000000, 0);
    rig_feed(&rig, 1);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_SR_EL1), 0);
    rig_end(&rig);
}

/* [D6.6/R_GTCKK] */
static void busy_memory_rejects(void **state)
{
    struct rig rig;

    (void)state;
    rig_start(&rig, NULL);
    rig_enable(&rig, 0x10000, 0x12000, 0x10000, 0);
    rig.busy_at = 0x10040;
    CHECK_EQ(tw_trbe_collect(rig.unit, rig.pattern, 100, false), 0x40);
    CHECK_EQ(tw_trbe_get_counts(rig.unit)->rejected, 100 - 0x40);
    rig.busy_at = 0;
    CHECK_EQ(tw_trbe_collect(rig.unit, rig.pattern + 0x40, 100 - 0x40, false), 100 - 0x40);
    CHECK_BYTES(rig.memory, 100, rig.pattern, 100);
    rig_end(&rig);
}

/* [D6.1.1/R_JMPCB] [D6.1.1/R_LLBBS] [D6.1.1/R_KXRTY] [D6.1.1/R_PBGNS] */
static void resets(void **state)
{
    const struct tw_trbe_config config = { .features = TW_TRBE_EXT | TW_TRBE_MPAM_EXT,
                                           .unknown = ~(uint64_t)0 };
    struct tw_trbe_config bad = { .size = sizeof bad, .align = 12 };
    struct tw_trbe *unit = NULL;
    struct rig rig;

    (void)state;
    rig_start(&rig, &config);
    tw_trbe_reset(rig.unit, true);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0xfffffffffffff03e);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_PTR), ~(uint64_t)0);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_BASER), ~(uint64_t)0xfff);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_TRG), 0xffffffff);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_MPAM), 0x3ffffff);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_MAR), 0xfff);
    tw_trbe_write(rig.unit, TW_TRBE_TRFCR_EL1, 0x63);
    tw_trbe_write(rig.unit, TW_TRBE_LIMITR, 0x12001);
    tw_trbe_reset(rig.unit, false);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_LIMITR), 0x12000);
    CHECK_EQ(tw_trbe_read(rig.unit, TW_TRBE_TRFCR_EL1), 0x60);
    rig_end(&rig);

    CHECK_EQ(tw_trbe_new(&unit, &bad, NULL), TW_E_CONFIG);
    bad = (struct tw_trbe_config){ .size = sizeof bad, .features = TW_TRBE_MPAM_EXT };
    CHECK_EQ(tw_trbe_new(&unit, &bad, NULL), TW_E_CONFIG);
    bad = (struct tw_trbe_config){ .size = sizeof bad, .features = TW_TRBE_V9_3 };
    CHECK_EQ(tw_trbe_new(&unit, &bad, NULL), TW_E_CONFIG);
    bad = (struct tw_trbe_config){ .size = 1 };
    CHECK_EQ(tw_trbe_new(&unit, &bad, NULL), TW_E_ARGUMENT);
    CHECK(unit == NULL);
    tw_trbe_free(NULL);
}

/* [D6.1.2/1] [D6.1.2/2] */
static void names_and_fields(void **state)
{
    struct tw_trbe_field field;
    uint64_t covered = 0;

    (void)state;
    CHECK_EQ(tw_trbe_register_find("trblimitr", 9), TW_TRBE_LIMITR);
    CHECK_EQ(tw_trbe_register_find("TRBSR_EL1", 9), TW_TRBE_SR_EL1);
    CHECK_EQ(tw_trbe_register_find("TRBSR_EL12", 10), TW_TRBE_SR_EL12);
    CHECK_EQ(tw_trbe_register_find("TRBSR_EL", 8), TW_TRBE_REGISTERS);
    CHECK_EQ(tw_trbe_register_find("", 0), TW_TRBE_REGISTERS);
    for (size_t i = 0; tw_trbe_register_field(&field, TW_TRBE_LIMITR, i); i++)
        covered |= (((uint64_t)1 << field.width) - 1) << field.lowest;
    CHECK_EQ(covered, 0xfffffffffffff07f);
    CHECK_TEXT(tw_trbe_event_name(0x400c), "TRB_WRAP");
    CHECK_TEXT(tw_trbe_event_name(0x401b), "CTI_TRIGOUT7");
    CHECK_TEXT(tw_trbe_event_name(0x4013), "TRCEXTOUT3");
    CHECK(tw_trbe_event_name(0x4014) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_the_described_vectors),
        cmocka_unit_test(the_other_order_records_the_trigger),
        cmocka_unit_test(nothing_is_written_where_it_must_not),
        cmocka_unit_test(an_enabled_unit_ignores_writes),
        cmocka_unit_test(faults_stop_at_the_byte),
        cmocka_unit_test(aborts_as_the_processor_takes_them),
        cmocka_unit_test(an_asynchronous_abort_only_marks_a_stopped_unit),
        cmocka_unit_test(bad_pointers_are_caught),
        cmocka_unit_test(a_buffer_lies_within_one_top_byte),
        cmocka_unit_test(alignment_shows_where_it_is_kept),
        cmocka_unit_test(wide_addresses_fault_without_translation),
        cmocka_unit_test(busy_memory_rejects),
        cmocka_unit_test(resets),
        cmocka_unit_test(names_and_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
