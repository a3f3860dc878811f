/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 as a protocol of the library: its configuration and its table of functions. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "etmv4/decode.h"
#include "etmv4/packet.h"

static unsigned field(uint32_t value, unsigned high, unsigned low)
{
    return (value >> low) & ((1u << (high - low + 1)) - 1);
}

static bool bit(uint32_t value, unsigned number)
{
    return (value >> number) & 1;
}

static uint8_t vmid_size(uint32_t trcidr2)
{
    const unsigned size = field(trcidr2, 14, 10);

    return size == 1 || size == 2 || size == 4 ? (uint8_t)size : 0;
}

static uint8_t version_of(const struct tw_etmv4_config *config)
{
    const unsigned major = field(config->trcidr[1], 11, 8);

    if (config->is_ete)
        return (uint8_t)(0x50 + field(config->trcdevarch, 19, 16));
    if (major == 4)
        return (uint8_t)(0x40 + field(config->trcidr[1], 7, 4));
    /* TRCIDR1 sends the reader on to TRCDEVARCH. */
    return (uint8_t)(0x40 + field(config->trcdevarch, 19, 16));
}

void tw_etmv4_setup_from_config(struct tw_etmv4_setup *setup,
                                const struct tw_etmv4_config *config)
{
    const uint32_t idr0 = config->trcidr[0], idr2 = config->trcidr[2];
    const uint32_t control = config->trcconfigr;
    const unsigned instp0 = config->is_ete ? 0 : field(control, 2, 1);

    *setup = (struct tw_etmv4_setup){ 0 };
    setup->is_ete = config->is_ete;
    setup->is_data_stream = config->is_data_stream;
    setup->is_aa64_extended = config->is_aa64_extended;
    setup->profile = config->profile;
    setup->architecture = config->architecture;
    setup->version = version_of(config);
    setup->id = (uint8_t)((config->trctraceidr + config->is_data_stream) & 0x7f);
    setup->max_spec = config->trcidr[8];
    setup->p0_keys = config->trcidr[9];
    setup->cond_keys = config->trcidr[12];
    setup->cond_special_keys = config->trcidr[13];
    setup->vmid_bytes = vmid_size(idr2);
    setup->cid_bytes = field(idr2, 9, 5) ? 4 : 0;
    setup->timestamp_bits = config->is_ete || field(idr0, 28, 24) == 8 ? 64
                            : field(idr0, 28, 24) == 6                 ? 48
                                                                       : 0;
    setup->cycle_bits = (uint8_t)(field(idr2, 28, 25) + 12);
    setup->has_cci = bit(idr0, 7);
    setup->cci = bit(control, 4);
    setup->commopt = bit(idr0, 29) && setup->has_cci;
    setup->start_is_p0 = !bit(idr0, 30);
    setup->has_q = field(idr0, 16, 15) != 0;
    setup->q_enabled = field(control, 14, 13) != 0;
    setup->cond = !config->is_ete && bit(idr0, 6) && field(control, 10, 8) != 0;
    setup->loads_are_p0 = instp0 & 1;
    setup->stores_are_p0 = (instp0 & 2) != 0;
    setup->data = field(idr0, 4, 3) == 3 && instp0 != 0 && field(control, 17, 16) != 0;
    setup->tsmark = bit(idr0, 23);
    setup->wfx_is_p0 = bit(idr2, 31) && setup->version >= 0x43;
    setup->return_stack = bit(control, 12);
    setup->timestamps = bit(control, 11);
    setup->cid = bit(control, 6);
    setup->vmid = bit(control, 7);
    setup->branch_broadcast = bit(control, 3);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `text` begins with `prefix`, without regard to case; *rest: what follows it. */
static bool begins(const char **rest, const char *text, const char *prefix)
{
    while (*prefix && lower(*text) == lower(*prefix)) {
        text++;
        prefix++;
    }
    *rest = text;
    return *prefix == 0;
}

static uint8_t m_architecture(unsigned number)
{
    switch (number) {
    case 0:
    case 1:
        return 60;
    case 3:
    case 4:
    case 7:
        return 70;
    case 52:
    case 55:
    case 85:
        return 81;
    default:
        return 80;
    }
}

/* Profile and architecture from a core's name: "Cortex-M33", "ARMv7-M", "ARM-AA64" ... */
static void core_from_name(struct tw_etmv4_config *config, const char *name)
{
    const char *rest;

    config->profile = TW_PROFILE_A;
    config->architecture = 80;
    if (!name)
        return;
    if (begins(&rest, name, "ARM-AA64")) {
        config->is_aa64_extended = true;
    } else if (begins(&rest, name, "Cortex-M")) {
        config->profile = TW_PROFILE_M;
        config->architecture = m_architecture((unsigned)strtoul(rest, NULL, 10));
    } else if (begins(&rest, name, "Cortex-R")) {
        config->profile = TW_PROFILE_R;
        config->architecture = strtoul(rest, NULL, 10) < 52 ? 70 : 80;
    } else if (begins(&rest, name, "Cortex-A")) {
        const unsigned long number = strtoul(rest, NULL, 10);

        config->architecture = number < 32 ? 70 : 80;
    } else if (begins(&rest, name, "ARMv")) {
        char *end;
        unsigned long number = strtoul(rest, &end, 10) * 10;

        if (*end == '.')
            number += strtoul(end + 1, &end, 10) % 10;
        config->architecture = (uint8_t)(number < 100 ? number : 99);
        if (begins(&rest, end, "-M"))
            config->profile = TW_PROFILE_M;
        else if (begins(&rest, end, "-R"))
            config->profile = TW_PROFILE_R;
    }
}

/* From TRCIDR0 on in the order of tw_etmv4_config.trcidr. */
/* clang-format off */
#define REGISTERS(devarch)                                                              \
    { "TRCIDR0", NULL }, { "TRCIDR1", NULL }, { "TRCIDR2", NULL }, { "TRCIDR3", "0" },  \
    { "TRCIDR4", "0" }, { "TRCIDR5", "0" }, { "TRCIDR6", "0" }, { "TRCIDR7", "0" },     \
    { "TRCIDR8", "0" }, { "TRCIDR9", "0" }, { "TRCIDR10", "0" }, { "TRCIDR11", "0" },   \
    { "TRCIDR12", "0" }, { "TRCIDR13", "0" }, { "TRCCONFIGR", NULL },                   \
    { "TRCDEVARCH", devarch }, { "TRCAUTHSTATUS", "0" },                                \
    { "TRCTRACEIDR", "the source's trace ID" }, { NULL, NULL }
/* clang-format on */

const struct tw_register_use tw_etmv4_registers[] = { REGISTERS("0") };
const struct tw_register_use tw_ete_registers[] = { REGISTERS(NULL) };

enum tw_status tw_etmv4_configure(struct tw_etmv4_config *config,
                                  const struct tw_source_info *source, bool is_ete,
                                  struct tw_fault *fault)
{
    const struct tw_register_use *uses = is_ete ? tw_ete_registers : tw_etmv4_registers;
    uint64_t value;

    TW_TRY(tw_source_need_all(source, uses, fault));
    *config = (struct tw_etmv4_config){ .size = sizeof *config, .is_ete = is_ete };
    for (unsigned i = 0; i < TW_LENGTH(config->trcidr); i++)
        config->trcidr[i] =
            tw_source_register(source, &value, uses[i].name) ? (uint32_t)value : 0;
    TW_TRY(tw_source_need(source, &value, "TRCCONFIGR", fault));
    config->trcconfigr = (uint32_t)value;
    config->trcdevarch = tw_source_register(source, &value, "TRCDEVARCH") ? (uint32_t)value : 0;
    config->trcauthstatus =
        tw_source_register(source, &value, "TRCAUTHSTATUS") ? (uint32_t)value : 0;
    config->trctraceidr =
        tw_source_register(source, &value, "TRCTRACEIDR") ? (uint32_t)value : source->id;
    core_from_name(config, source->core_type);
    return TW_OK;
}

enum tw_status tw_etmv4_config_from(struct tw_etmv4_config *config,
                                    const struct tw_register *registers, size_t count,
                                    const char *core_type, bool is_ete, struct tw_fault *fault)
{
    const struct tw_source_info source = { .registers = registers,
                                           .register_count = count,
                                           .core_type = core_type };

    return tw_etmv4_configure(config, &source, is_ete, fault);
}

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    return tw_etmv4_configure(config, source, false, fault);
}

/* The members of struct tw_protocol, which knows no types. */

uint8_t tw_etmv4_config_id(const void *config)
{
    const struct tw_etmv4_config *typed = config;

    return (uint8_t)((typed->trctraceidr + typed->is_data_stream) & 0x7f);
}

void tw_etmv4_any_init(void *reader, const void *config)
{
    tw_etmv4_reader_init(reader, config);
}

enum tw_status tw_etmv4_any_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                 bool is_last)
{
    return tw_etmv4_read(reader, packet, data, size, is_last);
}

size_t tw_etmv4_any_read_batch(void *reader, void *packets, size_t room, size_t *used,
                               const uint8_t *data, size_t size)
{
    return tw_etmv4_read_batch(reader, packets, room, used, data, size);
}

void tw_etmv4_any_lost(void *reader)
{
    tw_etmv4_reader_lost(reader);
}

enum tw_status tw_etmv4_any_write(void *writer, uint8_t *out, size_t *size, const void *packet)
{
    return tw_etmv4_write(writer, out, size, packet);
}

const struct tw_protocol tw_etmv4 = {
    .name = "etmv4",
    .title = "Arm ETMv4 instruction trace",
    .flags = TW_PROTOCOL_FOLLOWS,
    .config_size = sizeof(struct tw_etmv4_config),
    .reader_size = sizeof(struct tw_etmv4_reader),
    .packet_size = sizeof(struct tw_etmv4_packet),
    .packet_max = TW_ETMV4_PACKET_MAX,
    .registers = tw_etmv4_registers,
    .configure = configure,
    .trace_id = tw_etmv4_config_id,
    .companion = &tw_etmv4d,
    .has_companion = tw_etmv4_has_data_stream,
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
