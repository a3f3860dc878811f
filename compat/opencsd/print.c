/* SPDX-License-Identifier: BSD-2-Clause */
/* The printers. */
#include "opencsd/print.h"

#include <inttypes.h>

#include "opencsd/element.h"
#include "opencsd/log.h"
#include "opencsd/text.h"

ocsd_datapath_resp_t oc_print_element(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct oc_text line;

    (void)context;
    oc_text_start(&line);
    oc_text_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x; ", index, id);
    oc_element_text(&line, (const union oc_element *)element);
    oc_text_add(&line, "\n");
    oc_log_line(line.text);
    return OCSD_RESP_CONT;
}

void oc_print_frame(ocsd_trc_index_t index, ocsd_rawframe_elem_t kind, uint8_t id,
                    const uint8_t *bytes, uint32_t size)
{
    enum { PER_LINE = 16 };
    struct oc_text line;

    oc_text_start(&line);
    oc_text_add(&line, "Frame Data; Index%7" OCSD_TRC_IDX_STR "; ", index);
    switch (kind) {
    case OCSD_FRM_PACKED:
        oc_text_add(&line, "%15s", "RAW_PACKED; ");
        break;
    case OCSD_FRM_HSYNC:
        oc_text_add(&line, "%15s", "HSYNC; ");
        break;
    case OCSD_FRM_FSYNC:
        oc_text_add(&line, "%15s", "FSYNC; ");
        break;
    case OCSD_FRM_ID_DATA:
        oc_text_add(&line, "%10s", "ID_DATA[");
        if (id == OCSD_BAD_CS_SRC_ID)
            oc_text_add(&line, "????");
        else
            oc_text_add(&line, "0x%02x", id);
        oc_text_add(&line, "]; ");
        break;
    default:
        oc_text_add(&line, "%15s", "UNKNOWN; ");
        break;
    }
    for (uint32_t i = 0; i < size; i++)
        oc_text_add(&line, "%s%02x ", i && i % PER_LINE == 0 ? "\n" : "", bytes[i]);
    oc_text_add(&line, "\n");
    oc_log_line(line.text);
}
