/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: configuration and packets. */
#include <trackway/etmv3.h>

#include "opencsd/etmv3_packet.h"
#include "opencsd/unsynced.h"

/* perf gives no ETMIDR and no ETMCCER: then those of a Cortex-A7 are taken. */
enum { USUAL_IDR = 0x410cf250, USUAL_CCER = 0x344008f2 };

static void configure(struct oc_setup *setup, const void *any)
{
    const ocsd_etmv3_cfg *config = any;
    uint32_t idr = config->reg_idr, ccer = config->reg_ccer;

    if (!idr) { /* perf gives none */
        idr = USUAL_IDR;
        if (!ccer)
            ccer = USUAL_CCER;
    }
    idr = (idr & ~0xf00u) | 0x200; /* the name says what it is */
    setup->id = config->reg_trc_id & 0x7f;
    setup->core = oc_core_name(config->arch_ver, config->core_prof);
    setup->is_m_profile = config->core_prof == profile_CortexM;
    setup->has_hyp = ccer >> 26 & 1;
    setup->time_is_gray = !(ccer >> 28 & 1);
    setup->is_unsupported = (config->reg_ctrl & 0xc) != 0; /* data trace */
    oc_setup_add(setup, "ETMCR", config->reg_ctrl);
    oc_setup_add(setup, "ETMIDR", idr);
    oc_setup_add(setup, "ETMCCER", ccer);
    oc_setup_add(setup, "ETMTRACEIDR", config->reg_trc_id);
}

static enum tw_status new_reader(void **reader, const struct oc_setup *setup)
{
    struct tw_etmv3_config config;
    struct tw_etmv3_reader *made = NULL;
    enum tw_status status =
        tw_etmv3_config_from(&config, setup->registers, setup->count, setup->core, NULL);

    if (status == TW_OK)
        status = tw_etmv3_reader_new(&made, &config, NULL, NULL);
    *reader = made;
    return status;
}

static void free_reader(void *reader)
{
    tw_etmv3_reader_free(reader);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_etmv3_read(reader, packet, data, size, is_last);
}

static void lose(void *reader)
{
    tw_etmv3_reader_lost(reader);
}

static bool complain(struct oc_complaint *complaint, const void *any, const uint8_t *bytes)
{
    const struct tw_etmv3_packet *packet = any;

    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR, NULL };
    switch (packet->base.type) {
    case TW_ETMV3_BAD_SEQUENCE:
        complaint->code = OCSD_ERR_BAD_PACKET_SEQ;
        complaint->message = bytes[packet->base.size - 1]
                                 ? "A-Sync ? : Unexpected byte in sequence"
                                 : "A-Sync ?: Extra 0x00 in sequence";
        return true;
    case TW_ETMV3_RESERVED:
        complaint->message = (bytes[0] & 0x81) == 0x80 ? "Invalid P-Header."
                             : (bytes[0] & 3) == 0     ? "Packet header reserved encoding"
                                                       : "Packet header reserved encoding.";
        return true;
    case TW_ETMV3_BAD_TRACEMODE:
        complaint->message =
            (bytes[0] & 0xd3) == 2
                ? "Invalid data trace header (normal data) - not tracing data."
            : bytes[0] == 0x62
                ? "Invalid data trace header (data suppressed) - not tracing data."
            : (bytes[0] & 0xef) == 0x6a
                ? "Invalid data trace header (value not traced) - not tracing data."
            : bytes[0] == 0x50
                ? "Invalid data trace header (store failed) - not tracing data values."
            : (bytes[0] & 0xd3) == 0x50
                ? "Invalid data trace header (out of order placeholder) - not tracing data."
                : "Invalid data trace header (out of order data) - not tracing data values.";
        return true;
    default:
        return false;
    }
}

static bool complain_decoding(struct oc_complaint *complaint, const void *any,
                              const uint8_t *bytes)
{
    const struct tw_etmv3_packet *packet = any;

    (void)bytes;
    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ,
                                        "Reserved or unknown packet ID." };
    if (packet->base.type == TW_ETMV3_BAD_SEQUENCE)
        complaint->message = "Bad Packet sequence.";
    return packet->base.type != TW_ETMV3_INCOMPLETE_EOT;
}

static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80 };

const struct oc_protocol oc_etmv3 = {
    .name = OCSD_BUILTIN_DCD_ETMV3,
    .number = OCSD_PROTOCOL_ETMV3,
    .library = "etmv3",
    .processor = "PKTP_ETMV3",
    .decoder = "DCD_ETMV3",
    .follows = true,
    .has_time_flag = true,
    .may_batch = true,
    .sync = sync,
    .sync_size = sizeof sync,
    .packet_size = sizeof(struct tw_etmv3_packet),
    .configure = configure,
    .reader_new = new_reader,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = tw_etmv3_type_is_bad,
    .not_sync = TW_ETMV3_NOT_SYNC,
    .bad_sequence = TW_ETMV3_BAD_SEQUENCE,
    .async = TW_ETMV3_A_SYNC,
    .start = TW_ETMV3_I_SYNC,
    .state_size = sizeof(struct oc_etmv3_state),
    .state_init = oc_etmv3_init,
    .state_reset = oc_etmv3_reset,
    .fill = oc_etmv3_fill,
    .text = oc_etmv3_text,
    .unsynced = oc_unsynced_etmv3,
    .sinks_each_unsynced = true,
    .is_fatal_when_bad = true,
    .complain = complain,
    .complain_decoding = complain_decoding,
};
