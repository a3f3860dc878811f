/* SPDX-License-Identifier: BSD-2-Clause */
/* Every header with every kind of payload: one packet at a time, in batches, cut at any byte, passed
   over for an index, written again, and as elements, fed whole and byte by byte.  All must say the
   same.  For the tests of protocols. */
#ifndef TRACKWAY_TESTS_EVERY_HEADER_H
#define TRACKWAY_TESTS_EVERY_HEADER_H

#include "every_reader.h"

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
    if (!tw_kind_is_understood(tw_type_kind(reader.protocol, packet->type)))
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
    static const uint8_t zeros[EVERY_LONGEST] = { 0 };
    const struct tw_packet_view view = { .size = sizeof view,
                                         .packet = packet,
                                         .bytes = zeros,
                                         .protocol = protocol->name,
                                         .src = TW_NO_SRC,
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

#endif
