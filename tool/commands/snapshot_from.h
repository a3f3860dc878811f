/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway snapshot --from: another capture as a snapshot folder. */
#ifndef SNAPSHOT_FROM_H
#define SNAPSHOT_FROM_H

#include <trackway/capture.h>

#include "shared/options.h"

/* The exit status; says what went wrong. */
int snapshot_from(const struct options *options);
int snapshot_copy(const struct options *options, const struct tw_capture *capture);

#endif
