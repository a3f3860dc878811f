/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what is said of bytes that say nothing of themselves: settings that packets show, how much memory they reach,
   what stays open, and what is no trace. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/etmv4.h>
#include <trackway/identify.h>

#include "failing.h"

/* ---- ETMv4 that is made here ---- */

enum { ROOM = 1 << 20, BLOCKS = 40, ATOMS = 60 };

struct made {
    struct tw_etmv4_reader *writer;
    uint8_t *bytes;
    size_t size;
};

/* A trace unit that has all of it. */
static struct made made_new(void)
{
    static const struct tw_register registers[] = { { "TRCIDR0", 0x28000ea1 },
                                                    { "TRCIDR1", 0x4100f403 },
                                                    { "TRCIDR2", 0x488 },
                                                    { "TRCIDR8", 7 },
                                                    { "TRCCONFIGR", 0x8d1 } };
    struct made made = { .bytes = malloc(ROOM) };
    struct tw_etmv4_config config;

    assert_non_null(made.bytes);
    CHECK_EQ(
        tw_etmv4_config_from(&config, registers, LENGTH(registers), "Cortex-A57", false, NULL),
        TW_OK);
    CHECK_EQ(tw_etmv4_reader_new(&made.writer, &config, NULL, NULL), TW_OK);
    return made;
}

static void made_free(struct made *made)
{
    tw_etmv4_reader_free(made->writer);
    free(made->bytes);
}

static void put(struct made *made, const struct tw_etmv4_packet *packet)
{
    size_t size = ROOM - made->size;

    CHECK_EQ(tw_etmv4_write(made->writer, made->bytes + made->size, &size, packet), TW_OK);
    made->size += size;
}

/* What the packets of a trace show. */
struct shown {
    bool cycles, times, cids, vmids;
    uint32_t depth;
    unsigned pages; /* MiB that addresses lie in */
};

static void put_start(struct made *made, const struct shown *shown, unsigned block)
{
    struct tw_etmv4_packet async = { .base.type = TW_ETMV4_ASYNC };
    struct tw_etmv4_packet info = { .base.type = TW_ETMV4_TRACE_INFO };
    struct tw_etmv4_packet place = { .base.type = TW_ETMV4_ADDR_CTXT_L_64IS0 };

    info.sections = TW_ETMV4_INFO | TW_ETMV4_SPEC | (shown->cycles ? TW_ETMV4_CYCT : 0);
    info.info = shown->cycles;
    info.spec = shown->depth;
    place.address = 0x400000;
    place.sf = true;
    place.has_cid = shown->cids;
    place.cid = shown->cids ? 0x51 : 0;
    place.has_vmid = shown->vmids;
    place.vmid = shown->vmids ? 3 : 0;
    put(made, &async);
    put(made, &info);
    if (block == 0)
        put(made, &(struct tw_etmv4_packet){ .base.type = TW_ETMV4_TRACE_ON });
    put(made, &place);
}

static void put_block(struct made *made, const struct shown *shown, unsigned block)
{
    struct tw_etmv4_packet place = { .base.type = TW_ETMV4_ADDR_L_32IS0 };
    struct tw_etmv4_packet atoms = { .base.type = TW_ETMV4_ATOM_F3, .atom_count = 3 };
    struct tw_etmv4_packet count = { .base.type = TW_ETMV4_CCNT_F3, .count = 1 };
    struct tw_etmv4_packet time = { .base.type = TW_ETMV4_TIMESTAMP };

    put_start(made, shown, block);
    for (unsigned i = 0; i < ATOMS; i++) {
        atoms.atoms = (i * 5 + block) % 8;
        put(made, &atoms);
        if (i % 4 == 0) {
            const unsigned page = (block * (ATOMS / 4) + i / 4) % shown->pages;

            place.address = 0x400000 + ((uint64_t)page << 20) + 16 * i;
            put(made, &place);
        }
        if (shown->cycles && i % 4 == 1)
            put(made, &count);
    }
    time.timestamp = 1000 * (block + 1);
    if (shown->times)
        put(made, &time);
}

static struct tw_identified *identify(const uint8_t *bytes, size_t size)
{
    const struct tw_identify_options options = { .size = sizeof options };
    struct tw_identified *found;

    CHECK_EQ(tw_identify_bytes(&found, bytes, size, "x", &options, NULL), TW_OK);
    return found;
}

static struct tw_identified *identify_shown(const struct shown *shown)
{
    struct made made = made_new();
    struct tw_identified *found;

    for (unsigned block = 0; block < BLOCKS; block++)
        put_block(&made, shown, block);
    found = identify(made.bytes, made.size);
    made_free(&made);
    return found;
}

/* The line of the evidence that holds these words; "": there is none. */
static const char *evidence(const struct tw_identified *found, const char *words)
{
    const struct tw_identity *about = tw_identified_about(found);

    for (size_t i = 0; i < about->evidence_count; i++)
        if (strstr(about->evidence[i], words))
            return about->evidence[i];
    return "";
}

/* ---- what packets show ---- */

/* Settings are those that the packets have, and what memory they reach is told. */
static void settings_are_what_the_packets_have(void **state)
{
    static const struct {
        struct shown shown;
        const char *config, *memory;
    } rows[] = {
        { { .pages = 1 }, "TRCIDR8=0x0,TRCCONFIGR=0x1", "640 addresses in 1 MiB of memory" },
        { { .cycles = true, .pages = 2 },
          "TRCIDR8=0x0,TRCCONFIGR=0x11",
          "640 addresses in 2 MiB of memory" },
        { { .cids = true, .pages = 1 }, "TRCIDR8=0x0,TRCCONFIGR=0x41", "1 MiB of memory" },
        { { .vmids = true, .pages = 1 }, "TRCIDR8=0x0,TRCCONFIGR=0x81", "1 MiB of memory" },
        { { .times = true, .pages = 1 }, "TRCIDR8=0x0,TRCCONFIGR=0x801", "1 MiB of memory" },
        { { .depth = 5, .pages = 1 }, "TRCIDR8=0x5,TRCCONFIGR=0x1", "1 MiB of memory" },
        { { .cycles = true,
            .times = true,
            .cids = true,
            .vmids = true,
            .depth = 7,
            .pages = 3 },
          "TRCIDR8=0x7,TRCCONFIGR=0x8d1",
          "640 addresses in 3 MiB of memory" },
        { { .pages = 200 },
          "TRCIDR8=0x0,TRCCONFIGR=0x1",
          "640 addresses in 200 MiB of memory" },
        { { .pages = 300 },
          "TRCIDR8=0x0,TRCCONFIGR=0x1",
          "640 addresses in more than 257 MiB of memory" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_identified *found = identify_shown(&rows[i].shown);
        const struct tw_identity *about = tw_identified_about(found);

        check_case("row %zu", i);
        CHECK_TEXT(about->format, "trace");
        CHECK_EQ(about->framing, TW_FRAMING_NONE);
        CHECK_EQ(about->source_count, 1);
        CHECK_TEXT(about->sources[0].protocol, "etmv4");
        CHECK(strstr(about->sources[0].config, rows[i].config) != NULL);
        CHECK(strstr(evidence(found, "addresses in"), rows[i].memory) != NULL);
        CHECK_TEXT(evidence(found, "synchronization packets"),
                   "40 synchronization packets, 40 followed by the packet that belongs there");
        CHECK_TEXT(evidence(found, "these fit as well"), "");
        CHECK(!about->has_wrapped);
        tw_identified_free(found);
    }
}

enum { PACKETS = 300, OPEN_SIZE = 10 + 2 * PACKETS };

/* One E-Trace synchronization, then branches alone: many a width of fields explains them. */
static void fill_open(uint8_t bytes[OPEN_SIZE])
{
    static const uint8_t start[] = {
        0x41, 0x1f, 0x43, 0x93, 0x47, 0x42, 0x43, 0x99, 0x1d, 0x9e
    };

    memcpy(bytes, start, sizeof start);
    for (size_t i = 0; i < PACKETS; i++)
        memcpy(bytes + sizeof start + 2 * i, "\x41\x05", 2);
}

static void what_stays_open_is_named(void **state)
{
    uint8_t bytes[OPEN_SIZE];
    struct tw_identified *found;
    const struct tw_identity *about;

    (void)state;
    fill_open(bytes);
    found = identify(bytes, sizeof bytes);
    about = tw_identified_about(found);
    CHECK_EQ(about->source_count, 1);
    CHECK_TEXT(about->sources[0].protocol, "etrace");
    CHECK_TEXT(evidence(found, "these fit as well"),
               "these fit as well, and read other packets: iaddress_width_p=32, layout=seed, "
               "nocontext_p=1, context_width_p=8, privilege_width_p=3, iaddress_lsb_p=0, "
               "notime_p=0; the program tells them apart (--image)");
    CHECK(about->confidence < TW_IDENTITY_CERTAIN);
    tw_identified_free(found);
}

static void check_same(const struct tw_identity *got, const struct tw_identity *want)
{
    CHECK_TEXT(got->what, want->what);
    CHECK(got->confidence == want->confidence);
    CHECK_TEXT(got->command, want->command);
    CHECK_EQ(got->source_count, want->source_count);
    CHECK_TEXT(got->sources[0].config, want->sources[0].config);
    CHECK_EQ(got->evidence_count, want->evidence_count);
    for (size_t i = 0; i < got->evidence_count; i++)
        CHECK_TEXT(got->evidence[i], want->evidence[i]);
}

/* Without memory for once: an error, or the same answer. */
static void without_memory_nothing_is_left_out(void **state)
{
    uint8_t bytes[OPEN_SIZE];
    struct tw_identified *whole;
    enum tw_status status = TW_E_MEMORY;
    bool has_failed = true;

    (void)state;
    fill_open(bytes);
    whole = identify(bytes, sizeof bytes);
    for (size_t limit = 0; has_failed; limit++) {
        struct failing failing = { .left = limit, .is_once = true };
        const struct tw_allocator allocator = { failing_resize, &failing };
        const struct tw_identify_options options = { .size = sizeof options,
                                                     .allocator = &allocator };
        struct tw_identified *found = NULL;

        check_case("%zu requests", limit);
        status = tw_identify_bytes(&found, bytes, sizeof bytes, "x", &options, NULL);
        has_failed = failing.left == SIZE_MAX;
        CHECK(status == TW_OK || (status == TW_E_MEMORY && !found));
        if (found)
            check_same(tw_identified_about(found), tw_identified_about(whole));
        tw_identified_free(found);
        CHECK_EQ(failing.live, 0);
    }
    CHECK_EQ(status, TW_OK);
    tw_identified_free(whole);
}

/* What says itself what it is need not be opened: all of perf.data is its first bytes here, and it stays one. */
static void it_may_stay_outside(void **state)
{
    static const char path[] = "test_identify.perf.data";
    struct tw_identify_options options = { .size = sizeof options };
    FILE *file = fopen(path, "wb");

    (void)state;
    CHECK(file);
    CHECK_EQ(fwrite("PERFILE2", 1, 8, file), 8);
    CHECK_EQ(fclose(file), 0);
    for (unsigned stays = 0; stays < 2; stays++) {
        struct tw_identified *found;

        options.stays_outside = stays;
        CHECK_EQ(tw_identify(&found, path, &options, NULL), TW_OK);
        CHECK_TEXT(tw_identified_about(found)->format, "perf.data");
        CHECK_EQ(strstr(tw_identified_about(found)->what, "cannot be opened") == NULL, stays);
        CHECK_EQ(tw_identified_about(found)->command != NULL, stays);
        tw_identified_free(found);
        CHECK_EQ(tw_identify(&found, ".", &options, NULL), TW_OK);
        CHECK_TEXT(tw_identified_about(found)->format, "snapshot");
        CHECK_EQ(strstr(tw_identified_about(found)->what, "cannot be opened") == NULL, stays);
        tw_identified_free(found);
    }
    CHECK_EQ(remove(path), 0);
}

/* Flush markers between the bytes of a source are no bytes of it, nor of another: all of the file is explained. */
static void markers_are_nobodys(void **state)
{
    enum { PIECE = 24 };
    const struct shown shown = { .times = true, .pages = 1 };
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    double confidence[2];

    (void)state;
    for (unsigned is_marked = 0; is_marked < 2; is_marked++) {
        struct made made = made_new();
        struct tw_identified *found;
        struct tw_framer *framer;
        const uint8_t *bytes;
        size_t size;

        for (unsigned block = 0; block < BLOCKS; block++)
            put_block(&made, &shown, block);
        CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
        for (size_t at = 0; at < made.size; at += PIECE) {
            size = made.size - at < PIECE ? made.size - at : PIECE;
            CHECK_EQ(tw_framer_write(framer, 0x10, made.bytes + at, size), TW_OK);
            if (is_marked)
                CHECK_EQ(tw_framer_mark(framer, TW_ID_FLUSH, 0), TW_OK);
        }
        CHECK_EQ(tw_framer_finish(framer), TW_OK);
        bytes = tw_framer_output(framer, &size);
        found = identify(bytes, size);
        CHECK_EQ(tw_identified_about(found)->framing, TW_FRAMING_MEMORY);
        CHECK_EQ(tw_identified_about(found)->source_count, 1);
        CHECK_EQ(tw_identified_about(found)->sources[0].id, 0x10);
        confidence[is_marked] = tw_identified_about(found)->confidence;
        tw_identified_free(found);
        tw_framer_free(framer);
        made_free(&made);
    }
    CHECK(confidence[0] == confidence[1]);
}

/* ---- no trace ---- */

static void what_is_no_trace_is_named(void **state)
{
    enum { SIZE = 5000 };
    static const struct {
        uint8_t fill;
        bool is_other; /* at one place */
        size_t size;
        const char *what;
    } rows[] = {
        { 0, false, 0, "an empty file" },
        { 0x55, false, SIZE, "one byte over and over: an erased or unused buffer, no trace" },
        { 0, false, 64, "one byte over and over: an erased or unused buffer, no trace" },
        { 0xff, true, SIZE, NULL },
    };
    uint8_t bytes[SIZE];

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_identified *found;
        const char *what;

        check_case("row %zu", i);
        memset(bytes, rows[i].fill, sizeof bytes);
        bytes[SIZE - 1] ^= rows[i].is_other;
        found = identify(bytes, rows[i].size);
        what = tw_identified_about(found)->what;
        if (rows[i].what) {
            CHECK_TEXT(what, rows[i].what);
            CHECK_EQ(tw_identified_about(found)->source_count, 0);
        } else {
            CHECK(strstr(what, "over and over") == NULL);
        }
        tw_identified_free(found);
    }
}

/* ---- rings ---- */

/* The bytes from `middle` on come first. */
static void turn(uint8_t *bytes, size_t size, size_t middle)
{
    uint8_t *copy = check_copy(bytes, size);

    memcpy(bytes, copy + middle, size - middle);
    memcpy(bytes + size - middle, copy, middle);
    free(copy);
}

/* Blocks that all are as long. */
static struct made even_blocks(void)
{
    const struct shown shown = { .pages = 1 };
    struct made made = made_new();

    for (unsigned block = 1; block <= BLOCKS; block++)
        put_block(&made, &shown, block);
    return made;
}

/* Synchronization comes at even intervals: one damaged packet between two of them is no seam, even if the end of the
   file goes on at its beginning. */
static void damage_is_no_seam(void **state)
{
    struct made made = even_blocks();
    size_t at = made.size / 2 + 70; /* inside a block */
    struct tw_identified *found;

    (void)state;
    turn(made.bytes, made.size, 70);
    while (made.bytes[at] < 0xf8) /* up to the header of atoms */
        at++;
    made.bytes[at] = 0x93;
    found = identify(made.bytes, made.size);
    CHECK_TEXT(tw_identified_about(found)->sources[0].protocol, "etmv4");
    CHECK(strstr(evidence(found, "packets of etmv4"), ", 1 bad;") != NULL);
    CHECK(!tw_identified_about(found)->has_wrapped);
    tw_identified_free(found);
    made_free(&made);
}

/* Where an interval is cut short there is one, as exact as packets are long. */
static void a_ring_has_a_seam(void **state)
{
    enum { LOST = 50, EXACT = 4 };
    struct made made = even_blocks();
    const size_t size = made.size - LOST, seam = size / 2 + 33;
    struct tw_identified *found;
    uint64_t at;

    (void)state;
    turn(made.bytes, size, size - seam);
    found = identify(made.bytes, size);
    CHECK(tw_identified_about(found)->has_wrapped);
    at = tw_identified_about(found)->wrapped_at;
    CHECK(at + EXACT >= seam && at <= seam + EXACT);
    CHECK(strstr(tw_identified_about(found)->command, "--wrapped-at") != NULL);
    tw_identified_free(found);
    made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_what_the_packets_have),
        cmocka_unit_test(what_stays_open_is_named),
        cmocka_unit_test(without_memory_nothing_is_left_out),
        cmocka_unit_test(it_may_stay_outside),
        cmocka_unit_test(markers_are_nobodys),
        cmocka_unit_test(what_is_no_trace_is_named),
        cmocka_unit_test(damage_is_no_seam),
        cmocka_unit_test(a_ring_has_a_seam),
    };

    return cmocka_run_group_tests_name("identify", tests, NULL, NULL);
}
