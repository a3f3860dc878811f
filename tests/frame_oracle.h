/* SPDX-License-Identifier: BSD-2-Clause */
/* A slow unframer, written byte by byte from the rules with the whole capture at hand, and a way to
   gather what the real one gives.  For tests and fuzzing: out of memory aborts. */
#ifndef TRACKWAY_TESTS_FRAME_ORACLE_H
#define TRACKWAY_TESTS_FRAME_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#include "stage/position.h"

enum { ORACLE_NOBODY = 0xff }; /* the ID after damage: not even assume_id gets the bytes */

struct oracle_log {
    uint8_t *bytes, *ids;
    uint64_t *at; /* capture offsets */
    size_t size, room;
    uint64_t *breaks; /* stream offsets before which bytes are missing */
    size_t break_count, break_room;
};

struct oracle_result {
    struct oracle_log decoders[128]; /* what the decoders of each ID get */
    struct oracle_log plain;         /* every byte with its ID, in order */
    struct tw_frame_event *events;
    size_t event_count, event_room;
    uint64_t counts[TW_ID_COUNT];
    uint64_t frames, syncs, skipped, footers;
};

static inline void *oracle_grow(void *items, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return items;
    *room = 2 * count + 16;
    items = realloc(items, *room * size);
    if (!items)
        abort();
    return items;
}

static inline void oracle_add(struct oracle_log *log, uint8_t id, uint64_t at, uint8_t byte)
{
    size_t room = log->room;

    log->ids = oracle_grow(log->ids, &room, log->size + 1, 1);
    room = log->room;
    log->bytes = oracle_grow(log->bytes, &room, log->size + 1, 1);
    log->at = oracle_grow(log->at, &log->room, log->size + 1, sizeof *log->at);
    log->ids[log->size] = id;
    log->bytes[log->size] = byte;
    log->at[log->size++] = at;
}

static inline void oracle_break(struct oracle_log *log, uint64_t offset)
{
    if (log->break_count && log->breaks[log->break_count - 1] == offset)
        return;
    log->breaks =
        oracle_grow(log->breaks, &log->break_room, log->break_count + 1, sizeof *log->breaks);
    log->breaks[log->break_count++] = offset;
}

static inline void oracle_event(struct oracle_result *result, unsigned kind, uint64_t offset,
                                uint64_t length, uint8_t value)
{
    result->events = oracle_grow(result->events, &result->event_room, result->event_count + 1,
                                 sizeof *result->events);
    result->events[result->event_count++] = (struct tw_frame_event){
        .offset = offset, .length = (uint32_t)length, .kind = (uint8_t)kind, .value = value
    };
}

static inline void oracle_free(struct oracle_result *result)
{
    for (unsigned i = 0; i <= 128; i++) {
        struct oracle_log *log = i < 128 ? &result->decoders[i] : &result->plain;

        free(log->bytes);
        free(log->ids);
        free(log->at);
        free(log->breaks);
    }
    free(result->events);
    memset(result, 0, sizeof *result);
}

/* ---- the rules ---- */

struct oracle {
    const struct tw_unframer_config *config;
    struct oracle_result *result;
    uint8_t plain_id, decoder_id;
    uint8_t reserved_id; /* of the reserved run already reported */
    bool was_barrier, was_damage;
};

static inline uint8_t oracle_first_id(const struct tw_unframer_config *config)
{
    if (config->assume_id || config->framing == TW_FRAMING_NONE)
        return config->assume_id;
    return TW_ID_UNKNOWN;
}

static inline bool oracle_wants(const struct tw_unframer_config *config, uint8_t id)
{
    return id < 128 && (config->wanted[id / 64] >> id % 64 & 1);
}

static inline void oracle_break_all(struct oracle *oracle)
{
    for (unsigned id = 0; id < 128; id++)
        if (oracle_wants(oracle->config, (uint8_t)id))
            oracle_break(&oracle->result->decoders[id], oracle->result->decoders[id].size);
}

static inline void oracle_plain(struct oracle *oracle, uint64_t at, uint8_t byte)
{
    oracle_add(&oracle->result->plain, oracle->plain_id, at, byte);
    oracle->result->counts[oracle->plain_id]++;
}

static inline void oracle_decoder(struct oracle *oracle, uint64_t at, uint8_t byte)
{
    const uint8_t id = oracle->decoder_id;
    const bool is_marker = id == TW_ID_TRIGGER || id == TW_ID_FLUSH;

    if (oracle_wants(oracle->config, id))
        oracle_add(&oracle->result->decoders[id], id, at, byte);
    if (id != oracle->reserved_id)
        oracle->reserved_id = 0;
    if (oracle->config->framing == TW_FRAMING_NONE || id < 0x70 || id > 0x7f)
        return;
    if (is_marker)
        oracle_event(oracle->result, id == TW_ID_TRIGGER ? TW_FRAME_TRIGGER : TW_FRAME_FLUSH,
                     at, 1, byte);
    else if (oracle->reserved_id != id)
        oracle_event(oracle->result, TW_FRAME_RESERVED, at, 1, id);
    if (!is_marker)
        oracle->reserved_id = id;
}

/* One frame, for one of the two current IDs. */
static inline void oracle_unpack(struct oracle *oracle, uint8_t *id, const uint8_t *frame,
                                 const uint64_t *at,
                                 void (*give)(struct oracle *, uint64_t, uint8_t))
{
    for (unsigned n = 0; n < 8; n++) {
        const unsigned bit = frame[15] >> n & 1;
        int remembered = -1;

        if (!(frame[2 * n] & 1))
            give(oracle, at[2 * n], (uint8_t)(frame[2 * n] | bit));
        else if (n == 7 || !bit)
            *id = frame[2 * n] >> 1;
        else
            remembered = frame[2 * n] >> 1;
        if (n < 7)
            give(oracle, at[2 * n + 1], frame[2 * n + 1]);
        if (remembered >= 0)
            *id = (uint8_t)remembered;
    }
    if (give == oracle_decoder && *id != oracle->reserved_id)
        oracle->reserved_id = 0;
}

static inline void oracle_frame(struct oracle *oracle, const uint8_t *frame, const uint64_t *at)
{
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    struct oracle_result *result = oracle->result;
    const bool was_barrier = oracle->was_barrier, was_damage = oracle->was_damage;
    bool is_damaged = false;

    oracle->was_barrier = oracle->was_damage = false;
    if (memcmp(frame, barrier, 16) == 0 && !oracle->config->no_barrier) {
        if (was_barrier)
            result->events[result->event_count - 1].length += 16;
        else
            oracle_event(result, TW_FRAME_BARRIER, at[0], 16, 0);
        oracle_break_all(oracle);
        oracle->plain_id = oracle->decoder_id = oracle_first_id(oracle->config);
        oracle->was_barrier = true;
        oracle->reserved_id = 0;
        result->syncs += 16;
        return;
    }
    result->frames++;
    for (unsigned n = 0; n < 8; n++)
        is_damaged = is_damaged || frame[2 * n] == 0xff;
    oracle_unpack(oracle, &oracle->plain_id, frame, at, oracle_plain);
    if (!is_damaged) {
        oracle_unpack(oracle, &oracle->decoder_id, frame, at, oracle_decoder);
        return;
    }
    if (was_damage)
        result->events[result->event_count - 1].length += 16;
    else
        oracle_event(result, TW_FRAME_LOST, at[0], 16, 0x7f);
    oracle_break_all(oracle);
    oracle->decoder_id = ORACLE_NOBODY;
    oracle->was_damage = true;
    oracle->reserved_id = 0;
}

/* The port's stream with the capture offset of each byte. */
struct oracle_port {
    uint8_t *bytes;
    uint64_t *at;
    size_t size;
};

static inline bool oracle_fsync(const struct oracle_port *port, size_t i)
{
    static const uint8_t fsync[4] = { 0xff, 0xff, 0xff, 0x7f };

    return i + 4 <= port->size && memcmp(port->bytes + i, fsync, 4) == 0;
}

static inline void oracle_sync(struct oracle *oracle, unsigned kind, uint64_t at, unsigned size)
{
    oracle->result->syncs += size;
    if (oracle->config->sync_events)
        oracle_event(oracle->result, kind, at, size, 0);
}

/* From position `from` to after the next FSYNC; `passed` bytes of the frame are lost already. */
static inline size_t oracle_search(struct oracle *oracle, const struct oracle_port *port,
                                   size_t from, size_t passed, bool is_lost)
{
    const uint64_t where = from < port->size ? port->at[from] : oracle->config->base;
    size_t i = from, own = 4;

    if (is_lost && i && oracle_fsync(port, i - 1)) { /* it began at an odd place */
        own = passed ? 4 : 3;
        passed -= passed ? 1 : 0;
        i = i - 1;
    } else {
        while (i < port->size && !oracle_fsync(port, i))
            i++;
        passed += i - from;
    }
    oracle->result->skipped += passed;
    if (is_lost)
        oracle_event(oracle->result, TW_FRAME_LOST, where, passed, 0);
    else if (passed)
        oracle_event(oracle->result, TW_FRAME_SKIPPED, oracle->config->base, passed, 0);
    if (i == port->size)
        return i;
    oracle_sync(oracle, TW_FRAME_FSYNC, port->at[i + 4 - own], (unsigned)own);
    return i + 4;
}

/* True if the FF at `i` may be a sync that the capture's end cuts off. */
static inline bool oracle_is_cut(const struct oracle_port *port, size_t i)
{
    for (size_t n = 0; n < 3 && i + n < port->size; n++) {
        if (port->bytes[i + n] != 0xff)
            return false;
        if (i + n + 1 == port->size)
            return true;
    }
    return false;
}

static inline void oracle_port(struct oracle *oracle, const struct oracle_port *port)
{
    const bool has_hsync = oracle->config->framing != TW_FRAMING_TPIU;
    size_t i = oracle_search(oracle, port, 0, 0, false), fill = 0;
    uint8_t frame[16];
    uint64_t at[16];

    while (i < port->size) {
        const bool is_sync = fill % 2 == 0 && port->bytes[i] == 0xff;

        if (is_sync && fill == 0 && oracle_fsync(port, i)) {
            oracle_sync(oracle, TW_FRAME_FSYNC, port->at[i], 4);
            i += 4;
        } else if (is_sync && has_hsync && i + 1 < port->size && port->bytes[i + 1] == 0x7f) {
            oracle_sync(oracle, TW_FRAME_HSYNC, port->at[i], 2);
            i += 2;
        } else if (is_sync && oracle_is_cut(port, i)) {
            break;
        } else if (is_sync) {
            oracle_break_all(oracle);
            oracle->plain_id = oracle->decoder_id = oracle_first_id(oracle->config);
            oracle->reserved_id = 0;
            i = oracle_search(oracle, port, i, fill, true);
            fill = 0;
        } else {
            frame[fill] = port->bytes[i];
            at[fill++] = port->at[i++];
            if (fill == 16)
                oracle_frame(oracle, frame, at);
            fill %= 16;
        }
    }
    if (fill + port->size - i) {
        oracle_event(oracle->result, TW_FRAME_INCOMPLETE, fill ? at[0] : port->at[i],
                     fill + port->size - i, 0);
        oracle->result->skipped += fill + port->size - i;
    }
}

static inline void oracle_dstream(struct oracle *oracle, const uint8_t *data, size_t size)
{
    struct oracle_port port = { malloc(size + 1), malloc((size + 1) * sizeof(uint64_t)), 0 };
    size_t bad = 0;

    if (!port.bytes || !port.at)
        abort();
    for (size_t block = 0; block < size; block += 512) {
        const size_t whole = size - block < 512 ? size - block : 512;
        size_t valid = whole < 504 ? whole : 504;

        if (whole == 512 && data[block + 508] < 126)
            valid = 4u * data[block + 508];
        bad += whole == 512 && data[block + 508] > 126;
        for (size_t i = 0; i < valid; i++) {
            port.bytes[port.size] = data[block + i];
            port.at[port.size++] = oracle->config->base + block + i;
        }
        oracle->result->footers += whole - valid;
    }
    oracle_port(oracle, &port);
    for (size_t block = 0; bad && block + 512 <= size; block += 512)
        if (data[block + 508] > 126)
            oracle_event(oracle->result, TW_FRAME_BAD_BLOCK, oracle->config->base + block + 508,
                         1, data[block + 508]);
    free(port.bytes);
    free(port.at);
}

static inline void oracle_run(struct oracle_result *result,
                              const struct tw_unframer_config *config, const uint8_t *data,
                              size_t size)
{
    const uint8_t id = oracle_first_id(config);
    struct oracle oracle = {
        .config = config, .result = result, .plain_id = id, .decoder_id = id
    };
    struct oracle_port port = { 0 };

    memset(result, 0, sizeof *result);
    if (config->framing == TW_FRAMING_DSTREAM) {
        oracle_dstream(&oracle, data, size);
        return;
    }
    port.bytes = malloc(size + 1);
    port.at = malloc((size + 1) * sizeof *port.at);
    if (!port.bytes || !port.at)
        abort();
    for (port.size = 0; port.size < size; port.size++) {
        port.bytes[port.size] = data[port.size];
        port.at[port.size] = config->base + port.size;
    }
    if (config->framing == TW_FRAMING_NONE) {
        for (size_t i = 0; i < size; i++) {
            oracle_plain(&oracle, port.at[i], data[i]);
            oracle_decoder(&oracle, port.at[i], data[i]);
        }
    } else if (config->framing == TW_FRAMING_MEMORY) {
        for (size_t i = 0; i + 16 <= size; i += 16)
            oracle_frame(&oracle, data + i, port.at + i);
        if (size % 16)
            oracle_event(result, TW_FRAME_INCOMPLETE, config->base + size - size % 16,
                         size % 16, 0);
        result->skipped = size % 16;
    } else {
        oracle_port(&oracle, &port);
    }
    free(port.bytes);
    free(port.at);
}

/* ---- what the real one gives ---- */

/* Moves the first `count` bytes held of an ID to the log. */
static inline void oracle_gather(struct oracle_log *log, struct tw_unframer *unframer,
                                 uint8_t id, size_t count)
{
    const struct tw_stream view = tw_unframer_stream(unframer, id);
    struct tw_position position;
    volatile uint64_t tail = 0;
    uint64_t words[8], sum = 0;

    if (view.offset != log->size || count > view.size)
        abort();
    if (view.size && (!view.place_count || view.places[0].stream > view.offset))
        abort();
    for (size_t i = 0; i < view.place_count; i++) {
        if (i && view.places[i].stream <= view.places[i - 1].stream)
            abort();
        if (view.places[i].stream > view.offset + view.size)
            abort();
        if (view.places[i].is_discontinuity && view.places[i].stream >= view.offset &&
            view.places[i].stream <= view.offset + count)
            oracle_break(log, view.places[i].stream);
    }
    tw_position_init(&position, view.places, view.place_count);
    for (size_t i = 0; i < count; i++)
        oracle_add(log, id, tw_position_at(&position, view.offset + i), view.bytes[i]);
    memcpy(words, view.bytes + view.size, sizeof words); /* there is more that may be read */
    for (size_t i = 0; i < 8; i++)
        sum ^= words[i];
    tail = sum;
    (void)tail;
    tw_unframer_consume(unframer, id, count);
}

static inline void oracle_gather_end(struct oracle_result *result, struct tw_unframer *unframer)
{
    const struct tw_frame_stats *stats = tw_unframer_stats(unframer);
    const struct tw_frame_event *events;
    size_t count;

    for (unsigned id = 0; id < 128; id++)
        oracle_gather(&result->decoders[id], unframer, (uint8_t)id,
                      tw_unframer_stream(unframer, (uint8_t)id).size);
    events = tw_unframer_events(unframer, &count);
    /* The oracle lists the bad blocks last. */
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            if ((events[i].kind == TW_FRAME_BAD_BLOCK) == (pass == 1))
                oracle_event(result, events[i].kind, events[i].offset, events[i].length,
                             events[i].value);
    memcpy(result->counts, stats->bytes_by_id, sizeof result->counts);
    result->frames = stats->frames;
    result->syncs = stats->sync_bytes;
    result->skipped = stats->skipped_bytes;
    result->footers = stats->footer_bytes;
}

/* For tw_unframer_config.on_run, with the result as context. */
static inline void oracle_on_run(void *context, uint8_t id, uint64_t capture_offset,
                                 uint64_t stream_offset, const uint8_t *bytes, size_t size)
{
    struct oracle_result *result = context;

    if (size == 0 || stream_offset != result->counts[id])
        abort();
    result->counts[id] += size;
    for (size_t i = 0; i < size; i++)
        oracle_add(&result->plain, id, capture_offset + i, bytes[i]);
}

static inline bool oracle_same_log(const struct oracle_log *a, const struct oracle_log *b)
{
    if (a->size != b->size || a->break_count != b->break_count)
        return false;
    if (a->size &&
        (memcmp(a->bytes, b->bytes, a->size) != 0 || memcmp(a->ids, b->ids, a->size) != 0 ||
         memcmp(a->at, b->at, a->size * sizeof *a->at) != 0))
        return false;
    return !a->break_count ||
           memcmp(a->breaks, b->breaks, a->break_count * sizeof *a->breaks) == 0;
}

static inline bool oracle_same_events(const struct oracle_result *a,
                                      const struct oracle_result *b)
{
    if (a->event_count != b->event_count)
        return false;
    for (size_t i = 0; i < a->event_count; i++) {
        const struct tw_frame_event *x = &a->events[i], *y = &b->events[i];

        if (x->offset != y->offset || x->length != y->length || x->kind != y->kind ||
            x->value != y->value)
            return false;
    }
    return true;
}

/* NULL, or the name of what differs.  `with_plain`: the runs were gathered too. */
static inline const char *oracle_difference(const struct oracle_result *got,
                                            const struct oracle_result *want, bool with_plain)
{
    for (unsigned id = 0; id < 128; id++)
        if (!oracle_same_log(&got->decoders[id], &want->decoders[id]))
            return "stream of an ID";
    if (with_plain && !oracle_same_log(&got->plain, &want->plain))
        return "runs";
    if (!oracle_same_events(got, want))
        return "events";
    if (memcmp(got->counts, want->counts, sizeof got->counts) != 0)
        return "bytes by ID";
    if (got->frames != want->frames || got->syncs != want->syncs ||
        got->skipped != want->skipped || got->footers != want->footers)
        return "statistics";
    return NULL;
}

#endif
