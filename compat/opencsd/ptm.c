/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: configuration and packets. */
#include <trackway/ptm.h>

#include "opencsd/ptm_packet.h"
#include "opencsd/unsynced.h"

/* perf gives no ETMIDR and no ETMCCER: then those of a Cortex-A15 are taken, without what ETMCR says
   to be off. */
enum { USUAL_IDR = 0x411cf312, USUAL_CCER = 0x34c01ac2 };

static void configure(struct oc_setup *setup, const void *any)
{
    const ocsd_ptm_cfg *config = any;
    uint32_t idr = config->reg_idr, ccer = config->reg_ccer;

    if (!idr) { /* perf gives none */
        idr = USUAL_IDR;
        if (!ccer)
            ccer = USUAL_CCER;
    }
    idr = (idr & ~0xf00u) | 0x300; /* the name says what it is */
    setup->id = config->reg_trc_id & 0x7f;
    setup->core = oc_core_name(config->arch_ver, config->core_prof);
    setup->time_is_gray = !(idr >> 4 & 0xf) || !(ccer >> 28 & 1);
    oc_setup_add(setup, "ETMCR", config->reg_ctrl);
    oc_setup_add(setup, "ETMIDR", idr);
    oc_setup_add(setup, "ETMCCER", ccer);
    oc_setup_add(setup, "ETMTRACEIDR", config->reg_trc_id);
}

static enum tw_status new_reader(void **reader, const struct oc_setup *setup)
{
    struct tw_ptm_config config;
    struct tw_ptm_reader *made = NULL;
    enum tw_status status = tw_ptm_config_from(&config, setup->registers, setup->count, NULL);

    if (status == TW_OK)
        status = tw_ptm_reader_new(&made, &config, NULL, NULL);
    *reader = made;
    return status;
}

static void free_reader(void *reader)
{
    tw_ptm_reader_free(reader);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_ptm_read(reader, packet, data, size, is_last);
}

static void lose(void *reader)
{
    tw_ptm_reader_lost(reader);
}

static bool complain(struct oc_complaint *complaint, const void *any, const uint8_t *bytes)
{
    const struct tw_ptm_packet *packet = any;

    (void)bytes;
    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ,
                                        "Bad Async packet" };
    return packet->base.type == TW_PTM_BAD_SEQUENCE;
}

static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80 };

const struct oc_protocol oc_ptm = {
    .name = OCSD_BUILTIN_DCD_PTM,
    .number = OCSD_PROTOCOL_PTM,
    .library = "ptm",
    .processor = "PKTP_PTM",
    .decoder = "DCD_PTM",
    .follows = true,
    .may_batch = true,
    .sync = sync,
    .sync_size = sizeof sync,
    .packet_size = sizeof(struct tw_ptm_packet),
    .configure = configure,
    .reader_new = new_reader,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = tw_ptm_type_is_bad,
    .not_sync = TW_PTM_NOT_SYNC,
    .bad_sequence = TW_PTM_BAD_SEQUENCE,
    .async = TW_PTM_ASYNC,
    .start = TW_PTM_ISYNC,
    .state_size = sizeof(ocsd_ptm_pkt),
    .state_init = oc_ptm_init,
    .state_reset = oc_ptm_reset,
    .fill = oc_ptm_fill,
    .text = oc_ptm_text,
    .unsynced = oc_unsynced_ptm,
    .needs_consumer = true,
    .complain = complain,
};
