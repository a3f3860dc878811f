/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: configuration and packets. */
#include <trackway/etmv4.h>

#include "opencsd/etmv4_packet.h"
#include "opencsd/unsynced.h"

static void configure_etmv4(struct oc_setup *setup, const void *any)
{
    const ocsd_etmv4_cfg *config = any;

    setup->id = config->reg_traceidr & 0x7f;
    setup->core = oc_core_name(config->arch_ver, config->core_prof);
    setup->version = (uint8_t)(config->reg_idr1 >> 4); /* major, minor */
    setup->is_m_profile = config->core_prof == profile_CortexM;
    oc_setup_add(setup, "TRCIDR0", config->reg_idr0);
    oc_setup_add(setup, "TRCIDR1", config->reg_idr1);
    oc_setup_add(setup, "TRCIDR2", config->reg_idr2);
    oc_setup_add(setup, "TRCIDR8", config->reg_idr8);
    oc_setup_add(setup, "TRCIDR9", config->reg_idr9);
    oc_setup_add(setup, "TRCIDR10", config->reg_idr10);
    oc_setup_add(setup, "TRCIDR11", config->reg_idr11);
    oc_setup_add(setup, "TRCIDR12", config->reg_idr12);
    oc_setup_add(setup, "TRCIDR13", config->reg_idr13);
    oc_setup_add(setup, "TRCCONFIGR", config->reg_configr);
    oc_setup_add(setup, "TRCTRACEIDR", config->reg_traceidr);
}

static void configure_ete(struct oc_setup *setup, const void *any)
{
    const ocsd_ete_cfg *config = any;

    setup->id = config->reg_traceidr & 0x7f;
    setup->core = oc_core_name(config->arch_ver, config->core_prof);
    setup->version =
        (uint8_t)((config->reg_devarch >> 8 & 0xf0) | (config->reg_devarch >> 16 & 0xf));
    setup->is_m_profile = config->core_prof == profile_CortexM;
    oc_setup_add(setup, "TRCIDR0", config->reg_idr0);
    oc_setup_add(setup, "TRCIDR1", config->reg_idr1);
    oc_setup_add(setup, "TRCIDR2", config->reg_idr2);
    oc_setup_add(setup, "TRCIDR8", config->reg_idr8);
    oc_setup_add(setup, "TRCDEVARCH", config->reg_devarch);
    oc_setup_add(setup, "TRCCONFIGR", config->reg_configr);
    oc_setup_add(setup, "TRCTRACEIDR", config->reg_traceidr);
}

static enum tw_status new_reader(void **reader, const struct oc_setup *setup, bool is_ete)
{
    struct tw_etmv4_config config;
    struct tw_etmv4_reader *made = NULL;
    enum tw_status status = tw_etmv4_config_from(&config, setup->registers, setup->count,
                                                 setup->core, is_ete, NULL);

    if (status == TW_OK)
        status = tw_etmv4_reader_new(&made, &config, NULL, NULL);
    *reader = made;
    return status;
}

static enum tw_status new_etmv4(void **reader, const struct oc_setup *setup)
{
    return new_reader(reader, setup, false);
}

static enum tw_status new_ete(void **reader, const struct oc_setup *setup)
{
    return new_reader(reader, setup, true);
}

static void free_reader(void *reader)
{
    tw_etmv4_reader_free(reader);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_etmv4_read(reader, packet, data, size, is_last);
}

static void lose(void *reader)
{
    tw_etmv4_reader_lost(reader);
}

static void cut_unsynced(void *any, const uint8_t *bytes, size_t size)
{
    struct tw_etmv4_packet *packet = any;

    packet->base.type = TW_ETMV4_INCOMPLETE_EOT;
    packet->cause = size > 1 ? TW_ETMV4_ASYNC : OC_ETMV4_UNSYNCED;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            packet->cause = OC_ETMV4_UNSYNCED;
}

static bool complain(struct oc_complaint *complaint, const void *any, const uint8_t *bytes)
{
    const struct tw_etmv4_packet *packet = any;

    (void)bytes;
    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR, NULL };
    return packet->base.type == TW_ETMV4_RESERVED || packet->base.type == TW_ETMV4_RESERVED_CFG;
}

static bool complain_decoding(struct oc_complaint *complaint, const void *any,
                              const uint8_t *bytes)
{
    const struct tw_etmv4_packet *packet = any;

    (void)bytes;
    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_WARN, OCSD_ERR_BAD_DECODE_PKT,
                                        "Unknown packet type." };
    if (packet->base.type == TW_ETMV4_BAD_SEQUENCE)
        complaint->message = "Bad byte sequence in packet.";
    else if (packet->base.type == TW_ETMV4_BAD_TRACEMODE)
        complaint->message = "Invalid packet type for trace mode.";
    else if (packet->base.type == TW_ETMV4_RESERVED)
        complaint->message = "Reserved packet header";
    return true;
}

static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80 };

const struct oc_protocol oc_etmv4 = {
    .name = OCSD_BUILTIN_DCD_ETMV4I,
    .number = OCSD_PROTOCOL_ETMV4I,
    .library = "etmv4",
    .processor = "PKTP_ETMV4I",
    .decoder = "DCD_ETMV4",
    .follows = true,
    .may_batch = true,
    .sync = sync,
    .sync_size = sizeof sync,
    .packet_size = sizeof(struct tw_etmv4_packet),
    .configure = configure_etmv4,
    .reader_new = new_etmv4,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = tw_etmv4_type_is_bad,
    .not_sync = TW_ETMV4_NOT_SYNC,
    .bad_sequence = TW_ETMV4_BAD_SEQUENCE,
    .async = TW_ETMV4_ASYNC,
    .start = TW_ETMV4_TRACE_INFO,
    .starts_behind_async = true,
    .stops = { TW_ETMV4_OVERFLOW, TW_ETMV4_DISCARD },
    .state_size = sizeof(struct oc_etmv4_state),
    .state_init = oc_etmv4_init,
    .state_reset = oc_etmv4_reset,
    .fill = oc_etmv4_fill,
    .shown = oc_etmv4_shown,
    .text = oc_etmv4_text,
    .unsynced = oc_unsynced_etmv4,
    .cut_unsynced = cut_unsynced,
    .has_stats = true,
    .complain = complain,
    .complain_decoding = complain_decoding,
};

const struct oc_protocol oc_ete = {
    .name = OCSD_BUILTIN_DCD_ETE,
    .number = OCSD_PROTOCOL_ETE,
    .library = "ete",
    .processor = "PKTP_ETMV4I",
    .decoder = "DCD_ETMV4",
    .follows = true,
    .may_batch = true,
    .sync = sync,
    .sync_size = sizeof sync,
    .packet_size = sizeof(struct tw_etmv4_packet),
    .configure = configure_ete,
    .reader_new = new_ete,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = tw_etmv4_type_is_bad,
    .not_sync = TW_ETMV4_NOT_SYNC,
    .bad_sequence = TW_ETMV4_BAD_SEQUENCE,
    .async = TW_ETMV4_ASYNC,
    .start = TW_ETMV4_TRACE_INFO,
    .starts_behind_async = true,
    .stops = { TW_ETMV4_OVERFLOW, TW_ETMV4_DISCARD },
    .state_size = sizeof(struct oc_etmv4_state),
    .state_init = oc_etmv4_init,
    .state_reset = oc_etmv4_reset,
    .fill = oc_etmv4_fill,
    .shown = oc_etmv4_shown,
    .text = oc_etmv4_text,
    .unsynced = oc_unsynced_etmv4,
    .cut_unsynced = cut_unsynced,
    .has_stats = true,
    .complain = complain,
    .complain_decoding = complain_decoding,
};
