/* SPDX-License-Identifier: BSD-2-Clause */
/* Chrome's trace events as JSON: the small form of what Perfetto's protobuf holds. */
#include <inttypes.h>

#include "export/export.h"

struct chrome {
    bool has_any;
};

/* Microseconds since the first event, as readers keep 53 bits. */
static void put_time(struct tw_timeline_writer *writer, const struct tw_times *times)
{
    const struct tw_times first = { 0, 0, writer->start };
    const uint64_t start = tw_timeline_ns(writer, &first);
    const uint64_t now = tw_timeline_ns(writer, times);
    const uint64_t ns = now > start ? now - start : 0;

    tw_sink_format(&writer->sink, "\"ts\":%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

static uint32_t pid_of(const struct tw_track *track)
{
    return track->kind == TW_TRACK_THREAD && track->pid != TW_NONE ? track->pid
                                                                   : (1u << 22) + track->stream;
}

static void put_head(struct tw_timeline_writer *writer, const char *phase, uint32_t number)
{
    struct chrome *state = writer->state;
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);

    tw_sink_text(&writer->sink, state->has_any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    state->has_any = true;
    tw_sink_text(&writer->sink, phase);
    tw_sink_text(&writer->sink, "\",\"pid\":");
    tw_sink_decimal(&writer->sink, pid_of(track));
    tw_sink_text(&writer->sink, ",\"tid\":");
    tw_sink_decimal(&writer->sink, number);
    tw_sink_text(&writer->sink, ",");
}

static void tell_track(struct tw_timeline_writer *writer, uint32_t number)
{
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);
    struct tw_told_track *told = tw_timeline_told(writer, number);
    struct tw_sink *sink = &writer->sink;

    if (!told || told->is_told)
        return;
    told->is_told = true;
    put_head(writer, "M", number);
    tw_sink_text(sink, "\"name\":\"thread_name\",\"args\":{\"name\":");
    tw_sink_json(sink, track->name);
    tw_sink_text(sink, "}}");
    put_head(writer, "M", number);
    tw_sink_text(sink, "\"name\":\"process_name\",\"args\":{\"name\":");
    if (track->kind == TW_TRACK_THREAD && track->pid != TW_NONE)
        tw_sink_json(sink, track->comm);
    else if (track->core)
        tw_sink_json(sink, track->core);
    else if (track->cpu != TW_NONE)
        tw_sink_format(sink, "\"cpu %" PRIu32 "\"", track->cpu);
    else
        tw_sink_format(sink, "\"id 0x%02x\"", track->id);
    tw_sink_text(sink, "}}");
}

static void begin(struct tw_timeline_writer *writer)
{
    tw_sink_text(&writer->sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":");
    tw_sink_json(&writer->sink, writer->subject.creator ? writer->subject.creator : "trackway");
    tw_sink_text(&writer->sink, ",\"unit\":\"");
    tw_sink_text(&writer->sink, tw_time_unit_name(tw_timeline_unit(writer->timeline)));
    tw_sink_text(&writer->sink, "\"},\"traceEvents\":[");
}

static void put_name(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);

    tw_sink_text(&writer->sink, ",\"name\":");
    if (event->kind == TW_TIMELINE_BEGIN)
        tw_sink_json(&writer->sink, tw_timeline_name(writer, event));
    else if (event->kind == TW_TIMELINE_MARK && event->text)
        tw_sink_json_size(&writer->sink, event->text, event->text_size);
    else if (event->kind == TW_TIMELINE_MARK && track->kind == TW_TRACK_EVENTS)
        tw_sink_json(&writer->sink, tw_timeline_mark_name(event));
    else
        tw_sink_json(&writer->sink, track->name);
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    static const char *const phases[] = { [TW_TIMELINE_BEGIN] = "B",
                                          [TW_TIMELINE_END] = "E",
                                          [TW_TIMELINE_MARK] = "i",
                                          [TW_TIMELINE_VALUE] = "C" };
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);
    struct tw_sink *sink = &writer->sink;

    tell_track(writer, event->track);
    put_head(writer, phases[event->kind], event->track);
    put_time(writer, &event->times);
    if (event->kind != TW_TIMELINE_END) {
        put_name(writer, event);
        tw_sink_format(sink, ",\"cat\":\"%s\"", tw_track_kind_name(track->kind));
    }
    if (event->kind == TW_TIMELINE_VALUE)
        tw_sink_format(sink, ",\"args\":{\"value\":%" PRIu64 "}", event->value);
    if (event->kind == TW_TIMELINE_MARK) {
        tw_sink_text(sink, ",\"s\":\"t\"");
        if (event->has_address)
            tw_sink_format(sink, ",\"args\":{\"address\":\"0x%" PRIx64 "\"}", event->address);
    }
    tw_sink_text(sink, "}");
}

static void end(struct tw_timeline_writer *writer)
{
    tw_sink_text(&writer->sink, "\n]}\n");
}

const struct tw_timeline_form tw_timeline_chrome = {
    .state_size = sizeof(struct chrome), .begin = begin, .take = take, .end = end
};
