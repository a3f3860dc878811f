/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 packets as OpenCSD has them. */
#ifndef OPENCSD_ETMV3_PACKET_H
#define OPENCSD_ETMV3_PACKET_H

#include <stdbool.h>

#include "opencsd/protocol.h"
#include "opencsd/text.h"

struct oc_etmv3_state {
    ocsd_etmv3_pkt packet;
    bool is_m_profile, has_hyp;
};

void oc_etmv3_init(void *state, const struct oc_setup *setup);
void oc_etmv3_reset(void *state);
void oc_etmv3_fill(void *state, const void *packet, const uint8_t *bytes);
void oc_etmv3_text(struct oc_text *text, const void *packet);

#endif
