/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to text and JSON. */
#include "etrace/packet.h"

#include <inttypes.h>

const struct tw_packet_type tw_etrace_types[TW_ETRACE_TYPES] = {
    [TW_ETRACE_F0S0] = { "f0s0", TW_PACKET_FLOW },
    [TW_ETRACE_F0S1] = { "f0s1", TW_PACKET_FLOW },
    [TW_ETRACE_F1] = { "f1", TW_PACKET_FLOW },
    [TW_ETRACE_F2] = { "f2", TW_PACKET_FLOW },
    [TW_ETRACE_F3S0] = { "f3s0", TW_PACKET_SYNC },
    [TW_ETRACE_F3S1] = { "f3s1", TW_PACKET_SYNC },
    [TW_ETRACE_F3S2] = { "f3s2", TW_PACKET_CONTEXT },
    [TW_ETRACE_F3S3] = { "f3s3", TW_PACKET_INFO },
    [TW_ETRACE_LOAD] = { "load", TW_PACKET_DATA },
    [TW_ETRACE_STORE] = { "store", TW_PACKET_DATA },
    [TW_ETRACE_SPLIT_LOAD_ADDR] = { "split_load_addr", TW_PACKET_DATA },
    [TW_ETRACE_SPLIT_LOAD_DATA] = { "split_load_data", TW_PACKET_DATA },
    [TW_ETRACE_ATOMIC] = { "atomic", TW_PACKET_DATA },
    [TW_ETRACE_SPLIT_ATOMIC_ADDR] = { "split_atomic_addr", TW_PACKET_DATA },
    [TW_ETRACE_SPLIT_ATOMIC_DATA] = { "split_atomic_data", TW_PACKET_DATA },
    [TW_ETRACE_CSR] = { "csr", TW_PACKET_DATA },
    [TW_ETRACE_NULL] = { "null", TW_PACKET_PADDING },
    [TW_ETRACE_OTHER] = { "other", TW_PACKET_OTHER },
    [TW_ETRACE_NOT_SYNC] = { "not_sync", TW_PACKET_NOT_SYNC },
    [TW_ETRACE_BAD] = { "bad", TW_PACKET_BAD },
    [TW_ETRACE_INCOMPLETE] = { "incomplete", TW_PACKET_CUT },
};

const char *tw_etrace_type_name(unsigned type)
{
    return type < TW_ETRACE_TYPES ? tw_etrace_types[type].name : "unknown";
}

static void json_flags(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    if (packet->base.type != TW_ETRACE_F0S1) {
        tw_json_u64(out, "notify", packet->notify);
        tw_json_u64(out, "updiscon", packet->updiscon);
    }
    tw_json_u64(out, "irreport", packet->irreport);
    if (packet->irreport && (packet->has & TW_ETRACE_HAS_IRDEPTH))
        tw_json_u64(out, "irdepth", packet->irdepth);
}

static void json_jump(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type == TW_ETRACE_F0S0) {
        tw_json_u64(out, "branch_count", packet->branch_count);
        tw_json_u64(out, "branch_fmt", packet->branch_fmt);
    }
    if (type == TW_ETRACE_F0S1)
        tw_json_u64(out, "index", packet->index);
    if (type == TW_ETRACE_F1 || type == TW_ETRACE_F0S1) {
        tw_json_u64(out, "branches", packet->branches);
        tw_json_hex(out, "branch_map", packet->branch_map);
    }
    if (type == TW_ETRACE_F0S1) {
        json_flags(out, packet);
        tw_json_hex(out, "address", packet->address);
    } else if (packet->has & TW_ETRACE_HAS_ADDRESS) {
        tw_json_hex(out, "field", packet->field);
        tw_json_hex(out, "address", packet->address);
        json_flags(out, packet);
    }
}

static void json_sync(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type != TW_ETRACE_F3S2)
        tw_json_u64(out, "branch", packet->branch);
    tw_json_u64(out, "privilege", packet->privilege);
    tw_json_u64(out, "time", packet->time);
    tw_json_u64(out, "context", packet->context);
    if (type == TW_ETRACE_F3S1) {
        tw_json_u64(out, "ecause", packet->ecause);
        tw_json_u64(out, "interrupt", packet->interrupt);
        tw_json_u64(out, "thaddr", packet->thaddr);
    }
    if (packet->has & TW_ETRACE_HAS_ADDRESS)
        tw_json_hex(out, "address", packet->address);
    if (packet->has & TW_ETRACE_HAS_TVAL)
        tw_json_hex(out, "tval", packet->tval);
}

static void json_support(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    tw_json_u64(out, "ienable", packet->ienable);
    tw_json_u64(out, "encoder_mode", packet->encoder_mode);
    tw_json_u64(out, "qual_status", packet->qual_status);
    tw_json_u64(out, "ioptions", packet->ioptions);
    if (packet->has_data_options) {
        tw_json_u64(out, "denable", packet->denable);
        tw_json_u64(out, "dloss", packet->dloss);
        tw_json_u64(out, "doptions", packet->doptions);
    }
}

void tw_etrace_json(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type <= TW_ETRACE_F2)
        json_jump(out, packet);
    else if (type <= TW_ETRACE_F3S2)
        json_sync(out, packet);
    else if (type == TW_ETRACE_F3S3)
        json_support(out, packet);
    else if (type <= TW_ETRACE_CSR)
        tw_etraced_json(out, packet);
    else if (packet->error)
        tw_json_text(out, "error", tw_error_code_name(packet->error));
    if (packet->has & TW_ETRACE_HAS_STAMP)
        tw_json_u64(out, "timestamp", packet->stamp);
    if (packet->source)
        tw_json_u64(out, "srcid", packet->source);
}

/* The same members as words: "key":"0x12","other":3 becomes key=0x12 other=3. */
void tw_etrace_print_fields(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    char buffer[600];
    struct tw_text json = tw_text_in(buffer, sizeof buffer);

    tw_etrace_json(&json, packet);
    for (size_t i = 0; i < json.size; i++) {
        if (buffer[i] == ',')
            tw_text_char(out, ' ');
        else if (buffer[i] == ':')
            tw_text_char(out, '=');
        else if (buffer[i] != '"')
            tw_text_char(out, buffer[i]);
    }
}

void tw_etrace_print(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    const size_t before = out->size;

    tw_text_add(out, tw_etrace_type_name(packet->base.type));
    tw_text_char(out, ' ');
    tw_etrace_print_fields(out, packet);
    if (out->size > before && out->chars[out->size - 1] == ' ') /* there are none */
        out->chars[--out->size] = 0;
}
