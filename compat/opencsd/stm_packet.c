/* SPDX-License-Identifier: BSD-2-Clause */
/* STM packets as OpenCSD has them, and as text. */
#include <inttypes.h>
#include <string.h>

#include <trackway/stm.h>

#include "opencsd/stm_packet.h"

/* A type of ours is a type of OpenCSD's with or without a marker; a timestamp shows in the packet. */
/* clang-format off */
static const struct {
    uint8_t type;
    bool has_marker;
} types[TW_STM_TYPES] = {
    [TW_STM_NOT_SYNC] = { STM_PKT_NOTSYNC, false },
    [TW_STM_RESERVED] = { STM_PKT_RESERVED, false },
    [TW_STM_BAD_SEQUENCE] = { STM_PKT_BAD_SEQUENCE, false },
    [TW_STM_INCOMPLETE] = { STM_PKT_INCOMPLETE_EOT, false },
    [TW_STM_ASYNC] = { STM_PKT_ASYNC, false },
    [TW_STM_VERSION] = { STM_PKT_VERSION, false },
    [TW_STM_NULL] = { STM_PKT_NULL, false },
    [TW_STM_NULL_TS] = { STM_PKT_NULL, false },
    [TW_STM_M8] = { STM_PKT_M8, false },
    [TW_STM_M16] = { STM_PKT_RESERVED, false },
    [TW_STM_MERR] = { STM_PKT_MERR, false },
    [TW_STM_C8] = { STM_PKT_C8, false },
    [TW_STM_C16] = { STM_PKT_C16, false },
    [TW_STM_GERR] = { STM_PKT_GERR, false },
    [TW_STM_D4] = { STM_PKT_D4, false },
    [TW_STM_D8] = { STM_PKT_D8, false },
    [TW_STM_D16] = { STM_PKT_D16, false },
    [TW_STM_D32] = { STM_PKT_D32, false },
    [TW_STM_D64] = { STM_PKT_D64, false },
    [TW_STM_D4M] = { STM_PKT_D4, true },
    [TW_STM_D8M] = { STM_PKT_D8, true },
    [TW_STM_D16M] = { STM_PKT_D16, true },
    [TW_STM_D32M] = { STM_PKT_D32, true },
    [TW_STM_D64M] = { STM_PKT_D64, true },
    [TW_STM_D4TS] = { STM_PKT_D4, false },
    [TW_STM_D8TS] = { STM_PKT_D8, false },
    [TW_STM_D16TS] = { STM_PKT_D16, false },
    [TW_STM_D32TS] = { STM_PKT_D32, false },
    [TW_STM_D64TS] = { STM_PKT_D64, false },
    [TW_STM_D4MTS] = { STM_PKT_D4, true },
    [TW_STM_D8MTS] = { STM_PKT_D8, true },
    [TW_STM_D16MTS] = { STM_PKT_D16, true },
    [TW_STM_D32MTS] = { STM_PKT_D32, true },
    [TW_STM_D64MTS] = { STM_PKT_D64, true },
    [TW_STM_FLAG] = { STM_PKT_FLAG, false },
    [TW_STM_FLAG_TS] = { STM_PKT_FLAG, false },
    [TW_STM_TRIG] = { STM_PKT_TRIG, false },
    [TW_STM_TRIG_TS] = { STM_PKT_TRIG, false },
    [TW_STM_FREQ] = { STM_PKT_FREQ, false },
    [TW_STM_FREQ_TS] = { STM_PKT_RESERVED, false },
    [TW_STM_FREQ_40] = { STM_PKT_RESERVED, false },
    [TW_STM_FREQ_40_TS] = { STM_PKT_RESERVED, false },
    [TW_STM_XSYNC] = { STM_PKT_RESERVED, false },
    [TW_STM_XSYNC_TS] = { STM_PKT_RESERVED, false },
};
/* clang-format on */

void oc_stm_init(void *state, const struct oc_setup *setup)
{
    (void)setup;
    oc_stm_reset(state);
}

void oc_stm_reset(void *state)
{
    ocsd_stm_pkt *out = state;

    memset(out, 0, sizeof *out);
    out->type = STM_PKT_NOTSYNC;
    out->ts_type = STM_TS_UNKNOWN;
    out->err_type = STM_PKT_NO_ERR_TYPE;
}

static void set_payload(ocsd_stm_pkt *out, const struct tw_stm_packet *packet)
{
    switch (out->type) {
    case STM_PKT_D4:
        out->payload.D8 = packet->value & 0xf;
        break;
    case STM_PKT_D16:
        out->payload.D16 = (uint16_t)packet->value;
        break;
    case STM_PKT_D32:
    case STM_PKT_FREQ:
        out->payload.D32 = (uint32_t)packet->value;
        break;
    case STM_PKT_D64:
        out->payload.D64 = packet->value;
        break;
    case STM_PKT_D8:
    case STM_PKT_TRIG:
    case STM_PKT_VERSION:
    case STM_PKT_MERR:
    case STM_PKT_GERR:
        out->payload.D8 = (uint8_t)packet->value;
        break;
    default:
        break;
    }
}

static unsigned nibble(const struct tw_stm_packet *packet, const uint8_t *bytes,
                       unsigned number)
{
    const unsigned at = number + packet->base.skip_bits / 4u;

    return bytes[at / 2] >> (at % 2 * 4) & 0xfu;
}

/* What a bad packet began as; 0: its header is cut, or tells no type. */
static uint8_t type_of_header(const struct tw_stm_packet *packet, const uint8_t *bytes)
{
    static const uint8_t one[16] = { TW_STM_NULL,  TW_STM_M8,     TW_STM_MERR,   TW_STM_C8,
                                     TW_STM_D8,    TW_STM_D16,    TW_STM_D32,    TW_STM_D64,
                                     TW_STM_D8MTS, TW_STM_D16MTS, TW_STM_D32MTS, TW_STM_D64MTS,
                                     TW_STM_D4,    TW_STM_D4MTS,  TW_STM_FLAG_TS };
    static const uint8_t two[16] = {
        [2] = TW_STM_GERR,  [3] = TW_STM_C16,   [4] = TW_STM_D8TS,  [5] = TW_STM_D16TS,
        [6] = TW_STM_D32TS, [7] = TW_STM_D64TS, [8] = TW_STM_D8M,   [9] = TW_STM_D16M,
        [10] = TW_STM_D32M, [11] = TW_STM_D64M, [12] = TW_STM_D4TS, [13] = TW_STM_D4M,
        [14] = TW_STM_FLAG
    };
    static const uint8_t three[16] = { [0] = TW_STM_VERSION,
                                       [1] = TW_STM_NULL_TS,
                                       [6] = TW_STM_TRIG,
                                       [7] = TW_STM_TRIG_TS,
                                       [8] = TW_STM_FREQ };

    if (!packet->nibbles || nibble(packet, bytes, 0) != 0xf)
        return packet->nibbles ? one[nibble(packet, bytes, 0)] : 0;
    if (packet->nibbles < 2 || nibble(packet, bytes, 1) != 0)
        return packet->nibbles < 2 ? 0 : two[nibble(packet, bytes, 1)];
    return packet->nibbles < 3 ? 0 : three[nibble(packet, bytes, 2)];
}

static void set_bad(ocsd_stm_pkt *out, const struct tw_stm_packet *packet, const uint8_t *bytes,
                    ocsd_stm_pkt_type last)
{
    const uint8_t was = type_of_header(packet, bytes);

    if (out->type == STM_PKT_RESERVED) {
        out->payload.D16 = 0;
        for (unsigned i = 0; i < 3 && i < packet->nibbles;
             i++) /* the header, first nibble lowest */
            out->payload.D16 |= (uint16_t)(nibble(packet, bytes, i) << i * 4);
        return;
    }
    out->err_type = was ? (ocsd_stm_pkt_type)types[was].type : last;
    out->pkt_has_marker = types[was].has_marker;
}

void oc_stm_fill(void *state, const void *from, const uint8_t *bytes)
{
    const struct tw_stm_packet *packet = from;
    ocsd_stm_pkt *out = state;
    const ocsd_stm_pkt_type last = out->type;

    out->err_type = STM_PKT_NO_ERR_TYPE;
    out->pkt_ts_bits = 0;
    out->pkt_has_ts = 0;
    out->type = (ocsd_stm_pkt_type)types[packet->base.type].type;
    out->pkt_has_marker = types[packet->base.type].has_marker;
    set_payload(out, packet);
    if (out->type >= STM_PKT_BAD_SEQUENCE || out->type == STM_PKT_INCOMPLETE_EOT)
        set_bad(out, packet, bytes, last);
    if (out->type >= STM_PKT_BAD_SEQUENCE || out->type <= STM_PKT_INCOMPLETE_EOT)
        return;
    if (out->type == STM_PKT_VERSION)
        out->ts_type = packet->value == 4 ? STM_TS_GREY : STM_TS_NATBINARY;
    out->master = (uint8_t)packet->master;
    out->channel = packet->channel;
    if (packet->has_timestamp) {
        out->timestamp = packet->timestamp;
        out->pkt_ts_bits = packet->timestamp_bits;
        out->pkt_has_ts = 1;
    }
}

/* ---- Text */

static void add_name(struct oc_text *text, const ocsd_stm_pkt *packet, unsigned type,
                     bool with_text)
{
    static const struct {
        const char *name, *text;
        bool may_have; /* a marker, a timestamp: told by the name */
    } names[] = {
        [STM_PKT_NOTSYNC] = { "NOTSYNC", "STM not synchronised", false },
        [STM_PKT_INCOMPLETE_EOT] = { "INCOMPLETE_EOT",
                                     "Incomplete packet flushed at end of trace", false },
        [STM_PKT_NO_ERR_TYPE] = { "NO_ERR_TYPE", "Error type not set", false },
        [STM_PKT_ASYNC] = { "ASYNC", "Alignment synchronisation packet", false },
        [STM_PKT_VERSION] = { "VERSION", "Version packet", false },
        [STM_PKT_FREQ] = { "FREQ", "Frequency packet", false },
        [STM_PKT_NULL] = { "NULL", "Null packet", false },
        [STM_PKT_TRIG] = { "TRIG", "Trigger packet", true },
        [STM_PKT_GERR] = { "GERR", "Global Error", false },
        [STM_PKT_MERR] = { "MERR", "Master Error", false },
        [STM_PKT_M8] = { "M8", "Set current master", false },
        [STM_PKT_C8] = { "C8", "Set current channel", false },
        [STM_PKT_C16] = { "C16", "Set current channel", false },
        [STM_PKT_FLAG] = { "FLAG", "Flag packet", true },
        [STM_PKT_D4] = { "D4", "4 bit data", true },
        [STM_PKT_D8] = { "D8", "8 bit data", true },
        [STM_PKT_D16] = { "D16", "16 bit data", true },
        [STM_PKT_D32] = { "D32", "32 bit data", true },
        [STM_PKT_D64] = { "D64", "64 bit data", true },
        [STM_PKT_BAD_SEQUENCE] = { "BAD_SEQUENCE", "Invalid sequence in packet", false },
        [STM_PKT_RESERVED] = { "RESERVED", "Reserved Packet Header", false },
    };
    const bool is_known = type < sizeof names / sizeof names[0];
    const bool has_marker = is_known && names[type].may_have && packet->pkt_has_marker;
    const bool has_time = is_known && names[type].may_have && packet->pkt_has_ts;

    oc_text_add(text, "%s%s%s", is_known ? names[type].name : "UNKNOWN", has_marker ? "M" : "",
                has_time ? "TS" : "");
    if (with_text)
        oc_text_add(text, ":%s%s%s", is_known ? names[type].text : "ERROR: unknown packet type",
                    has_marker ? " + marker" : "", has_time ? " + timestamp" : "");
}

void oc_stm_text(struct oc_text *text, const void *any)
{
    const ocsd_stm_pkt *packet = any;

    add_name(text, packet, (unsigned)packet->type, true);
    switch (packet->type) {
    case STM_PKT_INCOMPLETE_EOT:
    case STM_PKT_BAD_SEQUENCE:
        oc_text_add(text, "[");
        add_name(text, packet, (unsigned)packet->err_type, false);
        oc_text_add(text, "]");
        break;
    case STM_PKT_VERSION:
        oc_text_add(text, "; Ver=%u", packet->payload.D8);
        break;
    case STM_PKT_FREQ:
        oc_text_add(text, "; Freq=%" PRIu32 "Hz", packet->payload.D32);
        break;
    case STM_PKT_TRIG:
        oc_text_add(text, "; TrigData=0x%02x", packet->payload.D8);
        break;
    case STM_PKT_M8:
        oc_text_add(text, "; Master=0x%02x", packet->master);
        break;
    case STM_PKT_C8:
    case STM_PKT_C16:
        oc_text_add(text, "; Chan=0x%04x", packet->channel);
        break;
    case STM_PKT_D4:
        oc_text_add(text, "; Data=0x%x", packet->payload.D8 & 0xfu);
        break;
    case STM_PKT_D8:
        oc_text_add(text, "; Data=0x%02x", packet->payload.D8);
        break;
    case STM_PKT_D16:
        oc_text_add(text, "; Data=0x%04x", packet->payload.D16);
        break;
    case STM_PKT_D32:
        oc_text_add(text, "; Data=0x%08" PRIx32, packet->payload.D32);
        break;
    case STM_PKT_D64:
        oc_text_add(text, "; Data=0x%016" PRIx64, packet->payload.D64);
        break;
    default:
        break;
    }
    if (packet->pkt_has_ts) {
        oc_text_add(text, "; TS=");
        oc_text_value(text, 64, 64, packet->timestamp, packet->pkt_ts_bits);
    }
}
