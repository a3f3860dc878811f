/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM as a protocol of the library: its configuration and its table of functions. */
#include "protocol.h"

#include "base/fault.h"
#include "ptm/decode.h"

static bool bit(uint32_t value, unsigned number)
{
    return (value >> number) & 1;
}

void tw_ptm_setup_from_config(struct tw_ptm_setup *setup, const struct tw_ptm_config *config)
{
    static const uint8_t context_bytes[4] = { 0, 1, 2, 4 };
    const uint32_t control = config->etmcr, features = config->etmccer;

    *setup = (struct tw_ptm_setup){ .id = config->etmtraceidr & 0x7f };
    setup->is_v11 = (config->etmidr >> 4 & 0xf) >= 1;
    setup->context_bytes = context_bytes[control >> 14 & 3];
    setup->cycle_accurate = bit(control, 12);
    setup->branch_broadcast = bit(control, 8);
    setup->timestamps = bit(control, 28);
    setup->return_stack = bit(control, 29) && bit(features, 23);
    setup->vmid = setup->is_v11 && bit(control, 30);
    setup->barriers_are_waypoints = bit(features, 24);
    setup->has_hyp = setup->is_v11 && bit(features, 26);
    setup->time_is_gray = !setup->is_v11 || !bit(features, 28);
    setup->time_width = setup->is_v11 && bit(features, 29) ? 64 : 48;
}

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_ptm_config *out = config;
    struct tw_armv7_registers registers;

    TW_TRY(tw_armv7_registers(&registers, source, 3, "a PTM", fault));
    *out = (struct tw_ptm_config){ .size = sizeof *out,
                                   .etmcr = registers.etmcr,
                                   .etmidr = registers.etmidr,
                                   .etmccer = registers.etmccer,
                                   .etmtraceidr = registers.etmtraceidr };
    return TW_OK;
}

enum tw_status tw_ptm_config_from(struct tw_ptm_config *config,
                                  const struct tw_register *registers, size_t count,
                                  struct tw_fault *fault)
{
    const struct tw_source_info source = { .registers = registers, .register_count = count };

    return configure(config, &source, fault);
}

/* The members of struct tw_protocol, which knows no types. */

static uint8_t trace_id(const void *config)
{
    return ((const struct tw_ptm_config *)config)->etmtraceidr & 0x7f;
}

static void reader_init(void *reader, const void *config)
{
    tw_ptm_reader_init(reader, config);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_ptm_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_ptm_read_batch(reader, packets, room, used, data, size);
}

static void reader_lost(void *reader)
{
    tw_ptm_reader_lost(reader);
}

static enum tw_status write(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_ptm_write(writer, out, size, packet);
}

const struct tw_protocol tw_ptm = {
    .name = "ptm",
    .title = "Arm PTM (Program Flow Trace)",
    .flags = TW_PROTOCOL_FOLLOWS,
    .config_size = sizeof(struct tw_ptm_config),
    .reader_size = sizeof(struct tw_ptm_reader),
    .decoder_size = sizeof(struct tw_ptm_decoder),
    .packet_size = sizeof(struct tw_ptm_packet),
    .packet_max = TW_PTM_PACKET_MAX,
    .registers = tw_armv7_register_uses,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = reader_init,
    .read = read,
    .read_batch = read_batch,
    .reader_lost = reader_lost,
    .write = write,
    .members = &tw_ptm_members,
    .types = tw_ptm_types,
    .type_count = TW_PTM_TYPES,
    .code_config = tw_ptm_code_config,
    .decoder_init = tw_ptm_decoder_init,
    .decode = tw_ptm_decode,
    .end = tw_ptm_end,
    .decoder_reset = tw_ptm_decoder_reset,
    .damage_at = offsetof(struct tw_ptm_decoder, damage),
    .notes = tw_ptm_notes,
    .restore = tw_ptm_restore,
    .state = tw_ptm_state,
    .split = tw_ptm_split,
};
