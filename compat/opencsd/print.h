/* SPDX-License-Identifier: BSD-2-Clause */
/* The printers: elements, packets and frames as lines of the log. */
#ifndef OPENCSD_PRINT_H
#define OPENCSD_PRINT_H

#include "opencsd/c_api/opencsd_c_api.h"

/* An element callback. */
ocsd_datapath_resp_t oc_print_element(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element);

void oc_print_frame(ocsd_trc_index_t index, ocsd_rawframe_elem_t kind, uint8_t id,
                    const uint8_t *bytes, uint32_t size);

#endif
