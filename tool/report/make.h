/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a capture's report, as the options say. */
#ifndef REPORT_MAKE_H
#define REPORT_MAKE_H

#include <trackway/report.h>

#include "shared/names.h"
#include "shared/options.h"
#include "shared/source_text.h"

struct report_maker {
    const struct options *options;
    bool is_window;    /* of a part of the capture, for a picture */
    uint64_t room;     /* bytes for the tables of one capture */
    const char *words; /* of the capture, for other commands; NULL: as the options have it */
    struct tw_report *report;
    struct names names;
    struct source_texts texts;
    char creator[64];
};

void report_open(struct report_maker *maker, const struct options *options);
void report_close(struct report_maker *maker);
/* The tables of a capture of the command line: it is run twice, once in the order of time, once to count its
   code.  The exit status. */
int report_make(struct report_maker *maker, size_t number, tw_write_fn *write, void *context);

/* Step by step: maker->report is new, and takes parts; false: said why.  report_write ends it. */
bool report_new(struct report_maker *maker, const char *path, const char *words);
int report_write(struct report_maker *maker, tw_write_fn *write, void *context);

#endif
