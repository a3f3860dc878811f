/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of Arm processors. */
#include <stdio.h>
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/etmv4_unit.h>
#include <trackway/ptm_unit.h>

#include "qemu/unit_kind.h"

enum { V7_CONTROL, V7_IDENTITY, V7_FEATURES, V7_TRACE_ID, V7_REGISTERS };

enum {
    V7_TIMESTAMPS = 1 << 28,
    V7_RETURN_STACK = 1 << 29,
    V7_CONTEXT_ID = 3 << 14, /* four bytes */
    V4_CONTEXT_ID = 1 << 6,
    V4_TIMESTAMPS = 1 << 11,
    V4_RETURN_STACK = 1 << 12,
    SYNC_BYTES = 1 << 12
};

struct arm {
    struct tw_etmv4_unit *etmv4; /* one of the three */
    struct tw_ptm_unit *ptm;
    struct tw_etmv3_unit *etmv3;
    uint32_t v7[V7_REGISTERS];
};

/* ---- ETMv4 and ETE ---- */

/* What the unit says of its programming. */
static bool bad_v4(const struct arm *arm, struct tw_fault *fault, const char *what,
                   const char *text)
{
    const char *reason = arm->etmv4 ? tw_etmv4_unit_fault(arm->etmv4) : "";

    if (fault->text[0])
        return false;
    if (!*reason)
        return unit_bad(fault, what, text);
    fault->status = TW_E_CONFIG;
    (void)snprintf(fault->text, sizeof fault->text, "%s \"%.100s\": %.200s", what, text,
                   reason);
    return false;
}

static bool set_v4(void *state, const struct unit_options *options, struct tw_fault *fault)
{
    struct arm *arm = state;
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->register_count; i++)
        if (!unit_split(options->registers[i], name, sizeof name, &value) ||
            tw_etmv4_unit_write_register(arm->etmv4, name, value) != TW_OK)
            return bad_v4(arm, fault, "register", options->registers[i]);
    return true;
}

static bool begin_v4(void *state, const struct unit_options *options, struct tw_fault *fault)
{
    struct arm *arm = state;
    struct tw_etmv4_unit_config config = { .size = sizeof config,
                                           .is_ete = strcmp(options->protocol, "ete") == 0,
                                           .is_m = options->is_m };
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->choice_count; i++)
        if (!unit_split(options->choices[i], name, sizeof name, &value) ||
            tw_etmv4_unit_config_set(&config, name, value) != TW_OK)
            return unit_bad(fault, "choice", options->choices[i]);
    if (tw_etmv4_unit_new(&arm->etmv4, &config, fault) != TW_OK ||
        (!options->is_m &&
         tw_etmv4_unit_preset(arm->etmv4, TW_ETMV4_UNIT_MINIMAL, 0, 0) != TW_OK) ||
        tw_etmv4_unit_write_register(arm->etmv4, "TRCVICTLR", 0x201) != TW_OK ||
        tw_etmv4_unit_write_register(arm->etmv4, "TRCCONFIGR",
                                     (options->is_system ? 0 : V4_CONTEXT_ID) | V4_TIMESTAMPS |
                                         (options->is_m ? 0 : V4_RETURN_STACK) | 1) != TW_OK ||
        !set_v4(arm, options, fault) ||
        tw_etmv4_unit_write_register(arm->etmv4, "TRCPRGCTLR", 1) != TW_OK)
        return bad_v4(arm, fault, "unit", options->protocol);
    return true;
}

static enum tw_status step_v4(void *state, const struct tw_step *step)
{
    struct arm *arm = state;
    return tw_etmv4_unit_step(arm->etmv4, step);
}

static enum tw_status end_v4(void *state)
{
    struct arm *arm = state;
    return tw_etmv4_unit_write_register(arm->etmv4, "TRCPRGCTLR", 0);
}

static const uint8_t *output_v4(void *state, size_t *size)
{
    struct arm *arm = state;
    return tw_etmv4_unit_output(arm->etmv4, size);
}

static void take_v4(void *state)
{
    struct arm *arm = state;
    tw_etmv4_unit_take(arm->etmv4);
}

static enum tw_status get_v4(const void *state, struct tw_register *out, size_t number)
{
    const struct arm *arm = state;
    return tw_etmv4_unit_register(arm->etmv4, out, number);
}

/* ---- PTM and ETMv3 ---- */

static const char *const v7_names[V7_REGISTERS] = { "ETMCR", "ETMIDR", "ETMCCER",
                                                    "ETMTRACEIDR" };

static bool set_v7(void *state, const struct unit_options *options, struct tw_fault *fault)
{
    struct arm *arm = state;
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->register_count; i++) {
        size_t found = 0;

        if (!unit_split(options->registers[i], name, sizeof name, &value))
            return unit_bad(fault, "register", options->registers[i]);
        while (found < V7_REGISTERS && strcmp(v7_names[found], name) != 0)
            found++;
        if (found == V7_REGISTERS || value > UINT32_MAX)
            return unit_bad(fault, "register", options->registers[i]);
        arm->v7[found] = (uint32_t)value;
    }
    return true;
}

static bool begin_v7(void *state, const struct unit_options *options, struct tw_fault *fault)
{
    struct arm *arm = state;
    const bool is_ptm = strcmp(options->protocol, "ptm") == 0;
    struct tw_ptm_unit_config ptm = { .size = sizeof ptm, .sync_bytes = SYNC_BYTES };
    struct tw_etmv3_unit_config etmv3 = { .size = sizeof etmv3, .sync_bytes = SYNC_BYTES };
    const uint32_t *r = arm->v7;
    char name[64];
    uint64_t value;

    arm->v7[V7_CONTROL] = V7_CONTEXT_ID | V7_TIMESTAMPS | (is_ptm ? V7_RETURN_STACK : 0u);
    arm->v7[V7_IDENTITY] = is_ptm ? 0x411cf301 : 0x410cf250;
    arm->v7[V7_FEATURES] = is_ptm ? 0xc19a2 : 0x344008f2;
    arm->v7[V7_TRACE_ID] = 0x10;
    if (!set_v7(arm, options, fault))
        return false;
    for (size_t i = 0; i < options->choice_count; i++) {
        if (!unit_split(options->choices[i], name, sizeof name, &value) || value > UINT32_MAX)
            return unit_bad(fault, "choice", options->choices[i]);
        if (strcmp(name, "sync") == 0)
            ptm.sync_bytes = etmv3.sync_bytes = (uint32_t)value;
        else if (strcmp(name, "return-stack") == 0 && value <= 16)
            ptm.return_stack_depth = (uint8_t)value;
        else
            return unit_bad(fault, "choice", options->choices[i]);
    }
    ptm.registers = (struct tw_ptm_config){ sizeof ptm.registers, r[V7_CONTROL], r[V7_IDENTITY],
                                            r[V7_FEATURES], r[V7_TRACE_ID] };
    etmv3.registers = (struct tw_etmv3_config){
        sizeof etmv3.registers, r[V7_CONTROL],  r[V7_IDENTITY],
        r[V7_FEATURES],         r[V7_TRACE_ID], options->is_m ? TW_PROFILE_M : TW_PROFILE_A
    };
    return (is_ptm ? tw_ptm_unit_new(&arm->ptm, &ptm, fault)
                   : tw_etmv3_unit_new(&arm->etmv3, &etmv3, fault)) == TW_OK;
}

static enum tw_status step_v7(void *state, const struct tw_step *step)
{
    struct arm *arm = state;
    return arm->ptm ? tw_ptm_unit_step(arm->ptm, step) : tw_etmv3_unit_step(arm->etmv3, step);
}

static enum tw_status end_v7(void *state)
{
    struct arm *arm = state;
    return arm->ptm ? tw_ptm_unit_flush(arm->ptm) : tw_etmv3_unit_flush(arm->etmv3);
}

static const uint8_t *output_v7(void *state, size_t *size)
{
    struct arm *arm = state;
    return arm->ptm ? tw_ptm_unit_output(arm->ptm, size)
                    : tw_etmv3_unit_output(arm->etmv3, size);
}

static void take_v7(void *state)
{
    struct arm *arm = state;
    if (arm->ptm)
        tw_ptm_unit_take(arm->ptm);
    else
        tw_etmv3_unit_take(arm->etmv3);
}

static enum tw_status get_v7(const void *state, struct tw_register *out, size_t number)
{
    const struct arm *arm = state;
    if (number >= V7_REGISTERS)
        return TW_END;
    *out = (struct tw_register){ v7_names[number], arm->v7[number] };
    return TW_OK;
}

static void free_arm(void *state)
{
    struct arm *arm = state;

    tw_etmv4_unit_free(arm->etmv4);
    tw_ptm_unit_free(arm->ptm);
    tw_etmv3_unit_free(arm->etmv3);
}

#define V4(name)                                                                               \
    {                                                                                          \
        .protocol = name, .size = sizeof(struct arm), .begin = begin_v4, .step = step_v4,      \
        .end = end_v4, .output = output_v4, .take = take_v4, .get = get_v4, .free = free_arm   \
    }
#define V7(name)                                                                               \
    {                                                                                          \
        .protocol = name, .size = sizeof(struct arm), .begin = begin_v7, .step = step_v7,      \
        .end = end_v7, .output = output_v7, .take = take_v7, .get = get_v7, .free = free_arm   \
    }

const struct unit_kind unit_kind_ete = V4("ete"), unit_kind_etmv4 = V4("etmv4"),
                       unit_kind_ptm = V7("ptm"), unit_kind_etmv3 = V7("etmv3");
