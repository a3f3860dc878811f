/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of results that are added to each other, saved and loaded. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trackway/analysis.h>
#include <trackway/merge.h>

#include "all_runs.h"
#include "analysis/builds.h"
#include "analysis/saved.h"
#include "failing.h"

static const struct tw_saved_kind kind = { "test", 3 };

static char path[64];

static int make_path(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/trackway-saved-%ld", (long)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    (void)remove(path);
    return 0;
}

/* ---- files ---- */

static void save_some(const char *text)
{
    struct tw_save save = { .allocator = NULL };

    tw_save_u64(&save, 0x0123456789abcdef);
    tw_save_text(&save, text);
    tw_save_text(&save, NULL);
    tw_save_bytes(&save, "xyz", 3);
    CHECK_EQ(tw_save_end(&save, &kind, path, NULL), TW_OK);
}

static void what_was_saved_is_loaded(void **state)
{
    struct tw_load load;
    bool is_there;
    char *text;

    (void)state;
    save_some("a name");
    CHECK_EQ(tw_load_begin(&load, &kind, path, NULL, NULL), TW_OK);
    CHECK_EQ(load.version, 3);
    CHECK_EQ(tw_load_u64(&load), 0x0123456789abcdef);
    text = tw_load_text(&load, &is_there);
    CHECK(is_there);
    CHECK_TEXT(text, "a name");
    free(text);
    CHECK(!tw_load_text(&load, &is_there) && !is_there);
    CHECK_BYTES(tw_load_bytes(&load, 3), 3, "xyz", 3);
    CHECK_EQ(tw_load_end(&load, path, NULL), TW_OK);
}

static void files_are_little_endian_and_say_what_they_are(void **state)
{
    static const uint8_t head[] = { 'T', 'W', 'R', 'E', 'S', 'U',  'L',  'T', 't',
                                    'e', 's', 't', 0,   0,   0,    0,    3,   0,
                                    0,   0,   0,   0,   0,   0,    28,   0,   0,
                                    0,   0,   0,   0,   0,   0xef, 0xcd, 0xab };
    size_t size;
    uint8_t *bytes;

    (void)state;
    save_some("x");
    bytes = check_load(&size, path);
    CHECK(bytes != NULL);
    CHECK_EQ(size, 32 + 28 + 8);
    CHECK_BYTES(bytes, sizeof head, head, sizeof head);
    free(bytes);
}

static enum tw_status load_bytes(const uint8_t *bytes, size_t size,
                                 const struct tw_saved_kind *as)
{
    uint8_t *copy = check_copy(bytes, size);
    struct tw_load load = { .allocator = NULL };
    enum tw_status status = tw_load_begin_bytes(&load, as, copy, size, NULL);

    free(copy);
    return status;
}

static void damage_is_seen_wherever_it_is(void **state)
{
    static const struct tw_saved_kind other = { "other", 3 }, older = { "test", 2 };
    size_t size;
    uint8_t *bytes;

    (void)state;
    save_some("some longer name");
    bytes = check_load(&size, path);
    CHECK(bytes != NULL);
    CHECK_EQ(load_bytes(bytes, size, &kind), TW_OK);
    CHECK_EQ(load_bytes(bytes, size, &other), TW_E_FILE);
    CHECK_EQ(load_bytes(bytes, size, &older), TW_E_UNSUPPORTED);
    for (size_t i = 0; i < size; i++) {
        check_case("cut at %zu", i);
        CHECK(load_bytes(bytes, i, &kind) < 0);
        check_case("byte %zu", i);
        bytes[i] ^= 0x10;
        CHECK(load_bytes(bytes, size, &kind) < 0);
        bytes[i] ^= 0x10;
    }
    free(bytes);
}

static void what_cannot_be_is_refused(void **state)
{
    static const uint64_t counts[] = { 3, UINT64_MAX, (uint64_t)1 << 61 };
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    CHECK_EQ(tw_load_begin(&(struct tw_load){ 0 }, &kind, "/nowhere/at/all", NULL, &fault),
             TW_E_FILE);
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct tw_save save = { .allocator = NULL };
        struct tw_load load;
        bool is_there;
        char *text;

        tw_save_u64(&save, counts[i]);
        tw_save_u64(&save, 5);
        CHECK_EQ(tw_save_end(&save, &kind, path, NULL), TW_OK);
        CHECK_EQ(tw_load_begin(&load, &kind, path, NULL, NULL), TW_OK);
        CHECK_EQ(tw_load_count(&load, 8), 0); /* room for one */
        CHECK(tw_load_end(&load, path, &fault) == TW_E_FILE);
        CHECK_EQ(tw_load_begin(&load, &kind, path, NULL, NULL), TW_OK);
        text = tw_load_text(&load, &is_there);
        CHECK(!text || counts[i] == 3);
        free(text);
        CHECK(tw_load_end(&load, path, &fault) == TW_E_FILE);
    }
    CHECK_EQ(tw_save_end(&(struct tw_save){ 0 }, &kind, "/nowhere/at/all", &fault), TW_E_FILE);
}

/* ---- analyses ---- */

static struct tw_capture *open_perf(const char *name)
{
    struct tw_capture_options options = { .size = sizeof options };
    char file[600], root[600];
    struct tw_capture *capture;

    check_corpus(file, sizeof file, name);
    check_corpus(root, sizeof root, "perf/root");
    options.sysroot = root;
    CHECK_EQ(tw_capture_open(&capture, file, &options, NULL), TW_OK);
    return capture;
}

static struct tw_autofdo *autofdo_of(struct tw_capture *capture)
{
    const struct tw_run_config config = { .size = sizeof config, .order = TW_ORDER_TIME };
    struct tw_part part = { .size = sizeof part };
    struct tw_autofdo *autofdo;
    struct tw_run *run;

    CHECK_EQ(tw_autofdo_new(&autofdo, capture, NULL, NULL), TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        CHECK_EQ(tw_autofdo_take(autofdo, &part), TW_OK);
    tw_run_free(run);
    return autofdo;
}

struct text {
    char *chars;
    size_t size;
};

static bool take_text(void *context, const char *chars, size_t size)
{
    struct text *text = context;

    text->chars = realloc(text->chars, text->size + size + 1);
    CHECK(text->chars != NULL);
    memcpy(text->chars + text->size, chars, size);
    text->size += size;
    text->chars[text->size] = 0;
    return true;
}

static char *text_of(struct tw_autofdo *autofdo)
{
    struct text text = { NULL, 0 };
    const size_t file = tw_autofdo_choose(autofdo, NULL);

    CHECK(file != SIZE_MAX);
    CHECK_EQ(tw_autofdo_write(autofdo, file, take_text, &text), TW_OK);
    return text.chars;
}

static void autofdo_is_a_sum(void **state)
{
    struct tw_capture *capture = open_perf("perf/p10-walk-percpu-etmv4-v1.perf.data");
    struct tw_autofdo *one = autofdo_of(capture), *other = autofdo_of(capture), *loaded, *sum;
    const struct tw_autofdo_pair *pairs, *sums;
    size_t count, sum_count;
    char *text, *again;

    (void)state;
    text = text_of(one);
    CHECK_EQ(tw_autofdo_save(one, path, NULL), TW_OK);
    CHECK_EQ(tw_autofdo_load(&loaded, path, NULL, NULL), TW_OK);
    tw_capture_free(capture); /* what is settled needs it no more */
    again = text_of(loaded);
    CHECK_TEXT(again, text);
    free(again);

    CHECK_EQ(tw_autofdo_new(&sum, NULL, NULL, NULL), TW_OK);
    CHECK_EQ(tw_autofdo_add(sum, loaded), TW_OK);
    again = text_of(sum);
    CHECK_TEXT(again, text);
    CHECK_EQ(tw_autofdo_add(sum, loaded), TW_OK);
    CHECK_EQ(tw_autofdo_add(sum, sum), TW_E_ARGUMENT);
    CHECK_EQ(tw_autofdo_pairs(loaded, &pairs, &count, tw_autofdo_choose(loaded, NULL)), TW_OK);
    CHECK_EQ(tw_autofdo_pairs(sum, &sums, &sum_count, tw_autofdo_choose(sum, NULL)), TW_OK);
    CHECK_EQ(sum_count, count);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(sums[i].from, pairs[i].from);
        CHECK_EQ(sums[i].to, pairs[i].to);
        CHECK_EQ(sums[i].is_branch, pairs[i].is_branch);
        CHECK_EQ(sums[i].count, 2 * pairs[i].count);
    }
    free(again);
    free(text);
    tw_autofdo_free(one);
    tw_autofdo_free(other);
    tw_autofdo_free(loaded);
    tw_autofdo_free(sum);
}

/* Saved twice and merged: what adding makes, with an allocator of its own; and what is told of its files. */
static void autofdo_is_merged_from_files(void **state)
{
    struct failing failing = { .left = SIZE_MAX };
    const struct tw_allocator allocator = { failing_resize, &failing };
    struct tw_capture *capture = open_perf("perf/p10-walk-percpu-etmv4-v1.perf.data");
    struct tw_autofdo *one = autofdo_of(capture), *merged;
    struct tw_autofdo_file file = { .size = sizeof file }, sum = { .size = sizeof sum };
    const char *const paths[] = { path, path };
    uint64_t ranges = 0;

    (void)state;
    CHECK_EQ(tw_autofdo_save(one, path, NULL), TW_OK);
    CHECK_EQ(tw_merge(path, paths, LENGTH(paths), &allocator, NULL), TW_OK);
    CHECK_EQ(tw_autofdo_load(&merged, path, &allocator, NULL), TW_OK);
    CHECK(failing.live > 0);
    for (size_t i = 0; tw_autofdo_file(one, &file, i); i++) {
        CHECK(tw_autofdo_file(merged, &sum, i));
        CHECK_TEXT(sum.name, file.name);
        CHECK_BYTES(sum.build_id, sum.build_id_size, file.build_id, file.build_id_size);
        CHECK_EQ(sum.ranges, 2 * file.ranges);
        ranges += file.ranges;
    }
    CHECK(ranges > 0);
    CHECK(!tw_autofdo_file(one, &file, SIZE_MAX));
    tw_autofdo_free(one);
    tw_autofdo_free(merged);
    tw_capture_free(capture);
    CHECK_EQ(failing.live, 0);
}

static struct tw_statistics *statistics_of(struct tw_capture *capture,
                                           const struct tw_filter *filter, bool is_beside)
{
    struct tw_run_config config = { .size = sizeof config, .filter = filter };
    struct tw_statistics *statistics;
    struct tw_run *elements, *packets;

    CHECK_EQ(tw_statistics_new(&statistics, capture, NULL, NULL), TW_OK);
    config.packets_only = true;
    CHECK_EQ(tw_run_new(&packets, capture, &config, NULL), TW_OK);
    config.packets_only = false;
    config.counter = tw_statistics_counter(statistics);
    CHECK_EQ(tw_run_new(&elements, capture, &config, NULL), TW_OK);
    tw_statistics_begin_packets(statistics, packets, is_beside);
    CHECK_EQ(tw_run_all(elements), TW_OK);
    CHECK_EQ(tw_statistics_end_packets(statistics), TW_OK);
    tw_run_free(elements);
    tw_run_free(packets);
    return statistics;
}

/* Numbers that can be added; times and syncs are asked for where the whole is compared. */
static void check_sums(struct tw_statistics *got, struct tw_statistics *want, bool is_whole)
{
    struct tw_source_statistics a = { .size = sizeof a }, b = { .size = sizeof b };
    size_t i;

    for (i = 0; tw_statistics_source(want, &b, i); i++) {
        CHECK(tw_statistics_source(got, &a, i));
        CHECK_TEXT(a.buffer, b.buffer);
        CHECK_TEXT(a.protocol, b.protocol);
        CHECK_EQ(a.id, b.id);
        CHECK_EQ(a.packets, b.packets);
        CHECK_EQ(a.bytes, b.bytes);
        CHECK_EQ(a.syncs, b.syncs);
        CHECK_EQ(a.first_sync, b.first_sync);
        CHECK_EQ(a.last_sync, b.last_sync);
        CHECK_EQ(a.instructions, b.instructions);
        CHECK_EQ(a.exceptions, b.exceptions);
        CHECK_EQ(a.missing, b.missing);
        CHECK_EQ(a.overflows, b.overflows);
        CHECK_EQ(a.cycles, b.cycles);
        CHECK_EQ(a.timestamps, b.timestamps);
        CHECK_EQ(a.first_time, b.first_time);
        CHECK_EQ(a.last_time, b.last_time);
        CHECK_EQ(a.type_count, b.type_count);
        for (size_t k = 0; k < b.type_count; k++) {
            CHECK_TEXT(a.types[k].name, b.types[k].name);
            CHECK_EQ(a.types[k].packets, b.types[k].packets);
            CHECK_EQ(a.types[k].bytes, b.types[k].bytes);
        }
        if (is_whole) {
            CHECK_EQ(a.sync_least, b.sync_least);
            CHECK_EQ(a.sync_most, b.sync_most);
        }
    }
    CHECK(i > 0 && !tw_statistics_source(got, &a, i));
}

static void statistics_are_a_sum(void **state)
{
    enum { HALF = 1424 }; /* of the capture's bytes */
    const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    struct tw_filter filter = { .size = sizeof filter, .has_to = true, .to = HALF };
    struct tw_statistics *all, *beside, *first, *last, *loaded;
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    all = statistics_of(capture, NULL, false);
    beside = statistics_of(capture, NULL, true);
    check_sums(beside, all, true);
    first = statistics_of(capture, &filter, false);
    filter = (struct tw_filter){ .size = sizeof filter, .has_from = true, .from = HALF };
    last = statistics_of(capture, &filter, false);
    CHECK_EQ(tw_statistics_save(last, path, NULL), TW_OK);
    CHECK_EQ(tw_statistics_load(&loaded, path, NULL, NULL), TW_OK);
    check_sums(loaded, last, true);
    CHECK_EQ(tw_statistics_add(loaded, first), TW_OK); /* in any order */
    check_sums(loaded, all, false);
    CHECK_EQ(tw_statistics_add(first, last), TW_OK);
    check_sums(first, all, false);
    CHECK_EQ(tw_statistics_add(first, first), TW_E_ARGUMENT);
    tw_statistics_free(all);
    tw_statistics_free(beside);
    tw_statistics_free(first);
    tw_statistics_free(last);
    tw_statistics_free(loaded);
    tw_capture_free(capture);
}

static void memory_may_run_out_at_any_time(void **state)
{
    const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    struct tw_statistics *all;
    struct tw_capture *capture;
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    all = statistics_of(capture, NULL, false);
    CHECK_EQ(tw_statistics_save(all, path, NULL), TW_OK);
    for (size_t limit = 0; status != TW_OK; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_statistics *loaded;

        check_case("%zu requests", limit);
        status = tw_statistics_load(&loaded, path, &allocator, NULL);
        CHECK(status == TW_OK || !loaded);
        tw_statistics_free(loaded);
        CHECK_EQ(failing.live, 0);
    }
    tw_statistics_free(all);
    tw_capture_free(capture);
}

static const char *file_of(const void *context, size_t number)
{
    (void)number;
    return context;
}

/* Files are kept once each, in the order of their names, however they come. */
static void builds_are_in_order(void **state)
{
    enum { FILES = 40 };
    struct check_random random = check_random_start(0x62756c64);
    struct tw_builds builds = { .allocator = NULL };
    bool is_noted[FILES] = { false };

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        const unsigned number = (unsigned)check_random_below(&random, FILES);
        char name[40];
        size_t at = 0;

        check_case("note %u: file %u", i, number);
        (void)snprintf(name, sizeof name, "/nowhere/file%02u", number);
        CHECK(tw_builds_note(&builds, NULL, file_of, name, 1 + i % 2));
        is_noted[number] = true;
        for (unsigned k = 0; k < FILES; k++) {
            if (!is_noted[k])
                continue;
            (void)snprintf(name, sizeof name, "/nowhere/file%02u", k);
            CHECK(at < builds.count);
            CHECK_TEXT(builds.items[at++].file, name);
        }
        CHECK_EQ(at, builds.count);
    }
    tw_builds_release(&builds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_is_loaded),
        cmocka_unit_test(files_are_little_endian_and_say_what_they_are),
        cmocka_unit_test(damage_is_seen_wherever_it_is),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(autofdo_is_a_sum),
        cmocka_unit_test(autofdo_is_merged_from_files),
        cmocka_unit_test(statistics_are_a_sum),
        cmocka_unit_test(builds_are_in_order),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests_name("analysis: saved", tests, make_path, remove_path);
}
