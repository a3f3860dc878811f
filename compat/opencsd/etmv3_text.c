/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 packets as text. */
#include <inttypes.h>

#include "opencsd/etmv3_packet.h"
#include "opencsd/ptm_packet.h"

/* clang-format off */
static const struct {
    const char *name, *text;
} names[] = {
    [ETM3_PKT_NOTSYNC] = { "NOTSYNC", "Trace Stream not synchronised" },
    [ETM3_PKT_INCOMPLETE_EOT] = { "INCOMPLETE_EOT.", "Incomplete packet at end of trace data." },
    [ETM3_PKT_BRANCH_ADDRESS] = { "BRANCH_ADDRESS", "Branch address." },
    [ETM3_PKT_A_SYNC] = { "A_SYNC", "Alignment Synchronisation." },
    [ETM3_PKT_CYCLE_COUNT] = { "CYCLE_COUNT", "Cycle Count." },
    [ETM3_PKT_I_SYNC] = { "I_SYNC", "Instruction Packet synchronisation." },
    [ETM3_PKT_I_SYNC_CYCLE] = { "I_SYNC_CYCLE", "Instruction Packet synchronisation with cycle count." },
    [ETM3_PKT_TRIGGER] = { "TRIGGER", "Trace Trigger Event." },
    [ETM3_PKT_P_HDR] = { "P_HDR", "Atom P-header." },
    [ETM3_PKT_STORE_FAIL] = { "STORE_FAIL", "Data Store Failed." },
    [ETM3_PKT_OOO_DATA] = { "OOO_DATA", "Out of Order data value packet." },
    [ETM3_PKT_OOO_ADDR_PLC] = { "OOO_ADDR_PLC", "Out of Order data address placeholder." },
    [ETM3_PKT_NORM_DATA] = { "NORM_DATA", "Data trace packet." },
    [ETM3_PKT_DATA_SUPPRESSED] = { "DATA_SUPPRESSED", "Data trace suppressed." },
    [ETM3_PKT_VAL_NOT_TRACED] = { "VAL_NOT_TRACED", "Data trace value not traced." },
    [ETM3_PKT_IGNORE] = { "IGNORE", "Packet ignored." },
    [ETM3_PKT_CONTEXT_ID] = { "CONTEXT_ID", "Context ID change." },
    [ETM3_PKT_VMID] = { "VMID", "VMID change." },
    [ETM3_PKT_EXCEPTION_ENTRY] = { "EXCEPTION_ENTRY", "Exception entry data marker." },
    [ETM3_PKT_EXCEPTION_EXIT] = { "EXCEPTION_EXIT", "Exception return." },
    [ETM3_PKT_TIMESTAMP] = { "TIMESTAMP", "Timestamp Value." },
    [ETM3_PKT_BAD_SEQUENCE] = { "BAD_SEQUENCE", "Invalid sequence for packet type." },
    [ETM3_PKT_BAD_TRACEMODE] = { "BAD_TRACEMODE", "Invalid packet type for this trace mode." },
};
/* clang-format on */

static bool is_named(unsigned type)
{
    return type < sizeof names / sizeof names[0] && names[type].name;
}

static const char *name_of(unsigned type)
{
    return is_named(type) ? names[type].name : "I_RESERVED";
}

static void add_exception(struct oc_text *text, const ocsd_etmv3_excep *exception)
{
    static const char *const m_names[24] = {
        "No Exception", "IRQ1",       "IRQ2",     "IRQ3",        "IRQ4",     "IRQ5",
        "IRQ6",         "IRQ7",       "IRQ0",     "usage Fault", "NMI",      "SVC",
        "DebugMonitor", "Mem Manage", "PendSV",   "SysTick",     "Reserved", "PE Reset",
        "Reserved",     "HardFault",  "Reserved", "BusFault",    "Reserved", "Reserved"
    };

    oc_text_add(text, "Exception=");
    if (!exception->bits.cm_type) {
        oc_text_add(text, "%s; %s", oc_exception_text(exception->number),
                    exception->bits.cancel ? "; Cancel prev instr" : "");
        return;
    }
    if (exception->number < 24)
        oc_text_add(text, "%s", m_names[exception->number]);
    else
        oc_text_add(text, "IRQ%u", exception->number - 16u);
    if (exception->bits.cm_resume)
        oc_text_add(text, "; Resume=%u", (unsigned)exception->bits.cm_resume);
    oc_text_add(text, "%s", exception->bits.cancel ? "; Cancel prev instr" : "");
}

static void add_branch(struct oc_text *text, const ocsd_etmv3_pkt *packet)
{
    oc_text_add(text, "; Addr=");
    oc_text_value(text, 32, packet->addr.valid_bits, packet->addr.val, packet->addr.pkt_bits);
    oc_text_add(text, "; %s",
                packet->curr_isa != packet->prev_isa ? oc_isa_text(packet->curr_isa) : "");
    if (packet->context.updated)
        oc_text_add(text, "%s%s", packet->context.curr_NS ? "NS; " : "S; ",
                    packet->context.curr_Hyp ? "Hyp; " : "");
    if (packet->exception.bits.present)
        add_exception(text, &packet->exception);
}

static void add_atoms(struct oc_text *text, const ocsd_etmv3_pkt *packet)
{
    const bool has_cycles = packet->cycle_count != 0;

    oc_text_add(text, "; ");
    if (has_cycles && packet->p_hdr_fmt == 2)
        oc_text_add(text, "W");
    for (uint32_t i = 0; has_cycles && packet->p_hdr_fmt == 3 && i < packet->cycle_count; i++)
        oc_text_add(text, "W");
    for (unsigned i = 0; i < packet->atom.num && i < 32; i++)
        oc_text_add(text, "%s%c", has_cycles && packet->p_hdr_fmt == 1 ? "W" : "",
                    packet->atom.En_bits >> i & 1 ? 'E' : 'N');
    if (has_cycles)
        oc_text_add(text, "; Cycles=%" PRIu32, packet->cycle_count);
}

static void add_isync(struct oc_text *text, const ocsd_etmv3_pkt *packet)
{
    static const char *const reasons[4] = { "Periodic", "Trace Enable", "Restart Overflow",
                                            "Debug Exit" };

    oc_text_add(text, "; (%s); ", reasons[packet->isync_info.reason & 3]);
    if (!packet->isync_info.no_address)
        oc_text_add(text, "%s0x%08" PRIx64 "; ",
                    packet->isync_info.has_LSipAddress ? "Data Instr Addr=" : "Addr=",
                    packet->addr.val);
    oc_text_add(text, "%s%s", packet->context.curr_NS ? "NS; " : "S; ",
                packet->context.curr_Hyp ? "Hyp; " : " ");
    if (packet->context.updated_c)
        oc_text_add(text, "CtxtID=%" PRIx32 "; ", packet->context.ctxtID);
    if (packet->isync_info.no_address)
        return;
    oc_text_add(text, "%s", oc_isa_text(packet->curr_isa));
    if (packet->isync_info.has_cycle_count)
        oc_text_add(text, "Cycles=%" PRIu32 "; ", packet->cycle_count);
}

static void add_data_address(struct oc_text *text, const ocsd_etmv3_pkt *packet)
{
    if (!packet->data.update_addr)
        return;
    oc_text_add(text, "; Addr=");
    oc_text_value(text, 32, packet->data.addr.valid_bits, packet->data.addr.val,
                  packet->data.addr.pkt_bits);
}

static void add_data(struct oc_text *text, const ocsd_etmv3_pkt *packet)
{
    if (packet->type != ETM3_PKT_OOO_DATA)
        add_data_address(text, packet);
    if (packet->type == ETM3_PKT_OOO_DATA ||
        (packet->type == ETM3_PKT_NORM_DATA && packet->data.update_dval))
        oc_text_add(text, "; Val=0x%" PRIx32, packet->data.value);
    if (packet->type == ETM3_PKT_OOO_DATA || packet->type == ETM3_PKT_OOO_ADDR_PLC)
        oc_text_add(text, "; OO_Tag=0x%x", (unsigned)packet->data.ooo_tag);
}

void oc_etmv3_text(struct oc_text *text, const void *any)
{
    const ocsd_etmv3_pkt *packet = any;
    const unsigned type = (unsigned)packet->type;

    oc_text_add(text, "%s : %s", name_of(type),
                is_named(type) ? names[type].text : "Reserved Packet Header");
    switch (packet->type) {
    case ETM3_PKT_BAD_SEQUENCE:
    case ETM3_PKT_BAD_TRACEMODE:
        oc_text_add(text, "[%s]", name_of((unsigned)packet->err_type));
        break;
    case ETM3_PKT_BRANCH_ADDRESS:
        add_branch(text, packet);
        break;
    case ETM3_PKT_I_SYNC_CYCLE:
    case ETM3_PKT_I_SYNC:
        add_isync(text, packet);
        break;
    case ETM3_PKT_P_HDR:
        add_atoms(text, packet);
        break;
    case ETM3_PKT_CYCLE_COUNT:
        oc_text_add(text, "; Cycles=%" PRIu32, packet->cycle_count);
        break;
    case ETM3_PKT_CONTEXT_ID:
        oc_text_add(text, "; CtxtID=0x%" PRIx32, packet->context.ctxtID);
        break;
    case ETM3_PKT_VMID: /* as a character, so it is */
        oc_text_add(text, "; VMID=0x%c", packet->context.VMID);
        break;
    case ETM3_PKT_TIMESTAMP:
        oc_text_add(text, "; TS=0x%" PRIx64 " (%" PRIu64 ") ", packet->timestamp,
                    packet->timestamp);
        break;
    case ETM3_PKT_OOO_DATA:
    case ETM3_PKT_VAL_NOT_TRACED:
    case ETM3_PKT_OOO_ADDR_PLC:
    case ETM3_PKT_NORM_DATA:
        add_data(text, packet);
        break;
    default:
        break;
    }
}
