/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of trackway coverage. */
#ifndef COMMANDS_COVERAGE_H
#define COMMANDS_COVERAGE_H

#include "shared/options.h"

/* Everything but edge maps, as options->format says; the exit status. */
int coverage_counts(const struct options *options);
/* Edge maps. */
int coverage_edges(const struct options *options);

#endif
