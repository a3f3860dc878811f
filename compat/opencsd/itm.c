/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM (1.7.1): configuration and packets. */
#include <trackway/itm.h>

#include "opencsd/itm/trc_pkt_types_itm.h"
#include "opencsd/stm_packet.h"

enum { PROTOCOL_ITM_1_7 = 7 };

static void configure(struct oc_setup *setup, const void *any)
{
    const ocsd_itm_cfg *config = any;

    setup->id = config->reg_tcr >> 16 & 0x7f;
    oc_setup_add(setup, "ITMTCR", config->reg_tcr);
}

static enum tw_status new_reader(void **reader, const struct oc_setup *setup)
{
    const struct tw_itm_config config = { .size = sizeof config,
                                          .tcr = (uint32_t)setup->registers[0].value,
                                          .id = setup->id };
    struct tw_itm_reader *made = NULL;
    const enum tw_status status = tw_itm_reader_new(&made, &config, NULL, NULL);

    *reader = made;
    return status;
}

static void free_reader(void *reader)
{
    tw_itm_reader_free(reader);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_itm_read(reader, packet, data, size, is_last);
}

static void lose(void *reader)
{
    tw_itm_reader_lost(reader);
}

static bool is_bad(unsigned type)
{
    return type == TW_ITM_PACKET_RESERVED || type == TW_ITM_PACKET_BAD_SEQUENCE ||
           type == TW_ITM_PACKET_INCOMPLETE;
}

const struct oc_protocol oc_itm = {
    .name = "ITM",
    .number = PROTOCOL_ITM_1_7,
    .library = "itm",
    .processor = "PKTP_ITM",
    .decoder = "DCD_ITM",
    .packet_size = sizeof(struct tw_itm_packet),
    .configure = configure,
    .reader_new = new_reader,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = is_bad,
    .not_sync = TW_ITM_PACKET_NOT_SYNC,
    .bad_sequence = TW_ITM_PACKET_BAD_SEQUENCE,
    .async = TW_ITM_PACKET_ASYNC,
    .state_size = sizeof(ocsd_itm_pkt),
    .state_init = oc_itm_init,
    .state_reset = oc_itm_reset,
    .fill = oc_itm_fill,
    .text = oc_itm_text,
};
