/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bytes are N-Trace, and what they do not say of themselves: SRC, the dialect, pins. */
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "ntrace/packet.h"

enum {
    BYTES_MOST = 1 << 16, /* that are looked at */
    SOURCES = 1 << TW_NTRACE_SRC_BITS_MAX,
    SCORE_MOST = 100,
    CHANCE = 60 /* so many bits that chance would not have set are enough */
};

/* What a value of a fixed field costs, in bits: how seldom encoders send it. */
static const uint8_t sync_cost[16] = { 4, 6, 1, 4, 5, 2, 5, 4, 12, 6, 12, 11, 12, 12, 10, 10 };
static const uint8_t btype_cost[4] = { 0, 4, 4, 4 };
static const uint8_t rcode_cost[16] = { 2, 1, 3,  12, 12, 12, 12, 12,
                                        4, 4, 12, 12, 12, 12, 12, 12 };
static const uint8_t evcode_cost[16] = { 2, 4,  12, 12, 1,  12, 12, 12,
                                         8, 12, 12, 12, 12, 12, 12, 12 };
enum {
    COST_BAD = 24,   /* it cannot be read so */
    COST_ODD = 6,    /* it can, but no encoder sends it so */
    COST_ETYPE = 12, /* another kind of error than an overrun */
    COST_SOURCE = 14,
    COST_NO_SYNC = 6, /* a message of a source that has no synchronization */
    COST_FIXED = 3    /* the bit behind SRC is the same in all of a source's messages */
};

enum { MANY = 16, KINDS = 3 }; /* messages, and types of them, that say something of a source */

/* What a reading under one assumption gave. */
struct reading {
    uint8_t src_bits;
    uint64_t cost;
    uint32_t messages, syncs, bad, vendor, sources, dialect;
    uint64_t good_bytes, bytes, idle;
    bool has_times, is_inside;
};

/* Which sources there are, and what of them. */
struct sources {
    uint32_t messages[SOURCES];
    uint32_t types[SOURCES]; /* bit n: messages of type n */
    uint8_t synced[SOURCES];
    uint8_t seen[SOURCES]; /* values of the bit behind SRC: 1: it was 0, 2: it was 1 */
};

static unsigned code_cost(const struct tw_ntrace_packet *packet)
{
    switch (packet->base.type) {
    case TW_NTRACE_RESOURCE_FULL:
        return rcode_cost[packet->code & 15];
    case TW_NTRACE_PROG_TRACE_CORRELATION:
        return evcode_cost[packet->code & 15] + 1u;
    case TW_NTRACE_ERROR:
        return packet->code ? COST_ETYPE : 1;
    default:
        return 0;
    }
}

/* The bit behind SRC; 0 where the message ends before it. */
static unsigned bit_behind(unsigned src_bits, const uint8_t *bytes, size_t size)
{
    const size_t at = 1 + src_bits / 6;

    return at < size ? (unsigned)bytes[at] >> (2 + src_bits % 6) & 1u : 0;
}

static void judge(struct reading *reading, struct sources *sources,
                  const struct tw_ntrace_packet *packet, const uint8_t *bytes)
{
    const bool is_sync = tw_ntrace_is_sync(packet->base.type);

    reading->messages++;
    reading->good_bytes += packet->base.size;
    reading->syncs += is_sync;
    reading->dialect += tw_ntrace_shows_dialect(packet);
    reading->has_times |= packet->has & TW_NTRACE_HAS_TSTAMP;
    reading->cost += code_cost(packet) + btype_cost[packet->btype & 3];
    if (is_sync)
        reading->cost += sync_cost[packet->sync & 15];
    if (packet->odd)
        reading->cost += COST_ODD;
    sources->messages[packet->src]++;
    sources->types[packet->src] |= UINT32_C(1) << packet->base.type;
    sources->synced[packet->src] |= is_sync;
    sources->seen[packet->src] |=
        (uint8_t)(1u << bit_behind(reading->src_bits, bytes, packet->base.size));
}

static void read_packet(struct reading *reading, struct sources *sources,
                        const struct tw_ntrace_packet *packet, const uint8_t *bytes)
{
    switch (packet->base.type) {
    case TW_NTRACE_IDLE:
        reading->idle += packet->base.size;
        if (packet->odd)
            reading->cost += COST_ODD;
        break;
    case TW_NTRACE_INCOMPLETE:
    case TW_NTRACE_NOT_SYNC:
        break;
    case TW_NTRACE_VENDOR:
        reading->vendor++;
        reading->cost += COST_ODD;
        break;
    case TW_NTRACE_BAD:
    case TW_NTRACE_RESERVED:
        reading->bad++;
        reading->cost += COST_BAD;
        reading->is_inside |= reading->messages == 0 && reading->bad == 1;
        break;
    default:
        judge(reading, sources, packet, bytes);
    }
}

static unsigned bits_in(uint32_t set)
{
    unsigned count = 0;

    for (; set; set &= set - 1)
        count++;
    return count;
}

/* What the sources, as they are told apart, say of how they are. */
static void add_sources(struct reading *reading, const struct sources *sources)
{
    uint32_t fixed = 0,
             moving = 0; /* messages of sources where the bit behind SRC stays, and not */

    for (unsigned i = 0; i < 1u << reading->src_bits; i++) {
        const uint32_t messages = sources->messages[i];

        reading->sources += messages != 0;
        if (!sources->synced[i])
            reading->cost += (uint64_t)COST_NO_SYNC * messages;
        if (messages >= MANY && bits_in(sources->types[i]) >= KINDS)
            *(sources->seen[i] == 3 ? &moving : &fixed) += messages;
    }
    reading->cost += (uint64_t)COST_SOURCE * reading->sources;
    if (!moving)
        reading->cost += (uint64_t)COST_FIXED * fixed;
}

static void forget_sources(struct sources *sources, size_t count)
{
    memset(sources->messages, 0, count * sizeof *sources->messages);
    memset(sources->types, 0, count * sizeof *sources->types);
    memset(sources->synced, 0, count * sizeof *sources->synced);
    memset(sources->seen, 0, count * sizeof *sources->seen);
}

static void read_all(struct reading *reading, struct sources *sources, const uint8_t *bytes,
                     size_t size)
{
    struct tw_ntrace_config config;
    struct tw_ntrace_reader reader;
    struct tw_ntrace_packet packet;

    tw_ntrace_config_init(&config);
    config.dialect = TW_NTRACE_AUTO;
    config.src_bits = reading->src_bits;
    tw_ntrace_reader_init(&reader, &config);
    forget_sources(sources, (size_t)1 << reading->src_bits);
    reading->bytes = size;
    for (size_t at = 0; at < size; at += packet.base.size) {
        if (tw_ntrace_read(&reader, &packet, bytes + at, size - at, true) != TW_OK)
            break;
        read_packet(reading, sources, &packet, bytes + at);
    }
    add_sources(reading, sources);
}

/* ---- the dialect */

/* Whose times go back, if differences are added, and if they are combined by exclusive or. */
struct clock {
    uint64_t added, combined;
    uint32_t added_back, combined_back;
    bool is_known;
};

static void tick(struct clock *clock, const struct tw_ntrace_packet *packet)
{
    if (!(packet->has & TW_NTRACE_HAS_TSTAMP))
        return;
    if (tw_ntrace_is_sync(packet->base.type)) {
        clock->added_back += clock->is_known && packet->tstamp < clock->added;
        clock->combined_back += clock->is_known && packet->tstamp < clock->combined;
        clock->added = clock->combined = packet->tstamp;
        clock->is_known = true;
    } else if (clock->is_known) {
        const uint64_t next = clock->combined ^ packet->tstamp;

        clock->combined_back += next < clock->combined;
        clock->combined = next;
        clock->added += packet->tstamp;
    }
}

/* Of the source with the most messages: whether its times make sense under the dialect alone. */
static bool times_are_combined(const struct reading *reading, const struct sources *sources,
                               const uint8_t *bytes, size_t size)
{
    struct tw_ntrace_config config;
    struct tw_ntrace_reader reader;
    struct tw_ntrace_packet packet;
    struct clock clock = { .is_known = false };
    unsigned most = 0;

    for (unsigned i = 1; i < 1u << reading->src_bits; i++)
        if (sources->messages[i] > sources->messages[most])
            most = i;
    tw_ntrace_config_init(&config);
    config.src_bits = reading->src_bits;
    tw_ntrace_reader_init(&reader, &config);
    for (size_t at = 0; at < size; at += packet.base.size) {
        if (tw_ntrace_read(&reader, &packet, bytes + at, size - at, true) != TW_OK)
            break;
        if (packet.base.type < TW_NTRACE_VENDOR && packet.src == most)
            tick(&clock, &packet);
    }
    return clock.added_back > 1 && clock.combined_back * 8 < clock.added_back;
}

/* ---- all */

static unsigned score_of(const struct reading *reading)
{
    const uint64_t seen = reading->bytes - reading->idle;
    const uint64_t share =
        seen ? reading->good_bytes * SCORE_MOST / (seen + 8 * (uint64_t)reading->bad) : 0;
    /* A byte at random has no reserved MSEO three times of four, a TCODE is one of 12 of 64. */
    const uint64_t bits = 2 * (uint64_t)reading->messages + reading->good_bytes * 2 / 5;
    uint64_t score = bits < CHANCE ? share * bits / CHANCE : share;

    if (reading->bad > reading->messages / 8 + 1)
        score = score * reading->messages / (reading->messages + 8 * (uint64_t)reading->bad);
    if (reading->vendor > reading->messages / 8 + 1)
        score /= 4;
    if (!reading->syncs) /* nothing of it could be decoded */
        score /= 2;
    return score > SCORE_MOST ? SCORE_MOST : (unsigned)score;
}

static void try_bytes(struct tw_ntrace_guess *guess, struct sources *sources,
                      const uint8_t *bytes, size_t size, unsigned pins)
{
    struct reading best = { .cost = UINT64_MAX };
    unsigned score;

    for (uint8_t src_bits = 0; src_bits <= TW_NTRACE_SRC_BITS_MAX; src_bits++) {
        struct reading reading = { .src_bits = src_bits };

        read_all(&reading, sources, bytes, size);
        if (reading.cost < best.cost)
            best = reading;
    }
    score = score_of(&best);
    if (score <= guess->score)
        return;
    guess->score = (uint8_t)score;
    guess->src_bits = best.src_bits;
    guess->pib_bits = (uint8_t)pins;
    guess->starts_inside = best.is_inside;
    guess->has_times = best.has_times;
    guess->messages = best.messages;
    guess->syncs = best.syncs;
    guess->bad = best.bad;
    guess->sources = best.sources;
    guess->dialect = TW_NTRACE_1_0;
    read_all(&(struct reading){ .src_bits = best.src_bits }, sources, bytes, size);
    if (best.dialect || (best.has_times && times_are_combined(&best, sources, bytes, size)))
        guess->dialect = TW_NTRACE_SIFIVE;
}

enum tw_status tw_ntrace_guess(struct tw_ntrace_guess *guess, const uint8_t *bytes, size_t size,
                               const struct tw_allocator *allocator)
{
    enum { ENOUGH = 80 };
    struct tw_ntrace_guess ours = { .size = sizeof ours };
    const size_t seen = size < BYTES_MOST ? size : BYTES_MOST;
    struct sources *sources = tw_take(allocator, sizeof *sources);
    uint8_t *aligned = tw_take(allocator, seen + 1);

    if (sources && aligned) {
        try_bytes(&ours, sources, bytes, seen, 0);
        for (unsigned pins = 4; pins && ours.score < ENOUGH; pins /= 2) {
            tw_ntrace_pib_align(aligned, bytes, seen, pins, true);
            try_bytes(&ours, sources, aligned, seen, pins);
        }
    }
    tw_give(allocator, sources);
    tw_give(allocator, aligned);
    if (!sources || !aligned)
        return TW_E_MEMORY;
    return TW_SIZED_GIVE(guess, &ours) ? TW_OK : TW_E_ARGUMENT;
}
