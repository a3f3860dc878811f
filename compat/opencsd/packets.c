/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to those who look at them. */
#include "opencsd/packets.h"

#include <stdlib.h>
#include <string.h>

bool oc_packets_init(struct oc_packets *packets, const struct oc_protocol *protocol,
                     const struct oc_setup *setup, uint32_t flags)
{
    packets->protocol = protocol;
    packets->flags = flags;
    packets->state = calloc(1, protocol->state_size);
    if (!packets->state)
        return false;
    protocol->state_init(packets->state, setup);
    for (unsigned type = 0; type < sizeof packets->is_bad; type++)
        packets->is_bad[type] = protocol->is_bad(type);
    return true;
}

void oc_packets_free(struct oc_packets *packets)
{
    free(packets->state);
}

/* The monitor sees the bytes; where a packet begins inside a byte, what belongs to the one before is
   cleared. */
static void monitor(const struct oc_packets *packets, const struct oc_packet *packet,
                    const void *shown)
{
    enum { SHARING_MOST = 32 };
    const struct tw_packet *base = packet->packet;
    uint8_t copy[SHARING_MOST];
    const uint8_t *bytes = packet->bytes;

    if (!packet->size)
        return;
    if (base->skip_bits && packet->size <= SHARING_MOST) {
        memcpy(copy, bytes, packet->size);
        copy[0] &= (uint8_t)(0xffu << base->skip_bits);
        bytes = copy;
    }
    packets->to.monitor(packets->to.monitor_context, OCSD_OP_DATA, packet->index, shown,
                        (uint32_t)packet->size, bytes);
}

/* As OpenCSD has it. */
static inline const void *fill(struct oc_packets *packets, const struct oc_packet *packet)
{
    const struct oc_protocol *protocol = packets->protocol;

    protocol->fill(packets->state, packet->packet, packet->bytes);
    return protocol->shown ? protocol->shown(packets->state) : packets->state;
}

ocsd_datapath_resp_t oc_packets_show_good(struct oc_packets *packets,
                                          const struct oc_packet *packet)
{
    const void *shown = fill(packets, packet);

    if (packets->to.monitor)
        monitor(packets, packet, shown);
    if (!packets->to.sink)
        return OCSD_RESP_CONT;
    return packets->to.sink(packets->to.sink_context, OCSD_OP_DATA, packet->index, shown);
}

ocsd_datapath_resp_t oc_packets_show(struct oc_packets *packets, const struct oc_packet *packet)
{
    const struct tw_packet *base = packet->packet;
    const bool is_bad = packets->is_bad[base->type];
    const void *shown;

    if (!packets->to.sink && !packets->to.monitor)
        return OCSD_RESP_CONT;
    shown = fill(packets, packet);
    if (packets->to.monitor && !(is_bad && packets->flags & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS))
        monitor(packets, packet, shown);
    if (packets->to.sink && !packet->is_quiet &&
        !(is_bad && packets->flags & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS))
        return packets->to.sink(packets->to.sink_context, OCSD_OP_DATA, packet->index, shown);
    return OCSD_RESP_CONT;
}

ocsd_datapath_resp_t oc_packets_reset(struct oc_packets *packets, ocsd_trc_index_t index)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    if (packets->to.sink)
        answer = packets->to.sink(packets->to.sink_context, OCSD_OP_RESET, index, NULL);
    if (!OCSD_DATA_RESP_IS_FATAL(answer)) {
        packets->protocol->state_reset(packets->state);
        answer = OCSD_RESP_CONT;
    }
    if (packets->to.monitor)
        packets->to.monitor(packets->to.monitor_context, OCSD_OP_RESET, index, NULL, 0, NULL);
    return answer;
}

ocsd_datapath_resp_t oc_packets_flush(const struct oc_packets *packets)
{
    return packets->to.sink ? packets->to.sink(packets->to.sink_context, OCSD_OP_FLUSH, 0, NULL)
                            : OCSD_RESP_CONT;
}

ocsd_datapath_resp_t oc_packets_end(const struct oc_packets *packets)
{
    return packets->to.sink ? packets->to.sink(packets->to.sink_context, OCSD_OP_EOT, 0, NULL)
                            : OCSD_RESP_CONT;
}

void oc_packets_ended(const struct oc_packets *packets)
{
    if (packets->to.monitor)
        packets->to.monitor(packets->to.monitor_context, OCSD_OP_EOT, 0, NULL, 0, NULL);
}
