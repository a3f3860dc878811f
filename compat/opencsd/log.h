/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of the whole process: what is amiss, and the lines of printers. */
#ifndef OPENCSD_LOG_H
#define OPENCSD_LOG_H

#include <stdbool.h>

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/output.h"

enum { OC_NAME_MAX = 64 };

/* A part of a decode tree that logs: its name, and what was wanted of the log when it was made. */
struct oc_source {
    char name[OC_NAME_MAX];
    bool is_logging; /* else it has no log */
    ocsd_err_severity_t verbosity;
};

struct oc_error {
    ocsd_err_severity_t severity;
    ocsd_err_t code;
    ocsd_trc_index_t index; /* OCSD_BAD_TRC_INDEX: of no place */
    uint8_t id;             /* OCSD_BAD_CS_SRC_ID: of no source */
    const char *message;    /* NULL: none */
};

/* "NAME", or "NAME_0016" with a number that is not negative; logs from now on. */
void oc_source_start(struct oc_source *source, const char *name, int number);

void oc_log_error(const struct oc_source *source, const struct oc_error *error);
void oc_log_message(const struct oc_source *source, ocsd_err_severity_t severity,
                    const char *message);
/* A line as it is, whatever the verbosity. */
void oc_log_line(const char *line);
/* Where the log goes now, for the caller to drop; NULL: nowhere. */
struct oc_output *oc_log_output(void);

ocsd_err_t oc_log_init(ocsd_err_severity_t verbosity, bool has_output);
ocsd_err_t oc_log_set_output(int flags, const char *file);
ocsd_err_t oc_log_set_callback(const void *tree, const void *context,
                               FnDefLoggerPrintStrCB print);
ocsd_err_t oc_log_last(ocsd_trc_index_t *index, uint8_t *id, char *message, int size);
void oc_error_text(const struct oc_error *error, char *out, int size);

#endif
