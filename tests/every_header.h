/* SPDX-License-Identifier: BSD-2-Clause */
/* Every header with every kind of payload: one packet at a time, in batches, cut at any byte, passed
   over for an index, and as elements, fed whole and byte by byte.  All must say the same.  For the
   tests of protocols. */
#ifndef TRACKWAY_TESTS_EVERY_HEADER_H
#define TRACKWAY_TESTS_EVERY_HEADER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "protocol.h"

enum {
    EVERY_PAYLOAD = 32,
    EVERY_SIZE = 512,
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
    uint8_t filler; /* type of packets whose runs may be cut anywhere; 0: there is none */
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
    size_t run_at, run_size; /* of bytes before synchronization, or filler: one line for all */
    uint8_t run_type, filler;
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
                                     .filler = source->setup->filler,
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
                                         .about = protocol,
                                         .kind = (uint8_t)kind,
                                         .is_bad = tw_kind_is_bad(kind),
                                         .is_not_sync = kind == TW_PACKET_NOT_SYNC };
    char line[EVERY_LINE];

    packet->offset = packet->index = at;
    packet->id = 1;
    if (view.is_not_sync || (reader->filler && packet->type == reader->filler)) {
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

/* One packet after the other; `piece` more bytes whenever they are asked for.  `bounds`: where
   packets begin, one mark for each byte; may be NULL.  `notes` may be NULL. */
static inline void every_read(const struct every_source *source, struct every_text *out,
                              struct every_text *notes, uint8_t *bounds, const uint8_t *bytes,
                              size_t size, size_t piece)
{
    struct every_reader reader;
    size_t at = 0, fed = piece < size ? piece : size;

    every_reader_open(&reader, source);
    while (at < size) {
        struct tw_packet *packet = reader.packets;
        const enum tw_status status =
            reader.protocol->read(reader.reader, packet, bytes + at, fed - at, fed == size);

        if (status == TW_MORE) {
            CHECK(fed < size);
            fed = fed + piece < size ? fed + piece : size;
            continue;
        }
        CHECK_EQ(status, TW_OK);
        CHECK(packet->size > 0 && packet->size <= fed - at);
        every_show(&reader, out, packet, bytes + at, at);
        if (notes)
            every_note(&reader, notes, packet, at);
        if (bounds)
            bounds[at] = 1;
        at += every_taken(packet);
    }
    every_end_run(&reader, out);
    every_reader_close(&reader);
}

/* The same with batches of `room`; what they leave is read singly. */
static inline void every_batch(const struct every_source *source, struct every_text *out,
                               const uint8_t *bytes, size_t size, size_t room)
{
    struct every_reader reader;
    size_t at = 0;

    every_reader_open(&reader, source);
    while (at < size) {
        struct tw_packet *packet = reader.packets;
        size_t used = 0, sum = 0;
        size_t count = 0;

        if (reader.protocol->read_batch)
            count = reader.protocol->read_batch(reader.reader, packet, room, &used, bytes + at,
                                                size - at);
        CHECK(count <= room);
        for (size_t i = 0; i < count; i++) {
            packet =
                (struct tw_packet *)((char *)reader.packets + i * reader.protocol->packet_size);
            every_show(&reader, out, packet, bytes + at + sum, at + sum);
            sum += every_taken(packet);
        }
        CHECK_EQ(sum, used);
        at += used;
        if (count == room || at == size)
            continue;
        packet = reader.packets;
        CHECK_EQ(reader.protocol->read(reader.reader, packet, bytes + at, size - at, true),
                 TW_OK);
        every_show(&reader, out, packet, bytes + at, at);
        at += every_taken(packet);
    }
    every_end_run(&reader, out);
    every_reader_close(&reader);
}

/* As an index is made: packets that give no notes may be passed over, whole ones only. */
static inline void every_pass(const struct every_source *source, struct every_text *notes,
                              const uint8_t *bounds, const uint8_t *bytes, size_t size)
{
    struct every_reader reader;
    size_t at = 0;

    every_reader_open(&reader, source);
    while (at < size) {
        struct tw_packet *packet = reader.packets;

        if (reader.protocol->pass)
            at += reader.protocol->pass(reader.reader, bytes + at, size - at);
        CHECK(at <= size);
        if (at == size)
            break;
        CHECK(bounds[at]);
        CHECK_EQ(reader.protocol->read(reader.reader, packet, bytes + at, size - at, true),
                 TW_OK);
        every_note(&reader, notes, packet, at);
        at += every_taken(packet);
    }
    every_reader_close(&reader);
}

/* A packet that is cut asks for more, reads nothing beyond its bytes and changes nothing. */
static inline void every_cut(const struct every_source *source, const uint8_t *bytes,
                             size_t size)
{
    struct every_reader reader;
    struct tw_packet *packet;
    void *before;
    size_t at = 0, most;

    every_reader_open(&reader, source);
    packet = reader.packets;
    before = malloc(reader.protocol->reader_size);
    while (at < source->start_size) {
        CHECK_EQ(reader.protocol->read(reader.reader, packet, bytes + at, size - at, true),
                 TW_OK);
        at += every_taken(packet);
    }
    memcpy(before, reader.reader, reader.protocol->reader_size);
    CHECK_EQ(reader.protocol->read(reader.reader, packet, bytes + at, size - at, true), TW_OK);
    most = packet->size;
    if (!tw_kind_is_understood(tw_type_kind(reader.protocol, packet->type)) ||
        (source->setup->filler && packet->type == source->setup->filler))
        most = 0; /* of these there may be any number of bytes */
    for (size_t cut = 0; cut < most; cut++) {
        uint8_t *copy = check_copy(bytes + at, cut);

        memcpy(reader.reader, before, reader.protocol->reader_size);
        CHECK_EQ(reader.protocol->read(reader.reader, packet, copy, cut, false), TW_MORE);
        CHECK_BYTES(reader.reader, reader.protocol->reader_size, before,
                    reader.protocol->reader_size);
        free(copy);
    }
    free(before);
    every_reader_close(&reader);
}

/* The members of a packet: its line without place, bytes and what was odd about them. */
static inline void every_members(char *line, size_t room, const struct tw_protocol *protocol,
                                 struct tw_packet *packet)
{
    static const uint8_t zeros[EVERY_SIZE] = { 0 };
    const struct tw_packet_view view = { .size = sizeof view,
                                         .packet = packet,
                                         .bytes = zeros,
                                         .protocol = protocol->name,
                                         .about = protocol };
    char *from, *to;

    packet->offset = packet->index = 0;
    packet->id = 1;
    CHECK(tw_packet_json(line, room, &view) < room);
    for (unsigned i = 0; i < 2; i++) {
        static const char *const keys[] = { ",\"b\":\"", ",\"warning\":\"" };

        while ((from = strstr(line, keys[i])) && (to = strchr(from + strlen(keys[i]), '"')))
            memmove(from, to + 1, strlen(to));
    }
}

/* A packet that is written and read again is the same.  Up to the first bytes that are no packet:
   from there on a reader may know a beginning by what comes behind it. */
static inline void every_written(const struct every_source *source, const uint8_t *bytes,
                                 size_t size)
{
    char want[EVERY_LINE], got[EVERY_LINE];
    struct every_reader reader, copy;
    void *before;
    size_t at = 0;

    every_reader_open(&reader, source);
    every_reader_open(&copy, source);
    before = malloc(reader.protocol->reader_size);
    while (at < size && reader.protocol->write &&
           !(reader.protocol->flags & TW_PROTOCOL_BITS)) {
        struct tw_packet *packet = reader.packets;
        uint8_t out[EVERY_SIZE];
        size_t written = EVERY_SIZE / 2;
        enum tw_status status;

        memcpy(before, reader.reader, reader.protocol->reader_size);
        memcpy(copy.reader, before, reader.protocol->reader_size);
        CHECK_EQ(reader.protocol->read(reader.reader, packet, bytes + at, size - at, true),
                 TW_OK);
        if (!tw_kind_is_understood(tw_type_kind(reader.protocol, packet->type)))
            break;
        at += packet->size;
        every_members(want, sizeof want, reader.protocol, packet);
        status = copy.protocol->write(copy.reader, out, &written, packet);
        if (status == TW_E_ARGUMENT) /* it says more than a packet can */
            continue;
        CHECK_EQ(status, TW_OK);
        memcpy(copy.reader, before, reader.protocol->reader_size);
        /* With what comes behind, where that tells whether a packet ends. */
        for (size_t i = at; i < size && written < EVERY_SIZE; i++)
            out[written++] = bytes[i];
        CHECK_EQ(copy.protocol->read(copy.reader, copy.packets, out, written, true), TW_OK);
        every_members(got, sizeof got, copy.protocol, copy.packets);
        CHECK_TEXT(got, want);
    }
    free(before);
    every_reader_close(&reader);
    every_reader_close(&copy);
}

static inline size_t every_memory(void *context, uint8_t *out, const struct tw_view *view,
                                  uint64_t address, size_t size)
{
    const struct every_source *source = context;

    (void)view;
    if (address >= EVERY_MEMORY)
        return 0;
    for (size_t i = 0; i < size; i++)
        out[i] = source->code[(address + i) % source->code_size];
    return size;
}

static inline void every_elements(const struct every_source *source, struct every_text *out,
                                  const struct tw_tree_config *config, const uint8_t *bytes,
                                  size_t size, size_t piece)
{
    const struct tw_tree_source plain = { .size = sizeof plain,
                                          .protocol = source->setup->protocol,
                                          .registers = source->registers,
                                          .register_count = source->register_count,
                                          .core_type = source->setup->core,
                                          .text = source->setup->text,
                                          .id = 1 };
    struct every_source context = *source;
    struct tw_tree_source with_image = plain;
    struct tw_image *image;
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_fault fault;
    char line[1200];

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    if (source->code_size)
        CHECK_EQ(tw_image_set_callback(image, every_memory, &context), TW_OK);
    with_image.image = image;
    CHECK_EQ(tw_tree_new(&tree, config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &with_image), TW_OK);
    for (size_t at = 0; at <= size; at += piece) {
        const size_t part = size - at < piece ? size - at : piece;
        enum tw_status status;

        if (part)
            CHECK_EQ(tw_tree_feed(tree, bytes + at, part), TW_OK);
        if (at + part == size)
            CHECK_EQ(tw_tree_finish(tree), TW_OK);
        while ((status = tw_tree_next(tree, &batch)) == TW_OK)
            for (size_t i = 0; i < batch.count; i++) {
                tw_element_json(line, sizeof line, &batch.elements[i], batch.id);
                every_add(out, line);
                if (source->shows_text) {
                    tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
                    every_add(out, line);
                }
            }
        CHECK(status > 0);
        if (at + part == size)
            break;
    }
    tw_tree_free(tree);
    tw_image_free(image);
}

/* Shows both from the first line that differs on. */
static inline void every_same(struct every_text *got, const struct every_text *want,
                              const char *what)
{
    size_t line = 0;

    if (got->size == want->size &&
        (!got->size || memcmp(got->chars, want->chars, got->size) == 0)) {
        got->size = 0;
        return;
    }
    for (size_t i = 0; i < got->size && i < want->size && got->chars[i] == want->chars[i]; i++)
        if (got->chars[i] == '\n')
            line = i + 1;
    print_error("%s\n", what);
    CHECK_TEXT(got->size ? got->chars + line : "", want->size ? want->chars + line : "");
}

/* All of it for one stream. */
static inline void every_stream(const struct every_source *source, const uint8_t *bytes,
                                size_t size, unsigned number)
{
    static const struct tw_tree_config configs[] = {
        { .size = sizeof configs[0] },
        { .size = sizeof configs[0], .range_limit = 2 },
        { .size = sizeof configs[0], .check_opcodes = true, .check_atoms = true },
        { .size = sizeof configs[0], .check_continuity = true, .range_limit = 20 },
    };
    uint8_t bounds[EVERY_SIZE] = { 0 };
    struct every_text want = { 0 }, got = { 0 }, notes = { 0 };

    every_read(source, &want, &notes, bounds, bytes, size, size);
    every_read(source, &got, NULL, NULL, bytes, size, 1);
    every_same(&got, &want, "byte by byte");
    every_batch(source, &got, bytes, size, EVERY_ROOM);
    every_same(&got, &want, "in batches");
    every_batch(source, &got, bytes, size, 1 + number % 3);
    every_same(&got, &want, "in small batches");
    every_pass(source, &got, bounds, bytes, size);
    every_same(&got, &notes, "notes, with packets passed over");
    every_cut(source, bytes, size);
    every_written(source, bytes, size);
    if (number % 2 == 0 || check_scale(10) == 10) { /* the dear part: all of it in full runs */
        const struct tw_tree_config *config = &configs[number / 2 % LENGTH(configs)];

        want.size = 0;
        every_elements(source, &want, config, bytes, size, size);
        every_elements(source, &got, config, bytes, size, 1);
        every_same(&got, &want, "elements, byte by byte");
    }
    free(want.chars);
    free(got.chars);
    free(notes.chars);
}

/* A payload: some kinds by rule, the others random. */
static inline void every_payload(uint8_t *out, struct check_random *random, size_t kind)
{
    static const uint8_t same[] = { 0x00, 0xff, 0x7f, 0x80, 0x01 };

    if (kind < LENGTH(same)) {
        memset(out, same[kind], EVERY_PAYLOAD);
        return;
    }
    check_random_fill(random, out, EVERY_PAYLOAD);
    if (kind % 2) /* ends soon, wherever a set bit 7 says that it goes on */
        for (size_t i = 1 + check_random_below(random, 4); i < EVERY_PAYLOAD; i++)
            out[i] &= 0x7f;
}

/* Every header (the first byte after `start`), each with several payloads. */
static inline void every_header(void **state)
{
    struct check_random random = check_random_start(0x65766572);
    const struct every_setup *setup = *state;
    const size_t kinds = 5 + check_scale(20);
    struct every_source source;

    every_source_open(&source, setup);
    for (unsigned head = 0; head < 256; head++)
        for (size_t kind = 0; kind < kinds; kind++) {
            uint8_t bytes[EVERY_SIZE];
            size_t size = source.start_size;
            uint8_t *copy;

            check_case("%s, header 0x%02x, payload %zu", setup->name, head, kind);
            memcpy(bytes, source.start, size);
            bytes[size++] = (uint8_t)head;
            every_payload(bytes + size, &random, kind);
            size += EVERY_PAYLOAD;
            /* Behind it a beginning, and enough that quick ways are taken up to here. */
            for (unsigned i = 0; i < 2; i++) {
                memcpy(bytes + size, source.start, source.start_size);
                size += source.start_size;
            }
            check_random_fill(&random, bytes + size, 64);
            size += 64;
            assert_true(size <= sizeof bytes);
            copy = check_copy(bytes, size);
            every_stream(&source, copy, size, head + (unsigned)kind);
            free(copy);
        }
}

/* ---- listings that stay ---- */

/* The stream of a header: a beginning, the header with its payload, a beginning again. */
static inline size_t every_make(const struct every_source *source, uint8_t *bytes,
                                unsigned head, struct check_random *random, size_t kind)
{
    size_t size = source->start_size;

    memcpy(bytes, source->start, size);
    bytes[size++] = (uint8_t)head;
    every_payload(bytes + size, random, kind);
    size += EVERY_PAYLOAD;
    memcpy(bytes + size, source->start, source->start_size);
    return size + source->start_size;
}

static inline uint64_t every_hash(uint64_t hash, const struct every_text *text)
{
    for (size_t i = 0; i < text->size; i++)
        hash = (hash ^ (uint8_t)text->chars[i]) * 0x100000001b3u;
    return hash;
}

/* Packets, notes and elements of sixteen headers. */
static inline uint64_t every_group(const struct every_source *source, unsigned first,
                                   FILE *list)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct check_random random = { 0x6c697374 + first };
    struct every_text text = { 0 };
    uint64_t hash = 0xcbf29ce484222325u;

    for (unsigned head = first; head < first + 16; head++)
        for (size_t kind = 0; kind < EVERY_KEPT; kind++) {
            struct every_text notes = { 0 };
            uint8_t bytes[EVERY_SIZE], *copy;
            size_t size = every_make(source, bytes, head, &random, kind);

            copy = check_copy(bytes, size);
            every_read(source, &text, &notes, NULL, copy, size, size);
            hash = every_hash(hash, &notes);
            every_elements(source, &text, &config, copy, size, size);
            hash = every_hash(hash, &text);
            if (list)
                fprintf(list, "%s, header 0x%02x, payload %zu\n%s%s", source->setup->name, head,
                        kind, notes.size ? notes.chars : "", text.chars);
            text.size = 0;
            free(notes.chars);
            free(copy);
        }
    free(text.chars);
    return hash;
}

/* tests/vectors/listings/<protocol>.txt holds a digest for each sixteen headers of a row.
   TW_LISTINGS=FILE writes the listings themselves there, to be compared with another build's;
   TW_LISTINGS_UPDATE=1 writes the digests again, when the change is wanted. */
static inline void every_listing(void **state)
{
    const struct every_setup *setup = *state;
    const char *list_path = getenv("TW_LISTINGS");
    FILE *list = list_path ? fopen(list_path, "a") : NULL, *kept, *updated = NULL;
    struct every_source source;
    char path[400], new_path[410], line[1000], next[1000], want[1000] = "", *end = line;

    every_source_open(&source, setup);
    source.shows_text = true;
    end += snprintf(line, sizeof line, "%s:", setup->name);
    for (unsigned first = 0; first < 256; first += 16)
        end += snprintf(end, (size_t)(line + sizeof line - end), " %016llx",
                        (unsigned long long)every_group(&source, first, list));
    if (list)
        fclose(list);
    (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/vectors/listings/%s.txt",
                   setup->listing ? setup->listing : setup->protocol);
    (void)snprintf(new_path, sizeof new_path, "%s.new", path);
    kept = fopen(path, "r");
    if (getenv("TW_LISTINGS_UPDATE"))
        updated = fopen(new_path, "w");
    while (kept && fgets(next, sizeof next, kept)) {
        const bool is_it = strncmp(next, line, strlen(setup->name) + 1) == 0;

        if (is_it)
            (void)snprintf(want, sizeof want, "%.*s", (int)strcspn(next, "\n"), next);
        else if (updated)
            fputs(next, updated);
    }
    if (kept)
        fclose(kept);
    if (updated) {
        fprintf(updated, "%s\n", line);
        fclose(updated);
        CHECK_EQ(rename(new_path, path), 0);
        return;
    }
    check_case("%s: TW_LISTINGS=FILE writes what is listed, TW_LISTINGS_UPDATE=1 accepts it",
               setup->name);
    CHECK_TEXT(line, want);
}

/* Two tests for each row. */
static inline int every_run(struct every_setup *setups, size_t count)
{
    struct CMUnitTest tests[64];
    size_t made = 0;

    assert_true(2 * count <= LENGTH(tests));
    for (size_t i = 0; i < count; i++) {
        tests[made++] =
            (struct CMUnitTest){ setups[i].name, every_listing, NULL, NULL, &setups[i] };
        tests[made++] =
            (struct CMUnitTest){ setups[i].name, every_header, NULL, NULL, &setups[i] };
    }
    return _cmocka_run_group_tests(setups[0].protocol, tests, made, NULL, NULL);
}

#endif
