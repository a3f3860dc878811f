/* SPDX-License-Identifier: BSD-2-Clause */
/* The printers. */
#include "opencsd/print.h"

#include <inttypes.h>

#include "opencsd/element.h"
#include "opencsd/text.h"

ocsd_datapath_resp_t oc_print_element(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct oc_text line;

    oc_text_start(&line);
    oc_text_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x; ", index, id);
    oc_element_text(&line, (const union oc_element *)element);
    oc_text_add(&line, "\n");
    oc_output_write((struct oc_output *)(uintptr_t)context, line.text);
    return OCSD_RESP_CONT;
}

void oc_print_frame(struct oc_output *output, const struct oc_raw *raw)
{
    enum { PER_LINE = 16 };
    struct oc_text line;

    oc_text_start(&line);
    oc_text_add(&line, "Frame Data; Index%7" OCSD_TRC_IDX_STR "; ", raw->index);
    switch (raw->kind) {
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
        if (raw->id == OCSD_BAD_CS_SRC_ID)
            oc_text_add(&line, "????");
        else
            oc_text_add(&line, "0x%02x", raw->id);
        oc_text_add(&line, "]; ");
        break;
    default:
        oc_text_add(&line, "%15s", "UNKNOWN; ");
        break;
    }
    for (uint32_t i = 0; i < raw->size; i++)
        oc_text_add(&line, "%s%02x ", i && i % PER_LINE == 0 ? "\n" : "", raw->bytes[i]);
    oc_text_add(&line, "\n");
    oc_output_write(output, line.text);
}

static void print_operation(const struct oc_printer *printer, ocsd_datapath_op_t op)
{
    struct oc_text line;

    oc_text_start(&line);
    oc_text_add(&line, "ID:%x\t%s\n", printer->id,
                op == OCSD_OP_EOT     ? "END OF TRACE DATA"
                : op == OCSD_OP_FLUSH ? "FLUSH operation on trace decode path"
                                      : "RESET operation on trace decode path");
    oc_output_write(printer->output, line.text);
}

ocsd_datapath_resp_t oc_print_packet(const void *context, const ocsd_datapath_op_t op,
                                     const ocsd_trc_index_t index, const void *packet)
{
    const struct oc_printer *printer = context;
    struct oc_text line;

    if (op != OCSD_OP_DATA) {
        print_operation(printer, op);
        return OCSD_RESP_CONT;
    }
    oc_text_start(&line);
    oc_text_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x;\t", index, printer->id);
    printer->protocol->text(&line, packet);
    oc_text_add(&line, "\n");
    oc_output_write(printer->output, line.text);
    return OCSD_RESP_CONT;
}

void oc_print_monitored(const void *context, const ocsd_datapath_op_t op,
                        const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                        const uint8_t *bytes)
{
    const struct oc_printer *printer = context;
    struct oc_text line;

    if (op != OCSD_OP_DATA) {
        print_operation(printer, op);
        return;
    }
    oc_text_start(&line);
    oc_text_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x; [", index, printer->id);
    for (uint32_t i = 0; i < size; i++)
        oc_text_add(&line, "0x%02x ", bytes[i]);
    oc_text_add(&line, "];\t");
    printer->protocol->text(&line, packet);
    oc_text_add(&line, "\n");
    oc_output_write(printer->output, line.text);
}
