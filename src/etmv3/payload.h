/* SPDX-License-Identifier: BSD-2-Clause */
/* The readers of payloads that the rule table of packet.c names.  Each fills the members of its
   packet, and leaves the reader as it was when the bytes are too few (in->short_read); what cannot
   be becomes a packet of a bad type. */
#ifndef ETMV3_PAYLOAD_H
#define ETMV3_PAYLOAD_H

#include "etmv3/packet.h"

typedef void tw_etmv3_read_fn(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                              struct tw_etmv3_packet *out, uint8_t head);

tw_etmv3_read_fn tw_etmv3_read_bad, tw_etmv3_read_head_only, tw_etmv3_read_async,
    tw_etmv3_read_isync, tw_etmv3_read_branch, tw_etmv3_read_p_header, tw_etmv3_read_count,
    tw_etmv3_read_vmid, tw_etmv3_read_context, tw_etmv3_read_timestamp, tw_etmv3_read_data;

#endif
