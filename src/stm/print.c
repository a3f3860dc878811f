/* SPDX-License-Identifier: BSD-2-Clause */
/* STM packets: what their lines say. */
#include <inttypes.h>

#include "base/members.h"
#include "stm/packet.h"

const struct tw_packet_type tw_stm_types[TW_STM_TYPES] = {
    [TW_STM_NOT_SYNC] = { "NOTSYNC", TW_PACKET_NOT_SYNC },
    [TW_STM_RESERVED] = { "RESERVED", TW_PACKET_BAD },
    [TW_STM_BAD_SEQUENCE] = { "BAD_SEQUENCE", TW_PACKET_BAD },
    [TW_STM_INCOMPLETE] = { "INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_STM_ASYNC] = { "ASYNC", TW_PACKET_SYNC },
    [TW_STM_VERSION] = { "VERSION", TW_PACKET_INFO },
    [TW_STM_NULL] = { "NULL", TW_PACKET_PADDING },
    [TW_STM_NULL_TS] = { "NULL_TS", TW_PACKET_TIME },
    [TW_STM_M8] = { "M8", TW_PACKET_CONTEXT },
    [TW_STM_M16] = { "M16", TW_PACKET_CONTEXT },
    [TW_STM_MERR] = { "MERR", TW_PACKET_EVENT },
    [TW_STM_C8] = { "C8", TW_PACKET_CONTEXT },
    [TW_STM_C16] = { "C16", TW_PACKET_CONTEXT },
    [TW_STM_GERR] = { "GERR", TW_PACKET_EVENT },
    [TW_STM_D4] = { "D4", TW_PACKET_DATA },
    [TW_STM_D8] = { "D8", TW_PACKET_DATA },
    [TW_STM_D16] = { "D16", TW_PACKET_DATA },
    [TW_STM_D32] = { "D32", TW_PACKET_DATA },
    [TW_STM_D64] = { "D64", TW_PACKET_DATA },
    [TW_STM_D4M] = { "D4M", TW_PACKET_DATA },
    [TW_STM_D8M] = { "D8M", TW_PACKET_DATA },
    [TW_STM_D16M] = { "D16M", TW_PACKET_DATA },
    [TW_STM_D32M] = { "D32M", TW_PACKET_DATA },
    [TW_STM_D64M] = { "D64M", TW_PACKET_DATA },
    [TW_STM_D4TS] = { "D4TS", TW_PACKET_DATA },
    [TW_STM_D8TS] = { "D8TS", TW_PACKET_DATA },
    [TW_STM_D16TS] = { "D16TS", TW_PACKET_DATA },
    [TW_STM_D32TS] = { "D32TS", TW_PACKET_DATA },
    [TW_STM_D64TS] = { "D64TS", TW_PACKET_DATA },
    [TW_STM_D4MTS] = { "D4MTS", TW_PACKET_DATA },
    [TW_STM_D8MTS] = { "D8MTS", TW_PACKET_DATA },
    [TW_STM_D16MTS] = { "D16MTS", TW_PACKET_DATA },
    [TW_STM_D32MTS] = { "D32MTS", TW_PACKET_DATA },
    [TW_STM_D64MTS] = { "D64MTS", TW_PACKET_DATA },
    [TW_STM_FLAG] = { "FLAG", TW_PACKET_DATA },
    [TW_STM_FLAG_TS] = { "FLAG_TS", TW_PACKET_DATA },
    [TW_STM_TRIG] = { "TRIG", TW_PACKET_EVENT },
    [TW_STM_TRIG_TS] = { "TRIG_TS", TW_PACKET_EVENT },
    [TW_STM_FREQ] = { "FREQ", TW_PACKET_TIME },
    [TW_STM_FREQ_TS] = { "FREQ_TS", TW_PACKET_TIME },
    [TW_STM_FREQ_40] = { "FREQ_40", TW_PACKET_TIME },
    [TW_STM_FREQ_40_TS] = { "FREQ_40_TS", TW_PACKET_TIME },
    [TW_STM_XSYNC] = { "XSYNC", TW_PACKET_TIME },
    [TW_STM_XSYNC_TS] = { "XSYNC_TS", TW_PACKET_TIME },
};

const char *tw_stm_type_name(unsigned type)
{
    return type < TW_STM_TYPES ? tw_stm_types[type].name : "UNKNOWN";
}

/* clang-format off */
enum {
    VERSION, MASTER, CHAN, FREQ, TRIG, ERR, XSYNC, DATA, MARKER, TS, TS_BITS, WORDS, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [VERSION] = TW_LISTED("version", DECIMAL),
    [MASTER] = TW_LISTED("master", DECIMAL),
    [CHAN] = TW_LISTED("chan", DECIMAL),
    [FREQ] = TW_LISTED("freq", DECIMAL),
    [TRIG] = TW_LISTED("trig", DECIMAL),
    [ERR] = TW_LISTED("err", DECIMAL),
    [XSYNC] = TW_LISTED("value", DECIMAL),
    [DATA] = TW_LISTED("data", HEX),
    [MARKER] = TW_LISTED("marker", DECIMAL),
    [TS] = TW_LISTED("ts", HEX),
    [TS_BITS] = TW_LISTED("ts_bits", DECIMAL),
    [WORDS] = TW_TOLD(TEXT, ""),
};
/* clang-format on */

/* What it means, for people. */
static void tell(struct tw_members *out, const struct tw_stm_packet *from)
{
    const struct tw_stm_rule *rule = tw_stm_rule_of(from->base.type);

    switch (from->base.type) {
    case TW_STM_RESERVED:
    case TW_STM_BAD_SEQUENCE:
    case TW_STM_INCOMPLETE:
        tw_put_format(out, WORDS, " opcode 0x%" PRIx64, from->value);
        break;
    case TW_STM_VERSION:
        tw_put_format(out, WORDS, " %" PRIu64, from->value);
        break;
    case TW_STM_M8:
    case TW_STM_M16:
        tw_put_format(out, WORDS, " master 0x%02x", from->master);
        break;
    case TW_STM_C8:
    case TW_STM_C16:
        tw_put_format(out, WORDS, " channel 0x%04x", from->channel);
        break;
    case TW_STM_FREQ:
    case TW_STM_FREQ_TS:
    case TW_STM_FREQ_40:
    case TW_STM_FREQ_40_TS:
        tw_put_format(out, WORDS, " %" PRIu64 " Hz", from->value);
        break;
    default:
        if (rule && rule->payload)
            tw_put_format(out, WORDS, " 0x%0*" PRIx64, rule->payload, from->value);
        if (rule && (rule->use == TW_STM_USE_DATA || rule->use == TW_STM_USE_ERROR))
            tw_put_format(out, WORDS, " of 0x%02x/0x%04x", from->master, from->channel);
        break;
    }
    if (from->has_timestamp)
        tw_put_format(out, WORDS, " at 0x%" PRIx64 " (%u bits)", from->timestamp,
                      from->timestamp_bits);
}

/* Whose the packet is. */
static void put_common(struct tw_members *out, const struct tw_stm_packet *from, bool is_marked)
{
    tw_put(out, MARKER, is_marked);
    tw_put(out, MASTER, from->master);
    tw_put(out, CHAN, from->channel);
}

static void put_payload(struct tw_members *out, const struct tw_stm_packet *from)
{
    const struct tw_stm_rule *rule = tw_stm_rule_of(from->base.type);

    switch (from->base.type) {
    case TW_STM_VERSION:
        tw_put(out, VERSION, from->value);
        break;
    case TW_STM_M8:
    case TW_STM_M16:
        tw_put(out, MASTER, from->master);
        break;
    case TW_STM_C8:
    case TW_STM_C16:
        tw_put(out, CHAN, from->channel);
        break;
    case TW_STM_FREQ:
    case TW_STM_FREQ_TS:
    case TW_STM_FREQ_40:
    case TW_STM_FREQ_40_TS:
        tw_put(out, FREQ, from->value);
        break;
    case TW_STM_TRIG:
    case TW_STM_TRIG_TS:
        tw_put(out, TRIG, from->value);
        put_common(out, from, false);
        break;
    case TW_STM_MERR:
    case TW_STM_GERR:
        tw_put(out, ERR, from->value);
        put_common(out, from, false);
        break;
    case TW_STM_XSYNC:
    case TW_STM_XSYNC_TS:
        tw_put(out, XSYNC, from->value);
        break;
    case TW_STM_FLAG:
    case TW_STM_FLAG_TS:
    case TW_STM_NULL_TS:
        put_common(out, from, false);
        break;
    default:
        if (rule && rule->use == TW_STM_USE_DATA) {
            tw_put(out, DATA, from->value);
            put_common(out, from, rule->flags & TW_SW_MARKER);
        }
        break;
    }
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *packet)
{
    const struct tw_stm_packet *from = packet;

    (void)protocol;
    if (tw_is_wanted(out, WORDS))
        tell(out, from);
    put_payload(out, from);
    if (from->has_timestamp) {
        tw_put(out, TS, from->timestamp);
        tw_put(out, TS_BITS, from->timestamp_bits);
    }
}

const struct tw_member_table tw_stm_members = { rows, MEMBERS, put_members, NULL };
