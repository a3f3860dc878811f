/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: what the rest of the library knows of it, and the checks of its configuration. */
#include "protocol.h"

#include <inttypes.h>

#include "base/fault.h"
#include "stm/packet.h"

/* The register is not needed to decode: without one the trace ID comes from the source. */
static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_stm_config *out = config;
    uint64_t tcsr = 0;

    if (!tw_source_register(source, &tcsr, "STMTCSR"))
        (void)tw_source_register(source, &tcsr, "TCSR");
    if (tcsr > UINT32_MAX)
        return tw_fail(fault, TW_E_CONFIG, "STMTCSR is 0x%" PRIx64 ", more than 32 bits", tcsr);
    *out =
        (struct tw_stm_config){ .size = sizeof *out, .tcsr = (uint32_t)tcsr, .id = source->id };
    return TW_OK;
}

static uint8_t trace_id(const void *config)
{
    return tw_stm_trace_id(config);
}

static void reader_init(void *reader, const void *config)
{
    tw_stm_reader_init(reader, config);
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    return tw_stm_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_stm_read_batch(reader, packets, room, used, data, size);
}

static enum tw_status write_packet(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_stm_write(writer, out, size, packet);
}

static enum tw_status write_flush(void *writer, uint8_t *out, size_t *size)
{
    return tw_stm_write_flush(writer, out, size);
}

static void reader_lost(void *reader)
{
    tw_stm_reader_lost(reader);
}

const struct tw_protocol tw_stm = {
    .name = "stm",
    .title = "System Trace Macrocell (STPv2)",
    .flags = TW_PROTOCOL_BITS | TW_PROTOCOL_SUMS,
    .config_size = sizeof(struct tw_stm_config),
    .reader_size = sizeof(struct tw_stm_reader),
    .decoder_size = sizeof(struct tw_stm_decoder),
    .packet_size = sizeof(struct tw_stm_packet),
    .packet_max = TW_STM_PACKET_MAX,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = reader_init,
    .read = read_packet,
    .read_batch = read_batch,
    .reader_lost = reader_lost,
    .write = write_packet,
    .write_flush = write_flush,
    .members = &tw_stm_members,
    .types = tw_stm_types,
    .type_count = TW_STM_TYPES,
    .decoder_init = tw_stm_decoder_init,
    .decode = tw_stm_decode,
    .end = tw_stm_end,
    .decoder_reset = tw_stm_decoder_reset,
    .damage_at = offsetof(struct tw_stm_decoder, kept.damage),
    .notes = tw_stm_notes,
    .restore = tw_stm_restore,
    .state = tw_stm_state,
    .split = tw_stm_split,
    .resume = tw_stm_resume,
};
