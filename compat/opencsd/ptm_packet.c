/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM packets as OpenCSD has them, and as text. */
#include "opencsd/ptm_packet.h"

#include <inttypes.h>
#include <string.h>

#include <trackway/ptm.h>

static const uint8_t types[TW_PTM_TYPES] = {
    [TW_PTM_NOT_SYNC] = PTM_PKT_NOTSYNC,
    [TW_PTM_INCOMPLETE_EOT] = PTM_PKT_INCOMPLETE_EOT,
    [TW_PTM_BAD_SEQUENCE] = PTM_PKT_BAD_SEQUENCE,
    [TW_PTM_RESERVED] = PTM_PKT_RESERVED,
    [TW_PTM_ASYNC] = PTM_PKT_A_SYNC,
    [TW_PTM_ISYNC] = PTM_PKT_I_SYNC,
    [TW_PTM_ATOM] = PTM_PKT_ATOM,
    [TW_PTM_BRANCH_ADDRESS] = PTM_PKT_BRANCH_ADDRESS,
    [TW_PTM_WP_UPDATE] = PTM_PKT_WPOINT_UPDATE,
    [TW_PTM_TRIGGER] = PTM_PKT_TRIGGER,
    [TW_PTM_CONTEXT_ID] = PTM_PKT_CONTEXT_ID,
    [TW_PTM_VMID] = PTM_PKT_VMID,
    [TW_PTM_TIMESTAMP] = PTM_PKT_TIMESTAMP,
    [TW_PTM_EXCEPTION_RETURN] = PTM_PKT_EXCEPTION_RET,
    [TW_PTM_IGNORE] = PTM_PKT_IGNORE,
};

/* What a header announces. */
static ocsd_ptm_pkt_type type_of_header(uint8_t header)
{
    static const struct {
        uint8_t header, type;
    } others[] = {
        { 0x00, PTM_PKT_A_SYNC },        { 0x08, PTM_PKT_I_SYNC },
        { 0x72, PTM_PKT_WPOINT_UPDATE }, { 0x0c, PTM_PKT_TRIGGER },
        { 0x6e, PTM_PKT_CONTEXT_ID },    { 0x3c, PTM_PKT_VMID },
        { 0x42, PTM_PKT_TIMESTAMP },     { 0x46, PTM_PKT_TIMESTAMP },
        { 0x76, PTM_PKT_EXCEPTION_RET }, { 0x66, PTM_PKT_IGNORE },
    };

    if (header & 1)
        return PTM_PKT_BRANCH_ADDRESS;
    if (header & 0x80)
        return PTM_PKT_ATOM;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].header == header)
            return (ocsd_ptm_pkt_type)others[i].type;
    return PTM_PKT_RESERVED;
}

void oc_ptm_init(void *state, const struct oc_setup *setup)
{
    (void)setup;
    memset(state, 0, sizeof(ocsd_ptm_pkt));
    oc_ptm_reset(state);
}

/* What holds for one packet only. */
static void begin(ocsd_ptm_pkt *out)
{
    out->err_type = PTM_PKT_NOERROR;
    out->cycle_count = 0;
    out->cc_valid = 0;
    out->context.updated = out->context.updated_c = out->context.updated_v = 0;
    out->ts_update_bits = 0;
    out->atom.En_bits = 0;
    out->exception.bits.present = 0;
    out->prev_isa = out->curr_isa;
}

void oc_ptm_reset(void *state)
{
    ocsd_ptm_pkt *out = state;

    out->type = PTM_PKT_NOTSYNC;
    memset(&out->context, 0, sizeof out->context);
    out->addr.valid_bits = 0;
    out->addr.size = VA_32BIT;
    out->addr.val = 0;
    out->curr_isa = ocsd_isa_unknown;
    out->timestamp = 0;
    begin(out);
}

static void set_address(ocsd_ptm_pkt *out, const struct tw_ptm_packet *packet)
{
    out->curr_isa = (ocsd_isa)packet->isa;
    out->addr.val = packet->address;
    out->addr.pkt_bits = packet->address_bits;
    if (out->addr.valid_bits < packet->address_bits)
        out->addr.valid_bits = packet->address_bits;
}

static void set_isync(ocsd_ptm_pkt *out, const struct tw_ptm_packet *packet)
{
    out->i_sync_reason = (ocsd_iSync_reason)packet->reason;
    out->context.curr_NS = packet->ns;
    out->context.curr_alt_isa = packet->alt_isa;
    out->context.curr_Hyp = packet->hyp;
    out->context.updated = 1;
    if (packet->has_context_id) {
        out->context.ctxtID = packet->context_id;
        out->context.updated_c = 1;
    }
}

static void set_exception(ocsd_ptm_pkt *out, const struct tw_ptm_packet *packet)
{
    static const uint8_t kinds[16] = { Excp_NoException,   Excp_DebugHalt,
                                       Excp_SMC,           Excp_Hyp,
                                       Excp_AsyncDAbort,   Excp_ThumbEECheckFail,
                                       Excp_Reserved,      Excp_Reserved,
                                       Excp_Reset,         Excp_Undef,
                                       Excp_SVC,           Excp_PrefAbort,
                                       Excp_SyncDataAbort, Excp_Generic,
                                       Excp_IRQ,           Excp_FIQ };

    out->context.curr_NS = packet->ns;
    out->context.updated = 1;
    if (packet->info_size > 1)
        out->context.curr_Hyp = packet->hyp;
    out->exception.bits.present = 1;
    out->exception.number = packet->exception;
    out->exception.type =
        (ocsd_armv7_exception)(packet->exception < 16 ? kinds[packet->exception]
                                                      : Excp_Reserved);
}

void oc_ptm_fill(void *state, const void *from, const uint8_t *bytes)
{
    const struct tw_ptm_packet *packet = from;
    ocsd_ptm_pkt *out = state;

    begin(out);
    out->type = (ocsd_ptm_pkt_type)types[packet->base.type];
    if (packet->has_cycles && !tw_ptm_type_is_bad(packet->base.type)) {
        out->cycle_count = packet->cycles;
        out->cc_valid = 1;
    }
    switch (packet->base.type) {
    case TW_PTM_BAD_SEQUENCE:
    case TW_PTM_INCOMPLETE_EOT:
        out->err_type = type_of_header(bytes[0]);
        break;
    case TW_PTM_ISYNC:
        set_isync(out, packet);
        set_address(out, packet);
        break;
    case TW_PTM_ATOM:
        out->atom.En_bits = packet->atoms;
        out->atom.num = packet->atom_count;
        break;
    case TW_PTM_BRANCH_ADDRESS:
        set_address(out, packet);
        if (packet->info_size)
            set_exception(out, packet);
        break;
    case TW_PTM_WP_UPDATE:
        set_address(out, packet);
        break;
    case TW_PTM_CONTEXT_ID:
        out->context.ctxtID = packet->value;
        out->context.updated_c = 1;
        break;
    case TW_PTM_VMID:
        out->context.VMID = (uint8_t)packet->value;
        out->context.updated_v = 1;
        break;
    case TW_PTM_TIMESTAMP:
        out->timestamp = packet->timestamp;
        out->ts_update_bits = packet->timestamp_bits;
        break;
    default:
        break;
    }
}

/* ---- Text */

/* clang-format off */
static const struct {
    const char *name, *text;
} names[] = {
    [PTM_PKT_NOTSYNC] = { "NOTSYNC", "PTM Not Synchronised" },
    [PTM_PKT_INCOMPLETE_EOT] = { "INCOMPLETE_EOT", "Incomplete packet flushed at end of trace" },
    [PTM_PKT_NOERROR] = { "NO_ERROR", "Error type not set" },
    [PTM_PKT_BRANCH_ADDRESS] = { "BRANCH_ADDRESS", "Branch address packet" },
    [PTM_PKT_A_SYNC] = { "ASYNC", "Alignment Synchronisation Packet" },
    [PTM_PKT_I_SYNC] = { "ISYNC", "Instruction Synchronisation packet" },
    [PTM_PKT_TRIGGER] = { "TRIGGER", "Trigger Event packet" },
    [PTM_PKT_WPOINT_UPDATE] = { "WP_UPDATE", "Waypoint update packet" },
    [PTM_PKT_IGNORE] = { "IGNORE", "Ignore packet" },
    [PTM_PKT_CONTEXT_ID] = { "CTXTID", "Context ID packet" },
    [PTM_PKT_VMID] = { "VMID", "VM ID packet" },
    [PTM_PKT_ATOM] = { "ATOM", "Atom packet" },
    [PTM_PKT_TIMESTAMP] = { "TIMESTAMP", "Timestamp packet" },
    [PTM_PKT_EXCEPTION_RET] = { "ERET", "Exception return packet" },
    [PTM_PKT_BAD_SEQUENCE] = { "BAD_SEQUENCE", "Invalid sequence in packet" },
    [PTM_PKT_RESERVED] = { "RESERVED", "Reserved Packet Header" },
};
/* clang-format on */

static const char *name_of(unsigned type)
{
    return type < sizeof names / sizeof names[0] && names[type].name ? names[type].name
                                                                     : "UNKNOWN";
}

const char *oc_isa_text(ocsd_isa isa)
{
    switch (isa) {
    case ocsd_isa_arm:
        return "ISA=ARM(32); ";
    case ocsd_isa_thumb2:
        return "ISA=Thumb2; ";
    case ocsd_isa_aarch64:
        return "ISA=AArch64; ";
    case ocsd_isa_tee:
        return "ISA=ThumbEE; ";
    case ocsd_isa_jazelle:
        return "ISA=Jazelle; ";
    default:
        return "ISA=Unknown; ";
    }
}

const char *oc_exception_text(unsigned number)
{
    static const char *const texts[16] = {
        "No Exception",     "Debug Halt",      "SMC",      "Hyp",
        "Async Data Abort", "Jazelle",         "Reserved", "Reserved",
        "PE Reset",         "Undefined Instr", "SVC",      "Prefetch Abort",
        "Data Fault",       "Generic",         "IRQ",      "FIQ"
    };

    return number < 16 ? texts[number] : "Unknown";
}

static void add_cycles(struct oc_text *text, const ocsd_ptm_pkt *packet)
{
    if (packet->cc_valid)
        oc_text_add(text, "Cycles=%" PRIu32 "; ", packet->cycle_count);
}

static void add_atoms(struct oc_text *text, const ocsd_ptm_pkt *packet)
{
    const unsigned count = packet->cc_valid ? 1 : packet->atom.num;

    for (unsigned i = 0; i < count && i < 32; i++)
        oc_text_add(text, "%c", packet->atom.En_bits >> i & 1 ? 'E' : 'N');
    oc_text_add(text, "; ");
    add_cycles(text, packet);
}

static void add_branch(struct oc_text *text, const ocsd_ptm_pkt *packet)
{
    oc_text_add(text, "Addr=");
    oc_text_value(text, 32, packet->addr.valid_bits, packet->addr.val, packet->addr.pkt_bits);
    oc_text_add(text, "; %s",
                packet->curr_isa != packet->prev_isa ? oc_isa_text(packet->curr_isa) : "");
    if (packet->context.updated)
        oc_text_add(text, "%s%s", packet->context.curr_NS ? "NS; " : "S; ",
                    packet->context.curr_Hyp ? "Hyp; " : "");
    if (packet->exception.bits.present)
        oc_text_add(text, "Excep=%s [%02x]; ", oc_exception_text(packet->exception.number),
                    packet->exception.number);
    add_cycles(text, packet);
}

static void add_isync(struct oc_text *text, const ocsd_ptm_pkt *packet)
{
    static const char *const reasons[4] = { "Periodic", "Trace Enable", "Restart Overflow",
                                            "Debug Exit" };

    oc_text_add(text, "(%s); Addr=0x%08" PRIx32 "; ", reasons[packet->i_sync_reason & 3],
                (uint32_t)packet->addr.val);
    oc_text_add(text, "%s%s", packet->context.curr_NS ? "NS; " : "S; ",
                packet->context.curr_Hyp ? "Hyp; " : " ");
    if (packet->context.updated_c)
        oc_text_add(text, "CtxtID=%08" PRIx32 "; ", packet->context.ctxtID);
    oc_text_add(text, "%s", oc_isa_text(packet->curr_isa));
    add_cycles(text, packet);
}

void oc_ptm_text(struct oc_text *text, const void *any)
{
    const ocsd_ptm_pkt *packet = any;
    const unsigned type = (unsigned)packet->type;
    const bool is_known = type < sizeof names / sizeof names[0] && names[type].name;

    oc_text_add(text, "%s : %s; ", name_of(type),
                is_known ? names[type].text : "Unknown packet type");
    switch (packet->type) {
    case PTM_PKT_BAD_SEQUENCE:
        oc_text_add(text, "[%s]; ", name_of((unsigned)packet->err_type));
        break;
    case PTM_PKT_ATOM:
        add_atoms(text, packet);
        break;
    case PTM_PKT_CONTEXT_ID:
        oc_text_add(text, "CtxtID=0x%08" PRIx32 "; ", packet->context.ctxtID);
        break;
    case PTM_PKT_VMID: /* as a character, so it is */
        oc_text_add(text, "VMID=0x0%c; ", packet->context.VMID);
        break;
    case PTM_PKT_WPOINT_UPDATE:
    case PTM_PKT_BRANCH_ADDRESS:
        add_branch(text, packet);
        break;
    case PTM_PKT_I_SYNC:
        add_isync(text, packet);
        break;
    case PTM_PKT_TIMESTAMP:
        oc_text_add(text, "TS=");
        oc_text_value(text, 64, 64, packet->timestamp, packet->ts_update_bits);
        oc_text_add(text, "(%" PRIu64 "); ", packet->timestamp);
        add_cycles(text, packet);
        break;
    default:
        break;
    }
}
