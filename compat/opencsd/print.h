/* SPDX-License-Identifier: BSD-2-Clause */
/* The printers: elements, packets and frames as lines of the log. */
#ifndef OPENCSD_PRINT_H
#define OPENCSD_PRINT_H

#include "opencsd/output.h"
#include "opencsd/protocol.h"

/* An element callback; its context is a struct oc_output. */
ocsd_datapath_resp_t oc_print_element(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element);

/* A sink and a monitor; their context is a struct oc_printer. */
struct oc_printer {
    const struct oc_protocol *protocol;
    struct oc_output *output;
    uint8_t id;
};

ocsd_datapath_resp_t oc_print_packet(const void *context, const ocsd_datapath_op_t op,
                                     const ocsd_trc_index_t index, const void *packet);
void oc_print_monitored(const void *context, const ocsd_datapath_op_t op,
                        const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                        const uint8_t *bytes);

/* Bytes of a frame, of one ID or of all of them. */
struct oc_raw {
    ocsd_rawframe_elem_t kind;
    ocsd_trc_index_t index;
    uint8_t id;
    const uint8_t *bytes;
    uint32_t size;
};

void oc_print_frame(struct oc_output *output, const struct oc_raw *raw);

#endif
