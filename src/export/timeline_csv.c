/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline as comma-separated values: one table of spans and marks. */
#include <inttypes.h>

#include "export/export.h"

static void begin(struct tw_timeline_writer *writer)
{
    tw_sink_text(&writer->sink,
                 "type,track,kind,name,depth,n0,n1,lo,hi,est,est_end,index,number,"
                 "value,address,text\r\n");
}

static void put_text(struct tw_sink *sink, const char *text, size_t size)
{
    tw_sink_text(sink, ",\"");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            tw_sink_text(sink, "\"");
        tw_sink_bytes(sink, &text[i], 1);
    }
    tw_sink_text(sink, "\"");
}

static void put_name(struct tw_sink *sink, const char *text)
{
    size_t size = 0;

    while (text[size])
        size++;
    put_text(sink, text, size);
}

static void put_number(struct tw_sink *sink, uint64_t number)
{
    tw_sink_text(sink, ",");
    if (number != TW_TIME_UNKNOWN)
        tw_sink_decimal(sink, number);
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    const struct tw_timeline_event *first = event->begin ? event->begin : event;
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);
    const bool is_span = event->kind == TW_TIMELINE_END;
    struct tw_sink *sink = &writer->sink;

    if (event->kind == TW_TIMELINE_BEGIN)
        return;
    tw_sink_text(sink, is_span ? first->span == TW_SPAN_GAP ? "GAP" : "SLICE" : "MARK");
    put_name(sink, track->name);
    tw_sink_text(sink, ",");
    tw_sink_text(sink, is_span && first->span == TW_SPAN_SHORT
                           ? "short"
                           : tw_track_kind_name(track->kind));
    put_name(sink, is_span                          ? tw_timeline_name(writer, event)
                   : track->kind == TW_TRACK_EVENTS ? tw_timeline_mark_name(event)
                                                    : "");
    put_number(sink, is_span ? first->depth : TW_TIME_UNKNOWN);
    put_number(sink, first->instructions);
    put_number(sink, is_span ? event->instructions : TW_TIME_UNKNOWN);
    put_number(sink, first->times.low);
    put_number(sink, event->times.high);
    put_number(sink, first->times.estimate);
    put_number(sink, is_span ? event->times.estimate : TW_TIME_UNKNOWN);
    put_number(sink, first->index);
    put_number(sink, track->kind == TW_TRACK_EVENTS ? event->what
                     : track->kind == TW_TRACK_THREAD || track->kind == TW_TRACK_CORE
                         ? TW_TIME_UNKNOWN
                         : track->number);
    tw_sink_text(sink, ",");
    if (event->value_size)
        tw_sink_format(sink, "0x%" PRIx64, event->value);
    else if (first->span == TW_SPAN_SHORT || first->span == TW_SPAN_GAP)
        tw_sink_decimal(sink, first->value);
    tw_sink_text(sink, ",");
    if (first->has_address)
        tw_sink_format(sink, "0x%" PRIx64, first->address);
    if (event->text)
        put_text(sink, event->text, event->text_size);
    else
        tw_sink_text(sink, ",");
    tw_sink_text(sink, "\r\n");
}

const struct tw_timeline_form tw_timeline_csv = { .begin = begin, .take = take };
