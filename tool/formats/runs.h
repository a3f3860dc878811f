/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format runs: straight runs of every CPU and thread, in time order. */
#ifndef RUNS_H
#define RUNS_H

#include "shared/session.h"

/* The exit status. */
int runs_print(struct session *session);

#endif
