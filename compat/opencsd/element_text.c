/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements as text. */
#include <inttypes.h>
#include <string.h>

#include "opencsd/element.h"
#include "opencsd/settings.h"
#include "opencsd/text.h"

/* "" for what is not in the table. */
#define NAME_OF(table, value)                                                                  \
    ((size_t)(value) < sizeof(table) / sizeof((table)[0]) ? (table)[value] : "")

static const char *const isas[] = { "A32", "T32", "A64", "TEE", "Jaz", "Cst", "Unk" };

static void add_range(struct oc_text *text, const ocsd_generic_trace_elem *element)
{
    static const char *const kinds[] = { "--- ",    "BR  ",    "iBR ",  "ISB ",
                                         "DSB.DMB", "WFI.WFE", "TSTART" };
    static const char *const subs[] = { "", "b+link ", "A64:ret ", "A64:eret ", "V7:impl ret" };

    oc_text_add(text, "exec range=0x%" PRIx64 ":[0x%" PRIx64 "] num_i(%" PRIu32 ") ",
                element->st_addr, element->en_addr, element->num_instr_range);
    oc_text_add(text, "last_sz(%u) (ISA=%s) %s", (unsigned)element->last_instr_sz,
                NAME_OF(isas, element->isa), element->last_instr_exec ? "E " : "N ");
    oc_text_add(text, "%s%s%s", NAME_OF(kinds, element->last_i_type),
                NAME_OF(subs, element->last_i_subtype),
                element->last_instr_cond ? " <cond>" : "");
}

static void add_context(struct oc_text *text, const ocsd_generic_trace_elem *element)
{
    static const char *const securities[] = { "S; ", "N; ", "Root; ", "Realm; " };
    const ocsd_pe_context *context = &element->context;

    oc_text_add(text, "(ISA=%s) ", NAME_OF(isas, element->isa));
    if (context->exception_level > ocsd_EL_unknown && context->el_valid)
        oc_text_add(text, "EL%d", (int)context->exception_level);
    oc_text_add(text, "%s%s", NAME_OF(securities, context->security_level),
                context->bits64 ? "64-bit; " : "32-bit; ");
    if (context->vmid_valid)
        oc_text_add(text, "VMID=0x%" PRIx32 "; ", context->vmid);
    if (context->ctxt_id_valid)
        oc_text_add(text, "CTXTID=0x%" PRIx32 "; ", context->context_id);
}

static void add_exception(struct oc_text *text, const ocsd_generic_trace_elem *element)
{
    if (element->excep_ret_addr)
        oc_text_add(text, "pref ret addr:0x%" PRIx64 "%s; ", element->en_addr,
                    element->excep_ret_addr_br_tgt ? " [addr also prev br tgt]" : "");
    oc_text_add(text, "excep num (0x%02" PRIx32 ") ", element->exception_number);
}

static void add_payload(struct oc_text *text, unsigned bits, const void *data)
{
    uint64_t value = 0;

    if (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64) {
        oc_text_add(text, "0x{Data Error : unsupported bit width.}; ");
        return;
    }
    memcpy(&value, data, (bits + 7) / 8);
    if (bits == 4)
        value &= 0xf;
    oc_text_add(text, "0x%0*" PRIx64 "; ", (int)(bits / 4), value);
}

static void add_software(struct oc_text *text, const union oc_element *any)
{
    const ocsd_generic_trace_elem *element = &any->plain;
    const ocsd_swt_info_t *info = &element->sw_trace_info;
    const void *data = oc_settings()->is_1_7 ? any->later.extended : element->ptr_extended_data;

    if (info->swt_global_err) {
        oc_text_add(text, "{Global Error.}");
        return;
    }
    if (info->swt_id_valid)
        oc_text_add(text, " (Ma:0x%02x; Ch:0x%02x) ", info->swt_master_id,
                    info->swt_channel_id);
    else
        oc_text_add(text, "(Ma:0x?\?; Ch:0x?\?) ");
    if (info->swt_payload_pkt_bitsize && data)
        add_payload(text, info->swt_payload_pkt_bitsize, data);
    oc_text_add(text, "%s%s", info->swt_marker_packet ? "+Mrk " : "",
                info->swt_trigger_event ? "Trig " : "");
    if (info->swt_has_timestamp)
        oc_text_add(text, " [ TS=0x%012" PRIx64 "]; ", element->timestamp);
    oc_text_add(text, "%s%s", info->swt_frequency ? "Freq" : "",
                info->swt_master_err ? "{Master Error.}" : "");
}

static void add_reason(struct oc_text *text, unsigned reason)
{
    static const char *const reasons[] = { "undefined",         "init-decoder", "reset-decoder",
                                           "overflow",          "discard",      "bad-packet",
                                           "bad-program-image", "end-of-trace" };
    const unsigned last = oc_settings()->is_1_7 ? OC_UNSYNC_EOT_1_7 : UNSYNC_EOT;

    if (reason > last)
        return;
    if (reason == last)
        reason = OC_UNSYNC_EOT_1_7;
    oc_text_add(text, " [%s]", reasons[reason]);
}

static void add_event(struct oc_text *text, const trace_event_t *event)
{
    if (event->ev_type == EVENT_TRIGGER)
        oc_text_add(text, " Trigger; ");
    else if (event->ev_type == EVENT_NUMBERED)
        oc_text_add(text, " Numbered:%u; ", event->ev_number);
}

/* ITM's elements of 1.7.1. */
static void add_itm(struct oc_text *text, const union oc_element *any)
{
    enum { SWIT, DWT, TS_SYNC, TS_DELAY, TS_PACKET_DELAY, TS_BOTH, TS_GLOBAL };
    static const char *const relations[] = { "TS Sync", "TS Delay", "Packet Delay",
                                             "TS and Packet Delay" };
    const uint64_t time = any->plain.timestamp;
    const int digits = any->later.payload.itm.size * 2;
    const uint32_t value = any->later.payload.itm.value;

    if (any->later.payload.itm.overflow)
        oc_text_add(text, "ITM_OVERFLOW; ");
    switch (any->later.payload.itm.kind) {
    case SWIT:
    case DWT:
        oc_text_add(text, "ITM_%s: 0x%x; Data: 0x%0*" PRIx32 ") ",
                    any->later.payload.itm.kind == SWIT ? "SWIT (ch" : "DWT (desc",
                    any->later.payload.itm.source, digits, value);
        break;
    case TS_GLOBAL:
        oc_text_add(text, "ITM_TS_GLOBAL ( TS: 0x%016" PRIx64 ") ", time);
        break;
    case TS_SYNC:
    case TS_DELAY:
    case TS_PACKET_DELAY:
    case TS_BOTH:
        oc_text_add(text, "ITM_TS_LOCAL ( TS delta: 0x%08" PRIx32 ", { %s}; ", value,
                    relations[any->later.payload.itm.kind - TS_SYNC]);
        oc_text_add(text, "TS cumulative: 0x%016" PRIx64 ") ", time);
        break;
    default:
        break;
    }
}

/* False: the type is not of 1.7.1 alone. */
static bool add_later(struct oc_text *text, const union oc_element *any)
{
    if (!oc_settings()->is_1_7)
        return false;
    switch ((unsigned)any->plain.elem_type) {
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        oc_text_add(text, " 0x%" PRIx64 "; Memspace [0x%" PRIx32 ":", any->plain.st_addr,
                    any->plain.exception_number);
        oc_text_spaces(text, any->plain.exception_number);
        oc_text_add(text, "] ");
        return true;
    case OC_ELEM_INSTRUMENTATION_1_7:
        oc_text_add(text, "EL%u; 0x%016" PRIx64, any->later.payload.instrumentation.el,
                    any->later.payload.instrumentation.value);
        return true;
    case OC_ELEM_ITMTRACE_1_7:
        add_itm(text, any);
        return true;
    default:
        return false;
    }
}

static void add_details(struct oc_text *text, const union oc_element *any)
{
    static const char *const starts[] = { "begin or filter", "overflow", "debug restart" };
    static const char *const transactions[] = { "Init", "Start", "Commit", "Fail" };
    const ocsd_generic_trace_elem *element = &any->plain;

    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        add_range(text, element);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        oc_text_add(text, " 0x%" PRIx64 " ", element->st_addr);
        break;
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        oc_text_add(text, "first 0x%" PRIx64 ":[next 0x%" PRIx64 "] num_i(%" PRIu32 ") ",
                    element->st_addr, element->en_addr, element->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        add_exception(text, element);
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        add_context(text, element);
        break;
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
        oc_text_add(text, " [%s]", NAME_OF(starts, element->trace_on_reason));
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        oc_text_add(text, " [ TS=0x%012" PRIx64 "]; ", element->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_SWTRACE:
        add_software(text, any);
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        add_event(text, &element->trace_event);
        break;
    case OCSD_GEN_TRC_ELEM_EO_TRACE:
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
        add_reason(text, (unsigned)element->unsync_eot_info);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        oc_text_add(text, " [Timestamp marker(0x%08" PRIx32 ")]", element->sync_marker.value);
        break;
    case OCSD_GEN_TRC_ELEM_MEMTRANS:
        oc_text_add(text, "%s", NAME_OF(transactions, element->mem_trans));
        break;
    default:
        break;
    }
}

void oc_element_text(struct oc_text *text, const union oc_element *element)
{
    static const char *const names[] = {
        "UNKNOWN",       "NO_SYNC",        "TRACE_ON",        "EO_TRACE",     "PE_CONTEXT",
        "INSTR_RANGE",   "I_RANGE_NOPATH", "ADDR_NACC",       "ADDR_UNKNOWN", "EXCEPTION",
        "EXCEPTION_RET", "TIMESTAMP",      "CYCLE_COUNT",     "EVENT",        "SWTRACE",
        "SYNC_MARKER",   "MEMTRANS",       "INSTRUMENTATION", "ITMTRACE",     "CUSTOM",
    };
    const unsigned last = oc_settings()->is_1_7 ? OC_ELEM_CUSTOM_1_7 : OCSD_GEN_TRC_ELEM_CUSTOM;
    const unsigned type = (unsigned)element->plain.elem_type;

    if (type > last) {
        oc_text_add(text, "OCSD_GEN_TRC_ELEM??: index out of range.");
        return;
    }
    oc_text_add(text, "OCSD_GEN_TRC_ELEM_%s(", names[type == last ? OC_ELEM_CUSTOM_1_7 : type]);
    if (!add_later(text, element))
        add_details(text, element);
    if (element->plain.has_cc)
        oc_text_add(text, " [CC=%" PRIu32 "]; ", element->plain.cycle_count);
    oc_text_add(text, ")");
}
