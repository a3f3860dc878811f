/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of indexes of a protocol of the caller's own: what they note, and decoding from the middle. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

/* "count": f0 synchronizes; 01 to 7f is added to a sum; f1 is an overflow; all else is bad.  A decoder
   tells the sum, which synchronization does not: an index does. */
enum { NOT_SYNC, BAD, SYNC, ADD, OVERFLOW };

struct count_reader {
    bool is_synced;
    uint64_t sum;
};

static enum tw_status count_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                 bool is_last)
{
    struct count_reader *from = reader;
    struct tw_packet *to = packet;

    (void)size;
    (void)is_last;
    to->size = 1;
    from->is_synced |= data[0] == 0xf0;
    to->type = !from->is_synced                ? NOT_SYNC
               : data[0] == 0xf0               ? SYNC
               : data[0] == 0xf1               ? OVERFLOW
               : data[0] > 0 && data[0] < 0x80 ? ADD
                                               : BAD;
    if (to->type == ADD)
        from->sum += data[0];
    to->skip_bits = 0;
    ((uint64_t *)(to + 1))[0] = data[0];
    from->is_synced &= to->type != BAD;
    return TW_OK;
}

static void count_lost(void *reader)
{
    ((struct count_reader *)reader)->is_synced = false;
}

static const char *count_name(unsigned type)
{
    static const char *const names[] = { "NOTSYNC", "BAD", "SYNC", "ADD", "OVERFLOW" };

    return names[type];
}

static enum tw_packet_kind count_kind(unsigned type)
{
    static const enum tw_packet_kind kinds[] = { TW_PACKET_NOT_SYNC, TW_PACKET_BAD,
                                                 TW_PACKET_SYNC, TW_PACKET_DATA,
                                                 TW_PACKET_OVERFLOW };

    return kinds[type];
}

static void count_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    const struct tw_packet *from = packet;
    uint64_t *sum = decoder;

    if (from->type == ADD) {
        const uint64_t more = ((const uint64_t *)(from + 1))[0];
        struct tw_element *element = tw_emit(out, TW_ELEMENT_CUSTOM);

        *sum += more;
        element->number = (uint32_t)more;
        element->value = *sum;
    }
}

/* Three notes at a sync, and the larger numbers. */
static size_t count_notes(const void *reader, struct tw_protocol_note *notes,
                          const void *packet)
{
    const struct count_reader *from = reader;
    const struct tw_packet *of = packet;
    const uint64_t value = ((const uint64_t *)(of + 1))[0];

    if (of->type == SYNC) {
        notes[0] = (struct tw_protocol_note){ .kind = TW_INDEX_SYNC, .value = 1 };
        notes[1] = (struct tw_protocol_note){ .kind = TW_INDEX_STATE, .value = from->sum };
        return 2;
    }
    if (of->type != ADD || value < 0x70)
        return 0;
    notes[0] = (struct tw_protocol_note){ .kind = TW_INDEX_EVENT, .value = value };
    return 1;
}

static void count_restore(void *decoder, const uint64_t *words)
{
    *(uint64_t *)decoder = words[0];
}

static const struct tw_custom_protocol count = {
    .size = sizeof count,
    .name = "count",
    .reader_size = sizeof(struct count_reader),
    .decoder_size = sizeof(uint64_t),
    .packet_size = sizeof(struct tw_packet) + sizeof(uint64_t),
    .packet_max = 1,
    .read = count_read,
    .reader_lost = count_lost,
    .type_name = count_name,
    .type_kind = count_kind,
    .decode = count_decode,
    .notes = count_notes,
    .restore = count_restore,
    .adds_up = true,
};

enum { SIZE = 40000, SYNC_EVERY = 500 };

struct subject {
    uint8_t data[SIZE];
    struct tw_tree_source source;
    const struct tw_custom_protocol *protocol;
    struct tw_index_capture about;
};

static enum tw_status read_data(void *context, const uint8_t **bytes, size_t *size,
                                uint64_t offset)
{
    const struct subject *subject = context;

    if (offset >= SIZE)
        return TW_END;
    *bytes = subject->data + offset;
    *size = SIZE - (size_t)offset;
    return TW_OK;
}

static void make(struct subject *to, const struct tw_custom_protocol *protocol)
{
    struct check_random random = check_random_start(7);

    for (size_t i = 0; i < SIZE; i++)
        to->data[i] = i % SYNC_EVERY == 250 ? 0xf0
                      : i % 7001 == 7000    ? 0xf1
                      : i % 9001 == 9000    ? 0x80
                                            : (uint8_t)(1 + check_random_below(&random, 0x7f));
    to->protocol = protocol;
    to->source =
        (struct tw_tree_source){ .size = sizeof to->source, .protocol = "count", .id = 9 };
    to->about = (struct tw_index_capture){ .size = sizeof to->about,
                                           .bytes = SIZE,
                                           .read = read_data,
                                           .read_context = to,
                                           .sources = &to->source,
                                           .source_count = 1,
                                           .protocols = &to->protocol,
                                           .protocol_count = 1 };
}

static struct tw_index *build(const struct subject *subject)
{
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .block_bytes = 4096 };
    struct tw_index *index;

    CHECK_EQ(tw_index_build(&index, &subject->about, &config, NULL), TW_OK);
    return index;
}

static uint64_t count_of(const struct tw_index *index, enum tw_index_kind kind)
{
    struct tw_index_stream stream = { .size = sizeof stream };

    CHECK_EQ(tw_index_stream(index, &stream, 0), TW_OK);
    CHECK_TEXT(stream.protocol, "count");
    return stream.counts[kind];
}

static struct tw_tree *make_tree(const struct subject *subject)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_protocol(tree, subject->protocol), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &subject->source), TW_OK);
    return tree;
}

/* The elements from `offset` on, decoded from `from`. */
static size_t decode(struct tw_element *out, struct tw_tree *tree,
                     const struct subject *subject, uint64_t from, uint64_t offset)
{
    struct tw_batch batch = { .size = sizeof batch };
    size_t count_out = 0;

    CHECK_EQ(tw_tree_feed(tree, subject->data + from, SIZE - (size_t)from), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].index >= offset)
                out[count_out++] = batch.elements[i];
    return count_out;
}

static void custom_protocols_are_indexed(void **state)
{
    struct subject *subject = malloc(sizeof *subject);
    struct tw_index_entry entry;
    struct tw_index *index;

    (void)state;
    assert_non_null(subject);
    make(subject, &count);
    index = build(subject);
    CHECK_EQ(count_of(index, TW_INDEX_SYNC), SIZE / SYNC_EVERY);
    CHECK_EQ(count_of(index, TW_INDEX_STATE), SIZE / SYNC_EVERY);
    CHECK_EQ(count_of(index, TW_INDEX_BAD), 4);
    CHECK(count_of(index, TW_INDEX_EVENT) > 100);
    CHECK_EQ(tw_index_find_nth(index, &entry, 0, TW_INDEX_SYNC, 3), TW_OK);
    CHECK_EQ(entry.offset, 3 * SYNC_EVERY + 250);
    CHECK_EQ(tw_index_matches(index, &subject->about, true, NULL), TW_OK);
    tw_index_free(index);
    free(subject);
}

static void kinds_are_noted_without_a_function(void **state)
{
    struct subject *subject = malloc(sizeof *subject);
    struct tw_custom_protocol plain = count;
    struct tw_index *index;

    (void)state;
    assert_non_null(subject);
    plain.notes = NULL;
    plain.restore = NULL;
    plain.adds_up = false;
    make(subject, &plain);
    index = build(subject);
    CHECK_EQ(count_of(index, TW_INDEX_SYNC), SIZE / SYNC_EVERY);
    CHECK_EQ(count_of(index, TW_INDEX_LOSS), 5);
    CHECK_EQ(count_of(index, TW_INDEX_BAD), 4);
    CHECK_EQ(count_of(index, TW_INDEX_EVENT), 0);
    tw_index_free(index);
    free(subject);
}

/* With and without an index, from anywhere: what decoding all gives there.  Where nothing tells the
   sum, that is from the beginning on. */
static void decoding_begins_in_the_middle(void **state)
{
    struct subject *subject = malloc(sizeof *subject);
    struct tw_element *whole = malloc(SIZE * sizeof *whole),
                      *part = malloc(SIZE * sizeof *part);
    struct tw_custom_protocol sums = count;

    (void)state;
    assert_non_null(subject);
    assert_non_null(whole);
    assert_non_null(part);
    sums.restore = NULL;
    sums.notes = NULL;
    for (unsigned variant = 0; variant < 2; variant++) {
        struct tw_index *index;
        struct tw_tree *tree;

        make(subject, variant ? &sums : &count);
        index = build(subject);
        for (uint64_t offset = 1; offset < SIZE; offset += 1733) {
            for (unsigned with = 0; with < 2; with++) {
                uint64_t from = SIZE;
                size_t wanted, got;

                check_case("variant %u, from %u on, %s index", variant, (unsigned)offset,
                           with ? "with" : "without");
                tree = make_tree(subject);
                wanted = decode(whole, tree, subject, 0, offset);
                tw_tree_free(tree);
                tree = make_tree(subject);
                CHECK_EQ(
                    tw_index_seek(&subject->about, with ? index : NULL, tree, &from, offset, 1),
                    TW_OK);
                CHECK(from <= offset && (!variant || from == 0));
                if (!variant && with && offset > 2 * SYNC_EVERY)
                    CHECK(offset - from <= SYNC_EVERY);
                got = decode(part, tree, subject, from, offset);
                CHECK_BYTES((uint8_t *)part, got * sizeof *part, (uint8_t *)whole,
                            wanted * sizeof *whole);
                tw_tree_free(tree);
            }
        }
        tw_index_free(index);
    }
    free(whole);
    free(part);
    free(subject);
}

static void wrong_protocols_are_refused(void **state)
{
    struct subject *subject = malloc(sizeof *subject);
    const struct tw_index_config config = { .size = sizeof config, .detail = TW_INDEX_FULL };
    struct tw_custom_protocol bad = count;
    struct tw_index *index;
    struct tw_fault fault;

    (void)state;
    assert_non_null(subject);
    make(subject, &count);
    subject->about.protocol_count = 0;
    CHECK_EQ(tw_index_new(&index, &subject->about, &config, &fault), TW_E_UNSUPPORTED);
    CHECK_TEXT(fault.text, "protocol 'count' is not known");
    bad.read = NULL;
    make(subject, &bad);
    CHECK_EQ(tw_index_new(&index, &subject->about, &config, &fault), TW_E_ARGUMENT);
    CHECK_TEXT(fault.text, "tw_custom_protocol is not complete");
    make(subject, &count);
    subject->about.protocols = NULL;
    CHECK_EQ(tw_index_new(&index, &subject->about, &config, &fault), TW_E_ARGUMENT);
    CHECK(!index);
    free(subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(custom_protocols_are_indexed),
        cmocka_unit_test(kinds_are_noted_without_a_function),
        cmocka_unit_test(decoding_begins_in_the_middle),
        cmocka_unit_test(wrong_protocols_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
