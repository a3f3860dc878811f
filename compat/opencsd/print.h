/* SPDX-License-Identifier: BSD-2-Clause */
/* The printers: elements, packets and frames as lines of the log. */
#ifndef OPENCSD_PRINT_H
#define OPENCSD_PRINT_H

#include "opencsd/protocol.h"

/* An element callback. */
ocsd_datapath_resp_t oc_print_element(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element);

/* A sink and a monitor; their context is a struct oc_printer. */
struct oc_printer {
    const struct oc_protocol *protocol;
    uint8_t id;
};

ocsd_datapath_resp_t oc_print_packet(const void *context, const ocsd_datapath_op_t op,
                                     const ocsd_trc_index_t index, const void *packet);
void oc_print_monitored(const void *context, const ocsd_datapath_op_t op,
                        const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                        const uint8_t *bytes);

void oc_print_frame(ocsd_trc_index_t index, ocsd_rawframe_elem_t kind, uint8_t id,
                    const uint8_t *bytes, uint32_t size);

#endif
