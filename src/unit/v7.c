/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of PTM and ETMv3. */
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/ptm_unit.h>

#include "unit/unit.h"

enum { CONTROL, IDENTITY, FEATURES, TRACE_ID, REGISTER_COUNT };

static const char *const names[REGISTER_COUNT] = { "ETMCR", "ETMIDR", "ETMCCER",
                                                   "ETMTRACEIDR" };

struct v7 {
    uint32_t registers[REGISTER_COUNT];
    uint64_t sync_bytes, return_stack, vectors; /* choices */
    struct tw_ptm_unit *ptm;                    /* one of the two */
    struct tw_etmv3_unit *etmv3;
};

static enum tw_status set_choice(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct v7 *v7 = unit->model;

    if (strcmp(name, "sync") == 0 && value <= UINT32_MAX)
        v7->sync_bytes = value;
    else if (strcmp(name, "return-stack") == 0 && value <= 16)
        v7->return_stack = value;
    else if (strcmp(name, "vectors") == 0 && value <= UINT32_MAX)
        v7->vectors = value;
    else
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "%s: %s is none of sync, return-stack, vectors, or its value is too "
                       "large",
                       unit->config.choices_name, name);
    return TW_OK;
}

static enum tw_status set_register(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct v7 *v7 = unit->model;

    for (size_t i = 0; i < REGISTER_COUNT; i++) {
        if (strcmp(names[i], name) == 0 && value <= UINT32_MAX) {
            v7->registers[i] = (uint32_t)value;
            return TW_OK;
        }
    }
    return tw_fail(&unit->fault, TW_E_ARGUMENT,
                   "%s: %s is none of ETMCR, ETMIDR, ETMCCER, ETMTRACEIDR, or its value is "
                   "too large",
                   unit->config.registers_name, name);
}

static enum tw_status new_ptm(struct tw_unit *unit)
{
    struct v7 *v7 = unit->model;
    const uint32_t *r = v7->registers;
    const struct tw_ptm_unit_config config = {
        .size = sizeof config,
        .registers = { sizeof config.registers, r[CONTROL], r[IDENTITY], r[FEATURES],
                       r[TRACE_ID] },
        .return_stack_depth = (uint8_t)v7->return_stack,
        .sync_bytes = (uint32_t)v7->sync_bytes,
        .vectors = (uint32_t)v7->vectors,
        .allocator = unit->allocator,
    };

    return tw_ptm_unit_new(&v7->ptm, &config, &unit->fault);
}

static enum tw_status new_etmv3(struct tw_unit *unit)
{
    struct v7 *v7 = unit->model;
    const uint32_t *r = v7->registers;
    const struct tw_etmv3_unit_config config = {
        .size = sizeof config,
        .registers = { sizeof config.registers, r[CONTROL], r[IDENTITY], r[FEATURES],
                       r[TRACE_ID], unit->is_m ? TW_PROFILE_M : TW_PROFILE_A },
        .sync_bytes = (uint32_t)v7->sync_bytes,
        .vectors = (uint32_t)v7->vectors,
        .allocator = unit->allocator,
    };

    return tw_etmv3_unit_new(&v7->etmv3, &config, &unit->fault);
}

/* A PTM 1.0 of a Cortex-A9 with return stack and timestamps; an ETM 3.5 of a Cortex-A5, or that of a
   Cortex-M3. */
static void choose_defaults(struct v7 *v7, bool is_ptm, bool is_m)
{
    v7->registers[IDENTITY] = is_ptm ? 0x411cf301 : is_m ? 0x4114f250 : 0x410cf250;
    v7->registers[FEATURES] = is_ptm ? 0xc19a2 : is_m ? 0 : 0x344008f2;
    v7->registers[TRACE_ID] = 0x10;
    v7->sync_bytes = 1024;
}

static enum tw_status begin(struct tw_unit *unit)
{
    struct v7 *v7 = tw_unit_room(unit, sizeof *v7);
    const bool is_ptm = unit->kind == &tw_unit_ptm;

    unit->model = v7;
    if (!v7)
        return tw_unit_no_memory(unit);
    if (is_ptm && unit->is_m)
        return tw_fail(&unit->fault, TW_E_CONFIG,
                       "the log is of the M profile, which has no PTM: take etmv3 or etmv4");
    choose_defaults(v7, is_ptm, unit->is_m);
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_unit_registers(unit, set_register));
    TW_TRY(is_ptm ? new_ptm(unit) : new_etmv3(unit));
    unit->device = is_ptm ? "PTM_0" : "ETM_0";
    unit->trace.device_type = is_ptm ? "PTM1.0" : "ETM3.5";
    unit->trace.core_type = is_ptm       ? "Cortex-A15"
                            : unit->is_m ? tw_unit_m_core(unit)
                                         : "Cortex-A7";
    for (size_t i = 0; i < REGISTER_COUNT; i++)
        tw_unit_add_register(unit, names[i], v7->registers[i]);
    unit->trace.id = (uint8_t)(v7->registers[TRACE_ID] & 0x7f);
    return TW_OK;
}

static enum tw_status step(struct tw_unit *unit, const struct tw_step *what)
{
    const struct v7 *v7 = unit->model;
    const enum tw_status status =
        v7->ptm ? tw_ptm_unit_step(v7->ptm, what) : tw_etmv3_unit_step(v7->etmv3, what);

    if (status == TW_OK)
        return TW_OK;
    if (what->kind == TW_STEP_EXCEPTION && unit->is_m)
        return tw_fail(&unit->fault, status, "ETMv3 has no exception %u (%s): take etmv4",
                       (unsigned)what->cause, tw_exception_name_m((unsigned)what->cause));
    if (status == TW_E_UNSUPPORTED || status == TW_E_ARGUMENT)
        return tw_unit_wrong(
            unit, status,
            "this cannot be traced: the unit knows A32 and T32 only; for A64 take "
            "etmv4 or ete");
    return tw_unit_wrong(unit, status, tw_status_name(status));
}

static const uint8_t *output(const struct tw_unit *unit, size_t *size)
{
    const struct v7 *v7 = unit->model;

    return v7->ptm ? tw_ptm_unit_output(v7->ptm, size) : tw_etmv3_unit_output(v7->etmv3, size);
}

static void take(struct tw_unit *unit)
{
    const struct v7 *v7 = unit->model;

    if (v7->ptm)
        tw_ptm_unit_take(v7->ptm);
    else
        tw_etmv3_unit_take(v7->etmv3);
}

static enum tw_status end(struct tw_unit *unit)
{
    const struct v7 *v7 = unit->model;
    const enum tw_status status =
        v7->ptm ? tw_ptm_unit_flush(v7->ptm) : tw_etmv3_unit_flush(v7->etmv3);

    if (status != TW_OK)
        return tw_unit_wrong(unit, status, tw_status_name(status));
    unit->trace.bytes = output(unit, &unit->trace.size);
    return TW_OK;
}

static void free_model(struct tw_unit *unit)
{
    const struct v7 *v7 = unit->model;

    tw_ptm_unit_free(v7->ptm);
    tw_etmv3_unit_free(v7->etmv3);
}

const struct tw_unit_kind tw_unit_ptm = { .protocol = "ptm",
                                          .begin = begin,
                                          .step = step,
                                          .end = end,
                                          .output = output,
                                          .take = take,
                                          .free = free_model };
const struct tw_unit_kind tw_unit_etmv3 = { .protocol = "etmv3",
                                            .begin = begin,
                                            .step = step,
                                            .end = end,
                                            .output = output,
                                            .take = take,
                                            .free = free_model };
