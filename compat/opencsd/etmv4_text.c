/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets as text. */
#include <inttypes.h>
#include <string.h>

#include "opencsd/etmv4_packet.h"
#include "opencsd/settings.h"

struct name {
    uint16_t type;
    const char *name, *text;
};

/* clang-format off */
static const struct name names[] = {
    { ETM4_PKT_I_NOTSYNC, "I_NOT_SYNC", "I Stream not synchronised" },
    { ETM4_PKT_I_INCOMPLETE_EOT, "I_INCOMPLETE_EOT", "Incomplete packet at end of trace." },
    { ETM4_PKT_I_NO_ERR_TYPE, "I_NO_ERR_TYPE", "No Error Type." },
    { ETM4_PKT_I_BAD_SEQUENCE, "I_BAD_SEQUENCE", "Invalid Sequence in packet." },
    { ETM4_PKT_I_BAD_TRACEMODE, "I_BAD_TRACEMODE", "Invalid Packet for trace mode." },
    { ETM4_PKT_I_RESERVED, "I_RESERVED", "Reserved Packet Header" },
    { ETM4_PKT_I_RESERVED_CFG, "I_RESERVED_CFG", "Reserved header for current configuration." },
    { ETM4_PKT_I_EXTENSION, "I_EXTENSION", "Extension packet header." },
    { ETM4_PKT_I_TRACE_INFO, "I_TRACE_INFO", "Trace Info." },
    { ETM4_PKT_I_TIMESTAMP, "I_TIMESTAMP", "Timestamp." },
    { ETM4_PKT_I_TRACE_ON, "I_TRACE_ON", "Trace On." },
    { ETM4_PKT_I_FUNC_RET, "I_FUNC_RET", "V8M - function return." },
    { ETM4_PKT_I_EXCEPT, "I_EXCEPT", "Exception." },
    { ETM4_PKT_I_EXCEPT_RTN, "I_EXCEPT_RTN", "Exception Return." },
    { ETE_PKT_I_TRANS_ST, "I_TRANS_ST", "Transaction Start." },
    { ETE_PKT_I_TRANS_COMMIT, "I_TRANS_COMMIT", "Transaction Commit." },
    { ETM4_PKT_I_CCNT_F1, "I_CCNT_F1", "Cycle Count format 1." },
    { ETM4_PKT_I_CCNT_F2, "I_CCNT_F2", "Cycle Count format 2." },
    { ETM4_PKT_I_CCNT_F3, "I_CCNT_F3", "Cycle Count format 3." },
    { ETM4_PKT_I_NUM_DS_MKR, "I_NUM_DS_MKR", "Data Synchronisation Marker - Numbered." },
    { ETM4_PKT_I_UNNUM_DS_MKR, "I_UNNUM_DS_MKR", "Data Synchronisation Marker - Unnumbered." },
    { ETM4_PKT_I_COMMIT, "I_COMMIT", "Commit" },
    { ETM4_PKT_I_CANCEL_F1, "I_CANCEL_F1", "Cancel Format 1." },
    { ETM4_PKT_I_CANCEL_F1_MISPRED, "I_CANCEL_F1_MISPRED", "Cancel Format 1 + Mispredict." },
    { ETM4_PKT_I_MISPREDICT, "I_MISPREDICT", "Mispredict." },
    { ETM4_PKT_I_CANCEL_F2, "I_CANCEL_F2", "Cancel Format 2." },
    { ETM4_PKT_I_CANCEL_F3, "I_CANCEL_F3", "Cancel Format 3." },
    { ETM4_PKT_I_COND_I_F2, "I_COND_I_F2", "Conditional Instruction, format 2." },
    { ETM4_PKT_I_COND_FLUSH, "I_COND_FLUSH", "Conditional Flush." },
    { ETM4_PKT_I_COND_RES_F4, "I_COND_RES_F4", "Conditional Result, format 4." },
    { ETM4_PKT_I_COND_RES_F2, "I_COND_RES_F2", "Conditional Result, format 2." },
    { ETM4_PKT_I_COND_RES_F3, "I_COND_RES_F3", "Conditional Result, format 3." },
    { ETM4_PKT_I_COND_RES_F1, "I_COND_RES_F1", "Conditional Result, format 1." },
    { ETM4_PKT_I_COND_I_F1, "I_COND_I_F1", "Conditional Instruction, format 1." },
    { ETM4_PKT_I_COND_I_F3, "I_COND_I_F3", "Conditional Instruction, format 3." },
    { ETM4_PKT_I_IGNORE, "I_IGNORE", "Ignore." },
    { ETM4_PKT_I_EVENT, "I_EVENT", "Trace Event." },
    { ETM4_PKT_I_CTXT, "I_CTXT", "Context Packet." },
    { ETM4_PKT_I_ADDR_CTXT_L_32IS0, "I_ADDR_CTXT_L_32IS0", "Address & Context, Long, 32 bit, IS0." },
    { ETM4_PKT_I_ADDR_CTXT_L_32IS1, "I_ADDR_CTXT_L_32IS1", "Address & Context, Long, 32 bit, IS1." },
    { ETM4_PKT_I_ADDR_CTXT_L_64IS0, "I_ADDR_CTXT_L_64IS0", "Address & Context, Long, 64 bit, IS0." },
    { ETM4_PKT_I_ADDR_CTXT_L_64IS1, "I_ADDR_CTXT_L_64IS1", "Address & Context, Long, 64 bit, IS1." },
    { ETE_PKT_I_TS_MARKER, "I_TS_MARKER", "Timestamp Marker" },
    { ETM4_PKT_I_ADDR_MATCH, "I_ADDR_MATCH", "Exact Address Match." },
    { ETM4_PKT_I_ADDR_S_IS0, "I_ADDR_S_IS0", "Address, Short, IS0." },
    { ETM4_PKT_I_ADDR_S_IS1, "I_ADDR_S_IS1", "Address, Short, IS1." },
    { ETM4_PKT_I_ADDR_L_32IS0, "I_ADDR_L_32IS0", "Address, Long, 32 bit, IS0." },
    { ETM4_PKT_I_ADDR_L_32IS1, "I_ADDR_L_32IS1", "Address, Long, 32 bit, IS1." },
    { ETM4_PKT_I_ADDR_L_64IS0, "I_ADDR_L_64IS0", "Address, Long, 64 bit, IS0." },
    { ETM4_PKT_I_ADDR_L_64IS1, "I_ADDR_L_64IS1", "Address, Long, 64 bit, IS1." },
    { ETM4_PKT_I_Q, "I_Q", "Q Packet." },
    { ETE_PKT_I_SRC_ADDR_MATCH, "I_SRC_ADDR_MATCH", "Exact Source Address Match." },
    { ETE_PKT_I_SRC_ADDR_S_IS0, "I_SRC_ADDR_S_IS0", "Source Address, Short, IS0." },
    { ETE_PKT_I_SRC_ADDR_S_IS1, "I_SRC_ADDR_S_IS1", "Source Address, Short, IS1." },
    { ETE_PKT_I_SRC_ADDR_L_32IS0, "I_SCR_ADDR_L_32IS0", "Source Address, Long, 32 bit, IS0." },
    { ETE_PKT_I_SRC_ADDR_L_32IS1, "I_SRC_ADDR_L_32IS1", "Source Address, Long, 32 bit, IS1." },
    { ETE_PKT_I_SRC_ADDR_L_64IS0, "I_SRC_ADDR_L_64IS0", "Source Address, Long, 64 bit, IS0." },
    { ETE_PKT_I_SRC_ADDR_L_64IS1, "I_SRC_ADDR_L_64IS1", "Source Address, Long, 64 bit, IS1." },
    { ETM4_PKT_I_ATOM_F6, "I_ATOM_F6", "Atom format 6." },
    { ETM4_PKT_I_ATOM_F5, "I_ATOM_F5", "Atom format 5." },
    { ETM4_PKT_I_ATOM_F2, "I_ATOM_F2", "Atom format 2." },
    { ETM4_PKT_I_ATOM_F4, "I_ATOM_F4", "Atom format 4." },
    { ETM4_PKT_I_ATOM_F1, "I_ATOM_F1", "Atom format 1." },
    { ETM4_PKT_I_ATOM_F3, "I_ATOM_F3", "Atom format 3." },
    { ETM4_PKT_I_ASYNC, "I_ASYNC", "Alignment Synchronisation." },
    { ETM4_PKT_I_DISCARD, "I_DISCARD", "Discard." },
    { ETM4_PKT_I_OVERFLOW, "I_OVERFLOW", "Overflow." },
    { ETE_PKT_I_PE_RESET, "I_PE_RESET", "PE Reset." },
    { ETE_PKT_I_TRANS_FAIL, "I_TRANS_FAIL", "Transaction Fail." },
};
/* clang-format on */

/* What the versions name in different ways. */
static struct name name_of(unsigned type)
{
    const bool is_1_7 = oc_settings()->is_1_7;

    if (type == OC_ETMV4_ITE_1_7 && is_1_7)
        return (struct name){ 0, "I_ITE", "Instrumentation" };
    if (type == OC_ETMV4_ITE_1_7)
        return (struct name){ 0, "I_COMMIT_WIN_MV", "Commit window move." };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].type == type) {
            struct name found = names[i];

            if (type == ETM4_PKT_I_ADDR_CTXT_L_32IS1 && !is_1_7)
                found.text = "Address & Context, Long, 32 bit, IS0.";
            return found;
        }
    return (struct name){ 0, "I_UNKNOWN", "Unknown Packet Header" };
}

static void add_atoms(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    for (unsigned i = 0; i < packet->atom.num && i < 32; i++)
        oc_text_add(text, "%c", packet->atom.En_bits >> i & 1 ? 'E' : 'N');
}

static void add_context(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    const etmv4_context_t *context = &packet->context;
    const bool is_rme = context->NSE && oc_settings()->is_1_7;

    if (!packet->pkt_valid.bits.context_valid)
        return;
    if (!context->updated) {
        oc_text_add(text, "Ctxt: Same");
        return;
    }
    oc_text_add(text, "Ctxt: %sEL%u, ", context->SF ? "AArch64," : "AArch32, ",
                (unsigned)context->EL);
    if (is_rme)
        oc_text_add(text, "%s", context->NS ? "Realm; " : "Root; ");
    else
        oc_text_add(text, "%s", context->NS ? "NS; " : "S; ");
    if (context->updated_c)
        oc_text_add(text, "CID=0x%08" PRIx32 "; ", context->ctxtID);
    if (context->updated_v)
        oc_text_add(text, "VMID=0x%04" PRIx32 "; ", context->VMID);
}

/* The address; what is new of it is shown when that is less than `whole` bits. */
static void add_address(struct oc_text *text, const ocsd_etmv4_i_pkt *packet, unsigned whole)
{
    const ocsd_pkt_vaddr *address = &packet->v_addr;

    oc_text_add(text, "; Addr=");
    oc_text_value(text, address->size == VA_64BIT ? 64 : 32, address->valid_bits, address->val,
                  address->pkt_bits < whole ? address->pkt_bits : 0);
}

static void add_exception(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    static const char *const a_names[16] = {
        "PE Reset",   "Debug Halt", "Call",     "Trap",     "System Error", "Reserved",
        "Inst Debug", "Data Debug", "Reserved", "Reserved", "Alignment",    "Inst Fault",
        "Data Fault", "Reserved",   "IRQ",      "FIQ"
    };
    static const char *const m_names[32] = {
        "Reserved",     "PE Reset",    "NMI",      "HardFault", "MemManage", "BusFault",
        "UsageFault",   "Reserved",    "Reserved", "Reserved",  "Reserved",  "SVC",
        "DebugMonitor", "Reserved",    "PendSV",   "SysTick",   "IRQ0",      "IRQ1",
        "IRQ2",         "IRQ3",        "IRQ4",     "IRQ5",      "IRQ6",      "IRQ7",
        "DebugHalt",    "LazyFP Push", "Lockup",   "Reserved",  "Reserved",  "Reserved",
        "Reserved",     "Reserved"
    };
    const unsigned type = packet->exception_info.exceptionType;
    const unsigned interpretation = packet->exception_info.addr_interp;

    oc_text_add(text, "; ");
    if (!packet->exception_info.m_type)
        oc_text_add(text, " %s;", type < 16 ? a_names[type] : "Reserved");
    else if (type >= 0x208 && type <= 0x3ef)
        oc_text_add(text, " IRQ%u;", type - 0x200);
    else
        oc_text_add(text, " %s;", type < 32 ? m_names[type] : "Reserved");
    if (packet->exception_info.m_type && packet->exception_info.m_fault_pending)
        oc_text_add(text, " Fault Pending;");
    if (interpretation == 1)
        oc_text_add(text, " Ret Addr Follows;");
    else if (interpretation == 2)
        oc_text_add(text, " Ret Addr Follows, Match Prev;");
}

static void add_trace_info(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    enum { INITIAL = 1 << 16, SPEC = 1 << 17 };
    const bool is_1_7 = oc_settings()->is_1_7;
    const uint32_t info = packet->trace_info.val;

    oc_text_add(text, "; INFO=0x%" PRIx32 " { CC.%u", is_1_7 ? info & 0xff : info,
                (unsigned)packet->trace_info.bits.cc_enabled);
    if ((packet->protocol_version & 0xf0) == 0x50)
        oc_text_add(text, ", TSTATE.%u", (unsigned)packet->trace_info.bits.in_trans_state);
    oc_text_add(text, " }");
    if (packet->trace_info.bits.cc_enabled)
        oc_text_add(text, "; CC_THRESHOLD=0x%" PRIx32, packet->cc_threshold);
    if (!is_1_7 || !(info & INITIAL))
        return;
    if (info & SPEC && packet->pkt_valid.bits.spec_depth_valid)
        oc_text_add(text, "; INIT SPEC DEPTH=%" PRIu32, packet->curr_spec_depth);
    oc_text_add(text, "; Decoder Sync point TINFO");
}

static void add_q(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    if (packet->Q_pkt.count_present)
        oc_text_add(text, "; Count(%" PRIu32 ")", packet->Q_pkt.q_count);
    else
        oc_text_add(text, "; Count(Unknown)");
    if (packet->Q_pkt.addr_match)
        oc_text_add(text, "; [%u]", packet->addr_exact_match_idx);
    if (packet->Q_pkt.addr_present || packet->Q_pkt.addr_match)
        add_address(text, packet, 64);
}

static void add_speculation(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    const bool has_atoms = packet->atom.num && packet->type >= ETM4_PKT_I_MISPREDICT;

    if (packet->type == ETM4_PKT_I_COMMIT) {
        oc_text_add(text, "; Commit(%" PRIu32 ")", packet->commit_elements);
        return;
    }
    oc_text_add(text, "; ");
    if (has_atoms && packet->type == ETM4_PKT_I_CANCEL_F3) {
        oc_text_add(text, "Atom: E, ");
    } else if (has_atoms) {
        oc_text_add(text, "Atom: ");
        add_atoms(text, packet);
        oc_text_add(text, ", ");
    }
    if (packet->type == ETM4_PKT_I_CANCEL_F2)
        oc_text_add(text, "Cancel(1), ");
    else if (packet->type != ETM4_PKT_I_MISPREDICT)
        oc_text_add(text, "Cancel(%" PRIu32 ")%s", packet->cancel_elements,
                    packet->type == ETM4_PKT_I_CANCEL_F1 ? "" : ", ");
    if (packet->type != ETM4_PKT_I_CANCEL_F1)
        oc_text_add(text, "Mispredict");
}

static void add_addresses(struct oc_text *text, const ocsd_etmv4_i_pkt *packet)
{
    switch ((unsigned)packet->type) {
    case ETM4_PKT_I_ADDR_S_IS0:
    case ETM4_PKT_I_ADDR_S_IS1:
    case ETE_PKT_I_SRC_ADDR_S_IS0:
    case ETE_PKT_I_SRC_ADDR_S_IS1:
        add_address(text, packet, 65);
        break;
    case ETM4_PKT_I_ADDR_MATCH:
    case ETE_PKT_I_SRC_ADDR_MATCH:
        oc_text_add(text, ", [%u]", packet->addr_exact_match_idx);
        add_address(text, packet, 0);
        oc_text_add(text, "; ");
        break;
    case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
    case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
    case ETM4_PKT_I_ADDR_L_32IS0:
    case ETM4_PKT_I_ADDR_L_32IS1:
    case ETE_PKT_I_SRC_ADDR_L_32IS0:
    case ETE_PKT_I_SRC_ADDR_L_32IS1:
        add_address(text, packet, 32);
        oc_text_add(text, "; ");
        break;
    default:
        add_address(text, packet, 64);
        oc_text_add(text, "; ");
        break;
    }
    if (packet->type >= ETM4_PKT_I_ADDR_CTXT_L_32IS0 &&
        packet->type <= ETM4_PKT_I_ADDR_CTXT_L_64IS1)
        add_context(text, packet);
}

/* What 1.7.1 has and 1.3.3 has not. */
static void add_later(struct oc_text *text, const struct oc_etmv4_later *packet, unsigned type)
{
    enum { COMMIT_VALID = 1 << 9 };
    ocsd_etmv4_i_pkt head;

    if (!oc_settings()->is_1_7)
        return;
    memcpy(&head, packet->head, sizeof packet->head);
    if (type == OC_ETMV4_ITE_1_7)
        oc_text_add(text, "; EL%u; Payload=0x%" PRIx64, packet->ite.el, packet->ite.value);
    else if (packet->valid & COMMIT_VALID)
        oc_text_add(text, "; Commit(%" PRIu32 ")", head.commit_elements);
}

static void add_details(struct oc_text *text, const ocsd_etmv4_i_pkt *packet,
                        const struct oc_etmv4_later *later)
{
    const unsigned type = (unsigned)packet->type;

    switch (type) {
    case ETM4_PKT_I_BAD_SEQUENCE:
    case ETM4_PKT_I_INCOMPLETE_EOT:
    case ETM4_PKT_I_RESERVED_CFG:
        oc_text_add(text, "[%s]", name_of((unsigned)packet->err_type).name);
        break;
    case ETM4_PKT_I_CTXT:
        oc_text_add(text, "; ");
        add_context(text, packet);
        break;
    case ETM4_PKT_I_EXCEPT:
        add_exception(text, packet);
        break;
    case ETM4_PKT_I_TIMESTAMP:
        oc_text_add(text, "; Updated val = 0x%" PRIx64, packet->ts.timestamp);
        if (packet->pkt_valid.bits.cc_valid)
            oc_text_add(text, "; CC=0x%" PRIx32, packet->cycle_count);
        break;
    case ETM4_PKT_I_TRACE_INFO:
        add_trace_info(text, packet);
        break;
    case ETM4_PKT_I_CCNT_F1:
    case ETM4_PKT_I_CCNT_F2:
    case ETM4_PKT_I_CCNT_F3:
        oc_text_add(text, "; Count=0x%" PRIx32, packet->cycle_count);
        add_later(text, later, type);
        break;
    case OC_ETMV4_ITE_1_7:
        add_later(text, later, type);
        break;
    case ETM4_PKT_I_Q:
        add_q(text, packet);
        break;
    case ETM4_PKT_I_ATOM_F1:
    case ETM4_PKT_I_ATOM_F2:
    case ETM4_PKT_I_ATOM_F3:
    case ETM4_PKT_I_ATOM_F4:
    case ETM4_PKT_I_ATOM_F5:
    case ETM4_PKT_I_ATOM_F6:
        oc_text_add(text, "; ");
        add_atoms(text, packet);
        break;
    default:
        if (type >= ETM4_PKT_I_COMMIT && type <= ETM4_PKT_I_CANCEL_F3)
            add_speculation(text, packet);
        else if (type >= ETM4_PKT_I_ADDR_CTXT_L_32IS0 && type <= ETE_PKT_I_SRC_ADDR_L_64IS1 &&
                 type != ETE_PKT_I_TS_MARKER)
            add_addresses(text, packet);
        break;
    }
}

void oc_etmv4_text(struct oc_text *text, const void *any)
{
    const struct oc_etmv4_later *later = any;
    ocsd_etmv4_i_pkt packet;
    struct name name;

    if (oc_settings()->is_1_7) { /* what both have, in one struct */
        memset(&packet, 0, sizeof packet);
        memcpy(&packet, later->head, sizeof later->head);
        packet.pkt_valid.val = later->valid;
        packet.err_type = (ocsd_etmv4_i_pkt_type)later->err_type;
        packet.protocol_version = later->protocol_version;
    } else {
        memcpy(&packet, any, sizeof packet);
    }
    name = name_of((unsigned)packet.type);
    oc_text_add(text, "%s : %s", name.name, name.text);
    add_details(text, &packet, later);
}
