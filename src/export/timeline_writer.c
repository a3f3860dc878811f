/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline on its way into a file. */
#include "export/timeline_writer.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum tw_status tw_timeline_writer_make(struct tw_timeline_writer **writer,
                                       const struct tw_timeline_form *form,
                                       const struct tw_subject *subject, tw_write_fn *write,
                                       void *context, struct tw_fault *fault)
{
    struct tw_timeline_writer *made;
    struct tw_subject copy;

    *writer = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, subject, "tw_subject", fault));
    if (!copy.timeline)
        return tw_fail(fault, TW_E_ARGUMENT, "the subject has no timeline");
    made = tw_take(copy.allocator, sizeof *made);
    if (made && form->state_size) {
        made->state = tw_take(copy.allocator, form->state_size);
        if (!made->state) {
            tw_give(copy.allocator, made);
            made = NULL;
        }
    }
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a writer of a timeline");
    made->subject = copy;
    made->form = form;
    made->timeline = copy.timeline;
    made->sink.allocator = copy.allocator;
    made->sink.write = write;
    made->sink.context = context;
    *writer = made;
    return TW_OK;
}

void tw_timeline_writer_free(struct tw_timeline_writer *writer)
{
    const struct tw_allocator *allocator;

    if (!writer)
        return;
    allocator = writer->sink.allocator;
    if (writer->state && writer->form->release)
        writer->form->release(writer);
    for (size_t i = 0; i < writer->track_room; i++)
        tw_give(allocator, writer->tracks[i].key);
    tw_give(allocator, writer->tracks);
    tw_give(allocator, writer->state);
    tw_give(allocator, writer);
}

static void begin(struct tw_timeline_writer *writer)
{
    if (!writer->has_begun && writer->form->begin)
        writer->form->begin(writer);
    writer->has_begun = true;
}

void tw_timeline_writer_take(struct tw_timeline_writer *writer,
                             const struct tw_timeline_event *event)
{
    if (writer->sink.is_over || writer->sink.lacks_memory)
        return;
    begin(writer);
    if (!writer->has_start && event->times.estimate != TW_TIME_UNKNOWN) {
        writer->has_start = true;
        writer->start = writer->latest = event->times.estimate;
    }
    writer->form->take(writer, event);
}

enum tw_status tw_timeline_writer_end(struct tw_timeline_writer *writer)
{
    begin(writer);
    if (writer->form->end && !writer->sink.is_over)
        writer->form->end(writer);
    return tw_sink_end(&writer->sink);
}

struct tw_told_track *tw_timeline_told(struct tw_timeline_writer *writer, uint32_t track)
{
    const size_t before = writer->track_room;

    if (track >= before) {
        if (!TW_GROW(writer->sink.allocator, &writer->tracks, &writer->track_room,
                     (size_t)track + 1)) {
            writer->sink.lacks_memory = true;
            return NULL;
        }
        memset(writer->tracks + before, 0,
               (writer->track_room - before) * sizeof *writer->tracks);
    }
    return &writer->tracks[track];
}

uint64_t tw_timeline_ns(struct tw_timeline_writer *writer, const struct tw_times *times)
{
    const enum tw_time_unit unit = tw_timeline_unit(writer->timeline);
    const uint64_t clock = writer->subject.clock;
    uint64_t at = times->estimate;

    if (at == TW_TIME_UNKNOWN)
        at = writer->latest;
    if (at > writer->latest)
        writer->latest = at;
    if (!clock || unit == TW_UNIT_NS || unit == TW_UNIT_INSTRUCTIONS)
        return at;
    return at / clock * 1000000000u +
           (uint64_t)((double)(at % clock) * 1000000000.0 / (double)clock);
}

const char *tw_timeline_name(struct tw_timeline_writer *writer,
                             const struct tw_timeline_event *event)
{
    return tw_subject_name(&writer->subject, tw_timeline_span_name(writer->timeline, event));
}

const char *tw_track_kind_name(unsigned kind)
{
    static const char *const names[TW_TRACK_KINDS] = {
        [TW_TRACK_THREAD] = "thread",       [TW_TRACK_CORE] = "core",
        [TW_TRACK_EXCEPTION] = "exception", [TW_TRACK_GAPS] = "gap",
        [TW_TRACK_EVENTS] = "event",        [TW_TRACK_PORT] = "port",
        [TW_TRACK_DATA] = "data",           [TW_TRACK_SAMPLES] = "sample",
        [TW_TRACK_COUNTERS] = "counter",
    };

    return kind < TW_TRACK_KINDS ? names[kind] : "unknown";
}

const char *tw_timeline_mark_name(const struct tw_timeline_event *event)
{
    static const char *const names[] = {
        [TW_EVENT_TRIGGER] = "trigger",     [TW_EVENT_NUMBERED] = "event",
        [TW_EVENT_NOTIFY] = "notify",       [TW_EVENT_FLUSH] = "flush",
        [TW_EVENT_TRACE_OFF] = "trace off", [TW_EVENT_LOST] = "messages lost",
        [TW_EVENT_CIRCUIT] = "in-circuit",
    };

    return event->how < TW_LENGTH(names) ? names[event->how] : "event";
}
