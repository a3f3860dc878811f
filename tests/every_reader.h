/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration of any protocol, readers of it, and what they read as text: what the tables of
   headers work with (every_header.h). */
#ifndef TRACKWAY_TESTS_EVERY_READER_H
#define TRACKWAY_TESTS_EVERY_READER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "protocol.h"

enum {
    EVERY_PAYLOAD = 32,
    EVERY_SIZE = 512,
    EVERY_LONGEST = 16384, /* more than the longest packet */
    EVERY_ROOM = 24,
    EVERY_LINE = 4 * EVERY_SIZE + 2000,
    EVERY_REGISTERS = 24,
    EVERY_KEPT = 8,         /* payloads of each header whose listings stay */
    EVERY_MEMORY = 0x10000, /* bytes of code */
};

/* A row: a configuration, and bytes that bring a decoder into sync. */
struct every_setup {
    const char *name;
    const char *protocol, *core;
    const char *registers; /* "NAME=VALUE NAME=VALUE ..."; may be NULL */
    const char *text;      /* the configuration of protocols that have no registers */
    const char *start;     /* hexadecimal */
    const char *listing;   /* name of the file with digests, if not the protocol's */
    const char *code;      /* hexadecimal: the program, repeated over the first 64 KiB */
    size_t (*used)(const void *reader); /* bytes of a reader that count; NULL: all */
};

/* The same in the form that the library takes. */
struct every_source {
    const struct every_setup *setup;
    struct tw_register registers[EVERY_REGISTERS];
    char names[1000];
    size_t register_count;
    uint8_t start[EVERY_SIZE], code[256];
    size_t start_size, code_size;
    bool shows_text; /* lines for people, too */
};

static inline size_t every_hex(uint8_t *out, const char *text)
{
    size_t size = 0;
    char *end;

    for (; text && *text; text = end) {
        out[size++] = (uint8_t)strtoul(text, &end, 16);
        while (*end == ' ')
            end++;
    }
    return size;
}

static inline void every_source_open(struct every_source *source,
                                     const struct every_setup *setup)
{
    *source = (struct every_source){ .setup = setup };
    source->start_size = every_hex(source->start, setup->start);
    source->code_size = every_hex(source->code, setup->code);
    if (!setup->registers)
        return;
    assert_true(strlen(setup->registers) < sizeof source->names);
    memcpy(source->names, setup->registers, strlen(setup->registers) + 1);
    for (char *word = strtok(source->names, " "); word; word = strtok(NULL, " ")) {
        struct tw_register *to = &source->registers[source->register_count++];

        assert_true(source->register_count <= EVERY_REGISTERS);
        to->name = word;
        to->value = strtoull(strchr(word, '=') + 1, NULL, 0);
        *strchr(word, '=') = 0;
    }
}

struct every_text {
    char *chars;
    size_t size, room;
};

/* A reader with all that it needs, for any protocol. */
struct every_reader {
    const struct tw_protocol *protocol;
    void *config, *reader, *packets;
    uint64_t words[TW_INDEX_WORDS];
    size_t run_at, run_size; /* of bytes before synchronization: one line for all */
    uint8_t run_type;
    bool shows_text;
};

static inline void every_add(struct every_text *text, const char *line)
{
    const size_t size = strlen(line);

    if (text->size + size + 2 > text->room) {
        text->room = 2 * (text->size + size + 2);
        text->chars = realloc(text->chars, text->room);
        assert_non_null(text->chars);
    }
    memcpy(text->chars + text->size, line, size + 1);
    text->size += size;
    text->chars[text->size++] = '\n';
    text->chars[text->size] = 0;
}

static inline void every_reader_open(struct every_reader *reader,
                                     const struct every_source *source)
{
    const struct tw_source_info info = { .registers = source->registers,
                                         .register_count = source->register_count,
                                         .core_type = source->setup->core,
                                         .text = source->setup->text,
                                         .id = 1 };
    struct tw_fault fault;

    *reader = (struct every_reader){ .protocol = tw_protocol_by_name(source->setup->protocol),
                                     .shows_text = source->shows_text };
    assert_non_null(reader->protocol);
    reader->config = calloc(1, reader->protocol->config_size);
    reader->reader = calloc(1, reader->protocol->reader_size);
    reader->packets = calloc(EVERY_ROOM, reader->protocol->packet_size);
    CHECK_EQ(reader->protocol->configure(reader->config, &info, &fault), TW_OK);
    reader->protocol->reader_init(reader->reader, reader->config);
}

static inline void every_reader_close(struct every_reader *reader)
{
    free(reader->config);
    free(reader->reader);
    free(reader->packets);
}

static inline size_t every_taken(const struct tw_packet *packet)
{
    return packet->size - (packet->spare_bits != 0);
}

static inline void every_end_run(struct every_reader *reader, struct every_text *out)
{
    char line[80];

    if (!reader->run_size)
        return;
    (void)snprintf(line, sizeof line, "%s from %zu: %zu bytes",
                   tw_type_name(reader->protocol, reader->run_type), reader->run_at,
                   reader->run_size);
    reader->run_size = 0;
    every_add(out, line);
}

/* What a packet is, as text. */
static inline void every_show(struct every_reader *reader, struct every_text *out,
                              struct tw_packet *packet, const uint8_t *bytes, size_t at)
{
    const struct tw_protocol *protocol = reader->protocol;
    const unsigned kind = tw_type_kind(protocol, packet->type);
    const struct tw_packet_view view = { .size = sizeof view,
                                         .packet = packet,
                                         .bytes = bytes,
                                         .protocol = protocol->name,
                                         .src = TW_NO_SRC,
                                         .about = protocol,
                                         .kind = (uint8_t)kind,
                                         .is_bad = tw_kind_is_bad(kind),
                                         .is_not_sync = kind == TW_PACKET_NOT_SYNC };
    char line[EVERY_LINE];

    packet->offset = packet->index = at;
    packet->id = 1;
    if (view.is_not_sync) {
        if (packet->type != reader->run_type)
            every_end_run(reader, out);
        if (!reader->run_size)
            reader->run_at = at;
        reader->run_type = packet->type;
        reader->run_size += every_taken(packet);
        return;
    }
    every_end_run(reader, out);
    CHECK(tw_packet_json(line, sizeof line, &view) < sizeof line);
    every_add(out, line);
    if (reader->shows_text) {
        CHECK(tw_packet_text(line, sizeof line, &view) < sizeof line);
        every_add(out, line);
    }
}

/* What an index notes of a packet. */
static inline void every_note(struct every_reader *reader, struct every_text *out,
                              const void *packet, size_t at)
{
    struct tw_index_note notes[TW_INDEX_NOTES];
    unsigned count = 0;
    char line[80];

    if (reader->protocol->notes)
        count = reader->protocol->notes(reader->words, notes, reader->reader, packet);
    CHECK(count <= TW_INDEX_NOTES);
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(line, sizeof line, "at %zu: %u, %llu", at, (unsigned)notes[i].kind,
                       (unsigned long long)notes[i].value);
        every_add(out, line);
    }
}

#endif
