/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: packets to text and JSON. */
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

static void json_resource(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    const bool is_hist =
        packet->code == TW_NTRACE_RCODE_HIST || packet->code == TW_NTRACE_RCODE_REPEAT;

    tw_json_u64(out, "rcode", packet->code);
    if (is_hist)
        tw_json_hex(out, "rdata", packet->rdata);
    else
        tw_json_u64(out, "rdata", packet->rdata);
    if (packet->code == TW_NTRACE_RCODE_REPEAT)
        tw_json_u64(out, "hrepeat", packet->hrepeat);
}

static void json_circuit(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    tw_json_u64(out, "cksrc", packet->code);
    tw_json_u64(out, "ckdf", packet->cdf);
    tw_json_hex(out, "ckdata0", packet->ckdata0);
    if (packet->cdf == 1)
        tw_json_hex(out, "ckdata1", packet->ckdata1);
}

static void json_flow(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    const struct tw_ntrace_rule *rule = &tw_ntrace_rules[packet->tcode & 0x3f];

    if (rule->sync_mask)
        tw_json_u64(out, "sync", packet->sync);
    if (rule->btype_mask)
        tw_json_u64(out, "btype", packet->btype);
    if (packet->base.type == TW_NTRACE_PROG_TRACE_CORRELATION) {
        tw_json_u64(out, "evcode", packet->code);
        tw_json_u64(out, "cdf", packet->cdf);
    }
    tw_json_u64(out, "icnt", packet->icnt);
    if (rule->roles[1] == TW_NTRACE_ROLE_ADDRESS)
        tw_json_hex(out, rule->sync_mask ? "faddr" : "uaddr", packet->address);
    if (packet->has & TW_NTRACE_HAS_HIST)
        tw_json_hex(out, "hist", packet->hist);
}

static void json_message(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    switch (packet->base.type) {
    case TW_NTRACE_OWNERSHIP:
        tw_json_hex(out, "process", packet->process);
        break;
    case TW_NTRACE_ERROR:
        tw_json_u64(out, "etype", packet->code);
        tw_json_hex(out, "ecode", packet->ecode);
        break;
    case TW_NTRACE_RESOURCE_FULL:
        json_resource(out, packet);
        break;
    case TW_NTRACE_REPEAT_BRANCH:
        tw_json_u64(out, "bcnt", packet->bcnt);
        break;
    case TW_NTRACE_DATA_ACQUISITION:
        tw_json_hex(out, "idtag", packet->idtag);
        tw_json_hex(out, "dqdata", packet->dqdata);
        break;
    case TW_NTRACE_AUX_ACCESS_WRITE:
        tw_json_hex(out, "addr", packet->idtag);
        tw_json_hex(out, "data", packet->dqdata);
        break;
    case TW_NTRACE_IN_CIRCUIT_TRACE:
    case TW_NTRACE_IN_CIRCUIT_TRACE_SYNC:
        json_circuit(out, packet);
        break;
    default:
        json_flow(out, packet);
    }
}

void tw_ntrace_json(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type == TW_NTRACE_IDLE)
        tw_json_u64(out, "n", packet->base.size);
    else if (type != TW_NTRACE_NOT_SYNC)
        tw_json_u64(out, "tcode", packet->tcode);
    if (type < TW_NTRACE_VENDOR)
        json_message(out, packet);
    if (packet->has & TW_NTRACE_HAS_TSTAMP)
        tw_json_u64(out, "tstamp", packet->tstamp);
    if (packet->error)
        tw_json_text(out, "error",
                     packet->fault ? tw_ntrace_fault_name(packet->fault)
                                   : tw_error_code_name(packet->error));
    if (packet->fault_at)
        tw_json_u64(out, "at", packet->fault_at);
    for (size_t i = 0; i < TW_LENGTH(warnings); i++)
        if (packet->odd & warnings[i].bit)
            tw_json_text(out, "warning", warnings[i].text);
}

/* The same members as words: "key":"0x12","other":3 becomes key=0x12 other=3. */
void tw_ntrace_print(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    char buffer[600];
    struct tw_text json = tw_text_in(buffer, sizeof buffer);

    tw_ntrace_json(&json, packet);
    tw_text_add(out, tw_ntrace_type_name(packet->base.type));
    if (json.size)
        tw_text_char(out, ' ');
    for (size_t i = 0; i < json.size; i++) {
        if (buffer[i] == ',')
            tw_text_char(out, ' ');
        else if (buffer[i] == ':')
            tw_text_char(out, '=');
        else if (buffer[i] != '"')
            tw_text_char(out, buffer[i]);
    }
}
