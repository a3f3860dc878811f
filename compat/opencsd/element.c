/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of Trackway as elements of OpenCSD. */
#include "opencsd/element.h"

#include <string.h>

#include "opencsd/settings.h"

void oc_shape_init(struct oc_shape *shape)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;

    memset(shape, 0, sizeof *shape);
    shape->is_1_7 = oc_settings()->is_1_7;
    out->st_addr = out->en_addr = (ocsd_vaddr_t)-1;
    out->isa = ocsd_isa_unknown;
}

static void set_extended(struct oc_shape *shape, const void *data)
{
    if (shape->is_1_7)
        shape->element.later.extended = data;
    else
        shape->element.plain.ptr_extended_data = data;
}

static void set_type(struct oc_shape *shape, unsigned type)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;

    out->elem_type = (ocsd_gen_trc_elem_t)type;
    out->flag_bits = 0;
    out->exception_number = 0;
    set_extended(shape, NULL);
}

static void set_reason(struct oc_shape *shape, uint8_t reason)
{
    unsigned number = reason;

    if (!shape->is_1_7 && reason == TW_REASON_BAD_IMAGE)
        number = UNSYNC_BAD_PACKET;
    else if (!shape->is_1_7 && reason == TW_REASON_END)
        number = UNSYNC_EOT;
    shape->element.plain.unsync_eot_info = (unsync_info_t)number;
}

static void set_cycles(struct oc_shape *shape, const struct tw_element *element,
                       uint32_t cycles)
{
    if (!(element->flags & TW_FLAG_HAS_CYCLES))
        return;
    shape->element.plain.cycle_count = cycles;
    shape->element.plain.has_cc = 1;
}

static void set_context(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;
    ocsd_pe_context *context = &out->context;

    out->isa = (ocsd_isa)element->isa;
    context->security_level = (ocsd_sec_level)element->security;
    context->el_valid = (element->flags & TW_CONTEXT_HAS_EL) != 0;
    context->exception_level = context->el_valid ? (ocsd_ex_level)element->el : ocsd_EL_unknown;
    context->bits64 = (element->flags & TW_CONTEXT_64BIT) != 0;
    context->ctxt_id_valid = (element->flags & TW_CONTEXT_HAS_CID) != 0;
    if (context->ctxt_id_valid)
        context->context_id = element->context_id;
    context->vmid_valid = (element->flags & TW_CONTEXT_HAS_VMID) != 0;
    if (context->vmid_valid)
        context->vmid = element->vmid;
    set_cycles(shape, element, element->context_cycles);
}

static void set_exception(struct oc_shape *shape, const struct tw_element *element)
{
    enum { TAIL_CHAIN_1_7 = 1 << 12 };
    ocsd_generic_trace_elem *out = &shape->element.plain;

    out->exception_number = element->number;
    if (element->flags & TW_EXCEPTION_HAS_RETURN) {
        out->excep_ret_addr = 1;
        out->en_addr = element->return_address;
    }
    out->excep_ret_addr_br_tgt = (element->flags & TW_EXCEPTION_RETURN_IS_TARGET) != 0;
    out->excep_data_marker = (element->flags & TW_EXCEPTION_DATA_MARKER) != 0;
    /* It does not tell them in ETMv3. */
    if (shape->is_1_7 && element->flags & TW_EXCEPTION_TAIL_CHAIN &&
        element->kind == TW_NUMBERS_ARMV8_M)
        out->flag_bits |= TAIL_CHAIN_1_7;
    set_cycles(shape, element, element->exception_cycles);
}

static void set_time(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;

    out->timestamp = element->timestamp;
    if (shape->is_raw_time) /* back to Gray code */
        out->timestamp ^= out->timestamp >> 1;
    out->has_ts = shape->has_time_flag;
    set_cycles(shape, element, element->cycles);
}

static void set_software(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;
    ocsd_swt_info_t *info = &out->sw_trace_info;

    info->swt_master_id = element->master;
    info->swt_channel_id = element->channel;
    info->swt_flag_bits = 0;
    info->swt_payload_pkt_bitsize = element->width;
    info->swt_payload_num_packets = element->packets;
    info->swt_marker_packet = (element->flags & TW_SW_MARKER) != 0;
    info->swt_has_timestamp = (element->flags & TW_SW_HAS_TIME) != 0;
    info->swt_master_err = (element->flags & TW_SW_MASTER_ERROR) != 0;
    info->swt_global_err = (element->flags & TW_SW_GLOBAL_ERROR) != 0;
    info->swt_trigger_event = (element->flags & TW_SW_TRIGGER) != 0;
    info->swt_frequency = (element->flags & TW_SW_FREQ) != 0;
    info->swt_id_valid = (element->flags & TW_SW_HAS_ID) != 0;
    if (element->flags & TW_SW_HAS_TIME) {
        out->timestamp = element->sw_time;
        out->has_ts = 1;
    }
    if (element->width) { /* the host is little-endian, as the interface is defined for */
        shape->payload = element->payload;
        out->extended_data = 1;
        set_extended(shape, &shape->payload);
    }
}

static void set_itm(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;
    union oc_payload_1_7 *payload = &shape->element.later.payload;

    payload->itm.kind = element->kind;
    payload->itm.source = (uint8_t)element->source;
    payload->itm.size = element->size;
    payload->itm.value = element->itm_value;
    payload->itm.overflow = (element->flags & TW_ITM_OVERFLOW) != 0;
    if (element->flags & TW_ITM_HAS_TIME) {
        out->timestamp = element->itm_time;
        out->has_ts = 1;
        out->cpu_freq_change = (element->flags & TW_ITM_FREQ_CHANGE) != 0;
    }
}

/* The number of an element's type in this version.  False: it has none. */
static bool type_of(const struct oc_shape *shape, const struct tw_element *element,
                    unsigned *type)
{
    *type = element->type;
    if (element->type <= TW_ELEMENT_MEMTRANS) /* these have the same numbers */
        return true;
    if (!shape->is_1_7)
        return false;
    *type = element->type == TW_ELEMENT_INSTRUMENTATION ? OC_ELEM_INSTRUMENTATION_1_7
                                                        : OC_ELEM_ITMTRACE_1_7;
    return element->type == TW_ELEMENT_INSTRUMENTATION ||
           (element->type == TW_ELEMENT_ITMTRACE && element->kind <= TW_ITM_TS_GLOBAL);
}

/* What an element says of the program. */
static void set_flow(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;

    switch (element->type) {
    case TW_ELEMENT_TRACE_ON:
        out->trace_on_reason = (trace_on_reason_t)element->reason;
        set_cycles(shape, element, element->cycles);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        set_context(shape, element);
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        out->isa = (ocsd_isa)element->isa;
        out->st_addr = element->first;
        out->en_addr = element->next;
        out->num_instr_range = element->count;
        break;
    case TW_ELEMENT_ADDR_NACC:
        out->st_addr = element->address;
        if (shape->is_1_7)
            out->exception_number = element->space;
        break;
    case TW_ELEMENT_EXCEPTION:
        set_exception(shape, element);
        break;
    case TW_ELEMENT_MEMTRANS:
        out->mem_trans = (trace_memtrans_t)element->kind;
        break;
    default:
        break;
    }
}

bool oc_shape_other(struct oc_shape *shape, const struct tw_element *element)
{
    ocsd_generic_trace_elem *out = &shape->element.plain;
    unsigned type;

    if (!type_of(shape, element, &type))
        return false;
    set_type(shape, type);
    switch (element->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        set_reason(shape, element->reason);
        break;
    case TW_ELEMENT_TIMESTAMP:
        set_time(shape, element);
        break;
    case TW_ELEMENT_CYCLE_COUNT:
    case TW_ELEMENT_ADDR_UNKNOWN:
        set_cycles(shape, element, element->cycles);
        break;
    case TW_ELEMENT_EVENT:
        out->trace_event.ev_type =
            element->kind == TW_EVENT_TRIGGER ? EVENT_TRIGGER : EVENT_NUMBERED;
        out->trace_event.ev_number =
            element->kind == TW_EVENT_TRIGGER ? 0 : (uint16_t)element->count;
        break;
    case TW_ELEMENT_SWTRACE:
        set_software(shape, element);
        break;
    case TW_ELEMENT_SYNC_MARKER:
        out->sync_marker.type = ELEM_MARKER_TS;
        out->sync_marker.value = (uint32_t)element->value;
        break;
    case TW_ELEMENT_INSTRUMENTATION:
        shape->element.later.payload.instrumentation.el = element->instrumentation_el;
        shape->element.later.payload.instrumentation.value = element->value;
        break;
    case TW_ELEMENT_ITMTRACE:
        set_itm(shape, element);
        break;
    default:
        set_flow(shape, element);
        break;
    }
    return true;
}
