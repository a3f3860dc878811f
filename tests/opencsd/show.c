/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs of the OpenCSD interface as text. */
#include "show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void show_put(struct show *text, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (size > 0 && (size_t)size < text->left) {
        text->at += size;
        text->left -= (size_t)size;
    }
}

static void put_context(struct show *text, const ocsd_pe_context *context)
{
    show_put(text, " ctx sec %d el %d bits64 %u", (int)context->security_level,
             context->el_valid ? (int)context->exception_level : -1, context->bits64);
    if (context->ctxt_id_valid)
        show_put(text, " cid %" PRIx32, context->context_id);
    if (context->vmid_valid)
        show_put(text, " vmid %" PRIx32, context->vmid);
}

static void put_software(struct show *text, const ocsd_generic_trace_elem *element)
{
    const ocsd_swt_info_t *info = &element->sw_trace_info;
    const unsigned bytes = (info->swt_payload_pkt_bitsize + 7u) / 8;

    show_put(text, " ma %u ch %u flags %" PRIx32 " data",
             info->swt_id_valid ? info->swt_master_id : 0u,
             info->swt_id_valid ? info->swt_channel_id : 0u, info->swt_flag_bits);
    for (unsigned i = 0; i < bytes && element->ptr_extended_data; i++)
        show_put(text, " %02x", ((const uint8_t *)element->ptr_extended_data)[i]);
    if (element->has_ts)
        show_put(text, " ts %" PRIx64, element->timestamp);
}

void show_element(char *out, size_t room, const ocsd_generic_trace_elem *element)
{
    struct show text = { out, room };

    show_put(&text, "type %d flags %" PRIx32, (int)element->elem_type, element->flag_bits);
    if (element->has_cc)
        show_put(&text, " cc %" PRIu32, element->cycle_count);
    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        show_put(&text, " isa %d %" PRIx64 "-%" PRIx64 " n %" PRIu32 " last %d %d",
                 (int)element->isa, element->st_addr, element->en_addr,
                 element->num_instr_range, (int)element->last_i_type,
                 (int)element->last_i_subtype);
        break;
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        show_put(&text, " isa %d %" PRIx64 "-%" PRIx64 " n %" PRIu32, (int)element->isa,
                 element->st_addr, element->en_addr, element->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        show_put(&text, " isa %d", (int)element->isa);
        put_context(&text, &element->context);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        show_put(&text, " %" PRIx64, element->st_addr);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        show_put(&text, " number %" PRIu32, element->exception_number);
        if (element->excep_ret_addr)
            show_put(&text, " return %" PRIx64, element->en_addr);
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        show_put(&text, " ts %" PRIx64, element->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        show_put(&text, " event %u %u", element->trace_event.ev_type,
                 element->trace_event.ev_number);
        break;
    case OCSD_GEN_TRC_ELEM_SWTRACE:
        put_software(&text, element);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        show_put(&text, " marker %d %" PRIx32, (int)element->sync_marker.type,
                 element->sync_marker.value);
        break;
    default: /* NO_SYNC, EO_TRACE, TRACE_ON, MEMTRANS: one number */
        show_put(&text, " payload %" PRIu32, element->exception_number);
        break;
    }
}
