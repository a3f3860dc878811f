/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: configuration and packets. */
#include <trackway/stm.h>

#include "opencsd/stm_packet.h"

static void configure(struct oc_setup *setup, const void *any)
{
    const ocsd_stm_cfg *config = any;

    setup->id = config->reg_tcsr >> 16 & 0x7f;
    oc_setup_add(setup, "STMTCSR", config->reg_tcsr);
}

static enum tw_status new_reader(void **reader, const struct oc_setup *setup)
{
    const struct tw_stm_config config = { .size = sizeof config,
                                          .tcsr = (uint32_t)setup->registers[0].value,
                                          .id = setup->id };
    struct tw_stm_reader *made = NULL;
    const enum tw_status status = tw_stm_reader_new(&made, &config, NULL, NULL);

    *reader = made;
    return status;
}

static void free_reader(void *reader)
{
    tw_stm_reader_free(reader);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_stm_read(reader, packet, data, size, is_last);
}

static void lose(void *reader)
{
    tw_stm_reader_lost(reader);
}

static bool is_bad(unsigned type)
{
    return type == TW_STM_RESERVED || type == TW_STM_BAD_SEQUENCE || type == TW_STM_INCOMPLETE;
}

static bool complain(struct oc_complaint *complaint, const void *any, const uint8_t *bytes)
{
    const struct tw_stm_packet *packet = any;

    (void)bytes;
    *complaint = (struct oc_complaint){ OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR,
                                        "STM: Unsupported or Reserved STPv2 Header" };
    if (packet->base.type == TW_STM_BAD_SEQUENCE) {
        complaint->code = OCSD_ERR_BAD_PACKET_SEQ;
        complaint->message = "STM: Invalid ASYNC sequence";
    }
    return packet->base.type != TW_STM_INCOMPLETE;
}

const struct oc_protocol oc_stm = {
    .name = OCSD_BUILTIN_DCD_STM,
    .number = OCSD_PROTOCOL_STM,
    .library = "stm",
    .processor = "PKTP_STM",
    .decoder = "DCD_STM",
    .packet_size = sizeof(struct tw_stm_packet),
    .configure = configure,
    .reader_new = new_reader,
    .reader_free = free_reader,
    .read = read,
    .reader_lost = lose,
    .is_bad = is_bad,
    .not_sync = TW_STM_NOT_SYNC,
    .bad_sequence = TW_STM_BAD_SEQUENCE,
    .async = TW_STM_ASYNC,
    .state_size = sizeof(ocsd_stm_pkt),
    .state_init = oc_stm_init,
    .state_reset = oc_stm_reset,
    .fill = oc_stm_fill,
    .text = oc_stm_text,
    .sinks_each_unsynced = true,
    .is_fatal_when_bad = true,
    .complain = complain,
};
