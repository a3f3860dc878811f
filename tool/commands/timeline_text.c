/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline as text: when, for how long, on which track, what. */
#include "commands/timeline.h"

#include <inttypes.h>

enum { TIME_WIDTH = 14, NAME_WIDTH = 18, INDENT_MOST = 40 };

static void put_time(const struct timeline_text *text, uint64_t time, bool is_estimate)
{
    char number[40] = "?";

    if (time != TW_TIME_UNKNOWN && text->clock)
        (void)snprintf(number, sizeof number, "%s%.9f", is_estimate ? "~" : "",
                       (double)time / (double)text->clock);
    else if (time != TW_TIME_UNKNOWN)
        (void)snprintf(number, sizeof number, "%s%" PRIu64, is_estimate ? "~" : "", time);
    output_format(text->out, "%*s ", TIME_WIDTH, number);
}

static bool is_estimate(const struct tw_times *times)
{
    return times->low != times->high;
}

static void put_head(struct timeline_text *text)
{
    const char *unit = tw_time_unit_name(tw_timeline_unit(text->timeline));

    if (text->has_head)
        return;
    text->has_head = true;
    output_color(text->out, BOLD);
    output_format(text->out,
                  "%*s %*s  %-*s  what   (times: %s; ~: estimated inside an interval)\n",
                  TIME_WIDTH, "time", TIME_WIDTH, "duration", NAME_WIDTH, "track",
                  text->clock ? "s" : unit);
    output_color(text->out, PLAIN);
}

/* When, for how long (where `end` is known), and on which track. */
static void put_columns(struct timeline_text *text, const struct tw_timeline_event *event,
                        const struct tw_timeline_event *begin,
                        const struct tw_timeline_event *end)
{
    const struct tw_track *track = tw_timeline_track(text->timeline, event->track);

    put_head(text);
    put_time(text, event->times.estimate, is_estimate(&event->times));
    if (begin && end && begin->times.estimate != TW_TIME_UNKNOWN &&
        end->times.estimate != TW_TIME_UNKNOWN && end->times.estimate >= begin->times.estimate)
        put_time(text, end->times.estimate - begin->times.estimate,
                 is_estimate(&begin->times) || is_estimate(&end->times));
    else
        output_format(text->out, "%*s ", TIME_WIDTH, "");
    output_format(text->out, " %-*.*s  ", NAME_WIDTH, NAME_WIDTH, track->name);
}

static void put_indent(const struct timeline_text *text, uint32_t depth)
{
    for (uint32_t i = 0; i < depth && i < INDENT_MOST; i++)
        output_text(text->out, "  ");
    if (depth > INDENT_MOST)
        output_format(text->out, "[%" PRIu32 "] ", depth);
}

static void put_function_end(const struct timeline_text *text,
                             const struct tw_timeline_event *event)
{
    static const char *const ways[] = {
        [TW_LEAVE_RETURN] = "",
        [TW_LEAVE_TAIL] = " (tail call)",
        [TW_LEAVE_UNWOUND] = " (unwound)",
        [TW_LEAVE_SWITCH] = " (another stack)",
        [TW_LEAVE_GAP] = " (gap)",
        [TW_LEAVE_END] = " (end of trace)",
    };

    if (event->how < sizeof ways / sizeof ways[0])
        output_text(text->out, ways[event->how]);
}

static void put_begin_note(const struct timeline_text *text,
                           const struct tw_timeline_event *begin)
{
    if (begin->span == TW_SPAN_EXCEPTION && begin->how == TW_EXCEPTION_CHAINED)
        output_text(text->out, " (chained)");
    else if (begin->span == TW_SPAN_FUNCTION && begin->how == TW_CALL_EXCEPTION)
        output_text(text->out, " (exception)");
    else if (begin->span == TW_SPAN_FUNCTION && begin->how == TW_CALL_OUTER)
        output_text(text->out, " (was there before)");
}

static void put_name(const struct timeline_text *text, const struct tw_timeline_event *event)
{
    const struct tw_timeline_event *begin = event->begin ? event->begin : event;
    const char *name = tw_timeline_span_name(text->timeline, event);

    if (begin->span == TW_SPAN_GAP) {
        output_color(text->out, RED);
        if (begin->what == TW_GAP_NOT_TRACED)
            output_text(text->out, "not traced");
        else
            output_format(text->out, "trace lost: %s", name);
        if (begin->value)
            output_format(text->out, ", %" PRIu64 " bytes", begin->value);
        output_color(text->out, PLAIN);
    } else {
        output_name(text->out, name);
    }
    put_begin_note(text, begin);
}

static void put_waiting(struct timeline_text *text)
{
    if (!text->has_waiting)
        return;
    text->has_waiting = false;
    put_columns(text, &text->waiting, NULL, NULL);
    put_indent(text, text->waiting.depth);
    put_name(text, &text->waiting);
    output_text(text->out, " {\n");
}

static void put_end(struct timeline_text *text, const struct tw_timeline_event *event)
{
    const bool is_leaf = text->has_waiting && text->waiting.track == event->track &&
                         text->waiting.depth == event->depth;

    if (is_leaf) {
        text->has_waiting = false;
        put_columns(text, event->begin, event->begin, event);
        put_indent(text, event->depth);
        put_name(text, event);
    } else {
        put_waiting(text);
        put_columns(text, event, event->begin, event);
        put_indent(text, event->depth);
        output_text(text->out, "} ");
        output_color(text->out, DIM);
        output_name(text->out, tw_timeline_span_name(text->timeline, event));
        output_color(text->out, PLAIN);
    }
    if (event->span == TW_SPAN_FUNCTION)
        put_function_end(text, event);
    output_text(text->out, "\n");
}

static void put_mark(struct timeline_text *text, const struct tw_timeline_event *event)
{
    const struct tw_track *track = tw_timeline_track(text->timeline, event->track);

    put_columns(text, event, NULL, NULL);
    if (track->kind == TW_TRACK_EVENTS)
        output_format(text->out, "event %" PRIu32 " ", event->what);
    if (event->value_size)
        output_format(text->out, "0x%0*" PRIx64 " ",
                      event->value_size < 8 ? 2 * event->value_size : 1, event->value);
    if (event->has_address)
        output_format(text->out, "at 0x%" PRIx64 " ", event->address);
    for (size_t i = 0; event->text && i < event->text_size; i++) {
        const unsigned char byte = (unsigned char)event->text[i];

        if (byte < 0x20 || byte == 0x7f)
            output_format(text->out, "\\x%02x", byte);
        else
            output_bytes(text->out, &event->text[i], 1);
    }
    output_text(text->out, "\n");
}

void timeline_text_take(struct timeline_text *text, const struct tw_timeline_event *event)
{
    if (event->kind == TW_TIMELINE_BEGIN) {
        put_waiting(text);
        text->waiting = *event;
        text->has_waiting = true;
    } else if (event->kind == TW_TIMELINE_END) {
        put_end(text, event);
    } else {
        put_waiting(text);
        put_mark(text, event);
    }
}

void timeline_text_end(struct timeline_text *text)
{
    put_waiting(text);
}
