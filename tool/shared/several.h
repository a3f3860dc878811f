/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that list one capture list several one after the other: a process is started once for all of them. */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "shared/options.h"

/* Runs options->command for each argument alone, each under a line with its name; the worst exit status of all. */
int several_run(const struct options *options);

#endif
