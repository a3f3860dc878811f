/* SPDX-License-Identifier: BSD-2-Clause */
/* A Trace Buffer Unit that trace goes through in each of its modes, drained as an operating system
   does; for tests of the trace unit. */
#ifndef ETMV4_TEST_BUFFER_H
#define ETMV4_TEST_BUFFER_H

#include <trackway/trbe.h>

#include "etmv4/test_unit.h"

enum { BASE = 0x40000, PAGES_MOST = 4, DRAIN_ALIGN = 16, LATENCY_MOST = 600 };

/* ---- the buffer ---- */

struct buffer {
    struct tw_trbe *trbe;
    uint64_t size; /* bytes, from BASE on */
    uint8_t memory[PAGES_MOST * PAGE];
    uint8_t *drained;
    size_t drained_size;
    bool irq;
};

static inline enum tw_trbe_reply write_memory(void *context, struct tw_trbe_store *store)
{
    struct buffer *buffer = context;

    CHECK(store->physical >= BASE && store->physical + store->size <= BASE + buffer->size);
    memcpy(buffer->memory + (store->physical - BASE), store->bytes, store->size);
    return TW_TRBE_DONE;
}

static inline bool read_memory(void *context, uint8_t *bytes, uint64_t address, size_t size)
{
    const struct buffer *buffer = context;

    CHECK(address >= BASE && address + size <= BASE + buffer->size);
    memcpy(bytes, buffer->memory + (address - BASE), size);
    return true;
}

static inline void note_event(void *context, const struct tw_trbe_event *event)
{
    struct buffer *buffer = context;

    if (event->kind == TW_TRBE_ON_IRQ)
        buffer->irq = event->value;
    CHECK(event->kind != TW_TRBE_ON_MISUSE);
}

static inline void buffer_new(struct buffer *buffer, unsigned pages, enum tw_trbe_timing timing)
{
    const struct tw_trbe_config config = {
        .size = sizeof config,
        .timing = (uint8_t)timing,
        .context = buffer,
        .write = write_memory,
        .event = note_event,
    };

    *buffer = (struct buffer){ .size = (uint64_t)pages * PAGE };
    CHECK_EQ(tw_trbe_new(&buffer->trbe, &config, NULL), TW_OK);
    tw_trbe_enter(buffer->trbe, 1);
}

/* Where trace may be made, and where not. */
static inline void allow(struct buffer *buffer, bool is_allowed)
{
    tw_trbe_write(buffer->trbe, TW_TRBE_TRFCR_EL1, is_allowed ? 3 : 0);
    tw_trbe_isb(buffer->trbe);
}

static inline void start(struct buffer *buffer, enum tw_trbe_fill_mode mode)
{
    allow(buffer, false);
    tw_trbe_write(buffer->trbe, TW_TRBE_BASER, BASE);
    tw_trbe_write(buffer->trbe, TW_TRBE_PTR, BASE);
    tw_trbe_write(buffer->trbe, TW_TRBE_SR_EL1, 0);
    tw_trbe_isb(buffer->trbe);
    tw_trbe_write(buffer->trbe, TW_TRBE_LIMITR,
                  (BASE + buffer->size) | (uint64_t)TW_TRBE_IGNORE_TRIGGER << 3 |
                      (uint64_t)mode << 1 | TW_TRBE_LIMITR_E);
    tw_trbe_isb(buffer->trbe);
    allow(buffer, true);
}

/* Ends a session: all trace into memory, then behind what was drained before. */
static inline void drain(struct buffer *buffer, uint64_t from)
{
    const struct tw_trbe_memory memory = { buffer, read_memory };
    size_t size = 0;
    uint64_t limitr;

    allow(buffer, false);
    tw_trbe_tsb(buffer->trbe);
    tw_trbe_isb(buffer->trbe);
    tw_trbe_dsb(buffer->trbe);
    tw_trbe_isb(buffer->trbe);
    limitr = tw_trbe_read(buffer->trbe, TW_TRBE_LIMITR);
    tw_trbe_write(buffer->trbe, TW_TRBE_LIMITR, limitr & ~(uint64_t)TW_TRBE_LIMITR_E);
    tw_trbe_isb(buffer->trbe);
    (void)(tw_trbe_drain(buffer->trbe, NULL, &size, &memory, from, 0) == TW_OK);
    buffer->drained = realloc(buffer->drained, buffer->drained_size + size + 1);
    CHECK(buffer->drained != NULL);
    CHECK_EQ(tw_trbe_drain(buffer->trbe, buffer->drained + buffer->drained_size, &size, &memory,
                           from, 0),
             TW_OK);
    buffer->drained_size += size;
    tw_trbe_write(buffer->trbe, TW_TRBE_SR_EL1, 0);
    tw_trbe_isb(buffer->trbe);
}

/* What operating systems put behind a session. */
static inline void pad(struct buffer *buffer)
{
    const size_t more = (DRAIN_ALIGN - buffer->drained_size % DRAIN_ALIGN) % DRAIN_ALIGN;

    buffer->drained = realloc(buffer->drained, buffer->drained_size + more + 1);
    CHECK(buffer->drained != NULL);
    memset(buffer->drained + buffer->drained_size, 0x70, more);
    buffer->drained_size += more;
}

static inline void buffer_free(struct buffer *buffer)
{
    tw_trbe_free(buffer->trbe);
    free(buffer->drained);
}

/* ---- ways through it ---- */

enum way {
    FILL_ONCE,       /* the beginning */
    FILL_AGAIN,      /* a new session whenever it is full: all */
    WRAP_ONCE,       /* the end */
    WRAP_SERVED,     /* watermark by wrap, served with some latency: all */
    TRIGGER_SERVED,  /* watermark by trigger: all */
    CIRCULAR_ONCE,   /* the end */
    CIRCULAR_SERVED, /* drained before it comes round: all */
    WAYS
};

static inline void feed_all(struct buffer *buffer, const uint8_t *bytes, size_t size)
{
    CHECK_EQ(tw_trbe_collect(buffer->trbe, bytes, size, false), size);
}

/* In Fill mode, as much as fits each time. */
static inline void fill_again(struct buffer *buffer, const uint8_t *bytes, size_t size)
{
    while (size) {
        struct tw_trbe_state state;
        size_t piece = 0;

        start(buffer, TW_TRBE_FILL);
        do {
            feed_all(buffer, bytes + piece++, 1);
            tw_trbe_get_state(buffer->trbe, &state);
        } while (!state.is_stopped && piece < size);
        CHECK_EQ(state.is_stopped, piece == buffer->size);
        drain(buffer, BASE);
        bytes += piece;
        size -= piece;
    }
}

static inline void circle(struct buffer *buffer, struct check_random *random,
                          const uint8_t *bytes, size_t size)
{
    while (size) {
        const size_t most = (size_t)(buffer->size < size ? buffer->size : size);
        const size_t piece = 1 + (size_t)check_random_below(random, most);

        start(buffer, TW_TRBE_CIRCULAR);
        feed_all(buffer, bytes, piece);
        CHECK(!buffer->irq);
        drain(buffer, BASE);
        bytes += piece;
        size -= piece;
    }
}

static inline void serve(struct buffer *buffer, enum tw_trbe_watermark method,
                         struct check_random *random, const uint8_t *bytes, size_t size)
{
    while (size) {
        const uint64_t level =
            64 + check_random_below(random, buffer->size - LATENCY_MOST - 64);
        const uint64_t first =
            method == TW_TRBE_BY_WRAP ? BASE + buffer->size - level : (uint64_t)BASE;
        const size_t latency = (size_t)check_random_below(random, LATENCY_MOST);
        size_t piece = 0, late;

        allow(buffer, false);
        CHECK_EQ(tw_trbe_set_watermark(buffer->trbe, method, BASE, BASE + buffer->size, level),
                 TW_OK);
        allow(buffer, true);
        buffer->irq = false;
        while (!buffer->irq && piece < size)
            feed_all(buffer, bytes + piece++, 1);
        CHECK(!buffer->irq || piece == level); /* at the computed byte */
        late = size - piece < latency ? size - piece : latency;
        feed_all(buffer, bytes + piece, late);
        piece += late;
        drain(buffer, first);
        bytes += piece;
        size -= piece;
    }
}

static inline void go_through(struct buffer *buffer, enum way way, struct check_random *random,
                              const uint8_t *bytes, size_t size)
{
    switch (way) {
    case FILL_AGAIN:
        fill_again(buffer, bytes, size);
        return;
    case WRAP_SERVED:
        serve(buffer, TW_TRBE_BY_WRAP, random, bytes, size);
        return;
    case TRIGGER_SERVED:
        serve(buffer, TW_TRBE_BY_TRIGGER, random, bytes, size);
        return;
    case CIRCULAR_SERVED:
        circle(buffer, random, bytes, size);
        return;
    default:
        start(buffer, way == FILL_ONCE   ? TW_TRBE_FILL
                      : way == WRAP_ONCE ? TW_TRBE_WRAP
                                         : TW_TRBE_CIRCULAR);
        feed_all(buffer, bytes, size);
        drain(buffer, BASE);
    }
}

#endif
