/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V N-Trace: the table of functions, and configurations from what describes a source. */
#include <string.h>

#include "base/fault.h"
#include "ntrace/decode.h"

static enum tw_status configure(void *state, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_ntrace_config *config = state;

    tw_ntrace_config_init(config);
    if (source->core_type && !strcmp(source->core_type, "RV32"))
        config->xlen = 32;
    if (source->text)
        TW_TRY(tw_ntrace_config_read(config, source->text, fault));
    if (source->id)
        config->id = source->id;
    config->starts_inside |= config->has_ram && config->ram_wrapped;
    return tw_ntrace_config_check(config, fault);
}

static uint8_t trace_id(const void *config)
{
    return ((const struct tw_ntrace_config *)config)->id;
}

static bool extent(const void *config, struct tw_extent *extent)
{
    enum { WORD = 4 }; /* trRamLimit is the address of the last one */
    const struct tw_ntrace_config *typed = config;
    const uint64_t written = typed->ram_wp - typed->ram_start;

    if (!typed->has_ram)
        return false;
    *extent = (struct tw_extent){ .size = written };
    if (typed->ram_wrapped)
        *extent = (struct tw_extent){ .size = typed->ram_limit + WORD - typed->ram_start,
                                      .oldest = written };
    return true;
}

static bool align(const void *config, uint8_t *out, const uint8_t *data, size_t size)
{
    const struct tw_ntrace_config *typed = config;

    if (!typed->pib_bits || typed->pib_bits >= 8)
        return false;
    if (out)
        tw_ntrace_pib_align(out, data, size, typed->pib_bits, typed->starts_inside);
    return true;
}

static bool is_shared(const void *config)
{
    const struct tw_ntrace_config *typed = config;

    return typed->src_bits && !typed->inhibit_src && !typed->comes_apart;
}

static bool wants_src(const void *config, uint32_t src)
{
    const struct tw_ntrace_config *typed = config;

    return !typed->has_src || typed->src == src;
}

static void take_src(void *config, uint32_t src)
{
    struct tw_ntrace_config *typed = config;

    typed->has_src = typed->comes_apart = true;
    typed->src = (uint16_t)src;
    typed->starts_inside = false;
}

static void reader_init(void *reader, const void *config)
{
    tw_ntrace_reader_init(reader, config);
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    return tw_ntrace_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_ntrace_read_batch(reader, packets, room, used, data, size);
}

static void reader_lost(void *reader)
{
    tw_ntrace_reader_lost(reader);
}

static enum tw_status write_packet(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_ntrace_write(writer, out, size, packet);
}

const struct tw_protocol tw_ntrace = {
    .name = "ntrace",
    .title = "RISC-V N-Trace",
    .flags = TW_PROTOCOL_FOLLOWS,
    .config_size = sizeof(struct tw_ntrace_config),
    .reader_size = sizeof(struct tw_ntrace_reader),
    .decoder_size = sizeof(struct tw_ntrace_decoder),
    .packet_size = sizeof(struct tw_ntrace_packet),
    .packet_max = TW_NTRACE_PACKET_MAX,
    .configure = configure,
    .trace_id = trace_id,
    .extent = extent,
    .align = align,
    .is_shared = is_shared,
    .wants_src = wants_src,
    .take_src = take_src,
    .route = tw_ntrace_route,
    .reader_init = reader_init,
    .read = read_packet,
    .read_batch = read_batch,
    .reader_lost = reader_lost,
    .write = write_packet,
    .members = &tw_ntrace_members,
    .types = tw_ntrace_types,
    .type_count = TW_NTRACE_TYPES,
    .code_config = tw_ntrace_code_config,
    .decoder_init = tw_ntrace_decoder_init,
    .decode = tw_ntrace_decode,
    .end = tw_ntrace_end,
    .decoder_reset = tw_ntrace_decoder_reset,
    .damage_at = offsetof(struct tw_ntrace_decoder, damage),
    .state = tw_ntrace_state,
    .split = tw_ntrace_split,
    .resume = tw_ntrace_resume,
    .notes = tw_ntrace_notes,
    .restore = tw_ntrace_restore,
};
