/* SPDX-License-Identifier: BSD-2-Clause */
/* Where lines go: standard output, standard error, a file, a callback.  A printer stays with the output
   that there was when it was made, whatever the log takes later. */
#ifndef OPENCSD_OUTPUT_H
#define OPENCSD_OUTPUT_H

#include <stdbool.h>

#include "opencsd/c_api/opencsd_c_api.h"

struct oc_output;

/* NULL: no memory.  It goes to standard error. */
struct oc_output *oc_output_new(void);
/* One more user of it, or one less; NULL is none. */
struct oc_output *oc_output_hold(struct oc_output *output);
void oc_output_drop(struct oc_output *output);

void oc_output_write(struct oc_output *output, const char *line);

void oc_output_set(struct oc_output *output, int flags, const char *file);
void oc_output_set_callback(struct oc_output *output, const void *tree, const void *context,
                            FnDefLoggerPrintStrCB print);
/* The tree is gone: its callback is not called any more, wherever it is. */
void oc_output_forget(const void *tree);

#endif
