/* SPDX-License-Identifier: BSD-2-Clause */
/* What the packet readers of ETMv3 and PTM share: registers, and the hunt for A-sync. */
#ifndef ARMV7_PACKET_H
#define ARMV7_PACKET_H

#include "armv7/exceptions.h"
#include "armv7/fields.h"
#include "protocol.h"

/* The registers that configure a trace unit of either kind. */
struct tw_armv7_registers {
    uint32_t etmcr, etmidr, etmccer, etmtraceidr;
};

extern const struct tw_register_use tw_armv7_register_uses[];

/* Those of a source; `major`, the architecture in ETMIDR, is what `name` has. */
enum tw_status tw_armv7_registers(struct tw_armv7_registers *out,
                                  const struct tw_source_info *source, unsigned major,
                                  const char *name, struct tw_fault *fault);

/* The types of bytes without synchronization, and of A-sync. */
struct tw_armv7_hunted {
    uint8_t not_sync, async;
};

/* Without synchronization: sets type and size of the bytes up to the next A-sync, or of that A-sync.
   TW_MORE: neither is sure yet. */
enum tw_status tw_armv7_hunt(struct tw_packet *packet, const struct tw_armv7_hunted *types,
                             const uint8_t *data, size_t size, bool is_last);

#endif
