/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM packets as OpenCSD has them. */
#ifndef OPENCSD_PTM_PACKET_H
#define OPENCSD_PTM_PACKET_H

#include "opencsd/protocol.h"
#include "opencsd/text.h"

void oc_ptm_init(void *state, const struct oc_setup *setup);
void oc_ptm_reset(void *state);
void oc_ptm_fill(void *state, const void *packet, const uint8_t *bytes);
void oc_ptm_text(struct oc_text *text, const void *packet);

/* The words of PTM and ETMv3 for an instruction set: "ISA=Thumb2; ". */
const char *oc_isa_text(ocsd_isa isa);
/* Of both: "Data Fault" ... for exceptions of cores that are not of the M profile. */
const char *oc_exception_text(unsigned number);

#endif
