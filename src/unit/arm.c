/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of ETE and ETMv4. */
#include <string.h>

#include <trackway/etmv4_unit.h>

#include "unit/unit.h"

struct arm {
    struct tw_etmv4_unit_config config; /* choices that registers do not make */
    uint64_t cycles;
    struct tw_etmv4_unit *unit;
};

static enum tw_status told(struct tw_unit *unit, enum tw_status status)
{
    const struct arm *arm = unit->model;
    const char *text;

    if (status == TW_OK)
        return TW_OK;
    text = tw_etmv4_unit_fault(arm->unit);
    return tw_unit_wrong(unit, status, *text ? text : tw_status_name(status));
}

static enum tw_status set_choice(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct arm *arm = unit->model;

    if (strcmp(name, "cycles") == 0 && value <= 4096)
        arm->cycles = value;
    else if (tw_etmv4_unit_config_set(&arm->config, name, value) != TW_OK)
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "%s: %s is none of cycles, return-stack, source-addresses, q, "
                       "q-uncounted, fifo, cycles-per-byte, self-hosted, at-once, late-places, "
                       "restored-returns, or its value is too large",
                       unit->config.choices_name, name);
    return TW_OK;
}

static enum tw_status set_register(struct tw_unit *unit, const char *name, uint64_t value)
{
    return told(unit,
                tw_etmv4_unit_write_register(((struct arm *)unit->model)->unit, name, value));
}

/* The programming that needs no registers to be named. */
static enum tw_status program(struct tw_unit *unit)
{
    const struct arm *arm = unit->model;
    const char *name = unit->config.preset;
    enum tw_etmv4_unit_preset preset = TW_ETMV4_UNIT_MINIMAL;

    if (name && strcmp(name, "exclude") == 0)
        preset = TW_ETMV4_UNIT_EXCLUDE;
    if (name && strcmp(name, "include") == 0)
        preset = TW_ETMV4_UNIT_INCLUDE;
    TW_TRY(told(
        unit, tw_etmv4_unit_preset(arm->unit, preset, unit->config.first, unit->config.last)));
    return name ? TW_OK : set_register(unit, "TRCVICTLR", 0x201);
}

const char *tw_unit_m_core(const struct tw_unit *unit)
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

    for (size_t i = 0; unit->cpu && i < sizeof cores / sizeof cores[0]; i++)
        if (strcmp(unit->cpu, cores[i].cpu) == 0)
            return cores[i].type;
    return unit->has_nonsecure ? "ARMv8-M" : "ARMv7-M";
}

/* Decoders take from it which branches there are. */
static const char *core_type(const struct tw_unit *unit, bool is_ete)
{
    if (unit->is_m)
        return tw_unit_m_core(unit);
    if (is_ete || unit->has_late_branches)
        return "ARM-AA64";
    return unit->has_pointer_auth ? "ARMv8.3-A" : "Cortex-A57";
}

void tw_unit_describe_arm(struct tw_unit *unit, bool is_ete)
{
    unit->device = is_ete ? "ETE_0" : "ETM_0";
    unit->trace.device_type = is_ete ? "ETE" : unit->is_m ? "ETM4.2" : "ETM4.5";
    unit->trace.core_type = core_type(unit, is_ete);
}

static enum tw_status begin(struct tw_unit *unit)
{
    struct arm *arm = tw_unit_room(unit, sizeof *arm);
    const bool is_ete = unit->kind == &tw_unit_ete;
    uint64_t id = 0;

    unit->model = arm;
    if (!arm)
        return tw_unit_no_memory(unit);
    if (is_ete && unit->is_m)
        return tw_fail(&unit->fault, TW_E_CONFIG,
                       "the log is of the M profile, which has no ETE: take etmv4");
    *arm = (struct arm){ .config = { .size = sizeof arm->config,
                                     .is_ete = is_ete,
                                     .is_m = unit->is_m,
                                     .allocator = unit->allocator },
                         .cycles = 1 };
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_etmv4_unit_new(&arm->unit, &arm->config, &unit->fault));
    TW_TRY(program(unit));
    TW_TRY(tw_unit_registers(unit, set_register));
    TW_TRY(told(unit, tw_etmv4_unit_clock(arm->unit, (uint32_t)arm->cycles)));
    while (tw_etmv4_unit_register(arm->unit, &unit->registers[unit->trace.register_count],
                                  unit->trace.register_count) == TW_OK)
        unit->trace.register_count++;
    TW_TRY(told(unit, tw_etmv4_unit_read_register(arm->unit, &id, "TRCTRACEIDR")));
    unit->trace.id = (uint8_t)(id & 0x7f);
    tw_unit_describe_arm(unit, is_ete);
    return set_register(unit, "TRCPRGCTLR", 1);
}

static enum tw_status step(struct tw_unit *unit, const struct tw_step *what)
{
    return told(unit, tw_etmv4_unit_step(((struct arm *)unit->model)->unit, what));
}

static enum tw_status end(struct tw_unit *unit)
{
    const struct arm *arm = unit->model;

    TW_TRY(set_register(unit, "TRCPRGCTLR", 0));
    unit->trace.bytes = tw_etmv4_unit_output(arm->unit, &unit->trace.size);
    tw_unit_describe_arm(unit, arm->config.is_ete);
    return TW_OK;
}

static const uint8_t *output(const struct tw_unit *unit, size_t *size)
{
    return tw_etmv4_unit_output(((const struct arm *)unit->model)->unit, size);
}

static void take(struct tw_unit *unit)
{
    tw_etmv4_unit_take(((struct arm *)unit->model)->unit);
}

static void free_model(struct tw_unit *unit)
{
    tw_etmv4_unit_free(((struct arm *)unit->model)->unit);
}

const struct tw_unit_kind tw_unit_ete = { .protocol = "ete",
                                          .presets = "minimal|exclude|include",
                                          .begin = begin,
                                          .step = step,
                                          .end = end,
                                          .output = output,
                                          .take = take,
                                          .free = free_model };
const struct tw_unit_kind tw_unit_etmv4 = { .protocol = "etmv4",
                                            .presets = "minimal|exclude|include",
                                            .begin = begin,
                                            .step = step,
                                            .end = end,
                                            .output = output,
                                            .take = take,
                                            .free = free_model };
