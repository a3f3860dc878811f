/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of trackway coverage. */
#ifndef COMMANDS_COVERAGE_H
#define COMMANDS_COVERAGE_H

#include "shared/options.h"

/* Edge maps; the exit status. */
int coverage_edges(const struct options *options);

#endif
