/* SPDX-License-Identifier: BSD-2-Clause */
/* Every format, with each request for memory refused in turn: it says so, and gives back what it had;
   structs of older and newer callers; and the bytes of each, by any allocator the same. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/analysis.h>
#include <trackway/capture.h>
#include <trackway/formats.h>

#include "failing.h"

struct written {
    uint64_t hash, size;
};

/* What is written, and what of. */
struct work {
    struct tw_capture *capture;
    struct tw_run *run, *counted;
    struct tw_subject subject;
    struct written written;
    struct tw_timeline_writer *writer;
};

static bool add_bytes(void *context, const void *bytes, size_t size)
{
    struct work *work = context;

    for (size_t i = 0; i < size; i++)
        work->written.hash =
            (work->written.hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    work->written.size += size;
    return true;
}

static bool add_file(void *context, const char *name, const void *bytes, size_t size)
{
    (void)name;
    return add_bytes(context, bytes, size);
}

static void take_event(void *context, const struct tw_timeline_event *event)
{
    struct work *work = context;

    if (work->writer)
        tw_timeline_writer_take(work->writer, event);
}

/* A timeline is written while the capture is gone through. */
static enum tw_status write_timeline(struct work *work, const struct tw_format *format,
                                     struct tw_subject subject)
{
    const struct tw_timeline_config config = { .size = sizeof config,
                                               .event = take_event,
                                               .context = work };
    const struct tw_run_config run_config = { .size = sizeof run_config };
    struct tw_part part = { .size = sizeof part };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_timeline *timeline;
    struct tw_run *run;
    enum tw_status status;

    CHECK_EQ(tw_timeline_new(&timeline, &config, NULL), TW_OK);
    CHECK_EQ(tw_run_new(&run, work->capture, &run_config, NULL), TW_OK);
    subject.timeline = timeline;
    status = tw_timeline_writer_new(&work->writer, format, &subject, add_bytes, work, &fault);
    CHECK_EQ(fault.text[0] != 0, status != TW_OK);
    CHECK_EQ(work->writer != NULL, status == TW_OK);
    while (status == TW_OK && tw_run_next(run, &part) == TW_OK)
        status = tw_timeline_take(timeline, run, &part);
    if (status == TW_OK)
        status = tw_timeline_finish(timeline);
    if (status == TW_OK)
        status = tw_timeline_writer_end(work->writer);
    tw_timeline_writer_free(work->writer);
    work->writer = NULL;
    tw_timeline_free(timeline);
    tw_run_free(run);
    return status;
}

static enum tw_status write_format(struct work *work, const struct tw_format *format,
                                   const struct tw_allocator *allocator)
{
    struct tw_subject subject = work->subject;

    work->written = (struct written){ 0, 0 };
    subject.allocator = allocator;
    subject.write_file = add_file;
    subject.file_context = work;
    if (format->subjects & TW_SUBJECT_TIMELINE)
        return write_timeline(work, format, subject);
    return tw_format_write(format, &subject, add_bytes, work);
}

/* Names are the runs', which must outlive the results. */
static void take_all(struct work *work, struct tw_calls *calls, struct tw_profiler *profile,
                     struct tw_coverage *coverage)
{
    struct tw_run_config config = { .size = sizeof config };
    const struct tw_run_counter counter = tw_coverage_counter(coverage);
    struct tw_part part = { .size = sizeof part };

    CHECK_EQ(tw_run_new(&work->run, work->capture, &config, NULL), TW_OK);
    while (tw_run_next(work->run, &part) == TW_OK)
        CHECK_EQ(tw_profile_take(profile, work->run, &part), TW_OK);
    CHECK_EQ(tw_profile_finish(profile), TW_OK);
    config.counter = &counter;
    CHECK_EQ(tw_run_new(&work->counted, work->capture, &config, NULL), TW_OK);
    tw_coverage_run(coverage, work->counted);
    CHECK_EQ(tw_run_all(work->counted), TW_OK);
    CHECK_EQ(tw_coverage_finish(coverage), TW_OK);
    work->subject = (struct tw_subject){ .size = sizeof work->subject,
                                         .title = "demo",
                                         .with_stacks = true,
                                         .calls = calls,
                                         .profile = profile,
                                         .coverage = coverage };
}

static void check_memory(struct work *work, const struct tw_format *format)
{
    enum tw_status status = TW_E_MEMORY;
    struct written plain;
    size_t n;

    CHECK_CASE(format->name);
    CHECK_EQ(write_format(work, format, NULL), TW_OK);
    plain = work->written;
#ifdef TW_WITH_DW /* else no source lines are known, and a format of lines has nothing to say */
    CHECK(plain.size > 0);
#endif
    for (n = 0; status != TW_OK; n++) {
        struct failing failing = { .left = n, .is_once = true };
        const struct tw_allocator allocator = { failing_resize, &failing };

        check_case("%s, request %zu fails", format->name, n);
        status = write_format(work, format, &allocator);
        CHECK_EQ(status, failing.asked > n ? TW_E_MEMORY : TW_OK);
        CHECK_EQ(failing.live, 0);
    }
    CHECK(n > 1);
    CHECK_EQ(work->written.size, plain.size);
    CHECK_EQ(work->written.hash, plain.hash);
}

static void every_format_lives_without_memory(void **state)
{
    const struct tw_calls_config calls_config = { .size = sizeof calls_config };
    const struct tw_coverage_config coverage_config = { .size = sizeof coverage_config };
    struct tw_profile_config profile_config = { .size = sizeof profile_config };
    struct work work = { .writer = NULL };
    struct tw_calls *calls;
    struct tw_profiler *profile;
    struct tw_coverage *coverage;
    const struct tw_format *format;

    (void)state;
    CHECK_EQ(tw_capture_open(&work.capture, TW_SOURCE_DIR "/tests/captures/demo", NULL, NULL),
             TW_OK);
    CHECK_EQ(tw_calls_new(&calls, &calls_config, NULL), TW_OK);
    profile_config.calls = calls;
    CHECK_EQ(tw_profile_new(&profile, &profile_config, NULL), TW_OK);
    CHECK_EQ(tw_coverage_new(&coverage, &coverage_config, NULL), TW_OK);
    take_all(&work, calls, profile, coverage);
    for (size_t i = 0; (format = tw_format_get(i)) != NULL; i++)
        check_memory(&work, format);
    tw_coverage_free(coverage);
    tw_profile_free(profile);
    tw_calls_free(calls);
    tw_run_free(work.run);
    tw_run_free(work.counted);
    tw_capture_free(work.capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_lives_without_memory),
    };

    return cmocka_run_group_tests_name("export memory", tests, NULL, NULL);
}
