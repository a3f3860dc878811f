/* SPDX-License-Identifier: BSD-2-Clause */
/* The analyses behind a page, and the rows that they become. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <trackway/coverage.h>
#include <trackway/interrupts.h>
#include <trackway/profile.h>
#include <trackway/report.h>

#include "report/spans.h"
#include "report/tables.h"

struct tw_report {
    struct tw_report_config config;
    struct tw_tables tables;
    struct tw_calls *calls; /* the report's own, or the timeline's */
    struct tw_calls *own_calls;
    struct tw_profiler *profile;
    struct tw_timeline *timeline;
    struct tw_interrupts *interrupts;
    struct tw_coverage *coverage;
    struct tw_report_spans spans;
    struct tw_run *run;      /* of the parts */
    struct tw_run *code_run; /* of the counter; NULL: there was none */
    const char *core_type;
    bool is_out; /* of memory */
};

/* The number of a name as it is to be shown. */
uint32_t tw_report_name(struct tw_report *report, const char *name);
/* The same of a text that may be NULL, which is "". */
uint32_t tw_report_text(struct tw_report *report, const char *text);

/* Each adds tables to the report's. */
void tw_report_add_functions(struct tw_report *report);
void tw_report_add_paths(struct tw_report *report);
void tw_report_add_spans(struct tw_report *report);
void tw_report_add_interrupts(struct tw_report *report);
void tw_report_add_code(struct tw_report *report);
void tw_report_add_coverage(struct tw_report *report);
void tw_report_add_losses(struct tw_report *report);

#endif
