/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets as OpenCSD has them: what a packet says, and what stays from those before. */
#ifndef OPENCSD_ETMV4_PACKET_H
#define OPENCSD_ETMV4_PACKET_H

#include <stdbool.h>

#include <trackway/etmv4.h>

#include "opencsd/protocol.h"
#include "opencsd/text.h"

/* The struct of 1.7.1: more stands between, and more at the end. */
struct oc_etmv4_later {
    uint8_t head[offsetof(ocsd_etmv4_i_pkt, pkt_valid)];
    struct {
        uint8_t el;
        uint64_t value;
    } ite;
    uint32_t valid;
    uint32_t err_type;
    uint8_t err_hdr_val;
    uint8_t protocol_version;
};

struct oc_etmv4_state {
    ocsd_etmv4_i_pkt packet;
    struct {
        ocsd_pkt_vaddr address;
        uint8_t isa;
    } history[3];
    uint8_t version;
    bool is_m_profile, is_1_7;

    /* 1.7.1 */
    struct oc_etmv4_later later;
    uint8_t ite_el;
    uint64_t ite_value;
    bool is_initial, has_spec, has_cancel;
};

enum {
    OC_ETMV4_ITE_1_7 = 0x09,
    OC_ETMV4_UNSYNCED =
        TW_ETMV4_TYPES /* cause of a cut packet: bytes before the synchronization */
};

void oc_etmv4_init(void *state, const struct oc_setup *setup);
void oc_etmv4_reset(void *state);
void oc_etmv4_fill(void *state, const void *packet, const uint8_t *bytes);
const void *oc_etmv4_shown(void *state);
void oc_etmv4_text(struct oc_text *text, const void *packet);

#endif
