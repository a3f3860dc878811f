/* SPDX-License-Identifier: BSD-2-Clause */
/* Every input up to some length, not a sample of them.  Inputs are a tree: a reader that asks for
   more is given each of the 256 next bytes, and one that has found a packet is done there, as it
   may not know what follows.  Each input ends where memory ends, so a read beyond it is a crash.

   Behind each first byte come all rows of bytes 00, 01, 7f, 80 and ff, too, which are longer.

   Runs of 00 or ff, of which synchronization is made, come with any of a few bytes before and rows of them behind.

   From the first or second byte on an input also goes on with one and the same byte until the reader
   has a packet: how long one may be is tried with what makes it long. */
#ifndef TRACKWAY_TESTS_EVERY_INPUT_H
#define TRACKWAY_TESTS_EVERY_INPUT_H

#include "every_header.h"
#include "guarded.h"

enum {
    EVERY_INPUT_FEW = 2, /* bytes, in every test run */
    EVERY_INPUT_MIXED_FEW = 4,
    EVERY_INPUT_MIXED = 7, /* bytes in a proof, all but the first one a field's extremes */
    EVERY_INPUT_RUN = 24,  /* bytes of the longest run, more than any synchronization needs */
    EVERY_INPUT_MORE = 8   /* bytes that follow a packet and change nothing in it */
};

struct every_tree {
    const struct every_source *source;
    struct every_reader reader;
    struct tw_packet *got, *again;
    void *before; /* the reader, where each input begins */
    uint8_t *end; /* of readable memory */
    uint8_t bytes[EVERY_LONGEST];
    size_t used; /* bytes of the reader that count */
    size_t depth;
    size_t chained;  /* bytes after which inputs go on with one and the same byte; 0: never */
    size_t mixed;    /* bytes of inputs whose bytes behind the first are extremes */
    size_t behind;   /* bytes behind a run */
    bool is_synced;  /* else a packet may be known by what comes behind it */
    bool is_changed; /* the reader, by the last input */
    uint64_t inputs, packets;
};

/* The same packet, member by member where the bytes of the struct differ (there is padding). */
static inline bool every_equal(const struct tw_protocol *protocol, struct tw_packet *a,
                               struct tw_packet *b)
{
    static char one[4 * EVERY_LONGEST], other[4 * EVERY_LONGEST];

    if (memcmp(a, b, protocol->packet_size) == 0)
        return true;
    every_members(one, sizeof one, protocol, a);
    every_members(other, sizeof other, protocol, b);
    return strcmp(one, other) == 0;
}

static inline void every_fail(const struct every_tree *tree, size_t size, const char *what)
{
    static char line[4 * EVERY_LONGEST];
    struct tw_packet *const packets[] = { tree->got, tree->again };
    char text[3 * 64 + 1] = "";

    for (size_t i = 0; i < size && i < 64; i++)
        (void)snprintf(text + 3 * i, 4, "%02x ", tree->bytes[i]);
    print_error("%s: input of %zu bytes: %s: %s\n", tree->source->setup->name, size, text,
                what);
    for (size_t i = 0; i < LENGTH(packets); i++) {
        every_members(line, sizeof line, tree->reader.protocol, packets[i]);
        print_error("%u bytes: %s\n", packets[i]->size, line);
    }
    CHECK(!"every input");
}

/* The reader as it was where each input begins. */
static inline void every_back(struct every_tree *tree)
{
    if (tree->is_changed)
        memcpy(tree->reader.reader, tree->before, tree->used);
    tree->is_changed = false;
}

static inline enum tw_status every_try(struct every_tree *tree, struct tw_packet *packet,
                                       size_t size, bool is_last)
{
    const struct tw_protocol *protocol = tree->reader.protocol;

    enum tw_status status;

    memcpy(tree->end - size, tree->bytes, size);
    every_back(tree);
    memset(packet, 0, protocol->packet_size);
    status = protocol->read(tree->reader.reader, packet, tree->end - size, size, is_last);
    tree->is_changed = status == TW_OK;
    return status;
}

/* At least half a byte where packets are of nibbles, a byte elsewhere, and no more than there is. */
static inline bool every_size_is_good(const struct every_tree *tree,
                                      const struct tw_packet *packet, size_t size)
{
    const size_t bits = 8 * (size_t)packet->size - packet->skip_bits - packet->spare_bits;

    if (packet->size > size || packet->size == 0)
        return false;
    return bits >= (tree->reader.protocol->flags & TW_PROTOCOL_BITS ? 4 : 8);
}

/* read(write(p)) == p, for a packet that is understood. */
static inline void every_input_written(struct every_tree *tree, size_t size)
{
    const struct tw_protocol *protocol = tree->reader.protocol;
    static uint8_t out[EVERY_LONGEST];
    size_t written = sizeof out;
    enum tw_status status;

    if (!protocol->write || protocol->flags & TW_PROTOCOL_BITS)
        return;
    every_back(tree);
    tree->is_changed = true;
    status = protocol->write(tree->reader.reader, out, &written, tree->got);
    if (status == TW_E_ARGUMENT) /* it says more than a packet can */
        return;
    if (status != TW_OK || written > protocol->packet_max)
        every_fail(tree, size, "is not written again");
    if (written == tree->got->size && memcmp(out, tree->bytes, written) == 0)
        return;
    memcpy(tree->end - written, out, written);
    every_back(tree);
    tree->is_changed = true;
    memset(tree->again, 0, protocol->packet_size);
    if (protocol->read(tree->reader.reader, tree->again, tree->end - written, written, true) !=
            TW_OK ||
        !every_equal(protocol, tree->again, tree->got))
        every_fail(tree, size, "is another packet when it is written and read again");
}

/* A packet was found in `size` bytes: what else must say so. */
static inline void every_found(struct every_tree *tree, size_t size)
{
    const struct tw_protocol *protocol = tree->reader.protocol;
    const unsigned kind = tw_type_kind(protocol, tree->got->type);
    size_t used = 0;

    tree->packets++;
    if (!every_size_is_good(tree, tree->got, size))
        every_fail(tree, size, "a packet of no bytes, or of more than there are");
    if (!tw_kind_is_understood(kind))
        return;
    if (tree->got->size > protocol->packet_max)
        every_fail(tree, size, "longer than the longest packet");
    for (unsigned i = 0; i < 2; i++) {
        memset(tree->bytes + size, i ? 0xff : 0, EVERY_INPUT_MORE);
        if (every_try(tree, tree->again, size + EVERY_INPUT_MORE, false) != TW_OK ||
            !every_equal(protocol, tree->again, tree->got))
            every_fail(tree, size, "is another packet when more follows");
    }
    if (protocol->read_batch) {
        memcpy(tree->end - size, tree->bytes, size);
        every_back(tree);
        tree->is_changed = true;
        memset(tree->again, 0, protocol->packet_size);
        if (protocol->read_batch(tree->reader.reader, tree->again, 1, &used, tree->end - size,
                                 size) == 1 &&
            (used != every_taken(tree->got) || !every_equal(protocol, tree->again, tree->got)))
            every_fail(tree, size, "is another packet in a batch");
    }
    if (tree->is_synced)
        every_input_written(tree, size);
}

/* One input; true when it is a packet's beginning, and more is wanted. */
static inline bool every_one(struct every_tree *tree, size_t size)
{
    tree->inputs++;
    if (every_try(tree, tree->got, size, false) == TW_OK) {
        every_found(tree, size);
        return false;
    }
    if (size <= 2 && memcmp(tree->reader.reader, tree->before, tree->used) != 0)
        every_fail(tree, size, "asks for more, and is not as before");
    if (every_try(tree, tree->got, size, true) != TW_OK ||
        !every_size_is_good(tree, tree->got, size))
        every_fail(tree, size, "at the end there is no packet");
    return true;
}

/* Goes on with one byte until there is a packet: singly at first, then by leaps. */
static inline void every_chain(struct every_tree *tree, size_t size)
{
    static const uint8_t bytes[] = { 0x00, 0xff, 0x7f, 0x80, 0x01 };

    for (size_t i = 0; i < LENGTH(bytes); i++) {
        size_t length = size;

        do {
            const size_t more = length < 32 ? 1 : length / 2;

            if (length > tree->reader.protocol->packet_max)
                every_fail(tree, length, "wants more than the longest packet");
            memset(tree->bytes + length, bytes[i], more);
            length += more;
        } while (every_one(tree, length));
    }
}

/* Goes on with bytes that are a field's extremes, in every order: longer packets than all bytes can be tried of. */
static inline void every_mixed(struct every_tree *tree, size_t size, size_t end)
{
    static const uint8_t bytes[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

    for (size_t i = 0; i < LENGTH(bytes); i++) {
        tree->bytes[size] = bytes[i];
        if (every_one(tree, size + 1) && size + 1 < end)
            every_mixed(tree, size + 1, end);
    }
}

static const uint8_t every_near_run[] = { 0x00, 0x01, 0x0f, 0x7f, 0x80, 0xf0, 0xff };

/* Rows of up to `left` bytes behind a run. */
static inline void every_behind(struct every_tree *tree, size_t size, size_t left)
{
    for (size_t i = 0; left && i < LENGTH(every_near_run); i++) {
        tree->bytes[size] = every_near_run[i];
        (void)every_one(tree, size + 1);
        every_behind(tree, size + 1, left - 1);
    }
}

/* Synchronization, and what is nearly one, in the middle of something else. */
static inline void every_search(struct every_tree *tree)
{
    for (size_t first = 0; first < LENGTH(every_near_run); first++)
        for (size_t run = 1; run <= EVERY_INPUT_RUN; run++)
            for (unsigned i = 0; i < 2; i++) {
                tree->bytes[0] = every_near_run[first];
                memset(tree->bytes + 1, i ? 0xff : 0, run);
                every_behind(tree, 1 + run, tree->behind);
            }
}

static inline void every_branch(struct every_tree *tree, size_t size)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        tree->bytes[size] = (uint8_t)byte;
        if (!every_one(tree, size + 1))
            continue;
        if (size + 1 < tree->depth)
            every_branch(tree, size + 1);
        tree->bytes[size] = (uint8_t)byte;
        if (size + 1 == tree->chained)
            every_chain(tree, size + 1);
        if (size == 0 && tree->mixed > 1)
            every_mixed(tree, 1, tree->mixed);
    }
}

/* All of it from one state of the reader. */
static inline void every_input_from(struct every_tree *tree, const char *where, bool is_synced)
{
    tree->is_synced = is_synced;
    tree->is_changed = false;
    memcpy(tree->before, tree->reader.reader, tree->used);
    tree->inputs = tree->packets = 0;
    every_branch(tree, 0);
    every_search(tree);
    if (getenv("TW_PROOF_BYTES"))
        print_message("%s, %s, %s: every input of %zu bytes: %llu inputs, %llu packets\n",
                      tree->reader.protocol->name, tree->source->setup->name, where,
                      tree->depth, (unsigned long long)tree->inputs,
                      (unsigned long long)tree->packets);
}

/* TW_PROOF_BYTES says how long the inputs are. */
static inline void every_input(void **state)
{
    const char *asked = getenv("TW_PROOF_BYTES");
    struct every_source source;
    struct every_tree *tree = calloc(1, sizeof *tree);
    const struct tw_protocol *protocol;
    size_t at = 0;

    assert_non_null(tree);
    every_source_open(&source, *state);
    every_reader_open(&tree->reader, &source);
    protocol = tree->reader.protocol;
    tree->source = &source;
    tree->used =
        source.setup->used ? source.setup->used(tree->reader.reader) : protocol->reader_size;
    tree->depth = EVERY_INPUT_FEW;
    if (asked)
        tree->depth = strtoul(asked, NULL, 10);
    tree->chained = tree->depth == EVERY_INPUT_FEW ? 1 : 2;
    tree->mixed = asked ? EVERY_INPUT_MIXED : EVERY_INPUT_MIXED_FEW;
    tree->behind = asked ? 3 : 1;
    tree->end = guarded_new();
    assert_non_null(tree->end);
    tree->got = tree->reader.packets;
    tree->again = (struct tw_packet *)((char *)tree->reader.packets + protocol->packet_size);
    tree->before = malloc(protocol->reader_size);
    assert_non_null(tree->before);
    every_input_from(tree, "at the start", false);
    memcpy(tree->reader.reader, tree->before, tree->used);
    while (at < source.start_size) {
        CHECK_EQ(protocol->read(tree->reader.reader, tree->got, source.start + at,
                                source.start_size - at, true),
                 TW_OK);
        at += every_taken(tree->got);
    }
    every_input_from(tree, "in sync", true);
    protocol->reader_lost(tree->reader.reader);
    every_input_from(tree, "after a loss", false);
    guarded_free(tree->end);
    free(tree->before);
    every_reader_close(&tree->reader);
    free(tree);
}

#endif
