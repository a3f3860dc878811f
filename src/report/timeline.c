/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline as tables: tracks, spans, marks, bytes over time. */
#include "base/memory.h"
#include "report/report.h"

struct report_track {
    uint32_t name, core, source, comm;
    uint32_t cpu, pid, tid, number, stream; /* 0: not known, else + 1; but number, stream */
    uint8_t kind, id;
};

struct report_bucket {
    uint64_t bytes;
};

static const struct tw_table_column track_columns[] = {
    TW_TEXT_COLUMN(struct report_track, name),
    TW_TEXT_COLUMN(struct report_track, core),
    TW_TEXT_COLUMN(struct report_track, source),
    TW_TEXT_COLUMN(struct report_track, comm),
    TW_NUMBER_COLUMN(struct report_track, cpu),
    TW_NUMBER_COLUMN(struct report_track, pid),
    TW_NUMBER_COLUMN(struct report_track, tid),
    TW_NUMBER_COLUMN(struct report_track, number),
    TW_NUMBER_COLUMN(struct report_track, stream),
    TW_NUMBER_COLUMN(struct report_track, kind),
    TW_NUMBER_COLUMN(struct report_track, id),
    { .name = NULL },
};

static const struct tw_table_column span_columns[] = {
    TW_NUMBER_COLUMN(struct tw_report_span, track),
    TW_NUMBER_COLUMN(struct tw_report_span, depth),
    TW_NUMBER_COLUMN(struct tw_report_span, start),
    TW_NUMBER_COLUMN(struct tw_report_span, length),
    TW_NUMBER_COLUMN(struct tw_report_span, before),
    TW_NUMBER_COLUMN(struct tw_report_span, after),
    TW_NUMBER_COLUMN(struct tw_report_span, index),
    TW_NUMBER_COLUMN(struct tw_report_span, n),
    TW_TEXT_COLUMN(struct tw_report_span, name),
    TW_NUMBER_COLUMN(struct tw_report_span, count),
    TW_NUMBER_COLUMN(struct tw_report_span, kind),
    TW_NUMBER_COLUMN(struct tw_report_span, how),
    TW_NUMBER_COLUMN(struct tw_report_span, left),
    TW_NUMBER_COLUMN(struct tw_report_span, value),
    TW_TEXT_COLUMN(struct tw_report_span, running),
    { .name = NULL },
};

static const struct tw_table_column mark_columns[] = {
    TW_NUMBER_COLUMN(struct tw_report_mark, track),
    TW_NUMBER_COLUMN(struct tw_report_mark, time),
    TW_NUMBER_COLUMN(struct tw_report_mark, index),
    TW_NUMBER_COLUMN(struct tw_report_mark, value),
    TW_NUMBER_COLUMN(struct tw_report_mark, value_size),
    TW_NUMBER_COLUMN(struct tw_report_mark, address),
    TW_NUMBER_COLUMN(struct tw_report_mark, has_address),
    TW_TEXT_COLUMN(struct tw_report_mark, text),
    { .name = NULL },
};

static const struct tw_table_column bucket_columns[] = {
    TW_NUMBER_COLUMN(struct report_bucket, bytes),
    { .name = NULL },
};

static void add_tracks(struct tw_report *report)
{
    const size_t count = tw_timeline_track_count(report->timeline);
    struct report_track *rows = tw_take(report->config.allocator, (count + 1) * sizeof *rows);

    for (size_t i = 0; rows && i < count; i++) {
        const struct tw_track *track = tw_timeline_track(report->timeline, i);

        rows[i] = (struct report_track){
            .name = tw_report_text(report, track->name),
            .core = tw_report_text(report, track->core),
            .source = tw_report_text(report, track->source),
            .comm = tw_report_text(report, track->comm),
            .cpu = track->cpu == TW_NONE ? 0 : track->cpu + 1,
            .pid = track->pid == TW_NONE ? 0 : track->pid + 1,
            .tid = track->tid == TW_NONE ? 0 : track->tid + 1,
            .number = track->number,
            .stream = track->stream,
            .kind = track->kind,
            .id = track->id,
        };
    }
    if (rows)
        tw_tables_add(&report->tables, "tracks",
                      (struct tw_table_rows){ rows, count, sizeof *rows }, track_columns);
    else
        report->is_out = true;
    tw_give(report->config.allocator, rows);
}

/* Times in the tables count from the first one, so that they are exact in a page. */
static uint64_t first_time(const struct tw_report_spans *spans)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < spans->count; i++)
        first = spans->spans[i].start < first ? spans->spans[i].start : first;
    for (size_t i = 0; i < spans->mark_count; i++)
        first = spans->marks[i].time < first ? spans->marks[i].time : first;
    return first == UINT64_MAX ? 0 : first;
}

static uint64_t last_time(const struct tw_report_spans *spans)
{
    uint64_t last = 0;

    for (size_t i = 0; i < spans->count; i++) {
        const uint64_t end = spans->spans[i].start + spans->spans[i].length;

        last = end > last ? end : last;
    }
    for (size_t i = 0; i < spans->mark_count; i++)
        if (spans->marks[i].time != TW_TIME_UNKNOWN && spans->marks[i].time > last)
            last = spans->marks[i].time;
    return last;
}

static void add_facts(struct tw_report *report, uint64_t first, uint64_t last)
{
    const struct tw_report_spans *spans = &report->spans;
    struct tw_timeline_stats stats = { .size = sizeof stats };
    struct tw_tables *tables = &report->tables;

    tw_tables_fact(tables, "unit", tw_time_unit_name(tw_timeline_unit(report->timeline)));
    tw_tables_number(tables, "first", first);
    tw_tables_number(tables, "length", last > first ? last - first : 0);
    tw_tables_number(tables, "spanLeast", spans->least);
    tw_tables_number(tables, "spansLeft", spans->spans_left);
    tw_tables_number(tables, "marksLeft", spans->marks_left);
    tw_tables_number(tables, "untimed", spans->untimed);
    tw_tables_number(tables, "bucket", (uint64_t)1 << spans->bucket_bits);
    tw_tables_number(tables, "bucketsFrom",
                     spans->has_first && spans->first > first ? spans->first - first : 0);
    if (tw_timeline_stats(report->timeline, &stats)) {
        tw_tables_number(tables, "spans", stats.spans);
        tw_tables_number(tables, "marks", stats.marks);
        tw_tables_number(tables, "gaps", stats.gaps);
    }
}

void tw_report_add_spans(struct tw_report *report)
{
    struct tw_report_spans *spans = &report->spans;
    struct tw_tables *tables = &report->tables;
    const uint64_t first = first_time(spans), last = last_time(spans);

    add_tracks(report);
    for (size_t i = 0; i < spans->count; i++)
        spans->spans[i].start -= first;
    for (size_t i = 0; i < spans->mark_count; i++)
        spans->marks[i].time =
            spans->marks[i].time == TW_TIME_UNKNOWN ? 0 : spans->marks[i].time - first;
    tw_tables_add(tables, "spans",
                  (struct tw_table_rows){ spans->spans, spans->count, sizeof *spans->spans },
                  span_columns);
    tw_tables_add(
        tables, "marks",
        (struct tw_table_rows){ spans->marks, spans->mark_count, sizeof *spans->marks },
        mark_columns);
    tw_tables_add(
        tables, "bytes",
        (struct tw_table_rows){ spans->bytes, TW_REPORT_BUCKETS, sizeof spans->bytes[0] },
        bucket_columns);
    add_facts(report, first, last);
}
