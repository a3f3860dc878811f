/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: what the rest of the library knows of it, and the checks of its configuration. */
#include "protocol.h"

#include <inttypes.h>

#include "base/fault.h"
#include "skeleton/packet.h"

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

const struct tw_protocol tw_skeleton = {
    .name = "skeleton",
    .title = "Skeleton of a protocol",
    .config_size = sizeof(struct tw_skeleton_config),
    .reader_size = sizeof(struct tw_skeleton_reader),
    .packet_size = sizeof(struct tw_skeleton_packet),
    .packet_max = TW_SKELETON_PACKET_MAX,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = tw_skeleton_reader_init,
    .read = tw_skeleton_read,
    .reader_lost = tw_skeleton_reader_lost,
    .write = tw_skeleton_write,
    .members = &tw_skeleton_members,
    .types = tw_skeleton_types,
    .type_count = TW_SKELETON_TYPES,
};
