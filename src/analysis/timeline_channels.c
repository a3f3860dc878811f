/* SPDX-License-Identifier: BSD-2-Clause */
/* Software trace and what the DWT watches, as events of a timeline. */
#include <string.h>

#include <trackway/itm.h>

#include "analysis/timeline.h"

static bool is_text_byte(uint32_t byte)
{
    return (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
}

/* What is text comes as lines. */
static bool is_text(uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        if (!is_text_byte(value >> i * 8 & 0xff))
            return false;
    return true;
}

static void put(struct tw_timeline_stream *stream, struct tw_timeline_event *event,
                const struct tw_channel_time *when)
{
    event->size = sizeof *event;
    event->times = (struct tw_times){ TW_TIME_UNKNOWN, TW_TIME_UNKNOWN, TW_TIME_UNKNOWN };
    event->instructions = stream->instructions;
    if (when->is_known)
        event->times = (struct tw_times){ when->not_before, when->time, when->time };
    stream->timeline->has_channel_time |= when->is_known && !when->is_global;
    if (when->is_known && when->is_global && stream->timeline->clock == TW_CLOCK_NONE)
        stream->timeline->clock = TW_CLOCK_TRACE;
    tw_timeline_timed(stream->timeline, event, when->is_global ? TW_UNIT_TICKS : TW_UNIT_CYCLES,
                      when->has_global ? when->global : TW_TIME_UNKNOWN);
}

/* ---- exceptions of the DWT ---- */

static void end_exception(struct tw_timeline_stream *stream,
                          const struct tw_channel_event *from, enum tw_exception_how how)
{
    const struct tw_active_exception *active = &stream->active[--stream->active_count];
    struct tw_timeline_event event = { .index = from->index,
                                       .track = active->track,
                                       .what = TW_NONE,
                                       .depth = (uint32_t)stream->active_count,
                                       .kind = TW_TIMELINE_END,
                                       .span = TW_SPAN_EXCEPTION,
                                       .how = (uint8_t)how };

    put(stream, &event, &from->when);
}

static void begin_exception(struct tw_timeline_stream *stream,
                            const struct tw_channel_event *from, enum tw_exception_how how)
{
    const uint32_t number = (uint32_t)from->source;
    struct tw_timeline_event event = { .index = from->index,
                                       .what = TW_NONE,
                                       .depth = (uint32_t)stream->active_count,
                                       .kind = TW_TIMELINE_BEGIN,
                                       .span = TW_SPAN_EXCEPTION,
                                       .how = (uint8_t)how };

    if (stream->active_count == TW_ACTIVE_MOST)
        return; /* no core nests so deep: packets were lost */
    event.track = tw_timeline_what_track(stream->timeline, stream, TW_TRACK_EXCEPTION,
                                         TW_ITM_MASTER, number);
    stream->active[stream->active_count++] =
        (struct tw_active_exception){ .track = event.track, .number = number };
    put(stream, &event, &from->when);
}

/* How deep an exception is; SIZE_MAX: the core is not in it, as far as is known. */
static size_t depth_of(const struct tw_timeline_stream *stream, uint32_t number)
{
    for (size_t i = stream->active_count; i--;)
        if (stream->active[i].number == number)
            return i;
    return SIZE_MAX;
}

static void take_exception(struct tw_timeline_stream *stream,
                           const struct tw_channel_event *from)
{
    const size_t depth = depth_of(stream, (uint32_t)from->source);

    if (from->action == TW_DWT_ENTERED) {
        begin_exception(stream, from,
                        stream->has_exited ? TW_EXCEPTION_CHAINED : TW_EXCEPTION_ENTERED);
        stream->has_exited = false;
    } else if (from->action == TW_DWT_EXITED) {
        /* Those inside it whose exits were lost end somewhere before. */
        while (depth != SIZE_MAX && stream->active_count > depth + 1)
            end_exception(stream, from, TW_EXCEPTION_LOST);
        if (depth != SIZE_MAX)
            end_exception(stream, from, TW_EXCEPTION_RETURNED);
        stream->has_exited = true;
    } else if (from->action == TW_DWT_RETURNED) {
        stream->has_exited = false;
        while (stream->active_count > (depth == SIZE_MAX ? 0 : depth + 1))
            end_exception(stream, from, TW_EXCEPTION_LOST);
        if (depth == SIZE_MAX && from->source > 0)
            begin_exception(stream, from, TW_EXCEPTION_FOUND);
    }
}

static void lose_exceptions(struct tw_timeline_stream *stream,
                            const struct tw_channel_event *from)
{
    struct tw_timeline *timeline = stream->timeline;
    struct tw_timeline_event gap = { .index = from->index,
                                     .what = TW_NONE,
                                     .span = TW_SPAN_GAP,
                                     .kind = TW_TIMELINE_BEGIN,
                                     .how = (uint8_t)(strcmp(from->type, "overflow") == 0
                                                          ? TW_GAP_OVERFLOW
                                                          : TW_GAP_BAD_TRACE) };

    while (stream->active_count)
        end_exception(stream, from, TW_EXCEPTION_LOST);
    stream->has_exited = false;
    if (stream->gap_track == TW_NONE)
        stream->gap_track = tw_timeline_what_track(timeline, stream, TW_TRACK_GAPS, 0, 0);
    gap.track = stream->gap_track;
    timeline->stats.gaps++;
    put(stream, &gap, &from->when);
    gap.kind = TW_TIMELINE_END;
    put(stream, &gap, &from->when);
}

/* ---- the rest ---- */

static void put_value(struct tw_timeline_stream *stream, const struct tw_channel_event *from,
                      enum tw_track_kind kind, uint32_t number)
{
    struct tw_timeline_event event = {
        .index = from->index,
        .track = tw_timeline_what_track(stream->timeline, stream, kind, TW_ITM_MASTER, number),
        .what = TW_NONE,
        .kind = from->has_value ? TW_TIMELINE_VALUE : TW_TIMELINE_MARK,
        .value = from->value,
        .value_size = from->has_value ? from->value_size : 0,
        .has_address = from->has_pc || from->has_address,
        .address = from->has_address ? from->address : from->pc,
        .text = from->note,
        .text_size = from->note ? strlen(from->note) : 0,
    };

    put(stream, &event, &from->when);
}

static void take_event(void *context, const struct tw_channel_event *from)
{
    struct tw_timeline_stream *stream = context;
    const char *type = from->type;

    if (strcmp(type, "itm") == 0) {
        if (!is_text(from->value, from->value_size))
            put_value(stream, from, TW_TRACK_PORT, (uint32_t)from->source);
    } else if (strcmp(type, "exception") == 0) {
        take_exception(stream, from);
    } else if (strcmp(type, "dwt") == 0) {
        put_value(stream, from, TW_TRACK_DATA, (uint32_t)from->source);
    } else if (strcmp(type, "pc") == 0) {
        put_value(stream, from, TW_TRACK_SAMPLES, 0);
    } else if (strcmp(type, "overflow") == 0 || strcmp(type, "error") == 0) {
        lose_exceptions(stream, from);
    } else if (strcmp(type, "stm") != 0) { /* those have a master: take_stm */
        put_value(stream, from, TW_TRACK_COUNTERS, 0);
    }
}

static void take_line(void *context, const struct tw_channel_line *line)
{
    struct tw_timeline_stream *stream = context;
    struct tw_timeline_event event = { .index = line->index,
                                       .what = TW_NONE,
                                       .kind = TW_TIMELINE_MARK,
                                       .text = line->text,
                                       .text_size = line->text_size };

    for (size_t i = 0; i < line->text_size; i++)
        if (!is_text_byte((unsigned char)line->text[i]) && (line->text[i] & 0x80) == 0)
            return; /* values: they came as such */
    event.track =
        tw_timeline_what_track(stream->timeline, stream, TW_TRACK_PORT,
                               line->is_stm ? line->master : TW_ITM_MASTER, line->number);
    put(stream, &event, &line->when);
}

/* Values that software wrote to an STM. */
static void take_stm(struct tw_timeline_stream *stream, const struct tw_element *element)
{
    const unsigned bytes = (element->width + 7u) / 8;
    const struct tw_channel_time when = { .is_known = element->flags & TW_SW_HAS_TIME,
                                          .time = element->sw_time,
                                          .not_before = element->sw_time,
                                          .is_global = true };
    struct tw_timeline_event event = { .index = element->index,
                                       .what = TW_NONE,
                                       .kind = TW_TIMELINE_VALUE,
                                       .value = element->payload,
                                       .value_size = (uint8_t)bytes };

    if (!element->width || is_text(element->payload, bytes) ||
        element->flags & (TW_SW_FREQ | TW_SW_TRIGGER | TW_SW_MASTER_ERROR | TW_SW_GLOBAL_ERROR))
        return;
    event.track = tw_timeline_what_track(stream->timeline, stream, TW_TRACK_PORT,
                                         element->master, element->channel);
    put(stream, &event, &when);
}

static bool is_software(const struct tw_part *part)
{
    const char *protocol = part->source ? part->source->protocol : NULL;

    return protocol && (strcmp(protocol, "itm") == 0 || strcmp(protocol, "stm") == 0);
}

bool tw_timeline_channels(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                          const struct tw_part *part)
{
    struct tw_fault fault;

    if (!stream->channels && !is_software(part))
        return false;
    if (!stream->channels) {
        const struct tw_channels_config config = { .size = sizeof config,
                                                   .with_values = true,
                                                   .on_event = take_event,
                                                   .on_line = take_line,
                                                   .context = stream,
                                                   .allocator = timeline->allocator };

        stream->form = TW_FORM_ARMV8_M;
        if (tw_channels_new(&stream->channels, &config, &fault) != TW_OK) {
            timeline->is_out = true;
            return true;
        }
    }
    for (size_t i = 0; i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_SWTRACE)
            take_stm(stream, &part->batch.elements[i]);
    if (tw_channels_take(stream->channels, &part->batch) != TW_OK)
        timeline->is_out = true;
    return true;
}
