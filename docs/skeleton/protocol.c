/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: what the rest of the library knows of it, and the checks of its configuration. */
#include "protocol.h"

#include <inttypes.h>

#include "base/fault.h"
#include "skeleton/decode.h"

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_skeleton_config *out = config;
    uint64_t control = 0;

    TW_TRY(tw_source_need(source, &control, "CONTROL", fault));
    if (control > 0x1ff)
        return tw_fail(fault, TW_E_CONFIG, "CONTROL is 0x%" PRIx64 ", more than 9 bits",
                       control);
    *out = (struct tw_skeleton_config){ .size = sizeof *out, .control = (uint32_t)control };
    return TW_OK;
}

static uint8_t trace_id(const void *config)
{
    const struct tw_skeleton_config *from = config;

    return from->control & 0x7f;
}

static void reader_init(void *reader, const void *config)
{
    tw_skeleton_reader_init(reader, config);
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    return tw_skeleton_read(reader, packet, data, size, is_last);
}

static void reader_lost(void *reader)
{
    tw_skeleton_reader_lost(reader);
}

static enum tw_status write_packet(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_skeleton_write(writer, out, size, packet);
}

const struct tw_protocol tw_skeleton = {
    .name = "skeleton",
    .title = "Skeleton of a protocol",
    .flags = TW_PROTOCOL_SUMS, /* the total */
    .config_size = sizeof(struct tw_skeleton_config),
    .reader_size = sizeof(struct tw_skeleton_reader),
    .decoder_size = sizeof(struct tw_skeleton_decoder),
    .packet_size = sizeof(struct tw_skeleton_packet),
    .packet_max = TW_SKELETON_PACKET_MAX,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = reader_init,
    .read = read_packet,
    .reader_lost = reader_lost,
    .write = write_packet,
    .members = &tw_skeleton_members,
    .types = tw_skeleton_types,
    .type_count = TW_SKELETON_TYPES,
    .decoder_init = tw_skeleton_decoder_init,
    .decode = tw_skeleton_decode,
    .end = tw_skeleton_end,
    .decoder_reset = tw_skeleton_decoder_reset,
    .notes = tw_skeleton_notes,
    .restore = tw_skeleton_restore,
};
