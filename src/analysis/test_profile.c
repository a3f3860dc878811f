/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles: both ways to count say the same, what is saved is all that was known, and want of memory
   is told. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trackway/analysis.h>

#include "all_runs.h"
#include "analysis/profile.h"
#include "failing.h"

static const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
static const enum tw_profile_by kinds[] = { TW_PROFILE_FUNCTION, TW_PROFILE_LINE,
                                            TW_PROFILE_ADDRESS,  TW_PROFILE_THREAD,
                                            TW_PROFILE_PROGRAM,  TW_PROFILE_SOURCE };

/* A profile of the whole capture, counted on the threads that decode, or part by part. */
static enum tw_status make(struct tw_profiler **profile, struct tw_run **run,
                           struct tw_capture *capture, enum tw_profile_by by, bool by_parts,
                           const struct tw_allocator *allocator)
{
    const struct tw_profile_config config = { .size = sizeof config,
                                              .by = by,
                                              .allocator = allocator };
    struct tw_run_config run_config = { .size = sizeof run_config };
    struct tw_part part = { .size = sizeof part };
    struct tw_run_counter counter;
    enum tw_status status = tw_profile_new(profile, &config, NULL);

    *run = NULL;
    if (status != TW_OK)
        return status;
    counter = tw_profile_counter(*profile);
    if (!by_parts)
        run_config.counter = &counter;
    CHECK_EQ(tw_run_new(run, capture, &run_config, NULL), TW_OK);
    if (by_parts) {
        while (status == TW_OK && tw_run_next(*run, &part) == TW_OK)
            status = tw_profile_take(*profile, *run, &part);
    } else {
        tw_profile_run(*profile, *run);
        CHECK_EQ(tw_run_all(*run), TW_OK);
    }
    return status == TW_OK ? tw_profile_finish(*profile) : status;
}

static void check_same(const char *got, const char *want)
{
    CHECK_TEXT(got ? got : "(none)", want ? want : "(none)");
}

static void check_rows(const struct tw_profiler *got, const struct tw_profiler *want)
{
    size_t count = 0;

    for (; tw_profile_row(want, count); count++) {
        const struct tw_profile_row *a = tw_profile_row(got, count);
        const struct tw_profile_row *b = tw_profile_row(want, count);

        assert_non_null(a);
        check_same(a->name, b->name);
        check_same(a->object, b->object);
        check_same(a->file, b->file);
        CHECK_EQ(a->line, b->line);
        CHECK_EQ(a->address, b->address);
        CHECK_EQ(a->self, b->self);
        CHECK_EQ(a->entries, b->entries);
    }
    CHECK(!tw_profile_row(got, count));
    CHECK(count > 0);
}

static void check_branches(const struct tw_profiler *got, const struct tw_profiler *want)
{
    const struct tw_profile_branch *branch;
    const struct tw_profile_target *target;
    size_t count = 0;

    for (; (branch = tw_profile_branch(want, count)) != NULL; count++) {
        const struct tw_profile_branch *other = tw_profile_branch(got, count);

        assert_non_null(other);
        CHECK_EQ(other->address, branch->address);
        CHECK_EQ(other->taken, branch->taken);
        CHECK_EQ(other->not_taken, branch->not_taken);
    }
    CHECK(!tw_profile_branch(got, count));
    for (count = 0; (target = tw_profile_target(want, count)) != NULL; count++) {
        const struct tw_profile_target *other = tw_profile_target(got, count);

        assert_non_null(other);
        CHECK_EQ(other->from, target->from);
        CHECK_EQ(other->to, target->to);
        CHECK_EQ(other->count, target->count);
        CHECK_EQ(other->is_call, target->is_call);
    }
    CHECK(!tw_profile_target(got, count));
}

static void check_totals(const struct tw_profiler *got, const struct tw_profiler *want)
{
    struct tw_profile_totals a = { .size = sizeof a }, b = { .size = sizeof b };

    CHECK(tw_profile_totals(got, &a) && tw_profile_totals(want, &b));
    CHECK_EQ(a.instructions, b.instructions);
    CHECK_EQ(a.unknown, b.unknown);
    CHECK_EQ(a.untraced, b.untraced);
    CHECK_EQ(a.missing, b.missing);
    CHECK_EQ(a.cycles, b.cycles);
    CHECK_EQ(a.time, b.time);
    CHECK_EQ(a.lost_cycles, b.lost_cycles);
    CHECK_EQ(a.lost_time, b.lost_time);
    CHECK_EQ(a.clock, b.clock);
    CHECK_EQ(a.has_cycles, b.has_cycles);
    CHECK_EQ(a.has_time, b.has_time);
}

static void both_ways_say_the_same(void **state)
{
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct tw_profiler *one, *other;
        struct tw_run *runs[2];

        check_case("rows of kind %zu", i);
        CHECK_EQ(make(&one, &runs[0], capture, kinds[i], false, NULL), TW_OK);
        CHECK_EQ(make(&other, &runs[1], capture, kinds[i], true, NULL), TW_OK);
        check_rows(one, other);
        check_totals(one, other);
        if (kinds[i] == TW_PROFILE_LINE || kinds[i] == TW_PROFILE_ADDRESS) {
            CHECK(tw_profile_branch(one, 0));
            check_branches(one, other);
        }
        tw_profile_free(one);
        tw_profile_free(other);
        tw_run_free(runs[0]);
        tw_run_free(runs[1]);
    }
    tw_capture_free(capture);
}

/* Whatever is known: all of it comes back. */
static void what_is_saved_comes_back(void **state)
{
    char path[] = "/tmp/trackway-profile-XXXXXX";
    const int file = mkstemp(path);
    struct tw_capture *capture;
    struct tw_profiler *profile, *loaded;
    struct tw_run *run;

    (void)state;
    CHECK(file >= 0);
    (void)close(file);
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    CHECK_EQ(make(&profile, &run, capture, TW_PROFILE_ADDRESS, false, NULL), TW_OK);
    for (unsigned bits = 0; bits < 16; bits++) {
        check_case("what is known: %u", bits);
        profile->totals.has_cycles = bits & 1;
        profile->totals.has_time = bits >> 1 & 1;
        profile->totals.clock = (uint8_t)(bits >> 2);
        profile->totals.cycles = 1000 + bits;
        profile->totals.time = 2000 + bits;
        profile->totals.lost_cycles = 30 + bits;
        profile->totals.lost_time = 40 + bits;
        CHECK_EQ(tw_profile_save(profile, path, NULL), TW_OK);
        CHECK_EQ(tw_profile_load(&loaded, path, NULL, NULL), TW_OK);
        CHECK_EQ(tw_profile_what(loaded), TW_PROFILE_ADDRESS);
        check_totals(loaded, profile);
        check_rows(loaded, profile);
        check_branches(loaded, profile);
        tw_profile_free(loaded);
    }
    tw_profile_free(profile);
    tw_run_free(run);
    tw_capture_free(capture);
    CHECK_EQ(remove(path), 0);
}

/* Whichever request fails: it is said, or all is there. */
static void want_of_memory_is_told(void **state)
{
    struct failing counting = { .left = SIZE_MAX };
    const struct tw_allocator all = { failing_resize, &counting };
    struct tw_capture *capture;
    struct tw_profiler *want;
    struct tw_run *run;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    CHECK_EQ(make(&want, &run, capture, TW_PROFILE_ADDRESS, true, &all), TW_OK);
    for (size_t n = 0; n < counting.asked; n++)
        for (unsigned once = 0; once < 2; once++) {
            struct failing failing = { .left = n, .is_once = once };
            const struct tw_allocator allocator = { failing_resize, &failing };
            struct tw_profiler *profile;
            struct tw_run *other;
            enum tw_status status;

            check_case("request %zu fails%s", n, once ? " alone" : "");
            status = make(&profile, &other, capture, TW_PROFILE_ADDRESS, true, &allocator);
            CHECK(status == TW_OK || status == TW_E_MEMORY);
            if (status == TW_OK) {
                check_rows(profile, want);
                check_branches(profile, want);
            }
            tw_profile_free(profile);
            tw_run_free(other);
            CHECK_EQ(failing.live, 0);
        }
    tw_profile_free(want);
    tw_run_free(run);
    CHECK_EQ(counting.live, 0);
    tw_capture_free(capture);
}

/* Targets of many indirect branches: all of them, or it is said that there is no memory. */
static void targets_are_all_there(void **state)
{
    enum { TARGETS = 100 };

    (void)state;
    for (size_t n = 0; n < 60; n++) {
        struct failing failing = { .left = SIZE_MAX };
        const struct tw_allocator allocator = { failing_resize, &failing };
        const struct tw_profile_config config = { .size = sizeof config,
                                                  .by = TW_PROFILE_ADDRESS,
                                                  .allocator = &allocator };
        const struct tw_counted_file like = { .name = "/bin/program" };
        struct tw_profiler *profile;
        struct tw_counted_file *file;
        enum tw_status status;

        check_case("%zu requests", n);
        CHECK_EQ(tw_profile_new(&profile, &config, NULL), TW_OK);
        file = tw_counted_code_file(&profile->code, &like);
        assert_non_null(file);
        for (unsigned i = 0; i < TARGETS; i++) {
            const struct tw_edge_count edge = { .from = 0x1000 + 4 * (TARGETS - i),
                                                .to = 0x8000 + 16 * i,
                                                .kind =
                                                    i % 2 ? TW_EDGE_CALL : TW_EDGE_INDIRECT };

            tw_range_counts_edge(&file->counts, &edge)->count = i + 1;
        }
        failing.left = n;
        status = tw_profile_finish(profile);
        CHECK(status == TW_OK || status == TW_E_MEMORY);
        for (unsigned i = 0; status == TW_OK && i < TARGETS; i++) {
            const struct tw_profile_target *target = tw_profile_target(profile, i);
            const unsigned number = TARGETS - 1 - i; /* by address */

            assert_non_null(target);
            CHECK_EQ(target->from, 0x1000 + 4 * (i + 1));
            CHECK_EQ(target->to, 0x8000 + 16 * number);
            CHECK_EQ(target->count, number + 1);
            CHECK_EQ(target->is_call, number % 2);
        }
        CHECK(status != TW_OK || !tw_profile_target(profile, TARGETS));
        CHECK(n < 59 || status == TW_OK);
        tw_profile_free(profile);
        CHECK_EQ(failing.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_say_the_same),
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(want_of_memory_is_told),
        cmocka_unit_test(targets_are_all_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
