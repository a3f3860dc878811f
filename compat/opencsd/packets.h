/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to those who look at them: the sink of a decoder that makes packets alone, the monitor of
   any. */
#ifndef OPENCSD_PACKETS_H
#define OPENCSD_PACKETS_H

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/protocol.h"

/* A function that is NULL has no one. */
struct oc_consumers {
    FnDefPktDataIn sink;
    const void *sink_context;
    FnDefPktDataMon monitor;
    const void *monitor_context;
};

struct oc_packets {
    const struct oc_protocol *protocol;
    struct oc_consumers to;
    uint32_t flags;   /* OCSD_OPFLG_... */
    void *state;      /* packets as OpenCSD has them */
    bool is_bad[256]; /* protocol->is_bad of each type */
};

/* False: no memory. */
bool oc_packets_init(struct oc_packets *packets, const struct oc_protocol *protocol,
                     const struct oc_setup *setup, uint32_t flags);
void oc_packets_free(struct oc_packets *packets);

/* A packet of the library and its bytes. */
struct oc_packet {
    const void *packet;
    const uint8_t *bytes;
    size_t size;
    ocsd_trc_index_t index;
    bool is_quiet; /* not for the sink */
};

ocsd_datapath_resp_t oc_packets_show(struct oc_packets *packets,
                                     const struct oc_packet *packet);
/* The same for one that is neither bad nor quiet; there is somebody who looks at it. */
ocsd_datapath_resp_t oc_packets_show_good(struct oc_packets *packets,
                                          const struct oc_packet *packet);

/* The operations but DATA.  The end is first for the sink, and for the monitor when all is done. */
ocsd_datapath_resp_t oc_packets_reset(struct oc_packets *packets, ocsd_trc_index_t index);
ocsd_datapath_resp_t oc_packets_flush(const struct oc_packets *packets);
ocsd_datapath_resp_t oc_packets_end(const struct oc_packets *packets);
void oc_packets_ended(const struct oc_packets *packets);

#endif
