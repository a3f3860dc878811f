/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of an analysis, as Python has it. */
#ifndef PYTHON_RESULT_H
#define PYTHON_RESULT_H

#include "core/core.h"

enum core_kind { CORE_PROFILE, CORE_CALLS, CORE_COVERAGE, CORE_STATISTICS, CORE_KINDS };

struct core_result {
    PyObject_HEAD enum core_kind kind;
    union {
        struct tw_profiler *profile;
        struct tw_coverage *coverage;
        struct tw_statistics *statistics;
    };
    struct tw_calls *calls; /* CORE_CALLS, and what a CORE_PROFILE follows */
    struct tw_run *run;     /* names are its symbols'; NULL: loaded */
    struct core_capture *capture;
    bool is_finished;
    bool lacks_parts; /* calls: when they were finished */
};

extern const char *const core_kind_names[CORE_KINDS];

/* No more comes: before anything is read. */
enum tw_status core_finish(struct core_result *result);

/* rows.c: getters. */
PyObject *core_rows(PyObject *self, void *none);
PyObject *core_totals(PyObject *self, void *none);
PyObject *core_edges(PyObject *self, void *none);
PyObject *core_paths(PyObject *self, void *none);
PyObject *core_functions_covered(PyObject *self, void *none);

#endif
