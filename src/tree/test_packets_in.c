/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of packets instead of bytes: of every capture that there is, the packets of a source lead to the
   elements that its bytes do. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "all_runs.h"
#include "protocol.h"

enum {
    MOST = 200000,
    AT_ONCE = 97
}; /* packets of a source that are looked at; fed at a time */

/* The packets of one trace ID. */
struct kept {
    uint8_t *packets;
    size_t count, size; /* size: of one */
    bool is_whole;      /* all of them were good */
};

/* Messages whose meaning only a vendor knows: nothing can write them, nothing comes of them. */
static bool is_unknown(const struct tw_packet_view *view)
{
    return strcmp(view->protocol, "ntrace") == 0 && view->packet->type == TW_NTRACE_VENDOR;
}

static struct kept keep(const struct tw_capture *capture, size_t buffer, uint8_t id)
{
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_packet_view view = { .size = sizeof view };
    struct kept kept = { .is_whole = true };
    struct run_tree *from = calloc(1, sizeof *from);
    const uint8_t *bytes;
    uint64_t at = 0;
    size_t size;

    assert_non_null(from);
    CHECK_EQ(run_tree_new(from, capture, buffer, config), TW_OK);
    for (bool is_last = false; !is_last && kept.count < MOST; at += size) {
        is_last = tw_capture_read(capture, &bytes, &size, buffer, at) != TW_OK;
        if (is_last)
            size = 0;
        if (size > 1 << 16)
            size = 1 << 16;
        CHECK_EQ(is_last ? tw_tree_finish(from->tree) : tw_tree_feed(from->tree, bytes, size),
                 TW_OK);
        while (tw_tree_next_packet(from->tree, &view) == TW_OK) {
            const struct tw_protocol *protocol = view.about;

            if (view.packet->id != id || kept.count >= MOST)
                continue;
            if (!kept.packets) {
                kept.size = protocol->packet_size;
                kept.packets = malloc(MOST * kept.size);
                assert_non_null(kept.packets);
            }
            kept.is_whole &= !view.is_bad && (!view.is_not_sync || !kept.count);
            if (!view.is_bad && !view.is_not_sync && !is_unknown(&view))
                memcpy(kept.packets + kept.count++ * kept.size, view.packet, kept.size);
        }
    }
    tw_tree_free(from->tree);
    free(from);
    return kept;
}

static struct tw_tree *tree_of(const struct tw_capture *capture, const struct tw_source *source)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source about = { .size = sizeof about,
                                    .protocol = source->protocol,
                                    .registers = source->registers,
                                    .register_count = source->register_count,
                                    .type = source->type,
                                    .core_type = source->core_type,
                                    .text = source->text,
                                    .id = source->id };
    struct tw_tree *tree;

    if (source->image != TW_NONE)
        about.image = tw_capture_image(capture, source->image);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    if (tw_tree_add_source(tree, NULL, &about) == TW_OK)
        return tree;
    tw_tree_free(tree);
    return NULL;
}

/* What comes out, without where sources begin and end. */
static void take(struct digest *digest, struct tw_tree *tree)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type != TW_ELEMENT_EO_TRACE &&
                !(batch.elements[i].type == TW_ELEMENT_NO_SYNC &&
                  (batch.elements[i].reason == TW_REASON_INIT ||
                   batch.elements[i].reason == TW_REASON_RESET)))
                digest_element(digest, 0, &batch.elements[i]);
}

static struct digest by_packets(struct tw_tree *tree, const struct kept *kept, size_t step)
{
    struct digest digest = { 0, 0, 0, 0, 0 };

    for (size_t i = 0; i < kept->count; i += step) {
        const size_t count = kept->count - i < step ? kept->count - i : step;

        CHECK_EQ(
            tw_tree_feed_packets(tree, (const void *)(kept->packets + i * kept->size), count),
            TW_OK);
        take(&digest, tree);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    take(&digest, tree);
    return digest;
}

/* The elements that the capture's own bytes lead to. */
static struct digest by_capture(const struct tw_capture *capture, size_t buffer, uint8_t id)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct run_tree *from = calloc(1, sizeof *from);
    struct tw_batch batch = { .size = sizeof batch };
    struct digest digest = { 0, 0, 0, 0, 0 };
    const uint8_t *bytes;
    uint64_t at = 0;
    size_t size;

    assert_non_null(from);
    CHECK_EQ(run_tree_new(from, capture, buffer, config), TW_OK);
    for (bool is_last = false; !is_last;) {
        is_last = tw_capture_read(capture, &bytes, &size, buffer, at) != TW_OK;
        if (is_last)
            CHECK_EQ(tw_tree_finish(from->tree), TW_OK);
        else
            CHECK_EQ(tw_tree_feed(from->tree, bytes, size), TW_OK);
        at += size;
        while (tw_tree_next(from->tree, &batch) == TW_OK)
            for (size_t i = 0; batch.id == id && i < batch.count; i++)
                if (batch.elements[i].type != TW_ELEMENT_EO_TRACE &&
                    !(batch.elements[i].type == TW_ELEMENT_NO_SYNC &&
                      (batch.elements[i].reason == TW_REASON_INIT ||
                       batch.elements[i].reason == TW_REASON_RESET)))
                    digest_element(&digest, 0, &batch.elements[i]);
    }
    tw_tree_free(from->tree);
    free(from);
    return digest;
}

/* Returns whether the packets of the whole capture were compared. */
static bool check_source(const struct tw_capture *capture, size_t buffer,
                         const struct tw_source *source)
{
    struct tw_tree *tree = tree_of(capture, source);
    struct digest one, many, own;
    struct kept kept;
    bool is_whole;

    if (!tree)
        return false;
    kept = keep(capture, buffer, source->id);
    if (!kept.count) {
        tw_tree_free(tree);
        return false;
    }
    many = by_packets(tree, &kept, AT_ONCE);
    tw_tree_reset(tree, 0);
    one = by_packets(tree, &kept, kept.count);
    CHECK(digest_is_same(&one, &many));
    tw_tree_free(tree);
    is_whole = kept.is_whole && kept.count < MOST;
    if (is_whole) {
        own = by_capture(capture, buffer, source->id);
        CHECK_EQ(many.elements, own.elements);
        CHECK_EQ(many.hash, own.hash);
    }
    free(kept.packets);
    return is_whole;
}

static unsigned number_of(const char *protocol)
{
    unsigned i = 0;

    while (tw_protocols[i] != tw_protocol_by_name(protocol))
        i++;
    return i;
}

static void packets_lead_to_what_their_bytes_do(void **state)
{
    struct runs runs = runs_find();
    unsigned compared = 0, protocols = 0;

    (void)state;
    for (size_t i = 0; i < runs.count; i++) {
        struct tw_capture *capture;

        check_case("%s", runs.runs[i].path);
        if (strstr(runs.runs[i].path, "perf") ||
            run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        for (size_t j = 0; j < tw_capture_source_count(capture); j++) {
            const struct tw_source *source = tw_capture_source(capture, j);
            const uint32_t buffer = tw_capture_source_buffer(capture, j, 0);

            if (source->protocol && buffer != TW_NONE && check_source(capture, buffer, source))
                compared |= 1u << number_of(source->protocol);
        }
        tw_capture_free(capture);
    }
    for (unsigned i = 0; tw_protocols[i]; i++)
        protocols += compared >> i & 1;
    CHECK(protocols >= (runs.is_corpus ? 8 : 1)); /* data trace goes with another source */
    free(runs.runs);
}

/* A protocol of the caller's whose packets never were bytes. */
struct note {
    struct tw_packet base;
    uint64_t text;
};

static enum tw_status note_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last)
{
    struct note *to = packet;

    (void)reader;
    (void)data;
    (void)size;
    (void)is_last;
    to->base.size = 1;
    return TW_OK;
}

static void note_lost(void *reader)
{
    (void)reader;
}

static const char *note_name(unsigned type)
{
    return type ? "NOTE" : "NOTHING";
}

static enum tw_packet_kind note_kind(unsigned type)
{
    return type ? TW_PACKET_DATA : TW_PACKET_NOT_SYNC;
}

static void note_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    const struct note *from = packet;

    (void)decoder;
    tw_emit(out, TW_ELEMENT_CUSTOM)->value = from->text;
}

static void packets_of_a_custom_protocol_need_no_bytes(void **state)
{
    static const struct tw_custom_protocol protocol = { .size = sizeof protocol,
                                                        .name = "note",
                                                        .packet_size = sizeof(struct note),
                                                        .packet_max = 1,
                                                        .read = note_read,
                                                        .reader_lost = note_lost,
                                                        .type_name = note_name,
                                                        .type_kind = note_kind,
                                                        .decode = note_decode };
    static const struct note notes[] = { { { .index = 100, .type = 1 }, 7 },
                                         { { .index = 50, .type = 1 }, 8 },
                                         { { .index = 60, .type = 0 }, 0 },
                                         { { .index = 70, .type = 1 }, 9 } };
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "note", .id = 3 };
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_batch batch = { .size = sizeof batch };
    char text[2000] = "", line[512];
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_protocol(tree, &protocol), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed_packets(tree, NULL, 1), TW_E_ARGUMENT);
    for (size_t i = 0; i < LENGTH(notes); i++)
        CHECK_EQ(tw_tree_feed_packets(tree, &notes[i].base, 1), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, (const uint8_t *)"x", 1), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "packets were fed already");
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            (void)tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
            strcat(strcat(text, line), "\n");
        }
    CHECK_TEXT(text, "0x64      0x3 NO_SYNC        init-decoder\n"
                     "0x64      0x3 CUSTOM         0 0x7\n"
                     "0x32      0x3 CUSTOM         0 0x8\n"
                     "0x46      0x3 ERROR          bytes are missing here; skipped 0 bytes\n"
                     "0x46      0x3 NO_SYNC        reset-decoder\n"
                     "0x46      0x3 CUSTOM         0 0x9\n"
                     "0x46      0x3 EO_TRACE       end-of-trace\n");
    tw_tree_reset(tree, 0);
    CHECK_EQ(tw_tree_feed(tree, (const uint8_t *)"x", 1), TW_OK);
    CHECK_EQ(tw_tree_feed_packets(tree, &notes[0].base, 1), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "bytes were fed already");
    tw_tree_free(tree);
}

static void what_cannot_be_written_is_said(void **state)
{
    static const struct tw_register control = { "ITMTCR", 0x50000 };
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "itm", .registers = &control, .register_count = 1
    };
    const struct tw_tree_config framed = { .size = sizeof framed,
                                           .framing = TW_FRAMING_MEMORY };
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_itm_packet packets[2] = {
        { .base = { .type = TW_ITM_PACKET_ASYNC, .size = 6 } },
        { .base = { .type = TW_ITM_PACKET_SWIT }, .size = 3 },
    };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    unsigned count = 0;

    (void)state;
    CHECK_EQ(tw_tree_feed_packets(NULL, &packets[0].base, 2), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_new(&tree, &framed, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed_packets(tree, &packets[0].base, 2), TW_E_ARGUMENT);
    tw_tree_free(tree);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_feed_packets(tree, &packets[0].base, 2), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed_packets(tree, &packets[0].base, 2), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "packet 1, ITM_SWIT, cannot be written");
    packets[1].size = 4;
    CHECK_EQ(tw_tree_feed_packets(tree, &packets[1].base, 1), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            count += batch.elements[i].type == TW_ELEMENT_ITMTRACE;
    CHECK_EQ(count, 1);
    CHECK_EQ(tw_tree_feed_packets(tree, &packets[1].base, 1), TW_E_ARGUMENT);
    tw_tree_free(tree);
}

/* Null bytes up to the end of a block: they are fed with the packets, or those behind them would cross one. */
static void packets_keep_their_place_in_blocks(void **state)
{
    static const uint8_t first[] = { 0x01, 0x3e, 0x03, 0xe6, 0x00, 0x08, 0x02, 0x0a, 0x10,
                                     0x01, 0x04, 0x03, 0x0a, 0xf1, 0x01, 0x09, 0x74, 0xf8,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x07 };
    static const uint8_t then[] = {
        0x03, 0xe6, 0x10, 0x08, 0x0a, 0x12, 0x82, 0x0f, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0xf8, 0x01, 0x14, 0x02, 0x9e, 0x00
    };
    static const unsigned blocks[] = { 32, 64, 512 };

    (void)state;
    for (size_t i = 0; i < LENGTH(blocks); i++) {
        const struct tw_tree_config listing = { .size = sizeof listing, .packets_only = true };
        const struct tw_tree_config config = { .size = sizeof config };
        struct tw_packet_view view = { .size = sizeof view };
        struct digest whole = { 0, 0, 0, 0, 0 }, packets = whole;
        uint8_t bytes[512 + sizeof then] = { 0 };
        char text[200];
        const struct tw_tree_source source = {
            .size = sizeof source, .protocol = "etrace", .text = text, .id = 1
        };
        struct tw_tree *from, *trees[2];

        (void)snprintf(text, sizeof text,
                       "layout=v2\niaddress_width_p=64\nprivilege_width_p=2\nitype_width_p=4\n"
                       "encapsulation=riscv\ntype_bits=1\nblock_size=%u\n",
                       blocks[i]);
        memcpy(bytes, first, sizeof first);
        memcpy(bytes + blocks[i], then, sizeof then);
        CHECK_EQ(tw_tree_new(&from, &listing, NULL), TW_OK);
        CHECK_EQ(tw_tree_add_source(from, NULL, &source), TW_OK);
        for (size_t k = 0; k < 2; k++) {
            CHECK_EQ(tw_tree_new(&trees[k], &config, NULL), TW_OK);
            CHECK_EQ(tw_tree_add_source(trees[k], NULL, &source), TW_OK);
        }
        CHECK_EQ(tw_tree_feed(from, bytes, blocks[i] + sizeof then), TW_OK);
        CHECK_EQ(tw_tree_finish(from), TW_OK);
        while (tw_tree_next_packet(from, &view) == TW_OK)
            CHECK_EQ(tw_tree_feed_packets(trees[0], view.packet, 1), TW_OK);
        CHECK_EQ(tw_tree_feed(trees[1], bytes, blocks[i] + sizeof then), TW_OK);
        for (size_t k = 0; k < 2; k++) {
            CHECK_EQ(tw_tree_finish(trees[k]), TW_OK);
            take(k ? &whole : &packets, trees[k]);
            tw_tree_free(trees[k]);
        }
        check_case("blocks of %u", blocks[i]);
        CHECK_BYTES((const uint8_t *)&packets, sizeof packets, (const uint8_t *)&whole,
                    sizeof whole);
        tw_tree_free(from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_lead_to_what_their_bytes_do),
        cmocka_unit_test(packets_of_a_custom_protocol_need_no_bytes),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(packets_keep_their_place_in_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
