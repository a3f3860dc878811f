/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as files that other programs read: one table of formats.  Experimental. */
#ifndef TRACKWAY_FORMATS_H
#define TRACKWAY_FORMATS_H

#include <trackway/calls.h>
#include <trackway/coverage.h>
#include <trackway/profile.h>
#include <trackway/timeline.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a format can hold, as bits. */
enum tw_subject_kind {
    TW_SUBJECT_CALLS = 1,
    TW_SUBJECT_PROFILE = 2,
    TW_SUBJECT_COVERAGE = 4,
    TW_SUBJECT_TIMELINE = 8
};

/* Takes the bytes of a file as they are made; false: no more are wanted, and writing stops. */
typedef bool tw_write_fn(void *context, const void *bytes, size_t size);

/* What is to be written. */
struct tw_subject {
    size_t size;         /* sizeof(struct tw_subject) */
    const char *title;   /* of the program or capture; may be NULL */
    const char *creator; /* "trackway 0.2.0"; may be NULL */
    const struct tw_calls *calls;
    const struct tw_coverage *coverage;
    const struct tw_profiler *profile;
    bool with_stacks;     /* jsonl: every path of calls too */
    const char *function; /* jsonl, csv of calls: this one alone and its calls; NULL: all */
    /* A name as it is to be shown; NULL: as it is.  Lasts until the next call. */
    const char *(*show_name)(void *context, const char *name);
    void *show_context;
    struct tw_timeline *timeline;
    uint64_t clock; /* timeline: its times count at this rate, in Hz; 0: not known */
    /* Formats that are folders: bytes of one of the files in it; false: no more are wanted. */
    bool (*write_file)(void *context, const char *name, const void *bytes, size_t size);
    void *file_context;
    const struct tw_allocator *allocator; /* of what is written with it; NULL: malloc */
    /* Coverage for compilers and linkers: the program or library, by path, last name or build ID (its first
       eight digits or more); NULL: the one that executed most. */
    const char *binary;
};

struct tw_format {
    const char *name; /* as typed on the command line */
    /* of its files, with the dot; NULL: a folder, see tw_subject.write_file */
    const char *extension;
    const char *title; /* for people */
    unsigned subjects; /* bits of enum tw_subject_kind */
    bool is_binary;
};

/* In the order of listings; NULL at the end. */
TW_API const struct tw_format *tw_format_get(size_t number);
/* The format of this name that can hold a subject; NULL: there is none. */
TW_API const struct tw_format *tw_format_by_name(const char *name, enum tw_subject_kind kind);
/* TW_E_CANCELLED: `write` wanted no more. */
TW_API TW_MUST_USE enum tw_status tw_format_write(const struct tw_format *format,
                                                  const struct tw_subject *subject,
                                                  tw_write_fn *write, void *context);

/* A timeline is written while it is made: hand each of its events on, in the order in which they come.
   What the subject points at must outlive the writer. */
struct tw_timeline_writer;

TW_API TW_MUST_USE enum tw_status tw_timeline_writer_new(struct tw_timeline_writer **writer,
                                                         const struct tw_format *format,
                                                         const struct tw_subject *subject,
                                                         tw_write_fn *write, void *context,
                                                         struct tw_fault *fault);
TW_API void tw_timeline_writer_take(struct tw_timeline_writer *writer,
                                    const struct tw_timeline_event *event);
/* After tw_timeline_finish: writes the rest.  TW_E_CANCELLED: `write` wanted no more. */
TW_API TW_MUST_USE enum tw_status tw_timeline_writer_end(struct tw_timeline_writer *writer);
TW_API void tw_timeline_writer_free(struct tw_timeline_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
