/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of timelines share: names of tracks, times in nanoseconds, and what was said. */
#ifndef EXPORT_TIMELINE_WRITER_H
#define EXPORT_TIMELINE_WRITER_H

#include "base/text.h"
#include "export/sink.h"

/* A format of timelines. */
struct tw_timeline_form {
    size_t state_size;
    void (*begin)(struct tw_timeline_writer *writer); /* the unit is known; may be NULL */
    void (*take)(struct tw_timeline_writer *writer, const struct tw_timeline_event *event);
    void (*end)(struct tw_timeline_writer *writer); /* may be NULL */
    /* frees what the state holds; may be NULL */
    void (*release)(struct tw_timeline_writer *writer);
};

/* What was said of a track. */
struct tw_told_track {
    bool is_told;
    bool is_told_too; /* ... in another form: as a counter */
    char *key;        /* "{...}" for JSON lines */
};

struct tw_timeline_writer {
    struct tw_subject subject;
    const struct tw_timeline_form *form;
    struct tw_timeline *timeline;
    bool has_begun;
    struct tw_told_track *tracks;
    size_t track_room;
    uint64_t start; /* estimate of the first event that has one */
    bool has_start;
    uint64_t latest; /* the greatest estimate so far */
    void *state;
    struct tw_sink sink;
};

enum tw_status tw_timeline_writer_make(struct tw_timeline_writer **writer,
                                       const struct tw_timeline_form *form,
                                       const struct tw_subject *subject, tw_write_fn *write,
                                       void *context, struct tw_fault *fault);
/* What was said of the track so far; NULL: no memory. */
struct tw_told_track *tw_timeline_told(struct tw_timeline_writer *writer, uint32_t track);
/* The estimate of an event in nanoseconds, or in what times count where that is not known; the latest
   one before it where the event has none. */
uint64_t tw_timeline_ns(struct tw_timeline_writer *writer, const struct tw_times *times);
/* What a span is called, as the subject wants it shown. */
const char *tw_timeline_name(struct tw_timeline_writer *writer,
                             const struct tw_timeline_event *event);
/* "thread", "core", "exception" ... */
const char *tw_track_kind_name(unsigned kind);
/* What a mark of a track of events says. */
const char *tw_timeline_mark_name(const struct tw_timeline_event *event);

#endif
