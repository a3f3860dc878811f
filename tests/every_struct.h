/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that need not come from bytes: structs, each member at its extremes and at random within what it is documented
   to hold.  Whoever writes one either refuses it or makes bytes that read as the same members.  A member may be bound to
   a flag without which it says nothing. */
#ifndef TRACKWAY_TESTS_EVERY_STRUCT_H
#define TRACKWAY_TESTS_EVERY_STRUCT_H

#include "every_reader.h"
#include "guarded.h"

enum {
    STRUCT_FIELDS = 16,
    STRUCT_FEW = 2000,    /* structs of each type, in every test run ... */
    STRUCT_MANY = 200000, /* ... and in a proof */
    STRUCT_SEED = 0x57727563
};

struct struct_field {
    const char *name;
    uint64_t most; /* the largest value of it */
    uint32_t offset, flag;
    uint8_t bytes;   /* 0: the end of the list */
    bool has_flag;   /* it counts only if the member at `flag` is true */
    bool is_request; /* what was asked for need not be what is told: a size of 0 is any */
};

#define STRUCT_ROW(type, member, most, ...)                                                    \
    {                                                                                          \
#member, most, offsetof(type, member), 0, sizeof(((type *)NULL)->member), __VA_ARGS__  \
    }
#define STRUCT_SAME(type, member, most)  STRUCT_ROW(type, member, most, false, false)
#define STRUCT_ASKED(type, member, most) STRUCT_ROW(type, member, most, false, true)
#define STRUCT_IF(type, member, most, told)                                                    \
    {                                                                                          \
#member, most, offsetof(type, member), offsetof(type, told),                           \
            sizeof(((type *)NULL)->member), true, false                                        \
    }

struct struct_type {
    uint8_t type;
    /* What holds between members of any such packet; or NULL. */
    void (*settle)(void *packet);
    struct struct_field fields[STRUCT_FIELDS];
    uint64_t written; /* counted here, over all configurations */
};

/* Where packets are of nibbles: ends the last byte.  Or NULL. */
typedef enum tw_status struct_flush_fn(void *writer, uint8_t *out, size_t *size);

/* Where the bytes of a number begin that fit a member: the low ones, which a big-endian machine has last. */
static inline size_t struct_low(const struct struct_field *field)
{
    static const uint16_t one = 1;

    return *(const uint8_t *)&one ? 0 : sizeof(uint64_t) - field->bytes;
}

static inline uint64_t struct_get(const void *packet, const struct struct_field *field)
{
    uint64_t value = 0;

    memcpy((char *)&value + struct_low(field), (const char *)packet + field->offset,
           field->bytes);
    return value;
}

static inline void struct_set(void *packet, const struct struct_field *field, uint64_t value)
{
    memcpy((char *)packet + field->offset, (const char *)&value + struct_low(field),
           field->bytes);
}

static inline uint64_t struct_value(struct check_random *random, uint64_t most)
{
    const uint64_t any = check_random_next(random);

    switch (check_random_below(random, 6)) {
    case 0:
        return 0;
    case 1:
        return most;
    case 2:
        return most ? 1 : 0;
    case 3: /* a power of two, or one less */
        return most & (((uint64_t)1 << any % 64) - (any >> 32 & 1));
    default:
        return most == UINT64_MAX ? any >> check_random_below(random, 64) : any % (most + 1);
    }
}

static inline void struct_make(void *packet, const struct tw_protocol *protocol,
                               const struct struct_type *type, struct check_random *random)
{
    memset(packet, 0, protocol->packet_size);
    ((struct tw_packet *)packet)->type = type->type;
    for (const struct struct_field *field = type->fields; field->bytes; field++) {
        uint64_t value = struct_value(random, field->most);

        if (value > field->most)
            value = field->most;
        struct_set(packet, field, value);
    }
    if (type->settle)
        type->settle(packet);
}

/* Members that are not what was written, as text; empty: all are. */
static inline const char *struct_difference(const struct struct_type *type, const void *want,
                                            const void *got)
{
    static char text[1000];
    size_t size = 0;

    text[0] = 0;
    for (const struct struct_field *field = type->fields; field->bytes; field++) {
        const uint64_t a = struct_get(want, field), b = struct_get(got, field);

        if (a == b || field->is_request ||
            (field->has_flag && !*((const uint8_t *)want + field->flag)))
            continue;
        if (size < sizeof text)
            size += (size_t)snprintf(text + size, sizeof text - size, " %s 0x%llx is 0x%llx",
                                     field->name, (unsigned long long)a, (unsigned long long)b);
    }
    return text;
}

static inline void struct_try(struct every_reader *reader, const void *before, uint8_t *end,
                              struct struct_type *type, struct_flush_fn *flush)
{
    const struct tw_protocol *protocol = reader->protocol;
    static uint8_t out[EVERY_LONGEST];
    struct tw_packet *want = reader->packets;
    struct tw_packet *got = (struct tw_packet *)((char *)want + protocol->packet_size);
    size_t size = sizeof out, more = 0, room;
    enum tw_status status = protocol->write(reader->reader, out, &size, want);

    if (status == TW_E_ARGUMENT)
        return;
    CHECK_EQ(status, TW_OK);
    if (flush) {
        more = sizeof out - size;
        CHECK_EQ(flush(reader->reader, out + size, &more), TW_OK);
    }
    CHECK(size + more > 0 && size + more <= protocol->packet_max);
    type->written++;
    memcpy(end - size - more, out, size + more);
    memcpy(reader->reader, before, protocol->reader_size);
    memset(got, 0, protocol->packet_size);
    CHECK_EQ(protocol->read(reader->reader, got, end - size - more, size + more, true), TW_OK);
    if (!flush)
        CHECK_EQ(got->size, size);
    CHECK_EQ(got->type, want->type);
    CHECK_TEXT(struct_difference(type, want, got), "");
    if (flush || size == 0)
        return;
    memcpy(reader->reader, before, protocol->reader_size);
    room = size - 1;
    CHECK_EQ(protocol->write(reader->reader, end - room, &room, want), TW_E_ROOM);
    CHECK_EQ(room, size);
}

/* In each configuration. */
static inline void struct_check(const struct every_setup *setup, struct struct_type *types,
                                size_t count, struct_flush_fn *flush)
{
    struct check_random random = check_random_start(STRUCT_SEED);
    const size_t rounds = getenv("TW_PROOF_BYTES") ? STRUCT_MANY : STRUCT_FEW;
    uint8_t *end = guarded_new();
    struct every_source source;
    struct every_reader reader;
    size_t at = 0;
    void *before;

    assert_non_null(end);
    every_source_open(&source, setup);
    every_reader_open(&reader, &source);
    while (at < source.start_size) {
        CHECK_EQ(reader.protocol->read(reader.reader, reader.packets, source.start + at,
                                       source.start_size - at, true),
                 TW_OK);
        at += every_taken(reader.packets);
    }
    before = malloc(reader.protocol->reader_size);
    assert_non_null(before);
    memcpy(before, reader.reader, reader.protocol->reader_size);
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; round < rounds; round++) {
            check_case("%s, type %u, struct %zu", setup->name, types[i].type, round);
            memcpy(reader.reader, before, reader.protocol->reader_size);
            struct_make(reader.packets, reader.protocol, &types[i], &random);
            struct_try(&reader, before, end, &types[i], flush);
        }
    free(before);
    every_reader_close(&reader);
    guarded_free(end);
}

/* All types can be written, in some configuration. */
static inline void struct_check_all(const struct every_setup *setups, size_t setup_count,
                                    struct struct_type *types, size_t count,
                                    struct_flush_fn *flush)
{
    uint64_t written = 0;

    for (size_t i = 0; i < setup_count; i++)
        struct_check(&setups[i], types, count, flush);
    for (size_t i = 0; i < count; i++) {
        check_case("type %u", types[i].type);
        CHECK(types[i].written > 0);
        written += types[i].written;
    }
    if (getenv("TW_PROOF_BYTES"))
        print_message("%s: %zu types of structs, seed 0x%x, %llu written and read\n",
                      setups[0].protocol, count, STRUCT_SEED, (unsigned long long)written);
}

#endif
