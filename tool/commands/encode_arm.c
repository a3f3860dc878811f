/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: trace units of ETE and ETMv4. */
#include <string.h>

#include <trackway/etmv4_unit.h>

#include "commands/encode.h"

/* What --unit sets: the choices that registers do not make. */
struct choices {
    struct tw_etmv4_unit_config config;
    uint64_t cycles;
};

struct arm {
    struct choices choices;
    struct tw_etmv4_unit *unit;
};

static bool told(const struct arm *arm, enum tw_status status)
{
    if (status != TW_OK)
        say("encode: %s", *tw_etmv4_unit_fault(arm->unit) ? tw_etmv4_unit_fault(arm->unit)
                                                          : tw_status_name(status));
    return status == TW_OK;
}

static bool set_choice(struct encoding *encoding, const char *name, uint64_t value)
{
    struct arm *arm = encoding->unit;

    if (strcmp(name, "cycles") == 0 && value <= 4096) {
        arm->choices.cycles = value;
    } else if (tw_etmv4_unit_config_set(&arm->choices.config, name, value) != TW_OK) {
        say("encode: --unit: %s is none of cycles, return-stack, source-addresses, q, "
            "q-uncounted, fifo, cycles-per-byte, self-hosted, at-once, late-places, "
            "restored-returns, or its value is too "
            "large",
            name);
        return false;
    }
    return true;
}

static bool set_register(struct encoding *encoding, const char *name, uint64_t value)
{
    struct arm *arm = encoding->unit;

    return told(arm, tw_etmv4_unit_write_register(arm->unit, name, value));
}

/* The programming that needs no registers to be named. */
static bool program(struct arm *arm, const struct options *options)
{
    const uint64_t first = options->range.first, last = options->range.end - 1;
    enum tw_etmv4_unit_preset preset = TW_ETMV4_UNIT_MINIMAL;

    if (options->preset && strcmp(options->preset, "exclude") == 0)
        preset = TW_ETMV4_UNIT_EXCLUDE;
    if (options->preset && strcmp(options->preset, "include") == 0)
        preset = TW_ETMV4_UNIT_INCLUDE;
    if (!told(arm, tw_etmv4_unit_preset(arm->unit, preset, first, last)))
        return false;
    return options->preset ||
           told(arm, tw_etmv4_unit_write_register(arm->unit, "TRCVICTLR", 0x201));
}

const char *encode_m_core(const struct encoding *encoding)
{
    static const struct {
        const char *cpu, *type;
    } cores[] = {
        { "cortex-m0", "Cortex-M0" },   { "cortex-m0plus", "Cortex-M0+" },
        { "cortex-m3", "Cortex-M3" },   { "cortex-m4", "Cortex-M4" },
        { "cortex-m7", "ARMv7-M" },     { "cortex-m23", "Cortex-M23" },
        { "cortex-m33", "Cortex-M33" }, { "cortex-m35p", "ARMv8-M" },
        { "cortex-m52", "ARMv8-M" },    { "cortex-m55", "Cortex-M55" },
        { "cortex-m85", "ARMv8-M" },
    };

    for (size_t i = 0; encoding->cpu && i < sizeof cores / sizeof cores[0]; i++)
        if (strcmp(encoding->cpu, cores[i].cpu) == 0)
            return cores[i].type;
    return encoding->has_nonsecure ? "ARMv8-M" : "ARMv7-M";
}

/* Decoders take from it which branches there are. */
static const char *core_type(const struct encoding *encoding, bool is_ete)
{
    if (encoding->is_m)
        return encode_m_core(encoding);
    if (is_ete || encoding->has_late_branches)
        return "ARM-AA64";
    return encoding->has_pointer_auth ? "ARMv8.3-A" : "Cortex-A57";
}

void encode_describe_arm(struct encoding *encoding, bool is_ete)
{
    encoding->device = is_ete ? "ETE_0" : "ETM_0";
    encoding->device_type = is_ete ? "ETE" : encoding->is_m ? "ETM4.2" : "ETM4.5";
    encoding->core_type = core_type(encoding, is_ete);
}

static bool begin(struct encoding *encoding, bool is_ete)
{
    struct arm *arm = arena_room(&encoding->arena, sizeof *arm);
    uint64_t id = 0;

    encoding->unit = arm;
    if (!arm)
        return false;
    if (is_ete && encoding->is_m) {
        say("encode: the log is of the M profile, which has no ETE: give --protocol etmv4");
        return false;
    }
    arm->choices = (struct choices){ .config = { .size = sizeof arm->choices.config,
                                                 .is_ete = is_ete,
                                                 .is_m = encoding->is_m },
                                     .cycles = 1 };
    if (!encode_settings(encoding, encoding->options->unit, set_choice))
        return false;
    if (tw_etmv4_unit_new(&arm->unit, &arm->choices.config, NULL) != TW_OK) {
        say("encode: no memory");
        return false;
    }
    if (!program(arm, encoding->options) ||
        !encode_settings(encoding, encoding->options->config, set_register) ||
        !told(arm, tw_etmv4_unit_clock(arm->unit, (uint32_t)arm->choices.cycles)))
        return false;
    while (tw_etmv4_unit_register(arm->unit, &encoding->registers[encoding->register_count],
                                  encoding->register_count) == TW_OK)
        encoding->register_count++;
    if (!told(arm, tw_etmv4_unit_read_register(arm->unit, &id, "TRCTRACEIDR")))
        return false;
    encoding->id = (uint8_t)(id & 0x7f);
    return told(arm, tw_etmv4_unit_write_register(arm->unit, "TRCPRGCTLR", 1));
}

static bool begin_ete(struct encoding *encoding)
{
    return begin(encoding, true);
}

static bool begin_etmv4(struct encoding *encoding)
{
    return begin(encoding, false);
}

static bool step(struct encoding *encoding, const struct tw_step *what)
{
    struct arm *arm = encoding->unit;
    const enum tw_status status = tw_etmv4_unit_step(arm->unit, what);

    if (status == TW_OK || !encoding->line)
        return told(arm, status);
    say("encode: %s: line %u: %s", encoding->options->arguments.items[0], encoding->line,
        *tw_etmv4_unit_fault(arm->unit) ? tw_etmv4_unit_fault(arm->unit)
                                        : tw_status_name(status));
    return false;
}

static bool end(struct encoding *encoding)
{
    struct arm *arm = encoding->unit;

    if (!told(arm, tw_etmv4_unit_write_register(arm->unit, "TRCPRGCTLR", 0)))
        return false;
    encoding->bytes = tw_etmv4_unit_output(arm->unit, &encoding->size);
    encode_describe_arm(encoding, arm->choices.config.is_ete);
    return true;
}

static void free_unit(struct encoding *encoding)
{
    struct arm *arm = encoding->unit;

    if (arm)
        tw_etmv4_unit_free(arm->unit);
}

const struct encoder encoder_ete = { .protocol = "ete",
                                     .presets = "minimal|exclude|include",
                                     .begin = begin_ete,
                                     .step = step,
                                     .end = end,
                                     .free = free_unit };
const struct encoder encoder_etmv4 = { .protocol = "etmv4",
                                       .presets = "minimal|exclude|include",
                                       .begin = begin_etmv4,
                                       .step = step,
                                       .end = end,
                                       .free = free_unit };
