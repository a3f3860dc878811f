/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline as JSON lines: a line for each span when it ends, and for each mark. */
#include <inttypes.h>

#include "base/memory.h"
#include "export/export.h"

static void put_number(struct tw_sink *sink, const char *key, uint64_t value)
{
    tw_sink_text(sink, ",\"");
    tw_sink_text(sink, key);
    tw_sink_text(sink, "\":");
    tw_sink_decimal(sink, value);
}

static void put_time(struct tw_sink *sink, const char *key, uint64_t time)
{
    if (time != TW_TIME_UNKNOWN) {
        put_number(sink, key, time);
        return;
    }
    tw_sink_text(sink, ",\"");
    tw_sink_text(sink, key);
    tw_sink_text(sink, "\":null");
}

/* Whose track it is, as far as that is known; a thread that has a number may run anywhere. */
static char *make_key(struct tw_timeline_writer *writer, const struct tw_track *track)
{
    const bool is_anywhere =
        track->kind == TW_TRACK_THREAD && track->tid != TW_NONE && track->tid;
    struct tw_text key = { .allocator = writer->sink.allocator };

    tw_text_add(&key, "{");
    if (!is_anywhere)
        tw_json_u64(&key, "id", track->id);
    if (track->tid != TW_NONE)
        tw_json_u64(&key, "tid", track->tid);
    if (track->context != UINT64_MAX)
        tw_json_u64(&key, "cid", (uint32_t)track->context);
    if (!is_anywhere && track->core)
        tw_json_text(&key, "core", track->core);
    else if (!is_anywhere && track->cpu != TW_NONE)
        tw_json_u64(&key, "core", track->cpu);
    tw_text_add(&key, "}");
    writer->sink.lacks_memory |= key.failed;
    return key.chars;
}

static void put_key(struct tw_timeline_writer *writer, const char *type, uint32_t number)
{
    struct tw_told_track *told = tw_timeline_told(writer, number);
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);

    if (told && !told->key)
        told->key = make_key(writer, track);
    tw_sink_text(&writer->sink, "{\"t\":\"");
    tw_sink_text(&writer->sink, type);
    tw_sink_text(&writer->sink, "\",\"key\":");
    tw_sink_text(&writer->sink, told && told->key ? told->key : "{}");
    put_number(&writer->sink, "track", number);
}

static void begin(struct tw_timeline_writer *writer)
{
    struct tw_sink *sink = &writer->sink;

    tw_sink_text(sink, "{\"t\":\"TIMELINE\",\"unit\":\"");
    tw_sink_text(sink, tw_time_unit_name(tw_timeline_unit(writer->timeline)));
    tw_sink_text(sink, "\"");
    if (writer->subject.clock)
        put_number(sink, "clock", writer->subject.clock);
    tw_sink_text(sink, "}\n");
}

/* A track before its first line. */
static void tell_track(struct tw_timeline_writer *writer, uint32_t number)
{
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);
    struct tw_told_track *told = tw_timeline_told(writer, number);
    struct tw_sink *sink = &writer->sink;

    if (!told || told->is_told)
        return;
    told->is_told = true;
    put_key(writer, "TRACK", number);
    tw_sink_format(sink, ",\"kind\":\"%s\",\"name\":", tw_track_kind_name(track->kind));
    tw_sink_json(sink, track->name);
    if (track->source) {
        tw_sink_text(sink, ",\"source\":");
        tw_sink_json(sink, track->source);
    }
    if (track->pid != TW_NONE)
        put_number(sink, "pid", track->pid);
    if (track->comm[0]) {
        tw_sink_text(sink, ",\"comm\":");
        tw_sink_json(sink, track->comm);
    }
    if (track->kind != TW_TRACK_THREAD && track->kind != TW_TRACK_CORE)
        put_number(sink, "number", track->number);
    tw_sink_text(sink, "}\n");
}

static void put_times(struct tw_sink *sink, const struct tw_times *begin,
                      const struct tw_times *end)
{
    put_time(sink, "lo", begin->low);
    put_time(sink, "hi", end->high);
    put_time(sink, "est", begin->estimate);
    if (begin == end)
        return;
    put_time(sink, "est_end", end->estimate);
    put_time(sink, "hi_begin", begin->high);
    put_time(sink, "lo_end", end->low);
}

static const char *open_ends(const struct tw_timeline_event *begin,
                             const struct tw_timeline_event *end)
{
    bool is_begin = false, is_end = false;

    if (begin->span == TW_SPAN_FUNCTION) {
        is_begin = begin->how == TW_CALL_BEGIN || begin->how == TW_CALL_OUTER ||
                   begin->how == TW_CALL_RESUMED;
        is_end =
            end->how == TW_LEAVE_GAP || end->how == TW_LEAVE_END || end->how == TW_LEAVE_SWITCH;
    } else if (begin->span == TW_SPAN_EXCEPTION) {
        is_begin = begin->how == TW_EXCEPTION_FOUND;
        is_end = end->how == TW_EXCEPTION_LOST || end->how == TW_EXCEPTION_OPEN;
    }
    return is_begin && is_end ? "both" : is_begin ? "begin" : is_end ? "end" : NULL;
}

static void put_gap(struct tw_timeline_writer *writer, const struct tw_timeline_event *begin,
                    const struct tw_timeline_event *end)
{
    put_key(writer, "GAP", begin->track);
    put_number(&writer->sink, "i", begin->index);
    put_number(&writer->sink, "bytes", begin->value);
    tw_sink_format(&writer->sink, ",\"reason\":\"%s\"", tw_gap_reason_name(begin->how));
    put_times(&writer->sink, &begin->times, &end->times);
    tw_sink_text(&writer->sink, "}\n");
}

static void put_slice(struct tw_timeline_writer *writer, const struct tw_timeline_event *end)
{
    static const char *const kinds[] = { NULL, "exception", "thread", "gap", "short" };
    const struct tw_timeline_event *begin = end->begin;
    struct tw_sink *sink = &writer->sink;
    const char *open = open_ends(begin, end);

    put_key(writer, "SLICE", begin->track);
    tw_sink_text(sink, ",\"name\":");
    tw_sink_json(sink, tw_timeline_name(writer, end));
    put_number(sink, "depth", begin->depth);
    put_number(sink, "n0", begin->instructions);
    put_number(sink, "n1", end->instructions);
    put_times(sink, &begin->times, &end->times);
    if (open) {
        tw_sink_text(sink, ",\"open\":\"");
        tw_sink_text(sink, open);
        tw_sink_text(sink, "\"");
    }
    if (begin->span != TW_SPAN_FUNCTION)
        tw_sink_format(sink, ",\"kind\":\"%s\"", kinds[begin->span]);
    if (begin->span == TW_SPAN_EXCEPTION)
        put_number(sink, "num", tw_timeline_track(writer->timeline, begin->track)->number);
    if (begin->span == TW_SPAN_EXCEPTION && begin->how == TW_EXCEPTION_CHAINED)
        tw_sink_text(sink, ",\"tail\":true");
    if (begin->span == TW_SPAN_SHORT)
        put_number(sink, "count", begin->value);
    put_number(sink, "i", begin->index);
    tw_sink_text(sink, "}\n");
}

static void put_mark(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);
    struct tw_sink *sink = &writer->sink;

    put_key(writer, "MARK", event->track);
    put_number(sink, "i", event->index);
    tw_sink_format(sink, ",\"kind\":\"%s\"", tw_track_kind_name(track->kind));
    if (track->kind == TW_TRACK_EVENTS) {
        tw_sink_format(sink, ",\"name\":\"%s\"", tw_timeline_mark_name(event));
        put_number(sink, "num", event->what);
    } else if (track->kind == TW_TRACK_PORT || track->kind == TW_TRACK_DATA) {
        if (track->kind == TW_TRACK_PORT && track->master != UINT16_MAX)
            put_number(sink, "master", track->master);
        put_number(sink, track->kind == TW_TRACK_PORT ? "port" : "comparator", track->number);
    }
    if (event->value_size)
        tw_sink_format(sink, ",\"value\":\"0x%" PRIx64 "\",\"size\":%u", event->value,
                       event->value_size);
    if (event->has_address)
        tw_sink_format(sink, ",\"addr\":\"0x%" PRIx64 "\"", event->address);
    if (event->text) {
        tw_sink_text(sink, ",\"text\":");
        tw_sink_json_size(sink, event->text, event->text_size);
    }
    put_times(sink, &event->times, &event->times);
    tw_sink_text(sink, "}\n");
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    if (event->kind == TW_TIMELINE_BEGIN)
        return;
    tell_track(writer, event->track);
    if (event->kind != TW_TIMELINE_END)
        put_mark(writer, event);
    else if (event->begin->span == TW_SPAN_GAP)
        put_gap(writer, event->begin, event);
    else
        put_slice(writer, event);
}

static void end(struct tw_timeline_writer *writer)
{
    struct tw_timeline_stats stats = { .size = sizeof stats };
    struct tw_sink *sink = &writer->sink;

    if (!tw_timeline_stats(writer->timeline, &stats))
        return;
    tw_sink_text(sink, "{\"t\":\"STATS\"");
    put_number(sink, "spans", stats.spans);
    put_number(sink, "marks", stats.marks);
    put_number(sink, "merged", stats.merged);
    put_number(sink, "too_deep", stats.too_deep);
    put_number(sink, "gaps", stats.gaps);
    put_number(sink, "backwards", stats.backwards);
    put_number(sink, "disordered", stats.disordered);
    put_number(sink, "untimed", stats.untimed);
    put_number(sink, "instructions", stats.instructions);
    tw_sink_text(sink, "}\n");
}

const struct tw_timeline_form tw_timeline_jsonl = { .begin = begin, .take = take, .end = end };
