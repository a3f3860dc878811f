/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V E-Trace: the tables of functions, and configurations from what describes a source. */
#include <string.h>

#include "base/fault.h"
#include "etrace/config.h"
#include "etrace/decode.h"

/* The layout that the type of a snapshot's device names. */
static uint8_t layout_of_type(const char *type)
{
    const char *digit = type ? strpbrk(type, "0123456789") : NULL;

    if (!digit)
        return TW_ETRACE_LAYOUT_NONE;
    return *digit == '1'   ? TW_ETRACE_LAYOUT_SEED
           : *digit == '2' ? TW_ETRACE_LAYOUT_V2
                           : TW_ETRACE_LAYOUT_NONE;
}

static unsigned xlen_of_core(const char *type)
{
    if (!type || strncmp(type, "RV", 2) != 0)
        return 0;
    return !strncmp(type + 2, "32", 2) ? 32 : !strncmp(type + 2, "64", 2) ? 64 : 0;
}

static enum tw_status configure(void *state, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    struct tw_etrace_config *config = state;
    const uint8_t of_type = layout_of_type(source->type);

    TW_TRY(tw_etrace_config_make(config, source->text, (enum tw_etrace_layout)of_type,
                                 xlen_of_core(source->core_type), fault));
    if (of_type &&
        (of_type == TW_ETRACE_LAYOUT_SEED) != (config->layout == TW_ETRACE_LAYOUT_SEED))
        return tw_fail(fault, TW_E_CONFIG, "the layout is not that of a device of type %s",
                       source->type);
    if (source->id)
        config->id = source->id;
    return tw_etrace_config_check(config, fault);
}

static enum tw_status configure_data(void *state, const struct tw_source_info *source,
                                     struct tw_fault *fault)
{
    TW_TRY(configure(state, source, fault));
    ((struct tw_etrace_config *)state)->is_data = true;
    return TW_OK;
}

static uint8_t trace_id(const void *config)
{
    return ((const struct tw_etrace_config *)config)->id;
}

static bool is_shared(const void *config)
{
    const struct tw_etrace_config *typed = config;

    return typed->srcid_bits && !typed->comes_apart &&
           (typed->encapsulation == TW_ETRACE_ENCAP_RISCV ||
            typed->encapsulation == TW_ETRACE_ENCAP_SMI ||
            typed->encapsulation == TW_ETRACE_ENCAP_SIEMENS);
}

static bool wants_src(const void *config, uint32_t src)
{
    const struct tw_etrace_config *typed = config;

    return !typed->has_srcid || typed->srcid == src;
}

static void take_src(void *config, uint32_t src)
{
    struct tw_etrace_config *typed = config;

    typed->has_srcid = typed->comes_apart = true;
    typed->srcid = (uint16_t)src;
    typed->block_size = 0;
    typed->starts_inside = false;
}

static void reader_init(void *reader, const void *config)
{
    tw_etrace_reader_init(reader, config);
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    return tw_etrace_read(reader, packet, data, size, is_last);
}

static size_t read_batch(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size)
{
    return tw_etrace_read_batch(reader, packets, room, used, data, size);
}

static void reader_lost(void *reader)
{
    tw_etrace_reader_lost(reader);
}

static enum tw_status write_packet(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_etrace_write(writer, out, size, packet);
}

static size_t header_size(const void *packet)
{
    return ((const struct tw_etrace_packet *)packet)->header_size;
}

#define MEMBERS                                                                                \
    .flags = TW_PROTOCOL_FOLLOWS | TW_PROTOCOL_UNMARKED | TW_PROTOCOL_SRC_IS_ID,               \
    .config_size = sizeof(struct tw_etrace_config),                                            \
    .reader_size = sizeof(struct tw_etrace_reader),                                            \
    .decoder_size = sizeof(struct tw_etrace_decoder),                                          \
    .packet_size = sizeof(struct tw_etrace_packet), .packet_max = TW_ETRACE_LOOK_AHEAD,        \
    .trace_id = trace_id, .is_shared = is_shared, .wants_src = wants_src,                      \
    .take_src = take_src, .route = tw_etrace_route, .reader_init = reader_init,                \
    .read = read_packet, .read_batch = read_batch, .reader_lost = reader_lost,                 \
    .write = write_packet, .members = &tw_etrace_members, .header_size = header_size,          \
    .types = tw_etrace_types, .type_count = TW_ETRACE_TYPES,                                   \
    .code_config = tw_etrace_code_config, .decoder_init = tw_etrace_decoder_init,              \
    .decode = tw_etrace_decode, .end = tw_etrace_end,                                          \
    .decoder_reset = tw_etrace_decoder_reset,                                                  \
    .damage_at = offsetof(struct tw_etrace_decoder, damage), .state = tw_etrace_state,         \
    .split = tw_etrace_split, .resume = tw_etrace_resume, .notes = tw_etrace_notes,            \
    .restore = tw_etrace_restore

const struct tw_protocol tw_etrace = {
    .name = "etrace", .title = "RISC-V E-Trace", .configure = configure, MEMBERS
};

/* Data trace whose packets travel under an ID of their own. */
const struct tw_protocol tw_etraced = { .name = "etraced",
                                        .title = "RISC-V E-Trace data trace",
                                        .configure = configure_data,
                                        MEMBERS };
