/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans and marks of a timeline, held in bounded memory: what is shorter than `least` is merged with its
   neighbours, and `least` doubles whenever there are too many. */
#ifndef REPORT_SPANS_H
#define REPORT_SPANS_H

#include <trackway/timeline.h>

#include "base/map.h"

/* What stands in a row for a time, an offset or a function that is not known. */
#define TW_REPORT_UNKNOWN UINT64_MAX

struct tw_report_span {
    uint64_t start, length;
    uint64_t index;         /* offset in the capture where it begins */
    uint64_t n;             /* instructions executed inside */
    uint64_t value;         /* of gaps: bytes */
    uint32_t before, after; /* how much earlier it may begin, how much later it may end */
    uint32_t name;          /* text */
    uint32_t count;         /* spans that are merged in it; 1: none */
    uint32_t track;
    uint32_t running; /* of gaps: text, the function before; 0: not known */
    uint16_t depth;
    uint8_t kind, how, left;
};

struct tw_report_mark {
    uint64_t time, index, value, address;
    uint32_t track, text;
    uint8_t value_size, has_address;
};

/* Of a function, over its activations that are whole. */
struct tw_report_calls {
    uint64_t whole, least, most; /* in instructions */
    uint64_t least_time, most_time, sum_time;
    uint32_t name; /* + 1; 0: not asked for yet */
};

/* Of a stream of the run. */
struct tw_report_stream {
    uint64_t last, last_time; /* offset + 1 of its last event, and when that was */
    uint32_t name;            /* text: the function that was entered last */
};

/* A key and what `last` of the spans has for it. */
struct tw_report_recent {
    uint64_t key, number; /* 0: none */
};

enum { TW_REPORT_BUCKETS = 1024, TW_REPORT_RECENT = 256 };

struct tw_report_spans {
    const struct tw_allocator *allocator;
    struct tw_report_span *spans;
    size_t count, room, most;
    uint64_t least;     /* 0: nothing is merged yet */
    struct tw_map last; /* track and depth, to the number + 1 of a merged span that may grow */
    struct tw_report_recent recent[TW_REPORT_RECENT]; /* ... of what was asked for last */
    struct tw_report_mark *marks;
    size_t mark_count, mark_room, mark_most;
    uint64_t spans_left, marks_left; /* that had no room */
    uint64_t untimed;                /* events without any time */
    struct tw_report_calls *functions;
    size_t function_room;
    /* bytes of trace over time: buckets of 1 << bucket_bits units, from the first event on */
    uint64_t first;
    unsigned bucket_bits;
    bool has_first;
    uint64_t bytes[TW_REPORT_BUCKETS];
    struct tw_report_stream *streams; /* by number */
    size_t stream_count, stream_room;
    struct tw_report_stream no_stream; /* of events that belong to none */
    bool is_out;
};

struct tw_report;

void tw_report_spans_init(struct tw_report_spans *spans, const struct tw_allocator *allocator,
                          uint64_t room);
void tw_report_spans_free(struct tw_report_spans *spans);
void tw_report_spans_add(struct tw_report_spans *spans, const struct tw_report_span *span);
void tw_report_take_event(struct tw_report *report, const struct tw_timeline_event *event);

#endif
