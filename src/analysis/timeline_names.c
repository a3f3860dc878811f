/* SPDX-License-Identifier: BSD-2-Clause */
/* What the things on a timeline are called. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/timeline.h"

const char *tw_time_unit_name(unsigned unit)
{
    static const char *const names[] = {
        [TW_UNIT_AUTO] = "auto",     [TW_UNIT_TIME] = "time",
        [TW_UNIT_NS] = "ns",         [TW_UNIT_TICKS] = "ticks",
        [TW_UNIT_CYCLES] = "cycles", [TW_UNIT_INSTRUCTIONS] = "instructions",
    };

    return unit < TW_LENGTH(names) ? names[unit] : "unknown";
}

const char *tw_gap_reason_name(unsigned reason)
{
    static const char *const names[TW_GAP_REASONS] = {
        [TW_GAP_OVERFLOW] = "overflow",     [TW_GAP_DISCARD] = "discard",
        [TW_GAP_BAD_TRACE] = "bad-trace",   [TW_GAP_NO_SYNC] = "no-sync",
        [TW_GAP_NOT_TRACED] = "not-traced", [TW_GAP_RECORDER] = "recorder",
    };

    return reason < TW_GAP_REASONS ? names[reason] : "unknown";
}

const char *tw_timeline_span_name(struct tw_timeline *timeline,
                                  const struct tw_timeline_event *event)
{
    const struct tw_timeline_event *begin = event->begin ? event->begin : event;
    const struct tw_function *function;
    const struct tw_track *track;

    switch (begin->span) {
    case TW_SPAN_FUNCTION:
        function = tw_functions_get(&timeline->calls->functions, begin->what);
        return function ? function->name : "";
    case TW_SPAN_THREAD:
        track = tw_timeline_track(timeline, begin->what);
        return track ? track->name : "";
    case TW_SPAN_GAP:
        return tw_gap_reason_name(begin->how);
    case TW_SPAN_SHORT:
        (void)snprintf(timeline->scratch, sizeof timeline->scratch, "[%" PRIu64 " short]",
                       begin->value);
        return timeline->scratch;
    default:
        track = tw_timeline_track(timeline, begin->track);
        return track ? track->name : "";
    }
}
