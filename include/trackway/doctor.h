/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a capture: decodes all of it once and explains, each with its evidence and what to
   do about it; and where trace is missing, as a strip.  Experimental. */
#ifndef TRACKWAY_DOCTOR_H
#define TRACKWAY_DOCTOR_H

#include <trackway/capture.h>
#include <trackway/run.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_finding_severity {
    TW_FINDING_NOTE,    /* worth knowing */
    TW_FINDING_WARNING, /* something cannot be known that could be */
    TW_FINDING_ERROR,   /* part of what was executed is missing, or wrong */
    TW_FINDING_FATAL    /* nothing can be decoded */
};

struct tw_finding {
    uint8_t severity; /* enum tw_finding_severity */
    const char *code; /* "wrong-image", "overflow" ...: see trackway(1) */
    uint64_t count;   /* how often */
    bool has_offset;
    uint64_t offset; /* in the capture, of the first */
    const char *text;
    const char *remedy;
};

/* What there is of a source in one stretch of its buffer. */
enum tw_strip_state {
    TW_STRIP_NOTHING, /* no trace of it */
    TW_STRIP_SYNCED,  /* decoded */
    TW_STRIP_MISSING, /* ... but code is missing in the image */
    TW_STRIP_GAP,     /* before synchronization, or bytes that could not be read */
    TW_STRIP_OVERFLOW /* the trace unit lost trace */
};

/* The capture's bytes from first to last, in TW_STRIP_COLUMNS stretches of one size. */
enum { TW_STRIP_COLUMNS = 100 };

struct tw_strip {
    const char *name; /* of the source */
    uint8_t id;
    uint64_t bytes;        /* of all buffers together */
    const uint8_t *states; /* TW_STRIP_COLUMNS of enum tw_strip_state */
};

struct tw_doctor_options {
    size_t size;                                     /* sizeof(struct tw_doctor_options) */
    void (*on_bytes)(void *context, uint64_t bytes); /* so many more are read; or NULL */
    void *context;
    const struct tw_allocator *allocator;
    /* How sources are decoded and what names code: core_type, waits_on_error, resumes_on_error,
       assumes_sync, range_limit, source_address_n and symbols of it; borrowed during the call; NULL: as
       usual */
    const struct tw_run_config *run;
};

struct tw_doctor;

/* The capture must outlive it, and may not be decoded by others meanwhile. */
TW_API TW_MUST_USE enum tw_status tw_doctor_new(struct tw_doctor **doctor,
                                                struct tw_capture *capture,
                                                const struct tw_doctor_options *options,
                                                struct tw_fault *fault);
TW_API void tw_doctor_free(struct tw_doctor *doctor);

/* Findings by weight, the heaviest first; NULL: there are no more. */
TW_API const struct tw_finding *tw_doctor_finding(const struct tw_doctor *doctor,
                                                  size_t number);
/* No finding is an error or worse. */
TW_API bool tw_doctor_is_whole(const struct tw_doctor *doctor);
/* One line. */
TW_API const char *tw_doctor_summary(const struct tw_doctor *doctor);
/* One for each source that was decoded; NULL: there are no more. */
TW_API const struct tw_strip *tw_doctor_strip(const struct tw_doctor *doctor, size_t number);
/* "note", "warning", "error", "fatal". */
TW_API const char *tw_finding_severity_name(unsigned severity);
/* All strips as an SVG picture.  Writes at most `room` bytes, with a zero at the end; returns how many
   there are without it. */
TW_API size_t tw_doctor_svg(char *out, size_t room, const struct tw_doctor *doctor);

#ifdef __cplusplus
}
#endif

#endif
