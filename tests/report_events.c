/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of a timeline as spans and marks: what has no time, is too much, belongs to no stream, or finds no memory. */
#include "check.h"

#include "analysis/timeline.h"
#include "failing.h"
#include "report/report.h"

struct subject {
    struct tw_report *report;
    struct tw_timeline_stream *stream;
    uint32_t track, gaps; /* of a thread's functions, of what is missing */
};

static struct tw_times at(uint64_t time)
{
    return (struct tw_times){ time, time, time };
}

static void make(struct subject *subject, const struct tw_allocator *allocator)
{
    const struct tw_report_config config = { .size = sizeof config, .allocator = allocator };

    subject->stream = calloc(1, sizeof *subject->stream);
    assert_non_null(subject->stream);
    CHECK_EQ(tw_report_new(&subject->report, &config, NULL), TW_OK);
    subject->track = tw_timeline_what_track(subject->report->timeline, subject->stream,
                                            TW_TRACK_THREAD, 0, 0);
    subject->gaps =
        tw_timeline_what_track(subject->report->timeline, subject->stream, TW_TRACK_GAPS, 0, 0);
    CHECK(subject->gaps != TW_NONE);
}

static void release(struct subject *subject)
{
    tw_report_free(subject->report);
    free(subject->stream);
}

/* A call that returns. */
static void call(const struct subject *subject, struct tw_times from, struct tw_times to,
                 uint64_t instructions)
{
    const struct tw_timeline_event begin = { .times = from,
                                             .track = subject->track,
                                             .kind = TW_TIMELINE_BEGIN,
                                             .span = TW_SPAN_FUNCTION,
                                             .how = TW_CALL_CALL };
    struct tw_timeline_event end = begin;

    end.times = to;
    end.kind = TW_TIMELINE_END;
    end.how = TW_LEAVE_RETURN;
    end.instructions = instructions;
    end.begin = &begin;
    tw_report_take_event(subject->report, &begin);
    tw_report_take_event(subject->report, &end);
}

static void calls_have_their_least_and_most(void **state)
{
    struct subject subject;
    const struct tw_report_calls *calls;
    const struct tw_report_span *span;

    (void)state;
    make(&subject, NULL);
    call(&subject, at(100), at(110), 4);
    call(&subject, at(200), at(250), 9);
    call(&subject, at(300), at(330), 2);
    calls = &subject.report->spans.functions[0];
    CHECK_EQ(calls->whole, 3);
    CHECK_EQ(calls->least, 2);
    CHECK_EQ(calls->most, 9);
    CHECK_EQ(calls->least_time, 10);
    CHECK_EQ(calls->most_time, 50);
    CHECK_EQ(calls->sum_time, 90);
    CHECK_EQ(subject.report->spans.count, 3);
    span = &subject.report->spans.spans[1];
    CHECK_EQ(span->start, 200);
    CHECK_EQ(span->length, 50);
    CHECK_EQ(span->n, 9);
    release(&subject);
}

static void intervals_are_told_as_far_as_they_are_known(void **state)
{
    static const struct {
        const char *name;
        struct tw_times from, to;
        uint32_t before, after;
    } rows[] = {
        { "both", { 90, 105, 100 }, { 195, 230, 200 }, 10, 30 },
        { "no low end", { TW_TIME_UNKNOWN, 105, 100 }, { 195, 230, 200 }, 0, 30 },
        { "no high end", { 90, 105, 100 }, { 195, TW_TIME_UNKNOWN, 200 }, 10, 0 },
        { "backwards", { 120, 125, 100 }, { 195, 180, 200 }, 0, 0 },
        { "wide", { 90, 105, 100 }, { 195, (uint64_t)1 << 40, 200 }, 10, UINT32_MAX },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct subject subject;

        CHECK_CASE(rows[i].name);
        make(&subject, NULL);
        call(&subject, rows[i].from, rows[i].to, 1);
        CHECK_EQ(subject.report->spans.count, 1);
        CHECK_EQ(subject.report->spans.spans[0].before, rows[i].before);
        CHECK_EQ(subject.report->spans.spans[0].after, rows[i].after);
        release(&subject);
    }
}

static void what_has_no_time_is_counted_and_not_shown(void **state)
{
    struct subject subject;

    (void)state;
    make(&subject, NULL);
    call(&subject, at(TW_TIME_UNKNOWN), at(10), 1);
    call(&subject, at(10), at(TW_TIME_UNKNOWN), 1);
    CHECK_EQ(subject.report->spans.untimed, 2);
    CHECK_EQ(subject.report->spans.count, 0);
    CHECK_EQ(subject.report->spans.functions[0].whole, 0);
    release(&subject);
}

static void a_gap_has_the_bytes_that_either_end_tells_and_who_ran(void **state)
{
    static const uint64_t bytes[][2] = { { 7, 0 }, { 0, 9 } };

    (void)state;
    for (size_t i = 0; i < LENGTH(bytes); i++) {
        struct subject subject;
        struct tw_timeline_event begin = { .times = at(50),
                                           .kind = TW_TIMELINE_BEGIN,
                                           .span = TW_SPAN_GAP,
                                           .how = TW_GAP_OVERFLOW,
                                           .value = bytes[i][0] },
                                 end;
        const struct tw_report_span *span;

        make(&subject, NULL);
        begin.track = subject.gaps;
        end = begin;
        end.kind = TW_TIMELINE_END;
        end.times = at(60);
        end.value = bytes[i][1];
        end.begin = &begin;
        tw_report_take_event(subject.report, &begin);
        tw_report_take_event(subject.report, &end);
        CHECK_EQ(subject.report->spans.count, 1);
        span = &subject.report->spans.spans[0];
        CHECK_EQ(span->kind, TW_SPAN_GAP);
        CHECK_EQ(span->value, bytes[i][0] + bytes[i][1]);
        CHECK_EQ(span->running, 0); /* nothing was entered before */
        release(&subject);
    }
}

static struct tw_timeline_event mark_of(const struct subject *subject, uint64_t time)
{
    return (struct tw_timeline_event){ .times = at(time),
                                       .track = subject->track,
                                       .kind = TW_TIMELINE_MARK,
                                       .text = "ab",
                                       .text_size = 2 };
}

static void marks_stay_below_their_bound(void **state)
{
    struct subject subject;
    struct tw_timeline_event mark;

    (void)state;
    make(&subject, NULL);
    subject.report->spans.mark_most = 3;
    for (uint64_t i = 0; i < 5; i++) {
        mark = mark_of(&subject, 10 * i);
        tw_report_take_event(subject.report, &mark);
    }
    mark = mark_of(&subject, TW_TIME_UNKNOWN);
    tw_report_take_event(subject.report, &mark);
    CHECK_EQ(subject.report->spans.mark_count, 3);
    CHECK_EQ(subject.report->spans.marks_left, 3);
    CHECK_EQ(subject.report->spans.untimed, 1);
    CHECK_EQ(subject.report->spans.marks[2].time, 20);
    CHECK_EQ(subject.report->spans.marks[0].text, subject.report->spans.marks[2].text);
    release(&subject);
}

static void streams_need_no_number_and_tracks_do(void **state)
{
    struct subject subject;
    struct tw_timeline_event mark;

    (void)state;
    make(&subject, NULL);
    subject.stream->number = TW_NONE;
    subject.track =
        tw_timeline_what_track(subject.report->timeline, subject.stream, TW_TRACK_THREAD, 0, 1);
    mark = mark_of(&subject, 10);
    tw_report_take_event(subject.report, &mark);
    CHECK_EQ(subject.report->spans.mark_count, 1);
    CHECK_EQ(subject.report->spans.stream_count, 0);
    CHECK_EQ(subject.report->spans.no_stream.last, 1);
    mark.track = 1000;
    tw_report_take_event(subject.report, &mark);
    CHECK_EQ(subject.report->spans.mark_count, 1);
    release(&subject);
}

/* Wherever memory is out, the report says so in the end, and not before it is. */
static void no_memory_is_noticed_at_every_request(void **state)
{
    bool is_whole = false;

    (void)state;
    for (size_t number = 0; !is_whole; number++) {
        struct failing failing = { .left = SIZE_MAX };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct subject subject;
        struct tw_timeline_event mark;
        size_t before;

        make(&subject, &allocator);
        before = failing.asked;
        failing.left = number;
        call(&subject, at(100), at(110), 4);
        mark = mark_of(&subject, 120);
        tw_report_take_event(subject.report, &mark);
        is_whole = failing.asked - before <= number;
        CHECK_EQ(subject.report->spans.is_out || subject.report->tables.is_out ||
                     subject.report->tables.texts.failed,
                 !is_whole);
        release(&subject);
        CHECK_EQ(failing.live, 0);
        assert_true(number < 100);
    }
}

static bool refuse_at(void *context, const void *bytes, size_t size)
{
    size_t *left = context;

    (void)bytes, (void)size;
    return (*left)-- != 0;
}

static void who_wants_no_more_gets_no_more(void **state)
{
    (void)state;
    for (size_t number = 0; number < 4; number++) {
        size_t left = number;
        struct subject subject;

        make(&subject, NULL);
        call(&subject, at(100), at(110), 4);
        CHECK_EQ(tw_report_write(subject.report, refuse_at, &left),
                 number < 3 ? TW_E_CANCELLED : TW_OK);
        release(&subject);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_their_least_and_most),
        cmocka_unit_test(intervals_are_told_as_far_as_they_are_known),
        cmocka_unit_test(what_has_no_time_is_counted_and_not_shown),
        cmocka_unit_test(a_gap_has_the_bytes_that_either_end_tells_and_who_ran),
        cmocka_unit_test(marks_stay_below_their_bound),
        cmocka_unit_test(streams_need_no_number_and_tracks_do),
        cmocka_unit_test(no_memory_is_noticed_at_every_request),
        cmocka_unit_test(who_wants_no_more_gets_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
