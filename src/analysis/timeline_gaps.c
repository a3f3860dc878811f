/* SPDX-License-Identifier: BSD-2-Clause */
/* Where trace is missing. */
#include "analysis/timeline.h"

enum tw_gap_reason tw_timeline_gap_reason(const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_TRACE_ON)
        return element->reason == TW_TRACE_ON_OVERFLOW ? TW_GAP_OVERFLOW : TW_GAP_NOT_TRACED;
    if (element->type == TW_ELEMENT_ERROR)
        return element->error == TW_ERROR_OVERFLOW ? TW_GAP_OVERFLOW : TW_GAP_BAD_TRACE;
    switch (element->reason) {
    case TW_REASON_OVERFLOW:
        return TW_GAP_OVERFLOW;
    case TW_REASON_DISCARD:
        return TW_GAP_DISCARD;
    case TW_REASON_BAD_PACKET:
    case TW_REASON_BAD_IMAGE:
        return TW_GAP_BAD_TRACE;
    default:
        return TW_GAP_NO_SYNC;
    }
}

static uint32_t gap_track(struct tw_timeline *timeline, struct tw_timeline_stream *stream)
{
    if (stream->gap_track == TW_NONE)
        stream->gap_track = tw_timeline_what_track(timeline, stream, TW_TRACK_GAPS, 0, 0);
    return stream->gap_track;
}

void tw_timeline_end_kernel(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                            uint64_t index, bool is_late)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, index);

    if (!stream->in_kernel)
        return;
    stream->in_kernel = false;
    moment.track = stream->kernel_track;
    moment.kind = TW_TIMELINE_END;
    moment.span = TW_SPAN_FUNCTION;
    moment.how = TW_LEAVE_RETURN;
    moment.is_late = is_late;
    tw_timeline_moment(timeline, stream, &moment);
}

void tw_timeline_begin_gap(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                           uint64_t index, enum tw_gap_reason reason, uint64_t bytes)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, index);

    if (stream->has_gap || !stream->has_begun)
        return;
    tw_timeline_end_kernel(timeline, stream, index, false);
    tw_timeline_leave_all(timeline, stream, index, TW_EXCEPTION_LOST);
    stream->has_gap = true;
    timeline->stats.gaps++;
    moment.track = gap_track(timeline, stream);
    moment.kind = TW_TIMELINE_BEGIN;
    moment.span = TW_SPAN_GAP;
    moment.how = (uint8_t)reason;
    moment.value = bytes;
    moment.has_gap = true;
    tw_timeline_moment(timeline, stream, &moment);
}

void tw_timeline_end_gap(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                         uint64_t index)
{
    struct tw_moment moment = tw_timeline_now(timeline, stream, index);

    stream->has_begun = true;
    if (!stream->has_gap)
        return;
    stream->has_gap = false;
    moment.track = gap_track(timeline, stream);
    moment.kind = TW_TIMELINE_END;
    moment.span = TW_SPAN_GAP;
    moment.is_late = true;
    tw_timeline_moment(timeline, stream, &moment);
}
