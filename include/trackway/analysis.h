/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be asked of a run: all analyses.  Experimental. */
#ifndef TRACKWAY_ANALYSIS_H
#define TRACKWAY_ANALYSIS_H

#include <trackway/autofdo.h>
#include <trackway/calls.h>
#include <trackway/channels.h>
#include <trackway/coverage.h>
#include <trackway/functions.h>
#include <trackway/interrupts.h>
#include <trackway/pc_samples.h>
#include <trackway/samples.h>
#include <trackway/statistics.h>
#include <trackway/timeline.h>
#include <trackway/walk.h>

#endif
