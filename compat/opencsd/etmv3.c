/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: configuration and packets. */
#include <trackway/etmv3.h>

#include "opencsd/protocol.h"
#include "opencsd/settings.h"

/* perf gives no ETMIDR and no ETMCCER: then those of a Cortex-A7 are taken. */
enum { USUAL_IDR = 0x410cf250, USUAL_CCER = 0x344008f2 };

static void configure(struct oc_setup *setup, const void *any)
{
    const ocsd_etmv3_cfg *config = any;
    uint32_t idr = config->reg_idr, ccer = config->reg_ccer;

    if (!idr && !oc_settings()->is_strict) {
        idr = USUAL_IDR;
        if (!ccer)
            ccer = USUAL_CCER;
    }
    idr = (idr & ~0xf00u) | 0x200; /* the name says what it is */
    setup->id = config->reg_trc_id & 0x7f;
    setup->core = oc_core_name(config->arch_ver, config->core_prof);
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

static bool is_not_sync(unsigned type)
{
    return type == TW_ETMV3_NOT_SYNC;
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
    .is_not_sync = is_not_sync,
};
