/* SPDX-License-Identifier: BSD-2-Clause */
/* ETE as a protocol of the library: ETMv4's functions with its own configuration. */
#include "etmv4/decode.h"
#include "etmv4/packet.h"

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    return tw_etmv4_configure(config, source, true, fault);
}

const struct tw_protocol tw_ete = {
    .name = "ete",
    .title = "Arm Embedded Trace Extension",
    .flags = TW_PROTOCOL_FOLLOWS,
    .config_size = sizeof(struct tw_etmv4_config),
    .reader_size = sizeof(struct tw_etmv4_reader),
    .packet_size = sizeof(struct tw_etmv4_packet),
    .packet_max = TW_ETMV4_PACKET_MAX,
    .registers = tw_ete_registers,
    .configure = configure,
    .trace_id = tw_etmv4_config_id,
    .reader_init = tw_etmv4_any_init,
    .read = tw_etmv4_any_read,
    .read_batch = tw_etmv4_any_read_batch,
    .reader_lost = tw_etmv4_any_lost,
    .write = tw_etmv4_any_write,
    .members = &tw_etmv4_members,
    .types = tw_etmv4_types,
    .type_count = TW_ETMV4_TYPES,
    .decoder_size = sizeof(struct tw_etmv4_decoder),
    .code_config = tw_etmv4_code_config,
    .decoder_init = tw_etmv4_decoder_init,
    .decoder_free = tw_etmv4_decoder_free,
    .decode = tw_etmv4_decode,
    .end = tw_etmv4_end,
    .decoder_reset = tw_etmv4_decoder_reset,
    .damage_at = offsetof(struct tw_etmv4_decoder, damage),
    .notes = tw_etmv4_notes,
    .pass = tw_etmv4_pass,
    .state = tw_etmv4_state,
    .split = tw_etmv4_split,
};
