/* SPDX-License-Identifier: BSD-2-Clause */
/* A protocol's packet reader alone, as fast as it goes: any bytes under any configuration give each byte
   once; a packet that is cut changes nothing; one that is there is the same with fewer bytes behind it, in
   a batch, and when it is written and read again.  The bytes end where memory ends, so that these targets
   need no address sanitizer. */
#ifndef FUZZ_READER_H
#define FUZZ_READER_H

#include <stdlib.h>
#include <string.h>

#include "guarded.h"
#include "kept.h"
#include "neighbours.h"
#include "protocol.h"

enum { READER_MOST = GUARDED_SIZE, READER_ROOM = 8, READER_LINE = 4000 };

struct reader_target {
    const struct tw_protocol *protocol;
    void *reader, *before; /* the reader, and as it was before a packet */
    void *batch;           /* one that reads batches */
    struct tw_packet *packet, *again;
    char *packets;               /* of a batch */
    uint8_t *end;                /* of readable memory */
    size_t used;                 /* bytes of the readers that the configuration uses */
    void (*moved)(void *reader); /* a copy of a reader that points into itself; may be NULL */
    size_t (*get_used)(const void *reader); /* NULL: all of it */
    /* Takes out what a packet says of its bytes alone, which are others when it is written; may be NULL. */
    void (*plain)(void *packet);
    /* What else holds of these bytes; may be NULL. */
    void (*also)(const void *config, const uint8_t *data, size_t size);
};

/* A macro, so that a debugger shows the line. */
#define reader_require(is_true) ((is_true) ? (void)0 : abort())

static inline struct reader_target *reader_target(const struct tw_protocol *protocol)
{
    static struct reader_target target;

    if (target.protocol)
        return &target;
    target.protocol = protocol;
    target.reader = calloc(3, protocol->reader_size);
    target.packets = calloc(READER_ROOM + 2, protocol->packet_size);
    target.end = guarded_new();
    reader_require(target.reader && target.packets && target.end);
    target.before = (char *)target.reader + protocol->reader_size;
    target.batch = (char *)target.before + protocol->reader_size;
    target.packet = (void *)(target.packets + READER_ROOM * protocol->packet_size);
    target.again = (void *)(target.packets + (READER_ROOM + 1) * protocol->packet_size);
    return &target;
}

/* Whether they say the same: member by member where the bytes differ, for there is padding. */
static inline bool reader_same(const struct tw_protocol *protocol, const void *a, const void *b)
{
    static char lines[2][READER_LINE];
    const struct tw_packet *const packets[] = { a, b };

    if (memcmp(a, b, protocol->packet_size) == 0)
        return true;
    for (unsigned i = 0; i < 2; i++) {
        struct tw_text text = tw_text_in(lines[i], sizeof lines[i]);

        tw_protocol_json(&text, protocol, packets[i]);
    }
    return packets[0]->type == packets[1]->type && strcmp(lines[0], lines[1]) == 0;
}

static inline enum tw_status reader_again(struct reader_target *target, size_t size,
                                          bool is_last)
{
    const struct tw_protocol *protocol = target->protocol;

    memcpy(target->reader, target->before, target->used);
    memset(target->again, 0, protocol->packet_size);
    return protocol->read(target->reader, target->again, target->end - size, size, is_last);
}

/* Whether these bytes, and none behind them, are the packet. */
static inline bool reader_is_packet(struct reader_target *target, size_t size, bool is_last)
{
    return reader_again(target, size, is_last) == TW_OK &&
           reader_same(target->protocol, target->packet, target->again);
}

/* The packet that was read of `size` bytes, read with `cut` of them and, if it is understood, out of the
   bytes that are written of it. */
static inline void reader_check(struct reader_target *target, const uint8_t *data, size_t cut)
{
    const struct tw_protocol *protocol = target->protocol;
    struct tw_packet *packet = target->packet;
    const bool is_understood = tw_kind_is_understood(tw_type_kind(protocol, packet->type));
    size_t written = READER_MOST;
    enum tw_status status;
    /* By its own bytes, at the end of trace or anywhere: who still looks for a beginning may want more. */
    bool is_known, is_sure;

    memcpy(target->end - packet->size, data, packet->size);
    is_known = is_understood && reader_is_packet(target, packet->size, true);
    is_sure = is_known && reader_is_packet(target, packet->size, false);
    memcpy(target->end - cut, data, cut);
    if (reader_again(target, cut, false) != TW_OK)
        reader_require(memcmp(target->reader, target->before, target->used) == 0);
    else if (is_sure)
        reader_require(packet->size == target->again->size &&
                       reader_same(protocol, packet, target->again));
    if (!is_understood || protocol->flags & TW_PROTOCOL_BITS)
        return;
    memcpy(target->reader, target->before, target->used);
    status = protocol->write(target->reader, target->end - READER_MOST, &written, packet);
    reader_require(status == TW_OK || status == TW_E_ARGUMENT);
    if (status != TW_OK)
        return; /* it says more than a packet can */
    reader_require(written <= protocol->packet_max);
    if (written == packet->size && memcmp(target->end - READER_MOST, data, written) == 0)
        return; /* and what follows may be part of what it says */
    memmove(target->end - written, target->end - READER_MOST, written);
    reader_require(reader_again(target, written, true) == TW_OK);
    if (target->plain) {
        target->plain(packet);
        target->plain(target->again);
    }
    reader_require(!is_known || reader_same(protocol, packet, target->again));
}

/* In batches, as far as they go. */
static inline void reader_batches(struct reader_target *target, const uint8_t *data,
                                  size_t size)
{
    const struct tw_protocol *protocol = target->protocol;
    size_t at = 0, count, used;

    do {
        count = protocol->read_batch(target->batch, target->packets, READER_ROOM, &used,
                                     data + at, size - at);
        reader_require(count <= READER_ROOM && used <= size - at);
        for (size_t i = 0, sum = 0; i < count; i++) {
            const struct tw_packet *packet =
                (void *)(target->packets + i * protocol->packet_size);

            memset(target->packet, 0, protocol->packet_size);
            reader_require(protocol->read(target->reader, target->packet, data + at + sum,
                                          size - at - sum, false) == TW_OK &&
                           target->packet->size == packet->size &&
                           reader_same(protocol, target->packet, packet));
            sum += packet->size - (packet->spare_bits != 0);
            reader_require(i + 1 < count ? sum <= used : sum == used);
        }
        at += used;
    } while (count == READER_ROOM);
}

/* The reader as it is at the start. */
static inline const void *reader_start(struct reader_target *target, const void *config)
{
    static struct kept kept;
    const struct tw_protocol *protocol = target->protocol;
    const void *made = kept_made(&kept, protocol->reader_init, protocol->reader_size, config,
                                 protocol->config_size);

    target->used = target->get_used ? target->get_used(made) : protocol->reader_size;
    return made;
}

static inline void reader_copy(const struct reader_target *target, void *reader,
                               const void *start)
{
    memcpy(reader, start, target->used);
    if (target->moved)
        target->moved(reader);
}

/* All of the bytes; `choice` says which packet is looked at closely, and how it is cut. */
static inline void reader_once(struct reader_target *target, const void *config, uint8_t choice,
                               const uint8_t *bytes, size_t size)
{
    const struct tw_protocol *protocol = target->protocol;
    uint8_t *data = target->end - size;
    const void *start = reader_start(target, config);
    unsigned left = choice & 7;

    if (size)
        memcpy(data, bytes, size);
    if (target->also)
        target->also(config, data, size);
    reader_copy(target, target->reader, start);
    if (protocol->read_batch) {
        reader_copy(target, target->batch, start);
        reader_batches(target, data, size);
        reader_copy(target, target->reader, start);
    }
    for (size_t at = 0; at < size;) {
        const struct tw_packet *packet = target->packet;

        if (left == 0)
            memcpy(target->before, target->reader, target->used);
        memset(target->packet, 0, protocol->packet_size);
        reader_require(protocol->read(target->reader, target->packet, data + at, size - at,
                                      true) == TW_OK);
        reader_require(packet->size >= 1 && packet->size <= size - at);
        if (left-- == 0) {
            reader_check(target, bytes + at, (size_t)(choice >> 3) % packet->size);
            memcpy(data, bytes, size); /* as if nothing had been */
            memcpy(target->reader, target->before, target->used);
            reader_require(protocol->read(target->reader, target->packet, data + at, size - at,
                                          true) == TW_OK);
        }
        at += packet->size - (packet->spare_bits != 0);
    }
}

/* An input and its neighbours, each with a choice of its own. */
static inline int reader_run(struct reader_target *target, const void *config, uint8_t choice,
                             const uint8_t *bytes, size_t size)
{
    static uint8_t other[READER_MOST];
    const unsigned count = NEIGHBOURS;
    struct neighbours all;

    if (size > READER_MOST)
        return 0;
    reader_once(target, config, choice, bytes, size);
    if (count == 0 || size == 0)
        return 0;
    neighbours_begin(&all, other, bytes, size, choice);
    for (unsigned i = 0; i < count; i++) {
        choice = neighbours_next(&all);
        reader_once(target, config, choice, other, size);
    }
    return 0;
}

#endif
