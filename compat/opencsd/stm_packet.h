/* SPDX-License-Identifier: BSD-2-Clause */
/* STM and ITM packets as OpenCSD has them. */
#ifndef OPENCSD_STM_PACKET_H
#define OPENCSD_STM_PACKET_H

#include "opencsd/protocol.h"
#include "opencsd/text.h"

void oc_stm_init(void *state, const struct oc_setup *setup);
void oc_stm_reset(void *state);
void oc_stm_fill(void *state, const void *packet, const uint8_t *bytes);
void oc_stm_text(struct oc_text *text, const void *packet);

void oc_itm_init(void *state, const struct oc_setup *setup);
void oc_itm_reset(void *state);
void oc_itm_fill(void *state, const void *packet, const uint8_t *bytes);
void oc_itm_text(struct oc_text *text, const void *packet);

#endif
