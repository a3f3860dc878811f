/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM packets as OpenCSD 1.7.1 has them, and as text. */
#include <inttypes.h>
#include <string.h>

#include <trackway/itm.h>

#include "opencsd/itm/trc_pkt_types_itm.h"
#include "opencsd/stm_packet.h"

static const uint8_t types[TW_ITM_PACKET_TYPES] = {
    [TW_ITM_PACKET_NOT_SYNC] = ITM_PKT_NOTSYNC,
    [TW_ITM_PACKET_RESERVED] = ITM_PKT_RESERVED,
    [TW_ITM_PACKET_BAD_SEQUENCE] = ITM_PKT_BAD_SEQUENCE,
    [TW_ITM_PACKET_INCOMPLETE] = ITM_PKT_INCOMPLETE_EOT,
    [TW_ITM_PACKET_ASYNC] = ITM_PKT_ASYNC,
    [TW_ITM_PACKET_OVERFLOW] = ITM_PKT_OVERFLOW,
    [TW_ITM_PACKET_SWIT] = ITM_PKT_SWIT,
    [TW_ITM_PACKET_DWT] = ITM_PKT_DWT,
    [TW_ITM_PACKET_TS_LOCAL] = ITM_PKT_TS_LOCAL,
    [TW_ITM_PACKET_GTS_1] = ITM_PKT_TS_GLOBAL_1,
    [TW_ITM_PACKET_GTS_2] = ITM_PKT_TS_GLOBAL_2,
    [TW_ITM_PACKET_EXTENSION] = ITM_PKT_EXTENSION,
};

static ocsd_itm_pkt_type type_of_header(uint8_t header)
{
    if (header & 3)
        return header & 4 ? ITM_PKT_DWT : ITM_PKT_SWIT;
    if (!(header & 0xf))
        return !header ? ITM_PKT_ASYNC : header == 0x70 ? ITM_PKT_OVERFLOW : ITM_PKT_TS_LOCAL;
    if ((header & 0x0b) == 8)
        return ITM_PKT_EXTENSION;
    if ((header & 0xdf) == 0x94)
        return header & 0x20 ? ITM_PKT_TS_GLOBAL_2 : ITM_PKT_TS_GLOBAL_1;
    return ITM_PKT_RESERVED;
}

void oc_itm_init(void *state, const struct oc_setup *setup)
{
    (void)setup;
    oc_itm_reset(state);
}

void oc_itm_reset(void *state)
{
    ocsd_itm_pkt *out = state;

    memset(out, 0, sizeof *out);
    out->type = ITM_PKT_RESERVED;
    out->err_type = ITM_PKT_NO_ERR_TYPE;
}

static void set_details(ocsd_itm_pkt *out, const struct tw_itm_packet *packet)
{
    switch (packet->base.type) {
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        out->src_id = packet->source;
        out->val_sz = packet->size;
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        out->src_id = packet->source;
        out->val_sz = (uint8_t)(packet->base.size > 1 ? packet->base.size - 1 : 1);
        break;
    case TW_ITM_PACKET_GTS_1:
        out->src_id = (uint8_t)(packet->freq_change | packet->wrap << 1);
        out->val_sz = (uint8_t)(packet->base.size - 1);
        break;
    case TW_ITM_PACKET_GTS_2:
        out->val_sz = (uint8_t)(packet->base.size > 5 ? 5 : packet->base.size - 1);
        out->val_ext = (uint8_t)(packet->value >> 32);
        break;
    case TW_ITM_PACKET_EXTENSION:
        out->src_id = (uint8_t)((packet->bits - 1u) | (packet->source ? 0x80u : 0));
        out->val_sz = 4;
        break;
    default:
        break;
    }
}

void oc_itm_fill(void *state, const void *from, const uint8_t *bytes)
{
    const struct tw_itm_packet *packet = from;
    ocsd_itm_pkt *out = state;

    oc_itm_reset(out);
    out->type = (ocsd_itm_pkt_type)types[packet->base.type];
    if (out->type == ITM_PKT_BAD_SEQUENCE || out->type == ITM_PKT_INCOMPLETE_EOT) {
        out->err_type = type_of_header(bytes[0]);
        return;
    }
    if (out->type == ITM_PKT_RESERVED || out->type == ITM_PKT_NOTSYNC)
        return;
    out->value = (uint32_t)packet->value;
    set_details(out, packet);
}

/* ---- Text */

static const char *const names[][2] = {
    [ITM_PKT_NOTSYNC] = { "ITM_NOTSYNC", "ITM data stream not synchronised" },
    [ITM_PKT_INCOMPLETE_EOT] = { "ITM_INCOMPLETE_EOT",
                                 "Incomplete packet flushed at end of trace" },
    [ITM_PKT_NO_ERR_TYPE] = { "ITM_UNKNOWN", "ERROR: unknown packet type" },
    [ITM_PKT_ASYNC] = { "ITM_ASYNC", "Alignment synchronisation packet" },
    [ITM_PKT_OVERFLOW] = { "ITM_OVERFLOW", "ITM overflow packet" },
    [ITM_PKT_SWIT] = { "ITM_SWIT", "Software Stimulus write packet" },
    [ITM_PKT_DWT] = { "ITM_DWT", "DWT hardware stimulus write" },
    [ITM_PKT_TS_LOCAL] = { "ITM_TS_LOCAL", "Local Timestamp" },
    [ITM_PKT_TS_GLOBAL_1] = { "ITM_GTS_1", "Global Timestamp [25:0]" },
    [ITM_PKT_TS_GLOBAL_2] = { "ITM_GTS_2", "Global Timestamp [{63|42}:26]" },
    [ITM_PKT_EXTENSION] = { "ITM_EXTENSION", "Extension packet" },
    [ITM_PKT_BAD_SEQUENCE] = { "ITM_BAD_SEQUENCE", "Invalid sequence in packet" },
    [ITM_PKT_RESERVED] = { "ITM_RESERVED", "Reserved Packet Header" },
};

static const char *name_of(unsigned type, unsigned column)
{
    return names[type < sizeof names / sizeof names[0] ? type : ITM_PKT_NO_ERR_TYPE][column];
}

static void add_value(struct oc_text *text, const ocsd_itm_pkt *packet)
{
    if (packet->val_sz <= 4)
        oc_text_add(text, "0x%0*" PRIx32, packet->val_sz * 2, packet->value);
    else
        oc_text_add(text, "0x%02x%08" PRIx32, packet->val_ext, packet->value);
}

static void add_counters(struct oc_text *text, uint32_t value)
{
    static const char *const counters[] = { " CPI ", " EXC ",  " Sleep ",
                                            " LSU ", " Fold ", " CYC " };

    oc_text_add(text, "[Event Counter: 0x%02" PRIx32 "; Flags: ", value);
    for (unsigned i = 0; i < 6; i++)
        oc_text_add(text, "%s", value >> i & 1 ? counters[i] : " --- ");
    oc_text_add(text, "] ");
}

static void add_watch(struct oc_text *text, const ocsd_itm_pkt *packet)
{
    static const char *const actions[4] = { "reserved", "entered", "exited", "returned to" };
    const unsigned comparator = packet->src_id >> 1 & 3u;
    const bool is_odd = packet->src_id & 1;

    if (packet->src_id == 0) {
        add_counters(text, packet->value);
    } else if (packet->src_id == 1) {
        oc_text_add(text, "[Exception Num:  0x%04x(%s) ]", (unsigned)packet->value & 0x1ff,
                    actions[packet->value >> 12 & 3]);
    } else if (packet->src_id == 2) {
        oc_text_add(text, "[PC Sample: ");
        add_value(text, packet);
        oc_text_add(text, "] ");
    } else if (packet->src_id >= 8 && packet->src_id <= 15) {
        oc_text_add(text, "[Data Trc: comp=%u; %s", comparator,
                    is_odd ? "Address=" : "PC Value=");
        add_value(text, packet);
        oc_text_add(text, " ] ");
    } else if (packet->src_id >= 16 && packet->src_id <= 23) {
        oc_text_add(text, "[Data Trc: comp=%u; Val %s", comparator,
                    is_odd ? "write: " : "read: ");
        add_value(text, packet);
        oc_text_add(text, "] ");
    } else {
        oc_text_add(text, "[Reserved discriminator value] ");
    }
}

static void add_time(struct oc_text *text, const ocsd_itm_pkt *packet)
{
    static const char *const relations[4] = { "TS Sync", "TS Delayed",
                                              "TS Sync, Packet Delayed",
                                              "TS Delayed, Packet Delayed" };
    static const uint8_t top_bits[] = { 6, 6, 13, 20, 25 };

    if (packet->type == ITM_PKT_TS_LOCAL) {
        add_value(text, packet);
        oc_text_add(text, " { %s }", relations[packet->src_id & 3]);
        return;
    }
    if (packet->type == ITM_PKT_TS_GLOBAL_1)
        oc_text_add(
            text, "{ TS bits [%u:0]%s%s} ", top_bits[packet->val_sz < 5 ? packet->val_sz : 4],
            packet->src_id & 1 ? ", Clk change" : "", packet->src_id & 2 ? ", Clk wrap" : "");
    else
        oc_text_add(text, "{ TS bits [%s:26]} ", packet->val_sz == 5 ? "63" : "47");
    add_value(text, packet);
}

static void add_extension(struct oc_text *text, const ocsd_itm_pkt *packet)
{
    const int bits = (packet->src_id & 0x1f) + 1;

    if (bits == 3 && !(packet->src_id & 0x80))
        oc_text_add(text, "{stim port page} 0x%02" PRIx32, packet->value);
    else
        oc_text_add(text, "{unknown extension type, %d bits } 0x%0*" PRIx32, bits, bits / 4 + 1,
                    packet->value);
}

void oc_itm_text(struct oc_text *text, const void *any)
{
    const ocsd_itm_pkt *packet = any;

    oc_text_add(text, "%s: ", name_of((unsigned)packet->type, 0));
    switch (packet->type) {
    case ITM_PKT_SWIT:
        oc_text_add(text, "{src id: 0x%02x}  ", packet->src_id);
        add_value(text, packet);
        break;
    case ITM_PKT_DWT:
        oc_text_add(text, "{desc: 0x%02x} ", packet->src_id);
        add_watch(text, packet);
        break;
    case ITM_PKT_TS_LOCAL:
    case ITM_PKT_TS_GLOBAL_1:
    case ITM_PKT_TS_GLOBAL_2:
        add_time(text, packet);
        break;
    case ITM_PKT_EXTENSION:
        add_extension(text, packet);
        break;
    case ITM_PKT_INCOMPLETE_EOT:
    case ITM_PKT_BAD_SEQUENCE:
        oc_text_add(text, "[Init type: %s] ", name_of((unsigned)packet->err_type, 0));
        break;
    default:
        break;
    }
    oc_text_add(text, "; '%s'", name_of((unsigned)packet->type, 1));
}
