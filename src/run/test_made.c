/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of runs of captures that are made here: whose packets are, what filters leave, what is done where nothing is
   wanted, nothing is indexed, or memory runs out. */
#include "run/test.h"

#include <stdio.h>

#include <trackway/experimental.h>

#include "failing.h"
#include "run/run.h"

static const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
static const char made[] = "test_run_made.bin";
static const char made_index[] = "test_run_made.twx";

/* A raw file of one source. */
static struct tw_capture *open_made(const uint8_t *bytes, size_t size, enum tw_framing framing,
                                    const struct tw_capture_source_option *source)
{
    const struct tw_capture_options options = { .size = sizeof options,
                                                .has_framing = true,
                                                .framing = framing,
                                                .sources = source,
                                                .source_count = 1 };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_capture *capture;
    enum tw_status status;
    FILE *file = fopen(made, "wb");

    assert_non_null(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
    status = tw_capture_open(&capture, made, &options, &fault);
    CHECK_TEXT(fault.text, "");
    CHECK_EQ(status, TW_OK);
    return capture;
}

static void close_made(struct tw_capture *capture)
{
    tw_capture_free(capture);
    (void)remove(made);
}

/* ---- whose ---- */

/* The data trace of an ETMv4 unit has the ID behind its own. */
static void a_second_stream_is_its_units(void **state)
{
    static const struct tw_capture_source_option source = {
        .id = 0x10,
        .protocol = "etmv4",
        .config = "TRCCONFIGR=0x30003,TRCIDR0=0x28000ebd,TRCIDR1=0x4100f403,TRCIDR2=0x488"
    };
    static const uint8_t flow[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 4, 0xf7 };
    static const uint8_t data[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3 };
    const struct tw_framer_config frames = { .size = sizeof frames,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_run_config config = { .size = sizeof config, .packets_only = true };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_part part = { .size = sizeof part };
    size_t size, packets[2] = { 0 };
    struct tw_capture *capture;
    struct tw_framer *framer;
    struct tw_run *run;
    const uint8_t *bytes;

    (void)state;
    CHECK_EQ(tw_framer_new(&framer, &frames, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0x10, flow, sizeof flow), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 0x11, data, sizeof data), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    bytes = tw_framer_output(framer, &size);
    capture = open_made(bytes, size, TW_FRAMING_MEMORY, &source);
    tw_framer_free(framer);
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next_packet(run, &part, &view) == TW_OK) {
        if (part.kind != TW_PART_ELEMENTS)
            continue;
        check_case("ID 0x%x", part.batch.id);
        CHECK(part.batch.id == 0x10 || part.batch.id == 0x11);
        CHECK_EQ(part.source_number, 0);
        CHECK(part.source == tw_capture_source(capture, 0));
        packets[part.batch.id & 1]++;
    }
    CHECK(packets[0] > 3 && packets[1] > 1);
    tw_run_free(run);
    close_made(capture);
}

/* SRC of N-Trace stands beside the ID, not for it. */
static void harts_of_ntrace_are_no_ids(void **state)
{
    static const struct tw_capture_source_option source = { .protocol = "ntrace",
                                                            .config = "src_bits=6" };
    /* ProgTraceSync: TCODE, SRC, SYNC and I-CNT, F-ADDR. */
    static const uint8_t bytes[] = { 0x24, 1 << 2, 0x15, 0x43, 0x24, 3 << 2, 0x15, 0x43 };
    const struct tw_run_config config = { .size = sizeof config };
    struct tw_part part = { .size = sizeof part };
    struct tw_capture *capture;
    struct tw_run *run;
    uint32_t seen = 0;

    (void)state;
    capture = open_made(bytes, sizeof bytes, TW_FRAMING_NONE, &source);
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK) {
        if (part.kind != TW_PART_ELEMENTS)
            continue;
        CHECK(!part.batch.src_is_id);
        seen |= part.batch.src < 32 ? 1u << part.batch.src : 0;
    }
    CHECK_EQ(seen, 1u << 1 | 1u << 3);
    tw_run_free(run);
    close_made(capture);
}

/* Captures that begin alike are told apart by their sizes, be it by one byte. */
static void captures_are_told_apart_by_their_sizes(void **state)
{
    enum { SIZE = 5000, SIZES = 6 };
    static const struct tw_capture_source_option source = { .protocol = "ntrace" };
    static const uint8_t bytes[SIZE + SIZES];
    const struct tw_run_config config = { .size = sizeof config };
    uint64_t seen[SIZES];

    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        struct tw_capture *capture = open_made(bytes, SIZE + i, TW_FRAMING_NONE, &source);
        struct tw_run_stretch stretch;
        struct tw_run *run;

        check_case("%zu bytes", SIZE + i);
        CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
        tw_run_stretch(run, &stretch);
        CHECK(stretch.is_first && stretch.is_last);
        seen[i] = stretch.capture;
        for (size_t k = 0; k < i; k++)
            CHECK(seen[k] != seen[i]);
        tw_run_free(run);
        close_made(capture);
    }
}

/* ---- files of perf.data ---- */

/* The file that code is from, and where it lies in it, which goes up with the address. */
static void check_objects(struct tw_capture *capture, size_t *found)
{
    enum { MOST = 200 };
    const struct tw_run_config config = { .size = sizeof config };
    struct tw_part part = { .size = sizeof part };
    size_t asked = 0;
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (asked < MOST && tw_run_next(run, &part) == TW_OK)
        for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++) {
            const struct tw_element *range = &part.batch.elements[i];
            uint64_t first = UINT64_MAX, second = UINT64_MAX;
            const char *name;

            if (range->type != TW_ELEMENT_INSTR_RANGE || asked++ > MOST)
                continue;
            name = tw_run_object(run, &first, &part, range->start);
            if (!name)
                continue;
            CHECK(first != UINT64_MAX);
            CHECK_TEXT(tw_run_object(run, NULL, &part, range->start), name);
            CHECK_TEXT(tw_run_object(run, &second, &part, range->start + range->length - 1),
                       name);
            CHECK_EQ(second - first, range->length - 1);
            ++*found;
        }
    tw_run_free(run);
}

static void code_lies_at_an_offset_of_its_file(void **state)
{
    struct runs runs = runs_find();
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < runs.count && found < 1000; i++) {
        struct tw_capture *capture;

        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        check_case("%s", runs.runs[i].path);
        if (tw_capture_perf(capture))
            check_objects(capture, &found);
        tw_capture_free(capture);
    }
    free(runs.runs);
    if (!runs.is_corpus) {
        print_message("skipped: no perf.data without the corpus\n");
        skip();
    }
    CHECK(found > 0);
}

/* ---- filters ---- */

static void threads_are_wanted_by_any_of_their_names(void **state)
{
    static const char *const names[] = { "first", "second" };
    static const struct {
        const char *name;
        size_t count;
        bool is_wanted;
    } rows[] = { { "first", 2, true },   { "second", 2, true }, { "third", 2, false },
                 { "second", 1, false }, { "", 2, false },      { "third", 0, true } };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct tw_who who = { .comm = rows[i].name };
        struct tw_run run = { .filter.has_who = true };

        check_case("row %zu", i);
        run.filter.about.comms = names;
        run.filter.about.comm_count = rows[i].count;
        CHECK_EQ(tw_filter_has_who(&run, &who), rows[i].is_wanted);
    }
}

/* Stretches of a batch that holds a loop: what stands behind the REPEAT is not lost. */
static void what_follows_a_loop_is_left(void **state)
{
    static const struct {
        uint64_t from, to; /* instructions */
        size_t counts[4];  /* of the stretches */
        uint64_t starts[4];
    } rows[] = {
        { 0, 100, { 1, 2, 2 }, { 0x1000, 0x2000, 0x3000 } },
        { 5, 100, { 2, 2 }, { 0x2000, 0x3000 } },
        { 2 + 15, 100, { 2 }, { 0x3000 } },
        { 0, 2, { 1 }, { 0x1000 } },
        { 0, 2 + 15, { 1, 2 }, { 0x1000, 0x2000 } },
        { 2 + 15 + 4, 100, { 1 }, { 0x4000 } },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_element elements[] = {
            { .type = TW_ELEMENT_INSTR_RANGE, .start = 0x1000, .count = 2, .length = 8 },
            { .type = TW_ELEMENT_INSTR_RANGE, .start = 0x2000, .count = 3, .length = 12 },
            { .type = TW_ELEMENT_REPEAT, .count = 1, .times = 4 },
            { .type = TW_ELEMENT_INSTR_RANGE, .start = 0x3000, .count = 4, .length = 16 },
            { .type = TW_ELEMENT_INSTR_RANGE, .start = 0x4000, .count = 5, .length = 20 },
        };
        const struct tw_part part = { .batch = { .elements = elements,
                                                 .count = LENGTH(elements) } };
        struct tw_run run = { .filter = { .has_count = true, .has_element = true } };
        size_t first = 0, next = 0, count, stretch = 0;

        run.filter.about.has_from_instruction = run.filter.about.has_to_instruction = true;
        run.filter.about.from_instruction = rows[i].from;
        run.filter.about.to_instruction = rows[i].to;
        while ((count = tw_filter_cut(&run, &part, &first, &next)) != 0) {
            check_case("row %zu, stretch %zu", i, stretch);
            CHECK(stretch < LENGTH(rows[i].counts));
            CHECK_EQ(count, rows[i].counts[stretch]);
            CHECK_EQ(elements[first].start, rows[i].starts[stretch]);
            stretch++;
        }
        check_case("row %zu", i);
        CHECK(stretch == LENGTH(rows[i].counts) || rows[i].counts[stretch] == 0);
    }
}

/* A buffer without any source that is wanted is named, and passed over, in either order. */
static void a_buffer_of_nobody_is_nothing(void **state)
{
    const struct tw_filter filter = { .size = sizeof filter, .has_ids = true, .ids = { 1 } };
    struct tw_run_config config = { .size = sizeof config, .filter = &filter };
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (unsigned is_timed = 0; is_timed < 2; is_timed++) {
        struct records records;

        check_case("order %u", is_timed);
        config.order = is_timed ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
        records = record_all(capture, &config, NULL);
        CHECK_EQ(records.count, 0);
        CHECK_EQ(records.events[TW_PART_NOTHING], 1);
        CHECK_EQ(records.events[TW_PART_BEGIN], 0);
        free(records.items);
    }
    tw_capture_free(capture);
}

/* ---- indexes ---- */

/* One with less in it than each entry is made again where entries are needed; it stays as it is in its file. */
static void an_index_that_is_needed_has_all_entries(void **state)
{
    static const enum tw_index_detail details[] = { TW_INDEX_SOURCE, TW_INDEX_SPARSE,
                                                    TW_INDEX_FULL };
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (size_t i = 0; i < LENGTH(details); i++) {
        const struct tw_run_config config = { .size = sizeof config, .index = made_index };
        const struct tw_index_config about = { .size = sizeof about,
                                               .detail = details[i],
                                               .name = tw_capture_buffer(capture, 0)->name };
        const struct tw_index_capture *of;
        const struct tw_index *found, *needed;
        struct tw_index *index;
        struct tw_run *run;

        check_case("detail %u", (unsigned)details[i]);
        CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
        CHECK(!tw_run_index(run, 0, true));
        needed = tw_run_index_need(run, 0, true);
        CHECK(needed && tw_index_about(needed)->detail == TW_INDEX_FULL &&
              tw_index_about(needed)->is_complete);
        CHECK_EQ(tw_run_index_capture(run, &of, 0), TW_OK);
        CHECK_EQ(tw_index_build(&index, of, &about, NULL), TW_OK);
        CHECK_EQ(tw_index_write(made_index, (const struct tw_index *const[]){ index }, 1, NULL),
                 TW_OK);
        tw_index_free(index);
        tw_run_free(run);

        CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
        found = tw_run_index(run, 0, true);
        CHECK(found && tw_index_about(found)->detail == details[i]);
        needed = tw_run_index_need(run, 0, true);
        CHECK(needed && tw_index_about(needed)->detail == TW_INDEX_FULL);
        CHECK_EQ(needed == found, details[i] == TW_INDEX_FULL);
        tw_run_free(run);
        (void)remove(made_index);
    }
    tw_capture_free(capture);
}

/* ---- memory ---- */

/* Elements that a run gives before memory is out, or the trace. */
static enum tw_status count_elements(struct tw_capture *capture, enum tw_order order,
                                     struct failing *failing, size_t *count)
{
    const struct tw_allocator allocator = { failing_resize, failing };
    const struct tw_run_config config = { .size = sizeof config,
                                          .order = order,
                                          .allocator = &allocator };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    enum tw_status status = tw_run_new(&run, capture, &config, NULL);

    *count = 0;
    while (status == TW_OK && (status = tw_run_next(run, &part)) == TW_OK)
        *count += part.kind == TW_PART_ELEMENTS ? part.batch.count : 0;
    tw_run_free(run);
    CHECK_EQ(failing->live, 0);
    return status;
}

/* Whichever request fails, in either order: an error, or all of it. */
static void without_memory_nothing_is_left_out(void **state)
{
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (unsigned order = 0; order < 2; order++) {
        struct failing failing = { .left = SIZE_MAX };
        const enum tw_order by = order ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
        size_t all, count;

        CHECK_EQ(count_elements(capture, by, &failing, &all), TW_END);
        CHECK(all > 100 && failing.asked > 5);
        for (size_t limit = 0, most = failing.asked; limit < most; limit++) {
            enum tw_status status;

            check_case("order %u, %zu requests", order, limit);
            failing = (struct failing){ .left = limit };
            status = count_elements(capture, by, &failing, &count);
            CHECK(status == TW_E_MEMORY || status == TW_END);
            if (status == TW_END)
                CHECK_EQ(count, all);
        }
    }
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_stream_is_its_units),
        cmocka_unit_test(harts_of_ntrace_are_no_ids),
        cmocka_unit_test(captures_are_told_apart_by_their_sizes),
        cmocka_unit_test(code_lies_at_an_offset_of_its_file),
        cmocka_unit_test(threads_are_wanted_by_any_of_their_names),
        cmocka_unit_test(what_follows_a_loop_is_left),
        cmocka_unit_test(a_buffer_of_nobody_is_nothing),
        cmocka_unit_test(an_index_that_is_needed_has_all_entries),
        cmocka_unit_test(without_memory_nothing_is_left_out),
    };

    return cmocka_run_group_tests_name("runs of made captures", tests, NULL, NULL);
}
