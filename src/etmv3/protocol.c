/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 as a protocol of the library: its configuration and its table of functions. */
#include "protocol.h"

#include "base/core.h"
#include "base/fault.h"
#include "etmv3/decode.h"

static bool bit(uint32_t value, unsigned number)
{
    return (value >> number) & 1;
}

void tw_etmv3_setup_from_config(struct tw_etmv3_setup *setup,
                                const struct tw_etmv3_config *config)
{
    static const uint8_t context_bytes[4] = { 0, 1, 2, 4 };
    const uint32_t control = config->etmcr, identity = config->etmidr;

    *setup = (struct tw_etmv3_setup){ .id = config->etmtraceidr & 0x7f };
    setup->profile = config->profile;
    setup->minor = identity >> 4 & 0xf;
    setup->context_bytes = context_bytes[control >> 14 & 3];
    setup->data_value = bit(control, 2);
    setup->data_address = bit(control, 3);
    setup->branch_broadcast = bit(control, 8);
    setup->cycle_accurate = bit(control, 12);
    setup->data_only = bit(control, 20) && setup->minor >= 1;
    setup->alternative = bit(identity, 20) && setup->minor >= 4;
    setup->wide_is_two = !bit(identity, 18);
    setup->pc_first = bit(identity, 16);
    setup->has_hyp = bit(config->etmccer, 26);
    setup->time_is_gray = !bit(config->etmccer, 28);
    setup->time_width = bit(config->etmccer, 29) ? 64 : 48;
}

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_etmv3_config *out = config;
    struct tw_armv7_registers registers;

    TW_TRY(tw_armv7_registers(&registers, source, 2, "an ETMv3", fault));
    *out = (struct tw_etmv3_config){ .size = sizeof *out,
                                     .etmcr = registers.etmcr,
                                     .etmidr = registers.etmidr,
                                     .etmccer = registers.etmccer,
                                     .etmtraceidr = registers.etmtraceidr,
                                     .profile = (uint8_t)tw_core_profile(source->core_type) };
    return TW_OK;
}

enum tw_status tw_etmv3_config_from(struct tw_etmv3_config *config,
                                    const struct tw_register *registers, size_t count,
                                    const char *core_type, struct tw_fault *fault)
{
    const struct tw_source_info source = { .registers = registers,
                                           .register_count = count,
                                           .core_type = core_type };

    return configure(config, &source, fault);
}

/* The members of struct tw_protocol, which knows no types. */

static uint8_t trace_id(const void *config)
{
    return ((const struct tw_etmv3_config *)config)->etmtraceidr & 0x7f;
}

static void reader_init(void *reader, const void *config)
{
    tw_etmv3_reader_init(reader, config);
}

static enum tw_status read(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last)
{
    return tw_etmv3_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_etmv3_read_batch(reader, packets, room, used, data, size);
}

static void reader_lost(void *reader)
{
    tw_etmv3_reader_lost(reader);
}

static enum tw_status write(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_etmv3_write(writer, out, size, packet);
}

const struct tw_protocol tw_etmv3 = {
    .name = "etmv3",
    .title = "Arm ETMv3 instruction and data trace",
    .flags = TW_PROTOCOL_FOLLOWS,
    .config_size = sizeof(struct tw_etmv3_config),
    .reader_size = sizeof(struct tw_etmv3_reader),
    .decoder_size = sizeof(struct tw_etmv3_decoder),
    .packet_size = sizeof(struct tw_etmv3_packet),
    .packet_max = TW_ETMV3_PACKET_MAX,
    .registers = tw_armv7_register_uses,
    .configure = configure,
    .trace_id = trace_id,
    .reader_init = reader_init,
    .read = read,
    .read_batch = read_batch,
    .reader_lost = reader_lost,
    .write = write,
    .members = &tw_etmv3_members,
    .types = tw_etmv3_types,
    .type_count = TW_ETMV3_TYPES,
    .code_config = tw_etmv3_code_config,
    .decoder_init = tw_etmv3_decoder_init,
    .decode = tw_etmv3_decode,
    .end = tw_etmv3_end,
    .decoder_reset = tw_etmv3_decoder_reset,
    .damage_at = offsetof(struct tw_etmv3_decoder, damage),
    .notes = tw_etmv3_notes,
    .restore = tw_etmv3_restore,
    .state = tw_etmv3_state,
    .split = tw_etmv3_split,
};
