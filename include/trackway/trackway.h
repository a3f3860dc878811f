/* SPDX-License-Identifier: BSD-2-Clause */
/* All stable headers of the library: what they offer is kept (docs/api.md says how).  Stable. */
#ifndef TRACKWAY_TRACKWAY_H
#define TRACKWAY_TRACKWAY_H

#include <trackway/capture.h>
#include <trackway/disassembly.h>
#include <trackway/errors.h>
#include <trackway/etmv3.h>
#include <trackway/etmv4.h>
#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/index.h>
#include <trackway/instruction.h>
#include <trackway/itm.h>
#include <trackway/plugin.h>
#include <trackway/protocol.h>
#include <trackway/ptm.h>
#include <trackway/push.h>
#include <trackway/status.h>
#include <trackway/stm.h>
#include <trackway/symbols.h>
#include <trackway/tree.h>
#include <trackway/types.h>
#include <trackway/version.h>

#endif
