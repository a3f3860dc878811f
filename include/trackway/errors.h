/* SPDX-License-Identifier: BSD-2-Clause */
/* The error log: what was amiss in the trace or could not be done, and where; kept, written
   to a file, or handed to the caller.  Stable. */
#ifndef TRACKWAY_ERRORS_H
#define TRACKWAY_ERRORS_H

#include <stdio.h>

#include <trackway/frame.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_severity {
    TW_SEVERITY_DEFAULT, /* as verbosity: errors and warnings */
    TW_SEVERITY_ERROR,   /* bad trace; a call that could not be done */
    TW_SEVERITY_WARNING, /* trace is missing: overflow, gap, lost frame sync */
    TW_SEVERITY_INFO     /* good to know: code that no image holds, sources without decoder */
};

#define TW_NO_INDEX UINT64_MAX

/* One entry: a plain value, nothing to free. */
struct tw_error {
    uint64_t index;        /* offset in the capture; TW_NO_INDEX: of no place in it */
    uint64_t skipped;      /* bytes passed over up to the next synchronization, or ... */
    enum tw_status status; /* of a call that failed; TW_OK: the trace is what is bad */
    uint8_t severity;      /* enum tw_severity */
    uint8_t code;          /* enum tw_error_code */
    uint8_t id;            /* trace ID; TW_ID_UNKNOWN: of none */
    char text[101];        /* one line, no final dot */
    bool is_resumed;       /* ... up to the next byte: decoding went on without one */
};

typedef void tw_error_fn(void *context, const struct tw_error *error);

/* The last entry is always kept.  Beside it, all at once if wanted: */
struct tw_errors_config {
    size_t size;           /* sizeof(struct tw_errors_config) */
    bool keeps_all;        /* keep the first `most` entries */
    size_t most;           /* 0: 65,536 */
    FILE *file;            /* borrowed: gets a line for each entry; NULL: none */
    const char *name;      /* of the capture, at the front of such lines; copied; NULL: none */
    tw_error_fn *on_error; /* called for each entry; NULL: none */
    void *on_error_context;
    const struct tw_allocator *allocator;
};

struct tw_errors;

TW_API TW_MUST_USE enum tw_status tw_errors_new(struct tw_errors **errors,
                                                const struct tw_errors_config *config,
                                                struct tw_fault *fault);
TW_API void tw_errors_free(struct tw_errors *errors);

/* A tree does this for all that it meets (see tw_tree_config); others may. */
TW_API void tw_errors_add(struct tw_errors *errors, const struct tw_error *error);
/* Forgets the entries and the counts. */
TW_API void tw_errors_clear(struct tw_errors *errors);
/* The name in lines from now on; false: out of memory, the old one stays. */
TW_API bool tw_errors_set_name(struct tw_errors *errors, const char *name);

/* NULL: there was none. */
TW_API const struct tw_error *tw_errors_last(const struct tw_errors *errors);
/* How many entries of a severity were added; TW_SEVERITY_DEFAULT: of any. */
TW_API uint64_t tw_errors_count(const struct tw_errors *errors, enum tw_severity severity);
/* keeps_all: how many are kept (the rest was only counted), and the n-th of them, oldest first. */
TW_API size_t tw_errors_kept(const struct tw_errors *errors);
TW_API const struct tw_error *tw_errors_get(const struct tw_errors *errors, size_t number);

/* What an element says that belongs into a log; false: nothing. */
TW_API bool tw_error_from_element(struct tw_error *error, const struct tw_element *element,
                                  uint8_t id);
/* An entry as a line without its end, "NAME+0x1a2c id 0x10: reserved header 0x20; skipped 31 bytes
   to the next sync" (or "; skipped 1 byte, resumed at the next byte"); `name` may be NULL.  Never writes more than `room` bytes; returns the line's
   length, not counting the zero that ends it. */
TW_API size_t tw_error_text(char *out, size_t room, const struct tw_error *error,
                            const char *name);
/* "error", "warning", "info". */
TW_API const char *tw_severity_name(unsigned severity);

#ifdef __cplusplus
}
#endif

#endif
