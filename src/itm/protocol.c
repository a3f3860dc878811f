/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: what the rest of the library knows of it, and the checks of its configuration. */
#include "protocol.h"

#include <inttypes.h>

#include "base/fault.h"
#include "itm/packet.h"

/* ITM_TCR under the names that captures give it. */
static bool control_register(const struct tw_source_info *source, uint64_t *value)
{
    static const char *const names[] = { "ITMTCR", "ITM_TCR", "CONTROL_REGISTER", "TCR" };

    for (size_t i = 0; i < TW_LENGTH(names); i++)
        if (tw_source_register(source, value, names[i]))
            return true;
    return false;
}

/* The register is not needed to decode: without one the trace ID comes from the source. */
static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_itm_config *out = config;
    uint64_t tcr = 0, assume = 0, on_error = 0, swo = 0;

    (void)control_register(source, &tcr);
    (void)tw_source_register(source, &assume, "ASSUME_SYNC");
    (void)tw_source_register(source, &on_error, "ON_ERROR");
    (void)tw_source_register(source, &swo, "SCALE_AS_SWO");
    if (tcr > UINT32_MAX)
        return tw_fail(fault, TW_E_CONFIG, "ITMTCR is 0x%" PRIx64 ", more than 32 bits", tcr);
    if (on_error > TW_ITM_WAIT)
        return tw_fail(fault, TW_E_CONFIG,
                       "ON_ERROR is %" PRIu64 "; it may be 0 (usual), 1 (resume) or 2 (wait)",
                       on_error);
    *out = (struct tw_itm_config){ .size = sizeof *out,
                                   .tcr = (uint32_t)tcr,
                                   .id = source->id,
                                   .on_error = (uint8_t)on_error,
                                   .assume_sync = assume != 0,
                                   .is_framed = source->is_framed,
                                   .scale_as_swo = swo != 0 };
    return TW_OK;
}

static uint8_t trace_id(const void *config)
{
    return tw_itm_trace_id(config);
}

static void reader_init(void *reader, const void *config)
{
    tw_itm_reader_init(reader, config);
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    return tw_itm_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_itm_read_batch(reader, packets, room, used, data, size);
}

static enum tw_status write_packet(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_itm_write(writer, out, size, packet);
}

static void reader_lost(void *reader)
{
    tw_itm_reader_lost(reader);
}

const struct tw_protocol tw_itm = {
    .name = "itm",
    .title = "Instrumentation Trace Macrocell and Data Watchpoint and Trace",
    .flags = TW_PROTOCOL_SUMS,
    .config_size = sizeof(struct tw_itm_config),
    .reader_size = sizeof(struct tw_itm_reader),
    .decoder_size = sizeof(struct tw_itm_decoder),
    .packet_size = sizeof(struct tw_itm_packet),
    .packet_max = TW_ITM_PACKET_MAX,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = reader_init,
    .read = read_packet,
    .read_batch = read_batch,
    .reader_lost = reader_lost,
    .write = write_packet,
    .members = &tw_itm_members,
    .types = tw_itm_types,
    .type_count = TW_ITM_PACKET_TYPES,
    .decoder_init = tw_itm_decoder_init,
    .decode = tw_itm_decode,
    .end = tw_itm_end,
    .decoder_reset = tw_itm_decoder_reset,
    .damage_at = offsetof(struct tw_itm_decoder, kept.damage),
    .state = tw_itm_state,
    .split = tw_itm_split,
    .resume = tw_itm_resume,
    .rebase = tw_itm_rebase,
    .notes = tw_itm_notes,
    .restore = tw_itm_restore,
};
