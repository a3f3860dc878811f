/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace packets: what their lines say. */
#include <string.h>

#include "base/members.h"
#include "ntrace/packet.h"

const struct tw_packet_type tw_ntrace_types[TW_NTRACE_TYPES] = {
    [TW_NTRACE_OWNERSHIP] = { "Ownership", TW_PACKET_CONTEXT },
    [TW_NTRACE_DIRECT_BRANCH] = { "DirectBranch", TW_PACKET_FLOW },
    [TW_NTRACE_INDIRECT_BRANCH] = { "IndirectBranch", TW_PACKET_FLOW },
    [TW_NTRACE_ERROR] = { "Error", TW_PACKET_OVERFLOW },
    [TW_NTRACE_PROG_TRACE_SYNC] = { "ProgTraceSync", TW_PACKET_SYNC },
    [TW_NTRACE_DIRECT_BRANCH_SYNC] = { "DirectBranchSync", TW_PACKET_SYNC },
    [TW_NTRACE_INDIRECT_BRANCH_SYNC] = { "IndirectBranchSync", TW_PACKET_SYNC },
    [TW_NTRACE_RESOURCE_FULL] = { "ResourceFull", TW_PACKET_FLOW },
    [TW_NTRACE_INDIRECT_BRANCH_HIST] = { "IndirectBranchHist", TW_PACKET_FLOW },
    [TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC] = { "IndirectBranchHistSync", TW_PACKET_SYNC },
    [TW_NTRACE_REPEAT_BRANCH] = { "RepeatBranch", TW_PACKET_FLOW },
    [TW_NTRACE_PROG_TRACE_CORRELATION] = { "ProgTraceCorrelation", TW_PACKET_FLOW },
    [TW_NTRACE_DATA_ACQUISITION] = { "DataAcquisition", TW_PACKET_DATA },
    [TW_NTRACE_AUX_ACCESS_WRITE] = { "AuxAccessWrite", TW_PACKET_DATA },
    [TW_NTRACE_IN_CIRCUIT_TRACE] = { "InCircuitTrace", TW_PACKET_EVENT },
    [TW_NTRACE_IN_CIRCUIT_TRACE_SYNC] = { "InCircuitTraceSync", TW_PACKET_EVENT },
    [TW_NTRACE_VENDOR] = { "Vendor", TW_PACKET_OTHER },
    [TW_NTRACE_IDLE] = { "Idle", TW_PACKET_PADDING },
    [TW_NTRACE_NOT_SYNC] = { "NotSync", TW_PACKET_NOT_SYNC },
    [TW_NTRACE_RESERVED] = { "Reserved", TW_PACKET_BAD },
    [TW_NTRACE_BAD] = { "BadSequence", TW_PACKET_BAD },
    [TW_NTRACE_INCOMPLETE] = { "Incomplete", TW_PACKET_CUT },
};

static const char *const fault_names[] = {
    [TW_NTRACE_FAULT_NONE] = NULL,
    [TW_NTRACE_FAULT_MSEO] = "mseo",
    [TW_NTRACE_FAULT_START] = "start",
    [TW_NTRACE_FAULT_CUT] = "fixed fields cut",
    [TW_NTRACE_FAULT_ADDRESS] = "missing address",
    [TW_NTRACE_FAULT_HIST] = "HIST 0",
    [TW_NTRACE_FAULT_FIELD] = "missing field",
    [TW_NTRACE_FAULT_CDF] = "reserved CDF",
    [TW_NTRACE_FAULT_WIDE] = "field too wide",
    [TW_NTRACE_FAULT_LONG] = "no end",
};

static const struct {
    unsigned bit;
    const char *text;
} warnings[] = {
    { TW_NTRACE_ODD_EMPTY, "empty field" },  { TW_NTRACE_ODD_EXTRA, "extra field" },
    { TW_NTRACE_ODD_IDLE, "idle data" },     { TW_NTRACE_ODD_FORMAT, "reserved FORMAT" },
    { TW_NTRACE_ODD_CODE, "reserved code" },
};

const char *tw_ntrace_type_name(unsigned type)
{
    return type < TW_NTRACE_TYPES ? tw_ntrace_types[type].name : "unknown";
}

const char *tw_ntrace_fault_name(unsigned fault)
{
    return fault < TW_LENGTH(fault_names) ? fault_names[fault] : NULL;
}

/* clang-format off */
enum {
    FADDR, UADDR, RCODE, RDATA, HREPEAT, CKSRC, CKDF, CKDATA0, CKDATA1, SYNC, BTYPE, EVCODE,
    CDF, ICNT, HIST, PROCESS, ETYPE, ECODE, BCNT, IDTAG, DQDATA, ADDR, DATA, N, TCODE, TSTAMP,
    ERROR, AT, RDATA_HIST, WARNING, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [FADDR] = TW_PAIR("faddr", HEX),
    [UADDR] = TW_PAIR("uaddr", HEX),
    [RCODE] = TW_PAIR("rcode", DECIMAL),
    [RDATA] = TW_PAIR("rdata", DECIMAL),
    [HREPEAT] = TW_PAIR("hrepeat", DECIMAL),
    [CKSRC] = TW_PAIR("cksrc", DECIMAL),
    [CKDF] = TW_PAIR("ckdf", DECIMAL),
    [CKDATA0] = TW_PAIR("ckdata0", HEX),
    [CKDATA1] = TW_PAIR("ckdata1", HEX),
    [SYNC] = TW_PAIR("sync", DECIMAL),
    [BTYPE] = TW_PAIR("btype", DECIMAL),
    [EVCODE] = TW_PAIR("evcode", DECIMAL),
    [CDF] = TW_PAIR("cdf", DECIMAL),
    [ICNT] = TW_PAIR("icnt", DECIMAL),
    [HIST] = TW_PAIR("hist", HEX),
    [PROCESS] = TW_PAIR("process", HEX),
    [ETYPE] = TW_PAIR("etype", DECIMAL),
    [ECODE] = TW_PAIR("ecode", HEX),
    [BCNT] = TW_PAIR("bcnt", DECIMAL),
    [IDTAG] = TW_PAIR("idtag", HEX),
    [DQDATA] = TW_PAIR("dqdata", HEX),
    [ADDR] = TW_PAIR("addr", HEX),
    [DATA] = TW_PAIR("data", HEX),
    [N] = TW_PAIR("n", DECIMAL),
    [TCODE] = TW_PAIR("tcode", DECIMAL),
    [TSTAMP] = TW_PAIR("tstamp", DECIMAL),
    [ERROR] = TW_PAIR("error", NAME),
    [AT] = TW_PAIR("at", DECIMAL),
    [RDATA_HIST] = TW_PAIR("rdata", HEX),
    [WARNING] = TW_PAIR("warning", TEXT),
};
/* clang-format on */

static void put_resource(struct tw_members *out, const struct tw_ntrace_packet *packet)
{
    const bool is_hist =
        packet->code == TW_NTRACE_RCODE_HIST || packet->code == TW_NTRACE_RCODE_REPEAT;

    tw_put(out, RCODE, packet->code);
    if (is_hist)
        tw_put(out, RDATA_HIST, packet->rdata);
    else
        tw_put(out, RDATA, packet->rdata);
    if (packet->code == TW_NTRACE_RCODE_REPEAT)
        tw_put(out, HREPEAT, packet->hrepeat);
}

static void put_circuit(struct tw_members *out, const struct tw_ntrace_packet *packet)
{
    tw_put(out, CKSRC, packet->code);
    tw_put(out, CKDF, packet->cdf);
    tw_put(out, CKDATA0, packet->ckdata0);
    if (packet->cdf == 1)
        tw_put(out, CKDATA1, packet->ckdata1);
}

static void put_flow(struct tw_members *out, const struct tw_ntrace_packet *packet)
{
    const struct tw_ntrace_rule *rule = &tw_ntrace_rules[packet->tcode & 0x3f];

    if (rule->sync_mask)
        tw_put(out, SYNC, packet->sync);
    if (rule->btype_mask)
        tw_put(out, BTYPE, packet->btype);
    if (packet->base.type == TW_NTRACE_PROG_TRACE_CORRELATION) {
        tw_put(out, EVCODE, packet->code);
        tw_put(out, CDF, packet->cdf);
    }
    tw_put(out, ICNT, packet->icnt);
    if (rule->roles[1] == TW_NTRACE_ROLE_ADDRESS)
        tw_put(out, rule->sync_mask ? FADDR : UADDR, packet->address);
    if (packet->has & TW_NTRACE_HAS_HIST)
        tw_put(out, HIST, packet->hist);
}

static void put_message(struct tw_members *out, const struct tw_ntrace_packet *packet)
{
    switch (packet->base.type) {
    case TW_NTRACE_OWNERSHIP:
        tw_put(out, PROCESS, packet->process);
        break;
    case TW_NTRACE_ERROR:
        tw_put(out, ETYPE, packet->code);
        tw_put(out, ECODE, packet->ecode);
        break;
    case TW_NTRACE_RESOURCE_FULL:
        put_resource(out, packet);
        break;
    case TW_NTRACE_REPEAT_BRANCH:
        tw_put(out, BCNT, packet->bcnt);
        break;
    case TW_NTRACE_DATA_ACQUISITION:
        tw_put(out, IDTAG, packet->idtag);
        tw_put(out, DQDATA, packet->dqdata);
        break;
    case TW_NTRACE_AUX_ACCESS_WRITE:
        tw_put(out, ADDR, packet->idtag);
        tw_put(out, DATA, packet->dqdata);
        break;
    case TW_NTRACE_IN_CIRCUIT_TRACE:
    case TW_NTRACE_IN_CIRCUIT_TRACE_SYNC:
        put_circuit(out, packet);
        break;
    default:
        put_flow(out, packet);
    }
}

static void put_warnings(struct tw_members *out, const struct tw_ntrace_packet *packet)
{
    char text[100] = "";

    for (size_t i = 0; i < TW_LENGTH(warnings); i++)
        if (packet->odd & warnings[i].bit) {
            (void)strcat(text, text[0] ? ", " : "");
            (void)strcat(text, warnings[i].text);
        }
    if (text[0])
        tw_put_format(out, WARNING, "%s", text);
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_ntrace_packet *packet = any;
    const unsigned type = packet->base.type;

    (void)protocol;
    if (type == TW_NTRACE_IDLE)
        tw_put(out, N, packet->base.size);
    else if (type != TW_NTRACE_NOT_SYNC)
        tw_put(out, TCODE, packet->tcode);
    if (type < TW_NTRACE_VENDOR)
        put_message(out, packet);
    if (packet->has & TW_NTRACE_HAS_TSTAMP)
        tw_put(out, TSTAMP, packet->tstamp);
    if (packet->error)
        tw_put_text(out, ERROR,
                    packet->fault ? tw_ntrace_fault_name(packet->fault)
                                  : tw_error_code_name(packet->error));
    if (packet->fault_at)
        tw_put(out, AT, packet->fault_at);
    put_warnings(out, packet);
}

const struct tw_member_table tw_ntrace_members = { rows, MEMBERS, put_members, NULL };
