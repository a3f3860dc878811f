/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace Buffer Unit against an oracle: a byte-at-a-time machine written from the rules alone. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trbe.h>

enum { BASE = 0x40000, SPACE = 0x6000, OPERATIONS = 1000000 };

/* The oracle knows nothing of runs, and keeps flags apart. */
struct status {
    bool irq, trg, wrap, stop;
    unsigned ec, code;
};

struct oracle {
    bool enabled;
    unsigned fill, trigger;
    uint64_t base, limit, pointer;
    uint32_t counter;
    struct status el1, el2, el3;
    unsigned trbee, ee2, ee1, owner2;
    bool e1tre, e0tre, at_el0;
    uint8_t memory[SPACE];
    uint64_t accepted, discarded, disabled, prohibited, wraps, trigs, stops;
    bool flush_wanted;
};

struct world {
    struct tw_trbe *unit;
    struct oracle oracle;
    uint8_t memory[SPACE];
    uint8_t buffered[64]; /* in the trace unit, for a flush */
    size_t buffered_size, buffered_taken;
    uint64_t bad_from, bad_end; /* addresses whose pages are missing */
    uint8_t bad_class, bad_status;
    uint64_t wraps, trigs, stops;
};

static struct status *other(struct oracle *o)
{
    if (o->trbee == 3)
        return &o->el3;
    if (o->trbee != 0 && o->ee2 == 3)
        return &o->el2;
    return &o->el1;
}

static struct status *for_fault(struct oracle *o, unsigned class_code)
{
    if (o->trbee == 3)
        return &o->el3;
    if (o->trbee == 2 && class_code == 0x1e)
        return &o->el3;
    if (o->trbee != 0 && o->ee2 == 3)
        return &o->el2;
    if (o->trbee != 0 && o->ee2 == 2 && (o->owner2 || class_code == 0x25 || class_code == 0x1e))
        return &o->el2;
    return &o->el1;
}

static bool running(const struct oracle *o)
{
    if (!o->enabled || o->el1.stop)
        return false;
    if (o->trbee >= 2 && o->el3.stop)
        return false;
    return !(o->trbee != 0 && o->ee2 >= 2 && o->el2.stop);
}

static void stop(struct oracle *o, struct status *status, unsigned ec, unsigned code)
{
    status->irq = true;
    if (status->stop)
        return;
    status->stop = true;
    status->ec = ec;
    status->code = code;
    o->stops++;
}

static void one_event(struct oracle *o)
{
    o->trigs++;
    if (running(o) && o->trigger != 3)
        o->flush_wanted = true;
}

static void one_byte(struct world *w, uint8_t byte)
{
    struct oracle *o = &w->oracle;

    if (!o->enabled) {
        o->disabled++;
        return;
    }
    if (!running(o)) {
        o->discarded++;
        return;
    }
    if (o->pointer >= w->bad_from && o->pointer < w->bad_end) {
        stop(o, for_fault(o, w->bad_class), w->bad_class,
             w->bad_class == 0x1e ? 0 : w->bad_status);
        o->discarded++;
        return;
    }
    o->memory[o->pointer - BASE] = byte;
    o->accepted++;
    o->pointer++;
    if (o->pointer == o->limit) {
        o->pointer = o->base;
        other(o)->wrap = true;
        o->wraps++;
        if (o->fill == 0)
            stop(o, other(o), 0, 1);
        else if (o->fill != 3)
            other(o)->irq = true;
    }
    if (other(o)->trg && o->counter > 0) {
        o->counter--;
        if (o->counter == 0)
            one_event(o);
    }
}

static void oracle_flush(struct world *w)
{
    struct oracle *o = &w->oracle;

    while (o->flush_wanted) {
        o->flush_wanted = false;
        for (size_t i = 0; i < w->buffered_size; i++)
            one_byte(w, w->buffered[i]);
        w->buffered_size = 0;
        if (o->trigger == 0)
            stop(o, other(o), 0, 2);
        else
            other(o)->irq = true;
    }
}

static bool oracle_allowed(const struct oracle *o)
{
    return o->at_el0 ? o->e0tre : o->e1tre;
}

static void oracle_collect(struct world *w, const uint8_t *bytes, size_t size)
{
    struct oracle *o = &w->oracle;

    if (!oracle_allowed(o)) {
        o->prohibited += size;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        one_byte(w, bytes[i]);
        oracle_flush(w);
    }
}

static void oracle_trigger(struct world *w)
{
    struct oracle *o = &w->oracle;

    if (!o->enabled || other(o)->trg)
        return;
    other(o)->trg = true;
    if (o->counter == 0)
        one_event(o);
    oracle_flush(w);
}

static enum tw_trbe_reply translate(void *context, struct tw_trbe_walk *walk)
{
    struct world *w = context;

    if (walk->address >= w->bad_from && walk->address < w->bad_end) {
        walk->fault.class_code = w->bad_class;
        walk->fault.status = w->bad_status;
        return TW_TRBE_FAULT;
    }
    /* An answer holds up to the page's end. */
    if (walk->size > 0x1000 - walk->address % 0x1000)
        walk->size = 0x1000 - walk->address % 0x1000;
    return TW_TRBE_DONE;
}

static enum tw_trbe_reply write_memory(void *context, struct tw_trbe_store *store)
{
    struct world *w = context;

    CHECK(store->address >= BASE && store->address + store->size <= BASE + SPACE);
    memcpy(w->memory + (store->address - BASE), store->bytes, store->size);
    return TW_TRBE_DONE;
}

static size_t flush(void *context, uint8_t *bytes, size_t room)
{
    struct world *w = context;
    size_t size = w->buffered_taken;

    CHECK(room >= sizeof w->buffered);
    memcpy(bytes, w->buffered, size);
    w->buffered_taken = 0;
    return size;
}

static void hear(void *context, const struct tw_trbe_event *event)
{
    struct world *w = context;

    w->stops += event->kind == TW_TRBE_ON_STOP;
    w->wraps += event->kind == TW_TRBE_ON_EVENT && event->value == 0x400c;
    w->trigs += event->kind == TW_TRBE_ON_EVENT && event->value == 0x400e;
}

static uint64_t packed(const struct status *s)
{
    return (uint64_t)s->ec << 26 | (uint64_t)s->irq << 22 | (uint64_t)s->trg << 21 |
           (uint64_t)s->wrap << 20 | (uint64_t)s->stop << 17 | s->code;
}

static void compare(const struct world *w)
{
    const struct oracle *o = &w->oracle;
    const struct tw_trbe_counts *counts = tw_trbe_get_counts(w->unit);
    struct tw_trbe_state state;

    CHECK_EQ(tw_trbe_read(w->unit, TW_TRBE_PTR), o->pointer);
    CHECK_EQ(tw_trbe_read(w->unit, TW_TRBE_TRG), o->counter);
    CHECK_EQ(tw_trbe_used(w->unit, TW_TRBE_SR_EL1), packed(&o->el1));
    CHECK_EQ(tw_trbe_used(w->unit, TW_TRBE_SR_EL2), packed(&o->el2));
    CHECK_EQ(tw_trbe_used(w->unit, TW_TRBE_SR_EL3), packed(&o->el3));
    CHECK_EQ(counts->accepted, o->accepted);
    CHECK_EQ(counts->discarded, o->discarded);
    CHECK_EQ(counts->disabled, o->disabled);
    CHECK_EQ(counts->prohibited, o->prohibited);
    CHECK_EQ(counts->rejected, 0);
    CHECK_EQ(w->wraps, o->wraps);
    CHECK_EQ(w->trigs, o->trigs);
    CHECK_EQ(w->stops, o->stops);
    tw_trbe_get_state(w->unit, &state);
    CHECK_EQ(state.is_running, running(o));
    CHECK_EQ(state.is_stopped, o->enabled && !running(o));
    CHECK_EQ(state.irq, o->el1.irq && !(o->trbee && o->ee2 && o->ee1 >= 2));
}

/* Reprograms the unit: disable, everything, enable. */
static void program(struct world *w, struct check_random *random)
{
    struct oracle *o = &w->oracle;
    const uint64_t pages = 1 + check_random_below(random, 3);
    const uint64_t first = check_random_below(random, SPACE / 0x1000 - pages);
    const uint64_t status = check_random_below(random, 4) ? 0 : TW_TRBE_SR_TRG;

    tw_trbe_write(w->unit, TW_TRBE_LIMITR,
                  tw_trbe_read(w->unit, TW_TRBE_LIMITR) & ~(uint64_t)1);
    o->base = BASE + first * 0x1000;
    o->limit = o->base + pages * 0x1000;
    o->pointer = check_random_below(random, 2) ? o->base
                                               : o->limit - 1 - check_random_below(random, 300);
    o->counter =
        (uint32_t)(check_random_below(random, 2) ? 0 : check_random_below(random, 500));
    o->fill = (unsigned)check_random_below(random, 4);
    o->trigger = (unsigned)check_random_below(random, 4);
    o->trbee = (unsigned)check_random_below(random, 4);
    o->ee2 = (unsigned)check_random_below(random, 4);
    o->ee1 = (unsigned)check_random_below(random, 4);
    o->owner2 = (unsigned)check_random_below(random, 2);
    o->e1tre = check_random_below(random, 4) != 0;
    o->e0tre = check_random_below(random, 4) != 0;
    o->el1 = o->el2 = o->el3 = (struct status){ 0 };
    other(o)->trg = status != 0;
    tw_trbe_write(w->unit, TW_TRBE_BASER, o->base);
    tw_trbe_write(w->unit, TW_TRBE_PTR, o->pointer);
    tw_trbe_write(w->unit, TW_TRBE_TRG, o->counter);
    tw_trbe_write(w->unit, TW_TRBE_SR_EL1, packed(&o->el1));
    tw_trbe_write(w->unit, TW_TRBE_SR_EL2, packed(&o->el2));
    tw_trbe_write(w->unit, TW_TRBE_SR_EL3, packed(&o->el3));
    tw_trbe_write(w->unit, TW_TRBE_TRFCR_EL1,
                  o->e0tre | (unsigned)o->e1tre << 1 | (uint64_t)o->ee1 << 8);
    tw_trbe_write(w->unit, TW_TRBE_TRFCR_EL2, (uint64_t)o->ee2 << 8);
    tw_trbe_write(w->unit, TW_TRBE_MDCR_EL2, o->owner2 ? 0 : 0x3000000);
    tw_trbe_write(w->unit, TW_TRBE_MDCR_EL3, (uint64_t)o->trbee << 53 | 0x3000000);
    tw_trbe_isb(w->unit);
    o->enabled = check_random_below(random, 8) != 0;
    tw_trbe_write(w->unit, TW_TRBE_LIMITR,
                  o->limit | o->trigger << 3 | o->fill << 1 | o->enabled);
    tw_trbe_isb(w->unit);
}

static void break_pages(struct world *w, struct check_random *random)
{
    static const uint8_t classes[] = { 0x24, 0x24, 0x25, 0x1e };

    w->bad_from = w->bad_end = 0;
    if (check_random_below(random, 3))
        return;
    w->bad_from = BASE + 0x1000 * check_random_below(random, SPACE / 0x1000);
    w->bad_end = w->bad_from + 0x1000;
    w->bad_class = classes[check_random_below(random, LENGTH(classes))];
    w->bad_status = (uint8_t)(4 + check_random_below(random, 4));
}

static void step(struct world *w, struct check_random *random)
{
    static uint8_t bytes[4096];
    struct oracle *o = &w->oracle;
    const uint64_t kind = check_random_below(random, 100);

    /* Often something waits in the trace unit; the oracle sees the same. */
    if (check_random_below(random, 4) == 0) {
        w->buffered_size = check_random_below(random, sizeof w->buffered);
        check_random_fill(random, w->buffered, w->buffered_size);
    }
    w->buffered_taken = w->buffered_size;
    if (kind < 70) {
        const size_t size = check_random_below(random, kind < 4 ? sizeof bytes : 120);

        check_random_fill(random, bytes, size < 64 ? size : 64);
        CHECK_EQ(tw_trbe_collect(w->unit, bytes, size, false), size);
        oracle_collect(w, bytes, size);
    } else if (kind < 78) {
        tw_trbe_trigger(w->unit);
        oracle_trigger(w);
    } else if (kind < 90) {
        o->at_el0 = check_random_below(random, 2) != 0;
        tw_trbe_enter(w->unit, o->at_el0 ? 0 : 1);
    } else if (kind < 92) {
        break_pages(w, random);
    } else if (kind < 94) {
        /* Writes to an enabled unit do nothing; a disabled one takes them. */
        const uint64_t counter = check_random_below(random, 200);

        tw_trbe_write(w->unit, TW_TRBE_TRG, counter);
        if (!o->enabled)
            o->counter = (uint32_t)counter;
    } else {
        program(w, random);
    }
}

/* [D6.1/9] */
static void equals_the_oracle(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct check_random random = check_random_start(0x7b8e);
    const size_t count = check_scale(OPERATIONS);
    const struct tw_trbe_config config = {
        .size = sizeof config,
        .features = TW_TRBE_EL2 | TW_TRBE_EL3 | TW_TRBE_SECURE | TW_TRBE_EXC,
        .context = w,
        .translate = translate,
        .write = write_memory,
        .flush = flush,
        .event = hear,
    };

    (void)state;
    CHECK(w != NULL);
    CHECK_EQ(tw_trbe_new(&w->unit, &config, NULL), TW_OK);
    tw_trbe_write(w->unit, TW_TRBE_SCR_EL3, 1);
    tw_trbe_enter(w->unit, 1);
    program(w, &random);
    for (size_t i = 0; i < count; i++) {
        step(w, &random);
        compare(w);
        if (i % 1024 == 0)
            CHECK_BYTES(w->memory, SPACE, w->oracle.memory, SPACE);
    }
    CHECK_BYTES(w->memory, SPACE, w->oracle.memory, SPACE);
    /* The run has seen what it is for. */
    CHECK(w->oracle.wraps > count / 1000 && w->oracle.trigs > count / 1000);
    CHECK(w->oracle.stops > count / 1000 && w->oracle.accepted > count);
    printf("%zu operations, %llu bytes accepted, %llu wraps, %llu Trigger Events, %llu stops\n",
           count, (unsigned long long)w->oracle.accepted, (unsigned long long)w->oracle.wraps,
           (unsigned long long)w->oracle.trigs, (unsigned long long)w->oracle.stops);
    tw_trbe_free(w->unit);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_the_oracle) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
