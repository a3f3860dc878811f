/* SPDX-License-Identifier: BSD-2-Clause */
/* What a page shows of a capture: its functions, calls, timeline, code with counts, losses, interrupts and
   messages as tables of numbers and names in one block of bytes.  `trackway report` puts it into an HTML
   file; docs/formats.md has its form.  Experimental. */
#ifndef TRACKWAY_REPORT_H
#define TRACKWAY_REPORT_H

#include <trackway/calls.h>
#include <trackway/doctor.h>
#include <trackway/formats.h>
#include <trackway/run.h>
#include <trackway/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_report;

struct tw_report_config {
    size_t size;         /* sizeof(struct tw_report_config) */
    const char *title;   /* of the capture; may be NULL.  Texts are borrowed */
    const char *creator; /* "trackway 0.2.0"; may be NULL */
    /* what commands are given to look at this capture: "CAPTURE --sysroot DIR"; may be NULL */
    const char *words;
    enum tw_call_key key;
    enum tw_time_unit unit;
    const char *core_type; /* as in struct tw_timeline_config */
    bool is_logical;       /* tail calls: as in struct tw_calls_config */
    /* Bytes that the tables may have, more or less; 0: 14 MiB.  Where there is more, short spans are
       merged, and code that executed least is left out; what is missing is told. */
    uint64_t room;
    /* A name as it is to be shown; NULL: as it is.  Lasts until the next call. */
    const char *(*show_name)(void *context, const char *name);
    void *show_context;
    /* A line of a source file, not ended by a zero; NULL: not there.  NULL: sources are not shown. */
    const char *(*source_text)(void *context, const char *file, uint32_t line, size_t *size);
    void *source_context;
    const struct tw_allocator *allocator;
    /* For a window: no times of functions, which take as long as the rest; and calls are followed once, for
       the timeline, whose stacks end where trace is lost. */
    bool without_time;
};

TW_API TW_MUST_USE enum tw_status tw_report_new(struct tw_report **report,
                                                const struct tw_report_config *config,
                                                struct tw_fault *fault);
TW_API void tw_report_free(struct tw_report *report);

/* The next part of a run in time order: all of them come first.  The run must outlive the report. */
TW_API TW_MUST_USE enum tw_status tw_report_take(struct tw_report *report, struct tw_run *run,
                                                 const struct tw_part *part);

/* Then, for code with counts, a second run of the same capture gets this as its config's counter; tell
   which run it is after tw_run_new.  May be left out. */
TW_API struct tw_run_counter tw_report_counter(struct tw_report *report);
TW_API void tw_report_run(struct tw_report *report, struct tw_run *run);

/* What the doctor found; may be left out. */
TW_API TW_MUST_USE enum tw_status tw_report_doctor(struct tw_report *report,
                                                   const struct tw_doctor *doctor);

/* No more comes: makes the tables, and gives them away.  Once.  TW_E_CANCELLED: `write` wanted no more. */
TW_API TW_MUST_USE enum tw_status tw_report_write(struct tw_report *report, tw_write_fn *write,
                                                  void *context);

#ifdef __cplusplus
}
#endif

#endif
