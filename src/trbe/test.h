/* SPDX-License-Identifier: BSD-2-Clause */
/* A Trace Buffer Unit on a bench: memory at 0x10000, a trace unit, ears for events. */
#ifndef TRBE_TEST_H
#define TRBE_TEST_H

#include <stdlib.h>
#include <string.h>

#include <trackway/trbe.h>

#include "base/compiler.h"
#include "check.h"

enum { RIG_BASE = 0x10000, RIG_SIZE = 0x10000 };

struct rig {
    struct tw_trbe *unit;
    uint8_t memory[RIG_SIZE];
    uint8_t pattern[0x5000];
    size_t fed;
    size_t flush_size;          /* bytes that the next flush gives */
    uint64_t fault_at, busy_at; /* 0: nowhere */
    bool is_store_fault;
    struct tw_trbe_fault fault;
    uint64_t written, sunk;
    unsigned wraps, trigs, stops, flushes, serrors, misuses, irq, exceptions;
    unsigned cti_stops, cti_manages, cti_wraps;
    uint64_t irq_at; /* bytes accepted when the interrupt rose */
    struct tw_trbe_store last;
    struct tw_trbe_walk walk;
};

static TW_UNUSED enum tw_trbe_reply rig_translate(void *context, struct tw_trbe_walk *walk)
{
    struct rig *rig = context;

    rig->walk = *walk;
    if (rig->fault_at && !rig->is_store_fault && rig->fault_at >= walk->address &&
        rig->fault_at < walk->address + walk->size) {
        if (rig->fault_at > walk->address) {
            walk->size = rig->fault_at - walk->address;
            return TW_TRBE_DONE;
        }
        walk->fault = rig->fault;
        return TW_TRBE_FAULT;
    }
    return TW_TRBE_DONE;
}

static TW_UNUSED enum tw_trbe_reply rig_write(void *context, struct tw_trbe_store *store)
{
    struct rig *rig = context;
    enum tw_trbe_reply reply = TW_TRBE_DONE;
    const uint64_t stop = rig->busy_at ? rig->busy_at : rig->is_store_fault ? rig->fault_at : 0;

    if (stop && stop >= store->address && stop < store->address + store->size) {
        store->done = (size_t)(stop - store->address);
        store->fault = rig->fault;
        reply = rig->busy_at ? TW_TRBE_BUSY : TW_TRBE_FAULT;
    }
    for (size_t i = 0; i < store->done; i++) {
        const uint64_t at = store->physical + i - RIG_BASE;

        if (at < RIG_SIZE)
            rig->memory[at] = store->bytes[i];
    }
    rig->written += store->done;
    rig->last = *store;
    return reply;
}

static TW_UNUSED size_t rig_flush(void *context, uint8_t *bytes, size_t room)
{
    struct rig *rig = context;
    const size_t size = rig->flush_size < room ? rig->flush_size : room;

    memset(bytes, 0xf1, size);
    rig->flush_size -= size;
    return size;
}

static TW_UNUSED void rig_event(void *context, const struct tw_trbe_event *event)
{
    struct rig *rig = context;

    rig->wraps += event->kind == TW_TRBE_ON_EVENT && event->value == TW_TRBE_EVENT_TRB_WRAP;
    rig->trigs += event->kind == TW_TRBE_ON_EVENT && event->value == TW_TRBE_EVENT_TRB_TRIG;
    rig->stops += event->kind == TW_TRBE_ON_STOP;
    rig->flushes += event->kind == TW_TRBE_ON_FLUSH;
    rig->serrors += event->kind == TW_TRBE_ON_SERROR;
    rig->misuses += event->kind == TW_TRBE_ON_MISUSE;
    rig->exceptions += event->kind == TW_TRBE_ON_EXCEPTION;
    rig->cti_stops += event->kind == TW_TRBE_ON_CTI_STOP;
    rig->cti_manages += event->kind == TW_TRBE_ON_CTI_MANAGE;
    rig->cti_wraps += event->kind == TW_TRBE_ON_CTI_WRAP;
    if (event->kind == TW_TRBE_ON_IRQ) {
        rig->irq = (unsigned)event->value;
        rig->irq_at = event->accepted;
    }
}

static TW_UNUSED void rig_sink(void *context, const uint8_t *bytes, size_t size)
{
    struct rig *rig = context;

    (void)bytes;
    rig->sunk += size;
}

/* A unit that EL1 owns, with trace allowed at EL1 and EL0, executing at EL1. */
static TW_UNUSED void rig_start(struct rig *rig, const struct tw_trbe_config *wanted)
{
    struct tw_trbe_config config = wanted ? *wanted : (struct tw_trbe_config){ 0 };

    memset(rig, 0, sizeof *rig);
    for (size_t i = 0; i < sizeof rig->pattern; i++)
        rig->pattern[i] = (uint8_t)(i * 7 + i / 256 + 1);
    config.size = sizeof config;
    config.context = rig;
    config.translate = rig_translate;
    config.write = rig_write;
    config.flush = rig_flush;
    config.event = rig_event;
    config.sink = rig_sink;
    CHECK_EQ(tw_trbe_new(&rig->unit, &config, NULL), TW_OK);
    tw_trbe_write(rig->unit, TW_TRBE_TRFCR_EL1, 3);
    tw_trbe_write(rig->unit, TW_TRBE_MDCR_EL2, 0x3000000);
    tw_trbe_write(rig->unit, TW_TRBE_MDCR_EL3, 0x3000000);
    tw_trbe_write(rig->unit, TW_TRBE_SCR_EL3, 1);
    tw_trbe_enter(rig->unit, 1);
    tw_trbe_isb(rig->unit);
}

static TW_UNUSED void rig_end(struct rig *rig)
{
    tw_trbe_free(rig->unit);
    rig->unit = NULL;
}

static TW_UNUSED void rig_enable(struct rig *rig, uint64_t base, uint64_t limit,
                                 uint64_t pointer, uint64_t modes)
{
    tw_trbe_write(rig->unit, TW_TRBE_BASER, base);
    tw_trbe_write(rig->unit, TW_TRBE_PTR, pointer);
    tw_trbe_isb(rig->unit);
    tw_trbe_write(rig->unit, TW_TRBE_LIMITR, limit | modes | TW_TRBE_LIMITR_E);
    tw_trbe_isb(rig->unit);
}

static TW_UNUSED void rig_feed(struct rig *rig, size_t size)
{
    while (size) {
        const size_t most = sizeof rig->pattern - rig->fed % sizeof rig->pattern;
        const size_t piece = size < most ? size : most;
        const size_t taken = tw_trbe_collect(
            rig->unit, rig->pattern + rig->fed % sizeof rig->pattern, piece, false);

        rig->fed += taken;
        size -= taken;
        if (taken == 0)
            return;
    }
}

#endif
