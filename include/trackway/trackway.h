/* SPDX-License-Identifier: BSD-2-Clause */
/* All of the library's public headers. */
#ifndef TRACKWAY_TRACKWAY_H
#define TRACKWAY_TRACKWAY_H

#include <trackway/analysis.h>
#include <trackway/capture.h>
#include <trackway/disassembly.h>
#include <trackway/errors.h>
#include <trackway/etmv3.h>
#include <trackway/etmv4.h>
#include <trackway/etrace.h>
#include <trackway/etrace_unit.h>
#include <trackway/formats.h>
#include <trackway/frame.h>
#include <trackway/hart.h>
#include <trackway/image.h>
#include <trackway/index.h>
#include <trackway/instruction.h>
#include <trackway/itm.h>
#include <trackway/log.h>
#include <trackway/ntrace.h>
#include <trackway/perfdata.h>
#include <trackway/protocol.h>
#include <trackway/ptm.h>
#include <trackway/push.h>
#include <trackway/run.h>
#include <trackway/sequence.h>
#include <trackway/sim.h>
#include <trackway/status.h>
#include <trackway/stm.h>
#include <trackway/symbols.h>
#include <trackway/trbe.h>
#include <trackway/tree.h>
#include <trackway/types.h>
#include <trackway/unit.h>

#endif
