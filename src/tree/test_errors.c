/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the error log and of the statistics of a source. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "failing.h"

static struct tw_error entry(unsigned severity, uint64_t index, const char *text)
{
    struct tw_error error = { .index = index, .severity = (uint8_t)severity, .id = 0x10 };

    (void)snprintf(error.text, sizeof error.text, "%s", text);
    return error;
}

/* [CSD 2.3.3.4/2] */
static void entries_are_lines(void **state)
{
    static const struct {
        const char *name;
        struct tw_error error;
        const char *want;
    } cases[] = {
        { "capture.bin",
          { 0x1a2c, 31, TW_OK, 1, 1, 0x10, "reserved header 0x20", false },
          "capture.bin+0x1a2c id 0x10: reserved header 0x20; skipped 31 bytes to the next "
          "sync" },
        { NULL,
          { 5, 1, TW_OK, 1, 1, 0x02, "x", false },
          "0x5 id 0x02: x; skipped 1 byte to the next sync" },
        { NULL,
          { 5, 1, TW_OK, 1, 1, 0x02, "x", true },
          "0x5 id 0x02: x; skipped 1 byte, resumed at the next byte" },
        { NULL,
          { TW_NO_INDEX, 0, TW_E_MEMORY, 1, 0, TW_ID_UNKNOWN, "no memory", false },
          "no memory" },
        { "a", { TW_NO_INDEX, 0, TW_OK, 3, 0, 0x13, "7 bytes", false }, "a id 0x13: 7 bytes" },
        { "a", { TW_NO_INDEX, 0, TW_OK, 3, 0, TW_ID_UNKNOWN, "b", false }, "a: b" },
    };
    char line[200], tight[10];

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        check_case("line %zu", i);
        CHECK_EQ(tw_error_text(line, sizeof line, &cases[i].error, cases[i].name),
                 strlen(cases[i].want));
        CHECK_TEXT(line, cases[i].want);
        CHECK(tw_error_text(tight, sizeof tight, &cases[i].error, cases[i].name) <
              sizeof tight);
    }
    CHECK_TEXT(tw_severity_name(TW_SEVERITY_WARNING), "warning");
    CHECK_TEXT(tw_severity_name(77), "unknown");
}

static void count_call(void *context, const struct tw_error *error)
{
    unsigned *calls = context;

    CHECK_EQ(error->index, *calls);
    ++*calls;
}

/* [CSD 2.3.3.4/1] */
static void each_sink_gets_its_share(void **state)
{
    FILE *file = tmpfile();
    unsigned calls = 0;
    struct tw_errors_config config = { .size = sizeof config,
                                       .keeps_all = true,
                                       .most = 3,
                                       .file = file,
                                       .name = "cap",
                                       .on_error = count_call,
                                       .on_error_context = &calls };
    char written[300] = "";
    struct tw_errors *errors;

    (void)state;
    assert_non_null(file);
    CHECK_EQ(tw_errors_new(&errors, &config, NULL), TW_OK);
    CHECK(!tw_errors_last(errors));
    for (unsigned i = 0; i < 5; i++) {
        const struct tw_error error = entry(1 + i % 3, i, "what");

        tw_errors_add(errors, &error);
        CHECK_EQ(tw_errors_last(errors)->index, i);
    }
    CHECK_EQ(calls, 5);
    CHECK_EQ(tw_errors_kept(errors), 3);
    CHECK_EQ(tw_errors_get(errors, 2)->index, 2);
    CHECK(!tw_errors_get(errors, 3));
    CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_DEFAULT), 5);
    CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_ERROR), 2);
    CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_INFO), 1);
    rewind(file);
    CHECK_EQ(fread(written, 1, sizeof written - 1, file),
             5 * strlen("cap+0x0 id 0x10: what\n"));
    CHECK(strncmp(written, "cap+0x0 id 0x10: what\ncap+0x1 id", 30) == 0);
    tw_errors_clear(errors);
    CHECK(!tw_errors_last(errors) && tw_errors_kept(errors) == 0);
    tw_errors_free(errors);
    tw_errors_free(NULL);
    (void)fclose(file);
    config.size = 1;
    CHECK_EQ(tw_errors_new(&errors, &config, NULL), TW_E_ARGUMENT);
}

static void want_of_memory_only_loses_entries(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 6; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        const struct tw_errors_config config = {
            .size = sizeof config, .keeps_all = true, .name = "n", .allocator = &allocator
        };
        const struct tw_error error = entry(1, 2, "x");
        struct tw_errors *errors;

        check_case("%zu requests", limit);
        if (tw_errors_new(&errors, &config, NULL) == TW_OK) {
            CHECK(limit >= 2);
            for (unsigned i = 0; i < 100; i++)
                tw_errors_add(errors, &error);
            CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_ERROR), 100);
            (void)tw_errors_set_name(errors, "other");
        } else {
            CHECK(!errors && limit < 2);
        }
        tw_errors_free(errors);
        CHECK_EQ(failing.live, 0);
    }
}

/* Frames of an ITM stream of ID 1 and of bytes of ID 2, which has no decoder. */
static size_t make_frames(uint8_t *out, size_t room)
{
    static const uint8_t itm[] = { 0,   0, 0, 0, 0, 0x80, 0x01, 'a',  0x04, 0x04, 0x01,
                                   'b', 0, 0, 0, 0, 0,    0x80, 0x70, 0x01, 'c',  0x9d };
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_framer *framer;
    const uint8_t *frames;
    size_t size;

    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 1, itm, sizeof itm), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 2, itm, 5), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    CHECK(size + 3 <= room);
    memcpy(out, frames, size);
    memset(out + size, 0x11, 3); /* of one more frame */
    tw_framer_free(framer);
    return size + 3;
}

static struct tw_tree *run(struct tw_errors *errors, bool packets_only, unsigned verbosity)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY,
                                           .packets_only = packets_only,
                                           .counts_elements = true,
                                           .errors = errors,
                                           .verbosity = (uint8_t)verbosity };
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "itm", .id = 1 };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    uint8_t frames[200];
    const size_t size = make_frames(frames, sizeof frames);

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, frames, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    if (packets_only)
        while (tw_tree_next_packet(tree, &view) == TW_OK)
            ;
    else
        while (tw_tree_next(tree, &batch) == TW_OK)
            ;
    return tree;
}

/* [CSD 2.1.2/3] [CSD 2.3.3.4/3] */
static void a_tree_tells_what_is_amiss(void **state)
{
    static const struct {
        bool packets_only;
        unsigned verbosity, errors, warnings, infos;
    } cases[] = {
        { false, TW_SEVERITY_ERROR, 2, 0, 0 }, { false, TW_SEVERITY_DEFAULT, 2, 1, 0 },
        { false, TW_SEVERITY_INFO, 2, 1, 1 },  { true, TW_SEVERITY_ERROR, 2, 0, 0 },
        { true, TW_SEVERITY_INFO, 2, 1, 1 },
    };
    const struct tw_errors_config config = { .size = sizeof config, .keeps_all = true };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct tw_source_stats *stats;
        struct tw_errors *errors;
        struct tw_tree *tree;

        check_case("case %zu", i);
        CHECK_EQ(tw_errors_new(&errors, &config, NULL), TW_OK);
        tree = run(errors, cases[i].packets_only, cases[i].verbosity);
        for (size_t n = 0; n < tw_errors_kept(errors); n++)
            print_message("  %s\n", tw_errors_get(errors, n)->text);
        CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_ERROR), cases[i].errors);
        CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_WARNING), cases[i].warnings);
        CHECK_EQ(tw_errors_count(errors, TW_SEVERITY_INFO), cases[i].infos);
        CHECK_EQ(tw_tree_frame_stats(tree)->bytes_by_id[2], 5);
        CHECK(!tw_tree_source_stats(tree, 2));
        stats = tw_tree_source_stats(tree, 1);
        CHECK_EQ(stats->bytes, 22);
        CHECK_EQ(stats->losses, cases[i].packets_only ? 2 : 1); /* a cut end is one */
        if (cases[i].packets_only) {
            CHECK_EQ(stats->packet_types[TW_ITM_PACKET_SWIT], 2);
            CHECK_EQ(stats->packet_types[TW_ITM_PACKET_OVERFLOW], 1);
            CHECK_EQ(stats->syncs, 2);
            CHECK_EQ(stats->bad_packets, 2);
        }
        tw_tree_free(tree);
        tw_errors_free(errors);
    }
}

static bool is_of_no_decoder(const struct tw_error *error)
{
    return error->code == TW_ERROR_UNSUPPORTED && strstr(error->text, "no decoder");
}

/* Bytes of sources that nobody described are told of each; those of IDs that are none are not. */
static void bytes_without_a_decoder_are_told(void **state)
{
    const struct tw_errors_config errors_config = { .size = sizeof errors_config,
                                                    .keeps_all = true };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "itm",
                                           .id = 0x20 };
    struct tw_tree_config config = { .size = sizeof config,
                                     .framing = TW_FRAMING_MEMORY,
                                     .verbosity = TW_SEVERITY_INFO };
    struct tw_batch batch = { .size = sizeof batch };
    uint8_t frames[0x80][16] = { { 0 } };
    struct tw_tree *tree;
    size_t kept = 0;

    (void)state;
    for (unsigned id = 0; id < 0x80; id++) /* 14 bytes of each */
        frames[id][0] = (uint8_t)(id << 1 | 1);
    CHECK_EQ(tw_errors_new(&config.errors, &errors_config, NULL), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, frames[0], sizeof frames), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK) {
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    for (unsigned id = 1; id < 0x70; id++) {
        if (id == source.id)
            continue;
        check_case("ID 0x%x", id);
        while (kept < tw_errors_kept(config.errors) &&
               !is_of_no_decoder(tw_errors_get(config.errors, kept)))
            kept++;
        CHECK(kept < tw_errors_kept(config.errors));
        CHECK_EQ(tw_errors_get(config.errors, kept)->id, id);
        CHECK_TEXT(tw_errors_get(config.errors, kept)->text,
                   "14 bytes skipped: no decoder for this ID");
        kept++;
    }
    for (; kept < tw_errors_kept(config.errors); kept++)
        CHECK(!is_of_no_decoder(tw_errors_get(config.errors, kept)));
    tw_tree_free(tree);
    tw_errors_free(config.errors);
}

/* Frames of an ID, behind a barrier or not; what is told of another one's bytes that are missing. */
static uint64_t skipped_of(struct tw_tree *tree, uint8_t id, bool has_barrier)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    const uint8_t zeros[40] = { 0 };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_framer *framer;
    uint64_t skipped = UINT64_MAX;
    const uint8_t *frames;
    size_t size;

    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    if (has_barrier)
        CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    CHECK_EQ(tw_framer_write(framer, id, zeros, sizeof zeros), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    CHECK_EQ(tw_tree_feed(tree, frames, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type == TW_ELEMENT_ERROR &&
                batch.elements[i].error == TW_ERROR_DISCONTINUITY)
                skipped = batch.elements[i].skipped;
    tw_framer_free(framer);
    return skipped;
}

/* After a reset a stream begins anew: none of its bytes are missing that were there before. */
static void a_reset_forgets_how_far_a_stream_went(void **state)
{
    static const struct tw_register registers[] = {
        { "TRCIDR0", 0x28000ea1 }, { "TRCIDR1", 0x4100f403 }, { "TRCIDR2", 0x488 },
        { "TRCCONFIGR", 0xc1 },    { "TRCTRACEIDR", 0x10 },   { "TRCIDR8", 0 },
    };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "etmv4",
                                           .registers = registers,
                                           .register_count = LENGTH(registers) };
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    (void)skipped_of(tree, 0x10, false);
    tw_tree_reset(tree, 0);
    CHECK_EQ(skipped_of(tree, 0x11, true), 0);
    tw_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_lines),
        cmocka_unit_test(each_sink_gets_its_share),
        cmocka_unit_test(want_of_memory_only_loses_entries),
        cmocka_unit_test(bytes_without_a_decoder_are_told),
        cmocka_unit_test(a_tree_tells_what_is_amiss),
        cmocka_unit_test(a_reset_forgets_how_far_a_stream_went),
    };

    return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
