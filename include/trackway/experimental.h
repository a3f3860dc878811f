/* SPDX-License-Identifier: BSD-2-Clause */
/* All experimental headers of the library: what they offer may change with each release.
   Experimental. */
#ifndef TRACKWAY_EXPERIMENTAL_H
#define TRACKWAY_EXPERIMENTAL_H

#include <trackway/analysis.h>
#include <trackway/autofdo.h>
#include <trackway/calls.h>
#include <trackway/channels.h>
#include <trackway/control.h>
#include <trackway/coverage.h>
#include <trackway/demangle.h>
#include <trackway/doctor.h>
#include <trackway/edge_map.h>
#include <trackway/etmv3_unit.h>
#include <trackway/etmv4_unit.h>
#include <trackway/etrace.h>
#include <trackway/etrace_unit.h>
#include <trackway/formats.h>
#include <trackway/functions.h>
#include <trackway/hart.h>
#include <trackway/identify.h>
#include <trackway/interrupts.h>
#include <trackway/itm_unit.h>
#include <trackway/log.h>
#include <trackway/members.h>
#include <trackway/merge.h>
#include <trackway/ntrace.h>
#include <trackway/ntrace_unit.h>
#include <trackway/pc_samples.h>
#include <trackway/perfdata.h>
#include <trackway/profile.h>
#include <trackway/ptm_unit.h>
#include <trackway/pyramid.h>
#include <trackway/replay.h>
#include <trackway/report.h>
#include <trackway/run.h>
#include <trackway/samples.h>
#include <trackway/sequence.h>
#include <trackway/sim.h>
#include <trackway/statistics.h>
#include <trackway/stm_unit.h>
#include <trackway/timeline.h>
#include <trackway/trbe.h>
#include <trackway/unit.h>
#include <trackway/walk.h>

#endif
