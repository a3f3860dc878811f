/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace packets: what their lines say. */
#include "base/members.h"
#include "etrace/packet.h"

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

/* clang-format off */
enum {
    NOTIFY, UPDISCON, IRREPORT, IRDEPTH, BRANCH_COUNT, BRANCH_FMT, INDEX, BRANCHES,
    BRANCH_MAP, ADDRESS, FIELD, BRANCH, PRIVILEGE, TIME, CONTEXT, ECAUSE, INTERRUPT, THADDR,
    TVAL, IENABLE, ENCODER_MODE, QUAL_STATUS, IOPTIONS, DENABLE, DLOSS, DOPTIONS, ERROR,
    TIMESTAMP, SRCID, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [NOTIFY] = TW_PAIR("notify", DECIMAL),
    [UPDISCON] = TW_PAIR("updiscon", DECIMAL),
    [IRREPORT] = TW_PAIR("irreport", DECIMAL),
    [IRDEPTH] = TW_PAIR("irdepth", DECIMAL),
    [BRANCH_COUNT] = TW_PAIR("branch_count", DECIMAL),
    [BRANCH_FMT] = TW_PAIR("branch_fmt", DECIMAL),
    [INDEX] = TW_PAIR("index", DECIMAL),
    [BRANCHES] = TW_PAIR("branches", DECIMAL),
    [BRANCH_MAP] = TW_PAIR("branch_map", HEX),
    [ADDRESS] = TW_PAIR("address", HEX),
    [FIELD] = TW_PAIR("field", HEX),
    [BRANCH] = TW_PAIR("branch", DECIMAL),
    [PRIVILEGE] = TW_PAIR("privilege", DECIMAL),
    [TIME] = TW_PAIR("time", DECIMAL),
    [CONTEXT] = TW_PAIR("context", DECIMAL),
    [ECAUSE] = TW_PAIR("ecause", DECIMAL),
    [INTERRUPT] = TW_PAIR("interrupt", DECIMAL),
    [THADDR] = TW_PAIR("thaddr", DECIMAL),
    [TVAL] = TW_PAIR("tval", HEX),
    [IENABLE] = TW_PAIR("ienable", DECIMAL),
    [ENCODER_MODE] = TW_PAIR("encoder_mode", DECIMAL),
    [QUAL_STATUS] = TW_PAIR("qual_status", DECIMAL),
    [IOPTIONS] = TW_PAIR("ioptions", DECIMAL),
    [DENABLE] = TW_PAIR("denable", DECIMAL),
    [DLOSS] = TW_PAIR("dloss", DECIMAL),
    [DOPTIONS] = TW_PAIR("doptions", DECIMAL),
    [ERROR] = TW_PAIR("error", NAME),
    [TIMESTAMP] = TW_PAIR("timestamp", DECIMAL),
    [SRCID] = TW_PAIR("srcid", DECIMAL),
};
/* clang-format on */

static void put_flags(struct tw_members *out, const struct tw_etrace_packet *packet)
{
    if (packet->base.type != TW_ETRACE_F0S1) {
        tw_put(out, NOTIFY, packet->notify);
        tw_put(out, UPDISCON, packet->updiscon);
    }
    tw_put(out, IRREPORT, packet->irreport);
    if (packet->irreport && (packet->has & TW_ETRACE_HAS_IRDEPTH))
        tw_put(out, IRDEPTH, packet->irdepth);
}

static void put_jump(struct tw_members *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type == TW_ETRACE_F0S0) {
        tw_put(out, BRANCH_COUNT, packet->branch_count);
        tw_put(out, BRANCH_FMT, packet->branch_fmt);
    }
    if (type == TW_ETRACE_F0S1)
        tw_put(out, INDEX, packet->index);
    if (type == TW_ETRACE_F1 || type == TW_ETRACE_F0S1) {
        tw_put(out, BRANCHES, packet->branches);
        tw_put(out, BRANCH_MAP, packet->branch_map);
    }
    if (type == TW_ETRACE_F0S1) {
        put_flags(out, packet);
        tw_put(out, ADDRESS, packet->address);
    } else if (packet->has & TW_ETRACE_HAS_ADDRESS) {
        tw_put(out, FIELD, packet->field);
        tw_put(out, ADDRESS, packet->address);
        put_flags(out, packet);
    }
}

static void put_sync(struct tw_members *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type != TW_ETRACE_F3S2)
        tw_put(out, BRANCH, packet->branch);
    tw_put(out, PRIVILEGE, packet->privilege);
    tw_put(out, TIME, packet->time);
    tw_put(out, CONTEXT, packet->context);
    if (type == TW_ETRACE_F3S1) {
        tw_put(out, ECAUSE, packet->ecause);
        tw_put(out, INTERRUPT, packet->interrupt);
        tw_put(out, THADDR, packet->thaddr);
    }
    if (packet->has & TW_ETRACE_HAS_ADDRESS)
        tw_put(out, ADDRESS, packet->address);
    if (packet->has & TW_ETRACE_HAS_TVAL)
        tw_put(out, TVAL, packet->tval);
}

static void put_support(struct tw_members *out, const struct tw_etrace_packet *packet)
{
    tw_put(out, IENABLE, packet->ienable);
    tw_put(out, ENCODER_MODE, packet->encoder_mode);
    tw_put(out, QUAL_STATUS, packet->qual_status);
    tw_put(out, IOPTIONS, packet->ioptions);
    if (packet->has_data_options) {
        tw_put(out, DENABLE, packet->denable);
        tw_put(out, DLOSS, packet->dloss);
        tw_put(out, DOPTIONS, packet->doptions);
    }
}

static void put_data(struct tw_members *out, const struct tw_etrace_packet *packet)
{
    out->types = tw_etraced_members.rows;
    tw_etraced_members.put(out, NULL, packet);
    out->types = rows;
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_etrace_packet *packet = any;
    const unsigned type = packet->base.type;

    (void)protocol;
    if (type <= TW_ETRACE_F2)
        put_jump(out, packet);
    else if (type <= TW_ETRACE_F3S2)
        put_sync(out, packet);
    else if (type == TW_ETRACE_F3S3)
        put_support(out, packet);
    else if (type <= TW_ETRACE_CSR)
        put_data(out, packet);
    else if (packet->error)
        tw_put_text(out, ERROR, tw_error_code_name(packet->error));
    if (packet->has & TW_ETRACE_HAS_STAMP)
        tw_put(out, TIMESTAMP, packet->stamp);
    if (packet->source)
        tw_put(out, SRCID, packet->source);
}

const struct tw_member_table tw_etrace_members = { rows, MEMBERS, put_members,
                                                   &tw_etraced_members };
