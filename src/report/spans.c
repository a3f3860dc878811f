/* SPDX-License-Identifier: BSD-2-Clause */
/* See spans.h. */
#include "report/spans.h"

#include "base/memory.h"
#include "report/report.h"

void tw_report_spans_init(struct tw_report_spans *spans, const struct tw_allocator *allocator,
                          uint64_t room)
{
    *spans = (struct tw_report_spans){ .allocator = allocator, .last.allocator = allocator };
    /* about 24 bytes of a span are left in the columns */
    spans->most = room / 2 / 24 > 1000 ? (size_t)(room / 2 / 24) : 1000;
    spans->mark_most = room / 8 / 24 > 1000 ? (size_t)(room / 8 / 24) : 1000;
}

void tw_report_spans_free(struct tw_report_spans *spans)
{
    tw_give(spans->allocator, spans->spans);
    tw_give(spans->allocator, spans->marks);
    tw_give(spans->allocator, spans->functions);
    tw_give(spans->allocator, spans->streams);
    tw_map_free(&spans->last);
}

/* ---- merging ---- */

/* A merged span is named after its longest part. */
static void merge_span(struct tw_report_span *into, const struct tw_report_span *next)
{
    const uint64_t end = next->start + next->length;

    if (next->length > into->length && next->count >= into->count)
        into->name = next->name;
    if (end > into->start + into->length)
        into->length = end - into->start;
    into->n += next->n;
    into->value += next->value;
    into->count =
        into->count > UINT32_MAX - next->count ? UINT32_MAX : into->count + next->count;
    into->after = next->after;
}

/* What may be merged: gaps only with those of the same reason. */
static uint64_t merge_key(const struct tw_report_span *span)
{
    const uint64_t reason = span->kind == TW_SPAN_GAP ? span->how + 1u : 0;

    return reason << 56 | (uint64_t)span->track << 16 | span->depth;
}

/* Where the number of the span is that others of its key are merged with; NULL: no memory.  Most are of the few
   that were asked for last. */
static uint64_t *last_of(struct tw_report_spans *spans, uint64_t key)
{
    struct tw_report_recent *recent = &spans->recent[(key ^ key >> 16) % TW_REPORT_RECENT];
    const uint64_t *known;
    uint64_t *kept;

    if (recent->key == key && recent->number)
        return &recent->number;
    if (recent->number) {
        kept = tw_map_put(&spans->last, recent->key);
        if (!kept) {
            spans->is_out = true;
            return NULL;
        }
        *kept = recent->number;
    }
    known = tw_map_find(&spans->last, key);
    *recent = (struct tw_report_recent){ key, known ? *known : 0 };
    return &recent->number;
}

/* Spans of one track and depth come in the order of their times.  A merged one grows until it is `least`
   long; so of each track and depth there are at most two for each stretch of `least`. */
static void put_span(struct tw_report_spans *spans, const struct tw_report_span *span)
{
    uint64_t *last;

    if (span->length < spans->least) {
        last = last_of(spans, merge_key(span));
        if (!last)
            return;
        if (*last) {
            struct tw_report_span *into = &spans->spans[*last - 1];
            const uint64_t end = into->start + into->length;

            if (into->length < spans->least && span->start >= into->start &&
                (span->start <= end || span->start - end < spans->least) &&
                span->kind == into->kind) {
                merge_span(into, span);
                return;
            }
        }
        *last = spans->count + 1;
    }
    spans->spans[spans->count++] = *span;
}

static void merge_all(struct tw_report_spans *spans)
{
    const size_t count = spans->count;

    spans->least = spans->least ? 2 * spans->least : 1;
    tw_map_clear(&spans->last);
    for (size_t i = 0; i < TW_REPORT_RECENT; i++)
        spans->recent[i] = (struct tw_report_recent){ .number = 0 };
    spans->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tw_report_span span = spans->spans[i];

        put_span(spans, &span);
    }
}

void tw_report_spans_add(struct tw_report_spans *spans, const struct tw_report_span *span)
{
    while (spans->count >= spans->most && spans->least < UINT64_MAX / 4)
        merge_all(spans);
    if (spans->count >= spans->most) { /* times that go backwards cannot be merged */
        spans->spans_left++;
        return;
    }
    if (spans->count == spans->room &&
        !TW_GROW(spans->allocator, &spans->spans, &spans->room, spans->count + 1)) {
        spans->is_out = true;
        return;
    }
    put_span(spans, span);
}

/* ---- bytes over time ---- */

static void fold_buckets(struct tw_report_spans *spans)
{
    for (size_t i = 0; i < TW_REPORT_BUCKETS / 2; i++)
        spans->bytes[i] = spans->bytes[2 * i] + spans->bytes[2 * i + 1];
    for (size_t i = TW_REPORT_BUCKETS / 2; i < TW_REPORT_BUCKETS; i++)
        spans->bytes[i] = 0;
    spans->bucket_bits++;
}

enum { NEAR_BYTES = 1 << 16 };

/* The bytes between two events of a stream are spread over the time between them. */
static void spread_bytes(struct tw_report_spans *spans, uint64_t size, uint64_t from,
                         uint64_t to)
{
    const uint64_t first = from >> spans->bucket_bits,
                   count = (to >> spans->bucket_bits) - first + 1;

    if (count == 1) { /* most of them */
        spans->bytes[first] += size;
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        spans->bytes[first + i] += size / count + (i < size % count);
}

/* NULL: no memory. */
static struct tw_report_stream *stream_of(struct tw_report_spans *spans, uint32_t number)
{
    if (number < spans->stream_count)
        return &spans->streams[number];
    if (number == TW_NONE)
        return &spans->no_stream;
    if (!TW_GROW(spans->allocator, &spans->streams, &spans->stream_room, (size_t)number + 1)) {
        spans->is_out = true;
        return NULL;
    }
    while (spans->stream_count <= number)
        spans->streams[spans->stream_count++] = (struct tw_report_stream){ .last = 0 };
    return &spans->streams[number];
}

static void count_bytes(struct tw_report_spans *spans, struct tw_report_stream *stream,
                        uint64_t index, uint64_t time)
{
    uint64_t now;

    if (!spans->has_first)
        spans->first = time;
    spans->has_first = true;
    now = time > spans->first ? time - spans->first : 0;
    while (now >> spans->bucket_bits >= TW_REPORT_BUCKETS)
        fold_buckets(spans);
    /* tracks of a stream are a little out of order; further back: another buffer begins */
    if (index + 1 < stream->last && stream->last - index < NEAR_BYTES)
        return;
    if (stream->last && index + 1 > stream->last)
        spread_bytes(spans, index + 1 - stream->last,
                     stream->last_time < now ? stream->last_time : now, now);
    stream->last = index + 1;
    stream->last_time = now;
}

/* ---- events ---- */

static struct tw_report_calls *calls_of(struct tw_report_spans *spans, uint32_t function)
{
    const size_t before = spans->function_room;

    if (function >= before) {
        if (!TW_GROW(spans->allocator, &spans->functions, &spans->function_room,
                     (size_t)function + 1)) {
            spans->is_out = true;
            return NULL;
        }
        for (size_t i = before; i < spans->function_room; i++)
            spans->functions[i] =
                (struct tw_report_calls){ .least = UINT64_MAX, .least_time = UINT64_MAX };
    }
    return &spans->functions[function];
}

static bool is_whole(const struct tw_timeline_event *begin, const struct tw_timeline_event *end)
{
    return (begin->how == TW_CALL_CALL || begin->how == TW_CALL_TAIL ||
            begin->how == TW_CALL_EXCEPTION || begin->how == TW_CALL_SIGNAL) &&
           (end->how == TW_LEAVE_RETURN || end->how == TW_LEAVE_TAIL);
}

static void count_call(struct tw_report_calls *calls, const struct tw_report_span *span)
{
    calls->whole++;
    calls->least = span->n < calls->least ? span->n : calls->least;
    calls->most = span->n > calls->most ? span->n : calls->most;
    calls->least_time = span->length < calls->least_time ? span->length : calls->least_time;
    calls->most_time = span->length > calls->most_time ? span->length : calls->most_time;
    calls->sum_time += span->length;
}

static uint32_t distance(uint64_t from, uint64_t to)
{
    return from == TW_TIME_UNKNOWN || to == TW_TIME_UNKNOWN || to < from ? 0
           : to - from > UINT32_MAX                                      ? UINT32_MAX
                                    : (uint32_t)(to - from);
}

static uint32_t span_name(struct tw_report *report, const struct tw_timeline_event *event,
                          struct tw_report_calls *calls)
{
    if (calls && calls->name)
        return calls->name - 1;
    else {
        const uint32_t name =
            tw_report_name(report, tw_timeline_span_name(report->timeline, event));

        if (calls)
            calls->name = name + 1;
        return name;
    }
}

static void take_end(struct tw_report *report, const struct tw_timeline_event *end,
                     uint32_t running)
{
    struct tw_report_spans *spans = &report->spans;
    const struct tw_timeline_event *begin = end->begin;
    struct tw_report_calls *calls =
        begin->span == TW_SPAN_FUNCTION ? calls_of(spans, begin->what) : NULL;
    struct tw_report_span span = { .start = begin->times.estimate,
                                   .index = begin->index,
                                   .count = 1,
                                   .track = end->track,
                                   .kind = begin->span,
                                   .how = begin->how,
                                   .left = end->how };

    if (begin->times.estimate == TW_TIME_UNKNOWN || end->times.estimate == TW_TIME_UNKNOWN) {
        spans->untimed++;
        return;
    }
    if (end->times.estimate > span.start)
        span.length = end->times.estimate - span.start;
    if (end->instructions > begin->instructions)
        span.n = end->instructions - begin->instructions;
    span.depth = (uint16_t)(begin->depth < UINT16_MAX ? begin->depth : UINT16_MAX);
    span.before = distance(begin->times.low, begin->times.estimate);
    span.after = distance(end->times.estimate, end->times.high);
    span.name = span_name(report, begin, calls);
    if (calls && is_whole(begin, end))
        count_call(calls, &span);
    if (begin->span == TW_SPAN_GAP) {
        span.value = begin->value > end->value ? begin->value : end->value;
        span.running = running;
    }
    tw_report_spans_add(spans, &span);
}

static void take_mark(struct tw_report *report, const struct tw_timeline_event *event)
{
    struct tw_report_spans *spans = &report->spans;

    if (event->times.estimate == TW_TIME_UNKNOWN)
        spans->untimed++;
    if (spans->mark_count >= spans->mark_most) {
        spans->marks_left++;
        return;
    }
    if (!TW_GROW(spans->allocator, &spans->marks, &spans->mark_room, spans->mark_count + 1)) {
        spans->is_out = true;
        return;
    }
    spans->marks[spans->mark_count++] = (struct tw_report_mark){
        .time = event->times.estimate,
        .index = event->index,
        .value = event->value,
        .address = event->address,
        .track = event->track,
        .text = event->text
                    ? tw_tables_text_size(&report->tables, event->text, event->text_size)
                    : 0,
        .value_size = event->value_size,
        .has_address = event->has_address,
    };
}

void tw_report_take_event(struct tw_report *report, const struct tw_timeline_event *event)
{
    const struct tw_track *track = tw_timeline_track(report->timeline, event->track);
    struct tw_report_spans *spans = &report->spans;
    struct tw_report_stream *stream = track ? stream_of(spans, track->stream) : NULL;

    if (!stream)
        return;
    if (event->times.estimate != TW_TIME_UNKNOWN && track->kind != TW_TRACK_CORE)
        count_bytes(spans, stream, event->index, event->times.estimate);
    if (event->kind == TW_TIMELINE_END && event->begin)
        take_end(report, event, stream->name);
    else if (event->kind == TW_TIMELINE_MARK || event->kind == TW_TIMELINE_VALUE)
        take_mark(report, event);
    if (track->kind == TW_TRACK_THREAD && event->span == TW_SPAN_FUNCTION &&
        event->kind == TW_TIMELINE_BEGIN) {
        struct tw_report_calls *calls = calls_of(spans, event->what);

        if (calls)
            stream->name = span_name(report, event, calls);
    }
}
